"""What work does with a budget of time, by a clock that tests set: none of it waits."""

import json
from itertools import chain, repeat

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from mossrules import MossClassifier, MossRegressor, evaluate_frontier
from mossrules.budget import Budget
from mossrules.constraints import AtMostPerFeature
from mossrules.display.report import collect, render
from mossrules.evaluation import Assessment, TrackRecord, assess, evaluate, track_record
from mossrules.exceptions import InvalidParameter, SolveLimitWarning
from mossrules.frontier import solve_frontier
from mossrules.frontier.tasks import FloorShares
from mossrules.solver import Options, Status
from support.cases import hard_problem

pytestmark = pytest.mark.filterwarnings("ignore::mossrules.exceptions.SolveLimitWarning")

QUICK = {"n_trees": 30, "random_state": 0, "n_jobs": 1}
WRONG = [0, -1.0, float("nan"), "60"]


@pytest.fixture(scope="module")
def rows():
    """Return rows with many rules of nearly equal worth, so that no root proves a small gap."""
    draw = np.random.default_rng(3)
    common = draw.normal(size=(150, 3))
    X = common @ draw.normal(size=(3, 12)) + draw.normal(size=(150, 12))
    y = common.sum(axis=1) + draw.normal(size=150)
    return {f"x{j}": X[:, j] for j in range(12)}, y


@pytest.fixture(scope="module")
def model(rows):
    """Return a fitted model."""
    return MossRegressor(5, **QUICK).fit(*rows)


def spent():
    """Return a budget of which nothing is left once it has begun."""
    times = chain([0.0], repeat(100.0))
    return Budget(10.0, lambda: next(times))


# --- floors ---------------------------------------------------------------------------------------


def test_floors_that_wait_for_each_other_have_equal_shares():
    """The first of the last ones does not take all, however many threads there are."""
    at = [0.0]
    shares = FloorShares(Budget(16.0, lambda: at[0]), total=8, n_jobs=2)
    taken = []
    for left in range(8, 0, -1):  # one group, in turn
        taken.append(shares.limit(None, left))
        at[0] += taken[-1]
        shares.done += 1
    assert taken == pytest.approx([2.0] * 8)
    beside = FloorShares(Budget(16.0, lambda: 0.0), total=8, n_jobs=2)
    assert beside.limit(None, 1) == 4.0  # groups of one floor: four rounds of two


@pytest.mark.parametrize("floor", ["sum", "each"])
def test_every_floor_has_a_bound_when_no_time_is_left(floor):
    """That of its root, which takes milliseconds: no floor is left with a gap of everything."""
    problem = hard_problem(floor=floor)
    frontier = solve_frontier(problem, options=Options(gap=0.0), time_budget=spent())
    entries = [each.solution for each in frontier.entries]
    late = [each for each in entries if each.status is Status.TIME_LIMIT]
    assert len(late) > 3
    assert all(each.bound > 0.0 and each.gap < 0.5 for each in entries)
    assert frontier.unproven == len(late)
    assert frontier.cut_short == (
        f"{len(late)} of {len(frontier.entries)} points are proven to "
        f"{max(each.gap for each in late):.2%} only: time was up."
    )
    assert f"{len(late)} unproven in the time" in repr(frontier)


def test_limits_on_rules_leave_a_bound_too(rows):
    """A search within limits may have none; that of the problem without them holds."""
    limited = MossRegressor(5, constraints=AtMostPerFeature(1), **QUICK).fit(*rows)
    frontier = limited.frontier([0.5, 0.2, 0.05], gap=0.0, time_budget=spent())
    exact = limited.frontier([0.5, 0.2, 0.05], gap=0.0)
    assert frontier.cut_short is not None
    for entry, other in zip(frontier.entries, exact.entries, strict=True):
        assert 0.0 < entry.solution.bound <= other.solution.loss * (1 + 1e-9)


def test_what_time_was_enough_for_is_not_marked(model):
    """And is what there is without a budget."""
    in_time = model.frontier([1.0, 0.5, 0.2], time_budget=1e6)
    free = model.frontier([1.0, 0.5, 0.2])
    assert in_time.cut_short is None
    assert [each.solution.loss for each in in_time.entries] == [
        each.solution.loss for each in free.entries
    ]


def test_classes_share_the_time_of_their_frontiers(rows):
    """Of three classes the first has a third."""
    X, y = rows
    model = MossClassifier(3, **QUICK).fit(X, np.digitize(y, [-1.0, 1.0]))
    found = model.frontier([1.0, 0.3], gap=0.0, time_budget=spent())
    assert len(found) == 3
    assert all(entry.solution.bound > 0 for each in found.values() for entry in each.entries)


# --- folds and refits -----------------------------------------------------------------------------


def test_methods_are_compared_on_two_folds_at_least(rows):
    """Each on the same ones; the result says how many there were to be."""
    methods = {"MOSS": MossRegressor(5, **QUICK), "line": LinearRegression()}
    found = evaluate(methods, as_array(rows[0]), rows[1], cv=5, n_jobs=1, time_budget=spent())
    assert (found.n_folds, found.asked) == (2, 5)
    assert [len(found.folds(name)) for name in methods] == [2, 2]
    assert found.cut_short.startswith("2 of the 5 folds asked for were made: time was up.")
    assert found.cut_short in str(found)
    whole = evaluate(methods, as_array(rows[0]), rows[1], cv=3, n_jobs=1, time_budget=1e6)
    assert (whole.n_folds, whole.cut_short) == (3, None)


def test_a_track_record_says_how_many_refits_there_were_time_for(rows, model):
    """In words, in JSON, and wherever the rule set is printed."""
    record = track_record(model, *rows, refits=8, n_jobs=1, time_budget=spent())
    assert (record.refits, record.asked) == (2, 8)
    assert "2 of the 8 refits asked for were made: time was up." in record.cut_short
    assert record.cut_short[0] in record.summary()
    assert TrackRecord.from_json(record.to_json()) == record
    assert json.loads(record.to_json())["asked"] == 8
    whole = track_record(model, *rows, refits=3, n_jobs=1, time_budget=1e6)
    assert whole.cut_short == []
    assert not {"asked", "stopped"} & json.loads(whole.to_json()).keys()


def test_a_trust_table_has_two_refits_of_each_method(rows):
    """Whatever the methods before it took; the table says so below, and keeps it in JSON."""
    methods = {"MOSS": MossRegressor(3, **QUICK), "line": LinearRegression()}
    X, y = as_array(rows[0]), rows[1]
    table = assess(methods, X, y, refits=4, seeds=3, n_jobs=1, time_budget=spent())
    assert [each.refits for each in table.methods] == [2, 2]
    assert "line: 2 of the 4 refits asked for were made: time was up." in str(table)
    assert Assessment.from_json(table.to_json()) == table


def test_a_fit_has_the_time_of_all_of_its_searches(rows):
    """Those of "auto" on folds end at once where there is none, and it says so."""
    with pytest.warns(SolveLimitWarning, match="raise time_budget"):
        hasty = MossRegressor(5, gap=0.0, stability=0.05, time_budget=1e-9, **QUICK).fit(*rows)
    assert hasty.solution_.status is Status.TIME_LIMIT
    assert 0.0 < hasty.solution_.bound < hasty.solution_.loss
    patient = MossRegressor(5, stability="auto", cv=2, time_budget=1e6, **QUICK).fit(*rows)
    assert patient.evaluation_.gap == 0.05
    assert patient.solution_.report.asked_gap == 1e-3  # that of the model is its own


# --- reports --------------------------------------------------------------------------------------


def test_a_report_says_what_there_was_no_time_for(rows, model):
    """On the page, above everything else, and in its data."""
    methods = {"line": Line()}
    how = {"methods": methods, "refits": 6, "cv": 3, "points": [1.0, 0.3, 0.05], "n_jobs": 1}
    hard = MossRegressor(5, gamma=10.0, shrinkage="equal", **QUICK).fit(*rows)
    data = collect(hard, *rows, gap=0.0, fold_gap=0.0, time_budget=spent(), **how)
    content = data.content()
    assert any(" of 3 points " in each for each in content["cut_short"])
    assert "2 of the 6 refits asked for were made: time was up." in content["cut_short"]
    assert "2 of the 3 folds asked for were made: time was up." in content["cut_short"]
    page = render(data)
    for sentence in content["cut_short"]:
        assert sentence in page
    whole = collect(model, *rows, time_budget=None, **how)
    assert whole.cut_short == ()
    assert "cut_short" not in whole.content()
    assert whole.content()["fold_gap"] == 0.05
    assert "optimality gap of 5.0 %" in render(whole).replace("\u202f", " ").replace("\xa0", " ")


class Line(LinearRegression):
    """A line, of columns by name."""

    def fit(self, X, y):
        """Fit to an array of the columns."""
        return super().fit(as_array(X), y)

    def predict(self, X):
        """Predict from an array of the columns."""
        return super().predict(as_array(X))


def as_array(X):
    """Return a dict of columns as an array."""
    return np.column_stack([X[name] for name in X])


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_no_time_is_refused_before_any_work(rows, model, wrong):
    """By everything that takes a budget, in one sentence."""
    X, y = rows
    calls = [
        lambda: model.frontier(time_budget=wrong),
        lambda: evaluate_frontier(model, X, y, time_budget=wrong),
        lambda: evaluate({"MOSS": model}, X, y, time_budget=wrong),
        lambda: assess({"MOSS": model}, X, y, time_budget=wrong),
        lambda: model.track_record(X, y, time_budget=wrong),
        lambda: MossRegressor(time_budget=wrong).fit(X, y),
        lambda: collect(model, X, y, time_budget=wrong),
    ]
    for call in calls:
        with pytest.raises(InvalidParameter, match="time_budget is"):
            call()


def test_workers_of_dask_have_no_budget(rows, model):
    """They do not know what is left of it; one sentence says so."""
    with pytest.raises(InvalidParameter, match=r"engine='dask'.*leave one of them out"):
        evaluate({"MOSS": model}, *rows, engine="dask", time_budget=5.0)
