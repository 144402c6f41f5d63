"""Parquet files larger than memory: row groups, of which a column at a time is read."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from mossrules._typing import AnyArray
from mossrules.data.chunks import RowRange
from mossrules.data.columns import Column, Kind, as_vector, make_column, values_as
from mossrules.data.files.parquet import as_wanted, by_pyarrow, columns_to_read, validated
from mossrules.data.files.selection import ColumnSelection, check_same
from mossrules.data.table import Table
from mossrules.exceptions import InvalidFile

__all__ = ["scan_parquet"]

PART_ROWS = 1 << 17  # row groups that are smaller are read together up to so many rows


@dataclass(frozen=True)
class Part:
    """Consecutive row groups of a file, which are read at once."""

    path: Path
    modified: int  # nanoseconds: the file is not to change while it is read
    groups: range
    rows: RowRange  # of all files

    def read(self, name: str) -> Any:
        """Return a column as pyarrow's chunked array."""
        from pyarrow import parquet  # noqa: PLC0415  optional

        metadata = _metadata(self.path, self.modified)
        # A reader of its own: one reader is not for many threads.
        with by_pyarrow(self.path), parquet.ParquetFile(self.path, metadata=metadata) as file:
            rows = file.read_row_groups(self.groups, columns=[name], use_threads=False)
            found = validated(rows[name])
        if len(found) != len(self.rows):
            raise InvalidFile(
                f"{self.path} has {len(found)} rows where it says that there are {len(self.rows)}; "
                "make it again."
            )
        return found


def scan_parquet(files: Sequence[ColumnSelection]) -> Table:
    """Return the columns of all rows of some files; values are read when they are asked for."""
    parts: list[Part] = []
    names: list[str] = []
    schema: Any = None
    for wanted in files:
        modified = wanted.path.stat().st_mtime_ns
        metadata = _metadata(wanted.path, modified)
        found = metadata.schema.to_arrow_schema()
        chosen = columns_to_read(wanted, found.names)
        if schema is None:
            schema, names = found, chosen
        check_same(wanted.path, chosen, names)
        parts += _parts(wanted.path, modified, metadata, parts[-1].rows.stop if parts else 0)
    if not parts:
        raise InvalidFile(f"{files[0].path} has no rows; add some.")
    columns = tuple(_column(name, schema, files[0], parts) for name in names)
    return Table(columns, parts[-1].rows.stop, parts=tuple(part.rows for part in parts))


@lru_cache(maxsize=256)
def _metadata(path: Path, modified: int) -> Any:
    """Return what a file says of itself, read once in each process."""
    from pyarrow import parquet  # noqa: PLC0415  optional

    if path.stat().st_mtime_ns != modified:
        raise InvalidFile(f"{path} was changed while it was read; begin anew.")
    with by_pyarrow(path), parquet.ParquetFile(path) as file:
        return file.metadata


def _parts(path: Path, modified: int, metadata: Any, start: int) -> Iterator[Part]:
    """Yield the row groups of a file, small ones together."""
    first, rows = 0, 0
    sizes = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
    for group, size in enumerate([*sizes, PART_ROWS]):
        if rows and rows + size > PART_ROWS:
            yield Part(path, modified, range(first, group), RowRange(start, start + rows))
            first, start, rows = group, start + rows, 0
        rows += size


def _column(name: str, schema: Any, wanted: ColumnSelection, parts: Sequence[Part]) -> Column:
    import pyarrow as pa  # noqa: PLC0415  optional

    # A dictionary is in the row groups only, and in its order the levels have theirs.
    is_dictionary = pa.types.is_dictionary(schema.field(name).type)
    example = parts[0].read(name) if is_dictionary else schema.empty_table()[name]
    column = make_column(name, as_wanted(as_vector(example), name, wanted))
    if column.kind is Kind.UNSUPPORTED:
        return column
    starts = [part.rows.start for part in parts]
    # Without the example: what reads it may be sent to other processes.
    alike = Column(name, column.kind, _nothing, column.levels)
    return replace(alike, read=_Reader(alike, wanted, parts, starts))


def _nothing(_start: int, _stop: int) -> AnyArray:
    return np.empty(0)


@dataclass(frozen=True)
class _Reader:
    """Reads rows of a column, in the kind that it has in the first file."""

    column: Column
    wanted: ColumnSelection
    parts: Sequence[Part]
    starts: list[int]

    def __call__(self, start: int, stop: int) -> AnyArray:
        first, last = (bisect_right(self.starts, row) for row in (start, stop - 1))
        found = [self._read(part, start, stop) for part in self.parts[first - 1 : last]]
        return found[0] if len(found) == 1 else np.concatenate(found)

    def _read(self, part: Part, start: int, stop: int) -> AnyArray:
        name = self.column.name
        here = make_column(name, as_wanted(as_vector(part.read(name)), name, self.wanted))
        rows = part.rows
        values = here.read(max(start, rows.start) - rows.start, min(stop, rows.stop) - rows.start)
        return values_as(self.column, here, values)
