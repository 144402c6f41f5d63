import json

import numpy as np
import pytest

from mossrules.exceptions import InfeasibleProblem, InvalidFile, InvalidParameter
from mossrules.frontier import (
    approximate_frontier,
    epsilon_sequence,
    excess_loss,
    frontier_from_json,
    frontier_to_json,
    solve_frontier,
)
from mossrules.solver import Options, Problem, Status, solve
from support.cases import hard_problem, limited_problem
from support.oracles import brute_force, brute_force_frontier, random_problem

EXACT = Options(gap=0.0)


def small_problem(seed):
    """Return a random problem without a floor and few enough selections to list them all."""
    rng = np.random.default_rng(seed)
    return random_problem(seed, floor=0, max_rules=int(rng.integers(1, 5)))


def lively_problem(seed):
    """Return a problem of ten rules with a frontier of many points."""
    rng = np.random.default_rng(seed)
    M = rng.normal(size=(40, 10))
    y = M @ rng.normal(size=10) + rng.normal(size=40)
    return Problem.from_matrix(M, y, rng.integers(1, 30, size=10), max_rules=4, gamma=1.0)


def test_the_sequence_is_that_of_a_sliding_window():
    """Distinct sums of k consecutive sorted counts, the largest first."""
    counts = np.array([3, 9, 4, 4, 4, 4, 1])
    ordered = sorted(counts, reverse=True)
    expected = sorted({sum(ordered[i : i + 3]) for i in range(5)}, reverse=True)
    assert epsilon_sequence(counts, 3).tolist() == expected
    assert epsilon_sequence(counts, 50).tolist() == [29]


@pytest.mark.parametrize("counts", [[], [[1, 2]], [0.5, 1.0], [3, -1]])
def test_a_sequence_of_anything_but_counts_is_refused(counts):
    """Counts are integers, one for each rule, and not negative."""
    with pytest.raises(InvalidParameter, match="counts"):
        epsilon_sequence(counts, 2)


@pytest.mark.parametrize("block", range(8))
def test_the_complete_frontier_is_the_non_dominated_set(block):
    """On random problems every point that nothing beats is found, and no other."""
    for seed in range(25 * block, 25 * (block + 1)):
        problem = small_problem(seed)
        frontier = solve_frontier(problem, "complete", options=EXACT)
        expected = brute_force_frontier(problem)
        assert frontier.complete
        assert frontier.stability.tolist() == [stability for stability, _ in expected]
        np.testing.assert_allclose(
            frontier.loss,
            [loss for _, loss in expected],
            rtol=1e-9,
            atol=1e-12 * frontier.null_loss,
        )


@pytest.mark.slow
@pytest.mark.parametrize("method", ["branch-and-bound", "cutting-plane"])
def test_every_floor_has_its_optimum_with_and_without_re_use(method):
    """Whatever floors learn from each other, each ends at its own optimum."""
    for seed in range(12):
        problem = small_problem(seed)
        for reuse in (True, False):
            frontier = solve_frontier(problem, method=method, options=EXACT, reuse=reuse)
            for entry in frontier.entries:
                best, _ = brute_force(problem.at(entry.floor))
                assert entry.solution.loss == pytest.approx(best, rel=1e-8, abs=1e-9)
                assert entry.solution.bound <= best * (1 + 1e-9) + 1e-12
                assert entry.reused <= reuse


def test_re_use_saves_searches_and_two_jobs_change_nothing():
    """Floors between two solved ones often need no search; the number of jobs is no matter."""
    problem = lively_problem(3)
    floors = range(problem.max_stability_unlimited + 1)
    one = solve_frontier(problem, floors, options=EXACT)
    two = solve_frontier(problem, floors, options=EXACT, n_jobs=2)
    assert sum(entry.reused for entry in one.entries) > 0
    for a, b in zip(one.entries, two.entries, strict=True):
        assert (a.floor, a.reused) == (b.floor, b.reused)
        np.testing.assert_array_equal(a.solution.support, b.solution.support)
        assert a.solution.bound == b.solution.bound


def test_points_are_looked_up_by_stability_index_and_loss():
    """Each way to ask gives the point that a search through all of them gives."""
    problem = lively_problem(5)
    frontier = solve_frontier(problem, "complete", options=EXACT)
    for share in (0.3, 0.6, 0.9, 1.0):
        counts = share * frontier.max_stability
        expected = min(p.loss for p in frontier.points if p.stability >= counts)
        assert frontier.at(stability=share).loss == expected
    for point in frontier.points:
        assert frontier.at(stability=max(2, point.stability)).loss <= point.loss
        assert frontier.at(max_loss=point.loss) is point
    assert frontier.at(index=0).stability == frontier.max_stability
    assert frontier.knee() in frontier.points


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"index": 0, "stability": 0.5},
        {"index": 10_000},
        {"max_loss": 1e-300},
        {"stability": 1e9},
    ],
)
def test_a_look_up_that_has_no_answer_says_so(wrong):
    """One question at a time, and one that the frontier can answer."""
    frontier = solve_frontier(lively_problem(5), options=EXACT)
    with pytest.raises(InvalidParameter):
        frontier.at(**wrong)


def test_a_frontier_survives_json_bit_for_bit():
    """What is read back has the same numbers, status and dual points."""
    frontier = solve_frontier(lively_problem(7), options=EXACT)
    again = frontier_from_json(frontier_to_json(frontier))
    assert frontier_to_json(again) == frontier_to_json(frontier)
    assert repr(again) == repr(frontier)


@pytest.mark.parametrize("seed", [3, 58])
def test_certificates_survive_json(seed):
    """Also those of problems with limits on rules, whose dual points have prices."""
    problem = limited_problem(seed).at(0)
    again = frontier_from_json(
        frontier_to_json(solve_frontier(problem, [0, problem.max_stability]))
    )
    for entry in again.entries:
        check = entry.solution.verify(problem.at(entry.floor))
        assert check.passed, str(check)


@pytest.mark.parametrize("damage", ["", "nonsense", "[]", '{"format": "mossrules frontier"}'])
def test_text_that_is_no_frontier_is_refused(damage):
    """Whatever is wrong with it, the error is InvalidFile."""
    with pytest.raises(InvalidFile):
        frontier_from_json(damage)


def test_a_damaged_entry_is_refused():
    """Missing fields and wrong types inside are found too."""
    frontier = solve_frontier(lively_problem(7), options=EXACT)
    for change in ({"support": "x"}, {"status": "FINE"}, {"weights": [1.0]}, {"dual": 3}):
        content = json.loads(frontier_to_json(frontier))
        content["entries"][0] |= change
        with pytest.raises(InvalidFile):
            frontier_from_json(json.dumps(content))


def test_an_interrupted_run_goes_on_from_its_checkpoint(tmp_path):
    """After an interrupt, a second run ends with what an uninterrupted one gives."""
    problem = lively_problem(11)
    whole = solve_frontier(problem, "complete", options=EXACT)
    path = tmp_path / "frontier.json"

    def stop(state):
        if state.done == 3:
            raise KeyboardInterrupt

    part = solve_frontier(problem, "complete", options=EXACT, checkpoint=path, progress=stop)
    assert len(part.entries) == 3 < len(whole.entries)
    rest = solve_frontier(problem, "complete", options=EXACT, checkpoint=path)
    assert [entry.floor for entry in rest.entries] == [entry.floor for entry in whole.entries]
    for a, b in zip(rest.entries, whole.entries, strict=True):
        np.testing.assert_array_equal(a.solution.support, b.solution.support)
        assert a.solution.loss == b.solution.loss
    with pytest.raises(InvalidFile, match="another problem"):
        solve_frontier(problem.at(0), "complete", options=Options(gap=0.1), checkpoint=path)
    assert list(tmp_path.iterdir()) == [path]


def test_a_time_budget_leaves_every_floor_with_an_honest_status():
    """Floors that got no time have what others found, a valid bound and TIME_LIMIT."""
    problem = hard_problem()
    frontier = solve_frontier(problem, options=EXACT, time_budget=1e-9)
    for entry in frontier.entries:
        best = solve(problem.at(entry.floor), options=EXACT).loss
        assert entry.solution.bound <= best * (1 + 1e-9)
        assert entry.solution.loss >= best * (1 - 1e-9)
        assert entry.solution.stability >= entry.floor
    assert any(entry.solution.status is Status.TIME_LIMIT for entry in frontier.entries)


def test_the_approximate_frontier_is_never_better_than_the_exact_one():
    """Its points are heuristic, valid, and close on most small problems."""
    excess = []
    for seed in range(20):
        problem = small_problem(seed)
        exact = solve_frontier(problem, "complete", options=EXACT)
        rough = approximate_frontier(problem, points=20)
        assert all(point.status is Status.HEURISTIC for point in rough.points)
        found = excess_loss(rough, exact)
        assert (found >= -1e-9).all()
        excess.append(float(np.median(found[np.isfinite(found)])) if len(found) else 0.0)
    assert np.median(excess) < 0.05


def test_floors_that_cannot_be_met_or_read_are_refused():
    """Bad floors and ranges get a sentence."""
    problem = random_problem(1, floor=0)
    with pytest.raises(InfeasibleProblem, match="at most"):
        solve_frontier(problem, [problem.max_stability_unlimited + 1])
    for wrong in ([], "all", [0.5]):
        with pytest.raises(InvalidParameter):
            solve_frontier(problem, wrong)
    with pytest.raises(InvalidParameter, match="complete"):
        solve_frontier(problem, [1], min_stability=0)
