import datetime as dt

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mossrules.data.dates import day_of, derive, parse_part
from mossrules.exceptions import InvalidParameter

DAYS = st.dates(dt.date(1800, 1, 1), dt.date(2200, 12, 31))


@given(DAYS)
def test_days_are_those_of_every_spelling(day):
    """Year first, with points, and with slashes in an order that was said."""
    expected = (day - dt.date(1970, 1, 1)).days
    for text, order in (
        (day.isoformat(), None),
        (f"{day.isoformat()}T23:59:59+02:00", None),
        (f"{day:%Y%m%d}", None),
        (f" {day.day}.{day.month}.{day.year} 10:15", None),
        (f"{day:%d/%m/%Y}", "dmy"),
        (f"{day:%m-%d-%Y}", "mdy"),
    ):
        assert day_of(text, order) == expected, text


@pytest.mark.parametrize(
    "text",
    ["03/04/2025", "3-4-2025", "30.2.2025", "1.1.25", "2025-13-01", "2025", "x", "", "5.2.1"],
)
def test_what_does_not_tell_a_day_for_certain_is_none(text):
    """Such as days that may be months, years of two digits, and days that no calendar has."""
    assert day_of(text) is None


@given(st.lists(DAYS, min_size=1, max_size=20), DAYS)
def test_parts_are_those_of_pandas(days, reference):
    """The year, month and weekday of each date, with Monday as 1, and the days between dates."""
    numbers = np.array([(day - dt.date(1970, 1, 1)).days for day in days], dtype=float)
    columns, dates = {"visit": numbers}, pd.Series(pd.to_datetime(days))
    for part, expected in (
        ("year", dates.dt.year),
        ("month", dates.dt.month),
        ("weekday", dates.dt.day_of_week + 1),
        (f"days@{reference}", (dates - pd.Timestamp(reference)).dt.days),
    ):
        found = derive(parse_part("visit", part), columns)
        np.testing.assert_array_equal(found, expected.to_numpy(dtype=float))


@given(DAYS, st.integers(0, 100), st.integers(0, 365))
def test_an_age_is_what_people_say(birth, years, further):
    """It grows by one on each birthday, and one born on 29 February has it on 1 March."""
    try:
        birthday = birth.replace(year=birth.year + years)
    except ValueError:
        birthday = dt.date(birth.year + years, 3, 1)
    try:
        following = birth.replace(year=birth.year + years + 1)
    except ValueError:
        following = dt.date(birth.year + years + 1, 3, 1)
    day = min(birthday + dt.timedelta(days=further), following - dt.timedelta(days=1))
    columns = {
        "born": np.array([(birth - dt.date(1970, 1, 1)).days, np.nan]),
        "visit": np.array([(day - dt.date(1970, 1, 1)).days, 0.0]),
    }
    np.testing.assert_array_equal(derive(parse_part("born", "age@visit"), columns), [years, np.nan])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hour", "cannot become 'hour'; choose from year"),
        ("age", "needs the date at which it is counted; write born=age@2025-01-01"),
        ("days@", "needs the date at which"),
        ("month@visit", "not counted from another date"),
    ],
)
def test_what_a_date_cannot_become_is_a_sentence(text, words):
    """With what to write instead."""
    with pytest.raises(InvalidParameter, match=words):
        parse_part("born", text)
