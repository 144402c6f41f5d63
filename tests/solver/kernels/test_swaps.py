import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mossrules.solver.kernels.swaps import (
    best_swap,
    explained_by,
    improve_by_swaps,
    invert,
    projections,
)
from support.cases import wild_problem
from support.nodes import data_of

SEEDS = st.integers(0, 10**6)


def random_support(problem, rng):
    """Return fixed rules and then others, feasible without a floor, in no order."""
    others = rng.permutation(problem.free)[: problem.size - len(problem.fixed_in)]
    return np.array([*problem.fixed_in, *others], dtype=np.int64)


def swap_tables(data, support):
    """Return B, w, P, a and d of a support, by the kernels."""
    k, m = len(support), len(data.q)
    factor, B, P = np.empty((k, k)), np.empty((k, k)), np.empty((k, m))
    w, a, d = np.empty(k), np.empty(m), np.empty(m)
    explained_by(data, support, k, factor, w)
    assert invert(data, support, w, factor, B)
    projections(data, support, B, w, P, a, d)
    return B, w, P, a, d


@given(SEEDS)
@settings(deadline=None, max_examples=100)
def test_what_is_explained_is_the_drop_of_the_loss(seed):
    """The ridge fit of any support explains yy/2 less its loss, with the problem's weights."""
    problem = wild_problem(seed, strongest=6)
    data, support = data_of(problem), random_support(problem, np.random.default_rng(seed))
    k = len(support)
    w = np.full(k + 1, 7.0)
    found = explained_by(data, support, k, np.empty((k, k)), w)
    assert data.half_yy - found == pytest.approx(problem.loss(support), abs=1e-10 * data.half_yy)
    scale = np.abs(problem.weights(support)).max(initial=1e-300)
    np.testing.assert_allclose(w[:k], problem.weights(support), atol=1e-6 * scale)
    assert w[k] == 7.0


@given(SEEDS)
@settings(deadline=None, max_examples=60)
def test_the_change_of_every_swap_is_that_of_the_loss(seed):
    """For every rule that leaves and every rule that enters, the closed form is recomputed."""
    problem = wild_problem(seed, strongest=4)
    data, rng = data_of(problem), np.random.default_rng(seed)
    support = random_support(problem, rng)
    k = len(support)
    outside = np.setdiff1d(np.arange(problem.m), support)
    loss = problem.loss(support)
    for i in range(k):
        support[[i, k - 1]] = support[[k - 1, i]]  # the last place is the only one that may change
        tables = swap_tables(data, support)
        for j in outside:
            allowed = np.arange(problem.m) == j
            leaves, enters, change = best_swap(data, 0.0, allowed, support, k - 1, *tables)
            expected = problem.loss([*support[:-1], j]) - loss
            assert change == pytest.approx(min(0.0, expected), abs=1e-9 * data.half_yy)
            assert (leaves, enters) in {(k - 1, j), (-1, -1)}
            assert (leaves >= 0) == (change < 0)


@given(SEEDS, st.integers(0, 60))
@settings(deadline=None, max_examples=100)
def test_the_best_swap_is_the_best_of_those_allowed(seed, floor):
    """Of the swaps that leave fixed places alone and meet the floor, none is better."""
    problem = wild_problem(seed, strongest=4)
    data, rng = data_of(problem), np.random.default_rng(seed)
    support = random_support(problem, rng)
    k, first = len(support), int(rng.integers(0, len(support) + 1))
    allowed = rng.random(problem.m) < 0.7
    allowed[support] = False
    leaves, enters, change = best_swap(
        data, float(floor), allowed, support, first, *swap_tables(data, support)
    )
    losses = [0.0]
    for i in range(first, k):
        for j in np.flatnonzero(allowed):
            other = np.append(np.delete(support, i), j)
            if problem.stability(other) >= floor:
                losses.append(problem.loss(other) - problem.loss(support))
    assert change == pytest.approx(min(losses), abs=1e-9 * data.half_yy)
    if leaves >= 0:
        assert leaves >= first
        assert allowed[enters]
        swapped = np.append(np.delete(support, leaves), enters)
        assert problem.stability(swapped) >= floor


@given(SEEDS)
@settings(deadline=None, max_examples=150)
def test_the_search_ends_at_a_local_optimum(seed):
    """No exchange improves the result, which is feasible, keeps fixed rules and is no worse."""
    problem = wild_problem(seed, strongest=6)
    data, rng = data_of(problem), np.random.default_rng(seed)
    support = random_support(problem, rng)
    floor = min(problem.min_stability, problem.stability(support))
    first = len(problem.fixed_in)
    allowed = np.isin(np.arange(problem.m), np.setdiff1d(problem.free, support))
    before, start = problem.loss(support), support.copy()
    found = improve_by_swaps(data, float(floor), allowed, support, first, 1000)
    loss = problem.loss(support)
    slack = 1e-10 * data.half_yy
    assert data.half_yy - found == pytest.approx(loss, abs=slack)
    assert loss <= before + slack
    assert problem.at(floor).is_feasible(support)
    np.testing.assert_array_equal(support[:first], start[:first])
    np.testing.assert_array_equal(np.flatnonzero(allowed), np.setdiff1d(problem.free, support))
    for i in range(first, len(support)):
        for j in np.flatnonzero(allowed):
            other = np.append(np.delete(support, i), j)
            if problem.stability(other) >= floor:
                assert problem.loss(other) >= loss - 10 * slack


def test_rounds_limit_the_number_of_swaps():
    """After no round nothing has changed; after one, at most one rule."""
    problem = wild_problem(5, strongest=1)
    data = data_of(problem)
    changed = []
    for rounds in (0, 1):
        for seed in range(20):
            support = random_support(problem, np.random.default_rng(seed))
            start, allowed = support.copy(), np.ones(problem.m, dtype=bool)
            allowed[support] = False
            improve_by_swaps(data, 0.0, allowed, support, 0, rounds)
            changed.append(np.count_nonzero(start != support))
    assert changed[:20] == [0] * 20
    assert set(changed[20:]) <= {0, 1}
    assert 1 in changed
