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
from mossrules.solver.kernels.state import FREE, IN, OUT, Node, make_bounds, make_search
from support.cases import hard_problem
from support.nodes import data_of, plain_order, random_node

SEEDS = st.integers(0, 10**6)


@given(SEEDS)
@settings(deadline=None, max_examples=300)
def test_rounding_finds_a_feasible_selection_if_there_is_one(seed):
    """Whatever z says, the result has k rules, meets the floor and keeps the fixings."""
    case = random_node(seed)
    search = case.search()
    search.workspace.z[:] = np.random.default_rng(seed).choice([0.0, 0.3, 1.0], len(case.decision))
    rounded = round_to_selection(case.data, search, case.decision)
    feasible = [set(support) for support in case.selections()]
    assert rounded == bool(feasible)
    if rounded:
        assert set(search.workspace.chosen) in feasible


def test_rounding_takes_the_largest_z():
    """Without a floor the k largest are chosen; with one, the largest that leave room for it."""
    data = random_node(3).data
    m = len(data.q)
    decision, z = np.zeros(m, np.int8), np.linspace(0.1, 0.9, m)
    data = data._replace(counts=np.arange(m, 0, -1.0))
    order = plain_order(data.counts)
    for eps, expected in [(0, {m - 1, m - 2}), (m + 1, {m - 1, 0}), (2 * m - 1, {0, 1})]:
        search = make_search(2, eps, order)
        search.workspace.z[:] = z
        assert round_to_selection(data, search, decision)
        assert set(search.workspace.chosen) == expected
    assert not round_to_selection(data, make_search(2, 2 * m, order), decision)


@given(SEEDS, st.booleans())
@settings(deadline=None, max_examples=200)
def test_what_is_tried_is_feasible_and_only_improves(seed, polish):
    """The incumbent meets the floor and the root's fixings, and its loss is its own."""
    case = random_node(seed)
    rng = np.random.default_rng(seed)
    root = np.where(rng.random(len(case.decision)) < 0.5, case.decision, FREE).astype(np.int8)
    search = case.search()
    search.workspace.z[:] = rng.random(len(case.decision))
    try_rounding(case.data, search, case.decision, root, polish)
    if next(case.selections(), None) is None:
        assert search.bounds.loss == np.inf
        return
    chosen = search.selections.best.copy()
    slack = 1e-9 * case.data.half_yy
    assert search.bounds.loss == pytest.approx(case.problem.loss(chosen), abs=slack)
    assert len(set(chosen)) == case.problem.size
    assert set(np.flatnonzero(root == IN)) <= set(chosen)
    assert not (root[chosen] == OUT).any()
    assert case.data.counts[chosen].sum() >= search.eps
    assert search.counters.improved >= 1
    best = search.bounds.loss
    search.bounds.loss = -1.0
    try_rounding(case.data, search, case.decision, root, polish)
    assert search.bounds.loss == -1.0
    np.testing.assert_array_equal(search.selections.best, chosen)
    assert best >= 0 or abs(best) <= slack


def test_an_offer_is_taken_only_if_it_is_better():
    """Equal losses leave the incumbent as it is."""
    data = data_of(hard_problem(m=4, k=2))
    search = make_search(2, 0.0, plain_order(np.zeros(4)))
    for loss, chosen, expected in [
        (3.0, [1, 2], [1, 2]),
        (3.0, [0, 3], [1, 2]),
        (2, [3, 0], [3, 0]),
    ]:
        search.workspace.chosen[:] = chosen
        offer(data, search, loss)
        assert search.selections.best.tolist() == expected
    assert (search.bounds.loss, search.counters.improved) == (2.0, 2)


def test_the_cutoff_is_below_the_loss_by_the_gap_or_by_rounding():
    """The larger of both counts."""
    bounds = make_bounds()
    bounds.loss, bounds.gap, bounds.margin = 10.0, 0.1, 0.5
    assert cutoff_of(bounds) == 9.0
    bounds.margin = 2.0
    assert cutoff_of(bounds) == 8.0


@given(SEEDS)
@settings(deadline=None, max_examples=100)
def test_a_leaf_has_the_loss_of_its_only_selection(seed):
    """What is fixed in is evaluated, and offered."""
    case = random_node(seed)
    rng = np.random.default_rng(seed)
    support = np.sort(rng.permutation(len(case.decision))[: case.problem.size])
    decision = np.full(len(case.decision), OUT, np.int8)
    decision[support] = IN
    search = case.search()
    loss = evaluate_leaf(case.data, search, decision)
    assert loss == pytest.approx(case.problem.loss(support), abs=1e-9 * case.data.half_yy)
    assert search.bounds.loss == loss
    np.testing.assert_array_equal(search.selections.best, support)


def test_the_relaxed_selection_follows_the_prices():
    """It is 1 where a price is not positive, and else the weight against its knee, up to 1."""
    counts = np.array([0.0, 1, 2, 0, 0, 0, 0])
    data = random_node(3).data._replace(gamma=2.0, counts=counts)
    decision = np.array([FREE, FREE, FREE, IN, OUT, FREE, FREE], np.int8)
    w, z = np.array([0.5, 0.5, 0.0, 0.0, 0.0, 0.0, -9.0]), np.full(7, 9.0)
    relaxed_selection(data, Node(decision, w, 0 * w, np.array([2.0, 1.0])), z)
    knees = np.sqrt(2 * 2.0 * np.array([2.0, 1.0]))
    np.testing.assert_allclose(z, [0.5 / knees[0], 0.5 / knees[1], 1, 1, 0, 0, 1])
