"""Weights whose signs are given: a small quadratic program, solved to the end by active sets.

    min 1/2 w'Aw - q'w   with s_i w_i >= 0 where s_i != 0                    (A positive definite)

This is the algorithm of Lawson and Hanson (1974) with variables of free sign always active. Where
w_i = 0 the rule has no part: s_i (q - A w)_i <= 0 says that it would have to push the wrong way.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from mossrules._typing import BoolArray, FloatArray, IntArray
from mossrules.solver.kernels.linalg import factorise, solve_in_order, solve_lower, solve_upper


@njit(cache=True, nogil=True)
def _solve_active(
    A: FloatArray, q: FloatArray, active: BoolArray, factor: FloatArray, x: FloatArray
) -> bool:
    """Fill x with A^-1 q on the active variables and 0 elsewhere; False if that fails."""
    places, part = np.empty(q.shape[0], np.int64), np.empty(q.shape[0])
    n = np.int64(0)
    for i in range(q.shape[0]):
        x[i] = 0.0
        if active[i]:
            places[n] = i
            n += 1
    for a in range(n):
        for b in range(a + 1):
            factor[a, b] = A[places[a], places[b]]
        part[a] = q[places[a]]
    if not factorise(factor, n):
        return False
    solve_lower(factor, n, part)
    solve_upper(factor, n, part)
    for a in range(n):
        x[places[a]] = part[a]
    return True


@njit(cache=True, nogil=True)
def nonnegative_weights(A: FloatArray, q: FloatArray, bounded: BoolArray, w: FloatArray) -> bool:
    """Fill w with the minimiser where w_i >= 0 for `bounded` i; False if a factorisation fails."""
    n = q.shape[0]
    factor, x = np.empty((n, n)), np.empty(n)
    active = np.empty(n, np.bool_)
    barred = np.zeros(n, np.bool_)  # came in and went out at once: rounding, and no descent
    for i in range(n):
        active[i] = not bounded[i]
    if not _solve_active(A, q, active, factor, w):
        return False
    for _ in range(10 * n):
        enters = _best_to_enter(A, q, active, barred, w)
        if enters < 0:
            break
        active[enters] = True
        while True:
            if not _solve_active(A, q, active, factor, x):
                return False
            share, leaves = 1.0, -1
            for i in range(n):
                if active[i] and bounded[i] and x[i] <= 0.0:
                    step = w[i] / (w[i] - x[i]) if w[i] > x[i] else 0.0
                    if step < share or leaves < 0:
                        share, leaves = min(share, step), i
            for i in range(n):
                w[i] += share * (x[i] - w[i])
            if leaves < 0:
                break
            w[leaves] = 0.0
            active[leaves] = False
        barred[enters] = not active[enters]
    return True


@njit(cache=True, nogil=True)
def _best_to_enter(
    A: FloatArray, q: FloatArray, active: BoolArray, barred: BoolArray, w: FloatArray
) -> int:
    """Return the variable at 0 by which most can be gained, 1/2 g_i^2 / A_ii, or -1."""
    best, enters = 0.0, -1
    for i in range(q.shape[0]):
        if active[i] or barred[i]:
            continue
        g, size = q[i], abs(q[i])
        for j in range(q.shape[0]):
            g -= A[i, j] * w[j]
            size += abs(A[i, j] * w[j])
        if g > 1e-13 * size and g * g / A[i, i] > best:
            best, enters = g * g / A[i, i], i
    return enters


def signed_weights(A: FloatArray, q: FloatArray, signs: IntArray) -> FloatArray:
    """Return the minimiser where s_i w_i >= 0 for every sign s_i that is not 0."""
    flip = np.where(signs < 0, -1.0, 1.0)
    w = np.empty(len(q))
    if not nonnegative_weights(flip[:, None] * A * flip, flip * q, signs != 0, w):
        raise np.linalg.LinAlgError("The matrix of the weights is not positive definite.")
    w = flip * w + 0.0
    # Which weights are not 0 was found by sums in any order; what they are is computed in one.
    used = np.flatnonzero(w)
    exact = solve_in_order(A[np.ix_(used, used)], q[used])
    if (exact * w[used] > 0.0).all():  # but a weight next to 0 may round to the other side of it
        w[used] = exact
    return w
