"""Tables and single rows -> the columns that the rules use."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mossrules._typing import AnyArray
from mossrules.candidates.cuts import BinnedColumn, Binning
from mossrules.data.columns import NUMBERS, Column, Kind
from mossrules.data.files import scan_if_path
from mossrules.data.table import Table
from mossrules.exceptions import InvalidTable, UnsupportedType

__all__ = ["used_columns", "used_values"]


def used_columns(X: Any, binning: Binning, columns: Sequence[str]) -> Table:
    """Return the columns of a table that `binning` reads, in its order.

    They are found by name; the columns of an array have none and are those of training, `columns`,
    in the same order. So are those of any table when training was on an array, unless it has the
    names that were made up then.
    """
    table = Table.from_any(scan_if_path(X, only=binning.names if binning.named else None))
    if table.named and (binning.named or set(binning.names) <= set(table.names)):
        return table.select(binning.names)
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
