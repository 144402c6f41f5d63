from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge

from mossrules import MossClassifier, MossRegressor, defaults
from mossrules.data import columns
from mossrules.data.canonical_order import MOST_REPEATS
from mossrules.defaults import PAPER_WAY
from mossrules.estimators import base
from mossrules.exceptions import InvalidParameter, InvalidTarget, MossError, SolveLimitWarning
from mossrules.learning.squared_error import GAMMA_ROWS, best_ridge
from mossrules.learning.stability_levels import count_untied
from mossrules.solver import Status
from support.model_cases import MAKERS, wild_table


@pytest.fixture(scope="module")
def diabetes():
    """Return a table in the users' units and its target."""
    return load_diabetes(return_X_y=True, as_frame=True, scaled=False)


SEARCH = {"n_trees": 100, "random_state": 1}


@pytest.fixture(scope="module")
def model(diabetes):
    """Return a model that no test changes."""
    return MossRegressor(5, **SEARCH).fit(*diabetes)


def window_sums(counts, k):
    """Return the paper's sequence of floors by its definition."""
    ordered = sorted((int(count) for count in counts), reverse=True)
    return sorted({sum(ordered[i : i + k]) for i in range(len(ordered) - k + 1)}, reverse=True)


def rule_columns(model, X):
    """Return the columns that the solver weighs, in the order of the model's rules."""
    statistics = model.candidates_.statistics
    position = {rule: i for i, rule in enumerate(model.pool_.rules)}
    positions = [position[rule] for rule in model.rules_]
    values = np.asarray(statistics.values)[positions]
    return model.rules_.holds(X) * values, values


# --- predictions and weights ----------------------------------------------------------------------


def test_predictions_are_what_the_text_of_the_rules_says(diabetes, model):
    """Reading the printed rules as pandas expressions and adding weights gives the predictions."""
    X, _ = diabetes
    expected = np.full(len(X), model.rules_.intercept)
    for text, weight in zip(model.rules_.texts, model.rules_.weights, strict=True):
        expected += weight * X.eval(text).to_numpy()
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-12)
    np.testing.assert_array_equal(model.predict(X), model.rules_.predict(X))


def test_predicting_looks_only_at_columns_of_the_rules(monkeypatch):
    """A column of objects that no rule uses is not scanned."""
    x = np.arange(40.0)
    X = pd.DataFrame({"x": x, "note": pd.Series(["same"] * 40, dtype=object)})
    model = MossRegressor(2, n_trees=10).fit(X, x > 20)
    expected = model.predict(X).tolist()
    monkeypatch.setattr(columns, "_column_from_objects", None)
    assert model.predict(X).tolist() == expected


@pytest.mark.parametrize(("asked", "alpha"), [("auto", None), (5.0, 5.0), (None, 1e-3)])
def test_refitted_weights_are_those_of_a_ridge(diabetes, asked, alpha):
    """Weights and intercept equal scikit-learn's ridge on the scaled rule columns."""
    X, y = diabetes
    model = MossRegressor(5, **SEARCH, refit_ridge=asked).fit(X, y)
    alpha = alpha or best_ridge(model.candidates_.statistics, model.solution_.support)
    M, values = rule_columns(model, X)
    scale = y.std(ddof=0)
    ridge = Ridge(alpha=alpha, solver="svd").fit(M, (y - y.mean()) / scale)
    np.testing.assert_allclose(model.rules_.weights, ridge.coef_ * values * scale, rtol=1e-6)
    np.testing.assert_allclose(
        model.rules_.intercept, y.mean() + ridge.intercept_ * scale, rtol=1e-6
    )


def test_weights_can_be_those_of_the_solver(diabetes, model):
    """Without refitting, weights are the shrunken ones of the solution beside its intercept."""
    X, y = diabetes
    plain = MossRegressor(5, **SEARCH, refit=False).fit(X, y)
    M, values = rule_columns(plain, X)
    n, scale = len(y), y.std(ddof=0)
    # What scales a column down shrinks its weight the more: that of rules which few trees have.
    frequency = plain.rules_.proportion * plain.pool_.n_trees / plain.pool_.counts.max()
    factors = np.sqrt(frequency)
    ridge = Ridge(alpha=n / GAMMA_ROWS["frequency"], solver="svd")
    ridge.fit(M * factors, (y - y.mean()) / scale)
    weights = ridge.coef_ * factors * values * scale
    np.testing.assert_allclose(plain.rules_.weights, weights, rtol=1e-6)
    assert plain.rules_.intercept == pytest.approx(y.mean() + ridge.intercept_ * scale)
    assert plain.rules_ == model.rules_
    refitted = MossRegressor(5, **SEARCH, refit_ridge=None).fit(X, y)
    assert refitted.score(X, y) > plain.score(X, y)


def test_weights_of_the_paper_are_around_the_mean(diabetes):
    """Its solver shrinks all rules alike, and has no intercept."""
    X, y = diabetes
    paper = {**SEARCH, **PAPER_WAY, "stability": 0.8}
    plain, model = (MossRegressor(5, **paper, refit=refit).fit(X, y) for refit in (False, True))
    M, values = rule_columns(plain, X)
    n, scale = len(y), y.std(ddof=0)
    ridge = Ridge(alpha=n / GAMMA_ROWS["equal"], fit_intercept=False, solver="svd")
    ridge.fit(M, (y - y.mean()) / scale)
    np.testing.assert_allclose(plain.rules_.weights, ridge.coef_ * values * scale, rtol=1e-6)
    assert plain.rules_.intercept == pytest.approx(y.mean())
    assert plain.rules_ == model.rules_
    assert model.score(X, y) > plain.score(X, y)


def test_refitting_minds_the_weights_of_rows(diabetes):
    """With sample weights, the refit is the weighted ridge."""
    X, y = diabetes
    w = np.random.default_rng(0).uniform(0.1, 3.0, len(y))
    weighted = MossRegressor(6, n_trees=60, refit_ridge=2.0).fit(X, y, sample_weight=w)
    M, values = rule_columns(weighted, X)
    mean = np.average(y, weights=w)
    scale = np.sqrt(np.average((y - mean) ** 2, weights=w))
    ridge = Ridge(alpha=2.0, solver="svd").fit(M, (y - mean) / scale, sample_weight=w)
    # Weights of rows lie on a grid of 2^-20 of the largest.
    np.testing.assert_allclose(weighted.rules_.weights, ridge.coef_ * values * scale, rtol=1e-3)


# --- the choice -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("word", "place"), [("high", 3), ("medium", 40)])
def test_words_stand_for_floors_of_the_sequence(diabetes, word, place):
    """With the paper's floor, "high" is its 3rd, "medium" its 40th."""
    model = MossRegressor(5, n_trees=300, floor="sum", stability=word).fit(*diabetes)
    floor = window_sums(model.pool_.counts, 5)[place - 1]
    assert model.problem_.min_stability == floor <= model.solution_.stability
    assert model.solution_.status is Status.OPTIMAL
    assert model.solution_.gap <= 1e-3 + 1e-12
    assert model.solution_.verify(model.problem_).passed


def test_a_short_sequence_ends_with_its_last(diabetes):
    """Where there are fewer floors of the paper than asked for, the last one counts."""
    X, y = diabetes
    few = MossRegressor(2, n_trees=3, max_depth=1, floor="sum", stability="medium").fit(X, y)
    assert few.problem_.min_stability == window_sums(few.pool_.counts, 2)[-1]
    # Those of the paper, that express one another, are all in the model too.
    all_of_them = MossRegressor(50, n_trees=3, **PAPER_WAY, stability="high").fit(X, y)
    assert len(all_of_them.rules_) == len(all_of_them.pool_) < 50


def test_low_is_the_approximate_algorithm(diabetes):
    """With the paper's floor "low" means no floor and no proof, whatever the solver."""
    how = {**PAPER_WAY, "stability": "low", "solver": "cutting-plane"}
    model = MossRegressor(5, n_trees=100, **how).fit(*diabetes)
    assert model.problem_.min_stability == 0
    assert model.solution_.report.method == "coordinate-descent"
    assert model.solution_.status is Status.HEURISTIC


@pytest.mark.parametrize("share", [1, 1.0, 0.9, 0.37, 1e-9])
@pytest.mark.parametrize("floor", ["sum", "each"])
def test_a_share_is_of_the_largest_stability(diabetes, share, floor):
    """Of the counts that the most frequent rules have together, or of that of the last of them."""
    model = MossRegressor(5, n_trees=100, floor=floor, stability=share).fit(*diabetes)
    counts = sorted(model.pool_.counts.tolist(), reverse=True)
    least = {
        "sum": np.ceil(share * sum(counts[:5])),
        "each": min(count for count in counts if count >= share * counts[4]),
    }[floor]
    assert model.solution_.stability >= model.problem_.min_stability == least


def test_any_solver_finds_as_good_a_choice(diabetes):
    """The paper's cutting plane agrees with branch and bound to within the gap."""
    how = {"n_trees": 60, "stability": 10}
    own = MossRegressor(4, **how).fit(*diabetes)
    cuts = MossRegressor(4, **how, solver="cutting-plane").fit(*diabetes)
    assert cuts.solution_.report.method == "cutting-plane"
    assert cuts.solution_.loss == pytest.approx(own.solution_.loss, rel=2e-3)


@pytest.mark.parametrize(
    ("counts", "max_rules", "left"),
    [
        ([9, 8, 7, 6], 2, 2),  # no tie at the end
        ([9, 7, 7, 6], 2, 1),  # the 2nd ties with the 3rd
        ([9, 7, 7, 7, 1], 3, 1),
        ([7, 7, 7, 7], 2, 2),  # all tie: nothing to go by
        ([7, 7], 5, 5),
        ([1, 9, 7, 7], 2, 1),  # in any order
    ],
)
def test_ties_at_the_end_are_left_out_together(counts, max_rules, left):
    """Of rules that tie at the edge of the largest selection, either all or none may be in it."""
    assert count_untied(np.array(counts), max_rules) == left


def test_dropping_ties_makes_shorter_rule_sets(diabetes):
    """ties="drop" allows as many rules as are more frequent than the first that is left out."""
    X, y = diabetes
    counts = MossRegressor(15, n_trees=30).fit(X, y).pool_.counts.tolist()
    most = next(k for k in range(5, len(counts)) if counts[k - 1] == counts[k])
    kept = MossRegressor(most, n_trees=30).fit(X, y)
    dropped = MossRegressor(most, n_trees=30, ties="drop").fit(X, y)
    expected = sum(count > counts[most] for count in counts)
    assert len(kept.rules_) == most
    assert 1 <= len(dropped.rules_) == dropped.problem_.max_rules == expected < most
    assert dropped.problem_.max_stability_unlimited == counts[expected - 1]
    summed = dropped.set_params(floor="sum").fit(X, y)
    assert summed.problem_.max_stability_unlimited == sum(counts[:expected])


def test_without_a_target_the_floor_has_its_own(diabetes):
    """A tenth for each rule; for the sum, of which that is next to nothing, the paper's "high"."""
    each = clone(MossRegressor(5, **SEARCH))
    assert each.get_params()["stability"] is None
    assert each.settings().stability == defaults.STABILITY
    summed = clone(each).set_params(floor="sum").fit(*diabetes)
    high = MossRegressor(5, **SEARCH, floor="sum", stability="high").fit(*diabetes)
    assert summed.problem_.min_stability == high.problem_.min_stability > 0
    assert summed.rules_.to_json() == high.rules_.to_json()
    low = clone(summed).set_params(stability=0.05).fit(*diabetes)  # what is asked for is kept
    assert low.problem_.min_stability == np.ceil(0.05 * low.problem_.max_stability)
    assert MossClassifier(**defaults.PAPER_WAY).settings().stability == "high"


@pytest.mark.parametrize("shrinkage", ["frequency", "equal"])
def test_gamma_falls_with_the_rows(diabetes, shrinkage):
    """By default it is a constant over the number of rows, or over their weight."""
    X, y = diabetes
    model = MossRegressor(3, n_trees=20, shrinkage=shrinkage)
    assert model.fit(X, y).problem_.gamma == GAMMA_ROWS[shrinkage] / len(y)
    model.fit(X, y, sample_weight=np.full(len(y), 2.5))
    assert model.problem_.gamma == pytest.approx(GAMMA_ROWS[shrinkage] / (2.5 * len(y)))
    assert MossRegressor(3, n_trees=20, gamma=0.02).fit(X, y).problem_.gamma == 0.02


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_rules": 0}, {"max_rules": 2.5}, {"stability": "HIGH"},
        {"stability": 0}, {"stability": 1.01}, {"stability": True},
        {"ties": "break"}, {"ties": None}, {"gamma": "large"}, {"gamma": 0.0}, {"gamma": None},
        {"solver": "gurobi"}, {"gap": -1}, {"time_limit": 0}, {"constraints": [1]},
        {"n_trees": 0}, {"max_depth": 9}, {"n_bins": 1}, {"max_features": 0.0},
        {"generator": "boosting"}, {"n_jobs": 0}, {"random_state": -1}, {"random_state": "x"},
    ],
    ids=str,
)  # fmt: skip
def test_wrong_parameters_are_named(diabetes, wrong):
    """A parameter outside its values is refused in fit with one sentence that names it."""
    (name,) = wrong
    with pytest.raises(MossError, match=name):
        MossRegressor(**{"n_trees": 10, **wrong}).fit(*diabetes)


def test_a_search_that_runs_out_of_time_says_so(diabetes):
    """A limit that was met is a warning that tells the gap left; the model is there."""
    X, y = diabetes
    hasty = MossRegressor(
        15, n_trees=500, stability=0.01, shrinkage="equal", gamma=10.0, gap=0.0, time_limit=0.05
    )
    with pytest.warns(SolveLimitWarning, match=r"time limit.*gap of .*% left.*raise time_limit"):
        hasty.fit(X, y)
    assert hasty.solution_.status is Status.TIME_LIMIT
    assert np.isfinite(hasty.predict(X)).all()


# --- other points of the trade-off ----------------------------------------------------------------


def test_selecting_a_stability_is_fitting_with_it(diabetes, model):
    """select() gives the bits that fit gives with that parameter, from the same candidates."""
    X, y = diabetes
    before = model.rules_.to_json()
    for stability in ("high", "medium", "low", 0.7, 20):
        selected = model.select(stability=stability)
        fitted = MossRegressor(5, **SEARCH, stability=stability).fit(X, y)
        assert selected.rules_.to_json() == fitted.rules_.to_json()
        assert selected.get_params() == fitted.get_params()
        assert selected.candidates_ is model.candidates_
        assert selected.problem_.min_stability == fitted.problem_.min_stability
        np.testing.assert_array_equal(selected.predict(X), fitted.predict(X))
    assert model.rules_.to_json() == before
    assert model.settings().stability == defaults.STABILITY


def test_selecting_never_grows_a_forest(model, monkeypatch):
    """Neither frontier nor select asks for candidates."""
    monkeypatch.setattr(base, "find_in_rows", None)
    assert len(model.frontier(points=4)) >= 1
    assert len(model.select(index=0).rules_) == 5


def test_selecting_from_the_frontier(diabetes, model):
    """Points are chosen by position or by loss, and the model is the one of that point."""
    X, _ = diabetes
    frontier = model.frontier(points=30)
    for index in range(len(frontier)):
        selected = model.select(index=index, frontier=frontier)
        assert selected.solution_ is frontier.at(index=index)
        assert selected.stability == selected.solution_.stability / frontier.max_stability
        assert selected.solution_.verify(selected.problem_).passed
        texts = {model.candidates_.texts[i] for i in selected.solution_.support}
        assert set(selected.rules_.texts) == texts
        assert selected.predict(X).shape == (len(X),)
    limit = float(frontier.loss[len(frontier) // 2])
    within = model.select(max_loss=limit, frontier=frontier)
    assert within.solution_.loss <= limit
    assert within.solution_.stability == max(p.stability for p in frontier if p.loss <= limit)


@pytest.mark.parametrize(
    "wrong", [{}, {"index": 0, "stability": 0.5}, {"index": 99}, {"max_loss": 0.0},
              {"stability": "most"}, {"stability": 2.0}], ids=str,
)  # fmt: skip
def test_wrong_selections_are_refused(model, wrong):
    """What cannot be selected raises one sentence."""
    with pytest.raises(InvalidParameter):
        model.select(**wrong)


def test_a_frontier_is_computed_once(model):
    """The same call gives the same object; other arguments another one."""
    first = model.frontier(points=5)
    assert model.frontier(5, 0.01) is first
    assert model.frontier(points=5, gap=0.02) is not first
    assert model.select(stability=0.9).frontier(points=5) is first
    shares = np.geomspace(1.0, 0.05, 5)  # as many more rules each time
    floors = [model.select(stability=share).problem_.min_stability for share in shares]
    assert [entry.floor for entry in first.entries] == floors
    assert first.worst_gap <= 0.01 + 1e-12
    with pytest.raises(InvalidParameter, match="points"):
        model.frontier(points=0)


@pytest.mark.parametrize("floor", ["sum", "each"])
def test_a_point_is_the_model_of_its_stability(diabetes, floor):
    """The parameter that a selected model has leads fit to a rule set that is as good."""
    X, y = diabetes
    how = {"floor": floor, "n_trees": 20, "gap": 0.0}
    model = MossRegressor(4, **how).fit(X[:150], y[:150])
    frontier = model.frontier("complete", gap=0.0)
    for index, point in enumerate(frontier):
        selected = model.select(index=index, frontier=frontier)
        again = MossRegressor(4, **how, stability=selected.stability).fit(X[:150], y[:150])
        assert again.solution_.loss == pytest.approx(point.loss, rel=1e-9)
        assert again.solution_.stability == point.stability


def test_a_frontier_at_shares_has_the_models_of_these_shares(model):
    """Each floor is the one that a model of that share has; floors that coincide are one."""
    frontier = model.frontier([0.7, 1.0, 0.9, 0.9], gap=1e-3)
    chosen = [model.select(stability=share) for share in (1.0, 0.9, 0.7)]
    assert [entry.floor for entry in frontier.entries] == [
        each.problem_.min_stability for each in chosen
    ]
    for entry, each in zip(frontier.entries, chosen, strict=True):
        assert entry.solution.loss == pytest.approx(each.solution_.loss, rel=2e-3)
    assert model.frontier((1.0, 0.9, 0.7), 1e-3) is frontier
    with pytest.raises(InvalidParameter, match="points is"):
        model.frontier([1.5])


def test_a_frontier_can_be_recorded_and_watched(diabetes, tmp_path):
    """A record is kept from which another model goes on, and each floor is told."""
    record, seen = tmp_path / "record.json", []
    first, again = (MossRegressor(3, n_trees=30).fit(*diabetes) for _ in range(2))
    frontier = first.frontier(4, checkpoint=record, progress=seen.append)
    assert len(seen) == len(frontier.entries) > 1
    stored = record.read_bytes()
    resumed = again.frontier(4, checkpoint=record)
    assert resumed.loss.tolist() == frontier.loss.tolist()
    assert record.read_bytes() == stored


def test_a_complete_frontier_holds_every_point(diabetes):
    """The complete frontier is at least as good as the grid everywhere."""
    small = MossRegressor(2, n_trees=20, max_depth=1).fit(*diabetes)
    complete, grid = small.frontier("complete", gap=0.0), small.frontier(gap=0.0)
    assert complete.complete
    for point in grid.points:
        assert complete.at(stability=point.stability).loss <= point.loss * (1 + 1e-9)


def test_a_frontier_keeps_the_problem_of_fit(diabetes):
    """Parameters set after fit do not change what was fitted."""
    model = MossRegressor(4, n_trees=40).fit(*diabetes).set_params(max_rules=9, gamma=1.0)
    assert model.frontier(points=2).max_rules == 4
    assert len(model.select(stability=0.9).rules_) == 4


# --- rows, weights and seeds ----------------------------------------------------------------------


def test_whole_weights_are_repeated_rows():
    """Integer weights give the model of repeated and left-out rows, bit by bit."""
    X, y = wild_table(5, n=120)
    w = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = MossRegressor(6, n_trees=40).fit(X, y, sample_weight=w)
    again = X.iloc[np.repeat(np.arange(len(y)), w)].sample(frac=1.0, random_state=0)
    repeated = MossRegressor(6, n_trees=40).fit(again, pd.Series(y)[again.index].to_numpy())
    assert weighted.rules_.to_json() == repeated.rules_.to_json()
    np.testing.assert_array_equal(
        weighted.candidates_.statistics.G, repeated.candidates_.statistics.G
    )


@pytest.mark.parametrize("factor", [2.0, 2.5, 1e-3, 3.0 * MOST_REPEATS])
def test_weights_multiply_the_statistics(diabetes, factor):
    """Weights that are all alike scale the statistics of the same rules."""
    X, y = diabetes
    plain = MossRegressor(6, n_trees=40).fit(X, y)
    heavy = MossRegressor(6, n_trees=40).fit(X, y, sample_weight=np.full(len(y), factor))
    assert heavy.candidates_.statistics.n == pytest.approx(factor * len(y))
    at = {rule: i for i, rule in enumerate(heavy.pool_.rules)}
    both = [(i, at[rule]) for i, rule in enumerate(plain.pool_.rules) if rule in at]
    here, there = np.array(both).T
    np.testing.assert_allclose(
        heavy.candidates_.statistics.G[np.ix_(there, there)],
        factor * plain.candidates_.statistics.G[np.ix_(here, here)],
        rtol=1e-6,  # weights lie on a grid
    )
    np.testing.assert_allclose(
        heavy.candidates_.statistics.q[there],
        factor * plain.candidates_.statistics.q[here],
        rtol=1e-6,
    )


def test_weights_that_leave_nothing_are_refused(diabetes):
    """Weights that are all zero, or negative, or too few, are named."""
    X, y = diabetes
    for w in (np.zeros(len(y)), -np.ones(len(y)), np.ones(3), np.eye(1, len(y))[0]):
        with pytest.raises(InvalidTarget, match="sample_weight"):
            MossRegressor(n_trees=5).fit(X, y, sample_weight=w)


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_any_table_gives_a_model_that_minds_no_order(seed):
    """On all kinds of columns with missing values: order of rows and threads do not matter."""
    X, y = wild_table(seed, n=60, makers=MAKERS)
    model = MossRegressor(5, n_trees=12, random_state=seed, n_jobs=1).fit(X, y)
    shuffled = X.assign(**{"the target": y}).sample(frac=1.0, random_state=seed)
    other = MossRegressor(5, n_trees=12, random_state=seed, n_jobs=2).fit(shuffled, "the target")
    assert other.rules_.to_json() == replace(model.rules_, target="the target").to_json()
    predictions = model.predict(X)
    np.testing.assert_array_equal(predictions, model.rules_.predict(X))
    np.testing.assert_array_equal(predictions[::-1], model.predict(X.iloc[::-1]))
    assert np.isfinite(predictions).all()
    assert 1 <= len(model.rules_) <= 5
    assert model.score(X, y) >= -1e-9  # no worse in training than the mean


def test_units_do_not_matter(diabetes):
    """Other units of columns and target give the same rules, with weights in the other unit."""
    X, y = diabetes
    plain = MossRegressor(6, n_trees=40, cuts="quantile").fit(X, y)
    other = MossRegressor(6, n_trees=40, cuts="quantile").fit(X * 1.8 + 32.0, 4.0 * y - 100.0)
    assert other.rules_ == plain.rules_
    np.testing.assert_allclose(np.sort(other.rules_.weights), 4.0 * np.sort(plain.rules_.weights))
    assert other.rules_.intercept == pytest.approx(4.0 * plain.rules_.intercept - 100.0)


def test_seeds_are_taken_as_scikit_learn_takes_them(diabetes):
    """None is the seed 0; an integer repeats itself; a generator goes on."""
    X, y = diabetes

    def pool(seed):
        return MossRegressor(3, n_trees=30, random_state=seed).fit(X, y).pool_.rules

    assert pool(None) == pool(0) == pool(0)
    assert pool(1) != pool(0)
    state = np.random.RandomState(0)
    first, second = pool(state), pool(state)
    assert first != second
    assert first == pool(np.random.RandomState(0))
    assert pool(np.random.default_rng(0)) == pool(np.random.default_rng(0))


# --- where there is little to find ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.arange(10.0)[:, None], np.full(10, 0.1)),  # a constant target
        (np.ones((10, 3)), np.arange(10.0)),  # constant columns
        (np.full((10, 2), np.nan), np.arange(10.0)),  # nothing but missing values
        (np.array([["a"], ["a"], ["a"]], dtype=object), np.arange(3.0)),
    ],
    ids=["target", "columns", "missing", "labels"],
)
@pytest.mark.parametrize("w", [None, 0.5])
def test_where_nothing_can_be_found_the_mean_is_the_model(X, y, w):
    """A constant target or constant columns give a model without rules, with all its methods."""
    weights = None if w is None else np.full(len(y), w)
    model = MossRegressor(n_trees=20).fit(X, y, sample_weight=weights)
    assert len(model.rules_) == len(model.pool_) == len(model.candidates_) == 0
    np.testing.assert_array_equal(model.predict(X), np.full(len(y), y.mean()))
    assert model.problem_ is None
    assert model.solution_.status is Status.OPTIMAL
    assert model.solution_.loss == model.solution_.bound
    assert len(model.frontier_) == 1
    assert len(model.select(index=0).rules_) == len(model.select(stability=0.5).rules_) == 0
    assert model.rules_.columns == tuple(f"x{i}" for i in range(X.shape[1]))


def test_the_smallest_tables_work():
    """Two rows, one column, and one rule are enough."""
    model = MossRegressor(1, n_trees=50).fit([[0.0], [1.0]], [1.0, 3.0])
    assert len(model.rules_) == 1
    np.testing.assert_allclose(model.predict([[-5.0], [9.0]]), [1.0, 3.0], atol=1e-2)


def test_a_frontier_of_the_sum_is_at_the_floors_of_the_paper(diabetes):
    """So many windows of neighbouring counts, from the most stable down."""
    model = MossRegressor(5, n_trees=60, **PAPER_WAY).fit(*diabetes)
    floors = [entry.floor for entry in model.frontier(points=5).entries]
    assert floors == window_sums(model.pool_.counts, 5)[:5]
