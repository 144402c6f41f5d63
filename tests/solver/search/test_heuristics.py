from dataclasses import replace

import numpy as np
import pytest

from mossrules.exceptions import InfeasibleProblem
from mossrules.solver.problems.squared import LinearConstraints
from mossrules.solver.search import heuristics
from mossrules.solver.search.heuristics import first_selection, swap_search
from mossrules.solver.search.instance import Instance
from support.cases import floored, hard_problem, swap_nothing, wild_problem
from support.oracles import brute_force


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
    monkeypatch.setattr(heuristics, "improve_by_swaps", swap_nothing)
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
    """Swaps do not break A z <= b, and where nothing keeps it the message says so."""
    limits = LinearConstraints(np.ones((1, 20)), np.array([2.0]))
    problem = hard_problem(m=20, constraints=limits)
    found = swap_search(problem)
    assert len(found) == 2
    for i in range(2):
        for j in np.setdiff1d(np.arange(20), found):
            other = np.append(np.delete(found, i), j)
            assert problem.loss(other) >= problem.loss(found) * (1 - 1e-12)
    with pytest.raises(InfeasibleProblem, match="No selection keeps the limits"):
        swap_search(replace(problem, fixed_in=[1, 2, 3]))
