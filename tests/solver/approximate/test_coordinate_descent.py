from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mossrules.exceptions import InvalidParameter
from mossrules.solver.approximate import coordinate_descent
from mossrules.solver.approximate.coordinate_descent import (
    penalised_path,
    penalty_grid,
    solve_by_coordinate_descent,
)
from mossrules.solver.kernels.descent import descend
from mossrules.solver.methods import solve as solve_any
from mossrules.solver.options import Clock, Options
from mossrules.solver.problems.squared import LinearConstraints, Problem
from mossrules.solver.result import Status
from support.oracles import (
    brute_force,
    brute_force_limited,
    brute_force_logistic,
    random_class_rows,
    random_problem,
    signed_loss,
)

SEEDS = st.integers(0, 10**6)


def solve(problem, *, options=None, limit=None, start=None):
    """Run the method without a time limit, unless one is given."""
    options = Options() if options is None else options
    return solve_by_coordinate_descent(problem, options, clock=Clock(limit), start=start)


def columns(seed, n=25, m=9):
    """Return rule columns, a target and a price for each rule, negative ones among them."""
    rng = np.random.default_rng(seed)
    M = (rng.random((n, m)) < 0.5) * rng.normal(size=m)
    M[:, -1] = M[:, 0]
    y = M @ rng.normal(size=m) + rng.normal(size=n)
    penalty = rng.uniform(-0.5, 2.0, m) * rng.choice([0.1, 1.0])
    penalty[rng.random(m) < 0.1] = -np.inf
    penalty[rng.random(m) < 0.1] = np.inf
    return M, y, penalty


def drawn_signs(seed, m=9):
    """Return signs of weights, all of them free in half of the cases."""
    rng = np.random.default_rng([1, seed])
    return rng.integers(-1, 2, m) * rng.integers(2)


def objective(M, y, gamma, penalty, *, w, inside):
    """Return the penalised objective of the paper's appendix."""
    residual = y - M @ w
    return 0.5 * residual @ residual + 0.5 * w @ w / gamma + penalty[inside].sum()


def slow_sweep(M, y, gamma, penalty, signs, *, w, inside):
    """Make one sweep by the two scenarios of the paper's appendix, on explicit columns."""
    low, high = np.where(signs > 0, 0, -np.inf), np.where(signs < 0, 0, np.inf)
    w, inside = w.copy(), inside.copy()
    for k in range(len(w)):
        w[k] = 0.0
        r = y - M @ w
        best = np.clip(M[:, k] @ r / (M[:, k] @ M[:, k] + 1 / gamma), low[k], high[k])
        rest = r - M[:, k] * best
        without = 0.5 * r @ r
        with_rule = 0.5 * rest @ rest + 0.5 * best**2 / gamma + penalty[k]
        inside[k] = with_rule < without
        w[k] = best if inside[k] else 0.0
    return w, inside


def start_of(M, y):
    """Return w, r and inside with nothing selected."""
    return np.zeros(M.shape[1]), M.T @ y, np.zeros(M.shape[1], dtype=bool)


# --- the kernel -----------------------------------------------------------------------------------


@given(SEEDS, st.floats(0.01, 10))
@settings(deadline=None, max_examples=50)
def test_sweeps_equal_those_on_explicit_columns(seed, gamma):
    """Each sweep on the Gram matrix makes the choices of the paper's update, rule by rule."""
    (M, y, penalty), signs = columns(seed), drawn_signs(seed)
    G = M.T @ M
    w, r, inside = start_of(M, y)
    slow_w, slow_inside = w.copy(), inside.copy()
    for _ in range(5):
        assert descend(G, 1 / gamma, penalty, signs, -1.0, 1, w, r, inside) == 1
        slow_w, slow_inside = slow_sweep(M, y, gamma, penalty, signs, w=slow_w, inside=slow_inside)
        np.testing.assert_array_equal(inside, slow_inside)
        np.testing.assert_allclose(w, slow_w, atol=1e-9)
        np.testing.assert_allclose(r, M.T @ (y - M @ w), atol=1e-9)


@given(SEEDS, st.floats(0.01, 10))
@settings(deadline=None, max_examples=50)
def test_the_objective_never_rises(seed, gamma):
    """Sweep after sweep, the objective by its definition falls or stays."""
    (M, y, penalty), signs = columns(seed), drawn_signs(seed)
    penalty[~np.isfinite(penalty)] = 0.3  # so that the objective is finite
    G = M.T @ M
    w, r, inside = start_of(M, y)
    values = [objective(M, y, gamma, penalty, w=w, inside=inside)]
    for _ in range(10):
        descend(G, 1 / gamma, penalty, signs, -1.0, 1, w, r, inside)
        assert np.all(signs * w >= 0)
        values.append(objective(M, y, gamma, penalty, w=w, inside=inside))
    assert np.all(np.diff(values) <= 1e-9 * (1 + np.abs(values[0])))


@given(SEEDS, st.floats(0.01, 10))
@settings(deadline=None, max_examples=50)
def test_every_rule_is_at_its_best_in_the_end(seed, gamma):
    """At the fixed point each weight is the closed form, and each rule is in or out by its gain."""
    (M, y, penalty), signs = columns(seed), drawn_signs(seed)
    G = M.T @ M
    w, r, inside = start_of(M, y)
    sweeps = descend(G, 1 / gamma, penalty, signs, 1e-13, 100_000, w, r, inside)
    assert sweeps < 100_000
    d = np.diagonal(G) + 1 / gamma
    u = M.T @ (y - M @ w) + np.diagonal(G) * w
    u[signs * u < 0] = 0
    gain = 0.5 * u**2 / d
    slack = 1e-6
    assert np.all(gain[inside] > penalty[inside] - slack)
    assert np.all(gain[~inside] <= penalty[~inside] + slack)
    np.testing.assert_allclose(w[inside], (u / d)[inside], atol=1e-5)
    assert np.all(w[~inside] == 0)
    assert np.all(inside[np.isneginf(penalty)])
    assert not np.any(inside[np.isposinf(penalty)])


def test_a_rule_without_fit_is_in_for_its_count():
    """A negative price puts a column of zeros or of the wrong sign in, with the weight 0."""
    M, y, _ = columns(0)
    M[:, 3] = 0
    signs = np.zeros(9, dtype=np.int64)
    signs[1] = -np.sign(M[:, 1] @ y)
    w, r, inside = start_of(M, y)
    penalty = np.full(9, 1e9)
    penalty[[1, 3]] = -1e-3
    descend(M.T @ M, 1.0, penalty, signs, 0.0, 100, w, r, inside)
    np.testing.assert_array_equal(np.flatnonzero(inside), [1, 3])
    assert not w.any()


def test_descent_stops_at_the_most_sweeps():
    """The limit on sweeps is kept, and reported."""
    M, y, penalty = columns(1)
    signs = np.zeros(9, dtype=np.int64)
    assert descend(M.T @ M, 0.1, penalty, signs, -1.0, 7, *start_of(M, y)) == 7


# --- the method -----------------------------------------------------------------------------------


def test_results_are_feasible_and_honest_and_mostly_optimal():
    """300 problems: all feasible, none below the optimum, bounds valid, nine in ten within 2%."""
    close = []
    for seed in range(300):
        problem = random_problem(seed)
        outcome = solve(problem)
        best, _ = brute_force(problem)
        slack = 1e-9 * (1 + problem.statistics.yy)
        loss = problem.loss(outcome.support)
        assert problem.is_feasible(outcome.support)
        assert len(outcome.support) == problem.size
        assert outcome.status is Status.HEURISTIC
        assert loss >= best - slack
        assert 0 <= outcome.bound <= best + slack
        close.append(loss <= 1.02 * best + slack)
    assert np.mean(close) >= 0.9


def signed_problem(seed):
    """Return a small problem with signs of weights, at some floor on the sum or on each rule."""
    rng = np.random.default_rng([2, seed])
    problem = random_problem(seed, floor=0.0)
    signs = rng.integers(-1, 2, problem.m)
    problem = replace(problem, signs=signs, floor="each" if seed % 2 else "sum")
    return problem.at(int(rng.choice([0, 0.5, 0.9, 1.0]) * problem.max_stability))


def test_signs_of_weights_are_kept():
    """150 problems: weights of the right sign, no loss below the optimum, nine in ten near it."""
    close, binding = [], []
    for seed in range(150):
        problem = signed_problem(seed)
        solution = solve_any(problem, "coordinate-descent")
        best, _ = brute_force_limited(problem)
        slack = 1e-9 * (1 + problem.statistics.yy)
        assert problem.is_feasible(solution.support)
        assert solution.status is Status.HEURISTIC
        signs = np.zeros(problem.m) if problem.signs is None else problem.signs
        assert np.all(signs[solution.support] * solution.weights >= 0)
        assert solution.loss >= best - slack
        assert solution.loss == pytest.approx(signed_loss(problem, solution.support), abs=slack)
        assert 0 <= solution.bound <= best + slack
        assert solution.verify(problem).passed
        close.append(solution.loss <= 1.02 * best + slack)
        binding.append(best > brute_force(replace(problem, signs=None))[0] + slack)
    assert np.mean(close) >= 0.9
    assert np.mean(binding) >= 0.5  # else signs would make no difference


def test_signs_of_weights_are_kept_for_two_classes():
    """20 problems, as with numbers; the intercept may have either sign."""
    close, intercepts = [], []
    for seed in range(20):
        rng = np.random.default_rng([3, seed])
        rows = random_class_rows(seed, most_rules=6)
        signs = rng.integers(-1, 2, len(rows.counts))
        floor = "each" if seed % 2 else "sum"
        problem = rows.problem(max_rules=int(rng.integers(1, 4)), signs=signs, floor=floor)
        problem = problem.at(int(rng.choice([0, 0.5, 0.9]) * problem.max_stability))
        solution = solve_any(problem, "coordinate-descent")
        best = brute_force_logistic(rows, problem)
        slack = 1e-6 * problem.null_loss  # of scipy, by which the best is found
        assert problem.is_feasible(solution.support)
        assert np.all(signs[solution.support] * solution.weights >= 0)
        assert solution.loss >= best - slack
        assert 0 <= solution.bound <= best + slack
        assert solution.verify(problem).passed
        close.append(solution.loss <= 1.02 * best + slack)
        intercepts.append(solution.intercept - problem.base)
    assert np.mean(close) >= 0.9
    assert min(intercepts) < 0 < max(intercepts)


@given(SEEDS)
@settings(deadline=None, max_examples=60)
def test_the_largest_floor_is_met(seed):
    """At the largest stability there is, the result has it."""
    problem = random_problem(seed, floor=1.0)
    assert problem.stability(solve(problem).support) == problem.max_stability_unlimited


@given(SEEDS)
@settings(deadline=None, max_examples=60)
def test_fixings_are_kept(seed):
    """Rules fixed in are selected and rules fixed out are not, at any floor."""
    rng = np.random.default_rng(seed)
    problem = random_problem(seed, floor=0.0)
    order = rng.permutation(problem.m)
    n_in = int(rng.integers(0, min(problem.m, problem.max_rules) + 1))
    n_out = int(rng.integers(0, problem.m - n_in + 1))
    problem = replace(problem, fixed_in=order[:n_in], fixed_out=order[n_in : n_in + n_out])
    problem = problem.at(int(rng.choice([0, 0.8, 1.0]) * problem.max_stability_unlimited))
    outcome = solve(problem)
    best, _ = brute_force(problem)
    assert problem.is_feasible(outcome.support)
    assert outcome.bound <= best + 1e-9 * (1 + problem.statistics.yy)


def test_limits_on_the_selection_are_declined():
    """The error names the constraints that ask for them, and what keeps them."""
    limits = LinearConstraints(np.ones((1, 3)), [1])
    problem = Problem.from_matrix(np.eye(3), np.ones(3), [1, 1, 1], constraints=limits)
    with pytest.raises(InvalidParameter, match=r"AtMostFeatures.*solver='auto'"):
        solve(problem)
    with pytest.raises(InvalidParameter, match=r"AtMostFeatures.*solver='auto'"):
        penalised_path(problem, [0.0])


def test_a_start_is_never_made_worse():
    """A feasible start of full size is returned or bettered; any other is made feasible first."""
    for seed in range(40):
        problem = random_problem(seed)
        best, support = brute_force(problem)
        full = support if len(support) == problem.size else None
        outcome = solve(problem, start=full)
        if full is not None:
            assert problem.loss(outcome.support) == pytest.approx(best, abs=1e-9, rel=1e-9)
        assert problem.is_feasible(solve(problem, start=np.arange(problem.m)).support)


def test_a_result_is_there_when_the_time_is_over():
    """With no time at all the answer is still feasible, and fewer penalties were tried."""
    for seed in range(40):
        problem = random_problem(seed)
        outcome = solve(problem, limit=1e-9)
        assert problem.is_feasible(outcome.support)
        assert outcome.counters["penalties"] <= solve(problem).counters["penalties"]


def test_figures_say_what_was_tried():
    """Sweeps, penalties and the pair of penalties behind the selection are reported."""
    problem = random_problem(7, floor=0.9)
    figures = solve(problem).counters
    assert set(figures) == {"sweeps", "penalties", "lambda_1", "lambda_2"}
    assert figures["sweeps"] >= figures["penalties"] > 0
    assert np.isfinite(list(figures.values())).all()


def test_the_same_problem_has_the_same_answer():
    """There is no chance in the method."""
    for seed in range(10):
        first, second = solve(random_problem(seed)), solve(random_problem(seed))
        np.testing.assert_array_equal(first.support, second.support)
        assert first.bound == second.bound


def test_progress_is_reported(monkeypatch):
    """The callback sees the best loss so far, which never rises."""
    monkeypatch.setattr(coordinate_descent, "REPORT_SECONDS", -1.0)
    seen = []
    problem = random_problem(4, floor=1.0)
    outcome = solve(problem, options=Options(progress=seen.append))
    losses = [snapshot.loss for snapshot in seen]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] == pytest.approx(problem.loss(outcome.support))


# --- the path -------------------------------------------------------------------------------------


def test_the_path_trades_loss_for_counts():
    """Supports have full size; the first ignores counts, the last has the largest there are."""
    for seed in range(30):
        problem = random_problem(seed, floor=1.0)
        grid = penalty_grid(problem, 12)
        points = penalised_path(problem, grid)
        assert [point.lambda_2 for point in points] == pytest.approx(grid)
        assert all(len(point.support) == problem.size for point in points)
        assert problem.stability(points[-1].support) == problem.max_stability_unlimited
        losses = [problem.loss(point.support) for point in points]
        assert losses[0] <= losses[-1] + 1e-9


def test_the_path_is_close_to_the_best_penalised_selections():
    """Nine in ten points are within 2% of yy/2 of the best penalised loss at their lambda_2."""
    close = []
    for seed in range(60):
        problem = random_problem(seed, floor=0.0)
        top = problem.statistics.yy / 2
        for point in penalised_path(problem, top * np.array([0.0, 1e-3, 1e-2, 1e-1])):
            values = [
                brute_force(problem.at(floor))[0] - point.lambda_2 * floor
                for floor in range(problem.max_stability_unlimited + 1)
            ]
            value = problem.loss(point.support)
            value -= point.lambda_2 * problem.stability(point.support)
            assert value >= min(values) - 1e-9 * (1 + top)
            close.append(value <= min(values) + 0.02 * top)
    assert np.mean(close) >= 0.9


def test_bad_prices_are_refused():
    """A count is never paid for with loss below zero, and a grid has two points or more."""
    problem = random_problem(5)
    with pytest.raises(InvalidParameter, match=r"lambda_2 is -1\.0; pass a finite number"):
        penalised_path(problem, [0.0, -1.0])
    with pytest.raises(InvalidParameter, match="points is 1"):
        penalty_grid(problem, 1)


def test_a_path_ends_when_the_time_is_over():
    """Without time the list of points is empty."""
    problem = random_problem(5)
    assert penalised_path(problem, [0.0, 1.0], clock=Clock(1e-9)) == []


def test_a_target_without_variance_has_a_grid_and_an_answer():
    """With y = 0 every loss is 0 and the counts decide."""
    problem = Problem.from_matrix(np.eye(4), np.zeros(4), [1, 4, 3, 2], max_rules=2)
    problem = problem.at(7)
    np.testing.assert_array_equal(solve(problem).support, [1, 2])
    assert np.isfinite(penalty_grid(problem, 5)).all()
