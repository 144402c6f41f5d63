"""Values as people have them: for this program to read, and for other programs to test.

Rules know codes and levels. `used_columns` and `used_values` take the columns that rules use from
tables and single rows. `value_test` says what a condition on codes asks of a value, for programs
that lack our encoder. Such a test is an `Interval` of numbers, or `Levels` that mean exactly what
they say: a value, None for missing, is one of the levels, or (not inside) is none of them.
Exporters only translate these, so that what a condition means is decided here alone.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mossrules._typing import AnyArray
from mossrules.candidates.cuts import MISSING, BinnedColumn, Binning
from mossrules.candidates.rules import OPEN, Condition, Levels
from mossrules.data.columns import NUMBERS, Column, Kind, Label
from mossrules.data.files import scan_if_path
from mossrules.data.table import Table
from mossrules.exceptions import InvalidTable, UnsupportedType

__all__ = [
    "Interval",
    "Test",
    "boolean_levels",
    "sorted_labels",
    "used_columns",
    "used_values",
    "value_test",
]


# --- tables and rows to predict for ---------------------------------------------------------------


def used_columns(X: Any, binning: Binning, columns: Sequence[str]) -> Table:
    """Return the columns of a table that `binning` reads, in its order.

    They are found by name; the columns of an array have none and are those of training, `columns`,
    in the same order. So are those of any table when training was on an array, unless it has the
    names that were made up then.
    """
    table = Table.from_any(scan_if_path(X, only=binning.names if binning.named else None))
    if table.named and (binning.named or set(binning.names) <= set(table.names)):
        return table.select(binning.names)
    # Only positions tell which column is which, so all those of training have to be there.
    unnamed = replace(table, named=False)
    by_name = dict(zip(columns, unnamed.select(columns).columns, strict=True))
    return replace(unnamed, columns=tuple(by_name[name] for name in binning.names))


def used_values(row: Any, binning: Binning, columns: Sequence[str]) -> Table:
    """Return a table of one row from a mapping, a pandas Series, an array, or a table of one."""
    if isinstance(row, str | bytes | os.PathLike):
        raise UnsupportedType(
            f"The row is the text or path {row!r}; pass a mapping from names to values, a sequence "
            "of all values, or a table of one row."
        )
    # A pandas Series, told from a frame without importing pandas.
    if hasattr(type(row), "to_dict") and not hasattr(type(row), "columns"):
        row = row.to_dict()
    if isinstance(row, Mapping):
        values = {name: [value] for name, value in row.items()}
        return _with_labels(used_columns(values, binning, columns), binning)
    if isinstance(row, np.ndarray) and row.ndim == 1:
        row = row.tolist()
    if isinstance(row, list | tuple) and not any(map(_is_vector, row)):
        return _with_labels(used_columns([row], binning, columns), binning)
    table = used_columns(row, binning, columns)
    if table.n_rows != 1:
        raise InvalidTable(
            f"A single row can be explained and the table has {table.n_rows}; pass one of them."
        )
    return table


def _is_vector(value: object) -> bool:
    return isinstance(value, list | tuple | np.ndarray)


def _with_labels(table: Table, binning: Binning) -> Table:
    """Return numbers as labels where the labels are numbers: a lone value has no type to tell."""
    pairs = zip(table.columns, binning.columns, strict=True)
    return Table(
        tuple(_as_labels(column) if _has_numbers(binned) else column for column, binned in pairs),
        table.n_rows,
        table.named,
    )


def _has_numbers(binned: BinnedColumn) -> bool:
    return any(not isinstance(level, str) for level in binned.levels)


def _as_labels(column: Column) -> Column:
    if column.kind not in NUMBERS:
        return column

    def read(start: int, stop: int) -> AnyArray:
        numbers = column.read(start, stop)
        labels = numbers.astype(object)
        labels[np.isnan(numbers)] = None
        return labels

    return Column(column.name, Kind.CATEGORICAL, read)


# --- conditions as tests on values ----------------------------------------------------------------


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
    # Where missing values pass, so do labels nobody has heard of: name those that do not.
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
