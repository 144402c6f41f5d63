"""What re-use between floors brings: the paper's ablation of its Efficient Pareto Method.

The paper draws how many integer programs each of 100 floors needs, with re-use of cuts and
without, and has a table of seconds at four sizes. It names neither data nor settings there, so
these are ours, and the protocol plays no part:

* Rows are generated. The pool is cut to the rules of the largest counts, so that n and m are those
  of the paper. Floors are the first 100 of the sequence E.
* k = 15, as in the paper's other timings. gamma = 0.001 at every size: the paper recommends 0.01 or
  0.001 and has the latter where it varies k. A fixed gamma also makes problems harder as n grows,
  as its times do. At 0.01 and 3,000 rows or more the cutting plane with HiGHS finishes next to no
  floor within the limit, with re-use or without, so nothing could be compared.
* A tolerance of 5 %, to which the paper's experiments were run.

The cutting plane runs with HiGHS and, where it is installed, with Gurobi, as in the paper; each
floor has a limit. A floor that meets it counts with the limit: where that happens without re-use
only, the ratio is a lower bound. Branch and bound has nothing to search at this gamma and
tolerance, so it has a second, harder case: 0.01 and 1 %.

Re-use saves masters and nodes; time is another matter, since a master with many cuts takes longer
than one with few. So both are counted. Floors that the relaxed master proves have no master at all.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

from mossrules.exceptions import LicenceLimit, MissingDependency
from mossrules.frontier import Frontier, FrontierPoint, epsilon_sequence, solve_frontier
from mossrules.solver import Options, Problem, Status
from mossrules.solver.options import Master, Method
from mossrules.statistics import Statistics
from research.paper.authors import TOLERANCE
from research.paper.drawing import PALETTE, Figure, finish, new_figure
from research.paper.framework import Experiment, ExperimentContext, Presentation, Row, TableOf
from research.paper.generated import COLUMNS, generated_statistics
from research.paper.solvers import NO_LICENCE, NOT_INSTALLED, contradictions

__all__ = [
    "CASES",
    "EXPERIMENT",
    "SIZES",
    "WITH",
    "WITHOUT",
    "Case",
    "Settings",
    "Size",
    "meaning",
    "solve_case",
    "steps_of",
    "warm_up",
]

WITH, WITHOUT = "with", "without"


@dataclass(frozen=True)
class Size:
    """A row of the paper's table: rows, rules, and its seconds with and without re-use."""

    n: int
    m: int
    with_reuse: float
    without: float

    @property
    def name(self) -> str:
        """The size as it is written in tables."""
        return f"{self.n} x {self.m}"


@dataclass(frozen=True)
class Case:
    """A method and what it is asked for."""

    name: str
    method: Method
    gap: float = TOLERANCE
    gamma: float = 1e-3
    master: Master = "highs"


SIZES = (
    Size(1_000, 500, 13, 26),
    Size(3_000, 600, 65, 310),
    Size(5_000, 500, 58, 552),
    Size(8_000, 400, 545, 3_312),
)
CASES = (
    Case("branch and bound", "branch-and-bound"),
    Case("branch and bound, harder", "branch-and-bound", gap=0.01, gamma=0.01),
    Case("cutting plane, Gurobi", "cutting-plane", master="gurobi"),
    Case("cutting plane, HiGHS", "cutting-plane"),
)


@dataclass(frozen=True)
class Settings:
    """What is run."""

    sizes: tuple[str, ...] = tuple(size.name for size in SIZES)
    cases: tuple[str, ...] = tuple(case.name for case in CASES)
    floors: int = 100
    max_rules: int = 15
    seconds: float = 20.0  # for each floor
    n_trees: int = 500
    seed: int = 0


def tasks(settings: Settings) -> list[str]:
    """Return all combinations of a case and a size."""
    return list(_combinations(settings))


def run(settings: Settings, task: str, context: ExperimentContext) -> list[Row]:
    """Return one row for each floor with re-use, and one without."""
    size, case = _combinations(settings)[task]
    statistics = generated_statistics(
        size.n, size.m, n_trees=settings.n_trees, seed=settings.seed, n_jobs=context.jobs
    )
    shared = {"size": size.name, "case": case.name}
    rows: list[Row] = []
    for reuse in (WITH, WITHOUT):
        try:
            warm_up(case)
            wall, cpu = time.perf_counter(), time.process_time()
            frontier = solve_case(
                statistics,
                case,
                reuse=reuse == WITH,
                max_rules=settings.max_rules,
                floors=settings.floors,
                limit=settings.seconds,
            )
        except MissingDependency:
            return [{**shared, "status": NOT_INSTALLED}]
        except LicenceLimit:
            return [{**shared, "status": NO_LICENCE}]
        taken = {"seconds": time.perf_counter() - wall, "cpu_seconds": time.process_time() - cpu}
        rows += [{**shared, "reuse": reuse, **_floor(entry), **taken} for entry in frontier.entries]
    return rows


def _combinations(settings: Settings) -> dict[str, tuple[Size, Case]]:
    sizes = [size for size in SIZES if size.name in settings.sizes]
    cases = [case for case in CASES if case.name in settings.cases]
    return {f"{case.name}, {size.name}": (size, case) for case, size in product(cases, sizes)}


def _floor(entry: FrontierPoint) -> Row:
    solution = entry.solution
    return {
        "floor": int(entry.floor),
        "status": solution.status.value,
        "loss": solution.loss,
        "bound": solution.bound,
        "gap": solution.gap,
        "steps": steps_of([entry]),
        "floor_seconds": solution.report.seconds,
    }


# --- one frontier ---------------------------------------------------------------------------------


def solve_case(
    statistics: Statistics,
    case: Case,
    *,
    reuse: bool,
    max_rules: int,
    floors: int,
    limit: float,
) -> Frontier:
    """Solve the first floors of E on one thread, or all of them where E is shorter."""
    problem = Problem(statistics, max_rules=max_rules, gamma=case.gamma)
    options = Options(gap=case.gap, time_limit=limit, master=case.master, threads=1)
    epsilons = epsilon_sequence(statistics.counts, max_rules)[:floors]
    return solve_frontier(problem, epsilons, case.method, options, reuse=reuse)


@cache
def warm_up(case: Case) -> None:
    """Load and compile what a case needs, with and without re-use, on too little to matter."""
    statistics = generated_statistics(300, 30, n_trees=20, n_jobs=1)
    for reuse in (True, False):
        solve_case(statistics, case, reuse=reuse, max_rules=5, floors=3, limit=5.0)


def steps_of(entries: Sequence[FrontierPoint]) -> int:
    """Return the masters of the cutting plane or the nodes of branch and bound, of all floors."""
    figures = [entry.solution.report.counters for entry in entries]
    return round(sum(each.get("masters", 0.0) + each.get("nodes", 0.0) for each in figures))


def meaning(cut_off: Mapping[str, int]) -> str:
    """Say what a ratio of times is worth when floors were cut off."""
    if cut_off[WITH]:
        return "uncertain"
    return "at least" if cut_off[WITHOUT] else "measured"


# --- showing --------------------------------------------------------------------------------------


def present(settings: Settings, rows: Sequence[Row]) -> Presentation:
    """Return times and steps with re-use and without, beside the paper's times."""
    solved = [row for row in rows if "reuse" in row]
    pairs = sorted(_combinations(settings).values(), key=lambda pair: SIZES.index(pair[0]))
    lines = [
        _line(size, case, [row for row in rows if _is_of(row, size, case)]) for size, case in pairs
    ]
    found = contradictions(solved, lambda row: (row["size"], row["case"], row["floor"]))
    asked = [case for case in CASES if case.name in settings.cases]
    notes = [
        (
            f"The first {settings.floors} floors of E, k = {settings.max_rules}, one thread, "
            f"{settings.seconds:g} wall seconds for a floor; rows are generated ({COLUMNS} "
            "columns). Steps are integer programs of the cutting plane or nodes of branch and "
            "bound; a floor that the relaxed program proves has none."
        ),
        (
            "`ratio` is of CPU seconds, `at least` what it says where floors without re-use were "
            "cut off, and `uncertain` where floors with re-use were. The paper's figures are of "
            "other data and another machine: compare ratios, not seconds."
        ),
        *(f"{case.name}: to {case.gap:.0%} at gamma = {case.gamma:g}." for case in asked),
        f"{len(found)} contradictions between bounds of one run and losses of the other.",
    ]
    return Presentation(
        [TableOf("With re-use and without", lines, notes)],
        {"epm": lambda: draw(settings, solved)} if solved else {},
    )


def _is_of(row: Row, size: Size, case: Case) -> bool:
    return (row["size"], row["case"]) == (size.name, case.name)


def _line(size: Size, case: Case, rows: Sequence[Row]) -> Row:
    line: Row = {"n x m": size.name, "method": case.name}
    printed = {
        "paper: with, s": size.with_reuse,
        "paper: without, s": size.without,
        "paper: ratio": f"{size.without / size.with_reuse:.1f}",
    }
    runs = {reuse: [row for row in rows if row.get("reuse") == reuse] for reuse in (WITH, WITHOUT)}
    if not all(runs.values()):
        return {**line, "ratio": rows[0]["status"] if rows else "", **printed}
    cut_off = {
        reuse: sum(row["status"] != Status.OPTIMAL.value for row in own)
        for reuse, own in runs.items()
    }
    for reuse, own in runs.items():
        line[f"{reuse}, CPU s"] = own[0]["cpu_seconds"]
    ratio = runs[WITHOUT][0]["cpu_seconds"] / runs[WITH][0]["cpu_seconds"]
    worth = meaning(cut_off)
    line["ratio"] = f"{'' if worth == 'measured' else worth + ' '}{ratio:.1f}"
    for reuse, own in runs.items():
        line[f"steps {reuse}"] = sum(row["steps"] for row in own)
    for reuse, number in cut_off.items():
        line[f"cut off {reuse}"] = f"{number} of {len(runs[reuse])}"
    return {**line, **printed}


def draw(settings: Settings, rows: Sequence[Row]) -> Figure:
    """Draw the steps of each floor: sizes side by side, methods below each other."""
    there = list(dict.fromkeys(row["case"] for row in rows))
    sizes = [size for size in settings.sizes if any(row["size"] == size for row in rows)]
    # One cutting plane is enough, Gurobi's as in the paper; branch and bound where it searches.
    cutting = [name for name in there if name.startswith("cutting")][:1]
    cases = [*cutting, *[name for name in there if name.startswith("branch")][-1:]]
    shape = (len(cases), len(sizes))
    figure = new_figure(1.0 + 3.4 * shape[1], 0.6 + 2.8 * shape[0])
    styles: dict[str, dict[str, Any]] = {
        WITHOUT: {"color": PALETTE["vermillion"], "marker": "^", "label": "each floor by itself"},
        WITH: {"color": PALETTE["blue"], "marker": "o", "label": "with re-use"},
    }
    for place, (case, size) in enumerate(product(cases, sizes), 1):
        ax = figure.add_subplot(*shape, place)
        for reuse, style in styles.items():
            own = [
                row
                for row in rows
                if (row["case"], row["size"], row["reuse"]) == (case, size, reuse)
            ]
            steps = [row["steps"] for row in own]
            ax.plot(range(1, len(own) + 1), steps, "-", linewidth=0.8, markersize=2.5, **style)
        ax.set_title(f"{case}, {size}", fontsize=9)
        unit = "integer programs" if case.startswith("cutting") else "nodes"
        finish(ax, x="place of the floor in E", y=f"{unit} of a floor")
    return figure


EXPERIMENT = Experiment(
    "epm",
    "What floors learn from each other",
    "Integer programs, nodes and seconds of 100 floors, with re-use between them and without.",
    Settings(),
    Settings(sizes=(SIZES[0].name,), floors=10, seconds=2.0),
    tasks,
    run,
    present,
)
