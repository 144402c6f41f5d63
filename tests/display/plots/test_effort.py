import io
import sys
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from mossrules.display import EffortDisplay
from mossrules.exceptions import InvalidParameter, MissingDependency, UnsupportedType
from mossrules.frontier import Frontier, FrontierPoint, approximate_frontier, solve_frontier
from mossrules.solver import Options, Status
from mossrules.solver.cutting_plane.master import Master
from mossrules.solver.problems.squared import LinearConstraints
from mossrules.solver.result import Report, Solution
from support.cases import hard_problem

mpl.use("Agg")
FINISHED = {Status.OPTIMAL, Status.INFEASIBLE, Status.HEURISTIC}
FIGURES = {"cutting-plane": "masters", "branch-and-bound": "nodes"}


@pytest.fixture(autouse=True)
def _close_figures():
    plt.close("all")  # what other tests left
    yield
    plt.close("all")


def entry(floor, amount, *, reused=False, status=Status.OPTIMAL, method="branch-and-bound"):
    """Return a floor that took `amount` iterations and seconds."""
    figures = {FIGURES[method]: amount, "cuts": 1e9} if method in FIGURES else {}
    report = Report(method, "made up", float(amount), 0.01, figures)
    selection = Solution(np.arange(2), np.ones(2), 5.0, floor, 4.0, status, report)
    return FrontierPoint(floor, selection, reused)


def frontier_of(*entries):
    """Return a frontier of floors, in any order."""
    ordered = sorted(entries, key=lambda each: -each.floor)
    return Frontier(tuple(ordered), 100, 50.0, 4, 1.0)


@st.composite
def frontiers(draw):
    """Draw a run over some floors."""
    floors = draw(st.lists(st.integers(0, 100), min_size=1, max_size=6, unique=True))
    return frontier_of(
        *(
            entry(
                floor,
                draw(st.sampled_from([0, 1, 7, 5000])),
                reused=draw(st.booleans()),
                status=draw(st.sampled_from(Status)),
                method=draw(st.sampled_from(sorted(FIGURES))),
            )
            for floor in floors
        )
    )


RUNS = st.dictionaries(st.sampled_from(["with", "without", "other"]), frontiers(), min_size=1)
MEASURES = st.sampled_from(["iterations", "seconds"])


# --- data -----------------------------------------------------------------------------------------


@settings(deadline=None)
@given(RUNS, MEASURES)
def test_the_frame_is_what_the_frontiers_say(runs, measure):
    """One row for each floor of each run; a floor that others proved took no iteration."""
    table = EffortDisplay.from_frontiers(runs, measure).frame(backend="pandas")
    expected = [
        (
            name,
            each.floor,
            0.0 if each.reused and measure == "iterations" else each.solution.report.seconds,
            each.reused,
            each.solution.status not in FINISHED,
            each.solution.report.method,
        )
        for name, run in runs.items()
        for each in run.entries
    ]
    columns = ["series", "floor", measure, "reused", "stopped", "method"]
    assert [tuple(row) for row in table[columns].to_numpy().tolist()] == expected
    for _, row in table.iterrows():
        above = {floor for floor in table["floor"] if floor > row["floor"]}
        assert row["position"] == 1 + len(above)


def test_iterations_of_the_cutting_plane_are_the_integer_programs_it_solves(monkeypatch):
    """The paper's count, taken here by looking over the master's shoulder."""
    solved = []
    plain = Master.solve

    def counted(self, **settings_):
        solved.append(1)
        return plain(self, **settings_)

    monkeypatch.setattr(Master, "solve", counted)
    runs, counts = {}, {}
    for name, reuse in (("with re-use", True), ("without", False)):
        solved.clear()
        runs[name] = solve_frontier(
            hard_problem(m=10, k=3), method="cutting-plane", options=Options(gap=0.05), reuse=reuse
        )
        counts[name] = len(solved)
    table = EffortDisplay.from_frontiers(runs).frame(backend="pandas")
    assert table.groupby("series")["iterations"].sum().to_dict() == counts
    assert counts["with re-use"] < counts["without"]


def test_nodes_of_branch_and_bound_and_seconds_come_from_the_reports():
    """A solved frontier has a figure for every floor."""
    frontier = solve_frontier(hard_problem(m=14, k=4), options=Options(gap=0.0))
    reports = [each.solution.report for each in frontier.entries]
    expected = {
        "iterations": [report.counters["nodes"] for report in reports],
        "seconds": [report.seconds for report in reports],
    }
    for measure, amounts in expected.items():
        table = EffortDisplay.from_frontiers({"run": frontier}, measure).frame(backend="pandas")
        assert table[measure].tolist() == amounts
        assert sum(amounts) > 0
    polars = EffortDisplay.from_frontiers({"run": frontier}, "seconds").frame(backend="polars")
    assert polars.to_dicts() == table.to_dict("records")


def test_infeasible_floors_have_their_work_too():
    """Proving that nothing is feasible takes an integer program."""
    problem = hard_problem(m=10, k=4)
    limits = LinearConstraints(np.ones((1, 10)), np.array([2.0]))
    limited, floors = replace(problem, constraints=limits), [problem.max_stability_unlimited, 20]
    frontier = solve_frontier(limited, floors, "cutting-plane", Options(gap=0.0))
    infeasible = [each.solution.status is Status.INFEASIBLE for each in frontier.entries]
    assert any(infeasible)
    table = EffortDisplay.from_frontiers({"run": frontier}).frame(backend="pandas")
    assert (table["iterations"] > 0).all()
    assert not table["stopped"].any()


def test_a_floor_where_nothing_was_found_in_time_has_no_count():
    """It is neither drawn nor part of the total, and marked as stopped."""
    report = Report("cutting-plane", "too little time", 1.0, 0.01)
    nothing = Solution.without_selection(report, 0.0, Status.TIME_LIMIT)
    found = [entry(floor, amount, method="cutting-plane") for floor, amount in ((7, 4), (3, 80))]
    display = EffortDisplay.from_frontiers({"run": frontier_of(FrontierPoint(9, nothing), *found)})
    table = display.plot().frame(backend="pandas")
    assert table["iterations"].isna().tolist() == table["stopped"].tolist() == [True, False, False]
    assert display.lines_["run"].get_label() == "run: 84 in total"
    assert display.ax_.get_yscale() == "log"
    display.figure_.savefig(io.BytesIO())


@pytest.mark.parametrize("wrong", [None, {}, [frontier_of(entry(1, 1))], {"a": 3}])
def test_anything_but_named_frontiers_is_refused(wrong):
    """One sentence says what to pass."""
    with pytest.raises(UnsupportedType, match=r"frontiers .*pass a"):
        EffortDisplay.from_frontiers(wrong)


def test_what_has_no_count_is_refused():
    """Coordinate descent counts no iterations, a sweep no floors, and no floors nothing."""
    problem = hard_problem(m=10, k=3)
    heuristic = solve_frontier(problem, method="coordinate-descent")
    with pytest.raises(InvalidParameter, match="'coordinate-descent' counts no iterations"):
        EffortDisplay.from_frontiers({"a": heuristic})
    assert len(EffortDisplay.from_frontiers({"a": heuristic}, "seconds").frame()) > 0
    with pytest.raises(InvalidParameter, match="'a' comes from one sweep"):
        EffortDisplay.from_frontiers({"a": approximate_frontier(problem, points=3)}, "seconds")
    with pytest.raises(InvalidParameter, match="'a' has no points"):
        EffortDisplay.from_frontiers({"a": frontier_of()})
    with pytest.raises(InvalidParameter, match="measure is 'nodes'"):
        EffortDisplay.from_frontiers({"a": heuristic}, "nodes")


# --- drawing --------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(RUNS, MEASURES, st.sampled_from(["position", "floor"]))
def test_what_is_drawn_is_the_frame(runs, measure, against):
    """Each series is a line of its rows, with those that a limit stopped hollow on top of it."""
    ax = Figure().subplots()
    display = EffortDisplay.from_frontiers(runs, measure).plot(ax, against=against)
    assert (display.ax_, display.figure_) == (ax, ax.figure)
    table = display.frame(backend="pandas")
    expected, texts = [], []
    for name in runs:
        own = table[table["series"] == name]
        assert (
            display.lines_[name].get_xydata().tolist()
            == own[[against, measure]].to_numpy().tolist()
        )
        total = own[measure].sum()
        amount = f"{total:,.0f}" if measure == "iterations" else f"{total:.3g} s"
        expected.append(own)
        texts.append(f"{name}: {amount} in total")
        if own["stopped"].any():
            expected.append(own[own["stopped"]])
            texts += [] if "stopped early" in texts else ["stopped early"]
    assert [line.get_xydata().tolist() for line in ax.lines] == [
        each[[against, measure]].to_numpy().tolist() for each in expected
    ]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == texts
    assert ax.get_xlabel()
    assert ax.get_ylabel()
    low, high = ax.get_ylim()
    assert low <= table[measure].min()
    assert high >= table[measure].max()


@pytest.mark.parametrize(
    ("amounts", "scale"),
    [([3, 5, 29], "linear"), ([0, 3, 5], "linear"), ([0, 0], "linear"), ([3, 5, 30], "log"),
     ([0, 3, 30], "symlog"), ([0, 0.002, 40], "symlog")],
)  # fmt: skip
def test_amounts_that_differ_tenfold_have_a_logarithmic_scale_that_shows_zeros(amounts, scale):
    """Zeros are inside the axes, and apart from the least amount, whatever the scale."""
    entries = [entry(floor, amount) for floor, amount in enumerate(amounts)]
    display = EffortDisplay.from_frontiers({"run": frontier_of(*entries)}, "seconds").plot()
    ax = display.ax_
    assert ax.get_yscale() == scale
    display.figure_.savefig(io.BytesIO())
    bottom, top = ax.transAxes.transform([(0, 0), (0, 1)])[:, 1]
    heights = ax.transData.transform([(1, amount) for amount in sorted(set(amounts))])[:, 1]
    assert bottom <= heights[0]
    assert heights[-1] <= top
    assert (np.diff(heights) > 5).all()
    if scale == "symlog":  # no room is lost between 0 and the least amount
        least = min(amount for amount in amounts if amount > 0)
        assert least / 10 < ax.yaxis.get_transform().linthresh <= least


@pytest.mark.parametrize(
    ("methods", "words"),
    [
        (["cutting-plane"], "iterations of the cutting plane"),
        (["branch-and-bound"], "nodes of branch and bound"),
        (
            ["branch-and-bound", "cutting-plane"],
            "iterations of the cutting plane or nodes of branch and bound",
        ),
    ],
)
def test_the_vertical_axis_says_what_is_counted(methods, words):
    """An iteration is not the same thing in all methods; seconds are."""
    runs = {method: frontier_of(entry(5, 3, method=method)) for method in methods}
    assert EffortDisplay.from_frontiers(runs).plot().ax_.get_ylabel() == words
    runs = {"known": frontier_of(entry(5, 0, reused=True, method="re-use"))}
    assert EffortDisplay.from_frontiers(runs).plot().ax_.get_ylabel() == "iterations"
    assert "seconds" in EffortDisplay.from_frontiers(runs, "seconds").plot().ax_.get_ylabel()


def test_series_differ_in_more_than_colour():
    """Six series have different markers."""
    runs = {name: frontier_of(entry(5, 3)) for name in "abcdefg"}
    display = EffortDisplay.from_frontiers(runs).plot()
    assert len({line.get_marker() for line in display.lines_.values()}) == 6


def test_positions_are_whole_numbers():
    """No tick stands between two floors."""
    entries = [entry(floor, 1) for floor in range(4)]
    display = EffortDisplay.from_frontiers({"run": frontier_of(*entries)}).plot()
    assert all(tick == round(tick) for tick in display.ax_.get_xticks())


def test_wrong_axes_are_refused_before_a_figure_is_made():
    """One sentence each, and nothing left behind."""
    display = EffortDisplay.from_frontiers({"run": frontier_of(entry(5, 3))})
    with pytest.raises(UnsupportedType, match="ax is a str"):
        display.plot("axes")
    with pytest.raises(InvalidParameter, match="against is 'time'"):
        display.plot(against="time")
    assert plt.get_fignums() == []


def test_without_matplotlib_there_is_one_sentence_about_drawing(monkeypatch):
    """Only drawing needs matplotlib, and says how to get it."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    display = EffortDisplay.from_frontiers({"run": frontier_of(entry(5, 3))})
    assert len(display.frame()) == 1
    with pytest.raises(MissingDependency, match=r'run pip install "mossrules\[plot\]"\.'):
        display.plot()


def test_a_floor_on_each_rule_is_named_on_the_axis():
    """Targets of both kinds have no scale in common."""
    each = hard_problem(m=12, k=3, floor="each")
    runs = {"each": solve_frontier(each), "sum": solve_frontier(each.with_floor("sum"))}
    display = EffortDisplay.from_frontiers({"each": runs["each"]}).plot(against="floor")
    assert "tree count of each rule" in display.ax_.get_xlabel()
    with pytest.raises(InvalidParameter, match="two kinds of floor, 'sum' and 'each'"):
        EffortDisplay.from_frontiers(runs)
