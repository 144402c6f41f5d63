import numpy as np
import pytest

from mossrules.solver.kernels.incumbents import cutoff_of
from mossrules.solver.kernels.relaxation import ascend
from mossrules.solver.kernels.root import first_multipliers
from mossrules.solver.kernels.search import DONE, OUT_OF_SLOTS, PAUSED, keep_child, run
from mossrules.solver.kernels.state import (
    GAP,
    IN,
    LEAST_DROPPED,
    LOSS,
    MARGIN,
    NODES,
    OUT,
    make_search,
)
from mossrules.solver.kernels.tree import grow_tree, make_tree, pop, push
from mossrules.solver.search.instance import Instance, find_twins, no_twins
from support.cases import hard_problem, mixed_problem, random_node
from support.oracles import brute_force


def planted(problem, gap, *, slots=4096, twins=True):
    """Return an instance, a search that knows no selection but a bad one, and its tree."""
    instance = Instance.of(problem)
    pairs = find_twins(instance) if twins else (np.full(len(instance.rules), -1),) * 2
    search = make_search(problem.size, problem.min_stability, instance.order, *pairs)
    search.numbers[LOSS] = problem.loss(problem.most_stable) * (1 + 1e-9)
    search.numbers[[GAP, MARGIN]] = gap, 1e-12 * instance.data.half
    tree = make_tree(slots, len(instance.rules))
    push(tree, 0.0, 0.0, instance.fate, np.zeros(2), np.zeros(len(instance.rules)))
    return instance, search, tree


def proven(search, tree):
    """Return the bound that a search stands for."""
    least = tree.bound[tree.heap[0]] if tree.sizes[0] else np.inf
    return min(search.numbers[LOSS], search.numbers[LEAST_DROPPED], least)


def work(instance, search, tree, nodes):
    """Take some nodes."""
    return run(instance.data, search, tree, instance.fate, nodes)


@pytest.mark.parametrize("rounding", [True, False])
@pytest.mark.parametrize("gap", [0.0, 0.05, 0.3])
def test_a_child_that_is_kept_or_dropped_is_accounted_for(gap, rounding):
    """Each selection of it is in the node that is stored, or no better than what is recorded."""
    stored = fewer = dropped = 0
    for seed in range(400):
        node = random_node(seed, strongest=3)
        if node.room == 0 or next(node.selections(), None) is None:
            continue
        search, tree = relaxed_child(node, gap, seed % 8, rounding=rounding)
        bound = search.numbers[LEAST_DROPPED]
        search.numbers[LEAST_DROPPED] = np.inf
        root = np.where(node.fate == IN, IN, OUT).astype(np.int8)  # swaps would find the optimum
        keep_child(node.data, search, tree, root, bound, node.room, node.floor)
        fate, w = np.full(len(node.fate), OUT, np.int8), np.zeros(len(node.fate))
        if n_open := tree.sizes[0]:
            assert pop(tree, fate, np.zeros(2), w) == bound
            assert not w[fate == OUT].any()
        least = min(search.numbers[[LEAST_DROPPED, LOSS]]) - 1e-9 * node.data.half
        for support in node.selections():
            z = np.isin(np.arange(len(fate)), support)
            held = n_open and z[fate == IN].all() and not z[fate == OUT].any()
            assert held or node.problem.loss(support) >= least, seed
        stored, dropped = stored + n_open, dropped + (n_open == 0)
        fewer += n_open > 0 and (fate != node.fate).any()
    assert min(stored, fewer, dropped) > 10


def relaxed_child(node, gap, steps, *, rounding):
    """Return a search with a relaxed child, its bound for least dropped, and an empty tree."""
    eps = node.floor + node.data.counts[node.inside].sum() if rounding else 1e9
    search = make_search(node.problem.size, eps, node.order, *no_twins(len(node.fate)))
    losses = sorted(map(node.problem.loss, node.selections()))
    search.numbers[[LOSS, GAP]] = losses[len(losses) // 2] * 1.01, gap
    search.child_fate[:], search.child_w[:] = node.fate, 0.0
    search.child_r[:] = node.data.q
    search.child_multipliers[:] = first_multipliers(
        node.data, node.fate, node.room, node.floor, search.child_r
    )
    search.numbers[LEAST_DROPPED], _ = ascend(
        node.data, node.fate, node.room, node.floor, search.child_w, search.child_r,
        search.child_multipliers, cutoff_of(search.numbers), steps, search.small,
    )  # fmt: skip
    return search, make_tree(2, len(node.fate))


@pytest.mark.parametrize("gap", [0.0, 0.02, 0.1, 0.2, 0.4])
def test_the_bound_holds_after_every_node(gap):
    """From a bad incumbent on, dropped, open and found never miss the optimum between them."""
    improved = 0
    for seed in range(600):
        problem = mixed_problem(seed)
        if Instance.of(problem).room == 0:
            continue
        best, _ = brute_force(problem)
        slack = 1e-12 * problem.statistics.yy
        instance, search, tree = planted(problem, gap)
        first, end, bounds = search.numbers[LOSS], PAUSED, []
        while end != DONE:
            end = work(instance, search, tree, 2)
            bounds.append(proven(search, tree))
            assert bounds[-1] <= best + slack, seed
        assert np.diff(bounds).min(initial=0.0) >= -slack
        loss = search.numbers[LOSS]
        assert bounds[-1] >= loss * (1 - gap) - slack
        if loss < first * (1 - 1e-6):
            improved += 1
            support = instance.rules[search.incumbent]
            assert problem.is_feasible(support)
            assert problem.loss(support) == pytest.approx(loss, abs=slack, rel=1e-9)
    assert improved > 60


def test_nodes_are_counted_and_limited():
    """A slice takes as many nodes as it may, or one more, as children come in pairs."""
    problem = hard_problem(m=24, k=5)
    instance, search, tree = planted(problem, 0.0)
    for nodes, total in ((1, 2), (2, 4), (5, 10)):
        assert work(instance, search, tree, nodes) == PAUSED
        assert search.tally[NODES] == total
    assert work(instance, search, tree, 10**6) == DONE
    assert search.tally[NODES] > 20


def test_a_full_tree_asks_for_room():
    """With fewer slots than two the search stops, and goes on in a larger tree to the same end."""
    problem = hard_problem(m=24, k=5)
    instance, search, tree = planted(problem, 0.0)
    assert work(instance, search, tree, 10**6) == DONE
    expected = search.numbers[LOSS], search.tally[NODES]
    instance, search, tree = planted(problem, 0.0, slots=2)
    grown = 0
    while (end := work(instance, search, tree, 10**6)) != DONE:
        assert end == OUT_OF_SLOTS
        tree, grown = grow_tree(tree), grown + 1
    assert grown > 2
    assert (search.numbers[LOSS], search.tally[NODES]) == expected


def test_twins_shorten_the_search():
    """Where columns repeat, mirror images are left out, and the optimum is the same."""
    plain = hard_problem(m=14, k=5, gamma=10.0)
    data, twice = plain.statistics, np.tile(np.arange(14), 2)
    statistics = type(data)(
        G=data.G[np.ix_(twice, twice)], q=data.q[twice], yy=data.yy, n=data.n,
        values=data.values[twice], counts=np.append(data.counts, data.counts[::-1]),
        support=data.support[twice],
    )  # fmt: skip
    problem = type(plain)(statistics, max_rules=5, gamma=10.0, min_stability=80)
    nodes = []
    for twins in (True, False):
        instance, search, tree = planted(problem, 0.0, twins=twins, slots=2**14)
        assert work(instance, search, tree, 10**6) == DONE
        assert search.numbers[LOSS] == pytest.approx(brute_force(problem)[0])
        nodes.append(search.tally[NODES])
    assert nodes[0] < nodes[1]


def test_a_search_without_nodes_is_done():
    """Nothing open, or nothing below the cutoff, is the end."""
    problem = hard_problem(m=24, k=5)
    instance, search, tree = planted(problem, 0.0)
    search.numbers[LOSS] = 0.0
    assert work(instance, search, tree, 10) == DONE
    assert tree.sizes[0] == 1
    assert work(instance, search, make_tree(4, 24), 10) == DONE
    assert search.tally[NODES] == 0
