"""One-exchange local search in closed form.

With A = G + I/gamma, B = (A_SS)^-1, w = B q_S and P = B G_S., the loss of every swap i -> j is

    H2(S - i + j) - H2(S) = 1/2 w_i^2 / B_ii - 1/2 (a_j + P_ij w_i / B_ii)^2 / (d_j + P_ij^2 / B_ii)

where a_j = q_j - G_jS w is what j correlates with the residual, and d_j = A_jj - G_jS P_.j is what
is left of its column. One round costs O(k^2 m) for P and O(k m) for all swaps.

Where weights may not be negative, those that would be are 0, and their rules are left out of B and
P; what the formula says of a swap is then a guess, and the loss itself decides.
"""

from __future__ import annotations

import numpy as np

from mossrules._compiled import njit
from mossrules._typing import BoolArray, FloatArray, IntArray
from mossrules.solver.kernels.fixing import keeps_with_change
from mossrules.solver.kernels.linalg import (
    FAST,
    factorise,
    nonnegative_weights,
    solve_lower,
    solve_upper,
)
from mossrules.solver.kernels.state import Data


@njit(cache=True, nogil=True)
def invert(data: Data, support: IntArray, w: FloatArray, factor: FloatArray, B: FloatArray) -> bool:
    """Fill B (k, k) with (G_SS + I/gamma)^-1; False when the matrix is not positive definite.

    Rules whose weights are held at 0 are left out: theirs is the row and column of the identity.
    """
    k = support.shape[0]
    for a in range(k):
        held = data.bounded[support[a]] and w[a] == 0.0
        for b in range(a):
            held_too = held or (data.bounded[support[b]] and w[b] == 0.0)
            factor[a, b] = 0.0 if held_too else data.G[support[a], support[b]]
        factor[a, a] = 1.0 if held else data.G[support[a], support[a]] + 1.0 / data.gamma
    if not factorise(factor, k):
        return False
    for a in range(k):
        for b in range(k):
            B[a, b] = 1.0 if a == b else 0.0
        solve_lower(factor, k, B[a])
        solve_upper(factor, k, B[a])
    return True


@njit(cache=True, nogil=True)
def explained_by(data: Data, support: IntArray, k: int, factor: FloatArray, w: FloatArray) -> float:
    """Return q_S' w / 2 at the best w of the first k rules: the drop from yy/2 to H2(S)."""
    negative = False
    for a in range(k):
        for b in range(a + 1):
            factor[a, b] = data.G[support[a], support[b]]
        factor[a, a] += 1.0 / data.gamma
        w[a] = data.q[support[a]]
    if not factorise(factor, k):
        return -np.inf
    solve_lower(factor, k, w)
    solve_upper(factor, k, w)
    total = 0.0
    for a in range(k):
        total += w[a] * data.q[support[a]]
        negative |= data.bounded[support[a]] and w[a] < 0.0
    # Most selections have no weight of the wrong sign, and need no active sets.
    if negative:
        A, q, x, bounded = np.empty((k, k)), np.empty(k), np.empty(k), np.empty(k, np.bool_)
        for a in range(k):
            for b in range(k):
                A[a, b] = data.G[support[a], support[b]]
            A[a, a] += 1.0 / data.gamma
            q[a], bounded[a] = data.q[support[a]], data.bounded[support[a]]
        if not nonnegative_weights(A, q, bounded, x):
            return -np.inf
        total = 0.0
        for a in range(k):
            w[a] = x[a]
            total += x[a] * q[a]
    return 0.5 * total


@njit(cache=True, nogil=True, fastmath=FAST)
def projections(
    data: Data,
    support: IntArray,
    B: FloatArray,
    w: FloatArray,
    P: FloatArray,
    a: FloatArray,
    d: FloatArray,
) -> None:
    """Fill P = B G_S., a = q - G_.S w and d = diag(A) - diag(G_.S P) for every rule."""
    k, m = support.shape[0], data.q.shape[0]
    # Sums run along rows of G, which lie in memory one after the other; G is symmetric.
    for j in range(m):
        a[j] = data.q[j]
        d[j] = data.G[j, j] + 1.0 / data.gamma
    for i in range(k):
        for j in range(m):
            P[i, j] = 0.0
        if data.bounded[support[i]] and w[i] == 0.0:
            continue
        for s in range(k):
            row = data.G[support[s]]
            x = B[i, s]
            for j in range(m):
                P[i, j] += x * row[j]
    for s in range(k):
        row = data.G[support[s]]
        for j in range(m):
            a[j] -= row[j] * w[s]
            d[j] -= row[j] * P[s, j]


@njit(cache=True, nogil=True)
def best_swap(
    data: Data,
    min_stability: float,
    allowed: BoolArray,
    support: IntArray,
    first: int,
    B: FloatArray,
    w: FloatArray,
    P: FloatArray,
    a: FloatArray,
    d: FloatArray,
) -> tuple[int, int, float]:
    """Return the position in the support, the rule to put there and the change in H2."""
    k, m, counts = support.shape[0], data.q.shape[0], data.counts
    constrained = data.constraints.b.shape[0] > 0
    total = 0.0
    for s in range(k):
        total += counts[support[s]]
    best, leaves, enters = 0.0, -1, -1
    for i in range(first, k):
        b = B[i, i]
        scale = w[i] / b
        lost = 0.5 * w[i] * scale
        needed = min_stability - total + counts[support[i]]
        for j in range(m):
            if allowed[j] and counts[j] >= needed:
                # What is left of a column is at least its ridge, which rounding may lose.
                left = max(d[j], 1e-9 / data.gamma) + P[i, j] * P[i, j] / b
                u = a[j] + P[i, j] * scale
                if data.signed and u < 0.0 and data.bounded[j]:
                    u = 0.0
                change = lost - 0.5 * u * u / left
                if change < best and (
                    not constrained
                    or keeps_with_change(data.constraints, support, k, support[i], j)
                ):
                    best, leaves, enters = change, i, j
    return leaves, enters, best


@njit(cache=True, nogil=True)
def improve_by_swaps(
    data: Data,
    min_stability: float,
    allowed: BoolArray,
    support: IntArray,
    first: int,
    rounds: int,
) -> float:
    """Swap until no exchange lowers H2 or `rounds` are used up; return q_S' w / 2 at the end.

    `allowed` marks the rules that may enter and are not in the support; `support[:first]` stays.
    The support is changed in place, and `allowed` with it. Its stability must be at least
    `min_stability`, it must keep the constraints, and both stays so.
    """
    k, m = support.shape[0], data.q.shape[0]
    factor, B, P = np.empty((k, k)), np.empty((k, k)), np.empty((k, m))
    w, a, d = np.empty(k), np.empty(m), np.empty(m)
    value = explained_by(data, support, k, factor, w)
    for _ in range(rounds):
        if not invert(data, support, w, factor, B):
            break
        projections(data, support, B, w, P, a, d)
        leaves, enters, _change = best_swap(
            data, min_stability, allowed, support, first, B, w, P, a, d
        )
        if leaves < 0:
            break
        old = support[leaves]
        support[leaves] = enters
        changed = explained_by(data, support, k, factor, w)
        # The closed form rounds otherwise than the loss where columns are nearly parallel; without
        # this look, two selections could be exchanged for each other until the rounds are over.
        if changed <= value * (1.0 + 1e-12):  # rounding: the swap did not help after all
            support[leaves] = old
            explained_by(data, support, k, factor, w)
            break
        value = changed
        allowed[enters], allowed[old] = False, True
    return value
