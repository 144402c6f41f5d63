"""CSV files -> columns by name, in memory or kept as numbers on disk for the passes to come.

They are read with Python's own reader, so that it needs no frame library and means the same
whichever is installed. The type of a column is that of all its fields: numbers, true and false,
else text. An empty field, NA, N/A, NaN, nan, null and NULL are missing.
"""

from __future__ import annotations

import csv
import gzip
import shutil
import weakref
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import mkdtemp
from typing import IO, Generic, TypeVar

import numpy as np

from mossrules._signals import defer_signals
from mossrules._typing import AnyArray
from mossrules.data.chunks import MAX_CHUNK_ROWS, row_ranges
from mossrules.data.columns import NUMBERS, Column, Kind
from mossrules.data.table import Columns, ColumnSelection, Table, check_same
from mossrules.data.values import TRUTH, Label
from mossrules.exceptions import InvalidFile, MixedColumnWarning, warn_user

__all__ = ["MISSING", "read_csv", "scan_csv"]

Row = tuple[int, list[str]]  # the line it ends on, and its fields

MISSING = frozenset(["", "NA", "N/A", "NaN", "nan", "null", "NULL"])  # the words for it
# A gzip file of some kilobytes may hold a line of gigabytes.
LONGEST_LINE = 1 << 24  # characters
BLOCK_ROWS = 500  # are text at a time: few enough to stay in the processor's cache


def read_csv(selection: ColumnSelection, delimiter: str) -> Columns:
    """Return the columns of a file as arrays."""
    parsers = parse_csv([selection], delimiter, Blocks)
    return {name: parser.blocks.whole() for name, parser in parsers.items()}


def parse_csv(
    files: Sequence[ColumnSelection], delimiter: str, make_blocks: Callable[[], Kept]
) -> dict[str, Parser[Kept]]:
    """Read files once, and once more the columns that turned out to be text late."""
    if len(delimiter) != 1:
        raise InvalidFile(f"The delimiter is {delimiter!r}; pass one character.")
    parsers = _parse_files(files, delimiter, make_blocks)
    # The text of earlier rows is gone where numbers were read: kept beside the numbers, it would
    # take several times their memory, and nearly all columns never need it.
    late = {name for name, parser in parsers.items() if parser.is_late}
    if late:
        kinds = dict.fromkeys(late, Kind.CATEGORICAL)
        again = [ColumnSelection(each.path, late, (), (), kinds) for each in files]
        parsers |= _parse_files(again, delimiter, make_blocks)
    return parsers


def _parse_files(
    files: Sequence[ColumnSelection], delimiter: str, make_blocks: Callable[[], Kept]
) -> dict[str, Parser[Kept]]:
    parsers: dict[str, Parser[Kept]] = {}
    n_rows = sum(_parse_file(selection, delimiter, make_blocks, parsers) for selection in files)
    if n_rows == 0:
        raise InvalidFile(f"{files[0].path} contains no data rows, only a header; add rows.")
    return parsers


def _parse_file(
    selection: ColumnSelection,
    delimiter: str,
    make_blocks: Callable[[], Kept],
    parsers: dict[str, Parser[Kept]],
) -> int:
    """Read a file into its parsers, which go on from one file to the next; return its rows."""
    n_rows = 0
    with _csv_rows(selection.path, delimiter) as rows:
        header = _read_header(selection, rows, delimiter)
        chosen = selection.choose(header)
        if not parsers:
            parsers |= {
                name: Parser(selection.path, name, selection.kinds.get(name), make_blocks())
                for name in chosen
            }
        check_same(selection.path, chosen, parsers)
        for parser in parsers.values():
            parser.path = selection.path
        while block := list(islice(rows, BLOCK_ROWS)):
            _check_lengths(selection.path, block, len(header), delimiter)
            lines = [line for line, _ in block]
            by_column = zip(*(fields for _, fields in block), strict=True)
            for name, fields in zip(header, by_column, strict=True):
                if name in parsers:
                    parsers[name].add(fields, lines)
            n_rows += len(block)
    return n_rows


@contextmanager
def _csv_rows(path: Path, delimiter: str) -> Iterator[Iterator[Row]]:
    """Give the rows that are not blank; what goes wrong meanwhile is one sentence."""
    reader = None
    try:
        with _open(path) as file:
            reader = csv.reader(_lines(file, path), delimiter=delimiter, strict=True)
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


def _lines(file: IO[str], path: Path) -> Iterator[str]:
    """Give line after line, none so long that it fills the memory: a small .gz may hold such."""
    while line := file.readline(LONGEST_LINE):
        if len(line) == LONGEST_LINE and line[-1] not in "\r\n":
            raise InvalidFile(
                f"{path} has a line of more than {LONGEST_LINE:,} characters; check its line ends."
            )
        yield line


def _open(path: Path) -> IO[str]:
    if path.name.lower().endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def _read_header(selection: ColumnSelection, rows: Iterator[Row], delimiter: str) -> list[str]:
    _, names = next(rows, (0, []))
    if not names:
        raise InvalidFile(f"{selection.path} is empty; its first line has to name the columns.")
    others = [sign for sign in ",;\t|" if sign in names[0]]
    if len(names) == 1 and others:
        raise InvalidFile(
            f"{selection.path} has one column only, {names[0][:50]!r}, with fields separated "
            f"by {delimiter!r}; name the delimiter, which may be {others[0]!r}."
        )
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise InvalidFile(
            f"{selection.path} has more than one column {repeated[0][:50]!r}; give each a name of "
            "its own."
        )
    is_read = "" not in selection.drop and (selection.only is None or "" in selection.only)
    if "" in names and is_read:
        raise InvalidFile(
            f"{selection.path} has no name for column {names.index('') + 1}; name it in the "
            "header, or drop the column ''."
        )
    return names


def _check_lengths(path: Path, block: list[Row], expected: int, delimiter: str) -> None:
    for line, fields in block:
        if len(fields) != expected:
            raise InvalidFile(
                f"{path}, line {line}: {len(fields)} fields where the header has {expected}, "
                f"separated by {delimiter!r}; correct the line, or name another delimiter."
            )


class Blocks:
    """The values of a column as they come, block by block."""

    def __init__(self) -> None:
        self.arrays: list[AnyArray] = []

    def add(self, values: AnyArray, kind: Kind | None) -> None:  # noqa: ARG002  others need it
        """Keep some more values, of the kind that all have so far."""
        self.arrays.append(values)

    def turn(self, kind: Kind | None) -> None:
        """Learn the kind of a column that was missing up to here."""
        self.arrays = [missing_values(len(array), kind) for array in self.arrays]

    def whole(self) -> AnyArray:
        """Return the whole column."""
        return np.concatenate(self.arrays)


Kept = TypeVar("Kept", bound=Blocks)


@dataclass
class Parser(Generic[Kept]):
    """One column being read: its kind as far as it is known, and its values so far."""

    path: Path
    name: str
    expected: Kind | None
    blocks: Kept
    kind: Kind | None = None  # None as long as all is missing
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
            self.blocks.turn(self.kind)
            if self.kind is Kind.CATEGORICAL:
                self._warn_of_words(fields, lines)
        values = _as_kind(fields, self.kind)
        if values is None and self.expected in NUMBERS:
            values = self._required_numbers(fields, lines)
        if values is None:
            self.is_late = True
            self._warn_of_words(fields, lines)
        else:
            self.blocks.add(values, self.kind)

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
            return missing_values(len(fields), kind)
        case Kind.NUMERIC:
            return _as_numbers(fields)
        case Kind.BOOLEAN:
            return _as_truths(fields)
    return _as_text(fields)


def missing_values(n: int, kind: Kind | None) -> AnyArray:
    """Return as many missing values, as a column of this kind has them."""
    return np.full(n, np.nan) if kind in (None, Kind.NUMERIC) else np.full(n, None, dtype=object)


def _as_numbers(fields: Sequence[str]) -> AnyArray | None:
    if "_" in "".join(fields):  # 1_000 is a number to Python and nobody else
        return None
    # Python's own float is exact to the last bit. pyarrow parses faster, but takes other words for
    # numbers and for missing values, and says in other terms where a file is broken.
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


# --- files larger than memory ---------------------------------------------------------------------


def scan_csv(files: Sequence[ColumnSelection], delimiter: str) -> Table:
    """Return the columns of all rows of some files, kept in a temporary folder.

    It goes when the table does. Numbers take eight bytes there, labels four.
    """
    folder = Folder()
    parsers = parse_csv(files, delimiter, partial(SpooledBlocks, folder))
    if not parsers:
        raise InvalidFile(f"{files[0].path} has none of the columns asked for; check their names.")
    columns = tuple(parser.blocks.column(name, parser.kind) for name, parser in parsers.items())
    n_rows = max(parser.blocks.n_rows for parser in parsers.values())
    return Table(columns, n_rows, parts=tuple(row_ranges(n_rows, chunk_rows=MAX_CHUNK_ROWS)))


@contextmanager
def _explain_full_disk() -> Iterator[None]:
    """Say what to do where temporary files cannot be written."""
    try:
        yield
    except OSError as reason:
        raise InvalidFile(
            f"Temporary files cannot be written ({reason.strerror or reason}); make room for them, "
            "or set TMPDIR to a folder that has it."
        ) from reason


class Folder:
    """A temporary folder that is there as long as someone holds this."""

    def __init__(self) -> None:
        with _explain_full_disk(), defer_signals():  # no folder without someone to remove it
            self.path = Path(mkdtemp(prefix="mossrules-"))
            weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)
        self.n_files = 0

    def new_file(self) -> Path:
        """Return an empty file."""
        path = self.path / str(self.n_files)
        with _explain_full_disk():
            path.touch()
        self.n_files += 1
        return path


class SpooledBlocks(Blocks):
    """The values of a column in a file of a temporary folder; labels as their numbers."""

    def __init__(self, folder: Folder) -> None:
        super().__init__()
        self.folder = folder  # to hold it
        self.path = folder.new_file()
        self.n_rows = 0
        self.waiting = 0
        self.numbers: dict[Label | None, int] = {None: 0}

    def add(self, values: AnyArray, kind: Kind | None) -> None:
        """Keep some more values; a chunk of them goes to the file at once."""
        if kind is Kind.CATEGORICAL:
            numbers = self.numbers
            values = np.array(
                [numbers.setdefault(label, len(numbers)) for label in values], dtype=np.int32
            )
        self.arrays.append(values.astype(np.float64) if values.dtype == object else values)
        self.n_rows += len(values)
        self.waiting += len(values)
        if self.waiting >= MAX_CHUNK_ROWS:
            self.flush()

    def turn(self, kind: Kind | None) -> None:
        """Write what was missing up to here anew, as the column's kind has it."""
        n_rows, self.n_rows, self.waiting, self.arrays = self.n_rows, 0, 0, []
        self.path.write_bytes(b"")
        for start in range(0, n_rows, MAX_CHUNK_ROWS):
            self.add(missing_values(min(MAX_CHUNK_ROWS, n_rows - start), kind), kind)

    # Columns are appended to files of their own, so that a pass reads the columns it needs and rows
    # from any place on, without a look at the text.
    def flush(self) -> None:
        """Write what is waiting."""
        if self.arrays:
            with _explain_full_disk(), self.path.open("ab") as file:
                file.write(np.concatenate(self.arrays).tobytes())
        self.arrays, self.waiting = [], 0

    def column(self, name: str, kind: Kind | None) -> Column:
        """Return the column, all of whose values have come."""
        self.flush()
        if kind is Kind.CATEGORICAL:
            return Column(name, Kind.CATEGORICAL, self.read_labels)
        return Column(name, kind if kind in NUMBERS else Kind.NUMERIC, self.read_numbers)

    def read_numbers(self, start: int, stop: int) -> AnyArray:
        """Return numbers, NaN for missing."""
        return np.fromfile(self.path, np.float64, count=stop - start, offset=8 * start)

    def read_labels(self, start: int, stop: int) -> AnyArray:
        """Return labels, None for missing."""
        labels = np.empty(len(self.numbers), dtype=object)
        labels[:] = list(self.numbers)
        found = np.fromfile(self.path, np.int32, count=stop - start, offset=4 * start)
        return np.asarray(labels[found], dtype=object)
