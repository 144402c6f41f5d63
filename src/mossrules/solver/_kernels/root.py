"""The root of a search: multipliers to begin with, and its relaxation."""

from __future__ import annotations

import numpy as np
from numba import njit

from mossrules._typing import AnyArray, BoolArray, FloatArray
from mossrules.solver._kernels.incumbents import cutoff_of, relaxed_selection, try_rounding
from mossrules.solver._kernels.relaxation import ascend, gain_of, residual_of
from mossrules.solver._kernels.state import FREE, LOSS, YES, Data, Search
from mossrules.solver._kernels.swaps import explained_by


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
    k = int(room)
    least = np.partition(score[:n], n - k)[n - k]
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
    gain = np.empty(m)
    for i in range(m):
        gain[i] = gain_of(data, i, r[i]) - data.limits.offset[i]
    taken = fate == FREE
    score = np.empty(m)
    lam, stability = _price(gain, data.counts, taken, 0.0, room, score)
    if stability >= floor:
        return max(0.0, lam), 0.0
    low, high = 0.0, max(0.0, lam + gain.max()) / max(1.0, data.counts.max())
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


@njit(cache=True, nogil=True)
def relax_root(
    data: Data, search: Search, fate: AnyArray, room: float, floor: float, steps: int, warm: bool
) -> tuple[float, int]:
    """Relax the root, and round it if that is still of use; return its bound and the steps taken.

    The start is the selection in `search.chosen`, or, with `warm`, the weights and multipliers that
    the search has.
    """
    if not warm:
        explained_by(data, search.chosen, search.k, search.factor, search.room_for_w)
        for n in range(search.k):
            search.w[search.chosen[n]] = search.room_for_w[n]
    residual_of(data, search.w, search.r)
    if room == 0.0:  # the fixings leave one selection
        return search.numbers[LOSS], 0
    if not warm:
        lam, mu = first_multipliers(data, fate, room, floor, search.r)
        search.multipliers[0], search.multipliers[1] = lam, mu
    bound, taken = ascend(
        data, fate, room, floor, search.w, search.r, search.multipliers, cutoff_of(search), steps,
        search.small,
    )  # fmt: skip
    if bound < cutoff_of(search):
        relaxed_selection(data, fate, search.multipliers, search.w, search.z)
        try_rounding(data, search, fate, fate, YES)
    return bound, taken
