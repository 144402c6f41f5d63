import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import lasso_path as sklearn_path

from mossrules.baselines.designs import Design
from mossrules.baselines.paths import PathPoint, follow_path, largest_alpha, lasso_path, solve_lasso
from support.baseline_cases import random_rules, statistics_of


@given(random_rules())
@settings(max_examples=50, deadline=None)
def test_the_path_is_that_of_scikit_learn(data):
    """All along the path the objective is scikit-learn's, and the weights are where unique."""
    R, y = data
    design = Design.of_rules(statistics_of(R, y))
    Z = R - R.mean(axis=0)
    points = list(lasso_path(design, n_alphas=20))
    alphas = [point.alpha for point in points]
    assert alphas[0] == pytest.approx(np.abs(Z.T @ y).max() / len(y))
    assert alphas[-1] == pytest.approx(1e-3 * alphas[0])
    assert points[0].size == 0
    _, expected, _ = sklearn_path(Z, y, alphas=alphas, tol=1e-10, max_iter=100_000)

    def objective(alpha, w):
        return np.sum((y - Z @ w) ** 2) / 2 + len(y) * alpha * np.abs(w).sum()

    for point, w in zip(points, expected.T, strict=True):
        best = objective(point.alpha, w)
        assert abs(point.gap) <= 1e-7 * len(y)
        assert objective(point.alpha, point.weights) <= best + 1e-7 * len(y)
        np.testing.assert_allclose(Z @ point.weights, Z @ w, atol=2e-3)


@given(random_rules())
@settings(max_examples=50, deadline=None)
def test_columns_may_pay_different_prices(data):
    """Factors of the penalty are a LASSO on columns divided by them."""
    R, y = data
    factors = np.linspace(0.5, 2, R.shape[1])
    design = Design.of_rules(statistics_of(R, y))
    on_scaled = design.scaled(1 / factors)
    alpha = 0.3 * largest_alpha(on_scaled)
    point = solve_lasso(design, alpha, factors)
    scaled = solve_lasso(on_scaled, alpha)
    fit, expected = R @ point.weights, R @ (scaled.weights / factors)
    np.testing.assert_allclose(fit - fit.mean(), expected - expected.mean(), atol=2e-3)


def test_a_target_that_no_column_explains_has_a_path_of_one_point():
    """Where all weights are zero at any penalty, the path says so and ends."""
    design = Design(np.eye(2), np.zeros(2), 1.0, 10.0, np.zeros(2))
    (point,) = lasso_path(design)
    assert (point.alpha, point.size, point.gap) == (0.0, 0, 0.0)


# --- down to a number of rules --------------------------------------------------------------------


def sizes_at(sizes):
    """Return a solver whose solution at strength s has sizes(s) rules, and the calls it gets."""
    calls = []

    def solve(strength, start):
        calls.append(strength)
        return PathPoint(strength, np.array([strength, start[0]]), sizes(strength))

    return solve, calls


def test_a_path_ends_at_the_first_point_with_too_many_rules():
    """The last point with few enough is taken, each found from the one before."""
    solve, calls = sizes_at(lambda strength: int(10 / strength))
    start = PathPoint(10.0, np.zeros(1), 0)
    point = follow_path(solve, start, [5.0, 2.0, 1.0, 0.5], 6)
    assert (point.strength, point.n_rules, point.w.tolist()) == (2.0, 5, [2.0, 5.0])
    assert calls == [5.0, 2.0, 1.0]
    halved = follow_path(solve, start, [5.0, 2.0, 1.0, 0.5], 6, halvings=20)
    assert halved.n_rules == 6
    assert follow_path(solve, start, [5.0, 2.0], 100).n_rules == 5
    even, _ = sizes_at(lambda _strength: 3)  # with as many rules, the less penalised one
    assert follow_path(even, start, [5.0, 2.0], 100).strength == 2.0


@given(st.lists(st.integers(0, 20), min_size=1, max_size=30), st.integers(1, 10))
def test_a_path_never_takes_too_many_rules(sizes, most):
    """Whatever sizes come, in whatever order, the point has at most as many as allowed."""
    strengths = np.geomspace(1, 0.1, len(sizes) + 1)
    known = dict(zip(strengths[1:].tolist(), sizes, strict=True))
    solve, _ = sizes_at(lambda strength: known.get(strength, most))
    point = follow_path(
        solve, PathPoint(1.0, np.zeros(1), 0), strengths[1:].tolist(), most, halvings=3
    )
    assert point.n_rules <= most
    allowed = list(itertools.takewhile(lambda size: size <= most, sizes))
    assert point.n_rules >= max(allowed, default=0)
