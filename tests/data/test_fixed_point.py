import math
from fractions import Fraction
from itertools import chain

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from mossrules.data.fixed_point import (
    TARGET_BITS,
    TOTAL_WEIGHT_BITS,
    WEIGHT_BITS,
    WEIGHTED_TARGET_SHIFT,
    Moments,
    TargetGrid,
    WeightGrid,
    exact_dot,
    integer_weights,
)
from mossrules.exceptions import InvalidTarget

FINITE = st.floats(allow_nan=False, allow_infinity=False)
TINY = math.ulp(0.0)


def grid_of(values):
    """Return the grid of a target with these values."""
    return TargetGrid.from_range(min(values), max(values))


def decoded(grid, integers):
    """Return grid points as exact numbers."""
    return [Fraction(grid.low) + Fraction(grid.step) * int(integer) for integer in integers]


# --- the target -------------------------------------------------------------------------------


@given(st.lists(FINITE, min_size=2, max_size=20))
@settings(deadline=None, max_examples=300)
def test_a_target_moves_by_at_most_half_a_step(values):
    """Encoding rounds to the nearest grid point: half a step, and the rounding of y - low."""
    low, high = min(values), max(values)
    assume(low < high and math.isfinite(high - low))
    grid = TargetGrid.from_range(low, high)
    integers = grid.encode(np.array(values))
    slack = Fraction(math.ulp(high - low))
    for value, point in zip(values, decoded(grid, integers), strict=True):
        assert abs(Fraction(value) - point) <= Fraction(grid.step) / 2 + slack


@given(FINITE, FINITE)
@settings(deadline=None, max_examples=300)
def test_steps_are_powers_of_two_and_fine(low, high):
    """A step is a power of two and at most 2^-29 of the range, or the smallest float there is."""
    low, high = min(low, high), max(low, high)
    assume(low < high and math.isfinite(high - low))
    step = TargetGrid.from_range(low, high).step
    assert math.frexp(step)[0] == 0.5
    assert step == TINY or step <= math.ldexp(high - low, 1 - TARGET_BITS)


@given(st.lists(FINITE, min_size=2, max_size=20))
@settings(deadline=None, max_examples=300)
def test_integers_are_in_range_and_in_order(values):
    """Integers lie between 0 and 2^30, and larger values never have smaller ones."""
    values = sorted(values)
    assume(values[0] < values[-1] and math.isfinite(values[-1] - values[0]))
    integers = grid_of(values).encode(np.array(values))
    assert integers.dtype == np.int32
    assert integers[0] == 0
    assert integers[-1] <= 1 << TARGET_BITS
    assert (np.diff(integers.astype(np.int64)) >= 0).all()


@given(
    st.lists(st.integers(0, 1 << 29), min_size=2, max_size=20),
    st.integers(-900, 900),
    st.integers(-(1 << 20), 1 << 20),
)
@settings(deadline=None, max_examples=200)
def test_dyadic_values_are_exact(counts, exponent, offset):
    """Values that are multiples of a power of two, with up to 29 digits, are kept exactly."""
    assume(min(counts) < max(counts))
    values = [math.ldexp(count + offset, exponent) for count in counts]
    grid = grid_of(values)
    assert decoded(grid, grid.encode(np.array(values))) == [Fraction(value) for value in values]


@pytest.mark.parametrize("offset", [0.0, 1e15, -1e15, 2.0**52])
def test_small_integers_on_a_huge_offset_are_exact(offset):
    """An offset costs no digits: 1e15 and some is as good as some."""
    values = offset + np.arange(100.0)
    grid = grid_of(values.tolist())
    assert decoded(grid, grid.encode(values)) == [Fraction(value) for value in values.tolist()]
    assert grid.step == grid_of(list(range(100))).step


@pytest.mark.parametrize(
    "values",
    [
        [0.0, TINY],
        [TINY * count for count in range(50)],
        [-1e-310, 3e-310, 2e-308],
        [1.0, math.nextafter(1.0, 2.0)],
        [2.0**53, 2.0**53 + 2],
    ],
    ids=["smallest", "subnormal", "around zero", "neighbours", "large neighbours"],
)
def test_the_smallest_differences_are_told_apart(values):
    """Subnormal targets and neighbouring floats are ordinary targets, kept exactly."""
    grid = grid_of(values)
    points = decoded(grid, grid.encode(np.array(values)))
    assert len(set(points)) == len(values)
    assert [float(point) for point in points] == pytest.approx(values, rel=1e-6, abs=0)


@pytest.mark.parametrize("value", [0.0, 3.5, -1e300, TINY])
def test_a_constant_target_is_refused(value):
    """Nothing explains a target that does not vary; the error says its value."""
    with pytest.raises(InvalidTarget, match=r"target is constant \(.*check that the right column"):
        TargetGrid.from_range(value, value)


def test_a_range_beyond_floats_is_refused():
    """A range that overflows is named, with the remedy."""
    with pytest.raises(InvalidTarget, match=r"from -1e\+308 to 1e\+308, too far.*rescale it"):
        TargetGrid.from_range(-1e308, 1e308)


def test_the_largest_range_that_is_a_float_works():
    """Up to the largest float, ranges are fine."""
    grid = TargetGrid.from_range(0.0, 1.7e308)
    assert grid.encode(np.array([0.0, 0.85e308, 1.7e308])).tolist()[::2] == [
        0,
        round(Fraction(1.7e308) / Fraction(grid.step)),
    ]


# --- weights ----------------------------------------------------------------------------------


@given(
    largest=st.floats(min_value=TINY, allow_infinity=False, allow_nan=False),
    n_rows=st.integers(1, 1 << 36),
)
@settings(deadline=None, max_examples=300)
def test_weighted_sums_never_overflow(largest, n_rows):
    """However many rows all have the largest weight, sums of the forest's target fit 63 bits."""
    grid = WeightGrid.from_largest(largest, n_rows)
    integer = int(grid.encode(np.array([largest]))[0])
    assert 0 < integer <= 1 << WEIGHT_BITS
    assert n_rows * integer <= 1 << TOTAL_WEIGHT_BITS
    assert n_rows * integer * (1 << (TARGET_BITS - WEIGHTED_TARGET_SHIFT)) < 1 << 63


@given(st.lists(st.floats(0, 1e300), min_size=1, max_size=20))
@settings(deadline=None, max_examples=200)
def test_a_weight_moves_by_at_most_half_a_step(weights):
    """Weights are rounded to the nearest grid point, and zero stays zero."""
    assume(max(weights) > 0)
    grid = WeightGrid.from_largest(max(weights), len(weights))
    integers = grid.encode(np.array(weights))
    assert grid.step <= math.ldexp(max(weights), 1 - WEIGHT_BITS) or grid.step == TINY
    for weight, integer in zip(weights, integers.tolist(), strict=True):
        assert abs(Fraction(weight) - Fraction(grid.step) * integer) <= Fraction(grid.step) / 2
        assert weight > 0 or integer == 0


def test_integer_weights_are_in_proportion():
    """Whole numbers up to a million times apart keep their ratios exactly."""
    integers, step = integer_weights(np.array([0.0, 1.0, 2.0, 3.0, 1000.0]))
    assert (integers * step).tolist() == [0.0, 1.0, 2.0, 3.0, 1000.0]


@pytest.mark.parametrize("scale", [1e-320, 1e-100, 1.0, 1e307])
def test_the_scale_of_weights_does_not_matter(scale):
    """Tiny and huge weights are told apart as well as others."""
    integers, step = integer_weights(np.array([1.0, 2.0, 4.0]) * scale)
    assert integers[1] == pytest.approx(2 * integers[0], rel=1e-3)
    assert integers[2] == pytest.approx(4 * integers[0], rel=1e-3)
    assert step > 0


def test_one_weight_that_dwarfs_all_others_is_refused():
    """When rounding leaves a single row, the error says so instead of failing later."""
    with pytest.raises(InvalidTarget, match=r"fewer than two rows .*\(1e\+09\).*limit the largest"):
        integer_weights(np.array([1e9, 1.0, 1.0]))


# --- exact sums -------------------------------------------------------------------------------

LARGE = npst.arrays(np.int64, st.integers(0, 30), elements=st.integers(0, (1 << 62) - 1))


@given(LARGE, st.integers(0, 2**32))
@settings(deadline=None, max_examples=200)
def test_dot_products_equal_those_of_python_integers(a, seed):
    """Products and sums far beyond 64 bits are exact."""
    b = np.random.default_rng(seed).integers(0, 1 << 62, size=len(a))
    assert exact_dot(a, b) == sum(x * y for x, y in zip(a.tolist(), b.tolist(), strict=True))


def test_a_dot_product_of_a_whole_chunk_of_the_largest_values_is_exact():
    """Sixteen-bit digits of all ones, over the longest chunk, do not overflow."""
    n_rows, largest = 1 << 17, (1 << 62) - 1
    values = np.full(n_rows, largest)
    assert exact_dot(values, values) == n_rows * largest**2


def chunks_of(draw, n_chunks):
    """Draw chunks of targets and weights."""
    return [
        draw(
            st.lists(
                st.tuples(st.integers(0, 1 << TARGET_BITS), st.integers(0, 1 << WEIGHT_BITS)),
                max_size=8,
            )
        )
        for _ in range(n_chunks)
    ]


def moments_of(rows, *, weighted):
    """Return the moments of (target, weight) pairs."""
    target = np.array([target for target, _ in rows], dtype=np.int32)
    weights = np.array([weight for _, weight in rows], dtype=np.int64)
    return Moments.of(target, weights if weighted else None)


@given(st.data(), st.booleans())
@settings(deadline=None, max_examples=150)
def test_moments_are_exact_and_associative(data, weighted):
    """Moments of chunks, added in any grouping, give the exact mean and variance of all rows."""
    chunks = chunks_of(data.draw, 3)
    a, b, c = (moments_of(chunk, weighted=weighted) for chunk in chunks)
    rows = [(target, weight if weighted else 1) for chunk in chunks for target, weight in chunk]
    total = sum(weight for _, weight in rows)
    combined = a + b + c
    assert (
        combined
        == a + (b + c)
        == c + (a + b)
        == moments_of(list(chain(*chunks)), weighted=weighted)
    )
    assert combined.rows == sum(weight > 0 for _, weight in rows)
    assert combined.weight == total
    assume(total > 0)
    mean = Fraction(sum(weight * target for target, weight in rows), total)
    assert combined.mean == mean
    spread = sum(weight * (target - mean) ** 2 for target, weight in rows)
    assert combined.variance == spread / total


def test_integer_weights_are_repeated_rows_in_moments():
    """A row of weight three is three rows."""
    target = np.array([5, 1 << 30, 0], dtype=np.int32)
    weights = np.array([3, 1, 0])
    weighted, repeated = Moments.of(target, weights), Moments.of(np.repeat(target, weights), None)
    assert (weighted.mean, weighted.variance) == (repeated.mean, repeated.variance)
    assert (weighted.weight, weighted.rows) == (4, 2)
