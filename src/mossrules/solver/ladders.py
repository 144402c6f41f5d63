"""Floors that share a tree: neighbours with nearly the same loss, climbed from the lowest up.

What a node proves is affine in the floor, so a tree made for one floor has done most of the work
for the next. Floors that are far apart want other branches: a ladder ends where the loss has risen
by more than `SPAN`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from mossrules.solver.branch_and_bound import TreeSearch, refuse_constraints
from mossrules.solver.heuristics import Incumbent, first_selection
from mossrules.solver.instance import Instance
from mossrules.solver.options import Clock, Options
from mossrules.solver.problem import Problem
from mossrules.solver.result import Outcome
from mossrules.solver.root import Root

__all__ = ["Ladder", "climb", "make_ladders"]

SPAN = 0.02  # of the loss; from 0.01 to 0.05 the nodes needed hardly change
LONGEST = 16  # floors, each with statistics of its own in memory


@dataclass(frozen=True, eq=False)
class Ladder:
    """Neighbouring floors of one problem, the lowest first, and selections to start from."""

    problems: tuple[Problem, ...]
    starts: tuple[Incumbent, ...]

    @property
    def floors(self) -> tuple[int, ...]:
        """The floors, ascending."""
        return tuple(problem.min_stability for problem in self.problems)


def make_ladders(problem: Problem, floors: Sequence[int]) -> list[Ladder]:
    """Return descending floors as ladders, the most stable first, with selections by swaps."""
    refuse_constraints(problem)
    ladders: list[Ladder] = []
    rungs: list[tuple[Problem, Incumbent]] = []
    start = None
    for floor in floors:
        here = problem.at(floor)
        best = first_selection(Instance.of(here), start)
        start = best.support  # feasible at the next floor too
        if rungs and (len(rungs) == LONGEST or rungs[-1][1].loss > (1.0 + SPAN) * best.loss):
            ladders.append(_ladder(rungs))
            rungs = []
        rungs.insert(0, (here, best))
    return [*ladders, _ladder(rungs)]


def _ladder(rungs: Sequence[tuple[Problem, Incumbent]]) -> Ladder:
    return Ladder(tuple(here for here, _ in rungs), tuple(best for _, best in rungs))


def climb(ladder: Ladder, options: Options, next_clock: Callable[[], Clock]) -> Iterator[Outcome]:
    """Yield the outcome at each floor, the lowest first; `next_clock` is called before each."""
    clock = next_clock()
    roots = [
        Root.of(Instance.of(problem), Incumbent(start.support, start.loss), options, None)
        for problem, start in zip(ladder.problems, ladder.starts, strict=True)
    ]
    for root, higher in zip(roots[-2::-1], roots[:0:-1], strict=True):
        root.best.offer(higher.best.support, higher.best.loss)  # feasible here too
    search = TreeSearch(roots, options, 0.0)
    yield search.run(clock)
    while search.climb():
        yield search.run(next_clock())
