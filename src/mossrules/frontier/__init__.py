"""The trade-off between stability and loss: one problem, solved at many floors on stability.

`points.py` and `result.py` are values, `tasks.py` and `sweep.py` the exact way to them,
`approximate.py` a quick one, and `checkpoint.py` lets a run go on after a stop. `near.py` has the
same trade-off with the number of approved rules in place of stability.
"""

from mossrules._deprecated import old_names
from mossrules.frontier.approximate import approximate_frontier, excess_loss
from mossrules.frontier.near import NearFrontier, NearPoint
from mossrules.frontier.points import FrontierPoint
from mossrules.frontier.result import Frontier, frontier_from_json, frontier_to_json
from mossrules.frontier.sweep import FrontierProgress, epsilon_sequence, solve_frontier
from mossrules.solver.search.near_optimal import NearOptimalSet, near_optimal

__all__ = [
    "Frontier",
    "FrontierPoint",
    "FrontierProgress",
    "NearFrontier",
    "NearOptimalSet",
    "NearPoint",
    "approximate_frontier",
    "epsilon_sequence",
    "excess_loss",
    "frontier_from_json",
    "frontier_to_json",
    "near_optimal",
    "solve_frontier",
]

__getattr__ = old_names(__name__, {"SolutionPool": "NearOptimalSet", "solve_pool": "near_optimal"})
