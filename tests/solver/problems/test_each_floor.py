import pickle

import numpy as np
import pytest

from mossrules.exceptions import InfeasibleProblem, InvalidParameter
from mossrules.solver import (
    LinearConstraints,
    LogisticProblem,
    Options,
    Problem,
    Status,
    near_optimal,
    solve,
)
from support.cases import hard_problem
from support.each_floor_cases import (
    EXACT,
    all_pairs,
    check_solution,
    least_loss,
    logistic_each,
    squared_each,
)
from support.oracles import brute_force_pool, plain_stability

COUNTS = np.array([9, 7, 7, 4, 1, 0])


def small(**settings):
    """Return a problem of six rules in 9, 7, 7, 4, 1 and 0 trees, with a floor on each."""
    rng = np.random.default_rng(0)
    M = rng.normal(size=(30, 6))
    settings = {"max_rules": 3, "gamma": 1.0, "floor": "each", **settings}
    return Problem.from_matrix(M, M @ [1.0, 1, 1, 2, 3, 4], COUNTS, **settings)


# --- against every selection there is -------------------------------------------------------------


@pytest.mark.parametrize("block", range(9))
def test_the_best_selection_of_numbers_is_found_and_proven(block):
    """Squared loss, with and without centred columns, signs, fixings and limits."""
    for seed in range(25 * block, 25 * (block + 1)):
        check_solution(squared_each(seed))


@pytest.mark.parametrize("block", range(4))
def test_the_best_selection_of_classes_is_found_and_proven(block):
    """Logistic loss, with and without signs, fixings and limits."""
    for seed in range(25 * block, 25 * (block + 1)):
        rows, problem = logistic_each(seed)
        check_solution(problem, rows)


@pytest.mark.parametrize("master", ["highs", "scip", "gurobi"])
def test_every_master_of_the_cutting_plane_finds_it(master):
    """The cutting plane is given the same problem as branch and bound."""
    if master != "highs":
        pytest.importorskip({"scip": "pyscipopt", "gurobi": "gurobipy"}[master])
    for seed in range(200, 220):
        check_solution(squared_each(seed), None, "cutting-plane", Options(gap=0.0, master=master))


def test_threads_make_no_difference_to_the_optimum():
    """Two threads search the same problem."""
    for seed in range(220, 230):
        check_solution(squared_each(seed), options=Options(gap=0.0, threads=2))


def test_the_approximate_algorithm_keeps_to_the_floor():
    """Every rule of a heuristic selection reaches it, and its bound holds."""
    for seed in range(40):
        problem = squared_each(seed, limited=False)
        if problem.signs is not None:
            continue
        solution = solve(problem, "coordinate-descent")
        support = solution.support.tolist()
        assert solution.status is Status.HEURISTIC
        assert plain_stability(problem, support) == solution.stability >= problem.min_stability
        assert solution.bound <= least_loss(all_pairs(problem), problem.min_stability) + 1e-9
        assert solution.verify(problem).passed


def test_a_near_optimal_list_is_complete_and_of_rules_above_the_floor():
    """It is the list by brute force, and has the stability of this floor."""
    for seed in range(60):
        problem = squared_each(seed, limited=False, most_rules=8)
        if problem.signs is not None:
            continue
        found = near_optimal(problem, 0.1, 100_000)
        expected, losses = brute_force_pool(problem, 0.1)
        assert sorted(tuple(each.tolist()) for each in found) == sorted(expected)
        assert found.stabilities.tolist() == [plain_stability(problem, S) for S in found]
        np.testing.assert_allclose(found.losses, losses, rtol=1e-9, atol=1e-12)


# --- definitions ----------------------------------------------------------------------------------


def test_stability_is_the_count_of_the_least_frequent_rule():
    """Of no rule it is the largest count, so that no rules meet every floor."""
    problem = small()
    assert problem.stability([0, 3, 1]) == 4
    assert problem.stability([]) == 9
    assert problem.at(5).is_feasible([0, 1])
    assert problem.at(9).is_feasible([])
    assert not problem.at(5).is_feasible([0, 3])


def test_the_largest_stability_is_that_of_the_most_frequent_rules():
    """It is the k-th largest count, ties or not, of the rules that may be selected."""
    assert small().max_stability == 7
    assert small(max_rules=4).max_stability == 4
    assert small(max_rules=50).max_stability == 0
    assert small(fixed_out=[0, 2]).max_stability == 1
    assert small().most_stable.tolist() == [0, 1, 2]


def test_rules_that_are_fixed_in_are_exempt():
    """A rule that was asked for by name takes a place, and no floor keeps it out."""
    problem = small(fixed_in=[5])
    assert problem.max_stability == 7
    assert problem.stability([0, 5]) == 9
    assert solve(problem.at(7), options=EXACT).support.tolist()[-1] == 5
    everything = small(fixed_in=[3, 4, 5])
    assert solve(everything.at(9), options=EXACT).support.tolist() == [3, 4, 5]


def test_under_limits_the_largest_stability_is_of_as_many_rules_as_they_allow():
    """At most one of the three most frequent rules leaves the next ones to fill the places."""
    one = LinearConstraints([[1, 1, 1, 0, 0, 0]], [1])
    assert small(constraints=one).max_stability == 1
    assert small(max_rules=2, constraints=one).max_stability == 4
    none = LinearConstraints([[1, 1, 1, 1, 1, 1.0]], [0])
    assert small(constraints=none).max_stability == 9
    never = LinearConstraints([[0, 0, 0, 0, 0, 0.0]], [-1])
    assert small(constraints=never).max_stability == 0


def test_the_largest_stability_under_limits_is_that_of_trying_everything():
    """Of the selections with the most rules, the largest of the least counts."""
    for seed in range(60):
        problem = squared_each(seed, limited=True, most_rules=8).at(0)
        sets = [S for S in _selections(problem) if problem.is_feasible(S)]
        if not sets:
            assert problem.max_stability == 0
            continue
        most = max(len(S) for S in sets)
        best = max(plain_stability(problem, S) for S in sets if len(S) == most)
        assert problem.max_stability == best


def _selections(problem):
    for code in range(2**problem.m):
        yield [i for i in range(problem.m) if code >> i & 1]


def test_floors_above_the_largest_stability_leave_fewer_rules():
    """They may be asked for up to the largest count, above which there is nothing to ask."""
    solution = solve(small().at(8), options=EXACT)
    assert solution.support.tolist() == [0]
    assert solution.stability == 9
    with pytest.raises(InfeasibleProblem, match="no rule is in more than 9 trees"):
        small().at(10)


def test_where_no_rule_is_left_the_answer_is_no_rule():
    """Of classes and of numbers, by every method, with and without limits."""
    for method in ("branch-and-bound", "cutting-plane", "coordinate-descent"):
        solution = solve(small(fixed_out=[0]).at(9), method)
        assert len(solution.support) == 0
        assert solution.stability == 9
        assert solution.gap == 0.0
        assert solution.verify(small(fixed_out=[0]).at(9)).complete
    active = [[1, 0], [1, 0], [0, 1], [0, 1.0]]
    settings = {"max_rules": 1, "fixed_out": [0], "floor": "each"}
    classes = LogisticProblem.from_matrix(active, [1, 0, 0, 1], [5, 3], **settings)
    solution = solve(classes.at(5))
    assert len(solution.support) == 0
    assert solution.verify(classes.at(5)).complete
    assert [len(each) for each in near_optimal(classes.at(5))] == [0]
    one = LinearConstraints([[-1, -1.0]], [-1])
    limited = LogisticProblem.from_matrix(
        active, [1, 0, 0, 1], [5, 3], constraints=one, min_stability=5, **settings
    )
    assert solve(limited).status is Status.INFEASIBLE


def test_the_sum_problem_has_the_same_selections():
    """Rules below the floor are fixed out, the floor is gone, and what was cached is new."""
    problem = small(fixed_in=[4]).at(5)
    assert problem.free.tolist() == [0, 1, 2, 3, 5]
    same = problem.as_sum()
    assert (same.floor, same.min_stability, same.fixed_out) == ("sum", 0, (3, 5))
    assert same.free.tolist() == problem.possible_rules().tolist()[:3] == [0, 1, 2]
    assert problem.floor == "each"
    assert problem.fixed_out == ()
    assert same.as_sum() is same


def test_blanks_do_not_lower_the_stability():
    """A padded problem has the same largest stability, and the same one of filled selections."""
    problem = small(constraints=LinearConstraints([[1, 1, 1, 1, 1, 1.0]], [2]))
    padded = problem.padded()
    assert padded.max_stability == problem.max_stability == 7
    assert padded.stability(padded.filled(np.array([0, 3]))) == 4


def test_a_restricted_problem_keeps_its_kind_of_floor():
    """What depends on the rules that are left is found again."""
    left = small().restricted([0], None)
    assert (left.floor, left.max_stability) == ("each", 4)


def test_problems_of_both_kinds_share_a_sum_that_is_as_before():
    """`with_floor` sets the floor to 0, and leaves the other problem as it was."""
    problem = small(floor="sum").at(20)
    assert problem.with_floor("each").max_stability == 7
    assert (problem.min_stability, problem.max_stability) == (20, 23)
    assert problem.with_floor("each").with_floor("sum").max_stability == 23


def test_a_problem_says_which_kind_of_floor_it_has():
    """That of the paper goes without saying."""
    assert repr(small().at(4)).endswith("min_stability=4 of 7, floor='each')")
    assert "floor" not in repr(small(floor="sum"))


def test_another_kind_of_floor_is_refused():
    """There are two."""
    with pytest.raises(InvalidParameter, match="floor is 'any'; choose from 'sum', 'each'"):
        small(floor="any")
    with pytest.raises(InvalidParameter, match="floor is 'any'"):
        small().with_floor("any")


def test_problems_that_were_saved_before_have_the_paper_s_floor():
    """A pickled problem without the field is one of the sum."""
    problem = small(floor="sum").at(5)
    del vars(problem)["floor"]
    loaded = pickle.loads(pickle.dumps(problem))  # noqa: S301  our own bytes
    assert loaded.floor == "sum"
    assert loaded.stability([0, 1]) == 16


# --- certificates ---------------------------------------------------------------------------------


def test_verification_tells_the_two_kinds_apart():
    """A solution of one kind of floor is not one of the other."""
    problem = hard_problem(m=12, k=3, floor="each")
    problem = problem.at(problem.max_stability // 2)
    solution = solve(problem, options=EXACT)
    assert solution.verify(problem).passed
    wrong = solution.verify(problem.with_floor("sum").at(problem.min_stability))
    assert "stability" in [check.name for check in wrong.checks if not check.passed]


def test_verification_says_how_many_rules_the_floor_leaves_out():
    """With a floor on each rule, those of fewer counts; with one on the sum, what that decides."""
    problem = hard_problem(m=12, k=3, floor="each")
    problem = problem.at(problem.max_stability // 2)
    below = np.count_nonzero(problem.counts < problem.min_stability)
    assert below > 0
    text = str(solve(problem, options=EXACT).verify(problem))
    words = f"fixed by the floor: 0 rules in, {below} out (in fewer than {problem.min_stability} "
    assert f"{words}trees)\n" in text
    summed = problem.with_floor("sum").at(3)
    text = str(solve(summed, options=EXACT).verify(summed))
    assert "fixed by the floor: 0 rules in, 0 out\n" in text


def test_verification_refutes_a_bound_that_a_rule_above_the_floor_beats():
    """Only exchanges for rules that reach the floor count against a bound."""
    problem = hard_problem(m=12, k=3, floor="each")
    low, high = problem.at(0), problem.at(problem.max_stability)
    stable = solve(high, options=EXACT)
    assert stable.verify(high).passed
    checks = {check.name: check.passed for check in stable.verify(low).checks}
    assert not checks["neighbours"]
