from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mossrules.solver.approximate.repair import _Exchange, lifted, resized
from mossrules.solver.problems.squared import Problem
from support.oracles import random_problem

SEEDS = st.integers(0, 10**6)


def with_fixings(problem, rng):
    """Return a problem with some rules fixed, at no floor."""
    order = rng.permutation(problem.m)
    n_in = int(rng.integers(0, min(problem.m, problem.max_rules) + 1))
    n_out = int(rng.integers(0, problem.m - n_in + 1))
    return replace(problem, fixed_in=order[:n_in], fixed_out=order[n_in : n_in + n_out])


def random_selection(problem, rng, size=None):
    """Return a selection that keeps the fixings."""
    others = rng.permutation(problem.free)[: rng.integers(0, len(problem.free) + 1)]
    selection = np.sort(np.concatenate([problem.fixed_in, others]).astype(np.int64))
    return selection if size is None else resized(problem, selection)


@given(SEEDS)
@settings(deadline=None, max_examples=50)
def test_changes_of_a_selection_are_priced_exactly(seed):
    """Falls by adding and rises by swapping are the differences of the plain loss."""
    problem = random_problem(seed, floor=0.0)
    S = random_selection(problem, np.random.default_rng(seed))
    rest = np.setdiff1d(np.arange(problem.m), S)
    exchange = _Exchange.of(problem, S)
    loss = problem.loss(S)
    slack = 1e-8 * (1 + problem.statistics.yy)
    fall, rise = exchange.fall_by_adding(), exchange.rise_by_swapping()
    for j in rest:
        assert fall[j] == pytest.approx(loss - problem.loss(np.append(S, j)), abs=slack)
        for p in range(len(S)):
            swapped = np.append(np.delete(S, p), j)
            assert rise[p, j] == pytest.approx(problem.loss(swapped) - loss, abs=slack)


@given(SEEDS, st.sampled_from([0.0, 0.1, 100.0]))
@settings(deadline=None, max_examples=100)
def test_resized_selections_have_the_size_and_keep_the_fixings(seed, lambda_2):
    """Any selection is cut or filled to the problem's size; one of that size stays as it is."""
    rng = np.random.default_rng(seed)
    problem = with_fixings(random_problem(seed, floor=0.0), rng)
    S = random_selection(problem, rng)
    result = resized(problem, S, lambda_2)
    assert len(result) == problem.size
    assert problem.is_feasible(result)
    assert np.all(np.diff(result) > 0)
    if len(S) == problem.size:
        np.testing.assert_array_equal(result, S)
    elif len(S) > problem.size:
        assert set(result) <= set(S)
    else:
        assert set(result) >= set(S)


@given(SEEDS, st.sampled_from([0.0, 0.1, 100.0]))
@settings(deadline=None, max_examples=100)
def test_selections_are_brought_to_size_and_floor_where_weights_have_signs(seed, lambda_2):
    """As without signs; one of the right size and stability stays as it is."""
    rng = np.random.default_rng(seed)
    problem = with_fixings(random_problem(seed, floor=0.0), rng)
    problem = replace(problem, signs=rng.integers(-1, 2, problem.m))
    problem = problem.at(int(rng.choice([0, 0.5, 1.0]) * problem.max_stability_unlimited))
    S = random_selection(problem, rng)
    sized = resized(problem, S, lambda_2)
    result = lifted(problem, sized)
    assert len(sized) == len(result) == problem.size
    assert problem.is_feasible(result)
    assert len(S) != problem.size or set(sized) == set(S)
    if problem.is_feasible(sized):
        np.testing.assert_array_equal(result, sized)


def test_a_rule_that_would_push_the_wrong_way_is_added_last_and_dropped_first():
    """Its weight is 0: it lowers no loss, whatever it has in common with the target."""
    rng = np.random.default_rng(5)
    M = rng.normal(size=(40, 6))
    y = M @ np.array([9.0, 3.0, 3.0, 3.0, 3.0, 3.0])
    signs = np.array([-1, 1, 1, 1, 1, 0])
    problem = Problem.from_matrix(M, y, np.ones(6, dtype=int), max_rules=5, gamma=10.0, signs=signs)
    nothing = np.empty(0, dtype=np.int64)
    fall = _Exchange.of(problem, nothing).fall_by_adding()
    alone = [problem.null_loss - problem.loss(np.array([j])) for j in range(6)]
    np.testing.assert_allclose(fall, alone, atol=1e-9)
    assert fall[0] == 0
    for start in (nothing, np.arange(6)):
        np.testing.assert_array_equal(resized(problem, start), [1, 2, 3, 4, 5])


def test_the_rule_whose_loss_is_least_felt_goes_first():
    """Cutting drops the cheapest rule at each step, by the plain loss."""
    rng = np.random.default_rng(2)
    M, y = rng.normal(size=(30, 9)), rng.normal(size=30)
    problem = Problem.from_matrix(M, y, np.ones(9, dtype=int), max_rules=4, gamma=0.5)
    S = np.arange(9)
    while len(S) > 4:
        S = min((np.delete(S, p) for p in range(len(S))), key=problem.loss)
    np.testing.assert_array_equal(resized(problem, np.arange(9)), S)


def test_the_rule_that_fits_best_comes_first():
    """Filling adds the best rule at each step, by the plain loss."""
    rng = np.random.default_rng(3)
    M, y = rng.normal(size=(30, 9)), rng.normal(size=30)
    problem = Problem.from_matrix(M, y, np.ones(9, dtype=int), max_rules=4, gamma=0.5)
    S = np.array([5])
    while len(S) < 4:
        S = min((np.append(S, j) for j in set(range(9)) - set(S)), key=problem.loss)
    np.testing.assert_array_equal(resized(problem, np.array([5])), np.sort(S))


def test_counts_decide_when_their_price_is_high():
    """With a large lambda_2, filling and cutting both end at the largest counts."""
    problem = random_problem(12, floor=0.0, max_rules=3)
    price = 10 * problem.statistics.yy
    for start in (np.empty(0, dtype=np.int64), np.arange(problem.m)):
        assert problem.stability(resized(problem, start, price)) == problem.max_stability_unlimited


@given(SEEDS)
@settings(deadline=None, max_examples=100)
def test_every_floor_that_can_be_met_is_met(seed):
    """A selection of full size is lifted to any floor up to the largest, fixings kept."""
    rng = np.random.default_rng(seed)
    problem = with_fixings(random_problem(seed, floor=0.0), rng)
    S = random_selection(problem, rng, size=problem.size)
    for share in (0.5, 0.9, 1.0):
        asked = problem.at(int(share * problem.max_stability_unlimited))
        result = lifted(asked, S)
        assert len(result) == problem.size
        assert asked.is_feasible(result)
        if asked.is_feasible(S):
            np.testing.assert_array_equal(result, S)


def test_a_floor_one_swap_away_costs_the_least_loss():
    """Where one count is missing, the cheapest swap that gains it is made."""
    rng = np.random.default_rng(4)
    M, y = rng.normal(size=(30, 8)), rng.normal(size=30)
    counts = np.array([1, 1, 1, 2, 2, 2, 2, 2])
    problem = Problem.from_matrix(M, y, counts, max_rules=3, gamma=0.5, min_stability=4)
    start = np.array([0, 1, 2])
    options = [np.sort(np.append(np.delete(start, p), j)) for p in range(3) for j in range(3, 8)]
    np.testing.assert_array_equal(lifted(problem, start), min(options, key=problem.loss))


def test_a_selection_that_is_too_small_is_not_lifted_forever():
    """Below the size, swaps alone may not reach the floor, and that is an error."""
    problem = Problem.from_matrix(np.eye(3), np.ones(3), [3, 2, 1], max_rules=2, min_stability=5)
    with pytest.raises(AssertionError, match="no swap that lifts it"):
        lifted(problem, np.array([0]))
