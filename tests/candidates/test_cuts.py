import itertools
import math
import pickle
from collections import Counter
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import KBinsDiscretizer

import mossrules.candidates.cuts
from mossrules.candidates.cuts import MAX_BINS, BinnedColumn, Binning, find_cuts, fit_binning
from mossrules.candidates.cuts import shortest_between as between
from mossrules.data.chunks import RowRange, row_ranges
from mossrules.data.columns import Kind
from mossrules.data.rows import Rows
from mossrules.data.table import Table
from mossrules.exceptions import (
    InvalidColumn,
    InvalidParameter,
    InvalidTable,
    MissingColumns,
    UnsupportedType,
)

FINITE = st.floats(allow_nan=False, allow_infinity=False)
LEVELS = st.lists(st.sampled_from(["a", "b", "c", "d", None]), min_size=2, max_size=30)


def fit(X, *, chunk_rows=None, weights=None, n_bins=10, n_jobs=1):
    """Learn the bins of any table."""
    table = Table.from_any(X)
    weights = None if weights is None else np.asarray(weights, dtype=np.float64)
    chunks = row_ranges(table.n_rows, chunk_rows=chunk_rows)
    rows = Rows.from_table(table, None, weights, spans=chunks, keeps_order=True)
    return fit_binning(rows, n_bins=n_bins, n_jobs=n_jobs)


def codes_of(binning, X):
    """Return the codes of any table, a list per column."""
    return binning.encode(Table.from_any(X)).tolist()


def fit_codes(X, **options):
    """Return the codes of the training table itself."""
    return codes_of(fit(X, **options), X)


def exact_midpoints(values, n_bins, weights=None):
    """Return the cuts as exact midpoints, found by counting in plain Python."""
    weights = [1] * len(values) if weights is None else weights
    mass = Counter()
    for value, weight in zip(values, weights, strict=True):
        mass[value] += weight
    distinct = sorted(value for value in mass if mass[value])
    places = set(range(len(distinct) - 1))
    if len(distinct) > n_bins:
        running = list(itertools.accumulate(mass[value] for value in distinct))
        quantiles = [
            next(place for place, below in enumerate(running) if below * n_bins >= j * running[-1])
            for j in range(1, n_bins)
        ]
        places = {min(place, len(distinct) - 2) for place in quantiles}
    return [
        (Fraction(distinct[place]) + Fraction(distinct[place + 1])) / 2 for place in sorted(places)
    ]


def significant_digits(number):
    """Return how many digits it takes to write a number."""
    return len(Decimal(repr(number)).normalize().as_tuple().digits) if number else 0


def fewest_digits(low, high):
    """Return how many digits some number in [low, high) can be written with, by trying."""
    if low <= 0 < high:
        return 0
    for digits in range(1, 17):
        for rounding in (ROUND_FLOOR, ROUND_CEILING):
            if low <= float(Context(digits, rounding).create_decimal(Decimal(low))) < high:
                return digits
    return 17


# --- thresholds -------------------------------------------------------------------------------


@st.composite
def neighbours(draw):
    """Draw two floats, often only a few units in the last place apart."""
    low = draw(FINITE | st.integers(-1000, 1000).map(lambda count: count / 10))
    if draw(st.booleans()):
        high = low
        for _ in range(draw(st.integers(1, 12))):
            high = math.nextafter(high, math.inf)
    else:
        high = draw(FINITE)
    assume(low != high and math.isfinite(high))
    return min(low, high), max(low, high)


@given(neighbours())
@settings(deadline=None, max_examples=500)
def test_a_threshold_separates_with_the_fewest_digits(pair):
    """A threshold is at least the lower value, below the upper one, and as short as can be."""
    low, high = pair
    threshold = between(low, high)
    assert low <= threshold < high
    assert significant_digits(threshold) == fewest_digits(low, high)


@pytest.mark.parametrize("digits", [1, 2, 3])
def test_no_shorter_decimal_lies_between(digits):
    """Trying every decimal of one, two and three digits finds none shorter than ours."""
    rng = np.random.default_rng(digits)
    shorter = np.concatenate(
        [np.arange(1, 10**k) * 10.0**e for k in range(1, digits) for e in range(-6, 4)] + [[0.0]]
    )
    for low, width in zip(rng.uniform(0, 10, 300), rng.exponential(0.1**digits, 300), strict=True):
        if significant_digits(between(low, low + width)) == digits:
            assert not ((low <= shorter) & (shorter < low + width)).any()


@pytest.mark.parametrize(
    ("low", "high", "threshold"),
    [
        (0.0, 1.0, 0.0),
        (-1.0, 1.0, 0.0),
        (-3.0, -1.0, -2.0),
        (1.0, 2.0, 1.0),
        (0.1, 0.2, 0.1),
        (2.3, 2.4, 2.3),
        (18.0, 19.0, 18.0),
        (12.34, 17.9, 15.0),
        (99.0, 101.0, 100.0),
        (-1.0, 0.0, -0.5),
        (1e300, 1.6e308, 8e307),
        (355.08605155902615, 355.0860515590263, 355.0860515590262),
        (5e-324, 1e-323, 5e-324),
        (1.0, math.nextafter(1.0, 2.0), 1.0),
        (math.nextafter(1.0, 2.0), 1.0 + 3 * 2.0**-52, 1.0000000000000002),
    ],
)
def test_thresholds_read_as_a_person_would_write_them(low, high, threshold):
    """Known pairs have known thresholds: round, near the middle, and never the upper value."""
    assert between(low, high) == threshold


@given(neighbours())
@settings(deadline=None, max_examples=200)
def test_a_short_threshold_is_near_the_middle(pair):
    """No number that is as short and a whole unit of its last digit nearer the middle is missed."""
    low, high = pair
    threshold = between(low, high)
    digits = max(1, significant_digits(threshold))
    assume(threshold != 0.0 and digits < 14)
    middle = low / 2 + high / 2
    unit = 10.0 ** (math.floor(math.log10(abs(threshold))) - digits + 1)
    for other in (threshold - unit, threshold + unit):
        if low < other < high and significant_digits(float(f"{other:.15g}")) <= digits:
            assert abs(other - middle) >= abs(threshold - middle) * (1 - 1e-9)


# --- cuts -------------------------------------------------------------------------------------


@given(
    values=st.lists(FINITE | st.integers(-5, 5).map(float), min_size=1, max_size=60),
    n_bins=st.integers(2, 12),
)
@settings(deadline=None, max_examples=200)
def test_codes_with_short_cuts_equal_codes_with_exact_midpoints(values, n_bins):
    """On the training rows, rounding a cut changes no code, and there are at most n_bins bins."""
    column = {"a": values, "b": range(len(values))}
    assume(len(values) > 1)
    midpoints = exact_midpoints([value + 0.0 for value in values], n_bins)
    expected = [1 + sum(cut < Fraction(value) for cut in midpoints) for value in values]
    (codes, _) = fit_codes(column, n_bins=n_bins)
    assert codes == expected
    assert max(codes) <= n_bins


@given(
    rows=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 5)), min_size=2, max_size=60),
    n_bins=st.integers(2, 8),
)
@settings(deadline=None, max_examples=150)
def test_weighted_cuts_are_weighted_quantiles(rows, n_bins):
    """With weights, cuts are at quantiles of the weight."""
    values, weights = (list(each) for each in zip(*rows, strict=True))
    assume(sum(weight > 0 for weight in weights) > 1)
    column = {"a": [float(value) for value in values], "b": range(len(values))}
    midpoints = exact_midpoints(values, n_bins, weights)
    expected = [1 + sum(cut < value for cut in midpoints) for value in values]
    binning = fit(column, n_bins=n_bins, weights=weights)
    used = [place for place, weight in enumerate(weights) if weight]
    codes = codes_of(binning, column)[0]
    assert [codes[place] for place in used] == [expected[place] for place in used]


def test_few_distinct_values_keep_their_levels():
    """A column with at most n_bins distinct values has a bin for each."""
    assert fit({"a": [3.0, 1.0, 2.0, 1.0]}, n_bins=3)["a"].cuts == (1.0, 2.0)
    assert fit_codes({"a": [3.0, 1.0, np.nan, 2.0]}, n_bins=3) == [[3, 1, 0, 2]]


def test_many_distinct_values_are_cut_at_quantiles():
    """Continuous values fall into bins of equal size, as those of scikit-learn do."""
    values = np.random.default_rng(0).normal(size=1000)
    binning = fit({"a": values})
    oracle = KBinsDiscretizer(10, encode="ordinal", quantile_method="inverted_cdf")
    edges = oracle.fit(values[:, None]).bin_edges_[0][1:-1]
    distinct = np.sort(values)
    for cut, edge in zip(binning["a"].cuts, edges, strict=True):
        assert edge <= cut < distinct[np.searchsorted(distinct, edge) + 1]
    sizes = np.bincount(codes_of(binning, {"a": values})[0])
    assert sizes.tolist() == [0] + [100] * 10


@pytest.mark.parametrize("place", ["bottom", "middle", "top"])
def test_a_value_that_most_rows_share_still_leaves_a_cut(place):
    """A column that varies is cut, wherever the value sits that holds nearly all rows."""
    few = np.arange(20.0)
    values = np.concatenate([few, np.full(980, {"bottom": -1, "middle": 9.5, "top": 30}[place])])
    (codes,) = fit_codes({"a": values})
    assert len(set(codes)) > 1
    if place == "top":
        assert [code == max(codes) for code in codes] == (values == 30).tolist()


def test_a_quantile_that_a_value_closes_exactly_cuts_after_it():
    """Rounding errors in shares such as 3/10 do not push a cut to the next value."""
    for n_bins in (3, 7, 10):
        values = np.repeat(np.arange(2.0 * n_bins), 3)
        sizes = Counter(fit_codes({"a": values}, n_bins=n_bins)[0])
        assert set(sizes.values()) == {6}


def test_find_cuts_of_nothing_and_of_one_value_is_empty():
    """No values, or one, leave nothing to cut."""
    for values in ([], [1.0], [1.0, 1.0]):
        assert len(find_cuts(np.array(values), np.ones(len(values), dtype=np.int64), 10)) == 0


def test_cuts_of_huge_and_tiny_numbers_are_found():
    """The largest, the smallest and neighbouring floats are told apart."""
    values = [-1.7e308, -5e-324, 0.0, 5e-324, 1.0, math.nextafter(1.0, 2.0), 1.7e308]
    assert fit_codes({"a": values}) == [[1, 2, 3, 4, 5, 6, 7]]


# --- a row's code depends on that row alone ---------------------------------------------------


def test_rows_are_encoded_one_by_one_as_all_at_once():
    """What other rows are given, or in what order, changes no code, even for missing values."""
    rng = np.random.default_rng(0)
    train = pd.DataFrame(
        {
            "number": rng.normal(size=80),
            "word": rng.choice(["a", "b", "c"], size=80),
            "flag": rng.random(80) < 0.5,
            "size": pd.Categorical(
                rng.choice(["s", "m", "l"], size=80), ["s", "m", "l"], ordered=True
            ),
        }
    )
    binning = fit(train)
    rows = [
        {"number": 0.3, "word": "a", "flag": True, "size": "s"},
        {"number": None, "word": None, "flag": None, "size": None},
        {"number": -1e9, "word": "new", "flag": False, "size": "xxl"},
        {"number": 12, "word": "c", "flag": None, "size": "l"},
    ]
    whole = codes_of(binning, pd.DataFrame(rows))
    for make in (pd.DataFrame, pl.DataFrame, pa.Table.from_pylist):
        alone = [codes_of(binning, make([row])) for row in rows]
        assert [[codes[0] for codes in columns] for columns in alone] == [
            list(codes) for codes in zip(*whole, strict=True)
        ]


@given(st.lists(FINITE, min_size=2, max_size=30), st.lists(FINITE, min_size=1, max_size=10))
@settings(deadline=None, max_examples=80)
def test_new_numbers_are_placed_by_the_training_cuts(train, new):
    """A new number's code is one more than the number of training cuts below it."""
    assume(len(set(train)) > 1)
    binning = fit({"a": train}, n_bins=4)
    expected = [1 + sum(cut < value for cut in binning["a"].cuts) for value in new]
    assert codes_of(binning, {"a": new}) == [expected]
    assert [codes_of(binning, {"a": [value]})[0][0] for value in new] == expected


def test_codes_are_bytes_with_a_row_per_column():
    """Codes are uint8, columns by rows, of just the rows asked for."""
    table = Table.from_any({"a": [1.0, 2.0, 3.0], "b": ["x", "y", "x"]})
    codes = fit(table).encode(table, RowRange(1, 3))
    assert codes.dtype == np.uint8
    assert codes.tolist() == [[2, 3], [2, 1]]


def test_no_rows_have_no_codes():
    """A table without rows can be encoded."""
    binning = fit({"a": [1.0, 2.0], "b": ["x", "y"]})
    assert codes_of(binning, {"a": [], "b": []}) == [[], []]


# --- categories -------------------------------------------------------------------------------


def test_categories_have_codes_in_the_order_of_their_labels():
    """Codes of categories do not depend on the order of rows; missing is 0, unseen is last."""
    binning = fit({"a": ["c", "a", None, "b", "a"]})
    assert binning["a"].levels == ("a", "b", "c")
    assert codes_of(binning, {"a": ["a", "b", "c", None, "d"]}) == [[1, 2, 3, 0, 4]]
    assert binning["a"].n_codes == 5


def test_the_words_none_and_nan_are_categories():
    """A category called "None" or "nan" is not missing."""
    assert fit_codes({"a": ["None", "nan", None, "x"]}) == [[1, 2, 0, 3]]


def test_only_the_commonest_categories_have_codes_of_their_own():
    """With more than 250 categories the rarest share the code of unseen ones."""
    labels = [f"c{number:03d}" for number in range(300)]
    counts = {label: 2 if number % 5 else 1 for number, label in enumerate(labels)}  # 240 twice
    binning = fit({"a": [label for label in labels for _ in range(counts[label])]})
    levels = binning["a"].levels
    once = [label for label in labels if counts[label] == 1]
    assert len(levels) == MAX_BINS
    assert levels == tuple(sorted([label for label in labels if counts[label] == 2] + once[:10]))
    assert codes_of(binning, {"a": [once[-1], "never seen", levels[-1]]}) == [[251, 251, 250]]
    assert binning["a"].n_codes == 252


def test_weights_decide_which_categories_are_common():
    """A heavy row counts as many."""
    labels = [f"c{number:03d}" for number in range(300)]
    weights = [1] * 50 + [2] * 250
    assert fit({"a": labels}, weights=weights)["a"].levels == tuple(labels[50:])


def test_labels_of_several_types_are_told_apart():
    """The integer 1 and the string "1" are different categories with codes in a fixed order."""
    X = pd.DataFrame({"a": pd.Categorical([1, "1", 2, None])})
    assert fit_codes(X) == [[1, 3, 2, 0]]
    backwards = X.iloc[::-1]
    assert fit_codes(backwards) == [[0, 2, 3, 1]]


def test_ordered_levels_are_cut_in_their_order():
    """Ordered categories have bins by rank; a level unknown in training has no place, so none."""
    sizes = ["s", "m", "l", "xl"]
    X = {"a": pd.Categorical(["l", "s", None, "m", "s"], sizes, ordered=True)}
    binning = fit(X)
    assert binning["a"].cuts == (0.0, 1.0)
    assert codes_of(binning, X) == [[3, 1, 0, 2, 1]]
    assert codes_of(binning, {"a": ["xl", "l", "huge", None]}) == [[3, 3, 0, 0]]


def test_many_ordered_levels_share_bins_by_weight():
    """More levels than bins are cut at quantiles, by weight where there is one."""
    levels = [f"{number:02d}" for number in range(40)]
    X = pd.DataFrame({"a": pd.Categorical(levels, levels, ordered=True)})
    assert Counter(fit_codes(X, n_bins=4)[0]) == {1: 10, 2: 10, 3: 10, 4: 10}
    weights = [1] * 30 + [9] * 10
    assert fit(X, n_bins=4, weights=weights)["a"].cuts == (29.0, 33.0, 36.0)


@given(LEVELS)
@settings(deadline=None, max_examples=60)
def test_categories_are_the_same_from_every_library(labels):
    """The same labels have the same codes, whichever library holds them."""
    assume(len({label for label in labels if label is not None}) > 1)
    distinct = sorted({label for label in labels if label is not None})
    expected = [0 if label is None else 1 + distinct.index(label) for label in labels]
    sources = [
        {"a": labels},
        pd.DataFrame({"a": labels}),
        pd.DataFrame({"a": pd.Categorical(labels)}),
        pl.DataFrame({"a": labels}),
        pl.DataFrame({"a": pl.Series(labels, dtype=pl.Categorical)}),
        pa.table({"a": pa.array(labels).dictionary_encode()}),
    ]
    assert all(fit_codes(X) == [expected] for X in sources)


def test_truth_values_are_two_bins():
    """False is 1, true is 2 and missing is 0."""
    assert fit_codes({"a": [True, None, False]}) == [[2, 0, 1]]


# --- the same bins for any chunking -----------------------------------------------------------


def mixed_table(n_rows, seed=0):
    """Make a table with columns of every kind and missing values."""
    rng = np.random.default_rng(seed)
    words = rng.choice(["a", "b", "c", "d"], size=n_rows).astype(object)
    words[rng.random(n_rows) < 0.1] = None
    numbers = rng.normal(size=n_rows)
    numbers[rng.random(n_rows) < 0.2] = np.nan
    levels = [str(number) for number in range(30)]
    return pd.DataFrame(
        {
            "number": numbers,
            "few": rng.integers(0, 4, size=n_rows),
            "word": words,
            "level": pd.Categorical(rng.choice(levels, size=n_rows), levels, ordered=True),
            "constant": 1.0,
            "rare": np.where(np.arange(n_rows) == n_rows // 2, 7.0, np.nan),
        }
    )


@pytest.mark.parametrize("sample_rows", [100_000, 150])
@pytest.mark.parametrize("weighted", [False, True])
def test_bins_do_not_depend_on_chunks_or_threads(monkeypatch, sample_rows, weighted):
    """Chunks of any size on any number of threads give the same bins, with or without sampling."""
    monkeypatch.setattr(mossrules.candidates.cuts, "SAMPLE_ROWS", sample_rows)
    X = mixed_table(1000)
    weights = np.random.default_rng(1).exponential(size=1000) if weighted else None
    whole = fit(X, weights=weights)
    for n_chunks, n_jobs in [(1, 4), (3, 1), (3, 2), (17, 1), (17, 4), (100, 3)]:
        parts = fit(X, weights=weights, chunk_rows=-(-1000 // n_chunks), n_jobs=n_jobs)
        assert parts == whole


def test_bins_do_not_depend_on_the_order_of_completion(monkeypatch):
    """Chunks that finish in another order give the same bins."""
    monkeypatch.setattr(mossrules.candidates.cuts, "SAMPLE_ROWS", 150)
    table = Table.from_any(mixed_table(1000))
    chunks = row_ranges(1000, chunk_rows=50)
    expected = fit_binning(Rows.from_table(table, None, spans=chunks, keeps_order=True))
    for seed in range(5):
        shuffled = [chunks[i] for i in np.random.default_rng(seed).permutation(len(chunks))]
        assert (
            fit_binning(Rows.from_table(table, None, spans=shuffled, keeps_order=True)) == expected
        )


def test_chunks_whose_rows_all_weigh_nothing_do_no_harm():
    """A chunk without any used row, first, last or in between, changes nothing."""
    X = mixed_table(60)
    weights = np.ones(60)
    for start in (0, 20, 40):
        some = weights.copy()
        some[start : start + 20] = 0.0
        used = X[some > 0]
        assert fit(X, weights=some, chunk_rows=10) == fit(used)


def test_sampled_quantiles_are_close_to_the_exact_ones(monkeypatch):
    """The share of all rows below each cut is what it should be, to the accuracy of the sample."""
    monkeypatch.setattr(mossrules.candidates.cuts, "SAMPLE_ROWS", 2000)
    values = np.random.default_rng(0).lognormal(size=20_000)
    cuts = fit({"a": values}, chunk_rows=3000)["a"].cuts
    shares = [(values <= cut).mean() for cut in cuts]
    # Four standard deviations of a share of 2000 rows.
    assert np.allclose(shares, np.arange(1, 10) / 10, atol=4 * 0.5 / 2000**0.5)
    assert np.allclose(cuts, np.quantile(values, np.arange(1, 10) / 10), rtol=0.2)


def test_a_sample_never_hides_that_a_column_varies(monkeypatch):
    """The extremes come from all rows: one odd row among thousands leaves a cut."""
    monkeypatch.setattr(mossrules.candidates.cuts, "SAMPLE_ROWS", 10)
    values = np.zeros(2000)
    values[1234] = 1.0
    assert fit({"a": values}, chunk_rows=100)["a"].cuts == (0.0,)


def test_the_sample_is_limited_and_does_not_follow_the_order_of_rows(monkeypatch):
    """Sorted rows are sampled throughout: the cuts are not those of the first rows."""
    monkeypatch.setattr(mossrules.candidates.cuts, "SAMPLE_ROWS", 500)
    values = np.arange(10_000.0)
    cuts = np.array(fit({"a": values})["a"].cuts)
    assert np.abs(cuts - 1000 * np.arange(1, 10)).max() < 900
    assert not np.array_equal(cuts, 1000.0 * np.arange(1, 10) - 1)


# --- weights ----------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 4), min_size=30, max_size=30), st.integers(0, 1000))
@settings(deadline=None, max_examples=60)
def test_integer_weights_are_repeated_rows(weights, seed):
    """Rows of weight zero are as if absent, and a weight of three is three rows, for all kinds."""
    X = mixed_table(30, seed)
    assume(sum(weight > 0 for weight in weights) > 5)
    repeated = X.iloc[np.repeat(np.arange(30), weights)]
    assume(len(set(repeated["number"].dropna())) > 1)
    assert fit(X, weights=weights, n_bins=4) == fit(repeated, n_bins=4)


@pytest.mark.parametrize("scale", [1e-320, 1e-30, 3.0, 1e307])
def test_the_scale_of_weights_does_not_matter(scale):
    """Weights matter by their ratios alone."""
    X, weights = mixed_table(50), np.tile([1.0, 2.0], 25)
    assert fit(X, weights=weights * scale, n_bins=5) == fit(X, weights=weights, n_bins=5)


# --- tables that cannot be binned -------------------------------------------------------------


def test_constant_and_missing_columns_are_allowed_beside_others():
    """Columns that do not vary have one bin and are never split."""
    X = {
        "a": [1.0, 2.0],
        "constant": [3.0, 3.0],
        "missing": [np.nan, np.nan],
        "word": ["x", "x"],
        "nothing": pd.Categorical([None, None]),
    }
    binning = fit(X)
    assert [column.cuts for column in binning.columns] == [(1.0,), (), (), (), ()]
    assert codes_of(binning, X) == [[1, 2], [1, 1], [0, 0], [1, 1], [0, 0]]


@pytest.mark.parametrize(
    "X",
    [
        np.ones((5, 2)),
        np.full((5, 2), np.nan),
        {"a": ["x"] * 5, "b": [None] * 5},
        {"a": [True] * 5},
        {"a": pd.Categorical(["s"] * 5, ["s", "m"], ordered=True)},
    ],
    ids=["constant", "missing", "words", "truth", "ordered"],
)
def test_a_table_that_does_not_vary_is_refused(X):
    """Without a column that varies there is nothing to make rules from."""
    with pytest.raises(InvalidTable, match=r"Every column is constant or all missing.*check"):
        fit(X)


@pytest.mark.parametrize("present", [1.0, "x", True], ids=repr)
def test_a_column_that_is_sometimes_missing_varies(present):
    """Being missing is information: a value on some rows alone is enough to go on."""
    assert fit_codes({"a": [present, None, present]}) == [[1, 0, 1]]


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinities_are_refused_by_column(value):
    """An infinite value is named with its column, in training and afterwards."""
    words = r"'b' has 1 infinite values \(inf\); replace them by a finite number"
    bad = {"a": [1.0, 2.0, 3.0], "b": [1.0, value, np.nan]}
    with pytest.raises(InvalidColumn, match=words):
        fit(bad)
    binning = fit({"a": [1.0, 2.0], "b": [1.0, 2.0]})
    with pytest.raises(InvalidColumn, match=words):
        codes_of(binning, bad)


def test_a_column_that_cannot_be_read_is_refused_in_training():
    """Dates among the features stop training with the column's own error, on threads too."""
    X = pd.DataFrame({"a": np.arange(10.0), "day": pd.date_range("2020", periods=10)})
    for n_jobs in (1, 3):
        with pytest.raises(UnsupportedType, match="Column 'day' is of type Datetime"):
            fit(X, chunk_rows=2, n_jobs=n_jobs)


@pytest.mark.parametrize("n_bins", [1, 0, -3, 251, 2.5, "ten", None, True])
def test_impossible_numbers_of_bins_are_refused(n_bins):
    """Bins are between 2 and 250, a whole number."""
    with pytest.raises(InvalidParameter, match=r"n_bins is .*an integer between 2 and 250"):
        fit({"a": [1.0, 2.0]}, n_bins=n_bins)


def test_the_largest_number_of_bins_fits_a_byte():
    """Two hundred and fifty bins and a missing value have codes 0 to 250."""
    values = np.append(np.arange(1000.0), np.nan)
    codes = fit_codes({"a": values}, n_bins=np.int64(250))[0]
    assert sorted(set(codes)) == list(range(251))


# --- tables that differ from the training table -----------------------------------------------


def test_columns_may_be_reordered_and_more_may_be_there():
    """Columns go by name: their order, and others of any type, do not matter."""
    binning = fit({"a": [1.0, 2.0], "b": ["x", "y"]})
    X = pd.DataFrame({"day": pd.to_datetime(["2020-01-01"]), "b": ["y"], "a": [5.0], "c": [1j]})
    assert codes_of(binning, X) == [[2], [2]]


def test_an_array_stands_for_the_columns_in_order():
    """An array has no names, so its columns are those of training in the same order."""
    binning = fit(pd.DataFrame({"a": [1.0, 2.0], "b": [5.0, 6.0]}))
    assert codes_of(binning, np.array([[9.0, 5.0]])) == [[2], [1]]


def test_lacking_columns_are_an_error():
    """A table without a training column is refused, with its name."""
    binning = fit({"age": [1.0, 2.0], "income": [1.0, 2.0]})
    with pytest.raises(MissingColumns, match=r"lacks column 'income'.*mean 'incoem'\?"):
        codes_of(binning, {"age": [1.0], "incoem": [1.0]})


@pytest.mark.parametrize(
    ("trained", "now", "words"),
    [
        ([1.0, 2.0], ["1", "2"], "'a' was numeric in training and is text now, such as '1'"),
        ([True, False], ["yes", "no"], "'a' was boolean in training and is text now"),
        ([True, False], [1, 7], "'a' was boolean in training and is 7 on some row now"),
        (["x", "y"], [1.0, 2.0], "'a' had text for categories in training, such as 'x', and is 1"),
        (["01", "02"], [1, 2], "such as '01', and is 1 on some row now; convert it to text, writ"),
        (["1", "2"], [True, None], "such as '1', and is True on some row now; convert it to text"),
    ],
)
def test_a_change_of_kind_is_an_error(trained, now, words):
    """Numbers do not become words after training, nor words numbers that they may not be."""
    with pytest.raises(InvalidColumn, match=words):
        codes_of(fit({"a": trained}), {"a": now})


def test_a_mixed_column_after_training_says_so():
    """A column of mixed types is refused for what it is, not for its kind."""
    with pytest.raises(InvalidColumn, match="'a' mixes types"):
        codes_of(fit({"a": [1.0, 2.0]}), {"a": [1.0, "x"]})


@pytest.mark.parametrize("trained", [[1.0, 2.0], [True, False], ["x", "y"]], ids=str)
@pytest.mark.parametrize(
    "nothing",
    [
        {"a": [None]},
        pd.DataFrame({"a": [None]}),
        pd.DataFrame({"a": pd.array([None], dtype="string")}),
        pl.DataFrame({"a": [None]}),
        pa.table({"a": pa.nulls(1)}),
    ],
    ids=["dict", "pandas", "pandas string", "polars", "pyarrow"],
)
def test_a_column_of_nothing_suits_any_kind(trained, nothing):
    """One row with a missing value can be encoded, though nothing shows its column's type."""
    assert codes_of(fit({"a": trained}), nothing) == [[0]]


def test_truth_values_and_numbers_stand_for_each_other():
    """A column of 0 and 1 may be boolean in training and numeric afterwards."""
    assert codes_of(fit({"a": [True, False]}), {"a": [0, 1]}) == [[1, 2]]
    assert codes_of(fit({"a": [0, 1]}), {"a": [False, True]}) == [[1, 2]]


# --- the binning as a value -------------------------------------------------------------------


def test_a_binning_knows_its_columns():
    """Columns are found by name, with their numbers of levels and codes."""
    binning = fit({"a": [1.0, 2.0], "b": ["x", "y"], "c": ["x", "z"]})
    assert binning.names == ("a", "b", "c")
    assert binning.index("c") == 2
    assert binning["b"].levels == ("x", "y")
    assert binning.n_codes == 4
    with pytest.raises(InvalidParameter, match="no column 'd'"):
        binning.index("d")


def test_only_more_than_two_categories_are_nominal():
    """Two levels have one way to be split; three or more are split one against the rest."""
    binning = fit({"two": ["x", "y", "x"], "three": ["x", "y", "z"], "number": [1, 2, 3]})
    assert binning.nominal_levels.tolist() == [0, 3, 0]


def test_a_binning_can_be_compared_hashed_and_pickled():
    """Equal cuts and levels make equal binnings, also after a round trip."""
    X = mixed_table(50)
    binning = fit(X)
    again = pickle.loads(pickle.dumps(binning))  # noqa: S301
    assert again == binning
    assert hash(again) == hash(binning)
    assert codes_of(again, X) == codes_of(binning, X)
    assert binning != fit(X, n_bins=3)


def test_cuts_and_levels_are_plain_python_values():
    """Cuts are Python floats in every kind of column, so that they print and save as numbers."""
    for column in fit(mixed_table(200)).columns:
        assert all(type(cut) is float for cut in column.cuts)
        assert all(type(level) is str for level in column.levels)


def test_a_binned_column_maps_levels_to_codes():
    """The look-up of a column agrees with how it encodes, missing included."""
    size = BinnedColumn("size", Kind.ORDERED, cuts=(0.0, 2.0), levels=("xs", "s", "m", "l"))
    assert size.code_of_level == {None: 0, "xs": 1, "s": 2, "m": 2, "l": 3}
    assert (size.n_values, size.n_codes) == (3, 4)
    assert codes_of(Binning((size,)), {"size": ["l", "s", None, "m"]}) == [[3, 2, 0, 2]]


def test_progress_is_reported():
    """The pass over the rows reports each chunk."""
    heard = []
    table = Table.from_any({"a": np.arange(10.0)})
    rows = Rows.from_table(table, None, spans=row_ranges(10, chunk_rows=5), keeps_order=True)
    fit_binning(rows, progress=lambda *report: heard.append(report))
    assert heard == [("reading columns", 1, 2), ("reading columns", 2, 2)]


def test_ten_thousand_columns_are_binned():
    """Wide tables are as good as narrow ones: each column has its ten bins."""
    table = Table.from_any(np.random.default_rng(0).normal(size=(50, 10_000)))
    binning = fit_binning(Rows.from_table(table, None, spans=row_ranges(50), keeps_order=True))
    codes = binning.encode(table)
    assert codes.shape == (10_000, 50)
    assert (codes.max(axis=1) == 10).all()


def test_wide_tables_use_a_smaller_sample(monkeypatch):
    """The sample is limited in values, not only in rows, and never below a thousand rows."""
    monkeypatch.setattr(mossrules.candidates.cuts, "SAMPLE_VALUES", 2)
    values = np.random.default_rng(0).normal(size=5000)
    narrow, wide = fit({"a": values}), fit({"a": values, "b": values})
    assert narrow["a"] == wide["a"]
    monkeypatch.setattr(mossrules.candidates.cuts, "SAMPLE_VALUES", 50_000_000)
    assert fit({"a": values})["a"] != narrow["a"]
