"""What auditors ask for: branch and bound against the cutting plane under the same constraints.

Both have the same time for each problem. The cutting plane, with HiGHS and cuts at the root, is
what one would use off the shelf, as its master takes any linear constraint.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median

from mossrules import Candidates, find_candidates
from mossrules.constraints import (
    AtMostFeatures,
    AtMostPerFeature,
    Constraint,
    OnlyUp,
    apply_constraints,
)
from mossrules.exceptions import NothingFound
from mossrules.learning.squared_error import GAMMA_ROWS
from mossrules.solver import Options, Problem, Solution, Status, solve
from research.benchmarks._data import read_mixed, warm_up
from research.benchmarks._pools import MAX_RULES, N_TREES, SEED
from research.benchmarks.solver import warm_up_solver
from research.harness.measuring import THREADS
from research.harness.reports import Figure, Report, Row, conflict_figure, say

GAP = 1e-3
METHODS = ("branch-and-bound", "cutting-plane")
ROOT_CUTS = 40


@dataclass(frozen=True)
class Settings:
    """What is solved, and for how long by each method."""

    datasets: tuple[str, ...] = (
        "690_visualizing_galaxy",
        "1027_ESL",
        "547_no2",
        "196_autoMpg",
        "560_bodyfat",
        "315_us_crime",
    )
    shares: tuple[float, ...] = (0.97, 0.9, 0.7)
    limit: float = 5.0


QUICK = Settings(datasets=("690_visualizing_galaxy",), shares=(0.97,), limit=3.0)


def run(*, quick: bool) -> Report:
    """Solve every problem by both methods, and look for contradictions."""
    settings = QUICK if quick else Settings()
    warm_up()
    warm_up_solver()
    rows = [row for name in settings.datasets for row in compare(name, settings)]
    figures = [
        Figure(
            f"of {len(rows)} problems, proven by the {method} in {settings.limit:g} s",
            float(sum(row[f"{method} gap"] <= GAP for row in rows)),
        )
        for method in METHODS
    ]
    ours = [row["branch-and-bound s"] for row in rows]
    conflicts = [f"{row['dataset']}, {row['constraint']}" for row in rows if row["conflict"]]
    return Report(
        "constraints",
        [
            *figures,
            Figure("median time of branch and bound", median(ours), "s"),
            conflict_figure("problems", conflicts),
        ],
        tables={"problems": rows},
        settings={"k": MAX_RULES, "gap": GAP, "limit": settings.limit, "root cuts": ROOT_CUTS},
    )


def demands(candidates: Candidates) -> tuple[Constraint, ...]:
    """Return one constraint of each kind that is more than leaving rules out."""
    first = candidates.pool.rules[0].features[0]
    return AtMostPerFeature(3), AtMostFeatures(3), OnlyUp(first)


def compare(name: str, settings: Settings) -> list[Row]:
    """Return a row for each constraint and floor on one table."""
    table, target = read_mixed(name)
    candidates = find_candidates(
        table,
        target,
        n_trees=N_TREES,
        n_bins=10,
        cuts="quantile",
        max_features=1 / 3,
        generator="paper-forest",  # as in the paper
        random_state=SEED,
        n_jobs=THREADS,
    )
    gamma = GAMMA_ROWS["equal"] / candidates.statistics.n
    plain = Problem(candidates.statistics, max_rules=MAX_RULES, gamma=gamma)
    rows = []
    for demand in demands(candidates):
        problem = apply_constraints(plain, candidates, [demand])
        for share in settings.shares:
            floored = problem.at(int(share * problem.max_stability))
            rows.append({"dataset": name, "constraint": repr(demand), "share": share})
            rows[-1] |= race(floored, settings.limit)
            say(str(rows[-1]))
    return rows


def race(problem: Problem, limit: float) -> Row:
    """Return time, gap and loss of each method, and whether their claims contradict each other."""
    row: Row = {}
    found: list[Solution] = []
    for method in METHODS:
        options = Options(gap=GAP, time_limit=limit, root_cuts=ROOT_CUTS)
        try:
            solution = solve(problem, method, options)
        except NothingFound:
            row |= {f"{method} s": limit, f"{method} gap": math.inf, f"{method} loss": math.inf}
            continue
        found.append(solution)
        row |= {
            f"{method} s": solution.report.seconds,
            f"{method} gap": solution.gap if solution.status is not Status.OPTIMAL else GAP,
            f"{method} loss": solution.loss,
        }
    least = min(solution.loss for solution in found)
    row["conflict"] = any(solution.bound > least * (1 + 1e-6) for solution in found)
    return row
