"""Subgroups of rows: the values of a column, or quarters of the rows by a number.

Their labels are printed and written, so that values which few rows have are in one subgroup.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from mossrules._typing import AnyArray, BoolArray, FloatArray
from mossrules.candidates.cuts import shortest_between
from mossrules.candidates.thresholds import format_number
from mossrules.data.columns import NUMBERS, Column, Kind
from mossrules.data.table import Table, did_you_mean, target_name, vector_column
from mossrules.defaults import MIN_ROWS_SHOWN
from mossrules.exceptions import InvalidParameter

__all__ = ["Subgroups", "read_subgroups"]

BANDS = 4
MOST = 30  # subgroups: of more, few have rows enough
MISSING = "(missing)"
RARE = "(rare values)"


@dataclass(frozen=True)
class Subgroups:
    """The subgroups that a column makes of the rows, in the order given."""

    by: str
    labels: tuple[str, ...]
    members: tuple[BoolArray, ...]
    note: str | None = None  # of numbers that were cut into bands

    def __iter__(self) -> Iterator[tuple[str, BoolArray]]:
        return iter(zip(self.labels, self.members, strict=True))


def read_subgroups(X: Any, by: Any, n_rows: int) -> list[Subgroups]:
    """Return the subgroups of one column or several: names, or labels for each row."""
    if by is None:
        return []
    if isinstance(by, Mapping):
        return [_subgroups(vector_column(labels, str(name), n_rows), n_rows)
                for name, labels in by.items()]  # fmt: skip
    names = [by] if isinstance(by, str) else by
    if isinstance(names, list | tuple) and names and all(isinstance(name, str) for name in names):
        table = Table.from_any(X)
        if isinstance(by, str) or len(names) != n_rows or set(names) <= set(table.names):
            return [_subgroups(_column(table, name), n_rows) for name in names]
    name = target_name(by) or "subgroup"
    return [_subgroups(vector_column(by, name, n_rows), n_rows)]


def _column(table: Table, name: str) -> Column:
    if not table.named:
        raise InvalidParameter(
            f"by is the name {name!r}, and the columns of an array have no names; pass a label for "
            "each row."
        )
    for column in table.columns:
        if column.name == name:
            return column
    raise InvalidParameter(
        f"by is {name!r}, which is not a column of X; name one, or pass a label for each row."
        + did_you_mean(name, table.names)
    )


def _subgroups(column: Column, n_rows: int) -> Subgroups:
    values = column.read(0, n_rows)
    if column.kind in NUMBERS:
        missing = np.isnan(values)
        levels = np.unique(values[~missing])
        if len(levels) > BANDS:
            return _bands(column.name, values, missing)
        is_truth = column.kind is Kind.BOOLEAN
        texts = [("true" if level else "false") if is_truth else f"{level:g}" for level in levels]
        members = [values == level for level in levels]
        is_known = is_truth
    else:
        missing = np.array([value is None for value in values.tolist()], dtype=bool)
        known = column.levels or sorted(set(values[~missing].tolist()), key=str)
        held = [(str(level), _equal(values, level)) for level in known]
        texts = [text for text, where in held if where.any()]
        members = [where for _, where in held if where.any()]
        is_known = column.kind is Kind.ORDERED
    if len(texts) > MOST:
        raise InvalidParameter(
            f"by {column.name!r} has {len(texts)} different values; name a column of at most "
            f"{MOST}, or pass labels of larger subgroups."
        )
    # The two truth values, and levels that a type declares, tell of nobody.
    texts, members, note = (
        (texts, members, None) if is_known else _without_rare(column.name, texts, members)
    )
    return _with_missing(column.name, texts, members, missing, note)


def _without_rare(
    name: str, texts: list[str], members: list[BoolArray]
) -> tuple[list[str], list[BoolArray], str | None]:
    """Return subgroups with the values that few rows have in one, and a note on it."""
    are_rare = [int(where.sum()) < MIN_ROWS_SHOWN for where in members]
    if not any(are_rare):
        return texts, members, None
    pairs = [*zip(texts, members, are_rare, strict=True)]
    kept = [(text, where) for text, where, is_rare in pairs if not is_rare]
    kept.append((RARE, np.any([where for _, where, is_rare in pairs if is_rare], axis=0)))
    number = sum(are_rare)
    values = "1 value" if number == 1 else f"{number} values"
    note = f"{name}: {values} of fewer than {MIN_ROWS_SHOWN} rows, in one subgroup {RARE}."
    return [text for text, _ in kept], [where for _, where in kept], note


def _bands(name: str, values: FloatArray, missing: BoolArray) -> Subgroups:
    """Return quarters of the rows, between numbers with few digits that lie between values."""
    shares = np.arange(1, BANDS) / BANDS
    known = np.unique(values[~missing])
    below = np.quantile(values[~missing], shares, method="inverted_cdf")
    places = np.searchsorted(known, np.unique(below[below < known[-1]]))
    ends = [shortest_between(float(known[i]), float(known[i + 1])) for i in places]
    band = np.searchsorted(ends, values)
    first, *others = map(format_number, ends)
    last = others[-1] if others else first
    between = [f"{low} < {name} <= {high}" for low, high in pairwise([first, *others])]
    first, last = f"{name} <= {first}", f"{name} > {last}"
    texts = [first, *between, last]
    members = [(band == number) & ~missing for number in range(len(texts))]
    note = f"{name} is a number: its subgroups are {len(texts)} bands with about as many rows each."
    return _with_missing(name, texts, members, missing, note)


def _with_missing(
    name: str,
    texts: list[str],
    members: list[AnyArray],
    missing: BoolArray,
    note: str | None = None,
) -> Subgroups:
    if missing.any():
        texts, members = [*texts, MISSING], [*members, missing]
    return Subgroups(name, tuple(texts), tuple(members), note)


def _equal(values: AnyArray, level: Any) -> BoolArray:
    return np.array([value == level for value in values.tolist()], dtype=bool)
