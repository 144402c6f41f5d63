"""The relaxation at a node: ascent on the dual bound, all in compiled code.

Notation
    In, Out, Free   rules fixed in, fixed out, and the rest (`decision` holds which)
    K, E            rules and stability still to be had from Free: k - |In| and eps - c(In)
    t_i             price of rule i: lambda - mu c_i + o_i
    o, a            offset and allowance of the constraints: o'z <= a for selections that keep them
    r               q - G w
    z_i             min(1, |w_i| / sqrt(2 gamma t_i)), and 1 where t_i <= 0

For given multipliers, w minimises the convex

    Phi(w) = yy/2 - q'w + w'Gw/2 + sum_In w_i^2 / (2 gamma) + sum_Free p(w_i; t_i) - lambda K + mu E
             + sum_In o_i - a

with the reverse-Huber penalty p(x; t) = |x| sqrt(2 t / gamma) while |x| <= sqrt(2 gamma t), and
x^2 / (2 gamma) + t beyond. For any w and any multipliers

    L = yy/2 - w'Gw/2 - sum_In (gamma/2) r_i^2 - sum_Free max(0, (gamma/2) r_i^2 - t_i)
        - lambda K + mu E + sum_In o_i - a

(with 0 in place of r_i where it is negative and the weight may not be) is a lower bound on H2 below
the node, and at the best w it equals Phi. The largest L over the multipliers is the value of the
relaxation. Its derivatives are sum z - K and E - c'z.

Multipliers are held in centred form, t_i = lambda - mu (c_i - E/K): then -lambda K is all that is
left of the last two terms, and the two multipliers hardly interact.

Few rules have w_i != 0 (20 to 60 of hundreds), so all work but one product with G is done on a
small dense copy of the rules that matter: coordinate descent finds which of them are at 0, between
and at 1, and a Newton step on (w, lambda, mu) together does the rest. A step costs O(nm) for n
rules that matter of m; descent alone is slow where columns are nearly parallel, and a Newton step
alone does not tell which weights are to be zero.
"""

from __future__ import annotations

import math

import numpy as np

from mossrules._compiled import njit
from mossrules._typing import BoolArray, FloatArray
from mossrules.solver.kernels.linalg import FAST
from mossrules.solver.kernels.newton import damping, linearise, move, multiplier_step, penalty
from mossrules.solver.kernels.state import CAPACITY, FREE, IN, OUT, Data, Node, NodeWorkspace

ENOUGH = 0.03  # of what is missing to the cutoff: a smaller gain is not worth another step
SWEEPS, MANY_SWEEPS = np.int64(6), np.int64(10)  # over the rules of a node between two steps


# --- values -------------------------------------------------------------------------------------


@njit(cache=True, nogil=True, fastmath=FAST)
def residual_of(data: Data, w: FloatArray, r: FloatArray) -> None:
    """Fill r = q - G w."""
    m = w.shape[0]
    for i in range(m):
        r[i] = data.q[i]
    for j in range(m):
        x = w[j]
        if x != 0.0:
            row = data.G[j]
            for i in range(m):
                r[i] -= row[i] * x


@njit(cache=True, nogil=True)
def gain_of(data: Data, i: int, r: float) -> float:
    """Return (gamma/2) r^2, what rule i asks to enter; nothing where its weight may not go."""
    if data.signed and r < 0.0 and data.bounded[i]:
        return 0.0
    return 0.5 * data.gamma * r * r


@njit(cache=True, nogil=True)
def lower_and_upper(
    data: Data, node: Node, rules_left: float, centre: float, lam: float, mu: float
) -> tuple[float, float]:
    """Return L and Phi at a node's w and the multipliers given, centred at `centre` = E/K.

    These need not be those of the node: the ascent tries others.
    """
    decision, w, r = node.decision, node.w, node.r
    lower = upper = data.half_yy - lam * rules_left - data.constraints.allowance
    gamma, offset = data.gamma, data.constraints.offset
    for i in range(w.shape[0]):
        x = w[i]
        if decision[i] == OUT:
            continue
        if x != 0.0:
            lower -= 0.5 * x * (data.q[i] - r[i])
            upper -= 0.5 * x * (data.q[i] + r[i])
        gain = gain_of(data, i, r[i])
        if decision[i] == IN:
            lower -= gain - offset[i]
            upper += 0.5 * x * x / gamma + offset[i]
            continue
        t = lam - mu * (data.counts[i] - centre) + offset[i]
        lower -= max(0.0, gain - t)
        # A price of no more than 0 puts the rule in: z is 1, and the penalty is the plain ridge.
        if t <= 0.0:
            upper += 0.5 * x * x / gamma + t
        elif x != 0.0:
            upper += penalty(x, t, gamma)
    return lower, upper


# --- the dense copy -----------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def gather(
    data: Data, node: Node, centre: float, lam: float, mu: float, workspace: NodeWorkspace
) -> int:
    """Copy the rules that matter: fixed in, with a weight, or asking to enter; return how many."""
    decision, w, r = node.decision, node.w, node.r
    offset = data.constraints.offset
    m = w.shape[0]
    asking, strongest = 0, 0.0
    for i in range(m):
        if decision[i] == FREE and w[i] == 0.0:
            t = max(0.0, lam - mu * (data.counts[i] - centre) + offset[i])
            excess = gain_of(data, i, r[i]) - t
            if excess > 0.0:
                asking += 1
                strongest = max(strongest, excess)
    # Far from the optimum many ask at once and few will stay: take the strongest of them.
    minimum = 0.0 if asking <= 32 else 0.2 * strongest
    n = 0
    for i in range(m):
        if decision[i] == OUT:
            continue
        t = lam - mu * (data.counts[i] - centre) + offset[i]
        asks = gain_of(data, i, r[i]) - max(0.0, t) > minimum
        if decision[i] == FREE and w[i] == 0.0 and not asks:
            continue
        # Rules that find no place are left as they are: any w gives a valid bound, so the bound is
        # only less good.
        if n == CAPACITY:
            break
        workspace.rules[n] = i
        workspace.forced[n] = 1 if decision[i] == IN else 0
        workspace.diagonal[n] = data.G[i, i]
        workspace.counts[n] = data.counts[i] - centre
        workspace.offset[n] = offset[i]
        workspace.bounded[n] = data.bounded[i]
        workspace.w[n] = w[i]
        workspace.r[n] = r[i]
        workspace.price[n] = t
        n += 1
    for a in range(n):
        row = data.G[workspace.rules[a]]
        for b in range(n):
            workspace.G[a, b] = row[workspace.rules[b]]
    return n


@njit(cache=True, nogil=True, fastmath=FAST)
def scatter(data: Data, workspace: NodeWorkspace, n: int, w: FloatArray, r: FloatArray) -> None:
    """Write the weights of the copy back and bring r = q - G w up to date for every rule."""
    m = w.shape[0]
    for a in range(n):
        i = workspace.rules[a]
        change = workspace.w[a] - w[i]
        if change != 0.0:
            w[i] = workspace.w[a]
            row = data.G[i]
            for j in range(m):
                r[j] -= row[j] * change


@njit(cache=True, nogil=True, fastmath=FAST)
def sweep(gamma: float, workspace: NodeWorkspace, n: int, sweeps: int, tolerance: float) -> None:
    """Coordinate descent on Phi at fixed multipliers; stops early when a sweep changes little."""
    for _ in range(sweeps):
        largest = 0.0
        for a in range(n):
            d = workspace.diagonal[a]
            u = workspace.r[a] + d * workspace.w[a]
            t = workspace.price[a]
            if u <= 0.0 and workspace.bounded[a]:
                x = 0.0
            elif workspace.forced[a] == 1 or t <= 0.0:
                x = u / (d + 1.0 / gamma)
            else:
                tau = math.sqrt(2.0 * t / gamma)
                size = abs(u)
                if size <= tau:
                    x = 0.0
                elif size <= tau * (1.0 + d * gamma):
                    x = math.copysign((size - tau) / d, u)
                else:
                    x = u / (d + 1.0 / gamma)
            change = x - workspace.w[a]
            if change != 0.0:
                workspace.w[a] = x
                row = workspace.G[a]
                for b in range(n):
                    workspace.r[b] -= row[b] * change
                largest = max(largest, change * change * (d + 1.0 / gamma))
        if largest < tolerance:
            break


# --- the ascent ---------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def ascend(
    data: Data,
    node: Node,
    rules_left: float,
    stability_left: float,
    cutoff: float,
    steps: int,
    workspace: NodeWorkspace,
) -> tuple[float, int]:
    """Raise the bound of a node until it reaches `cutoff`, stalls, or `steps` are used up.

    `rules_left` is K and `stability_left` E. The node's w, r = q - G w and multipliers (lambda and
    mu, not centred) are the start, and are left at the point of the largest bound, which is
    returned with the steps taken.
    """
    gamma = data.gamma
    centre = stability_left / rules_left
    lam, mu = node.multipliers[0] - node.multipliers[1] * centre, node.multipliers[1]
    best, best_lam, best_mu = -np.inf, lam, mu
    tolerance = 1e-9 * data.half_yy
    taken, trust, last0, last1 = 0, 1.0, 0.0, 0.0
    m, kept = node.w.shape[0], False  # whether the point of the best bound is in the workspace
    while True:
        lower, upper = lower_and_upper(data, node, rules_left, centre, lam, mu)
        if lower > best:
            best, best_lam, best_mu = lower, lam, mu
            kept = False
        if best >= cutoff or taken == steps:
            break
        if not kept:  # the bound is that of this point, which the step may leave for a worse one
            kept = True
            for i in range(m):
                workspace.best_w[i] = node.w[i]
                workspace.best_r[i] = node.r[i]
        taken += 1
        n = gather(data, node, centre, lam, mu, workspace)
        if upper < best - tolerance:  # these multipliers are worse, whatever w: go back
            lam = best_lam + 0.3 * (lam - best_lam)
            mu = best_mu + 0.3 * (mu - best_mu)
            trust *= 0.5
            for a in range(n):
                workspace.price[a] = lam - mu * workspace.counts[a] + workspace.offset[a]
            sweep(gamma, workspace, n, MANY_SWEEPS, tolerance)
            scatter(data, workspace, n, node.w, node.r)
            continue
        # Sweeps first: the Newton step takes as given which weights are 0, and they find that out.
        sweep(gamma, workspace, n, SWEEPS, tolerance)
        n_active, g0, g1, h00, h01, h11 = linearise(gamma, workspace, n, rules_left)
        if n_active >= 0:
            d0, d1 = multiplier_step(g0, g1, h00, h01, h11, lam, mu, centre)
            settled = h00 > 0.0
            if settled and g0 * d0 + g1 * d1 + upper - lower < ENOUGH * (cutoff - best):
                break
            # Dependent columns give the dual kinks, across which full steps go back and forth.
            agrees = h00 * d0 * last0 + h01 * (d0 * last1 + d1 * last0) + h11 * d1 * last1
            if settled:
                trust = min(1.0, 1.5 * trust) if agrees >= 0.0 else 0.5 * trust
                last0, last1 = d0, d1
            share = trust * damping(workspace, n, d0, d1, gamma)
            d0, d1 = share * d0, share * d1
            lam, mu = lam + d0, mu + d1
            for a in range(n):
                workspace.price[a] = lam - mu * workspace.counts[a] + workspace.offset[a]
            move(data, workspace, n, n_active, d0, d1)
        sweep(gamma, workspace, n, SWEEPS, tolerance)
        scatter(data, workspace, n, node.w, node.r)
    if kept:
        for i in range(m):
            node.w[i] = workspace.best_w[i]
            node.r[i] = workspace.best_r[i]
    node.multipliers[0] = best_lam + best_mu * centre
    node.multipliers[1] = best_mu
    return best, taken


# --- where the root begins ----------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _nth_largest(values: FloatArray, n: int, nth: int) -> float:
    """Return the nth largest of the first n values, and leave those in another order.

    `np.partition` does the same, but is long to compile.
    """
    low, high = 0, n - 1
    while low < high:
        pivot = values[(low + high) >> 1]
        i, j = low, high
        while i <= j:
            while values[i] > pivot:
                i += 1
            while values[j] < pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if nth <= j + 1:
            high = j
        elif nth > i:
            low = i
        else:
            break
    return values[nth - 1]


@njit(cache=True, nogil=True)
def _price(
    gain: FloatArray,
    counts: FloatArray,
    free: BoolArray,
    mu: float,
    rules_left: float,
    score: FloatArray,
) -> tuple[float, float]:
    """Return the K-th largest gain + mu c and the stability of the K rules that have it or more."""
    n = 0
    for i in range(gain.shape[0]):
        if free[i]:
            score[n] = gain[i] + mu * counts[i]
            n += 1
    minimum = _nth_largest(score, n, int(rules_left))
    stability = 0.0
    for i in range(gain.shape[0]):
        if free[i] and gain[i] + mu * counts[i] >= minimum:
            stability += counts[i]
    return minimum, stability


@njit(cache=True, nogil=True)
def first_multipliers(
    data: Data, node: Node, rules_left: float, stability_left: float
) -> tuple[float, float]:
    """Return lambda and mu that nearly minimise the dual of the knapsack over (gamma/2) r_i^2.

    For a given mu the best lambda is the K-th largest score; mu is the least for which the rules
    above it reach the floor, by bisection. Nearly is enough: the ascent goes on from there.
    """
    m = node.r.shape[0]
    gain, score, free = np.empty(m), np.empty(m), np.empty(m, np.bool_)
    largest, maximum = -np.inf, 1.0
    for i in range(m):
        gain[i] = gain_of(data, i, node.r[i]) - data.constraints.offset[i]
        free[i] = node.decision[i] == FREE
        largest, maximum = max(largest, gain[i]), max(maximum, data.counts[i])
    lam, stability = _price(gain, data.counts, free, 0.0, rules_left, score)
    if stability >= stability_left:
        return max(0.0, lam), 0.0
    # From here mu is bracketed: its first guess would lift a rule of the most counts to the top.
    low, high = 0.0, max(0.0, lam + largest) / maximum
    for _ in range(30):
        lam, stability = _price(gain, data.counts, free, high, rules_left, score)
        if stability >= stability_left:
            break
        low, high = high, 4.0 * high
    for _ in range(8):
        middle = 0.5 * (low + high)
        lam, stability = _price(gain, data.counts, free, middle, rules_left, score)
        if stability >= stability_left:
            high = middle
        else:
            low = middle
    lam, stability = _price(gain, data.counts, free, high, rules_left, score)
    return max(0.0, lam), high
