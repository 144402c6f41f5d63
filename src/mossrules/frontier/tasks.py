"""The ways to solve many floors: what they learn from each other, and in which order.

A task is a sequence of floors that learn from each other. Tasks do not wait for each other, so they
can run at the same time, and how many do makes no difference to what they find.

* The cutting plane goes down from the largest floor and keeps all cuts: one task, the paper's
  Algorithm 2.
* Branch and bound solves groups of neighbouring floors, each with one tree: a task for each. With
  a floor on each rule, which has other rules at each floor, it solves those of a group in turn.
* The complete frontier is walked upwards, its range in a few parts: the optimum S at a floor is
  optimal up to H1(S), so the next floor is H1(S) + 1, or the next count above H1(S).

What solving one floor says about the others is in the `Ledger`. A selection found at one floor is
feasible at every lower one. A bound proven at one floor holds at every higher one, where there are
fewer selections. So each floor lies between what was found above it and what was proven below it,
and often that is all that is needed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from mossrules._common import Clock
from mossrules.budget import SOON, Budget
from mossrules.exceptions import NothingFound
from mossrules.frontier.checkpoint import Checkpoint
from mossrules.frontier.points import FrontierPoint
from mossrules.solver.cutting_plane.loop import CutPool
from mossrules.solver.methods import solve
from mossrules.solver.options import Method, Options
from mossrules.solver.problems.selection import SelectionProblem
from mossrules.solver.problems.squared import Problem
from mossrules.solver.result import Outcome, Report, Solution, Status
from mossrules.solver.search.floor_groups import FloorGroup, make_floor_groups, solve_floors

__all__ = ["FloorShares", "Ledger", "Task", "Tasks", "share_bounds"]

# Parts of a complete frontier's range. The number is fixed: if it were that of the threads, results
# would depend on them.
PARTS = 4
EACH_GROUP = 8  # floors on each rule that are solved in turn: fixed as well
# Floors that a walk is taken to have left, when it asks for its share of the time: nobody knows how
# many there will be.
FLOORS_LEFT = 8

Task = Iterator[FrontierPoint]


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
            solution
            for solution in self.solutions.values()
            if solution.has_selection and solution.stability >= floor
        ]
        return min(reaching, key=lambda one: (one.loss, -one.stability), default=None)

    def bound_at(self, floor: int) -> float:
        """Return the best bound proven at this floor or below it; 0 when there is none."""
        lower = [solution for at, solution in self.solutions.items() if at <= floor]
        return max((solution.bound for solution in lower), default=0.0)

    def proven(self, problem: SelectionProblem, floor: int, gap: float) -> bool:
        """Tell whether what is known of other floors proves the gap at this one."""
        best = self.best_at(floor)
        return best is not None and problem.is_proven(best.loss, self.bound_at(floor), gap)


@dataclass
class FloorShares:
    """The budget of all floors, and what each may have of it."""

    budget: Budget
    total: int | None  # floors of this round, if that is known beforehand
    n_jobs: int
    done: int = 0  # in this round

    def begin_round(self, total: int) -> None:
        """Share what is left among so many floors."""
        self.total, self.done = total, 0

    @property
    def is_spent(self) -> bool:
        """Whether no time is left."""
        return self.budget.is_spent

    def limit(self, own: float | None, in_turn: int = 1) -> float | None:
        """Return the seconds for the next floor: its own limit, or its share if that is less.

        It is an equal share of what is left. So many floors, this one included, wait for each other
        in its task, however many threads there are: were they not counted, the first of the last
        ones would take all.
        """
        floors_left = FLOORS_LEFT if self.total is None else self.total - self.done
        rounds = max(-(-floors_left // self.n_jobs), in_turn)
        return self.budget.next_of(rounds).limit(own)


Order = Callable[[Ledger], Iterator[int]]  # floors, each chosen by what is known of those before it


@dataclass(frozen=True)
class Tasks:
    """How to solve a problem at any floor; points in the store are taken from there."""

    problem: SelectionProblem
    method: Method
    reason: str  # why this method
    options: Options
    reuse: bool
    shares: FloorShares
    store: Checkpoint | None

    def of(self, floors: Sequence[int], known: Mapping[int, Solution] | None = None) -> list[Task]:
        """Return the tasks for a list of descending floors, or for a walk over any others.

        `known` are solutions from an earlier try, to be bettered.
        """
        if not isinstance(floors, list):
            return [self._in_turn(self._walk(part), FLOORS_LEFT) for part in _parts(floors)]
        if not self.reuse:
            return [self._in_turn(_listed([floor]), 1) for floor in floors]
        if self.shares_trees and isinstance(self.problem, Problem):
            return [
                self._solve_group(group) for group in make_floor_groups(self.problem, floors, known)
            ]
        if self.are_grouped:
            starts = range(0, len(floors), EACH_GROUP)
            groups = [floors[start : start + EACH_GROUP] for start in starts]
            return [self._in_turn(_listed(group), len(group), known) for group in groups]
        return [self._in_turn(_listed(floors), len(floors))]

    @property
    def are_grouped(self) -> bool:
        """Whether listed floors are solved in groups, by one tree or in turn."""
        by_tree = self.reuse and self.method == "branch-and-bound"
        return self.shares_trees or (by_tree and self.problem.floor == "each")

    @property
    def shares_trees(self) -> bool:
        """Whether listed floors are solved in groups, each by one tree.

        Groups serve the logistic loss as well, but floors of classifiers are solved one by one, as
        they always were: a shared tree takes other nodes, and ends at other bounds within the gap.
        """
        is_grouped = isinstance(self.problem, Problem) and self.problem.constraints is None
        is_grouped = is_grouped and self.problem.floor == "sum"
        return self.reuse and self.method == "branch-and-bound" and is_grouped

    # --- one floor after the other --------------------------------------------------------------

    def _in_turn(
        self, order: Order, count: int, known: Mapping[int, Solution] | None = None
    ) -> Task:
        """Solve floor after floor, with selections, bounds and cuts from those before.

        There are about `count` of them, among which their time is shared.
        """
        ledger, cuts = Ledger(dict(known or {})), CutPool()
        for place, floor in enumerate(order(ledger)):
            entry = self._stored(floor, cuts)
            if entry is None:
                n_known = len(cuts)
                limit = self.shares.limit(self.options.time_limit, max(1, count - place))
                entry = self._solve(floor, limit, ledger, cuts)
                self._keep(entry, cuts, n_known)
            ledger.add(floor, entry.solution)
            yield entry

    def _solve(
        self, floor: int, limit: float | None, ledger: Ledger, cuts: CutPool
    ) -> FrontierPoint:
        """Return the point at a floor: from what is known if that is enough, else by a search.

        A floor that comes when the time is over is searched too: that gives it the selection of the
        heuristics and the bound of the root, in milliseconds. Masters of the cutting plane take
        longer, so there it has what other floors know.
        """
        problem = self.problem.at(floor)
        options = replace(self.options, time_limit=limit)
        if not self.reuse:
            ledger, cuts = Ledger(), CutPool()
        best, bound = ledger.best_at(floor), ledger.bound_at(floor)
        proven = ledger.proven(problem, floor, self.options.gap)
        if best is not None and (
            proven or (self.shares.is_spent and self.method == "cutting-plane")
        ):
            status = Status.OPTIMAL if proven else Status.TIME_LIMIT
            reason = "a selection from a higher floor and a bound from a lower one"
            report = Report("re-use", reason, 0.0, self.options.gap)
            known = Solution.of(problem, best.support, 0.0, status, report, known=bound)
            return FrontierPoint(floor, known, reused=True)
        # Only the selection: a dual point of another floor was measured to make the root worse.
        start = None if best is None else best.support
        try:
            solution = solve(problem, self.method, options, start=start, bound=bound, cuts=cuts)
        except NothingFound as reason:
            report = Report(self.method, str(reason), options.time_limit or 0.0, options.gap)
            solution = Solution.without_selection(report, bound, Status.TIME_LIMIT)
        if solution.bound <= 0.0 and solution.status is Status.TIME_LIMIT:
            without = self._bound_without_limits(floor)
            solution = replace(solution, bound=min(solution.loss, without))
        return FrontierPoint(floor, solution)

    def _bound_without_limits(self, floor: int) -> float:
        """Return the root's bound on the loss where limits on the rules are left out.

        Limits only take selections away, so it holds with them; a search within limits may have no
        bound at all when its time is over.
        """
        if self.problem.constraints is None or self.method != "branch-and-bound":
            return 0.0
        free = self.problem.restricted((), None).at(floor)
        return solve(free, self.method, replace(self.options, time_limit=SOON, gap=0.0)).bound

    def _walk(self, floors: Sequence[int]) -> Order:
        """Return the order of a walk upwards: each step to just above what the last one reached."""

        def steps(ledger: Ledger) -> Iterator[int]:
            place = 0
            # One floor at least is solved, however little time there is.
            while place < len(floors) and not (self.shares.is_spent and self.shares.done):
                yield floors[place]
                solution = ledger.solutions[floors[place]]
                if not solution.has_selection:  # nor is there one at any higher floor
                    return
                place = bisect_left(floors, solution.stability + 1)

        return steps

    # --- groups of floors -----------------------------------------------------------------------

    def _solve_group(self, group: FloorGroup) -> Task:
        """Solve a group; one that was not finished is solved again, to find the same."""
        stored = [self._stored(floor) for floor in group.floors]
        if None not in stored:
            yield from (entry for entry in stored if entry is not None)
            return
        clocks: list[Clock] = []

        def next_clock() -> Clock:
            n_left = len(group.floors) - len(clocks)
            clocks.append(Clock(self.shares.limit(self.options.time_limit, n_left)))
            return clocks[-1]

        outcomes = solve_floors(group, self.options, next_clock)
        for problem, outcome in zip(group.problems, outcomes, strict=True):
            entry = self._point_of(problem, outcome, clocks[-1].elapsed())
            self._keep(entry)
            yield self._stored(entry.floor) or entry  # what was proven before stays proven

    def _point_of(
        self, problem: SelectionProblem, outcome: Outcome, seconds: float
    ) -> FrontierPoint:
        assert outcome.support is not None  # noqa: S101  (without constraints, there is always one)
        counters = outcome.counters
        report = Report(self.method, self.reason, seconds, self.options.gap, counters)
        solution = Solution.of(
            problem, outcome.support, outcome.bound, outcome.status, report, dual=outcome.dual
        )
        without_search = counters["nodes"] == 0 and outcome.status is Status.OPTIMAL
        return FrontierPoint(
            problem.min_stability,
            solution,
            reused=without_search and counters["root_gap"] > self.options.gap,
        )

    # --- the store ------------------------------------------------------------------------------

    def _stored(self, floor: int, cuts: CutPool | None = None) -> FrontierPoint | None:
        """Return the point that an earlier run has stored, and add the cuts it made."""
        if self.store is None:
            return None
        if cuts is not None:
            self.store.restore_cuts(floor, cuts)
        return self.store.entries.get(floor)

    def _keep(self, entry: FrontierPoint, cuts: CutPool | None = None, n_known: int = 0) -> None:
        """Store a point, unless it rests on a limit or an interrupt: another run may do better."""
        if self.store is not None and self._is_final(entry.solution):
            self.store.add(entry, [] if cuts is None else list(cuts)[n_known:])

    def _is_final(self, solution: Solution) -> bool:
        if solution.status is Status.HEURISTIC:  # which ends like that in or out of time
            limit = self.options.time_limit
            in_time = limit is None or solution.report.seconds < limit
            return in_time and not self.shares.budget.is_limited
        return solution.status in (Status.OPTIMAL, Status.INFEASIBLE)


# --- what floors learn from each other when all are solved ----------------------------------------


def share_bounds(
    problem: SelectionProblem, entries: Sequence[FrontierPoint], gap: float
) -> list[FrontierPoint]:
    """Return the points with what others have found: a better selection, a better bound.

    Points that were solved in other threads, or before, could not learn from each other on the way.
    """
    ledger = Ledger({entry.floor: entry.solution for entry in entries})
    return [_improve(problem, entry, ledger, gap) for entry in entries]


def _improve(
    problem: SelectionProblem, entry: FrontierPoint, ledger: Ledger, gap: float
) -> FrontierPoint:
    own, best, bound = entry.solution, ledger.best_at(entry.floor), ledger.bound_at(entry.floor)
    if best is None or (best.loss >= own.loss and bound <= own.bound):
        return entry
    better = best if best.loss < own.loss else own
    solved = problem.is_proven(better.loss, bound, gap)
    # A heuristic method claims no proof, so its points never turn OPTIMAL by what others know.
    status = Status.OPTIMAL if solved and own.status is not Status.HEURISTIC else own.status
    solution = Solution.of(
        problem.at(entry.floor), better.support, 0.0, status, own.report, dual=own.dual, known=bound
    )
    return replace(entry, solution=solution)


# --- orders -------------------------------------------------------------------------------------


def _listed(floors: Sequence[int]) -> Order:
    """Return the order of a list."""
    return lambda _ledger: iter(floors)


def _parts(floors: Sequence[int]) -> list[Sequence[int]]:
    """Return ascending floors in parts of nearly the same size, the highest first."""
    size = -(-len(floors) // PARTS)
    return [floors[start : start + size] for start in range(0, len(floors), size)][::-1]
