import numpy as np
import pandas as pd
import pytest
from sklearn.impute import SimpleImputer

from mossrules import MossRegressor
from mossrules.baselines.registry import METHODS, MOSS
from mossrules.data.table import Table
from mossrules.defaults import PAPER, PAPER_WAY
from mossrules.exceptions import InvalidParameter
from research.paper.protocols import (
    DEFAULT,
    MedianFilled,
    has_missing,
    one_hot,
    protocol_for,
)


@pytest.fixture
def mixed():
    """Return a table with a category, missing values of both kinds, and a target."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(120, 2)), columns=["size", "age"])
    frame["place"] = rng.choice(["north", "south", "west"], 120)
    target = 2.0 * (frame["size"] > 0) + (frame["place"] == "west") + 0.1 * frame["age"]
    frame.loc[::7, "age"] = np.nan
    frame.loc[::11, "place"] = None
    return frame, target.to_numpy()


def test_levels_become_columns_as_pandas_makes_them(mixed):
    """Categories are the dummy columns of pandas, all 0 where the level is missing."""
    X, _ = mixed
    found = one_hot(Table.from_any(X))
    expected = pd.get_dummies(X, prefix_sep="=", dtype=float)
    assert list(found) == list(expected.columns)
    for name, values in found.items():
        np.testing.assert_array_equal(values, expected[name])


def test_medians_are_those_of_the_training_rows(mixed):
    """A filled learner predicts as the bare one does on tables that scikit-learn has filled."""
    X, y = mixed
    prepared = pd.DataFrame(protocol_for("paper").prepare(X))
    train, test = prepared[:80], prepared[80:]
    model = protocol_for("paper").moss("high", prepared, max_rules=5, n_trees=30)
    assert isinstance(model, MedianFilled)
    imputer = SimpleImputer(strategy="median").set_output(transform="pandas").fit(train)
    bare = model.learner.fit(imputer.transform(train), y[:80])
    model.fit(train, y[:80])
    np.testing.assert_array_equal(model.predict(test), bare.predict(imputer.transform(test)))
    assert model.rules_ == bare.rules_


def test_tables_without_gaps_need_no_filling(mixed):
    """Learners stay bare where nothing is missing, so that they can share candidates."""
    X, _ = mixed
    whole = protocol_for("paper").prepare(X.drop(columns="age"))
    assert not has_missing(whole)
    for model in protocol_for("paper").learners(whole).values():
        assert not isinstance(model, MedianFilled)


@pytest.mark.parametrize(
    ("n_rows", "stability", "gamma"),
    [(1000, "high", 0.05), (1001, "high", 0.01), (1000, "medium", 0.01), (1001, "medium", 0.001)],
)
def test_the_paper_protocol_has_the_gammas_and_the_tie_rule_of_the_authors(
    n_rows, stability, gamma
):
    """Gamma depends on the rows and the setting; rules that tie last are dropped."""
    X = np.zeros((n_rows, 1))
    model = protocol_for("paper").moss(stability, X)
    assert (model.gamma, model.ties) == (gamma, "drop")
    for learner in (model, *protocol_for("paper").learners(X).values()):
        assert (learner.n_bins, learner.max_depth, learner.max_features) == (10, 2, 1 / 3)


def test_our_protocol_has_our_defaults(mixed):
    """Tables stay as they are, and parameters are those of a bare estimator."""
    X, _ = mixed
    ours = protocol_for("ours")
    assert ours.prepare(X) is X
    default = {**MossRegressor().get_params(), "random_state": 0}
    assert ours.learners(X, names=(DEFAULT,))[DEFAULT].get_params() == default
    assert ours.moss(0.7, X).get_params() == {**default, "stability": 0.7}


@pytest.mark.parametrize("way", ["paper", "ours"])
def test_the_methods_of_the_paper_find_and_choose_rules_as_the_paper_does(mixed, way):
    """Whatever our defaults are: the paper's protocol has its numbers too, ours has our own."""
    X, _ = mixed
    protocol = protocol_for(way)
    asked = PAPER if way == "paper" else {**MossRegressor().get_params(), **PAPER_WAY}
    for name, stability in MOSS.items():
        model = protocol.learners(protocol.prepare(X), names=(name,))[name]
        found = (model.learner if isinstance(model, MedianFilled) else model).get_params()
        expected = {**asked, "stability": stability, "random_state": 0}
        assert {each: found[each] for each in expected} == expected


def test_shares_of_stability_are_of_the_sum_in_the_paper_protocol(mixed):
    """A number in place of a word changes nothing else."""
    X = mixed[0][["size"]]
    model = protocol_for("paper").moss(0.7, X)
    assert {name: getattr(model, name) for name in PAPER} == {**PAPER, "stability": 0.7}


@pytest.mark.parametrize("way", ["paper", "ours"])
def test_every_learner_learns_from_a_prepared_table(mixed, way):
    """All seven learners find rules in a table with categories and missing values."""
    X, y = mixed
    protocol = protocol_for(way)
    prepared = protocol.prepare(X)
    learners = protocol.learners(prepared, max_rules=4, n_trees=40)
    assert tuple(learners) == METHODS
    for name, learner in learners.items():
        learner.fit(prepared, y)
        assert 1 <= len(learner.rules_) <= (4 if name != "GLRM" else len(learner.rules_))


def test_unknown_names_are_refused():
    """A protocol or a learner that there is not gets a sentence with those that there are."""
    with pytest.raises(InvalidParameter, match="choose 'paper' or 'ours'"):
        protocol_for("theirs")
    with pytest.raises(InvalidParameter, match="choose from"):
        protocol_for("paper").learners(np.zeros((5, 1)), names=("FIGS",))
