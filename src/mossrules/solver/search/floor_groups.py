"""Floors that share a tree: neighbours with nearly the same loss, climbed from the lowest up.

What a node proves is affine in the floor, so a tree made for one floor has done most of the work
for the next. Floors that are far apart want other branches: a ladder ends where the loss has risen
by more than `SPAN`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from mossrules.solver.options import Clock, Options
from mossrules.solver.problems.squared import Problem
from mossrules.solver.result import Outcome, Solution
from mossrules.solver.search.branch_and_bound import TreeSearch, refuse_constraints
from mossrules.solver.search.heuristics import Incumbent, first_selection
from mossrules.solver.search.instance import Instance
from mossrules.solver.search.root import Root

__all__ = ["Ladder", "climb", "make_ladders"]

SPAN = 0.03  # of the loss; from 0.02 to 0.05 the nodes needed are about the same
LONGEST = 64  # floors

Rung = tuple[Problem, Incumbent, float]


@dataclass(frozen=True, eq=False)
class Ladder:
    """Neighbouring floors of one problem, the lowest first, and selections to start from."""

    problems: tuple[Problem, ...]
    starts: tuple[Incumbent, ...]
    bounds: tuple[float, ...]  # that are known to hold

    @property
    def floors(self) -> tuple[int, ...]:
        """The floors, ascending."""
        return tuple(problem.min_stability for problem in self.problems)


def make_ladders(
    problem: Problem, floors: Sequence[int], known: Mapping[int, Solution] | None = None
) -> list[Ladder]:
    """Return descending floors as ladders, the most stable first, with selections by swaps.

    `known` solutions, of an earlier try at some of the floors, give selections and bounds.
    """
    refuse_constraints(problem)
    known = {} if known is None else known
    ladders: list[Ladder] = []
    rungs: list[Rung] = []
    start = None
    for floor in floors:
        here = problem.at(floor)
        found = known.get(floor)
        best = first_selection(Instance.of(here), start if found is None else found.support)
        start = best.support  # feasible at the next floor too
        if rungs and (len(rungs) == LONGEST or rungs[-1][1].loss > (1.0 + SPAN) * best.loss):
            ladders.append(_ladder(rungs))
            rungs = []
        rungs.insert(0, (here, best, 0.0 if found is None else found.bound))
    return [*ladders, _ladder(rungs)]


def _ladder(rungs: Sequence[Rung]) -> Ladder:
    problems, starts, bounds = zip(*rungs, strict=True)
    return Ladder(problems, starts, bounds)


def climb(ladder: Ladder, options: Options, next_clock: Callable[[], Clock]) -> Iterator[Outcome]:
    """Yield the outcome at each floor, the lowest first; `next_clock` is called before each."""
    clock = next_clock()
    roots = [
        Root.of(
            Instance.of(problem), Incumbent(start.support, start.loss), options, None
        ).without_matrix()
        for problem, start in zip(ladder.problems, ladder.starts, strict=True)
    ]
    for root, higher in zip(roots[-2::-1], roots[:0:-1], strict=True):
        root.best.offer(higher.best.support, higher.best.loss)  # feasible here too
    search = TreeSearch(roots, options, ladder.bounds)
    yield search.run(clock)
    while search.climb():
        yield search.run(next_clock())
