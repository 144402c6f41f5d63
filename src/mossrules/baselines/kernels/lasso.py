"""Least squares with a price on weights, by coordinate descent on the Gram matrix."""

import numpy as np
from numba import njit

from mossrules._typing import FloatArray

REST = 0.01  # of the tolerance: steps that lower the objective by less than half of this


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
                r -= change * C[i]
                largest = max(largest, change * change * diagonal)
        if everywhere:
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
