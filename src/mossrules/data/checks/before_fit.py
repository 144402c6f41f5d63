"""What `fit` looks for in every table: the few things that are surely wrong, and cheap to find.

A few thousand rows are looked at, always the same ones. What looks wrong there is looked at once
more in as many rows as `check` takes, so that a table in order costs a few milliseconds, and an
alarm rests on as much as that of `check`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from mossrules._typing import FloatArray
from mossrules.data.checks.findings import Finding, Severity
from mossrules.data.checks.number_columns import check_numbers
from mossrules.data.checks.relations import check_leaks
from mossrules.data.checks.seen import BLOCKS, look_at, rows_to_look_at
from mossrules.data.checks.text_columns import check_text
from mossrules.data.chunks import RowRange
from mossrules.data.columns import Column, Kind
from mossrules.data.table import Table

__all__ = ["surely_wrong"]

# An identifier, a date or a unit is on all rows, so that few tell; more would cost more than 5 % of
# the time of a fit.
FIRST_ROWS = 2_000
FIRST_VALUES = 200_000  # the same limit for wide tables
FIRST_BLOCKS_OF_FILES = 2  # as each is a read of a whole part of a file
# In toy tables, and in tables of a law, a column explains the target by right. In a table that is
# measured, a column that says all of the target on so many rows is the target.
LEAK_ROWS = 50
# What to do in Python, where the remedies of `check` are options of the command line.
IN_PYTHON = {
    "identifier": "leave it out",
    "groups": "pass it as groups, which keeps its rows together, or leave it out",
    "date": "make a number of it, such as days or the month, or leave it out",
    "decimal comma": "read it with decimal=','",
    "thousands separator": "read it with thousands set, so that it is numbers",
    "unit": "leave the unit or sign out of the values, and convert them to numbers",
    "mixed": "correct the words, or make them missing, and convert the rest to numbers",
    "missing word": "make them missing, and convert the rest to numbers",
    "leak": "if it is known only with or after the target, leave it out",
}


def surely_wrong(
    table: Table, values: FloatArray, name: str = "y", *, of_classes: bool
) -> list[Finding]:
    """Return what makes a model of these features worthless, with a remedy in Python.

    The target has these values, or positions of classes. What `fit` refuses is not among it.
    """
    target = Column(name, Kind.NUMERIC, lambda start, stop: values[start:stop])
    first = list(_findings(table, target, _first_rows(table), of_classes=of_classes))
    if not first:
        return []
    names = {each.column for each in first}
    suspects = replace(table, columns=tuple(each for each in table.columns if each.name in names))
    ranges = rows_to_look_at(suspects)
    found = _findings(suspects, target, ranges, of_classes=of_classes)
    return [replace(each, remedy=IN_PYTHON[each.kind]) for each in found]


def _first_rows(table: Table) -> list[RowRange]:
    blocks = FIRST_BLOCKS_OF_FILES if table.parts else BLOCKS
    return rows_to_look_at(table, FIRST_ROWS, FIRST_VALUES, blocks)


def _findings(
    table: Table, target: Column, ranges: Sequence[RowRange], *, of_classes: bool
) -> Iterator[Finding]:
    """Yield what is surely wrong on some rows."""
    columns = [look_at(each, ranges) for each in table.columns]
    columns = [each for each in columns if each.error is None and each.n_present]
    for column in columns:
        check = check_numbers if column.is_numeric else check_text
        for finding in check(column, is_declared=False, is_target=False):
            if finding.severity is Severity.WRONG and finding.kind in IN_PYTHON:
                yield finding
    seen = look_at(target, ranges)
    if len(seen.values) >= LEAK_ROWS:
        for finding in check_leaks(columns, seen, of_classes=of_classes):
            if finding.severity is Severity.WRONG:
                yield finding
