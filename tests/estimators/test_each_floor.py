import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

from mossrules import MossClassifier, MossRegressor, evaluate_frontier
from mossrules.constraints import AtMostFeatures, MustInclude, NeverUse
from mossrules.exceptions import InvalidParameter


@pytest.fixture(scope="module")
def diabetes():
    """Return part of a table in the users' units, and its target."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    return X[:260], y[:260]


def each(**parameters):
    """Return a model with a floor on each rule that is quickly fitted."""
    given = {"max_rules": 5, "n_trees": 60, "floor": "each", "random_state": 1}
    return MossRegressor(**{**given, **parameters})


@pytest.fixture(scope="module")
def model(diabetes):
    """Return a fitted model that no test changes."""
    return each(stability=0.5).fit(*diabetes)


def least_proportion(model):
    """Return the tree frequency of the least frequent rule of a model."""
    return float(np.min(model.rules_.proportion))


def test_every_rule_is_in_at_least_so_many_trees(model):
    """Half as many as the last of the five most frequent, and a sentence tells the least of all."""
    counts = np.sort(model.pool_.counts)[::-1]
    assert least_proportion(model) >= 0.5 * counts[4] / 60
    floor = model.problem_.min_stability
    assert floor == counts[counts >= 0.5 * counts[4]].min()
    assert model.solution_.stability == round(60 * least_proportion(model)) >= floor
    least = f"at least {1000 * model.solution_.stability // 60 / 10:g} % of the trees"
    assert least in model.fitted_.floor_sentence
    assert model.solution_.verify(model.problem_).passed
    assert MossRegressor().floor == "each"


def test_a_number_of_rules_allows_the_most_frequent_ones(diabetes):
    """All that are as frequent as the last of them are allowed too."""
    model = each(stability=20).fit(*diabetes)
    counts = np.sort(model.pool_.counts)[::-1]
    assert model.problem_.min_stability == counts[19]
    fewer = each(stability=3, max_rules=10).fit(*diabetes)
    assert len(fewer.rules_) == np.count_nonzero(counts >= counts[2])


@pytest.mark.parametrize(("word", "share"), [("high", 0.5), ("medium", 0.2), ("low", 0.1)])
def test_a_word_is_a_share(diabetes, word, share):
    """The same model, and a proof also where the paper's "low" has none."""
    of_word, of_share = (each(stability=stability).fit(*diabetes) for stability in (word, share))
    assert of_word.rules_ == of_share.rules_
    assert of_word.solution_.status.value == "optimal"


def test_the_trade_off_is_that_of_each_rule(model):
    """Frontier, selection by index and by share, and the complete frontier."""
    frontier = model.frontier(points=8)
    assert frontier.floor == "each"
    assert frontier.max_stability == model.problem_.max_stability
    for index, point in enumerate(frontier):
        chosen = model.select(index=index, frontier=frontier)
        assert chosen.solution_ is point
        assert round(60 * least_proportion(chosen)) == point.stability
        again = model.select(stability=chosen.stability)
        assert again.solution_.loss <= point.loss * 1.02
    assert model.frontier("complete", gap=0.0).complete
    assert model.frontier([1.0, 0.5, 0.2]).entries[0].floor == frontier.max_stability


def test_auto_takes_one_of_eleven_shares(diabetes):
    """From all of the largest score to a twentieth of it."""
    model = each(stability="auto", cv=3).fit(*diabetes)
    shares = model.evaluation_.shares
    np.testing.assert_allclose(shares, np.geomspace(1.0, 0.05, 11))
    assert model.fitted_.settings.stability in shares
    least = 1000 * model.solution_.stability // 60 / 10
    assert model.fitted_.floor_sentence == f"Every rule is in at least {least:g} % of the trees."


def test_the_trade_off_out_of_sample_is_at_the_same_shares(diabetes):
    """Each point is what the model of that share is worth."""
    evaluation = evaluate_frontier(each(), *diabetes, cv=3, points=[1.0, 0.4])
    assert evaluation.shares.tolist() == [1.0, 0.4]
    assert all(point.stability >= point.share - 1e-9 for point in evaluation.points)


def test_classes_have_the_same_floor():
    """Two classes, and several, of which each has its own."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    two = MossClassifier(4, floor="each", stability=30, n_trees=60).fit(X, y)
    assert two.problem_.floor == "each"
    assert least_proportion(two) * 60 >= two.problem_.min_stability - 1e-9 > 0
    assert two.solution_.verify(two.problem_).passed
    assert two.select(stability="high").problem_.floor == "each"
    X, y = load_iris(return_X_y=True, as_frame=True)
    three = MossClassifier(3, floor="each", n_trees=30).fit(X, y)
    assert {problem.floor for problem in three.problem_.values()} == {"each"}
    assert all(member.fitted_.floor_sentence for member in three.estimators_.values())


def test_constraints_go_with_it(diabetes, model):
    """Limits on features and columns never to use; required rules are exempt."""
    limited = each(stability=0.5, constraints=[NeverUse("bmi"), AtMostFeatures(2)]).fit(*diabetes)
    assert "bmi" not in " ".join(limited.rules_.texts)
    assert limited.solution_.stability >= limited.problem_.min_stability > 0
    assert limited.solution_.verify(limited.problem_).passed
    rare = model.pool_.rules[int(np.argmin(model.pool_.counts))]
    required = each(stability=0.5, constraints=MustInclude(rare)).fit(*diabetes)
    assert rare in required.rules_.rules
    assert required.fitted_.floor_sentence.startswith("Every rule that was not required")
    others = [p for r, p in zip(required.rules_.rules, required.rules_.proportion, strict=True)
              if r != rare]  # fmt: skip
    assert round(60 * min(others)) >= required.problem_.min_stability > 0


def test_the_parameter_is_checked_and_cloned(diabetes):
    """It is one of two words, and a number of rules goes with "each" alone."""
    assert clone(each()).floor == "each"
    with pytest.raises(InvalidParameter, match="floor is 'all'; choose from 'sum', 'each'"):
        each(floor="all").fit(*diabetes)
    with pytest.raises(InvalidParameter, match="a number of rules goes with floor='each'"):
        each(floor="sum", stability=100).fit(*diabetes)


def test_a_model_of_nothing_has_no_floor():
    """Where the target is constant there are no candidates, and nothing to say."""
    model = each().fit([[1.0], [2.0], [3.0]], [1.0, 1.0, 1.0])
    assert model.fitted_.floor_sentence is None
    assert model.frontier().floor == "each"


def test_a_pickled_model_keeps_its_floor(model):
    """Problem and settings too."""
    again = pickle.loads(pickle.dumps(model))  # noqa: S301  our own bytes
    assert again.problem_.floor == again.fitted_.settings.floor == "each"
    assert again.select(stability=0.3).problem_.floor == "each"
