import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression
from sklearn.linear_model import lasso_path as sklearn_path
from sklearn.metrics import log_loss

from mossrules import find_candidates
from mossrules.baselines import (
    RuleFitClassifier,
    RuleFitRegressor,
    designs,
    rulefit,
)
from mossrules.baselines.rulefit import N_FOLDS
from mossrules.baselines.rulefit_columns import first_tree_means
from mossrules.data.rows import Rows
from mossrules.data.table import Table
from mossrules.exceptions import InvalidParameter, SolveLimitWarning
from mossrules.learning.stability_levels import count_untied
from support.baseline_cases import holds, is_second, mixed_table, rows_as_given, scaled

LIMIT = {"max_iter": 200_000, "tol": 1e-12}  # of scikit-learn's descent


@pytest.fixture(scope="module")
def candidates(diabetes):
    """Return the candidates that learners share."""
    return find_candidates(*diabetes, n_trees=100)


@pytest.mark.parametrize("k", [1, 6, 15])
def test_the_published_choice_is_on_the_path_of_scikit_learn(diabetes, candidates, k):
    """Of scikit-learn's hundred points, the model is the last with at most k rules."""
    X, y = diabetes
    R = holds(candidates, X)
    Z = R - R.mean(axis=0)
    alphas = np.geomspace(1, 1e-3, 100)[:60] * np.abs(Z.T @ scaled(y)).max() / len(y)
    weights = sklearn_path(Z, scaled(y), alphas=alphas, **LIMIT)[1]
    sizes = (np.abs(weights) > 1e-5).sum(axis=0)
    last = np.flatnonzero(np.maximum.accumulate(sizes) <= k)[-1]
    model = RuleFitRegressor(k).fit_candidates(candidates)
    assert model.alpha_ == pytest.approx(alphas[last])
    assert len(model.rules_) == sizes[last]
    expected = y.mean() + y.std(ddof=0) * Z @ weights[:, last]
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-3)


def test_the_path_may_come_back(monkeypatch):
    """A point with few weights counts even if one before it had more, unless it had far more."""
    sizes = [0, 1, 3, 2, 4, 5, 2]
    points = [rulefit.LassoPoint(1.0, (np.arange(9) < size).astype(float), 0.0) for size in sizes]
    monkeypatch.setattr(rulefit, "lasso_path", lambda *_, **__: iter(points))
    found = rulefit.points_of(None, 2, n_alphas=7)
    assert [point.size for point in found] == [0, 1, 2]


@pytest.mark.parametrize("k", [3, 15])
def test_the_choice_of_the_paper_is_on_its_path(diabetes, candidates, k):
    """The first of scikit-learn's thousand points with the size that ties leave, on raw columns."""
    X, y = diabetes
    size = count_untied(candidates.statistics.counts, k)
    R = holds(candidates, X)
    M = R * (R.T @ scaled(y) / R.sum(axis=0))
    alphas = np.geomspace(1, 1e-3, 1000)[:400] * np.abs(M.T @ scaled(y)).max() / len(y)
    weights = sklearn_path(M, scaled(y), alphas=alphas, **LIMIT)[1]
    sizes = (np.abs(weights) > 1e-5).sum(axis=0)
    first = int(np.argmax(sizes == size))
    model = RuleFitRegressor(k, variant="paper").fit_candidates(candidates)
    assert sizes[first] == size == len(model.rules_)
    assert model.alpha_ == pytest.approx(alphas[first], rel=0.01)
    assert model.rules_.intercept == pytest.approx(y.mean())
    chosen = {candidates.pool.rules[i] for i in np.flatnonzero(weights[:, first])}
    assert set(model.rules_) == chosen
    np.testing.assert_allclose(
        model.predict(X), y.mean() + y.std(ddof=0) * M @ weights[:, first], rtol=0.01
    )


def test_the_paper_may_take_means_of_the_first_tree(diabetes):
    """Columns of noisier means give another path; it is scikit-learn's on those columns."""
    X, y = diabetes
    model = RuleFitRegressor(8, variant="paper", means="first", n_trees=60,
                             generator="paper-forest", random_state=1)  # fmt: skip
    model.fit(X, y)
    rows = Rows.from_table(Table.from_any(X), y.to_numpy())
    M = holds(model.candidates_, X) * first_tree_means(model.candidates_, rows, 1)
    fit = Lasso(model.alpha_, fit_intercept=False, **LIMIT).fit(M, scaled(y))
    chosen = np.flatnonzero(np.abs(fit.coef_) > 1e-6)
    assert set(model.rules_) == {model.pool_.rules[i] for i in chosen}
    expected = y.mean() + y.std(ddof=0) * fit.predict(M)
    np.testing.assert_allclose(model.predict(X), expected, rtol=0.01)
    with pytest.raises(InvalidParameter, match="needs rows"):
        model.fit_candidates(model.candidates_)


def test_where_no_point_has_the_size_there_are_fewer(candidates, monkeypatch):
    """If the path jumps over the size, the last point before it is taken; else the first."""
    size = count_untied(candidates.statistics.counts, 6)

    def choose(sizes):
        points = [
            rulefit.LassoPoint(1.0, (np.arange(len(candidates)) < each).astype(float), 0.0)
            for each in sizes
        ]
        monkeypatch.setattr(rulefit, "lasso_path", lambda *_, **__: iter(points))
        return len(RuleFitRegressor(6, variant="paper").fit_candidates(candidates).rules_)

    assert size > 2
    assert choose([0, 1, size - 1, size + 1]) == size - 1
    assert choose([0, 1, size, 1]) == size


@pytest.mark.parametrize("variant", ["published", "paper"])
def test_a_descent_cut_short_says_so(candidates, monkeypatch, variant):
    """Weights that are not yet the best for their price come with a warning, at the user's line."""
    monkeypatch.setattr(designs, "MAX_SWEEPS", 1)
    with pytest.warns(SolveLimitWarning, match="gap of .* left") as caught:
        RuleFitRegressor(8, variant=variant).fit_candidates(candidates)
    assert [each.filename for each in caught] == [__file__]


def test_folds_choose_the_penalty(diabetes):
    """Where most of the target is noise, fewer rules than allowed are best on rows left out."""
    X, y = diabetes
    rng = np.random.default_rng(0)
    noise = pd.Series(rng.normal(size=len(y)) + 0.4 * scaled(y))
    model = RuleFitRegressor(15, penalty="cv", n_trees=60).fit(X, noise)
    smallest = RuleFitRegressor(15, n_trees=60).fit(X, noise)
    assert model.alpha_ > smallest.alpha_
    assert len(model.rules_) < len(smallest.rules_)


def test_errors_on_folds_are_those_of_scikit_learn(diabetes, monkeypatch):
    """Each price's error is that of scikit-learn's models of the other rows."""
    X, y = diabetes
    seen = []

    def best(points, folds):
        seen.append((points, folds))
        return points[-1]

    monkeypatch.setattr(rulefit, "_best_of_squares", best)
    some = find_candidates(X, y, n_trees=20)
    rows = rows_as_given(X, y.to_numpy())
    RuleFitRegressor(8, penalty="cv")._choose(some, rows)
    ((points, folds),) = seen
    alphas = [point.alpha for point in points[1::6]]
    R, target = holds(some, X), scaled(y)
    expected = np.zeros(len(alphas))
    for fold in range(3):
        out = np.arange(len(y)) % 3 == fold
        for i, alpha in enumerate(alphas):
            fit = Lasso(alpha, **LIMIT).fit(R[~out], target[~out])
            expected[i] += np.sum((target[out] - fit.predict(R[out])) ** 2)
    errors = folds.errors(
        lambda part: [p.weights for p in rulefit.lasso_at(part, np.array(alphas))]
    )
    np.testing.assert_allclose(errors, expected / len(y), rtol=1e-3)


def test_what_needs_rows_says_so(candidates):
    """Linear terms and folds cannot come from candidates alone."""
    for parameters in ({"linear_terms": True}, {"penalty": "cv"}):
        with pytest.raises(InvalidParameter, match="need rows"):
            RuleFitRegressor(**parameters).fit_candidates(candidates)


# --- linear terms ---------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_linear_terms_are_columns_of_the_lasso(weighted):
    """With rules and linear terms side by side, scikit-learn finds the same model."""
    X, y = mixed_table()
    y = y + 3 * X["age"] / 40 + X["size"].fillna(0)
    w = np.random.default_rng(1).uniform(0.5, 2, len(y)) if weighted else None
    model = RuleFitRegressor(6, linear_terms=True, n_trees=40).fit(X, y, sample_weight=w)
    assert len(model.linear_) > 0
    assert 0 < len(model.rules_) + len(model.linear_) <= 6
    weights = np.ones(len(y)) if w is None else w
    numbers = X[["size", "age"]].to_numpy(float)
    columns = []
    for x in numbers.T:
        here = ~np.isnan(x)
        bounds = np.quantile(x[here], [0.025, 0.975], weights=weights[here], method="inverted_cdf")
        cut = np.clip(x, *bounds)
        cut = np.where(here, cut - np.average(cut[here], weights=weights[here]), 0)
        columns.append(0.4 * cut / np.sqrt(np.average(cut**2, weights=weights)))
    A = np.column_stack([holds(model.candidates_, X), *columns])
    mean = np.average(y, weights=weights)
    scale = np.sqrt(np.average((y - mean) ** 2, weights=weights))
    fit = Lasso(model.alpha_, **LIMIT).fit(A, (y - mean) / scale, sample_weight=w)
    np.testing.assert_allclose(
        model.predict(X), mean + scale * fit.predict(A), rtol=1e-2, atol=1e-3
    )
    chosen = np.abs(fit.coef_[-2:]) > 1e-6
    assert list(model.linear_.names) == [
        n for n, c in zip(["size", "age"], chosen, strict=True) if c
    ]


def test_predictions_are_rules_plus_linear_terms():
    """Each term adds its weight per unit within its bounds; the rule set is not all then."""
    X, y = mixed_table()
    y = y + 3 * X["age"] / 40
    model = RuleFitRegressor(8, linear_terms=True, n_trees=40, max_features=1 / 3).fit(X, y)
    terms = model.linear_
    added = model.predict(X) - model.rules_.predict(X)
    expected = np.zeros(len(y))
    for term, name in enumerate(terms.names):
        values = X[name].clip(terms.low[term], terms.high[term]) - terms.means[term]
        expected += terms.weights[term] * values.fillna(0.0)
    np.testing.assert_allclose(added, expected, atol=1e-9)
    assert "age" in repr(terms)
    assert "Linear terms" in repr(terms)


def test_importance_counts_rules_and_linear_terms():
    """A column has its share of the rules that use it, and the spread of its own term."""
    X, y = mixed_table()
    model = RuleFitRegressor(8, linear_terms=True, n_trees=40, max_features=1 / 3).fit(
        X, y + 3 * X["age"] / 40
    )
    expected = dict.fromkeys(X, 0.0)
    for rule, weight, support in zip(
        model.rules_, model.rules_.weights, model.rules_.support, strict=True
    ):
        for feature in rule.features:
            expected[feature] += abs(weight) * np.sqrt(support * (1 - support)) / len(rule)
    added = model.linear_.columns(Table.from_any(X)) * model.linear_.weights
    for name, spread in zip(model.linear_.names, added.std(axis=0), strict=True):
        expected[name] += spread
    found = model.feature_importances_
    assert len(model.linear_) > 0
    np.testing.assert_allclose(found, np.array(list(expected.values())) / sum(expected.values()))


def test_without_linear_terms_there_are_none(diabetes, candidates):
    """The rule set is the whole model, bit for bit, and says so."""
    X, _ = diabetes
    model = RuleFitRegressor(5).fit_candidates(candidates)
    assert len(model.linear_) == 0
    assert repr(model.linear_) == "No linear terms."
    np.testing.assert_array_equal(model.predict(X), model.rules_.predict(X))


@pytest.mark.slow
def test_the_package_on_pypi_finds_much_the_same(diabetes):
    """The model is near that of `imodels`, which grows trees and cuts on its own."""
    pytest.importorskip("six", reason="imodels needs six, which is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = pytest.importorskip("imodels", reason="imodels from PyPI is not installed")
        X, y = diabetes
        other = theirs.RuleFitRegressor(max_rules=15, include_linear=False, random_state=0)
        other.fit(X.to_numpy(), y.to_numpy())
        expected = other.predict(X.to_numpy())
    ours = RuleFitRegressor(15, source="own", penalty="cv", n_trees=60).fit(X, y)
    assert np.corrcoef(ours.predict(X), expected)[0, 1] > 0.93
    best = LinearRegression().fit(expected[:, None], y)  # both shrink, and not by the same
    assert ours.score(X, y) == pytest.approx(best.score(expected[:, None], y), abs=0.08)


# --- classes --------------------------------------------------------------------------------------


def test_rulefit_is_on_the_path_of_scikit_learn(tumours):
    """At its price, the objective over all candidates is that of L1 logistic regression."""
    X, y = tumours
    model = RuleFitClassifier(8, n_trees=15).fit(X, y)
    s, n = is_second(model, y), len(y)
    R = holds(model.candidates_, X)
    saga = LogisticRegression(
        C=1 / (n * model.alpha_), l1_ratio=1, solver="saga", tol=1e-6, max_iter=20_000,
        random_state=0,
    ).fit(R, s)  # fmt: skip

    def objective(logits, w):
        return log_loss(s, expit(logits)) + model.alpha_ * np.abs(w).sum()

    expected = objective(saga.decision_function(R), saga.coef_)
    found = objective(model.decision_function(X), model.rules_.weights)
    assert found == pytest.approx(expected, rel=1e-6)
    assert 6 <= len(model.rules_) <= 8


def test_linear_terms_and_folds(tumours):
    """With linear terms probabilities are those of all terms; folds choose among the path."""
    X, y = tumours
    model = RuleFitClassifier(6, n_trees=2, n_bins=10, max_depth=1, linear_terms=True).fit(X, y)
    assert 0 < len(model.linear_) < 6
    assert len(model.linear_) + len(model.rules_) <= 6
    f = model.rules_.decision_function(X) + model.linear_.predict(Table.from_any(X))
    np.testing.assert_allclose(model.decision_function(X), f)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expit(f))
    careful = RuleFitClassifier(6, n_trees=20, penalty="cv").fit(X, y)
    eager = RuleFitClassifier(6, n_trees=20).fit(X, y)
    assert careful.alpha_ >= eager.alpha_
    assert N_FOLDS == 3
    with pytest.raises(InvalidParameter, match="need rows"):
        model.fit_candidates(eager.candidates_)


def test_rulefit_chooses_among_its_own_trees(tumours):
    """Rules of boosted trees are told from each other by the logistic loss, as those of a pool."""
    X, y = tumours
    model = RuleFitClassifier(5, source="own", n_trees=30).fit(X, y)
    assert 0 < len(model.rules_) <= 5
    assert model.pool_.n_trees == 30
    assert model.score(X, y) > 0.85
