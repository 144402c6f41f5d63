"""The trade-off between stability and loss: solved, stored, looked up."""

from mossrules.frontier.approximate import approximate_frontier, excess_loss
from mossrules.frontier.progress import FrontierProgress
from mossrules.frontier.result import Frontier, FrontierPoint
from mossrules.frontier.sequence import epsilon_sequence
from mossrules.frontier.storage import frontier_from_json, frontier_to_json
from mossrules.frontier.sweep import solve_frontier
from mossrules.solver.search.near_optimal import SolutionPool, solve_pool

__all__ = [
    "Frontier",
    "FrontierPoint",
    "FrontierProgress",
    "SolutionPool",
    "approximate_frontier",
    "epsilon_sequence",
    "excess_loss",
    "frontier_from_json",
    "frontier_to_json",
    "solve_frontier",
    "solve_pool",
]
