"""Parquet files -> columns by name: read whole, or by row groups, of which a column at a time.

Row groups are for files larger than memory, and need pyarrow.
"""

from __future__ import annotations

import importlib.util
import json
import re
from base64 import b64decode
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from mossrules._typing import AnyArray
from mossrules.data.chunks import RowRange
from mossrules.data.columns import (
    NUMBERS,
    Column,
    Kind,
    as_vector,
    labels_as,
    make_column,
    read_as,
    unreadable_column,
)
from mossrules.data.dates import why_no_day
from mossrules.data.files.fields import TextFields, without_numbers
from mossrules.data.table import Columns, ColumnSelection, Table, check_same
from mossrules.exceptions import InvalidColumn, InvalidFile, MissingDependency

__all__ = ["read_parquet", "scan_parquet"]

# What pandas calls an index without a name: of rows that were sorted or drawn, it is their numbers.
ARROW = b"ARROW:schema"  # where pyarrow notes the types that a table had in memory
PANDAS = b"pandas"  # where pandas notes them, whatever wrote the file
Notes = Mapping[str, bool]  # columns that were categories in memory, and whether these had an order
INDEX = re.compile(r"__index_level_\d+__")
# Row groups of a few rows would mean a call of pyarrow for each, and a chunk of its own.
PART_ROWS = 1 << 17  # row groups that are smaller are read together, up to this many rows


def read_parquet(selection: ColumnSelection) -> Columns:
    """Return the columns of a file, read whole by whichever library is there."""
    for library, read in (("pyarrow", _read_with_pyarrow), ("polars", _read_with_polars)):
        if importlib.util.find_spec(library) is not None:
            frame = nw.from_native(read(selection), eager_only=True)
            if len(frame) == 0:
                raise InvalidFile(f"{selection.path} contains no data rows; add rows.")
            notes = _notes_of(selection.path, library)
            found = {
                name: _as_selected(frame[name], name, selection, notes) for name in frame.columns
            }
            return {
                name: each if isinstance(each, np.ndarray) else each.to_native()
                for name, each in found.items()
            }
    raise MissingDependency(
        f"Reading {selection.path} needs pyarrow or polars, and neither is installed; "
        'run pip install "mossrules[parquet]", or pass a CSV file.'
    )


def _columns_to_read(selection: ColumnSelection, names: Iterable[str]) -> list[str]:
    """Return the columns to read; an index that pandas has kept is one only where it is named."""
    named = {*selection.drop, *selection.required, *selection.kinds, *(selection.only or ())}
    return selection.choose([name for name in names if name in named or not INDEX.fullmatch(name)])


def _as_selected(series: Any, name: str, selection: ColumnSelection, notes: Notes) -> Any:
    """Return a column in its type, with dates as days and without what stands for missing."""
    if name in selection.reading.date_columns:
        return _as_days(series, name, selection)
    series = _typed(series, name, selection, notes)
    return _without_words(series, name, selection) if selection.reading.na else series


def _typed(series: Any, name: str, selection: ColumnSelection, notes: Notes) -> Any:
    """Return whole numbers as text where they are to be categories, and noted categories as such.

    Parquet keeps categories of text. Those of numbers and truth values come back as plain values,
    and only what the writer noted beside them says that they were categories.
    """
    kind = selection.kinds.get(name)
    if kind is not None:
        as_text = kind not in NUMBERS and series.dtype.is_integer()
        return series.cast(nw.String) if as_text else series
    is_plain = series.dtype.is_numeric() or series.dtype == nw.Boolean
    if name not in notes or not is_plain:
        return series
    if notes[name]:
        raise InvalidColumn(
            f"Column {name!r} of {selection.path} is an ordered category of {series.dtype}, whose "
            "order Parquet does not keep; save it as numbers, or with text for categories."
        )
    if not series.implementation.is_pyarrow():
        raise MissingDependency(
            f"Column {name!r} of {selection.path} is a category of {series.dtype}, which pyarrow "
            'reads and which is not installed; run pip install "mossrules[parquet]".'
        )
    return nw.from_native(series.to_native().dictionary_encode(), series_only=True)


def _as_days(series: Any, name: str, selection: ColumnSelection) -> AnyArray:
    """Return dates, or text that tells them, as days from 1970-01-01 on."""
    if series.dtype in (nw.Date, nw.Datetime):
        texts = ["" if day is None else str(day)[:10] for day in series.to_list()]
    elif isinstance(series.dtype, nw.String | nw.Categorical):
        texts = ["" if text is None else str(text) for text in series.to_list()]
    else:
        raise InvalidFile(
            f"{selection.path}: column {name!r} is of type {series.dtype} and holds no dates; "
            "leave it out of the dates."
        )
    days = TextFields(texts, selection.reading).days()
    if days is None:
        wrong = next(text for text in texts if TextFields([text], selection.reading).days() is None)
        why = why_no_day(wrong, selection.reading.date_order)
        raise InvalidFile(f"{selection.path}: column {name!r} is {wrong[:50]!r}, {why}.")
    return days


def _without_words(series: Any, name: str, selection: ColumnSelection) -> Any:
    """Return a column in which what stands for a missing value is missing."""
    reading = selection.reading
    if series.dtype.is_numeric():
        if not reading.missing_numbers:
            return series
        values = make_column(name, series).read(0, len(series))
        return without_numbers(values, reading)
    if isinstance(series.dtype, nw.String | nw.Categorical):
        found = make_column(name, series)
        if found.kind is Kind.ORDERED:
            for word in reading.na:
                if word in found.levels:
                    raise InvalidFile(
                        f"{selection.path}: {word!r} is a level of the ordered column {name!r}; "
                        "make it missing in the file."
                    )
            return series
        labels = [None if label in reading.words else label for label in found.read(0, len(series))]
        return nw.new_series(name, labels, nw.String, backend=series.implementation)
    return series


def _notes_of(path: Path, library: str) -> Notes:
    """Return the notes of a file by whichever library is there."""
    if library == "pyarrow":
        return _notes(path, path.stat().st_mtime_ns)
    import polars as pl  # noqa: PLC0415  optional

    try:
        return _noted_by_pandas(path, pl.read_parquet_metadata(path).get(PANDAS.decode()))
    except (pl.exceptions.PolarsError, OSError) as reason:
        raise _not_parquet(path, reason) from reason


@lru_cache(maxsize=256)
def _notes(path: Path, modified: int) -> Notes:
    """Return the columns that were categories when they were written, read once for each file."""
    import pyarrow as pa  # noqa: PLC0415  optional

    noted = _metadata(path, modified).metadata or {}
    notes = _noted_by_pandas(path, noted.get(PANDAS))
    if ARROW in noted:
        try:
            with _by_pyarrow(path):
                schema = pa.ipc.read_schema(pa.py_buffer(b64decode(noted[ARROW])))
        except ValueError as reason:  # of the encoding
            raise _not_parquet(path, reason) from reason
        types = {field.name: field.type for field in schema}
        dictionaries = [name for name in types if pa.types.is_dictionary(types[name])]
        notes |= {name: types[name].ordered for name in dictionaries}
    return notes


def _noted_by_pandas(path: Path, text: str | bytes | None) -> dict[str, bool]:
    try:
        noted = {} if text is None else json.loads(text)
    except ValueError as reason:
        raise _not_parquet(path, reason) from reason
    columns = noted.get("columns") if isinstance(noted, dict) else None
    notes = {}
    for column in columns if isinstance(columns, list) else ():
        if isinstance(column, dict) and column.get("pandas_type") == "categorical":
            how = column.get("metadata")
            notes[str(column.get("field_name"))] = isinstance(how, dict) and bool(
                how.get("ordered")
            )
    return notes


def _read_with_pyarrow(selection: ColumnSelection) -> Any:
    from pyarrow import parquet  # noqa: PLC0415  optional

    with _by_pyarrow(selection.path), parquet.ParquetFile(selection.path) as file:
        if file.metadata.num_row_groups == 0:
            return file.schema_arrow.empty_table()  # which pyarrow 18 cannot read
        return _validated(file.read(columns=_columns_to_read(selection, file.schema_arrow.names)))


@contextmanager
def _by_pyarrow(path: Path) -> Iterator[None]:
    """Say in a sentence why pyarrow cannot read a file."""
    import pyarrow as pa  # noqa: PLC0415  optional

    try:
        yield
    except MemoryError:  # pyarrow's is one of its exceptions, and the file may be sound
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as reason:
        raise _not_parquet(path, reason) from reason


def _validated(found: Any) -> Any:
    """Return what pyarrow has read, if its texts are UTF-8 and its labels are all there.

    It reads without a look at either, and would fail wherever the values are first used.
    """
    found.validate(full=True)
    return found


def _read_with_polars(selection: ColumnSelection) -> Any:
    import polars as pl  # noqa: PLC0415  optional

    try:
        names = _columns_to_read(selection, pl.read_parquet_schema(selection.path))
        return pl.read_parquet(selection.path, columns=names, hive_partitioning=False)
    except (pl.exceptions.PolarsError, OSError) as reason:
        raise _not_parquet(selection.path, reason) from reason


def _not_parquet(path: Path, reason: Exception) -> InvalidFile:
    """Return the error that says why a file cannot be read."""
    brief = (str(reason).splitlines() or [type(reason).__name__])[0].rstrip(".")
    return InvalidFile(f"{path} cannot be read as Parquet ({brief}); check the file.")


# --- files larger than memory ---------------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """Consecutive row groups of a file, which are read at once."""

    path: Path
    modified: int  # nanoseconds: the file is not to change while it is read
    groups: range
    rows: RowRange  # of all files

    @property
    def notes(self) -> Notes:
        """What the file notes of its columns."""
        return _notes(self.path, self.modified)

    def read(self, name: str) -> Any:
        """Return a column as pyarrow's chunked array."""
        from pyarrow import parquet  # noqa: PLC0415  optional

        metadata = _metadata(self.path, self.modified)
        # A reader of its own: one reader is not for many threads.
        with _by_pyarrow(self.path), parquet.ParquetFile(self.path, metadata=metadata) as file:
            rows = file.read_row_groups(self.groups, columns=[name], use_threads=False)
            found = _validated(rows[name])
        if len(found) != len(self.rows):
            raise InvalidFile(
                f"{self.path} has {len(found)} rows where it says that there are {len(self.rows)}; "
                "make it again."
            )
        return found


def scan_parquet(files: Sequence[ColumnSelection]) -> Table:
    """Return the columns of all rows of some files; values are read when they are asked for."""
    parts: list[Part] = []
    names: list[str] | None = None
    sources: list[_Source] = []  # files with rows
    for selection in files:
        modified = selection.path.stat().st_mtime_ns
        metadata = _metadata(selection.path, modified)
        schema = metadata.schema.to_arrow_schema()
        chosen = _columns_to_read(selection, schema.names)
        names = chosen if names is None else names
        check_same(selection.path, chosen, names)
        own = list(_parts(selection.path, modified, metadata, parts[-1].rows.stop if parts else 0))
        if own:
            sources.append(_Source(schema, metadata, own[0]))
        parts += own
    if not parts or names is None:
        raise InvalidFile(f"{files[0].path} contains no data rows; add rows.")
    columns = tuple(_column(name, _told_by(name, sources), files[0], parts) for name in names)
    return Table(columns, parts[-1].rows.stop, parts=tuple(part.rows for part in parts))


@dataclass(frozen=True)
class _Source:
    """A file with rows: what it says of its columns, and the first of its parts."""

    schema: Any
    metadata: Any
    part: Part

    def has_values(self, name: str) -> bool:
        """Tell whether a column has any value here, unless the file does not say."""
        import pyarrow as pa  # noqa: PLC0415  optional

        if pa.types.is_null(self.schema.field(name).type):
            return False
        schema = self.metadata.schema
        places = [n for n in range(len(schema)) if schema.column(n).path == name]
        for place in places:
            for number in range(self.metadata.num_row_groups):
                group = self.metadata.row_group(number)
                noted = group.column(place).statistics
                told = noted is not None and noted.has_null_count
                if not told or noted.null_count < group.num_rows:
                    return True
        return not places


def _told_by(name: str, sources: Sequence[_Source]) -> _Source:
    """Return the file that tells the type of a column: the first that has a value of it.

    A column without any value is stored as anything, so that the order of the files would decide.
    """
    first = sources[0].schema.field(name).type
    if all(source.schema.field(name).type == first for source in sources):
        return sources[0]
    return next((source for source in sources if source.has_values(name)), sources[0])


# Workers are sent paths, and each process reads the metadata of a file once: with thousands of
# columns it is megabytes.
@lru_cache(maxsize=256)
def _metadata(path: Path, modified: int) -> Any:
    """Return what a file says of itself, read once in each process."""
    from pyarrow import parquet  # noqa: PLC0415  optional

    if path.stat().st_mtime_ns != modified:
        raise InvalidFile(f"{path} was changed while it was read; start again.")
    with _by_pyarrow(path), parquet.ParquetFile(path) as file:
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


def _column(
    name: str, source: _Source, selection: ColumnSelection, parts: Sequence[Part]
) -> Column:
    import pyarrow as pa  # noqa: PLC0415  optional

    # A dictionary is in the row groups only, and in its order the levels have theirs.
    is_dictionary = pa.types.is_dictionary(source.schema.field(name).type)
    example = source.part.read(name) if is_dictionary else source.schema.empty_table()[name]
    try:
        vector = _as_selected(as_vector(example), name, selection, source.part.notes)
    except InvalidColumn as error:  # for whoever uses the column
        return unreadable_column(name, error)
    column = make_column(name, vector)
    if column.kind is Kind.UNSUPPORTED:
        return column
    starts = [part.rows.start for part in parts]
    # Without the example: what reads it may be sent to other processes.
    alike = Column(name, column.kind, _nothing, column.levels)
    read = _Reader(alike, selection, parts, starts, read_as)
    return replace(alike, read=read, read_labels=replace(read, take=labels_as))


def _nothing(_start: int, _stop: int) -> AnyArray:
    return np.empty(0)


@dataclass(frozen=True)
class _Reader:
    """Reads rows of a column, in the kind that it has in the file that tells it."""

    column: Column
    selection: ColumnSelection
    parts: Sequence[Part]
    starts: list[int]
    take: Callable[[Column, Column, int, int], AnyArray]  # values, or labels

    def __call__(self, start: int, stop: int) -> AnyArray:
        first, last = (bisect_right(self.starts, row) for row in (start, stop - 1))
        found = [self._read(part, start, stop) for part in self.parts[first - 1 : last]]
        return found[0] if len(found) == 1 else np.concatenate(found)

    def _read(self, part: Part, start: int, stop: int) -> AnyArray:
        name = self.column.name
        vector = _as_selected(as_vector(part.read(name)), name, self.selection, part.notes)
        rows = part.rows
        first, last = max(start, rows.start) - rows.start, min(stop, rows.stop) - rows.start
        return self.take(self.column, make_column(name, vector), first, last)
