"""Thresholds as people read them, against comparisons of floats."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mossrules.candidates.cuts import BinnedColumn
from mossrules.candidates.rules import Range
from mossrules.candidates.thresholds import cut_below, format_number, readable
from mossrules.data.columns import Kind

finite = st.floats(allow_nan=False, allow_infinity=False)


@given(finite, finite)
def test_what_is_read_is_what_is_compared(cut, value):
    """A cut and its readable form hold for the same values, those next to it too."""
    number, is_inside = readable(cut)
    for x in (value, cut, math.nextafter(cut, math.inf), math.nextafter(cut, -math.inf), number):
        assert (x <= cut) == (x <= number if is_inside else x < number)


@given(st.integers(-(10**9), 10**9), st.integers(-9, 9))
def test_short_numbers_read_as_they_are_and_so_do_cuts_below_them(digits, power):
    """65 reads as `<= 65`, and the float just below it as `< 65`."""
    number = float(f"{digits}e{power}")
    assert readable(number) == (number, True)
    assert readable(cut_below(number)) == (number, False)


@pytest.mark.parametrize("cut", [5e-324, 1.7976931348623157e308, 0.1 + 0.2, -5e-324, 2.0**53 - 1])
def test_awkward_floats_are_readable(cut):
    """The smallest, the largest and the longest floats have a finite reading."""
    number, _ = readable(cut)
    assert math.isfinite(number)
    assert float(format_number(number)) == number


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (1, 1, "age < 18"),
        (1, 2, "age <= 40"),
        (1, 3, "age < 65"),
        (2, 254, "age >= 18"),
        (3, 254, "age > 40"),
        (2, 2, "18 <= age <= 40"),
        (2, 3, "18 <= age < 65"),
        (3, 3, "40 < age < 65"),
        (3, 4, "40 < age <= 80"),
    ],
)
def test_conditions_read_with_the_signs_that_were_asked_for(low, high, text):
    """Every mix of bounds that include and exclude their number has its own words."""
    cuts = (cut_below(18.0), 40.0, cut_below(65.0), 80.0)
    assert Range("age", low, high).text(BinnedColumn("age", Kind.NUMERIC, cuts)) == text


def test_codes_of_a_cut_below_a_number():
    """The number itself is in the bin above."""
    column = BinnedColumn("age", Kind.NUMERIC, (cut_below(65.0),))
    codes = column.encode_values(np.array([64.0, 64.999, 65.0, 66.0, np.nan]), Kind.NUMERIC)
    assert codes.tolist() == [1, 1, 2, 2, 0]
