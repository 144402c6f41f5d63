import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.datasets import load_diabetes

from mossrules import find_candidates
from mossrules.solver import Options, Problem, solve
from mossrules.solver.bounds.duality import best_multipliers, dual_bound
from mossrules.solver.kernels.relaxation import (
    ascend,
    gather,
    lower_and_upper,
    residual_of,
    scatter,
    sweep,
)
from mossrules.solver.kernels.root import _nth_largest, first_multipliers
from mossrules.solver.kernels.state import IN, OUT, make_small
from support.cases import data_of, random_node
from support.oracles import brute_force

SEEDS = st.integers(0, 10**6)


def feasible_node(seed, **settings):
    """Return a node with something to choose and a feasible selection."""
    node = random_node(seed, **settings)
    assume(node.room > 0 and next(node.selections(), None) is not None)
    return node


def random_start(node, rng):
    """Return weights and multipliers of several kinds, good and bad."""
    data = node.data
    w = np.zeros(len(data.q))
    S = np.append(node.inside, rng.permutation(node.free)[: int(node.room)])
    kind = rng.integers(4)
    if kind < 2:
        w[S] = node.problem.weights(S) * (1.0 if kind else rng.normal())
    elif kind == 2:
        w[:] = rng.normal(size=len(w)) * np.abs(node.problem.weights(S)).max(initial=1e-9)
    w[node.fate == OUT] = 0.0
    gain = 0.5 * data.gamma * (data.q - data.G @ w) ** 2
    lam = float(gain.max()) * rng.choice([0.0, 1e-3, 0.3, 1.0, 100.0])
    mu = float(gain.max()) / (1 + data.counts.max()) * rng.choice([0.0, 0.0, 1e-3, 0.3, 100.0])
    return w, lam, mu


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
    node = feasible_node(seed)
    w, lam, mu = random_start(node, np.random.default_rng(seed))
    r = np.full(len(w), np.nan)
    residual_of(node.data, w, r)
    exact = node.data.q - node.data.G @ w
    np.testing.assert_allclose(r, exact, atol=1e-13 * size_of_residuals(node.data, w))
    centre = node.floor / node.room
    lower, _ = lower_and_upper(node.data, node.fate, node.room, centre, lam - mu * centre, mu, w, r)
    # Selections have exactly k rules here, and at most max_rules there.
    expected = dual_bound(node.problem, w, lam, mu)
    expected += lam * (node.problem.max_rules - node.problem.size)
    assert lower == pytest.approx(expected, rel=1e-9, abs=1e-9 * node.data.half)


@given(SEEDS)
@settings(deadline=None, max_examples=100)
def test_the_upper_value_is_the_penalised_loss(seed):
    """Phi is the ridge loss with a price on z, and no L at the same multipliers is above it."""
    node = feasible_node(seed)
    data, rng = node.data, np.random.default_rng(seed)
    w, lam, mu = random_start(node, rng)
    r, centre = data.q - data.G @ w, node.floor / node.room
    values = (node.room, centre, lam - mu * centre, mu)
    _, upper = lower_and_upper(data, node.fate, *values, w, r)
    t = lam - mu * data.counts
    expected = data.half - data.q @ w + w @ data.G @ w / 2 - lam * node.room + mu * node.floor
    expected += sum(w[i] ** 2 / (2 * data.gamma) for i in node.inside)
    expected += sum(penalty(w[i], t[i], data.gamma) for i in node.free)
    size = data.half + w @ data.G @ w + (lam + mu * data.counts.max()) * len(w)
    assert upper == pytest.approx(expected, abs=1e-9 * size)
    other, _, _ = random_start(node, rng)
    lower, _ = lower_and_upper(data, node.fate, *values, other, data.q - data.G @ other)
    assert lower <= upper + 1e-9 * (size + other @ data.G @ other)


@given(SEEDS)
@settings(deadline=None, max_examples=100)
def test_sweeps_find_the_weights_of_given_multipliers(seed):
    """Coordinate descent on the small copy closes the gap between L and Phi."""
    node = feasible_node(seed, strongest=1)
    data = node.data
    w, lam, mu = random_start(node, np.random.default_rng(seed))
    r, small, unit = data.q - data.G @ w, make_small(), size_of_residuals(data, w)
    centre = node.floor / node.room
    values = (data, node.fate, node.room, centre, lam - mu * centre, mu, w, r)
    _, first = lower_and_upper(*values)
    tiny = 1e-12 * abs(first)  # where y is all zero, the size of what the start leaves to round
    for _ in range(200):
        _, before = lower_and_upper(*values)
        n = gather(data, node.fate, centre, lam - mu * centre, mu, w, r, small)
        sweep(data.gamma, small, n, 20, 0.0)
        scatter(data, small, n, w, r)
        _, upper = lower_and_upper(*values)
        assert upper <= before + 1e-9 * (abs(before) + data.half + tiny)
    lower, upper = lower_and_upper(*values)
    size = abs(lower) + data.half + lam * len(w) + tiny
    assert upper - lower <= 1e-4 * size
    np.testing.assert_allclose(r, data.q - data.G @ w, atol=1e-9 * unit)
    assert not w[node.fate == OUT].any()


# --- the ascent -----------------------------------------------------------------------------------


@given(SEEDS, st.integers(0, 40), st.floats(0, 2))
@example(5986, 1, 0.0)  # L is exact here but for rounding: multipliers are 10^7 times the loss
@settings(deadline=None, max_examples=400)
def test_no_selection_has_a_loss_below_the_bound(seed, steps, share):
    """From any start, after any number of steps, the bound is below every loss of the node."""
    node = feasible_node(seed, strongest=8)
    data, fate = node.data, node.fate.copy()
    w, lam, mu = random_start(node, np.random.default_rng(seed))
    r, multipliers = data.q - data.G @ w, np.array([lam, mu])
    unit, slack = size_of_residuals(data, w), 1e-9 * data.half + 1e-12 * (w @ data.G @ w)
    # Multipliers far above every loss cancel in L, and leave the rounding of what cancelled.
    slack += np.finfo(float).eps * len(w) * (lam + mu * data.counts.max())
    first = dual_bound(node.problem, w, lam, mu)
    first += lam * (node.problem.max_rules - node.problem.size)
    best, _ = brute_force(node.problem)
    bound, taken = ascend(
        data, fate, node.room, node.floor, w, r, multipliers, share * best, steps, make_small()
    )
    assert bound <= best + slack
    assert bound >= first - 1e-9 * (data.half + abs(first))
    assert 0 <= taken <= steps
    np.testing.assert_array_equal(fate, node.fate)
    assert not w[fate == OUT].any()
    assert multipliers[1] >= 0
    assert multipliers[0] >= -1e-9 * (data.half + lam + mu * abs(node.floor))
    # r is carried along, and must still be that of w: fixing by the bound rests on it.
    unit += size_of_residuals(data, w)
    np.testing.assert_allclose(r, data.q - data.G @ w, atol=1e-10 * unit)


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
    return find_candidates(X, y, n_trees=200, max_candidates=25, n_jobs=1).statistics


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
        fate, w = np.zeros(problem.m, np.int8), np.zeros(problem.m)
        fate[inside], fate[outside], w[support] = IN, OUT, problem.weights(support)
        room, floor = 6.0 - depth, problem.min_stability - data.counts[inside].sum()
        r = data.q - data.G @ w
        multipliers = np.array(first_multipliers(data, fate, room, floor, r))
        bound, _ = ascend(data, fate, room, floor, w, r, multipliers, best, 40, make_small())
        relaxed = relaxation_by_scipy(problem)
        assert bound <= relaxed + 1e-6 * best
        missing.append((relaxed - bound) / (best - relaxed))
    assert np.median(missing) < 0.03
    assert max(missing) < 0.25


def test_a_bound_above_the_cutoff_ends_the_ascent_at_once():
    """A node that is cut off by what it inherits costs no step."""
    node = random_node(3)
    data, w = node.data, np.zeros(node.problem.m)
    r, multipliers = data.q.copy(), np.zeros(2)
    first, _ = lower_and_upper(data, node.fate, node.room, 0.0, 0.0, 0.0, w, r)
    small = make_small()
    bound, taken = ascend(data, node.fate, node.room, 0.0, w, r, multipliers, first, 40, small)
    assert (bound, taken) == (first, 0)
    bound, taken = ascend(data, node.fate, node.room, 0.0, w, r, multipliers, 1e9, 0, small)
    assert (bound, taken) == (first, 0)


# --- the first multipliers ------------------------------------------------------------------------


@given(SEEDS)
@settings(deadline=None, max_examples=200)
def test_the_first_multipliers_price_the_right_rules(seed):
    """They are not negative, and enough rules to meet the floor are worth their price."""
    node = feasible_node(seed)
    data = node.data
    w, _, _ = random_start(node, np.random.default_rng(seed))
    r = data.q - data.G @ w
    lam, mu = first_multipliers(data, node.fate, node.room, node.floor, r)
    assert min(lam, mu) >= 0
    score = data.gamma / 2 * r**2 + mu * data.counts
    worth = node.free[score[node.free] >= lam - 1e-9 * score.max()]
    assert len(worth) >= node.room
    if np.isfinite(mu) and score.max() > 0:
        assert data.counts[worth].sum() >= node.floor


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
        node = random_node(seed)
        if node.room == 0 or node.problem.size < node.problem.max_rules:
            continue
        if next(node.selections(), None) is None:
            continue
        data, w = node.data, np.zeros(node.problem.m)
        support = next(node.selections())
        w[support] = node.problem.weights(support)
        r = data.q - data.G @ w
        found = first_multipliers(data, node.fate, node.room, node.floor, r)
        values = [
            dual_bound(node.problem, w, *pair)
            for pair in (found, best_multipliers(node.problem, w))
        ]
        lost.append((values[1] - values[0]) / (data.half + abs(values[1]) or 1.0))
    assert len(lost) > 80
    assert min(lost) > -1e-9
    assert np.quantile(lost, 0.9) < 0.02


def test_the_price_of_the_floor_is_what_reaching_it_costs():
    """Without a floor lambda is the K-th largest gain; with one, mu lifts what must come in."""
    node = random_node(3)
    m = len(node.fate)
    data = node.data._replace(counts=(np.arange(m) == m - 1).astype(float))
    fate, r = np.zeros(m, np.int8), np.arange(m, 0, -1.0)
    gain = data.gamma / 2 * r**2
    assert first_multipliers(data, fate, 2.0, 0.0, r) == pytest.approx((gain[1], 0.0))
    lam, mu = first_multipliers(data, fate, 2.0, 1.0, r)
    assert lam <= gain[-1] + mu
    assert mu == pytest.approx(gain[1] - gain[-1], rel=0.02)
    fate[0] = IN
    assert first_multipliers(data, fate, 2.0, 0.0, r) == pytest.approx((gain[2], 0.0))
