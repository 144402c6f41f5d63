"""The pool of candidate rules: each distinct rule once, with the trees it appeared in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from mossrules._cached import cached_property
from mossrules._checks import check_integer
from mossrules._typing import FloatArray, IntArray
from mossrules.candidates.cuts import Binning
from mossrules.candidates.forest import Path
from mossrules.candidates.rules import Rule, condition_of_step


@dataclass(frozen=True)
class CandidatePool:
    """Distinct rules, most frequent first; ties in the fixed order of the rules themselves.

    `trees[i]` are the trees in which rule i appears; their number is its count, and as a share of
    all trees its selection proportion.

    Examples
    --------
    >>> from mossrules import find_candidates
    >>> candidates = find_candidates({"age": [30, 40, 50, 60]}, [2.0, 3.0, 9.0, 8.0], n_trees=20)
    >>> pool = candidates.pool
    >>> pool.counts[:3], pool.proportions[:3]
    (array([14, 13, 11]), array([0.7 , 0.65, 0.55]))
    >>> pool.cap(1).rules
    (Rule(age in bins 4..),)
    """

    rules: tuple[Rule, ...]  #: the most frequent first
    trees: tuple[frozenset[int], ...]  #: of each rule, the trees that contain it
    n_trees: int  #: of the forest

    @classmethod
    def from_paths(
        cls, paths: Iterable[tuple[int, Path]], binning: Binning, n_trees: int
    ) -> CandidatePool:
        """Collect the distinct rules among the paths of all trees."""
        # Most paths repeat, and a path is cheaper to compare than a rule is to make.
        trees_of_path: dict[Path, set[int]] = {}
        for tree, path in paths:
            trees_of_path.setdefault(path, set()).add(tree)
        condition = cache(lambda step: condition_of_step(step, binning.columns[step.feature]))
        trees: dict[Rule, set[int]] = {}
        for path, found in trees_of_path.items():
            trees.setdefault(Rule.of(map(condition, path)), set()).update(found)
        return cls._sorted(((rule, frozenset(found)) for rule, found in trees.items()), n_trees)

    @classmethod
    def _sorted(cls, members: Iterable[tuple[Rule, frozenset[int]]], n_trees: int) -> CandidatePool:
        ordered = sorted(members, key=lambda each: (-len(each[1]), each[0].sort_key))
        return cls(
            tuple(rule for rule, _ in ordered), tuple(found for _, found in ordered), n_trees
        )

    @cached_property
    def counts(self) -> IntArray:
        """Number of trees in which each rule appears."""
        return np.array([len(found) for found in self.trees], dtype=np.int64)

    @property
    def proportions(self) -> FloatArray:
        """Share of trees in which each rule appears: the paper's Pi."""
        return self.counts / self.n_trees

    def cap(self, most: int) -> CandidatePool:
        """Return the `most` most frequent rules."""
        most = check_integer("max_candidates", most)
        return CandidatePool(self.rules[:most], self.trees[:most], self.n_trees)

    def including(self, rules: Iterable[Rule]) -> CandidatePool:
        """Return the pool with more rules, found in no tree unless they are there already."""
        members = dict(zip(self.rules, self.trees, strict=True))
        for rule in rules:
            members.setdefault(rule, frozenset())
        return self if len(members) == len(self) else self._sorted(members.items(), self.n_trees)

    def merge(self, groups: Sequence[Sequence[int]]) -> CandidatePool:
        """Return the pool with each group of rules (by position) replaced by its simplest member.

        The simplest is the shortest, then the most frequent; it counts in every tree in which any
        member of the group appears. Rules in no group stay.
        """
        grouped = {position for group in groups for position in group}
        members = [
            (self.rules[i], self.trees[i]) for i in range(len(self.rules)) if i not in grouped
        ]
        for group in groups:
            simplest = min(group, key=lambda i: (len(self.rules[i]), i))
            found = frozenset[int]().union(*(self.trees[i] for i in group))
            members.append((self.rules[simplest], found))
        return self._sorted(members, self.n_trees)

    def __len__(self) -> int:
        return len(self.rules)

    def __repr__(self) -> str:
        return f"CandidatePool({len(self)} rules from {self.n_trees} trees)"
