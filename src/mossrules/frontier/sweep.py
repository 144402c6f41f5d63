"""Solving one problem at many floors: the Efficient Pareto Method and what goes beyond it.

Floors are taken in waves. What a floor gets from others (a selection to start from, a bound that
holds) comes from waves before its own, so floors of one wave can be solved at the same time and the
result does not depend on how many are.

* The cutting plane goes down from the largest floor, one floor a wave, and keeps all cuts (the
  paper's Algorithm 2).
* Branch and bound takes both ends first and then the middles of what lies between: a floor between
  two solved ones often needs no search, since one gave a selection and the other a bound.
* The complete frontier is walked upwards: the optimum S at a floor is optimal up to H1(S), so the
  next floor is H1(S) + 1.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from mossrules._checks import check_integer, check_number
from mossrules._typing import IntArray
from mossrules.chunks import resolve_n_jobs
from mossrules.exceptions import InvalidParameter
from mossrules.frontier.ledger import Ledger
from mossrules.frontier.progress import FrontierProgress, Listener, progress_line
from mossrules.frontier.result import Frontier, FrontierPoint
from mossrules.frontier.sequence import epsilon_sequence
from mossrules.frontier.storage import Checkpoint
from mossrules.solver.cutting_plane import CutPool
from mossrules.solver.methods import choose_method, solve
from mossrules.solver.options import Clock, Method, Options
from mossrules.solver.problem import Problem
from mossrules.solver.result import Report, Solution, Status

__all__ = ["solve_frontier"]

DEFAULT_POINTS = 50


def solve_frontier(
    problem: Problem,
    epsilons: Sequence[int] | IntArray | Literal["complete"] | None = None,
    method: Method = "auto",
    options: Options | None = None,
    *,
    least: int | None = None,
    most: int | None = None,
    reuse: bool = True,
    time_budget: float | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    n_jobs: int | None = 1,
    progress: Listener | None = None,
    verbose: bool = False,
) -> Frontier:
    """Solve a problem at many floors on stability.

    Parameters
    ----------
    problem
        The problem; its own `min_stability` plays no part.
    epsilons
        The floors. By default the first 50 of the paper's sequence, `epsilon_sequence`; "complete"
        for every point that no other beats in both objectives.
    method, options
        As in `solve`; `options.time_limit` is for each floor.
    least, most
        Range of a complete frontier, in counts; by default from 0 to the largest stability.
    reuse
        Whether floors learn from each other; False solves each by itself, for comparison.
    time_budget
        Seconds for all floors together. Floors that get no time of their own still have the
        selection and the bound that other floors give them, with status TIME_LIMIT.
    checkpoint
        A file that is brought up to date after each floor; a run that finds it goes on from there.
    n_jobs
        Floors solved at the same time, where floors do not wait for each other.
    progress
        Called with a `FrontierProgress` after each floor.
    verbose
        Whether to show a line of progress in the terminal.
    """
    options = Options() if options is None else options
    chosen, _ = choose_method(problem, method)
    if time_budget is not None:
        check_number("time_budget", time_budget)
    if isinstance(epsilons, str):
        if epsilons != "complete":
            raise InvalidParameter(f"epsilons is {epsilons!r}; pass floors or 'complete'.")
        plan: _Plan = _Walk.of(problem, least, most)
    else:
        if least is not None or most is not None:
            raise InvalidParameter("least and most go with epsilons='complete'; leave them out.")
        plan = _Listed.of(_floors(problem, epsilons), descending=chosen == "cutting-plane")
    settings = f"{chosen} {options.gap!r} {options.root_cuts} {reuse} {plan!r}"
    store = None if checkpoint is None else Checkpoint.open(checkpoint, problem, settings)
    run = _Run(problem, chosen, options, reuse, Clock(time_budget), store)
    with progress_line(verbose, plan.total) as show:
        run.listeners = [each for each in (progress, show) if each is not None]
        run.follow(plan, resolve_n_jobs(n_jobs))
    complete = isinstance(plan, _Walk) and run.all_proven
    return Frontier.of(problem, run.entries, complete=complete, seconds=run.clock.elapsed())


def _floors(problem: Problem, epsilons: Sequence[int] | IntArray | None) -> IntArray:
    """Return distinct floors, descending."""
    if epsilons is None:
        counts = np.delete(problem.statistics.counts, list(problem.fixed_out))
        sequence = epsilon_sequence(counts, problem.max_rules)
        return sequence[sequence <= problem.largest_stability][:DEFAULT_POINTS]
    floors = [check_integer("epsilons", value, least=0) for value in np.asarray(epsilons).tolist()]
    if not floors:
        raise InvalidParameter("epsilons is empty; pass one floor at least.")
    problem.at(max(floors))  # says so when that cannot be met
    return np.unique(floors)[::-1]


# --- the order of the floors --------------------------------------------------------------------


@dataclass(frozen=True)
class _Listed:
    """Floors that are known beforehand, in waves."""

    waves: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, floors: IntArray, *, descending: bool) -> _Listed:
        if descending:
            return cls(tuple((int(floor),) for floor in floors))
        order = floors.tolist()
        waves = [(order[0],)] + ([(order[-1],)] if len(order) > 1 else [])
        between = [(0, len(order) - 1)]
        while between := [pair for pair in between if pair[1] - pair[0] > 1]:
            middles = [(low + high) // 2 for low, high in between]
            waves.append(tuple(order[middle] for middle in middles))
            between = [
                part
                for (low, high), middle in zip(between, middles, strict=True)
                for part in ((low, middle), (middle, high))
            ]
        return cls(tuple(waves))

    @property
    def total(self) -> int | None:
        return sum(len(wave) for wave in self.waves)

    def next_waves(self, _ledger: Ledger) -> Iterator[tuple[int, ...]]:
        yield from self.waves


@dataclass(frozen=True)
class _Walk:
    """From the least floor up, each step to just above what the last one reached."""

    least: int
    most: int

    @classmethod
    def of(cls, problem: Problem, least: int | None, most: int | None) -> _Walk:
        top = problem.largest_stability
        low = 0 if least is None else check_integer("least", least, least=0, most=top)
        high = top if most is None else check_integer("most", most, least=low, most=top)
        return cls(low, high)

    @property
    def total(self) -> int | None:
        return None

    def next_waves(self, ledger: Ledger) -> Iterator[tuple[int, ...]]:
        floor = self.least
        while floor <= self.most:
            yield (floor,)
            floor = ledger.solutions[floor].stability + 1


_Plan = _Listed | _Walk


# --- the run ------------------------------------------------------------------------------------


@dataclass
class _Run:
    """Floors being solved, and what is known so far."""

    problem: Problem
    method: Method
    options: Options
    reuse: bool
    clock: Clock
    store: Checkpoint | None
    ledger: Ledger = field(default_factory=Ledger)
    entries: list[FrontierPoint] = field(default_factory=list)
    cuts: CutPool = field(default_factory=CutPool)
    listeners: list[Callable[[FrontierProgress], object]] = field(default_factory=list)

    def follow(self, plan: _Plan, n_jobs: int) -> None:
        """Take wave after wave; an interrupt ends the run with what it has."""
        stored = {entry.floor: entry for entry in self.store.entries} if self.store else {}
        try:
            with ThreadPoolExecutor(n_jobs) as pool:
                for wave in plan.next_waves(self.ledger):
                    todo = [floor for floor in wave if floor not in stored]
                    jobs = pool.map(self._point, todo) if n_jobs > 1 else map(self._point, todo)
                    found = dict(zip(todo, jobs, strict=True))
                    for floor in wave:
                        self._keep(stored.get(floor) or found[floor], floor in stored, plan.total)
        except KeyboardInterrupt:
            if not self.entries:
                raise

    def _keep(self, entry: FrontierPoint, was_stored: bool, total: int | None) -> None:
        self.entries.append(entry)
        self.ledger.add(entry.floor, entry.solution)
        if self.store is not None and not was_stored and _is_final(entry.solution):
            self.store.add(entry)
        for listener in self.listeners:
            listener(FrontierProgress(len(self.entries), total, entry, self.clock.elapsed()))

    def _point(self, floor: int) -> FrontierPoint:
        """Return the point at a floor: from what is known if that is enough, else by a search."""
        problem = self.problem.at(floor)
        if not self.reuse:
            return FrontierPoint(floor, solve(problem, self.method, self._limited()))
        best, bound = self.ledger.best_at(floor), self.ledger.bound_at(floor)
        if best is not None and self.ledger.proven(floor, self.options.gap):
            return FrontierPoint(floor, self._known(problem, best, bound, Status.OPTIMAL), True)
        if best is not None and self.clock.left() <= 0.0:
            return FrontierPoint(floor, self._known(problem, best, bound, Status.TIME_LIMIT), True)
        # Only the selection: a dual point of another floor was measured to make the root worse.
        start = None if best is None else best.support
        solution = solve(
            problem, self.method, self._limited(), start=start, bound=bound, cuts=self.cuts
        )
        return FrontierPoint(floor, solution)

    def _limited(self) -> Options:
        """Return the options with no more time than is left of the budget."""
        left = self.clock.left()
        if left == float("inf"):
            return self.options
        limit = self.options.time_limit
        return replace(
            self.options, time_limit=max(1e-3, left if limit is None else min(limit, left))
        )

    def _known(self, problem: Problem, best: Solution, bound: float, status: Status) -> Solution:
        reason = "a selection from a higher floor and a bound from a lower one"
        report = Report("re-use", reason, 0.0, self.options.gap)
        return Solution.of(problem, best.support, bound, status, report)

    @property
    def all_proven(self) -> bool:
        """Whether every floor that was solved is proven to the gap asked for."""
        return all(entry.solution.status is Status.OPTIMAL for entry in self.entries)


def _is_final(solution: Solution) -> bool:
    """Tell whether a later run would find the same: limits and interrupts depend on the machine."""
    return solution.status in (Status.OPTIMAL, Status.INFEASIBLE, Status.HEURISTIC)
