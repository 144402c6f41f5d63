"""Parquet files -> columns by name."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import narwhals as nw

from mossrules.data.columns import NUMBERS, Kind
from mossrules.data.files.selection import Columns, ColumnSelection
from mossrules.exceptions import InvalidFile, MissingDependency

__all__ = ["as_wanted", "by_pyarrow", "columns_to_read", "read_parquet", "validated"]

# What pandas calls an index without a name: of rows that were sorted or drawn, it is their numbers.
INDEX = re.compile(r"__index_level_\d+__")


def read_parquet(wanted: ColumnSelection) -> Columns:
    """Return the columns of a file, read whole by whichever library is there."""
    for library, read in (("pyarrow", _read_with_pyarrow), ("polars", _read_with_polars)):
        if importlib.util.find_spec(library) is not None:
            frame = nw.from_native(read(wanted), eager_only=True)
            if len(frame) == 0:
                raise InvalidFile(f"{wanted.path} has no rows; add some.")
            return {
                name: as_wanted(frame[name], name, wanted).to_native() for name in frame.columns
            }
    raise MissingDependency(
        f"Reading {wanted.path} needs pyarrow or polars, and neither is installed; "
        'run pip install "mossrules[parquet]", or pass a CSV file.'
    )


def columns_to_read(wanted: ColumnSelection, names: Iterable[str]) -> list[str]:
    """Return the columns to read; an index that pandas has kept is one only where it is named."""
    named = {*wanted.drop, *wanted.required, *wanted.kinds, *(wanted.only or ())}
    return wanted.choose([name for name in names if name in named or not INDEX.fullmatch(name)])


def as_wanted(series: Any, name: str, wanted: ColumnSelection) -> Any:
    """Return whole numbers as text where they are to be categories."""
    kind = wanted.kinds.get(name, Kind.NUMERIC)
    return series.cast(nw.String) if kind not in NUMBERS and series.dtype.is_integer() else series


def _read_with_pyarrow(wanted: ColumnSelection) -> Any:
    from pyarrow import parquet  # noqa: PLC0415  optional

    with by_pyarrow(wanted.path), parquet.ParquetFile(wanted.path) as file:
        if file.metadata.num_row_groups == 0:
            return file.schema_arrow.empty_table()  # which pyarrow 18 cannot read
        return validated(file.read(columns=columns_to_read(wanted, file.schema_arrow.names)))


@contextmanager
def by_pyarrow(path: Path) -> Iterator[None]:
    """Say in a sentence why pyarrow cannot read a file."""
    import pyarrow as pa  # noqa: PLC0415  optional

    try:
        yield
    except MemoryError:  # pyarrow's is one of its exceptions, and the file may be sound
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as reason:
        raise _not_parquet(path, reason) from reason


def validated(found: Any) -> Any:
    """Return what pyarrow has read, if its texts are UTF-8 and its labels are all there.

    It reads without a look at either, and would fail wherever the values are first used.
    """
    found.validate(full=True)
    return found


def _read_with_polars(wanted: ColumnSelection) -> Any:
    import polars as pl  # noqa: PLC0415  optional

    try:
        names = columns_to_read(wanted, pl.read_parquet_schema(wanted.path))
        return pl.read_parquet(wanted.path, columns=names, hive_partitioning=False)
    except (pl.exceptions.PolarsError, OSError) as reason:
        raise _not_parquet(wanted.path, reason) from reason


def _not_parquet(path: Path, reason: Exception) -> InvalidFile:
    """Return the error that says why a file cannot be read."""
    brief = (str(reason).splitlines() or [type(reason).__name__])[0].rstrip(".")
    return InvalidFile(f"{path} cannot be read as Parquet ({brief}); check the file.")
