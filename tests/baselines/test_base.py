import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression
from sklearn.linear_model import lasso_path as sklearn_path

from mossrules import Statistics
from mossrules.baselines.base import BaselineRegressor, ChosenRules
from mossrules.baselines.designs import Design
from mossrules.baselines.paths import largest_alpha, lasso_path, solve_lasso
from mossrules.estimators import candidates_for, search_parameters
from mossrules.exceptions import InvalidParameter
from mossrules.learning.candidate_search import find_in_rows


@st.composite
def rule_columns(draw):
    """Return columns of 0 and 1 on some rows, and a target of mean 0 and variance 1."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, m = draw(st.integers(8, 60)), draw(st.integers(1, 12))
    R = (rng.random((n, m)) < rng.uniform(0.1, 0.9, m)).astype(float)
    if draw(st.booleans()):
        R[:, -1] = 1 - R[:, 0]  # a complement, so that columns depend on each other
    y = R @ rng.normal(size=m) + rng.normal(size=n)
    return R, (y - y.mean()) / y.std()


def statistics_of(R, y):
    """Return the statistics of rules that hold where R is 1."""
    sizes = R.sum(axis=0)
    values = np.divide(R.T @ y, sizes, out=np.zeros_like(sizes), where=sizes > 0)
    statistics = Statistics.from_matrix(R * values, y, np.arange(R.shape[1])[::-1] + 1)
    # A column of zeros has no size of its own there, unlike a rule whose mean is zero.
    assert (statistics.support[values != 0] == sizes[values != 0]).all()
    return statistics


# --- columns --------------------------------------------------------------------------------------


@given(rule_columns())
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


@given(rule_columns(), st.data())
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


# --- the LASSO ------------------------------------------------------------------------------------


@given(rule_columns())
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


@given(rule_columns())
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


# --- the shared base ------------------------------------------------------------------------------


class FirstRules(BaselineRegressor):
    """Least squares on the first rules: a learner as small as they come."""

    def __init__(self, max_rules=3, *, n_trees=30, max_depth=2, n_bins=10, max_features=1 / 3,
                 generator="forest", source="pool", variant="published", random_state=None,
                 n_jobs=None):  # fmt: skip
        self.max_rules = max_rules
        self.n_trees = n_trees
        self.max_depth = max_depth
        self.n_bins = n_bins
        self.max_features = max_features
        self.generator = generator
        self.source = source
        self.variant = variant
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _find_own(self, rows):
        return find_in_rows(rows, **search_parameters(self) | {"max_depth": 1})

    def _choose(self, candidates, rows):
        self.saw_rows_ = rows is not None
        design = Design.of_rules(candidates.statistics).take(np.arange(self.max_rules))
        w = np.linalg.lstsq(design.C, design.c)[0]
        return ChosenRules(np.arange(self.max_rules), w, design.intercept(w))


@pytest.fixture(scope="module")
def diabetes():
    """Return a table in the users' units and its target."""
    return load_diabetes(return_X_y=True, as_frame=True, scaled=False)


def test_a_choice_becomes_a_model_in_the_targets_units(diabetes):
    """Weights and intercept of the scaled target give scikit-learn's fit of the raw one."""
    X, y = diabetes
    model = FirstRules().fit(X, y)
    R = model.rules_.holds(X)
    expected = LinearRegression().fit(R, y).predict(R)
    np.testing.assert_allclose(model.predict(X), expected)
    assert set(model.rules_) == set(model.pool_.rules[:3])
    assert model.rules_.target == "target"
    assert model.candidates_.pool is model.pool_
    assert model.n_features_in_ == 10
    assert model.feature_names_in_.tolist() == list(X)


def test_candidates_found_before_give_the_same_model(diabetes):
    """A fit is the search for candidates and then fit_candidates; only fit shows rows."""
    X, y = diabetes
    model = FirstRules(random_state=5).fit(X, y)
    again = clone(model).fit_candidates(
        candidates_for(X, y, **search_parameters(model)), target="target"
    )
    assert again.rules_.to_json() == model.rules_.to_json()
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert model.saw_rows_
    assert not again.saw_rows_


def test_own_candidates_are_not_those_of_the_pool(diabetes):
    """The learner's own search is asked, and candidates found before are refused then."""
    X, y = diabetes
    own = FirstRules(source="own").fit(X, y)
    assert {len(rule) for rule in own.pool_.rules} == {1}
    with pytest.raises(InvalidParameter, match="source is 'own'"):
        own.fit_candidates(own.candidates_)


def test_without_candidates_the_model_is_the_mean():
    """A constant target or constant columns leave no rules, and no choice to make."""
    X = np.arange(12.0).reshape(6, 2)
    for table, y in ((X, np.full(6, 0.1)), (np.ones((6, 2)), X[:, 0])):
        model = FirstRules().fit(table, y)
        assert len(model.rules_) == len(model.pool_) == 0
        np.testing.assert_allclose(model.predict(X), y.mean())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_rules": 0}, "max_rules is 0"),
        ({"source": "elsewhere"}, "source is 'elsewhere'; choose from 'pool', 'own'"),
        ({"variant": "my"}, "variant is 'my'; choose from 'published', 'paper'"),
    ],
)
def test_parameters_are_checked(parameters, message):
    """What cannot be is refused before any work."""
    with pytest.raises(InvalidParameter, match=message):
        FirstRules(**parameters).fit(None, None)
