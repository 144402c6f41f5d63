"""Compiled loops of the baselines: arrays in, arrays out, and what is changed is changed in place.

`descend_lasso` is coordinate descent on a Gram matrix; `descend_blocks`, with `fuse`, `threshold`,
`block_step` and `apply_step`, is block coordinate descent; `sum_by_code` and `weigh_overlaps` are
sums over the rows of conjunctions. The order of operations is part of the results: weights are
compared bit by bit with those of earlier versions.

Block coordinate descent
------------------------
Minimises  1/2 |y - M u|^2 + sum_c P(w_c) + f sum_b sum_j |w_(b,j+1) - w_(b,j)|  over w. Several
columns c may be the same rule i, and u_i is the sum of their weights; blocks b are consecutive
columns; and P is the minimax concave penalty of price p_c and concavity g L_b (g = 0 is the
lasso's p_c |w_c|):

    P(w) = p |w| - g L w^2 / 2  while g L |w| <= p,  and p^2 / (2 g L) beyond.

L_b is the largest eigenvalue of the block's Gram matrix. A block's step minimises the function in
which that matrix is replaced by L_b times the identity, which lies above and touches at w: with
g < 1 it is convex, so the step never goes up. Its minimum is the fusion's, thresholded: the
threshold is a monotone function, so neighbours keep the order, or equality, they have after fusing.
"""

from __future__ import annotations

import numpy as np

from mossrules._compiled import njit
from mossrules._typing import BoolArray, CodeArray, FloatArray, IntArray

REST = 0.01  # of the tolerance: steps that lower the objective by less than half of this

# --- the LASSO ------------------------------------------------------------------------------------


@njit(nogil=True, cache=True)
def descend_lasso(
    C: FloatArray,
    c: FloatArray,
    yy: float,
    penalties: FloatArray,
    tolerance: float,
    max_sweeps: int,
    w: FloatArray,
    r: FloatArray,
) -> float:
    """Minimise 1/2 (yy - 2 c'w + w'C w) + sum_i penalties_i |w_i|, in place; return the gap left.

    `r` is c - C w, on entry and on return. Sweeps go over the weights that are not zero until they
    rest, then once over all; it ends when the duality gap is at most `tolerance`.
    """
    m = c.shape[0]
    gap = np.inf
    everywhere = True
    for _ in range(max_sweeps):
        # A sweep costs m for each weight that changes, and most weights stay zero: those are left
        # alone until the others rest.
        largest = 0.0
        for i in range(m):
            diagonal = C[i, i]
            if diagonal <= 0.0 or not (everywhere or w[i] != 0.0):
                continue
            u = r[i] + diagonal * w[i]
            shrunk = max(abs(u) - penalties[i], 0.0)
            new = np.copysign(shrunk, u) / diagonal if shrunk > 0.0 else 0.0
            change = new - w[i]
            if change != 0.0:
                w[i] = new
                # One row of C for each change, in place of a product with all of C.
                r -= change * C[i]
                largest = max(largest, change * change * diagonal)
        if everywhere:
            # A bound needs all columns to be nearly worth their price: not before a full sweep.
            gap = _duality_gap(c, yy, penalties, w, r)
            if gap <= tolerance:
                break
        everywhere = not everywhere and largest <= REST * tolerance
    return gap


@njit(nogil=True, cache=True)
def _duality_gap(
    c: FloatArray, yy: float, penalties: FloatArray, w: FloatArray, r: FloatArray
) -> float:
    """Return how far the objective at w is from a lower bound made from its own residual."""
    # Scaled down until no column is worth more than its price, the residual is feasible for the
    # dual problem max_t t'y - |t|^2 / 2, so what that makes of it is a lower bound.
    price = 0.0
    shrink = 1.0  # of the residual, until no column is worth more than its price
    target_residual = yy  # y'(y - Zw)
    residual = yy  # |y - Zw|^2
    for i in range(c.shape[0]):
        price += penalties[i] * abs(w[i])
        target_residual -= c[i] * w[i]
        residual -= (c[i] + r[i]) * w[i]
        if abs(r[i]) > penalties[i]:
            shrink = min(shrink, penalties[i] / abs(r[i]))
    primal = 0.5 * residual + price
    return primal - (shrink * target_residual - 0.5 * shrink * shrink * residual)


# --- blocks ---------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def fuse(values: FloatArray, strength: float, fused: FloatArray) -> None:
    """Write argmin_x |x - values|^2 / 2 + strength * sum_j |x_(j+1) - x_j| into `fused`.

    The running sums of x are the string pulled taut through a tube of radius `strength` around
    those of the values, tied at both ends: from each knot on, steepest lower and flattest upper
    wall are followed until they cross.
    """
    # Each knot begins anew, which is quadratic at worst; blocks are the few leaves of a tree.
    n = values.shape[0]
    sums = np.zeros(n + 1)
    for j in range(n):
        sums[j + 1] = sums[j] + values[j]
    knot, height = 0, 0.0
    while knot < n:
        low, high = -np.inf, np.inf  # slopes that stay inside the tube
        low_at = high_at = knot
        bend, bend_height, slope = n, sums[n], 0.0
        for k in range(knot + 1, n + 1):
            radius = strength if k < n else 0.0
            below = (sums[k] - radius - height) / (k - knot)
            above = (sums[k] + radius - height) / (k - knot)
            if below > high:
                bend, bend_height, slope = high_at, sums[high_at] + strength, high
                break
            if above < low:
                bend, bend_height, slope = low_at, sums[low_at] - strength, low
                break
            if below >= low:
                low, low_at = below, k
            if above <= high:
                high, high_at = above, k
            slope = above  # at the end of the string there is no room: above is below
        for j in range(knot, bend):
            fused[j] = slope
        knot, height = bend, float(bend_height)


@njit(cache=True, nogil=True)
def threshold(value: float, price: float, concavity: float) -> float:
    """Return argmin_x (x - value)^2 / 2 + P(x) for the penalty P of L = 1."""
    size = abs(value)
    if concavity * size > price:
        return value
    if size <= price:
        return 0.0
    return np.sign(value) * (size - price) / (1.0 - concavity)


@njit(cache=True, nogil=True)
def block_step(
    first: int,
    stop: int,
    L: float,
    rules: IntArray,
    price: FloatArray,
    concavity: float,
    fusion: float,
    w: FloatArray,
    r: FloatArray,
    step: FloatArray,
) -> float:
    """Write the step of columns first..stop-1 into `step` and return L |step|^2.

    The objective falls by at least half of that times 1 - concavity.
    """
    n = stop - first
    if L <= 0.0:
        step[:n] = 0.0
        return 0.0
    target = np.empty(n)
    for j in range(n):
        target[j] = w[first + j] + r[rules[first + j]] / L
    if fusion > 0.0 and n > 1:
        fuse(target.copy(), fusion / L, target)
    total = 0.0
    for j in range(n):
        step[j] = threshold(target[j], price[first + j] / L, concavity) - w[first + j]
        total += L * step[j] * step[j]
    return total


@njit(cache=True, nogil=True)
def apply_step(
    first: int,
    stop: int,
    rules: IntArray,
    G: FloatArray,
    step: FloatArray,
    w: FloatArray,
    r: FloatArray,
) -> None:
    """Add a step to w and keep r = q - G u, in place."""
    for j in range(stop - first):
        if step[j] != 0.0:
            w[first + j] += step[j]
            row = G[rules[first + j]]
            for i in range(r.shape[0]):
                r[i] -= step[j] * row[i]


@njit(cache=True, nogil=True)
def descend_blocks(
    G: FloatArray,
    rules: IntArray,
    offsets: IntArray,
    L: FloatArray,
    price: FloatArray,
    concavity: float,
    fusion: float,
    tolerance: float,
    max_sweeps: int,
    w: FloatArray,
    r: FloatArray,
) -> int:
    """Sweep over the active blocks; after each sweep, activate the block that would move most.

    Updates w and r = q - G u in place, and returns the number of sweeps, or -1 where more are
    needed. Block b is the columns offsets[b]..offsets[b+1]-1, and column c is rule rules[c].
    It ends when one more sweep over all blocks would move by no more than `tolerance` in
    sum_b L_b |step_b|^2, a bound on twice the fall that it would bring to first order.
    """
    n_blocks = offsets.shape[0] - 1
    step = np.empty(np.max(offsets[1:] - offsets[:-1]))
    active = np.empty(n_blocks, dtype=np.int64)
    is_active = np.zeros(n_blocks, dtype=np.bool_)
    n_active = 0
    for b in range(n_blocks):
        if np.any(w[offsets[b] : offsets[b + 1]] != 0.0):
            active[n_active] = b
            is_active[b] = True
            n_active += 1
    # Of thousands of trees, tens keep a weight: only those are swept over. The authors let the
    # block join whose smallest subgradient is the largest; steps are measured in units of the
    # objective, alike for all blocks, and the test of convergence needs them anyway.
    for sweep in range(max_sweeps):
        moved = 0.0
        for k in range(n_active):
            b = active[k]
            first, stop = offsets[b], offsets[b + 1]
            moved += block_step(first, stop, L[b], rules, price, concavity, fusion, w, r, step)
            apply_step(first, stop, rules, G, step, w, r)
        largest, best = 0.0, -1
        for b in range(n_blocks):
            if is_active[b]:
                continue
            first, stop = offsets[b], offsets[b + 1]
            # Fusing never makes the largest size larger: most blocks are out, and better so.
            size, cheapest = 0.0, np.inf
            for c in range(first, stop):
                size = max(size, abs(r[rules[c]]))
                cheapest = min(cheapest, price[c])
            if size <= cheapest:
                continue
            gain = block_step(first, stop, L[b], rules, price, concavity, fusion, w, r, step)
            moved += gain
            if gain > largest:
                largest, best = gain, b
        if moved <= tolerance:
            return sweep + 1
        if best >= 0:
            active[n_active] = best
            is_active[best] = True
            n_active += 1
    return -1


# --- conjunctions ---------------------------------------------------------------------------------


@njit(nogil=True, cache=True)
def sum_by_code(
    codes: CodeArray, values: FloatArray, holds: BoolArray, above: FloatArray, below: FloatArray
) -> None:
    """Add the positive values of some rows to `above` and the sizes of the others to `below`.

    In place, by column and code: `above[j, codes[j, r]] += values[r]` where `holds[r]`.
    """
    # A long conjunction holds on few rows: they are looked up once for all columns.
    rows = np.flatnonzero(holds)
    for j in range(codes.shape[0]):
        column = codes[j]
        for r in rows:
            value = values[r]
            if value > 0.0:
                above[j, column[r]] += value
            else:
                below[j, column[r]] -= value


@njit(nogil=True, cache=True)
def weigh_overlaps(
    members: BoolArray, other: BoolArray, weights: FloatArray, overlaps: FloatArray
) -> None:
    """Write the total weight of the rows that each member shares with another set of rows."""
    rows = np.flatnonzero(other)
    for i in range(members.shape[0]):
        member = members[i]
        total = 0.0
        for r in rows:
            if member[r]:
                total += weights[r]
        overlaps[i] = total
