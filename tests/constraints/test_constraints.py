import itertools

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.model_selection import GridSearchCV

from mossrules import MossRegressor, find_candidates
from mossrules.candidates.rules import OPEN, Levels, Range, Rule
from mossrules.constraints import (
    AtMostConditions,
    AtMostFeatures,
    AtMostPerFeature,
    Decreasing,
    Increasing,
    MustExclude,
    MustInclude,
    NeverUse,
    OnlyDown,
    OnlyUp,
    OwnDirection,
    apply_constraints,
    check_constraints,
)
from mossrules.defaults import PAPER_WAY
from mossrules.exceptions import InfeasibleProblem, InvalidParameter
from mossrules.learning.stability_levels import at_stability, stability_floors
from mossrules.solver import Options, Problem, Status, solve
from support.oracles import signed_loss

OLD = Rule.of([Range("age", low=7)])
ALL = ("age", "sex", "bmi", "bp", "s1", "s2", "s3", "s4", "s5", "s6")
HEAVY = Rule.of([Range("bmi", low=8)])


@pytest.fixture(scope="module")
def diabetes():
    """Return a table with names and its target."""
    return load_diabetes(return_X_y=True, as_frame=True, scaled=False)


@pytest.fixture(scope="module")
def few(diabetes):
    """Return so few candidates that all selections can be tried."""
    X, y = diabetes
    return find_candidates(
        X[["age", "bmi", "bp", "s5"]], y, n_trees=25, max_depth=2, n_bins=4, max_candidates=14,
        include=[AGED, MIDDLING],
    )  # fmt: skip


AGED = Rule.of([Range("age", low=4)])
MIDDLING = Rule.of([Range("bmi", low=2, high=3)])
FEATURES = ("age", "bmi", "bp", "s5")


def uses(rules, feature):
    """Return how many rules look at a feature."""
    return sum(feature in rule.features for rule in rules)


def above_raises(condition):
    """Return which way a rule may push if the prediction is to grow with a feature; 0 for none."""
    if condition.low > 1 and condition.high < OPEN:
        return 0
    return 1 if condition.low > 1 else -1


# What each constraint says of a set of rules, and which way its conditions let a rule push.
KINDS = {
    "never use": (NeverUse("bmi"), lambda rules: uses(rules, "bmi") == 0, {}),
    "must include": (MustInclude(AGED), lambda rules: AGED in rules, {}),
    "must exclude": (
        MustExclude(AGED, "bmi <= 23.2"),
        lambda rules: AGED not in rules and Rule.of([Range("bmi", high=1)]) not in rules,
        {},
    ),
    "per feature": (
        AtMostPerFeature(1), lambda rules: all(uses(rules, f) <= 1 for f in FEATURES), {},
    ),
    "one feature": (AtMostPerFeature(1, "bmi"), lambda rules: uses(rules, "bmi") <= 1, {}),
    "features": (
        AtMostFeatures(2), lambda rules: sum(uses(rules, f) > 0 for f in FEATURES) <= 2, {},
    ),
    "up": (OnlyUp("bmi"), lambda _: True, {"bmi": lambda _: 1}),
    "down": (OnlyDown("s5"), lambda _: True, {"s5": lambda _: -1}),
    "up and down": (
        [OnlyUp("bmi"), OnlyDown("s5")], lambda _: True,
        {"bmi": lambda _: 1, "s5": lambda _: -1},
    ),
    "increasing": (Increasing("bmi"), lambda _: True, {"bmi": above_raises}),
    "decreasing": (
        Decreasing("bmi", "s5"), lambda _: True,
        dict.fromkeys(("bmi", "s5"), lambda condition: -above_raises(condition)),
    ),
    "both": (
        [Increasing("bmi"), Decreasing("bp")], lambda _: True,
        {"bmi": above_raises, "bp": lambda condition: -above_raises(condition)},
    ),
    "conditions": (AtMostConditions(1), lambda rules: all(len(rule) == 1 for rule in rules), {}),
}  # fmt: skip


def directions(rule, pushes):
    """Return the ways in which the conditions of a rule let it push."""
    return [pushes[each.feature](each) for each in rule.conditions if each.feature in pushes]


def brute_force(problem, candidates, says, pushes):
    """Return the least loss of all selections that are allowed, by scipy."""
    data = candidates.statistics
    allowed, signs = np.ones(len(candidates), dtype=bool), np.zeros(len(candidates), dtype=int)
    for i, rule in enumerate(candidates.pool.rules):
        for push in directions(rule, pushes):
            allowed[i] &= data.values[i] * push > 0
            signs[i] = 1  # the column is the mean times 0 or 1
    free = Problem(data, max_rules=problem.max_rules, gamma=problem.gamma, signs=signs)
    best = np.inf
    for size in range(1, problem.max_rules + 1):
        for S in itertools.combinations(np.flatnonzero(allowed).tolist(), size):
            enough = data.counts[list(S)].sum() >= problem.min_stability
            if enough and says([candidates.pool.rules[i] for i in S]):
                best = min(best, signed_loss(free, S))
    return best


@pytest.mark.parametrize("share", [0.0, 0.8])
def test_each_rule_goes_its_own_way_and_none_better_do(few, share):
    """Under OwnDirection no weight is against the mean of its rule, at the loss of brute force."""
    data = few.statistics
    plain = Problem(data, max_rules=5, gamma=1.0)
    problem = apply_constraints(plain, few, [OwnDirection()])
    problem = problem.at(int(share * problem.max_stability))
    solution = solve(problem, options=Options(gap=0.0))
    free = solve(plain.at(problem.min_stability), options=Options(gap=0.0))
    assert free.loss < 0.999 * solution.loss  # so it asks for something
    signed = Problem(data, max_rules=5, gamma=1.0, signs=np.ones(len(few), dtype=int))
    best = min(
        signed_loss(signed, S)
        for size in range(6)
        for S in itertools.combinations(range(len(few)), size)
        if data.counts[list(S)].sum() >= problem.min_stability
    )
    assert solution.loss == pytest.approx(best, rel=1e-9)
    assert (solution.weights >= 0).all()  # of columns that are the mean times 0 or 1


def test_a_rule_that_would_go_against_its_rows_adds_nothing(diabetes):
    """Where directions are free some do, under the constraint none, nor by default."""
    free = {**PAPER_WAY, "stability": 0.8, "max_features": 0.5}
    plain, bound, own = (
        MossRegressor(12, n_trees=60, random_state=0, **asked).fit(*diabetes)
        for asked in (free, {**free, "constraints": OwnDirection()}, {})
    )
    for model, against in ((plain, True), (bound, False), (own, False)):
        means = dict(
            zip(model.candidates_.pool.rules, model.candidates_.statistics.values, strict=True)
        )
        pushes = [
            means[rule] * w for rule, w in zip(model.rules_, model.rules_.weights, strict=True)
        ]
        assert bool(min(pushes) < 0) is against


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("share", [0.0, 0.8])
def test_the_answer_keeps_the_constraint_and_is_the_best_that_does(few, kind, share):
    """For each kind, the selection satisfies it and has the loss of brute force."""
    constraint, says, pushes = KINDS[kind]
    plain = Problem(few.statistics, max_rules=3, gamma=0.1)
    problem = apply_constraints(plain, few, check_constraints(constraint))
    problem = problem.at(int(share * problem.max_stability))
    solution = solve(problem, options=Options(gap=0.0))
    assert solution.status is Status.OPTIMAL
    rules = [few.pool.rules[i] for i in solution.support]
    assert says(rules)
    adds = solution.weights * few.statistics.values[solution.support]
    for rule, add in zip(rules, adds, strict=True):
        assert all(push and add * push >= 0 for push in directions(rule, pushes))
    assert solution.loss == pytest.approx(brute_force(problem, few, says, pushes), rel=1e-9)
    assert solution.verify(problem).passed


def test_several_constraints_are_kept_together(few):
    """Of all selections that keep five constraints at once, the best is found."""
    constraints = [NeverUse("s5"), AtMostPerFeature(2), AtMostFeatures(2), OnlyUp("bmi"),
                   MustInclude(AGED)]  # fmt: skip
    plain = Problem(few.statistics, max_rules=4, gamma=0.1)
    problem = apply_constraints(plain, few, constraints)
    solution = solve(problem, options=Options(gap=0.0))

    def says(rules):
        features = [f for rule in rules for f in rule.features]
        return (
            "s5" not in features
            and AGED in rules
            and len(set(features)) <= 2
            and all(features.count(f) <= 2 for f in features)
        )

    assert solution.loss == pytest.approx(
        brute_force(problem, few, says, {"bmi": lambda _: 1}), rel=1e-9
    )


# --- estimators -----------------------------------------------------------------------------------


@pytest.mark.parametrize("stability", ["high", "medium", "low", 0.7])
def test_a_model_keeps_what_was_asked_for(diabetes, stability):
    """Rules, features and signs are those allowed, also after the refit, at every stability."""
    constraints = [NeverUse("s5"), AtMostFeatures(3), AtMostPerFeature(3), OnlyUp("bmi"),
                   OnlyDown("s3"), MustInclude(OLD)]  # fmt: skip
    model = MossRegressor(
        6, stability=stability, n_trees=60, constraints=constraints, gap=0.01, random_state=0
    ).fit(*diabetes)
    rules = model.rules_
    features = [feature for rule in rules.rules for feature in rule.features]
    assert "s5" not in features
    assert len(set(features)) <= 3
    assert max(features.count(feature) for feature in features) <= 3
    assert OLD in rules.rules
    for rule, weight in zip(rules.rules, rules.weights, strict=True):
        if "bmi" in rule.features:
            assert weight >= 0
        if "s3" in rule.features:
            assert weight <= 0
    assert model.solution_.verify(model.problem_).passed
    free = MossRegressor(6, stability="low", n_trees=60, random_state=0).fit(*diabetes)
    assert model.score(*diabetes) < free.score(*diabetes)


def grown(model, X, feature):
    """Return predictions for all rows, as one feature takes each of its values in turn."""
    values = np.unique(X[feature])
    beyond = [values[0] - 1, *values, values[-1] + 1]
    return np.array([model.predict(X.assign(**{feature: value})) for value in beyond])


@pytest.mark.parametrize(
    "how",
    [{}, {"stability": 0.6}, *({**PAPER_WAY, "stability": each} for each in (0.8, "low"))],
    ids=["default", "stricter", "paper", "low"],
)
def test_predictions_go_one_way_as_a_feature_grows(diabetes, how):
    """For every patient and every value; without the constraint they do not."""
    X, y = diabetes
    y = y - 60.0 * (X["bmi"] > 30) + 90.0 * (X["s3"] > 60)  # against what is asked for
    free, bound = (
        MossRegressor(8, **how, n_trees=60, max_depth=3, constraints=each, gap=0.01).fit(X, y)
        for each in (None, [Increasing("bmi"), Decreasing("s3")])
    )
    steps = {name: [np.diff(grown(model, X, name), axis=0) for model in (free, bound)]
             for name in ("bmi", "s3")}  # fmt: skip
    assert steps["bmi"][0].min() < 0 or steps["s3"][0].max() > 0
    assert steps["bmi"][1].min() >= 0
    assert steps["s3"][1].max() <= 0
    assert steps["bmi"][1].any()
    assert bound.solution_.verify(bound.problem_).passed


def test_rules_up_to_a_value_may_raise_what_only_goes_up(diabetes):
    """OnlyUp is about each rule, Increasing about the prediction as a feature grows."""
    X, _ = diabetes
    noise = np.random.default_rng(0).normal(scale=X["bmi"].std() / 3, size=len(X))
    falling = noise - X["bmi"]  # the more of it, the less
    one, other = (
        MossRegressor(3, n_trees=30, constraints=each).fit(X, falling)
        for each in (OnlyUp("bmi"), Increasing("bmi"))
    )
    assert np.diff(grown(one, X, "bmi"), axis=0).min() < 0
    assert np.diff(grown(other, X, "bmi"), axis=0).min() >= 0


def test_gaps_and_truth_values_can_grow_too():
    """Truth values have an order, and rules about what is missing go either way."""
    rng = np.random.default_rng(0)
    dose, treated = rng.normal(size=300), rng.random(300) < 0.5
    dose[:90] = np.nan
    X = {"dose": dose, "treated": treated, "noise": rng.normal(size=300)}
    y = np.where(np.isnan(dose), 3.0, dose) + treated + 0.1 * rng.normal(size=300)
    model = MossRegressor(
        6, n_trees=60, inner_nodes=True, constraints=Increasing("dose", "treated"), random_state=0
    ).fit(X, y)
    at = {"dose": [-2.0, 0.0, 2.0], "treated": [False] * 3, "noise": [0.0] * 3}
    assert (np.diff(model.predict(at)) >= 0).all()
    assert (model.predict({**at, "treated": [True] * 3}) >= model.predict(at)).all()
    gap = model.predict({"dose": [np.nan], "treated": [False], "noise": [0.0]})
    assert gap > model.predict(at)[1]


def test_what_has_no_order_cannot_grow():
    """Labels are refused; ordered categories are not."""
    stages = ["early", "middle", "late"]
    rng = np.random.default_rng(0)
    stage = rng.integers(0, 3, 200)
    labels = pl.DataFrame({"stage": np.array(stages)[stage]})
    ordered = labels.cast(pl.Enum(stages))
    y = stage + 0.1 * rng.normal(size=200)
    model = MossRegressor(3, n_trees=20, constraints=Increasing("stage"), random_state=0)
    low, _, high = model.fit(ordered, y).predict(pl.DataFrame({"stage": stages}))
    assert low < high
    with pytest.raises(InvalidParameter, match="'stage', whose values have no order"):
        model.fit(labels, y)


def test_frontiers_and_selections_keep_the_constraints(diabetes):
    """Every point of the frontier does, floors start at what can be had, and select goes there."""
    model = MossRegressor(5, n_trees=60, constraints=[AtMostFeatures(2)], random_state=0)
    frontier = model.fit(*diabetes).frontier(points=8)
    assert frontier.points[0].stability == frontier.max_stability == model.problem_.max_stability
    rules = model.candidates_.pool.rules
    for point in frontier.points:
        assert len({f for i in point.support for f in rules[i].features}) <= 2
    last = model.select(index=len(frontier.points) - 1, frontier=frontier)
    assert len({f for rule in last.rules_.rules for f in rule.features}) <= 2


def test_without_limits_the_floors_are_those_of_the_paper(few):
    """Constraints that only leave rules out leave the sequence of those that remain."""
    plain = Problem(few.statistics, max_rules=3, gamma=0.1)
    assert stability_floors(plain)[0] == plain.max_stability_unlimited
    limited = apply_constraints(plain, few, [AtMostPerFeature(1)])
    floors = stability_floors(limited)
    assert floors[0] == limited.max_stability < plain.max_stability_unlimited
    assert (np.diff(floors) < 0).all()
    assert at_stability(limited, 1.0).min_stability == limited.max_stability
    assert (
        stability_floors(apply_constraints(plain, few, [NeverUse("bmi")]))[0]
        < plain.max_stability_unlimited
    )


def test_a_rule_that_no_tree_found_can_be_required(diabetes):
    """It becomes a candidate of count 0, with statistics of its own, in every fold of a search."""
    X, y = diabetes
    odd = Rule.of([Range("age", low=2, high=2), Range("s6", low=7)])
    how = {"n_trees": 20, "cuts": "quantile", "random_state": 0}  # bins have rows, all of them
    plain = MossRegressor(4, **how).fit(X, y)
    assert odd not in plain.pool_.rules
    model = MossRegressor(4, **how, constraints=MustInclude(odd))
    assert odd in model.fit(X, y).rules_.rules
    position = model.pool_.rules.index(odd)
    assert model.pool_.counts[position] == 0
    search = GridSearchCV(model, {"max_rules": [3, 4]}, cv=3).fit(X, y)
    assert odd in search.best_estimator_.rules_.rules


def test_constraints_survive_cloning(diabetes):
    """They are values: a clone has equal ones, and the same model."""
    constraints = [NeverUse("sex"), AtMostPerFeature(2, "bmi"), MustInclude(OLD)]
    model = MossRegressor(4, n_trees=20, constraints=constraints, random_state=0)
    copied = clone(model)
    assert copied.constraints == constraints
    assert hash(constraints[0]) == hash(copied.constraints[0])
    assert copied.fit(*diabetes).rules_ == model.fit(*diabetes).rules_


def test_a_constant_target_needs_no_rules(diabetes):
    """Where there are no candidates, there is nothing to keep."""
    X, y = diabetes
    model = MossRegressor(constraints=[NeverUse("age")], n_trees=5).fit(X, np.ones(len(y)))
    assert len(model.rules_) == 0


# --- what is printed, and what is refused ---------------------------------------------------------


def test_constraints_read_as_they_are_written():
    """Each has a repr that is its own call."""
    for text in (
        "NeverUse('age', 'sex')", "MustExclude('age > 50')", "OnlyUp('dose')", "OnlyDown('dose')",
        "AtMostPerFeature(2)", "AtMostPerFeature(2, 'age')", "AtMostFeatures(3)",
        "AtMostConditions(1)", "OwnDirection()", "Increasing('dose')", "Decreasing('dose', 'age')",
    ):  # fmt: skip
        assert repr(eval(text)) == text  # noqa: S307
    assert repr(MustInclude(HEAVY)) == "MustInclude(Rule(bmi in bins 8..))"
    assert NeverUse("age") != OnlyUp("age")
    assert AtMostFeatures(3) == AtMostFeatures(3)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (NeverUse("bmmi"), "Did you mean 'bmi'"),
        (OnlyUp("xyz"), "'xyz', which is not a column. There are 10"),
        (Increasing("xyz"), "'xyz', which is not a column. There are 10"),
        (MustInclude("bmi > 99"), "'bmi > 99' must be in, but no column prints it .* 'bmi > 3"),
        (MustInclude(Rule.of([Range("nobody", low=2)])), "there is no column 'nobody'"),
        (MustInclude(Rule.of([Levels("bmi", frozenset(["a"]))])), "column 'bmi' has an order"),
        (MustInclude(Rule.of([Range("bmi", low=60)])), "holds on no row"),
        (["NeverUse"], "pass objects of mossrules.constraints"),
        (
            [Increasing("bmi", "age"), NeverUse("s1"), Decreasing("age")],
            r"Increasing\('age'\) and Decreasing\('age'\) contradict .*NeverUse\('age'\)",
        ),
        ([OnlyDown("bmi"), OnlyUp("bmi")], r"OnlyUp\('bmi'\) and OnlyDown\('bmi'\) contradict"),
        ("NeverUse", "pass a list of constraints"),
        (7, "pass a list of constraints"),
    ],
)
def test_bad_constraints_get_a_clear_sentence(diabetes, given, message):
    """It names what was wrong, and the remedy."""
    with pytest.raises(InvalidParameter, match=message):
        MossRegressor(4, n_trees=20, constraints=given).fit(*diabetes)


@pytest.mark.parametrize(
    "make",
    [NeverUse, lambda: NeverUse(3), lambda: MustInclude(3), lambda: AtMostFeatures(0),
     lambda: AtMostPerFeature(-1), lambda: AtMostConditions("2")],
)  # fmt: skip
def test_constraints_check_what_they_are_given(make):
    """Names of features, rules or their texts, and whole numbers."""
    with pytest.raises(InvalidParameter):
        make()
    assert check_constraints(None) == ()


@pytest.mark.parametrize(
    ("constraints", "remedy"),
    [
        ([NeverUse(*ALL)], "relax NeverUse"),
        ([AtMostFeatures(3), NeverUse("age"), MustInclude(OLD)],
         r"relax NeverUse\('age'\) or MustInclude\(Rule\(age in bins 7..\)\)"),
        ([AtMostFeatures(1), MustInclude(OLD, HEAVY)], r"relax AtMostFeatures\(1\) or MustInclude"),
        ([AtMostPerFeature(0)], r"relax AtMostPerFeature\(0\)"),
        ([NeverUse("age"), MustExclude(OLD), MustInclude(OLD)], "relax MustInclude"),
        ([MustInclude(*(Rule.of([Range("age", low=i)]) for i in range(2, 9)))], "relax Must"),
        ([AtMostPerFeature(0), AtMostPerFeature(0, *ALL)],
         r"relax one of AtMostPerFeature\(0.*, and try again"),
        ([OnlyUp("bmi"), OnlyDown("age"),
          MustInclude(Rule.of([Range("bmi", low=8), Range("age", low=2)]))],
         r"relax OnlyDown\('age'\) or MustInclude"),
    ],
)  # fmt: skip
def test_infeasible_combinations_say_which_to_relax(diabetes, constraints, remedy):
    """Those are named without which, alone, there is a rule set again."""
    with pytest.raises(InfeasibleProblem, match=remedy):
        # Which bins there are, round numbers would decide.
        MossRegressor(4, n_trees=20, cuts="quantile", constraints=constraints).fit(*diabetes)


def test_a_constraint_more_never_lowers_the_loss(few):
    """The best that keeps more is no better, and the plain problem stays as it is."""
    plain = Problem(few.statistics, max_rules=3, gamma=0.1)
    given = [AtMostFeatures(3), AtMostPerFeature(2), OnlyUp("bmi"), NeverUse("s5")]
    losses = [
        solve(apply_constraints(plain, few, given[:n]), options=Options(gap=0.0)).loss
        for n in range(len(given) + 1)
    ]
    assert losses == sorted(losses)
    assert plain.signs is None


def test_a_rule_whose_complement_is_the_candidate_is_told_which_to_name():
    """`fit` makes the rule a candidate; where candidates are given, the complement is named."""
    X = {"age": [25.0, 35, 45, 55, 65, 75] * 4, "smoker": [False, True] * 12}
    y = [2.0, 5.0, 3.0, 9.0, 6.0, 12.0] * 4
    found = MossRegressor(2, n_trees=20).fit(X, y)
    text = next(text for text in found.candidates_.texts if text.startswith("age >"))
    other = text.replace(">", "<=")
    asked = MossRegressor(2, n_trees=20, constraints=MustInclude(other))
    assert other in asked.fit(X, y).rules_.texts
    with pytest.raises(
        InvalidParameter, match=f"its complement '{text}' is the candidate, .* name"
    ):
        asked.fit_candidates(found.candidates_)
