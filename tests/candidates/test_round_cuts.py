"""Cut points at round numbers: what every table gets, and what another sample finds again."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mossrules.candidates.cut_points import read_cuts
from mossrules.candidates.cuts import find_cuts, find_round, fit_binning
from mossrules.candidates.round_cuts import roundest_between
from mossrules.data.rows import Rows
from mossrules.data.table import Table

STEPS = (Fraction(10), Fraction(5), Fraction(5, 2), Fraction(2), Fraction(1))

finite = st.floats(allow_nan=False, allow_infinity=False)
decimals = st.builds(
    lambda digits, power: float(f"{digits}e{power}"),
    st.integers(-9999, 9999),
    st.integers(-5, 5),
)
columns = st.one_of(
    st.lists(finite, min_size=2, max_size=60),
    st.lists(decimals, min_size=2, max_size=120),
    st.lists(st.integers(-20, 20).map(float), min_size=2, max_size=120),
    st.lists(st.sampled_from([0.0, 0.0, 0.0, 1e-300, 5e-324, -1.0, 3.5, 1e300]), min_size=2),
)
n_bins = st.integers(2, 12)


def cuts_of(values, bins=8, weights=None):
    """Return the cuts of a column."""
    weights = None if weights is None else np.asarray(weights, np.int64)
    return find_round(np.asarray(values, np.float64), weights, bins).tolist()


def largest_bin(values, cuts):
    """Return the share of rows in the fullest bin."""
    return np.bincount(np.searchsorted(cuts, values, side="left")).max() / len(values)


# --- the roundest number --------------------------------------------------------------------------


def roundest_by_trying(low, high, near):
    """Try all steps from large to small, in fractions."""
    low, high, near = (Fraction(repr(each)) for each in (low, high, near))
    if low <= 0 < high:
        return 0.0
    for power in range(12, -12, -1):
        for step in STEPS:
            width = step * Fraction(10) ** power
            inside = [
                number * width
                for number in range(math.floor(low / width), math.ceil(high / width) + 1)
                if low <= number * width < high
            ]
            if inside:
                return float(min(inside, key=lambda each: (abs(each - near), -each)))
    raise AssertionError


@given(decimals, decimals, st.floats(0, 1))
def test_the_roundest_number_is_the_first_of_the_largest_step(a, b, part):
    """It is what trying all steps in fractions finds."""
    low, high = sorted((a, b))
    assume(low < high)
    near = min(max(float(f"{low + part * (high - low):.6g}"), low), high)
    assume((high - low) > 1e-3 * max(abs(low), abs(high)))
    assert roundest_between(low, high, near) == roundest_by_trying(low, high, near)


@given(finite, finite)
def test_the_roundest_number_is_inside(a, b):
    """Whatever the floats, the lower end is allowed and the upper end is not."""
    low, high = sorted((a, b))
    assume(low < high)
    assert low <= roundest_between(low, high, low) < high


@pytest.mark.parametrize(
    ("low", "high", "near", "expected"),
    [
        (27.1, 27.4, 27.2, 27.25),
        (23.4, 33.9, 28.0, 25.0),
        (26.0, 49.0, 41.0, 40.0),
        (26.0, 49.0, 28.0, 40.0),
        (0.30000000000000004, 0.31, 0.305, 0.305),
        (0.29, 0.30000000000000004, 0.295, 0.3),
        (-7.3, -2.1, -5.4, -5.0),
        (-3.0, 0.0, -1.0, -2.5),
        (0.0, 1.0, 0.5, 0.0),
        (999.0, 1001.0, 999.5, 1000.0),
        (5e-324, 1e-323, 5e-324, 5e-324),
        (1.7e308, 1.79e308, 1.75e308, 1.75e308),
        (1.0, 1.0000000000000002, 1.0, 1.0),
        (20240115.0, 20240301.0, 20240201.0, 20240250.0),
    ],
)
def test_numbers_that_people_would_call_round(low, high, near, expected):
    """Round means few digits, and quarters before fifths; zero is the roundest of all."""
    assert roundest_between(low, high, near) == expected


# --- what holds for every column ------------------------------------------------------------------


@given(columns, n_bins)
def test_every_cut_separates_rows_and_none_is_missing(values, bins):
    """Cuts increase, each has values on both sides of its own, and a column that varies has one."""
    cuts = cuts_of(values, bins)
    assert all(low < high for low, high in itertools.pairwise(cuts))
    counts = np.bincount(np.searchsorted(cuts, values, side="left"), minlength=len(cuts) + 1)
    assert counts.all()
    assert len(cuts) < bins + 2  # two are for tails
    assert bool(cuts) == (len(set(values)) > 1)


@given(columns, n_bins, st.randoms(use_true_random=False))
def test_the_order_of_rows_is_nothing(values, bins, random):
    """Shuffled rows have the same cuts."""
    shuffled = random.sample(values, len(values))
    assert cuts_of(shuffled, bins) == cuts_of(values, bins)


@given(columns, n_bins, st.data())
def test_an_integer_weight_is_that_many_rows(values, bins, data):
    """Weights and repetitions have the same cuts."""
    weights = data.draw(st.lists(st.integers(1, 9), min_size=len(values), max_size=len(values)))
    assert cuts_of(values, bins, weights) == cuts_of(np.repeat(values, weights), bins)


@given(columns, n_bins, st.integers(2, 5))
def test_only_shares_of_the_rows_matter(values, bins, times):
    """All rows several times over have the same cuts."""
    assert cuts_of(values * times, bins, None) == cuts_of(values, bins, [times] * len(values))
    assert cuts_of(values, bins, [times] * len(values)) == cuts_of(values, bins)


@given(
    st.lists(st.integers(-(10**6), 10**6), min_size=2, max_size=100), n_bins, st.integers(-12, 12)
)
def test_another_unit_has_the_same_cuts(numbers, bins, power):
    """Numbers in grams have the cuts of those in kilograms, times a thousand."""
    assume(len(set(numbers)) > bins)
    scaled = cuts_of([float(f"{number}e{power}") for number in numbers], bins)
    plain = cuts_of([float(number) for number in numbers], bins)
    assert scaled == [float(f"{cut!r}e{power}") for cut in plain]


@given(columns)
def test_few_distinct_values_are_kept_as_ever(values):
    """A column of at most as many values as bins has the cuts that quantiles have."""
    few = max(2, len(set(values)))
    assert cuts_of(values, few) == find_cuts(np.array(values), None, few).tolist()


@given(columns, st.integers(3, 12))
def test_only_values_that_many_rows_share_make_a_bin_large(values, bins):
    """A bin of more than 1.6 times its share is mostly one value, unless there are no bins left."""
    cuts = cuts_of(values, bins)
    codes = np.searchsorted(cuts, values, side="left")
    if len(cuts) >= bins - 1 or len(set(values)) <= bins:
        return
    for code in range(len(cuts) + 1):
        members = np.asarray(values)[codes == code].tolist()
        if 5 * len(members) * bins > 8 * len(values):
            assert max(members.count(value) for value in set(members)) > 0.6 * len(members)


# --- columns as they come -------------------------------------------------------------------------

RNG = np.random.default_rng(0)
SAMPLES = {
    "whole numbers": RNG.integers(18, 95, 2000),
    "few digits": np.round(RNG.gamma(3.0, 0.02, 2000), 3),
    "nine decades": np.exp(RNG.normal(0.0, 5.0, 2000)),
    "dates as numbers": 20200101 + 10000 * RNG.integers(0, 5, 2000) + RNG.integers(0, 1131, 2000),
    "seconds since 1970": 1.7e9 + RNG.integers(0, 10**8, 2000),
    "years": RNG.integers(1900, 2025, 2000),
    "all negative": -np.exp(RNG.normal(3.0, 1.0, 2000)),
    "tiny": 1e-300 * RNG.exponential(1.0, 2000),
    "huge": 1e300 * RNG.exponential(1.0, 2000),
    "denormal": 5e-324 * RNG.integers(1, 10**6, 2000),
    "a large offset": 1e9 + RNG.normal(0.0, 1e-4, 2000),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_bins_are_even_enough_and_recur(name):
    """No bin has three times its share, and refits without a tenth share most cuts."""
    values, rng = np.asarray(SAMPLES[name], dtype=np.float64), np.random.default_rng(1)
    assert largest_bin(values, cuts_of(values)) < 3 / 8
    refits = [
        set(cuts_of(np.delete(values, rng.choice(2000, 200, replace=False)))) for _ in range(8)
    ]
    shared = [2 * len(a & b) / (len(a) + len(b)) for a, b in itertools.combinations(refits, 2)]
    assert np.mean(shared) > 0.85


def test_recurrence_is_far_above_that_of_quantiles():
    """On draws of another tenth, quantiles of real numbers hardly ever recur."""
    rng = np.random.default_rng(3)
    values = rng.normal(50.0, 10.0, 1000)
    refits = [np.delete(values, rng.choice(1000, 100, replace=False)) for _ in range(6)]
    dice = {
        find: np.mean([
            2 * len(a & b) / (len(a) + len(b))
            for a, b in itertools.combinations(
                [set(find(each, None, 8).tolist()) for each in refits], 2
            )
        ])
        for find in (find_round, find_cuts)
    }  # fmt: skip
    assert dice[find_round] > 0.9
    assert dice[find_cuts] < 0.6


def test_zeros_that_most_rows_have_are_a_bin_of_their_own():
    """Of nine zeros to one amount, the cut is at zero, and the amounts are one bin or more."""
    rng = np.random.default_rng(4)
    values = np.where(np.arange(1000) % 10 > 0, 0.0, rng.exponential(100.0, 1000))
    assert cuts_of(values)[0] == 0.0
    both = np.where(np.arange(1000) % 4 > 0, 0.0, rng.normal(0.0, 100.0, 1000))
    cuts = cuts_of(both)
    codes = np.searchsorted(cuts, both)
    zeros = set(codes[both == 0.0])
    assert len(zeros) == 1
    assert set(both[codes == zeros.pop()]) == {0.0}


def test_a_tail_that_stretches_far_is_cut_once_more():
    """Incomes have a cut among the largest eighth; uniform and normal columns have none there."""
    rng = np.random.default_rng(5)
    incomes = np.exp(rng.normal(10.0, 1.0, 4000))
    for values, sign in ((incomes, 1.0), (-incomes, -1.0)):
        cuts = np.array(cuts_of(values))
        beyond = np.mean(sign * values > (sign * cuts).max())
        assert 0.01 <= beyond < 1 / 16
        assert len(cuts) <= 8
    for values in (rng.uniform(size=4000), rng.normal(size=4000)):
        assert len(cuts_of(values)) < 8


def test_a_few_strays_make_no_tail():
    """Five far values of a thousand make no cut, and neither do nine that are few at all."""
    values = np.random.default_rng(6).uniform(0.0, 100.0, 1000)
    assert max(cuts_of(np.append(values, [1e6] * 5))) < 100.0
    assert len(cuts_of([*range(11), *np.geomspace(100, 1e6, 9)], 4)) < 4


def test_a_single_stray_value_costs_no_bin():
    """One row beside a value that most rows share is not cut off, unless nothing else varies."""
    mostly = [0.0] * 600 + list(np.linspace(1.0, 400.0, 400))
    assert cuts_of(mostly) == cuts_of([-1.0, *mostly[1:]])
    assert len(cuts_of([0.0] * 991 + list(range(1, 10)))) == 1


@pytest.mark.parametrize("size", range(2, 21))
@pytest.mark.parametrize("bins", [2, 3, 8])
def test_tiny_tables_have_cuts(size, bins):
    """Two rows have one cut, and twenty some that are round."""
    values = np.random.default_rng(size).normal(50.0, 10.0, size)
    cuts = cuts_of(values, bins)
    assert 1 <= len(cuts) < bins
    if size > bins:
        assert all(len(f"{cut:g}") <= 5 for cut in cuts)


def test_ordered_categories_are_cut_by_rank():
    """Levels of an ordered category are cut as numbers are, between ranks that rows have."""
    levels = [f"{number:02}" for number in range(40)]
    codes = np.random.default_rng(1).integers(0, 40, 500)
    frame = pd.DataFrame({"level": pd.Categorical.from_codes(codes, levels, ordered=True)})
    rows = Rows.from_table(Table.from_any(frame), None, keeps_order=True)
    binning = fit_binning(rows, n_bins=8, cuts=read_cuts("round"))
    expected = np.floor(cuts_of(codes)).tolist()
    assert list(binning["level"].cuts) == expected


def test_no_more_than_250_bins():
    """Codes are bytes, however many bins are asked for."""
    values = np.random.default_rng(0).normal(size=20_000)
    assert 150 < len(cuts_of(values, 250)) < 250


@pytest.mark.parametrize("weighted", [False, True])
def test_chunks_and_threads_are_nothing(weighted):
    """Round cuts of parts put together are those of the whole."""
    rng = np.random.default_rng(2)
    table = Table.from_any({"x": rng.normal(size=900), "y": rng.integers(0, 50, 900)})
    weights = rng.exponential(size=900) if weighted else None
    whole = binning_of(table, weights, 900, 1)
    for chunk_rows, n_jobs in [(900, 4), (100, 1), (37, 3)]:
        assert binning_of(table, weights, chunk_rows, n_jobs) == whole


def binning_of(table, weights, chunk_rows, n_jobs):
    """Return the binning of a table that is read in chunks."""
    rows = Rows.from_table(table, None, weights, keeps_order=True)
    rows = rows.in_chunks(n_jobs=n_jobs, chunk_rows=chunk_rows)
    return fit_binning(rows, n_bins=8, cuts=read_cuts("round"), n_jobs=n_jobs)
