import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mossrules.candidates.pool import CandidatePool
from mossrules.candidates.rules import Range, Rule
from mossrules.candidates.statistics import compute_patterns
from mossrules.exceptions import InvalidParameter, InvalidTarget
from mossrules.patterns import Patterns
from support.oracles import dense_statistics, encode, holds


def rows_of(seed, n, m):
    """Return rows of two classes, where m rules hold, and weights."""
    rng = np.random.default_rng(seed)
    active = rng.random((n, m)) < rng.uniform(0.1, 0.9)
    y = (rng.random(n) < 0.4).astype(float)
    y[:2] = 0.0, 1.0
    return active, y, rng.integers(0, 50, m), rng.exponential(size=n)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 200), st.integers(1, 80))
def test_patterns_have_the_sums_of_the_rows(seed, n, m):
    """Support, values and sums over rules equal those of the rows, all and some of the rules."""
    active, y, counts, weights = rows_of(seed, n, m)
    patterns = Patterns.from_matrix(active, y, counts, weights=weights)
    N, v, *_ = dense_statistics(active, y, weights)
    np.testing.assert_allclose(patterns.support, np.diag(N))
    np.testing.assert_allclose(patterns.values, v, atol=1e-12)
    some = np.arange(0, m, 3)
    for part, rules in ((patterns, np.arange(m)), (patterns.collapsed(some), some)):
        held = part.active(np.arange(part.m))
        assert len(np.unique(held, axis=0)) == part.n_patterns <= n
        np.testing.assert_allclose(part.positives @ held, (weights * y) @ active[:, rules])
        np.testing.assert_allclose(part.negatives @ held, (weights * (1 - y)) @ active[:, rules])
        np.testing.assert_allclose(part.sums(part.positives), part.positives @ held, atol=1e-9)


def test_a_table_has_the_patterns_of_its_rows_whatever_the_chunks():
    """One pass over encoded chunks gives, bit for bit, what a matrix of the same rules gives."""
    rng = np.random.default_rng(1)
    X = {"a": rng.normal(size=500), "b": rng.integers(0, 4, 500).astype(float)}
    y = (rng.random(500) < 0.3).astype(float)
    weights = rng.integers(1, 5, 500).astype(float)
    found = []
    for chunk_rows, n_jobs in ((500, 1), (70, 2)):
        data = encode(X, y, weights=weights, chunk_rows=chunk_rows, n_jobs=n_jobs)
        rules = (
            Rule.of([Range("a", high=4)]),
            Rule.of([Range("b", low=2)]),
            Rule.of([Range("a", low=3), Range("b", high=2)]),
        )
        pool = CandidatePool(rules, (frozenset(range(5)), frozenset([2, 8]), frozenset([1])), 9)
        found.append(compute_patterns(data, pool, n_jobs=n_jobs))
    active = np.column_stack([holds(rule, data.binning, X) for rule in rules])
    found.append(Patterns.from_matrix(active, y, pool.counts, weights=weights))
    for other in found[1:]:
        for name in ("activations", "positives", "negatives", "values", "counts"):
            np.testing.assert_array_equal(getattr(other, name), getattr(found[0], name))
    assert found[0].n_trees == 9


def test_rows_that_cannot_be_used_are_refused():
    """Each mistake has its sentence."""
    active, y, counts, weights = rows_of(0, 20, 3)
    with pytest.raises(InvalidTarget, match="one class"):
        Patterns.from_matrix(active, np.zeros(20), counts)
    with pytest.raises(InvalidParameter, match="no entries but 0 and 1"):
        Patterns.from_matrix(active, 2 * y, counts)
    with pytest.raises(InvalidParameter, match="shape"):
        Patterns.from_matrix(active, y[:-1], counts)
    with pytest.raises(InvalidParameter, match="3 rules and 2 counts"):
        Patterns.from_matrix(active, y, counts[:2])
    with pytest.raises(InvalidParameter, match="not negative"):
        Patterns.from_matrix(active, y, counts, weights=-weights)
    with pytest.raises(InvalidParameter, match="finite"):
        Patterns.from_matrix(active, y, counts, values=np.full(3, np.nan))
