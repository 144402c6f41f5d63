"""Cholesky factorisation of small dense blocks, in place."""

from __future__ import annotations

import math

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
