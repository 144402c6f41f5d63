"""`compare_rule_sets`: what it promises of any two rule sets, and what it refuses."""

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from mossrules import MossClassifier, MossRegressor, RuleSet, RuleSets, compare_rule_sets
from mossrules.candidates.cuts import BinnedColumn
from mossrules.candidates.rules import Range
from mossrules.data.columns import Kind
from mossrules.evaluation.trust import FoundRules, JudgedRules, overlap
from mossrules.exceptions import InvalidFile, InvalidParameter, MossError, UnsupportedType
from support.small_rulesets import GRADES, SITES, age, ruleset, small_rulesets

ROWS = {
    "age": [0.5, 1.0, 1.5, 2.5, 3.0, 4.0, 6.0, 9.0, None, 2.0, 8.0, 5.0],
    "smoker": [True, False, None] * 4,
    "site": [*SITES, None, "other"] * 2,
    "grade": [*GRADES, None, "low"] * 2,
}


def told(comparison, side):
    """Return the positions of the rules of one side, as often as they are told."""
    (found,) = comparison.outcomes
    alone = found.gone if side == "old" else found.new
    return sorted(
        each.position for each in (*(getattr(pair, side) for pair in found.pairs), *alone)
    )


# --- promises -------------------------------------------------------------------------------------


@settings(max_examples=50)
@given(small_rulesets(), small_rulesets(), st.booleans())
def test_every_rule_of_both_sides_is_told_exactly_once(old, new, on_rows):
    """In a pair or alone; and each is the rule at its position."""
    found = compare_rule_sets(old, new, ROWS if on_rows else None)
    assert told(found, "old") == [*range(len(old))]
    assert told(found, "new") == [*range(len(new))]
    (outcome,) = found.outcomes
    assert (outcome.n_old, outcome.n_new) == (len(old), len(new))
    for pair in outcome.pairs:
        assert pair.old.text == old.texts[pair.old.position]
        assert pair.new.effect == new.weights[pair.new.position]
        assert (pair.old.text == pair.new.text) == (pair.pairing == "kept")


@settings(max_examples=50)
@given(small_rulesets(), small_rulesets(), st.booleans())
def test_the_other_way_round_is_the_mirror_image(old, new, on_rows):
    """Gone and new change places, and so do from and to; pairs and figures are the same."""
    X = ROWS if on_rows else None
    one, other = (compare_rule_sets(*each, X).outcomes[0] for each in ((old, new), (new, old)))
    assert [each.text for each in one.gone] == [each.text for each in other.new]
    assert [each.text for each in one.new] == [each.text for each in other.gone]
    assert Counter((a.pairing, a.old, a.new, a.sign_flipped) for a in one.pairs) == Counter(
        (b.pairing, b.new, b.old, b.sign_flipped) for b in other.pairs
    )
    assert {each.conditions for each in one.pairs} == {
        tuple(type(c)(c.column, c.new, c.old) for c in each.conditions) for each in other.pairs
    }
    assert (one.dice, one.weighted_overlap) == (other.dice, pytest.approx(other.weighted_overlap))
    if on_rows:
        ours, theirs = one.predictions, other.predictions
        assert ours.mean_difference == pytest.approx(theirs.mean_difference)
        assert ours.correlation == pytest.approx(theirs.correlation, nan_ok=True)


@settings(max_examples=40)
@given(small_rulesets(), st.booleans())
def test_a_rule_set_keeps_everything_of_itself(rules, on_rows):
    """Nothing moved, changed, is gone or new; and after a round trip through JSON it is so too."""
    again = RuleSet.from_json(rules.to_json())
    found = compare_rule_sets(rules, again, ROWS if on_rows else None)
    (outcome,) = found.outcomes
    assert found.is_same
    assert len(outcome.kept) == len(rules)
    assert (outcome.dice, outcome.weighted_overlap) == (1.0, pytest.approx(1.0))
    assert not outcome.effect_changed
    if on_rows:
        assert outcome.predictions.largest_difference == 0.0
        assert all(pair.differ == 0.0 for pair in outcome.pairs)


@settings(max_examples=40)
@given(small_rulesets(), small_rulesets())
def test_overlap_is_that_of_the_trust_table(old, new):
    """Shares of importance on the training rows, as `assess` has them of refits."""
    sides = []
    for rules in (old, new):
        found = FoundRules(tuple(rules.texts), np.zeros((1, len(rules)), bool))
        spread = np.sqrt(rules.support * (1.0 - rules.support))
        sides.append(JudgedRules(found.keys, rules.weights, np.abs(rules.weights) * spread,
                                 np.zeros(len(rules), bool), is_dependent=False))  # fmt: skip
    wanted = overlap(*sides)
    assert compare_rule_sets(old, new).outcomes[0].weighted_overlap == pytest.approx(wanted)


# --- effects --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "changed", "flipped", "relative"),
    [
        (10.0, 12.0, False, False, 0.2),
        (10.0, 12.1, True, False, 0.21),
        (-10.0, -12.1, True, False, 0.21),
        (-10.0, -7.9, True, False, -0.21),
        (10.0, -0.1, True, True, -1.01),
        (10.0, 0.0, True, False, -1.0),
        (0.0, 1.0, True, False, np.inf),
        (0.0, -1.0, True, False, np.inf),
        (0.0, 0.0, False, False, 0.0),
        (0.3, 0.36, False, False, 0.2),  # 0.36 - 0.3 is a rounding error above 0.2 * 0.3
    ],
)
def test_effects_that_change_by_more_than_a_fifth_are_told(old, new, changed, flipped, relative):
    """And those whose sign flips. A change is relative: above zero where the effect grew."""
    one, other = (
        ruleset(Range("age", low=2), columns=[age(50)], weights=[weight]) for weight in (old, new)
    )
    found = compare_rule_sets(one, other)
    (pair,) = found.outcomes[0].kept
    assert (pair.effect_changed, pair.sign_flipped) == (changed, flipped)
    assert pair.relative_change == pytest.approx(relative)
    strict = compare_rule_sets(one, other, effect_change=1.5).outcomes[0]
    assert bool(strict.effect_changed) == (old == 0.0 != new)
    assert found.is_same == (old == new)


def test_rules_on_the_same_rows_are_told_with_rows_only():
    """Another column that selects nearly the same rows; never counted as kept or moved."""
    X = {"age": [*range(20)], "dose": [*range(100, 119), 0]}
    dose = BinnedColumn("dose", Kind.NUMERIC, (109.0,))
    old = ruleset(Range("age", low=2), columns=[age(9), dose])
    new = ruleset(Range("dose", low=2), columns=[age(9), dose])
    (pair,) = compare_rule_sets(old, new, X).outcomes[0].same_rows
    assert (pair.old.text, pair.new.text, pair.jaccard) == ("age > 9", "dose > 109", 0.9)
    assert not compare_rule_sets(old, new, X, same_rows=0.91).outcomes[0].pairs
    apart = compare_rule_sets(old, new).outcomes[0]
    assert (len(apart.gone), len(apart.new), apart.dice) == (1, 1, 0.0)


# --- what is compared -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def iris():
    """Return rules of three classes, and of two of them."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    kinds = y.map({0: "setosa", 1: "versicolor", 2: "virginica"})
    three = MossClassifier(2, n_trees=40).fit(X, kinds.rename("kind"))
    last = X[kinds != "setosa"]
    two = MossClassifier(2, n_trees=40).fit(last, kinds[kinds != "setosa"].rename("kind"))
    return X, three, two


def test_models_rule_sets_and_files_are_the_same_to_it(iris, tmp_path):
    """A fitted model stands for its rules, and a path for those it holds, under its name."""
    X, three, _ = iris
    path = tmp_path / "iris.json"
    path.write_text(three.rules_.to_json())
    wanted = compare_rule_sets(three.rules_, three.rules_, X)
    assert wanted.is_same
    for source in (three, path, str(path)):
        found = compare_rule_sets(source, three.rules_, X)
        assert found.outcomes == wanted.outcomes
    assert compare_rule_sets(path, three).names == ("iris.json", "new")
    assert compare_rule_sets(path, path).names == ("iris.json (old)", "iris.json (new)")


def test_a_class_that_one_side_lacks_is_a_fact(iris):
    """Two classes against three: what both have is compared, the others are all gone or new."""
    X, three, two = iris
    found = compare_rule_sets(three, two, X)
    by_class = {each.outcome: each for each in found.outcomes}
    assert found.notes == ("Only old has rules for the classes setosa, versicolor.",)
    assert by_class["setosa"].dice is None
    assert by_class["setosa"].n_new == 0
    assert by_class["virginica"].predictions.mean_difference == pytest.approx(
        np.abs(three.predict_proba(X)[:, 2] - two.predict_proba(X)[:, 1]).mean()
    )
    assert found.dice == by_class["virginica"].dice
    assert found.likeliest_differs is None


def classified(outcome):
    """Return a rule set that gives the probability of a class."""
    content = json.loads(ruleset(Range("age", low=2), columns=[age(50)]).to_json())
    return RuleSet.from_json(json.dumps({**content, "link": "logit", "outcome": outcome}))


@pytest.mark.parametrize("labels", [(1, 1.0), (1, "1"), (True, True), (None, "yes"), (None, None)])
def test_classes_are_matched_by_their_words(labels):
    """A file may hold 1 where a table held 1.0; a rule set need not name its class."""
    for old, new in (labels, labels[::-1]):
        found = compare_rule_sets(classified(old), classified(new))
        assert [len(each.kept) for each in found.outcomes] == [1]


def test_other_targets_columns_and_kinds_are_told_as_facts():
    """They are no errors: the rules are compared as they are."""
    grade = [BinnedColumn("age", Kind.ORDERED, (0.0,), GRADES), BinnedColumn("new", Kind.BOOLEAN)]
    old = ruleset(Range("age", low=2), columns=[age(50)])
    new = ruleset(Range("age", low=2), columns=grade)
    content = json.loads(new.to_json()) | {"target": "cost"}
    old = RuleSet.from_json(json.dumps(json.loads(old.to_json()) | {"target": "price"}))
    found = compare_rule_sets(old, RuleSet.from_json(json.dumps(content)))
    assert found.notes == (
        "The targets have other names: price in old, cost in new.",
        "Only new was offered the column new.",
        "Column age is numeric in old and ordered in new, so rules on it are not paired.",
    )
    assert len(found.outcomes[0].gone) == len(found.outcomes[0].new) == 1


def test_an_array_and_a_table_are_told_apart():
    """Columns of an array have made-up names, which another table's columns may have by chance."""
    X, y = np.arange(40.0).reshape(20, 2), np.repeat([1.0, 5.0], 10)
    array = MossRegressor(1, n_trees=20).fit(X, y)
    table = MossRegressor(1, n_trees=20).fit({"a": X[:, 0], "b": X[:, 1]}, y)
    notes = compare_rule_sets(array, table).notes
    assert notes[0] == (
        "old was learned from an array, whose columns have no names, and new from a table: their "
        "columns cannot be told to be the same."
    )
    assert notes[1:] == ("Only old was offered the columns x0, x1.",
                         "Only new was offered the columns a, b.")  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "options", "error", "sentence"),
    [
        ("number", "class", {}, InvalidParameter,
         "^old predicts a number and new the probability of a class; compare rule sets of one "),
        ("class", "number", {}, InvalidParameter, "^new predicts a number and old the probability"),
        ("class", "other", {}, InvalidParameter,
         "^old has rules for the class yes and new for the class no; compare rule sets that have"),
        ("classes", "other", {}, InvalidParameter, "^old has rules for yes, maybe and new for"),
        (MossRegressor(), "number", {}, UnsupportedType,
         "^old is a MossRegressor, which has no rules yet: fit it first; pass a fitted model"),
        ("number", 7, {}, UnsupportedType, "^new is a int; pass a RuleSet, RuleSets, a fitted"),
        ("number", "nosuch.json", {}, InvalidFile, "nosuch.json does not exist"),
        ("number", "number", {"effect_change": -1}, InvalidParameter, "^effect_change is -1"),
        ("number", "number", {"same_rows": 1.5}, InvalidParameter, "^same_rows is 1.5; pass a"),
        ("number", "number", {"sample_weight": [1]}, InvalidParameter, "and X is missing"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_refused_in_a_sentence(old, new, options, error, sentence):
    """It names what was wrong and what to do."""
    made = {
        "number": ruleset(Range("age", low=2), columns=[age(50)]),
        "class": classified("yes"),
        "other": classified("no"),
        "classes": RuleSets({"yes": classified("yes"), "maybe": classified("maybe")}),
    }
    sides = [made.get(each, each) if isinstance(each, str) else each for each in (old, new)]
    with pytest.raises(error, match=sentence) as caught:
        compare_rule_sets(*sides, **options)
    assert isinstance(caught.value, MossError)
