"""Track records against refits by hand: fresh fits to the rows of each, counted by their text."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from mossrules import MossClassifier, MossRegressor
from mossrules.constraints import AtMostFeatures, MustInclude, NeverUse
from mossrules.evaluation import refit_measures, refitting, track_record
from mossrules.exceptions import InvalidParameter
from support.track_record_cases import (
    N,
    classifier,
    expected_rules,
    expected_whole,
    fits_of,
    held_fixed,
    holds,
    interval,
    labels,
    parts_of,
    regressor,
    repeats,
    rule_set,
    table,
)

X, Y = table()
RNG = np.random.default_rng(1)
GROUPS = np.array([f"village {each}" for each in RNG.integers(0, 30, N)])
WEIGHTS = {
    None: None,
    "any": np.where(np.arange(N) % 9, RNG.uniform(0.2, 3.0, N), 0.0),
    "whole": RNG.integers(0, 4, N).astype(float),
}


def told(weights=None, groups=None):
    """Return what is passed of weights and groups."""
    both = {"sample_weight": weights, "groups": groups}
    return {name: value for name, value in both.items() if value is not None}


def balanced(y, w):
    """Return weights of rows with which all classes weigh the same."""
    totals = pd.Series(w).groupby(np.asarray(y)).transform("sum").to_numpy()
    return w / totals


def check_rules(record, expected):
    """Hold rules to what refits by hand say of them."""
    assert len(record.rules) == len(expected)
    for found, rule in zip(record.rules, expected, strict=True):
        for name, value in rule.items():
            own = getattr(found, name)
            exact = isinstance(value, str | int)
            assert own == (value if exact else pytest.approx(value, abs=1e-9, nan_ok=True)), name


# --- all of it, against refits by hand ------------------------------------------------------------

CASES = {
    "numbers": {},
    "bootstrap": {"scheme": "bootstrap"},
    "folds": {"scheme": "folds"},
    "share": {"share": 0.6, "confidence": 0.8},
    "groups": {"groups": GROUPS},
    "groups and bootstrap": {"groups": GROUPS, "scheme": "bootstrap"},
    "groups and folds": {"groups": GROUPS, "scheme": "folds"},
    "weights": {"weights": "any"},
    "weights and bootstrap": {"weights": "any", "scheme": "bootstrap"},
    "repetitions": {"weights": "whole"},
    "percentiles": {"refits": 41, "confidence": 0.9},
    "seed": {"seed": 7},
    "two": {"refits": 2},
    "both": {"groups": GROUPS, "weights": "any"},
}
SOME = ("numbers", "groups", "weights and bootstrap", "repetitions")
PAIRS = [
    *(("numbers", case) for case in CASES),
    *(("two classes", case) for case in (*SOME, "percentiles", "folds")),
    *(("balanced", case) for case in SOME),
    *(("three classes", case) for case in ("weights", "groups and folds")),
]


@pytest.mark.parametrize(("kind", "case"), PAIRS)
def test_what_it_says_is_what_refits_by_hand_say(kind, case):
    """Rules found and near, their intervals, recurrence, people, rows and events."""
    how = dict(CASES[case])
    weights, groups = WEIGHTS[how.pop("weights", None)], how.pop("groups", None)
    refits, confidence, seed = how.pop("refits", 6), how.pop("confidence", 0.95), how.pop("seed", 0)
    y, model = Y, regressor(random_state=5)
    if kind != "numbers":
        y = labels(Y, 3 if kind == "three classes" else 2)
        model = classifier(class_weight="balanced" if kind == "balanced" else None)
    given = told(weights, groups)
    model.fit(X, y, **given)
    asked = {"refits": refits, "confidence": confidence, "random_state": seed, **how}
    records = model.track_record(X, y, **asked, **given)
    parts = parts_of(model, X, y, refits, weights=weights, groups=groups, seed=seed, **how)
    fitted = fits_of(model, X, y, parts, weights=weights, groups=groups, seed=seed)
    w = np.ones(N) if weights is None else weights
    counted = w if repeats(weights) else (w > 0).astype(float)
    stretch = 1.0
    if how.get("scheme") != "bootstrap":
        sizes = np.array([len(part) for part in parts])
        stretch = np.sqrt(sizes.mean() / (counted.sum() - sizes).mean())
    by_label = records if isinstance(records, dict) else {None: records}
    assert list(by_label) == ([None] if kind != "three classes" else model.classes_.tolist())
    for label, record in by_label.items():
        rules = rule_set(model, label)
        about = {"label": label, "confidence": confidence}
        check_rules(record, expected_rules(model, X, fitted, w, stretch=stretch, **about))
        dice, overlap = expected_whole(model, fitted, **about)
        assert record.recurrence == pytest.approx(dice)
        assert record.overlap == pytest.approx(overlap)
        assert record.n_rules == np.mean([len(rule_set(each, label)) for each in fitted])
        assert (record.refits, record.failed, record.failure) == (refits, 0, None)
        assert (record.rows, record.seed, record.confidence) == (counted.sum(), seed, confidence)
        assert record.groups == (None if groups is None else len(set(GROUPS[w > 0])))
        outcome = label if label is not None else (None if kind == "numbers" else "yes")
        assert record.outcome == outcome
        shares = balanced(y, w) if kind == "balanced" else w
        _check_rows(record, y, w, counted, shares)
        if not repeats(weights):  # of which copies of a row may be in a refit, and others not
            models = rules, [rule_set(each, label) for each in fitted]
            _check_effects(record, models, parts, y, w=shares, groups=groups)
        _check_people(record, rules, [rule_set(each, label) for each in fitted], w, stretch)


def _check_rows(record, y, *weights):
    """Hold coverage, rows, means and events to sums by pandas."""
    w, counted, shares = weights
    frame = pd.DataFrame({"y": y, "w": w, "counted": counted, "share": shares})
    outcome = record.outcome
    frame["y"] = frame["y"] if outcome is None else (frame["y"] == outcome).astype(float)
    for rule in record.rules:
        there = frame[holds(rule.rule, X)]
        assert rule.coverage == pytest.approx(there["share"].sum() / frame["share"].sum(), abs=1e-5)
        assert rule.n == there["counted"].sum()
        assert rule.observed == pytest.approx(
            (there["w"] * there["y"]).sum() / there["w"].sum(), 1e-4
        )
        events = (there["counted"] * there["y"]).sum()
        assert rule.events == (None if outcome is None else events)


def _check_effects(record, models, parts, y, *, w, groups):
    """Hold the intervals of effects, these rules kept, to sandwiches by statsmodels."""
    rules, refits = models
    used = np.flatnonzero(w)
    there, outcome = X.iloc[used], record.outcome
    target = np.asarray(y)[used] if outcome is None else (np.asarray(y)[used] == outcome) * 1.0
    predicted = np.array([each.predict(there) for each in refits])
    left_out = np.array([~np.isin(used, part) for part in parts])
    how = {"groups": None if groups is None else groups[used], "confidence": record.confidence}
    expected = held_fixed(rules, there, target, predicted, left_out, w=w[used], **how)
    found = [record.intercept, *(each.held_fixed for each in record.rules)]
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


def _check_people(record, rules, refits, w, stretch):
    """Hold the ranges of predictions, and who changes sides, to predictions of each refit."""
    people, summary = record.people_ranges, record.people_summary
    assert people.rows.tolist() == np.flatnonzero(w).tolist()
    there = X.iloc[people.rows]
    own, predicted = rules.predict(there), np.array([each.predict(there) for each in refits])
    ends = [
        interval(values, record.confidence, stretch, centre)
        for values, centre in zip(predicted.T, own, strict=True)
    ]
    lower, upper = np.array(ends).T
    decided = record.outcome is not None
    if decided:
        lower, upper = np.clip(lower, 0, 1), np.clip(upper, 0, 1)
    np.testing.assert_allclose(people.prediction, own)
    np.testing.assert_allclose(people.lower, lower, atol=1e-9)
    np.testing.assert_allclose(people.upper, upper, atol=1e-9)
    weights = w[people.rows]
    assert summary.mean_range == pytest.approx(np.average(upper - lower, weights=weights))
    assert summary.n == record.rows
    if decided:
        moved = own + stretch * (predicted - predicted.mean(axis=0))
        other = ((moved >= 0.5) != (own >= 0.5)).mean(axis=0)
        np.testing.assert_allclose(people.other_side, other)
        assert summary.other_side == pytest.approx(np.average(other, weights=weights))
        assert summary.undecided == pytest.approx(np.average(other >= 0.1, weights=weights))
    else:
        assert summary.threshold is None
        assert np.isnan([summary.other_side, summary.undecided]).all()


# --- what is asked of refits ----------------------------------------------------------------------


def test_refits_have_the_stability_that_auto_chose_and_no_more_than_a_thousand_trees(monkeypatch):
    """The rest of a refit is what `fit` does."""
    fitted = []
    fit_read = MossRegressor.fit_read
    monkeypatch.setattr(
        MossRegressor, "fit_read", lambda self, rows: fitted.append(self) or fit_read(self, rows)
    )
    assert refitting.REFIT_TREES == 1000
    monkeypatch.setattr(refitting, "REFIT_TREES", 60)
    model = regressor(n_trees="auto").fit(X, Y)
    assert model.pool_.n_trees > 60
    model.track_record(X, Y, refits=2)
    assert [each.pool_.n_trees for each in fitted] == [60, 60]
    assert model.n_trees == "auto"
    fitted.clear()
    auto = regressor(stability="auto", cv=2, gap=0.05).fit(X, Y)
    auto.track_record(X, Y, refits=2)
    chosen = auto.evaluation_.choose().share
    assert [each.stability for each in fitted] == [chosen, chosen]
    assert [each.random_state for each in fitted] == [1, 2]
    assert auto.stability == "auto"


def test_each_of_several_classes_keeps_the_stability_that_auto_chose(monkeypatch):
    """They may differ."""
    fitted = []
    fit_read = MossClassifier.fit_read
    monkeypatch.setattr(
        MossClassifier, "fit_read", lambda self, rows: fitted.append(self) or fit_read(self, rows)
    )
    y = labels(Y, 3)
    model = classifier(stability="auto", cv=2, gap=0.5).fit(X, y)
    fitted.clear()
    model.track_record(X, y, refits=2)
    chosen = {label: each.evaluation_.choose().share for label, each in model.estimators_.items()}
    for each in fitted:
        asked = {label: one.fitted_.settings.stability for label, one in each.estimators_.items()}
        assert asked == chosen


def test_refits_keep_to_constraints():
    """Rules that are required are in all of them, and features never to use in none."""
    constraints = [MustInclude("dose > 0.5"), NeverUse("age"), AtMostFeatures(3)]
    model = regressor(constraints=constraints).fit(X, Y)
    record = model.track_record(X, Y, refits=5)
    by_rule = {each.rule: each for each in record.rules}
    assert by_rule["dose > 0.5"].found == 5
    assert not any("age" in rule for rule in by_rule)
    parts = parts_of(model, X, Y, 5)
    fitted = fits_of(model, X, Y, parts)
    check_rules(record, expected_rules(model, X, fitted, np.ones(N), stretch=np.sqrt(1 / 2)))


def test_refits_stay_near_the_approved_rules():
    """All of them are found in every refit where all are to be kept; the record is not theirs."""
    old = regressor(max_rules=2, random_state=1).fit(X.iloc[::2], Y.iloc[::2])
    old.track_record(X.iloc[::2], Y.iloc[::2], refits=2)
    model = regressor(near=old.rules_, keep=1.0).fit(X, Y)
    assert model.rules_.track_record is None
    record = model.track_record(X, Y, refits=5)
    found = {each.rule: each.found for each in record.rules}
    assert [found[text] for text in old.rules_.texts] == [5, 5]
    approved = {each.rule for each in record.rules if each.approved}
    assert approved == set(old.rules_.texts)
    assert "asked to keep the 2 approved rules too" in record.summary()


def test_sides_of_a_threshold_may_be_of_numbers():
    """Whoever a refit puts on the other side of it, by how far the prediction moves."""
    model = regressor().fit(X, Y)
    record = model.track_record(X, Y, refits=5, threshold=2.0)
    fitted = fits_of(model, X, Y, parts_of(model, X, Y, 5))
    own, predicted = model.predict(X), np.array([each.predict(X) for each in fitted])
    moved = own + np.sqrt(1 / 2) * (predicted - predicted.mean(axis=0))
    other = ((moved >= 2.0) != (own >= 2.0)).mean(axis=0)
    np.testing.assert_allclose(record.people_ranges.other_side, other)
    assert record.people_summary.other_side == pytest.approx(other.mean())
    assert record.people_summary.undecided == pytest.approx((other >= 0.1).mean())
    assert record.people_summary.threshold == 2.0
    assert f"{(other >= 0.1).mean():.0%} of the rows" in str(record)
    frame = record.people(backend="pandas")
    assert frame["other_side"].tolist() == other.tolist()
    classes = classifier().fit(X, labels(Y)).track_record(X, labels(Y), refits=3, threshold=0.3)
    assert classes.people_summary.threshold == 0.3


def test_of_many_rows_people_are_a_sample_at_equal_distances(monkeypatch):
    """Which does not depend on their order."""
    monkeypatch.setattr(refit_measures, "MOST_PEOPLE", 40)
    model = regressor().fit(X, Y)
    people = model.track_record(X, Y, refits=3).people_ranges
    assert len(people.rows) == 40
    order = RNG.permutation(N)
    other = model.track_record(X.iloc[order], Y.iloc[order], refits=3).people_ranges
    assert sorted(order[other.rows]) == people.rows.tolist()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"refits": 1}, "refits is 1"),
        ({"refits": 2.5}, "refits is 2.5"),
        ({"scheme": "jackknife"}, "scheme is 'jackknife'"),
        ({"share": 1.0}, "share is 1.0"),
        ({"share": 0.0}, "share is 0.0"),
        ({"share": 0.005}, "a share of 0.005 is less than 2"),
        ({"confidence": 1.0}, "confidence is 1.0"),
        ({"confidence": "high"}, "confidence is 'high'"),
        ({"threshold": np.nan}, "threshold is nan"),
        ({"threshold": True}, "threshold is True"),
        ({"random_state": -1}, "random_state is -1"),
        ({"n_jobs": 0}, "n_jobs is 0"),
        ({"groups": np.zeros(N)}, "groups has a single group"),
        ({"groups": GROUPS[:-1]}, "groups has the shape (149,)"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_sentence(asked, said):
    """Before any refit is made, and the model stays as it was."""
    model = regressor().fit(X, Y)
    with pytest.raises(InvalidParameter) as error:
        model.track_record(X, Y, **{"refits": 3, **asked})
    assert said in str(error.value)
    assert str(error.value).endswith(".")
    assert "\n" not in str(error.value)
    assert model.rules_.track_record is None


def test_a_threshold_of_classes_is_a_probability():
    """One of log-odds would put nobody on the other side."""
    model = classifier().fit(X, labels(Y))
    with pytest.raises(InvalidParameter, match="a probability, from 0 to 1"):
        model.track_record(X, labels(Y), refits=2, threshold=1.5)


# --- the rows of the fit --------------------------------------------------------------------------


def changed(where, value):
    """Return the table with other values in one place."""
    other = X.copy()
    other.loc[other.index[:20], where] = value
    return other


OTHERS = {
    "a changed column": lambda: (changed("age", 70.0), Y, {}),
    "a row is missing": lambda: (X.iloc[:-1], Y.iloc[:-1], {}),
    "one row more": lambda: (pd.concat([X, X[:1]]), pd.concat([Y, Y[:1]]), {}),
    "permuted targets": lambda: (X, Y.sample(frac=1.0, random_state=0).to_numpy(), {}),
    "a changed target": lambda: (X, Y + (np.arange(N) == 3), {}),
    "another unit": lambda: (X, 10.0 * Y, {}),
    "weights": lambda: (X, Y, {"sample_weight": np.arange(N) % 2 + 1.0}),
    "a column less": lambda: (X.drop(columns="size"), Y, {}),
}


@pytest.mark.parametrize("case", OTHERS)
def test_other_rows_than_those_of_the_fit_are_refused(case):
    """A record of other rows would not be of this analysis."""
    model = regressor().fit(X, Y)
    other, target, how = OTHERS[case]()
    with pytest.raises(InvalidParameter, match=r"fit|fitted") as error:
        model.track_record(other, target, refits=2, **how)
    assert "pass the" in str(error.value)
    assert model.rules_.track_record is None


@pytest.mark.parametrize("kind", ["two classes", "three classes"])
def test_other_classes_than_those_of_the_fit_are_refused(kind):
    """Permuted labels, labels with other names, and one that is not there any more."""
    y = labels(Y, 3 if kind == "three classes" else 2)
    model = classifier().fit(X, y)
    shuffled = np.random.default_rng(0).permutation(y)
    renamed = np.char.add(y, "!")
    fewer = np.where(y == y[0], "other", y)
    for other in (shuffled, renamed, fewer):
        with pytest.raises(InvalidParameter, match="not those of the fit"):
            model.track_record(X, other, refits=2)


def test_weights_and_class_weights_of_the_fit_have_to_be_passed():
    """Without them the rows are others."""
    model = regressor().fit(X, Y, sample_weight=WEIGHTS["any"])
    with pytest.raises(InvalidParameter, match="not those of the fit"):
        model.track_record(X, Y, refits=2)
    assert model.track_record(X, Y, refits=2, sample_weight=WEIGHTS["any"]).refits == 2


# --- what does not matter -------------------------------------------------------------------------


def test_the_order_of_rows_and_columns_and_the_number_of_threads_do_not_matter():
    """Nor what groups are called: records are the same in every bit."""
    given = {"groups": GROUPS}
    model = regressor().fit(X, Y, **given)
    record = model.track_record(X, Y, refits=5, **given)
    assert model.track_record(X, Y, refits=5, n_jobs=3, **given) == record
    order = np.random.default_rng(3).permutation(N)
    other = regressor().fit(X.iloc[order, ::-1], Y.iloc[order], groups=GROUPS[order])
    again = other.track_record(X.iloc[order, ::-1], Y.iloc[order], refits=5, groups=GROUPS[order])
    assert again == record
    people, moved = record.people_ranges, again.people_ranges
    np.testing.assert_array_equal(moved.lower[np.argsort(order)], people.lower)
    codes = np.unique(GROUPS, return_inverse=True)[1] * -3 + 1
    assert model.track_record(X, Y, refits=5, groups=codes) == record


def test_another_seed_draws_other_rows():
    """The same seed the same ones."""
    model = regressor().fit(X, Y)
    one, again, other = (model.track_record(X, Y, refits=3, random_state=s) for s in (0, 0, 1))
    assert one == again
    assert one.overlap != other.overlap


def test_a_target_in_another_unit_scales_effects_and_leaves_counts():
    """With a y + b in place of y; what is observed moves with the target."""
    one = regressor().fit(X, Y).track_record(X, Y, refits=5, threshold=1.0)
    y = -3.0 * Y + 2.0
    other = regressor().fit(X, y).track_record(X, y, refits=5, threshold=-1.0)
    for a, b in zip(one.rules, other.rules, strict=True):
        assert (a.rule, a.found, a.near, a.n) == (b.rule, b.found, b.near, b.n)
        assert a.same_sign == pytest.approx(b.same_sign, nan_ok=True)
        assert b.effect == pytest.approx(-3.0 * a.effect, rel=1e-6)
        assert b.observed == pytest.approx(-3.0 * a.observed + 2.0, rel=1e-6)
        for name in ("held_fixed", "whole_analysis"):
            low, high = getattr(a, name)
            ends = pytest.approx((-3.0 * high, -3.0 * low), rel=1e-5, abs=1e-6, nan_ok=True)
            assert getattr(b, name) == ends
    assert other.recurrence == pytest.approx(one.recurrence)
    assert other.overlap == pytest.approx(one.overlap)
    assert other.people_summary.relative_range == pytest.approx(
        one.people_summary.relative_range, rel=1e-6
    )


def test_names_of_classes_do_not_matter():
    """Numbers in the place of words leave all but the name of the outcome."""
    y = labels(Y)
    one = classifier().fit(X, y).track_record(X, y, refits=4)
    codes = (y == "yes").astype(int)
    other = classifier().fit(X, codes).track_record(X, codes, refits=4)
    assert other.outcome == "1"
    assert replace(other, outcome="yes") == one


@pytest.mark.parametrize("scheme", ["subsample", "bootstrap", "folds"])
def test_whole_weights_are_rows_repeated(scheme):
    """A row of weight 3 is three rows, and one of weight 0 none."""
    w = WEIGHTS["whole"]
    rows = np.repeat(np.arange(N), w.astype(int))
    how = {"refits": 4, "scheme": scheme}
    one = regressor().fit(X, Y, sample_weight=w).track_record(X, Y, sample_weight=w, **how)
    repeated = X.iloc[rows].reset_index(drop=True), Y.iloc[rows].to_numpy()
    other = regressor().fit(*repeated).track_record(*repeated, **how)
    assert one == other


def test_rows_of_weight_zero_are_not_there():
    """Whatever they hold."""
    w = WEIGHTS["any"]
    used = w > 0
    part = X[used], Y[used]
    model = regressor().fit(X, Y, sample_weight=w)
    one = model.track_record(X, Y + 9 * ~used, refits=4, sample_weight=w)
    other = regressor().fit(*part, sample_weight=w[used])
    assert other.track_record(*part, refits=4, sample_weight=w[used]) == one


def test_an_array_has_a_record_also_where_rules_leave_columns_out():
    """Its columns are known by their position among all."""
    numbers = np.random.default_rng(6).normal(size=(80, 4)).round(2)
    y = (numbers[:, 2] > 0) * 1.0
    record = regressor(max_rules=1, max_depth=1).fit(numbers, y).track_record(numbers, y, refits=3)
    assert [(each.rule, each.found) for each in record.rules] == [("x2 > 0", 3)]


# --- nothing to find, and refits that fail --------------------------------------------------------


def test_a_model_without_rules_has_a_record():
    """Refits have none either: they agree, and there is nothing to count."""
    y = np.full(N, 3.0)
    model = regressor().fit(X, y)
    record = model.track_record(X, y, refits=3)
    assert record.rules == ()
    assert record.recurrence == record.overlap == (1.0, 1.0, 1.0)
    assert record.n_rules == 0
    assert (record.people_summary.mean_range, record.refits) == (0.0, 3)
    assert "no rules to find again" in str(record)
    assert type(record).from_json(record.to_json()) == record
    assert model.rules_.track_record == record
    assert "(intercept)" in model.rules_.to_markdown()
    assert record.frame().shape[0] == 0


def test_a_refit_whose_target_is_constant_has_no_rules():
    """It counts as a refit that has found nothing, and says nothing of effects."""
    frame = pd.DataFrame({"x": np.arange(30.0), "z": np.arange(30) % 7})
    y = (frame["x"] >= 28).astype(float)
    model = regressor(min_coverage=0, max_rules=1).fit(frame, y)
    record = model.track_record(frame, y, refits=20)
    parts = parts_of(model, frame, y, 20)
    constant = sum(len(set(y.iloc[part])) == 1 for part in parts)
    fitted = fits_of(model, frame, y, parts)
    assert constant == sum(len(each.rules_) == 0 for each in fitted) > 2
    assert record.refits == 20
    assert record.rules[0].found == sum(model.rules_.texts[0] in e.rules_.texts for e in fitted)
    assert not np.isnan(record.rules[0].held_fixed.lower)


def test_shares_of_no_event_and_of_events_alone_are_exact():
    """Not a rounding error below 0 or above 1, whatever the weights."""
    frame = pd.DataFrame({"x": np.arange(60.0), "z": np.arange(60) % 7})
    y = np.where(frame["x"] < 7, "a", np.where(frame["x"] < 30, "b", "c"))
    for weights in (None, np.linspace(0.3, 1.7, 60)):
        model = classifier().fit(frame, y, weights)
        records = model.track_record(frame, y, refits=2, sample_weight=weights)
        rules = [rule for record in records.values() for rule in record.rules]
        assert {rule.observed for rule in rules if rule.events == 0} == {0.0}
        assert {rule.observed for rule in rules if rule.events == rule.n} <= {1.0}
        assert all(0 <= rule.observed <= 1 for rule in rules)


@pytest.mark.parametrize("of_classes", [False, True])
def test_groups_of_the_fit_are_not_forgotten(of_classes):
    """Refits that tear groups apart would find their rules too often; a column of them counts."""
    make, y = (classifier, labels(Y, 3)) if of_classes else (regressor, Y)
    model = make().fit(X, y, groups=GROUPS)
    many = len(set(GROUPS))
    with pytest.raises(InvalidParameter, match=f"rows in {many} groups, and here there are none;"):
        model.track_record(X, y, refits=2)
    halves = np.arange(N) % 2
    with pytest.raises(InvalidParameter, match="here there are 2 groups; pass the groups of the"):
        model.track_record(X, y, refits=2, groups=halves)
    model.track_record(X, y, refits=2, groups=GROUPS)
    alone = make().fit(X, y)
    with pytest.raises(InvalidParameter, match=r"without groups, .* fit it with these"):
        alone.track_record(X, y, refits=2, groups=GROUPS)


def test_a_refit_may_have_a_single_class():
    """Where an outcome is rare and groups are drawn, a refit may lack it; it has no rules then."""
    groups = np.arange(N) // 10
    y = np.where((groups == 2) & (np.arange(N) % 2 > 0), "case", "control")
    frame = X.assign(age=np.where(groups == 2, 79.0, X["age"].fillna(30.0)))
    model = classifier(max_rules=2).fit(frame, y, groups=groups)
    record = model.track_record(frame, y, refits=8, groups=groups)
    parts = parts_of(model, frame, y, 8, groups=groups)
    without = sum((y[part] == "control").all() for part in parts)
    assert without > 0
    assert (record.refits, record.failed) == (8, 0)
    assert max(each.found for each in record.rules) <= 8 - without


def test_refits_that_fail_are_told_of(monkeypatch):
    """The others make the record; of fewer than two there is none, and the reason is given."""
    model = regressor().fit(X, Y)
    fit_read, failing = MossRegressor.fit_read, {2, 4}

    def fit_or_fail(self, rows):
        if self.random_state in failing:
            raise MemoryError(f"none left for\nseed {self.random_state}")
        return fit_read(self, rows)

    monkeypatch.setattr(MossRegressor, "fit_read", fit_or_fail)
    record = model.track_record(X, Y, refits=5)
    assert (record.refits, record.failed) == (3, 2)
    assert record.failure == "MemoryError: none left for seed 2"
    assert "MemoryError: none left for seed 2" in str(record)
    assert max(each.found for each in record.rules) <= 3
    assert type(record).from_json(record.to_json()) == record
    failing |= {1, 3}
    model.rules_ = replace(model.rules_, track_record=None)
    with pytest.raises(InvalidParameter, match="4 of 5 refits failed, the first by this: Memory"):
        model.track_record(X, Y, refits=5)
    assert model.rules_.track_record is None


def test_mistakes_in_a_program_end_the_run(monkeypatch):
    """They are no refits that failed."""
    model = regressor().fit(X, Y)
    monkeypatch.setattr(MossRegressor, "fit_read", lambda self, _: self.nothing_there)
    with pytest.raises(AttributeError):
        model.track_record(X, Y, refits=3)


# --- whose record it is ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def recorded():
    """Return a model whose rule set carries its record."""
    model = regressor().fit(X, Y)
    model.track_record(X, Y, refits=3)
    return model


def test_the_rule_set_carries_the_record_without_people(recorded):
    """`rules_`, and those in `fitted_`, are one; what `track_record` returns has people too."""
    record = recorded.track_record(X, Y, refits=3)
    assert recorded.rules_.track_record == record
    assert recorded.fitted_.rules is recorded.rules_
    assert record.people_ranges is not None
    assert recorded.rules_.track_record.people_ranges is None


def test_copies_of_a_model_keep_the_record(recorded):
    """Pickled, copied or deeply copied, models and rule sets alike."""
    record = recorded.rules_.track_record
    for make in (copy.copy, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))):  # noqa: S301
        assert make(recorded).rules_.track_record == record
        assert make(recorded.rules_).track_record == record


def test_models_made_from_a_model_have_no_record(recorded):
    """Another point of the trade-off, a new fit, and a fit to the same candidates."""
    assert recorded.select(stability=0.5).rules_.track_record is None
    assert recorded.select(index=0).rules_.track_record is None
    assert (
        recorded.select(stability=recorded.fitted_.settings.stability).rules_.track_record is None
    )
    again = copy.copy(recorded).fit(X, Y)
    assert again.rules_.track_record is None
    assert again.fit_candidates(recorded.candidates_).rules_.track_record is None
    assert recorded.rules_.track_record is not None


def test_a_model_that_was_selected_gets_a_record_of_its_own(recorded):
    """At its own stability, and the first model keeps its own."""
    before = recorded.rules_.track_record
    chosen = recorded.select(stability=0.9)
    record = chosen.track_record(X, Y, refits=3)
    parts = parts_of(chosen, X, Y, 3)
    expected = expected_rules(
        chosen, X, fits_of(chosen, X, Y, parts), np.ones(N), stretch=np.sqrt(1 / 2)
    )
    check_rules(record, expected)
    assert recorded.rules_.track_record == before


def test_records_of_several_classes_stand_with_their_rule_sets():
    """In `rules_`, in each model of `estimators_`, and in neither after `select`."""
    y = labels(Y, 3)
    model = classifier().fit(X, y)
    records = model.track_record(X, y, refits=2)
    for label, record in records.items():
        assert model.rules_[label].track_record == record
        assert model.estimators_[label].rules_ is model.rules_[label]
        assert record.outcome == label
    other = model.select(stability=1.0)
    assert all(each.track_record is None for each in other.rules_.values())
    assert all(each.track_record is not None for each in model.rules_.values())


def test_the_function_returns_a_record_and_leaves_the_model():
    """`MossRegressor.track_record` is the one that lets rules carry it."""
    model = regressor().fit(X, Y)
    record = track_record(model, X, Y, refits=2)
    assert model.rules_.track_record is None
    assert model.track_record(X, Y, refits=2) == record
