from dataclasses import replace
from itertools import chain, pairwise, repeat

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression
from sklearn.metrics import mean_squared_error, r2_score
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    ShuffleSplit,
    TimeSeriesSplit,
    cross_val_score,
)

import mossrules
from mossrules import MossRegressor, evaluate_frontier
from mossrules.budget import Budget
from mossrules.data.rows import Rows, read_rows
from mossrules.data.table import split_target
from mossrules.evaluation import evaluate, trade_off
from mossrules.evaluation import trade_off as cross_validation
from mossrules.evaluation.folds import Dealt, split_rows
from mossrules.evaluation.frontier_evaluation import FoldPoint, FrontierEvaluation
from mossrules.exceptions import InvalidParameter, MossError
from mossrules.learning.stability_levels import MIN_SHARE, read_shares
from mossrules.solver import Status
from mossrules.stability import empirical_stability, nogueira

SHARES = [1.0, 0.9, 0.75, 0.6]


@pytest.fixture(scope="module")
def diabetes():
    """Return part of a table in the users' units, and its target."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    return X[:240], y[:240]


def small(**parameters):
    """Return a model that is quickly fitted."""
    return MossRegressor(**{"max_rules": 4, "n_trees": 40, "random_state": 2, **parameters})


@pytest.fixture(scope="module")
def evaluation(diabetes):
    """Return an evaluation that no test changes."""
    return evaluate_frontier(small(), *diabetes, cv=KFold(5), points=SHARES, gap=0.0)


# --- against models fitted one by one -------------------------------------------------------------


def test_scores_are_those_of_separate_fits(diabetes, evaluation):
    """R2 of each fold and point is scikit-learn's score of a model fitted for it alone."""
    for index, share in enumerate(SHARES):
        model = small(stability=share, gap=0.0)
        expected = cross_val_score(model, *diabetes, cv=KFold(5))
        np.testing.assert_allclose(evaluation.scores[:, index], expected, rtol=1e-9)


def test_figures_of_stability_are_those_of_the_fitted_rules(diabetes, evaluation):
    """Each measure is that of the rule sets of separate fits; Nogueira's among all candidates."""
    X, y = diabetes
    models = [
        small(stability=0.75, gap=0.0).fit(X.iloc[train], y.iloc[train])
        for train, _ in KFold(5).split(X)
    ]
    point = evaluation.points[2]
    rules = [model.rules_ for model in models]
    assert rules == evaluation.rule_sets(2)
    for measure in ("dice", "jaccard", "ochiai", "pog"):
        expected = empirical_stability(rules, measure)
        found = getattr(point, measure)
        assert (found, found.lower, found.upper) == (expected, expected.lower, expected.upper)
    candidates = set().union(*(model.pool_.rules for model in models))
    assert evaluation.n_candidates == len(candidates)
    assert point.nogueira == nogueira(rules, len(candidates))
    largest = [model.problem_.max_stability_unlimited for model in models]
    reached = [model.solution_.stability / top for model, top in zip(models, largest, strict=True)]
    assert point.stability == pytest.approx(np.mean(reached))


def test_weights_count_in_training_and_testing(diabetes):
    """With sample weights, models and scores are the weighted ones."""
    X, y = diabetes
    w = np.random.default_rng(0).uniform(0.2, 3.0, len(y))
    found = evaluate_frontier(small(), X, y, sample_weight=w, cv=KFold(3), points=[0.9], gap=0.0)
    for (train, test), fold in zip(KFold(3).split(X), found.results, strict=True):
        model = small(stability=0.9, gap=0.0).fit(X.iloc[train], y.iloc[train], w[train])
        predicted = model.predict(X.iloc[test])
        expected = r2_score(y.iloc[test], predicted, sample_weight=w[test])
        error = mean_squared_error(y.iloc[test], predicted, sample_weight=w[test])
        assert fold[0].r2 == pytest.approx(expected, rel=1e-9)
        assert fold[0].error == pytest.approx(error, rel=1e-9)


def test_whole_weights_are_repeated_rows(diabetes):
    """Weights of whole numbers give what repeated and left-out rows give."""
    X, y = diabetes
    w = np.random.default_rng(1).integers(0, 3, len(y))
    half = np.arange(len(y)) < 120
    weighted = evaluate_frontier(
        small(), X, y, sample_weight=w, cv=[(half, ~half), (~half, half)], points=[0.9]
    )
    where = np.repeat(np.arange(len(y)), w)
    half = half[where]
    again = evaluate_frontier(
        small(), X.iloc[where], y.iloc[where], cv=[(half, ~half), (~half, half)], points=[0.9]
    )
    np.testing.assert_allclose(weighted.scores, again.scores, rtol=1e-12)
    weighted = evaluate_frontier(small(), X, y, sample_weight=w, cv=3, points=[0.9])
    again = evaluate_frontier(small(), X.iloc[where], y.iloc[where], cv=3, points=[0.9])
    pd.testing.assert_frame_equal(weighted.folds(), again.folds())


def test_rules_are_found_once_per_fold(diabetes, monkeypatch):
    """However many points there are, each fold has one forest and one sweep of floors."""
    calls = []
    original = cross_validation.find_in_rows

    def counted(*rows, **parameters):
        calls.append(parameters["n_trees"])
        return original(*rows, **parameters)

    monkeypatch.setattr(cross_validation, "find_in_rows", counted)
    evaluate_frontier(small(), *diabetes, cv=3, points=20)
    assert calls == [40, 40, 40]


# --- what the result does not depend on -----------------------------------------------------------


def test_threads_change_nothing(diabetes):
    """One thread or three, over folds: the same figures."""
    one, three = (
        evaluate_frontier(small(), *diabetes, cv=4, points=SHARES, n_jobs=n) for n in (1, 3)
    )
    pd.testing.assert_frame_equal(one.frame(), three.frame())
    pd.testing.assert_frame_equal(one.folds(), three.folds())


def test_the_order_of_rows_changes_nothing(diabetes):
    """A number of folds cuts rows by what they hold, not by where they are."""
    X, y = diabetes
    order = np.random.default_rng(5).permutation(len(y))
    one = evaluate_frontier(small(), X, y, cv=4, points=[1.0, 0.7])
    other = evaluate_frontier(small(), X.iloc[order], y.iloc[order], cv=4, points=[1.0, 0.7])
    pd.testing.assert_frame_equal(one.folds(), other.folds())


def test_the_estimator_stays_as_it_is(diabetes):
    """Nothing is fitted, and a generator as random state gives all folds one seed."""
    model = small(random_state=np.random.default_rng(3))
    before = set(vars(model))
    found = evaluate_frontier(model, *diabetes, cv=KFold(3), points=[0.9], gap=0.0)
    assert set(vars(model)) == before
    seed = int(np.random.default_rng(3).integers(1 << 63))
    expected = cross_val_score(
        small(random_state=seed, stability=0.9, gap=0.0), *diabetes, cv=KFold(3)
    )
    np.testing.assert_allclose(found.scores[:, 0], expected, rtol=1e-9)


# --- folds ----------------------------------------------------------------------------------------


def rows_of(n, weights=None, seed=0):
    """Return settled rows of a random table."""
    rng = np.random.default_rng(seed)
    table, target = split_target(rng.normal(size=(n, 2)), rng.normal(size=n))
    return Rows.from_table(table, target, weights)


@given(st.integers(4, 60), st.integers(2, 12))
def test_rows_are_dealt_out(n, folds):
    """Each row is tested once, in folds that differ by one row at most; small tables have fewer."""
    rows = rows_of(n)
    assert len(split_rows(rows, folds, fewer=True)) == min(folds, n // 2)
    if folds > n // 2:
        with pytest.raises(InvalidParameter, match=f"{n} rows make {n // 2} folds"):
            split_rows(rows, folds)
        return
    splits = split_rows(rows, folds)
    assert sorted(np.concatenate([test for _, test in splits])) == list(range(n))
    sizes = [len(test) for _, test in splits]
    assert max(sizes) - min(sizes) <= 1
    for train, test in splits:
        assert sorted([*train, *test]) == list(range(n))


def test_equal_rows_come_to_different_folds():
    """Rows that are alike are spread over the folds, as whole weights are."""
    table, target = split_target([[1.0]] * 6 + [[2.0]] * 3, [5.0] * 6 + [7.0] * 3)
    rows = Rows.from_table(table, target, None)
    for _, test in split_rows(rows, 3):
        assert sorted(rows.target[test]) == [5.0, 5.0, 7.0]
    table, target = split_target([[1.0], [2.0]], [5.0, 7.0])
    rows = Rows.from_table(table, target, np.array([6.0, 3.0]))
    for _, test in split_rows(rows, 3):
        assert sorted(rows.target[test]) == [5.0, 5.0, 7.0]


@pytest.mark.parametrize("weighted", [False, True])
def test_other_methods_can_be_tested_on_the_folds_of_the_trade_off(diabetes, weighted):
    """The folds go by the content of the rows, and those of methods alone by the target first."""
    w = np.random.default_rng(3).integers(0, 3, 240) if weighted else None
    shared = {"sample_weight": w, "n_jobs": 1}
    along = evaluate_frontier(small(), *diabetes, cv=4, points=[0.5], gap=0.0, **shared)
    model = {"MOSS": small(stability=0.5, gap=0.0)}
    alone, same = (
        evaluate(model, *diabetes, cv=cv, **shared) for cv in (4, Dealt(4, "content"))
    )  # fmt: skip
    assert [each.r2 for each in same.folds("MOSS")] == pytest.approx(along.scores[:, 0], rel=1e-9)
    assert [each.r2 for each in alone.folds("MOSS")] != pytest.approx(along.scores[:, 0], rel=1e-9)


@pytest.mark.parametrize(
    "splitter", [KFold(3), TimeSeriesSplit(3), ShuffleSplit(3, random_state=0)]
)
def test_splitters_refer_to_rows_as_given(splitter):
    """The rows of scikit-learn's splitters are found again after they were put in order."""
    rows = rows_of(30)
    for (train, test), expected in zip(
        split_rows(rows, splitter), splitter.split(np.zeros(30)), strict=True
    ):
        assert sorted(rows.origin[train]) == sorted(expected[0])
        assert sorted(rows.origin[test]) == sorted(expected[1])
    assert len(split_rows(rows, list(splitter.split(np.zeros(30))))) == 3


@pytest.mark.parametrize("weighted", [False, True])
def test_groups_stay_together(diabetes, weighted):
    """No group is on both sides, and folds are as large as those of scikit-learn's GroupKFold."""
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 17, 60) ** 2 // 16
    weights = rng.integers(0, 4, 60).astype(float) if weighted else np.ones(60)
    rows = read_rows({"a": rng.normal(size=60)}, rng.normal(size=60), weights, groups)
    repeated = np.repeat(groups, weights.astype(int))
    expected = [len(test) for _, test in GroupKFold(3).split(repeated, groups=repeated)]
    found = split_rows(rows, 3)
    assert sorted(len(test) for _, test in found) == sorted(expected)
    for train, test in found:
        assert not set(groups[rows.origin[train]]) & set(groups[rows.origin[test]])
        assert len(train) + len(test) == len(repeated)
    X, y = diabetes
    places = X["age"].to_numpy() // 10
    found = evaluate_frontier(small(), X, y, cv=3, groups=places, points=[0.9])
    assert found.n_folds == 3


@pytest.mark.parametrize(
    ("cv", "words"),
    [
        (1, "cv is 1"), (True, "cv is True"), (0.5, "cv is 0.5"), ("five", "cv is 'five'"),
        (KFold(2).split, "splitter"), ([], "folds in cv is 0"),
        ([([0, 1], [2, 3])], "folds in cv is 1"), ([([0, 1], [2, 99])] * 2, "Fold 0"),
        ([([0, 1], [-1, 2])] * 2, "Fold 0"), ([([0, 1],)] * 2, "Fold 0"),
        ([([0.5, 1], [2, 3])] * 2, "Fold 0"), ([([0, 1], [2])] * 2, "1 rows to test"),
        ([([], [2, 3])] * 2, "0 rows to train"), (LeaveOneOut(), "1 rows to test"), (None, "cv"),
    ],
    ids=str,
)  # fmt: skip
def test_folds_that_cannot_be_are_refused(cv, words):
    """One sentence says which fold, and what is wrong with it."""
    with pytest.raises(InvalidParameter, match=words):
        split_rows(rows_of(20), cv)


# --- choosing -------------------------------------------------------------------------------------


def made_up(scores, shares=None, changing=()):
    """Return an evaluation with given R2, (folds, points), and the rule sets of real ones.

    At the points of `changing`, the folds have no rule in common.
    """
    scores = np.asarray(scores, dtype=float)
    shares = np.linspace(1.0, 0.5, scores.shape[1]) if shares is None else shares
    X, y = np.arange(4.0)[:, None], [0.0, 1.0, 2.0, 4.0]
    rules, *others = (
        small(n_trees=5).fit(X + 9 * place, y).rules_ for place in range(len(scores) + 1)
    )
    results = [
        [
            FoldPoint(fold, share, share, 1.0, 0.0, Status.OPTIMAL, r2, 1.0 - r2, found)
            for share, r2, found in zip(
                shares,
                row,
                [others[fold] if i in changing else rules for i in range(len(row))],
                strict=True,
            )
        ]
        for fold, row in enumerate(scores)
    ]
    return FrontierEvaluation.of(results, n_candidates=9, gap=0.0, seconds=1.0)


def test_the_rule_of_one_standard_error_by_hand():
    """The most stable point within one standard error of the best mean is chosen."""
    # Means .50 .58 .60 .55; the best has a standard error of .1 / sqrt(2) / sqrt(2) = .05.
    scores = [[0.45, 0.50, 0.55, 0.50], [0.55, 0.66, 0.65, 0.60]]
    found = made_up(scores)
    assert found.points[2].r2_se == pytest.approx(0.05)
    assert found.choose().index == 1
    assert found.choose("best").index == 2
    # Differences to the best: .10 .10 and .05 -.01, of standard errors 0 and .03.
    assert found.choose("paired-standard-error").index == 1
    assert found.frame()["chosen"].tolist() == [False, True, False, False]


def test_of_points_that_are_accurate_enough_the_rules_that_recur_most_win():
    """Recurrence decides among points within one standard error, and among the best."""
    scores = [[0.45, 0.50, 0.55, 0.50], [0.55, 0.66, 0.65, 0.60]]
    found = made_up(scores, changing=[1])
    assert [point.dice.estimate for point in found.points] == [1.0, 0.0, 1.0, 1.0]
    assert found.choose().index == 2  # the first point is not accurate enough
    assert found.choose("best").index == 2
    assert made_up([[0.5, 0.5]] * 2, changing=[0]).choose("best").index == 1


@settings(max_examples=60)
@given(
    st.integers(2, 6).flatmap(
        lambda folds: st.lists(
            st.lists(st.floats(-1, 1), min_size=folds, max_size=folds), min_size=1, max_size=6
        )
    )
)
def test_choices_keep_their_promises(columns):
    """Each rule picks the first point that it allows, and "best" allows no other mean."""
    scores = np.array(columns).T
    found = made_up(scores)
    means = [float(np.mean(column)) for column in columns]
    best = means.index(max(means))
    errors = [float(np.std(column, ddof=1) / np.sqrt(len(column))) for column in columns]
    allowed = [mean >= means[best] - errors[best] for mean in means]
    slack = [abs(mean - (means[best] - errors[best])) < 1e-12 for mean in means]
    chosen = found.choose().index
    assert allowed[chosen] or slack[chosen]
    assert not any(allowed[i] and not slack[i] for i in range(chosen))
    assert means[found.choose("best").index] == pytest.approx(max(means), abs=1e-12)
    assert found.choose("paired-standard-error").index <= found.choose("best").index


def test_points_without_a_selection_are_not_chosen():
    """A point that some fold could not meet has no score, and is passed over."""
    found = made_up([[np.nan, 0.4, 0.5], [0.9, 0.4, 0.5]])
    assert found.choose("best").index == 2
    none = made_up([[np.nan], [0.9]])
    with pytest.raises(InvalidParameter, match="No point"):
        none.choose()
    assert none.frame()["chosen"].tolist() == [False]
    assert repr(none) == "FrontierEvaluation(1 points, 2 folds, gap 0, 1 s)"


def test_another_rule_is_refused(evaluation):
    """A rule that there is not is named."""
    with pytest.raises(InvalidParameter, match="rule is 'lucky'"):
        evaluation.choose("lucky")


# --- showing --------------------------------------------------------------------------------------


def test_frames_hold_all_figures(evaluation):
    """One row for each point, and one for each fold and point, of which the first are means."""
    frame, folds = evaluation.frame(), evaluation.folds()
    assert frame["share"].tolist() == SHARES
    assert len(folds) == 5 * len(SHARES)
    means = folds.groupby("share", sort=False)[["r2", "error", "rules", "stability"]].mean()
    for name in means:
        np.testing.assert_allclose(frame[name], means[name].to_numpy(), rtol=1e-12)
    errors = folds.groupby("share", sort=False)["r2"].std(ddof=1) / np.sqrt(5)
    np.testing.assert_allclose(frame["r2_se"], errors, rtol=1e-12)
    assert frame["optimal"].tolist() == [5] * len(SHARES)
    assert set(folds["status"]) == {"optimal"}
    assert (frame["dice_lower"] <= frame["dice"]).all()
    assert (frame["dice"] <= frame["dice_upper"]).all()
    assert isinstance(evaluation.frame(backend="polars"), pl.DataFrame)
    assert isinstance(evaluation.folds(backend="polars"), pl.DataFrame)


def test_an_evaluation_says_what_it_found(evaluation):
    """Text has points, folds, ranges, identity and the choice."""
    text = repr(evaluation)
    chosen = evaluation.choose()
    assert "4 points, 5 folds" in text
    assert "same thresholds" in text
    assert f"chosen share {chosen.share:.3g} with R2 {chosen.r2:.3f}" in text
    assert f"share {chosen.share:.3g}: R2 {chosen.r2:.3f}" in repr(chosen)


def test_identity_can_be_chosen(diabetes):
    """Rules are compared by threshold or rows if asked, and the figures say so."""
    X, y = diabetes
    words = evaluate_frontier(small(), X, y, cv=3, points=[0.9], identity="thresholds")
    rows = evaluate_frontier(small(), X, y, cv=3, points=[0.9], identity="rows", overlap=0.8)
    assert (words.identity, rows.identity) == ("thresholds", "rows to 0.8")
    expected = empirical_stability(rows.rule_sets(0), identity="rows", X=X, overlap=0.8)
    assert rows.points[0].dice == expected


# --- points, time, progress -----------------------------------------------------------------------


def test_points_are_shares_in_equal_steps():
    """A number of points goes from 1 to a half; shares given are sorted and distinct."""
    np.testing.assert_allclose(read_shares(6), [1.0, 0.9, 0.8, 0.7, 0.6, 0.5])
    assert read_shares(50)[-1] == MIN_SHARE == 0.5
    assert read_shares([0.3, 1, 0.3, 0.7]).tolist() == [1.0, 0.7, 0.3]


@pytest.mark.parametrize(
    "wrong",
    [
        {"points": 0}, {"points": []}, {"points": [1.2]}, {"points": [0.0]}, {"points": "many"},
        {"gap": -1.0}, {"time_budget": 0.0}, {"time_budget": "60"}, {"progress": 3}, {"n_jobs": 0},
        {"identity": "names"}, {"overlap": 2.0},
    ],
    ids=str,
)  # fmt: skip
def test_wrong_parameters_are_named(diabetes, wrong):
    """A parameter outside its values is refused with one sentence that names it."""
    (name,) = wrong
    with pytest.raises(MossError, match=name):
        evaluate_frontier(small(), *diabetes, **{"cv": 2, "points": [0.9], **wrong})


def test_other_estimators_are_refused(diabetes):
    """Only a MossRegressor has a trade-off; its own parameters are checked as in fit."""
    with pytest.raises(MossError, match="LinearRegression"):
        evaluate_frontier(LinearRegression(), *diabetes)
    with pytest.raises(MossError, match="max_rules"):
        evaluate_frontier(small(max_rules=0), *diabetes)


def test_progress_is_told(diabetes, capsys):
    """Steps are counted up to folds times points, on threads too; a line of them goes away."""
    states = []
    evaluate_frontier(
        small(), *diabetes, cv=3, points=5, n_jobs=2, progress=states.append, verbose=True
    )
    done = [state.done for state in states]
    assert all(a <= b for a, b in pairwise(done))
    assert done[-1] == states[-1].total == 15
    assert {state.fold for state in states} == {0, 1, 2}
    assert str(states[-1]).startswith("fold ")
    written, errors = capsys.readouterr()
    assert written.strip() == errors == ""


def test_all_folds_share_one_limit_of_time(diabetes):
    """When the time is over, searches stop with what they have, and are counted."""
    times = chain([0.0], repeat(2.0))
    hard = MossRegressor(12, n_trees=100, gamma=10.0, floor="sum", shrinkage="equal")
    found = evaluate_frontier(
        hard,
        *diabetes,
        cv=4,
        points=[0.8, 0.6, 0.5],
        gap=0.0,
        time_budget=Budget(1.0, lambda: next(times)),
    )
    assert np.isfinite(found.scores).all()
    assert found.frame()["stopped"].sum() > 0
    assert "stopped early" in repr(found)
    assert all(0.0 < point.gap < 1.0 for fold in found.results for point in fold if point.gap)
    assert "of 12 searches on folds are proven to" in found.cut_short
    assert found.cut_short.endswith("time was up.")


def test_compiling_is_none_of_the_time(diabetes, monkeypatch):
    """The time of the folds begins once the solver is compiled."""
    events = []
    read = trade_off.read_budget

    def reading(time_budget):
        events.append("budget")
        return read(time_budget)

    monkeypatch.setattr(trade_off, "compile_kernels", lambda: events.append("kernels"))
    monkeypatch.setattr(trade_off, "read_budget", reading)
    found = evaluate_frontier(small(), *diabetes, cv=3, points=[0.9], time_budget=600.0, n_jobs=1)
    assert events[:3] == ["budget", "kernels", "budget"]  # looked at, and begun
    assert found.cut_short is None


def test_a_search_that_was_interrupted_ends_the_evaluation(diabetes, monkeypatch):
    """Ctrl-C in the search of the last floor leaves a whole frontier, and is heard all the same."""
    original, calls = trade_off.solve_floors, []

    def interrupted(problem, floors, settings, gap, **how):
        calls.append(floors)
        frontier = original(problem, floors, settings, gap, **how)
        last = frontier.entries[-1]
        stopped = replace(last, solution=replace(last.solution, status=Status.INTERRUPTED))
        return replace(frontier, entries=(*frontier.entries[:-1], stopped))

    monkeypatch.setattr(trade_off, "solve_floors", interrupted)
    with pytest.raises(KeyboardInterrupt):
        evaluate_frontier(small(), *diabetes, cv=3, points=3, n_jobs=1)
    assert len(calls) == 1


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupt_ends_all_folds(diabetes, n_jobs):
    """What a listener raises, an interrupt too, ends the evaluation."""

    def interrupt(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate_frontier(small(), *diabetes, cv=4, points=3, n_jobs=n_jobs, progress=interrupt)


def test_where_nothing_can_be_found_all_folds_agree():
    """A target without structure in its columns: no rules, and so the same in all folds."""
    X, y = np.ones((12, 1)), np.arange(12.0)
    found = evaluate_frontier(small(), X, y, cv=3, points=[1.0, 0.5])
    assert found.frame()["rules"].tolist() == [0.0, 0.0]
    assert found.frame()["dice"].tolist() == [1.0, 1.0]
    assert (found.scores <= 0.0).all()


def test_names_are_where_they_were_promised():
    """The function and its result are names of the package."""
    assert mossrules.evaluation.evaluate_frontier is mossrules.evaluate_frontier
    assert mossrules.FrontierEvaluation is FrontierEvaluation


def test_rules_that_only_read_differently_are_counted(diabetes):
    """Nogueira's measure is there although there are more texts than rules of bins."""
    X, y = diabetes
    stump = MossRegressor(1, n_trees=1, max_depth=1, n_bins=2, cuts="quantile")
    found = evaluate_frontier(stump, X[["s5"]], y, cv=5, points=[1.0], identity="thresholds")
    assert len({each.texts[0] for each in found.rule_sets(0)}) > found.n_candidates
    assert found.points[0].nogueira.identity == "thresholds"
