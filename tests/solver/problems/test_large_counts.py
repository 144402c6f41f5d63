"""Counts of any size are whole numbers: one more or less decides what is feasible."""

from itertools import combinations

import numpy as np
import pytest

from mossrules.exceptions import InfeasibleProblem, InvalidParameter
from mossrules.solver import LinearConstraints, LogisticProblem, Options, Problem, Status, solve
from mossrules.solver.search import group_branching


def limited(seed, size):
    """Return a problem with limits on rules and on groups, whose counts differ by a few."""
    draw = np.random.default_rng(seed)
    m, groups = int(draw.integers(5, 9)), draw.random((3, 8)) < 0.4
    groups = groups[:, :m]
    of_rules = np.hstack([draw.random((1, m)) < 0.5, np.zeros((1, 3))]).astype(float)
    of_groups = np.hstack([np.zeros((1, m)), np.ones((1, 3))])
    limits = LinearConstraints(np.vstack([of_rules, of_groups]), [1.0, 2.0], groups)
    counts = size + draw.integers(0, 4, m)
    M, y = draw.normal(size=(20, m)), draw.normal(size=20)
    settings = {"max_rules": int(draw.integers(1, 5)), "gamma": 1.0, "constraints": limits}
    if seed % 4 == 0:
        return LogisticProblem.from_matrix(M > 0, y > 0, counts, **settings)
    return Problem.from_matrix(M, y, counts, **settings)


def selections(problem):
    """Return all selections that keep the limits, whatever the floor."""
    free = problem.at(0)
    return [
        support
        for size in range(problem.max_rules + 1)
        for support in map(np.array, combinations(range(problem.m), size))
        if free.is_feasible(support.astype(int))
    ]


@pytest.mark.parametrize("size", [10_000_000, 900_000_000])
def test_limits_with_large_counts_are_brute_force(size):
    """The largest stability, what is feasible there and one count below, and the best loss."""
    for seed in range(8):
        problem = limited(seed, size)
        allowed = [support.astype(int) for support in selections(problem)]
        stability = [int(problem.counts[support].sum()) for support in allowed]
        assert problem.max_stability == max(stability)
        for floor in (max(stability), max(stability) - 1):
            here = problem.at(floor)
            best = min(
                problem.loss(support)
                for support, counts in zip(allowed, stability, strict=True)
                if counts >= floor
            )
            solution = solve(here, options=Options(gap=0.0))
            assert solution.status is Status.OPTIMAL
            assert solution.loss == pytest.approx(best, rel=1e-6)
            assert solution.stability >= floor
        if max(stability) < problem.max_stability_unlimited:
            nothing = solve(problem.at(max(stability) + 1))
            assert nothing.status is Status.INFEASIBLE


def test_limits_that_count_whole_numbers_are_exact():
    """One more than a limit of ten thousand millions is too many; fractions have room to round."""
    limits = LinearConstraints([[1e10, 1.0, 0.0], [0.1, 0.2, 0.0]], [1e10, 0.3])
    assert limits.holds([0])
    assert limits.holds([1])
    assert not limits.holds([0, 1])
    assert LinearConstraints([[0.1, 0.2, 0.0]], [0.3]).holds([0, 1])  # 0.30000000000000004


def test_a_program_without_an_answer_costs_no_more_than_its_prices(monkeypatch):
    """Where numbers defeat the linear program of the first root, later ones have prices anew."""
    found = [None]

    def once(*given):
        found.append(constraint_multipliers(*given) if len(found) > 1 else None)
        return found[-1]

    constraint_multipliers = group_branching.constraint_multipliers
    for seed in (1, 2, 3, 5, 6, 7):
        problem = limited(seed, 10)
        expected = solve(problem, options=Options(gap=0.0))
        with monkeypatch.context() as patch:
            patch.setattr(group_branching, "constraint_multipliers", once)
            del found[1:]
            solution = solve(problem, options=Options(gap=0.0))
        assert solution.loss == expected.loss
    assert len(found) > 2


def test_counts_that_cannot_be_told_apart_are_refused():
    """Sums above 2^53, and with limits counts above what an integer solver distinguishes."""
    M, y = np.eye(4)[:, :3], np.arange(4.0)
    with pytest.raises(InvalidParameter, match=r"at most 2\^53, so divide all of them"):
        Problem.from_matrix(M, y, np.array([1, 2, 2**53]), max_rules=2)
    assert Problem.from_matrix(M, y, np.array([1, 2, 2**52]), max_rules=2).max_stability > 2**52
    limits = LinearConstraints([[1, 1, 0]], [1])
    with pytest.raises(InvalidParameter, match="counts may be at most 1,000,000,000, so divide"):
        Problem.from_matrix(M, y, np.array([1, 2, 10**9 + 1]), max_rules=2, constraints=limits)


def test_a_floor_is_the_whole_number_that_was_asked_for():
    """Also one of fourteen digits, and as a float, which holds it exactly."""
    counts = np.array([10**13, 10**13 + 5, 7])
    problem = Problem.from_matrix(np.eye(4)[:, :3], np.arange(4.0), counts, max_rules=1)
    for floor in (10**13 + 5, float(10**13 + 5), np.int64(10**13 + 5)):
        assert problem.at(floor).min_stability == 10**13 + 5
        assert solve(problem.at(floor)).support.tolist() == [1]
    assert problem.at(10**13 + 0.5).min_stability == 10**13 + 1
    assert problem.at(0.07 * 100).min_stability == 7
    with pytest.raises(InfeasibleProblem):
        problem.at(10**13 + 6)
