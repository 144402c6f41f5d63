import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mossrules.solver.kernels.state import FREE, IN, OUT
from mossrules.solver.problems.squared import LinearConstraints, Problem
from mossrules.solver.search import instance as instances
from mossrules.solver.search.instance import Instance, first_selection
from support.cases import floored, hard_problem, swap_nothing, wild_problem
from support.oracles import brute_force

SEEDS = st.integers(0, 10**6)


def with_columns(M, counts=None, **settings):
    """Return the instance of explicit columns and a target without structure."""
    y = np.random.default_rng(0).normal(size=len(M))
    counts = np.zeros(M.shape[1], int) if counts is None else counts
    settings = {"max_rules": 3, "gamma": 1.0, **settings}
    return Instance.of(Problem.from_matrix(M, y, counts, **settings))


def chains_of(instance):
    """Return the chains of duplicates as lists of positions, and check that both links agree."""
    _, before, after = instance.with_duplicates()
    for i in np.flatnonzero(before >= 0):
        assert after[before[i]] == i
    assert np.count_nonzero(before >= 0) == np.count_nonzero(after >= 0)
    chains = []
    for i in np.flatnonzero((before < 0) & (after >= 0)):
        chain = [int(i)]
        while after[chain[-1]] >= 0:
            chain.append(int(after[chain[-1]]))
        chains.append(chain)
    return chains


# --- the rules that are left ----------------------------------------------------------------------


@given(SEEDS)
@settings(deadline=None, max_examples=200)
def test_only_what_cannot_be_selected_is_left_out(seed):
    """Rules are left out or in for good if and only if all selections of k rules agree."""
    problem = wild_problem(seed)
    instance = Instance.of(problem)
    counts = problem.statistics.counts
    sets = itertools.combinations(range(problem.m), problem.size)
    feasible = [support for support in map(list, sets) if problem.is_feasible(support)]
    z = np.array([np.isin(np.arange(problem.m), support) for support in feasible])
    np.testing.assert_array_equal(instance.rules, np.flatnonzero(z.any(axis=0)))
    np.testing.assert_array_equal(instance.decision == IN, z.all(axis=0)[instance.rules])
    assert OUT not in instance.decision
    assert instance.rules_left == problem.size - np.count_nonzero(instance.decision == IN)
    kept = instance.rules[instance.decision == IN]
    assert instance.stability_left == problem.min_stability - counts[kept].sum()


@given(SEEDS)
@settings(deadline=None, max_examples=50)
def test_the_data_are_those_of_the_rules_that_are_left(seed):
    """Rows, columns and counts follow the positions, in memory without gaps."""
    problem = wild_problem(seed)
    instance = Instance.of(problem)
    data, rules, s = instance.data, instance.rules, problem.statistics
    np.testing.assert_array_equal(rules, np.unique(rules))
    np.testing.assert_array_equal(data.G, s.G[np.ix_(rules, rules)])
    np.testing.assert_array_equal(data.q, s.q[rules])
    np.testing.assert_array_equal(data.counts, s.counts[rules])
    assert (data.gamma, data.half_yy) == (problem.gamma, s.yy / 2)
    assert data.G.flags.c_contiguous
    assert (np.diff(data.counts[instance.by_count]) <= 0).all()
    assert sorted(instance.by_count) == list(range(len(rules)))


def test_rules_that_are_out_by_now_are_taken_away():
    """What is left keeps its positions in the problem, its fixings and what is left to choose."""
    rng = np.random.default_rng(0)
    instance = with_columns(rng.normal(size=(9, 6)), np.array([6, 5, 4, 3, 2, 1]), fixed_out=[1])
    instance = instance.without(np.array([FREE, OUT, IN, FREE, OUT], np.int8))
    np.testing.assert_array_equal(instance.rules, [0, 3, 4])
    np.testing.assert_array_equal(instance.decision, [FREE, IN, FREE])
    np.testing.assert_array_equal(instance.data.counts, [6, 3, 2])
    assert (instance.rules_left, instance.stability_left) == (2.0, -3.0)


# --- duplicates ---------------------------------------------------------------------------------


def test_equal_columns_are_chained_by_falling_count():
    """Of equal columns the one with the largest count comes first; ties go by position."""
    rng = np.random.default_rng(1)
    a, b, c = rng.normal(size=(3, 9))
    instance = with_columns(np.column_stack([a, b, a, c, a, b, a]), np.array([3, 1, 5, 9, 5, 2, 0]))
    assert sorted(chains_of(instance)) == [[2, 4, 0, 6], [5, 1]]


def test_columns_that_are_alike_are_not_duplicates():
    """Parallel and opposite columns, columns with equal products with y, and near copies differ."""
    rng = np.random.default_rng(2)
    y = np.random.default_rng(0).normal(size=9)
    a = rng.normal(size=9)
    same_q = a + (b := rng.normal(size=9)) - y * (b @ y) / (y @ y)
    near = a * (1 + 1e-9)
    assert same_q @ y == pytest.approx(a @ y)
    assert chains_of(with_columns(np.column_stack([a, 2 * a, -a, same_q, near]))) == []


@pytest.mark.parametrize("scale", [1.0, 1e3, 1e5, 1e6])
def test_a_long_column_beside_them_does_not_make_duplicates(scale):
    """Columns that differ by 3e-7 have losses that differ as much, whatever else there is."""
    rng = np.random.default_rng(0)
    y = np.random.default_rng(0).normal(size=50)
    Q, _ = np.linalg.qr(np.column_stack([rng.normal(size=50), y, rng.normal(size=50)]))
    a, along, other = Q.T
    M = np.column_stack([a, a + 3e-7 * along, scale * (other + along)])
    assert chains_of(with_columns(M, gamma=0.1)) == []


def test_zero_columns_and_an_empty_target_have_duplicates_too():
    """Columns without length are all the same; without a target equal columns still are."""
    rng = np.random.default_rng(1)
    M = rng.normal(size=(9, 4))
    M[:, [0, 3]] = 0.0
    assert chains_of(with_columns(M, np.array([1, 2, 3, 4]))) == [[3, 0]]
    M[:, 1] = M[:, 2]
    problem = Problem.from_matrix(M, np.zeros(9), [4, 3, 2, 1], max_rules=2)
    assert sorted(chains_of(Instance.of(problem))) == [[0, 3], [1, 2]]


def test_fixed_rules_are_in_no_chain():
    """A copy of a rule that is fixed in may be selected or not, as it is worth."""
    rng = np.random.default_rng(1)
    M = rng.normal(size=(9, 1))[:, [0, 0, 0, 0]]
    instance = with_columns(M, np.array([4, 3, 2, 1]), fixed_in=[1], fixed_out=[0], max_rules=2)
    assert instance.rules.tolist() == [1, 2, 3]
    assert chains_of(instance) == [[1, 2]]


@given(SEEDS)
@settings(deadline=None, max_examples=200)
def test_some_best_selection_keeps_the_order_of_duplicates(seed):
    """Replacing each copy by those before it keeps the loss and does not lower the stability."""
    problem = wild_problem(seed, strongest=6)
    instance = Instance.of(problem)
    best, support = brute_force(problem)
    if support is None or len(support) < problem.size:
        return
    chosen = set(support.tolist())
    for chain in chains_of(instance):
        rules = instance.rules[chain].tolist()
        n = len(chosen.intersection(rules))
        chosen = (chosen - set(rules)) | set(rules[:n])
        counts = problem.statistics.counts[rules]
        assert (np.diff(counts) <= 0).all()
    ordered = np.array(sorted(chosen), dtype=np.int64)
    assert problem.is_feasible(ordered)
    assert problem.loss(ordered) == pytest.approx(best, abs=1e-12 * problem.statistics.yy, rel=1e-9)


# --- good selections ------------------------------------------------------------------------------


def swap_search(problem, start=None):
    """Return where swaps end, from the most stable selection or a better start."""
    found = first_selection(Instance.of(problem.padded()), start).support
    return found[found < problem.m]


def test_no_exchange_improves_what_is_found():
    """The selection is feasible and of full size, and no swap that is allowed lowers its loss."""
    optimal = 0
    for seed in range(150):
        problem = wild_problem(seed, strongest=4)
        support = swap_search(problem)
        assert problem.is_feasible(support)
        assert len(support) == problem.size
        np.testing.assert_array_equal(support, np.unique(support))
        loss, slack = problem.loss(support), 1e-10 * problem.statistics.yy
        for i in np.setdiff1d(support, problem.fixed_in):
            for j in np.setdiff1d(problem.free, support):
                other = np.append(support[support != i], j)
                if problem.is_feasible(other):
                    assert problem.loss(other) >= loss - slack
        optimal += loss <= brute_force(problem)[0] + slack
    assert optimal > 130


def test_the_search_starts_from_the_most_stable_and_from_what_is_given(monkeypatch):
    """Without swaps the better of both is returned, fixed rules or not."""
    monkeypatch.setattr(instances, "improve_by_swaps", swap_nothing)
    problem = floored(hard_problem(m=20, k=5, seed=4), 0.6)
    best, support = brute_force(problem)
    stable = np.sort(np.argsort(-problem.statistics.counts, kind="stable")[:5])
    np.testing.assert_array_equal(swap_search(problem), stable)
    np.testing.assert_array_equal(swap_search(problem, support[::-1]), support)
    first = first_selection(Instance.of(problem), support)
    assert first.loss == pytest.approx(best)
    fixed = replace(problem, fixed_in=support[2:4])
    np.testing.assert_array_equal(swap_search(fixed, support), support)


def test_a_given_selection_helps_where_swaps_alone_are_stuck():
    """From the optimum the search ends at the optimum, wherever it ends by itself."""
    stuck = 0
    for seed in range(100):
        problem = floored(hard_problem(m=16, k=5, seed=seed, gamma=100.0), 0.7)
        best, support = brute_force(problem)
        stuck += problem.loss(swap_search(problem)) > best * (1 + 1e-6)
        assert problem.loss(swap_search(problem, support)) == pytest.approx(best)
    assert stuck > 0


@pytest.mark.parametrize("start", [[], [0], [3] * 5, [0, 1, 2, 3, 99], [-1, 0, 1, 2, 3], range(20)])
def test_a_start_that_is_not_feasible_is_left_aside(start):
    """The wrong number of rules, or rules that are not there, change nothing."""
    problem = floored(hard_problem(m=20, k=5), 0.9)
    found = swap_search(problem, np.array(start, dtype=np.int64))
    np.testing.assert_array_equal(found, swap_search(problem))


def test_limits_on_the_selection_are_kept():
    """Swaps do not break A z <= b."""
    limits = LinearConstraints(np.ones((1, 20)), np.array([2.0]))
    problem = hard_problem(m=20, constraints=limits)
    found = swap_search(problem)
    assert len(found) == 2
    for i in range(2):
        for j in np.setdiff1d(np.arange(20), found):
            other = np.append(np.delete(found, i), j)
            assert problem.loss(other) >= problem.loss(found) * (1 - 1e-12)
