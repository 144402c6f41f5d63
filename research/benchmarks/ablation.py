"""What re-use between floors brings: the paper's ablation of its Efficient Pareto Method.

Cases, sizes and what is known of the paper's are those of `research.paper.efficient_pareto`, which
says why they are what they are; here both runs of a case take turns, and the best of a few counts.
Each floor has a limit, chosen so that all takes less than half an hour.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
from pathlib import Path
from statistics import geometric_mean

from mossrules.frontier import Frontier
from research.benchmarks._data import warm_up
from research.benchmarks._pools import MAX_RULES, N_TREES, Pool, generated_pool
from research.benchmarks.authors import has_gurobi
from research.benchmarks.frontier import BRIEF, search_of, take_turns, warm_up_frontier
from research.benchmarks.solver import show
from research.harness.records import resume
from research.harness.reports import Figure, Report, Row, conflict_figure, say
from research.paper.efficient_pareto import (
    CASES,
    SIZES,
    WITH,
    WITHOUT,
    Case,
    Size,
    meaning,
    solve_case,
    steps_of,
)
from research.paper.efficient_pareto import warm_up as warm_up_case
from research.paper.generated import COLUMNS


@dataclass(frozen=True)
class Settings:
    """What is measured and for how long."""

    sizes: tuple[Size, ...] = SIZES
    cases: tuple[Case, ...] = CASES
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
    for case in cases:
        warm_up_case(case)
    record = resume(folder, "ablation", asdict(settings), quick=quick)
    rows = []
    for size, case in product(settings.sizes, cases):

        def run_case(size: Size = size, case: Case = case) -> list[Row]:
            return [measure(generated_pool(size.n, size.m), size, case, settings)]

        rows += record.once(f"{size.name}, {case.name}", run_case)
        say("  ".join(f"{key} {show(value)}" for key, value in rows[-1].items()))
    conflicts = [f"{row['size']}, {row['method']}" for row in rows if not row["agree"]]
    report = Report(
        "ablation",
        settings={"k": MAX_RULES, "trees": N_TREES, "columns": COLUMNS, **asdict(settings)},
        figures=[
            *speed_figures(rows, cases),
            *step_figures(rows, cases),
            conflict_figure("runs", conflicts),
        ],
        tables={"re-use": rows, "the paper's": paper_table(settings)},
        notes=notes(settings),
    )
    record.delete()
    return report


# --- one size and one method --------------------------------------------------------------------


def measure(pool: Pool, size: Size, case: Case, settings: Settings) -> Row:
    """Return the times, steps and gaps of one method at one size, with re-use and without."""
    task = partial(
        solve_case,
        pool.statistics,
        case,
        max_rules=MAX_RULES,
        floors=settings.points,
        limit=settings.limit,
    )
    taken, found = take_turns(
        {WITH: partial(task, reuse=True), WITHOUT: partial(task, reuse=False)}, settings.repeats
    )
    steps = {name: steps_of(frontier.entries) for name, frontier in found.items()}
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
