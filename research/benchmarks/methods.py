"""Branch and bound against the cutting plane with HiGHS and SCIP: one optimum on real pools."""

from __future__ import annotations

from dataclasses import dataclass

from mossrules.exceptions import MissingDependency
from mossrules.solver import Options, Problem, Solution, Status, solve
from mossrules.solver.options import Master
from research.benchmarks._data import warm_up
from research.benchmarks._pools import MAX_RULES, Pool, read_pool
from research.benchmarks.solver import warm_up_solver
from research.harness.reports import Bound, Figure, Report, Row, Skipped, conflict_figure, say

GAP = 1e-4
MASTERS: tuple[Master, ...] = ("highs", "scip")


@dataclass(frozen=True)
class Settings:
    """What is solved, and for how long by each master."""

    datasets: tuple[str, ...] = (
        "690_visualizing_galaxy",
        "547_no2",
        "503_wind",
        "201_pol",
        "183_abalone",
        "287_wine_quality",
        "507_space_ga",
        "505_tecator",
    )
    numbers: tuple[int, ...] = (1, 2, 3)
    limit: float = 20.0
    root_cuts: int = 60


QUICK = Settings(datasets=("690_visualizing_galaxy",), numbers=(1, 2), limit=5.0)


def run(*, quick: bool) -> Report:
    """Solve every problem three times, and look for contradictions."""
    settings = QUICK if quick else Settings()
    warm_up()
    warm_up_solver()
    rows = [row for name in settings.datasets for row in compare(read_pool(name), settings)]
    finished = [row for row in rows if row["finished"]]
    conflicts = [f"{row['dataset']}, eps #{row['eps']}" for row in rows if row["conflict"]]
    return Report(
        "methods",
        [
            Figure("problems that branch and bound and a master both finished", len(finished)),
            Figure(
                "of those, largest relative difference of the losses",
                max((row["difference"] for row in finished), default=0.0),
                asked=Bound("<=", GAP),
            ),
            conflict_figure("problems", conflicts),
        ],
        tables={"problems": rows},
        settings={"k": MAX_RULES, "gap": GAP, "limit": settings.limit},
        notes=[f"Both to {GAP:.2%}; the cutting plane with {settings.root_cuts} root cuts."],
    )


def compare(pool: Pool, settings: Settings) -> list[Row]:
    """Return a row for each floor and master."""
    problem = Problem(pool.statistics, max_rules=MAX_RULES, gamma=pool.gamma)
    rows = []
    for number in settings.numbers:
        floor = pool.floor(number)
        if floor is None:
            continue
        ours = solve(problem.at(floor), "branch-and-bound", Options(gap=GAP))
        for master in MASTERS:
            options = Options(
                gap=GAP,
                time_limit=settings.limit,
                master=master,
                root_cuts=settings.root_cuts,
                threads=1,
            )
            try:
                theirs = solve(problem.at(floor), "cutting-plane", options)
            except MissingDependency as reason:
                raise Skipped(str(reason)) from reason
            rows.append(row_of(pool, number, ours, theirs, master))
            say("  ".join(f"{key} {value}" for key, value in rows[-1].items()))
    return rows


def row_of(pool: Pool, number: int, ours: Solution, theirs: Solution, master: str) -> Row:
    """Return what both found, and whether it fits together."""
    rounding = 1 + 1e-9
    both = ours.status is Status.OPTIMAL and theirs.status is Status.OPTIMAL
    return {
        "dataset": pool.name,
        "m": pool.statistics.m,
        "eps": number,
        "master": master,
        "ours s": ours.report.seconds,
        "theirs s": theirs.report.seconds,
        "theirs": theirs.status.value,
        "their gap": theirs.gap,
        "finished": both,
        "difference": abs(ours.loss - theirs.loss) / ours.loss,
        "same rules": bool((ours.support == theirs.support).all()),
        "conflict": ours.bound > theirs.loss * rounding or theirs.bound > ours.loss * rounding,
    }
