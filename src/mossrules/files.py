"""CSV and Parquet files -> columns by name.

CSV is read with Python's own reader, so that it needs no frame library and means the same whichever
is installed. The type of a column is that of all its fields: numbers, true and false, else text.
An empty field, NA, N/A, NaN, nan, null and NULL are missing.
"""

from __future__ import annotations

import csv
import gzip
import importlib.util
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO, Any

import narwhals as nw
import numpy as np

from mossrules._typing import AnyArray
from mossrules._warn import warn_user
from mossrules.columns import NUMBERS, Kind
from mossrules.exceptions import (
    InvalidFile,
    MissingColumns,
    MissingDependency,
    MixedColumnWarning,
)
from mossrules.table import did_you_mean

__all__ = ["Columns", "read_file"]

Columns = dict[str, Any]  # arrays, or series of a frame library
Row = tuple[int, list[str]]  # the line it ends on, and its fields

MISSING = frozenset(["", "NA", "N/A", "NaN", "nan", "null", "NULL"])  # the words for it
TRUTH = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
BLOCK_ROWS = 500  # are text at a time: few enough to stay in the processor's cache
DELIMITERS = {".csv": ",", ".tsv": "\t"}
PARQUET = (".parquet", ".pq")


def read_file(
    path: Path,
    *,
    only: Collection[str] | None = None,
    drop: Collection[str] = (),
    required: Collection[str] = (),
    kinds: Mapping[str, Kind] | None = None,
    delimiter: str | None = None,
) -> Columns:
    """Return the columns of a CSV file (also .csv.gz, .tsv) or a Parquet file.

    Parameters
    ----------
    path : its name tells the format
    only : columns to read, as far as they are there; by default all
    drop : columns to leave out, which must be there
    required : more columns that must be there
    kinds : what columns hold, where that is known: numbers are then required to be such, and
        categories stay text though they may look like numbers
    delimiter : between the fields of a CSV file; by default a comma, or a tab in .tsv
    """
    if not path.exists():
        raise InvalidFile(f"{path} does not exist; check the path.")
    if path.is_dir():
        raise InvalidFile(f"{path} is a folder; name a file.")
    wanted = _Wanted(path, only, drop, required, kinds or {})
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    if suffix in PARQUET:
        return _read_parquet(wanted)
    if suffix not in DELIMITERS:
        raise InvalidFile(
            f"{path} is neither CSV nor Parquet by its name; "
            "rename it to end in .csv, .csv.gz, .tsv or .parquet."
        )
    return _read_csv(wanted, delimiter or DELIMITERS[suffix])


@dataclass(frozen=True)
class _Wanted:
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


# --- Parquet ------------------------------------------------------------------------------------


def _read_parquet(wanted: _Wanted) -> Columns:
    for library, read in (("pyarrow", _read_with_pyarrow), ("polars", _read_with_polars)):
        if importlib.util.find_spec(library) is not None:
            frame = nw.from_native(read(wanted), eager_only=True)
            if len(frame) == 0:
                raise InvalidFile(f"{wanted.path} has no rows; add some.")
            return {name: _as_wanted(frame[name], wanted).to_native() for name in frame.columns}
    raise MissingDependency(
        f"Reading {wanted.path} needs pyarrow or polars, and neither is installed; "
        'run pip install "mossrules[parquet]", or pass a CSV file.'
    )


def _as_wanted(series: nw.Series[Any], wanted: _Wanted) -> nw.Series[Any]:
    """Return whole numbers as text where they are to be categories."""
    kind = wanted.kinds.get(series.name, Kind.NUMERIC)
    return series.cast(nw.String) if kind not in NUMBERS and series.dtype.is_integer() else series


def _read_with_pyarrow(wanted: _Wanted) -> Any:
    import pyarrow as pa  # noqa: PLC0415  optional
    from pyarrow import parquet  # noqa: PLC0415

    try:
        with parquet.ParquetFile(wanted.path) as file:
            return file.read(columns=wanted.choose(file.schema_arrow.names))
    except (pa.ArrowException, OSError) as reason:
        raise _not_parquet(wanted.path, reason) from reason


def _read_with_polars(wanted: _Wanted) -> Any:
    import polars as pl  # noqa: PLC0415  optional

    try:
        names = list(pl.read_parquet_schema(wanted.path))
        return pl.read_parquet(wanted.path, columns=wanted.choose(names), hive_partitioning=False)
    except (pl.exceptions.PolarsError, OSError) as reason:
        raise _not_parquet(wanted.path, reason) from reason


def _not_parquet(path: Path, reason: Exception) -> InvalidFile:
    brief = (str(reason).splitlines() or [type(reason).__name__])[0].rstrip(".")
    return InvalidFile(f"{path} cannot be read as Parquet ({brief}); check the file.")


# --- CSV ----------------------------------------------------------------------------------------


def _read_csv(wanted: _Wanted, delimiter: str) -> Columns:
    """Read a file once, and once more the columns that turned out to be text late."""
    if len(delimiter) != 1:
        raise InvalidFile(f"The delimiter is {delimiter!r}; pass one character.")
    parsers = _parse_csv(wanted, delimiter)
    late = {name for name, parser in parsers.items() if parser.is_late}
    if late:
        again = _Wanted(wanted.path, late, (), (), dict.fromkeys(late, Kind.CATEGORICAL))
        parsers |= _parse_csv(again, delimiter)
    return {name: parser.values() for name, parser in parsers.items()}


def _parse_csv(wanted: _Wanted, delimiter: str) -> dict[str, _Parser]:
    n_rows = 0
    with _csv_rows(wanted.path, delimiter) as rows:
        header = _read_header(wanted, rows, delimiter)
        parsers = {
            name: _Parser(wanted.path, name, wanted.kinds.get(name))
            for name in wanted.choose(header)
        }
        while block := list(islice(rows, BLOCK_ROWS)):
            _check_lengths(wanted.path, block, len(header), delimiter)
            lines = [line for line, _ in block]
            by_column = zip(*(fields for _, fields in block), strict=True)
            for name, fields in zip(header, by_column, strict=True):
                if name in parsers:
                    parsers[name].add(fields, lines)
            n_rows += len(block)
    if n_rows == 0:
        raise InvalidFile(f"{wanted.path} has a header and no rows; add some.")
    return parsers


@contextmanager
def _csv_rows(path: Path, delimiter: str) -> Iterator[Iterator[Row]]:
    """Give the rows that are not blank; what goes wrong meanwhile is one sentence."""
    reader = None
    try:
        with _open(path) as file:
            reader = csv.reader(file, delimiter=delimiter, strict=True)
            yield ((reader.line_num, fields) for fields in reader if fields)
    except csv.Error as reason:
        line = "" if reader is None else f", line {reader.line_num}"
        raise InvalidFile(f"{path}{line}: {reason}; check its quotes and commas.") from reason
    except UnicodeDecodeError as reason:
        raise InvalidFile(
            f"{path} is not text in UTF-8 (byte 0x{reason.object[reason.start]:02x}); "
            "save it in that encoding."
        ) from reason
    except (EOFError, zlib.error, gzip.BadGzipFile) as reason:
        raise InvalidFile(f"{path} is not a whole gzip file ({reason}); make it again.") from reason
    except OSError as reason:
        raise InvalidFile(
            f"{path} cannot be read ({reason.strerror or reason}); check its permissions."
        ) from reason


def _open(path: Path) -> IO[str]:
    if path.name.lower().endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def _read_header(wanted: _Wanted, rows: Iterator[Row], delimiter: str) -> list[str]:
    _, names = next(rows, (0, []))
    if not names:
        raise InvalidFile(f"{wanted.path} is empty; its first line has to name the columns.")
    others = [sign for sign in ",;\t|" if sign in names[0]]
    if len(names) == 1 and others:
        raise InvalidFile(
            f"{wanted.path} has one column only, {names[0]!r}, with fields separated by "
            f"{delimiter!r}; name the delimiter, which may be {others[0]!r}."
        )
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise InvalidFile(
            f"{wanted.path} has more than one column {repeated[0]!r}; give each a name of its own."
        )
    if "" in names and "" not in wanted.drop and (wanted.only is None or "" in wanted.only):
        raise InvalidFile(
            f"{wanted.path} has no name for column {names.index('') + 1}; name it in the header, "
            "or drop the column ''."
        )
    return names


def _check_lengths(path: Path, block: list[Row], expected: int, delimiter: str) -> None:
    for line, fields in block:
        if len(fields) != expected:
            raise InvalidFile(
                f"{path}, line {line}: {len(fields)} fields where the header has {expected}, "
                f"separated by {delimiter!r}; correct the line, or name another delimiter."
            )


@dataclass
class _Parser:
    """One column being read: its kind as far as it is known, and its values so far."""

    path: Path
    name: str
    expected: Kind | None
    kind: Kind | None = None  # None as long as all is missing
    blocks: list[AnyArray] = field(default_factory=list)
    is_late: bool = False  # text after something else: the text of earlier rows is gone

    def __post_init__(self) -> None:
        if self.expected is not None:
            self.kind = Kind.NUMERIC if self.expected in NUMBERS else Kind.CATEGORICAL

    def add(self, fields: Sequence[str], lines: Sequence[int]) -> None:
        """Read the fields of some rows."""
        if self.is_late:
            return
        if self.kind is None:
            self.kind = _kind_of(fields)
            self.blocks = [_missing(len(block), self.kind) for block in self.blocks]
            if self.kind is Kind.CATEGORICAL:
                self._warn_of_words(fields, lines)
        values = _as_kind(fields, self.kind)
        if values is None and self.expected in NUMBERS:
            values = self._required_numbers(fields, lines)
        if values is None:
            self.is_late = True
            self._warn_of_words(fields, lines)
        else:
            self.blocks.append(values)

    def _warn_of_words(self, fields: Sequence[str], lines: Sequence[int]) -> None:
        """Tell of a word among numbers: nobody wants them all to be categories for its sake."""
        present = [each for each in zip(lines, fields, strict=True) if each[1] not in MISSING]
        words = [each for each in present if _as_numbers([each[1]]) is None]
        if self.kind is Kind.NUMERIC or 0 < 2 * len(words) < len(present):
            line, word = words[0]
            warn_user(
                f"{self.path}, line {line}: column {self.name!r} is {word[:50]!r} among numbers, "
                "so all of it is text; write NA for missing, or say that it is categorical.",
                MixedColumnWarning,
            )

    def _required_numbers(self, fields: Sequence[str], lines: Sequence[int]) -> AnyArray:
        """Return numbers of fields that may also be true or false, or say what they are instead."""
        numbers = np.empty(len(fields))
        for position, text in enumerate(fields):
            number = _as_numbers([str(int(TRUTH[text])) if text in TRUTH else text])
            if number is None:
                raise InvalidFile(
                    f"{self.path}, line {lines[position]}: column {self.name!r} is {text[:50]!r}, "
                    "which is not a number; correct it, or leave the row out."
                )
            numbers[position] = number[0]
        return numbers

    def values(self) -> AnyArray:
        """Return the whole column."""
        return np.concatenate(self.blocks)


def _kind_of(fields: Sequence[str]) -> Kind | None:
    """Return the kind of some fields; None where all are missing."""
    if MISSING.issuperset(fields):
        return None
    fitting = (kind for kind in (Kind.BOOLEAN, Kind.NUMERIC) if _as_kind(fields, kind) is not None)
    return next(fitting, Kind.CATEGORICAL)


def _as_kind(fields: Sequence[str], kind: Kind | None) -> AnyArray | None:
    """Return the values of fields as a kind, or None if they are not of that kind."""
    match kind:
        case None:
            return _missing(len(fields), kind)
        case Kind.NUMERIC:
            return _as_numbers(fields)
        case Kind.BOOLEAN:
            return _as_truths(fields)
    return _as_text(fields)


def _missing(n: int, kind: Kind | None) -> AnyArray:
    return np.full(n, np.nan) if kind in (None, Kind.NUMERIC) else np.full(n, None, dtype=object)


def _as_numbers(fields: Sequence[str]) -> AnyArray | None:
    if "_" in "".join(fields):  # 1_000 is a number to Python and nobody else
        return None
    try:
        return np.array(list(map(float, fields)))
    except ValueError:
        pass  # at a missing value, perhaps, which most blocks are free of
    try:
        return np.array([np.nan if text in MISSING else float(text) for text in fields])
    except ValueError:
        return None


def _as_truths(fields: Sequence[str]) -> AnyArray | None:
    if not set(fields) <= TRUTH.keys() | MISSING:
        return None
    truths = np.empty(len(fields), dtype=object)
    truths[:] = [TRUTH.get(text) for text in fields]
    return truths


def _as_text(fields: Sequence[str]) -> AnyArray:
    labels = np.empty(len(fields), dtype=object)
    labels[:] = [None if text in MISSING else text for text in fields]
    return labels
