import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.model_selection import GridSearchCV, KFold

from mossrules import MossRegressor, evaluate_frontier
from mossrules.estimators import candidates_for
from mossrules.exceptions import InvalidParameter, SolveLimitWarning

STEPS = {
    "each": [20.0 ** (-i / 10) for i in range(11)],  # in equal ratios, from 1 to a twentieth
    "sum": [1.0, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.55, 0.5],
}


@pytest.fixture(scope="module")
def diabetes():
    """Return part of a table in the users' units, and its target."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    return X[:260], y[:260]


def auto(**parameters):
    """Return a model that chooses for itself, and is quickly fitted."""
    defaults = {"max_rules": 4, "stability": "auto", "n_trees": 40, "random_state": 1}
    return MossRegressor(**{**defaults, **parameters})


@pytest.fixture(scope="module")
def model(diabetes):
    """Return a fitted model that no test changes."""
    return auto().fit(*diabetes)


@pytest.mark.parametrize("floor", ["each", "sum"])
def test_the_share_follows_from_the_stated_rule(diabetes, floor):
    """Of the shares within one standard error of the best R2, that of the highest Dice, by hand."""
    model = auto(floor=floor).fit(*diabetes)
    table = model.evaluation_.frame()
    np.testing.assert_allclose(table["share"], STEPS[floor])
    best = table["r2"].idxmax()
    within = table["r2"] >= table["r2"][best] - table["r2_se"][best]
    expected = table["share"][table["dice"].where(within).idxmax()]
    assert model.evaluation_.choose().share == expected
    largest = model.problem_.max_stability_unlimited
    asked = int(np.ceil(expected * largest * (1 - 1e-12)))
    counts = model.pool_.counts
    least = asked if floor == "sum" else counts[counts >= asked].min()
    assert model.problem_.min_stability == least


def test_the_model_is_that_of_the_share_on_all_rows(diabetes, model):
    """Fitting with the share that was chosen gives the same bits."""
    share = model.evaluation_.choose().share
    plain = auto(stability=share).fit(*diabetes)
    assert model.rules_.to_json() == plain.rules_.to_json()
    assert model.solution_.verify(model.problem_).passed
    assert model.stability == "auto"
    assert not hasattr(plain, "evaluation_")


def test_the_evaluation_is_that_of_evaluate_frontier(diabetes, model):
    """What led to the choice can be had without it."""
    again = evaluate_frontier(auto(stability="high"), *diabetes, cv=5, points=11)
    pd.testing.assert_frame_equal(model.evaluation_.frame(), again.frame())
    assert model.evaluation_.n_folds == 5


def test_neither_order_nor_threads_matter(diabetes, model):
    """The same rows in another order, on one thread, give the same model."""
    X, y = diabetes
    order = np.random.default_rng(0).permutation(len(y))
    other = auto(n_jobs=1).fit(X.iloc[order], y.iloc[order])
    assert other.rules_.to_json() == model.rules_.to_json()
    pd.testing.assert_frame_equal(other.evaluation_.frame(), model.evaluation_.frame())


def test_whole_weights_are_repeated_rows(diabetes):
    """Integer weights give the model of repeated and left-out rows, bit by bit."""
    X, y = diabetes
    w = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = auto(cv=3).fit(X, y, sample_weight=w)
    where = np.random.default_rng(1).permutation(np.repeat(np.arange(len(y)), w))
    repeated = auto(cv=3).fit(X.iloc[where], y.iloc[where])
    assert weighted.rules_.to_json() == repeated.rules_.to_json()
    pd.testing.assert_frame_equal(weighted.evaluation_.folds(), repeated.evaluation_.folds())


def test_folds_can_be_given(diabetes):
    """Splitters of scikit-learn and pairs of rows are taken, with the same result."""
    X, y = diabetes
    splitter = auto(cv=KFold(3)).fit(X, y)
    pairs = auto(cv=list(KFold(3).split(X))).fit(X, y)
    assert splitter.evaluation_.n_folds == 3
    pd.testing.assert_frame_equal(splitter.evaluation_.frame(), pairs.evaluation_.frame())
    assert splitter.rules_ == pairs.rules_


def test_names_of_targets_are_minded(diabetes, model):
    """The target may be a column of the table."""
    X, y = diabetes
    named = auto().fit(X.assign(target=y), "target")
    assert named.rules_.to_json() == model.rules_.to_json()


def test_small_tables_have_fewer_folds():
    """There are as many folds as have two rows to test, and from four rows on."""
    X = np.arange(7.0)[:, None]
    found = auto(n_trees=10).fit(X, X[:, 0] ** 2)
    assert found.evaluation_.n_folds == 3
    with pytest.raises(InvalidParameter, match="3 rows make 1 folds"):
        auto(n_trees=10).fit(X[:3], X[:3, 0])


def test_where_there_is_nothing_to_choose_nothing_is_evaluated(diabetes):
    """A constant target gives the mean, without an evaluation, also after an earlier fit."""
    X, y = diabetes
    found = auto(n_trees=10, cv=3).fit(X, y)
    assert hasattr(found, "evaluation_")
    found.fit(X, np.ones(len(y)))
    assert not hasattr(found, "evaluation_")
    assert len(found.rules_) == 0


def test_candidates_alone_are_not_enough(diabetes, model):
    """Without rows there is nothing to validate on, and the remedy is said."""
    candidates = candidates_for(*diabetes, n_trees=10)
    with pytest.raises(InvalidParameter, match="needs rows to cross-validate"):
        auto().fit_candidates(candidates)
    with pytest.raises(InvalidParameter, match="needs rows to cross-validate"):
        model.select(stability="auto")


def test_other_points_can_be_selected(diabetes, model):
    """From a model that chose for itself, others are a step away, and the evaluation stays."""
    looser = model.select(stability=0.5)
    assert looser.rules_ == auto(stability=0.5).fit(*diabetes).rules_
    assert looser.evaluation_ is model.evaluation_


def test_copies_keep_the_evaluation(diabetes, model):
    """A pickled model has it; a clone has parameters only."""
    again = pickle.loads(pickle.dumps(model))  # noqa: S301  our own
    pd.testing.assert_frame_equal(again.evaluation_.frame(), model.evaluation_.frame())
    assert repr(again.evaluation_) == repr(model.evaluation_)
    np.testing.assert_array_equal(again.predict(diabetes[0]), model.predict(diabetes[0]))
    assert not hasattr(clone(model), "evaluation_")


def test_it_can_be_searched_over(diabetes):
    """A grid search may compare the choice with fixed ones."""
    search = GridSearchCV(auto(n_trees=15, cv=3), {"stability": ["auto", 0.9]}, cv=3)
    assert np.isfinite(search.fit(*diabetes).cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize("cv", [1, 0, True, "five", 2.5, None, [([0, 1], [2, 3])]], ids=str)
def test_wrong_folds_are_refused(diabetes, cv):
    """What is no number of folds, splitter or list of pairs is named."""
    with pytest.raises(InvalidParameter, match="cv"):
        auto(cv=cv).fit(*diabetes)


def test_a_validation_that_runs_out_of_time_says_so(diabetes):
    """Searches that were cut off are counted in a warning at the line that called fit."""
    hard = {"n_trees": 200, "gamma": 10.0, "shrinkage": "equal", "gap": 0.0}
    hasty = MossRegressor(12, stability="auto", cv=2, **hard, time_limit=0.05)
    with pytest.warns(SolveLimitWarning) as caught:
        hasty.fit(*diabetes)
    words = [str(each.message) for each in caught]
    assert any("Cross-validation for stability='auto' ended" in each for each in words)
    assert all(each.filename == __file__ for each in caught)
    assert np.isfinite(hasty.predict(diabetes[0])).all()


def test_verbose_fits_tell_what_was_chosen(diabetes, capsys):
    """With verbose the evaluation is reported."""
    auto(verbose=1, n_trees=15, cv=2).fit(*diabetes)
    assert "FrontierEvaluation(11 points, 2 folds" in capsys.readouterr().err
