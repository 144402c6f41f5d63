"""One call for every method: `solve(problem, method=..., options=...)`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import get_args

import numpy as np

from mossrules._typing import IntArray
from mossrules.exceptions import InvalidParameter
from mossrules.solver.branch_and_bound import solve_by_branch_and_bound
from mossrules.solver.coordinate_descent import solve_by_coordinate_descent
from mossrules.solver.cutting_plane import solve_by_cutting_plane
from mossrules.solver.options import Clock, Method, Options
from mossrules.solver.problem import Problem
from mossrules.solver.result import Outcome, Report, Solution

__all__ = ["solve"]

METHODS: Mapping[str, Callable[..., Outcome]] = {
    "branch-and-bound": solve_by_branch_and_bound,
    "cutting-plane": solve_by_cutting_plane,
    "coordinate-descent": solve_by_coordinate_descent,
}


def solve(
    problem: Problem,
    method: Method = "auto",
    options: Options | None = None,
    *,
    start: Solution | IntArray | None = None,
) -> Solution:
    """Select rules, and prove how good the selection is.

    Parameters
    ----------
    problem
        What to select from, and under which conditions.
    method
        "branch-and-bound" and "cutting-plane" prove the optimum to within `options.gap`;
        "coordinate-descent" is the paper's approximate algorithm, quick and without a proof; "auto"
        takes the fastest exact method that accepts the problem. `solution.report.reason` says why.
    options
        Gap, limits, threads and so on; see `Options`.
    start
        A selection to start from, such as the solution of a neighbouring problem. It need not be
        feasible here.

    Returns
    -------
    Solution
        The best selection found with its bound; look at `solution.status` before trusting the gap.

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
    clock = Clock(options.time_limit)
    chosen, reason = choose_method(problem, method)
    support = start.support if isinstance(start, Solution) else start
    if support is not None:
        support = np.asarray(support, dtype=np.int64)
    outcome = METHODS[chosen](problem, options, clock=clock, start=support)
    report = Report(chosen, reason, clock.elapsed(), options.gap, outcome.figures)
    if outcome.support is None:
        return Solution.infeasible(report)
    return Solution.of(
        problem, outcome.support, outcome.bound, outcome.status, report, dual=outcome.dual
    )


def choose_method(problem: Problem, method: Method) -> tuple[Method, str]:
    """Return the method to use, and why."""
    if method not in get_args(Method):
        raise InvalidParameter(f"method is {method!r}; choose from {', '.join(get_args(Method))}.")
    if method != "auto":
        return method, "asked for"
    if problem.constraints is not None:
        return "cutting-plane", "the only exact method that takes constraints A z <= b"
    return "branch-and-bound", "the fastest exact method for problems without constraints A z <= b"
