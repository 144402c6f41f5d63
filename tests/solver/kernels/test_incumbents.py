import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mossrules.solver.kernels.incumbents import (
    cutoff_of,
    evaluate_leaf,
    offer,
    relaxed_selection,
    round_to_selection,
    try_rounding,
)
from mossrules.solver.kernels.state import FREE, GAP, IMPROVED, IN, LOSS, MARGIN, OUT, make_search
from mossrules.solver.search.instance import no_twins
from support.cases import data_of, hard_problem, random_node

SEEDS = st.integers(0, 10**6)


def search_of(node, z=None):
    """Return a search for the node, with the relaxed selection z."""
    eps = node.floor + node.data.counts[node.inside].sum()
    search = make_search(node.problem.size, eps, node.order, *no_twins(len(node.fate)))
    if z is not None:
        search.z[:] = z
    return search


@given(SEEDS)
@settings(deadline=None, max_examples=300)
def test_rounding_finds_a_feasible_selection_if_there_is_one(seed):
    """Whatever z says, the result has k rules, meets the floor and keeps the fixings."""
    node = random_node(seed)
    z = np.random.default_rng(seed).choice([0.0, 0.3, 1.0], len(node.fate))
    search = search_of(node, z)
    found = round_to_selection(node.data, search, node.fate)
    feasible = [set(support) for support in node.selections()]
    assert found == bool(feasible)
    if found:
        assert set(search.chosen) in feasible


def test_rounding_takes_the_largest_z():
    """Without a floor the k largest are chosen; with one, the largest that leave room for it."""
    node = random_node(3)
    m = len(node.fate)
    fate, z = np.zeros(m, np.int8), np.linspace(0.1, 0.9, m)
    data = node.data._replace(counts=np.arange(m, 0, -1.0))
    for eps, expected in [(0, {m - 1, m - 2}), (m + 1, {m - 1, 0}), (2 * m - 1, {0, 1})]:
        search = make_search(2, eps, np.arange(m), *no_twins(m))
        search.z[:] = z
        assert round_to_selection(data, search, fate)
        assert set(search.chosen) == expected
    search = make_search(2, 2 * m, np.arange(m), *no_twins(m))
    assert not round_to_selection(data, search, fate)


@given(SEEDS, st.booleans())
@settings(deadline=None, max_examples=200)
def test_what_is_tried_is_feasible_and_only_improves(seed, polish):
    """The incumbent meets the floor and the root's fixings, and its loss is its own."""
    node = random_node(seed)
    rng = np.random.default_rng(seed)
    root = np.where(rng.random(len(node.fate)) < 0.5, node.fate, FREE).astype(np.int8)
    search = search_of(node, rng.random(len(node.fate)))
    try_rounding(node.data, search, node.fate, root, polish)
    if next(node.selections(), None) is None:
        assert search.numbers[LOSS] == np.inf
        return
    chosen = search.incumbent.copy()
    slack = 1e-9 * node.data.half
    assert search.numbers[LOSS] == pytest.approx(node.problem.loss(chosen), abs=slack)
    assert len(set(chosen)) == node.problem.size
    assert set(np.flatnonzero(root == IN)) <= set(chosen)
    assert not (root[chosen] == OUT).any()
    assert node.data.counts[chosen].sum() >= search.eps
    assert search.tally[IMPROVED] >= 1
    best = search.numbers[LOSS]
    search.numbers[LOSS] = -1.0
    try_rounding(node.data, search, node.fate, root, polish)
    assert search.numbers[LOSS] == -1.0
    np.testing.assert_array_equal(search.incumbent, chosen)
    assert best >= 0 or abs(best) <= slack


def test_an_offer_is_taken_only_if_it_is_better():
    """Equal losses leave the incumbent as it is."""
    data = data_of(hard_problem(m=4, k=2))
    search = make_search(2, 0.0, np.arange(4), *no_twins(4))
    for loss, chosen, expected in [
        (3.0, [1, 2], [1, 2]),
        (3.0, [0, 3], [1, 2]),
        (2, [3, 0], [3, 0]),
    ]:
        search.chosen[:] = chosen
        offer(data, search, loss)
        assert search.incumbent.tolist() == expected
    assert (search.numbers[LOSS], search.tally[IMPROVED]) == (2.0, 2)


def test_the_cutoff_is_below_the_loss_by_the_gap_or_by_rounding():
    """The larger of both counts."""
    search = make_search(2, 0.0, np.arange(4), *no_twins(4))
    search.numbers[[LOSS, GAP, MARGIN]] = 10.0, 0.1, 0.5
    assert cutoff_of(search.numbers) == 9.0
    search.numbers[MARGIN] = 2.0
    assert cutoff_of(search.numbers) == 8.0


@given(SEEDS)
@settings(deadline=None, max_examples=100)
def test_a_leaf_has_the_loss_of_its_only_selection(seed):
    """What is fixed in is evaluated, and offered."""
    node = random_node(seed)
    rng = np.random.default_rng(seed)
    support = np.sort(rng.permutation(len(node.fate))[: node.problem.size])
    fate = np.full(len(node.fate), OUT, np.int8)
    fate[support] = IN
    search = search_of(node)
    loss = evaluate_leaf(node.data, search, fate)
    assert loss == pytest.approx(node.problem.loss(support), abs=1e-9 * node.data.half)
    assert search.numbers[LOSS] == loss
    np.testing.assert_array_equal(search.incumbent, support)


def test_the_relaxed_selection_follows_the_prices():
    """It is 1 where a price is not positive, and else the weight against its knee, up to 1."""
    node = random_node(3)
    data = node.data._replace(gamma=2.0, counts=np.array([0.0, 1, 2, 0, 0, 0, 0]))
    fate = np.array([FREE, FREE, FREE, IN, OUT, FREE, FREE], np.int8)
    w, z = np.array([0.5, 0.5, 0.0, 0.0, 0.0, 0.0, -9.0]), np.full(7, 9.0)
    relaxed_selection(data, fate, np.array([2.0, 1.0]), w, z)
    knees = np.sqrt(2 * 2.0 * np.array([2.0, 1.0]))
    np.testing.assert_allclose(z, [0.5 / knees[0], 0.5 / knees[1], 1, 1, 0, 0, 1])
