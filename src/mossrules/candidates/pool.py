"""The pool of candidate rules: each distinct rule once, with the trees that contain it.

`FoundRules` collects them from the paths of trees that come in batches, `CandidatePool` has them in
a fixed order: caps, ties of the solver and files go by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Self

import numpy as np

from mossrules._common import cached_property, check_integer
from mossrules._typing import BoolArray, FloatArray, IntArray
from mossrules.candidates.rules import Rule, condition_of_step

if TYPE_CHECKING:
    from mossrules.candidates.cuts import Binning
    from mossrules.candidates.forest import Forest, Path

__all__ = ["CandidatePool", "FoundRules", "form_key"]

Members = Iterable[tuple[Rule, frozenset[int]]]  # rules with the trees that contain them


def _in_order(
    members: Members, column_order: Sequence[str] | None
) -> tuple[tuple[Rule, ...], tuple[frozenset[int], ...]]:
    """Return the rules, the most frequent first, and their trees."""
    # The order is part of the result: caps, ties of the solver and files go by it.
    form = form_key(column_order)
    ordered = sorted(members, key=lambda each: (-len(each[1]), form(each[0])))
    return tuple(rule for rule, _ in ordered), tuple(found for _, found in ordered)


def form_key(column_order: Sequence[str] | None) -> Callable[[Rule], tuple[object, ...]]:
    """Return what puts rules in a fixed order, with these names of columns in this order."""
    if column_order is None:
        return lambda rule: rule.sort_key
    places = {name: place for place, name in enumerate(column_order)}
    # Thousands of rules are made of some hundred conditions.
    place = cache(lambda part: (places[part.feature], part.sort_key[1:]))
    return lambda rule: (len(rule.conditions), sorted(map(place, rule.conditions)))


class FoundRules:
    """The distinct rules of trees that come in batches, each with its trees."""

    def __init__(self, binning: Binning) -> None:
        self.n_trees = 0
        self._trees: dict[Rule, set[int]] = {}
        # Most paths repeat, and a path is cheaper to compare than a rule is to make. Paths that are
        # one rule share their set.
        self._trees_of_path: dict[Path, set[int]] = {}
        self._condition = cache(lambda step: condition_of_step(step, binning.columns[step.feature]))

    def add(self, paths: Iterable[tuple[int, Path]], n_trees: int) -> None:
        """Count the paths of so many more trees, which are numbered on."""
        for tree, path in paths:
            self._of_path(path).add(self.n_trees + tree)
        self.n_trees += n_trees

    def add_forest(self, forest: Forest, *, inner_nodes: bool) -> None:
        """Count the paths of the trees of a forest, which are numbered on."""
        for trees, path in forest.distinct_paths(inner_nodes=inner_nodes):
            self._of_path(path).update((self.n_trees + trees).tolist())
        self.n_trees += forest.n_trees

    def _of_path(self, path: Path) -> set[int]:
        """Return the trees of the rule that a path is."""
        trees = self._trees_of_path.get(path)
        if trees is None:
            rule = Rule.of(map(self._condition, path))
            trees = self._trees_of_path[path] = self._trees.setdefault(rule, set())
        return trees

    @property
    def counts(self) -> IntArray:
        """Number of trees in which each rule appears, in no order."""
        return np.array([len(trees) for trees in self._trees.values()], dtype=np.int64)

    def pool(self, column_order: tuple[str, ...] | None) -> CandidatePool:
        """Return the rules in order."""
        members = ((rule, frozenset(trees)) for rule, trees in self._trees.items())
        return CandidatePool(*_in_order(members, column_order), self.n_trees, column_order)


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
    column_order: tuple[str, ...] | None = None  #: by which ties go; None for that of their names

    @classmethod
    def from_paths(
        cls,
        paths: Iterable[tuple[int, Path]],
        binning: Binning,
        n_trees: int,
        column_order: tuple[str, ...] | None = None,
    ) -> CandidatePool:
        """Collect the distinct rules among the paths of all trees."""
        found = FoundRules(binning)
        found.add(paths, n_trees)
        return found.pool(column_order)

    def _with(self, members: Members) -> Self:
        rules, trees = _in_order(members, self.column_order)
        return replace(self, rules=rules, trees=trees)

    @cached_property
    def counts(self) -> IntArray:
        """Number of trees in which each rule appears."""
        return np.array([len(found) for found in self.trees], dtype=np.int64)

    @property
    def proportions(self) -> FloatArray:
        """Share of trees in which each rule appears: the paper's Pi."""
        return self.counts / self.n_trees

    def cap(self, maximum: int) -> CandidatePool:
        """Return at most `maximum` rules, the most frequent."""
        maximum = check_integer("max_candidates", maximum)
        return replace(self, rules=self.rules[:maximum], trees=self.trees[:maximum])

    def including(self, rules: Iterable[Rule], found: CandidatePool | None = None) -> CandidatePool:
        """Return the pool with more rules, in the trees that they have in `found`, or in none."""
        members = dict(zip(self.rules, self.trees, strict=True))
        known = {} if found is None else dict(zip(found.rules, found.trees, strict=True))
        for rule in rules:
            members.setdefault(rule, known.get(rule, frozenset()))
        return self if len(members) == len(self) else self._with(members.items())

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
            # Rules on the same rows are one to any loss; the shortest is the one to read.
            simplest = min(group, key=lambda i: (len(self.rules[i]), i))
            found = frozenset[int]().union(*(self.trees[i] for i in group))
            members.append((self.rules[simplest], found))
        return self._with(members)

    def replaced(self, by: Mapping[Rule, Rule]) -> CandidatePool:
        """Return the pool with rules replaced, which count in all trees of those they replace."""
        trees: dict[Rule, frozenset[int]] = {}
        for rule, found in zip(self.rules, self.trees, strict=True):
            stands = by.get(rule, rule)
            trees[stands] = trees.get(stands, frozenset()) | found
        return self._with(trees.items())

    def only(self, keep: BoolArray) -> Self:
        """Return some of the rules."""
        kept = np.flatnonzero(keep)
        rules = tuple(self.rules[i] for i in kept)
        return replace(self, rules=rules, trees=tuple(self.trees[i] for i in kept))

    @property
    def form(self) -> Callable[[Rule], tuple[object, ...]]:
        """What puts rules in a fixed order, whatever rows they were found in."""
        return form_key(self.column_order)

    def __len__(self) -> int:
        return len(self.rules)

    def __repr__(self) -> str:
        return f"CandidatePool({len(self)} rules from {self.n_trees} trees)"
