"""The approximate frontier: coordinate descent swept over the price of stability.

A quick look at the trade-off before the exact one, or in place of it where rules are many. Each
point has the bound that weak duality gives at its own stability, and status HEURISTIC.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mossrules import defaults
from mossrules._common import MOST_POINTS, Clock, check_integer
from mossrules._refusals import names_input
from mossrules._typing import FloatArray
from mossrules.budget import read_budget
from mossrules.exceptions import InvalidParameter
from mossrules.frontier.points import FrontierPoint
from mossrules.frontier.result import Frontier
from mossrules.frontier.sweep import floors_within_reach
from mossrules.solver.approximate.coordinate_descent import PathPoint, penalised_path, penalty_grid
from mossrules.solver.bounds.duality import DualPoint
from mossrules.solver.methods import solve
from mossrules.solver.problems.squared import Problem, refuse_other_losses
from mossrules.solver.result import Report, Solution, Status

__all__ = ["approximate_frontier", "excess_loss"]


@names_input("problem")
def approximate_frontier(
    problem: Problem,
    points: int = defaults.FRONTIER_POINTS,
    *,
    penalties: Sequence[float] | None = None,
    time_budget: float | None = None,
) -> Frontier:
    """Sweep lambda_2, the price of stability, and return what coordinate descent finds.

    Parameters
    ----------
    problem
        The problem; its own `min_stability` is ignored. A floor on each rule has no price:
        coordinate descent then runs at floors from the first to the last of `epsilon_sequence`.
    points
        Number of prices, spread over the range that matters; or of such floors.
    penalties
        The prices themselves, in place of `points`.
    time_budget
        Seconds; when they are over, the points found so far are returned.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> X, y = {"age": [20, 30, 40, 50, 60, 70, 80]}, [2.0, 3.0, 9.0, 8.0, 7.0, 2.0, 1.0]
    >>> model = MossRegressor(2, n_trees=20).fit(X, y)
    >>> frontier = approximate_frontier(model.problem_, 10)
    >>> [(point.stability, point.status.value) for point in frontier]
    [(14, 'heuristic'), (8, 'heuristic'), (7, 'heuristic'), (2, 'heuristic')]
    """
    refuse_other_losses(problem, "The approximate frontier")
    check_integer("points", points, maximum=MOST_POINTS)
    clock = read_budget(time_budget).clock()
    if problem.floor == "each":
        if penalties is not None:
            raise InvalidParameter(
                "penalties are prices of the sum of counts, which floor='each' has none of; pass "
                "points."
            )
        return Frontier.of(problem, _at_floors(problem, points, clock), seconds=clock.elapsed())
    free = problem.at(0)
    prices = penalty_grid(free, points) if penalties is None else penalties
    path = penalised_path(free, prices, clock=clock)
    best: dict[int, FrontierPoint] = {}
    # The path is one computation, each selection the start of the next: its time is shared out.
    seconds = clock.elapsed() / max(1, len(path))
    for selection in path:
        point = _point(problem, selection, seconds)
        known = best.get(point.floor)
        if known is None or point.solution.loss < known.solution.loss:
            best[point.floor] = point
    return Frontier.of(problem, best.values(), seconds=clock.elapsed())


def _at_floors(problem: Problem, points: int, clock: Clock) -> list[FrontierPoint]:
    """Return what coordinate descent finds at some floors on each rule, the highest first."""
    sequence = floors_within_reach(problem)
    places = np.unique(np.linspace(0, len(sequence) - 1, points).round().astype(np.int64))
    found: list[FrontierPoint] = []
    for floor in sequence[places].tolist():
        if found and clock.left() <= 0:
            break
        # What was found at a higher floor is feasible at this one: no point is worse than it.
        start = found[-1].solution if found else None
        solution = solve(problem.at(floor), "coordinate-descent", start=start)
        if start is not None and start.loss < solution.loss:
            how, bound = (0.0, Status.HEURISTIC, solution.report), solution.bound
            here, dual = problem.at(floor), solution.dual
            solution = Solution.of(here, start.support, *how, dual=dual, known=bound)
        found.append(FrontierPoint(floor, solution))
    return found


def _point(problem: Problem, selection: PathPoint, seconds: float) -> FrontierPoint:
    """Return a rule set as a point at the floor of its own stability."""
    here = problem.at(problem.stability(selection.support))
    # Any multipliers give a bound by weak duality; the best ones for these weights cost one search.
    dual = DualPoint.of_selection(here, selection.support)
    counters = {"lambda_1": selection.lambda_1, "lambda_2": selection.lambda_2}
    reason = "a point of the path over lambda_2"
    report = Report("coordinate-descent", reason, seconds, float("nan"), counters)
    solution = Solution.of(
        here, selection.support, max(0.0, dual.bound), Status.HEURISTIC, report, dual=dual
    )
    return FrontierPoint(here.min_stability, solution)


def excess_loss(approximate: Frontier, exact: Frontier) -> FloatArray:
    """Return, for each point of the exact frontier, how much more loss the approximate one has.

    The figure is relative: 0.02 means that the best approximate point of at least that stability
    has 2 % more loss; infinity that there is none.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> from mossrules.frontier import approximate_frontier
    >>> X, y = {"age": [20, 30, 40, 50, 60, 70, 80]}, [2.0, 3.0, 9.0, 8.0, 7.0, 2.0, 1.0]
    >>> model = MossRegressor(2, n_trees=20).fit(X, y)
    >>> approximate = approximate_frontier(model.problem_, 2)  # the highest floor and the lowest
    >>> excess_loss(approximate, model.frontier([1, 0.55, 0.5, 0.1])).round(2)
    array([ 0.  ,  3.86, 11.73,  0.  ])
    """
    losses = []
    for point in exact.points:
        reaching = [
            other.loss for other in approximate.points if other.stability >= point.stability
        ]
        best = min(reaching, default=np.inf)
        losses.append(
            0.0 if best == point.loss else best / point.loss - 1.0 if point.loss > 0 else np.inf
        )
    return np.array(losses)
