"""Choose at most k rules with a floor on stability and the least ridge loss, and prove it.

It sees numbers only: no rows, no rules, no names of columns. `problems/` has the plain definitions,
which may be slow and must be right; `bounds/`, `search/`, `cutting_plane/`, `approximate/` and
`kernels/` may be changed for speed, as `result.py` recomputes each answer by the definitions.
"""

from mossrules._deprecated import old_names
from mossrules.solver.bounds.verification import Verification
from mossrules.solver.methods import solve
from mossrules.solver.options import Options, Snapshot
from mossrules.solver.problems.logistic import LogisticProblem
from mossrules.solver.problems.squared import LinearConstraints, Problem
from mossrules.solver.proofs.checking import Claim, Proof
from mossrules.solver.proofs.matching import check_proof
from mossrules.solver.proofs.reading import ProofRefused
from mossrules.solver.result import Report, Solution, Status
from mossrules.solver.search.near_optimal import NearOptimalSet, near_optimal

__all__ = [
    "Claim",
    "LinearConstraints",
    "LogisticProblem",
    "NearOptimalSet",
    "Options",
    "Problem",
    "Proof",
    "ProofRefused",
    "Report",
    "Snapshot",
    "Solution",
    "Status",
    "Verification",
    "check_proof",
    "near_optimal",
    "solve",
]

__getattr__ = old_names(__name__, {"SolutionPool": "NearOptimalSet", "solve_pool": "near_optimal"})
