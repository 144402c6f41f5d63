import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mossrules.candidates.forest import grow_forest
from mossrules.candidates.kernels.codes import add_overlaps, pack_planes
from mossrules.candidates.pool import CandidatePool
from mossrules.candidates.rules import Range, Rule
from mossrules.candidates.statistics import activations, compute_overlaps, compute_statistics
from mossrules.data import chunks
from mossrules.exceptions import InvalidParameter
from mossrules.statistics import Statistics
from support.oracles import dense_statistics, encode, holds


def mixed_table(n_rows, seed=0):
    """Make a table with all kinds of columns, missing values and a target they explain."""
    rng = np.random.default_rng(seed)
    X = {
        "size": rng.lognormal(size=n_rows),
        "grade": rng.integers(0, 4, n_rows).astype(float),
        "flag": rng.random(n_rows) < 0.3,
        "colour": np.array(["red", "green", "blue", "grey"])[rng.integers(0, 4, n_rows)].astype(
            object
        ),
        "sex": np.array(["F", "M"])[rng.integers(0, 2, n_rows)].astype(object),
    }
    y = (
        np.log(X["size"])
        + X["grade"] * X["flag"]
        - (X["colour"] == "red")
        + rng.normal(size=n_rows)
    )
    X["size"][rng.random(n_rows) < 0.1] = np.nan
    X["colour"][rng.random(n_rows) < 0.1] = None
    return X, y


def grow_pool(data, **options):
    """Return the pool of a small forest."""
    options = {"n_trees": 60, "max_depth": 3, **options}
    forest = grow_forest(data, **options)
    return CandidatePool.from_paths(
        forest.paths(inner_nodes=True), data.binning, options["n_trees"]
    )


def unpack(bits, n_rows):
    """Return bit sets as a boolean matrix (rows, sets)."""
    as_bytes = np.ascontiguousarray(bits).view(np.uint8)
    return np.unpackbits(as_bytes, axis=1, bitorder="little")[:, :n_rows].T.astype(bool)


@pytest.mark.parametrize("n_rows", [63, 64, 65, 300])
def test_activations_are_the_rows_on_which_the_text_of_a_rule_holds(n_rows):
    """Bits equal an evaluation of thresholds and labels on the raw values."""
    X, y = mixed_table(n_rows)
    data = encode(X, y)
    pool = grow_pool(data)
    bits = activations(pool.rules, data.binning, next(iter(data.chunks)).codes)
    dense = unpack(bits, n_rows)
    expected = np.column_stack([holds(rule, data.binning, X) for rule in pool.rules])
    np.testing.assert_array_equal(dense, expected)
    spare = np.unpackbits(bits.view(np.uint8), axis=1, bitorder="little")[:, n_rows:]
    assert not spare.any()


@pytest.mark.parametrize("weighting", ["none", "integers", "floats"])
def test_statistics_equal_dense_matrix_products(weighting):
    """Overlaps are exact; G, q, yy and n agree with floating point to its precision."""
    X, y = mixed_table(700)
    rng = np.random.default_rng(1)
    weights = {
        "none": None,
        "integers": rng.integers(0, 4, 700),
        "floats": rng.gamma(2.0, size=700),
    }[weighting]
    data = encode(X, y, weights=weights, chunk_rows=100)
    pool = grow_pool(data)
    statistics = compute_statistics(data, pool)
    columns = np.column_stack([holds(rule, data.binning, X) for rule in pool.rules])
    N, v, G, q, yy, n = dense_statistics(columns, y, weights)
    # Weights that are not multiples of the grid's step are rounded to it, to 20 bits.
    precision = 1e-4 if weighting == "floats" else 1e-7
    np.testing.assert_allclose(statistics.support, np.diag(N), rtol=precision)
    np.testing.assert_allclose(statistics.values, v, rtol=precision, atol=precision)
    np.testing.assert_allclose(statistics.G, G, rtol=precision, atol=precision)
    np.testing.assert_allclose(statistics.q, q, rtol=precision, atol=precision)
    assert statistics.yy == pytest.approx(yy, rel=precision)
    assert statistics.n == pytest.approx(n, rel=precision)
    assert statistics.counts.tolist() == pool.counts.tolist()
    if weighting != "floats":
        np.testing.assert_array_equal(
            compute_overlaps(data, pool.rules).counts * data.weight_step, N
        )


def test_target_sums_are_exact():
    """The sum over each rule, rebuilt from binary digits, is the sum of the integers."""
    X, y = mixed_table(500)
    data = encode(X, y, chunk_rows=77)
    pool = grow_pool(data)
    target = np.concatenate([chunk.target for chunk in data.chunks]).astype(object)
    columns = np.column_stack([holds(rule, data.binning, X) for rule in pool.rules])
    expected = [int(target[columns[:, i]].sum()) for i in range(len(pool))]
    assert compute_overlaps(data, pool.rules).sums == expected


def test_integer_weights_are_repeated_rows():
    """Weight 3 counts like three copies of the row, to the last bit of every overlap."""
    X, y = mixed_table(200)
    weights = np.random.default_rng(2).integers(1, 5, 200)
    weighted = encode(X, y, weights=weights)
    repeated = encode(
        {name: np.repeat(column, weights) for name, column in X.items()}, np.repeat(y, weights)
    )
    assert weighted.binning == repeated.binning
    rules = grow_pool(weighted).rules
    a, b = compute_overlaps(weighted, rules), compute_overlaps(repeated, rules)
    unit = round(1 / weighted.weight_step)
    np.testing.assert_array_equal(a.counts, b.counts * unit)
    assert a.sums == [total * unit for total in b.sums]
    pool = CandidatePool(rules, (frozenset({0}),) * len(rules), 1)
    np.testing.assert_allclose(
        compute_statistics(weighted, pool).G, compute_statistics(repeated, pool).G, rtol=1e-14
    )


def test_statistics_are_bit_for_bit_the_same_however_the_work_is_cut_up(monkeypatch):
    """1, 3 and 17 chunks, 1 and 2 threads, results in shuffled order: identical to the last bit."""
    X, y = mixed_table(1700)
    weights = np.random.default_rng(3).gamma(1.0, size=1700)
    for row_weights in (None, weights):
        reference = run_path(X, y, row_weights, chunk_rows=1700, n_jobs=1)
        for n_chunks, n_jobs in itertools.product((3, 17), (1, 2)):
            again = run_path(X, y, row_weights, chunk_rows=-(-1700 // n_chunks), n_jobs=n_jobs)
            assert_identical(reference, again)
        with monkeypatch.context() as patch:
            patch.setattr(chunks, "_results", shuffled_results)
            for _ in range(3):
                assert_identical(reference, run_path(X, y, row_weights, chunk_rows=100, n_jobs=2))


def run_path(X, y, weights, *, chunk_rows, n_jobs):
    """Go from raw columns to statistics."""
    data = encode(X, y, weights=weights, chunk_rows=chunk_rows, n_jobs=n_jobs)
    forest = grow_forest(data, n_trees=80, seed=7, n_jobs=n_jobs)
    pool = CandidatePool.from_paths(forest.paths(), data.binning, 80)
    overlaps = compute_overlaps(data, pool.rules, n_jobs=n_jobs)
    return data.binning, pool, overlaps, compute_statistics(data, pool, n_jobs=n_jobs)


def shuffled_results(work, items, _n_jobs):
    """Yield results in random order, as if chunks finished at random times."""
    order = list(items)
    np.random.default_rng().shuffle(order)
    yield from map(work, order)


def assert_identical(a, b):
    """Integers equal and floats identical, without tolerance."""
    assert a[0] == b[0]
    assert a[1] == b[1]
    np.testing.assert_array_equal(a[2].counts, b[2].counts)
    assert a[2].sums == b[2].sums
    for name in ("G", "q", "values", "counts", "support"):
        assert getattr(a[3], name).tobytes() == getattr(b[3], name).tobytes()
    for name in ("yy", "n", "target_mean", "target_scale"):
        assert getattr(a[3], name) == getattr(b[3], name)


def test_groups_of_identical_activation_are_found():
    """Rules that hold on the same rows are grouped, even when their conditions differ."""
    x = np.repeat([0.0, 1.0, 2.0], 20)
    data = encode({"x": x, "twice": 2 * x}, x + np.tile([0.0, 1.0], 30))
    rules = [
        Rule.of([Range("x", high=1)]),
        Rule.of([Range("x", low=3)]),
        Rule.of([Range("twice", high=1)]),
        Rule.of([Range("twice", high=1), Range("x", high=2)]),
        Rule.of([Range("x", high=2)]),
    ]
    assert compute_overlaps(data, rules).identical() == [[0, 2, 3]]


def test_the_target_can_be_put_back_in_its_units():
    """Mean and scale are those of the raw target."""
    X, y = mixed_table(300)
    y = 1e6 + 250 * y
    data = encode(X, y)
    statistics = compute_statistics(data, grow_pool(data))
    assert statistics.target_mean == pytest.approx(y.mean(), rel=1e-12)
    assert statistics.target_scale == pytest.approx(y.std(), rel=1e-8)
    assert statistics.n == 300
    assert statistics.m == len(statistics.q)
    assert repr(statistics) == f"Statistics(m={statistics.m} rules, n=300 rows)"


def test_statistics_from_a_matrix_are_its_products():
    """G, q and yy of explicit columns; a value is known where a column is constant."""
    rng = np.random.default_rng(0)
    M = np.column_stack([(rng.random(50) < 0.5) * -0.7, rng.normal(size=50), np.zeros(50)])
    y = rng.normal(size=50)
    statistics = Statistics.from_matrix(M, y, np.array([3, 2, 1]))
    np.testing.assert_allclose(statistics.G, M.T @ M)
    np.testing.assert_allclose(statistics.q, M.T @ y)
    assert statistics.yy == pytest.approx(y @ y)
    assert statistics.values[0] == -0.7
    assert np.isnan(statistics.values[1])
    assert statistics.values[2] == 0.0
    with pytest.raises(InvalidParameter, match=r"must be \(n, m\)"):
        Statistics.from_matrix(M, y[:-1], np.array([3, 2, 1]))


def test_rules_on_unknown_columns_and_empty_pools_are_refused():
    """The error names the columns."""
    X, y = mixed_table(100)
    data = encode(X, y)
    with pytest.raises(InvalidParameter, match="not there: \\['height'\\]"):
        compute_overlaps(data, [Rule.of([Range("height", high=2)])])
    with pytest.raises(InvalidParameter, match="no candidate rules"):
        compute_overlaps(data, [])


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6), st.integers(1, 7), st.integers(1, 7), st.integers(1, 1100))
def test_overlap_counts_equal_those_of_boolean_matrices(seed, m, k, n_words):
    """Odd and even numbers of sets, and words beyond one block, are counted alike."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 2**64, (m, n_words), dtype=np.uint64, endpoint=False)
    b = rng.integers(0, 2**64, (k, n_words), dtype=np.uint64, endpoint=False)
    A, B = (unpack(bits, n_words * 64).astype(np.int64) for bits in (a, b))
    counts = np.zeros((m, k), dtype=np.int64)
    add_overlaps(a, b, False, 3, counts)
    np.testing.assert_array_equal(counts, 3 * A.T @ B)
    square = np.zeros((m, m), dtype=np.int64)
    add_overlaps(a, a, True, 1, square)
    np.testing.assert_array_equal(np.triu(square), np.triu(A.T @ A))


@given(st.lists(st.integers(0, 2**50), min_size=1, max_size=200))
def test_binary_digits_add_up_to_the_numbers(values):
    """Planes of bits, weighted by powers of two, give back every value."""
    planes = np.empty((51, -(-len(values) // 64)), dtype=np.uint64)
    pack_planes(np.array(values, dtype=np.int64), planes)
    digits = unpack(planes, len(values)).astype(object)
    assert (digits @ [1 << power for power in range(51)]).tolist() == values
