import heapq
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mossrules.solver.kernels.state import FREE, IN, OUT, Node
from mossrules.solver.kernels.tree import WEIGHTS, grow_tree, make_tree, pop, push, share


class Stored(NamedTuple):
    """What a tree stores of a node, comparable by its bound."""

    bound: float
    decision: tuple
    multipliers: tuple
    w: tuple


def random_node(rng, m):
    """Return a node with some weights, not more than are kept, exact in single precision."""
    w = np.zeros(m)
    some = rng.permutation(m)[: rng.integers(0, WEIGHTS + 1)]
    w[some] = rng.integers(-64, 64, len(some)) / 8
    bound = float(rng.integers(0, 12))  # many are equal
    decision = rng.choice([FREE, IN, OUT], m)
    return Stored(bound, tuple(decision), tuple(rng.normal(size=2)), tuple(w))


def put(tree, stored):
    """Push a node."""
    bound, decision, multipliers, w = stored
    w = np.array(w)
    node = Node(np.array(decision, np.int8), w, 0 * w, np.array(multipliers))
    push(tree, bound, bound, node, 0)


def take(tree, m):
    """Pop a node, into arrays that hold something else."""
    node = Node(np.full(m, 9, np.int8), np.full(m, 9.0), np.full(m, 9.0), np.full(2, 9.0))
    bound = pop(tree, node)
    return Stored(
        bound, *(tuple(each.tolist()) for each in (node.decision, node.multipliers, node.w))
    )


def empty(tree, m):
    """Pop all nodes."""
    return [take(tree, m) for _ in range(tree.sizes[0])]


M_VALUES = pytest.mark.parametrize("m", [1, 63, 64, 65, 130])


@M_VALUES
def test_nodes_come_back_as_they_were_least_bound_first(m):
    """Pushes and pops in any order do what a list and its minimum do."""
    rng = np.random.default_rng(m)
    tree, kept = make_tree(64, m), []
    for _ in range(2000):
        if kept and (len(kept) == 64 or rng.random() < 0.45):
            node = take(tree, m)
            assert node.bound == min(kept).bound
            kept.remove(node)
        else:
            kept.append(random_node(rng, m))
            put(tree, kept[-1])
        assert tree.sizes.tolist() == [len(kept), 64 - len(kept)]
        if kept:
            assert tree.bound[tree.heap[0]] == min(kept).bound


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=40))
@settings(deadline=None, max_examples=100)
def test_bounds_come_out_sorted(bounds):
    """A tree that is filled and emptied sorts."""
    tree = make_tree(len(bounds), 3)
    for bound in bounds:
        put(tree, Stored(bound, (IN, OUT, FREE), (0.0, 0.0), (0.0, 1.0, 0.0)))
    found = [node.bound for node in empty(tree, 3)]
    assert found == sorted(bounds) == heapq.nsmallest(len(bounds), bounds)


def test_weights_are_kept_in_single_precision_up_to_a_number():
    """The first of too many weights are kept, rounded, and the rest are zero."""
    rng = np.random.default_rng(0)
    w = rng.normal(size=200)
    w[::3] = 0.0
    tree = make_tree(1, 200)
    put(tree, Stored(1.0, (FREE,) * 200, (0.5, 0.25), tuple(w)))
    found = np.array(take(tree, 200).w)
    kept = np.flatnonzero(w)[:WEIGHTS]
    np.testing.assert_array_equal(found[kept], w[kept].astype(np.float32))
    assert np.count_nonzero(found) == WEIGHTS


@M_VALUES
def test_a_larger_tree_has_the_same_nodes(m):
    """Growing keeps what is open, and gives room for as many nodes again."""
    rng = np.random.default_rng(m)
    tree = make_tree(8, m)
    nodes = [random_node(rng, m) for _ in range(13)]
    for node in nodes[:8]:
        put(tree, node)
    removed = [take(tree, m) for _ in range(3)]
    larger = grow_tree(tree)
    assert larger.sizes.tolist() == [5, 11]
    for node in nodes[8:]:
        put(larger, node)
    assert larger.sizes.tolist() == [10, 6]
    assert sorted(removed + empty(larger, m)) == sorted(nodes)


@pytest.mark.parametrize("n", [2, 3, 8, 17])
def test_sharing_loses_nothing(n):
    """Two trees have between them what one had, the best node included, and both are heaps."""
    m, rng = 70, np.random.default_rng(n)
    giver, taker = make_tree(32, m), make_tree(32, m)
    nodes = [random_node(rng, m) for _ in range(n + 3)]
    for node in nodes:
        put(giver, node)
    removed = [take(giver, m) for _ in range(3)]
    share(giver, taker)
    assert giver.sizes.tolist() == [n - n // 2, 32 - n + n // 2]
    assert taker.sizes.tolist() == [n // 2, 32 - n // 2]
    parts = [empty(giver, m), empty(taker, m)]
    for part in parts:
        assert [node.bound for node in part] == sorted(node.bound for node in part)
    assert sorted(removed + parts[0] + parts[1]) == sorted(nodes)


def test_a_tree_that_gave_nodes_away_has_room_for_others():
    """Slots of nodes given away are used again, without harm to those that stay."""
    m, rng = 5, np.random.default_rng(0)
    giver, taker = make_tree(8, m), make_tree(8, m)
    first, second = ([random_node(rng, m) for _ in range(n)] for n in (8, 4))
    for node in first:
        put(giver, node)
    share(giver, taker)
    for node in second:
        put(giver, node)
    assert sorted(empty(giver, m) + empty(taker, m)) == sorted(first + second)
