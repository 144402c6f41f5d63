"""The ways to solve many floors: what they learn from each other, and in which order.

A task is a sequence of floors that learn from each other. Tasks do not wait for each other, so they
can run at the same time, and how many do makes no difference to what they find.

* The cutting plane goes down from the largest floor and keeps all cuts: one task, the paper's
  Algorithm 2.
* Branch and bound climbs ladders of neighbouring floors, each with one tree: a task for each.
* The complete frontier is walked upwards, its range in a few parts: the optimum S at a floor is
  optimal up to H1(S), so the next floor is H1(S) + 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from mossrules.exceptions import NothingFound
from mossrules.frontier.checkpoint import Checkpoint
from mossrules.frontier.ledger import Ledger
from mossrules.frontier.result import FrontierPoint
from mossrules.solver.cutting_plane.loop import CutPool
from mossrules.solver.methods import solve
from mossrules.solver.options import Clock, Method, Options
from mossrules.solver.problems.selection import SelectionProblem
from mossrules.solver.problems.squared import Problem
from mossrules.solver.result import Outcome, Report, Solution, Status
from mossrules.solver.search.floor_groups import Ladder, climb, make_ladders

__all__ = ["Budget", "Task", "Tasks"]

PARTS = 4  # of a complete frontier's range

Task = Iterator[FrontierPoint]
Order = Callable[[Ledger], Iterator[int]]  # floors, each chosen by what is known of those before it


@dataclass
class Budget:
    """Seconds for all floors together, and what each may have of them."""

    clock: Clock
    total: int | None  # floors of this round, if that is known beforehand
    n_jobs: int
    done: int = 0  # in this round

    def begin_round(self, total: int) -> None:
        """Share what is left among so many floors."""
        self.total, self.done = total, 0

    @property
    def is_spent(self) -> bool:
        """Whether no time is left."""
        return self.clock.left() <= 0.0

    def limit(self, limit: float | None, n_served: int = 1) -> float | None:
        """Return the seconds for the next floor: its own limit, or its share if that is less.

        The share is twice the equal one, so that what easy floors leave is not lost, or half of
        what all floors have together that the same tree will serve.
        """
        left = self.clock.left()
        if left == float("inf"):
            return limit
        floors_left = 8 if self.total is None else max(1, self.total - self.done)
        share = left * min(1.0, max(2.0, n_served / 2) * self.n_jobs / floors_left)
        return max(1e-3, share if limit is None else min(limit, share))


@dataclass(frozen=True)
class Tasks:
    """How to solve a problem at any floor; points in the store are taken from there."""

    problem: SelectionProblem
    method: Method
    reason: str  # why this method
    options: Options
    reuse: bool
    budget: Budget
    store: Checkpoint | None

    def of(
        self, floors: Sequence[int] | range, known: Mapping[int, Solution] | None = None
    ) -> list[Task]:
        """Return the tasks for a list of descending floors, or for the complete frontier.

        `known` are solutions from an earlier try, to be bettered.
        """
        if isinstance(floors, range):
            return [self._in_turn(self._walk(part)) for part in _parts(floors)]
        if not self.reuse:
            return [self._in_turn(_listed([floor])) for floor in floors]
        if self.shares_trees and isinstance(self.problem, Problem):
            return [self._up(ladder) for ladder in make_ladders(self.problem, floors, known)]
        return [self._in_turn(_listed(floors))]

    @property
    def shares_trees(self) -> bool:
        """Whether listed floors are solved in ladders."""
        has_ladders = isinstance(self.problem, Problem) and self.problem.constraints is None
        return self.reuse and self.method == "branch-and-bound" and has_ladders

    # --- one floor after the other --------------------------------------------------------------

    def _in_turn(self, order: Order) -> Task:
        """Solve floor after floor, with selections, bounds and cuts from those before."""
        ledger, cuts = Ledger(), CutPool()
        for floor in order(ledger):
            entry = self._stored(floor, cuts)
            if entry is None:
                n_known = len(cuts)
                entry = self._solve(floor, ledger, cuts)
                self._keep(entry, cuts, n_known)
            ledger.add(floor, entry.solution)
            yield entry

    def _solve(self, floor: int, ledger: Ledger, cuts: CutPool) -> FrontierPoint:
        """Return the point at a floor: from what is known if that is enough, else by a search."""
        problem = self.problem.at(floor)
        options = replace(self.options, time_limit=self.budget.limit(self.options.time_limit))
        if not self.reuse:
            ledger, cuts = Ledger(), CutPool()
        best, bound = ledger.best_at(floor), ledger.bound_at(floor)
        proven = ledger.proven(floor, self.options.gap)
        if best is not None and (proven or self.budget.is_spent):
            status = Status.OPTIMAL if proven else Status.TIME_LIMIT
            reason = "a selection from a higher floor and a bound from a lower one"
            report = Report("re-use", reason, 0.0, self.options.gap)
            known = Solution.of(problem, best.support, bound, status, report)
            return FrontierPoint(floor, known, reused=True)
        # Only the selection: a dual point of another floor was measured to make the root worse.
        start = None if best is None else best.support
        try:
            found = solve(problem, self.method, options, start=start, bound=bound, cuts=cuts)
        except NothingFound as reason:
            report = Report(self.method, str(reason), options.time_limit or 0.0, options.gap)
            found = Solution.without_selection(report, bound, Status.TIME_LIMIT)
        return FrontierPoint(floor, found)

    def _walk(self, floors: range) -> Order:
        """Return the order of a walk upwards: each step to just above what the last one reached."""

        def steps(ledger: Ledger) -> Iterator[int]:
            floor = floors.start
            while floor in floors and not (self.budget.is_spent and self.budget.done):
                yield floor
                found = ledger.solutions[floor]
                if not found.has_selection:  # nor is there one at any higher floor
                    return
                floor = found.stability + 1

        return steps

    # --- ladders --------------------------------------------------------------------------------

    def _up(self, ladder: Ladder) -> Task:
        """Climb a ladder; one that was not finished is climbed again, to find the same."""
        stored = [self._stored(floor) for floor in ladder.floors]
        if None not in stored:
            yield from (entry for entry in stored if entry is not None)
            return
        clocks: list[Clock] = []

        def next_clock() -> Clock:
            n_left = len(ladder.floors) - len(clocks)
            clocks.append(Clock(self.budget.limit(self.options.time_limit, n_left)))
            return clocks[-1]

        outcomes = climb(ladder, self.options, next_clock)
        for problem, outcome in zip(ladder.problems, outcomes, strict=True):
            entry = self._rung(problem, outcome, clocks[-1].elapsed())
            self._keep(entry)
            yield self._stored(entry.floor) or entry  # what was proven before stays proven

    def _rung(self, problem: SelectionProblem, outcome: Outcome, seconds: float) -> FrontierPoint:
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
            return in_time and self.budget.clock.limit is None
        return solution.status in (Status.OPTIMAL, Status.INFEASIBLE)


# --- orders -------------------------------------------------------------------------------------


def _listed(floors: Sequence[int]) -> Order:
    """Return the order of a list."""
    return lambda _ledger: iter(floors)


def _parts(floors: range) -> list[range]:
    """Return a range in parts of nearly the same size, the highest first."""
    size = -(-len(floors) // PARTS)
    starts = floors[::size]
    return [range(start, min(start + size, floors.stop)) for start in starts][::-1]
