"""A Newton step on the weights and both multipliers of a relaxed node; notation in `relaxation`.

The unknowns are w on the active rules (w_i != 0, or t_i <= 0, or fixed in), lambda and mu. With w
eliminated, two equations are left for the multipliers.
"""

from __future__ import annotations

import math

import numpy as np

from mossrules._compiled import njit
from mossrules._typing import FloatArray
from mossrules.solver.kernels.linalg import FAST, factorise, solve_lower, solve_upper
from mossrules.solver.kernels.state import Data, NodeWorkspace

SHIFT = 1e-5  # of the diagonal: dependent columns make the Newton matrix singular


@njit(cache=True, nogil=True)
def penalty(x: float, t: float, gamma: float) -> float:
    """Return the reverse-Huber penalty p(x; t) of a free rule, for a price t > 0."""
    knee = math.sqrt(2.0 * gamma * t)
    size = abs(x)
    return size * knee / gamma if size <= knee else 0.5 * x * x / gamma + t


@njit(cache=True, nogil=True)
def penalised(data: Data, workspace: NodeWorkspace, n: int, w: FloatArray, r: FloatArray) -> float:
    """Return Phi on the dense copy, up to terms that do not depend on w."""
    gamma = data.gamma
    total = 0.0
    for a in range(n):
        x = w[a]
        if x == 0.0:
            continue
        total -= 0.5 * x * (data.q[workspace.rules[a]] + r[a])
        t = workspace.price[a]
        if workspace.forced[a] == 1 or t <= 0.0:
            total += 0.5 * x * x / gamma
        else:
            total += penalty(x, t, gamma)
    return total


@njit(cache=True, nogil=True)
def linearise(
    gamma: float, workspace: NodeWorkspace, n: int, rules_left: float
) -> tuple[int | np.int64, float, float, float, float, float]:
    """Set up the Newton system of (w, lambda, mu) at the dense copy and factorise its w block.

    Returns the number of active rules, the derivatives of the dual by lambda and mu, and its
    (negated) second derivatives with w eliminated; `residual`, `by_lambda` and `by_mu` are left
    multiplied by the inverse of the lower factor.
    """
    s = workspace
    n_active = np.int64(0)
    size, moment, h00, h01, h11 = 0.0, 0.0, 0.0, 0.0, 0.0
    for a in range(n):
        t, x = s.price[a], s.w[a]
        ridge = s.forced[a] == 1 or t <= 0.0
        if not ridge and x == 0.0:
            continue
        if x == 0.0 and s.bounded[a] and s.r[a] <= 0.0:  # z is 1, and the weight stays at 0
            if s.forced[a] == 0:
                size += 1.0
                moment += s.counts[a]
            continue
        s.active[n_active] = a
        tau = z = 0.0
        if not ridge:
            tau = math.sqrt(2.0 * t / gamma)
            z = abs(x) / (gamma * tau)
            ridge = z >= 1.0
        if ridge:
            s.residual[n_active] = x / gamma - s.r[a]
            s.by_lambda[n_active] = s.by_mu[n_active] = 0.0
            s.matrix[n_active, n_active] = 1.0 / gamma
            if s.forced[a] == 0:
                size += 1.0
                moment += s.counts[a]
        else:
            slope = math.copysign(1.0 / (gamma * tau), x)
            s.residual[n_active] = math.copysign(tau, x) - s.r[a]
            s.by_lambda[n_active] = slope
            s.by_mu[n_active] = -slope * s.counts[a]
            s.matrix[n_active, n_active] = SHIFT * (s.diagonal[a] + 0.1 / gamma)
            bend = z / (gamma * tau * tau)
            h00 += bend
            h01 -= bend * s.counts[a]
            h11 += bend * s.counts[a] * s.counts[a]
            size += z
            moment += z * s.counts[a]
        n_active += 1
    # Weights are eliminated by the Cholesky factor of their block, the dearest part of a step on
    # the dense copy: n^3 / 6 multiplications for n active rules.
    for a in range(n_active):
        row = s.G[s.active[a]]
        extra = s.matrix[a, a]
        for b in range(a + 1):
            s.matrix[a, b] = row[s.active[b]]
        s.matrix[a, a] += extra
    if not factorise(s.matrix, n_active):
        return -1, 0.0, 0.0, 0.0, 0.0, 0.0
    solve_lower(s.matrix, n_active, s.residual)
    solve_lower(s.matrix, n_active, s.by_lambda)
    solve_lower(s.matrix, n_active, s.by_mu)
    g0, g1, shift0, shift1 = size - rules_left, -moment, 0.0, 0.0
    for a in range(n_active):
        h00 += s.by_lambda[a] * s.by_lambda[a]
        h01 += s.by_lambda[a] * s.by_mu[a]
        h11 += s.by_mu[a] * s.by_mu[a]
        shift0 -= s.by_lambda[a] * s.residual[a]
        shift1 -= s.by_mu[a] * s.residual[a]
    # While w is far from its optimum, what the linearisation says of z is worth nothing.
    if abs(shift0) > 0.5 + 0.5 * abs(g0):
        return n_active, 0.0, 0.0, 0.0, 0.0, 0.0
    return n_active, g0 + shift0, g1 + shift1, h00, h01, h11


@njit(cache=True, nogil=True)
def multiplier_step(
    g0: float, g1: float, h00: float, h01: float, h11: float, lam: float, mu: float, centre: float
) -> tuple[float, float]:
    """Return the Newton step of the multipliers, within mu >= 0 and lambda + mu centre >= 0."""
    if h00 <= 0.0:
        return 0.0, 0.0
    d0, d1 = g0 / h00, 0.0
    determinant = h00 * h11 - h01 * h01
    if determinant > 1e-10 * h00 * h11:
        d0 = (g0 * h11 - g1 * h01) / determinant
        d1 = (h00 * g1 - h01 * g0) / determinant
    if mu + d1 < 0.0:  # along the edge, lambda alone is free
        d1 = -mu
        d0 = (g0 - h01 * d1) / h00
    if lam + d0 + (mu + d1) * centre < 0.0:
        d0 = -(lam + (mu + d1) * centre)
    if not math.isfinite(d0 + (mu + d1) * centre):  # a curvature next to nothing: no step
        return 0.0, 0.0
    return d0, d1


@njit(cache=True, nogil=True)
def damping(workspace: NodeWorkspace, n: int, d0: float, d1: float, gamma: float) -> float:
    """Return the share of a step at which no price of a rule below z = 1 changes too much."""
    share = 1.0
    for a in range(n):
        t = workspace.price[a]
        if workspace.forced[a] == 1 or t <= 0.0:
            continue
        if abs(workspace.w[a]) >= math.sqrt(2.0 * gamma * t):
            continue
        change = d0 - d1 * workspace.counts[a]
        # Penalties change their shape with the price: beyond this the model is of another function.
        if change < -0.7 * t:
            share = min(share, -0.7 * t / change)
        elif change > 2.0 * t:
            share = min(share, 2.0 * t / change)
    return share


@njit(cache=True, nogil=True, fastmath=FAST)
def move(data: Data, workspace: NodeWorkspace, n: int, n_active: int, d0: float, d1: float) -> None:
    """Take the Newton step of w that belongs to a step of the multipliers, unless it raises Phi.

    Prices must be the new ones. Weights stop at zero.
    """
    s = workspace
    for a in range(n_active):
        s.residual[a] = -(s.residual[a] + s.by_lambda[a] * d0 + s.by_mu[a] * d1)
    solve_upper(s.matrix, n_active, s.residual)
    now = penalised(data, s, n, s.w, s.r)
    share = 1.0
    for _ in range(2):
        for a in range(n):
            s.trial_w[a] = s.w[a]
            s.trial_r[a] = s.r[a]
        to_zero = 1.0
        for p in range(n_active):
            a = s.active[p]
            x = s.w[a] + share * s.residual[p]
            if (s.forced[a] == 0 or s.bounded[a]) and x * s.w[a] < 0.0:
                to_zero = min(to_zero, -s.w[a] / s.residual[p])
                x = 0.0
            elif s.bounded[a] and x < 0.0:
                x = 0.0
            change = x - s.w[a]
            s.trial_w[a] = x
            row = s.G[a]
            for b in range(n):
                s.trial_r[b] -= row[b] * change
        if penalised(data, s, n, s.trial_w, s.trial_r) < now:
            for a in range(n):
                s.w[a] = s.trial_w[a]
                s.r[a] = s.trial_r[a]
            break
        share = to_zero
