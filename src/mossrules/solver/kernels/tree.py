"""The open nodes of branch and bound: flat arrays, a heap by bound, no object per node.

A node is its fixings (two bits per rule), the weights that warm-start its children (in single
precision: any w gives a valid bound), its multipliers and its bound. What the multipliers prove is
affine in the floor, with slope mu, so a node can be taken along to a higher floor.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mossrules._compiled import njit
from mossrules._typing import AnyArray, BitArray, BoolArray, FloatArray, IntArray
from mossrules.solver.kernels.state import FREE, IN, OUT, Node

WEIGHTS = 72  # kept per node; few nodes have more


class Tree(NamedTuple):
    """Slots for nodes; `heap[:n_open]` lists those in use, least bound first."""

    bound: FloatArray
    proven: FloatArray  # by the multipliers, and so at most the bound; rises by mu with the floor
    stale: BoolArray  # relaxed at a lower floor
    label: IntArray  # by which the log of a proof calls it
    multipliers: FloatArray  # (slots, 2)
    is_in: BitArray  # (slots, words)
    is_out: BitArray
    n_weights: AnyArray
    weight_of: AnyArray  # (slots, WEIGHTS)
    weight: AnyArray
    heap: IntArray
    spare: IntArray  # free slots, the last n_spare of them to be used next
    sizes: IntArray  # n_open, n_spare


# Arrays per node, not an object: half a kilobyte each, and a full tree is grown by copying them.
PER_NODE = tuple(name for name in Tree._fields if name not in ("heap", "spare", "sizes"))


def make_tree(slots: int, m: int) -> Tree:
    """Return an empty tree with room for `slots` nodes."""
    words = -(-m // 64)
    return Tree(
        bound=np.empty(slots),
        proven=np.empty(slots),
        stale=np.zeros(slots, np.bool_),
        label=np.zeros(slots, np.int64),
        multipliers=np.empty((slots, 2)),
        is_in=np.empty((slots, words), np.uint64),
        is_out=np.empty((slots, words), np.uint64),
        n_weights=np.empty(slots, np.int32),
        weight_of=np.empty((slots, WEIGHTS), np.uint16),  # G of 65,536 rules would take 32 GiB
        weight=np.empty((slots, WEIGHTS), np.float32),
        heap=np.empty(slots, np.int64),
        spare=np.arange(slots - 1, -1, -1),
        sizes=np.array([0, slots]),
    )


def grow_tree(tree: Tree) -> Tree:
    """Return a tree with the same nodes and twice the room."""
    slots = len(tree.bound)
    larger = make_tree(2 * slots, 64 * tree.is_in.shape[1])
    for name in (*PER_NODE, "heap"):
        getattr(larger, name)[:slots] = getattr(tree, name)
    n_open, n_spare = tree.sizes
    larger.spare[: slots + n_spare] = np.concatenate(
        [np.arange(2 * slots - 1, slots - 1, -1), tree.spare[:n_spare]]
    )
    larger.sizes[:] = n_open, slots + n_spare
    return larger


@njit(cache=True, nogil=True)
def push(tree: Tree, bound: float, proven: float, node: Node, label: int) -> None:
    """Store a node; there must be a spare slot."""
    tree.sizes[1] -= 1
    slot = tree.spare[tree.sizes[1]]
    tree.bound[slot] = bound
    tree.proven[slot] = proven
    tree.stale[slot] = False
    tree.label[slot] = label
    tree.multipliers[slot, 0] = node.multipliers[0]
    tree.multipliers[slot, 1] = node.multipliers[1]
    words = tree.is_in.shape[1]
    for word in range(words):
        tree.is_in[slot, word] = 0
        tree.is_out[slot, word] = 0
    n = 0
    for i in range(node.decision.shape[0]):
        bit = np.uint64(1) << np.uint64(i & 63)
        if node.decision[i] == IN:
            tree.is_in[slot, i >> 6] |= bit
        elif node.decision[i] == OUT:
            tree.is_out[slot, i >> 6] |= bit
        if node.w[i] != 0.0 and n < WEIGHTS:
            tree.weight_of[slot, n] = i
            tree.weight[slot, n] = node.w[i]
            n += 1
    tree.n_weights[slot] = n
    # Sift up.
    at = tree.sizes[0]
    tree.sizes[0] += 1
    while at > 0:
        parent = (at - 1) >> 1
        if tree.bound[tree.heap[parent]] <= bound:
            break
        tree.heap[at] = tree.heap[parent]
        at = parent
    tree.heap[at] = slot


@njit(cache=True, nogil=True)
def pop(tree: Tree, node: Node) -> float:
    """Take the node with the least bound, and return that; its r is left to be computed.

    r would be m more numbers to keep for each node, and one product with G makes it anew.
    """
    slot = tree.heap[0]
    tree.sizes[0] -= 1
    n_open = tree.sizes[0]
    moved = tree.heap[n_open]
    bound = tree.bound[moved]
    at = 0
    while True:
        child = 2 * at + 1
        if child >= n_open:
            break
        if child + 1 < n_open and tree.bound[tree.heap[child + 1]] < tree.bound[tree.heap[child]]:
            child += 1
        if bound <= tree.bound[tree.heap[child]]:
            break
        tree.heap[at] = tree.heap[child]
        at = child
    tree.heap[at] = moved
    tree.spare[tree.sizes[1]] = slot
    tree.sizes[1] += 1
    node.multipliers[0] = tree.multipliers[slot, 0]
    node.multipliers[1] = tree.multipliers[slot, 1]
    for i in range(node.decision.shape[0]):
        bit = np.uint64(1) << np.uint64(i & 63)
        if tree.is_in[slot, i >> 6] & bit:
            node.decision[i] = IN
        elif tree.is_out[slot, i >> 6] & bit:
            node.decision[i] = OUT
        else:
            node.decision[i] = FREE
        node.w[i] = 0.0
    for n in range(tree.n_weights[slot]):
        node.w[tree.weight_of[slot, n]] = tree.weight[slot, n]
    return tree.bound[slot]


@njit(cache=True, nogil=True)
def sort_heap(tree: Tree) -> None:
    """Put the open nodes in order of their bounds: sorted, a list is a heap."""
    slots = tree.heap[: tree.sizes[0]].copy()
    order = np.argsort(tree.bound[slots])
    for place in range(slots.shape[0]):
        tree.heap[place] = slots[order[place]]


def share(giver: Tree, taker: Tree) -> None:
    """Move every second open node, by place in the heap, to an empty tree with as many slots."""
    n_open, n_spare = giver.sizes
    kept, given = giver.heap[:n_open:2].copy(), giver.heap[1:n_open:2].copy()
    left = taker.sizes[1] - len(given)
    slots = taker.spare[left : taker.sizes[1]][::-1].copy()
    for name in PER_NODE:
        getattr(taker, name)[slots] = getattr(giver, name)[given]
    giver.spare[n_spare : n_spare + len(given)] = given
    giver.heap[: len(kept)], taker.heap[: len(given)] = kept, slots
    giver.sizes[:] = len(kept), n_spare + len(given)
    taker.sizes[:] = len(given), left
    sort_heap(giver)
    sort_heap(taker)
