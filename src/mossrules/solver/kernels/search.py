"""The node loop of branch and bound, compiled end to end.

Best first: the open node with the least bound is taken, a rule is chosen, and both children are
relaxed at once; those that cannot hold anything better than the cutoff are dropped on the spot. The
cutoff is the loss of the best selection found, less the gap asked for.

One tree can serve several floors, from the lowest up. A node is then dropped only if no floor needs
it, and relaxed anew when its turn comes at a higher floor than the one it was made at.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from mossrules._typing import AnyArray, FloatArray
from mossrules.solver.kernels.branching import (
    branch,
    choose_rule,
    drop_weights,
    learn,
)
from mossrules.solver.kernels.fixing import fix_by_bound
from mossrules.solver.kernels.incumbents import (
    cutoff_of,
    evaluate_leaf,
    margin_of,
    relaxed_selection,
    try_rounding,
)
from mossrules.solver.kernels.limits import fix_by_conditions
from mossrules.solver.kernels.relaxation import lower_and_upper, residual_of
from mossrules.solver.kernels.state import IN, LEAST_DROPPED, NOBODY, NODES, Data, Search
from mossrules.solver.kernels.tree import Tree, pop, push, sort_heap

DONE, OUT_OF_SLOTS, PAUSED = 0, 1, 2
STEPS_PER_NODE = np.int64(12)


@njit(cache=True, nogil=True)
def drop(numbers: FloatArray, bound: float) -> None:
    """Remember the least bound of what is left out."""
    numbers[LEAST_DROPPED] = min(numbers[LEAST_DROPPED], bound)


@njit(cache=True, nogil=True, inline="always")
def keep_child(
    data: Data,
    search: Search,
    tree: Tree,
    root_fate: AnyArray,
    bound: float,
    room: float,
    floor: float,
) -> None:
    """Fix what the bound decides and store the child, or drop it if no floor needs it."""
    s = search
    lam, mu = s.child_multipliers[0], s.child_multipliers[1]
    proven, _upper = lower_and_upper(
        data, s.child_fate, room, floor / room, lam - mu * floor / room, mu, s.child_w, s.child_r
    )
    if bound < cutoff_of(s.numbers) and s.listed.shape[0] == 0:
        relaxed_selection(data, s.child_fate, s.child_multipliers, s.child_w, s.z)
        try_rounding(data, s, s.child_fate, root_fate, s.tally[NODES] & 63 == 0)
    margin = margin_of(s.numbers, s.above, bound, proven, mu)
    if margin == -np.inf:
        drop(s.numbers, bound)
        return
    possible, room, floor, fixed = fix_by_bound(
        data, s.child_fate, s.before, s.after, room, floor, lam, mu, s.child_r, margin
    )
    if fixed > 0:  # what was fixed rests on the cutoff
        drop(s.numbers, cutoff_of(s.numbers))
    if possible and fixed > 0:
        possible, room, floor = fix_by_conditions(
            data, s.order, s.child_fate, s.before, s.after, room, floor
        )
    if not possible:
        return
    if room == 0.0:
        drop(s.numbers, evaluate_leaf(data, s, s.child_fate))
        return
    if fixed > 0:
        drop_weights(data, s.child_fate, s.child_w, s.child_r)
    push(tree, bound, proven, s.child_fate, s.child_multipliers, s.child_w)


@njit(cache=True, nogil=True)
def raise_floor(search: Search, tree: Tree, by: float) -> None:
    """Take the nodes along to a floor that is higher by so much, less those that none needs."""
    kept = 0
    for place in range(tree.sizes[0]):
        slot = tree.heap[place]
        mu = tree.multipliers[slot, 1]
        tree.proven[slot] += by * mu
        tree.bound[slot] = max(tree.bound[slot], tree.proven[slot])
        tree.stale[slot] = True
        margin = margin_of(search.numbers, search.above, tree.bound[slot], tree.proven[slot], mu)
        if margin > -np.inf:
            tree.heap[kept] = slot
            kept += 1
        else:
            drop(search.numbers, tree.bound[slot])
            tree.spare[tree.sizes[1]] = slot
            tree.sizes[1] += 1
    tree.sizes[0] = kept
    sort_heap(tree)


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
        if tree.bound[tree.heap[0]] >= cutoff_of(s.numbers):
            return DONE
        stale = tree.stale[tree.heap[0]]
        bound = pop(tree, s.fate, s.multipliers, s.w)
        room, floor = float(s.k), s.eps
        for i in range(s.fate.shape[0]):
            if s.fate[i] == IN:
                room -= 1.0
                floor -= data.counts[i]
        residual_of(data, s.w, s.r)
        rule, z, children = NOBODY, 0.0, 1
        if not stale:  # or else it is relaxed at this floor before it is branched on
            relaxed_selection(data, s.fate, s.multipliers, s.w, s.z)
            rule, children = choose_rule(data, s, bound, room, floor), 2
            z = s.z[rule]
        for side in range(children):
            up = (side == 0) == (z >= 0.5)
            s.tally[NODES] += 1
            reached, child_room, child_floor = branch(
                data, s, rule, up, room, floor, STEPS_PER_NODE
            )
            if not stale:
                learn(s.past, rule, z, up, reached - bound)
            if reached < np.inf:
                keep_child(data, s, tree, root_fate, max(reached, bound), child_room, child_floor)
    return DONE
