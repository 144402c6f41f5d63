from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from mossrules import MossClassifier, RuleSet, RuleSets, evaluate_frontier
from mossrules.constraints import Decreasing, NeverUse, OnlyUp, OwnDirection
from mossrules.display import (
    ConsistencyDisplay,
    FrontierDisplay,
    ImportanceDisplay,
    RulesDisplay,
)
from mossrules.estimators import candidates_for, search_parameters
from mossrules.exceptions import InvalidParameter, InvalidTarget, UnsupportedType
from mossrules.learning.log_loss import REFIT_RIDGE, platt, refit_log_odds
from mossrules.patterns import Patterns


@cache
def trees_table(n=240):
    """Return numbers, words and missing values, and whether a tree is tall."""
    rng = np.random.default_rng(5)
    X = pd.DataFrame(
        {
            "size": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "kind": rng.choice(["oak", "ash", "elm"], n),
            "age": rng.integers(0, 40, n),
        }
    )
    odds = 1.5 * (X["kind"] == "oak") + X["size"].fillna(1.0) + 0.08 * (X["age"] - 25)
    return X, rng.random(n) < expit(odds.to_numpy())


def small(**parameters):
    """Return a classifier that is quick to fit."""
    return MossClassifier(**{"max_rules": 5, "n_trees": 30, "n_jobs": 1} | parameters)


@cache
def fitted():
    """Return a small model of the trees."""
    return small().fit(*trees_table())


@cache
def fitted_iris():
    """Return a small model of three classes, its table and its labels."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    y = y.map({0: "setosa", 1: "versicolor", 2: "virginica"}).rename("species")
    return small(max_rules=3).fit(X, y), X, y


def test_probabilities_are_those_of_the_rules():
    """Decision, probabilities and classes are all one thing, the sum of the rules' log-odds."""
    X, y = trees_table()
    model = fitted()
    assert isinstance(model.rules_, RuleSet)
    assert model.classes_.tolist() == [False, True]
    assert model.rules_.outcome is True
    totals = model.decision_function(X)
    np.testing.assert_array_equal(totals, model.rules_.decision_function(X))
    np.testing.assert_array_equal(model.predict_proba(X)[:, 1], expit(totals))
    np.testing.assert_array_equal(model.predict(X), totals > 0)
    assert model.score(X, y) > 0.7
    assert model.solution_.verify(model.problem_).passed
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    with pytest.raises(NotFittedError):
        small().predict_proba(X)


@pytest.mark.parametrize(
    "change",
    [
        lambda y: np.where(y, "yes", "no"),
        lambda y: y.astype(int) + 7,
        lambda y: y.astype(float),
        lambda y: pd.Series(np.where(y, "tall", "not"), dtype="category"),
        lambda y: pl.Series("height", np.where(y, "tall", "small")),
        lambda y: y.tolist(),
    ],
    ids=["text", "whole", "floats", "category", "polars", "list"],
)
def test_labels_of_any_kind_give_the_same_rules(change):
    """Text, whole numbers, truth values and categories are labels, in the order they sort in."""
    X, y = trees_table()
    labels = change(y)
    model = small().fit(X, labels)
    assert model.rules_ == fitted().rules_
    np.testing.assert_array_equal(model.decision_function(X), fitted().decision_function(X))
    np.testing.assert_array_equal(model.predict(X) == model.classes_[1], fitted().predict(X))
    assert model.score(X, np.asarray(labels)) == fitted().score(X, y)
    table = X.assign(height=labels if isinstance(labels, list) else np.asarray(labels))
    named = small().fit(table, "height")
    assert named.rules_.target == "height"
    assert named.classes_.tolist() == model.classes_.tolist()
    assert named.score(table, "height") == model.score(X, np.asarray(labels))
    np.testing.assert_array_equal(named.predict_proba(table), model.predict_proba(X))


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.ones(6), "1 class .*two classes"),
        ([1.0, np.nan] * 3, "missing"),
        (["a", None] * 3, "missing"),
        (np.linspace(0.0, 1.0, 6), "continuous"),
        (["a", 1] * 3, "mixes types"),
        (["a", "b"] * 2, "4 values"),
        (None, "None"),
    ],
)
def test_labels_that_cannot_be_used_are_named(y, words):
    """One class, missing labels, numbers that are no classes and the like say what is wrong."""
    with pytest.raises(InvalidTarget, match=words):
        small().fit(np.arange(12.0).reshape(6, 2), y)


def test_class_weights_are_weights_of_rows():
    """A dict and "balanced" are sample weights; whole weights are repetitions, bit for bit."""
    X, y = trees_table()
    doubled = small(class_weight={True: 2}).fit(X, y)
    weighted = small().fit(X, y, sample_weight=np.where(y, 2, 1))
    repeated = small().fit(pd.concat([X, X[y]]), np.append(y, y[y]))
    assert doubled.rules_.to_json() == weighted.rules_.to_json() == repeated.rules_.to_json()
    balanced = small(class_weight="balanced").fit(X, y)
    totals = np.array([np.count_nonzero(~y), np.count_nonzero(y)])
    same = small(class_weight=dict(zip([False, True], len(y) / 2 / totals, strict=True)))
    assert balanced.rules_.to_json() == same.fit(X, y).rules_.to_json()
    assert balanced.candidates_.patterns.share == pytest.approx(0.5, abs=1e-5)
    both = small(class_weight="balanced").fit(X, y, sample_weight=np.where(y, 3, 1))
    assert both.candidates_.statistics.n == pytest.approx(len(y) + 2 * np.count_nonzero(y))
    every = np.where(y, 0.7, 0.2)
    tiny, huge = (small().fit(X, y, sample_weight=scale * every) for scale in (2.0**-30, 2.0**30))
    np.testing.assert_allclose(tiny.predict_proba(X), huge.predict_proba(X), rtol=1e-9)
    for wrong in ("equal", {True: -1.0}, {"tall": 2}, 3):
        with pytest.raises(InvalidParameter, match="class_weight"):
            small(class_weight=wrong).fit(X, y)
    with pytest.raises(InvalidTarget, match="fewer than two classes"):
        small(class_weight={True: 0}).fit(X, y)


def test_the_order_of_rows_does_not_matter():
    """The same rows in another order give the same model, bit for bit."""
    X, y = trees_table()
    order = np.random.default_rng(0).permutation(len(y))
    again = small(n_jobs=2).fit(X.iloc[order], y[order])
    assert again.rules_.to_json() == fitted().rules_.to_json()


def test_weights_are_those_of_logistic_regression():
    """Refitted log-odds are scikit-learn's, on columns of 0 and 1 with the same small ridge."""
    X, y = trees_table()
    model = small(refit_ridge=None).fit(X, y)
    holds = model.rules_.holds(X).astype(float)
    reference = LogisticRegression(C=1.0 / REFIT_RIDGE, tol=1e-10, max_iter=1000).fit(holds, y)
    found = expit(reference.decision_function(holds))
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], found, atol=2e-3)
    shrunk = small(refit=False).fit(X, y)
    assert shrunk.rules_ == model.rules_
    assert np.abs(shrunk.rules_.weights).sum() < np.abs(model.rules_.weights).sum()


def test_predictions_of_rows_left_out_are_nearly_those_of_fits_without_them():
    """One Newton step comes close to fitting again without each row."""
    rng = np.random.default_rng(3)
    active = rng.random((90, 3)) < 0.5
    y = (rng.random(90) < expit(active @ [1.5, -1.0, 0.5])).astype(int)
    patterns = Patterns.from_matrix(active, y, np.ones(3, dtype=np.int64))
    found = refit_log_odds(patterns, np.arange(3))
    plain = patterns.active(np.arange(3))
    for row in range(0, 90, 6):
        rest = np.arange(90) != row
        model = LogisticRegression(C=1.0 / REFIT_RIDGE, tol=1e-10, max_iter=1000)
        expected = model.fit(active[rest], y[rest]).decision_function(active[[row]])[0]
        place = int(np.flatnonzero((plain == active[row]).all(axis=1))[0])
        assert found.left_out[1 - y[row], place] == pytest.approx(expected, abs=0.05)
    assert found.calibration.rows == 90
    assert found.calibration.prevalence == pytest.approx(y.mean())


def test_slope_and_offset_are_the_likeliest():
    """Platt's calibration is the minimum of its loss; useless log-odds are not turned around."""
    rng = np.random.default_rng(1)
    scores = rng.normal(size=40) * 3.0
    ones = (rng.random(40) < expit(0.4 * scores - 0.5)).astype(float)
    sure = (ones.sum() + 1) / (ones.sum() + 2), 1 / (40 - ones.sum() + 2)
    aim = np.where(ones > 0, *sure)

    def loss(x):
        eta = x[0] * scores + x[1]
        return np.logaddexp(0, eta).sum() - aim @ eta

    expected = minimize(loss, [1.0, 0.0], tol=1e-12).x
    left_out, rows = np.stack([scores, scores]), np.stack([ones, 1.0 - ones])
    np.testing.assert_allclose(platt(left_out, rows), expected, atol=1e-4)
    assert platt(-left_out, rows)[0] > 0


def test_each_of_several_classes_has_rules():
    """Three classes have three rule sets; probabilities add up to 1 and agree with predictions."""
    model, X, y = fitted_iris()
    assert isinstance(model.rules_, RuleSets)
    assert list(model.rules_) == model.classes_.tolist() == sorted(set(y))
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    likeliest = probabilities.argmax(axis=1)
    np.testing.assert_array_equal(model.classes_[likeliest], model.predict(X))
    np.testing.assert_array_equal(model.decision_function(X).argmax(axis=1), likeliest)
    assert model.score(X, y) > 0.9
    assert log_loss(y, probabilities) < 0.4
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert model.rules_["setosa"].target == "species"
    assert {each.status.value for each in model.solution_.values()} == {"optimal"}
    assert set(model.rules_.explain(X.iloc[0])) == set(y)
    again = RuleSets.from_json(model.rules_.to_json())
    np.testing.assert_array_equal(again.predict_proba(X), probabilities)


def test_points_of_the_trade_off_are_reached_without_a_forest():
    """Frontier and select work as in regression; of several classes, in each of them."""
    X, y = trees_table()
    model = fitted()
    frontier = model.frontier(points=5)
    assert frontier.max_stability == model.problem_.max_stability
    looser = model.select(index=len(frontier) - 1, frontier=frontier)
    assert looser.solution_.loss <= model.solution_.loss * (1 + 1e-9)
    assert looser.candidates_ is model.candidates_
    fresh = small(stability=0.5).fit(X, y)
    assert model.select(stability=0.5).rules_.to_json() == fresh.rules_.to_json()
    iris, X, _ = fitted_iris()
    assert set(iris.frontier(points=2)) == set(iris.classes_)
    loose = iris.select(stability=0.6)
    assert loose.predict_proba(X).shape == (150, 3)
    assert loose.stability == 0.6
    for label, solution in loose.solution_.items():
        assert solution.stability <= iris.estimators_[label].problem_.max_stability


def test_candidates_found_before_give_the_same_model():
    """Rules for two classes may be chosen from candidates with patterns, and only from those."""
    X, y = trees_table()
    how = search_parameters(small())
    candidates = candidates_for(X, y.astype(float), **how)
    model = small().fit_candidates(candidates, classes=["small", "tall"])
    assert model.rules_ == fitted().rules_
    assert set(model.predict(X)) == {"small", "tall"}
    with pytest.raises(InvalidParameter, match="patterns=True"):
        small().fit_candidates(candidates_for(X, y.astype(float), **how | {"patterns": False}))
    with pytest.raises(InvalidParameter, match="3 labels"):
        small().fit_candidates(candidates, classes=["a", "b", "c"])


def test_constraints_are_kept():
    """Features that may only push up do so after the refit too, and forbidden ones are not used."""
    X, y = trees_table()
    model = small(constraints=[OnlyUp("age"), NeverUse("kind")], stability=0.5).fit(X, y)
    assert "kind" not in model.rules_.features
    assert "age" in model.rules_.features
    for rule, weight in zip(model.rules_, model.rules_.weights, strict=True):
        assert "age" not in rule.features or weight >= 0


@pytest.mark.parametrize(
    ("asked", "keeps"),
    [
        ({}, True),
        ({"directions": "free"}, False),
        ({"directions": "free", "constraints": OwnDirection()}, True),
    ],
    ids=["default", "free", "constraint"],
)
def test_log_odds_go_the_way_of_the_rows(asked, keeps):
    """A rule with more cases than there are in all never lowers the odds, unless it may."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = MossClassifier(10, n_trees=60, **asked, random_state=0).fit(X, y)
    values = dict(
        zip(model.candidates_.pool.rules, model.candidates_.statistics.values, strict=True)
    )
    least = min(
        weight * values[rule]
        for rule, weight in zip(model.rules_, model.rules_.weights, strict=True)
    )
    assert bool(least >= 0) is keeps


def test_probabilities_go_one_way_as_a_feature_grows():
    """Under Decreasing, for every row and every value of the feature; without it they do not."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    name = "worst perimeter"
    y = (y == 1) | (X[name] > X[name].quantile(0.85))  # against what is asked for
    values = np.quantile(X[name], np.linspace(0, 1, 21))
    steps = []
    for constraint in (None, Decreasing(name)):
        model = MossClassifier(8, n_trees=60, constraints=constraint, random_state=0).fit(X, y)
        assert name in model.rules_.features
        found = [model.predict_proba(X.assign(**{name: each}))[:, 1] for each in values]
        steps.append(np.diff(found, axis=0))
    free, bound = steps
    assert free.max() > 0
    assert bound.max() <= 0
    assert bound.min() < 0


def test_auto_looks_at_the_log_loss():
    """Cross-validation explains a share of the log-loss, and its choice is the model's."""
    X, y = trees_table()
    model = small(stability="auto", cv=2, n_trees=15).fit(X, y)
    chosen = model.evaluation_.choose()
    assert 0 < chosen.r2 < 1
    assert chosen.error < log_loss(y, np.full(len(y), y.mean()))
    assert model.rules_ == small(stability=chosen.share, n_trees=15).fit(X, y).rules_
    along = evaluate_frontier(small(n_trees=15), X, y, cv=2, points=[chosen.share], n_jobs=1)
    assert along.points[0].error == pytest.approx(chosen.error)


def test_displays_speak_of_log_odds():
    """Figures of rules, importance, frontier and splits take a classifier; of one class each."""
    display = RulesDisplay.from_estimator(fitted()).plot()
    assert display.ax_.get_title("right").startswith("The log-odds of True are")
    assert "log-odds" in display.axes_["weight"].get_xlabel()
    assert "log-odds" in ImportanceDisplay.from_estimator(fitted()).plot().ax_.get_xlabel()
    assert len(FrontierDisplay.from_estimator(fitted(), points=5).frame()) > 0
    iris = fitted_iris()[0]
    splits = [iris.rules_["setosa"], iris.rules_["virginica"]]
    assert len(ConsistencyDisplay.from_splits(splits).frame()) > 0
    with pytest.raises(UnsupportedType, match="each of 3 classes"):
        RulesDisplay.from_estimator(iris)


def test_without_rules_the_share_is_the_probability():
    """Where no column says anything, the probability is that of the class; never 0 or 1."""
    y = np.array(["a"] * 3 + ["b"] * 5)
    model = small().fit(np.ones((8, 1)), y)
    assert len(model.rules_) == 0
    np.testing.assert_allclose(model.predict_proba(np.ones((1, 1))), [[3 / 8, 5 / 8]])
    # Beside a weight of a thousand, a millionth is nothing, and so is its class.
    weights = np.where(y == "a", 1000.0, 1e-6)
    model = small().fit(np.arange(8.0).reshape(8, 1), y, sample_weight=weights)
    assert set(model.predict(np.arange(8.0).reshape(8, 1))) == {"a"}
