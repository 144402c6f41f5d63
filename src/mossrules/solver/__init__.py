"""Choose at most k rules with a floor on stability and the least ridge loss, and prove it."""

from mossrules.solver.bounds.verification import Verification
from mossrules.solver.methods import solve
from mossrules.solver.options import Options, Snapshot
from mossrules.solver.problems.logistic import LogisticProblem
from mossrules.solver.problems.squared import LinearConstraints, Problem
from mossrules.solver.result import Report, Solution, Status
from mossrules.solver.search.near_optimal import SolutionPool, solve_pool

__all__ = [
    "LinearConstraints",
    "LogisticProblem",
    "Options",
    "Problem",
    "Report",
    "Snapshot",
    "Solution",
    "SolutionPool",
    "Status",
    "Verification",
    "solve",
    "solve_pool",
]
