"""The problem handed over whole, as a mixed-integer quadratic program, to a general solver.

With A and b such that A'A = G, A'b = q and b'b = yy, in units in which b'b = 1 and no weight is
beyond 1 (at the best weights of any selection, w_i^2 / gamma <= yy):

    min 1/2 |b - A v|^2 + 1/2 sum u_i   s.t.   v_i^2 <= u_i z_i,   |v_i| <= z_i,   z binary,
                                               at most k rules, at least eps stability

This is the strongest form we know: its relaxation is that of H2 at fractional z. SCIP is given
it, and the most stable selection to start from. The free size of Gurobi ends at 200 variables when
there are quadratic terms, so that it is given the form with fewest: v_i^2 in the objective, and no
u_i; it is left to Gurobi to find the stronger one by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mossrules._common import Clock
from mossrules._typing import FloatArray, IntArray
from mossrules.exceptions import LicenceLimit, MossError
from mossrules.solver import Options, Problem, Solution, Status
from mossrules.solver.cutting_plane.master import linear_limits, load, run_interruptibly
from mossrules.solver.result import Report
from mossrules.statistics import Statistics

__all__ = ["compress", "solve_by_gurobi", "solve_by_scip"]

TINY = 1e-9  # coefficients below this are left out of the program
_TOO_LARGE = 10010  # Gurobi's error number
_SCIP = {
    "optimal": Status.OPTIMAL,
    "gaplimit": Status.OPTIMAL,
    "timelimit": Status.TIME_LIMIT,
    "memlimit": Status.NODE_LIMIT,
    "nodelimit": Status.NODE_LIMIT,
}


def compress(statistics: Statistics) -> tuple[FloatArray, FloatArray]:
    """Return X and y with the same X'X, X'y and y'y and no more rows than their rank."""
    K = np.block([[statistics.G, statistics.q[:, None]], [statistics.q, statistics.yy]])
    values, vectors = np.linalg.eigh(K)
    kept = values > 1e-12 * values[-1]
    root = np.sqrt(values[kept])[:, None] * vectors[:, kept].T
    return np.ascontiguousarray(root[:, :-1]), np.ascontiguousarray(root[:, -1])


# --- SCIP -----------------------------------------------------------------------------------------


def solve_by_scip(problem: Problem, options: Options) -> Solution:
    """Solve by SCIP, on one thread; making the program counts."""
    clock = Clock(options.time_limit)
    program = _ScipProgram(problem, clock)
    if clock.left() <= 0.0:
        return program.answer(options, Status.TIME_LIMIT)
    model = program.model
    model.setParams({"limits/time": min(clock.left(), 1e20), "limits/gap": options.gap})
    program.offer(problem.most_stable)
    if run_interruptibly(model.optimizeNogil, model.interruptSolve):
        raise KeyboardInterrupt
    if model.getStatus() not in _SCIP:
        raise MossError(
            f"SCIP ended with its status {model.getStatus()} and proved nothing; use another "
            "method."
        )
    return program.answer(options, _SCIP[model.getStatus()])


class _ScipProgram:
    """The program in SCIP, and what of it has to be known outside."""

    def __init__(self, problem: Problem, clock: Clock) -> None:
        scip = load("pyscipopt", "scip", 'run pip install "mossrules[scip]"')
        self.problem, self.clock = problem, clock
        self.model = model = scip.Model()
        model.hideOutput()
        model.setParams({"lp/threads": 1, "misc/catchctrlc": False})
        X, y = compress(problem.statistics)
        self.b = y / np.linalg.norm(y)
        self.A = X * np.sqrt(problem.gamma)  # of weights in units of the largest that there can be
        self.z = [model.addVar(vtype="B") for _ in range(problem.m)]
        self.v = [model.addVar(lb=-1.0, ub=1.0) for _ in range(problem.m)]
        self.u = [model.addVar(lb=0.0, ub=1.0, obj=0.5) for _ in range(problem.m)]
        self.e = [model.addVar(lb=None) for _ in self.b]
        self.square = model.addVar(lb=0.0, obj=0.5)
        for rows in (self._limits, self._cones, self._residuals):
            for row in rows(scip.quicksum):
                model.addCons(row)
                if clock.left() <= 0.0:  # thousands of cones and dense rows take their time
                    return

    def _limits(self, total: Any) -> Iterator[Any]:
        for row, limit in zip(*linear_limits(self.problem), strict=True):
            yield total(float(a) * z for a, z in zip(row, self.z, strict=True)) <= limit

    def _cones(self, total: Any) -> Iterator[Any]:
        yield total(each * each for each in self.e) <= self.square
        for z, v, u in zip(self.z, self.v, self.u, strict=True):
            yield v * v <= u * z
            yield v <= z
            yield v >= -z

    def _residuals(self, total: Any) -> Iterator[Any]:
        for row, e, b in zip(self.A, self.e, self.b, strict=True):
            kept = np.flatnonzero(np.abs(row) > TINY)
            yield total(float(row[i]) * self.v[i] for i in kept) + e == float(b)

    def offer(self, support: IntArray) -> None:
        """Give a selection to start from."""
        v = np.zeros(self.problem.m)
        v[support] = self.problem.weights(support) / self._unit
        e = self.b - self.A @ v
        solution = self.model.createSol()
        for i in support:
            self.model.setSolVal(solution, self.z[i], 1.0)
            self.model.setSolVal(solution, self.v[i], v[i])
            self.model.setSolVal(solution, self.u[i], v[i] ** 2)
        for variable, value in zip(self.e, e, strict=True):
            self.model.setSolVal(solution, variable, value)
        self.model.setSolVal(solution, self.square, float(e @ e))
        self.model.addSol(solution)

    @property
    def _unit(self) -> float:
        return float(np.sqrt(self.problem.gamma * self.problem.statistics.yy))

    def answer(self, options: Options, status: Status) -> Solution:
        """Return what SCIP has found, its selection evaluated by the plain definitions."""
        yy, bound, support, nodes = self.problem.statistics.yy, 0.0, None, 0.0
        if self.model.getStage() > 1:  # it has begun
            nodes = float(self.model.getNTotalNodes())
            bound = yy * self.model.getDualbound()
            if self.model.getNSols() > 0:
                best = self.model.getBestSol()
                values = np.array([self.model.getSolVal(best, each) for each in self.z])
                support = np.flatnonzero(values > 0.5)
        report = Report("scip", "asked for", self.clock.elapsed(), options.gap, {"nodes": nodes})
        return _answer(self.problem, support, bound, status, report)


# --- Gurobi ---------------------------------------------------------------------------------------


def solve_by_gurobi(problem: Problem, options: Options) -> Solution:
    """Solve by Gurobi; making the program counts."""
    clock = Clock(options.time_limit)
    gurobi = load("gurobipy", "gurobi", 'run pip install "mossrules[gurobi]"')
    settings = {"OutputFlag": 0, "Threads": options.threads, "MIPGap": options.gap}
    try:
        with (
            gurobi.Env(params=settings) as environment,
            gurobi.Model(env=environment) as model,
        ):
            z = _gurobi_program(model, problem)
            model.Params.TimeLimit = min(clock.left(), gurobi.GRB.INFINITY)
            model.optimize()
            codes = gurobi.GRB.Status
            if model.Status == codes.INTERRUPTED:
                raise KeyboardInterrupt
            known = {codes.OPTIMAL: Status.OPTIMAL, codes.TIME_LIMIT: Status.TIME_LIMIT}
            if model.Status not in known:
                raise MossError(
                    f"Gurobi ended with its status {model.Status} and proved nothing; use another "
                    "method."
                )
            support = np.flatnonzero(z.X > 0.5) if model.SolCount > 0 else None
            bound = problem.statistics.yy * float(model.ObjBound)
            figures = {"nodes": float(model.NodeCount)}
            report = Report("gurobi", "asked for", clock.elapsed(), options.gap, figures)
            return _answer(problem, support, bound, known[model.Status], report)
    except gurobi.GurobiError as failure:
        if failure.errno == _TOO_LARGE:
            raise LicenceLimit(
                "The problem is too large for Gurobi without a licence (200 variables in quadratic "
                "programs); install a licence or use another solver."
            ) from failure
        raise


def _gurobi_program(model: Any, problem: Problem) -> Any:
    """Write the program into a model and return the selection."""
    statistics, unit = problem.statistics, np.sqrt(problem.gamma / problem.statistics.yy)
    z = model.addMVar(problem.m, vtype="B")
    v = model.addMVar(problem.m, lb=-1.0, ub=1.0)
    Q = 0.5 * (problem.gamma * statistics.G + np.eye(problem.m))
    model.setObjective(v @ Q @ v - (unit * statistics.q) @ v + 0.5)
    model.addConstr(v <= z)
    model.addConstr(v >= -z)
    A, b = linear_limits(problem)
    model.addMConstr(A, z, "<", b)
    chosen = problem.most_stable
    z.Start = np.isin(np.arange(problem.m), chosen).astype(np.float64)
    return z


def _answer(
    problem: Problem, support: IntArray | None, bound: float, status: Status, report: Report
) -> Solution:
    if support is None:
        return Solution.without_selection(report, max(0.0, bound), status)
    return Solution.of(problem, support, bound, status, report)
