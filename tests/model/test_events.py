"""How many training rows have the outcome, and the warning where they are few for the rules."""

import copy
import json
import warnings
from dataclasses import replace

import numpy as np
import pytest

from mossrules import MossClassifier, RuleSet
from mossrules.baselines import GlrmClassifier
from mossrules.evaluation import evaluate
from mossrules.exceptions import FewEventsWarning, InvalidFile, InvalidParameter
from mossrules.model.events import Events, events_sentence, few_events_sentence

rng = np.random.default_rng(5)
N = 400
X = {"dose": rng.normal(size=N).round(2), "age": rng.integers(20, 80, N)}
RARE = X["dose"] + rng.normal(size=N) / 3 > 1.6
STATUS = np.where(RARE, "case", "control")


def model(k=3, **settings):
    """Return a quick classifier."""
    return MossClassifier(k, n_trees=30, random_state=0, **settings)


def counted(y, weights=None):
    """Return the rows of both classes that count, whole weights as repetitions."""
    if weights is not None and (weights == weights.round()).all():
        y = np.repeat(y, weights.astype(int))
    elif weights is not None:
        y = y[weights > 0]
    return Events(int(y.sum()), int((~y).sum()))


@pytest.mark.parametrize("kind", [MossClassifier, GlrmClassifier])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("weights", [None, "whole", "fractions"])
def test_rows_count_as_they_are(kind, class_weight, weights):
    """Weights of classes make no events; whole weights of rows are repetitions."""
    w = {None: None, "whole": rng.integers(0, 3, N), "fractions": rng.random(N)}[weights]
    fitted = kind(2, n_trees=30, class_weight=class_weight).fit(X, STATUS, w)
    expected = counted(RARE, None if w is None else w.astype(float))
    assert fitted.rules_.events == expected
    assert fitted.rules_.events_per_rule == expected.rarer / len(fitted.rules_)


def test_each_of_several_classes_has_its_own():
    """Against all other rows."""
    y = np.digitize(X["dose"], [-1.5, 0.5])
    fitted = model(2).fit(X, y)
    for label, rules in fitted.rules_.items():
        assert rules.events == counted(y == label)


def test_few_events_are_a_warning_of_whoever_fits():
    """And of nobody who evaluates; enough of them are none."""
    with pytest.warns(FewEventsWarning, match=r"Only \d+ training rows are case, .* for each of"):
        fitted = model(10).fit(X, STATUS)
    assert fitted.rules_.events_per_rule < 10
    with pytest.warns(FewEventsWarning, match="training rows are not False"):
        model(10, outcome=False).fit(X, RARE)
    with warnings.catch_warnings():
        warnings.simplefilter("error", FewEventsWarning)
        model(3).fit(X, (X["dose"] > 0) ^ (np.arange(len(X["dose"])) % 9 == 0))
        evaluate({"MOSS": model(10, class_weight="balanced")}, X, STATUS, cv=2)
        fitted.track_record(X, STATUS, refits=2)


def test_the_sentence_is_in_every_table_for_people():
    """Beside what is allowed; a rule set with enough events says nothing of them."""
    rules = model(10).fit(X, STATUS).rules_
    few = few_events_sentence(rules, "case")
    assert f"allow no more than {rules.events.rarer // 10} (max_rules), or collect" in few
    for text in (rules.to_text(), rules.to_markdown(), rules.to_latex(), rules._repr_html_()):
        assert few in text
    enough = replace(rules, events=Events(10 * len(rules), 10_000))
    for text in (enough.to_text(), enough.to_markdown(), enough.to_latex(), enough._repr_html_()):
        assert "training rows" not in text
    assert f"{enough.events.outcome} of {sum(enough.events):,} training rows are case: 10.0" in (
        events_sentence(enough, "case")
    )
    none = replace(rules, events=Events(9, 50))
    assert "; collect more of these rows" in few_events_sentence(none, "case")


def test_files_keep_the_numbers():
    """Older files have none, and what is no number of rows is refused."""
    rules = model(2).fit(X, STATUS).rules_
    assert RuleSet.from_json(rules.to_json()).events == rules.events
    assert copy.deepcopy(rules).events == rules.events
    content = json.loads(rules.to_json())
    old = {name: value for name, value in content.items() if name != "events"}
    assert RuleSet.from_json(json.dumps(old)).events is None
    assert RuleSet.from_json(json.dumps(old)).events_per_rule is None
    for wrong in ({"outcome": -1, "others": 2}, {"outcome": 1}, [1, 2]):
        with pytest.raises(InvalidFile):
            RuleSet.from_json(json.dumps({**content, "events": wrong}))
    with pytest.raises(InvalidParameter, match="events must be Events"):
        replace(rules, events=(1, 2))


def test_choices_elsewhere_on_the_trade_off_have_them_too():
    """So do the rule sets of a frontier's points."""
    fitted = model(3, class_weight="balanced").fit(X, STATUS)
    assert fitted.select(stability=1.0).rules_.events == counted(RARE)
