import io
import json
import subprocess
import sys
from dataclasses import replace
from typing import get_args

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression

from mossrules import MossRegressor
from mossrules.display import FrontierDisplay
from mossrules.display.plots.frontier import Kind
from mossrules.exceptions import InvalidFile, InvalidParameter, MissingDependency, UnsupportedType
from mossrules.frontier import Frontier, FrontierPoint, approximate_frontier, solve_frontier
from mossrules.solver import Options, Status, solve
from mossrules.solver.problems.squared import LinearConstraints
from mossrules.solver.result import Report, Solution
from support.cases import hard_problem

mpl.use("Agg")
POINTS = ("exact", "stopped", "approximate")
LARGEST, NULL_LOSS = 100, 50.0


@pytest.fixture(autouse=True)
def _close_figures():
    plt.close("all")  # what other tests left
    yield
    plt.close("all")


# --- frontiers ------------------------------------------------------------------------------------


def solution(stability, loss, *, gap=0.0, status=Status.OPTIMAL, asked=0.01):
    """Return a solution with these figures and no rules worth the name."""
    report = Report("branch-and-bound", "made up", 0.5, asked, {"nodes": 3})
    if status is Status.INFEASIBLE:
        return Solution.infeasible(report)
    support = np.arange(2)
    return Solution(
        support, np.ones(2), loss, stability, loss * (1.0 - gap), status, report
    )  # fmt: skip


def frontier_of(*entries, largest=LARGEST, complete=False):
    """Return a frontier of pairs of floor and solution."""
    points = sorted((FrontierPoint(*each) for each in entries), key=lambda each: -each.floor)
    return Frontier(tuple(points), largest, NULL_LOSS, 4, 1.0, complete)


@st.composite
def frontiers(draw):
    """Draw a frontier of any shape: few stabilities and losses, so that many coincide."""
    entries = []
    for floor in draw(st.lists(st.integers(0, LARGEST), min_size=1, max_size=8, unique=True)):
        status = draw(st.sampled_from(Status))
        stability = draw(
            st.sampled_from([each for each in (floor, 60, 90, LARGEST) if each >= floor])
        )
        loss = draw(st.sampled_from([10.0, 20.0, 20.5, 40.0]))
        # A search that ends as optimal has the gap it was asked for; any other may have it or not.
        gap = 0.005 if status is Status.OPTIMAL else draw(st.sampled_from([0.0, 0.01, 0.02, 1.0]))
        asked = draw(st.sampled_from([0.01, 0.05] + [0.0] * (status is not Status.OPTIMAL)))
        entries.append((floor, solution(stability, loss, gap=gap, status=status, asked=asked)))
    return frontier_of(*entries, complete=draw(st.booleans()))


def real_frontier(**options):
    """Return a solved frontier and its problem."""
    problem = hard_problem(m=14, k=4)
    return problem, solve_frontier(problem, options=Options(gap=0.0), **options)


def rows(display, *kinds):
    """Return the rows of the display's frame that are of these kinds."""
    frame = display.frame(backend="pandas")
    return frame[frame["mark"].isin(kinds)]


def places(table, *columns):
    """Return rows as tuples."""
    return list(zip(*(table[column].tolist() for column in columns), strict=True))


# --- data -----------------------------------------------------------------------------------------


@settings(deadline=None)
@given(frontiers())
def test_the_marks_are_what_the_frontier_says(frontier):
    """Points, dominated selections and open gaps are those of the frontier's own frame."""
    table = frontier.frame(backend="pandas")
    feasible = table[table["status"] != "infeasible"]
    if feasible.empty:
        with pytest.raises(InvalidParameter, match="no points"):
            FrontierDisplay.from_frontier(frontier)
        return
    display = FrontierDisplay.from_frontier(frontier)
    measures = ("stability", "share", "loss", "explained", "bound", "gap", "rules", "status")
    kept = feasible[feasible["on_frontier"]]
    assert sorted(places(rows(display, *POINTS), *measures)) == sorted(places(kept, *measures))
    assert set(rows(display, "approximate")["status"]) <= {"heuristic"}
    assert "heuristic" not in set(rows(display, "exact", "stopped")["status"])

    rest = set(places(feasible, "stability", "loss")) - set(places(kept, "stability", "loss"))
    dominated = places(rows(display, "dominated"), "stability", "loss")
    assert sorted(dominated) == sorted(rest)

    asked = {entry.floor: entry.solution.report.asked_gap for entry in frontier.entries}
    wide = feasible[feasible["gap"] > feasible["floor"].map(asked) + 1e-9]
    measures = ("loss", "explained", "bound", "gap")
    bars = rows(display, "open gap")
    assert bars["share"].tolist() == (wide["floor"] / frontier.max_stability).tolist()
    assert places(bars, "stability", *measures) == places(wide, "floor", *measures)
    stopped = places(rows(display, "stopped"), "stability", "loss", "bound")
    on_wide = wide[wide["on_frontier"] & (wide["status"] != "heuristic")]
    assert sorted(stopped) == sorted(places(on_wide, "stability", "loss", "bound"))


@settings(deadline=None)
@given(frontiers())
def test_rings_are_at_the_largest_stability_and_at_the_knee(frontier):
    """The stability-only point is marked when it is there, and the knee when there can be one."""
    points = frontier.points
    if not points:
        return
    display = FrontierDisplay.from_frontier(frontier)
    largest = [each for each in points if each.stability == frontier.max_stability]
    expected = [(each.stability, each.loss) for each in largest]
    assert places(rows(display, "stability only"), "stability", "loss") == expected
    knee = [(frontier.knee().stability, frontier.knee().loss)] if len(points) >= 3 else []
    assert places(rows(display, "knee"), "stability", "loss") == knee


def test_the_frame_tells_how_much_is_explained_up_to_the_bound():
    """Shares are of the loss without rules and of the largest stability."""
    frontier = frontier_of((50, solution(80, 40.0, gap=0.5, status=Status.TIME_LIMIT)))
    point = rows(FrontierDisplay.from_frontier(frontier), "stopped").iloc[0]
    assert (point["share"], point["explained"]) == (0.8, pytest.approx(0.2))
    assert point["explained_bound"] == pytest.approx(0.6)  # of a bound of 20


def test_labels_say_to_which_gap_points_are_proven():
    """With a gap of 0 they are just exact; two gaps have a label each."""
    one = solution(100, 30.0, gap=0.002, asked=0.0025)
    two = solution(50, 20.0, asked=0.0)
    display = FrontierDisplay.from_frontier(frontier_of((100, one), (50, two)))
    assert rows(display, "exact")["label"].tolist() == ["exact to 0.25 %", "exact"]


def test_an_optimum_within_rounding_has_no_open_gap():
    """Status decides: where the loss is tiny, a gap of 0 is met up to rounding only."""
    frontier = frontier_of((50, solution(80, 1e-9, gap=1e-6, asked=0.0)))
    display = FrontierDisplay.from_frontier(frontier)
    assert rows(display, *POINTS, "open gap")["mark"].tolist() == ["exact"]


def test_frames_of_other_libraries_have_the_same_rows():
    """The backend changes the type and nothing else."""
    _, frontier = real_frontier()
    display = FrontierDisplay.from_frontier(frontier)
    assert display.frame(backend="polars").to_dicts() == display.frame().to_dict("records")


def test_approximate_points_and_named_solutions_are_marked():
    """Another frontier's points are approximate; solutions come alone, in a list, or by name."""
    problem, frontier = real_frontier()
    rough = approximate_frontier(problem, points=10)
    chosen, knee = frontier.at(stability=0.8), frontier.knee()
    display = FrontierDisplay.from_frontier(
        frontier, rough, {"chosen": chosen, "two": [chosen, knee]}
    )
    found = places(rows(display, "approximate"), "stability", "loss")
    assert found == list(zip(rough.stability.tolist(), rough.loss.tolist(), strict=True))
    own = [("chosen", chosen), ("two", chosen), ("two", knee)]
    expected = [(name, each.stability, each.loss) for name, each in own]
    assert places(rows(display, "solution"), "label", "stability", "loss") == expected
    for given_ in (chosen, [chosen], (each for each in [chosen])):
        display = FrontierDisplay.from_frontier(frontier, solutions=given_)
        assert places(rows(display, "solution"), "label", "loss") == [("solution", chosen.loss)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("x",), "frontier is a str"),
        ((frontier_of((0, solution(9, 9.0))), 3), "approximate is a int"),
        ((frontier_of((0, solution(9, 9.0))), None, ["x"]), "solutions has 'x'"),
        ((frontier_of((0, solution(9, 9.0))), None, 3), "solutions has 3"),
        (
            (frontier_of((0, solution(9, 9.0))), None, solution(0, 0, status=Status.INFEASIBLE)),
            "feasible solutions",
        ),
    ],
)
def test_other_things_are_refused(arguments, message):
    """One sentence names what cannot be drawn."""
    with pytest.raises(UnsupportedType, match=message):
        FrontierDisplay.from_frontier(*arguments)


@pytest.mark.parametrize("field", ["max_stability", "null_loss", "max_rules", "gamma"])
def test_frontiers_of_two_problems_are_not_drawn_together(field):
    """Losses and stabilities of different problems do not compare."""
    frontier = frontier_of((50, solution(80, 20.0)))
    other = replace(frontier, **{field: getattr(frontier, field) + 1})
    with pytest.raises(InvalidParameter, match=field):
        FrontierDisplay.from_frontier(frontier, other)


def test_nothing_to_draw_is_an_error():
    """Neither no floors nor only infeasible ones make a figure, unless something else is drawn."""
    nothing = frontier_of((50, solution(0, 0, status=Status.INFEASIBLE)))
    for frontier in (frontier_of(), nothing):
        with pytest.raises(InvalidParameter, match="no points"):
            frontier.plot()
        assert repr(frontier) == "Frontier(no points)"
        assert np.isnan(frontier.worst_gap)
    other = frontier_of((50, solution(80, 20.0, status=Status.HEURISTIC, asked=np.nan)))
    display = nothing.plot(approximate=other)
    assert display.frame()["mark"].tolist() == ["approximate"]


# --- estimators -----------------------------------------------------------------------------------


def fitted(**parameters):
    """Return a small model."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4))
    y = X[:, 0] + (X[:, 1] > 0.3) + 0.3 * rng.normal(size=150)
    return MossRegressor(4, n_trees=50, n_jobs=1, **parameters).fit(X, y)


@pytest.mark.parametrize("stability", ["high", 0.4, "low"])
def test_an_estimator_is_marked_on_its_own_frontier(stability):
    """The frontier is the model's, kept by it, and the mark is its solution."""
    model = fitted(stability=stability)
    display = FrontierDisplay.from_estimator(model, points=6)
    plain = FrontierDisplay.from_frontier(model.frontier(6), solutions=[model.solution_])
    assert places(rows(display, *POINTS), "mark", "stability", "loss") == places(
        rows(plain, *POINTS), "mark", "stability", "loss"
    )
    found = places(rows(display, "solution"), "label", "stability", "loss", "rules")
    expected = (model.solution_.stability, model.solution_.loss, len(model.rules_))
    assert found == [("fitted model", *expected)]
    check_drawing(display.plot(), "loss")


def test_points_and_gap_are_those_of_the_frontier_asked_for():
    """By default 50 points to 1 %."""
    model = fitted()
    wide = FrontierDisplay.from_estimator(model, 3, gap=0.2)
    assert set(rows(wide, "exact")["label"]) == {"exact to 20 %"}
    usual = FrontierDisplay.from_estimator(model)
    assert len(rows(usual, *POINTS)) == len(model.frontier_)
    assert set(rows(usual, "exact")["label"]) == {"exact to 1 %"}


def test_a_model_without_candidates_is_one_point():
    """Its frontier has no gamma, which is no reason not to draw it."""
    model = MossRegressor(n_trees=10).fit(np.arange(20.0).reshape(10, 2), np.ones(10))
    display = FrontierDisplay.from_estimator(model).plot()
    assert display.frame()["mark"].tolist() == ["exact", "stability only", "solution"]
    display.figure_.savefig(io.BytesIO())


def test_other_estimators_have_no_frontier():
    """A model before fit says so in scikit-learn's words; what is none, in ours."""
    with pytest.raises(NotFittedError, match="not fitted yet"):
        FrontierDisplay.from_estimator(MossRegressor())
    for wrong in (None, frontier_of(), LinearRegression()):
        with pytest.raises(UnsupportedType, match=r"model is a .*; pass a fitted MossRegressor"):
            FrontierDisplay.from_estimator(wrong)


# --- drawing --------------------------------------------------------------------------------------


def drawn_points(artist):
    """Return what a line draws, as pairs."""
    return [tuple(pair) for pair in np.asarray(artist.get_xydata()).tolist()]


def check_drawing(display, vertical):
    """Assert that the axes have every row of the frame and nothing else, with all its labels."""
    ax, frame = display.ax_, display.frame(backend="pandas")
    end = {"loss": "bound", "explained": "explained_bound"}[vertical]
    assert list(display.artists_) == list(dict.fromkeys(frame["label"]))
    assert frame["mark"].map(get_args(Kind).index).is_monotonic_increasing
    for label, group in frame.groupby("label", sort=False):
        artist = display.artists_[label]
        if set(group["mark"]) == {"open gap"}:
            segments = [np.asarray(each).tolist() for each in artist.get_segments()]
            expected = [
                [[x, low], [x, high]] for x, low, high in places(group, "stability", end, vertical)
            ]
            assert segments == expected
        else:
            assert drawn_points(artist) == places(group, "stability", vertical)
    # All lines: one for each label but that of bars, their caps, and the steps.
    exact = frame[frame["mark"].isin(("exact", "stopped"))]
    bars = frame[frame["mark"] == "open gap"]
    steps = [line for line in ax.lines if line.get_drawstyle() == "steps-pre"]
    assert len(steps) == (not exact.empty)
    assert len(ax.lines) == len(display.artists_) + len(steps)
    assert len(ax.collections) == (not bars.empty)
    caps = [drawn_points(line) for line in ax.lines if line.get_marker() == "_"]
    assert caps == ([] if bars.empty else [places(bars, "stability", end)])
    if steps:
        (start, height), *corners = drawn_points(steps[0])
        assert corners == sorted(places(exact, "stability", vertical))
        lowest = min([corners[0][0], *bars["stability"]])
        assert (start, height) == (lowest, corners[0][1])
        assert (steps[0].get_linestyle() == "-") == display.complete
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(display.artists_)
    assert ax.get_xlabel()
    assert ax.get_ylabel()


@settings(max_examples=25, deadline=None)
@given(frontiers(), st.sampled_from(["loss", "explained"]))
def test_what_is_drawn_is_the_frame(frontier, vertical):
    """Markers, bars, steps and legend have the rows of the frame, whatever the frontier."""
    if frontier.points:
        ax = Figure().subplots()
        display = FrontierDisplay.from_frontier(frontier).plot(ax, loss=vertical)
        assert (display.ax_, display.figure_) == (ax, ax.figure)
        check_drawing(display, vertical)


@pytest.mark.parametrize("vertical", ["loss", "explained"])
def test_a_frontier_draws_itself(vertical):
    """The method takes what the display takes; the figure renders without a warning."""
    problem, frontier = real_frontier()
    rough = approximate_frontier(problem, points=10)
    display = frontier.plot(
        approximate=rough, solutions={"chosen": frontier.at(stability=0.7)}, loss=vertical
    )
    assert isinstance(display, FrontierDisplay)
    assert {"exact", "approximate", "stability only", "knee", "chosen"} <= set(display.artists_)
    check_drawing(display, vertical)
    assert plt.get_fignums() == [display.figure_.number]
    display.figure_.savefig(io.BytesIO())


def test_floors_that_share_a_selection_have_their_own_bars():
    """Where time was over, bars hang from the steps at floors without a point of their own."""
    first = solution(100, 40.0)
    later = [solution(100, 40.0, gap=gap, status=Status.TIME_LIMIT) for gap in (0.2, 0.5)]
    display = frontier_of((100, first), (90, later[0]), (70, later[1])).plot()
    assert places(rows(display, *POINTS), "mark", "stability") == [("exact", 100)]
    assert places(rows(display, "open gap"), "stability", "bound") == [(90, 32.0), (70, 20.0)]
    check_drawing(display, "loss")


def test_a_search_that_was_stopped_shows_what_is_not_proven():
    """Every floor that a node limit left open has a bar down to a bound below its loss."""
    problem = hard_problem(m=30, k=6)
    frontier = solve_frontier(problem, options=Options(gap=0.0, node_limit=1))
    display = frontier.plot()
    stopped = [each for each in frontier.entries if each.solution.status is Status.NODE_LIMIT]
    assert stopped
    assert rows(display, "open gap")["stability"].tolist() == [each.floor for each in stopped]
    assert (rows(display, "open gap")["bound"] < rows(display, "open gap")["loss"]).all()
    check_drawing(display, "loss")


def test_floors_where_nothing_was_found_have_no_mark():
    """A time limit before the first selection leaves neither a point nor a gap of its own."""
    report = Report("cutting-plane", "too little time", 1.0, 0.01)
    nothing = Solution.without_selection(report, 5.0, Status.TIME_LIMIT)
    frontier = frontier_of((90, nothing), (50, solution(60, 20.0, gap=0.005)))
    assert frontier.worst_gap == pytest.approx(0.005)
    assert frontier.plot().frame()["mark"].tolist() == ["exact"]


@pytest.mark.parametrize("status", [Status.OPTIMAL, Status.TIME_LIMIT, Status.HEURISTIC])
@pytest.mark.parametrize("largest", [0, 80])
def test_one_point_is_enough(status, largest):
    """A single point has a figure, whatever its status and even without any stability."""
    point = solution(largest, 20.0, gap=0.1, status=status, asked=0.2)
    display = frontier_of((0, point), largest=largest).plot()
    check_drawing(display, "loss")
    assert "stability only" in display.artists_
    assert "knee" not in display.artists_
    display.figure_.savefig(io.BytesIO())


def test_bars_do_not_leave_the_axes():
    """The vertical axis reaches down to the lowest bound."""
    frontier = frontier_of(
        (100, solution(100, 40.0)), (50, solution(50, 30.0, gap=0.9, status=Status.NODE_LIMIT))
    )
    display = frontier.plot()
    low, high = display.ax_.get_ylim()
    assert low <= 3.0
    assert high >= 40.0


def test_kinds_of_marks_differ_in_more_than_colour():
    """Shape or filling tell them apart in black and white."""
    frontier = frontier_of(
        (100, solution(100, 40.0)),
        (90, solution(90, 30.0)),
        (70, solution(70, 20.0, gap=0.5, status=Status.TIME_LIMIT)),
        (60, solution(60, 35.0)),
        (50, solution(50, 15.0, status=Status.HEURISTIC)),
    )
    display = frontier.plot(solutions=dict.fromkeys("abcd", frontier[0]))
    assert set(display.frame()["mark"]) == set(get_args(Kind))
    markers = [artist for artist in display.artists_.values() if artist in display.ax_.lines]
    looks = {
        (each.get_marker(), to_rgba(each.get_markerfacecolor()) == to_rgba(each.get_color()))
        for each in markers
    }
    assert len(looks) == len(markers) == len(display.artists_) - 1  # bars are no markers


def test_two_frontiers_share_axes_and_one_scale_of_shares():
    """A second drawing on the same axes adds its marks and no second scale."""
    frontier = frontier_of((90, solution(90, 40.0)), (80, solution(80, 30.0)), largest=125)
    display = frontier.plot()
    again = frontier.plot(display.ax_)
    assert again.ax_ is display.ax_
    (shares,) = display.ax_.child_axes
    assert "% of the maximum" in shares.get_xlabel()
    display.figure_.canvas.draw()
    ends = np.array(display.ax_.get_xlim())
    np.testing.assert_allclose(shares.get_xlim(), 100 * ends / frontier.max_stability)
    below = display.ax_.transData.transform((100, 0))[0]
    above = shares.transData.transform((80, 0))[0]
    assert above == pytest.approx(below)  # 80 % of 125 stand above 100


def test_drawing_on_given_axes_makes_no_figure():
    """Axes that are not pyplot's work too, and pyplot hears nothing of it."""
    frontier = frontier_of((100, solution(100, 40.0)))
    frontier.plot(ax=Figure().subplots())
    assert plt.get_fignums() == []


def test_wrong_axes_and_scales_are_refused():
    """One sentence each."""
    frontier = frontier_of((100, solution(100, 40.0)))
    with pytest.raises(UnsupportedType, match="ax is a Figure"):
        frontier.plot(Figure())
    with pytest.raises(InvalidParameter, match="loss is 'R2'"):
        frontier.plot(loss="R2")
    assert plt.get_fignums() == []


def test_without_matplotlib_there_is_data_and_one_sentence_about_drawing():
    """Only drawing needs matplotlib, and says how to get it."""
    text = frontier_of((100, solution(100, 40.0))).to_json()
    code = (
        "import sys\n"
        "from mossrules.exceptions import MissingDependency\n"
        "from mossrules.frontier import Frontier\n"
        "from mossrules.display import *\n"  # all displays
        "assert 'matplotlib' not in sys.modules\n"
        "sys.modules['matplotlib'] = None\n"
        f"frontier = Frontier.from_json({text!r})\n"
        "print(len(FrontierDisplay.from_frontier(frontier).frame()))\n"
        "try: frontier.plot()\n"
        "except MissingDependency as error: print(error)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    rows_, sentence = result.stdout.splitlines()
    assert rows_ == "2"
    assert sentence.startswith("Plots need matplotlib")
    assert 'pip install "mossrules[plot]"' in sentence


def test_matplotlib_is_asked_for_at_each_drawing(monkeypatch):
    """Modules of it that are still loaded are not enough, nor are axes of it."""
    frontier, ax = frontier_of((100, solution(100, 40.0))), Figure().subplots()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for given_ in (None, ax):
        with pytest.raises(MissingDependency, match="Plots need matplotlib"):
            frontier.plot(given_)


# --- keeping --------------------------------------------------------------------------------------


def no_json(constant):
    """Refuse what Python reads and JSON does not have."""
    raise AssertionError(constant)


@settings(deadline=None)
@given(frontiers())
def test_a_frontier_keeps_itself_as_strict_json(frontier):
    """Infinite losses and gaps that nobody asked for survive, in JSON that any reader takes."""
    text = frontier.to_json()
    json.loads(text, parse_constant=no_json)
    again = Frontier.from_json(text)
    assert again.to_json() == text
    assert again.frame().equals(frontier.frame())


def test_frontiers_of_all_methods_survive_json():
    """Exact with infeasible floors, and approximate."""
    problem = hard_problem(m=10, k=4)
    limits = LinearConstraints(np.ones((1, 10)), np.array([2.0]))
    limited = replace(problem, constraints=limits)
    floors = [problem.max_stability_unlimited, limited.max_stability, limited.max_stability // 2]
    exact = solve_frontier(limited, floors, options=Options(gap=0.0))
    assert {each.solution.status for each in exact.entries} > {Status.INFEASIBLE}
    for frontier in (exact, approximate_frontier(problem, points=5)):
        text = frontier.to_json()
        json.loads(text, parse_constant=no_json)
        assert Frontier.from_json(text).to_json() == text
        check_drawing(frontier.plot(), "loss")


@pytest.mark.parametrize("wrong", [None, 3, "", "nonsense", "{}"])
def test_what_is_no_frontier_is_refused(wrong):
    """Whatever it is, the error is InvalidFile."""
    with pytest.raises(InvalidFile):
        Frontier.from_json(wrong)


def test_a_solution_of_a_single_solve_can_be_marked():
    """What `solve` returns and what a frontier holds are the same kind of thing."""
    problem, frontier = real_frontier()
    alone = solve(problem.at(60), options=Options(gap=0.0))
    display = frontier.plot(solutions={"floor 60": alone})
    assert drawn_points(display.artists_["floor 60"]) == [(alone.stability, alone.loss)]


def test_a_floor_on_each_rule_is_named_on_the_axes():
    """The score is the least count, and frontiers of both kinds are not drawn together."""
    problem = hard_problem(m=12, k=3, floor="each")
    frontier = solve_frontier(problem)
    display = frontier.plot()
    assert display.floor == "each"
    assert "least tree frequency" in display.ax_.get_xlabel()
    (shares,) = display.ax_.child_axes
    assert shares.get_xlabel() == "% of the maximum least tree frequency"
    FrontierDisplay.from_frontier(frontier, approximate=approximate_frontier(problem, 4)).plot()
    other = approximate_frontier(problem.with_floor("sum"), 4)
    with pytest.raises(InvalidParameter, match="The frontiers have floor 'each' and 'sum'"):
        FrontierDisplay.from_frontier(frontier, approximate=other)
