"""The rows that a check looks at, column by column: all of a table, or blocks of a large one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mossrules._common import cached_property
from mossrules._typing import AnyArray, BoolArray, FloatArray, IntArray
from mossrules.data.chunks import RowRange
from mossrules.data.columns import NUMBERS, Column, Kind, Label
from mossrules.data.table import Table
from mossrules.exceptions import MossError

__all__ = ["BLOCKS", "SeenColumn", "look_at", "rows_to_look_at"]

# Enough for what is looked for: what 1 row in 10,000 has is in them with near certainty. A table of
# so many rows and 20 columns takes about a second.
MAX_ROWS = 100_000
MAX_VALUES = 10_000_000  # the same limit for wide tables
BLOCKS = 20  # rows that belong together often stand together, so a sample is of blocks of rows


@dataclass(frozen=True, eq=False)
class SeenColumn:
    """The values of a column on the rows looked at."""

    name: str
    kind: Kind
    values: AnyArray  # numbers with NaN, or labels with None, for missing
    error: str | None = None  # why it cannot be read

    @property
    def is_numeric(self) -> bool:
        """Whether values are numbers, or truth values as such."""
        return self.kind in NUMBERS

    @cached_property
    def present(self) -> BoolArray:
        """Which rows have a value."""
        if self.is_numeric:
            return ~np.isnan(self.values)
        return np.array([value is not None for value in self.values.tolist()], dtype=bool)

    @property
    def n_present(self) -> int:
        """How many rows have a value."""
        return int(np.count_nonzero(self.present))

    @cached_property
    def codes(self) -> IntArray:
        """The position of each row's value among the distinct ones; -1 for missing."""
        if self.is_numeric:
            _, places = np.unique(self.values, return_inverse=True)  # NaN comes last, as one
            return np.where(self.present, places, -1).astype(np.int64)
        known: dict[Any, int] = {None: -1}
        return np.fromiter(
            (known.setdefault(label, len(known) - 1) for label in self.values.tolist()),
            np.int64,
            count=len(self.values),
        )

    @cached_property
    def level_counts(self) -> IntArray:
        """How many rows have each of the distinct values."""
        return np.bincount(self.codes[self.present])

    @property
    def n_distinct(self) -> int:
        """How many different values there are."""
        return len(self.level_counts)

    @cached_property
    def numbers(self) -> FloatArray:
        """The numbers that are there."""
        return np.asarray(self.values[self.present], dtype=np.float64)

    @cached_property
    def texts(self) -> Counter[str]:
        """How many rows have each text."""
        counts: Counter[Label | None] = Counter(self.values.tolist())
        return Counter({text: n for text, n in counts.items() if isinstance(text, str)})

    @cached_property
    def are_whole(self) -> bool:
        """Whether all numbers are whole."""
        return self.is_numeric and bool(np.all(self.numbers == np.floor(self.numbers)))


def rows_to_look_at(
    table: Table, max_rows: int = MAX_ROWS, max_values: int = MAX_VALUES, blocks: int = BLOCKS
) -> list[RowRange]:
    """Return all rows, or of a large table blocks at equal distances."""
    n_rows = table.n_rows
    limit = max(blocks, min(max_rows, max_values // len(table.columns)))
    if n_rows <= limit:
        return [RowRange(0, n_rows)]
    size = limit // blocks
    starts = np.linspace(0, n_rows - size, blocks).astype(np.int64).tolist()
    return [RowRange(start, start + size) for start in starts]


def look_at(column: Column, ranges: Sequence[RowRange]) -> SeenColumn:
    """Return the values of a column on some rows; one that cannot be read says why."""
    try:
        values = np.concatenate([column.read(each.start, each.stop) for each in ranges])
    except MossError as error:
        nothing = np.full(sum(map(len, ranges)), None, dtype=object)
        return SeenColumn(column.name, Kind.UNSUPPORTED, nothing, str(error))
    return SeenColumn(column.name, column.kind, values)
