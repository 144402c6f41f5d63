"""The master by Gurobi, through gurobipy. Without a licence it takes small problems only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from mossrules._typing import FloatArray
from mossrules.exceptions import LicenceLimit, MossError
from mossrules.solver.cutting_plane.master import (
    TOLERANCE,
    Master,
    MasterResult,
    MasterStatus,
    Start,
    load,
    unexpected,
)
from mossrules.solver.options import Options
from mossrules.solver.problems.selection import SelectionProblem

_NO_LICENCE, _TOO_LARGE = 10009, 10010  # Gurobi's error numbers


class GurobiMaster(Master):
    """The integer program in Gurobi."""

    def __init__(self, problem: SelectionProblem, options: Options, *, scale: float) -> None:
        super().__init__(problem, options, scale=scale)
        self._gurobipy = load("gurobipy", "gurobi", 'run pip install "mossrules[gurobi]"')
        settings = {
            "OutputFlag": 0,
            "Threads": options.threads,
            "Seed": options.seed % 2_000_000_001,  # its largest seed is 2e9
            "FeasibilityTol": TOLERANCE,
            "OptimalityTol": TOLERANCE,
            "IntFeasTol": TOLERANCE,
            "MIPGapAbs": 0.0,
        }
        with self._clear_errors():
            environment = self._gurobipy.Env(params=settings)
            self._model = model = self._gurobipy.Model(env=environment)
            self._nu = model.addVar(lb=0.0, obj=1.0)
            kinds = ["B"] * self.m + ["C"] * (self.n_columns - self.m)
            self._z = model.addMVar(self.n_columns, vtype=kinds, lb=self.lower, ub=self.upper)
            model.addMConstr(self.A, self._z, "<", self.b)
            self._variables = [self._nu, *self._z.tolist()]

    def _add_row(self, constant: float, gradient: FloatArray) -> None:
        with self._clear_errors():
            # Of single variables: with those of the matrix kind it takes four times as long.
            row = self._gurobipy.LinExpr([1.0, *(-gradient).tolist()], self._variables)
            self._model.addLConstr(row, ">", constant)

    def _solve(
        self, *, seconds: float, gap: float, start: Start | None, target: float, relaxed: bool
    ) -> MasterResult:
        model = self._model
        model.Params.TimeLimit = min(seconds, self._gurobipy.GRB.INFINITY)
        model.Params.MIPGap = gap
        # The bound that is proof enough; with it, the solver's own optimum is not waited for.
        model.Params.BestBdStop = min(target, self._gurobipy.GRB.INFINITY)
        self._z[: self.m].VType = "C" if relaxed else "B"
        if start is not None:
            self._nu.Start, self._z.Start = start.nu, start.z
        with self._clear_errors():
            model.optimize()  # sees to Ctrl-C by itself
        status = self._read_status()
        z, objective = None, np.inf
        if model.SolCount > 0:
            z, objective = np.array(self._z.X), model.ObjVal
        if status is MasterStatus.INFEASIBLE:
            bound = np.inf
        elif relaxed and status is not MasterStatus.OPTIMAL:
            bound = -np.inf  # of a linear program, only the optimum is a proof
        else:
            bound = model.ObjBound
        return MasterResult(status, z, bound, objective)

    def _read_status(self) -> MasterStatus:
        codes = self._gurobipy.GRB.Status
        known = {
            codes.OPTIMAL: MasterStatus.OPTIMAL,
            codes.USER_OBJ_LIMIT: MasterStatus.OPTIMAL,  # the target
            codes.TIME_LIMIT: MasterStatus.TIME_LIMIT,
            codes.INFEASIBLE: MasterStatus.INFEASIBLE,
            codes.INF_OR_UNBD: MasterStatus.INFEASIBLE,  # nu >= 0: never unbounded
            codes.INTERRUPTED: MasterStatus.INTERRUPTED,
        }
        if self._model.Status not in known:
            raise unexpected("Gurobi", self._model.Status)
        return known[self._model.Status]

    @contextmanager
    def _clear_errors(self) -> Iterator[None]:
        try:
            yield
        except self._gurobipy.GurobiError as failure:
            if failure.errno == _TOO_LARGE:
                raise LicenceLimit(
                    "The problem is too large for Gurobi without a licence (2,000 rules or cuts); "
                    "install a licence or choose another master."
                ) from failure
            if failure.errno == _NO_LICENCE:
                raise MossError(
                    f"Gurobi found no licence that it accepts ({failure}); install one or choose "
                    "another master."
                ) from failure
            raise unexpected("Gurobi", failure) from failure
