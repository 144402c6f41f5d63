"""What solving one floor says about the others.

A selection found at one floor is feasible at every lower one. A bound proven at one floor holds at
every higher one, where there are fewer selections. So each floor lies between what was found above
it and what was proven below it, and often that is all that is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from mossrules.frontier.result import FrontierPoint
from mossrules.solver.options import relative_gap
from mossrules.solver.problems.selection import SelectionProblem
from mossrules.solver.result import Solution, Status

__all__ = ["Ledger", "settle"]

ROUNDING = 1e-9  # a search that stops at the gap asked for may be this much above it


@dataclass
class Ledger:
    """All solutions of one problem at several floors, whatever their status."""

    solutions: dict[int, Solution] = field(default_factory=dict)  # by floor

    def add(self, floor: int, solution: Solution) -> None:
        """Note what was found at a floor."""
        self.solutions[floor] = solution

    def best_at(self, floor: int) -> Solution | None:
        """Return the solution with the least loss among those that reach the floor."""
        reaching = [
            each
            for each in self.solutions.values()
            if each.has_selection and each.stability >= floor
        ]
        return min(reaching, key=lambda each: (each.loss, -each.stability), default=None)

    def bound_at(self, floor: int) -> float:
        """Return the best bound proven at this floor or below it; 0 when there is none."""
        return max((each.bound for at, each in self.solutions.items() if at <= floor), default=0.0)

    def proven(self, floor: int, gap: float) -> bool:
        """Tell whether what is known of other floors proves the gap at this one."""
        best = self.best_at(floor)
        return best is not None and relative_gap(best.loss, self.bound_at(floor)) <= gap + ROUNDING


def settle(
    problem: SelectionProblem, entries: Sequence[FrontierPoint], gap: float
) -> list[FrontierPoint]:
    """Return the points with what others have found: a better selection, a better bound."""
    ledger = Ledger({entry.floor: entry.solution for entry in entries})
    return [_settled(problem, entry, ledger, gap) for entry in entries]


def _settled(
    problem: SelectionProblem, entry: FrontierPoint, ledger: Ledger, gap: float
) -> FrontierPoint:
    own, best, bound = entry.solution, ledger.best_at(entry.floor), ledger.bound_at(entry.floor)
    if best is None or (best.loss >= own.loss and bound <= own.bound):
        return entry
    better = best if best.loss < own.loss else own
    solved = relative_gap(better.loss, bound) <= gap + ROUNDING
    status = Status.OPTIMAL if solved and own.status is not Status.HEURISTIC else own.status
    solution = Solution.of(
        problem.at(entry.floor), better.support, bound, status, own.report, dual=own.dual
    )
    return replace(entry, solution=solution)
