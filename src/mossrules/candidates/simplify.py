"""Candidates that say something of their own: of rules that say nearly the same, the simplest.

Trees name the same rows in several ways, and which way wins in one sample is chance. Three steps
choose among them by the rules' form alone, which no sample moves:

1. A condition (or an end of an interval) that excludes few of the rows on which the rest of its
   rule holds is dropped: `age > 67 and icd10 is not N58` is `age > 67`.
2. Of a rule of one condition and its complement, which tell the same rows apart, one stays:
   `age > 67` and not `age <= 67`.
3. Rules that hold on exactly the same rows, or the opposite ones, are one: the shortest, and then
   the first in the fixed order of rules.

What stays counts in all trees in which any of those that it stands for was found. Rows are only
counted, never looked at one by one, so that files and clusters serve as well as memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from mossrules._typing import IntArray
from mossrules.candidates.pool import CandidatePool
from mossrules.candidates.rules import OPEN, Condition, Levels, Range, Rule
from mossrules.candidates.statistics import Overlaps, count_rows
from mossrules.data.columns import Kind, Label

if TYPE_CHECKING:
    from mossrules.candidates.codes import EncodedTable
    from mossrules.candidates.cuts import BinnedColumn, Binning
    from mossrules.data.chunks import Progress

__all__ = ["complement", "merge_equivalent", "simplify_pool", "weaker"]


def simplify_pool(
    pool: CandidatePool,
    data: EncodedTable,
    *,
    max_overlap: float,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> CandidatePool:
    """Return the pool after the first two steps.

    `max_overlap` is the largest share of the rows of a weaker rule that a rule may hold on.
    """
    rows = _Supports(data, n_jobs, progress)
    simplest = _drop_conditions(pool, rows, max_overlap)
    misses = dict(zip(data.binning.names, data.has_missing, strict=True))
    preferred = {
        rule: _preferred(stands, data.binning, misses) for rule, stands in simplest.items()
    }
    return pool.replaced(preferred)


def merge_equivalent(
    pool: CandidatePool, overlaps: Overlaps, total: int, kept: Sequence[Rule] = ()
) -> tuple[CandidatePool, Overlaps]:
    """Return the pool after the third step, and the overlaps of its rules, from those before.

    `total` is the weight of all rows, in the units of the overlaps. Rules of the pool in `kept` all
    stay, and stand for others.
    """
    stands = _equivalent(pool, overlaps, total, frozenset(kept))
    merged = pool.replaced({rule: pool.rules[stands[i]] for i, rule in enumerate(pool.rules)})
    position = {rule: number for number, rule in enumerate(pool.rules)}
    return merged, overlaps.take(np.array([position[rule] for rule in merged.rules]))


# --- the first step -------------------------------------------------------------------------------


def weaker(rule: Rule) -> Iterator[Rule]:
    """Yield the rules with one condition, or one end of an interval, less.

    Examples
    --------
    >>> rule = Rule.of([Range("age", low=2, high=3), Range("bmi", low=4)])
    >>> [str(each) for each in weaker(rule)]
    ['bmi in bins 4..', 'age in bins 2.. and bmi in bins 4..', 'age in bins 1..3 and bmi in bins 4..', 'age in bins 2..3']
    """  # noqa: E501  what is printed is one line
    for position, condition in enumerate(rule.conditions):
        others = rule.conditions[:position], rule.conditions[position + 1 :]
        if len(rule) > 1:
            yield Rule((*others[0], *others[1]))
        if isinstance(condition, Range) and 1 < condition.low <= condition.high < OPEN:
            for end in (replace(condition, high=OPEN), replace(condition, low=1)):
                yield Rule((*others[0], end, *others[1]))


def _drop_conditions(pool: CandidatePool, rows: _Supports, max_overlap: float) -> dict[Rule, Rule]:
    """Return for each rule the one that it becomes when conditions that say little are dropped."""
    becomes, form = {rule: rule for rule in pool.rules}, pool.form
    moving = list(becomes)
    while moving:
        choices = {
            rule: list(weaker(rule)) for rule in dict.fromkeys(becomes[rule] for rule in moving)
        }
        rows.count([*choices, *(rule for found in choices.values() for rule in found)])
        step = {}
        for rule, found in choices.items():
            near = [each for each in found if rows[rule] > max_overlap * rows[each]]
            # The nearest one: it loses least. Of equally near ones the first in a fixed order.
            if near:
                step[rule] = min(near, key=lambda each: (rows[each], form(each)))
        moving = [rule for rule in moving if becomes[rule] in step]
        becomes.update({rule: step[becomes[rule]] for rule in moving})
    return becomes


@dataclass
class _Supports:
    """The weights of the rows of rules, each rule counted once."""

    data: EncodedTable
    n_jobs: int
    progress: Progress | None

    def __post_init__(self) -> None:
        self.known: dict[Rule, int] = {}

    def count(self, rules: Iterable[Rule]) -> None:
        """Count the rows of rules that are not known yet, in one pass."""
        new = [rule for rule in dict.fromkeys(rules) if rule not in self.known]
        if new:
            found = count_rows(self.data, new, n_jobs=self.n_jobs, progress=self.progress)
            self.known.update(zip(new, found.tolist(), strict=True))

    def __getitem__(self, rule: Rule) -> int:
        return self.known[rule]


# --- the second step ------------------------------------------------------------------------------


def complement(
    condition: Condition, column: BinnedColumn, *, has_missing: bool
) -> Condition | None:
    """Return the condition that holds on exactly the other rows of training; None if there is none.

    `has_missing` tells whether the column has missing values.
    """
    if isinstance(condition, Levels):
        return _other_levels(condition, column, has_missing)
    missing = has_missing and not condition.missing
    if condition.low > condition.high:  # missing against present
        return Range(condition.feature)
    if condition.low == 1:
        if condition.high == OPEN:
            return Range(condition.feature, 1, 0, missing=True) if missing else None
        return Range(condition.feature, condition.high + 1, OPEN, missing)
    if condition.high == OPEN:
        return Range(condition.feature, 1, condition.low - 1, missing)
    return None


def _other_levels(condition: Levels, column: BinnedColumn, has_missing: bool) -> Levels | None:
    if not condition.inside:
        return replace(condition, inside=True)
    every: set[Label | None] = {*column.levels, *([None] if has_missing else [])}
    others = frozenset(every - condition.levels)
    if column.kind is Kind.CATEGORICAL and column.is_nominal:
        return replace(condition, inside=False)
    return Levels(condition.feature, others) if others else None


def _preferred(rule: Rule, binning: Binning, misses: Mapping[str, bool]) -> Rule:
    """Return a rule, or the complement of a rule of one condition where that reads better."""
    if len(rule) > 1:
        return rule
    condition = rule.conditions[0]
    column = binning[condition.feature]
    other = complement(condition, column, has_missing=misses[condition.feature])
    return rule if other is None else Rule((min(condition, other, key=_reading),))


def _reading(condition: Condition) -> tuple[object, ...]:
    """Return how well a condition reads beside its complement; the smallest reads best.

    A choice by form and not by rows: which of both holds on fewer rows may change with the sample.
    """
    if isinstance(condition, Levels):
        # "is red" before "is not red"; of two levels the last, as in no and yes, or 0 and 1.
        last = max((str(level) for level in condition.levels if level is not None), default="")
        return not condition.inside, None in condition.levels, [-ord(letter) for letter in last]
    only_missing = condition.low > condition.high
    return condition.missing and not only_missing, condition.opening != 1, not only_missing


# --- the third step -------------------------------------------------------------------------------


def _equivalent(
    pool: CandidatePool, overlaps: Overlaps, total: int, kept: frozenset[Rule]
) -> IntArray:
    """Return for each rule the position of the simplest one that tells the same rows apart.

    Rules of the same rows, and of the opposite ones, are columns that differ by a factor once they
    are centred: no loss can tell them apart.
    """
    N, form = overlaps.counts, pool.form
    sizes = np.diagonal(N)
    same = (sizes == N) & (sizes[:, None] == N)
    opposite = (N == 0) & (sizes + sizes[:, None] == total)
    own = np.array([rule in kept for rule in pool.rules], dtype=bool)
    by_form = np.array(sorted(range(len(pool)), key=lambda i: (not own[i], form(pool.rules[i]))))
    # In the fixed order of rules, the first that is like a rule: argmax finds the first True.
    first = (same | opposite)[:, by_form].argmax(axis=1)
    return np.where(own, np.arange(len(pool)), by_form[first]).astype(np.int64)
