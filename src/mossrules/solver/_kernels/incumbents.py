"""Selections found on the way: by rounding a relaxed node, by swaps, at leaves."""

from __future__ import annotations

import math

from numba import njit

from mossrules._typing import AnyArray, FloatArray
from mossrules.solver._kernels.state import (
    FREE,
    GAP,
    IMPROVED,
    IN,
    LOSS,
    MARGIN,
    OUT,
    Data,
    Search,
)
from mossrules.solver._kernels.swaps import explained_by, improve_by_swaps


@njit(cache=True, nogil=True)
def cutoff_of(search: Search) -> float:
    """Return the bound from which a node is of no use."""
    loss = search.numbers[LOSS]
    return loss - max(search.numbers[GAP] * loss, search.numbers[MARGIN])


@njit(cache=True, nogil=True)
def relaxed_selection(
    data: Data, fate: AnyArray, multipliers: FloatArray, w: FloatArray, z: FloatArray
) -> None:
    """Fill z of every rule at a relaxed node."""
    for i in range(w.shape[0]):
        if fate[i] == IN:
            z[i] = 1.0
        elif fate[i] == OUT:
            z[i] = 0.0
        else:
            t = multipliers[0] - multipliers[1] * data.counts[i]
            if t <= 0.0:
                z[i] = 1.0
            elif w[i] == 0.0:
                z[i] = 0.0
            else:
                z[i] = min(1.0, abs(w[i]) / math.sqrt(2.0 * data.gamma * t))


@njit(cache=True, nogil=True)
def round_to_selection(data: Data, search: Search, fate: AnyArray) -> bool:
    """Fill `chosen` with the rules of largest z that can still be completed to the floor.

    Returns False when the floor cannot be met.
    """
    k, n = search.k, 0
    stability = 0.0
    for i in range(fate.shape[0]):
        search.allowed[i] = fate[i] == FREE
        if fate[i] == IN:
            search.chosen[n] = i
            stability += data.counts[i]
            n += 1
    while n < k:
        # The best that the other places could add: the largest counts still allowed.
        best, enters = -1.0, -1
        others = k - n - 1
        reach, seen, last = 0.0, 0, 0.0
        for i in search.order:
            if search.allowed[i]:
                if seen < others:
                    reach += data.counts[i]
                    last = data.counts[i]
                    seen += 1
                else:
                    last_but = data.counts[i]
                    break
        else:
            last_but = 0.0
        for i in range(fate.shape[0]):
            if not search.allowed[i]:
                continue
            # If i is itself among those counted, the next one takes its place.
            rest = reach
            if others > 0 and data.counts[i] >= last:
                rest += last_but - data.counts[i]
            if stability + data.counts[i] + rest < search.eps:
                continue
            merit = search.z[i] + 1e-9 * data.counts[i]
            if merit > best:
                best, enters = merit, i
        if enters < 0:
            return False
        search.chosen[n] = enters
        search.allowed[enters] = False
        stability += data.counts[enters]
        n += 1
    return stability >= search.eps


@njit(cache=True, nogil=True)
def offer(search: Search, loss: float) -> None:
    """Make `chosen` the incumbent if it is better."""
    if loss < search.numbers[LOSS]:
        search.numbers[LOSS] = loss
        search.tally[IMPROVED] += 1
        for n in range(search.k):
            search.incumbent[n] = search.chosen[n]


@njit(cache=True, nogil=True)
def try_rounding(
    data: Data, search: Search, fate: AnyArray, root_fate: AnyArray, polish: bool
) -> None:
    """Round the relaxed selection in `z`; swap on from there if it is good or `polish` is set."""
    if not round_to_selection(data, search, fate):
        return
    ridge = 1.0 / data.gamma
    explained = explained_by(
        data.G, data.q, ridge, search.chosen, search.k, search.factor, search.room_for_w
    )
    loss = data.half - explained
    if loss < search.numbers[LOSS]:
        offer(search, loss)
        polish = True
    if polish:
        first = 0
        for i in range(fate.shape[0]):
            search.allowed[i] = root_fate[i] == FREE
        for n in range(search.k):
            i = search.chosen[n]
            search.allowed[i] = False
            if root_fate[i] == IN:  # fixed for the whole search: to the front, where swaps leave it
                search.chosen[n] = search.chosen[first]
                search.chosen[first] = i
                first += 1
        explained = improve_by_swaps(
            data.G, data.q, data.counts, ridge, search.eps, search.allowed, search.chosen, first, 50
        )
        offer(search, data.half - explained)


@njit(cache=True, nogil=True)
def evaluate_leaf(data: Data, search: Search, fate: AnyArray) -> float:
    """Evaluate the only selection left, the rules fixed in; return its loss."""
    n = 0
    for i in range(fate.shape[0]):
        if fate[i] == IN:
            search.chosen[n] = i
            n += 1
    explained = explained_by(
        data.G, data.q, 1.0 / data.gamma, search.chosen, n, search.factor, search.room_for_w
    )
    offer(search, data.half - explained)
    return data.half - explained
