"""The paper's cutting plane with a Gurobi master, as the reference to beat.

Written afresh from the MOSS paper (Algorithm 1) and our notes on how its experiments were run: cuts
at integer points only, one integer program per iteration, kept and grown from one to the next.
Nothing is slowed on purpose, and three things are kinder than the original: loss and gradient come
from the statistics in O(m k) instead of from all rows, the gap is that of the best selection so far
instead of the last, and the bound is the master's own objective value (as in the original), which
may lie above what the master has proven by its tolerance.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks._data import Floats
from benchmarks._harness import Skipped
from mossrules.statistics import Statistics

TOLERANCE = 0.05
MASTER_GAP = 1e-3
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
    with quiet_environment() as environment:
        started = time.perf_counter()
        master, nu, z = build_master(environment, statistics.counts, max_rules, floor, threads)
        support = np.argsort(-statistics.counts, kind="stable")[:max_rules]
        best, best_loss, bound, masters = support, np.inf, 0.0, 0
        while True:
            loss, gradient = tangent(statistics, gamma, support)
            if loss < best_loss:
                best, best_loss = support, loss
            left = limit - (time.perf_counter() - started)
            finished = best_loss - bound <= tolerance * best_loss
            if finished or left <= 0 or masters == MOST_CUTS:
                break
            master.addConstr(nu - gradient @ z >= loss - gradient[support].sum())
            master.Params.TimeLimit = left
            master.optimize()
            masters += 1
            if master.SolCount == 0:
                break
            complete = master.Status == 2  # GRB.OPTIMAL
            bound = max(bound, float(nu.X) if complete else float(master.ObjBound))
            support = np.flatnonzero(z.X > 0.5)
        seconds = time.perf_counter() - started
        master.dispose()
    return AuthorsResult(
        np.sort(best), best_loss, min(bound, best_loss), seconds, masters, finished
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
