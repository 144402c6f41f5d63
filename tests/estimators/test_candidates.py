import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor
from sklearn.utils.validation import check_is_fitted

from mossrules import FittedEnsemble, MossRegressor, estimators, find_candidates
from mossrules.estimators import base, candidates_for, search_parameters
from mossrules.exceptions import InvalidParameter, SolveLimitWarning
from mossrules.learning import fit as steps

SEARCH = {"n_trees": 60, "max_depth": 2, "n_bins": 6, "max_features": 0.5, "random_state": 4}


@pytest.fixture(scope="module")
def diabetes():
    """Return a table in the users' units and its target."""
    return load_diabetes(return_X_y=True, as_frame=True, scaled=False)


@pytest.fixture(scope="module")
def candidates(diabetes):
    """Return candidates of the table, which no test changes."""
    return candidates_for(*diabetes, **SEARCH)


def fitted(model):
    """Return what fit has set, by name, in comparable form."""
    check_is_fitted(model)
    statistics = model.candidates_.statistics
    return {
        "rules": model.rules_.to_json(),
        "support": model.solution_.support.tolist(),
        "loss": model.solution_.loss,
        "floor": model.problem_.min_stability if model.problem_ else None,
        "pool": model.pool_,
        "G": statistics.G.tobytes(),
        "q": statistics.q.tobytes(),
        "features": model.n_features_in_,
        "names": getattr(model, "feature_names_in_", np.array([])).tolist(),
        "all": sorted(vars(model)),
    }


@pytest.mark.parametrize("parameters", [{}, {"stability": 0.7}, {"stability": "low"}], ids=str)
def test_fitting_is_finding_and_choosing(diabetes, candidates, parameters):
    """Candidates found beforehand give all that fit sets, bit for bit."""
    X, y = diabetes
    whole = MossRegressor(5, **SEARCH, **parameters).fit(X, y)
    shared = MossRegressor(5, **parameters).fit_candidates(candidates, target="target")
    assert fitted(shared) == fitted(whole)
    np.testing.assert_array_equal(shared.predict(X), whole.predict(X))


def test_weights_and_the_order_of_rows_are_minded_when_finding(diabetes):
    """Candidates are those of fit with sample weights, whatever the order of the rows."""
    X, y = diabetes
    w = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    order = np.random.default_rng(1).permutation(len(y))
    found = candidates_for(X.iloc[order], y.iloc[order], w[order], n_jobs=1, **SEARCH)
    shared = MossRegressor(4).fit_candidates(found, target="target")
    assert fitted(shared) == fitted(MossRegressor(4, **SEARCH).fit(X, y, sample_weight=w))


def test_an_estimator_says_how_it_searches(diabetes, candidates):
    """The parameters of the search, taken from an estimator, find what it would find."""
    model = MossRegressor(3, stability=0.5, **SEARCH)
    assert search_parameters(model) == {
        **steps.SEARCH, **SEARCH, "n_jobs": None
    }  # fmt: skip
    assert candidates_for(*diabetes, **search_parameters(model)).pool == candidates.pool


def test_inner_nodes_are_candidates_by_default(diabetes):
    """Rules of one condition join those of the leaves, which are found as often as before."""
    search = {**SEARCH, "max_overlap": None}  # else inner nodes stand for leaves like them
    model, plain = (
        MossRegressor(5, **search, **of_leaves).fit(*diabetes)
        for of_leaves in ({}, {"inner_nodes": False})
    )
    assert model.pool_ == candidates_for(*diabetes, inner_nodes=True, **search).pool
    found = dict(zip(model.pool_.rules, model.pool_.counts.tolist(), strict=True))
    leaves = dict(zip(plain.pool_.rules, plain.pool_.counts.tolist(), strict=True))
    assert {len(rule.conditions) for rule in found.keys() - leaves.keys()} == {1}
    # A leaf may have a single condition too, as inner nodes have: it is found more often then.
    for rule, count in leaves.items():
        assert found[rule] == count or (len(rule.conditions) == 1 and found[rule] > count)
    assert search_parameters(MossRegressor())["inner_nodes"] is True


def test_sharing_candidates_reads_no_rows(candidates, monkeypatch):
    """Neither rows nor forests are needed once candidates are there."""
    for module, name in [
        (base, "read_training"),
        (base, "find_in_rows"),
        (steps, "find_candidates"),
    ]:
        monkeypatch.setattr(module, name, None)
    models = [MossRegressor(k, stability=0.8).fit_candidates(candidates) for k in (2, 4)]
    assert [len(model.rules_) for model in models] == [2, 4]
    assert models[0].candidates_ is models[1].candidates_ is candidates
    assert len(models[1].frontier(points=3)) >= 1


def test_candidates_of_arrays_have_no_names(diabetes, recwarn):
    """Names that were made up for an array are not those of features, before or after."""
    X, y = diabetes
    model = MossRegressor(3, **SEARCH).fit(X, y)
    array = X.to_numpy()
    model.fit_candidates(candidates_for(array, y.to_numpy(), **SEARCH))
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 10
    assert fitted(model) == fitted(MossRegressor(3, **SEARCH).fit(array, y.to_numpy()))
    model.predict(array)
    assert not recwarn.list


def test_names_that_are_no_text_are_not_kept(diabetes, recwarn):
    """Columns named by numbers count as unnamed, as in scikit-learn."""
    X, y = diabetes
    numbered = X.set_axis(range(10), axis="columns")
    model = MossRegressor(3).fit_candidates(candidates_for(numbered, y, **SEARCH))
    assert not hasattr(model, "feature_names_in_")
    model.predict(numbered)
    assert not recwarn.list


def test_a_target_of_that_name_is_ignored_in_predictions(diabetes):
    """As after fit by name; a feature that happens to have the name stays one."""
    X, y = diabetes
    table = X.assign(target=y)
    model = MossRegressor(3).fit_candidates(
        candidates_for(table, "target", **SEARCH), target="target"
    )
    np.testing.assert_array_equal(model.predict(table), model.predict(X))
    assert model.rules_.target == "target"
    same = MossRegressor(3).fit_candidates(candidates_for(table, y, **SEARCH), target="target")
    assert same.n_features_in_ == 11
    assert same.predict(table).shape == y.shape


def test_candidates_may_come_from_anywhere(diabetes):
    """Those of find_candidates, with inner nodes and of scikit-learn's forests, do as well."""
    X, y = diabetes
    inner = find_candidates(X, y, n_trees=30, inner_nodes=True)
    assert len(MossRegressor(4).fit_candidates(inner).rules_) == 4
    forest = RandomForestRegressor(20, max_depth=2, random_state=0).fit(X, y)
    outer = candidates_for(X, y, generator=FittedEnsemble(forest))
    model = MossRegressor(4, generator=FittedEnsemble(forest)).fit(X, y)
    assert MossRegressor(4).fit_candidates(outer).rules_ == model.rules_


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [0.0, 1.0, 0.0]}), [5.0, 5.0, 5.0]),
        (pd.DataFrame({"a": [1.0, 1.0, 1.0]}), [1.0, 2.0, 4.5]),
    ],
    ids=["constant target", "constant columns"],
)
def test_where_nothing_can_be_found_there_are_no_candidates(X, y):
    """The model of no candidates is the mean, as after fit."""
    candidates = candidates_for(X, y, n_trees=10)
    assert len(candidates) == 0
    model = MossRegressor(3).fit_candidates(candidates)
    assert fitted(model) == fitted(MossRegressor(3, n_trees=10).fit(X, y))
    np.testing.assert_array_equal(model.predict(X), np.full(3, np.mean(y)))


def test_wrong_parameters_are_refused_before_choosing(candidates):
    """Parameters are checked as in fit."""
    with pytest.raises(InvalidParameter, match="max_rules"):
        MossRegressor(0).fit_candidates(candidates)


def test_a_warning_points_to_the_caller(diabetes, candidates):
    """The line that asked for too little time is the one that is named."""
    hard = {"stability": 0.01, "shrinkage": "equal", "gamma": 10.0, "gap": 0.0}
    hasty = MossRegressor(15, **hard, time_limit=0.02, **SEARCH)
    for fit in (lambda: hasty.fit(*diabetes), lambda: hasty.fit_candidates(candidates)):
        with pytest.warns(SolveLimitWarning) as caught:
            fit()
        assert caught[0].filename == __file__


def test_the_old_name_of_the_parameters_still_works():
    """`generation` is what `search_parameters` is called now, and says so."""
    with pytest.warns(DeprecationWarning, match=r"estimators\.search_parameters"):
        assert estimators.generation is search_parameters
