"""Which columns of a file to read, and what is known of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mossrules.data.columns import Kind
from mossrules.data.table import did_you_mean
from mossrules.exceptions import MissingColumns

__all__ = ["ColumnSelection", "Columns", "check_same"]

Columns = dict[str, Any]  # arrays, or series of a frame library


@dataclass(frozen=True)
class ColumnSelection:
    """Which columns of a file to read, and what is known of them."""

    path: Path
    only: Collection[str] | None
    drop: Collection[str]
    required: Collection[str]
    kinds: Mapping[str, Kind]

    def choose(self, names: list[str]) -> list[str]:
        """Return the columns to read, or say which ones are not there."""
        for name in (*self.drop, *self.required):
            if name not in names:
                raise MissingColumns(
                    f"{self.path} has no column {name!r}; check the names of its columns."
                    + did_you_mean(name, names)
                )
        return [
            name
            for name in names
            if name not in self.drop and (self.only is None or name in self.only)
        ]


def check_same(path: Path, names: Collection[str], expected: Collection[str]) -> None:
    """Refuse a file whose columns are not those of the files before it."""
    for name in set(names) ^ set(expected):
        lacks = "lacks" if name in expected else "has"
        raise MissingColumns(
            f"{path} {lacks} the column {name!r}, unlike the files before it; files that are read "
            "as one table need the same columns."
        )
