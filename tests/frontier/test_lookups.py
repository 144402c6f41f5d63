"""Looking things up in frontiers of any shape: random points, against searches through all."""

import dataclasses
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from mossrules import MossRegressor
from mossrules.exceptions import InvalidFile, InvalidParameter
from mossrules.frontier import Frontier, FrontierPoint, frontier_from_json, frontier_to_json
from mossrules.solver import Solution, Status
from mossrules.solver.bounds.duality import DualPoint
from mossrules.solver.result import Report

FOUND = [status for status in Status if status is not Status.INFEASIBLE]
LARGEST = 10**6
# A coarse grid, so that many are equal and none are equal but for rounding: others are farther
# apart than 1e-12 of the loss of no rule.
LOSSES = st.builds(
    lambda steps, scale: steps * scale, st.integers(0, 12), st.sampled_from([1.0, 1e-6, 2e4])
)
NULL_LOSS = 3e5
ANY_FLOAT = st.floats(allow_nan=True, allow_infinity=True)


SETTINGS = settings(deadline=None, max_examples=40)
OUT_OF_TIME = {"bound": 0.5, "status": Status.TIME_LIMIT}
BY_HAND = Report("by hand", "asked for", 0.0, 0.0)


@st.composite
def reports(draw):
    """Return any account of a solve."""
    method = draw(st.sampled_from(["branch-and-bound", "re-use", 'Ω "quoted"\n']))
    counts = st.one_of(st.integers(0, 2**53), ANY_FLOAT)
    figures = draw(st.dictionaries(st.text(max_size=5), counts, max_size=3))
    seconds = draw(st.floats(0.0, 1e9))
    return Report(method, draw(st.text(max_size=10)), seconds, draw(ANY_FLOAT), figures)


@st.composite
def positions(draw):
    """Return positions of rules, ascending."""
    return np.array(sorted(draw(st.sets(st.integers(0, 10**6), max_size=4))), dtype=np.int64)


@st.composite
def duals(draw):
    """Return any dual point."""
    rules = draw(positions())
    weights = np.array([draw(st.floats(allow_nan=False)) for _ in rules])
    numbers = [draw(st.floats(0.0, 1e300)) for _ in range(3)]
    return DualPoint(rules, weights, *numbers, draw(positions()), draw(positions()))


@st.composite
def solutions(draw, losses, *, rich):
    """Return a solution with any figures, one in four without a selection."""
    report = draw(reports()) if rich else BY_HAND
    if draw(st.integers(0, 3)) == 1:
        nothing = Solution.infeasible(report)
        return draw(st.sampled_from([nothing, dataclasses.replace(nothing, **OUT_OF_TIME)]))
    support, loss = draw(positions()), draw(losses)
    return Solution(
        support=support,
        weights=np.array([draw(st.floats(allow_nan=False)) for _ in support]),
        loss=loss,
        stability=draw(st.one_of(st.integers(0, 12), st.integers(0, LARGEST))),
        bound=draw(st.sampled_from([0.0, 0.5, 1.0])) * loss,
        status=draw(st.sampled_from(FOUND)),
        report=report,
        dual=draw(st.none() | duals()) if rich else None,
    )


@st.composite
def frontiers(draw, least=0, losses=LOSSES, *, rich=False):
    """Return a frontier of any solutions at any floors, most of them dominated."""
    floors = sorted(draw(st.sets(st.integers(0, LARGEST), min_size=least, max_size=10)))[::-1]
    points = [
        FrontierPoint(floor, draw(solutions(losses, rich=rich)), draw(st.booleans()))
        for floor in floors
    ]
    largest = max([found.stability for found in found_in(points)], default=0)
    return Frontier(
        entries=tuple(points),
        max_stability=largest + draw(st.integers(0, 3)),
        null_loss=draw(st.sampled_from([0.0, NULL_LOSS])),
        max_rules=4,
        gamma=draw(st.floats(1e-300, 1e300)),
        complete=draw(st.booleans()),
        seconds=draw(st.floats(0.0, 1e9)),
    )


@st.composite
def chains(draw, least=1):
    """Return a frontier on which every point is kept."""
    stabilities = sorted(draw(st.sets(st.integers(0, LARGEST), min_size=least, max_size=9)))
    n, scale = len(stabilities), draw(st.sampled_from([1e-300, 1.0, 1e290]))
    steps = sorted(draw(st.sets(st.integers(0, 10**6), min_size=n, max_size=n)))
    return of_losses(*((h1, step * scale) for h1, step in zip(stabilities, steps, strict=True)))


def found_in(entries):
    """Return the solutions that are selections."""
    return [entry.solution for entry in entries if math.isfinite(entry.solution.loss)]


def beats(one, other):
    """Tell whether a solution is at least as good in both objectives and better in one."""
    pair, rival = (one.stability, -one.loss), (other.stability, -other.loss)
    return pair != rival and pair[0] >= rival[0] and pair[1] >= rival[1]


def of_losses(*pairs, status=Status.OPTIMAL, largest=None):
    """Return a frontier of pairs of stability and loss, each at a floor of its stability."""
    none = np.empty(0, dtype=np.int64)
    points = [
        FrontierPoint(h1, Solution(none, np.empty(0), h2, h1, 0.5 * h2, status, BY_HAND))
        for h1, h2 in sorted(pairs, reverse=True)
    ]
    largest = max(h1 for h1, _ in pairs) if largest is None else largest
    null_loss = max((h2 for _, h2 in pairs if math.isfinite(h2)), default=0.0)
    return Frontier(tuple(points), largest, null_loss, max_rules=4, gamma=1.0)


# --- points ---------------------------------------------------------------------------------------


@SETTINGS
@given(frontiers())
def test_points_are_the_solutions_that_no_other_beats(frontier):
    """Each kept point is unbeaten, and each other selection is equalled or beaten by a kept one."""
    found, points = found_in(frontier.entries), frontier.points
    assert not any(beats(other, point) for point in points for other in found)
    for solution in found:
        assert any(
            point.stability >= solution.stability and point.loss <= solution.loss
            for point in points
        )
    pairs = [(point.stability, point.loss) for point in points]
    assert len(set(pairs)) == len(pairs)
    assert pairs == sorted(pairs, reverse=True)
    assert frontier.stability.tolist() == [h1 for h1, _ in pairs]
    assert frontier.loss.tolist() == [h2 for _, h2 in pairs]
    assert frontier.stability.dtype == np.int64
    assert len(frontier) == len(points)
    assert list(frontier) == points
    assert [frontier[i] for i in range(len(points))] == points


@SETTINGS
@given(frontiers())
def test_selections_are_either_points_or_dominated(frontier):
    """No selection is in both and none is in neither."""
    selections = [s for s in frontier.dominated if math.isfinite(s.loss)]
    ids = sorted(map(id, [*frontier.points, *selections]))
    assert ids == sorted(map(id, found_in(frontier.entries)))


def test_of_equal_points_one_is_kept():
    """Equal losses leave the most stable; to within 1e-12 of that of no rule they are equal."""
    frontier = of_losses((9, 2.0), (8, 2.0), (7, 2.0), (6, 1.0))
    assert [(p.stability, p.loss) for p in frontier.points] == [(9, 2.0), (6, 1.0)]
    assert [p.stability for p in frontier.dominated] == [8, 7]
    for loss in (2.0, 1e-3):
        nearly = of_losses((10, 2.0), (9, loss), (8, loss - 1e-12), (7, loss - 4e-12))
        assert nearly.stability.tolist() == ([10, 7] if loss == 2.0 else [10, 9, 7])


# --- choosing -------------------------------------------------------------------------------------


@SETTINGS
@given(frontiers(), st.integers(2, LARGEST))
def test_a_look_up_by_counts_has_the_least_loss_that_reaches_them(frontier, counts):
    """Of all selections of that stability none has a smaller loss, or there is none."""
    reaching = [s for s in found_in(frontier.entries) if s.stability >= counts]
    if not reaching:
        with pytest.raises(InvalidParameter):
            frontier.at(stability=counts)
        return
    best = frontier.at(stability=counts)
    assert best in frontier.points
    assert best.stability >= counts
    assert best.loss == min(solution.loss for solution in reaching)
    assert frontier.at(stability=float(counts)) is best


@SETTINGS
@given(frontiers(), st.fractions(0, 1, max_denominator=1000))
@example(of_losses((3, 2.0), (10, 3.0)), Fraction(3, 10))
@example(of_losses((7, 2.0), (10, 3.0)), Fraction(7, 10))
def test_a_look_up_by_share_is_one_by_counts(frontier, share):
    """A share of the largest stability is that many counts, rounding aside."""
    counts = share * frontier.max_stability
    reaching = [s for s in found_in(frontier.entries) if s.stability >= counts]
    if not reaching:
        with pytest.raises(InvalidParameter):
            frontier.at(stability=float(share))
        return
    best = frontier.at(stability=float(share))
    assert best.stability >= counts
    assert best.loss == min(solution.loss for solution in reaching)


@SETTINGS
@given(chains())
def test_every_point_is_found_by_its_own_share(frontier):
    """Dividing by the largest stability and multiplying again loses no point."""
    for point in frontier.points:
        if frontier.max_stability > 0:
            assert frontier.at(stability=point.stability / frontier.max_stability) is point


def test_shares_of_huge_counts_lose_no_point():
    """Rounding errors grow with the counts."""
    largest = 3 * 10**12
    for stability in range(largest // 7, largest // 7 + 50):
        frontier = of_losses((stability, 1.0), largest=largest)
        assert frontier.at(stability=stability / largest).stability == stability


def test_huge_counts_are_compared_as_the_integers_they_are():
    """One count less than asked for is less, however many there are."""
    frontier = of_losses((3 * 10**9, 2.0), (3 * 10**9 - 1, 1.0))
    assert frontier.at(stability=3 * 10**9).loss == 2.0


@SETTINGS
@given(frontiers(), LOSSES)
def test_a_look_up_by_loss_has_the_most_stability_within_it(frontier, limit):
    """Of all selections within the loss none is more stable, or there is none."""
    assume(limit > 0)
    within = [s for s in found_in(frontier.entries) if s.loss <= limit]
    if not within:
        with pytest.raises(InvalidParameter):
            frontier.at(max_loss=limit)
        return
    best = frontier.at(max_loss=limit)
    assert best in frontier.points
    assert best.loss <= limit
    assert best.stability == max(solution.stability for solution in within)


def test_a_point_without_loss_is_found_by_its_loss():
    """Where the target is 0, so is every loss."""
    frontier = of_losses((3, 0.0), (5, 1.0))
    assert frontier.at(max_loss=0.0).stability == 3


@SETTINGS
@given(frontiers())
def test_a_look_up_by_index_is_that_of_a_list(frontier):
    """Negative ones count from the end; others are refused."""
    n = len(frontier)
    for index in range(-n, n):
        assert frontier.at(index=index) is frontier.points[index]
        assert frontier.at(index=np.int64(index)) is frontier.points[index]
    for index in (n, -n - 1):
        with pytest.raises(InvalidParameter):
            frontier.at(index=index)


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"stability": 0.5, "max_loss": 3.0},
        {"index": 0, "stability": 0.0},
        {"index": 0.0},
        {"index": True},
        {"stability": -0.1},
        {"stability": math.nan},
        {"stability": "high"},
        {"stability": True},
        {"max_loss": math.nan},
        {"max_loss": -1.0},
        {"max_loss": [1.0]},
    ],
)
def test_a_question_that_makes_no_sense_is_refused(wrong):
    """One question, of the right kind."""
    with pytest.raises(InvalidParameter):
        of_losses((3, 1.0), (5, 2.0)).at(**wrong)


@SETTINGS
@given(chains(least=3))
def test_the_knee_is_farthest_below_the_line_between_the_ends(frontier):
    """In exact arithmetic no other point is farther, but for rounding."""
    points = frontier.points
    first, last = points[0], points[-1]
    width, height = first.stability - last.stability, Fraction(first.loss) - Fraction(last.loss)

    def below(point):
        given_up = Fraction(first.stability - point.stability, width)
        return (Fraction(first.loss) - Fraction(point.loss)) / height - given_up

    knee = frontier.knee()
    assert knee in points
    assert below(knee) >= max(map(below, points)) - Fraction(1, 10**9)


def test_a_frontier_of_one_or_two_points_has_a_knee():
    """It is one of them, and a frontier without points says that it has none."""
    for pairs in ([(3, 0.0)], [(3, 1.0), (5, 2.0)], [(0, 0.0), (1, 1e300)]):
        frontier = of_losses(*pairs)
        assert frontier.knee() in frontier.points
    with pytest.raises(InvalidParameter, match="no points"):
        of_losses((3, math.inf), status=Status.INFEASIBLE).knee()


# --- gaps and frames ------------------------------------------------------------------------------


@SETTINGS
@given(frontiers())
def test_the_worst_gap_is_the_largest_that_there_is(frontier):
    """Floors without a selection have none; without any, it is NaN."""
    gaps = [
        (solution.loss - solution.bound) / solution.loss if solution.loss > 0 else 0.0
        for solution in found_in(frontier.entries)
    ]
    if gaps:
        assert frontier.worst_gap == max(gaps)
    else:
        assert math.isnan(frontier.worst_gap)
    assert isinstance(frontier.worst_gap, float)


def test_an_infeasible_floor_has_no_say_in_the_worst_gap():
    """Wherever it stands among the others."""
    nothing = FrontierPoint(9, Solution.infeasible(BY_HAND))
    sound = of_losses((3, 1.0), (5, 2.0))
    for entries in ((nothing, *sound.entries), (*sound.entries, nothing)):
        assert dataclasses.replace(sound, entries=entries).worst_gap == 0.5


@SETTINGS
@given(frontiers(least=1))
@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_frame_has_a_row_for_each_floor(backend, frontier):
    """Whatever the library, the columns are those of the solutions, in the order of the floors."""
    pytest.importorskip(backend)
    frame = frontier.frame(backend=backend)
    columns = frame.to_dict("list") if backend == "pandas" else (
        frame.to_dict(as_series=False) if backend == "polars" else frame.to_pydict()
    )  # fmt: skip
    solutions = [entry.solution for entry in frontier.entries]
    assert columns["floor"] == [entry.floor for entry in frontier.entries]
    assert columns["reused"] == [entry.reused for entry in frontier.entries]
    assert columns["stability"] == [solution.stability for solution in solutions]
    assert columns["loss"] == [solution.loss for solution in solutions]
    assert columns["bound"] == [solution.bound for solution in solutions]
    assert columns["status"] == [solution.status.value for solution in solutions]
    assert columns["rules"] == [len(solution.support) for solution in solutions]
    kept = list(map(id, frontier.points))
    assert columns["on_frontier"] == [id(solution) in kept for solution in solutions]
    np.testing.assert_array_equal(columns["gap"], [solution.gap for solution in solutions])
    feasible = [n for n, s in enumerate(solutions) if math.isfinite(s.loss)]
    assert all(0.0 <= columns["share"][n] <= 1.0 for n in feasible)
    assert all(math.isfinite(columns["explained"][n]) for n in feasible)


@SETTINGS
@given(frontiers())
def test_a_frontier_can_be_printed(frontier):
    """Whatever is in it, there is a line of text."""
    assert repr(frontier).startswith("Frontier(")
    assert "\n" not in repr(frontier)


# --- as text --------------------------------------------------------------------------------------


def refuse(name):
    """Stand in for what only Python's JSON has."""
    raise AssertionError(f"{name} is not JSON")


@SETTINGS
@given(frontiers(losses=st.floats(0.0, 1.7e308), rich=True))
def test_a_frontier_survives_json(frontier):
    """All fields come back bit for bit, NaN and infinities too, through JSON as others read it."""
    text = frontier_to_json(frontier)
    json.loads(text, parse_constant=refuse)
    again = frontier_from_json(text)
    assert flat(again) == flat(frontier)
    assert frontier_to_json(again) == text


def flat(value):
    """Return all that is in a frontier as nested lists, floats by their digits."""
    if dataclasses.is_dataclass(value):
        return [flat(getattr(value, field.name)) for field in dataclasses.fields(value)]
    if isinstance(value, np.ndarray):
        return [value.dtype, flat(value.tolist())]
    if isinstance(value, dict):
        return sorted((name, flat(each)) for name, each in value.items())
    if isinstance(value, list | tuple):
        return [flat(each) for each in value]
    return (type(value), value.hex()) if isinstance(value, float) else value


SOUND = of_losses((3, 1.0), (5, 2.0))


def damaged(**changes):
    """Return a sound frontier as JSON, some fields of it or of its first entry changed."""
    content = json.loads(frontier_to_json(SOUND))
    for name, value in changes.items():
        (content if name in content else content["entries"][0])[name] = value
    return json.dumps(content)


@pytest.mark.parametrize(
    "changes",
    [
        {"format": "another"},
        {"version": 2},
        {"version": None},
        {"entries": None},
        {"entries": 3},
        {"entries": ["x"]},
        {"entries": [{}]},
        {"largest_stability": None},
        {"gamma": "much"},
        {"seconds": [1.0]},
        {"floor": "low"},
        {"status": "FINE"},
        {"status": ["OPTIMAL"]},
        {"support": [0.5], "weights": [1.0]},
        {"support": [-1], "weights": [1.0]},
        {"support": [[1]], "weights": [1.0]},
        {"support": [[1], [2, 3]], "weights": [1.0, 1.0]},
        {"support": [1], "weights": [1.0, 2.0]},
        {"support": [1], "weights": ["x"]},
        {"loss": None},
        {"loss": [1.0]},
        {"loss": 10**400},
        {"report": None},
        {"report": {"method": "x"}},
        {"dual": 3},
        {"dual": {}},
    ],
    ids=str,
)
def test_damage_is_refused(changes):
    """Reading raises InvalidFile and nothing else."""
    frontier_from_json(damaged())
    with pytest.raises(InvalidFile):
        frontier_from_json(damaged(**changes))


@pytest.mark.parametrize("text", ["[" * 100_000, "9" * 10_000, "\ufeff{}", '"\\ud800"', "nan"])
def test_text_that_parsers_choke_on_is_refused(text):
    """Depth, digits and odd characters are no way around it."""
    with pytest.raises(InvalidFile):
        frontier_from_json(text)


@pytest.mark.parametrize(
    "changes",
    [
        {"support": [1e300], "weights": [1.0]},
        {"support": None, "weights": None},
        {"complete": "false"},
        {"reused": "false"},
        {"largest_stability": 5.7},
        {"stability": 2.5},
        {"floor": -3},
        {"loss": "1.5"},
        {"bound": 7.0},
        {"support": [3, 1], "weights": [1.0, 2.0]},
        {"support": [1, 1], "weights": [1.0, 2.0]},
    ],
    ids=str,
)
def test_subtle_damage_is_refused(changes):
    """Fields of another kind, and figures that cannot be true, are not taken for sound ones."""
    with pytest.raises(InvalidFile):
        frontier_from_json(damaged(**changes))


# --- nothing changes it ---------------------------------------------------------------------------


def test_attributes_cannot_be_set():
    """Neither the frontier's nor those of its points."""
    frontier = of_losses((3, 1.0), (5, 2.0))
    for thing in (frontier, frontier.entries[0], frontier.points[0]):
        for field in dataclasses.fields(thing):
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(thing, field.name, None)
    for name in ("points", "dominated", "stability", "loss", "worst_gap"):
        with pytest.raises(AttributeError):
            setattr(frontier, name, None)


@SETTINGS
@given(frontiers())
def test_what_is_handed_out_is_the_callers_own(frontier):
    """Lists and arrays may be written to without a change in the frontier."""
    before = flat(frontier)
    frontier.points.clear()
    frontier.dominated.clear()
    for array in (frontier.stability, frontier.loss):
        array[:] = 0
    assert flat(frontier) == before


def test_selections_and_weights_cannot_be_written_to():
    """A solution that someone sorts or scales in place must not change the frontier."""
    found = Solution(np.arange(2), np.ones(2), 1.0, 3, 1.0, Status.OPTIMAL, BY_HAND)
    entry = FrontierPoint(3, found)
    frontier = Frontier((entry,), 3, 1.0, max_rules=4, gamma=1.0)
    for array in (frontier.points[0].support, frontier.points[0].weights):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 9


def test_a_score_above_that_of_max_rules_is_not_said_to_be_a_part_of_it():
    """Fewer rules may all be in more trees than the last of the most frequent max_rules is."""
    model = MossRegressor(2, n_trees=20).fit({"age": [30, 40, 50, 60]}, [2.0, 3.0, 9.0, 8.0])
    points = model.frontier([1, 0.5])
    high, low = points.stability[[0, -1]]
    assert f"stability {low} to {high} of {points.max_stability}" in repr(points)
    few = dataclasses.replace(points, max_stability=int(high) - 1)
    assert f"stability {low} to {high} where a share of 1 is {high - 1}," in repr(few)
    with pytest.raises(
        InvalidParameter, match=rf"{high + 1} trees and the most stable .* {high}; ask"
    ):
        points.at(stability=int(high) + 1)
