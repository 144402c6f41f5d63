import numpy as np
import pytest
from sklearn.datasets import make_regression

from mossrules import MossClassifier, MossRegressor
from mossrules.baselines.registry import (
    BASELINES,
    COMPARED,
    METHODS,
    MOSS,
    OWN,
    baselines_like,
    make_methods,
)
from mossrules.defaults import PAPER_WAY
from mossrules.estimators.base import SEARCH_PARAMETERS
from mossrules.exceptions import InvalidParameter


@pytest.mark.parametrize("classes", [False, True])
def test_all_methods_of_a_target_are_made_with_what_is_shared(classes):
    """Without names there are all of them, but for those that classes have no use for."""
    methods = make_methods(None, classes=classes, moss={"gap": 0.05}, max_rules=4, n_trees=25)
    assert set(COMPARED) - set(methods) == ({"FIRE"} if classes else set())
    for name in {OWN, *METHODS} & set(methods):
        method = methods[name]
        assert (method.max_rules, method.n_trees) == (4, 25)
        assert (name in (OWN, *MOSS)) == (getattr(method, "gap", None) == 0.05)


@pytest.mark.parametrize("kind", [MossRegressor, MossClassifier])
def test_our_default_stands_beside_the_methods_of_the_paper(kind):
    """Those find and choose rules as the paper does, whatever is asked of ours."""
    classes = kind is MossClassifier
    own = {"floor": "each", "stability": 0.3}
    methods = make_methods(None, classes=classes, moss={"directions": "own"}, own=own, n_trees=25)
    assert methods[OWN].get_params() == kind(n_trees=25, stability=0.3).get_params()
    for name, stability in MOSS.items():
        papers = kind(n_trees=25, stability=stability, **PAPER_WAY)
        assert methods[name].get_params() == papers.get_params()


def test_names_that_cannot_be_had_are_refused():
    """A sentence says what there is, or that a method is for numbers only."""
    with pytest.raises(InvalidParameter, match="choose from"):
        make_methods(["FIGS"], classes=False)
    with pytest.raises(InvalidParameter, match="FIRE is for numbers"):
        make_methods(["SIRUS", "FIRE"], classes=True)


@pytest.mark.parametrize("kind", [MossRegressor, MossClassifier])
def test_baselines_look_for_rules_as_a_model_does(kind):
    """All parameters of the search and the number of rules are the model's."""
    model = kind(7, n_trees=30, n_bins=5, max_depth=3, max_features=0.7, random_state=4)
    found = baselines_like(model)
    assert set(found) == set(BASELINES) - ({"FIRE"} if kind is MossClassifier else set())
    for method in found.values():
        assert method.max_rules == 7
        assert all(getattr(method, name) == getattr(model, name) for name in SEARCH_PARAMETERS)


@pytest.mark.parametrize("kind", [MossRegressor, MossClassifier])
def test_baselines_take_the_default_number_of_trees_of_a_model(kind):
    """As "auto", which is what reports and comparisons hand on, they grow as many as it does."""
    X, y = make_regression(60, 2, random_state=0)
    y = (y > 0) ^ (np.arange(60) % 9 == 0) if kind is MossClassifier else y
    model = kind(2, n_bins=4, gap=0.5).fit(X, y)
    assert model.n_trees == "auto"
    for method in baselines_like(model).values():
        assert method.fit(X, y).pool_.n_trees == model.pool_.n_trees
