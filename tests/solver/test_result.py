import math

import numpy as np
import pytest

from mossrules.solver.problems.squared import Problem
from mossrules.solver.result import Outcome, Report, Solution, Status

REPORT = Report(method="test", reason="asked for", seconds=0.5, asked_gap=1e-3)


def small_problem():
    """Return a problem of four rules, two of them to be selected."""
    rng = np.random.default_rng(0)
    M, y = rng.normal(size=(20, 4)), rng.normal(size=20)
    return Problem.from_matrix(M, y, [5, 4, 3, 2], max_rules=2, min_stability=5)


def test_figures_are_recomputed_by_the_plain_definitions():
    """A solution's support is ascending and its figures are the problem's own."""
    problem = small_problem()
    solution = Solution.of(problem, [3, 0], 1.0, Status.TIME_LIMIT, REPORT)
    np.testing.assert_array_equal(solution.support, [0, 3])
    np.testing.assert_array_equal(solution.weights, problem.weights([0, 3]))
    assert solution.loss == problem.loss([0, 3])
    assert solution.stability == 7
    assert solution.bound == 1.0
    assert solution.status is Status.TIME_LIMIT
    assert solution.report is REPORT


@pytest.mark.parametrize("bound", [math.inf, 1e9])
def test_a_bound_is_never_above_the_loss(bound):
    """A search that has seen everything may return any bound above; the loss is the best one."""
    solution = Solution.of(small_problem(), [0, 1], bound, Status.OPTIMAL, REPORT)
    assert solution.bound == solution.loss
    assert solution.gap == 0.0


@pytest.mark.parametrize("bound", [-math.inf, -3.0, math.nan])
def test_a_bound_is_never_below_zero(bound):
    """No loss is negative, so 0 is a bound when a method has none."""
    solution = Solution.of(small_problem(), [0, 1], bound, Status.HEURISTIC, REPORT)
    assert solution.bound == 0.0
    assert solution.gap == 1.0


def test_the_gap_is_the_share_of_the_loss_that_is_open():
    """What is not proven counts, relative to the loss."""
    problem = small_problem()
    solution = Solution.of(problem, [0, 1], 0.75 * problem.loss([0, 1]), Status.NODE_LIMIT, REPORT)
    assert solution.gap == pytest.approx(0.25)


@pytest.mark.parametrize("support", [[2, 3, 0], [3], [1, 1], [0, 4]])
def test_an_infeasible_selection_is_refused(support):
    """A method that returns a selection against the conditions has a bug, and is named."""
    with pytest.raises(AssertionError, match="test returned a selection that is not feasible"):
        Solution.of(small_problem(), support, 0.0, Status.OPTIMAL, REPORT)


def test_an_infeasible_problem_has_an_answer_without_rules():
    """Nothing selected, an infinite loss, and no gap to speak of."""
    solution = Solution.infeasible(REPORT)
    assert solution.status is Status.INFEASIBLE
    assert len(solution.support) == len(solution.weights) == 0
    assert solution.loss == solution.bound == math.inf
    assert math.isnan(solution.gap)
    assert repr(solution) == "Solution(infeasible, test)"


def test_text_says_what_is_proven():
    """The repr has the status beside the gap, so a time limit is not taken for an optimum."""
    problem = small_problem()
    loss = problem.loss([0, 1])
    solution = Solution.of(problem, [0, 1], 0.98 * loss, Status.TIME_LIMIT, REPORT)
    assert repr(solution) == (
        f"Solution(2 rules, loss={loss:.6g}, stability=9, time limit, gap=0.02)"
    )


def test_outcomes_and_reports_need_no_figures():
    """A method's own figures are optional."""
    assert dict(Outcome(None, 0.0, Status.INFEASIBLE).counters) == {}
    assert dict(REPORT.counters) == {}
