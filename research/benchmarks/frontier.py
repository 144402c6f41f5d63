"""Frontiers of the paper's tables: how long ours takes, and how far the authors' way comes.

Ours solves the first 50 floors of the sequence E to 1 %, on one thread and with two floors at a
time. The authors' way (Algorithm 2: down from the largest floor, all cuts kept) solves the same
floors to 5 % and has ten times as long as ours took on one thread, but no more than a minute.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import geometric_mean, median

from mossrules.frontier import Frontier, solve_frontier
from mossrules.solver import Options, Problem, Status
from research.benchmarks._data import OPENML, warm_up
from research.benchmarks._pools import DATASETS, MAX_RULES, N_TREES, Pool, generated_pool, read_pool
from research.benchmarks.authors import MOST_CUTS, TOLERANCE, AuthorsResult, has_gurobi, run_authors
from research.benchmarks.solver import SHORT, agree, show, size_of
from research.harness.measuring import interleave
from research.harness.records import resume
from research.harness.reports import Figure, Report, Row, Skipped, conflict_figure, say

GAP = 0.01
ALLOWANCE = 10.0  # how many times our time the authors' way has
QUICKLY, SOON = 5.0, 30.0  # seconds within which tables are counted
BRIEF = 3.0  # seconds below which a frontier is solved again


@dataclass(frozen=True)
class Settings:
    """What is measured and for how long."""

    datasets: tuple[str, ...] = ()  # none named: all that are there, those of `solver` first
    points: int = 50
    budget: float = 30.0  # seconds for all floors of a table
    authors_limit: float = 60.0  # seconds at most, whatever ours took
    authors_threads: int = 0  # Gurobi's default: all cores
    repeats: int = 3  # of frontiers that are brief


QUICK = Settings(
    datasets=("690_visualizing_galaxy", "547_no2"),
    points=10,
    budget=5.0,
    authors_limit=5.0,
    repeats=1,
)


def run(*, quick: bool, folder: Path, settings: Settings | None = None) -> Report:
    """Measure table by table, storing each when it is finished, then sum up."""
    settings = settings or (QUICK if quick else Settings())
    names = settings.datasets or all_tables()
    warm_up()
    warm_up_frontier()
    record = resume(folder, "frontier", asdict(settings), quick=quick)
    rows = []
    for name in names:
        rows += record.once(name, partial(measure_named, name, settings))
        say("  ".join(f"{key} {show(value)}" for key, value in rows[-1].items()))
    report = Report(
        "frontier",
        settings={"k": MAX_RULES, "trees": N_TREES, "gap": GAP, **asdict(settings)},
        figures=[*our_figures(rows), *their_figures(rows)],
        tables={"tables": rows},
        notes=notes(settings),
    )
    record.delete()
    return report


def all_tables() -> tuple[str, ...]:
    """Return the names of all tables of the index, those of the subject `solver` first."""
    path = OPENML / "INDEX.csv"
    if not path.exists():
        raise Skipped(f"{path.name} is not in {path.parent}")
    with path.open(encoding="utf-8", newline="") as file:
        names = [f"{row['id']}_{row['name']}" for row in csv.DictReader(file)]
    return (*DATASETS, *(name for name in names if name not in DATASETS))


def warm_up_frontier() -> None:
    """Compile what a frontier needs on a problem too small to matter."""
    pool = generated_pool(300, 30, n_trees=20)
    problem = Problem(pool.statistics, max_rules=5, gamma=0.1)
    for n_jobs in (1, 2):
        solve_frontier(problem, None, "branch-and-bound", Options(gap=1e-4), n_jobs=n_jobs)


# --- one table ----------------------------------------------------------------------------------


def measure_named(name: str, settings: Settings) -> list[Row]:
    """Return the row of a table."""
    return [measure_table(read_pool(name), settings)]


def measure_table(pool: Pool, settings: Settings) -> Row:
    """Return the times of a table's frontier and how many floors the authors' way finishes."""
    problem = Problem(pool.statistics, max_rules=MAX_RULES, gamma=pool.gamma)
    floors = pool.floors[: settings.points]
    ours = partial(
        solve_frontier,
        problem,
        floors,
        "branch-and-bound",
        Options(gap=GAP, time_limit=settings.budget),
        time_budget=settings.budget,
    )
    taken, found = take_turns(
        {"1 job": partial(ours, n_jobs=1), "2 jobs": partial(ours, n_jobs=2)}, settings.repeats
    )
    limit = min(ALLOWANCE * taken["1 job"], settings.authors_limit)
    theirs = run_authors(problem, floors, limit, settings.authors_threads)
    done = sum(result.finished for result in theirs)
    return {
        "dataset": pool.name,
        **size_of(pool),
        "floors": len(floors),
        "1 job s": taken["1 job"],
        "2 jobs s": taken["2 jobs"],
        **search_of(found["1 job"]),
        "2 jobs open": search_of(found["2 jobs"])["open"],
        "limit s": limit,
        "authors s": sum(result.seconds for result in theirs),
        "authors done": done,
        "ended by": reason_to_end(theirs, len(floors), taken["1 job"], settings),
        "agree": agree_everywhere(theirs, found["1 job"]),
    }


def take_turns(
    tasks: Mapping[str, Callable[[], Frontier]], repeats: int
) -> tuple[dict[str, float], dict[str, Frontier]]:
    """Return the time of each task and what it found.

    Where all are short, the best of some turns counts: of all tasks or of none, to be fair.
    """
    found: dict[str, Frontier] = {}

    def keep(name: str) -> None:
        found[name] = tasks[name]()

    turns = {name: partial(keep, name) for name in tasks}
    best = interleave(turns, 1)
    again = interleave(turns, repeats - 1) if max(best.values()) < BRIEF else {}
    return {name: min(taken, again.get(name, math.inf)) for name, taken in best.items()}, found


def search_of(frontier: Frontier) -> Row:
    """Return what a frontier says of itself; `re-used` are floors proven without a search."""
    proven = [entry for entry in frontier.entries if entry.solution.status is Status.OPTIMAL]
    figures = [entry.solution.report.counters for entry in frontier.entries]
    return {
        "worst gap": frontier.worst_gap,
        "open": len(frontier.entries) - len(proven),
        "re-used": sum(entry.reused for entry in proven),
        "nodes": round(sum(each.get("nodes", 0.0) for each in figures)),
        "points": len(frontier),
    }


def agree_everywhere(theirs: Sequence[AuthorsResult], ours: Frontier) -> bool:
    """Tell whether at no floor one side's bound rules out what the other found."""
    return all(
        agree(result, entry.solution)
        for result, entry in zip(theirs, ours.entries, strict=False)  # theirs may end early
    )


def reason_to_end(
    theirs: Sequence[AuthorsResult], n_floors: int, ours: float, settings: Settings
) -> str:
    """Say what ended the authors' way: nothing, our time, the cap on it, or Gurobi's free size."""
    if sum(result.finished for result in theirs) == n_floors:
        return ""
    if sum(result.masters for result in theirs) >= MOST_CUTS:
        return "number of cuts"
    if ALLOWANCE * ours > settings.authors_limit:
        return f"cap of {settings.authors_limit:g} s"
    return f"{ALLOWANCE:g} times ours"


# --- figures ------------------------------------------------------------------------------------


def our_figures(rows: Sequence[Row]) -> list[Figure]:
    """Return how long our frontiers take, how much is proven, and what a second thread brings."""
    taken = {row["dataset"]: row["1 job s"] for row in rows}
    slowest = max(taken, key=lambda name: taken[name])
    still_open = {row["dataset"]: row["open"] for row in rows if row["open"]}
    worst = max(rows, key=lambda row: row["worst gap"])
    return [
        *(
            Figure(
                f"tables of {len(rows)} within {limit:g} s, one job",
                float(sum(seconds <= limit for seconds in taken.values())),
                parts={"beyond": [name for name in taken if taken[name] > limit]},
            )
            for limit in (QUICKLY, SOON)
        ),
        Figure("median time of a frontier, one job", median(taken.values()), "s"),
        Figure("longest", taken[slowest], "s", parts={"dataset": slowest}),
        Figure(
            f"floors of {sum(row['floors'] for row in rows)} with more than {GAP:.0%} left",
            float(sum(still_open.values())),
            parts=still_open,
        ),
        Figure("worst gap", 100 * worst["worst gap"], "%", parts={"dataset": worst["dataset"]}),
        Figure(
            "share of floors proven by others, without a search",
            sum(row["re-used"] for row in rows) / sum(row["floors"] for row in rows),
        ),
        *threads_figures(rows),
    ]


def threads_figures(rows: Sequence[Row]) -> list[Figure]:
    """Return how many times faster two floors at a time are: everywhere, and where it matters.

    Where floors stay open both use up the budget, so those tables say nothing of speed.
    """
    proven = [row for row in rows if not row["open"] and not row["2 jobs open"]]
    long = [row for row in proven if row["1 job s"] >= SHORT]
    return [
        Figure(
            f"two jobs against one, {name}",
            geometric_mean(row["1 job s"] / row["2 jobs s"] for row in chosen),
            "times",
            parts={"tables": len(chosen)},
        )
        for name, chosen in (("proven tables", proven), (f"those of {SHORT:g} s or more", long))
        if chosen
    ]


def their_figures(rows: Sequence[Row]) -> list[Figure]:
    """Return how many floors the authors' way finishes, and whether both sides agree."""
    total = sum(row["floors"] for row in rows)
    done = {row["dataset"]: row["authors done"] for row in rows}
    ends = [row["ended by"] for row in rows]
    conflicts = [row["dataset"] for row in rows if not row["agree"]]
    return [
        Figure(
            f"floors of {total} that the authors' way finishes to {TOLERANCE:.0%}",
            float(sum(done.values())),
            parts={**done, "ended by": {end: ends.count(end) for end in sorted(set(ends))}},
        ),
        Figure(
            f"tables of {len(rows)} that it finishes",
            float(sum(row["authors done"] == row["floors"] for row in rows)),
        ),
        conflict_figure("tables", conflicts),
    ]


def notes(settings: Settings) -> list[str]:
    """Return what to know before reading the figures."""
    master = "Gurobi on all cores" if has_gurobi() else "HiGHS, since gurobipy is not installed,"
    return [
        (
            f"Ours: branch and bound at the first {settings.points} floors of E (fewer where E is "
            f"shorter) to {GAP:.0%}, {settings.budget:g} s for all floors of a table; frontiers of "
            f"less than {BRIEF:g} seconds: the best of {settings.repeats}. With a budget of its "
            "own, a table can take no longer, so times of tables with open floors are that budget."
        ),
        (
            f"The authors' way: {master} to {TOLERANCE:.0%}, down from the largest floor, all cuts "
            f"kept, for {ALLOWANCE:g} times our time with one job, and {settings.authors_limit:g} "
            "s at most; it ends at the first floor that it cannot finish. `ended by` says which "
            f"limit bound; {MOST_CUTS} cuts are what the free size of Gurobi allows."
        ),
    ]
