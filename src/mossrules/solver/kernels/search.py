"""The node loop of branch and bound, compiled end to end.

Best first: the open node with the least bound is taken, a rule is chosen, and both children are
relaxed at once; those that cannot hold anything better than the cutoff are dropped on the spot. The
cutoff is the loss of the best selection found, less the gap asked for.

A rule is judged by how much the bound rose, per unit of z, when it was fixed before (its
pseudo-costs, down and up). Until a rule has been fixed a few times, both its children are tried for
a few steps of the ascent.

One tree can serve several floors, from the lowest up. A node is then dropped only if no floor needs
it, and relaxed anew when its turn comes at a higher floor than the one it was made at.
"""

from __future__ import annotations

import math

import numpy as np

from mossrules._compiled import njit
from mossrules._typing import AnyArray, FloatArray
from mossrules.solver.kernels.fixing import fix_by_bound, fix_by_conditions, put_in, put_out
from mossrules.solver.kernels.incumbents import (
    cutoff_of,
    evaluate_leaf,
    margin_of,
    relaxed_selection,
    try_rounding,
)
from mossrules.solver.kernels.linalg import FAST
from mossrules.solver.kernels.log import EMPTY, POINT, SELECTION, log_child, log_is_full
from mossrules.solver.kernels.relaxation import ascend, lower_and_upper, residual_of
from mossrules.solver.kernels.state import FREE, IN, NOBODY, OUT, Bounds, Data, Node, Search
from mossrules.solver.kernels.tree import Tree, pop, push, sort_heap

DONE, OUT_OF_SLOTS, PAUSED = 0, 1, 2
STEPS_PER_NODE = np.int64(12)
CANDIDATES = 8  # rules that are tried out before branching, at most
RELIABLE = 4.0  # children seen on each side before a rule's past is trusted
STEPS_TO_TRY = np.int64(2)


# --- a child ------------------------------------------------------------------------------------


@njit(cache=True, nogil=True, fastmath=FAST)
def drop_weights(data: Data, node: Node) -> None:
    """Set the weights of rules that are out to zero, and bring r up to date."""
    w, r = node.w, node.r
    m = w.shape[0]
    for i in range(m):
        if node.decision[i] == OUT and w[i] != 0.0:
            x = w[i]
            w[i] = 0.0
            row = data.G[i]
            for j in range(m):
                r[j] += row[j] * x


# Inlined, as `keep_child` is: as functions of their own, with all that they are passed, the two
# took longer to compile than as parts of the loops that call them.
@njit(cache=True, nogil=True, inline="always")
def branch(
    data: Data,
    search: Search,
    i: int,
    up: bool,
    rules_left: float,
    stability_left: float,
    steps: int,
) -> tuple[float, float, float]:
    """Relax the child with rule i in or out, or the node itself where i is `NOBODY`.

    Returns its bound, infinity when nothing better can be in it, K and E. K is -1 where nothing is
    in it at all, and 0 where it is a single selection.
    """
    node, child, links = search.node, search.child, search.precedence
    for j in range(node.decision.shape[0]):
        child.decision[j], child.w[j], child.r[j] = node.decision[j], node.w[j], node.r[j]
    child.multipliers[0], child.multipliers[1] = node.multipliers[0], node.multipliers[1]
    possible = True
    if i == NOBODY:
        pass
    elif up:
        possible, rules_left, stability_left = put_in(
            data.counts, links, child.decision, i, rules_left, stability_left
        )
    else:
        possible = put_out(links, child.decision, i)
    if possible:
        possible, rules_left, stability_left = fix_by_conditions(
            data, links, child.decision, rules_left, stability_left
        )
    if not possible:
        return np.inf, -1.0, stability_left
    if rules_left == 0.0:
        drop(search.bounds, evaluate_leaf(data, search, child.decision))
        return np.inf, rules_left, stability_left
    drop_weights(data, child)
    bound, taken = ascend(
        data, child, rules_left, stability_left, cutoff_of(search.bounds), steps,
        search.workspace.node,
    )  # fmt: skip
    search.counters.steps += taken
    return bound, rules_left, stability_left


@njit(cache=True, nogil=True)
def drop(bounds: Bounds, bound: float) -> None:
    """Remember the least bound of what is left out."""
    bounds.least_dropped = min(bounds.least_dropped, bound)


@njit(cache=True, nogil=True, inline="always")
def keep_child(
    data: Data,
    search: Search,
    tree: Tree,
    root_decision: AnyArray,
    bound: float,
    rules_left: float,
    stability_left: float,
    label: int,
) -> None:
    """Fix what the bound decides and store the child, or drop it if no floor needs it."""
    s, child = search, search.child
    lam, mu = child.multipliers[0], child.multipliers[1]
    centred = lam - mu * stability_left / rules_left
    proven, _upper = lower_and_upper(
        data, child, rules_left, stability_left / rules_left, centred, mu
    )
    if bound < cutoff_of(s.bounds) and s.selections.listed.shape[0] == 0:
        relaxed_selection(data, child, s.workspace.z)
        # A round of exchanges costs O(k^2 m), so one node in 64 has them whatever its selection.
        try_rounding(data, s, child.decision, root_decision, s.counters.nodes & 63 == 0)
    margin = margin_of(s.bounds, s.selections.above, bound, proven, mu)
    if margin == -np.inf:
        drop(s.bounds, bound)
        return
    possible, rules_left, stability_left, fixed = fix_by_bound(
        data, s.precedence, child, rules_left, stability_left, margin
    )
    if fixed > 0:  # what was fixed rests on the cutoff
        drop(s.bounds, cutoff_of(s.bounds))
    if possible and fixed > 0:
        possible, rules_left, stability_left = fix_by_conditions(
            data, s.precedence, child.decision, rules_left, stability_left
        )
    if not possible:
        return
    if rules_left == 0.0:
        loss = evaluate_leaf(data, s, child.decision)
        drop(s.bounds, loss)
        if s.log.shape[0] > 0:
            log_child(s, label, NOBODY, 0, SELECTION, loss)
        return
    if fixed > 0:
        drop_weights(data, child)
    push(tree, bound, proven, child, label)


# --- which rule ---------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def learn(past: FloatArray, i: int, z: float, up: bool, rise: float) -> None:
    """Remember how much the bound rose per unit of z when rule i was fixed."""
    place = 2 if up else 0
    distance = (1.0 - z) if up else z
    if distance > 1e-3 and rise < np.inf:
        past[i, place] += max(0.0, rise) / distance
        past[i, place + 1] += 1.0


@njit(cache=True, nogil=True)
def list_candidates(data: Data, search: Search) -> int:
    """Fill `candidates` with rules of fractional z and `merit` with |w_i| sqrt(G_ii) weights."""
    n = 0
    node, workspace = search.node, search.workspace
    for i in range(workspace.z.shape[0]):
        z = workspace.z[i]
        if node.decision[i] == FREE and 1e-5 < z < 1.0 - 1e-5:
            workspace.candidates[n] = i
            workspace.merit[n] = abs(node.w[i]) * math.sqrt(data.G[i, i]) * min(z, 1.0 - z)
            n += 1
    return n


@njit(cache=True, nogil=True)
def choose_rule(
    data: Data, search: Search, bound: float, rules_left: float, stability_left: float
) -> int:
    """Return the rule to branch on: by its past if that is known, else by trying both children.

    The rule with the largest product of both rises is taken: a sum would favour rules that raise
    one child and leave the other as it was, and the tree would grow on that side.
    """
    s = search.workspace
    past = search.past
    n = list_candidates(data, search)
    if n == 0:
        best, rule = -1.0, -1
        for i in range(s.z.shape[0]):
            if search.node.decision[i] == FREE and s.z[i] > best:
                best, rule = s.z[i], i
        return rule
    missing = cutoff_of(search.bounds) - bound
    best, rule, tried = -1.0, s.candidates[0], 0
    for _ in range(n):
        at = 0
        for a in range(1, n):
            if s.merit[a] > s.merit[at]:
                at = a
        if s.merit[at] < 0.0:  # all have been judged
            break
        s.merit[at] = -1.0
        i = s.candidates[at]
        known = past[i, 1] >= RELIABLE and past[i, 3] >= RELIABLE
        if known:
            down = past[i, 0] / past[i, 1] * s.z[i]
            up = past[i, 2] / past[i, 3] * (1.0 - s.z[i])
        else:
            if tried >= CANDIDATES:
                continue
            tried += 1
            search.counters.trials += 2
            down = up = 0.0
            for side in range(2):  # one call, not two: a call is compiled where it stands
                reached, _K, _E = branch(
                    data, search, i, side == 1, rules_left, stability_left, STEPS_TO_TRY
                )
                learn(past, i, s.z[i], side == 1, reached - bound)
                if side == 1:
                    up = reached - bound
                else:
                    down = reached - bound
        # A child that is cut off is worth what is missing, not infinity, and none is worth nothing:
        # the product would then say nothing of the other side.
        down = min(max(down, 1e-6 * missing), missing)
        up = min(max(up, 1e-6 * missing), missing)
        if down * up > best:
            best, rule = down * up, i
    return rule


# --- the loop -----------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def raise_floor(search: Search, tree: Tree, by: float) -> None:
    """Take the nodes along to a floor that is higher by so much, less those that none needs.

    What multipliers prove, L, has the slope mu in the floor: no node has to be relaxed for this.
    """
    kept = 0
    above = search.selections.above
    for place in range(tree.sizes[0]):
        slot = tree.heap[place]
        mu = tree.multipliers[slot, 1]
        tree.proven[slot] += by * mu
        tree.bound[slot] = max(tree.bound[slot], tree.proven[slot])
        tree.stale[slot] = True
        margin = margin_of(search.bounds, above, tree.bound[slot], tree.proven[slot], mu)
        if margin > -np.inf:
            tree.heap[kept] = slot
            kept += 1
        else:
            drop(search.bounds, tree.bound[slot])
            tree.spare[tree.sizes[1]] = slot
            tree.sizes[1] += 1
    tree.sizes[0] = kept
    sort_heap(tree)


@njit(cache=True, nogil=True)
def run(data: Data, search: Search, tree: Tree, root_decision: AnyArray, max_nodes: int) -> int:
    """Take nodes until none is left below the cutoff, slots run out, or `max_nodes` are done."""
    s, node = search, search.node
    until = s.counters.nodes + max_nodes
    while tree.sizes[0] > 0:
        if s.counters.nodes >= until or (s.log.shape[0] > 0 and log_is_full(s)):
            return PAUSED
        if tree.sizes[1] < 2:
            return OUT_OF_SLOTS
        if tree.bound[tree.heap[0]] >= cutoff_of(s.bounds):
            return DONE
        stale, label = tree.stale[tree.heap[0]], tree.label[tree.heap[0]]
        bound = pop(tree, node)
        # K and E are counted anew rather than stored: O(m), beside a product with G of O(nm).
        rules_left, stability_left = float(s.k), s.eps
        for i in range(node.decision.shape[0]):
            if node.decision[i] == IN:
                rules_left -= 1.0
                stability_left -= data.counts[i]
        residual_of(data, node.w, node.r)
        rule, z, children = NOBODY, 0.0, 1
        if not stale:  # or else it is relaxed at this floor before it is branched on
            relaxed_selection(data, node, s.workspace.z)
            rule, children = choose_rule(data, s, bound, rules_left, stability_left), 2
            z = s.workspace.z[rule]
        # The likelier child first: what it finds may lower the cutoff for the other.
        for side in range(children):
            up = (side == 0) == (z >= 0.5)
            s.counters.nodes += 1
            reached, K, E = branch(data, s, rule, up, rules_left, stability_left, STEPS_PER_NODE)
            if not stale:
                learn(s.past, rule, z, up, reached - bound)
            own = label
            if s.log.shape[0] > 0:
                kind = POINT if reached < np.inf else SELECTION if K == 0.0 else EMPTY
                own = log_child(s, label, rule, 1 if up else 0, kind, reached)
            if reached < np.inf:
                keep_child(data, s, tree, root_decision, max(reached, bound), K, E, own)
    return DONE
