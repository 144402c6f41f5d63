from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mossrules.exceptions import InvalidParameter
from mossrules.frontier import solve_frontier
from mossrules.solver import LinearConstraints, LogisticProblem, Options, Problem, Status, solve
from mossrules.solver.bounds.constraint_duals import constraint_multipliers
from mossrules.solver.bounds.duality import Cut, dual_bound
from mossrules.solver.options import Clock
from mossrules.solver.search.group_branching import solve_constrained
from mossrules.solver.search.instance import Instance
from support.cases import hard_problem, limited_problem
from support.oracles import brute_force_limited, keeps_limits, signed_loss

SEEDS = st.integers(0, 10**6)


def check_against_brute_force(problem, method):
    """Compare a solution at gap 0 with the best of all selections."""
    best, support = brute_force_limited(problem)
    solution = solve(problem, method, Options(gap=0.0))
    if support is None:
        assert solution.status is Status.INFEASIBLE
        return
    slack = 1e-9 * problem.statistics.yy
    assert solution.status is Status.OPTIMAL
    assert solution.loss == pytest.approx(best, rel=1e-6, abs=slack)
    assert solution.bound <= best + slack
    assert keeps_limits(problem, solution.support)
    assert signed_loss(problem, solution.support) == pytest.approx(solution.loss, abs=slack)
    if problem.signs is not None:
        assert (problem.signs[solution.support] * solution.weights >= 0).all()
    assert solution.verify(problem).passed, str(solution.verify(problem))


@pytest.mark.parametrize("part", range(10))
def test_branch_and_bound_is_brute_force_under_limits_and_signs(part):
    """On 250 problems with every mixture of limits, the answer is the best of all selections."""
    for seed in range(25 * part, 25 * part + 25):
        check_against_brute_force(limited_problem(seed), "branch-and-bound")


@pytest.mark.parametrize("part", range(4))
def test_the_cutting_plane_is_brute_force_under_limits_and_signs(part):
    """On 60 such problems, the paper's algorithm finds the same."""
    for seed in range(1000 + 15 * part, 1015 + 15 * part):
        check_against_brute_force(limited_problem(seed), "cutting-plane")


@pytest.mark.parametrize("master", ["scip", "gurobi"])
def test_other_masters_take_groups_as_well(master):
    """SCIP and Gurobi find the same under limits on groups and signs."""
    pytest.importorskip({"scip": "pyscipopt", "gurobi": "gurobipy"}[master])
    for seed in range(2000, 2015):
        problem = limited_problem(seed)
        best, support = brute_force_limited(problem)
        solution = solve(problem, "cutting-plane", Options(gap=0.0, master=master))
        assert solution.has_selection == (support is not None)
        if support is not None:
            assert solution.loss == pytest.approx(best, rel=1e-6, abs=1e-9 * problem.statistics.yy)


# --- larger problems ------------------------------------------------------------------------------


def featured(problem, rng, p=6):
    """Return a matrix that gives each rule two of p features."""
    groups = np.zeros((p, problem.m), dtype=bool)
    for i in range(problem.m):
        groups[rng.permutation(p)[:2], i] = True
    return groups


@pytest.mark.parametrize("seed", range(4))
def test_two_methods_agree_where_brute_force_cannot_go(seed):
    """At most two rules per feature and four features: the cutting plane agrees to the gap."""
    problem = hard_problem(m=24, k=5, seed=seed, gamma=0.02)
    groups = featured(problem, np.random.default_rng(seed))
    A = np.vstack([np.pad(groups, ((0, 0), (0, 6))), np.repeat([0.0, 1.0], [24, 6])])
    limits = LinearConstraints(A, np.append(np.full(6, 2.0), 4.0), groups)
    problem = replace(problem, constraints=limits, signs=np.resize([1, 0, -1], 24))
    for share in (0.0, 0.7):
        floored = problem.at(int(share * problem.stability(problem.most_stable_feasible)))
        a, b = (
            solve(floored, method, Options(gap=1e-6))
            for method in ("branch-and-bound", "cutting-plane")
        )
        assert a.loss == pytest.approx(b.loss, rel=1e-5)
        assert limits.holds(a.support)


def test_limits_are_kept_along_a_frontier():
    """Every floor has the selection that a single solve finds, and one too high has none."""
    problem = hard_problem(m=20, k=4, gamma=0.05)
    groups = featured(problem, np.random.default_rng(0))
    limits = LinearConstraints(np.repeat([[0.0, 1.0]], [20, 6], axis=1), np.array([2.0]), groups)
    problem = replace(problem, constraints=limits)
    top = problem.stability(problem.most_stable_feasible)
    assert top < problem.max_stability_unlimited
    floors = [top + 1, top, int(0.8 * top), int(0.5 * top)]
    frontier = solve_frontier(problem, floors, options=Options(gap=0.0))
    assert [entry.solution.status for entry in frontier.entries] == [
        Status.INFEASIBLE, Status.OPTIMAL, Status.OPTIMAL, Status.OPTIMAL,
    ]  # fmt: skip
    for entry in frontier.entries[1:]:
        alone = solve(problem.at(entry.floor), options=Options(gap=0.0))
        np.testing.assert_array_equal(entry.solution.support, alone.support)


def test_signs_are_kept_along_a_frontier():
    """Floors that share a tree find what brute force finds at each."""
    for seed in range(20):
        problem = replace(limited_problem(seed), constraints=None).at(0)
        signs = np.random.default_rng(seed).integers(-1, 2, problem.m)
        problem = replace(problem, signs=signs)
        floors = sorted(
            {int(s * problem.max_stability_unlimited) for s in (0, 0.5, 0.8, 1)}, reverse=True
        )
        for entry in solve_frontier(problem, floors, options=Options(gap=0.0)).entries:
            best, _ = brute_force_limited(problem.at(entry.floor))
            slack = 1e-9 * problem.statistics.yy
            assert entry.solution.loss == pytest.approx(best, rel=1e-6, abs=slack)


# --- bounds ---------------------------------------------------------------------------------------


@given(SEEDS)
@settings(deadline=None, max_examples=150)
def test_no_selection_is_below_the_bound_whatever_the_prices(seed):
    """Any weights, multipliers and prices prove a bound that brute force does not refute."""
    problem = limited_problem(seed)
    best, support = brute_force_limited(problem)
    assume(support is not None)
    rng = np.random.default_rng(seed)
    w = rng.normal(size=problem.m) * np.abs(problem.weights(np.arange(problem.m))).max()
    limits = None if problem.constraints is None else problem.constraints.on_rules
    prices = None if limits is None else rng.exponential(size=len(limits.b)) * best
    lam, mu = rng.exponential(size=2) * best * rng.integers(0, 2, 2)
    size = problem.statistics.yy + w @ problem.statistics.G @ w + best * problem.m * 40
    assert dual_bound(problem, w, lam, mu, prices=prices) <= best + 1e-9 * size


@pytest.mark.parametrize("seed", [1, 5, 12, 30])
def test_prices_prove_more_than_no_prices(seed):
    """The dual point is that of the linear program, above the bound that leaves limits aside."""
    problem = hard_problem(m=24, k=5, seed=seed, gamma=0.02)
    limits = LinearConstraints(featured(problem, np.random.default_rng(seed)), np.full(6, 1.0))
    limited = replace(problem, constraints=limits)
    cuts: list[Cut] = []
    dual = constraint_multipliers(limited, limited.most_stable_feasible, cuts)
    best = solve(limited, options=Options(gap=1e-6)).loss
    free = solve(problem, options=Options(gap=1e-6)).loss
    assert free < dual.bound < best
    assert (dual.prices > 0).any()
    assert cuts


# --- what goes with it ----------------------------------------------------------------------------


def test_blanks_make_up_the_number():
    """Where limits allow two rules of four, the instance has blanks for the others."""
    problem = hard_problem(m=12, k=4)
    limits = LinearConstraints(np.ones((1, 12)), np.array([2.0]))
    filled = replace(problem, constraints=limits).padded()
    assert filled.m == 16
    assert Instance.of(filled).rules_left == 4
    assert filled.is_feasible(filled.most_stable_feasible)
    assert len(filled.most_stable_feasible) == 4
    assert problem.padded() is problem


def test_a_time_limit_ends_the_search_with_a_bound():
    """What was found by then is feasible, and the bound is below it."""
    problem = hard_problem(m=60, k=8, gamma=1.0)
    groups = featured(problem, np.random.default_rng(0))
    problem = replace(problem, constraints=LinearConstraints(groups, np.full(6, 2.0)))
    solution = solve(problem, options=Options(gap=0.0, time_limit=1e-3))
    assert solution.status is Status.TIME_LIMIT
    assert problem.is_feasible(solution.support)
    assert solution.bound < solution.loss
    assert solution.verify(problem).passed


def test_ctrl_c_ends_the_search_with_what_it_has():
    """The best selection so far comes back, with a bound that holds."""
    problem = hard_problem(m=40, k=6, gamma=1.0)
    groups = featured(problem, np.random.default_rng(1))
    problem = replace(problem, constraints=LinearConstraints(groups, np.full(6, 2.0)))

    def interrupt(_snapshot):
        raise KeyboardInterrupt

    options = Options(gap=0.0, progress=interrupt)
    solution = solve(problem, options=options)
    assert solution.status is Status.INTERRUPTED
    assert problem.is_feasible(solution.support)
    assert 0 <= solution.bound <= solve(problem, options=Options(gap=1e-4)).loss


def test_groups_may_not_count_for_less_than_nothing():
    """With negative counts, u would not be the least that the links allow."""
    groups = np.ones((1, 3), dtype=bool)
    with pytest.raises(InvalidParameter, match="counts a group less than 0"):
        LinearConstraints(np.array([[0, 0, 0, -1.0]]), np.zeros(1), groups)
    with pytest.raises(InvalidParameter, match="a column for each rule and each group"):
        LinearConstraints(np.zeros((1, 3)), np.zeros(1), groups)
    limits = LinearConstraints(np.array([[0, 0, 0, 1.0]]), np.zeros(1), groups)
    assert repr(limits) == "LinearConstraints(1 limits with 1 groups)"
    assert limits.holds(np.empty(0, dtype=np.int64))
    assert not limits.holds(np.array([1]))


@pytest.mark.parametrize(
    ("signs", "said"),
    [
        ([1, 2, 0], "signs must be 3 numbers"),
        ([1, 0], "signs must be 3 numbers"),
        ("up", "signs is of type str; pass an array of numbers"),
    ],
    ids=str,
)
def test_signs_are_one_for_each_rule(signs, said):
    """Each is -1, 0 or 1; all 0 are none."""
    M = np.eye(3)
    with pytest.raises(InvalidParameter, match=said):
        Problem.from_matrix(M, np.arange(3.0), np.ones(3, dtype=int), signs=signs)
    assert (
        Problem.from_matrix(M, np.arange(3.0), np.ones(3, dtype=int), signs=[0, 0, 0]).signs is None
    )


def test_a_search_without_limits_is_not_for_here():
    """Whoever calls it without limits has made a mistake of their own."""
    with pytest.raises(AssertionError, match="no limits"):
        solve_constrained(hard_problem(), Options(), clock=Clock(None))


def test_classes_may_have_no_rule_left_in_a_choice_of_groups():
    """Where all rules that are not fixed out are of one feature, leaving it out leaves none."""
    active = [[1, 0, 1], [1, 0, 0], [0, 1, 1], [0, 1, 0], [1, 1, 0.0]]
    groups = [[True, True, False], [True, False, True]]
    limits = LinearConstraints([[0, 0, 0, 1, 1]], [1], groups)
    problem = LogisticProblem.from_matrix(
        active, [1, 1, 0, 0, 1], [5, 4, 3], max_rules=2, fixed_out=[1, 2], constraints=limits
    )
    solution = solve(problem, options=Options(gap=0.0))
    assert len(solution.support) == 0
    assert solution.loss == pytest.approx(problem.null_loss)
    assert solution.status is Status.OPTIMAL
