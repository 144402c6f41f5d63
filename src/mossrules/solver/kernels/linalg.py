"""Cholesky factorisation of small dense blocks, in place, and equations solved in one order.

Searches may reorder sums, and what they find rounds otherwise on other processors. The weights and
losses of models of numbers that are returned are computed by `solve_in_order`, which has the same
bits on all of them, and with any BLAS.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from mossrules._typing import FloatArray

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
