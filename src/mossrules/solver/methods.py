"""One call for every method: `solve(problem, method=..., options=...)`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, get_args

import numpy as np

from mossrules._common import check_number
from mossrules._files import check_place, write_file
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
from mossrules.solver.proofs.recording import Recorder, kept_rules
from mossrules.solver.proofs.writing import Proven, proof_bytes
from mossrules.solver.result import Outcome, Prover, Report, Solution, Status
from mossrules.solver.search.branch_and_bound import compile_kernels, solve_by_branch_and_bound
from mossrules.solver.search.group_branching import solve_constrained
from mossrules.solver.search.logistic import solve_logistic_by_branch_and_bound

__all__ = ["prove", "solve"]


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
    if options.proof is None:
        return _solve(problem, method, options, start=start, bound=bound, cuts=cuts)[0]
    solution, proven = _solve(problem, method, options, start=start, bound=bound, record=True)
    if proven is not None:
        write_file(Path(options.proof), proof_bytes([proven]))
    return solution


def prove(
    problems: Sequence[SelectionProblem],
    solutions: Sequence[Solution],
    path: Path,
    names: Sequence[str] | None = None,
) -> list[Solution]:
    """Solve one problem at some floors again, from solutions of it, and write one file of proofs.

    Each is solved to the gap that its solution has. `names` are texts of all rules, for readers.
    """
    check_place(path)
    kept = np.unique(np.concatenate([kept_rules(problem.as_sum()) for problem in problems]))
    again, claims = list[Solution](), list[Proven]()
    for problem, known in zip(problems, solutions, strict=True):
        options = Options(gap=max(0.0, known.gap), time_limit=None)
        solution, proven = _solve(
            problem, "branch-and-bound", options, start=known.support, record=True, kept=kept
        )
        assert proven is not None  # noqa: S101  there is a solution to begin with
        again.append(solution)
        claims.append(proven)
    write_file(path, proof_bytes(claims, names))
    return again


def _solve(
    problem: SelectionProblem,
    method: Method,
    options: Options,
    *,
    start: Solution | IntArray | None,
    bound: float = 0.0,
    cuts: CutPool | None = None,
    record: bool = False,
    kept: IntArray | None = None,
) -> tuple[Solution, Proven | None]:
    """Solve a problem; where its search is recorded, return what that proves too."""
    asked, problem = problem, problem.as_sum()  # no method knows of a floor on each rule
    chosen, reason = choose_method(problem, method)
    if chosen == "branch-and-bound":
        compile_kernels()  # before the clock starts: it takes longer than many time limits
    recorder = _recorder(problem, chosen, kept) if record else None
    clock = Clock(options.time_limit)
    support = None if start is None else start_positions(problem, start)
    dual = usable_dual(problem, start.dual) if isinstance(start, Solution) else None
    known = check_number("bound", bound, minimum=0.0)
    if problem.size == 0:
        outcome = _without_rules(problem)
        if recorder is not None:
            recorder.record_nothing()
    elif chosen == "cutting-plane":
        outcome = solve_by_cutting_plane(problem, options, clock=clock, start=support, cuts=cuts)
    elif chosen == "coordinate-descent":
        outcome = solve_by_coordinate_descent(problem, options, clock=clock, start=support)
    else:
        outcome = _branch_and_bound(
            problem, options, clock=clock, start=support, dual=dual, bound=known, recorder=recorder
        )
    report = Report(chosen, reason, clock.elapsed(), options.gap, outcome.counters)
    if outcome.support is None:
        return Solution.infeasible(report), None
    prover = partial(_prove_one, asked)
    if recorder is not None:
        return _with_proof(asked, outcome, report, recorder, prover)
    solution = Solution.of(
        asked,
        outcome.support,
        outcome.bound,
        outcome.status,
        report,
        dual=outcome.dual,
        known=known,
        prover=prover,
    )
    return solution, None


def _prove_one(
    problem: SelectionProblem, solution: Solution, path: Path, names: Sequence[str] | None
) -> Solution:
    """Write the proof of one solution."""
    return prove([problem], [solution], path, names)[0]


def _recorder(problem: SelectionProblem, method: Method, kept: IntArray | None) -> Recorder:
    """Return what records a search for its proof, or say why there can be none."""
    if method != "branch-and-bound":
        raise InvalidParameter(f"Branch and bound alone writes proofs, and the method is {method}.")
    return Recorder.of(problem, kept)


def _with_proof(
    asked: SelectionProblem,
    outcome: Outcome,
    report: Report,
    recorder: Recorder,
    prover: Prover,
) -> tuple[Solution, Proven]:
    """Return the solution with the bound that its proof claims, and what proves it."""
    assert outcome.support is not None  # noqa: S101  there was a selection to begin with
    dual = outcome.dual
    if dual is not None:  # by the plain formula, as the search has other numbers
        w = np.zeros(asked.m)
        w[dual.rules] = dual.weights
        dual = DualPoint.at(
            recorder.problem, w, dual.lam, dual.mu, fixed_in=dual.fixed_in, fixed_out=dual.fixed_out
        )
    loss = asked.loss(outcome.support)
    least = 2.0 * recorder.slack / loss if loss > 0 else 0.0
    solution = Solution.of(
        asked,
        outcome.support,
        0.0,
        outcome.status,
        replace(report, asked_gap=max(report.asked_gap, least)),
        dual=dual,
        known=recorder.claim(outcome.bound),
        prover=prover,
    )
    proven = Proven(asked, recorder, solution.bound, solution.support, solution.weights)
    return solution, proven


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
    recorder: Recorder | None,
) -> Outcome:
    """Search by the tree that is for the loss and the limits of a problem."""
    known: dict[str, Any] = {"clock": clock, "start": start, "bound": bound}
    if problem.constraints is not None:
        return solve_constrained(problem, options, **known)
    if isinstance(problem, LogisticProblem):
        return solve_logistic_by_branch_and_bound(problem, options, **known)
    assert isinstance(problem, Problem)  # noqa: S101  there are two losses
    if recorder is not None:
        known["bound"] = 0.0  # one that is known from elsewhere has no proof here
    return solve_by_branch_and_bound(problem, options, dual=dual, recorder=recorder, **known)


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
