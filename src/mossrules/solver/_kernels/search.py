"""The node loop of branch and bound, compiled end to end.

Best first: the open node with the least bound is taken, a rule is chosen, and both children are
relaxed at once; those that cannot hold anything better than the cutoff are dropped on the spot. The
cutoff is the loss of the best selection found, less the gap asked for.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from mossrules._typing import AnyArray
from mossrules.solver._kernels.branching import branch, choose_rule, drop_weights, learn
from mossrules.solver._kernels.fixing import fix_by_bound, fix_by_floor
from mossrules.solver._kernels.incumbents import (
    cutoff_of,
    evaluate_leaf,
    relaxed_selection,
    try_rounding,
)
from mossrules.solver._kernels.relaxation import lower_and_upper, residual_of
from mossrules.solver._kernels.state import IN, LEAST_DROPPED, NODES, Data, Search
from mossrules.solver._kernels.tree import Tree, pop, push

DONE, OUT_OF_SLOTS, PAUSED = 0, 1, 2
STEPS_PER_NODE = 12


@njit(cache=True, nogil=True)
def keep_child(
    data: Data,
    search: Search,
    tree: Tree,
    root_fate: AnyArray,
    bound: float,
    room: float,
    floor: float,
) -> None:
    """Fix what the bound decides and store the child, or drop it."""
    s = search
    cutoff = cutoff_of(s)
    if bound >= cutoff:
        s.numbers[LEAST_DROPPED] = min(s.numbers[LEAST_DROPPED], bound)
        return
    lam, mu = s.child_multipliers[0], s.child_multipliers[1]
    lower, _upper = lower_and_upper(
        data, s.child_fate, room, floor / room, lam - mu * floor / room, mu, s.child_w, s.child_r
    )
    relaxed_selection(data, s.child_fate, s.child_multipliers, s.child_w, s.z)
    try_rounding(data, s, s.child_fate, root_fate, s.tally[NODES] & 63 == 0)
    cutoff = cutoff_of(s)
    if bound >= cutoff:
        s.numbers[LEAST_DROPPED] = min(s.numbers[LEAST_DROPPED], bound)
        return
    possible, room, floor, fixed = fix_by_bound(
        data, s.child_fate, s.before, s.after, room, floor, lam, mu, s.child_r, cutoff - lower
    )
    if possible and fixed > 0:
        possible, room, floor = fix_by_floor(
            data.counts, s.order, s.child_fate, s.before, s.after, room, floor
        )
    if not possible:
        s.numbers[LEAST_DROPPED] = min(s.numbers[LEAST_DROPPED], cutoff)
        return
    if room == 0.0:
        loss = evaluate_leaf(data, s, s.child_fate)
        s.numbers[LEAST_DROPPED] = min(s.numbers[LEAST_DROPPED], loss, cutoff)
        return
    if fixed > 0:  # what was fixed rests on the cutoff
        s.numbers[LEAST_DROPPED] = min(s.numbers[LEAST_DROPPED], cutoff)
        drop_weights(data, s.child_fate, s.child_w, s.child_r)
    push(tree, bound, s.child_fate, s.child_multipliers, s.child_w)


@njit(cache=True, nogil=True)
def run(data: Data, search: Search, tree: Tree, root_fate: AnyArray, max_nodes: int) -> int:
    """Take nodes until none is left below the cutoff, slots run out, or `max_nodes` are done."""
    s = search
    until = s.tally[NODES] + max_nodes
    while tree.sizes[0] > 0:
        if s.tally[NODES] >= until:
            return PAUSED
        if tree.sizes[1] < 2:
            return OUT_OF_SLOTS
        if tree.bound[tree.heap[0]] >= cutoff_of(s):
            return DONE
        bound = pop(tree, s.fate, s.multipliers, s.w)
        room, floor = float(s.k), s.eps
        for i in range(s.fate.shape[0]):
            if s.fate[i] == IN:
                room -= 1.0
                floor -= data.counts[i]
        residual_of(data, s.w, s.r)
        relaxed_selection(data, s.fate, s.multipliers, s.w, s.z)
        rule = choose_rule(data, s, bound, room, floor)
        z = s.z[rule]
        for side in range(2):
            up = (side == 0) == (z >= 0.5)
            s.tally[NODES] += 1
            reached, child_room, child_floor = branch(
                data, s, rule, up, room, floor, STEPS_PER_NODE
            )
            s.z[rule] = z
            learn(s, rule, up, reached - bound)
            if reached < np.inf:
                keep_child(data, s, tree, root_fate, max(reached, bound), child_room, child_floor)
    return DONE
