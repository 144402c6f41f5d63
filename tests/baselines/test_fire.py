import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Lasso

from mossrules import FittedEnsemble
from mossrules.baselines import FireRegressor
from mossrules.baselines.fire import FirePath
from mossrules.baselines.paths import PathPoint
from mossrules.estimators import candidates_for
from mossrules.exceptions import SolveLimitWarning
from mossrules.learning.stability_levels import count_untied
from support.baseline_cases import block_bound, block_objective
from support.oracles import holds

CONVEX = 1e12  # the gamma at which the concave penalty is the lasso's, to all digits
EXACT = 1e-22  # tolerance of a descent that a proof of first order starts from


@pytest.fixture(scope="module")
def forest(diabetes):
    """Return a small forest's candidates, the rows of each rule, and the scaled target."""
    X, y = diabetes
    candidates = candidates_for(X, y, n_trees=25, random_state=3)
    columns = {name: X[name].to_numpy() for name in X}
    R = [holds(rule, candidates.binning, columns) for rule in candidates.pool.rules]
    return candidates, np.column_stack(R).astype(float), ((y - y.mean()) / y.std(ddof=0)).to_numpy()


@pytest.mark.parametrize("share", [0.5, 0.1, 0.02])
def test_leaves_at_the_convex_end_are_the_lasso_of_their_columns(forest, share):
    """On the leaves of a forest the objective is scikit-learn's, intercept and all."""
    candidates, R, z = forest
    path = FirePath.of_leaves(candidates, gamma=CONVEX, fusion=0.0)
    price = share * path.prices[0]
    X = (R * path.factors)[:, path.descent.blocks.rules]
    lasso = Lasso(price / len(z), tol=1e-12, max_iter=200_000).fit(X, z)
    expected = 0.5 * np.sum((z - lasso.predict(X)) ** 2) + price * np.abs(lasso.coef_).sum()
    w = path.solve(price, np.zeros(X.shape[1])).w
    assert block_objective(path.descent, path.penalty(price), w) == pytest.approx(
        expected, rel=1e-6
    )
    # The same from the rows, with the weights of columns of 0 and 1 and the intercept.
    fit = path.intercept(w) + R @ path.weights(w)
    found = 0.5 * np.sum((z - fit) ** 2) + price * np.abs(w).sum()
    assert found == pytest.approx(expected, rel=1e-6)


def test_leaves_at_the_convex_end_are_the_fused_lasso(forest):
    """With fusion, too, on the leaves of a forest."""
    path = FirePath.of_leaves(forest[0], gamma=CONVEX, fusion=0.3)
    price = 0.1 * path.prices[0]
    penalty = path.penalty(price)
    w = path.descent.minimise(penalty, tolerance=EXACT).w
    assert np.count_nonzero(w) > 10
    assert block_objective(path.descent, penalty, w) == pytest.approx(
        block_bound(path.descent, penalty, w), rel=1e-6
    )


def test_prices_of_both_variants_are_as_described(forest):
    """One path with fusion in proportion, and one that is the same for all data."""
    path = FirePath.of_leaves(forest[0], gamma=1.25, fusion=0.3)
    penalty = path.penalty(2.0)
    assert (set(penalty.price), penalty.concavity, penalty.fusion) == ({2.0}, 0.8, 0.6)
    assert path.prices[0] == np.abs(path.descent.design.c).max()
    assert path.solve(path.prices[0], np.zeros(len(path.descent.blocks.rules))).n_rules == 0
    paper = FirePath.of_rules(forest[0].statistics, gamma=1.1)
    np.testing.assert_allclose(paper.prices / 442, 10 ** np.linspace(0, -3, 100))
    assert paper.penalty(2.0).fusion == paper.halvings == 0
    np.testing.assert_allclose(np.diagonal(paper.descent.design.C), 442)


def test_strong_fusion_makes_neighbours_alike(forest):
    """Where differing is dear, all leaves of a tree have the same weight."""
    path = FirePath.of_leaves(forest[0], gamma=1.1, fusion=100.0)
    w = path.solve(0.01 * path.prices[0], np.zeros(len(path.descent.blocks.rules))).w
    assert np.count_nonzero(w) > 0
    for first, stop in itertools.pairwise(path.descent.blocks.offsets):
        assert np.ptp(w[first:stop]) <= 1e-9


# --- the estimator --------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", ["published", "paper"])
def test_the_model_is_the_point_of_the_path(diabetes, variant):
    """Rules and predictions are those of the path, in the units of the target."""
    X, y = diabetes
    model = FireRegressor(6, variant=variant, n_trees=60, random_state=1).fit(X, y)
    candidates = model.candidates_
    path = (
        FirePath.of_leaves(candidates, gamma=1.1, fusion=0.1)
        if variant == "published"
        else FirePath.of_rules(candidates.statistics, gamma=1.1)
    )
    most = 6 if variant == "published" else count_untied(candidates.statistics.counts, 6)
    point = path.follow(most)
    weights = path.weights(point.w)
    assert model.price_ == point.strength
    assert 1 <= len(model.rules_) <= most
    assert set(model.rules_) == {candidates.pool.rules[i] for i in np.flatnonzero(weights)}
    columns = {name: X[name].to_numpy() for name in X}
    R = np.column_stack([holds(rule, candidates.binning, columns) for rule in model.pool_.rules])
    expected = y.mean() + y.std(ddof=0) * (path.intercept(point.w) + R @ weights)
    np.testing.assert_allclose(model.predict(X), expected)
    # Residuals of a free intercept have mean zero.
    assert np.mean(y - model.predict(X)) == pytest.approx(0, abs=1e-9)


@given(st.integers(0, 1000), st.integers(1, 8), st.floats(1.01, 20), st.floats(0, 2))
@settings(max_examples=15, deadline=None)
def test_there_are_never_more_rules_than_allowed(seed, max_rules, gamma, fusion):
    """Whatever the data and the penalty, in both variants and from both sources."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, size=(40, 3)).astype(float)
    y = X[:, 0] * X[:, 1] + rng.normal(size=40)
    for source, variant in itertools.product(("pool", "own"), ("published", "paper")):
        model = FireRegressor(
            max_rules, source=source, variant=variant, gamma=gamma, fusion=fusion, n_trees=20
        ).fit(X, y)
        assert len(model.rules_) <= max_rules
        assert (model.rules_.weights != 0).all()


def test_more_rules_fit_better(diabetes):
    """The path goes on where more rules are allowed."""
    X, y = diabetes
    candidates = candidates_for(X, y, n_trees=100)
    for variant in ("published", "paper"):
        scores = [
            FireRegressor(k, variant=variant).fit_candidates(candidates).score(X, y)
            for k in (1, 5, 15)
        ]
        assert scores == sorted(scores)
        assert scores[-1] > 0.5


def test_own_candidates_are_leaves_of_finer_bins(diabetes):
    """The authors' forest does not bin: its rules have cuts between the pool's."""
    X, y = diabetes
    model = FireRegressor(source="own", n_trees=40, random_state=0).fit(X, y)
    assert max(len(column.cuts) for column in model.candidates_.binning.columns) > 50
    assert len(model.pool_) > 120
    again = clone(model).fit(X, y)
    assert again.rules_.to_json() == model.rules_.to_json()


@pytest.mark.parametrize("variant", ["published", "paper"])
def test_the_unit_of_the_target_does_not_matter(diabetes, variant):
    """Rules stay the same, and weights follow."""
    X, y = diabetes
    model = FireRegressor(variant=variant, n_trees=60).fit(X, y)
    for factor, offset in ((1000.0, 7.0), (0.3, 1e6)):
        other = clone(model).fit(X, factor * y + offset)
        assert other.rules_ == model.rules_
        np.testing.assert_allclose(other.predict(X), factor * model.predict(X) + offset, rtol=1e-5)


def test_a_fitted_ensemble_can_be_the_source_of_rules(diabetes):
    """The leaves of a scikit-learn forest are learned from like those of our own."""
    X, y = diabetes
    ensemble = RandomForestRegressor(20, max_depth=2, random_state=0).fit(X, y)
    model = FireRegressor(8, generator=FittedEnsemble(ensemble)).fit(X, y)
    assert model.pool_.n_trees == 20
    assert model.score(X, y) > 0.45


def test_an_unfinished_descent_is_warned_about(diabetes, monkeypatch):
    """A point that is not known to be stationary is used with a warning."""
    X, y = diabetes

    def follow(path, _max_rules):
        return PathPoint(1.0, np.zeros(len(path.descent.blocks.rules)), 0, converged=False)

    monkeypatch.setattr(FirePath, "follow", follow)
    with pytest.warns(SolveLimitWarning, match="before its weights were stationary") as caught:
        FireRegressor(n_trees=10).fit(X, y)
    assert caught[0].filename == __file__
