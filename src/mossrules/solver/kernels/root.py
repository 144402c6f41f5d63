"""The multipliers that the root of a search begins with."""

from __future__ import annotations

import numpy as np
from numba import njit

from mossrules._typing import AnyArray, BoolArray, FloatArray
from mossrules.solver.kernels.relaxation import gain_of
from mossrules.solver.kernels.state import FREE, Data


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
    taken: BoolArray,
    mu: float,
    room: float,
    score: FloatArray,
) -> tuple[float, float]:
    """Return the K-th largest gain + mu c and the stability of the K rules that have it or more."""
    n = 0
    for i in range(gain.shape[0]):
        if taken[i]:
            score[n] = gain[i] + mu * counts[i]
            n += 1
    least = _nth_largest(score, n, int(room))
    stability = 0.0
    for i in range(gain.shape[0]):
        if taken[i] and gain[i] + mu * counts[i] >= least:
            stability += counts[i]
    return least, stability


@njit(cache=True, nogil=True)
def first_multipliers(
    data: Data, fate: AnyArray, room: float, floor: float, r: FloatArray
) -> tuple[float, float]:
    """Return lambda and mu that nearly minimise the dual of the knapsack over (gamma/2) r_i^2.

    For a given mu the best lambda is the K-th largest score; mu is the least for which the rules
    above it reach the floor, by bisection. Nearly is enough: the ascent goes on from there.
    """
    m = r.shape[0]
    gain, score, taken = np.empty(m), np.empty(m), np.empty(m, np.bool_)
    largest, most = -np.inf, 1.0
    for i in range(m):
        gain[i] = gain_of(data, i, r[i]) - data.limits.offset[i]
        taken[i] = fate[i] == FREE
        largest, most = max(largest, gain[i]), max(most, data.counts[i])
    lam, stability = _price(gain, data.counts, taken, 0.0, room, score)
    if stability >= floor:
        return max(0.0, lam), 0.0
    low, high = 0.0, max(0.0, lam + largest) / most
    for _ in range(30):
        lam, stability = _price(gain, data.counts, taken, high, room, score)
        if stability >= floor:
            break
        low, high = high, 4.0 * high
    for _ in range(8):
        middle = 0.5 * (low + high)
        lam, stability = _price(gain, data.counts, taken, middle, room, score)
        if stability >= floor:
            high = middle
        else:
            low = middle
    lam, stability = _price(gain, data.counts, taken, high, room, score)
    return max(0.0, lam), high
