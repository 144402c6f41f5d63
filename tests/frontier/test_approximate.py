"""The approximate frontier against brute force, and odd problems for both kinds of frontier."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from mossrules.exceptions import InfeasibleProblem, InvalidParameter
from mossrules.frontier import (
    FrontierPoint,
    approximate_frontier,
    epsilon_sequence,
    excess_loss,
    solve_frontier,
)
from mossrules.frontier.tasks import share_bounds
from mossrules.solver import Options, Problem, Solution, Status, solve
from mossrules.solver.problems.squared import LinearConstraints
from mossrules.solver.result import Report
from support.cases import hard_problem
from support.oracles import (
    all_selections,
    brute_force,
    brute_force_frontier,
    brute_force_pool,
    plain_loss,
    random_problem,
)

EXACT = Options(gap=0.0, time_limit=None)
NOTED = Report("by hand", "asked for", 0.0, 0.1)
METHODS = ["branch-and-bound", "cutting-plane"]


def matrix_problem(seed, n=40, m=9, **settings):
    """Return columns, a target, and the problem that they make."""
    rng = np.random.default_rng(seed)
    M = (rng.random((n, m)) < 0.5) * rng.normal(size=m)
    y = M @ rng.normal(size=m) + rng.normal(size=n)
    settings = {"max_rules": 3, "gamma": 2.0, **settings}
    counts = settings.pop("counts", rng.integers(0, 30, m))
    return M, y, Problem.from_matrix(M, y, counts, **settings)


def ridge_loss(M, y, support, gamma):
    """Return the loss of a selection from the columns, by least squares with the ridge as rows."""
    rows = np.vstack([M[:, support], np.eye(len(support)) / np.sqrt(gamma)])
    target = np.concatenate([y, np.zeros(len(support))])
    w = np.linalg.lstsq(rows, target, rcond=None)[0]
    return 0.5 * float(((target - rows @ w) ** 2).sum())


def assert_valid(problem, frontier):
    """Check every floor of a frontier against brute force, whatever its status."""
    for entry in frontier.entries:
        here, solution = problem.at(entry.floor), entry.solution
        best, _ = brute_force(here)
        slack = 1e-9 * best + 1e-11 * problem.statistics.yy
        if not np.isfinite(solution.loss):  # nothing is feasible, or was found in time
            assert len(solution.support) == 0
            assert solution.bound <= best
            assert (solution.status is Status.INFEASIBLE) == (best == np.inf == solution.bound)
            continue
        assert here.is_feasible(solution.support)
        assert solution.stability == problem.statistics.counts[solution.support].sum()
        assert solution.loss == pytest.approx(plain_loss(problem, solution.support), abs=slack)
        assert 0.0 <= solution.bound <= best + slack
        assert best - slack <= solution.loss
        if solution.status is Status.OPTIMAL:
            assert solution.loss - solution.bound <= solution.report.asked_gap * best / max(
                1e-9, 1.0 - solution.report.asked_gap
            ) + 1e-6 * best + slack  # fmt: skip


def assert_complete(problem, frontier):
    """Check that a frontier has all the points that brute force finds."""
    expected = brute_force_frontier(problem)
    assert frontier.stability.tolist() == [stability for stability, _ in expected]
    losses = [loss for _, loss in expected]
    np.testing.assert_allclose(frontier.loss, losses, rtol=1e-8, atol=1e-11 * problem.statistics.yy)


# --- the approximate frontier ---------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(10))
def test_every_point_is_a_selection_with_its_own_loss_and_a_bound_that_holds(seed):
    """Feasible at its floor, the loss that the columns give, and nothing below the bound."""
    M, y, problem = matrix_problem(seed, gamma=[0.01, 2.0, 500.0][seed % 3])
    frontier = approximate_frontier(problem, points=15)
    assert frontier.entries
    for entry in frontier.entries:
        solution = entry.solution
        loss = ridge_loss(M, y, solution.support, problem.gamma)
        assert solution.loss == pytest.approx(loss, rel=1e-9)
        assert solution.status is Status.HEURISTIC
        assert entry.floor == solution.stability
        assert not entry.reused
        # Less what rounding may have added, which is next to nothing.
        proven = problem.safe_bound(solution.dual.bound)
        assert solution.dual.bound - 1e-9 * problem.null_loss <= proven <= solution.dual.bound
        assert solution.bound == min(max(0.0, proven), solution.loss)
        assert solution.verify(problem.at(entry.floor)).passed
    assert_valid(problem, frontier)
    assert not frontier.complete
    assert frontier.max_stability == problem.max_stability_unlimited
    assert frontier.null_loss == pytest.approx(0.5 * y @ y)


def test_degenerate_problems_have_valid_approximate_frontiers():
    """Zero, repeated and dependent columns, few rules, counts of zero."""
    for seed in range(40):
        problem = random_problem(seed, floor=0.0)
        assert_valid(problem, approximate_frontier(problem, points=8))


@pytest.mark.parametrize("seed", [0, 3, 37])  # the last two: one stability, several losses
def test_floors_are_distinct_and_each_has_the_best_of_the_path(seed):
    """Two prices that lead to the same stability leave one point, the one with less loss."""
    rng = np.random.default_rng(seed)
    M = (rng.random((60, 20)) < 0.4) * rng.normal(size=20)
    y = M @ rng.normal(size=20) + rng.normal(size=60)
    problem = Problem.from_matrix(M, y, rng.integers(1, 4, 20), max_rules=4, gamma=2.0)
    prices = [0.0, *np.geomspace(0.1, 100.0, 20)]
    best = {}
    for price in prices:
        (entry,) = approximate_frontier(problem, penalties=[price]).entries
        best[entry.floor] = min(entry.solution.loss, best.get(entry.floor, np.inf))
    found = approximate_frontier(problem, penalties=prices).entries
    assert [entry.floor for entry in found] == sorted(best, reverse=True)
    assert {entry.floor: entry.solution.loss for entry in found} == best


def test_a_price_above_everything_gives_the_most_stable_selection():
    """And no price at all the best fit that the method finds."""
    _, _, problem = matrix_problem(3)
    stable = approximate_frontier(problem, penalties=[1e9]).points[0]
    assert stable.stability == problem.max_stability_unlimited
    free = approximate_frontier(problem, penalties=[0.0]).points[0]
    assert free.loss < stable.loss


def test_fixed_rules_are_in_or_out_of_every_point():
    """Whatever the price of stability."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        fixed = rng.permutation(9)[:4]
        _, _, problem = matrix_problem(seed, fixed_in=fixed[:2], fixed_out=fixed[2:])
        frontier = approximate_frontier(problem, points=10)
        for entry in frontier.entries:
            assert set(fixed[:2]) <= set(entry.solution.support)
            assert not set(fixed[2:]) & set(entry.solution.support)
        assert_valid(problem, frontier)


def test_the_problems_own_floor_plays_no_part():
    """A frontier looks at all of them."""
    _, _, problem = matrix_problem(5)
    one, other = (approximate_frontier(problem.at(floor), points=10) for floor in (0, 40))
    assert one.stability.tolist() == other.stability.tolist()
    assert one.loss.tolist() == other.loss.tolist()


def test_excess_loss_is_that_over_the_brute_force_frontier():
    """For each exact point, the best approximate one of at least its stability."""
    for seed in range(12):
        _, _, problem = matrix_problem(seed)
        exact = solve_frontier(problem, "complete", options=EXACT)
        rough = approximate_frontier(problem, points=6)
        expected = [
            min((loss for h1, loss in zip(rough.stability, rough.loss, strict=True)
                 if h1 >= stability), default=np.inf) / best - 1.0
            for stability, best in brute_force_frontier(problem)
        ]  # fmt: skip
        found = excess_loss(rough, exact)
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)
        assert (found >= -1e-9).all()
        np.testing.assert_allclose(excess_loss(exact, exact), 0.0, atol=0.0)


def test_when_no_time_is_left_there_are_no_points():
    """An empty frontier is still one, and loses everything against the exact one."""
    _, _, problem = matrix_problem(1)
    empty = approximate_frontier(problem, time_budget=1e-9)
    assert len(empty) == len(approximate_frontier(problem, penalties=[])) == 0
    assert repr(empty) == "Frontier(no points)"
    exact = solve_frontier(problem, "complete", options=EXACT)
    assert np.isinf(excess_loss(empty, exact)).all()
    assert excess_loss(exact, empty).shape == (0,)


def test_a_point_that_is_missing_is_missing_where_the_exact_loss_is_zero_too():
    """Infinity says that no approximate point reaches the stability."""
    _, _, problem = matrix_problem(1)
    data = problem.statistics
    problem = replace(problem, statistics=replace(data, q=0 * data.q, yy=0.0))
    exact = solve_frontier(problem, "complete", options=EXACT)
    assert exact.loss.tolist() == [0.0]
    empty = approximate_frontier(problem, penalties=[])
    assert np.isinf(excess_loss(empty, exact)).all()
    assert excess_loss(approximate_frontier(problem), exact).tolist() == [0.0]


@pytest.mark.parametrize(
    "wrong",
    [
        {"points": 0},
        {"points": 1},
        {"points": 2.5},
        {"time_budget": 0.0},
        {"time_budget": -1.0},
        {"penalties": [-1.0]},
        {"penalties": [np.nan]},
        {"penalties": [np.inf]},
        {"penalties": ["dear"]},
    ],
    ids=str,
)
def test_settings_that_make_no_sense_are_refused(wrong):
    """Each gets a sentence."""
    with pytest.raises(InvalidParameter):
        approximate_frontier(matrix_problem(1)[2], **wrong)


def test_limits_on_the_selection_are_refused():
    """Coordinate descent cannot keep them, and says what can."""
    _, _, problem = matrix_problem(1)
    limited = replace(problem, constraints=LinearConstraints(np.ones((1, 9)), np.array([2.0])))
    with pytest.raises(InvalidParameter, match=r"AtMostFeatures.*solve_frontier"):
        approximate_frontier(limited)


# --- odd problems ---------------------------------------------------------------------------------


def odd_problems():
    """Return problems at the edge of what there can be."""
    M, y, plain = matrix_problem(2, m=7)
    twins = np.hstack([M[:, :3], M[:, :3], -M[:, :1]])

    def of(columns=M, target=y, counts=plain.statistics.counts, **settings):
        settings = {"max_rules": 3, "gamma": 2.0, **settings}
        return Problem.from_matrix(columns, target, counts, **settings)

    return {
        "no target": of(target=0 * y),
        "no columns": of(0 * M),
        "no counts": of(counts=np.zeros(7, int)),
        "equal counts": of(counts=np.full(7, 4)),
        "tied counts": of(counts=np.array([5, 5, 5, 2, 2, 2, 0])),
        "one count": of(counts=np.array([0, 0, 0, 9, 0, 0, 0])),
        "huge counts": of(counts=plain.statistics.counts * 10**9),
        "twins": of(twins),
        "one rule": of(M[:, :1], counts=np.array([3])),
        "fewer rules than allowed": of(max_rules=50),
        "as many rules as allowed": of(max_rules=7),
        "one rule allowed": of(max_rules=1),
        "all fixed in": of(fixed_in=[0, 2, 4]),
        "all fixed out": of(fixed_out=range(7)),
        "fixed both ways": of(fixed_in=[int(plain.statistics.counts.argmin())], fixed_out=[1]),
        "all but one decided": of(fixed_in=[3], fixed_out=[0, 1, 2, 4, 5], max_rules=2),
    }


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", odd_problems())
def test_odd_problems_have_their_complete_frontier(kind, method):
    """The very points that brute force finds, and a frame, a knee and a line of text."""
    problem = odd_problems()[kind]
    frontier = solve_frontier(problem, "complete", method, EXACT)
    assert_valid(problem, frontier)
    assert_complete(problem, frontier)
    assert frontier.complete
    assert frontier.knee() in frontier.points
    assert len(frontier.frame(backend="pyarrow")) == len(frontier.entries)
    assert frontier.at(stability=1.0).stability == problem.max_stability_unlimited
    assert repr(frontier)


@pytest.mark.parametrize("kind", odd_problems())
def test_odd_problems_are_solved_at_the_papers_floors_and_approximately(kind):
    """Whatever floors there are, each has its optimum; approximate points are valid."""
    problem = odd_problems()[kind]
    if kind == "all fixed out":
        pytest.skip("there is no sequence of floors; see the next test")
    assert_valid(problem, solve_frontier(problem, options=EXACT))
    assert_valid(problem, solve_frontier(problem, options=EXACT, reuse=False))
    assert_valid(problem, approximate_frontier(problem, points=6))


def test_without_a_rule_to_choose_the_default_floors_are_that_of_no_rules():
    """Where all rules are fixed out, one floor is left: 0."""
    problem = odd_problems()["all fixed out"]
    frontier = solve_frontier(problem)
    assert [entry.floor for entry in frontier.entries] == [0]


def test_a_complete_frontier_is_exact_by_default_and_a_listed_one_is_never_complete():
    """Complete means that nothing is missing, which floors from a list cannot say."""
    _, _, problem = matrix_problem(4, gamma=100.0)
    frontier = solve_frontier(problem, "complete")
    assert frontier.complete
    assert frontier.worst_gap < 1e-9
    assert_complete(problem, frontier)
    listed = solve_frontier(problem, range(problem.max_stability_unlimited + 1), options=EXACT)
    assert not listed.complete
    assert_complete(problem, listed)


def test_the_order_and_type_of_floors_is_no_matter():
    """Unsorted, repeated, of NumPy or a range: distinct floors, the highest first."""
    _, _, problem = matrix_problem(4)
    expected = solve_frontier(problem, [2, 5, 9], options=EXACT)
    for floors in (
        [9, 2, 5, 2, 9],
        (5, 9, 2),
        np.array([2, 9, 5], dtype=np.uint8),
        [np.int64(9), 5, np.int32(2)],
        {9, 5, 2},
    ):
        found = solve_frontier(problem, floors, options=EXACT)
        assert [entry.floor for entry in found.entries] == [9, 5, 2]
        assert found.loss.tolist() == expected.loss.tolist()
    assert len(solve_frontier(problem, range(3), options=EXACT).entries) == 3


@pytest.mark.parametrize(
    "floors",
    [
        [],
        np.array([]),
        [3.5],
        [3.0],  # as everywhere, an integer is asked for
        [-1],
        [True],
        [None],
        ["3"],
        [np.nan],
        [[1, 2]],
        "all",
        "COMPLETE",
        5,
        [[1], [2, 3]],
    ],
    ids=str,
)
def test_floors_that_are_none_are_refused(floors):
    """Each gets a sentence that names epsilons."""
    with pytest.raises(InvalidParameter, match="epsilons"):
        solve_frontier(matrix_problem(4)[2], floors)


@pytest.mark.parametrize("floor", [10**6, 2**70])
def test_a_floor_that_cannot_be_met_is_refused(floor):
    """Before anything is solved."""
    with pytest.raises(InfeasibleProblem, match="at most"):
        solve_frontier(matrix_problem(4)[2], [0, floor])


@pytest.mark.parametrize("method", METHODS)
def test_a_range_has_the_points_whose_floors_are_in_it(method):
    """Points of the whole frontier from the least floor on; the last may reach above the most."""
    for seed in range(3 if method == "branch-and-bound" else 1):
        _, _, problem = matrix_problem(seed)
        top = problem.max_stability_unlimited
        everything = brute_force_frontier(problem)
        for least, most in ((0, top), (top // 2, top), (0, top // 2), (top // 2, top // 2)):
            found = solve_frontier(
                problem, "complete", method, EXACT, min_stability=least, max_stability=most
            )
            inside = [h1 for h1, _ in everything if h1 >= least]
            # A point belongs to the floors just above the next less stable one.
            below = [-1, *inside[:0:-1]]
            expected = [h1 for h1, low in zip(inside[::-1], below, strict=True) if low < most]
            assert found.stability.tolist() == expected[::-1]
            assert found.complete


@pytest.mark.parametrize(
    "wrong",
    [
        {"min_stability": -1},
        {"max_stability": 10**6},
        {"min_stability": 9, "max_stability": 8},
        {"min_stability": 0.5},
    ],
    ids=str,
)
def test_a_range_that_is_none_is_refused(wrong):
    """From 0 to the largest stability, the least first."""
    with pytest.raises(InvalidParameter):
        solve_frontier(matrix_problem(4)[2], "complete", **wrong)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("gap", [0.01, 0.2, 0.5, 0.99, 3.0])
def test_bounds_and_statuses_hold_at_any_gap(method, gap):
    """With re-use and without, at the paper's floors and along the walk."""
    options = Options(gap=gap, time_limit=None)
    for seed in range(3 if method == "branch-and-bound" else 1):
        _, _, problem = matrix_problem(seed)
        for epsilons, reuse in ((None, True), (None, False), ("complete", True)):
            frontier = solve_frontier(problem, epsilons, method, options, reuse=reuse)
            assert_valid(problem, frontier)
            assert all(entry.solution.gap <= gap + 1e-6 for entry in frontier.entries)
            assert frontier.worst_gap <= gap + 1e-6


def test_a_frontier_with_a_gap_is_complete_only_if_it_is():
    """Points that a large gap leaves out are missing."""
    options = Options(gap=0.9, time_limit=None)
    for seed in range(10):
        _, _, problem = matrix_problem(seed, gamma=100.0)
        frontier = solve_frontier(problem, "complete", options=options)
        if frontier.complete:
            assert_complete(problem, frontier)


# --- what floors learn from each other ------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_without_re_use_each_floor_is_solved_as_if_it_were_the_only_one(method):
    """Down to the last digit of the bound, which knows nothing of the others."""
    _, _, problem = matrix_problem(4)
    options = Options(gap=0.05, time_limit=None)
    frontier = solve_frontier(problem, range(0, 60, 6), method, options, reuse=False)
    for entry in frontier.entries:
        alone = solve(problem.at(entry.floor), method, options)
        assert entry.solution.support.tolist() == alone.support.tolist()
        assert entry.solution.bound == alone.bound
        assert not entry.reused


@pytest.mark.parametrize("method", METHODS)
def test_with_re_use_no_floor_knows_less_than_another_tells_it(method):
    """A higher floor's selection is feasible here, and a lower floor's bound holds here."""
    problem = hard_problem(m=14, k=4)
    floors = range(0, problem.max_stability_unlimited + 1, 5)
    for limit in (1, 4) if method == "branch-and-bound" else (2,):
        options = Options(gap=0.0, time_limit=None, node_limit=limit)
        frontier = solve_frontier(problem, floors, method, options)
        assert_valid(problem, frontier)
        for higher, lower in itertools.pairwise(entry.solution for entry in frontier.entries):
            assert lower.loss <= higher.loss
            assert lower.bound <= higher.bound


def noted_points(problem, rng):
    """Return points as searches of any quality may leave them: feasible, with bounds that hold."""
    feasible, losses = all_selections(problem)
    stability = np.array([problem.stability(np.array(s, dtype=np.int64)) for s in feasible])
    points = []
    for floor in rng.permutation(problem.max_stability_unlimited + 1)[:6].tolist():
        reaching = np.flatnonzero(stability >= floor)
        support = np.array(feasible[rng.choice(reaching)], dtype=np.int64)
        bound = float(rng.choice([0.0, 0.5, 1.0 - 1e-12])) * losses[reaching].min()
        status = rng.choice([Status.TIME_LIMIT, Status.HEURISTIC, Status.INTERRUPTED])
        here = problem.at(floor)
        points.append(FrontierPoint(floor, Solution.of(here, support, bound, status, NOTED)))
    return points


def test_points_that_share_bounds_have_the_best_selection_and_bound_of_all():
    """By a search through all of them; OPTIMAL only where selection and bound meet."""
    statuses = set()
    for seed in range(60):
        problem = random_problem(seed, floor=0.0)
        points = noted_points(problem, np.random.default_rng(seed))
        shared = share_bounds(problem, points, gap=0.1)
        assert [after.floor for after in shared] == [before.floor for before in points]
        for before, after in zip(points, shared, strict=True):
            found, floor = after.solution, after.floor
            reaching = [p.solution.loss for p in points if p.solution.stability >= floor]
            proven = [p.solution.bound for p in points if p.floor <= floor]
            assert found.loss == min(reaching)
            assert found.bound == min(found.loss, max(proven))
            assert found.stability >= floor
            met = found.loss - found.bound <= 0.1 * found.loss * (1 + 1e-6)
            if found.status is Status.OPTIMAL:
                assert met
                assert before.solution.status is not Status.HEURISTIC
            else:
                assert found.status is before.solution.status
            statuses.add((before.solution.status, found.status, met))
    assert (Status.TIME_LIMIT, Status.OPTIMAL, True) in statuses
    assert (Status.TIME_LIMIT, Status.TIME_LIMIT, False) in statuses


# --- limits A z <= b ------------------------------------------------------------------------------


def limited_problem(seed, **settings):
    """Return a problem with limits that some selections break."""
    _, _, problem = matrix_problem(seed, **settings)
    rng = np.random.default_rng(seed)
    limits = LinearConstraints(rng.integers(-2, 4, (2, 9)) * 0.5, rng.integers(0, 3, 2) * 0.5)
    return replace(problem, constraints=limits)


def test_limits_are_kept_at_every_floor():
    """Each floor has the optimum within the limits, or is infeasible when it is."""
    statuses = set()
    for seed in range(6):
        problem = limited_problem(seed)
        floors = epsilon_sequence(problem.statistics.counts, problem.max_rules)
        for method, reuse in itertools.product(METHODS, (True, False)):
            frontier = solve_frontier(problem, floors, method, EXACT, reuse=reuse)
            assert_valid(problem, frontier)
            statuses |= {entry.solution.status for entry in frontier.entries}
            assert all(p.status is Status.OPTIMAL for p in frontier.points)
        default = solve_frontier(problem, None, "branch-and-bound", EXACT)
        within = [floor for floor in floors if floor <= problem.max_stability] or [0]
        assert sorted((e.floor for e in default.entries), reverse=True) == within
    assert statuses == {Status.OPTIMAL, Status.INFEASIBLE}


def test_the_complete_frontier_with_limits_ends_where_nothing_is_feasible():
    """Floors that the limits leave unmet end the walk; what is below is complete."""
    for seed in range(6):
        problem = limited_problem(seed)
        frontier = solve_frontier(problem, "complete", options=EXACT)
        assert_complete(problem, frontier)
        assert frontier.complete


def test_a_problem_without_any_feasible_selection_has_an_empty_frontier():
    """All its floors are infeasible, and it can still be shown."""
    _, _, problem = matrix_problem(1)
    nothing = replace(problem, constraints=LinearConstraints(np.ones((1, 9)), np.array([-1.0])))
    frontier = solve_frontier(nothing, options=EXACT)
    assert len(frontier) == 0
    assert {entry.solution.status for entry in frontier.entries} == {Status.INFEASIBLE}
    assert np.isnan(frontier.worst_gap)
    assert repr(frontier)
    assert len(frontier.frame(backend="pyarrow")) == len(frontier.entries)
    with pytest.raises(InvalidParameter, match="no points"):
        frontier.at(index=0)


# --- time -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("budget", [1e-300, 1e-6, 1e-2])
def test_any_budget_leaves_every_floor_with_a_valid_answer(method, budget):
    """Floors without time of their own have a selection, a bound that holds, and say so."""
    problem = hard_problem(m=14, k=4)
    for reuse in (True, False):
        frontier = solve_frontier(problem, None, method, EXACT, time_budget=budget, reuse=reuse)
        assert_valid(problem, frontier)
        assert {e.solution.status for e in frontier.entries} <= {Status.OPTIMAL, Status.TIME_LIMIT}


def test_a_budget_does_not_lift_the_limit_of_each_floor():
    """Whichever is less is what a floor has."""
    options = Options(gap=0.0, time_limit=1e-9)
    frontier = solve_frontier(hard_problem(), [0, 60], options=options, time_budget=1e4)
    assert {e.solution.status for e in frontier.entries} == {Status.TIME_LIMIT}


@pytest.mark.parametrize("budget", [0, 0.0, -1.0, np.inf, np.nan, "1 s", True])
def test_a_budget_that_is_none_is_refused(budget):
    """More than 0 seconds, and finite."""
    with pytest.raises(InvalidParameter, match="time_budget"):
        solve_frontier(matrix_problem(1)[2], time_budget=budget)


def test_a_walk_ends_when_its_time_is_over():
    """Without time, one floor is tried and no more."""
    rng = np.random.default_rng(0)
    M = rng.normal(size=(300, 300))
    counts = rng.integers(0, 2000, 300)
    problem = Problem.from_matrix(M, rng.normal(size=300), counts, max_rules=10, gamma=0.01)
    least = int(0.6 * problem.max_stability_unlimited)
    frontier = solve_frontier(problem, "complete", time_budget=1e-9, min_stability=least)
    assert not frontier.complete
    assert len(frontier.entries) <= 2


def test_limits_and_no_time_leave_what_there_is():
    """A floor at which no selection is found in time does not end the run with an error."""
    options = Options(gap=0.0, time_limit=1e-9)
    for seed in range(10):
        problem = limited_problem(seed)
        frontier = solve_frontier(problem, options=options)
        assert_valid(problem, frontier)
        assert not frontier.complete


# --- listening ------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilons", [None, "complete"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_listener_hears_of_every_floor(epsilons, n_jobs):
    """Once each, counted from 1, with a line of text to show."""
    _, _, problem = matrix_problem(4)
    heard = []
    frontier = solve_frontier(
        problem, epsilons, options=EXACT, progress=heard.append, n_jobs=n_jobs
    )
    assert [state.done for state in heard] == list(range(1, len(frontier.entries) + 1))
    assert sorted(s.point.floor for s in heard) == sorted(e.floor for e in frontier.entries)
    totals = {state.total for state in heard}
    assert totals == ({None} if epsilons == "complete" else {len(frontier.entries)})
    for state in heard:
        assert f"floor {state.point.floor}: " in str(state)
        assert ("re-used" in str(state)) == state.point.reused
        assert state.seconds >= 0.0


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_verbose_run_gives_the_same_and_leaves_nothing_behind(n_jobs, capsys):
    """The line of progress goes away; infeasible floors have one too."""
    _, _, problem = matrix_problem(4)
    quiet = solve_frontier(problem, options=EXACT)
    assert capsys.readouterr() == ("", "")
    loud = solve_frontier(problem, options=EXACT, verbose=True, n_jobs=n_jobs)
    assert loud.loss.tolist() == quiet.loss.tolist()
    nothing = LinearConstraints(np.ones((1, 9)), np.array([-1.0]))
    solve_frontier(replace(problem, constraints=nothing), verbose=True, n_jobs=n_jobs)
    written, errors = capsys.readouterr()
    assert written.strip() == ""
    assert errors == ""


def test_a_listener_that_cannot_be_called_is_refused():
    """At once, as in Options."""
    with pytest.raises(InvalidParameter, match="progress"):
        solve_frontier(matrix_problem(4)[2], progress="loud")


# --- the oracles themselves -----------------------------------------------------------------------


def test_the_pool_by_brute_force_has_all_near_optimal_selections():
    """Sorted, within the tolerance, feasible, and nothing else is within it."""
    for seed in range(15):
        problem = random_problem(seed)
        best, _ = brute_force(problem)
        pool, losses = brute_force_pool(problem, 0.1)
        limit = 1.1 * best + 1e-12 * problem.statistics.yy
        assert losses[0] == pytest.approx(best, rel=1e-9)
        assert (np.diff(losses) >= 0).all()
        assert (losses <= limit).all()
        assert all(problem.is_feasible(np.array(support, dtype=np.int64)) for support in pool)
        rest = set(all_selections(problem)[0]) - set(pool)
        assert all(problem.loss(np.array(s, dtype=np.int64)) > best * 1.0999 for s in rest)
        assert [*pool] == sorted(pool, key=lambda s: (losses[pool.index(s)], s))
