"""Good selections quickly: from the most stable one, or a given one, by exchanging single rules."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mossrules._typing import IntArray
from mossrules.exceptions import InfeasibleProblem
from mossrules.solver.kernels.state import IN
from mossrules.solver.kernels.swaps import improve_by_swaps
from mossrules.solver.problems.squared import Problem
from mossrules.solver.search.instance import Instance, has_selection

__all__ = ["Incumbent", "first_selection", "swap_search"]

MAX_SWAPS = 200


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
    fixed = np.flatnonzero(instance.fate == IN)
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
        best.offer(instance.rules[support], data.half - explained)
    return best
