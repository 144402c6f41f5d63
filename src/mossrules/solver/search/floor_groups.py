"""Floors that share a tree: neighbours with nearly the same loss, from the lowest up.

What a node proves is affine in the floor, so a tree made for one floor has done most of the work
for the next. Floors that are far apart want other branches: a group ends where the loss has risen
by more than `SPAN`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from mossrules._typing import IntArray
from mossrules.solver.options import Clock, Options
from mossrules.solver.problems.logistic import LogisticProblem
from mossrules.solver.problems.selection import SelectionProblem
from mossrules.solver.problems.squared import Problem
from mossrules.solver.result import Outcome, Solution
from mossrules.solver.search.branch_and_bound import Root, SquaredTree, refuse_constraints
from mossrules.solver.search.instance import Instance, first_selection, logistic_selection
from mossrules.solver.search.logistic import LogisticTree
from mossrules.solver.search.state import Floor, Incumbent, TreeSearch

__all__ = ["FloorGroup", "make_floor_groups", "solve_floors"]

SPAN = 0.03  # of the loss; from 0.02 to 0.05 the nodes needed are about the same
LONGEST = 64  # floors


@dataclass(frozen=True, eq=False)
class FloorGroup:
    """Neighbouring floors of one problem, the lowest first, and what is known at each."""

    problems: tuple[SelectionProblem, ...]
    known: tuple[Floor, ...]  # selections to start from, and bounds that hold

    @property
    def floors(self) -> tuple[int, ...]:
        """The floors, ascending."""
        return tuple(problem.min_stability for problem in self.problems)


def make_floor_groups(
    problem: SelectionProblem, floors: Sequence[int], known: Mapping[int, Solution] | None = None
) -> list[FloorGroup]:
    """Return descending floors in groups, the most stable first, with selections by swaps.

    `known` solutions, of an earlier try at some of the floors, give selections and bounds.
    """
    refuse_constraints(problem)
    known = {} if known is None else known
    # From the highest floor down, as a selection that reaches a floor is feasible at all below it.
    groups: list[FloorGroup] = []
    members: list[tuple[SelectionProblem, Floor]] = []
    start = None
    for floor in floors:
        here, earlier = problem.at(floor), known.get(floor)
        best = _good_selection(here, start if earlier is None else earlier.support)
        start = best.support  # feasible at the next floor too
        if members and (
            len(members) == LONGEST or members[-1][1].best.loss > (1.0 + SPAN) * best.loss
        ):
            groups.append(_group(members))
            members = []
        members.insert(0, (here, Floor(floor, best, 0.0 if earlier is None else earlier.bound)))
    return [*groups, _group(members)]


def _group(members: Sequence[tuple[SelectionProblem, Floor]]) -> FloorGroup:
    problems, known = zip(*members, strict=True)
    return FloorGroup(problems, known)


def _good_selection(problem: SelectionProblem, start: IntArray | None) -> Incumbent:
    """Return a selection by exchanges of single rules."""
    if isinstance(problem, LogisticProblem):
        best, _, rules = logistic_selection(problem, start)
        return Incumbent(rules[best.support], best.loss)
    return first_selection(Instance.of(_squared(problem)), start)


def solve_floors(
    group: FloorGroup, options: Options, next_clock: Callable[[], Clock]
) -> Iterator[Outcome]:
    """Yield the outcome at each floor, the lowest first; `next_clock` is called before each."""
    clock = next_clock()
    search = _tree(group, options)
    yield search.run(clock)
    while search.next_floor():
        yield search.run(next_clock())


def _tree(group: FloorGroup, options: Options) -> TreeSearch:
    """Return the one tree of a group, which keeps its selections and can be solved again."""
    floors = [
        replace(floor, best=Incumbent(floor.best.support, floor.best.loss)) for floor in group.known
    ]
    if isinstance(group.problems[0], LogisticProblem):
        problems = [each for each in group.problems if isinstance(each, LogisticProblem)]
        tree: TreeSearch = LogisticTree.of(problems, options, floors)
        _share_selections(floors)
        return tree
    roots = [
        Root.of(Instance.of(_squared(problem)), floor.best, options, None).without_matrix()
        for problem, floor in zip(group.problems, floors, strict=True)
    ]
    _share_selections(floors)
    return SquaredTree.of(roots, options, [floor.known for floor in floors])


def _share_selections(floors: Sequence[Floor]) -> None:
    """Offer to each floor what was found for the next higher one, which is feasible there too."""
    for floor, higher in zip(floors[-2::-1], floors[:0:-1], strict=True):
        floor.best.offer(higher.best.support, higher.best.loss)


def _squared(problem: SelectionProblem) -> Problem:
    """Return a problem as the one of the squared loss that it is."""
    assert isinstance(problem, Problem)  # noqa: S101  tells mypy that there are two losses
    return problem
