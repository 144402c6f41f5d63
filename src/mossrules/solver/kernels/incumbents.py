"""Selections found on the way: by rounding a relaxed node, by swaps, at leaves."""

from __future__ import annotations

import math

import numpy as np

from mossrules._compiled import njit
from mossrules._typing import AnyArray, FloatArray, IntArray
from mossrules.solver.kernels.fixing import keeps_constraints, keeps_with_change
from mossrules.solver.kernels.state import FREE, IN, NOBODY, OUT, Bounds, Data, Node, Search
from mossrules.solver.kernels.swaps import explained_by, improve_by_swaps

SWAPS = np.int64(50)  # of a rounded selection, at most


# --- the cutoff ---------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def cutoff_at(bounds: Bounds, loss: float) -> float:
    """Return the bound from which a node is of no use at a floor with that least known loss."""
    return loss - max(bounds.gap * loss - bounds.lift, bounds.margin)


@njit(cache=True, nogil=True)
def cutoff_of(bounds: Bounds) -> float:
    """Return the bound from which a node is of no use at this floor."""
    return cutoff_at(bounds, bounds.loss)


@njit(cache=True, nogil=True)
def margin_of(bounds: Bounds, above: FloatArray, bound: float, proven: float, mu: float) -> float:
    """Return how far below the cutoff the multipliers are, at the worst floor that needs the node.

    `proven` is the bound by the multipliers, which rises by mu with the floor; `bound` may be
    better, and holds at higher floors too. Minus infinity when no floor needs the node.
    """
    # Rules are fixed where their price is above the margin, so the largest margin is the safe one:
    # a rule is fixed only if no floor can do without it, or with it.
    margin = -np.inf
    cutoff = cutoff_of(bounds)
    if bound < cutoff:
        margin = cutoff - proven
    for j in range(above.shape[0]):
        cutoff = cutoff_at(bounds, above[j, 1])
        there = proven + mu * above[j, 0]
        if max(bound, there) < cutoff:
            margin = max(margin, cutoff - there)
    return margin


# --- rounding -----------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def relaxed_selection(data: Data, node: Node, z: FloatArray) -> None:
    """Fill z of every rule at a relaxed node."""
    multipliers, w = node.multipliers, node.w
    for i in range(w.shape[0]):
        if node.decision[i] == IN:
            z[i] = 1.0
        elif node.decision[i] == OUT:
            z[i] = 0.0
        else:
            t = multipliers[0] - multipliers[1] * data.counts[i] + data.constraints.offset[i]
            if t <= 0.0:
                z[i] = 1.0
            elif w[i] == 0.0:
                z[i] = 0.0
            else:
                z[i] = min(1.0, abs(w[i]) / math.sqrt(2.0 * data.gamma * t))


@njit(cache=True, nogil=True)
def round_to_selection(data: Data, search: Search, decision: AnyArray) -> bool:
    """Fill `chosen` with the rules of largest z that can still be completed to the floor.

    Returns False when the floor cannot be met, or the constraints are not kept.
    """
    k, n = search.k, np.int64(0)
    s = search.workspace
    stability = 0.0
    constrained = data.constraints.b.shape[0] > 0
    for i in range(decision.shape[0]):
        s.allowed[i] = decision[i] == FREE
        if decision[i] == IN:
            s.chosen[n] = i
            stability += data.counts[i]
            n += 1
    while n < k:
        # The best that the other places could add: the largest counts still allowed.
        best, enters = -1.0, -1
        others = k - n - 1
        reach, seen, last = 0.0, 0, 0.0
        for i in search.precedence.by_count:
            if s.allowed[i]:
                if seen < others:
                    reach += data.counts[i]
                    last = data.counts[i]
                    seen += 1
                else:
                    last_but = data.counts[i]
                    break
        else:
            last_but = 0.0
        for i in range(decision.shape[0]):
            if not s.allowed[i]:
                continue
            # If i is itself among those counted, the next one takes its place.
            rest = reach
            if others > 0 and data.counts[i] >= last:
                rest += last_but - data.counts[i]
            if stability + data.counts[i] + rest < search.eps:
                continue
            merit = s.z[i] + 1e-9 * data.counts[i]  # of equal z, the more stable rule
            if merit <= best:
                continue
            if constrained and not keeps_with_change(data.constraints, s.chosen, n, NOBODY, i):
                s.allowed[i] = False
                continue
            best, enters = merit, i
        if enters < 0:
            return False
        s.chosen[n] = enters
        s.allowed[enters] = False
        stability += data.counts[enters]
        n += 1
    return stability >= search.eps and keeps_constraints(data.constraints, s.chosen, n)


# --- what is taken over -------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _copy(values: IntArray, to: IntArray) -> None:
    """Fill `to`; the assignment of a slice would be longer to compile than all else here."""
    for n in range(to.shape[0]):
        to[n] = values[n]


@njit(cache=True, nogil=True)
def offer(data: Data, search: Search, loss: float) -> None:
    """Make `chosen` the incumbent wherever it is better, or list it."""
    chosen, selections = search.workspace.chosen, search.selections
    if selections.listed.shape[0] > 0:
        if loss < search.bounds.loss:
            _copy(chosen, selections.listed[search.counters.listed])
            search.counters.listed += 1
        return
    if loss < search.bounds.loss:
        search.bounds.loss = loss
        search.counters.improved += 1
        _copy(chosen, selections.best)
    if selections.above.shape[0] == 0:
        return
    stability = 0.0
    for i in chosen:
        stability += data.counts[i]
    for j in range(selections.above.shape[0]):
        if loss < selections.above[j, 1] and stability >= search.eps + selections.above[j, 0]:
            selections.above[j, 1] = loss
            search.counters.improved += 1
            _copy(chosen, selections.best_above[j])


@njit(cache=True, nogil=True)
def try_rounding(
    data: Data, search: Search, decision: AnyArray, root_decision: AnyArray, polish: bool
) -> None:
    """Round the relaxed selection in `z`; swap on from there if it is good or `polish` is set."""
    if not round_to_selection(data, search, decision):
        return
    s, k = search.workspace, search.k
    loss = data.half_yy - explained_by(data, s.chosen, k, s.factor, s.weights)
    if loss < search.bounds.loss:
        offer(data, search, loss)
        polish = True
    # Exchanges may undo what this node has fixed: they look for a good selection anywhere below the
    # root, and only what is fixed there has to stay.
    if polish:
        first = np.int64(0)
        for i in range(decision.shape[0]):
            s.allowed[i] = root_decision[i] == FREE
        for n in range(k):
            i = s.chosen[n]
            s.allowed[i] = False
            if root_decision[i] == IN:  # for the whole search: to the front, which swaps leave
                s.chosen[n] = s.chosen[first]
                s.chosen[first] = i
                first += 1
        explained = improve_by_swaps(data, search.eps, s.allowed, s.chosen, first, SWAPS)
        offer(data, search, data.half_yy - explained)


@njit(cache=True, nogil=True)
def evaluate_leaf(data: Data, search: Search, decision: AnyArray) -> float:
    """Evaluate the only selection left, the rules fixed in; return its loss, or infinity."""
    s, n = search.workspace, np.int64(0)
    for i in range(decision.shape[0]):
        if decision[i] == IN:
            s.chosen[n] = i
            n += 1
    if not keeps_constraints(data.constraints, s.chosen, n):
        return np.inf
    loss = data.half_yy - explained_by(data, s.chosen, n, s.factor, s.weights)
    offer(data, search, loss)
    return loss
