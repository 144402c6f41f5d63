"""A grid that does not move where a target is turned around or has another unit."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mossrules.data.even_grid import STEPS, EvenGrid, coarse
from mossrules.data.fixed_point import TARGET_BITS, WEIGHTED_TARGET_SHIFT
from mossrules.exceptions import InvalidTarget


def grid_of(values):
    """Return the grid of a target with these values."""
    return EvenGrid.from_range(min(values), max(values), np.array(values))


@given(
    st.lists(st.integers(-1000, 1000), min_size=2, max_size=20),
    st.sampled_from([1.0, 0.1, 0.01, 2.5, 1000.0, 1 / 3]),
    st.sampled_from([0.0, 7.0, 0.3]),
)
def test_whole_numbers_have_the_same_integers_in_any_unit(values, factor, offset):
    """Equally spaced values stay so: as integers they are the distances, times one number."""
    assume(len(set(values)) > 1)
    y = np.array(values, dtype=np.float64)
    found = grid_of(y).encode(y)
    np.testing.assert_array_equal(grid_of(factor * y + offset).encode(factor * y + offset), found)
    turned = grid_of(-factor * y).encode(-factor * y)
    np.testing.assert_array_equal(turned, found.max() - found)
    assert found.min() == 0
    assert found.max() < 1 << TARGET_BITS
    if len(set(values)) == max(values) - min(values) + 1:  # no value between is left out
        assert (found * (y.max() - y.min()) == found.max() * (y - y.min())).all()
        assert (found % (1 << WEIGHTED_TARGET_SHIFT) == 0).all()


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30), st.sampled_from([0.1, -1.0, -3.7]))
def test_a_target_moves_by_little_more_than_half_a_step(values, factor):
    """Any target is met to 2^-30 of its range, or to the rounding of its floats."""
    low, high = min(values), max(values)
    assume(high - low > 1e-3 * max(abs(low), abs(high)))
    for y in (np.array(values), factor * np.array(values)):
        grid = grid_of(y)
        for value, code in zip(y, grid.encode(y), strict=True):
            point = Fraction(grid.low) + Fraction(grid.step) * int(code)
            assert abs(point - Fraction(value)) <= Fraction((grid.high - grid.low) * 1.001) / STEPS


def test_a_mean_of_whole_numbers_is_exact():
    """Steps are a power of two of the distance between values."""
    y = np.array([25.0, 26.0, 28.0, 346.0])
    grid = grid_of(y)
    assert (grid.low + grid.step * grid.encode(y)).tolist() == y.tolist()
    assert grid.low + grid.step * float(grid.encode(y).mean()) == y.mean()


@given(st.integers(0, STEPS))
def test_fewer_digits_of_a_target_turned_around_are_turned_around(code):
    """Halves are rounded to even, so that no side is favoured."""
    both = coarse(np.array([code, STEPS - code], dtype=np.int32), WEIGHTED_TARGET_SHIFT)
    assert both.sum() == STEPS >> WEIGHTED_TARGET_SHIFT
    assert abs(int(both[0]) * 64 - code) <= 32


def test_a_constant_target_is_refused():
    """As by the other grid."""
    with pytest.raises(InvalidTarget, match="constant"):
        EvenGrid.from_range(2.0, 2.0)
