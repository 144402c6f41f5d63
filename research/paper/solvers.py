"""Ways to solve one problem exactly, by name, and all of them measured alike.

Every way has one thread, the same gap to prove and the same time. Wall seconds depend on what else
the machine does; CPU seconds are those of this process, whose threads all solvers share, and so the
fairer of the two. Limits are on wall seconds, as that is what solvers know.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import replace
from functools import cache, partial
from itertools import permutations
from multiprocessing import get_context
from typing import Any

import numpy as np

from mossrules.exceptions import LicenceLimit, MissingDependency
from mossrules.solver import Options, Problem, Solution, Status, solve
from research.paper.authors import solve_as_authors
from research.paper.direct import solve_by_gurobi, solve_by_scip
from research.paper.framework import Row

__all__ = [
    "AUTHORS_GUROBI",
    "AUTHORS_HIGHS",
    "CRASHED",
    "DIRECT_GUROBI",
    "DIRECT_SCIP",
    "FINE",
    "LIMIT",
    "NOT_INSTALLED",
    "NO_LICENCE",
    "OURS",
    "OURS_FINE",
    "PROVEN",
    "ROUNDING",
    "SKIPPED",
    "WAYS",
    "contradictions",
    "measure",
    "measure_down",
]

OURS, OURS_FINE = "branch and bound", "branch and bound, 0.1 %"
AUTHORS_GUROBI, AUTHORS_HIGHS = "authors, Gurobi", "authors, HiGHS"
DIRECT_SCIP, DIRECT_GUROBI = "direct, SCIP", "direct, Gurobi"
FINE = 1e-3
ROUNDING = 1e-4  # by which bounds of solvers with tolerances may be off, relative

PROVEN, LIMIT, CRASHED = Status.OPTIMAL.value, Status.TIME_LIMIT.value, "crashed"
NOT_INSTALLED, NO_LICENCE = "not installed", "beyond the free licence"
SKIPPED = "skipped after two limits"
APART = (DIRECT_SCIP,)  # in a process of its own, as its library was seen to take ours with it
Way = Callable[[Problem, Options], Solution]


def _by_branch_and_bound(problem: Problem, options: Options) -> Solution:
    return solve(problem, "branch-and-bound", options)


def _finely(problem: Problem, options: Options) -> Solution:
    return _by_branch_and_bound(problem, replace(options, gap=FINE))


def _as_authors(master: Any, problem: Problem, options: Options) -> Solution:
    return solve_as_authors(problem, replace(options, master=master))


WAYS: dict[str, Way] = {
    OURS: _by_branch_and_bound,
    OURS_FINE: _finely,
    AUTHORS_GUROBI: partial(_as_authors, "gurobi"),
    AUTHORS_HIGHS: partial(_as_authors, "highs"),
    DIRECT_SCIP: solve_by_scip,
    DIRECT_GUROBI: solve_by_gurobi,
}


def measure(way: str, problem: Problem, *, gap: float, limit: float) -> Row:
    """Return what a way finds and proves of a problem, and what that takes."""
    warm_up(way)
    options = Options(gap=gap, time_limit=limit, threads=1)
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        found = WAYS[way](problem, options)
    except MissingDependency:
        return _without_figures(way, NOT_INSTALLED)
    except LicenceLimit:
        return _without_figures(way, NO_LICENCE)
    taken = time.perf_counter() - wall, time.process_time() - cpu
    figures = found.report.counters
    none = not np.isfinite(found.loss)
    return {
        "way": way,
        "status": found.status.value,
        "loss": None if none else found.loss,
        "bound": found.bound,
        "gap": None if none else found.gap,
        "seconds": taken[0],
        "cpu_seconds": taken[1],
        "steps": round(figures.get("masters", figures.get("nodes", 0.0))),
        "master_cpu_seconds": figures.get("master_cpu_seconds"),
    }


def measure_down(
    way: str, problem: Problem, floors: Sequence[int], *, gap: float, limit: float
) -> list[Row]:
    """Return a row for each floor, from the highest down.

    Problems become harder on the way down: after two that were not solved in time, the others are
    marked as skipped. Each is solved by itself.
    """
    rows: list[Row] = []
    with ExitStack() as stack:
        solve_one = stack.enter_context(_Apart()).measure if way in APART else measure
        for floor in sorted(floors, reverse=True):
            known = [row["status"] for row in rows]
            if known.count(LIMIT) + known.count(CRASHED) >= 2:
                row = _without_figures(way, SKIPPED)
            elif known and known[-1] in (NOT_INSTALLED, NO_LICENCE):
                row = _without_figures(way, known[-1])
            else:
                row = solve_one(way, problem.at(floor), gap=gap, limit=limit)
            rows.append({"floor": int(floor), "share": floor / problem.max_stability, **row})
    return rows


class _Apart(ExitStack):
    """Another process, in the place of which there is a new one when it has crashed."""

    pool: ProcessPoolExecutor | None = None

    def measure(self, way: str, problem: Problem, *, gap: float, limit: float) -> Row:
        """Return what `measure` does there; of a crash, that it was one."""
        if self.pool is None:
            pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"))
            self.pool = self.enter_context(pool)
        try:
            return self.pool.submit(measure, way, problem, gap=gap, limit=limit).result()
        except BrokenProcessPool:
            self.pool = None
            return _without_figures(way, CRASHED)


def contradictions(rows: Iterable[Row], key: Callable[[Row], Hashable]) -> list[tuple[Row, Row]]:
    """Return pairs of rows of the same problem where the bound of one rules the other's loss out.

    There should be none: a bound holds for every selection.
    """
    problems: dict[Hashable, list[Row]] = {}
    for row in rows:
        if row["loss"] is not None or row["bound"] is not None:
            problems.setdefault(key(row), []).append(row)
    return [
        (one, other)
        for own in problems.values()
        for one, other in permutations(own, 2)
        if one["bound"] is not None
        and other["loss"] is not None
        and one["bound"] > other["loss"] * (1 + ROUNDING)
    ]


def _without_figures(way: str, status: str) -> Row:
    names = ("loss", "bound", "gap", "seconds", "cpu_seconds", "steps", "master_cpu_seconds")
    return {"way": way, "status": status, **dict.fromkeys(names)}


@cache
def warm_up(way: str) -> None:
    """Load and compile what a way needs on a problem too small to matter, if it is there."""
    rng = np.random.default_rng(0)
    M = rng.standard_normal((60, 30))
    counts = rng.integers(1, 20, 30)
    problem = Problem.from_matrix(M, M @ rng.standard_normal(30), counts, max_rules=5, gamma=0.1)
    try:
        WAYS[way](problem.at(int(0.8 * problem.max_stability)), Options(gap=0.05, time_limit=5.0))
    except (MissingDependency, LicenceLimit):
        return
