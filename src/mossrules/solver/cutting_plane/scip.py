"""The master by SCIP, through pyscipopt."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from mossrules._typing import FloatArray
from mossrules.solver.cutting_plane.master import (
    NEGLIGIBLE,
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

_STATUSES = {
    "optimal": MasterStatus.OPTIMAL,
    "gaplimit": MasterStatus.OPTIMAL,
    "duallimit": MasterStatus.OPTIMAL,  # the target
    "timelimit": MasterStatus.TIME_LIMIT,
    "infeasible": MasterStatus.INFEASIBLE,
    "inforunbd": MasterStatus.INFEASIBLE,  # nu >= 0, so the program is never unbounded
    "userinterrupt": MasterStatus.INTERRUPTED,
}
_FOREVER = 1e20  # SCIP's infinity
_DUAL_TOLERANCE = 1e-7  # with a tighter one, its linear solver prints that it cannot reach it


class ScipMaster(Master):
    """The integer program in SCIP. It has one thread for the search whatever is asked for."""

    def __init__(self, problem: SelectionProblem, options: Options, *, scale: float) -> None:
        super().__init__(problem, options, scale=scale)
        self._pyscipopt = load("pyscipopt", "scip", 'run pip install "mossrules[scip]"')
        self._model = model = self._pyscipopt.Model()
        model.hideOutput()
        model.setParams(
            {
                "numerics/epsilon": NEGLIGIBLE,
                "numerics/feastol": TOLERANCE,
                "numerics/dualfeastol": _DUAL_TOLERANCE,
                "randomization/randomseedshift": options.seed,
                "lp/threads": min(options.threads, 64),
                "misc/catchctrlc": False,  # it would print; `Master._run` does it quietly
            }
        )
        self._nu = model.addVar(lb=0.0, obj=1.0)
        self._z = [
            model.addVar(vtype="B" if column < self.m else "C", lb=low, ub=high)
            for column, (low, high) in enumerate(zip(self.lower, self.upper, strict=True))
        ]
        for row, limit in zip(self.A, self.b, strict=True):
            model.addCons(self._sum(row) <= limit)

    def _add_row(self, constant: float, gradient: FloatArray) -> None:
        # A model that was solved is in its transformed state, in which no row can be added.
        self._model.freeTransform()
        self._model.addCons(self._nu - self._sum(gradient) >= constant)

    def _solve(
        self, *, seconds: float, gap: float, start: Start | None, target: float, relaxed: bool
    ) -> MasterResult:
        model = self._model
        model.freeTransform()
        for variable in self._z[: self.m]:
            model.chgVarType(variable, "C" if relaxed else "B")
        model.setParams(
            {
                "limits/time": min(seconds, _FOREVER),
                "limits/gap": gap,
                "limits/dual": min(target + _DUAL_TOLERANCE, _FOREVER),
            }
        )
        if start is not None:
            self._offer(start)
        self._run(self._optimize, self._cancel)
        if model.getStatus() not in _STATUSES:
            raise unexpected("SCIP", model.getStatus())
        z, objective = None, np.inf
        if model.getNSols() > 0:
            best = model.getBestSol()
            z = np.array([model.getSolVal(best, variable) for variable in self._z])
            objective = model.getPrimalbound()
        # Of its linear programs SCIP knows the optimum only up to this tolerance.
        bound = model.getDualbound() - _DUAL_TOLERANCE
        return MasterResult(_STATUSES[model.getStatus()], z, bound, objective)

    def _optimize(self) -> None:
        self._model.optimizeNogil()

    def _cancel(self) -> None:
        with suppress(Exception):  # where SCIP is not solving, or no longer, it refuses
            self._model.interruptSolve()

    def _offer(self, start: Start) -> None:
        solution = self._model.createSol()
        self._model.setSolVal(solution, self._nu, start.nu)
        for position in np.flatnonzero(start.z):
            self._model.setSolVal(solution, self._z[position], 1.0)
        self._model.addSol(solution)

    def _sum(self, row: FloatArray) -> object:
        terms = (float(row[i]) * self._z[i] for i in np.flatnonzero(row))
        return self._pyscipopt.quicksum(terms)
