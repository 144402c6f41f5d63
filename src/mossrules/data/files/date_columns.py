"""Columns of dates, which are read as days, replaced by the numbers that they become."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from mossrules._typing import AnyArray, FloatArray
from mossrules.data.columns import Column, Kind
from mossrules.data.dates import DatePart, derive
from mossrules.data.reading import Reading
from mossrules.data.table import Columns, Table

__all__ = ["dates_in_columns", "dates_in_table"]

Made = TypeVar("Made")


def dates_in_columns(
    columns: Mapping[str, Any], reading: Reading, only: Collection[str] | None
) -> Columns:
    """Return columns in memory, with numbers in the places of dates."""
    return _replaced(columns, reading, only, lambda part: derive(part, columns))


def dates_in_table(table: Table, reading: Reading, only: Collection[str] | None) -> Table:
    """Return a table likewise, whose values are made when they are asked for."""
    columns = {column.name: column for column in table.columns}

    def make(part: DatePart) -> Column:
        read = _Reader(part, tuple(columns[name] for name in part.sources))
        return Column(part.name, Kind.NUMERIC, read)

    return replace(table, columns=tuple(_replaced(columns, reading, only, make).values()))


def _replaced(
    columns: Mapping[str, Made],
    reading: Reading,
    only: Collection[str] | None,
    make: Callable[[DatePart], Made],
) -> dict[str, Made]:
    if not reading.parts:
        return dict(columns)
    found: dict[str, Made] = {}
    for name, column in columns.items():
        if name not in reading.date_columns:
            found[name] = column
        for part in _parts_of(name, reading.parts, only):
            found[part.name] = make(part)
    return found


def _parts_of(name: str, parts: Iterable[DatePart], only: Collection[str] | None) -> list[DatePart]:
    return [part for part in parts if part.source == name and (only is None or part.name in only)]


@dataclass(frozen=True)
class _Reader:
    """Reads rows of a column that is made of dates."""

    part: DatePart
    sources: tuple[Column, ...]

    def __call__(self, start: int, stop: int) -> AnyArray:
        days: dict[str, FloatArray] = {each.name: each.read(start, stop) for each in self.sources}
        return derive(self.part, days)
