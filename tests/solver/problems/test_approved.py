import pickle

import numpy as np
import pytest

from mossrules.exceptions import InfeasibleProblem, InvalidFile, InvalidParameter
from mossrules.frontier import solve_frontier
from mossrules.solver import LinearConstraints, Options, Problem, near_optimal, solve
from support.approved_cases import (
    EXACT,
    approved_case,
    check_near,
    check_price,
    selections,
)

COUNTS = np.array([9, 7, 7, 4, 1, 0])


def small(**settings):
    """Return a problem of six rules of which the two rarest are approved, and explain most."""
    rng = np.random.default_rng(0)
    M = rng.normal(size=(30, 6))
    given = {"max_rules": 3, "gamma": 1.0, "floor": "each", "approved": [4, 5]}
    return Problem.from_matrix(M, M @ [4.0, 3, 2, 1, 1, 1], COUNTS, **{**given, **settings})


# --- against every selection there is -------------------------------------------------------------


@pytest.mark.parametrize(("classes", "seeds"), [(False, range(190)), (True, range(20))])
def test_what_is_found_and_proven_is_the_best_of_all_selections(classes, seeds):
    """Of numbers and classes: at one number of approved rules, and the complete price of more."""
    for seed in seeds:
        rows, problem = approved_case(seed, classes=classes)
        everything = selections(problem, rows)
        check_near(problem, seed % (len(problem.approved) + 1), everything)
        check_price(problem, everything)


def test_the_cutting_plane_finds_it_too():
    """Cuts of one floor serve the next, as the loss is the same."""
    for seed in range(320, 335):
        _, problem = approved_case(seed, classes=False)
        everything = selections(problem)
        for number in range(len(problem.approved) + 1):
            check_near(problem, number, everything, method="cutting-plane")
    problem = small(min_approved=1)
    frontier = solve_frontier(problem, [9, 7, 0], method="cutting-plane", options=EXACT)
    for entry in frontier.entries:
        alone = solve(problem.at(entry.floor), options=EXACT)
        assert entry.solution.loss == pytest.approx(alone.loss, rel=1e-7)


def test_the_trade_off_of_stability_keeps_them_at_every_floor(tmp_path):
    """Each point is what a solve at its floor finds; a checkpoint knows what had to be kept."""
    for seed in range(345, 365):
        _, problem = approved_case(seed, classes=False)
        number = min(1, problem.max_approved)
        if number < 1:
            continue
        problem = problem.keeping(problem.approved, number)
        for entry in solve_frontier(problem, options=EXACT).entries:
            there = problem.at(entry.floor)
            check_near(there, number, selections(there))
    path = tmp_path / "run.json"
    solve_frontier(small(min_approved=1), [4, 1], checkpoint=path)
    solve_frontier(small(min_approved=1), [4, 1], checkpoint=path)
    with pytest.raises(InvalidFile, match="another problem"):
        solve_frontier(small(min_approved=2), [4, 1], checkpoint=path)


def test_a_near_optimal_list_is_of_selections_that_keep_them():
    """It is complete: no other selection of full size within the tolerance keeps one."""
    found = near_optimal(small(min_approved=1), 0.5, 1000)
    least = min(loss for _, kept, loss in selections(small()) if kept)
    expected = {S for S, kept, loss in selections(small()) if kept and loss <= 1.5 * least}
    assert {tuple(each.tolist()) for each in found} == {S for S in expected if len(S) == 3}


# --- definitions ----------------------------------------------------------------------------------


def test_approved_rules_are_exempt_from_the_floor_on_each_rule():
    """They are in no or in one tree, and the stability of a selection is that of the others."""
    problem = small(min_approved=1)
    assert problem.stability([0, 3, 5]) == 4
    assert problem.stability([4, 5]) == 9
    assert problem.at(9).is_feasible([0, 5])
    assert not problem.at(9).is_feasible([1, 5])
    assert not problem.at(9).is_feasible([0])
    assert solve(problem.at(9), options=EXACT).stability == 9


def test_the_largest_stability_is_what_it_is_without_approved_rules():
    """So that a share of it is the same target."""
    assert small().max_stability == small(approved=[]).max_stability == 7
    assert small(approved=[0, 1, 2]).max_stability == 7
    limits = LinearConstraints([[1, 1, 1, 0, 0, 0]], [1])
    assert (
        small(constraints=limits).max_stability
        == small(constraints=limits, approved=[]).max_stability
    )


def test_the_most_that_can_be_kept_heeds_size_fixings_and_limits():
    """Nothing else is solved for: it may be a selection that fits badly."""
    assert small(approved=range(6)).max_approved == 3
    assert small(fixed_out=[5]).max_approved == 1
    assert small(max_rules=2, fixed_in=[0]).max_approved == 1
    assert small(constraints=LinearConstraints([[0, 0, 0, 0, 1, 1]], [1])).max_approved == 1
    never = LinearConstraints([[0, 0, 0, 0, 0, 0.0]], [-1])
    assert small(constraints=never).max_approved == -1


def test_a_problem_says_how_many_are_to_be_kept_and_survives_a_pickle():
    """The text has both numbers."""
    problem = pickle.loads(pickle.dumps(small(min_approved=1)))  # noqa: S301  its own
    assert (problem.approved, problem.min_approved) == ((4, 5), 1)
    assert repr(problem).endswith("floor='each', 1 of 2 approved)")


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"floor": "sum"}, "approved goes with floor='each'"),
        ({"approved": [6]}, "approved is 6"),
        ({"min_approved": -1}, "min_approved is -1"),
    ],
)
def test_what_cannot_be_is_refused(settings, match):
    """A sentence says what is wrong."""
    with pytest.raises(InvalidParameter, match=match):
        small(**settings)


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"min_approved": 3}, "more than 2 of the 2 approved"),
        ({"min_approved": 2, "fixed_out": [4]}, "more than 1 of the 2"),
        ({"min_approved": 1, "max_rules": 1, "fixed_in": [0]}, "more than 0 of the 2"),
    ],
)
def test_more_than_can_be_kept_is_refused(settings, match):
    """By size and fixings; what limits leave is for the search to tell."""
    with pytest.raises(InfeasibleProblem, match=match):
        small(**settings)
    impossible = small(min_approved=2, constraints=LinearConstraints([[0, 0, 0, 0, 1, 1]], [1]))
    assert solve(impossible, options=Options()).status.value == "infeasible"
