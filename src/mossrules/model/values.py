"""Conditions on codes -> tests on values: what a program without our encoder has to check.

A test is an `Interval` of numbers, or `Levels` that mean exactly what they say: a value, None for
missing, is one of the levels, or (not inside) is none of them. Exporters only translate these.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import chain

from mossrules.candidates.cuts import MISSING, BinnedColumn
from mossrules.candidates.rules import OPEN, Condition, Levels, Range
from mossrules.data.columns import NUMBERS, Kind, Label
from mossrules.exceptions import InvalidParameter
from mossrules.model.formatting import one_line

__all__ = ["Interval", "Test", "boolean_levels", "check_condition", "sorted_labels", "value_test"]


@dataclass(frozen=True)
class Interval:
    """`above < x <= most` in float64, None for no bound; or x is missing, if `missing`.

    Without `present` no number will do.
    """

    feature: str
    above: float | None
    most: float | None
    missing: bool
    present: bool = True

    def accepts(self, value: float) -> bool:
        """Tell whether a number that is not missing passes."""
        over = self.above is None or value > self.above
        return self.present and over and (self.most is None or value <= self.most)


Test = Interval | Levels


def value_test(condition: Condition, column: BinnedColumn) -> Test:
    """Return what a condition asks of a value of its column."""
    if isinstance(condition, Levels):
        return condition  # levels are labels, and one that training never saw is just another label
    if column.kind in NUMBERS:
        above = column.cuts[condition.low - 2] if condition.low > 1 else None
        most = column.cuts[condition.high - 1] if 0 < condition.high < OPEN else None
        return Interval(condition.feature, above, most, condition.missing, condition.high > 0)
    # The encoder takes labels outside the order for missing: they share the fate of None.
    accepted = condition.accepts(column)
    some = [level for level in column.levels if accepted[column.code_of_level[level]]]
    others = [level for level in column.levels if not accepted[column.code_of_level[level]]]
    if accepted[MISSING]:
        return Levels(condition.feature, frozenset(others), inside=False)
    return Levels(condition.feature, frozenset(some))


def boolean_levels(interval: Interval) -> Levels:
    """Return an interval of the numbers 0 and 1 as levels false and true."""
    some = frozenset(value for value in (False, True) if interval.accepts(float(value)))
    if interval.missing:
        return Levels(interval.feature, frozenset((False, True)) - some, inside=False)
    return Levels(interval.feature, some)


def sorted_labels(test: Levels) -> list[Label | None]:
    """Return the levels in a fixed order, missing last."""
    return sorted(test.levels, key=lambda level: (level is None, type(level).__name__, str(level)))


# --- conditions that fit their column -------------------------------------------------------------


def check_condition(condition: Condition, column: BinnedColumn) -> None:
    """Refuse a condition that its column cannot have, or that says nothing."""
    if any(isinstance(level, float) and math.isnan(level) for level in column.levels):
        raise InvalidParameter(
            f"Column {column.name!r} has NaN among its levels; mark missing values as missing."
        )
    problem = (
        _problem_of_range(condition, column)
        if isinstance(condition, Range)
        else _problem_of_levels(condition, column)
    )
    if problem is not None:
        raise InvalidParameter(f"The condition '{one_line(str(condition))}' {problem}.")


def _problem_of_range(condition: Range, column: BinnedColumn) -> str | None:
    if column.kind is Kind.CATEGORICAL:
        return "asks for an order, which a categorical column does not have"
    low, high = condition.low, condition.high
    if (low, high, condition.missing) == (1, 0, True):
        return None
    last_cut = len(column.cuts)
    if not 1 <= low <= last_cut + 1 or not (low <= high <= last_cut or high == OPEN):
        return f"does not fit its column, which has bins 1 to {last_cut + 1}"
    if (low, high, condition.missing) == (1, OPEN, True):
        return "holds for every value"
    return None


def _problem_of_levels(condition: Levels, column: BinnedColumn) -> str | None:
    if column.kind is not Kind.CATEGORICAL:
        return f"asks for levels, which a column that is {column.kind.value} does not have"
    known = set(chain(column.levels, [None]))
    unknown = [level for level in sorted_labels(condition) if level not in known]
    if unknown:
        return f"names {unknown[0]!r}, which is no level of its column"
    if not condition.levels:
        return "names no level"
    return None
