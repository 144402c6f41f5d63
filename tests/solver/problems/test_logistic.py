import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from mossrules.exceptions import InvalidParameter
from mossrules.solver import LogisticProblem
from mossrules.solver.bounds.duality import best_multipliers, dual_bound
from mossrules.solver.problems.logistic import INTERCEPT
from mossrules.solver.problems.quadratic_model import QuadraticModel
from support.oracles import (
    ClassRows,
    brute_force_logistic,
    fit_by_scipy,
    random_class_rows,
    random_logistic_problem,
)

SEEDS = st.integers(0, 10**6)


@settings(max_examples=20, deadline=None)
@given(SEEDS, st.floats(-2, 2), st.booleans())
def test_a_fit_is_scipys_minimum(seed, log_gamma, signed):
    """Weights, intercept and loss of a selection are those of the objective on the rows."""
    rows = random_class_rows(seed)
    m = len(rows.counts)
    rng = np.random.default_rng(seed)
    signs = rng.integers(-1, 2, m) if signed else None
    problem = rows.problem(gamma=10**log_gamma, signs=signs)
    support = np.flatnonzero(rng.random(m) < 0.6)
    fit = problem.fit(support)
    expected = fit_by_scipy(rows, support, problem.gamma, signs)
    assert fit.loss == pytest.approx(expected.fun, rel=1e-8)
    assert fit.loss <= expected.fun * (1 + 1e-12)
    np.testing.assert_allclose(fit.weights, expected.x[:-1], atol=2e-3)
    if signs is not None:
        assert (signs[support] * fit.weights >= 0).all()


def test_a_fit_is_that_of_scikit_learn():
    """With classes of equal weight the base is 0, and the intercept is a column of value 10."""
    rows = random_class_rows(3)
    weights = rows.weights / np.where(
        rows.y == 1, rows.weights @ rows.y, rows.weights @ (1 - rows.y)
    )
    rows = ClassRows(rows.active, rows.y, 20 * weights, rows.counts)
    problem = rows.problem(gamma=3.0)
    support = np.arange(problem.m)
    columns = np.column_stack([rows.columns, np.full(len(rows.y), INTERCEPT)])
    model = LogisticRegression(C=3.0, fit_intercept=False, solver="newton-cholesky", tol=1e-12)
    model.fit(columns, rows.y, sample_weight=rows.weights)
    fit = problem.fit(support)
    np.testing.assert_allclose(fit.weights, model.coef_[0, :-1], atol=1e-6)
    assert fit.intercept == pytest.approx(INTERCEPT * model.coef_[0, -1], abs=1e-6)


@settings(max_examples=20, deadline=None)
@given(SEEDS)
def test_tangents_lie_below_the_loss(seed):
    """At selections and at fractional points, with signs too; the gradient is the slope."""
    _, problem = random_logistic_problem(seed)
    rng = np.random.default_rng(seed)
    points = [rng.random(problem.m), (rng.random(problem.m) < 0.5).astype(float)]
    for z in points:
        value, gradient = problem.tangent(z)
        other = rng.random(problem.m)
        there = problem.tangent(other)[0]
        assert value + gradient @ (other - z) <= there + 1e-9 * problem.null_loss
        step = 1e-4 * (other - z)
        change = problem.tangent(z + step)[0] - problem.tangent(z)[0]
        assert change >= gradient @ step - 1e-9 * problem.null_loss
    whole = np.flatnonzero(points[1])
    value, gradient = problem.tangent_at(whole)
    assert value == pytest.approx(problem.loss(whole), rel=1e-9)
    np.testing.assert_array_equal(gradient, problem.tangent(points[1])[1])


@settings(max_examples=15, deadline=None)
@given(SEEDS)
def test_any_weights_and_multipliers_give_a_lower_bound(seed):
    """No selection is below the bound, and on touching problems it is the same bound."""
    rows, problem = random_logistic_problem(seed)
    rng = np.random.default_rng(seed)
    best = brute_force_logistic(rows, problem)
    w = rng.normal(size=problem.m) * (rng.random(problem.m) < 0.5)
    for lam, mu in (rng.exponential(size=2), best_multipliers(problem, w)):
        assert dual_bound(problem, w, lam, mu) <= best * (1 + 1e-9)
    model = QuadraticModel.of(problem)
    point = model.point(np.append(w, rng.normal() / INTERCEPT))
    squared = model.squared_problem(point)
    offset = point.f + point.w @ (point.r + 0.5 * model.G @ point.w) - squared.null_loss
    touching = dual_bound(squared, point.w, lam, mu) + offset
    assert touching <= best + 1e-9 * problem.null_loss


def test_gamma_auto_is_that_of_regression_in_log_odds():
    """A rare class needs less shrinkage of its larger log-odds: 30 over n share (1 - share)."""
    rows = random_class_rows(8)
    problem = rows.problem()
    share = rows.weights @ rows.y / rows.weights.sum()
    assert problem.gamma == pytest.approx(30 / (rows.weights.sum() * share * (1 - share)))
    assert problem.null_loss == pytest.approx(problem.loss(np.array([], dtype=np.int64)))
    assert repr(problem).startswith("LogisticProblem(m=")


def test_problems_that_cannot_be_are_refused():
    """Each mistake has its sentence."""
    rows = random_class_rows(8)
    with pytest.raises(InvalidParameter, match="lost in rounding"):
        rows.problem(gamma=1e12)
    with pytest.raises(InvalidParameter, match="entries between 0 and 1"):
        rows.problem().tangent(np.full(99, 0.5))
    with pytest.raises(InvalidParameter, match="not whole numbers"):
        LogisticProblem.from_matrix(rows.active, rows.y, rows.counts + 0.5)
    with pytest.raises(InvalidParameter, match="no candidate rules"):
        LogisticProblem.from_matrix(rows.active[:, :0], rows.y, rows.counts[:0])
