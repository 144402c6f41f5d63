"""Bounds hold in exact arithmetic, whatever the units and the gamma; one definition of rounding."""

import re
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from mossrules import MossRegressor
from mossrules.exceptions import InfeasibleProblem, InvalidParameter
from mossrules.frontier import solve_frontier
from mossrules.solver import LogisticProblem, Options, Problem, Status, near_optimal, solve

EXACT = Options(gap=0.0)


def exact_loss(problem, support):
    """Return H2 of a selection as a fraction, by Gaussian elimination in fractions."""
    data = problem.statistics
    rows = [
        [Fraction(float(data.G[i, j])) + (1 / Fraction(problem.gamma) if i == j else 0)
         for j in support] + [Fraction(float(data.q[i]))]
        for i in support
    ]  # fmt: skip
    explained = Fraction(0)
    for n in range(len(rows)):  # positive definite: no pivot is 0
        explained += rows[n][-1] ** 2 / rows[n][n]
        for below in rows[n + 1 :]:
            factor = below[n] / rows[n][n]
            below[:] = [a - factor * b for a, b in zip(below, rows[n], strict=True)]
    return (Fraction(float(data.yy)) - explained) / 2


def exact_optimum(problem):
    """Return the least loss of all selections that are allowed."""
    return min(
        exact_loss(problem, support)
        for size in range(problem.max_rules + 1)
        for support in combinations(range(problem.m), size)
        if problem.is_feasible(np.array(support, dtype=int))
    )


def extreme_problem(seed):
    """Return a problem of any units and any gamma, some with columns that are nearly the same."""
    draw = np.random.default_rng(seed)
    m = int(draw.integers(3, 6))
    M = draw.normal(size=(8, m))
    if seed % 2:
        M[:, 1:] = M[:, :1] + 10.0 ** draw.uniform(-8, 0) * M[:, 1:]
    y = M[:, :2].sum(axis=1) + 10.0 ** draw.uniform(-8, 1) * draw.normal(size=8)
    M, y = M * 10.0 ** draw.uniform(-28, 28), y * 10.0 ** draw.uniform(-28, 28)
    gamma = 10.0 ** draw.uniform(-3, 11.9) / np.square(M).sum(axis=0).max()
    counts = draw.integers(1, 20, m)
    problem = Problem.from_matrix(M, y, counts, max_rules=int(draw.integers(1, 4)), gamma=gamma)
    return problem.at(int(draw.integers(0, problem.max_stability + 1)))


@pytest.mark.parametrize("part", range(4))
def test_no_bound_is_above_the_optimum_in_fractions(part):
    """Beyond 1e-12 of the loss of no rule, at scales from 1e-56 to 1e56 and any gamma allowed."""
    for seed in range(25 * part, 25 * part + 25):
        problem = extreme_problem(seed)
        solution = solve(problem, "branch-and-bound", EXACT)
        best, null = exact_optimum(problem), Fraction(problem.null_loss)
        assert Fraction(solution.bound) <= best + null / 10**12
        assert abs(Fraction(solution.loss) - best) <= 3 * Fraction(problem.rounding)
        assert solution.verify(problem).passed, str(solution.verify(problem))


def test_ordinary_bounds_are_left_as_they_are():
    """What rounding may add is within the precision that is promised, and nothing is taken off."""
    draw = np.random.default_rng(0)
    M, y = draw.random((200, 10)) < 0.3, draw.normal(size=200)
    problem = Problem.from_matrix(M.astype(float), y, np.arange(10), max_rules=5, gamma=1.0)
    assert problem.rounding == 1e-12 * problem.null_loss
    assert problem.safe_bound(0.7) == 0.7
    extreme = Problem.from_matrix(M.astype(float), y, np.arange(10), max_rules=5, gamma=1e9)
    assert extreme.rounding > 1e-7 * extreme.null_loss


@pytest.mark.parametrize("method", ["branch-and-bound", "cutting-plane", "coordinate-descent"])
def test_a_bound_that_is_known_is_kept_to_its_last_digit(method):
    """It is safe already: passed on from solve to solve, it must not fall each time."""
    draw = np.random.default_rng(0)
    M = draw.normal(size=(30, 6))
    y = M @ draw.normal(size=6) + draw.normal(size=30)
    gamma = 1e9 / np.square(M).sum(axis=0).max()
    problem = Problem.from_matrix(M, y, np.arange(1, 7), max_rules=2, gamma=gamma)
    assert problem.rounding > problem.margin
    first = solve(problem, options=EXACT)
    assert first.bound < first.loss
    again = solve(problem, method, EXACT, start=first, bound=first.bound)
    assert first.bound <= again.bound <= first.loss


@pytest.mark.parametrize("scale", [1e100, 1e-100, 1e32, 1e-32])
@pytest.mark.parametrize("of", ["target", "columns"])
def test_units_whose_squares_are_lost_are_refused(scale, of):
    """Floats end at 1e308, and a search multiplies squares of squares."""
    M, y = np.eye(4)[:, :3], np.arange(4.0)
    M, y = (M, y * scale) if of == "target" else (M * scale, y)
    with pytest.raises(InvalidParameter, match=r"must be from 1e-60 to 1e\+60; choose other units"):
        Problem.from_matrix(M, y, [1, 2, 3], max_rules=2, gamma=1 / np.square(M).max())


@pytest.mark.parametrize("gamma", [1e-320, 1e-200, 1e200])
def test_a_gamma_that_floats_cannot_work_with_is_refused(gamma):
    """In the solver and in a model, in one sentence."""
    with pytest.raises(InvalidParameter, match=re.escape(f"gamma is {gamma:g}")):
        Problem.from_matrix(np.eye(3)[:, :2], np.arange(3.0), [1, 2], gamma=gamma)
    X, y = {"age": [20, 30, 40, 50, 60, 70, 80]}, [2.0, 3.0, 9.0, 8.0, 7.0, 2.0, 1.0]
    with pytest.raises(InvalidParameter, match=re.escape(f"gamma is {gamma:g}")):
        MossRegressor(2, n_trees=20, gamma=gamma).fit(X, y)


# --- two classes ----------------------------------------------------------------------------------


@pytest.mark.parametrize("gamma", [1e2, 1e6, 1e8])
@pytest.mark.parametrize("seed", [2, 4])
def test_what_is_optimal_is_verified_for_classes_that_rules_nearly_separate(seed, gamma):
    """Losses near 0 are told apart by the search and by the check with the same rounding."""
    draw = np.random.default_rng(seed)
    active = draw.random((60, 6)) < 0.5
    y = active[:, 2] | (active[:, 3] & active[:, 4])
    counts = draw.integers(1, 30, 6)
    problem = LogisticProblem.from_matrix(active, y, counts, max_rules=3, gamma=gamma)
    solution = solve(problem, options=EXACT)
    assert solution.status is Status.OPTIMAL
    assert solution.loss < 0.2 * problem.null_loss
    assert solution.verify(problem).passed, str(solution.verify(problem))
    assert problem.is_proven(solution.loss, solution.bound, 0.0)


@pytest.mark.parametrize("kind", ["numbers", "classes"])
@pytest.mark.parametrize("method", ["branch-and-bound", "cutting-plane", "coordinate-descent"])
def test_where_every_rule_is_fixed_out_the_answer_is_no_rule(kind, method):
    """Or that nothing is feasible, where a floor asks for counts."""
    active, y = np.eye(6)[:, :3], np.array([1, 0, 1, 0, 0, 1])
    of = Problem if kind == "numbers" else LogisticProblem
    problem = of.from_matrix(active, y, [3, 2, 1], max_rules=2, gamma=1.0, fixed_out=[0, 1, 2])
    solution = solve(problem, method, EXACT)
    assert solution.support.tolist() == []
    assert solution.loss == pytest.approx(problem.null_loss)
    assert solution.status is Status.OPTIMAL
    assert solution.verify(problem).passed
    assert [point.support.tolist() for point in solve_frontier(problem, "complete")] == [[]]
    assert [support.tolist() for support in near_optimal(problem).supports] == [[]]
    with pytest.raises(InfeasibleProblem, match="ask for at most that"):
        problem.at(1)


# --- frontiers ------------------------------------------------------------------------------------


def test_a_complete_frontier_has_points_whose_losses_differ_by_little():
    """By more than 1e-12 of the loss of no rule, which is what counts as equal, and no more."""
    draw = np.random.default_rng(1)
    y = draw.normal(size=40)
    signal = y + draw.normal(size=40)
    counts = np.array([90, 80, 70, 60, 50])
    for apart, expected in ((1e-9, 5), (1e-10, 5), (3e-15, 1)):
        # Each rule is a little nearer to the target than the more stable one before it.
        M = np.column_stack([signal + n * apart * y for n in range(5)])
        problem = Problem.from_matrix(M, y, counts, max_rules=1, gamma=1.0)
        losses = [problem.loss(np.array([n])) for n in range(5)]
        steps = -np.diff(losses) / problem.null_loss
        if expected > 1:
            assert (steps > 2e-12).all()
            assert (steps < 2e-9).all()
        frontier = solve_frontier(problem, "complete", options=EXACT)
        assert frontier.complete
        assert len(frontier) == expected


# --- counts ---------------------------------------------------------------------------------------


def test_what_a_dual_point_proves_is_the_same_again_with_large_counts():
    """Its multipliers are far larger than the loss then, and cancel in all but a few digits."""
    draw = np.random.default_rng(4)
    M = draw.normal(size=(12, 7))
    y = M.sum(axis=1) + draw.normal(size=12)
    counts = 2_819_372_466 + draw.integers(0, 4, 7)
    problem = Problem.from_matrix(M, y, counts, max_rules=2, gamma=1.0)
    for below in range(4):
        floored = problem.at(problem.max_stability - below)
        solution = solve(floored, "branch-and-bound", EXACT)
        assert solution.verify(floored).passed, str(solution.verify(floored))
