import itertools
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.metrics import log_loss, r2_score
from sklearn.model_selection import cross_val_score

from mossrules import MossClassifier, MossRegressor
from mossrules.constraints import AtMostFeatures, MustInclude, NeverUse
from mossrules.estimators import candidates_for
from mossrules.evaluation import evaluate, evaluate_frontier
from mossrules.exceptions import InfeasibleProblem, InvalidParameter

HOW = {"max_rules": 6, "n_trees": 60, "random_state": 1}


@pytest.fixture(scope="module")
def halves():
    """Return two halves of a table, and their targets."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    return (X[::2], y[::2]), (X[1::2], y[1::2])


@pytest.fixture(scope="module")
def approved(halves):
    """Return the rule set of the first half."""
    return MossRegressor(**HOW).fit(*halves[0]).rules_


@pytest.fixture(scope="module")
def model(halves, approved):
    """Return a model of the second half that keeps two thirds of it; no test changes it."""
    return MossRegressor(**HOW, near=approved, keep=2 / 3).fit(*halves[1])


def in_common(model, approved):
    """Return how many rules of a rule set read as approved ones do."""
    return len(set(model.rules_.texts) & set(approved.texts))


# --- what is kept ---------------------------------------------------------------------------------


def test_so_many_approved_rules_are_kept_as_they_are_printed(halves, approved, model):
    """Without near, fewer are found again; what is proven is proven of those that keep as many."""
    free = MossRegressor(**HOW).fit(*halves[1])
    assert len(approved) == 6
    assert in_common(free, approved) < 4
    assert in_common(model, approved) >= 4
    assert model.problem_.min_approved == 4
    assert model.solution_.status.value == "optimal"
    assert model.solution_.verify(model.problem_).passed
    assert "4 of the 6 approved rules are kept; at least 4 were asked for" in (
        model.fitted_.near_sentence
    )
    assert free.fitted_.near_sentence is None
    assert free.solution_.loss <= model.solution_.loss


@pytest.mark.parametrize(("keep", "number"), [(None, 5), (1, 6), (1.0, 6), (0.5, 3), (0.01, 1)])
def test_the_share_is_rounded_up_to_a_number_of_rules(halves, approved, keep, number):
    """None is 0.8."""
    model = MossRegressor(**HOW, near=approved, keep=keep).fit(*halves[1])
    assert model.problem_.min_approved == number
    assert in_common(model, approved) >= number


def test_no_other_rule_set_that_keeps_as_many_fits_better(halves, approved):
    """By brute force over all sets of two of some dozens of candidates, in both ways of weights."""
    for directions in ("own", "free"):
        how = {**HOW, "max_rules": 2, "max_depth": 1, "directions": directions, "gap": 0}
        model = MossRegressor(**how, near=approved, keep=0.3).fit(*halves[1])
        problem, own = model.problem_, set(model.problem_.approved)
        allowed = [i for i in range(problem.m)
                   if i in own or problem.counts[i] >= problem.min_stability]  # fmt: skip
        pairs = [S for S in itertools.combinations(allowed, 2) if len(own & set(S)) == 2]
        assert problem.min_approved == 2
        assert pairs
        best = min(problem.loss(np.array(S)) for S in pairs)
        assert model.solution_.loss == pytest.approx(best, rel=1e-9)


def test_approved_rules_may_be_rarer_than_the_stability_target_allows(halves):
    """A target of the most frequent rules leaves the others out, but not approved ones."""
    X, y = halves[0]
    loose = MossRegressor(**HOW, stability=0.05, shrinkage="equal").fit(X, y)
    model = MossRegressor(**HOW, stability=1.0, near=loose.rules_, keep=1).fit(X, y)
    floor = model.problem_.min_stability
    counts = dict(zip(model.pool_.rules, model.pool_.counts.tolist(), strict=True))
    assert set(model.rules_.texts) == set(loose.rules_.texts)
    assert min(counts[rule] for rule in model.rules_) < floor
    X, y = halves[1]
    strict = MossRegressor(**HOW, stability=0.5, near=loose.rules_, keep=0.5).fit(X, y)
    others = [rule for rule in strict.rules_ if rule.text(strict.rules_.binning)
              not in loose.rules_.texts]  # fmt: skip
    counts = dict(zip(strict.pool_.rules, strict.pool_.counts.tolist(), strict=True))
    assert min(counts[rule] for rule in others) >= strict.problem_.min_stability
    assert "not approved" in strict.fitted_.floor_sentence


def test_a_rule_that_the_others_turn_around_stays_with_an_effect_of_0():
    """Its direction is that of its own rows; a sentence says which. With less to keep it leaves."""
    rng = np.random.default_rng(0)
    X = {"age": np.tile(np.arange(20.0, 90.0), 4)}
    old = MossRegressor(2, n_trees=50, cuts={"age": [40, 60]}, max_depth=1)
    old.fit(X, (X["age"] > 40) * 5.0 + (X["age"] > 60) * 5.0 + rng.normal(size=280))
    assert set(old.rules_.texts) == {"age > 40", "age > 60"}
    new = (X["age"] > 40) * 10.0 - (X["age"] > 60) * 2.0 + rng.normal(size=280)
    model = MossRegressor(2, n_trees=50, max_depth=1, near=old, keep=1).fit(X, new)
    effects = dict(zip(model.rules_.texts, model.rules_.weights.tolist(), strict=True))
    assert effects["age > 60"] == 0.0 < effects["age > 40"]
    assert model.fitted_.near_sentence.endswith(
        "Kept with an effect of 0, as it adds nothing beside the others: age > 60."
    )
    less = model.select(keep=0.5)
    assert "age > 60" not in less.rules_.texts
    assert less.fitted_.near_sentence == (
        "1 of the 2 approved rules is kept; at least 1 was asked for. Left out: age > 60."
    )


def test_a_rule_that_holds_on_no_row_may_be_kept(approved):
    """It has no effect; nothing fails for it."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    small = X["bmi"] < 22
    heavy = [t for t in approved.texts if t.startswith("bmi >")]
    assert heavy
    model = MossRegressor(**HOW, near=approved, keep=1).fit(X[small], y[small])
    rows = dict(zip(model.rules_.texts, model.rules_.support, strict=True))
    effects = dict(zip(model.rules_.texts, model.rules_.weights, strict=True))
    assert rows[heavy[0]] == effects[heavy[0]] == 0.0
    empty = [text for text in approved.texts if rows[text] == 0.0]
    they = "it holds" if len(empty) == 1 else "they hold"
    said = f"Kept with an effect of 0, as {they} on no row here: {'; '.join(empty)}."
    assert said in model.fitted_.near_sentence


# --- classes --------------------------------------------------------------------------------------


def test_two_classes_keep_approved_rules_too(halves):
    """Rules for the second class; the price says which share of the log-loss is explained."""
    (X, y), (X2, y2) = halves
    labels, labels2 = (np.where(t > 140, "high", "low") for t in (y, y2))
    old = MossClassifier(**HOW).fit(X, labels)
    model = MossClassifier(**HOW, near=old, keep=0.8).fit(X2, labels2)
    assert (
        in_common(model, old.rules_) >= model.problem_.min_approved == -(-len(old.rules_) * 4 // 5)
    )
    assert model.solution_.verify(model.problem_).passed
    price = model.near_frontier()
    assert price.measure == "explained"
    point = price.at(model.problem_.min_approved)
    shares = model.predict_proba(X2)
    share = np.mean(labels2 == model.classes_[1])
    null = -share * np.log(share) - (1 - share) * np.log(1 - share)
    assert point.loss == pytest.approx(model.solution_.loss, rel=2e-3)
    kept = model.select(keep=point.share)
    shares = kept.predict_proba(X2)
    assert point.fit == pytest.approx(1 - log_loss(labels2, shares) / null, abs=1e-9)


def test_each_of_several_classes_keeps_its_own(tmp_path):
    """Of rule sets in a file as well; the price is that of each class."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    y = y.map(dict(enumerate(["a", "b", "c"])))
    old = MossClassifier(3, n_trees=60).fit(X[::2], y[::2]).rules_
    path = tmp_path / "approved.json"
    path.write_text(old.to_json())
    for near in (old, path, str(path), dict(old)):
        model = MossClassifier(3, n_trees=60, near=near, keep=1).fit(X[1::2], y[1::2])
        for label, rules in model.rules_.items():
            assert set(old[label].texts) <= set(rules.texts)
    price = model.near_frontier()
    assert {label: each.n_approved for label, each in price.items()} == {
        label: len(rules) for label, rules in old.items()
    }
    one = model.select(keep=0.3)
    assert one.keep == 0.3
    assert all(member.problem_.min_approved == 1 for member in one.estimators_.values())


# --- where it is carried along --------------------------------------------------------------------


def test_the_trade_off_of_stability_is_under_it(halves, approved, model):
    """Each point of `frontier` keeps as many, and so does what is selected there."""
    frontier = model.frontier([1.0, 0.3, 0.1], gap=1e-3)
    for index in range(len(frontier)):
        assert in_common(model.select(index=index), approved) >= 4
    looser = model.select(stability=0.05)
    assert in_common(looser, approved) >= 4
    assert looser.keep == model.keep
    fewer = model.select(keep=0.2)
    assert (fewer.keep, fewer.problem_.min_approved, model.keep) == (0.2, 2, 2 / 3)
    assert fewer.solution_.loss <= model.solution_.loss
    again = clone(fewer).fit(*halves[1])
    assert again.rules_.to_json() == fewer.rules_.to_json()


def test_refits_keep_it(halves, approved):
    """In folds of scikit-learn, of `evaluate`, and of the choice of a stability target."""
    X, y = halves[1]
    model = MossRegressor(**HOW, near=approved, keep=1)
    assert np.isfinite(cross_val_score(model, X, y, cv=3)).all()
    methods = {"near": model, "free": MossRegressor(**HOW)}
    folds = evaluate(methods, X, y, cv=3, n_jobs=1).rule_sets("near")
    assert [set(rules.texts) for rules in folds] == [set(approved.texts)] * 3
    points = evaluate_frontier(model, X, y, cv=2, points=[1.0, 0.2], n_jobs=1).points
    assert points[0].dice == 1.0
    auto = MossRegressor(**HOW, near=approved, keep=1, stability="auto", cv=2).fit(X, y)
    assert set(auto.rules_.texts) == set(approved.texts)


def test_pickles_clones_and_parameters_have_it(halves, approved, model):
    """A clone of one that stays near a rule set finds the same."""
    assert model.get_params()["near"] is approved
    assert clone(model).fit(*halves[1]).rules_.to_json() == model.rules_.to_json()
    copied = pickle.loads(pickle.dumps(model))  # noqa: S301  our own
    assert copied.fitted_.near_sentence == model.fitted_.near_sentence
    assert copied.near_frontier().columns() == model.near_frontier().columns()


def test_files_weights_and_candidates_keep_it(halves, approved, model, tmp_path):
    """The same model from a file, from candidates, and with rows repeated by a weight of 1."""
    X, y = halves[1]
    path = tmp_path / "rows.parquet"
    X.assign(target=y).to_parquet(path)
    how = {**HOW, "near": approved, "keep": 2 / 3}
    from_file = MossRegressor(**how).fit(str(path), "target")
    assert from_file.rules_.texts == model.rules_.texts
    assert from_file.rules_.weights.tolist() == model.rules_.weights.tolist()
    weighted = MossRegressor(**how).fit(X, y, sample_weight=np.ones(len(y)))
    assert weighted.rules_.texts == model.rules_.texts
    candidates = candidates_for(X, y, **model.search_parameters())
    assert MossRegressor(**how).fit_candidates(candidates).rules_.texts == model.rules_.texts
    with pytest.raises(InvalidParameter, match="found without the rules of near"):
        MossRegressor(**how).fit_candidates(candidates_for(X, y, n_trees=60, random_state=1))


def test_constraints_are_kept_beside_it(halves, approved):
    """A feature that must not be used takes approved rules with it."""
    X, y = halves[1]
    banned = approved.rules[0].features[0]
    left = [rule for rule in approved if banned not in rule.features]
    how = {**HOW, "near": approved, "constraints": [NeverUse(banned), AtMostFeatures(4)]}
    model = MossRegressor(**how, keep=1 / 6).fit(X, y)
    assert banned not in model.rules_.features
    assert in_common(model, approved) >= 1
    assert len(left) < 6
    with pytest.raises(InfeasibleProblem, match=r"the constraints leave . at most; relax them, or"):
        MossRegressor(**how, keep=1).fit(X, y)


# --- the price ------------------------------------------------------------------------------------


def test_the_price_of_keeping_more_is_what_models_there_have(halves, approved, model):
    """Each point is the model with that share: its loss, its R2, and its rules in common."""
    X, y = halves[1]
    price = model.near_frontier(gap=0)
    assert price.complete
    assert price[0].kept == 6
    assert price.frontier.entries[-1].floor == 0
    losses = [point.loss for point in price]
    assert losses == sorted(losses, reverse=True)
    for point in price:
        there = MossRegressor(**HOW, gap=0, near=approved, keep=max(point.share, 0.01)).fit(X, y)
        if point.kept:
            assert there.solution_.loss == pytest.approx(point.loss, rel=1e-9)
            assert in_common(there, approved) == point.kept
            assert len(there.rules_) == point.rules
            assert point.fit == pytest.approx(r2_score(y, there.predict(X)), abs=1e-9)
        both = 2 * point.kept / (len(approved) + point.rules)
        assert point.recurrence == pytest.approx(both)


def test_where_nothing_can_be_learned_no_rule_is_kept(halves, approved):
    """A constant target has no rules; a warning says so."""
    X, y = halves[1]
    with pytest.warns(UserWarning, match="nothing to learn from these rows"):
        model = MossRegressor(**HOW, near=approved).fit(X, 0.0 * y)
    assert len(model.rules_) == 0
    assert model.fitted_.near_sentence.startswith("No approved rule is kept")
    assert len(model.near_frontier()) == 0


# --- what cannot be -------------------------------------------------------------------------------


def classifier_rules():
    """Return rules for one of two classes."""
    return MossClassifier(1, n_trees=20).fit({"bmi": [1, 2, 3, 4]}, ["a", "a", "b", "b"]).rules_


@pytest.mark.parametrize(
    ("how", "match"),
    [
        ({"near": None, "keep": 0.5}, "keep is 0.5, and there is no near"),
        ({"keep": 0}, r"keep is 0; pass the share of the approved rules to keep, in \(0, 1\]"),
        ({"keep": 1.1}, r"keep is 1.1; pass the share of the approved rules to keep, in \(0, 1\]"),
        ({"keep": "all"}, "keep is 'all'"),
        ({"floor": "sum"}, "near goes with floor='each'"),
        ({"near": 3}, "near is 3; pass a rule set, a fitted model, or the path of one as .json"),
        ({"near": MossRegressor()}, "near is a MossRegressor that is not fitted, or was emptied"),
        ({"near": classifier_rules()}, "near predicts a class, and this model a number; pass"),
        ({"max_rules": 5, "keep": 1},
         "asks for 6 of the 6 approved rules, and max_rules is 5; raise max_rules to 6, or lower "),
    ],
)  # fmt: skip
def test_what_cannot_be_is_one_sentence(halves, approved, how, match):
    """It names what was wrong, and what to do."""
    with pytest.raises(ValueError, match=match):
        MossRegressor(**{**HOW, "near": approved, **how}).fit(*halves[1])


def test_a_rule_set_without_rules_is_refused(halves):
    """There is nothing to stay near."""
    X, y = halves[0]
    empty = MossRegressor(**HOW).fit(X, 0.0 * y).rules_
    with pytest.raises(InvalidParameter, match="near has no rules, so that there is nothing to"):
        MossRegressor(**HOW, near=empty).fit(X, y)


def test_other_classes_are_refused(halves):
    """Rules for one class say nothing of another one."""
    X, y = halves[0]
    two = np.where(y > 140, "high", "low")
    three = np.where(y > 200, "top", two)
    of_two = MossClassifier(2, n_trees=30).fit(X, two).rules_
    of_three = MossClassifier(2, n_trees=30).fit(X, three).rules_
    near_two = MossClassifier(2, n_trees=30, near=of_two)
    with pytest.raises(InvalidParameter, match="near is for the class 'low', and the rules here"):
        near_two.fit(X, np.where(y > 140, "big", "tall"))
    near_two.fit(X, two)
    with pytest.raises(InvalidParameter, match="are for one of several classes; pass an approved"):
        near_two.fit(X, three)
    with pytest.raises(InvalidParameter, match="near has the classes 'high', 'low', 'top', and"):
        MossClassifier(2, n_trees=30, near=of_three).fit(X, two)
    with pytest.raises(InvalidParameter, match="near predicts a number, and this model a class"):
        MossClassifier(2, n_trees=30, near=MossRegressor(2, n_trees=30).fit(X, y)).fit(X, two)
    # A model may be fitted again, to other classes.
    near_two.set_params(near=of_three).fit(X, three)


def test_a_model_without_near_has_no_price(halves):
    """Nor can it be asked to keep a share."""
    model = MossRegressor(**HOW).fit(*halves[0])
    with pytest.raises(InvalidParameter, match="stays near no rule set; fit it with near="):
        model.near_frontier()
    with pytest.raises(InvalidParameter, match=r"keep is 0.5, and there is no near"):
        model.select(keep=0.5)
    required = MossRegressor(**HOW, constraints=MustInclude(model.rules_.rules[0]))
    assert required.fit(*halves[0]).fitted_.near_sentence is None
