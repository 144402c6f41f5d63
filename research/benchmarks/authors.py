"""The paper's two algorithms with a Gurobi master, as the reference to beat.

Algorithm 1 is `research.paper.authors`; here is what the benchmarks count of it. Algorithm 2, the
Efficient Pareto Method, goes down from the largest floor with one integer program, of which only
the floor changes, so that all cuts are kept. As in Algorithm 1, loss and gradient come from the
statistics, and the best selection so far counts, not the last.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, Self

import numpy as np

from mossrules._typing import IntArray
from mossrules.exceptions import MissingDependency
from mossrules.frontier import solve_frontier
from mossrules.solver import Options, Problem, Solution, Status
from mossrules.solver.cutting_plane.loop import Cut
from mossrules.solver.options import Clock
from research.harness.reports import Skipped
from research.paper.authors import MASTER_GAP, TOLERANCE, solve_as_authors

__all__ = [
    "MASTER_GAP",
    "MOST_CUTS",
    "TOLERANCE",
    "AuthorsResult",
    "cutting_plane",
    "descend",
    "has_gurobi",
    "run_authors",
]

MOST_CUTS = 1_990  # the free size of Gurobi ends at 2,000 constraints
FLOOR_ROW = 1  # of the integer program: after the row of the size
OPTIMAL = 2  # GRB.OPTIMAL


@dataclass(frozen=True)
class AuthorsResult:
    """What the cutting plane found, what it believes to be proven, and how long it took."""

    support: IntArray
    loss: float
    bound: float
    seconds: float
    masters: int  # integer programs solved
    finished: bool  # within the tolerance; if not, a limit ended the run

    @classmethod
    def of(cls, solution: Solution) -> Self:
        """Return what a solution says."""
        return cls(
            support=solution.support,
            loss=solution.loss,
            bound=solution.bound,
            seconds=solution.report.seconds,
            masters=round(solution.report.counters.get("masters", 0.0)),
            finished=solution.status is Status.OPTIMAL,
        )

    @property
    def gap(self) -> float:
        """Relative distance between loss and bound."""
        return (self.loss - self.bound) / self.loss


def cutting_plane(
    problem: Problem, *, tolerance: float = TOLERANCE, limit: float = 120.0, threads: int = 0
) -> AuthorsResult:
    """Solve to a relative gap by Algorithm 1; 0 threads means all."""
    options = Options(
        gap=tolerance,
        time_limit=limit,
        node_limit=MOST_CUTS,
        threads=threads or os.cpu_count() or 1,
        master="gurobi",
    )
    try:
        return AuthorsResult.of(solve_as_authors(problem, options))
    except MissingDependency as reason:
        raise Skipped(str(reason)) from reason


# --- Algorithm 2 ----------------------------------------------------------------------------------


def has_gurobi() -> bool:
    """Tell whether Gurobi is installed."""
    return find_spec("gurobipy") is not None


def run_authors(
    problem: Problem, floors: Sequence[int], limit: float, threads: int = 0
) -> list[AuthorsResult]:
    """Go down the floors with Gurobi, or with HiGHS where Gurobi is not installed."""
    if has_gurobi():
        return descend(problem, floors, limit=limit, threads=threads)
    # Our own cutting plane keeps all cuts too.
    options = Options(gap=TOLERANCE, time_limit=limit, master="highs")
    frontier = solve_frontier(problem, floors, "cutting-plane", options, time_budget=limit)
    return [AuthorsResult.of(entry.solution) for entry in frontier.entries]


def descend(
    problem: Problem,
    floors: Sequence[int],
    *,
    tolerance: float = TOLERANCE,
    limit: float = 60.0,
    threads: int = 0,
) -> list[AuthorsResult]:
    """Return the result at each floor, descending, up to the one at which the time ran out.

    The best selection so far is feasible at every lower floor, so it is kept, and so are its and
    all other cuts. 0 threads means all.
    """
    import gurobipy  # noqa: PLC0415  only this needs it

    results: list[AuthorsResult] = []
    with gurobipy.Env(params={"OutputFlag": 0}) as environment:
        search = Descent(problem, tolerance, Clock(limit), gurobipy.Model(env=environment))
        search.write_program(floors[0], threads)
        search.cut(np.argsort(-problem.counts, kind="stable")[: problem.max_rules])
        for floor in floors:
            results.append(search.solve(floor))
            if not results[-1].finished:
                break
        search.master.dispose()
    return results


@dataclass
class Descent:
    """Where the authors' way stands: its integer program and the best selection so far."""

    problem: Problem
    tolerance: float
    clock: Clock
    master: Any
    nu: Any = None
    z: Any = None
    best: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    loss: float = math.inf
    masters: int = 0

    def write_program(self, floor: int, threads: int) -> None:
        """Write the integer program without cuts."""
        self.master.Params.MIPGap = MASTER_GAP
        self.master.Params.Threads = threads
        self.z = self.master.addMVar(self.problem.m, vtype="B")
        self.nu = self.master.addVar(obj=1.0)  # at least 0, as every loss is
        self.master.addConstr(self.z.sum() <= self.problem.max_rules)
        self.master.addConstr(self.problem.counts @ self.z >= floor)

    def cut(self, support: IntArray) -> None:
        """Add the tangent at a selection, and keep the selection if it is the best."""
        cut = Cut.at_support(self.problem, support)
        self.master.addConstr(self.nu - cut.gradient @ self.z >= cut.constant)
        if cut.value < self.loss:
            self.best, self.loss = support, cut.value

    def solve(self, floor: int) -> AuthorsResult:
        """Solve at a floor below the last, as far as time and the free size of Gurobi allow."""
        began, before = self.clock.elapsed(), self.masters
        self.master.update()
        self.master.getConstrs()[FLOOR_ROW].RHS = floor
        bound = 0.0
        while self.loss - bound > self.tolerance * self.loss:
            left = self.clock.left()
            if left <= 0.0 or self.masters == MOST_CUTS:
                break
            self.master.Params.TimeLimit = left
            self.master.optimize()
            self.masters += 1
            if self.master.SolCount == 0:
                break
            complete = self.master.Status == OPTIMAL
            bound = max(bound, float(self.nu.X) if complete else float(self.master.ObjBound))
            self.cut(np.flatnonzero(self.z.X > 0.5))
        return AuthorsResult(
            support=np.sort(self.best),
            loss=self.loss,
            bound=min(bound, self.loss),
            seconds=self.clock.elapsed() - began,
            masters=self.masters - before,
            finished=self.loss - bound <= self.tolerance * self.loss,
        )
