import numpy as np
import pytest

from mossrules.exceptions import InvalidParameter
from mossrules.frontier import Frontier, approximate_frontier, solve_frontier
from mossrules.solver import LinearConstraints, Options, Status, solve
from mossrules.solver.search.logistic import LogisticTree
from support.cases import hard_classes
from support.oracles import (
    brute_force_logistic,
    fit_by_scipy,
    random_class_rows,
    random_logistic_problem,
)


@pytest.fixture(scope="module")
def hard():
    """Return a problem that the root does not solve."""
    problem = hard_classes()
    return problem.at(int(0.6 * problem.max_stability_unlimited))


@pytest.mark.slow
def test_200_small_problems_have_the_optimum_of_brute_force():
    """With floors, fixings, signs and weights: the optimum to 1e-6, and never a bound above it."""
    for seed in range(200):
        rows, problem = random_logistic_problem(seed)
        solution = solve(problem, options=Options(gap=1e-8))
        best = brute_force_logistic(rows, problem)
        assert solution.status is Status.OPTIMAL, seed
        assert abs(solution.loss - best) <= 1e-6 * best, seed
        assert solution.bound <= best * (1 + 1e-9), seed
        assert solution.gap <= 1e-7, seed


def test_bounds_hold_at_every_step_and_a_limit_is_said(hard, monkeypatch):
    """Loss falls, the bound rises and never passes the optimum, and a cut-off search says so."""
    monkeypatch.setattr(LogisticTree, "quiet_seconds", 0.0)
    seen = []
    solution = solve(hard, options=Options(gap=0.0, progress=seen.append))
    assert solution.status is Status.OPTIMAL
    assert solution.report.counters["nodes"] > 20
    bounds = [snapshot.bound for snapshot in seen]
    assert bounds == sorted(bounds)
    assert all(bound <= solution.loss * (1 + 1e-9) for bound in bounds)
    short = solve(hard, options=Options(gap=0.0, node_limit=4))
    assert short.status is Status.NODE_LIMIT
    assert short.bound <= solution.loss <= short.loss
    assert short.gap > 0
    late = solve(hard, options=Options(gap=0.0, time_limit=1e-6))
    assert late.status is Status.TIME_LIMIT
    assert late.bound <= solution.loss <= late.loss


def test_methods_agree_and_solutions_stand_up_to_recomputation(hard):
    """The cutting plane shares no search with branch and bound, and proves the same optimum."""
    by_tree = solve(hard, options=Options(gap=1e-5))
    by_cuts = solve(hard, "cutting-plane", Options(gap=1e-2, root_cuts=40))
    roughly = solve(hard, "coordinate-descent")
    assert by_cuts.bound <= by_tree.loss * (1 + 1e-9)
    assert by_tree.bound <= by_cuts.loss * (1 + 1e-9)
    assert roughly.status is Status.HEURISTIC
    assert by_tree.loss * (1 - 1e-5) <= roughly.loss <= 1.05 * by_tree.loss
    assert roughly.bound <= by_tree.loss
    for solution in (by_tree, by_cuts, roughly):
        checked = solution.verify(hard)
        assert checked.passed, str(checked)


def limited_classes(seed):
    """Return rows and a problem with limits on rules, on groups, or on both, and maybe a floor."""
    rng = np.random.default_rng([seed, 2])
    rows = random_class_rows(seed, most_rules=7)
    m = len(rows.counts)
    A, b, groups = (rng.random((1, m)) < 0.5) * 1.0, [float(rng.integers(0, 3))], np.empty((0, 0))
    if rng.random() < 0.6:  # at most so many groups as well, of rules that overlap
        groups = rng.random((int(rng.integers(2, 4)), m)) < 0.5
        n = len(groups)
        A = np.block([[A, np.zeros((1, n))], [np.zeros((1, m)), np.ones((1, n))]])
        b.append(float(rng.integers(1, n + 1)))
    problem = rows.problem(
        max_rules=int(rng.integers(1, 4)),
        gamma=float(10 ** rng.uniform(-1, 1.5)),
        constraints=LinearConstraints(A, np.array(b), groups),
    )
    return rows, problem.at(int(rng.choice([0.0, 0.6]) * problem.max_stability_unlimited))


def test_limits_on_rules_and_groups_are_kept_by_branch_and_bound():
    """On 100 problems the optimum is that of brute force, or it is said that there is none."""
    for seed in range(100):
        rows, problem = limited_classes(seed)
        solution = solve(problem, options=Options(gap=1e-8))
        best = brute_force_logistic(rows, problem)
        assert solution.report.method == "branch-and-bound"
        if best == np.inf:
            assert solution.status is Status.INFEASIBLE, seed
            continue
        assert solution.status is Status.OPTIMAL, seed
        assert abs(solution.loss - best) <= 1e-6 * best, seed
        assert solution.bound <= best * (1 + 1e-9), seed
        assert solution.verify(problem).passed, str(solution.verify(problem))


def test_the_cutting_plane_keeps_limits():
    """Limits go straight to the master, which finds the optimum of brute force as well."""
    for seed in range(8):
        rows, problem = limited_classes(seed)
        solution = solve(problem, "cutting-plane", Options(gap=1e-8))
        best = brute_force_logistic(rows, problem)
        assert solution.loss == best == np.inf or solution.loss == pytest.approx(best, rel=1e-6)


def test_the_frontier_is_that_of_brute_force_and_survives_json():
    """Floors learn from each other, each is proven, and the intercept is kept."""
    rows, problem = random_logistic_problem(11)
    problem = rows.problem(max_rules=2, gamma=1.0)
    frontier = solve_frontier(problem, epsilons="complete")
    assert frontier.complete
    for entry in frontier.entries:
        expected = brute_force_logistic(rows, problem.at(entry.floor))
        assert entry.solution.loss == pytest.approx(expected, rel=1e-8)
    again = Frontier.from_json(frontier.to_json())
    assert [each.intercept for each in again] == [each.intercept for each in frontier]
    assert frontier.null_loss == pytest.approx(problem.loss(np.array([], dtype=np.int64)))


def test_what_is_for_the_squared_loss_says_so():
    """The approximate frontier takes no other loss, nor descent limits."""
    rows, problem = limited_classes(0)
    with pytest.raises(InvalidParameter, match="for the squared loss"):
        approximate_frontier(rows.problem())
    with pytest.raises(InvalidParameter, match="keeps no limits such as AtMostFeatures"):
        solve(problem, "coordinate-descent")


def test_two_threads_do_the_same_each_time(hard):
    """Both children are relaxed at once: nodes do not depend on which thread is the faster."""
    options = Options(gap=1e-4, threads=2)
    first, second, single = solve(hard, options=options), solve(hard, options=options), solve(hard)
    assert first.report.counters == second.report.counters
    assert (first.bound, first.loss) == (second.bound, second.loss)
    assert first.bound <= single.loss * (1 + 1e-9)
    assert single.bound <= first.loss * (1 + 1e-9)


def test_an_interrupt_ends_with_what_there_is(hard, monkeypatch):
    """Ctrl-C, here from the callback, leaves a selection and a bound that holds."""
    monkeypatch.setattr(LogisticTree, "quiet_seconds", 0.0)

    def interrupt(snapshot):
        if snapshot.steps > 10:
            raise KeyboardInterrupt

    exact = solve(hard, options=Options(gap=0.0))
    for threads in (1, 2):
        stopped = solve(hard, options=Options(gap=0.0, threads=threads, progress=interrupt))
        assert stopped.status is Status.INTERRUPTED
        assert stopped.bound <= exact.loss * (1 + 1e-9)
        assert exact.loss <= stopped.loss * (1 + 1e-9)


def test_weights_and_intercept_are_those_of_the_fit():
    """A solution's log-odds are intercept plus weights, as scipy finds them."""
    rows, problem = random_logistic_problem(23)
    solution = solve(problem)
    expected = fit_by_scipy(rows, solution.support, problem.gamma, problem.signs).x
    np.testing.assert_allclose(solution.weights, expected[:-1], atol=1e-4)
    assert solution.intercept == pytest.approx(rows.base + expected[-1], abs=1e-4)
