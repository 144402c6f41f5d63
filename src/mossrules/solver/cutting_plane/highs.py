"""The master by HiGHS, which comes with mossrules."""

from __future__ import annotations

from typing import Any

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

_REMEDY = (
    "run pip install highspy, and if ortools is loaded in the same process, which highspy cannot "
    "share, start a fresh one"
)
_FOUND = 2  # HiGHS's primal_solution_status of a feasible point


class HighsMaster(Master):
    """The integer program in HiGHS: column 0 is nu, column i + 1 is z_i, then groups."""

    def __init__(self, problem: SelectionProblem, options: Options, *, scale: float) -> None:
        super().__init__(problem, options, scale=scale)
        self._highspy = load("highspy", "highs", _REMEDY)
        self._highs = self._highspy.Highs()
        self._set(
            output_flag=False,
            threads=options.threads,
            parallel="off" if options.threads == 1 else "on",
            random_seed=options.seed,
            primal_feasibility_tolerance=TOLERANCE,
            dual_feasibility_tolerance=TOLERANCE,
            mip_feasibility_tolerance=TOLERANCE,
            small_matrix_value=NEGLIGIBLE,
            mip_abs_gap=0.0,
            # It probes every rule in every dense cut, in vain: 0.5 s before a search of 0.01 s.
            presolve="off",
        )
        # HiGHS has no option that stops it at a bound, and sees no Ctrl-C: call-backs do both.
        self._target = np.inf
        self._reached = self._cancelled = False
        for solver in ("Simplex", "Ipm", "Mip"):
            getattr(self._highs, f"cb{solver}Interrupt").subscribe(self._answer)
        n, m = self.n_columns, self.m
        empty = np.empty(0, dtype=np.int32)
        self._do("addVar", 0.0, self._highspy.kHighsInf)
        self._do("changeColCost", 0, 1.0)
        starts = np.zeros(n, dtype=np.int32)
        costs = np.zeros(n)
        self._do("addCols", n, costs, self.lower, self.upper, 0, starts, empty, np.empty(0))
        binary = np.full(m, int(self._highspy.HighsVarType.kInteger), dtype=np.uint8)
        self._do("changeColsIntegrality", m, np.arange(1, m + 1, dtype=np.int32), binary)
        for row, limit in zip(self.A, self.b, strict=True):
            self._row(np.concatenate([[0.0], row]), -self._highspy.kHighsInf, limit)

    def _add_row(self, constant: float, gradient: FloatArray) -> None:
        self._row(np.concatenate([[1.0], -gradient]), constant, self._highspy.kHighsInf)

    def _solve(
        self, *, seconds: float, gap: float, start: Start | None, target: float, relaxed: bool
    ) -> MasterResult:
        self._set(time_limit=seconds, mip_rel_gap=gap, solve_relaxation=relaxed)
        self._target, self._reached, self._cancelled = target, False, False
        if start is not None:
            columns = np.arange(len(start.z) + 1, dtype=np.int32)
            values = np.concatenate([[start.nu], start.z])
            self._do("setSolution", len(columns), columns, values)
        self._run(self._run_here, self._cancel)
        status = self._read_status()
        info = self._highs.getInfo()
        z = None
        if info.primal_solution_status == _FOUND:
            z = np.array(self._highs.getSolution().col_value)[1:]
        bound = info.mip_dual_bound
        if relaxed:  # of a linear program, only the optimum is a proof
            optimal = status is MasterStatus.OPTIMAL
            bound = info.objective_function_value if optimal else -np.inf
        return MasterResult(status, z, bound, info.objective_function_value)

    def _run_here(self) -> None:
        # HiGHS keeps one scheduler per thread. This thread ends here, and so must its scheduler.
        self._highs.run()
        self._highs.resetGlobalScheduler(False)

    def _cancel(self) -> None:
        self._cancelled = True

    def _answer(self, event: Any) -> None:
        """Tell HiGHS to go on or to stop: it asks at fixed points of its work, not by the clock.

        It remembers the last answer, so that "go on" must be said as well.
        """
        if self._target <= event.data_out.mip_dual_bound < np.inf:
            self._reached = True
        event.data_in.user_interrupt = self._reached or self._cancelled

    def _read_status(self) -> MasterStatus:
        status = self._highs.getModelStatus()
        statuses = self._highspy.HighsModelStatus
        known = {
            statuses.kOptimal: MasterStatus.OPTIMAL,
            statuses.kTimeLimit: MasterStatus.TIME_LIMIT,
            statuses.kInfeasible: MasterStatus.INFEASIBLE,
            # nu >= 0, so the program is never unbounded.
            statuses.kUnboundedOrInfeasible: MasterStatus.INFEASIBLE,
            statuses.kInterrupt: (
                MasterStatus.OPTIMAL if self._reached else MasterStatus.INTERRUPTED
            ),
        }
        if status not in known:
            raise unexpected("HiGHS", self._highs.modelStatusToString(status))
        return known[status]

    def _row(self, row: FloatArray, low: float, high: float) -> None:
        columns = np.flatnonzero(row).astype(np.int32)
        self._do("addRow", float(low), float(high), len(columns), columns, row[columns])

    def _set(self, **settings: Any) -> None:
        for name, value in settings.items():
            self._do("setOptionValue", name, value)

    def _do(self, method: str, *arguments: Any) -> None:
        """Call a method of HiGHS and read the status that it returns."""
        status = getattr(self._highs, method)(*arguments)
        if status == self._highspy.HighsStatus.kError:
            raise unexpected("HiGHS", f"error of {method}")
