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

from mossrules.candidates.cuts import MISSING, BinnedColumn, Binning
from mossrules.candidates.rules import OPEN, Condition, Levels
from mossrules.data.columns import NUMBERS, Kind
from mossrules.data.files import field_kinds, scan_if_path
from mossrules.data.reading import Reading
from mossrules.data.table import Table
from mossrules.data.values import Family, Label
from mossrules.exceptions import InvalidTable, UnsupportedType

__all__ = [
    "Interval",
    "Test",
    "boolean_levels",
    "field_kinds_of",
    "reading_options",
    "sorted_labels",
    "used_columns",
    "used_values",
    "value_test",
]


# --- tables and rows to predict for ---------------------------------------------------------------


def field_kinds_of(*binnings: Binning) -> dict[str, Kind]:
    """Return as what to read columns of files without types; others are what they look like.

    Categories of numbers and of truth values look like these: the fields have the same labels. So
    do columns on which several models disagree.
    """
    found: dict[str, set[Kind | None]] = {}
    for binning in binnings:
        for column in binning.columns:
            is_plain = column.kind not in NUMBERS and Family.TEXT not in column.families
            found.setdefault(column.name, set()).add(None if is_plain else column.kind)
    only = {name: next(iter(kinds)) for name, kinds in found.items() if len(kinds) == 1}
    return {name: kind for name, kind in only.items() if kind is not None}


def reading_options(paths: Any, binnings: Sequence[Binning]) -> dict[str, Any]:
    """Return which columns to read of files for models, and as what, for the readers of files."""
    names = {column.name: None for each in binnings for column in each.columns}
    reading = Reading.common(each.reading for each in binnings)
    # Columns without names go by position, and some column has to tell the number of rows.
    if not names or not all(each.named for each in binnings):
        return {"only": None, "required": (), "kinds": {}, "reading": reading}
    kinds = field_kinds(paths, field_kinds_of(*binnings))
    return {"only": [*names], "required": [*names], "kinds": kinds, "reading": reading}


def used_columns(X: Any, binning: Binning, columns: Sequence[str]) -> Table:
    """Return the columns of a table that `binning` reads, in its order.

    They are found by name; the columns of an array have none and are those of training, `columns`,
    in the same order. So are those of any table when training was on an array, unless it has the
    names that were made up then.
    """
    only = binning.names if binning.named else None
    kinds = field_kinds_of(binning)
    table = Table.from_any(scan_if_path(X, only, kinds, binning.reading))
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
        return used_columns(values, binning, columns)
    if isinstance(row, np.ndarray) and row.ndim == 1:
        row = row.tolist()
    if isinstance(row, list | tuple) and not any(map(_is_vector, row)):
        return used_columns([row], binning, columns)
    table = used_columns(row, binning, columns)
    if table.n_rows != 1:
        raise InvalidTable(
            f"A single row can be explained and the table has {table.n_rows}; pass one of them."
        )
    return table


def _is_vector(value: object) -> bool:
    return isinstance(value, list | tuple | np.ndarray)


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
