"""Selections found on the way: by rounding a relaxed node, by swaps, at leaves."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from mossrules._typing import AnyArray, FloatArray, IntArray
from mossrules.solver.kernels.limits import keeps_limits, keeps_with_change
from mossrules.solver.kernels.state import (
    FREE,
    GAP,
    IMPROVED,
    IN,
    LISTED,
    LOSS,
    MARGIN,
    NOBODY,
    OUT,
    Data,
    Search,
)
from mossrules.solver.kernels.swaps import explained_by, improve_by_swaps

SWAPS = np.int64(50)  # of a rounded selection, at most


@njit(cache=True, nogil=True)
def cutoff_at(numbers: FloatArray, loss: float) -> float:
    """Return the bound from which a node is of no use at a floor with that least known loss."""
    return loss - max(numbers[GAP] * loss, numbers[MARGIN])


@njit(cache=True, nogil=True)
def cutoff_of(numbers: FloatArray) -> float:
    """Return the bound from which a node is of no use at this floor."""
    return cutoff_at(numbers, numbers[LOSS])


@njit(cache=True, nogil=True)
def margin_of(
    numbers: FloatArray, above: FloatArray, bound: float, proven: float, mu: float
) -> float:
    """Return how far below the cutoff the multipliers are, at the worst floor that needs the node.

    `proven` is the bound by the multipliers, which rises by mu with the floor; `bound` may be
    better, and holds at higher floors too. Minus infinity when no floor needs the node.
    """
    margin = -np.inf
    cutoff = cutoff_of(numbers)
    if bound < cutoff:
        margin = cutoff - proven
    for j in range(above.shape[0]):
        cutoff = cutoff_at(numbers, above[j, 1])
        there = proven + mu * above[j, 0]
        if max(bound, there) < cutoff:
            margin = max(margin, cutoff - there)
    return margin


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
            t = multipliers[0] - multipliers[1] * data.counts[i] + data.limits.offset[i]
            if t <= 0.0:
                z[i] = 1.0
            elif w[i] == 0.0:
                z[i] = 0.0
            else:
                z[i] = min(1.0, abs(w[i]) / math.sqrt(2.0 * data.gamma * t))


@njit(cache=True, nogil=True)
def round_to_selection(data: Data, search: Search, fate: AnyArray) -> bool:
    """Fill `chosen` with the rules of largest z that can still be completed to the floor.

    Returns False when the floor cannot be met, or the limits are not kept.
    """
    k, n = search.k, np.int64(0)
    stability = 0.0
    limited = data.limits.b.shape[0] > 0
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
            if merit <= best:
                continue
            if limited and not keeps_with_change(data.limits, search.chosen, n, NOBODY, i):
                search.allowed[i] = False
                continue
            best, enters = merit, i
        if enters < 0:
            return False
        search.chosen[n] = enters
        search.allowed[enters] = False
        stability += data.counts[enters]
        n += 1
    return stability >= search.eps and keeps_limits(data.limits, search.chosen, n)


@njit(cache=True, nogil=True)
def _copy(values: IntArray, to: IntArray) -> None:
    """Fill `to`; the assignment of a slice would be longer to compile than all else here."""
    for n in range(to.shape[0]):
        to[n] = values[n]


@njit(cache=True, nogil=True)
def offer(data: Data, search: Search, loss: float) -> None:
    """Make `chosen` the incumbent wherever it is better, or list it."""
    s = search
    if s.listed.shape[0] > 0:
        if loss < s.numbers[LOSS]:
            _copy(s.chosen, s.listed[s.tally[LISTED]])
            s.tally[LISTED] += 1
        return
    if loss < s.numbers[LOSS]:
        s.numbers[LOSS] = loss
        s.tally[IMPROVED] += 1
        _copy(s.chosen, s.incumbent)
    if s.above.shape[0] == 0:
        return
    stability = 0.0
    for i in s.chosen:
        stability += data.counts[i]
    for j in range(s.above.shape[0]):
        if loss < s.above[j, 1] and stability >= s.eps + s.above[j, 0]:
            s.above[j, 1] = loss
            s.tally[IMPROVED] += 1
            _copy(s.chosen, s.incumbents_above[j])


@njit(cache=True, nogil=True)
def try_rounding(
    data: Data, search: Search, fate: AnyArray, root_fate: AnyArray, polish: bool
) -> None:
    """Round the relaxed selection in `z`; swap on from there if it is good or `polish` is set."""
    if not round_to_selection(data, search, fate):
        return
    explained = explained_by(data, search.chosen, search.k, search.factor, search.room_for_w)
    loss = data.half - explained
    if loss < search.numbers[LOSS]:
        offer(data, search, loss)
        polish = True
    if polish:
        first = np.int64(0)
        for i in range(fate.shape[0]):
            search.allowed[i] = root_fate[i] == FREE
        for n in range(search.k):
            i = search.chosen[n]
            search.allowed[i] = False
            if root_fate[i] == IN:  # fixed for the whole search: to the front, where swaps leave it
                search.chosen[n] = search.chosen[first]
                search.chosen[first] = i
                first += 1
        explained = improve_by_swaps(data, search.eps, search.allowed, search.chosen, first, SWAPS)
        offer(data, search, data.half - explained)


@njit(cache=True, nogil=True)
def evaluate_leaf(data: Data, search: Search, fate: AnyArray) -> float:
    """Evaluate the only selection left, the rules fixed in; return its loss, or infinity."""
    n = np.int64(0)
    for i in range(fate.shape[0]):
        if fate[i] == IN:
            search.chosen[n] = i
            n += 1
    if not keeps_limits(data.limits, search.chosen, n):
        return np.inf
    explained = explained_by(data, search.chosen, n, search.factor, search.room_for_w)
    offer(data, search, data.half - explained)
    return data.half - explained
