import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mossrules.solver.kernels.newton import (
    damping,
    linearise,
    move,
    multiplier_step,
    penalised,
)
from mossrules.solver.kernels.relaxation import gather, lower_and_upper
from mossrules.solver.kernels.state import OUT, make_node_workspace
from support.nodes import random_node

SEEDS = st.integers(0, 10**6)
REALS = st.floats(-1e3, 1e3)


def dense_copy(seed):
    """Return a case, its node at random weights and prices, the dense copy, and its size."""
    case = random_node(seed, strongest=2)
    data, rng = case.data, np.random.default_rng(seed)
    S = np.append(case.inside, rng.permutation(case.free)[: 1 + int(case.K)]).astype(np.int64)
    w = np.zeros(len(data.q))
    w[S] = case.problem.weights(S)
    w[case.decision == OUT] = 0.0
    gain = data.gamma / 2 * (data.q - data.G @ w) ** 2
    lam = float(np.quantile(gain, rng.uniform(0.2, 1.0)))
    mu = float(rng.choice([0.0, 0.2])) * float(gain.max()) / (1 + data.counts.max())
    node, copy = case.at(w, lam, mu), make_node_workspace(len(data.q))
    return case, node, copy, gather(data, node, 0.0, lam, mu, copy)


@given(SEEDS)
@settings(deadline=None, max_examples=100)
def test_the_dense_copy_is_that_of_the_rules_that_matter(seed):
    """Fixed and weighted rules are all there, and the rows, weights and prices are theirs."""
    case, node, copy, n = dense_copy(seed)
    rules, (lam, mu) = copy.rules[:n], node.multipliers
    assert set(np.flatnonzero(node.w)) | set(case.inside) <= set(rules)
    assert not (case.decision[rules] == OUT).any()
    np.testing.assert_array_equal(copy.G[:n, :n], case.data.G[np.ix_(rules, rules)])
    np.testing.assert_array_equal(copy.w[:n], node.w[rules])
    np.testing.assert_array_equal(copy.r[:n], node.r[rules])
    np.testing.assert_allclose(copy.price[:n], lam - mu * case.data.counts[rules])
    np.testing.assert_array_equal(copy.forced[:n], np.isin(rules, case.inside))


@given(SEEDS)
@settings(deadline=None, max_examples=100)
def test_phi_on_the_copy_differs_from_phi_by_what_weights_leave_alone(seed):
    """Between two sets of weights, Phi changes on the copy as it does for all rules."""
    case, node, copy, n = dense_copy(seed)
    data, rules = case.data, copy.rules[:n]
    w = np.zeros(len(node.w))
    w[rules] = node.w[rules] * np.random.default_rng(seed).uniform(-1, 2, n)
    other = case.at(w)
    here = penalised(data, copy, n, copy.w, copy.r)
    there = penalised(data, copy, n, other.w[rules], other.r[rules])
    values = (case.K, 0.0, *node.multipliers)
    _, full_here = lower_and_upper(data, node, *values)
    _, full_there = lower_and_upper(data, other, *values)
    size = data.half_yy + abs(full_here) + abs(full_there)
    expected = full_there - full_here
    assert there - here == pytest.approx(expected, abs=1e-9 * size)


@given(SEEDS)
@settings(deadline=None, max_examples=200)
def test_a_step_of_the_weights_never_raises_phi(seed):
    """The Newton step is taken in full, in part or not at all, and r stays that of the weights."""
    case, _, copy, n = dense_copy(seed)
    data, G = case.data, copy.G[:n, :n]
    before, start = penalised(data, copy, n, copy.w, copy.r), copy.w[:n].copy()
    n_active, *_ = linearise(data.gamma, copy, n, case.K)
    if n_active < 0:
        return
    r = copy.r[:n] + G @ start
    move(data, copy, n, n_active, 0.0, 0.0)
    after = penalised(data, copy, n, copy.w, copy.r)
    assert after <= before
    size = np.abs(r).max(initial=0.0) + np.abs(G).max(initial=0.0) * np.abs(start).sum()
    np.testing.assert_allclose(copy.r[:n], r - G @ copy.w[:n], atol=1e-9 * size)
    free = copy.forced[:n] == 0
    assert (copy.w[:n][free] * start[free] >= 0).all()  # no weight changes its sign


@given(
    st.tuples(REALS, REALS),
    st.tuples(st.floats(0, 100), REALS, st.floats(0, 100)),
    st.tuples(REALS, st.floats(0, 10), REALS),
)
@example((0.0, 468.0), (1.0, 0.0, 2.6e-306), (0.0, 0.0, 0.0))  # a step that overflows
@example((0.0, 468.0), (1.0, 0.0, 2.6e-306), (0.0, 0.0, -1.0))
@settings(deadline=None, max_examples=300)
def test_steps_of_the_multipliers_stay_where_bounds_hold(gradient, curvature, place):
    """After a full step mu and lambda + mu centre are not negative, up to rounding."""
    lam, mu, centre = place
    lam = max(lam, -mu * centre)
    d0, d1 = multiplier_step(*gradient, *curvature, lam, mu, centre)
    size = 1 + abs(lam) + abs(d0) + abs((mu + d1) * centre)
    assert math.isfinite(size)
    assert mu + d1 >= 0
    assert lam + d0 + (mu + d1) * centre >= -1e-12 * size
    if curvature[0] == 0:
        assert (d0, d1) == (0.0, 0.0)


def test_a_step_of_the_multipliers_solves_two_equations():
    """Away from the limits, H d = g; where mu is at 0, only lambda moves."""
    H = np.array([[4.0, 1.0], [1.0, 3.0]])
    step = multiplier_step(2.0, 5.0, 4.0, 1.0, 3.0, 1.0, 1.0, 0.0)
    np.testing.assert_allclose(H @ step, [2.0, 5.0])
    assert multiplier_step(2.0, -5.0, 4.0, 1.0, 3.0, 1.0, 0.0, 0.0) == (0.5, 0.0)
    assert multiplier_step(-8.0, 0.0, 4.0, 0.0, 0.0, 1.0, 0.0, 7.0) == (-1.0, 0.0)


@given(SEEDS, REALS, st.floats(-10, 10))
@settings(deadline=None, max_examples=100)
def test_no_fractional_price_loses_more_than_it_has(seed, d0, d1):
    """At the share returned, prices between 0 and z = 1 stay positive and at most triple."""
    case, _, copy, n = dense_copy(seed)
    share = damping(copy, n, d0, d1, case.data.gamma)
    assert 0 < share <= 1
    price, counts = copy.price[:n], copy.counts[:n]
    after = price + share * (d0 - d1 * counts)
    knee = np.sqrt(2 * case.data.gamma * np.maximum(price, 0.0))
    between = (copy.forced[:n] == 0) & (price > 0) & (np.abs(copy.w[:n]) < knee)
    assert (after[between] >= 0.3 * price[between] * (1 - 1e-9)).all()
    assert (after[between] <= 3.0 * price[between] * (1 + 1e-9)).all()
