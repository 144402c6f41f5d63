"""What re-use between floors brings: the paper's ablation of its Efficient Pareto Method.

The paper (table "Timing results for ablation study") solves 100 floors with and without re-use at
four sizes. It names neither data nor settings there, so these are ours:

* Rows are generated. The pool is that of our forest, cut to the rules of the largest counts, so
  that n and m are those of the paper. Floors are the first 100 of the sequence E.
* k = 15, as in the paper's other timings. gamma = 0.001 at every size: the paper recommends 0.01 or
  0.001 and has the latter where it varies k. A fixed gamma also makes problems harder as n grows,
  as its times do. At 0.01 and 3,000 rows or more the cutting plane with HiGHS finishes next to no
  floor within the limit, with re-use or without, so nothing could be compared.
* A tolerance of 5 %, to which the paper's experiments were run.

The cutting plane runs with HiGHS and, where it is installed, with Gurobi, as in the paper; each
floor has a limit, chosen so that all takes less than half an hour. A floor that meets it counts
with the limit: where that happens without re-use only, the ratio is a lower bound. Branch and bound
has nothing to search at this gamma and tolerance, so it has a second, harder case: 0.01 and 1 %, as
in the subject `frontier`.

Re-use saves masters and nodes; time is another matter, since a master with many cuts takes longer
than one with few. So both are counted. Floors that the relaxed master proves have no master at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import geometric_mean

from benchmarks._data import warm_up
from benchmarks._generated import COLUMNS, generated_pool
from benchmarks._harness import Bound, Figure, Report, Row
from benchmarks._partial import Partial, say
from benchmarks._pools import MAX_RULES, N_TREES, Pool
from benchmarks.authors_frontier import has_gurobi
from benchmarks.authors_solver import TOLERANCE
from benchmarks.frontier import BRIEF, search_of, take_turns, warm_up_frontier
from benchmarks.solver import show
from mossrules.frontier import Frontier, solve_frontier
from mossrules.solver import Options, Problem
from mossrules.solver.options import Master, Method

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


@dataclass(frozen=True)
class Settings:
    """What is measured and for how long."""

    sizes: tuple[Size, ...] = (
        Size(1_000, 500, 13, 26),
        Size(3_000, 600, 65, 310),
        Size(5_000, 500, 58, 552),
        Size(8_000, 400, 545, 3_312),
    )
    cases: tuple[Case, ...] = (
        Case("cutting plane, HiGHS", "cutting-plane"),
        Case("cutting plane, Gurobi", "cutting-plane", master="gurobi"),
        Case("branch and bound", "branch-and-bound"),
        Case("branch and bound, harder", "branch-and-bound", gap=0.01, gamma=0.01),
    )
    points: int = 100
    limit: float = 3.0  # seconds for one floor
    repeats: int = 3  # of runs that are brief


QUICK = Settings(sizes=Settings().sizes[:1], points=10, limit=2.0, repeats=1)


def run(*, quick: bool, folder: Path, settings: Settings | None = None) -> Report:
    """Measure size by size, storing each when it is finished, then sum up."""
    settings = settings or (QUICK if quick else Settings())
    cases = [case for case in settings.cases if case.master != "gurobi" or has_gurobi()]
    warm_up()
    warm_up_frontier()
    warm_up_cases(cases)
    stored = Partial(folder / f"ablation{'-quick' if quick else ''}-partial.json", asdict(settings))
    rows = []
    for size in settings.sizes:
        for case in cases:
            part = f"{size.name}, {case.name}"
            row = stored.get(part)
            if row is None:
                row = measure(generated_pool(size.n, size.m), size, case, settings)
                stored.put(part, row)
            rows.append(row)
            say("  ".join(f"{key} {show(value)}" for key, value in row.items()))
    report = Report(
        "ablation",
        settings={"k": MAX_RULES, "trees": N_TREES, "columns": COLUMNS, **asdict(settings)},
        figures=[*speed_figures(rows, cases), *step_figures(rows, cases), conflict_figure(rows)],
        tables={"re-use": rows, "the paper's": paper_table(settings)},
        notes=notes(settings),
    )
    stored.delete()
    return report


def warm_up_cases(cases: Sequence[Case]) -> None:
    """Load the masters, with and without re-use, on a problem too small to matter."""
    pool = generated_pool(300, 30, n_trees=20)
    for case in cases:
        for reuse in (True, False):
            solve_case(pool, case, reuse, points=3, limit=5.0)


# --- one size and one method --------------------------------------------------------------------


def measure(pool: Pool, size: Size, case: Case, settings: Settings) -> Row:
    """Return the times, steps and gaps of one method at one size, with re-use and without."""
    task = partial(solve_case, pool, case, points=settings.points, limit=settings.limit)
    taken, found = take_turns(
        {WITH: partial(task, reuse=True), WITHOUT: partial(task, reuse=False)}, settings.repeats
    )
    steps = {name: steps_of(frontier) for name, frontier in found.items()}
    cut_off = {name: search_of(frontier)["open"] for name, frontier in found.items()}
    return {
        "size": size.name,
        "method": case.name,
        "floors": len(found[WITH].entries),
        "with s": taken[WITH],
        "without s": taken[WITHOUT],
        "ratio": taken[WITHOUT] / taken[WITH],
        "which is": meaning(cut_off),
        "steps with": steps[WITH],
        "steps without": steps[WITHOUT],
        "re-used": search_of(found[WITH])["re-used"],
        "cut off with": cut_off[WITH],
        "cut off without": cut_off[WITHOUT],
        "gap with": found[WITH].worst_gap,
        "gap without": found[WITHOUT].worst_gap,
        "paper's ratio": size.without / size.with_reuse,
        "agree": agree(found[WITH], found[WITHOUT]),
    }


def solve_case(pool: Pool, case: Case, reuse: bool, *, points: int, limit: float) -> Frontier:
    """Solve the first floors of E on one thread, or all of them where E is shorter."""
    problem = Problem(pool.statistics, max_rules=MAX_RULES, gamma=case.gamma)
    options = Options(gap=case.gap, time_limit=limit, master=case.master, threads=1)
    return solve_frontier(problem, pool.floors[:points], case.method, options, reuse=reuse)


def steps_of(frontier: Frontier) -> int:
    """Return the masters of the cutting plane or the nodes of branch and bound, of all floors."""
    figures = [entry.solution.report.figures for entry in frontier.entries]
    return round(sum(each.get("masters", 0.0) + each.get("nodes", 0.0) for each in figures))


def meaning(cut_off: dict[str, int]) -> str:
    """Say what a ratio of times is worth when floors were cut off."""
    if cut_off[WITH]:
        return "uncertain"
    return "at least" if cut_off[WITHOUT] else "measured"


def agree(one: Frontier, other: Frontier) -> bool:
    """Tell whether at no floor a bound of one run rules out what the other found."""
    rounding = 1 + 1e-9
    pairs = [(a.solution, b.solution) for a, b in zip(one.entries, other.entries, strict=True)]
    return all(a.bound <= b.loss * rounding and b.bound <= a.loss * rounding for a, b in pairs)


# --- figures ------------------------------------------------------------------------------------


def speed_figures(rows: Sequence[Row], cases: Sequence[Case]) -> list[Figure]:
    """Return how many times faster each method is with re-use, over all sizes."""
    figures = []
    for case in cases:
        chosen = [row for row in rows if row["method"] == case.name]
        cut_off = any(row["which is"] != "measured" for row in chosen)
        figures.append(
            Figure(
                f"speed by re-use, {case.name}{' (floors cut off)' if cut_off else ''}",
                geometric_mean(row["ratio"] for row in chosen),
                "times",
                parts={row["size"]: f"{row['which is']} {row['ratio']:.3g}" for row in chosen},
            )
        )
    return figures


def step_figures(rows: Sequence[Row], cases: Sequence[Case]) -> list[Figure]:
    """Return how many times fewer masters or nodes re-use needs, over all sizes.

    A search may need none at all, so one is added on both sides.
    """
    return [
        Figure(
            f"fewer {'masters' if case.method == 'cutting-plane' else 'nodes'}, {case.name}",
            geometric_mean(
                (row["steps without"] + 1) / (row["steps with"] + 1)
                for row in rows
                if row["method"] == case.name
            ),
            "times",
        )
        for case in cases
    ]


def conflict_figure(rows: Sequence[Row]) -> Figure:
    """Return how often runs with re-use and without contradict each other."""
    conflicts = [f"{row['size']}, {row['method']}" for row in rows if not row["agree"]]
    return Figure(
        "runs where one's bound rules out what the other found",
        float(len(conflicts)),
        asked=Bound("<=", 0),
        parts={"runs": conflicts},
    )


def paper_table(settings: Settings) -> list[Row]:
    """Return the paper's own figures."""
    return [
        {
            "size": size.name,
            "with s": size.with_reuse,
            "without s": size.without,
            "ratio": size.without / size.with_reuse,
        }
        for size in settings.sizes
    ]


def notes(settings: Settings) -> list[str]:
    """Return what to know before reading the figures."""
    lines = [
        (
            f"The first {settings.points} floors of E (fewer where E is shorter), k = {MAX_RULES}, "
            f"one thread, {settings.limit:g} s for a floor. Steps are masters of the cutting plane "
            f"or nodes of branch and bound. Where both sides take less than {BRIEF:g} "
            f"seconds: the best of {settings.repeats}."
        ),
        (
            "A ratio is `at least` what it says where floors without re-use were cut off, and "
            "`uncertain` where floors with re-use were. The paper's figures are of other data and "
            "another machine: compare ratios, not seconds."
        ),
        *(f"{case.name}: to {case.gap:.0%} at gamma = {case.gamma:g}." for case in settings.cases),
    ]
    if not has_gurobi():
        lines.append("Gurobi is not installed, so its case is left out.")
    return lines
