import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression

from mossrules import defaults
from mossrules.baselines.base import BaselineRegressor, ChosenRules
from mossrules.baselines.designs import Design
from mossrules.estimators import candidates_for, search_parameters
from mossrules.exceptions import InvalidParameter
from mossrules.learning.fit import find_in_rows


class FirstRules(BaselineRegressor):
    """Least squares on the first rules: a learner as small as they come."""

    def __init__(self, max_rules=3, *, n_trees=30, max_depth=2, n_bins=10, max_features=1 / 3,
                 generator=defaults.GENERATOR, source="pool", variant="published",
                 random_state=None, n_jobs=None):  # fmt: skip
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
