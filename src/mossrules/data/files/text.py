"""A text file: its encoding, its delimiter, and its lines.

Both are found where that is certain, and otherwise said by the user. What goes wrong while a file
is read is one sentence, with the line where there is one.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO

from mossrules._common import cached_property
from mossrules.data.reading import Reading
from mossrules.exceptions import InvalidFile

__all__ = ["LONGEST_FIELD", "TextFile"]

Row = tuple[int, list[str]]  # the line it ends on, and its fields

# A gzip file of some kilobytes may hold a line of gigabytes.
LONGEST_LINE = 1 << 24  # characters
LONGEST_FIELD = csv.field_size_limit()
SAMPLE = 1 << 16  # bytes from which encoding and delimiter are found
SAMPLE_ROWS = 50
DELIMITERS = (",", ";", "\t", "|")
NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
# Longer marks first: that of UTF-32 begins with that of UTF-16.
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True)
class TextFile:
    """A file of fields between delimiters, as it is and with what is said of it."""

    path: Path
    reading: Reading

    def open(self) -> IO[bytes]:
        """Return the file for reading, unpacked."""
        return gzip.open(self.path) if self.is_packed else self.path.open("rb")  # type: ignore[return-value]

    @property
    def is_packed(self) -> bool:
        """Whether the file is one of gzip."""
        return self.path.name.lower().endswith(".gz")

    @cached_property
    def _start(self) -> bytes:
        with self.open() as file:
            return file.read(SAMPLE)

    @cached_property
    def encoding(self) -> str:
        """The encoding: as said, or by a mark at the start, or UTF-8."""
        marked = next((name for mark, name in MARKS if self._start.startswith(mark)), None)
        said = self.reading.encoding
        if said is None:
            return marked or _without_mark(self._start)
        name = codecs.lookup(said).name
        if marked is None or name.replace("-", "").startswith(marked.replace("-", "")[:5]):
            return "utf-8-sig" if name == "utf-8" else name
        raise InvalidFile(
            f"{self.path} begins with the mark of {marked.removesuffix('-sig').upper()}, and the "
            f"encoding is to be {said}; leave the encoding out."
        )

    @cached_property
    def delimiter(self) -> str:
        """The delimiter: as said, or the one that fits the first lines."""
        if self.reading.delimiter is not None:
            return self.reading.delimiter
        is_tsv = self.path.name.lower().removesuffix(".gz").endswith(".tsv")
        usual = "\t" if is_tsv else ","
        text = codecs.getincrementaldecoder(self.encoding)("replace").decode(self._start)
        fits = {sign: _columns(text, sign, whole=len(self._start) < SAMPLE) for sign in DELIMITERS}
        most = max(fits.values())
        best = [sign for sign, columns in fits.items() if columns == most and most > 0]
        if len(best) == 1:
            return best[0]
        if len(best) > 1:
            raise InvalidFile(
                f"{self.path} has as many columns between {NAMES[best[0]]} as between "
                f"{NAMES[best[1]]}; name the delimiter."
            )
        # No sign fits all lines: the lines that are wrong are told by the one that heads them.
        header = text.lstrip("\ufeff\r\n").partition("\n")[0]
        heads = [sign for sign in DELIMITERS if sign in header]
        return heads[0] if len(heads) == 1 else usual

    # --- rows -------------------------------------------------------------------------------------

    @contextmanager
    def rows(self, skip: int = 0) -> Iterator[Iterator[Row]]:
        """Give the rows that are not blank after some lines; what goes wrong is one sentence."""
        with self.explained(), self.open() as packed:
            text = io.TextIOWrapper(packed, encoding=self.encoding, newline="")
            for _ in range(skip):
                text.readline()
            yield self._parse(text, skip)

    def _parse(self, text: IO[str], skip: int) -> Iterator[Row]:
        reader = csv.reader(_lines(text, self.path), delimiter=self.delimiter, strict=True)
        before = skip
        try:
            for fields in reader:
                before = reader.line_num + skip
                if fields:
                    yield before, fields
        except csv.Error as reason:
            raise self._wrong(str(reason), before + 1, reader.line_num + skip) from reason

    def _wrong(self, reason: str, first: int, last: int) -> InvalidFile:
        """Return what is wrong with the row of some lines."""
        if "end of data" in reason:
            return InvalidFile(
                f"{self.path}, line {first}: a quote is opened here, or in this row, and never "
                "closed; close it, or write two quotes for one in a field."
            )
        if "field limit" in reason:
            return InvalidFile(
                f"{self.path}, line {first}: a field has more than {LONGEST_FIELD:,} characters; "
                "check the quotes of this line, or shorten the field."
            )
        return InvalidFile(f"{self.path}, line {last}: {reason}; check its quotes and commas.")

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Say what is wrong with the bytes of the file."""
        try:
            yield
        except UnicodeDecodeError as reason:
            raise self._not_text() from reason
        except UnicodeError as reason:  # of UTF-16 without its mark
            raise InvalidFile(
                f"{self.path} is not text in {self.encoding} ({reason}); name its encoding."
            ) from reason
        except (EOFError, zlib.error, gzip.BadGzipFile) as reason:
            raise InvalidFile(
                f"{self.path} is not a whole gzip file ({reason}); make it again."
            ) from reason
        except OSError as reason:
            raise InvalidFile(
                f"{self.path} cannot be read ({reason.strerror or reason}); check its permissions."
            ) from reason

    def _not_text(self) -> InvalidFile:
        """Return where the first byte is that is not text, and what to do."""
        name = "UTF-8" if self.encoding == "utf-8-sig" else self.encoding
        line, decoder = 1, codecs.getincrementaldecoder(self.encoding)()
        byte = ""
        with self.open() as file:
            try:
                while block := file.read(1 << 20):
                    line += decoder.decode(block).count("\n")
                decoder.decode(b"", final=True)
            except UnicodeDecodeError as reason:
                before = reason.object[: reason.start].decode(self.encoding, "replace")
                line += before.count("\n")
                byte = f" (byte 0x{reason.object[reason.start]:02x})"
        other = "cp1252 or latin-1" if self.reading.encoding is None else "another"
        return InvalidFile(
            f"{self.path}, line {line}: not text in {name}{byte}; name the encoding in which it "
            f"was saved, such as {other}, or save it as UTF-8."
        )


def _without_mark(start: bytes) -> str:
    """Return the encoding of text without a mark: ASCII has a zero in every pair of UTF-16."""
    for name, newline, zeros in (("utf-16-le", b"\n\0", 1), ("utf-16-be", b"\0\n", 0)):
        header = start.partition(newline)[0]
        if len(header) >= 2 and not any(header[zeros::2]) and all(header[1 - zeros :: 2]):
            return name
    return "utf-8-sig"


def _columns(text: str, delimiter: str, *, whole: bool) -> int:
    """Return how many columns the first lines have; 0 if not all have as many, or just one."""
    lines = io.StringIO(text.removeprefix("\ufeff"), newline="")
    try:
        rows = [
            row for row in islice(csv.reader(lines, delimiter=delimiter), SAMPLE_ROWS + 1) if row
        ]
    except csv.Error:
        return 0
    if not whole or len(rows) > SAMPLE_ROWS:
        rows = rows[:-1]  # the last may be cut off
    sizes = {len(row) for row in rows}
    size = sizes.pop() if len(sizes) == 1 else 0
    return size if size > 1 else 0


def _lines(file: IO[str], path: Path) -> Iterator[str]:
    """Give line after line, none so long that it fills the memory: a small .gz may hold such."""
    while line := file.readline(LONGEST_LINE):
        if len(line) == LONGEST_LINE and line[-1] not in "\r\n":
            raise InvalidFile(
                f"{path} has a line of more than {LONGEST_LINE:,} characters; check its line ends."
            )
        yield line
