from dataclasses import replace

import numpy as np
import pytest

from mossrules.solver import LinearConstraints, Options, Problem, Solution, Status, solve
from mossrules.solver.bounds.duality import DualPoint
from mossrules.solver.bounds.verification import Check, Verification
from mossrules.solver.result import Report
from support.cases import hard_problem, wild_problem

METHODS = pytest.mark.parametrize(
    "method", ["branch-and-bound", "cutting-plane", "coordinate-descent"]
)


@pytest.fixture(scope="module")
def problem():
    """Return a problem that the root does not solve."""
    problem = hard_problem(m=20, k=5, gamma=0.05)
    return problem.at(int(0.8 * problem.max_stability_unlimited))


@pytest.fixture(scope="module")
def solution(problem):
    """Return its optimum."""
    return solve(problem, options=Options(gap=0.0))


def failed(verification):
    """Return the names of the checks that did not pass."""
    return {check.name for check in verification.checks if not check.passed}


# --- solutions that are right ---------------------------------------------------------------------


@METHODS
def test_solutions_pass(method, problem):
    """What each method returns stands up to recomputation, and what it rests on is named."""
    solution = solve(problem, method, Options(gap=1e-4))
    verification = solution.verify(problem)
    assert verification.passed, str(verification)
    rests = method != "coordinate-descent"  # whose bound is what its dual point proves
    assert len(verification.unchecked) == rests
    assert verification.complete != rests
    if rests:
        assert method in verification.unchecked[0]
        assert solution.status.value in verification.unchecked[0]


@pytest.mark.parametrize("gap", [0.0, 1e-3, 0.1])
def test_solutions_of_wild_problems_pass(gap):
    """Tiny losses, huge targets and degenerate columns raise no false alarm."""
    complete = 0
    for seed in range(300):
        problem = wild_problem(seed)
        verification = solve(problem, options=Options(gap=gap)).verify(problem)
        assert verification.passed, f"{seed}: {verification}"
        complete += verification.complete
    assert 100 < complete < 300


def test_the_cutting_plane_leaves_what_its_master_leaves():
    """A master that is asked for no gap proves the optimum to its own tolerance, and passes."""
    for seed in range(30):
        problem = wild_problem(seed, strongest=2)
        solution = solve(problem, "cutting-plane", Options(gap=0.0))
        assert solution.verify(problem).passed


@pytest.mark.parametrize("limit", [{"time_limit": 1e-6}, {"node_limit": 2}], ids=["time", "nodes"])
def test_a_limited_solution_passes_without_its_gap(limit):
    """Only a solution that says it is optimal has to have the gap asked for."""
    problem = hard_problem()
    solution = solve(problem, options=Options(gap=0.0, **limit))
    assert solution.status is not Status.OPTIMAL
    verification = solution.verify(problem)
    assert verification.passed
    assert "gap" not in {check.name for check in verification.checks}
    wrong = replace(solution, status=Status.OPTIMAL).verify(problem)
    assert failed(wrong) == {"gap"}


def test_the_highest_floor_is_proven_completely():
    """Where the floor leaves one selection, its dual point proves all there is to prove."""
    problem = hard_problem(m=20, k=5)
    counts = np.arange(40, 0, -2)
    statistics = replace(problem.statistics, counts=counts)
    problem = Problem(statistics, max_rules=5, min_stability=int(counts[:5].sum()))
    verification = solve(problem).verify(problem)
    assert verification.complete
    assert "5 rules in, 15 out" in str(verification)
    assert "not checked" not in str(verification)


def test_a_root_that_needs_no_tree_is_proven_completely():
    """With a weak ridge parameter the relaxation is tight enough for the gap, and checkable."""
    problem = hard_problem(m=20, k=5, gamma=1e-4)
    solution = solve(problem, options=Options(gap=0.01))
    assert solution.report.counters["nodes"] == 0
    assert solution.verify(problem).complete


def test_fixed_rules_and_limits_are_part_of_what_is_checked():
    """Neighbours that break a limit or drop a fixed rule refute nothing."""
    problem = hard_problem(m=16, k=4, gamma=0.05, fixed_in=[3], fixed_out=[4, 5])
    limits = LinearConstraints(np.ones((1, 16)) * (np.arange(16) < 8), np.array([2.0]))
    assert solve(problem).verify(problem).passed
    limited = replace(problem, constraints=limits)
    solution = solve(limited, options=Options(gap=0.0))
    assert solution.verify(limited).passed
    assert solution.loss > solve(problem).loss * 1.001
    # Without the limits, there are neighbours below the bound, and nothing for prices to price.
    assert failed(solution.verify(problem)) == {"neighbours", "dual point"}


def test_an_infeasible_problem_rests_on_the_method():
    """That there is no selection cannot be recomputed, and is not said to be."""
    report = Report("cutting-plane", "asked for", 0.1, 0.0)
    verification = Solution.infeasible(report).verify(hard_problem())
    assert verification.passed
    assert not verification.complete
    assert str(verification) == (
        "not checked: that nothing is feasible rests on the cutting-plane method"
    )


def test_text_has_a_line_for_every_check():
    """Failures stand out, and what was not checked comes last."""
    checks = (Check("loss", True, "fine"), Check("bound", False, "too high"))
    verification = Verification(checks, ("the rest",))
    assert str(verification) == "ok    loss: fine\nFAIL  bound: too high\nnot checked: the rest"
    assert (verification.passed, verification.complete) == (False, False)


# --- solutions that are wrong ---------------------------------------------------------------------


@pytest.mark.parametrize("factor", [0.999, 1.001, np.nan])
def test_a_wrong_loss_is_found(problem, solution, factor):
    """The loss is recomputed from the rules."""
    assert "loss" in failed(replace(solution, loss=factor * solution.loss).verify(problem))


def test_a_wrong_stability_is_found(problem, solution):
    """One count more is one too many."""
    wrong = replace(solution, stability=solution.stability + 1)
    assert failed(wrong.verify(problem)) == {"stability"}


def test_wrong_weights_are_found(problem, solution):
    """A weight that is off by a millionth, or missing, is no solution of the ridge equations."""
    for weights in (solution.weights * (1 + 1e-6), solution.weights[:-1], -solution.weights):
        assert failed(replace(solution, weights=weights).verify(problem)) == {"weights"}


@pytest.mark.parametrize(
    "change", ["below the floor", "too many", "fixed out", "fixed in", "twice", "not there"]
)
def test_a_selection_against_the_conditions_is_found(problem, solution, change):
    """Whatever condition the rules break, they do not pass, and nothing is raised."""
    support = solution.support
    least = np.argsort(problem.statistics.counts, kind="stable")[:5]
    other = np.setdiff1d(np.arange(20), support)[0]
    if change == "fixed out":
        problem = replace(problem, fixed_out=support[:1], min_stability=0)
    elif change == "fixed in":
        problem = replace(problem, fixed_in=[other], min_stability=0)
    support = {
        "below the floor": np.sort(least),
        "too many": np.sort(np.append(support, other)),
        "twice": np.append(support[:-1], support[0]),
        "not there": np.append(support[:-1], 20),
    }.get(change, support)
    wrong = replace(solution, support=support).verify(problem)
    assert "conditions" in failed(wrong)
    assert not wrong.passed


def test_a_selection_of_no_rules_of_the_problem_leaves_the_rest_unchecked(problem, solution):
    """Negative positions would be read from the end."""
    wrong = replace(solution, support=solution.support - 20).verify(problem)
    assert failed(wrong) == {"conditions"}
    assert wrong.unchecked == ("all other figures: they belong to other rules",)


def test_a_bound_above_the_loss_is_found(problem, solution):
    """It refutes itself."""
    wrong = replace(solution, bound=solution.loss * 1.001).verify(problem)
    assert "bound" in failed(wrong)


def test_a_bound_above_the_loss_of_a_neighbour_is_found(problem, solution):
    """A selection that one exchange improves cannot be optimal."""
    for j in np.setdiff1d(np.arange(20), solution.support):
        support = np.sort(np.append(solution.support[1:], j))
        if problem.is_feasible(support):
            break
    report = solution.report
    worse = Solution.of(problem, support, np.inf, Status.OPTIMAL, report, dual=solution.dual)
    assert worse.loss > solution.loss * 1.001
    assert failed(worse.verify(problem)) == {"neighbours"}
    honest = replace(worse, bound=solution.bound, status=Status.TIME_LIMIT)
    assert honest.verify(problem).passed


def test_a_gap_that_was_not_reached_is_found(problem, solution):
    """A solution is optimal to within what was asked, or it is not."""
    wrong = replace(solution, bound=0.99 * solution.loss)
    assert failed(wrong.verify(problem)) == {"gap"}
    rough = replace(wrong, report=replace(solution.report, asked_gap=0.011))
    assert rough.verify(problem).passed


def test_a_false_bound_of_the_dual_point_is_found(problem, solution):
    """What the point proves is recomputed, and not more than that is taken as proven."""
    dual = solution.dual
    for changed in (
        replace(dual, bound=dual.bound * 1.001),
        replace(dual, weights=dual.weights * 1.01),
        replace(dual, lam=dual.lam * 1.1),
        replace(dual, mu=dual.mu + 1.0),
    ):
        wrong = replace(solution, dual=changed).verify(problem)
        assert failed(wrong) == {"bound of the dual point"}
        assert not wrong.complete


def test_a_dual_point_that_is_none_is_found(problem, solution):
    """Negative multipliers prove nothing, nor do rules that are not there."""
    dual = solution.dual
    for changed in (
        replace(dual, lam=-1.0),
        replace(dual, mu=np.nan),
        replace(dual, rules=dual.rules + 20),
        replace(dual, weights=dual.weights[1:]),
        replace(dual, fixed_in=np.array([-1])),
        replace(dual, fixed_out=np.array([20])),
    ):
        wrong = replace(solution, dual=changed).verify(problem)
        assert failed(wrong) == {"dual point"}
        assert len(wrong.unchecked) == 1


def tight_problem():
    """Return a problem whose floor decides some rules and leaves others open."""
    rng = np.random.default_rng(0)
    M, y = rng.normal(size=(30, 6)), rng.normal(size=30)
    return Problem.from_matrix(M, y, [9, 7, 4, 3, 3, 1], max_rules=3, min_stability=18, gamma=1.0)


@pytest.mark.parametrize(
    ("inside", "outside", "right"),
    [
        ([0], [5], True),
        ([], [5], True),
        ([0], [], True),
        ([0, 1], [5], True),
        ([0, 2], [5], False),
        ([0], [4, 5], False),
        ([2], [], False),
        ([5], [], False),
        ([], [0], False),
    ],
)
def test_fixings_have_to_follow_from_the_floor(inside, outside, right):
    """A dual point may use what the floor decides, and nothing else."""
    problem = tight_problem()
    solution = solve(problem, options=Options(gap=0.0))
    w = np.zeros(6)
    w[solution.support] = solution.weights
    dual = DualPoint.at(
        problem, w, 0.1, 0.1, fixed_in=np.array(inside, int), fixed_out=np.array(outside, int)
    )
    verification = replace(solution, dual=dual).verify(problem)
    assert failed(verification) == (set() if right else {"fixed by the floor"})
    assert not verification.complete


def test_a_rule_that_is_fixed_out_is_not_fixed_in_by_the_floor():
    """However large its count, it does not help to meet the floor."""
    for k in (3, 5):
        problem = replace(tight_problem(), fixed_out=[0], min_stability=8, max_rules=k)
        solution = solve(problem, options=Options(gap=0.0))
        dual = DualPoint.at(problem, np.zeros(6), 0.0, 0.0, fixed_in=np.array([0]))
        wrong = replace(solution, dual=dual).verify(problem)
        assert failed(wrong) == {"fixed by the floor"}


def test_statistics_of_no_columns_are_found(problem, solution):
    """Without columns that have them as products, duality proves nothing."""
    s = problem.statistics
    G = s.G.copy()
    i, j, k = solution.support[:3]
    size = np.sqrt(np.diagonal(G))
    for a, b, sign in ((i, j, 1), (j, k, 1), (i, k, -1)):  # no three columns are so related
        G[a, b] = G[b, a] = sign * 0.9 * size[a] * size[b]
    wrong = replace(problem, statistics=replace(s, G=G))
    assert "statistics" in failed(solution.verify(wrong))
    assert "statistics" not in failed(solution.verify(problem))
