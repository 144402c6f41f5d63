import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mossrules.solver.kernels.branching import (
    branch,
    choose_rule,
    drop_weights,
    learn,
    list_candidates,
)
from mossrules.solver.kernels.state import FREE, GAP, LEAST_DROPPED, LOSS, OUT, make_search
from mossrules.solver.search.instance import no_twins
from support.cases import random_node

SEEDS = st.integers(0, 10**6)


def search_at(seed):
    """Return a node with something to choose and a search that has just taken it from a tree."""
    node = random_node(seed)
    assume(node.room > 0 and next(node.selections(), None) is not None)
    rng = np.random.default_rng(seed)
    eps = node.floor + node.data.counts[node.inside].sum()
    search = make_search(node.problem.size, eps, node.order, *no_twins(len(node.fate)))
    search.fate[:] = node.fate
    support = next(node.selections())
    search.w[support] = node.problem.weights(support)
    search.r[:] = node.data.q - node.data.G @ search.w
    gain = node.data.gamma / 2 * search.r**2
    search.multipliers[:] = float(np.median(gain)), 0.0
    search.z[:] = np.where(node.fate == FREE, rng.random(len(node.fate)), node.fate == 1)
    search.numbers[LOSS] = node.problem.loss(support)
    return node, search


@given(SEEDS)
@settings(deadline=None, max_examples=50)
def test_weights_of_rules_that_are_out_are_dropped(seed):
    """They become zero, others stay, and r is that of what is left."""
    node, search = search_at(seed)
    w, r = np.random.default_rng(seed).normal(size=(2, len(node.fate)))
    r[:] = node.data.q - node.data.G @ w
    expected = np.where(node.fate == OUT, 0.0, w)
    size = np.abs(node.data.q).max() + np.abs(node.data.G).max() * np.abs(w).sum()
    drop_weights(node.data, node.fate, w, r)
    np.testing.assert_array_equal(w, expected)
    np.testing.assert_allclose(r, node.data.q - node.data.G @ w, atol=1e-12 * size)
    assert search.tally.sum() == 0


@given(SEEDS, st.booleans(), st.integers(0, 12))
@settings(deadline=None, max_examples=300)
def test_the_bound_of_a_child_holds(seed, up, steps):
    """Below it is no selection with the rule in, or out; infinite means none that is not known."""
    node, search = search_at(seed)
    rule = int(np.random.default_rng(seed).choice(node.free))
    before, start = search.numbers[LOSS], search.fate.copy()
    bound, _, _ = branch(node.data, search, rule, up, node.room, node.floor, steps)
    slack = 1e-9 * node.data.half
    for support in node.selections():
        if (rule in support) == up:
            loss = node.problem.loss(support)
            assert loss >= min(bound, search.numbers[LOSS], search.numbers[LEAST_DROPPED]) - slack
    np.testing.assert_array_equal(search.fate, start)
    assert search.numbers[LOSS] <= before
    assert search.child_fate[rule] != FREE


@given(SEEDS)
@settings(deadline=None, max_examples=150)
def test_the_rule_to_branch_on_is_free(seed):
    """Trying children changes neither the node nor what is known of others, but may find leaves."""
    node, search = search_at(seed)
    rng = np.random.default_rng(seed)
    if rng.random() < 0.3:  # nothing fractional
        search.z[:] = np.round(search.z)
    before = search.fate.copy(), search.w.copy(), search.r.copy(), search.multipliers.copy()
    z = search.z.copy()
    rule = choose_rule(node.data, search, -np.inf, node.room, node.floor)
    assert node.fate[rule] == FREE
    after = search.fate, search.w, search.r, search.multipliers
    for old, new in zip(before, after, strict=True):
        np.testing.assert_array_equal(old, new)
    np.testing.assert_array_equal(z, search.z)
    assert search.numbers[LOSS] >= min(map(node.problem.loss, node.selections())) * (1 - 1e-6)


def test_candidates_are_the_free_fractional_rules():
    """Weighted by |w| sqrt(G_ii) and the distance of z to the nearer end."""
    node = random_node(3)
    search = make_search(1, 0.0, node.order, *no_twins(len(node.fate)))
    search.fate[:] = FREE
    search.fate[0] = OUT
    search.z[:] = 0.0
    search.z[:4] = 0.5, 0.25, 0.9, 1.0
    search.w[:] = -2.0
    assert list_candidates(node.data, search) == 2
    assert search.candidates[:2].tolist() == [1, 2]
    length = np.sqrt(np.diagonal(node.data.G)[1:3])
    np.testing.assert_allclose(search.merit[:2], 2.0 * length * [0.25, 0.1])


def test_what_is_learned_is_the_rise_per_unit():
    """Sums and numbers of rises, apart for down and up; cut-off children and tiny steps aside."""
    search = make_search(1, 0.0, np.arange(3), *no_twins(3))
    search.z[:] = 0.25, 1e-4, 1.0
    for rule, up, rise in [
        (0, False, 1.0), (0, False, -5.0), (0, True, 3.0), (0, True, np.inf), (1, False, 1.0),
        (2, True, 1.0),
    ]:  # fmt: skip
        learn(search.past, rule, search.z[rule], up, rise)
    assert search.past.tolist() == [[4.0, 2.0, 4.0, 1.0], [0.0] * 4, [0.0] * 4]


def test_a_rule_with_a_past_is_judged_by_it():
    """Of two rules with known pseudo-costs the one with the larger product is taken untried."""
    node = random_node(3)
    search = make_search(1, 0.0, node.order, *no_twins(len(node.fate)))
    search.fate[:] = FREE
    search.numbers[[LOSS, GAP]] = 100.0, 0.0
    search.w[:2], search.z[:2] = 1.0, 0.5
    search.past[0], search.past[1] = (4, 4, 4, 4), (40, 4, 40, 4)
    assert choose_rule(node.data, search, 0.0, 1.0, 0.0) == 1
    search.past[0] = 400, 4, 400, 4
    assert choose_rule(node.data, search, 0.0, 1.0, 0.0) == 0
    assert search.tally.sum() == pytest.approx(0)
