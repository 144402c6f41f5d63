from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mossrules.candidates.codes import encode_table
from mossrules.candidates.cuts import fit_binning
from mossrules.data.chunks import row_ranges
from mossrules.data.fixed_point import TARGET_BITS, WEIGHTED_TARGET_SHIFT, Moments
from mossrules.data.rows import Rows
from mossrules.data.table import Table
from mossrules.exceptions import InvalidTarget, UnsupportedType


def encode(X, y, *, weights=None, chunk_rows=None, n_jobs=1, progress=None):
    """Learn bins and apply them."""
    table = Table.from_any(X)
    weights = None if weights is None else np.asarray(weights, dtype=np.float64)
    chunks = row_ranges(table.n_rows, chunk_rows=chunk_rows)
    target = np.asarray(y, dtype=np.float64)
    rows = Rows.from_table(table, target, weights, spans=chunks, keeps_order=True)
    return encode_table(rows, fit_binning(rows), n_jobs=n_jobs, progress=progress)


def joined(data):
    """Return all codes, targets and weights, in the order of the rows."""
    weights = [chunk.weights for chunk in data.chunks if chunk.weights is not None]
    return (
        np.concatenate([chunk.codes for chunk in data.chunks], axis=1).tolist(),
        np.concatenate([chunk.target for chunk in data.chunks]).tolist(),
        np.concatenate(weights).tolist() if weights else None,
    )


def example(n_rows=200, seed=0):
    """Make a table of two kinds, a target and weights."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {"number": rng.normal(size=n_rows), "word": rng.choice(["a", "b", "c"], n_rows)}
    )
    return X, rng.normal(size=n_rows), rng.exponential(size=n_rows)


@pytest.mark.parametrize("weighted", [False, True])
def test_integers_do_not_depend_on_chunks_or_threads(weighted):
    """Codes, targets, weights and moments are the same for any chunking and number of threads."""
    X, y, weights = example()
    weights = weights if weighted else None
    whole = encode(X, y, weights=weights)
    for chunk_rows, n_jobs in [(200, 3), (67, 1), (67, 4), (12, 1), (12, 2), (1, 3)]:
        parts = encode(X, y, weights=weights, chunk_rows=chunk_rows, n_jobs=n_jobs)
        assert [chunk.start for chunk in parts.chunks] == list(range(0, 200, chunk_rows))
        assert joined(parts) == joined(whole)
        assert parts.moments == whole.moments
        assert (parts.target_grid, parts.weight_step) == (whole.target_grid, whole.weight_step)
        assert parts.n_rows == 200


def test_codes_are_those_of_the_binning():
    """Each chunk holds the codes of its own rows."""
    X, y, _ = example()
    data = encode(X, y, chunk_rows=37)
    for chunk in data.chunks:
        rows = X.iloc[chunk.start : chunk.start + len(chunk)]
        assert chunk.codes.tolist() == data.binning.encode(Table.from_any(rows)).tolist()


@given(
    st.lists(
        st.tuples(st.floats(-1e6, 1e6), st.integers(0, 9)),
        min_size=3,
        max_size=30,
    ),
    st.booleans(),
)
@settings(deadline=None, max_examples=80)
def test_mean_and_variance_are_those_of_the_target(rows, weighted):
    """Read back in the user's units, the moments are the weighted mean and variance."""
    y = np.array([target for target, _ in rows])
    weights = np.array([weight for _, weight in rows], dtype=float) if weighted else None
    used = np.ones(len(y), dtype=bool) if weights is None else weights > 0
    assume(used.sum() > 1 and np.ptp(y[used]) > 1e-9)
    data = encode({"a": np.arange(len(y))}, y, weights=weights, chunk_rows=7)
    grid = data.target_grid
    mean = np.average(y, weights=weights)
    variance = np.average((y - mean) ** 2, weights=weights)
    spread = np.ptp(y[used])
    assert float(grid.low + grid.step * data.moments.mean) == pytest.approx(
        mean, rel=1e-9, abs=spread * 1e-8
    )
    assert float(Fraction(grid.step) ** 2 * data.moments.variance) == pytest.approx(
        variance, rel=1e-6, abs=spread**2 * 1e-8
    )
    assert data.moments.rows == used.sum()


def test_rows_of_weight_zero_do_not_set_the_scale():
    """A target far out on a row that does not count costs the others no digits."""
    y = np.array([0.0, 1.0, 0.5, 1e12, -1e12])
    data = encode({"a": np.arange(5)}, y, weights=[1, 1, 1, 0, 0])
    counted = encode({"a": np.arange(3)}, y[:3])
    assert data.target_grid == counted.target_grid
    targets = joined(data)[1]
    assert targets[:3] == joined(counted)[1]
    assert all(0 <= target <= 1 << TARGET_BITS for target in targets)
    assert data.moments.mean == counted.moments.mean


def test_rows_of_hardly_any_weight_do_not_set_the_scale_either():
    """A weight that rounds to zero counts as zero throughout."""
    y = np.array([0.0, 1.0, 1e12])
    data = encode({"a": np.arange(3)}, y, weights=[1.0, 1.0, 1e-12])
    assert joined(data)[2][2] == 0
    assert data.moments.rows == 2
    assert data.target_grid == encode({"a": np.arange(2)}, y[:2]).target_grid


def test_integer_weights_are_repeated_rows():
    """Weights two and three give the moments of two and three rows."""
    X, y, _ = example(40)
    weights = np.arange(40) % 4
    weighted = encode(X, y, weights=weights)
    places = np.repeat(np.arange(40), weights)
    repeated = encode(X.iloc[places], y[places])
    assert weighted.binning == repeated.binning
    assert weighted.moments.mean == repeated.moments.mean
    assert weighted.moments.variance == repeated.moments.variance
    assert weighted.moments.weight * weighted.weight_step == repeated.moments.weight


def test_without_weights_there_are_none():
    """Unweighted tables carry no weights and lose no digits of the target in the forest."""
    X, y, weights = example()
    plain, weighted = encode(X, y), encode(X, y, weights=weights)
    assert (plain.is_weighted, plain.weight_step, plain.forest_shift) == (False, 1.0, 0)
    assert (weighted.is_weighted, weighted.forest_shift) == (True, WEIGHTED_TARGET_SHIFT)
    assert all(chunk.weights is None for chunk in plain.chunks)
    assert plain.moments == Moments.of(np.array(joined(plain)[1]), None)


@pytest.mark.parametrize("place", [0, 5, 9])
def test_columns_with_missing_values_are_known(place):
    """A single missing value in any chunk is noticed, in its own column only."""
    values = np.arange(10.0)
    values[place] = np.nan
    X = {"full": np.arange(10.0), "gap": values, "word": ["x", "y"] * 5}
    assert encode(X, np.arange(10), chunk_rows=3).has_missing == [False, True, False]


def test_a_target_that_is_constant_on_the_rows_that_count_is_refused():
    """Rows of weight zero do not make a target vary."""
    with pytest.raises(InvalidTarget, match="The target is constant"):
        encode({"a": np.arange(3)}, [1.0, 1.0, 5.0], weights=[1, 1, 0])


def test_one_row_that_outweighs_all_is_refused():
    """When a single row is left to count, the error is about the weights."""
    with pytest.raises(InvalidTarget, match="sample_weight leaves fewer than two rows"):
        encode({"a": np.arange(3)}, [1.0, 2.0, 5.0], weights=[1e12, 1, 1])


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_an_error_in_a_chunk_is_raised_as_it_is(n_jobs):
    """The error of a column comes through the threads unchanged."""
    X, y, _ = example()
    binning = encode(X, y).binning
    dates = Table.from_any({"number": pd.date_range("2020", periods=200), "word": X["word"]})
    with pytest.raises(UnsupportedType, match="Column 'number'"):
        encode_table(
            Rows.from_table(dates, y, spans=row_ranges(200, chunk_rows=20), keeps_order=True),
            binning,
            n_jobs=n_jobs,
        )


def test_progress_is_reported():
    """The pass over the rows reports each chunk under its own name."""
    heard = []
    X, y, _ = example(20)
    encode(X, y, chunk_rows=10, progress=lambda *report: heard.append(report))
    assert heard == [("binning", 1, 2), ("binning", 2, 2)]


def test_all_rows_come_together_in_the_order_of_their_numbers():
    """However they are cut into chunks, rows come in one order, repeated as their weights say."""
    X, y, weights = example()
    for row_weights in (None, weights, np.arange(200) % 3 * 1.0):
        rows = Rows.from_table(Table.from_any(X), y, row_weights)
        in_parts = rows.in_chunks(chunk_rows=17)
        binning = fit_binning(rows)
        one, other = (encode_table(each, binning).whole() for each in (rows, in_parts))
        assert one.row_ids.tolist() == other.row_ids.tolist() == list(range(rows.n_rows))
        np.testing.assert_array_equal(one.codes, other.codes)
        np.testing.assert_array_equal(one.codes, binning.encode(rows.table))
        np.testing.assert_array_equal(
            one.target, encode_table(rows, binning).target_grid.encode(rows.target)
        )
