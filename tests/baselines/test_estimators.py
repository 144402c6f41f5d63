"""What holds for all baselines alike."""

from itertools import product

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

from mossrules import defaults
from mossrules.baselines import (
    FireRegressor,
    GlrmClassifier,
    GlrmRegressor,
    RuleFitClassifier,
    RuleFitRegressor,
    SirusClassifier,
    SirusRegressor,
)
from mossrules.estimators import candidates_for, search_parameters
from mossrules.exceptions import InvalidParameter
from support.baseline_cases import is_second, mixed_table

REGRESSORS = (SirusRegressor, RuleFitRegressor, FireRegressor, GlrmRegressor)
CLASSIFIERS = (SirusClassifier, RuleFitClassifier, GlrmClassifier)
SOURCES, VARIANTS = ("pool", "own"), ("published", "paper")
STRENGTHS = {FireRegressor: "price_", GlrmRegressor: "strength_"}  # NaN where there are no rules


@parametrize_with_checks(
    [
        SirusRegressor(n_trees=50),
        SirusRegressor(5, n_trees=50, source="own", ridge="cv"),
        SirusRegressor(8, n_trees=50, variant="paper", p0=0.02),
        SirusClassifier(4, n_trees=10, source="own"),
        RuleFitRegressor(n_trees=50),
        RuleFitRegressor(5, n_trees=20, source="own", linear_terms=True, penalty="cv"),
        RuleFitRegressor(8, n_trees=50, max_features=1 / 3, variant="paper"),
        RuleFitClassifier(4, n_trees=10, n_jobs=1),
        FireRegressor(n_trees=30),
        FireRegressor(5, source="own", gamma=3.0, fusion=0.0, n_trees=20),
        FireRegressor(variant="paper", n_trees=30),
        GlrmRegressor(refit=False, n_trees=30),
        GlrmRegressor(5, source="own", beam_width=3, max_length=3),
        GlrmRegressor(variant="paper", n_trees=100),
        GlrmClassifier(2, source="own", max_length=1),
    ]
)
def test_scikit_learn_is_content(estimator, check):
    """All of scikit-learn's checks pass, with none that is expected to fail."""
    check(estimator)


# --- tables in ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        *(
            kind(10, source=source, variant=variant, n_trees=60)
            for kind, source, variant in product(REGRESSORS, SOURCES, VARIANTS)
        ),
        SirusRegressor(10, source="own", n_trees=60, ridge="cv"),
        RuleFitRegressor(10, n_trees=60, penalty="cv"),
        RuleFitRegressor(10, n_trees=60, penalty="cv", linear_terms=True),
        RuleFitRegressor(10, source="own", n_trees=60, penalty="cv", linear_terms=True),
    ],
    ids=repr,
)
def test_tables_are_taken_as_they_are(model):
    """Missing values and categories are used, and the order of rows makes no difference."""
    X, _ = mixed_table(n=200)
    rng = np.random.default_rng(0)
    y = 3.0 * X["size"].isna() + 2.0 * (X["kind"] == "oak") + X["wet"] + rng.normal(size=200) / 10
    model.fit(X, y)
    assert model.score(X, y) > 0.5
    assert {"size", "kind"} <= set(model.rules_.features)
    order = rng.permutation(200)
    shuffled = clone(model).fit(X.iloc[order], y.iloc[order])
    assert shuffled.rules_.to_json() == model.rules_.to_json()
    np.testing.assert_array_equal(shuffled.predict(X), model.predict(X))


@pytest.mark.parametrize("kind", REGRESSORS)
def test_whole_weights_are_repeated_rows(kind):
    """In both variants and from both sources; other weights are taken too."""
    X, y = mixed_table(n=200)
    rng = np.random.default_rng(0)
    weights = rng.integers(1, 4, 200)
    repeated = np.repeat(np.arange(200), weights)
    for source, variant in product(SOURCES, VARIANTS):
        model = kind(10, source=source, variant=variant, n_trees=50)
        weighted = clone(model).fit(X, y, sample_weight=weights)
        assert weighted.rules_ == clone(model).fit(X.iloc[repeated], y.iloc[repeated]).rules_
        assert clone(model).fit(X, y, sample_weight=rng.random(200)).score(X, y) > 0.5


def test_weights_of_classifiers_are_repeated_rows(tumours):
    """As for numbers; and a fit of classes is a search and a choice."""
    X, y = tumours
    w = np.random.default_rng(0).integers(1, 4, len(y))
    order = np.random.default_rng(1).permutation(np.repeat(np.arange(len(y)), w))
    for kind in CLASSIFIERS:
        model = kind(5, n_trees=20, random_state=3).fit(X, y, sample_weight=w)
        again = clone(model).fit(X.iloc[order], y.iloc[order])
        assert again.rules_.to_json() == model.rules_.to_json()
        candidates = candidates_for(X, is_second(model, y), w, **search_parameters(model))
        other = clone(model).fit_candidates(candidates, classes=model.classes_)
        np.testing.assert_allclose(other.predict_proba(X), model.predict_proba(X))
        assert (other.predict(X) == model.predict(X)).all()


@pytest.mark.parametrize("kind", REGRESSORS)
def test_a_fit_is_a_search_and_a_choice(diabetes, kind):
    """Candidates found before give the same bits; those of its own source are refused."""
    X, y = diabetes
    model = kind(n_trees=60, random_state=7).fit(X, y)
    candidates = candidates_for(X, y, **search_parameters(model))
    again = clone(model).fit_candidates(candidates, target="target")
    assert again.rules_.to_json() == model.rules_.to_json()
    with pytest.raises(InvalidParameter, match="source is 'own'"):
        kind(source="own").fit_candidates(candidates)


# --- nothing to find ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", REGRESSORS)
def test_without_candidates_the_mean_is_predicted(kind):
    """A constant target, or columns that are constant, leave no rules and no penalty."""
    varied, constant = [[0.0], [1.0], [2.0]], [[5.0], [5.0], [5.0]]
    tables = ((varied, [4.0, 4.0, 4.0]), (constant, [3.0, 4.0, 5.0]))
    for source, (X, y) in product(SOURCES, tables):
        model = kind(source=source, n_trees=5).fit(X, y)
        assert (len(model.rules_), model.predict([[7.0]]).tolist()) == (0, [4.0])
        assert np.isnan(getattr(model, STRENGTHS[kind])) if kind in STRENGTHS else True
        np.testing.assert_array_equal(model.feature_importances_, 0.0)


def test_a_constant_target_has_no_terms(diabetes):
    """The mean is the model, with neither rules nor linear terms."""
    X, y = diabetes
    model = RuleFitRegressor(linear_terms=True, n_trees=10).fit(X, np.full(len(y), 2.5))
    assert (len(model.rules_), len(model.linear_), model.alpha_) == (0, 0, 0.0)
    np.testing.assert_array_equal(model.predict(X), 2.5)


@pytest.mark.parametrize("kind", REGRESSORS)
def test_a_target_that_no_rule_explains_leaves_the_mean(kind):
    """Where all rules have the mean of the target, none of them moves the prediction."""
    X, y = [[0.0], [0.0], [1.0], [1.0]], [0.0, 1.0, 0.0, 1.0]
    for source, variant in product(SOURCES, VARIANTS):
        model = kind(source=source, variant=variant, n_trees=20).fit(X, y)
        assert model.predict(X).tolist() == [0.5] * 4


def test_columns_that_say_nothing_leave_the_share():
    """Without candidates the probability is the share of the class."""
    X, y = np.ones((8, 2)), [0, 0, 0, 0, 0, 0, 1, 1]
    for kind in CLASSIFIERS:
        model = kind(n_trees=5).fit(X, y)
        assert len(model.rules_) == 0
        np.testing.assert_allclose(model.predict_proba(X), [[0.75, 0.25]] * 8)


# --- several classes ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        SirusClassifier(3, n_trees=20),
        RuleFitClassifier(3, n_trees=20, linear_terms=True),
        GlrmClassifier(3, n_trees=20, class_weight="balanced"),
    ],
)
def test_several_classes_have_a_rule_set_each(model):
    """Probabilities add up, the most probable class is predicted, and figures are by class."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = clone(model).fit(X, y)
    P = model.predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    assert (model.predict(X) == P.argmax(axis=1)).all()
    assert list(model.rules_) == [0, 1, 2]
    assert max(map(len, model.rules_.values())) <= 3
    assert model.score(X, y) > 0.9
    for name in model._by_class:
        assert list(getattr(model, name)) == [0, 1, 2]


# --- parameters -----------------------------------------------------------------------------------


def test_parameters_are_those_promised():
    """Names and defaults of the constructors are the documented ones."""
    shared = {
        "max_rules": 15, "n_trees": 2000, "max_depth": 2, "n_bins": 8, "max_features": 0.5,
        "generator": defaults.GENERATOR, "source": "pool", "variant": "published",
        "random_state": None, "n_jobs": None,
    }  # fmt: skip
    assert SirusRegressor().get_params() == {**shared, "p0": None, "ridge": "gcv"}
    assert RuleFitRegressor().get_params() == {
        **shared, "linear_terms": False, "penalty": "smallest", "means": "all", "tree_size": 4,
        "learning_rate": 0.01,
    }  # fmt: skip
    assert FireRegressor().get_params() == {**shared, "gamma": 1.1, "fusion": 0.1}
    assert GlrmRegressor().get_params() == {
        **shared, "length_price": 0.2, "refit": True, "beam_width": 1, "max_length": 10
    }  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "parameters", "message"),
    [
        *((kind, {"max_rules": 0}, "max_rules is 0") for kind in (*REGRESSORS, *CLASSIFIERS)),
        *((kind, {"source": "own pool"}, "source is") for kind in (*REGRESSORS, *CLASSIFIERS)),
        *((kind, {"class_weight": "heavy"}, "class_weight") for kind in CLASSIFIERS),
        (SirusRegressor, {"p0": -0.1}, "p0 is -0.1"),
        (SirusRegressor, {"p0": 1.0}, "p0 is 1.0; pass a share"),
        (SirusRegressor, {"ridge": 0.0}, "ridge is 0.0"),
        (SirusRegressor, {"ridge": "loo"}, "ridge is 'loo'"),
        (
            SirusRegressor,
            {"n_trees": "auto", "source": "own", "generator": object()},
            "generator='forest'",
        ),
        (RuleFitRegressor, {"n_trees": "auto", "source": "own"}, "set source='pool'"),
        (RuleFitRegressor, {"linear_terms": 2}, "linear_terms is 2"),
        (
            RuleFitRegressor,
            {"penalty": "best"},
            "penalty is 'best'; choose from 'smallest', 'cv'",
        ),
        (RuleFitRegressor, {"variant": "paper", "linear_terms": True}, "rules alone"),
        (RuleFitRegressor, {"tree_size": 1.5}, "tree_size is 1.5"),
        (RuleFitRegressor, {"learning_rate": 1.5}, "learning_rate is 1.5; pass a share"),
        (RuleFitRegressor, {"means": "last"}, "means is 'last'"),
        (RuleFitRegressor, {"means": "first"}, "means='first' is for variant='paper'"),
        *(
            (RuleFitRegressor, {"means": "first", "variant": "paper", **other}, message)
            for other, message in (
                ({"source": "own"}, "source='pool'"),
                ({"generator": "noisy-target"}, "'forest'"),
                ({"random_state": object()}, "an integer"),
            )
        ),
        (FireRegressor, {"gamma": 1.0}, "gamma is 1.0; pass a finite number greater than 1"),
        (FireRegressor, {"fusion": -0.1}, "fusion is -0.1; pass a finite number of at least 0"),
        (GlrmRegressor, {"length_price": -1}, "length_price is -1; pass a finite number of at"),
        (GlrmRegressor, {"beam_width": 0}, "beam_width is 0"),
        (GlrmRegressor, {"max_length": 0}, "max_length is 0"),
    ],
)
def test_parameters_are_checked(kind, parameters, message):
    """What cannot be is refused before any work, by name."""
    with pytest.raises(InvalidParameter, match=message):
        kind(**parameters).fit(None, None)


def test_candidates_that_do_not_fit_are_refused(tumours):
    """The logistic loss needs patterns, and a search of one's own takes no candidates."""
    X, y = tumours
    plain = candidates_for(X, (y == "benign").to_numpy(float), n_trees=5)
    with pytest.raises(InvalidParameter, match="patterns=True"):
        GlrmClassifier(2).fit_candidates(plain)
    for kind in CLASSIFIERS:
        with pytest.raises(InvalidParameter, match="source is 'own'"):
            kind(2, source="own").fit_candidates(plain)
