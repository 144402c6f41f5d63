"""Good selections quickly: from the most stable one, or a given one, by exchanging single rules."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mossrules._typing import IntArray
from mossrules.exceptions import InfeasibleProblem
from mossrules.solver.kernels.state import IN
from mossrules.solver.kernels.swaps import improve_by_swaps
from mossrules.solver.problems.quadratic_model import QuadraticModel
from mossrules.solver.problems.squared import Problem
from mossrules.solver.search.instance import Instance, has_selection

__all__ = ["WORTHWHILE", "Incumbent", "first_selection", "local_search", "swap_search"]

MAX_SWAPS = 200
MAX_ROUNDS = 8  # squared problems that touch a logistic one
WORTHWHILE = 1e-9  # relative fall in loss: a smaller one ends the search


def swap_search(problem: Problem, start: IntArray | None = None) -> IntArray:
    """Return a feasible selection that no exchange of one rule for another improves, ascending.

    It starts from the most stable selection, and from `start` if that is feasible and of full size,
    and takes the best exchange each time; the better of both ends is returned. Nothing is proven:
    `solve` does that.
    """
    if not has_selection(problem):
        raise InfeasibleProblem("No selection keeps the limits A z <= b; relax one of them.")
    found = first_selection(Instance.of(problem.padded()), start).support
    return found[found < problem.m]


@dataclass(eq=False)
class Incumbent:
    """The best selection so far, as positions in the problem."""

    support: IntArray
    loss: float

    def offer(self, support: IntArray, loss: float) -> None:
        """Take a selection if it is better."""
        if loss < self.loss:
            self.support, self.loss = np.sort(support), loss


def first_selection(instance: Instance, start: IntArray | None) -> Incumbent:
    """Return the better of `start` and the most stable selection, each improved by swaps."""
    problem, data = instance.problem, instance.data
    fixed = np.flatnonzero(instance.decision == IN)
    best = Incumbent(np.empty(0, dtype=np.int64), np.inf)
    assert problem.most_stable_feasible is not None  # noqa: S101  tells mypy what the callers know
    starts = [problem.most_stable_feasible]
    if start is not None and problem.constraints is not None:
        start = problem.filled(start)
    if start is not None and problem.is_feasible(start) and len(start) == problem.size:
        starts.append(np.sort(start))
    for given in starts:
        here = np.searchsorted(instance.rules, given)
        support = np.concatenate([fixed, np.setdiff1d(here, fixed)])
        allowed = np.ones(len(instance.rules), dtype=np.bool_)
        allowed[support] = False
        explained = improve_by_swaps(
            data, float(problem.min_stability), allowed, support, len(fixed), MAX_SWAPS
        )
        best.offer(instance.rules[support], data.half_yy - explained)
    return best


def local_search(
    model: QuadraticModel, start: IntArray | None = None
) -> tuple[Incumbent, QuadraticModel]:
    """Return a selection for the logistic loss that no exchange of one rule seems to improve.

    Exchanges are tried on squared problems that touch the logistic one: at the selection found, the
    next one is made to touch, until the logistic loss itself falls no more. With the selection
    comes the model with the curvature near there, if that is cheap to have.
    """
    problem, m = model.problem, model.problem.m
    most_stable = problem.most_stable_feasible
    assert most_stable is not None  # noqa: S101  tells mypy what the callers know
    best = Incumbent(most_stable, problem.loss(most_stable))
    if start is not None and len(start) == problem.size and problem.is_feasible(start):
        best.offer(start, problem.loss(start))
    w = np.zeros(m + 1)
    for _ in range(MAX_ROUNDS):
        squared = model.squared_problem(model.point(w), most_stable_feasible=most_stable)
        found = first_selection(Instance.of(squared), np.append(best.support, m)).support
        found = found[found < m]
        loss = problem.loss(found)
        if w.any() and loss >= best.loss * (1.0 - WORTHWHILE):
            break
        best.offer(found, loss)
        first = not w.any()
        w = model.weights(best.support)
        model = model.curved_at(w) if model.is_cheap and first else model
    return best, model
