"""Text files and sheets -> columns by name, in memory or kept as numbers on disk for later passes.

The type of a column is that of all its fields: numbers, true and false, else text. Python's own
reader says what a file means, so that it needs no frame library and means the same whichever is
installed; large files are read by pyarrow, where that gives the same values (`fast_blocks.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Generic, TypeVar

import numpy as np

from mossrules._typing import AnyArray
from mossrules.data.chunks import MAX_CHUNK_ROWS, row_ranges
from mossrules.data.columns import NUMBERS, Kind
from mossrules.data.dates import why_no_day
from mossrules.data.files.excel import EXCEL, ExcelFile
from mossrules.data.files.fast_blocks import SoundBlocks, is_worth_it
from mossrules.data.files.fields import Fields, TextFields, is_code
from mossrules.data.files.kept import Blocks, Folder, SpooledBlocks, Values, missing_values
from mossrules.data.files.text import Row, TextFile
from mossrules.data.reading import Reading
from mossrules.data.table import ColumnSelection, Table, check_same
from mossrules.data.values import TRUTH
from mossrules.exceptions import (
    ColumnNameWarning,
    InvalidFile,
    MixedColumnWarning,
    warn_user,
)

__all__ = ["read_csv", "scan_csv"]

BLOCK_ROWS = 500  # are text at a time: few enough to stay in the processor's cache
Source = TextFile | ExcelFile


def read_csv(selection: ColumnSelection) -> dict[str, AnyArray]:
    """Return the columns of a file as arrays."""
    parsers = parse_csv([selection], Blocks)
    return {name: parser.blocks.whole() for name, parser in parsers.items()}


def scan_csv(files: Sequence[ColumnSelection]) -> Table:
    """Return the columns of all rows of some files, kept in a temporary folder.

    It goes when the table does. Numbers take eight bytes there, labels four.
    """
    folder = Folder()
    parsers = parse_csv(files, partial(SpooledBlocks, folder))
    if not parsers:
        raise InvalidFile(f"{files[0].path} has none of the columns asked for; check their names.")
    columns = tuple(parser.blocks.column(name, parser.kind) for name, parser in parsers.items())
    n_rows = max(parser.blocks.n_rows for parser in parsers.values())
    return Table(columns, n_rows, parts=tuple(row_ranges(n_rows, chunk_rows=MAX_CHUNK_ROWS)))


Kept = TypeVar("Kept", bound=Blocks)


def parse_csv(
    files: Sequence[ColumnSelection], make_blocks: Callable[[], Kept]
) -> dict[str, Parser[Kept]]:
    """Read files once, and once more the columns that turned out to be text late."""
    parsers = _parse_files(files, make_blocks, frozenset())
    # The text of earlier rows is gone where numbers were read: kept beside the numbers, it would
    # take several times their memory, and nearly all columns never need it.
    late = frozenset(name for name, parser in parsers.items() if parser.is_late)
    if late:
        parsers |= _parse_files(files, make_blocks, late)
    return parsers


def _parse_files(
    files: Sequence[ColumnSelection], make_blocks: Callable[[], Kept], again: frozenset[str]
) -> dict[str, Parser[Kept]]:
    """Read files; those columns as text that are to be read `again`, if there are any."""
    parsers: dict[str, Parser[Kept]] = {}
    n_rows = sum(_parse_file(selection, make_blocks, parsers, again) for selection in files)
    if n_rows == 0:
        raise InvalidFile(f"{files[0].path} contains no data rows, only a header; add rows.")
    return parsers


def _parse_file(
    selection: ColumnSelection,
    make_blocks: Callable[[], Kept],
    parsers: dict[str, Parser[Kept]],
    again: frozenset[str],
) -> int:
    """Read a file into its parsers, which go on from one file to the next; return its rows."""
    is_excel = selection.path.suffix.lower() in EXCEL
    source: Source = (ExcelFile if is_excel else TextFile)(selection.path, selection.reading)
    with source.rows() as rows:
        line, header = _read_header(selection, source, rows, is_first=not again)
    chosen = [name for name in selection.choose(header) if not again or name in again]
    if not parsers:
        kinds = dict.fromkeys(again, Kind.CATEGORICAL) or selection.kinds
        for name in chosen:
            is_date = name in selection.reading.date_columns
            parsers[name] = Parser(
                source, name, Kind.NUMERIC if is_date else kinds.get(name), make_blocks(), is_date
            )
    check_same(selection.path, chosen, parsers)
    for parser in parsers.values():
        parser.source = source
    places = {name: header.index(name) for name in parsers}
    n_rows = 0
    for size, fields, lines in _blocks(source, header, line, sorted(places.values())):
        for name, parser in parsers.items():
            if not parser.is_late:
                parser.add(fields[places[name]], lines)
        n_rows += size
    return n_rows


# --- header and rows ------------------------------------------------------------------------------

Block = tuple[int, Mapping[int, Fields], Callable[[], Sequence[int]]]


def _blocks(source: Source, header: list[str], line: int, places: Sequence[int]) -> Iterator[Block]:
    """Yield the number of rows of each block after the header, its columns, and its lines."""
    if isinstance(source, TextFile):
        with source.explained():
            if is_worth_it(source):
                sound = SoundBlocks(source, header, line)
                yield from sound.read(places)
                if sound.is_done:
                    return
                line = sound.line
    with source.rows(skip=line) as rows:
        while block := list(islice(rows, BLOCK_ROWS)):
            _check_lengths(source, block, len(header))
            by_column = list(zip(*(fields for _, fields in block), strict=True))
            fields = {place: TextFields(by_column[place], source.reading) for place in places}
            yield len(block), fields, partial(_lines_of, block)


def _lines_of(block: list[Row]) -> list[int]:
    return [line for line, _ in block]


def _read_header(
    selection: ColumnSelection, source: Source, rows: Iterator[Row], *, is_first: bool
) -> Row:
    """Return the line of the header, and the names in it less the spaces around them."""
    line, fields = next(rows, (0, []))
    path = selection.path
    if not fields:
        raise InvalidFile(f"{path} is empty; its first line has to name the columns.")
    names = [name.strip("\ufeff").strip() for name in fields]
    trimmed = [name for name, field in zip(names, fields, strict=True) if name != field]
    if isinstance(source, TextFile):
        _check_delimiter(source, names)
    repeated = [name for name, count in Counter(names).items() if count > 1 and name]
    if repeated:
        places = [str(place) for place, name in enumerate(names, 1) if name == repeated[0]]
        raise InvalidFile(
            f"{path}, line {line}: more than one column {repeated[0][:50]!r} (columns "
            f"{', '.join(places[:10])}); give each a name of its own."
        )
    nameless = [str(place) for place, name in enumerate(names, 1) if not name]
    is_read = "" not in selection.drop and (selection.only is None or "" in selection.only)
    if len(nameless) > 1 or (nameless and is_read):
        several = len(nameless) > 1
        raise InvalidFile(
            f"{path}, line {line}: no name for column{'s' if several else ''} "
            f"{' and '.join(nameless[:10])}; name {'them' if several else 'it'} in the header"
            f"{'' if several else ', or drop the column ' + repr('')}."
        )
    if trimmed and is_first:
        listed = ", ".join(repr(name[:50]) for name in trimmed[:5])
        more = f" and {len(trimmed) - 5} more" if len(trimmed) > 5 else ""
        warn_user(
            f"{path}, line {line}: names of columns have spaces around them, which are left out: "
            f"{listed}{more}.",
            ColumnNameWarning,
        )
    return line, names


def _check_delimiter(source: TextFile, names: list[str]) -> None:
    others = [sign for sign in ",;\t|" if sign in names[0]]
    if len(names) == 1 and others:
        raise InvalidFile(
            f"{source.path} has one column only, {names[0][:50]!r}, with fields separated "
            f"by {source.delimiter!r}; name the delimiter, which may be {others[0]!r}."
        )


def _check_lengths(source: Source, block: list[Row], expected: int) -> None:
    for line, fields in block:
        if len(fields) != expected:
            between = ""
            if isinstance(source, TextFile):
                between = f", separated by {source.delimiter!r}"
            raise InvalidFile(
                f"{source.path}, line {line}: {len(fields)} fields where the header has "
                f"{expected}{between}; correct the line, or name another delimiter."
            )


# --- columns --------------------------------------------------------------------------------------


@dataclass
class Parser(Generic[Kept]):
    """One column being read: its kind as far as it is known, and its values so far."""

    source: Source
    name: str
    expected: Kind | None
    blocks: Kept
    is_date: bool = False
    kind: Kind | None = None  # None as long as all is missing
    is_late: bool = False  # text after something else: the text of earlier rows is gone

    def __post_init__(self) -> None:
        if self.expected is not None:
            self.kind = Kind.NUMERIC if self.expected in NUMBERS else Kind.CATEGORICAL

    @property
    def reading(self) -> Reading:
        """How fields are meant."""
        return self.source.reading

    def add(self, fields: Fields, lines: Callable[[], Sequence[int]]) -> None:
        """Read the fields of some rows."""
        if self.kind is None:
            self.kind = _kind_of(fields)
            self.blocks.turn(self.kind)
            if self.kind is Kind.CATEGORICAL:
                self._warn_of_words(fields, lines())
        values = self._values(fields)
        if values is None and self.is_date:
            raise self._no_date(fields, lines())
        if values is None and self.expected in NUMBERS:
            values = self._required_numbers(fields, lines())
        if values is None:
            self.is_late = True
            self._warn_of_words(fields, lines())
        else:
            self.blocks.add(values, self.kind)

    def _values(self, fields: Fields) -> Values | None:
        """Return the values of fields in this column's kind, or None if they are not of it."""
        if self.is_date:
            return fields.days()
        return _as_kind(fields, self.kind, codes=self.expected in NUMBERS)

    def _warn_of_words(self, fields: Fields, lines: Sequence[int]) -> None:
        """Tell of a word among numbers: nobody wants them all to be categories for its sake."""
        texts = fields.texts()
        if self.kind is not Kind.NUMERIC:
            texts = texts[:BLOCK_ROWS]  # are enough to tell what most of them are
        words = self.reading.words
        present = [each for each in zip(lines, texts, strict=False) if each[1].strip() not in words]
        known = {text: self._is_number(text) for text in {text for _, text in present}}
        others = [each for each in present if not known[each[1]]]
        codes = [each for each in others if is_code(each[1])]
        is_number = self.kind is Kind.NUMERIC or 2 * len(others) < len(present)
        if not others or not (is_number or len(codes) == len(others)):
            return
        line, word = others[0]
        if len(codes) == len(others):
            warn_user(
                f"{self.source.path}, line {line}: column {self.name!r} is {word[:50]!r}, a number "
                "with leading zeros as codes have them, so all of it is text; say that its type is "
                "number if it is one.",
                MixedColumnWarning,
            )
            return
        warn_user(
            f"{self.source.path}, line {line}: column {self.name!r} is {word[:50]!r} among "
            "numbers, so all of it is text; write NA for missing, or say that it is categorical.",
            MixedColumnWarning,
        )

    def _is_number(self, text: str) -> bool:
        return TextFields([text], self.reading).numbers(codes=False) is not None

    def _required_numbers(self, fields: Fields, lines: Sequence[int]) -> AnyArray:
        """Return numbers of fields that may also be true or false, or say what they are instead."""
        found = np.empty(len(fields))
        for position, text in enumerate(fields.texts()):
            plain = str(int(TRUTH[text])) if text in TRUTH else text
            number = TextFields([plain], self.reading).numbers(codes=True)
            if number is None:
                raise InvalidFile(
                    f"{self.source.path}, line {lines[position]}: column {self.name!r} is "
                    f"{text[:50]!r}, which is not a number{self._why(text)}; correct it, or leave "
                    "the row out."
                )
            found[position] = number[0]
        return found

    def _why(self, text: str) -> str:
        """Return how numbers are read, where that may be why a text is none."""
        if self.reading.is_plain and not any(sign in text for sign in ".,"):
            return ""
        separator = self.reading.separator
        between = f" and {separator!r} between thousands" if separator else ""
        return f" with {self.reading.point!r} as the decimal sign{between}"

    def _no_date(self, fields: Fields, lines: Sequence[int]) -> InvalidFile:
        """Return which field is no date, and why."""
        order = self.reading.date_order
        for line, text in zip(lines, fields.texts(), strict=True):
            if TextFields([text], self.reading).days() is None:
                return InvalidFile(
                    f"{self.source.path}, line {line}: column {self.name!r} is {text[:50]!r}, "
                    f"{why_no_day(text, order)}."
                )
        raise AssertionError  # as the fields together are no dates either


def _kind_of(fields: Fields) -> Kind | None:
    """Return the kind of some fields; None where all are missing."""
    if fields.all_missing():
        return None
    fitting = (
        kind
        for kind in (Kind.BOOLEAN, Kind.NUMERIC)
        if _as_kind(fields, kind, codes=False) is not None
    )
    return next(fitting, Kind.CATEGORICAL)


def _as_kind(fields: Fields, kind: Kind | None, *, codes: bool) -> Values | None:
    """Return the values of fields as a kind, or None if they are not of that kind."""
    match kind:
        case None:
            return missing_values(len(fields), kind)
        case Kind.NUMERIC:
            return fields.numbers(codes=codes)
        case Kind.BOOLEAN:
            return fields.truths()
    return fields.labels()
