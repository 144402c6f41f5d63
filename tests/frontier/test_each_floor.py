import json

import numpy as np
import pytest

from mossrules.exceptions import InvalidFile, InvalidParameter
from mossrules.frontier import (
    Frontier,
    approximate_frontier,
    epsilon_sequence,
    frontier_from_json,
    frontier_to_json,
    solve_frontier,
)
from mossrules.solver import LinearConstraints, Options, Status, solve
from support.cases import hard_problem
from support.each_floor_cases import EXACT, check_complete, logistic_each, squared_each

UNLIMITED = LinearConstraints(np.ones((1, 24)), [5.0])


def lively(**settings):
    """Return a problem of 24 rules with a floor on each and a frontier of many points."""
    return hard_problem(m=24, k=5, seed=3, floor="each", **settings)


# --- which floors ---------------------------------------------------------------------------------


def test_the_sequence_is_every_distinct_count_from_the_last_place_on():
    """The first is the count of the k-th most frequent rule, the last the smallest there is."""
    counts = np.array([3, 9, 4, 4, 4, 4, 1])
    assert epsilon_sequence(counts, 3, "each").tolist() == [4, 3, 1]
    assert epsilon_sequence(counts, 1, "each").tolist() == [9, 4, 3, 1]
    assert epsilon_sequence(counts, 50, "each").tolist() == [1]
    with pytest.raises(InvalidParameter, match="floor is 'all'"):
        epsilon_sequence(counts, 3, "all")


def test_floors_by_default_are_the_first_of_the_sequence():
    """Rules that are fixed take their places, and are none of those that the floor is on."""
    problem = lively(fixed_in=[0], fixed_out=[1])
    free = np.sort(problem.counts[2:])[::-1]
    floors = [entry.floor for entry in solve_frontier(problem).entries]
    assert floors == sorted(set(free[3:].tolist()), reverse=True)
    everything_fixed = lively(fixed_in=range(5))
    assert [entry.floor for entry in solve_frontier(everything_fixed).entries] == [0]


# --- what is found --------------------------------------------------------------------------------


@pytest.mark.parametrize("block", range(4))
def test_the_complete_frontier_has_the_least_loss_at_every_count(block):
    """Of both losses, with and without signs, fixings and limits; certificates are checked too."""
    for seed in range(6 * block, 6 * (block + 1)):
        check_complete(squared_each(seed, most_rules=9).at(0))
        rows, problem = logistic_each(seed)
        check_complete(problem.at(0), rows)


def test_a_complete_frontier_may_go_on_to_the_largest_count():
    """Above the largest stability there are fewer rules than max_rules, and then none."""
    for seed in range(40, 60):
        problem = squared_each(seed, most_rules=9).at(0)
        check_complete(problem, max_stability=problem.largest_floor)


def test_every_floor_of_a_complete_frontier_is_a_count():
    """A step goes from what was reached to the next count above it."""
    problem = lively()
    frontier = solve_frontier(problem, "complete", min_stability=5)
    assert frontier.complete
    floors = [entry.floor for entry in frontier.entries]
    assert set(floors) <= set(problem.counts.tolist())
    assert min(floors) >= 5
    assert len(frontier) == len({point.loss for point in frontier})
    with pytest.raises(InvalidParameter, match="max_stability is 1000"):
        solve_frontier(problem, "complete", max_stability=1000)


@pytest.mark.parametrize("settings", [{}, {"constraints": UNLIMITED}])
def test_listed_floors_are_what_each_is_alone(settings):
    """Solved in groups, in threads, one by one and by the cutting plane: the same optima."""
    problem = lively(**settings, gamma=0.01)
    floors = sorted(set(problem.counts[problem.counts <= problem.max_stability].tolist()))
    alone = [solve(problem.at(floor), options=EXACT) for floor in floors][::-1]
    for how in ({}, {"n_jobs": 2}, {"reuse": False}, {"method": "cutting-plane"}):
        frontier = solve_frontier(problem, floors, options=EXACT, **how)
        assert [entry.floor for entry in frontier.entries] == floors[::-1]
        for entry, one in zip(frontier.entries, alone, strict=True):
            assert entry.solution.status is Status.OPTIMAL
            assert entry.solution.loss == pytest.approx(one.loss, rel=1e-6)
            assert entry.solution.verify(problem.at(entry.floor)).passed


def test_threads_make_no_difference():
    """Groups are fixed, so that the entries are the same to the last bit."""
    one, two = (solve_frontier(lively(), n_jobs=n, options=Options(gap=0.05)) for n in (1, 2))
    for entry, other in zip(one.entries, two.entries, strict=True):
        assert entry.solution.support.tolist() == other.solution.support.tolist()
        assert entry.solution.bound == other.solution.bound


def test_a_budget_that_is_over_leaves_feasible_points():
    """Each floor has a rule set that reaches it, and a bound that holds."""
    problem = hard_problem(m=60, k=10, floor="each", seed=1)
    frontier = solve_frontier(problem, options=EXACT, time_budget=0.2)
    for entry in frontier.entries:
        assert problem.at(entry.floor).is_feasible(entry.solution.support)
        assert entry.solution.verify(problem.at(entry.floor)).passed


def test_the_lookups_go_by_the_least_count():
    """A share is one of the count of the k-th most frequent rule."""
    problem = lively()
    frontier = solve_frontier(problem, "complete")
    assert frontier.max_stability == np.sort(problem.counts)[-5]
    assert frontier.at(stability=1.0).stability == frontier.max_stability
    half = frontier.at(stability=0.5)
    assert half.stability >= 0.5 * frontier.max_stability
    assert problem.counts[half.support].min() == half.stability
    assert frontier.at(max_loss=half.loss).stability == half.stability
    assert frontier.knee() in frontier.points
    assert frontier.share(2 * frontier.max_stability) == 1.0
    assert "floor='each'" in repr(frontier)


# --- the approximate one --------------------------------------------------------------------------


def test_the_approximate_frontier_is_of_the_same_floors():
    """Coordinate descent at some floors: feasible, never below the optimum, no rise downwards."""
    problem = lively()
    pairs_of = {point.stability: point.loss for point in solve_frontier(problem, "complete")}
    frontier = approximate_frontier(problem, 6)
    assert len(frontier.entries) == 6
    assert frontier.floor == "each"
    assert frontier.entries[0].floor == problem.max_stability
    losses = [entry.solution.loss for entry in frontier.entries]
    assert losses == sorted(losses, reverse=True)
    for entry in frontier.entries:
        best = min(loss for reached, loss in pairs_of.items() if reached >= entry.floor)
        assert entry.solution.status is Status.HEURISTIC
        assert entry.solution.bound <= best <= entry.solution.loss * (1 + 1e-9)
        assert entry.solution.verify(problem.at(entry.floor)).passed
    assert approximate_frontier(problem, 6, time_budget=1e-6).entries
    with pytest.raises(InvalidParameter, match="penalties are prices of the sum"):
        approximate_frontier(problem, penalties=[1.0])


# --- keeping --------------------------------------------------------------------------------------


def test_a_frontier_survives_as_text_and_older_texts_are_of_the_sum():
    """The kind of floor is written where it is not the paper's, so older texts stay the same."""
    frontier = solve_frontier(lively(), [20, 10])
    again = frontier_from_json(frontier_to_json(frontier))
    assert again.floor == "each"
    assert again.stability.tolist() == frontier.stability.tolist()
    text = frontier_to_json(solve_frontier(hard_problem(m=12, k=3), [60]))
    assert "floor" not in {*json.loads(text)}
    assert frontier_from_json(text).floor == "sum"
    content = json.loads(frontier_to_json(frontier)) | {"floor": "any"}
    with pytest.raises(InvalidFile, match="The frontier cannot be read"):
        Frontier.from_json(json.dumps(content))


def test_a_run_resumes_from_its_checkpoint(tmp_path):
    """It ends with what a run that was never stopped finds."""
    path, problem = tmp_path / "run.json", lively()
    whole = solve_frontier(problem, "complete")
    solve_frontier(problem, "complete", checkpoint=path)
    content = json.loads(path.read_text("utf-8"))
    content["entries"] = content["entries"][:3]
    content["cuts"] = content["cuts"][:3]
    path.write_text(json.dumps(content), "utf-8")
    again = solve_frontier(problem, "complete", checkpoint=path)
    assert again.loss.tolist() == whole.loss.tolist()
    assert again.stability.tolist() == whole.stability.tolist()


def test_a_checkpoint_of_the_other_kind_of_floor_is_refused(tmp_path):
    """The same numbers mean other floors there."""
    path, problem = tmp_path / "run.json", lively()
    solve_frontier(problem, [10], checkpoint=path)
    with pytest.raises(InvalidFile, match="another problem"):
        solve_frontier(problem.with_floor("sum"), [10], checkpoint=path)


def test_infeasible_floors_under_limits_are_points_without_a_rule_set():
    """One of some rare rules is asked for: no floor above their counts can be met."""
    problem = lively()
    rare = np.argsort(problem.counts)[:3]
    limits = LinearConstraints(-1.0 * np.isin(np.arange(24), rare)[None, :], [-1.0])
    limited = lively(constraints=limits)
    top = int(problem.counts[rare].max())
    frontier = solve_frontier(limited, [top, top + 1], options=EXACT)
    assert [entry.solution.has_selection for entry in frontier.entries] == [False, True]
    assert limited.max_stability == top
