"""CSV files larger than memory: read once, and kept as numbers on disk for the passes to come."""

from __future__ import annotations

import shutil
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import mkdtemp

import numpy as np

from mossrules._signals import defer_signals
from mossrules._typing import AnyArray
from mossrules.data.chunks import MAX_CHUNK_ROWS, row_ranges
from mossrules.data.columns import NUMBERS, Column, Kind, Label
from mossrules.data.files.delimited import Blocks, missing_values, parse_csv
from mossrules.data.files.selection import ColumnSelection
from mossrules.data.table import Table
from mossrules.exceptions import InvalidFile

__all__ = ["scan_csv"]


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
def _room() -> Iterator[None]:
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
        with _room(), defer_signals():  # no folder without someone to remove it
            self.path = Path(mkdtemp(prefix="mossrules-"))
            weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)
        self.n_files = 0

    def new_file(self) -> Path:
        """Return an empty file."""
        path = self.path / str(self.n_files)
        with _room():
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

    def flush(self) -> None:
        """Write what is waiting."""
        if self.arrays:
            with _room(), self.path.open("ab") as file:
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
