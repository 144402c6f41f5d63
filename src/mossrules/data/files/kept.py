"""The values of columns of text files as they come: in memory, or in a temporary folder."""

from __future__ import annotations

import shutil
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp

import numpy as np

from mossrules._signals import defer_signals
from mossrules._typing import AnyArray, FloatArray
from mossrules.data.chunks import MAX_CHUNK_ROWS
from mossrules.data.columns import NUMBERS, Column, Kind, Label
from mossrules.data.files.fields import Coded
from mossrules.exceptions import InvalidFile

__all__ = ["Blocks", "Folder", "SpooledBlocks", "Values"]

Values = FloatArray | Coded  # labels and truth values are coded


class Blocks:
    """The values of a column as they come, block by block."""

    def __init__(self) -> None:
        self.arrays: list[AnyArray] = []

    def add(self, values: Values, kind: Kind | None) -> None:  # noqa: ARG002  others need it
        """Keep some more values, of the kind that all have so far."""
        self.arrays.append(values.whole() if isinstance(values, Coded) else values)

    def turn(self, kind: Kind | None) -> None:
        """Learn the kind of a column that was missing up to here."""
        self.arrays = [missing_values(len(array), kind) for array in self.arrays]

    def whole(self) -> AnyArray:
        """Return the whole column."""
        return np.concatenate(self.arrays)


def missing_values(n: int, kind: Kind | None) -> AnyArray:
    """Return as many missing values, as a column of this kind has them."""
    return np.full(n, np.nan) if kind in (None, Kind.NUMERIC) else np.full(n, None, dtype=object)


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


def _remove(folder: Path) -> None:
    # Not all that goes wrong is ignored by it, and nobody is there any more to be told.
    with suppress(OSError):
        shutil.rmtree(folder, ignore_errors=True)


class Folder:
    """A temporary folder that is there as long as someone holds this."""

    def __init__(self) -> None:
        with _explain_full_disk(), defer_signals():  # no folder without someone to remove it
            self.path = Path(mkdtemp(prefix="mossrules-"))
            weakref.finalize(self, _remove, self.path)
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

    def add(self, values: Values, kind: Kind | None) -> None:
        """Keep some more values; a chunk of them goes to the file at once."""
        if not isinstance(values, Coded):
            self._add(values)
        elif kind is Kind.CATEGORICAL:
            numbers = self.numbers
            places = [numbers.setdefault(label, len(numbers)) for label in values.labels]
            self._add(np.array(places, dtype=np.int32)[values.positions])
        else:  # truth values
            truths = [np.nan if truth is None else float(truth) for truth in values.labels]
            self._add(np.array(truths)[values.positions])

    def _add(self, array: AnyArray) -> None:
        self.arrays.append(array)
        self.n_rows += len(array)
        self.waiting += len(array)
        if self.waiting >= MAX_CHUNK_ROWS:
            self.flush()

    def turn(self, kind: Kind | None) -> None:
        """Write what was missing up to here anew, as the column's kind has it."""
        n_rows, self.n_rows, self.waiting, self.arrays = self.n_rows, 0, 0, []
        self.path.write_bytes(b"")
        missing = np.int32(0) if kind is Kind.CATEGORICAL else np.float64(np.nan)
        for start in range(0, n_rows, MAX_CHUNK_ROWS):
            self._add(np.full(min(MAX_CHUNK_ROWS, n_rows - start), missing))

    # Columns are appended to files of their own, so that a pass reads the columns it needs and rows
    # from any place on, without a look at the text.
    def flush(self) -> None:
        """Write what is waiting."""
        if self.arrays:
            with _explain_full_disk(), self.path.open("ab") as file:
                for array in self.arrays:
                    file.write(np.ascontiguousarray(array).data)
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
