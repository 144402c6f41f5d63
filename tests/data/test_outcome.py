"""Which of two classes is the outcome, by its name or as it was named."""

import numpy as np
import pytest

from mossrules import MossClassifier, MossRegressor
from mossrules.baselines import GlrmClassifier, RuleFitClassifier, SirusClassifier
from mossrules.data.outcome import EVENTS, NO_EVENTS, find_class, outcome_place, warn_if_guessed
from mossrules.evaluation import assess, evaluate, evaluate_frontier, performance
from mossrules.exceptions import InvalidParameter, OutcomeWarning

rng = np.random.default_rng(3)
X = {"age": rng.integers(20, 80, 120).astype(float), "dose": rng.normal(size=120).round(2)}
EVENT = X["dose"] + rng.normal(size=120) / 2 > 0.3
STATUS = np.where(EVENT, "case", "control")

PAIRS = [  # the outcome first
    ("case", "control"), ("Case", "CONTROL"), ("yes", "no"), ("died", "survived"), (True, False),
    (1, 0), (1, -1), ("1", "0"), ("positive", "negative"), ("Y", "N"), ("t", "f"), ("+", "-"),
    ("malignant", "benign"), ("relapse", "no relapse"), ("smoker", "non-smoker"), ("event", "x"),
    ("stroke", "control"), ("dead", "lost"), ("exposed", "unexposed"), (1.0, 0.0),
]  # fmt: skip
UNTOLD = [("a", "b"), (1, 2), ("cold", "hot"), ("yes", "case"), ("no", "control"), ("f", "m"),
          (0, 2), ("n", "s"), ("female", "male")]  # fmt: skip


@pytest.mark.parametrize(("event", "other"), PAIRS)
def test_a_name_says_that_something_happened_or_that_it_did_not(event, other):
    """In either order of the labels, and whatever their type; then there is nothing to warn of."""
    assert outcome_place([event, other]) == 0
    assert outcome_place([other, event]) == 1
    warn_if_guessed(np.array([other, event]), None)


@pytest.mark.parametrize(("first", "last"), UNTOLD)
def test_where_names_tell_nothing_it_is_the_last_and_said_so(first, last):
    """To name it, or to name the other, is to be told no more."""
    assert outcome_place([first, last]) == 1
    with pytest.warns(OutcomeWarning, match=f"probability of {last!r}"):
        warn_if_guessed([first, last], None)
    warn_if_guessed([first, last], first)


def test_no_name_says_both():
    """And all are in small letters, as they are compared."""
    assert not EVENTS & NO_EVENTS
    assert all(word == word.lower().strip() for word in EVENTS | NO_EVENTS)


def test_a_class_is_named_by_its_value_or_its_text():
    """A label of the same type comes first; text does where it is of one class alone."""
    assert find_class([0, 1], "1") == find_class([False, True], "true") == 1
    assert find_class(np.array([0, 1]), np.int64(0)) == find_class(["1", 1], "1") == 0
    assert find_class(["1", 1], 1) == find_class([0.0, 1.0], "1") == 1
    for classes, named in ((["a", "b"], "c"), ([0, 1], "one"), ([0, 1], [1]), ([0, 1], None)):
        with pytest.raises(InvalidParameter, match="is none of the classes; name one of"):
            find_class(classes, named)


@pytest.mark.parametrize("method", [evaluate, assess])
def test_an_outcome_that_is_no_class_is_told_before_any_fold(method):
    """And not as a failure of each fold."""
    with pytest.raises(InvalidParameter, match="Did you mean 'case'"):
        method({"MOSS": MossClassifier(outcome="cas")}, X, STATUS)
    with pytest.raises(InvalidParameter, match="has 3 classes, each of which has rules"):
        method({"MOSS": MossClassifier(outcome="a")}, X, np.array(["a", "b", "c"] * 40))


@pytest.mark.parametrize(
    "kind", [MossClassifier, SirusClassifier, GlrmClassifier, RuleFitClassifier]
)
def test_all_classifiers_model_the_event_and_keep_the_order_of_scikit_learn(kind):
    """Effects point to the event; probabilities, log-odds and decisions are by `classes_`."""
    model = kind(3, n_trees=30).fit(X, STATUS)
    expected = kind(3, n_trees=30).fit(X, EVENT)
    assert model.classes_.tolist() == ["case", "control"]
    assert model.rules_ == expected.rules_
    np.testing.assert_array_equal(model.rules_.weights, expected.rules_.weights)
    np.testing.assert_allclose(
        model.predict_proba(X), expected.predict_proba(X)[:, ::-1], rtol=1e-12
    )
    np.testing.assert_array_equal(model.decision_function(X), -expected.decision_function(X))
    np.testing.assert_array_equal(model.predict(X) == "case", expected.predict(X))
    other = kind(3, n_trees=30, outcome="control").fit(X, STATUS)
    assert other.score(X, STATUS) == pytest.approx(model.score(X, STATUS), abs=0.05)


def test_evaluations_measure_what_does_not_depend_on_the_outcome():
    """Rules and measures of folds are the same for both classes, as candidates are shared too."""
    methods = {
        name: kind(3, n_trees=30, outcome=outcome)
        for name, kind, outcome in (
            ("event", MossClassifier, None), ("other", MossClassifier, "control"),
            ("SIRUS", SirusClassifier, None), ("SIRUS other", SirusClassifier, "control"),
        )
    }  # fmt: skip
    found = evaluate(methods, X, STATUS, cv=3)
    event, other, sirus, sirus_other = found.summaries
    for one, two in ((event, other), (sirus, sirus_other)):
        for name, value in one.scores.items():
            assert two.scores[name] == pytest.approx(value, abs=1e-9)
        assert one.dice.estimate == pytest.approx(two.dice.estimate)
    rules = [each.rules for each in found.results if each.method == "other"]
    assert {each.outcome for each in rules} == {"control"}
    trust = assess(
        {"event": methods["event"], "other": methods["other"]}, X, STATUS, refits=3, seeds=2
    )
    one, two = trust.methods
    for name in trust.measures:
        if "seconds" not in name:
            expected = pytest.approx(getattr(one, name), rel=1e-6, abs=1e-9, nan_ok=True)
            assert getattr(two, name) == expected


def test_performance_is_of_the_outcome():
    """Sensitivity of one class is specificity of the other; a rule set knows its own class."""
    model = MossClassifier(3, n_trees=30)
    case, control = (
        performance(model, X, STATUS, cv=3, outcome=each) for each in (None, "control")
    )
    assert (case.outcomes, control.outcomes) == (("case",), ("control",))
    assert case["sensitivity"].estimate == pytest.approx(control["specificity"].estimate)
    fitted = model.fit(X, STATUS)
    rules = performance(fitted.rules_, X, STATUS, cv=None, outcome="control")
    whole = performance(fitted, X, STATUS, cv=None, outcome="control")
    assert rules["auc"] == pytest.approx(whole["auc"])
    with pytest.raises(InvalidParameter, match="target is a number"):
        performance(MossRegressor(), X, X["age"], outcome=1)


def test_what_is_no_r2_is_not_called_so():
    """Of classes, evaluations of the trade-off speak of the share of the log-loss explained."""
    found = evaluate_frontier(MossClassifier(2, n_trees=30), X, STATUS, cv=2, points=[1.0])
    assert "R2" not in f"{found!r} {found.points}"
    assert "log-loss explained " in repr(found.points[0])
    assert "log-loss explained on test rows" in found.plot().ax_.get_ylabel()


def test_rules_that_add_up_a_probability_say_whose():
    """Those of SIRUS have the unit of a probability, and no log-odds."""
    rules = SirusClassifier(2, n_trees=30).fit({**X, "status": STATUS}, "status").rules_
    assert rules.to_text().startswith("Predicted probability of status = case is")


def test_frontiers_of_several_classes_are_a_dict():
    """Each is that of its class against all others, which have the same rules."""
    y = np.digitize(X["dose"], [-0.5, 0.5])
    found = evaluate_frontier(MossClassifier(2, n_trees=30), X, y, cv=3, points=[1.0, 0.3])
    assert list(found) == [0, 1, 2]
    assert list(MossClassifier(2, n_trees=30).fit(X, y).frontier_) == [0, 1, 2]
    alone = evaluate_frontier(MossClassifier(2, n_trees=30), X, y == 2, cv=3, points=[1.0, 0.3])
    for ours, theirs in zip(found[2].results, alone.results, strict=True):
        assert [each.rules for each in ours] == [each.rules for each in theirs]
    quick = evaluate_frontier(
        MossClassifier(2, n_trees=30), X, y, cv=2, points=[1.0], time_budget=30.0
    )
    assert len(quick) == 3


def test_a_track_record_is_of_the_outcome():
    """So are the rates that are observed where its rules hold."""
    model = MossClassifier(2, n_trees=30).fit(X, STATUS)
    record = model.track_record(X, STATUS, refits=3)
    assert record.outcome == "case"
    for rule, holds in zip(record.rules, model.rules_.holds(X).T, strict=True):
        assert rule.observed == pytest.approx(EVENT[holds].mean())
        assert rule.events == EVENT[holds].sum()
