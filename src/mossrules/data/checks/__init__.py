"""A look at a table before anything is learned from it: what each column is taken for, and why.

`check` yields findings with a remedy each. What is looked for stands in modules by what is looked
at: `text_columns` and `number_columns` at one column, `relations` at several, `targets` at what is
predicted. Thresholds are constants there, each with its reason.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np

from mossrules import defaults
from mossrules._common import check_integer
from mossrules._refusals import names_input
from mossrules.data.checks.findings import ColumnCheck, Finding, Severity, TableCheck
from mossrules.data.checks.names import drop
from mossrules.data.checks.number_columns import check_numbers
from mossrules.data.checks.relations import check_copies, check_leaks, check_repeats
from mossrules.data.checks.seen import SeenColumn, look_at, rows_to_look_at
from mossrules.data.checks.targets import check_target
from mossrules.data.checks.text_columns import check_text
from mossrules.data.columns import Column, Kind
from mossrules.data.files import scan_if_path
from mossrules.data.groups import column_beside, names_beside
from mossrules.data.table import Table, is_dask, target_column, target_name, vector_column
from mossrules.defaults import MIN_ROWS_SHOWN
from mossrules.exceptions import InvalidParameter, UnsupportedType

__all__ = ["ColumnCheck", "Finding", "Severity", "TableCheck", "check"]

TAKEN_FOR = {
    Kind.NUMERIC: "number",
    Kind.BOOLEAN: "truth",
    Kind.CATEGORICAL: "category",
    Kind.ORDERED: "ordered",
    Kind.UNSUPPORTED: "not read",
}


@names_input("X")
def check(
    X: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    groups: Any = None,
    of_classes: bool | None = None,
    max_rules: int = defaults.MAX_RULES,
    declared: Collection[str] = (),
) -> TableCheck:
    """Return what each column of a table is taken for, and what looks wrong.

    Nothing is changed. Of a table with more than 100,000 rows (fewer of very wide ones) that many
    are looked at, in blocks at equal distances, and the result says so.

    Parameters
    ----------
    X : table, array, dict of columns, path or paths, what `scan_files` returns
        As in `MossRegressor.fit`. Of a Dask collection pass a part, such as `X.head(100_000)`.
    y : one value per row, or the name of a column of X, optional
        The target. Without it columns are not compared with it.
    sample_weight, groups
        As in `fit`: columns of these names are no features and not looked at.
    of_classes
        Whether the target is a class; by default it is where it is text or truth values.
    max_rules
        As in `MossRegressor`: rows are held against the rules that they are to tell of.
    declared
        Names of columns of text or numbers that are meant to be what they are: how their values are
        written is not questioned.

    Examples
    --------
    >>> table = {"weight": ["70,5", "81,2", "66,0"], "site": ["a", "b", "a"]}
    >>> found = check(table)
    >>> [(each.column, each.kind, each.remedy) for each in found.wrong]
    [('weight', 'decimal comma', 'read with --decimal ,')]
    """
    check_integer("max_rules", max_rules)
    if is_dask(X) or is_dask(y):
        raise UnsupportedType(
            "X is a Dask collection, and check looks at values in this process; pass a part of it, "
            "such as X.head(100_000, npartitions=-1), or the paths of its Parquet files."
        )
    table = Table.from_any(scan_if_path(X))
    target = _find_target(table, y)
    unknown = [name for name in declared if name not in table.names]
    if unknown:
        raise InvalidParameter(
            f"declared names {unknown[0]!r}, which is not a column; name columns of the table."
        )
    beside = _beside(table, y, sample_weight, groups)
    ranges = rows_to_look_at(table)
    left_out = {*beside, *([y] if isinstance(y, str) else [])}
    seen = [look_at(each, ranges) for each in table.columns if each.name not in left_out]
    seen_target = None if target is None else look_at(target, ranges)
    if seen_target is not None and (of_classes is None or not seen_target.is_numeric):
        of_classes = seen_target.kind is not Kind.NUMERIC
    findings = list(
        _findings(
            seen,
            seen_target,
            of_classes=bool(of_classes),
            max_rules=max_rules,
            declared=declared,
        )
    )
    columns = [_column(each, is_target=False) for each in seen]
    if seen_target is not None:
        columns.append(_column(seen_target, is_target=True))
    return TableCheck(
        rows=table.n_rows,
        looked_at=sum(map(len, ranges)),
        columns=tuple(columns),
        findings=tuple(findings),
        target=None if seen_target is None else seen_target.name,
    )


def _find_target(table: Table, y: Any) -> Column | None:
    if y is None:
        return None
    if isinstance(y, str):
        return target_column(table, y)
    return vector_column(y, target_name(y) or "y", table.n_rows)


def _beside(table: Table, y: Any, sample_weight: Any, groups: Any) -> Sequence[str]:
    """Return the names of columns that are no features."""
    for role, name in (("sample_weight", sample_weight), ("groups", groups)):
        if isinstance(name, str):
            column_beside(table, role, name)
    return names_beside(y, sample_weight, groups)


def _findings(
    columns: Sequence[SeenColumn],
    target: SeenColumn | None,
    *,
    of_classes: bool,
    max_rules: int,
    declared: Collection[str],
) -> Iterator[Finding]:
    """Yield what looks wrong, column by column, and of the table as a whole."""
    for column in columns:
        yield from _check_column(column, is_declared=column.name in declared, is_target=False)
    readable = [each for each in columns if each.error is None]
    yield from check_copies(readable)
    if target is not None:
        is_declared = target.name in declared
        yield from _check_column(target, is_declared=is_declared, is_target=True)
        if target.error is None:
            yield from check_target(target, of_classes=of_classes, max_rules=max_rules)
            yield from check_leaks(readable, target, of_classes=of_classes)
    every = readable if target is None or target.error is not None else [*readable, target]
    if every and len(every[0].values) > 1:
        yield from check_repeats(every, len(every[0].values))


def _check_column(column: SeenColumn, *, is_declared: bool, is_target: bool) -> Iterator[Finding]:
    if column.error is not None:
        what, _, remedy = column.error.rstrip(".").partition("; ")
        yield Finding(
            "not readable", Severity.WRONG, what, remedy or "convert the column", column.name
        )
        return
    if not is_target:
        yield from _check_constant(column)
    check_values = check_numbers if column.is_numeric else check_text
    yield from check_values(column, is_declared=is_declared, is_target=is_target)


def _check_constant(column: SeenColumn) -> Iterator[Finding]:
    if column.n_present == 0:
        what, remedy = "missing on every row", f"never used; leave it out: {drop(column.name)}"
        yield Finding("empty", Severity.NOTE, what, remedy, column.name)
    elif column.n_distinct == 1 and column.n_present == len(column.values):
        value = column.values[0]
        words = f", {value:g}," if column.is_numeric else f", {value!r},"
        if column.n_present < MIN_ROWS_SHOWN:
            words = ""
        what = f"the same value{words} on every row"
        remedy = f"never used; leave it out: {drop(column.name)}"
        yield Finding("constant", Severity.NOTE, what, remedy, column.name)


# --- what columns are taken for -------------------------------------------------------------------


def _column(column: SeenColumn, *, is_target: bool) -> ColumnCheck:
    n = len(column.values)
    return ColumnCheck(
        name=column.name,
        taken_for=TAKEN_FOR[column.kind],
        why=_why(column),
        values=column.n_distinct,
        missing=float(1 - column.n_present / n) if n else 0.0,
        is_target=is_target,
    )


def _why(column: SeenColumn) -> str:
    """Return what makes a column what it is taken for."""
    if column.error is not None:
        return "its values are of no kind that rules have"
    if column.n_present == 0:
        return "no row has a value"
    if column.kind is Kind.CATEGORICAL:
        return _example(column)
    return {
        Kind.BOOLEAN: "its values are true and false",
        Kind.NUMERIC: "whole numbers" if column.are_whole else "numbers",
        Kind.ORDERED: "its type has an order",
    }[column.kind]


def _example(column: SeenColumn) -> str:
    # A value that few rows have is nobody's business, even here: this may be sent to others.
    counts = column.level_counts
    most = int(np.argmax(counts))
    if counts[most] < MIN_ROWS_SHOWN:
        return "text"
    place = int(np.flatnonzero(column.codes == most)[0])
    return f"text, such as {str(column.values[place])[:20]!r}"
