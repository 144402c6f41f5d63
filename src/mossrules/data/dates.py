"""Dates as numbers with a meaning: the year, month or weekday, days since another date, or an age.

A date has no rules of its own, so a user says what it becomes: `visit=month` makes a column
`visit_month` of the column `visit`. Days are counted from 1970-01-01 and ages in complete years,
each also from another day or from another column: `days@admitted`, `age@2025-01-01`.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from mossrules._typing import FloatArray
from mossrules.exceptions import InvalidParameter

__all__ = ["ORDERS", "PARTS", "DatePart", "day_of", "derive", "parse_part", "why_no_day"]

PARTS = ("year", "month", "weekday", "days", "age")
ORDERS = ("dmy", "mdy", "ymd")
FIRST_DAY = dt.date(1970, 1, 1).toordinal()
TIME = (
    r"(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\s?(?:Z|UTC|[+-]\d{2}(?::?\d{2})?|[AaPp][Mm])?)?"
)
YEAR_FIRST = re.compile(rf"(\d{{4}})([-/.])(\d{{1,2}})\2(\d{{1,2}}){TIME}", re.ASCII)
COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})", re.ASCII)
YEAR_LAST = re.compile(rf"(\d{{1,2}})([-/.])(\d{{1,2}})\2(\d{{4}}){TIME}", re.ASCII)


@dataclass(frozen=True)
class DatePart:
    """A column of numbers that is made of a column of dates."""

    source: str
    part: str  # of PARTS
    reference: str | None = None  # a day such as 2025-01-01, or the name of another column of dates
    from_column: bool = False

    @property
    def name(self) -> str:
        """The name of the new column."""
        return f"{self.source}_{self.part}"

    @property
    def text(self) -> str:
        """What the user wrote."""
        return self.part if self.reference is None else f"{self.part}@{self.reference}"

    @property
    def sources(self) -> tuple[str, ...]:
        """The columns of dates that it is made of."""
        return (self.source, *([self.reference] if self.from_column and self.reference else []))


def parse_part(source: str, text: str) -> DatePart:
    """Return what `month`, `days@2020-01-01` or `age@visit` asks of a column of dates."""
    part, has_reference, reference = text.strip().partition("@")
    if part not in PARTS:
        raise InvalidParameter(
            f"The date {source!r} cannot become {text!r}; choose from {', '.join(PARTS)}."
        )
    if not has_reference and part != "age":
        return DatePart(source, part)
    if part not in ("days", "age"):
        raise InvalidParameter(
            f"The {part} of the date {source!r} is not counted from another date; leave out "
            f"'@{reference}'."
        )
    if not reference:
        raise InvalidParameter(
            f"The {part} of {source!r} needs the date at which it is counted; write "
            f"{source}={part}@2025-01-01 for a day, or {source}={part}@visit for another column."
        )
    return DatePart(source, part, reference, from_column=day_of(reference) is None)


# --- text to days ---------------------------------------------------------------------------------


@lru_cache(maxsize=1 << 16)
def day_of(text: str, order: str | None = None) -> int | None:
    """Return the day of a text, counted from 1970-01-01; None if it does not tell one for certain.

    Years have four digits; a time of day is left out. With points the day comes first unless
    `order` says otherwise, as it is written wherever points are used; with slashes or hyphens
    `order` has to tell which of two numbers is the day.
    """
    text = text.strip()
    found = YEAR_FIRST.fullmatch(text)
    if found is not None:
        return _day(found[1], found[3], found[4])
    found = COMPACT.fullmatch(text)
    if found is not None:
        return _day(found[1], found[2], found[3])
    found = YEAR_LAST.fullmatch(text)
    if found is None or order == "ymd" or (order is None and found[2] != "."):
        return None
    day, month = (found[3], found[1]) if order == "mdy" else (found[1], found[3])
    return _day(found[4], month, day)


def _day(year: str, month: str, day: str) -> int | None:
    try:
        return dt.date(int(year), int(month), int(day)).toordinal() - FIRST_DAY
    except ValueError:
        return None  # there is no such day


def why_no_day(text: str, order: str | None) -> str:
    """Return why a text is not a day for certain, and what to do, as the end of a sentence."""
    found = YEAR_LAST.fullmatch(text.strip())
    if found is not None and order is None and found[2] != ".":
        return (
            "which does not tell the day from the month; say which comes first, by the order of "
            "dates 'dmy' or 'mdy'"
        )
    return "which is not a date; write it as 2025-03-31, or leave it empty"


# --- days to numbers ------------------------------------------------------------------------------


def derive(part: DatePart, columns: Mapping[str, FloatArray]) -> FloatArray:
    """Return a part of dates, which are days from 1970-01-01 on with NaN for missing."""
    days = columns[part.source]
    since: FloatArray | float = 0.0
    if part.reference is not None:
        known = None if part.from_column else day_of(part.reference)
        since = columns[part.reference] if known is None else float(known)
    if part.part == "days":
        return days - since
    if part.part == "age":
        return _complete_years(days, np.broadcast_to(since, days.shape))
    year, month, _ = _calendar(days)
    if part.part == "weekday":
        return (days + 3) % 7 + 1  # 1970-01-01 was a Thursday; Monday is 1
    return year if part.part == "year" else month


def _calendar(days: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return years, months and days of the month."""
    missing = np.isnan(days)
    dates = np.where(missing, 0.0, days).astype(np.int64).astype("datetime64[D]")
    years, months = dates.astype("datetime64[Y]"), dates.astype("datetime64[M]")
    found = (
        years.astype(np.int64) + 1970,
        (months - years.astype("datetime64[M]")).astype(np.int64) + 1,
        (dates - months.astype("datetime64[D]")).astype(np.int64) + 1,
    )
    year, month, day = (np.where(missing, np.nan, each.astype(np.float64)) for each in found)
    return year, month, day


def _complete_years(start: FloatArray, end: FloatArray) -> FloatArray:
    """Return the years that are complete from one day to another, as people count their age."""
    year, month, day = _calendar(start)
    end_year, end_month, end_day = _calendar(end)
    is_before = (end_month < month) | ((end_month == month) & (end_day < day))
    years: FloatArray = end_year - year - is_before
    return years


def check_parts(parts: Collection[DatePart]) -> None:
    """Refuse two parts of the same name."""
    names = [part.name for part in parts]
    for name in names:
        if names.count(name) > 1:
            raise InvalidParameter(f"Two dates would become the column {name!r}; leave out one.")
