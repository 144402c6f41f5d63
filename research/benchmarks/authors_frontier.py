"""The paper's Efficient Pareto Method (Algorithm 2) as the reference to beat.

Made of what `authors_solver` has for Algorithm 1: down from the largest floor with one integer
program, of which only the floor changes, so that all cuts are kept. As there, loss and gradient
come from the statistics, and the best selection so far counts, not the last.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

import numpy as np

from mossrules.frontier import solve_frontier
from mossrules.progress import Clock
from mossrules.solver import Options, Problem, Status
from mossrules.statistics import Statistics
from research.benchmarks.authors_solver import (
    MOST_CUTS,
    TOLERANCE,
    AuthorsResult,
    Positions,
    build_master,
    quiet_environment,
    tangent,
)

FLOOR_ROW = 1  # of the integer program: after the row of the size
OPTIMAL = 2  # GRB.OPTIMAL


def has_gurobi() -> bool:
    """Tell whether Gurobi is installed."""
    return find_spec("gurobipy") is not None


def run_authors(
    problem: Problem, floors: Sequence[int], limit: float, threads: int = 0
) -> list[AuthorsResult]:
    """Go down the floors with Gurobi, or with HiGHS where Gurobi is not installed."""
    if not has_gurobi():
        return descend_with_highs(problem, floors, limit)
    return descend(
        problem.statistics,
        floors,
        max_rules=problem.max_rules,
        gamma=problem.gamma,
        limit=limit,
        threads=threads,
    )


def descend(
    statistics: Statistics,
    floors: Sequence[int],
    *,
    max_rules: int,
    gamma: float,
    tolerance: float = TOLERANCE,
    limit: float = 60.0,
    threads: int = 0,
) -> list[AuthorsResult]:
    """Return the result at each floor, descending, up to the one at which the time ran out.

    The best selection so far is feasible at every lower floor, so it is kept, and so are its and
    all other cuts. 0 threads means all.
    """
    results: list[AuthorsResult] = []
    with quiet_environment() as environment:
        clock = Clock(limit)
        program = build_master(environment, statistics.counts, max_rules, floors[0], threads)
        search = Descent(statistics, gamma, tolerance, clock, *program)
        search.cut(np.argsort(-statistics.counts, kind="stable")[:max_rules])
        for floor in floors:
            results.append(search.solve(floor))
            if not results[-1].finished:
                break
        search.master.dispose()
    return results


@dataclass
class Descent:
    """Where the authors' way stands: its integer program and the best selection so far."""

    statistics: Statistics
    gamma: float
    tolerance: float
    clock: Clock
    master: Any
    nu: Any
    z: Any
    best: Positions = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    loss: float = math.inf
    masters: int = 0

    def cut(self, support: Positions) -> None:
        """Add the tangent at a selection, and keep the selection if it is the best."""
        loss, gradient = tangent(self.statistics, self.gamma, support)
        self.master.addConstr(self.nu - gradient @ self.z >= loss - gradient[support].sum())
        if loss < self.loss:
            self.best, self.loss = support, loss

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


def descend_with_highs(
    problem: Problem, floors: Sequence[int], limit: float
) -> list[AuthorsResult]:
    """Return the same from our own cutting plane, which keeps all cuts too, with HiGHS."""
    options = Options(gap=TOLERANCE, time_limit=limit, master="highs")
    found = solve_frontier(problem, floors, "cutting-plane", options, time_budget=limit)
    return [
        AuthorsResult(
            support=entry.solution.support,
            loss=entry.solution.loss,
            bound=entry.solution.bound,
            seconds=entry.solution.report.seconds,
            masters=int(entry.solution.report.counters.get("masters", 0)),
            finished=entry.solution.status is Status.OPTIMAL,
        )
        for entry in found.entries
    ]
