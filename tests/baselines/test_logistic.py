import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mossrules.baselines.logistic import Logistic
from mossrules.baselines.paths import largest_alpha, lasso_path, solve_lasso
from support.baseline_cases import logistic_lasso, logistic_objective

seeds = st.integers(0, 2**32 - 1)


def drawn(seed, n=60, m=8):
    """Return columns of 0 and 1, weights and classes of rows, some of which are alike."""
    rng = np.random.default_rng(seed)
    A = rng.random((m, n)) < rng.uniform(0.2, 0.8, m)[:, None]
    A[:, n // 2 :] = A[:, : n - n // 2]
    logits = rng.normal(size=m) @ A - 0.5
    s = (rng.random(n) < 1 / (1 + np.exp(-logits))).astype(float)
    s[:2] = 0.0, 1.0
    return A, rng.integers(1, 4, n).astype(float), s


@pytest.mark.parametrize("seed", range(4))
def test_the_path_is_that_of_scikit_learn(seed):
    """All along the path the objective is that of LogisticRegression with an L1 penalty."""
    A, h, s = drawn(seed)
    loss = Logistic.merged(A, h, s)
    assert loss.A.shape[1] < A.shape[1]
    points = list(lasso_path(loss, n_alphas=5, shortest=0.02))
    assert points[0].size == 0
    for point in points[1:]:
        prices = np.full(len(A), point.alpha)
        expected = logistic_objective(A, h, s, logistic_lasso(A, h, s, prices), prices)
        found = logistic_objective(A, h, s, (point.weights, loss.intercept(point.weights)), prices)
        assert found == pytest.approx(expected, rel=1e-6)
        assert point.converged


@given(seeds, st.floats(0.01, 0.9), st.floats(0.0, 3.0))
@settings(max_examples=40, deadline=None)
def test_the_gap_is_proven(seed, share, size):
    """At any weights, however bad, the objective less the gap is below what descent finds."""
    A, h, s = drawn(seed)
    loss = Logistic.merged(A, h, s)
    factors = np.linspace(0.5, 2.0, len(A))
    alpha = share * largest_alpha(loss)
    best = solve_lasso(loss, alpha, factors, tolerance=1e-10)
    assert best.converged
    prices = alpha * loss.n * factors
    lowest = loss.loss(best.weights) + prices @ np.abs(best.weights)
    w = size * np.random.default_rng(seed + 1).normal(size=len(A))
    gap = loss._gap(prices, w, loss._slopes(loss.residual(w)))
    assert loss.loss(w) + prices @ np.abs(w) - gap <= lowest + 1e-9 * loss.null_loss
    start = solve_lasso(loss, alpha, factors, start=w, tolerance=1e-10)
    assert loss.loss(start.weights) + prices @ np.abs(start.weights) == pytest.approx(lowest)


@given(seeds, st.floats(0.0, 30.0))
@settings(max_examples=40, deadline=None)
def test_the_intercept_is_the_best(seed, size):
    """Chances add up to the classes, whatever the weights, and no other intercept is better."""
    A, h, s = drawn(seed)
    w = size * np.random.default_rng(seed + 1).normal(size=len(A))
    rows, merged = Logistic(A, h, s), Logistic.merged(A, h, s)
    a = rows.intercept(w)
    assert h @ rows.residual(w) == pytest.approx(0, abs=1e-9 * h.sum())
    assert merged.intercept(w) == pytest.approx(a, abs=1e-6)
    assert merged.loss(w) == pytest.approx(rows.loss(w))
    none = np.zeros(len(A))
    assert rows.loss(w) == pytest.approx(h.sum() * logistic_objective(A, h, s, (w, a), none))
    assert rows.loss(w) <= min(rows.loss(w, a + step) for step in (-1e-3, 1e-3))


def test_classes_that_columns_tell_apart_have_finite_weights():
    """However small the penalty, weights and gap are numbers."""
    s = np.repeat([0.0, 1.0], 20)
    loss = Logistic.merged(np.array([s > 0, np.arange(40) % 3 == 0]), np.ones(40), s)
    for point in lasso_path(loss, n_alphas=10, shortest=1e-6):
        assert np.isfinite(point.weights).all()
        assert point.converged
    assert point.weights[0] > 10
