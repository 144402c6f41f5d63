"""Solving one problem at many floors: which ones, under one budget, in one or more threads.

The ways to solve, and what floors learn from each other, are in `tasks.py`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from threading import Event, Lock
from typing import Literal, get_args

import numpy as np

from mossrules import defaults
from mossrules._common import check_choice, check_integer, check_listener
from mossrules._deprecated import old_parameters
from mossrules._refusals import names_input
from mossrules._typing import IntArray
from mossrules.budget import Budget, read_budget
from mossrules.data.chunks import resolve_n_jobs
from mossrules.exceptions import InvalidParameter
from mossrules.frontier.checkpoint import Checkpoint
from mossrules.frontier.points import FrontierPoint
from mossrules.frontier.result import Frontier
from mossrules.frontier.tasks import FloorShares, Task, Tasks, share_bounds
from mossrules.progress import guess_left, telling
from mossrules.solver.methods import choose_method
from mossrules.solver.options import Method, Options, Snapshot
from mossrules.solver.problems.selection import FloorKind, SelectionProblem
from mossrules.solver.result import Solution, Status
from mossrules.solver.search.branch_and_bound import compile_kernels

__all__ = [
    "FrontierProgress",
    "Listener",
    "epsilon_sequence",
    "floors_within_reach",
    "solve_frontier",
]

PROVEN = (Status.OPTIMAL, Status.INFEASIBLE)


@dataclass(frozen=True)
class FrontierProgress:
    """Where a run stands after a floor.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> from mossrules.frontier import solve_frontier
    >>> model = MossRegressor(2, n_trees=20).fit({"age": [30, 40, 50, 60]}, [2.0, 3.0, 9.0, 8.0])
    >>> frontier = solve_frontier(model.problem_, [14, 11], progress=print)
    floor 14: stability 14, loss 0.0620213, gap 0.00%, optimal, ... s
    floor 11: stability 11, loss 0.0339236, gap 0.10%, optimal, ... s
    """

    done: int  #: floors that are finished
    total: int | None  #: None when it is not known beforehand
    point: FrontierPoint  #: the last of them
    seconds: float  #: since the start
    seconds_left: float | None = None  #: about how long the rest takes, where that can be guessed

    def __str__(self) -> str:
        solution = self.point.solution
        how = "re-used" if self.point.reused else f"{solution.report.seconds:.2f} s"
        return (
            f"floor {self.point.floor}: stability {solution.stability}, loss {solution.loss:.6g}, "
            f"gap {solution.gap:.2%}, {solution.status.value}, {how}"
        )


Listener = Callable[[FrontierProgress], object]


@names_input("problem")
@old_parameters({"least": "min_stability", "most": "max_stability"})
def solve_frontier(
    problem: SelectionProblem,
    epsilons: Sequence[int] | IntArray | Literal["complete"] | None = None,
    method: Method = "auto",
    options: Options | None = None,
    *,
    min_stability: int | None = None,
    max_stability: int | None = None,
    reuse: bool = True,
    time_budget: float | Budget | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    n_jobs: int | None = 1,
    progress: Listener | None = None,
    verbose: bool = False,
) -> Frontier:
    """Solve a problem at many floors on stability.

    Parameters
    ----------
    problem
        The problem; its own `min_stability` is ignored, its kind of floor is not.
    epsilons
        The floors. By default the first 50 of `epsilon_sequence`; "complete" for every point that
        no other beats in both objectives.
    method, options
        As in `solve`; `options.time_limit` is for each floor. A complete frontier is solved with a
        gap of 0 by default; with a larger one, points may be passed over.
    min_stability, max_stability
        Range of a complete frontier, in counts; by default from 0 to the largest stability, and
        with a floor on each rule at most to the largest count, which leaves fewer rules.
    reuse
        Whether floors learn from each other; False solves each by itself, for comparison.
    time_budget
        Seconds for all floors together, of which each has a share. Floors that run out of it have
        the best rule set and bound that they or other floors found, with status TIME_LIMIT, and
        `frontier.unproven` says how many they are. Or the `Budget` of the work that this is a part
        of.
    checkpoint
        A file that is updated after each floor. A run that finds it resumes from there, and ends
        with what an uninterrupted run finds.
    n_jobs
        Threads. Floors that learn from each other stay together, so the result is the same.
    progress
        Called with a `FrontierProgress` after each floor.
    verbose
        Whether to show a line of progress in the terminal.

    Examples
    --------
    >>> import numpy as np
    >>> from mossrules.solver import Problem
    >>> M = np.array([[1, 0, 0], [1, 0, 1], [0, 1, 1], [0, 1, 1], [0, 0, 0], [0, 0, 0.0]])
    >>> y = np.array([2, 2, -2, -2, 0, 0.0])
    >>> problem = Problem.from_matrix(M, y, np.array([90, 5, 60]), max_rules=2, gamma=10)
    >>> frontier = solve_frontier(problem, "complete")
    >>> [(point.stability, point.support.tolist()) for point in frontier]
    [(150, [0, 2]), (95, [0, 1])]
    >>> frontier.at(stability=0.9).support  # at least 90 % of the largest
    array([0, 2])
    """
    complete = isinstance(epsilons, str)
    if options is None:
        options = Options(gap=0.0) if complete else Options()
    if options.proof is not None:
        raise InvalidParameter("Floors share their work here; solve first, and call proof then.")
    chosen, reason = choose_method(problem, method)
    budget = read_budget(time_budget)
    check_listener(progress, "FrontierProgress")
    floors = _range_or_floors(problem, epsilons, min_stability, max_stability)
    if chosen == "branch-and-bound":
        compile_kernels()  # now, as it takes a minute that is none of the budget
        budget = read_budget(time_budget)
    # No limits on time: a later run with more of it may go on from the same file.
    settings = f"{chosen} {options.gap!r} {options.root_cuts} {reuse} {floors}"
    store = None if checkpoint is None else Checkpoint.open(checkpoint, problem, settings)
    total = len(floors) if isinstance(floors, list) else None  # of a walk nobody knows
    run = _Run(FloorShares(budget, total, resolve_n_jobs(n_jobs)), total)
    tasks = Tasks(problem, chosen, reason, run.stopping_searches(options), reuse, run.shares, store)
    with telling(progress, verbose=verbose, total=total, title="frontier") as run.tell:
        finished = run.follow(tasks.of(floors))
        if reuse:
            run.share_bounds(problem, options.gap)
        if tasks.are_grouped and isinstance(floors, list):
            finished = finished and run.retry_cut_off(tasks)
    entries = run.entries.values()
    exact = options.gap == 0 and all(entry.solution.status in PROVEN for entry in entries)
    return Frontier.of(
        problem,
        entries,
        complete=complete and finished and exact,
        seconds=run.seconds,
        interrupted=not finished,
    )


# --- floors ---------------------------------------------------------------------------------------


@names_input("counts")
def epsilon_sequence(counts: IntArray, max_rules: int, floor: FloorKind = "sum") -> IntArray:
    """Return floors that differ in what they allow, descending, from the largest stability on.

    Parameters
    ----------
    counts
        Number of trees of each rule.
    max_rules
        Maximum number of rules. With fewer rules than that, all of them are the only window, or the
        least frequent one is the last.
    floor
        "sum" is the paper's E: distinct sums of `max_rules` consecutive sorted counts. "each" is
        every distinct count from that of the `max_rules`-th most frequent rule on.

    Examples
    --------
    >>> epsilon_sequence([5, 9, 7, 1, 1], max_rules=2)
    array([16, 12,  6,  2])
    >>> epsilon_sequence([5, 9, 7, 1, 1], max_rules=2, floor="each")
    array([7, 5, 1])
    """
    max_rules = check_integer("max_rules", max_rules)
    check_choice("floor", floor, get_args(FloorKind))
    given = np.asarray(counts)
    if given.ndim != 1 or len(given) == 0 or given.dtype.kind not in "iu" or (given < 0).any():
        raise InvalidParameter(
            "counts must be a list of integers that are not negative, one for each rule."
        )
    descending = np.sort(given.astype(np.int64))[::-1]
    size = min(max_rules, len(descending))
    if floor == "each":
        return np.unique(descending[size - 1 :])[::-1]
    total = np.concatenate([[0], np.cumsum(descending)])
    return np.unique(total[size:] - total[:-size])[::-1]  # each window from the sums up to its ends


def _range_or_floors(
    problem: SelectionProblem,
    epsilons: Sequence[int] | IntArray | Literal["complete"] | None,
    low: int | None,
    high: int | None,
) -> list[int] | Sequence[int]:
    """Return the floors that a complete frontier walks over, or the list of those asked for."""
    if isinstance(epsilons, str):
        if epsilons != "complete":
            raise InvalidParameter(f"epsilons is {epsilons!r}; pass floors or 'complete'.")
        return _range(problem, low, high)
    if low is not None or high is not None:
        raise InvalidParameter(
            "min_stability and max_stability go with epsilons='complete'; leave them out."
        )
    return _floors(problem, epsilons)


def _floors(problem: SelectionProblem, epsilons: Sequence[int] | IntArray | None) -> list[int]:
    """Return distinct floors, descending."""
    if epsilons is None:
        return floors_within_reach(problem)[: defaults.FRONTIER_POINTS].tolist() or [0]
    if not isinstance(epsilons, Iterable):
        raise InvalidParameter(f"epsilons is {epsilons!r}; pass a list of floors or 'complete'.")
    floors = [check_integer("epsilons", value, minimum=0) for value in epsilons]
    if not floors:
        raise InvalidParameter("epsilons is empty; pass one floor at least.")
    problem.at(max(floors))  # says so when that cannot be met
    return sorted(set(floors), reverse=True)


def floors_within_reach(problem: SelectionProblem) -> IntArray:
    """Return the floors of `epsilon_sequence` that selections of a problem can meet, descending."""
    if problem.floor == "each":  # rules that are fixed in are exempt, and take a place each
        counts, size = problem.counts[problem.free], problem.max_rules - len(problem.fixed_in)
    else:
        counts, size = np.delete(problem.counts, list(problem.fixed_out)), problem.max_rules
    if len(counts) == 0 or size == 0:
        return np.zeros(1, dtype=np.int64)
    sequence = epsilon_sequence(counts, size, problem.floor)
    # Limits on the rules may leave the first floors out of reach.
    return sequence[sequence <= problem.max_stability]


def _range(problem: SelectionProblem, low: int | None, high: int | None) -> Sequence[int]:
    """Return the floors that a complete frontier walks over, ascending."""
    most = problem.max_stability
    top = most if problem.floor == "sum" else problem.largest_floor
    low = 0 if low is None else check_integer("min_stability", low, minimum=0, maximum=top)
    if high is None:
        high = max(low, most)
    high = check_integer("max_stability", high, minimum=low, maximum=top)
    if problem.floor == "sum":
        return range(low, high + 1)
    # Between two counts nothing changes, so the lowest floor stands for those up to the next count.
    counts = np.unique(problem.counts)
    return tuple(counts[(counts >= low) & (counts <= high)].tolist()) or (low,)


# --- the run ------------------------------------------------------------------------------------


@dataclass
class _Run:
    """Tasks being done, and the points they have found so far."""

    shares: FloorShares
    total: int | None  # floors, if that is known beforehand
    entries: dict[int, FrontierPoint] = field(default_factory=dict)  # by floor
    tell: Listener = lambda _state: None
    lock: Lock = field(default_factory=Lock)
    stop: Event = field(default_factory=Event)

    @property
    def seconds(self) -> float:
        """Time since the run began."""
        return self.shares.budget.elapsed()

    def stopping_searches(self, options: Options) -> Options:
        """Return options with which searches in other threads end when the run has to stop."""
        if self.shares.n_jobs == 1:
            return options  # Ctrl-C reaches the one search there is by itself

        def look(snapshot: Snapshot) -> None:
            if self.stop.is_set():
                raise KeyboardInterrupt
            if options.progress is not None:
                options.progress(snapshot)

        return replace(options, progress=look)

    def follow(self, tasks: Sequence[Task]) -> bool:
        """Do the tasks; an interrupt ends the run with what it has. Tell whether all were done."""
        try:
            # Without threads, so that Ctrl-C is raised in the search and not beside it.
            if self.shares.n_jobs == 1:
                for task in tasks:
                    self._work(task)
            else:
                self._work_in_threads(tasks)
        except KeyboardInterrupt:
            if not self.entries:
                raise
            return False
        return True

    def share_bounds(self, problem: SelectionProblem, gap: float) -> None:
        """Give each floor what others have found."""
        shared = share_bounds(problem, list(self.entries.values()), gap)
        self.entries = {entry.floor: entry for entry in shared}

    def retry_cut_off(self, tasks: Tasks) -> bool:
        """Let floors that were cut off by their share have what others have left of the budget."""
        while unsolved := self.cut_off(tasks.options.time_limit):
            self.shares.begin_round(len(unsolved))
            if not self.follow(tasks.of(list(unsolved), unsolved)):
                return False
            self.share_bounds(tasks.problem, tasks.options.gap)
        return True

    def cut_off(self, limit: float | None) -> dict[int, Solution]:
        """Return the floors, descending, that could do better with the time that is left."""
        if self.shares.is_spent:
            return {}
        return {
            floor: entry.solution
            for floor, entry in sorted(self.entries.items(), reverse=True)
            if entry.solution.status is Status.TIME_LIMIT
            and (limit is None or entry.solution.report.seconds < limit)
        }

    def _work_in_threads(self, tasks: Sequence[Task]) -> None:
        with ThreadPoolExecutor(self.shares.n_jobs) as pool:
            # Without a limit of time, the low floors first: they are the hardest, and begun last
            # they would leave a thread without work. With one they have what easy floors leave.
            in_order = tasks if self.shares.budget.is_limited else tasks[::-1]
            jobs = [pool.submit(self._work, task) for task in in_order]
            try:
                for job in as_completed(jobs):
                    job.result()
            except BaseException:  # an interrupt too: the others must not go on
                self.stop.set()
                for job in jobs:
                    job.cancel()
                raise

    def _work(self, task: Task) -> None:
        for entry in task:
            # Listeners too are called with the lock: none has to bear two threads at a time.
            with self.lock:
                before = self.entries.get(entry.floor)  # of an earlier round, which had less time
                if before is None or not entry.solution.gap > before.solution.gap:
                    self.entries[entry.floor] = entry
                self.shares.done += 1
                done, seconds = len(self.entries), self.seconds
                left = guess_left(done, self.total, seconds, self.shares.budget.left())
                self.tell(FrontierProgress(done, self.total, entry, seconds, left))
            if self.stop.is_set() or entry.solution.status is Status.INTERRUPTED:
                raise KeyboardInterrupt
