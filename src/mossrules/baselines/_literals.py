"""Literals: the conditions from which conjunctions are built one by one, each at the same price.

A numeric column has `x <= cut` and `x > cut` for every cut of its bins, a categorical one `x is v`
and `x is not v` for every level; where values are missing, to be missing is a level like any other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mossrules._typing import BoolArray, IntArray
from mossrules.candidates.codes import EncodedTable
from mossrules.candidates.cuts import BinnedColumn
from mossrules.candidates.rules import OPEN, Condition, Levels, Range, Rule
from mossrules.data.columns import Kind

__all__ = ["Literals", "count_literals"]


def count_literals(rule: Rule) -> int:
    """Return how many literals a rule takes: two for a range with two ends, one per level left out.

    A condition of a tree that holds for missing values too is no more than one that does not.
    """
    return sum(map(_count, rule.conditions))


def _count(condition: Condition) -> int:
    if isinstance(condition, Levels):
        return 1 if condition.inside else len(condition.levels)
    return max(1, (condition.low > 1) + (0 < condition.high < OPEN))


@dataclass(frozen=True)
class Literals:
    """All literals of a table, with the position of the column and the codes that satisfy each."""

    conditions: tuple[Condition, ...]
    features: IntArray
    accepts: BoolArray  # (literals, codes)
    ends: IntArray  # number of the cut of an upper end, minus that of a lower end, 0 for none
    excludes: BoolArray  # whether it leaves a level out

    @classmethod
    def of(cls, data: EncodedTable) -> Literals:
        """Return the literals of the columns of a table."""
        columns = data.binning.columns
        found = [
            (condition, feature)
            for feature, has_missing in enumerate(data.has_missing)
            for condition in _literals(columns[feature], has_missing=has_missing)
        ]
        accepts = [condition.accepts(columns[feature]) for condition, feature in found]
        return cls(
            tuple(condition for condition, _ in found),
            np.array([feature for _, feature in found], dtype=np.int64),
            np.array(accepts, dtype=bool).reshape(-1, 256)[:, : data.binning.n_codes],
            np.array([_end(condition) for condition, _ in found], dtype=np.int64),
            np.array([_excludes(condition) for condition, _ in found], dtype=bool),
        )

    def __len__(self) -> int:
        return len(self.conditions)

    def beside(self, literal: int) -> BoolArray:
        """Return which literals make a conjunction of two with a given one.

        On the same column that is a lower beside a higher end, or another level that is left out;
        all else either contradicts the given one or says no more than one of the two.
        """
        end = self.ends[literal]
        allowed: BoolArray = self.features != self.features[literal]
        allowed |= (self.ends * end < 0) & (self.ends + end > 0)  # there is room between them
        allowed |= self.excludes & self.excludes[literal]
        allowed[literal] = False
        return allowed

    def rule(self, members: frozenset[int]) -> Rule:
        """Return the conjunction of some literals."""
        return Rule.of(self.conditions[i] for i in sorted(members))


def _excludes(condition: Condition) -> bool:
    return isinstance(condition, Levels) and not condition.inside


def _end(condition: Condition) -> int:
    if isinstance(condition, Levels) or condition.low > condition.high:
        return 0
    return condition.high if condition.high < OPEN else 1 - condition.low


def _literals(column: BinnedColumn, *, has_missing: bool) -> Iterator[Condition]:
    if column.kind is Kind.CATEGORICAL:
        levels = [*column.levels, *([None] if has_missing else [])]
        for level in levels if len(levels) > 1 else []:
            yield Levels(column.name, frozenset([level]))
            if len(levels) > 2:  # of two levels, each is what the other is not
                yield Levels(column.name, frozenset([level]), inside=False)
        return
    for cut in range(1, column.n_values):
        yield Range(column.name, 1, cut)
        yield Range(column.name, cut + 1)
    if has_missing:
        yield Range(column.name, 1, 0, missing=True)
        yield Range(column.name)
