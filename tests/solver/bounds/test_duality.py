from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from mossrules.exceptions import InfeasibleProblem, InvalidParameter
from mossrules.solver.bounds.duality import best_multipliers, dual_bound
from mossrules.solver.problems.squared import LinearConstraints, Problem
from support.oracles import brute_force, random_problem

SEEDS = st.integers(0, 10**6)


def random_weights(problem, rng):
    """Return weights of several kinds: a selection's, all rules' ridge, or anything."""
    w = np.zeros(problem.m)
    kind = rng.integers(3)
    if kind == 0:
        S = rng.permutation(problem.m)[: problem.max_rules]
        w[S] = problem.weights(S)
    elif kind == 1:
        w[:] = problem.weights(np.arange(problem.m)) * rng.uniform(0, 1.5)
    else:
        w[:] = rng.normal(size=problem.m) * 10 ** rng.uniform(-3, 1)
    return w


def random_fixings(problem, rng):
    """Return positions to fix in and out, no more in than are allowed."""
    order = rng.permutation(problem.m)
    n_in = int(rng.integers(0, min(problem.m, problem.max_rules) + 1))
    n_out = int(rng.integers(0, problem.m - n_in + 1))
    return order[:n_in].tolist(), order[n_in : n_in + n_out].tolist()


def lagrangian_by_definition(problem, w, lam, mu, z):
    """Return the terms of the bound at one selection z, written out rule by rule."""
    data = problem.statistics
    r = data.q - data.G @ w
    value = data.yy / 2 - w @ data.G @ w / 2
    value -= sum(problem.gamma / 2 * r[i] ** 2 for i in np.flatnonzero(z))
    value += lam * (z.sum() - problem.max_rules)
    return value + mu * (problem.min_stability - data.counts @ z)


@given(SEEDS, st.floats(0, 1e3), st.floats(0, 1e2))
@settings(deadline=None, max_examples=300)
def test_no_selection_has_a_loss_below_the_bound(seed, lam, mu):
    """At any w, any multipliers and any fixings, the bound is at most the brute-force optimum."""
    problem = random_problem(seed)
    rng = np.random.default_rng(seed)
    inside, outside = random_fixings(problem, rng)
    scale = problem.statistics.yy / 100
    w = random_weights(problem, rng)
    bound = dual_bound(problem, w, lam * scale, mu * scale, fixed_in=inside, fixed_out=outside)
    try:
        fixed = replace(problem, fixed_in=inside, fixed_out=outside)
    except InfeasibleProblem:
        return
    best, _ = brute_force(fixed)
    assert bound <= best + 1e-9 * (1 + problem.statistics.yy)
    # Fixings given apart are those of the problem.
    assert bound == pytest.approx(dual_bound(fixed, w, lam * scale, mu * scale), abs=1e-9, rel=1e-9)


@given(SEEDS, st.floats(0, 10), st.floats(0, 10))
@settings(deadline=None, max_examples=50)
def test_the_bound_is_the_least_lagrangian(seed, lam, mu):
    """The formula equals the minimum over all selections of any size of the Lagrangian."""
    problem = random_problem(seed)
    assume(problem.m <= 8)
    w = random_weights(problem, np.random.default_rng(seed))
    least = min(
        lagrangian_by_definition(problem, w, lam, mu, np.array(z))
        for z in np.ndindex(*(2,) * problem.m)
    )
    assert dual_bound(problem, w, lam, mu) == pytest.approx(least, rel=1e-9, abs=1e-9)


@given(SEEDS)
@settings(deadline=None, max_examples=200)
def test_best_multipliers_solve_the_linear_program(seed):
    """With them the bound is the optimum of the fractional knapsack that HiGHS finds."""
    problem = random_problem(seed)
    rng = np.random.default_rng(seed)
    inside, outside = random_fixings(problem, rng)
    w = random_weights(problem, rng)
    data = problem.statistics
    g = problem.gamma / 2 * (data.q - data.G @ w) ** 2
    unit = max(1.0, float(g.max()))  # HiGHS works to absolute tolerances
    low, high = np.zeros(problem.m), np.ones(problem.m)
    low[inside], high[outside] = 1, 0
    program = linprog(
        -g / unit,
        A_ub=[np.ones(problem.m), -data.counts],
        b_ub=[problem.max_rules, -problem.min_stability],
        bounds=np.column_stack([low, high]),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if program.status == 2:
        with pytest.raises(InfeasibleProblem):
            best_multipliers(problem, w, fixed_in=inside, fixed_out=outside)
        return
    best = best_multipliers(problem, w, fixed_in=inside, fixed_out=outside)
    assert min(best) >= 0
    bound = dual_bound(problem, w, *best, fixed_in=inside, fixed_out=outside)
    expected = data.yy / 2 - w @ data.G @ w / 2 + unit * program.fun
    assert bound == pytest.approx(expected, rel=1e-8, abs=1e-8 * unit)


@given(SEEDS, st.floats(0, 100), st.floats(0, 100))
@settings(deadline=None, max_examples=100)
def test_no_other_multipliers_are_better(seed, lam, mu):
    """Any other lam and mu give a bound that is no larger."""
    problem = random_problem(seed)
    w = random_weights(problem, np.random.default_rng(seed))
    best = best_multipliers(problem, w)
    bound = dual_bound(problem, w, *best)
    slack = 1e-9 * (1 + abs(bound))
    assert dual_bound(problem, w, lam, mu) <= bound + slack
    assert dual_bound(problem, w, best.lam * lam, best.mu * mu) <= bound + slack


def test_the_bound_is_tight_where_nothing_is_left_to_choose():
    """With every rule allowed, the weights of all rules prove their own loss."""
    problem = random_problem(3, floor=0.0, max_rules=20)
    everything = np.arange(problem.m)
    w = problem.weights(everything)
    bound = dual_bound(problem, w, *best_multipliers(problem, w))
    assert bound == pytest.approx(problem.loss(everything), rel=1e-9)


def test_limits_on_the_selection_leave_the_bound_valid():
    """`A z <= b` only raises the optimum that the bound is below."""
    rng = np.random.default_rng(5)
    M, y = rng.normal(size=(20, 7)), rng.normal(size=20)
    limits = LinearConstraints(rng.integers(0, 2, (2, 7)), [1, 1])
    problem = Problem.from_matrix(M, y, np.arange(7), max_rules=3, gamma=1.0, constraints=limits)
    best, support = brute_force(problem)
    w = np.zeros(7)
    w[support] = problem.weights(support)
    assert dual_bound(problem, w, *best_multipliers(problem, w)) <= best + 1e-9


def test_bad_input_is_refused():
    """Negative multipliers would make the bound invalid; weights are one per rule."""
    problem = random_problem(1)
    w = np.zeros(problem.m)
    with pytest.raises(InvalidParameter, match="neither may be negative"):
        dual_bound(problem, w, -1.0, 0.0)
    with pytest.raises(InvalidParameter, match="neither may be negative"):
        dual_bound(problem, w, 0.0, float("nan"))
    with pytest.raises(InvalidParameter, match="one weight per rule"):
        best_multipliers(problem, np.zeros(problem.m + 1))


def test_fixings_that_leave_nothing_are_infeasible():
    """More rules fixed in than allowed, or a floor out of reach, have no best multipliers."""
    M, y = np.eye(4), np.ones(4)
    problem = Problem.from_matrix(M, y, [4, 3, 2, 1], max_rules=2, min_stability=6)
    w = np.zeros(4)
    with pytest.raises(InfeasibleProblem, match="fix fewer"):
        best_multipliers(problem, w, fixed_in=[0, 1, 2])
    with pytest.raises(InfeasibleProblem, match="fix fewer"):
        best_multipliers(problem, w, fixed_out=[0])
