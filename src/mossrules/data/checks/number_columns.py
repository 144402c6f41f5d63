"""What looks wrong with a column of numbers: identifiers, codes, dates and signs of missing."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

import numpy as np

from mossrules._typing import AnyArray, IntArray
from mossrules.data.checks.findings import Finding, Severity
from mossrules.data.checks.names import drop, in_shell, names_code, names_identifier, names_member
from mossrules.data.checks.seen import SeenColumn
from mossrules.data.checks.text_columns import FEW_VALUES, MIN_ROWS, NEARLY_UNIQUE, groups_finding
from mossrules.data.columns import Kind

__all__ = ["check_numbers"]

# Numbers that are written for a missing value; -1 and 9 are so often real that they are left out.
WHOLE = (77, 88, 98, 99, 777, 888, 998, 999, 7777, 8888, 9998, 9999, 77777, 88888, 99999, 999999)
PARTS = (99.9, 999.9, 9999.9, 99.99, 999.99)
SENTINELS = frozenset(
    sign * float(number)
    for sign in (-1, 1)
    for number in (*WHOLE, *PARTS, 9999999, 99999999, 999999999, 2**31 - 1)
) | {-9.0, -(2.0**31)}
# Values go on past the others by steps; a sign of missing is as far from all of them as they are
# from each other. (At a quarter of that, the years 88 to 91 had a sign of missing.)
GAP_TO_RANGE = 1.0
# Or it is the value of many rows where its neighbours have few.
GAP_TO_STEP, TIMES_NEIGHBOURS = 5, 5
# A single row may be a slip, and is none of our business.
MIN_SENTINEL_ROWS = 2
FIRST_DATE, LAST_DATE = 19000101, 21001231


def check_numbers(column: SeenColumn, *, is_declared: bool, is_target: bool) -> Iterator[Finding]:
    """Yield what looks wrong with a column of numbers."""
    if column.kind is Kind.BOOLEAN or column.n_present == 0:
        return
    infinite = int(np.count_nonzero(np.isinf(column.numbers)))
    if infinite:
        what = f"{infinite:,} infinite value{'s' * (infinite > 1)}"
        remedy = "write a finite number, or leave the field empty: --na inf --na=-inf"
        yield Finding("infinite", Severity.WRONG, what, remedy, column.name)
        return
    yield from _check_sentinels(column)
    if is_target:
        return
    found = None
    if column.are_whole:
        found = _dates(column) or _identifier(column)
    if found is None and not is_declared and names_code(column.name) and column.are_whole:
        found = _codes(column)
    if found is not None:
        yield found


def _identifier(column: SeenColumn) -> Finding | None:
    n_rows, n_values = column.n_present, column.n_distinct
    if n_rows < MIN_ROWS:
        return None
    is_unique = n_values >= NEARLY_UNIQUE * n_rows
    numbers = column.numbers
    # A column that counts the rows, in steps of one, whatever its name.
    counts = n_values == n_rows and bool(np.all(np.diff(numbers) == 1))
    if is_unique and names_identifier(column.name):
        what = f"an identifier: {n_values:,} different numbers on {n_rows:,} rows"
        remedy = f"leave it out: {drop(column.name)}"
        return Finding("identifier", Severity.WRONG, what, remedy, column.name)
    if counts:  # or the years of a series, in order
        what = f"counts the rows: one more on each of {n_rows:,}"
        remedy = f"if it is no year or the like: {drop(column.name)}"
        return Finding("identifier", Severity.SUSPECT, what, remedy, column.name)
    if not is_unique and names_member(column.name) and n_values > FEW_VALUES:
        return groups_finding(column)
    return None


def _codes(column: SeenColumn) -> Finding | None:
    if column.n_distinct <= 2:
        return None
    what = f"codes by its name, taken for numbers ({column.n_distinct:,} different ones)"
    remedy = f"if larger does not mean more: --types {in_shell(column.name)}=category"
    return Finding("codes", Severity.SUSPECT, what, remedy, column.name)


def _dates(column: SeenColumn) -> Finding | None:
    """Return that numbers such as 20210304 are dates, which are no distances apart."""
    values = np.unique(column.numbers)
    if len(values) <= FEW_VALUES or values[0] < FIRST_DATE or values[-1] > LAST_DATE:
        return None
    step = -(-len(values) // 1000)
    if not all(map(_is_date, values[::step].astype(np.int64).tolist())):
        return None
    name = in_shell(column.name)
    what = f"dates written as numbers, of the years {_year(values[0])} to {_year(values[-1])}"
    remedy = f"--date {name}=month (or year, weekday, days, age@2025-01-01)"
    return Finding("date", Severity.SUSPECT, what, remedy, column.name)


def _year(number: float) -> int:
    return int(number) // 10000


def _is_date(number: int) -> bool:
    try:
        dt.date(number // 10000, number // 100 % 100, number % 100)
    except ValueError:
        return False
    return True


def _check_sentinels(column: SeenColumn) -> Iterator[Finding]:
    values, counts = np.unique(column.numbers, return_counts=True)
    signs = [
        position
        for position in (*range(min(3, len(values))), *range(max(3, len(values) - 3), len(values)))
        if values[position] in SENTINELS
    ]
    # Several may stand side by side, such as 777, 888 and 999, so each is held against the others.
    others = np.delete(np.arange(len(values)), signs)
    found = [
        position
        for position in signs
        if counts[position] >= MIN_SENTINEL_ROWS and _stands_apart(position, others, values, counts)
    ]
    if not found:
        return
    shown = [f"{values[position]:g}" for position in found]
    n_rows = int(counts[found].sum())
    what = f"{' and '.join(shown)} on {n_rows:,} rows, apart from all other values"
    words = " ".join(f"--na={each}" if each[0] == "-" else f"--na {each}" for each in shown)
    remedy = f"if that means missing: {words} (in all columns)"
    yield Finding("sentinel", Severity.SUSPECT, what, remedy, column.name)


def _stands_apart(position: int, others: IntArray, values: AnyArray, counts: IntArray) -> bool:
    """Tell whether a value lies beyond all others, further than they lie from each other."""
    if len(others) < 2:
        return False
    low, high = values[others[0]], values[others[-1]]
    value = values[position]
    if low <= value <= high:
        return False
    gap = low - value if value < low else value - high
    if gap >= GAP_TO_RANGE * (high - low) or (value < 0 <= low):
        return True
    near = others[:5] if value < low else others[-5:]
    step = np.diff(values[near]).max(initial=0.0)
    return bool(
        gap >= GAP_TO_STEP * step and counts[position] >= TIMES_NEIGHBOURS * counts[near].max()
    )
