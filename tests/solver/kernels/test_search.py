import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mossrules.solver.kernels.incumbents import cutoff_of
from mossrules.solver.kernels.relaxation import ascend, first_multipliers
from mossrules.solver.kernels.search import (
    DONE,
    OUT_OF_SLOTS,
    PAUSED,
    branch,
    choose_rule,
    drop_weights,
    keep_child,
    learn,
    list_candidates,
    run,
)
from mossrules.solver.kernels.state import FREE, IN, OUT, make_node, make_search
from mossrules.solver.kernels.tree import grow_tree, make_tree, pop, push
from mossrules.solver.search.instance import Instance
from support.cases import hard_problem, mixed_problem
from support.nodes import feasible_node, random_node
from support.oracles import brute_force

SEEDS = st.integers(0, 10**6)


def planted(problem, gap, *, slots=4096, duplicates=True):
    """Return an instance, a search that knows no selection but a bad one, and its tree."""
    instance = Instance.of(problem)
    order = instance.with_duplicates() if duplicates else instance.without_duplicates()
    search = make_search(problem.size, problem.min_stability, order)
    search.bounds.loss = problem.loss(problem.most_stable) * (1 + 1e-9)
    search.bounds.gap, search.bounds.margin = gap, 1e-12 * instance.data.half_yy
    tree = make_tree(slots, len(instance.rules))
    push(tree, 0.0, 0.0, make_node(len(instance.rules))._replace(decision=instance.decision), 0)
    return instance, search, tree


def proven(search, tree):
    """Return the bound that a search stands for."""
    least = tree.bound[tree.heap[0]] if tree.sizes[0] else np.inf
    return min(search.bounds.loss, search.bounds.least_dropped, least)


def work(instance, search, tree, nodes):
    """Take some nodes."""
    return run(instance.data, search, tree, instance.decision, nodes)


@pytest.mark.parametrize("rounding", [True, False])
@pytest.mark.parametrize("gap", [0.0, 0.05, 0.3])
def test_a_child_that_is_kept_or_dropped_is_accounted_for(gap, rounding):
    """Each selection of it is in the node that is stored, or no better than what is recorded."""
    stored = fewer = dropped = 0
    for seed in range(400):
        case = random_node(seed, strongest=3)
        if case.K == 0 or next(case.selections(), None) is None:
            continue
        search, tree = relaxed_child(case, gap, seed % 8, rounding=rounding)
        bound = search.bounds.least_dropped
        search.bounds.least_dropped = np.inf
        root = np.where(case.decision == IN, IN, OUT).astype(np.int8)  # or swaps find the optimum
        keep_child(case.data, search, tree, root, bound, case.K, case.E, 0)
        child = make_node(len(case.decision))
        child.decision[:] = OUT
        if n_open := tree.sizes[0]:
            assert pop(tree, child) == bound
            assert not child.w[child.decision == OUT].any()
        least = min(search.bounds.least_dropped, search.bounds.loss) - 1e-9 * case.data.half_yy
        for support in case.selections():
            z = np.isin(np.arange(len(case.decision)), support)
            held = n_open and z[child.decision == IN].all() and not z[child.decision == OUT].any()
            assert held or case.problem.loss(support) >= least, seed
        stored, dropped = stored + n_open, dropped + (n_open == 0)
        fewer += n_open > 0 and (child.decision != case.decision).any()
    assert min(stored, fewer, dropped) > 10


def relaxed_child(case, gap, steps, *, rounding):
    """Return a search with a relaxed child, its bound for least dropped, and an empty tree."""
    search = case.search(eps=None if rounding else 1e9)
    losses = sorted(map(case.problem.loss, case.selections()))
    search.bounds.loss, search.bounds.gap = losses[len(losses) // 2] * 1.01, gap
    child = search.child
    child.decision[:], child.r[:] = case.decision, case.data.q
    child.multipliers[:] = first_multipliers(case.data, child, case.K, case.E)
    search.bounds.least_dropped, _ = ascend(
        case.data, child, case.K, case.E, cutoff_of(search.bounds), steps, search.workspace.node
    )
    return search, make_tree(2, len(case.decision))


@pytest.mark.parametrize("gap", [0.0, 0.02, 0.1, 0.2, 0.4])
def test_the_bound_holds_after_every_node(gap):
    """From a bad incumbent on, dropped, open and found never miss the optimum between them."""
    improved = 0
    for seed in range(600):
        problem = mixed_problem(seed)
        if Instance.of(problem).rules_left == 0:
            continue
        best, _ = brute_force(problem)
        slack = 1e-12 * problem.statistics.yy
        instance, search, tree = planted(problem, gap)
        first, end, bounds = search.bounds.loss, PAUSED, []
        while end != DONE:
            end = work(instance, search, tree, 2)
            bounds.append(proven(search, tree))
            assert bounds[-1] <= best + slack, seed
        assert np.diff(bounds).min(initial=0.0) >= -slack
        loss = search.bounds.loss
        assert bounds[-1] >= loss * (1 - gap) - slack
        if loss < first * (1 - 1e-6):
            improved += 1
            support = instance.rules[search.selections.best]
            assert problem.is_feasible(support)
            assert problem.loss(support) == pytest.approx(loss, abs=slack, rel=1e-9)
    assert improved > 60


def test_nodes_are_counted_and_limited():
    """A slice takes as many nodes as it may, or one more, as children come in pairs."""
    problem = hard_problem(m=24, k=5)
    instance, search, tree = planted(problem, 0.0)
    for nodes, total in ((1, 2), (2, 4), (5, 10)):
        assert work(instance, search, tree, nodes) == PAUSED
        assert search.counters.nodes == total
    assert work(instance, search, tree, 10**6) == DONE
    assert search.counters.nodes > 20


def test_a_full_tree_asks_for_room():
    """With fewer slots than two the search stops, and goes on in a larger tree to the same end."""
    problem = hard_problem(m=24, k=5)
    instance, search, tree = planted(problem, 0.0)
    assert work(instance, search, tree, 10**6) == DONE
    expected = search.bounds.loss, search.counters.nodes
    instance, search, tree = planted(problem, 0.0, slots=2)
    grown = 0
    while (end := work(instance, search, tree, 10**6)) != DONE:
        assert end == OUT_OF_SLOTS
        tree, grown = grow_tree(tree), grown + 1
    assert grown > 2
    assert (search.bounds.loss, search.counters.nodes) == expected


def test_duplicates_shorten_the_search():
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
    for duplicates in (True, False):
        instance, search, tree = planted(problem, 0.0, duplicates=duplicates, slots=2**14)
        assert work(instance, search, tree, 10**6) == DONE
        assert search.bounds.loss == pytest.approx(brute_force(problem)[0])
        nodes.append(search.counters.nodes)
    assert nodes[0] < nodes[1]


def test_a_search_without_nodes_is_done():
    """Nothing open, or nothing below the cutoff, is the end."""
    problem = hard_problem(m=24, k=5)
    instance, search, tree = planted(problem, 0.0)
    search.bounds.loss = 0.0
    assert work(instance, search, tree, 10) == DONE
    assert tree.sizes[0] == 1
    assert work(instance, search, make_tree(4, 24), 10) == DONE
    assert search.counters.nodes == 0


# --- children, and which rule ---------------------------------------------------------------------


def search_at(seed):
    """Return a node with something to choose and a search that has just taken it from a tree."""
    case = feasible_node(seed)
    rng = np.random.default_rng(seed)
    search = case.search()
    node = search.node
    support = next(case.selections())
    node.w[support] = case.problem.weights(support)
    node.r[:] = case.data.q - case.data.G @ node.w
    node.multipliers[:] = float(np.median(case.data.gamma / 2 * node.r**2)), 0.0
    random = rng.random(len(case.decision))
    search.workspace.z[:] = np.where(case.decision == FREE, random, case.decision == IN)
    search.bounds.loss = case.problem.loss(support)
    return case, search


@given(SEEDS)
@settings(deadline=None, max_examples=50)
def test_weights_of_rules_that_are_out_are_dropped(seed):
    """They become zero, others stay, and r is that of what is left."""
    case = feasible_node(seed)
    w = np.random.default_rng(seed).normal(size=len(case.decision))
    node, size = case.at(w), np.abs(case.data.q).max() + np.abs(case.data.G).max() * np.abs(w).sum()
    drop_weights(case.data, node)
    np.testing.assert_array_equal(node.w, np.where(case.decision == OUT, 0.0, w))
    np.testing.assert_allclose(node.r, case.data.q - case.data.G @ node.w, atol=1e-12 * size)


@given(SEEDS, st.booleans(), st.integers(0, 12))
@settings(deadline=None, max_examples=300)
def test_the_bound_of_a_child_holds(seed, up, steps):
    """Below it is no selection with the rule in, or out; infinite means none that is not known."""
    case, search = search_at(seed)
    rule = int(np.random.default_rng(seed).choice(case.free))
    bounds, before = search.bounds, search.bounds.loss
    bound, _, _ = branch(case.data, search, rule, up, case.K, case.E, steps)
    slack = 1e-9 * case.data.half_yy
    for support in case.selections():
        if (rule in support) == up:
            loss = case.problem.loss(support)
            assert loss >= min(bound, bounds.loss, bounds.least_dropped) - slack
    np.testing.assert_array_equal(search.node.decision, case.decision)
    assert bounds.loss <= before
    assert search.child.decision[rule] != FREE


@given(SEEDS)
@settings(deadline=None, max_examples=150)
def test_the_rule_to_branch_on_is_free(seed):
    """Trying children changes neither the node nor what is known of others, but may find leaves."""
    case, search = search_at(seed)
    rng = np.random.default_rng(seed)
    z = search.workspace.z
    if rng.random() < 0.3:  # nothing fractional
        z[:] = np.round(z)
    before = [*(each.copy() for each in search.node), z.copy()]
    rule = choose_rule(case.data, search, -np.inf, case.K, case.E)
    assert case.decision[rule] == FREE
    for old, new in zip(before, [*search.node, z], strict=True):
        np.testing.assert_array_equal(old, new)
    assert search.bounds.loss >= min(map(case.problem.loss, case.selections())) * (1 - 1e-6)


def open_search(case):
    """Return a search at a node of the case's problem with no rule fixed, for one rule."""
    return make_search(1, 0.0, case.precedence)


def test_candidates_are_the_free_fractional_rules():
    """Weighted by |w| sqrt(G_ii) and the distance of z to the nearer end."""
    case = random_node(3)
    search = open_search(case)
    search.node.decision[0] = OUT
    search.workspace.z[:4] = 0.5, 0.25, 0.9, 1.0
    search.node.w[:] = -2.0
    assert list_candidates(case.data, search) == 2
    assert search.workspace.candidates[:2].tolist() == [1, 2]
    length = np.sqrt(np.diagonal(case.data.G)[1:3])
    np.testing.assert_allclose(search.workspace.merit[:2], 2.0 * length * [0.25, 0.1])


def test_what_is_learned_is_the_rise_per_unit():
    """Sums and numbers of rises, apart for down and up; cut-off children and tiny steps aside."""
    past, z = np.zeros((3, 4)), [0.25, 1e-4, 1.0]
    for rule, up, rise in [
        (0, False, 1.0), (0, False, -5.0), (0, True, 3.0), (0, True, np.inf), (1, False, 1.0),
        (2, True, 1.0),
    ]:  # fmt: skip
        learn(past, rule, z[rule], up, rise)
    assert past.tolist() == [[4.0, 2.0, 4.0, 1.0], [0.0] * 4, [0.0] * 4]


def test_a_rule_with_a_past_is_judged_by_it():
    """Of two rules with known pseudo-costs the one with the larger product is taken untried."""
    case = random_node(3)
    search = open_search(case)
    search.bounds.loss = 100.0
    search.node.w[:2], search.workspace.z[:2] = 1.0, 0.5
    search.past[0], search.past[1] = (4, 4, 4, 4), (40, 4, 40, 4)
    assert choose_rule(case.data, search, 0.0, 1.0, 0.0) == 1
    search.past[0] = 400, 4, 400, 4
    assert choose_rule(case.data, search, 0.0, 1.0, 0.0) == 0
    assert search.counters.trials == search.counters.steps == 0
