"""Small dense systems: Cholesky factors in place, equations solved in one order, given signs.

Searches may reorder sums, and what they find rounds otherwise on other processors. The weights and
losses of models of numbers that are returned are computed by `solve_in_order`, which has the same
bits on all of them, and with any BLAS.
"""

from __future__ import annotations

import math

import numpy as np

from mossrules._compiled import njit
from mossrules._typing import BoolArray, FloatArray, IntArray

FAST = {"reassoc", "contract"}  # sums may be reordered, so that loops use vector instructions


@njit(cache=True, nogil=True, fastmath=FAST)
def factorise(A: FloatArray, n: int) -> bool:
    """Replace the lower triangle of the leading n x n block of A by its Cholesky factor.

    Returns False when a pivot is not positive.
    """
    for j in range(n):
        for i in range(j, n):
            total = 0.0
            for p in range(j):
                total += A[i, p] * A[j, p]
            total = A[i, j] - total
            if i > j:
                A[i, j] = total / A[j, j]
            elif total > 0.0:
                A[j, j] = math.sqrt(total)
            else:
                return False
    return True


@njit(cache=True, nogil=True, fastmath=FAST)
def solve_lower(L: FloatArray, n: int, b: FloatArray) -> None:
    """Replace b by L^-1 b."""
    for i in range(n):
        total = 0.0
        for p in range(i):
            total += L[i, p] * b[p]
        b[i] = (b[i] - total) / L[i, i]


@njit(cache=True, nogil=True, fastmath=FAST)
def solve_upper(L: FloatArray, n: int, b: FloatArray) -> None:
    """Replace b by L'^-1 b."""
    for i in range(n - 1, -1, -1):
        b[i] /= L[i, i]
        x = b[i]
        for p in range(i):
            b[p] -= L[i, p] * x


def solve_in_order(A: FloatArray, b: FloatArray) -> FloatArray:
    """Return x with A x = b, by plain elimination with the largest pivots."""
    left, x = np.array(A, dtype=np.float64), np.array(b, dtype=np.float64)
    if not eliminate(left, x):
        raise np.linalg.LinAlgError("The matrix is singular.")
    return x


@njit(cache=True, nogil=True)  # without fast mathematics, which is another one on each processor
def eliminate(A: FloatArray, b: FloatArray) -> bool:
    """Replace b by A^-1 b, and A by what is of no use; return False where A is singular."""
    n = len(b)
    for j in range(n):
        pivot = j
        for i in range(j + 1, n):
            if abs(A[i, j]) > abs(A[pivot, j]):
                pivot = i
        if A[pivot, j] == 0.0:
            return False
        if pivot != j:
            for p in range(j, n):
                A[j, p], A[pivot, p] = A[pivot, p], A[j, p]
            b[j], b[pivot] = b[pivot], b[j]
        for i in range(j + 1, n):
            factor = A[i, j] / A[j, j]
            for p in range(j + 1, n):
                A[i, p] -= factor * A[j, p]
            b[i] -= factor * b[j]
    for i in range(n - 1, -1, -1):
        for p in range(i + 1, n):
            b[i] -= A[i, p] * b[p]
        b[i] /= A[i, i]
    return True


# --- weights of given signs ---------------------------------------------------------------------

# A small quadratic program, solved to the end by active sets:
#
#     min 1/2 w'Aw - q'w   with s_i w_i >= 0 where s_i != 0                (A positive definite)
#
# This is the algorithm of Lawson and Hanson (1974) with variables of free sign always active. Where
# w_i = 0 the rule has no part: s_i (q - A w)_i <= 0 says that it would have to push the wrong way.
# `scipy.optimize.nnls` solves the same for all signs given, but not from compiled code.


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
