import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from mossrules import find_candidates
from mossrules.baselines.designs import Design, Folds
from mossrules.baselines.frequent_rules import solve_ridge
from support.baseline_cases import random_rules, rows_as_given, statistics_of


@given(random_rules())
@settings(deadline=None)
def test_designs_are_the_sums_of_centred_columns(data):
    """Both kinds of columns have the sums that the rows themselves give."""
    R, y = data
    statistics = statistics_of(R, y)
    used = (statistics.values != 0) & (R.mean(axis=0) < 1)
    for design, columns in (
        (Design.of_rules(statistics), R * used),
        (Design.of_values(statistics), R * statistics.values),
    ):
        Z = columns - columns.mean(axis=0)
        np.testing.assert_allclose(design.C, Z.T @ Z, atol=1e-9)
        np.testing.assert_allclose(design.c, Z.T @ y, atol=1e-9)
        np.testing.assert_allclose(design.means, columns.mean(axis=0), atol=1e-12)
        assert design.n == len(y)
        assert design.yy == pytest.approx(len(y))


@given(random_rules(), st.data())
@settings(deadline=None)
def test_designs_give_residuals_and_intercepts(data, draws):
    """At any weights, intercept and residual are those of least squares on the rows."""
    R, y = data
    design = Design.of_rules(statistics_of(R, y))
    chosen = np.flatnonzero(design.means)[: draws.draw(st.integers(1, R.shape[1]))]
    factors = 0.5 + np.arange(len(chosen))
    w = np.linspace(-1, 2, len(chosen))
    design = design.take(chosen).scaled(factors)
    fit = (R[:, chosen] * factors) @ w
    residuals = y - fit - design.intercept(w)
    assert residuals.mean() == pytest.approx(0, abs=1e-9)
    assert design.residual(w) == pytest.approx(residuals @ residuals)


# --- folds ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_cross_validation_is_that_of_separate_fits(diabetes, weighted):
    """Errors from sums over folds are those of models fitted to the rows of the other folds."""
    X, y = diabetes
    X, y = X[:150], y[:150].to_numpy()
    weights = np.random.default_rng(0).uniform(0.5, 2, 150) if weighted else None
    candidates = find_candidates(X, y, n_trees=50, sample_weight=weights)
    support = np.array([0, 2, 3, 7])
    rows = rows_as_given(X, y, weights)
    folds = Folds.of_rows(candidates, support, rows, n_folds=4).scaled(np.array([1.0, 2.0, 1, 1]))
    w = np.ones(150) if weights is None else weights
    mean, scale = candidates.statistics.target_mean, candidates.statistics.target_scale
    target = (y - mean) / scale
    rules = [candidates.pool.rules[i] for i in support]
    texts = candidates.texts
    R = np.column_stack([X.eval(texts[i]).to_numpy(float) for i in support]) * [1, 2, 1, 1]
    assert len(rules) == 4
    ridges = [0.01, 0.1, 1.0]
    expected = np.zeros(3)
    for fold in range(4):
        out = np.arange(150) % 4 == fold
        total = w[~out].sum()
        mu, ybar = w[~out] @ R[~out] / total, w[~out] @ target[~out] / total
        root = np.sqrt(w[~out])[:, None]
        for i, ridge in enumerate(ridges):
            A = np.vstack([root * (R[~out] - mu), np.sqrt(total * ridge) * np.eye(4)])
            b = np.append(root[:, 0] * (target[~out] - ybar), np.zeros(4))
            fitted = ybar + (R[out] - mu) @ nnls(A, b)[0]
            expected[i] += w[out] @ (target[out] - fitted) ** 2
    errors = folds.errors(lambda part: [solve_ridge(part, ridge) for ridge in ridges])
    np.testing.assert_allclose(errors, expected / w.sum(), rtol=1e-6)
