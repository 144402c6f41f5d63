import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.datasets import load_diabetes

from mossrules import find_candidates
from mossrules.solver import Options, Problem, solve
from mossrules.solver.bounds.duality import best_multipliers, dual_bound
from mossrules.solver.kernels.relaxation import (
    _nth_largest,
    ascend,
    first_multipliers,
    gather,
    lower_and_upper,
    residual_of,
    scatter,
    sweep,
)
from mossrules.solver.kernels.state import IN, OUT, Node, make_node, make_node_workspace
from support.nodes import data_of, feasible_node, random_node
from support.oracles import brute_force

SEEDS = st.integers(0, 10**6)


def random_start(case, rng):
    """Return the node at weights and multipliers of several kinds, good and bad."""
    data = case.data
    w = np.zeros(len(data.q))
    S = np.append(case.inside, rng.permutation(case.free)[: int(case.K)])
    kind = rng.integers(4)
    if kind < 2:
        w[S] = case.problem.weights(S) * (1.0 if kind else rng.normal())
    elif kind == 2:
        w[:] = rng.normal(size=len(w)) * np.abs(case.problem.weights(S)).max(initial=1e-9)
    w[case.decision == OUT] = 0.0
    gain = 0.5 * data.gamma * (data.q - data.G @ w) ** 2
    lam = float(gain.max()) * rng.choice([0.0, 1e-3, 0.3, 1.0, 100.0])
    mu = float(gain.max()) / (1 + data.counts.max()) * rng.choice([0.0, 0.0, 1e-3, 0.3, 100.0])
    return case.at(w, lam, mu)


def centred(case, node):
    """Return K, E/K and the multipliers centred there, as kernels take them."""
    (lam, mu), centre = node.multipliers, case.E / case.K
    return case.K, centre, lam - mu * centre, mu


def size_of_residuals(data, w):
    """Return what the entries of q and G w may be as large as."""
    return np.abs(data.q).max() + np.abs(data.G).max() * np.abs(w).sum()


def penalty(x, t, gamma):
    """Return the reverse-Huber penalty by its definition as a minimum over z in (0, 1]."""
    if t <= 0:
        return x**2 / (2 * gamma) + t
    z = min(1.0, abs(x) / math.sqrt(2 * gamma * t))
    return x**2 / (2 * gamma * z) + t * z if z > 0 else 0.0


# --- values ---------------------------------------------------------------------------------------


@given(SEEDS)
@settings(deadline=None, max_examples=200)
def test_the_lower_value_is_the_plain_dual_bound(seed):
    """At any weights, multipliers and fixings L is that of the formula."""
    case = feasible_node(seed)
    node = random_start(case, np.random.default_rng(seed))
    exact = node.r.copy()
    node.r[:] = np.nan
    residual_of(case.data, node.w, node.r)
    np.testing.assert_allclose(node.r, exact, atol=1e-13 * size_of_residuals(case.data, node.w))
    lower, _ = lower_and_upper(case.data, node, *centred(case, node))
    # Selections have exactly k rules here, and at most max_rules there.
    lam, mu = node.multipliers
    expected = dual_bound(case.problem, node.w, lam, mu)
    expected += lam * (case.problem.max_rules - case.problem.size)
    assert lower == pytest.approx(expected, rel=1e-9, abs=1e-9 * case.data.half_yy)


@given(SEEDS)
@settings(deadline=None, max_examples=100)
def test_the_upper_value_is_the_penalised_loss(seed):
    """Phi is the ridge loss with a price on z, and no L at the same multipliers is above it."""
    case = feasible_node(seed)
    data, rng = case.data, np.random.default_rng(seed)
    node = random_start(case, rng)
    (lam, mu), w, values = node.multipliers, node.w, centred(case, node)
    _, upper = lower_and_upper(data, node, *values)
    t = lam - mu * data.counts
    expected = data.half_yy - data.q @ w + w @ data.G @ w / 2 - lam * case.K + mu * case.E
    expected += sum(w[i] ** 2 / (2 * data.gamma) for i in case.inside)
    expected += sum(penalty(w[i], t[i], data.gamma) for i in case.free)
    size = data.half_yy + w @ data.G @ w + (lam + mu * data.counts.max()) * len(w)
    assert upper == pytest.approx(expected, abs=1e-9 * size)
    other = random_start(case, rng)
    lower, _ = lower_and_upper(data, other, *values)
    assert lower <= upper + 1e-9 * (size + other.w @ data.G @ other.w)


@given(SEEDS)
@settings(deadline=None, max_examples=100)
def test_sweeps_find_the_weights_of_given_multipliers(seed):
    """Coordinate descent on the dense copy closes the gap between L and Phi."""
    case = feasible_node(seed, strongest=1)
    data, copy = case.data, make_node_workspace(len(case.data.q))
    node = random_start(case, np.random.default_rng(seed))
    values, unit = (data, node, *centred(case, node)), size_of_residuals(data, node.w)
    _, first = lower_and_upper(*values)
    tiny = 1e-12 * abs(first)  # where y is all zero, the size of what the start leaves to round
    for _ in range(200):
        _, before = lower_and_upper(*values)
        n = gather(data, node, *values[3:], copy)
        sweep(data.gamma, copy, n, 20, 0.0)
        scatter(data, copy, n, node.w, node.r)
        _, upper = lower_and_upper(*values)
        assert upper <= before + 1e-9 * (abs(before) + data.half_yy + tiny)
    lower, upper = lower_and_upper(*values)
    size = abs(lower) + data.half_yy + node.multipliers[0] * len(node.w) + tiny
    assert upper - lower <= 1e-4 * size
    np.testing.assert_allclose(node.r, data.q - data.G @ node.w, atol=1e-9 * unit)
    assert not node.w[case.decision == OUT].any()


# --- the ascent -----------------------------------------------------------------------------------


@given(SEEDS, st.integers(0, 40), st.floats(0, 2))
@example(5986, 1, 0.0)  # L is exact here but for rounding: multipliers are 10^7 times the loss
@settings(deadline=None, max_examples=400)
def test_no_selection_has_a_loss_below_the_bound(seed, steps, share):
    """From any start, after any number of steps, the bound is below every loss of the node."""
    case = feasible_node(seed, strongest=8)
    data = case.data
    node = random_start(case, np.random.default_rng(seed))
    (lam, mu), w = node.multipliers.copy(), node.w
    unit, slack = size_of_residuals(data, w), 1e-9 * data.half_yy + 1e-12 * (w @ data.G @ w)
    # Multipliers far above every loss cancel in L, and leave the rounding of what cancelled.
    slack += np.finfo(float).eps * len(w) * (lam + mu * data.counts.max())
    first = dual_bound(case.problem, w, lam, mu)
    first += lam * (case.problem.max_rules - case.problem.size)
    best, _ = brute_force(case.problem)
    copy = make_node_workspace(len(w))
    bound, taken = ascend(data, node, case.K, case.E, share * best, steps, copy)
    assert bound <= best + slack
    assert bound >= first - 1e-9 * (data.half_yy + abs(first))
    assert 0 <= taken <= steps
    np.testing.assert_array_equal(node.decision, case.decision)
    assert not w[node.decision == OUT].any()
    assert node.multipliers[1] >= 0
    assert node.multipliers[0] >= -1e-9 * (data.half_yy + lam + mu * abs(case.E))
    # r is carried along, and must still be that of w: fixing by the bound rests on it.
    unit += size_of_residuals(data, w)
    np.testing.assert_allclose(node.r, data.q - data.G @ w, atol=1e-10 * unit)


def relaxation_by_scipy(problem):
    """Return the least relaxed loss over the polytope, by sequential quadratic programming."""
    counts, half = problem.statistics.counts, problem.statistics.yy / 2
    low, high = np.zeros(problem.m), np.ones(problem.m)
    low[list(problem.fixed_in)], high[list(problem.fixed_out)] = 1, 0
    order = np.argsort(-(counts + 1e9 * low - 1e9 * (1 - high)), kind="stable")
    z = np.isin(np.arange(problem.m), order[: problem.size])
    found = minimize(
        lambda z: problem.relaxed_loss(np.clip(z, 0, 1)) / half,
        0.9 * z + 0.05 * (low + high),
        jac=lambda z: problem.gradient(np.clip(z, 0, 1)) / half,
        bounds=np.column_stack([low, high]),
        constraints=[
            {"type": "ineq", "fun": lambda z: problem.size - z.sum()},
            {"type": "ineq", "fun": lambda z: (counts @ z - problem.min_stability) / 10},
        ],
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 1000},
    )
    z = np.clip(found.x, low, high)
    assert found.success
    assert counts @ z >= problem.min_stability - 1e-6
    assert z.sum() <= problem.size + 1e-6
    return problem.relaxed_loss(z)


@pytest.fixture(scope="module")
def real_rules():
    """Return the statistics of candidate rules for the diabetes data."""
    X, y = load_diabetes(return_X_y=True)
    settings = {"n_trees": 200, "max_candidates": 25, "generator": "paper-forest", "n_jobs": 1}
    return find_candidates(X, y, **settings).statistics


def test_the_bound_reaches_the_relaxation(real_rules):
    """Starting from the incumbent, the bound is near what a general solver finds for the node."""
    rng, missing = np.random.default_rng(0), []
    for depth, share in itertools.product([0, 2, 4], [0.0, 0.8, 0.95]):
        problem = Problem(real_rules, max_rules=6, gamma=0.05)
        problem = problem.at(int(share * problem.max_stability_unlimited))
        support = solve(problem, options=Options(gap=0.0)).support
        inside = rng.permutation(support)[:depth]
        outside = rng.permutation(np.setdiff1d(np.arange(problem.m), support))[: 2 * depth]
        problem = replace(problem, fixed_in=inside, fixed_out=outside)
        best, data = problem.loss(support), data_of(problem)
        decision, w = np.zeros(problem.m, np.int8), np.zeros(problem.m)
        decision[inside], decision[outside], w[support] = IN, OUT, problem.weights(support)
        K, E = 6.0 - depth, problem.min_stability - data.counts[inside].sum()
        node = Node(decision, w, data.q - data.G @ w, np.zeros(2))
        node.multipliers[:] = first_multipliers(data, node, K, E)
        bound, _ = ascend(data, node, K, E, best, 40, make_node_workspace(problem.m))
        relaxed = relaxation_by_scipy(problem)
        assert bound <= relaxed + 1e-6 * best
        missing.append((relaxed - bound) / (best - relaxed))
    assert np.median(missing) < 0.03
    assert max(missing) < 0.25


def test_a_bound_above_the_cutoff_ends_the_ascent_at_once():
    """A node that is cut off by what it inherits costs no step."""
    case = random_node(3)
    copy = make_node_workspace(len(case.data.q))
    node = case.at(np.zeros(case.problem.m))
    first, _ = lower_and_upper(case.data, node, case.K, 0.0, 0.0, 0.0)
    assert ascend(case.data, node, case.K, 0.0, first, 40, copy) == (first, 0)
    assert ascend(case.data, node, case.K, 0.0, 1e9, 0, copy) == (first, 0)


# --- the first multipliers ------------------------------------------------------------------------


@given(SEEDS)
@settings(deadline=None, max_examples=200)
def test_the_first_multipliers_price_the_right_rules(seed):
    """They are not negative, and enough rules to meet the floor are worth their price."""
    case = feasible_node(seed)
    data, node = case.data, random_start(case, np.random.default_rng(seed))
    lam, mu = first_multipliers(data, node, case.K, case.E)
    assert min(lam, mu) >= 0
    score = data.gamma / 2 * node.r**2 + mu * data.counts
    worth = case.free[score[case.free] >= lam - 1e-9 * score.max()]
    assert len(worth) >= case.K
    if np.isfinite(mu) and score.max() > 0:
        assert data.counts[worth].sum() >= case.E


@given(st.lists(st.integers(-3, 3) | st.floats(allow_nan=False), min_size=1), st.data())
def test_the_nth_largest_is_that_of_a_sort(values, data):
    """Whatever the order and however many are equal; what lies behind the first n is left alone."""
    values = np.array([*values, np.inf])
    n = data.draw(st.integers(1, len(values) - 1))
    nth = data.draw(st.integers(1, n))
    expected, behind = np.sort(values[:n])[::-1], values[n:].copy()
    assert _nth_largest(values, n, nth) == expected[nth - 1]
    np.testing.assert_array_equal(np.sort(values[:n])[::-1], expected)
    np.testing.assert_array_equal(values[n:], behind)


def test_the_first_multipliers_are_nearly_the_best():
    """On the weights of a selection they prove all but a little of what the best ones do."""
    lost = []
    for seed in range(200):
        case = random_node(seed)
        if case.K == 0 or case.problem.size < case.problem.max_rules:
            continue
        support = next(case.selections(), None)
        if support is None:
            continue
        data, w = case.data, np.zeros(case.problem.m)
        w[support] = case.problem.weights(support)
        near = first_multipliers(data, case.at(w), case.K, case.E)
        values = [
            dual_bound(case.problem, w, *pair) for pair in (near, best_multipliers(case.problem, w))
        ]
        lost.append((values[1] - values[0]) / (data.half_yy + abs(values[1]) or 1.0))
    assert len(lost) > 80
    assert min(lost) > -1e-9
    assert np.quantile(lost, 0.9) < 0.02


def test_the_price_of_the_floor_is_what_reaching_it_costs():
    """Without a floor lambda is the K-th largest gain; with one, mu lifts what must come in."""
    data = random_node(3).data
    m = len(data.q)
    data = data._replace(counts=(np.arange(m) == m - 1).astype(float))
    node = make_node(m)
    node.r[:] = np.arange(m, 0, -1.0)
    gain = data.gamma / 2 * node.r**2
    assert first_multipliers(data, node, 2.0, 0.0) == pytest.approx((gain[1], 0.0))
    lam, mu = first_multipliers(data, node, 2.0, 1.0)
    assert lam <= gain[-1] + mu
    assert mu == pytest.approx(gain[1] - gain[-1], rel=0.02)
    node.decision[0] = IN
    assert first_multipliers(data, node, 2.0, 0.0) == pytest.approx((gain[2], 0.0))
