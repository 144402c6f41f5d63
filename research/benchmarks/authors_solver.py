"""The paper's cutting plane with a Gurobi master, as the reference to beat.

Algorithm 1 is `research.paper.authors`; this module adds what the benchmarks count, and the
integer program in Gurobi itself, of which Algorithm 2 changes one number from floor to floor.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mossrules.exceptions import MissingDependency
from mossrules.solver import Options, Problem, Status
from mossrules.statistics import Statistics
from research.benchmarks._data import Floats
from research.harness.reports import Skipped
from research.paper.authors import MASTER_GAP, TOLERANCE, solve_as_authors

MOST_CUTS = 1_990  # the free size of Gurobi ends at 2,000 constraints

Positions = npt.NDArray[np.intp]


@dataclass(frozen=True)
class AuthorsResult:
    """What the cutting plane found, what it believes to be proven, and how long it took."""

    support: Positions
    loss: float
    bound: float
    seconds: float
    masters: int  # integer programs solved
    finished: bool  # within the tolerance; if not, a limit ended the run

    @property
    def gap(self) -> float:
        """Relative distance between loss and bound."""
        return (self.loss - self.bound) / self.loss


def cutting_plane(
    statistics: Statistics,
    *,
    max_rules: int,
    gamma: float,
    floor: int,
    tolerance: float = TOLERANCE,
    limit: float = 120.0,
    threads: int = 0,
) -> AuthorsResult:
    """Solve to a relative gap, starting at the `max_rules` largest counts; 0 threads means all."""
    problem = Problem(statistics, max_rules=max_rules, gamma=gamma, min_stability=floor)
    options = Options(
        gap=tolerance,
        time_limit=limit,
        node_limit=MOST_CUTS,
        threads=threads or os.cpu_count() or 1,
        master="gurobi",
    )
    try:
        found = solve_as_authors(problem, options)
    except MissingDependency as reason:
        raise Skipped(str(reason)) from reason
    return AuthorsResult(
        support=found.support,
        loss=found.loss,
        bound=found.bound,
        seconds=found.report.seconds,
        masters=round(found.report.counters["masters"]),
        finished=found.status is Status.OPTIMAL,
    )


def quiet_environment() -> Any:
    """Return a Gurobi environment that prints nothing."""
    try:
        import gurobipy  # noqa: PLC0415  only this subject needs it
    except ImportError:
        raise Skipped("gurobipy is not installed; it is in the dependency group `bench`") from None
    return gurobipy.Env(params={"OutputFlag": 0})


def build_master(
    environment: Any, counts: npt.NDArray[np.int64], max_rules: int, floor: int, threads: int
) -> tuple[Any, Any, Any]:
    """Return the integer program without cuts, its objective variable and its selection."""
    import gurobipy  # noqa: PLC0415

    master = gurobipy.Model(env=environment)
    master.Params.MIPGap = MASTER_GAP
    master.Params.Threads = threads
    z = master.addMVar(len(counts), vtype="B")
    nu = master.addVar(obj=1.0)  # at least 0, as every loss is
    master.addConstr(z.sum() <= max_rules)
    master.addConstr(counts @ z >= floor)
    return master, nu, z


def tangent(statistics: Statistics, gamma: float, support: Positions) -> tuple[float, Floats]:
    """Return the loss of a selection and its gradient in the indicator of the selection."""
    G, q = statistics.G, statistics.q
    ridge = G[np.ix_(support, support)] + np.eye(len(support)) / gamma
    w = np.linalg.solve(ridge, q[support])
    residual = q - G[:, support] @ w
    return 0.5 * (statistics.yy - float(q[support] @ w)), -0.5 * gamma * residual**2
