"""Limits of time and memory: by how much they are passed, and what is said where memory ends."""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mossrules import MossRegressor
from mossrules.estimators import candidates_for
from mossrules.frontier import solve_frontier
from mossrules.solver import LinearConstraints, Options, Problem, near_optimal, solve
from research.harness.processes import run_python
from research.quality._record import Cell, Record
from support.cases import hard_problem

__all__ = ["arguments", "run"]

SECONDS = (0.05, 0.2, 1.0)
LATE = 1.0  # seconds over a limit, less the share of them in which the process did not run
STUCK = 10.0  # seconds over a limit by the clock: no other programs are an excuse for these
SCRIPT = "research.quality._memory"
OPEN_NODES = (1_000, 4_000, 16_000)
NODE_BYTES = 2_048  # of an open node at most: half a kilobyte, and room for as many again
ROWS = (300_000, 1_200_000)
ROW_BYTES = 100  # docs/bigdata.md: 84 to 122 of a row of 20 columns, which has 160 as numbers
NO_ROOM = "cannot allocate memory for thread-local data"
STARVED = (20, 60, 120, 250, 500)  # mebibytes
Way = Callable[[Problem, float], tuple[float, float, str]]  # loss, bound, status


# --- time -----------------------------------------------------------------------------------------


def by(method: Any, **more: Any) -> Way:
    """Return a way to solve a problem in so many seconds."""

    def way(problem: Problem, seconds: float) -> tuple[float, float, str]:
        found = solve(problem, method, Options(gap=0.0, time_limit=seconds, **more))
        return found.loss, found.bound, found.status.value

    return way


def frontier(problem: Problem, seconds: float) -> tuple[float, float, str]:
    """Solve at many floors; the last, of none, is the problem itself."""
    floors = [0, *range(60, 260, 20)]
    found = solve_frontier(problem, floors, options=Options(gap=0.0), time_budget=seconds)
    for entry in found.entries:
        check(entry.solution.loss, entry.solution.bound)
    last = found.entries[-1].solution
    return last.loss, last.bound, last.status.value


def pool(problem: Problem, seconds: float) -> tuple[float, float, str]:
    """List near-optimal selections."""
    found = near_optimal(problem, 0.05, 100, Options(time_limit=seconds))
    best = float(min(found.losses, default=math.inf))
    return best, -math.inf, found.status.value


def limited(problem: Problem, seconds: float) -> tuple[float, float, str]:
    """Solve with a limit on each third of the rules; its optimum is no better than without."""
    thirds = np.repeat(np.eye(3), -(-problem.m // 3), axis=1)[:, : problem.m]
    limits = LinearConstraints(thirds, np.full(3, problem.max_rules / 2))
    harder = Problem(
        problem.statistics, max_rules=problem.max_rules, gamma=problem.gamma, constraints=limits
    )
    found = solve(harder, options=Options(gap=0.0, time_limit=seconds))
    check(found.loss, found.bound)
    return found.loss, -math.inf, found.status.value  # its bound is of another problem


def fit(problem: Problem, seconds: float) -> tuple[float, float, str]:
    """Choose among the candidates of a table, which were found before."""
    model = MossRegressor(15, stability=0.5, gamma=1.0, gap=0.0, time_limit=seconds)
    found = model.fit_candidates(CANDIDATES[problem.m], target="y").solution_
    check(found.loss, found.bound)
    return math.inf, -math.inf, found.status.value


def table_candidates() -> Any:
    """Return candidates that are hard to choose from."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 12))
    y = X @ rng.normal(size=12) + rng.normal(size=400)
    return candidates_for(X, y, n_trees=200, random_state=0)


CANDIDATES: dict[int, Any] = {}
WAYS: Mapping[str, Way] = {
    "branch and bound": by("branch-and-bound"),
    "branch and bound, two threads": by("branch-and-bound", threads=2),
    "branch and bound, under limits": limited,
    "cutting plane": by("cutting-plane"),
    "coordinate descent": by("coordinate-descent"),
    "frontier, for all floors": frontier,
    "list of near-optimal selections": pool,
    "fit, to candidates": fit,
}


def check(loss: float, bound: float) -> None:
    """Refuse a bound above the loss that was found."""
    if bound > loss * (1.0 + 1e-9):
        raise AssertionError(f"the bound {bound!r} is above the loss {loss!r}")


@dataclass
class Times:
    """What was seen of one way."""

    over: list[float] = field(default_factory=list)  # seconds, less what others had of the core
    by_clock: list[float] = field(default_factory=list)  # seconds over, with all that
    ended: set[str] = field(default_factory=set)
    defects: list[str] = field(default_factory=list)

    def row(self, name: str) -> dict[str, Cell]:
        """Return it for the table."""
        return {
            "Limit": name,
            "trials": len(self.over),
            "seconds over, median": round(max(0.0, float(np.median(self.over))), 3),
            "worst": round(max(0.0, *self.over), 3),
            "worst by the clock": round(max(0.0, *self.by_clock), 3),
            "ended": ", ".join(sorted(self.ended)),
        }


def try_time(count: int, seed: int) -> tuple[list[dict[str, Cell]], list[str]]:
    """Return a row for each way, and what is wrong."""
    times = {name: Times() for name in WAYS}
    defects = []
    for number in range(count):
        problem = hard_problem(m=100 + 20 * number, k=12, seed=seed + number)
        CANDIDATES[problem.m] = table_candidates()
        losses, bounds = {}, {}
        for name, way in WAYS.items():
            try_way(way, problem, SECONDS[0], Times())  # compiled and loaded
            for limit in SECONDS:
                losses[name], bounds[name] = try_way(way, problem, limit, times[name])
        best = min(losses.values())
        wrong = [name for name, bound in bounds.items() if bound > best * (1.0 + 1e-9)]
        defects += [f"{name}: a bound above the loss of another method" for name in wrong]
    defects += [f"{name}: {what}" for name, each in times.items() for what in each.defects]
    return [each.row(name) for name, each in times.items()], defects


def try_way(way: Way, problem: Problem, limit: float, times: Times) -> tuple[float, float]:
    """Return the loss and the bound that a way finds; note its time, and what is wrong."""
    begun, used = time.monotonic(), time.process_time()
    try:
        loss, bound, status = way(problem, limit)
    except Exception as error:  # noqa: BLE001  whatever it is, it is a defect
        loss, bound, status = math.inf, -math.inf, "failed"
        times.defects.append(f"with a limit of {limit:g} s: {error!r}")
    took, used = time.monotonic() - begun, time.process_time() - used
    over, by_clock = (took - limit) * min(1.0, used / took), took - limit
    times.over.append(over)
    times.by_clock.append(by_clock)
    times.ended.add(status)
    if over > LATE or by_clock > STUCK:
        times.defects.append(
            f"{over:.2f} s over a limit of {limit:g} s, {by_clock:.2f} s by the clock"
        )
    return loss, bound


# --- memory ---------------------------------------------------------------------------------------


def measured(kind: str, number: int, *more: Any) -> dict[str, Any]:
    """Return what a process of its own took."""
    done = _process(kind, number, *more)
    if done.returncode:
        raise AssertionError(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _process(kind: str, number: int, *more: Any) -> subprocess.CompletedProcess[str]:
    return run_python("-m", SCRIPT, kind, str(number), *map(str, more), check=False)


def try_memory(folder: Path) -> tuple[list[str], list[str]]:
    """Return sentences on what memory was taken, and what is wrong."""
    said, defects = [], []
    for part in (try_nodes, try_files, try_starving):
        try:
            sentences, wrong = part(folder)
        except Exception as error:  # noqa: BLE001  a process failed, say; others are tried still
            last = (str(error).strip().splitlines() or [repr(error)])[-1]
            sentences, wrong = [], [f"{part.__name__}: {last}"]
        said += sentences
        defects += wrong
    return said, defects


def try_nodes(_folder: Path) -> tuple[list[str], list[str]]:
    """Search with limits of open nodes."""
    said, defects = [], []
    for most in OPEN_NODES:
        found = measured("nodes", most)
        each = found["bytes"] / found["open"]
        said.append(
            f"A search with at most {most:,} open nodes ended with {found['open']:,.0f} "
            f"({found['status']}), and took {each:,.0f} bytes for each."
        )
        if each > NODE_BYTES or found["open"] > 1.1 * most:
            defects.append(said[-1])
    return said, defects


def try_files(folder: Path) -> tuple[list[str], list[str]]:
    """Learn from a file, and from one that is larger."""
    peaks = []
    for rows in ROWS:
        path = folder / f"{rows}.parquet"
        measured("write", rows, path)
        peaks.append(measured("file", rows, path)["bytes"])
    each = (peaks[1] - peaks[0]) / (ROWS[1] - ROWS[0])
    said = (
        f"Learning from Parquet files of 20 columns took {peaks[0] / 1e6:,.0f} MB for {ROWS[0]:,} "
        f"rows and {peaks[1] / 1e6:,.0f} MB for {ROWS[1]:,}: {each:.0f} bytes for each further "
        "row, whose numbers alone take 160."
    )
    return [said], [said] * (each > ROW_BYTES)


def try_starving(folder: Path) -> tuple[list[str], list[str]]:
    """Run a command with too little memory; it ends in order."""
    path = folder / "starved.parquet"
    measured("write", ROWS[1], path)
    ends, defects = [], []
    for mebibytes in STARVED:
        done = _process("starved", mebibytes, path)
        lines = done.stderr.strip().splitlines()
        refused = done.returncode == 1 and len(lines) == 1 and lines[0].startswith("error: ")
        ends.append("refused" if refused else "finished")
        if not refused and NO_ROOM in done.stderr:
            ends[-1] = f"ended by the C library ({NO_ROOM}), which no program can prevent"
        elif not refused and done.returncode:
            defects.append(f"{mebibytes} MiB: status {done.returncode}: {' / '.join(lines[-3:])}")
    listed = ", ".join(f"{each} MiB: {end}" for each, end in zip(STARVED, ends, strict=True))
    said = f"`fit` with no more memory than this beyond what it has when it is loaded: {listed}."
    return [said], defects


# --- the run --------------------------------------------------------------------------------------


def run(count: int, seed: int) -> Record:
    """Try all limits on so many problems."""
    warnings.simplefilter("ignore")
    rows, late = try_time(count, seed)
    with tempfile.TemporaryDirectory() as name:
        notes, wrong = try_memory(Path(name))
    trials = sum(int(row["trials"]) for row in rows)
    worst = max(float(row["worst"]) for row in rows)
    defects = late + wrong
    return Record(
        title="Limits of time and memory",
        asked=(
            f"A search ends within a second of its limit of {SECONDS[0]:g} to "
            f"{SECONDS[-1]:g} seconds, with bounds that hold; memory is what the documentation "
            "says; and where there is none left, that is said in one sentence."
        ),
        seen=(
            f"{trials:,} searches, at worst {worst:.2f} s over the limit; {len(OPEN_NODES)} limits "
            f"of nodes, {len(ROWS)} large files, {len(STARVED)} limits of memory; "
            f"{len(defects):,} defects"
        ),
        passed=not defects,
        command=f"python -m research.quality limits {count} --seed {seed}",
        table=rows,
        notes=[
            *(f"Defect: {each}" for each in defects),
            (
                "'seconds over' are those by the clock times the share of them in which the "
                "process ran, as other programs had the cores too. A search is late "
                f"{LATE:g} second over its limit by this measure, or {STUCK:g} by the clock, "
                "as one that waits for something does not run."
            ),
            *notes,
        ],
    )


def arguments(parser: argparse.ArgumentParser) -> None:
    """Say what may be asked for."""
    parser.add_argument("count", type=int, nargs="?", default=3, help="problems")
    parser.add_argument("--seed", type=int, default=0)
