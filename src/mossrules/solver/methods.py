"""One call for every method: `solve(problem, method=..., options=...)`."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np

from mossrules._common import check_number
from mossrules._refusals import names_input
from mossrules._typing import IntArray
from mossrules.exceptions import InvalidParameter
from mossrules.solver.approximate.coordinate_descent import solve_by_coordinate_descent
from mossrules.solver.bounds.duality import DualPoint
from mossrules.solver.cutting_plane.loop import CutPool, solve_by_cutting_plane
from mossrules.solver.options import Clock, Method, Options
from mossrules.solver.problems.logistic import LogisticProblem
from mossrules.solver.problems.selection import SelectionProblem
from mossrules.solver.problems.squared import Problem
from mossrules.solver.result import Outcome, Report, Solution, Status
from mossrules.solver.search.branch_and_bound import compile_kernels, solve_by_branch_and_bound
from mossrules.solver.search.group_branching import solve_constrained
from mossrules.solver.search.logistic import solve_logistic_by_branch_and_bound

__all__ = ["solve"]


@names_input("problem")
def solve(
    problem: SelectionProblem,
    method: Method = "auto",
    options: Options | None = None,
    *,
    start: Solution | IntArray | None = None,
    bound: float = 0.0,
    cuts: CutPool | None = None,
) -> Solution:
    """Choose a rule set, and prove how good it is.

    Parameters
    ----------
    problem
        The rules to choose from, and the conditions.
    method
        "branch-and-bound" and "cutting-plane" prove the optimum to within `options.gap`;
        "coordinate-descent" is the paper's approximate algorithm, quick and without a proof, and
        keeps no limits `A z <= b`; "auto" takes the fastest exact method that accepts the problem.
        `solution.report.reason` says why.
    options
        Gap, limits, threads and so on; see `Options`.
    start
        A rule set to start from, such as the solution of a neighbouring problem. It need not be
        feasible here.
    bound
        A lower bound that is known to hold, such as one proven for a lower floor.
    cuts
        Cuts for the cutting plane to use and to add to; they hold for any floor and size.

    Returns
    -------
    Solution
        The best rule set found with its bound; `solution.status` says whether the gap is proven.

    Examples
    --------
    >>> import numpy as np
    >>> from mossrules.solver import Problem, solve
    >>> rng = np.random.default_rng(0)
    >>> M = rng.normal(size=(50, 8))
    >>> y = M[:, 2] - M[:, 5]
    >>> counts = np.array([9, 8, 7, 6, 5, 4, 3, 2])
    >>> solution = solve(Problem.from_matrix(M, y, counts, max_rules=2, gamma=10.0))
    >>> solution.support, solution.stability, solution.status.value
    (array([2, 5]), 11, 'optimal')
    """
    options = Options() if options is None else options
    asked, problem = problem, problem.as_sum()  # no method knows of a floor on each rule
    chosen, reason = choose_method(problem, method)
    if chosen == "branch-and-bound":
        compile_kernels()  # before the clock starts: it takes longer than many time limits
    clock = Clock(options.time_limit)
    support = None if start is None else start_positions(problem, start)
    dual = usable_dual(problem, start.dual) if isinstance(start, Solution) else None
    known = check_number("bound", bound, minimum=0.0)
    if problem.size == 0:
        outcome = _without_rules(problem)
    elif chosen == "cutting-plane":
        outcome = solve_by_cutting_plane(problem, options, clock=clock, start=support, cuts=cuts)
    elif chosen == "coordinate-descent":
        outcome = solve_by_coordinate_descent(problem, options, clock=clock, start=support)
    else:
        outcome = _branch_and_bound(
            problem, options, clock=clock, start=support, dual=dual, bound=known
        )
    report = Report(chosen, reason, clock.elapsed(), options.gap, outcome.counters)
    if outcome.support is None:
        return Solution.infeasible(report)
    return Solution.of(
        asked,
        outcome.support,
        outcome.bound,
        outcome.status,
        report,
        dual=outcome.dual,
        known=known,
    )


def _without_rules(problem: SelectionProblem) -> Outcome:
    """Return the only selection where no rule may be selected, if limits allow it."""
    nothing = np.empty(0, dtype=np.int64)
    counters = {"nodes": 0.0}
    if not problem.is_feasible(nothing):
        return Outcome(None, np.inf, Status.INFEASIBLE, counters)
    dual = DualPoint.of_selection(problem, nothing)
    return Outcome(nothing, problem.loss(nothing), Status.OPTIMAL, counters, dual)


def _branch_and_bound(
    problem: SelectionProblem,
    options: Options,
    *,
    clock: Clock,
    start: IntArray | None,
    dual: DualPoint | None,
    bound: float,
) -> Outcome:
    """Search by the tree that is for the loss and the limits of a problem."""
    known: dict[str, Any] = {"clock": clock, "start": start, "bound": bound}
    if problem.constraints is not None:
        return solve_constrained(problem, options, **known)
    if isinstance(problem, LogisticProblem):
        return solve_logistic_by_branch_and_bound(problem, options, **known)
    assert isinstance(problem, Problem)  # noqa: S101  there are two losses
    return solve_by_branch_and_bound(problem, options, dual=dual, **known)


def start_positions(problem: SelectionProblem, start: Solution | IntArray) -> IntArray:
    """Return the positions of the rules to start from, ascending."""
    support = np.asarray(start.support if isinstance(start, Solution) else start)
    if support.ndim != 1 or (len(support) > 0 and support.dtype.kind not in "iu"):
        raise InvalidParameter("start must be a solution, or a list of positions of rules.")
    wrong = [int(i) for i in support if not 0 <= i < problem.m]
    if wrong:
        raise InvalidParameter(
            f"start has a rule at position {wrong[0]}; positions go from 0 to {problem.m - 1}."
        )
    return np.unique(support).astype(np.int64)


def usable_dual(problem: SelectionProblem, dual: DualPoint | None) -> DualPoint | None:
    """Return a dual point to start from, unless it is of rules that are not there, or is none."""
    # Any weights and any multipliers that are not negative prove a bound, those of another problem
    # too. Only positions that are not there, and numbers that are none, are of no use.
    if dual is None or dual.rules.max(initial=0) >= problem.m:
        return None
    return dual if dual.lam >= 0 and dual.mu >= 0 and np.isfinite(dual.weights).all() else None


def choose_method(problem: SelectionProblem, method: Method) -> tuple[Method, str]:
    """Return the method to use, and why."""
    if method not in get_args(Method):
        raise InvalidParameter(f"method is {method!r}; choose from {', '.join(get_args(Method))}.")
    if method != "auto":
        return method, "asked for"
    if problem.constraints is not None and problem.constraints.is_mixed:
        return "cutting-plane", "the only method for limits that count rules and groups at once"
    return "branch-and-bound", "the fastest exact method"
