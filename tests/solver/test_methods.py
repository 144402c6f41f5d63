import doctest
from dataclasses import replace

import numpy as np
import pytest

from mossrules.exceptions import InvalidParameter
from mossrules.solver import LinearConstraints, Options, Solution, Status, methods, solve
from mossrules.solver.result import Report
from support.cases import hard_problem, wild_problem
from support.oracles import brute_force

METHODS = pytest.mark.parametrize(
    "method", ["auto", "branch-and-bound", "cutting-plane", "coordinate-descent"]
)
LIMITS = LinearConstraints(np.ones((1, 12)), np.array([2.0]))


def small_problem(**settings):
    """Return a problem that every method solves at once."""
    problem = hard_problem(m=12, k=3, gamma=0.05, **settings)
    return problem.at(60)


# --- which method ---------------------------------------------------------------------------------


def test_without_limits_branch_and_bound_is_chosen():
    """It is the fastest, and the report says why it was taken."""
    report = solve(small_problem()).report
    assert report.method == "branch-and-bound"
    assert report.reason == "the fastest exact method"
    assert "nodes" in report.counters


def test_with_mixed_limits_the_cutting_plane_is_chosen():
    """It is the only method for limits that count rules and groups at once."""
    A = np.ones((1, 13))
    mixed = LinearConstraints(A, np.array([3.0]), np.arange(12)[None, :] < 6)
    solution = solve(small_problem(constraints=mixed))
    assert solution.report.method == "cutting-plane"
    assert (
        solution.report.reason == "the only method for limits that count rules and groups at once"
    )
    assert "masters" in solution.report.counters
    assert mixed.holds(solution.support)
    with pytest.raises(InvalidParameter, match="use method='cutting-plane'"):
        solve(small_problem(constraints=mixed), "branch-and-bound")


def test_with_other_limits_branch_and_bound_is_chosen():
    """It is faster there too."""
    solution = solve(small_problem(constraints=LIMITS))
    assert solution.report.method == "branch-and-bound"
    assert len(solution.support) == 2


@pytest.mark.parametrize("method", ["branch-and-bound", "cutting-plane", "coordinate-descent"])
def test_a_method_that_is_asked_for_is_used(method):
    """The reason is that it was asked for."""
    report = solve(small_problem(), method).report
    assert (report.method, report.reason) == (method, "asked for")


@pytest.mark.parametrize("method", ["branch_and_bound", "", None, "simplex"])
def test_an_unknown_method_is_refused(method):
    """The message lists those that there are."""
    with pytest.raises(InvalidParameter, match="choose from auto, branch-and-bound, cutting-plane"):
        solve(small_problem(), method)


# --- what comes back ------------------------------------------------------------------------------


@METHODS
def test_every_method_returns_a_solution_of_the_problem(method):
    """All figures are the problem's own, the bound holds and the status is right."""
    problem = small_problem(fixed_in=[4], fixed_out=[5])
    solution = solve(problem, method, Options(gap=0.0))
    best, _ = brute_force(problem)
    assert problem.is_feasible(solution.support)
    assert solution.loss == problem.loss(solution.support)
    assert solution.stability == problem.stability(solution.support)
    np.testing.assert_array_equal(solution.weights, problem.weights(solution.support))
    assert solution.bound <= best * (1 + 1e-12)
    exact = method != "coordinate-descent"
    assert solution.status is (Status.OPTIMAL if exact else Status.HEURISTIC)
    assert solution.loss == pytest.approx(best, rel=1e-9 if exact else 0.2)


def test_the_report_has_what_was_asked_and_what_it_took():
    """Gap and time are there, and the method's own figures."""
    report = solve(small_problem(), options=Options(gap=0.25)).report
    assert report.asked_gap == 0.25
    assert 0 < report.seconds < 60
    assert set(report.counters) >= {"nodes", "root_bound", "root_gap", "rules_left_by_root"}
    assert solve(small_problem()).report.asked_gap == Options().gap


def test_an_infeasible_problem_has_an_answer():
    """Limits that nothing keeps give a solution that says so."""
    limits = LinearConstraints(np.ones((1, 12)), np.array([-1.0]))
    solution = solve(small_problem(constraints=limits))
    assert solution.status is Status.INFEASIBLE
    assert solution.report.method == "branch-and-bound"
    assert len(solution.support) == 0


def test_options_reach_the_method():
    """A limit that is given is kept."""
    solution = solve(hard_problem(), options=Options(gap=0.0, node_limit=10))
    assert solution.status is Status.NODE_LIMIT
    assert 0 < solution.bound < solution.loss


# --- the start ------------------------------------------------------------------------------------


@METHODS
def test_a_start_may_be_a_solution_or_positions(method):
    """Feasible or not, a start never makes an exact answer worse."""
    problem = small_problem()
    first = solve(problem, method, Options(gap=0.0))
    infeasible = Solution.infeasible(Report("test", "asked for", 0.0, 0.0))
    for start in (
        first,
        first.support,
        first.support[::-1].tolist(),
        [0],
        [],
        range(12),
        infeasible,
    ):
        again = solve(problem, method, Options(gap=0.0), start=start)
        if method == "coordinate-descent":
            assert problem.is_feasible(again.support)
        else:
            assert again.loss == pytest.approx(first.loss, rel=1e-9)


def test_a_start_is_a_set_of_positions():
    """They come in ascending order, whatever their type, and a repeated one counts once."""
    for start in ([7, 2, 7], np.array([7, 2], dtype=np.uint8), (2, 7)):
        found = methods.start_positions(small_problem(), start)
        assert found.tolist() == [2, 7]
        assert found.dtype == np.int64


def test_a_start_is_where_branch_and_bound_begins():
    """Given the optimum of a problem that local search misses, no better one is ever found."""
    problem = hard_problem(m=20, k=5, seed=4, gamma=100.0)
    problem = problem.at(int(0.6 * problem.max_stability_unlimited))
    best, support = brute_force(problem)
    losses = []
    options = Options(gap=0.0, progress=lambda now: losses.append(now.loss))
    solve(problem, options=options, start=support)
    assert losses == [pytest.approx(best)] * len(losses)
    assert losses


@METHODS
@pytest.mark.parametrize("start", [[0, 1, 12], [-1, 0, 1]])
def test_a_start_with_positions_that_do_not_exist_is_refused(method, start):
    """The message has the position and the range."""
    with pytest.raises(InvalidParameter, match=r"position (12|-1); positions go from 0 to 11\."):
        solve(small_problem(), method, start=start)


@pytest.mark.parametrize("start", [[[0, 1, 2]], [0.5, 1.0], ["a"], 3, [np.nan], [True, False]])
def test_a_start_that_is_no_list_of_positions_is_refused(start):
    """Shares, names and masks are not positions."""
    with pytest.raises(InvalidParameter, match="start must be a solution, or a list of positions"):
        solve(small_problem(), start=start)


def test_the_solution_of_a_neighbouring_floor_is_a_start():
    """Along a sequence of floors the optimum of each is found from that of the last."""
    for seed in range(30):
        problem, solution = wild_problem(seed, strongest=3), None
        for share in (1.0, 0.8, 0.5, 0.9):
            here = problem.at(int(share * problem.max_stability_unlimited))
            solution = solve(here, options=Options(gap=0.0), start=solution)
            best, _ = brute_force(here)
            assert solution.loss <= best * (1 + 1e-9) + 1e-12 * problem.statistics.yy
            assert replace(solution).verify(here).passed


def test_a_solution_of_a_larger_problem_is_no_start():
    """Its dual point is of rules that are not there, even where its selection is not."""
    large = hard_problem(m=30, k=3, gamma=10.0)
    solution = solve(large, options=Options(gap=0.0))
    support = np.arange(3)
    solution = replace(solution, support=support)
    assert solution.dual.rules.max() >= 12
    problem = small_problem()
    again = solve(problem, options=Options(gap=0.0), start=solution)
    assert again.loss == pytest.approx(brute_force(problem)[0])


def test_a_dual_point_that_proves_nothing_is_no_start():
    """Negative prices would make every bound from there on false."""
    problem = hard_problem(m=20, k=5, gamma=10.0)
    solution = solve(problem, options=Options(gap=0.0))
    for change in ({"mu": -10.0}, {"lam": -10.0}, {"weights": solution.dual.weights * np.nan}):
        start = replace(solution, dual=replace(solution.dual, **change))
        again = solve(problem.at(90), options=Options(gap=0.0), start=start)
        best, _ = brute_force(problem.at(90))
        assert again.bound <= best * (1 + 1e-12)
        assert again.loss == pytest.approx(best)


# --- a known bound --------------------------------------------------------------------------------


@METHODS
def test_a_known_bound_counts(method):
    """What is known of the problem is not proven again, and not taken back."""
    problem = small_problem()
    best = brute_force(problem)[0]
    solution = solve(problem, method, Options(gap=0.0), bound=best * (1 - 1e-9))
    assert best * (1 - 1.1e-9) <= solution.bound <= solution.loss
    assert solve(problem, method, bound=1e-6 * best).bound <= best * (1 + 1e-12)


def test_a_known_bound_saves_nodes():
    """From the optimum and its bound there is nothing left to search."""
    problem = hard_problem()
    first = solve(problem, options=Options(gap=1e-3))
    again = solve(problem, options=Options(gap=2e-3), start=first, bound=first.bound)
    assert first.report.counters["nodes"] > 100
    assert again.report.counters["nodes"] == 0
    assert again.status is Status.OPTIMAL
    assert again.gap <= 2e-3


@pytest.mark.parametrize("bound", [-1.0, np.nan, "1"])
def test_a_bound_that_is_none_is_refused(bound):
    """It is a number that is not negative."""
    with pytest.raises(InvalidParameter, match="bound"):
        solve(small_problem(), bound=bound)


def test_the_example_in_the_documentation_is_true():
    """What the docstring shows is what happens."""
    results = doctest.testmod(methods)
    assert results.attempted >= 7
    assert results.failed == 0
