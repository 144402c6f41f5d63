"""Integer solvers behind the cutting plane, all with one small interface."""

from __future__ import annotations

from mossrules.solver.cutting_plane.masters._base import Master, MasterResult, MasterStatus
from mossrules.solver.cutting_plane.masters.gurobi import GurobiMaster
from mossrules.solver.cutting_plane.masters.highs import HighsMaster
from mossrules.solver.cutting_plane.masters.scip import ScipMaster
from mossrules.solver.options import Options
from mossrules.solver.problems.selection import SelectionProblem

__all__ = ["Master", "MasterResult", "MasterStatus", "make_master"]

# Each loads the package behind it only when a master is made.
_MASTERS: dict[str, type[Master]] = {
    "highs": HighsMaster,
    "scip": ScipMaster,
    "gurobi": GurobiMaster,
}


def make_master(problem: SelectionProblem, options: Options, *, scale: float = 1.0) -> Master:
    """Return the master that the options name; `scale` is the size of the losses to expect."""
    return _MASTERS[options.master](problem, options, scale=scale)
