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
from mossrules.solver.kernels.state import OUT, make_small
from support.cases import random_node

SEEDS = st.integers(0, 10**6)
REALS = st.floats(-1e3, 1e3)


def small_copy(seed):
    """Return a node, its small copy at random weights and prices, and how many rules that has."""
    node = random_node(seed, strongest=2)
    data, rng = node.data, np.random.default_rng(seed)
    S = np.append(node.inside, rng.permutation(node.free)[: 1 + int(node.room)]).astype(np.int64)
    w = np.zeros(len(data.q))
    w[S] = node.problem.weights(S)
    w[node.fate == OUT] = 0.0
    r = data.q - data.G @ w
    gain = data.gamma / 2 * r**2
    lam = float(np.quantile(gain, rng.uniform(0.2, 1.0)))
    mu = float(rng.choice([0.0, 0.2])) * float(gain.max()) / (1 + data.counts.max())
    small = make_small()
    n = gather(data, node.fate, 0.0, lam, mu, w, r, small)
    return node, small, n, (lam, mu, w, r)


@given(SEEDS)
@settings(deadline=None, max_examples=100)
def test_the_small_copy_is_that_of_the_rules_that_matter(seed):
    """Fixed and weighted rules are all there, and the rows, weights and prices are theirs."""
    node, small, n, (lam, mu, w, r) = small_copy(seed)
    rules = small.rules[:n]
    assert set(np.flatnonzero(w)) | set(node.inside) <= set(rules)
    assert not (node.fate[rules] == OUT).any()
    np.testing.assert_array_equal(small.G[:n, :n], node.data.G[np.ix_(rules, rules)])
    np.testing.assert_array_equal(small.w[:n], w[rules])
    np.testing.assert_array_equal(small.r[:n], r[rules])
    np.testing.assert_allclose(small.price[:n], lam - mu * node.data.counts[rules])
    np.testing.assert_array_equal(small.forced[:n], np.isin(rules, node.inside))


@given(SEEDS)
@settings(deadline=None, max_examples=100)
def test_phi_on_the_copy_differs_from_phi_by_what_weights_leave_alone(seed):
    """Between two sets of weights, Phi changes on the copy as it does for all rules."""
    node, small, n, (lam, mu, w, r) = small_copy(seed)
    data, rules = node.data, small.rules[:n]
    other = np.zeros(len(w))
    other[rules] = w[rules] * np.random.default_rng(seed).uniform(-1, 2, n)
    residual = data.q - data.G @ other
    here = penalised(data, small, n, small.w, small.r)
    there = penalised(data, small, n, other[rules], residual[rules])
    _, full_here = lower_and_upper(data, node.fate, node.room, 0.0, lam, mu, w, r)
    _, full_there = lower_and_upper(data, node.fate, node.room, 0.0, lam, mu, other, residual)
    size = data.half + abs(full_here) + abs(full_there)
    expected = full_there - full_here
    assert there - here == pytest.approx(expected, abs=1e-9 * size)


@given(SEEDS)
@settings(deadline=None, max_examples=200)
def test_a_step_of_the_weights_never_raises_phi(seed):
    """The Newton step is taken in full, in part or not at all, and r stays that of the weights."""
    node, small, n, _ = small_copy(seed)
    data, rules = node.data, small.rules[:n]
    before, start = penalised(data, small, n, small.w, small.r), small.w[:n].copy()
    n_active, *_ = linearise(data.gamma, small, n, node.room)
    if n_active < 0:
        return
    r = small.r[:n] + data.G[np.ix_(rules, rules)] @ start
    move(data, small, n, n_active, 0.0, 0.0)
    after = penalised(data, small, n, small.w, small.r)
    assert after <= before
    size = (
        np.abs(r).max(initial=0.0) + np.abs(small.G[:n, :n]).max(initial=0.0) * np.abs(start).sum()
    )
    np.testing.assert_allclose(
        small.r[:n], r - data.G[np.ix_(rules, rules)] @ small.w[:n], atol=1e-9 * size
    )
    free = small.forced[:n] == 0
    assert (small.w[:n][free] * start[free] >= 0).all()  # no weight changes its sign


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
    node, small, n, _ = small_copy(seed)
    share = damping(small, n, d0, d1, node.data.gamma)
    assert 0 < share <= 1
    price, counts = small.price[:n], small.counts[:n]
    after = price + share * (d0 - d1 * counts)
    knee = np.sqrt(2 * node.data.gamma * np.maximum(price, 0.0))
    between = (small.forced[:n] == 0) & (price > 0) & (np.abs(small.w[:n]) < knee)
    assert (after[between] >= 0.3 * price[between] * (1 - 1e-9)).all()
    assert (after[between] <= 3.0 * price[between] * (1 + 1e-9)).all()
