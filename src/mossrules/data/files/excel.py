"""Sheets of Excel files (.xlsx) -> rows of text, as CSV files would have them; and back.

Needs openpyxl. A cell that is a number is read as that number in every bit; a date is text such as
2025-03-31, as it is in a CSV file.
"""

from __future__ import annotations

import datetime as dt
import importlib.util
import io
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from mossrules.data.files.text import LONGEST_FIELD, Row
from mossrules.data.reading import Reading
from mossrules.exceptions import InvalidFile, MissingDependency

__all__ = ["EXCEL", "ExcelFile", "check_openpyxl", "to_excel"]

EXCEL = (".xlsx", ".xlsm")
MISSING_ERROR = "#N/A"  # as formulas write what is not available
MOST_ROWS = 1_048_576  # of a sheet
NO_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")  # is not allowed in XML


def check_openpyxl(what: str) -> None:
    """Say what to install where openpyxl is missing."""
    if importlib.util.find_spec("openpyxl") is None:
        raise MissingDependency(
            f"{what} needs openpyxl, which is not installed; "
            'run pip install "mossrules[excel]", or use a CSV file.'
        )


@dataclass(frozen=True)
class ExcelFile:
    """A sheet of an Excel file."""

    path: Path
    reading: Reading

    @contextmanager
    def rows(self, skip: int = 0) -> Iterator[Iterator[Row]]:
        """Give the rows that are not blank, with their numbers in the sheet."""
        check_openpyxl(f"Reading {self.path}")
        with self._opened(formulas=False) as values, self._opened(formulas=True) as formulas:
            yield self._rows(self._sheet(values), self._sheet(formulas), skip)

    @contextmanager
    def _opened(self, *, formulas: bool) -> Iterator[Any]:
        import openpyxl  # noqa: PLC0415  optional

        with self._explained():
            book = openpyxl.load_workbook(self.path, read_only=True, data_only=not formulas)
        try:
            yield book
        finally:
            book.close()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Say in a sentence why openpyxl cannot read a file, which raises errors of any kind."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of styles and extensions, which are not read
                yield
        except (MemoryError, InvalidFile):
            raise
        except Exception as reason:
            brief = (str(reason).splitlines() or [""])[0][:200].rstrip(".") or type(reason).__name__
            raise InvalidFile(
                f"{self.path} cannot be read as an Excel file ({brief}); save it again as .xlsx."
            ) from reason

    def _sheet(self, book: Any) -> Any:
        names = [sheet.title for sheet in book.worksheets]
        wanted = self.reading.sheet
        listed = ", ".join(repr(name[:50]) for name in names[:10])
        if wanted is None and len(names) == 1:
            return book.worksheets[0]
        if wanted is None:
            raise InvalidFile(f"{self.path} has {len(names)} sheets ({listed}); name one of them.")
        if wanted not in names:
            raise InvalidFile(f"{self.path} has no sheet {wanted!r}; it has {listed}.")
        return book.worksheets[names.index(wanted)]

    def _rows(self, values: Any, formulas: Any, skip: int) -> Iterator[Row]:
        width = 0
        # The size that a file states is that of cells with a format, far beyond those with data.
        for each in (values, formulas):
            each.reset_dimensions()
        sheets = [each.iter_rows(values_only=True) for each in (values, formulas)]
        for number in count(1):
            with self._explained():
                cells, written = (next(rows, None) for rows in sheets)
            if cells is None or written is None:
                return
            if number > MOST_ROWS:
                raise InvalidFile(
                    f"{self.path} has rows beyond the {MOST_ROWS:,} of a sheet; save it again."
                )
            if number <= skip:
                continue
            fields = [self._text(*each, number) for each in zip(cells, written, strict=True)]
            while fields and not fields[-1] and len(fields) > width:
                fields.pop()  # cells to the right that hold nothing
            if any(fields):
                width = width or len(fields)
                yield number, fields + [""] * (width - len(fields))

    def _text(self, value: object, written: object, row: int) -> str:
        """Return a cell as a CSV file would have it."""
        if value is None and isinstance(written, str) and written.startswith("="):
            raise InvalidFile(
                f"{self.path}, row {row}: the formula {written[:50]!r} has no result in the file; "
                "open it in Excel and save it, so that results are kept."
            )
        if value is None or value == MISSING_ERROR:
            return ""
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, int | float):
            return repr(value).replace(".", self.reading.point)
        if isinstance(value, dt.datetime):
            at_midnight = value.time() == dt.time()
            return value.date().isoformat() if at_midnight else value.isoformat(sep=" ")
        if isinstance(value, dt.date | dt.time):
            return value.isoformat()
        return self._checked(str(value), row)

    def _checked(self, text: str, row: int) -> str:
        if text in ("#DIV/0!", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!"):
            raise InvalidFile(
                f"{self.path}, row {row}: a cell is {text}, the error of a formula; correct the "
                "formula, or empty the cell."
            )
        if len(text) > LONGEST_FIELD:
            raise InvalidFile(f"{self.path}, row {row}: a cell has {len(text):,} characters.")
        return text


def to_excel(columns: Mapping[str, Sequence[Any]]) -> bytes:
    """Return columns as the content of an Excel file of one sheet; None is an empty cell."""
    check_openpyxl("Writing .xlsx")
    import openpyxl  # noqa: PLC0415  optional
    from openpyxl.cell import WriteOnlyCell  # noqa: PLC0415  optional

    rows = max((len(values) for values in columns.values()), default=0)
    if rows >= MOST_ROWS:
        raise InvalidFile(
            f"A sheet has room for {MOST_ROWS - 1:,} rows and there are {rows:,}; write a CSV file."
        )
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("mossrules")

    def cell(value: Any) -> Any:
        is_number = isinstance(value, float | np.floating)
        if not isinstance(value, str) and not is_number:
            return value
        if is_number and not np.isfinite(value):
            return None if np.isnan(value) else cell(repr(float(value)))
        made = WriteOnlyCell(sheet)
        # A number as its shortest text, since openpyxl would round it to 16 digits.
        made.value = repr(float(value)) if is_number else NO_TEXT.sub("\ufffd", value)
        made.data_type = "n" if is_number else "s"  # never a formula, whatever a text begins with
        return made

    sheet.append([cell(name) for name in columns])
    for row in zip(*columns.values(), strict=True):
        sheet.append([cell(value) for value in row])
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()
