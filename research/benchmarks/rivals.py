"""Other exact solvers of sparse ridge regression against ours, on problems without a floor.

l0bnb puts a price on each coefficient where we limit their number. The losses of the best
selections of neighbouring sizes say which prices, if any, make the best selection of size k best of
all sizes; then both solve the same problem. OKRidge limits the number, as we do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path
from statistics import geometric_mean

import numpy as np
from scipy.linalg import qr

from mossrules.solver import Problem, Solution
from mossrules.statistics import Statistics
from research.benchmarks._data import warm_up
from research.benchmarks._pools import read_pool, take
from research.benchmarks.solver import FINE, Settings, show, solve_ours, time_ours, warm_up_solver
from research.harness.processes import Answers, ask, kept_environment
from research.harness.reports import Figure, Report, Row, Skipped, say
from research.paper.direct import compress

L0BNB = ("l0bnb==1.0.0", "numpy<2")
OKRIDGE = ("okridge==0.1.1", "numpy<2", "requests")  # it uses requests and does not say so
LARGEST_WEIGHT = 1.2  # times that of the solution bounds l0bnb's coefficients: its own default
START_SECONDS = 300.0  # for a child to start, compile and repeat


@dataclass(frozen=True)
class Plan:
    """What is measured and for how long."""

    datasets: tuple[str, ...] = ("690_visualizing_galaxy", "1027_ESL", "223_stock", "537_houses")
    ridges: tuple[float | None, ...] = (None, 3.0)  # gamma n; None is the authors' gamma
    sizes: tuple[int, ...] = (2, 3, 5, 8)
    largest_size: int = 16  # sizes up to this one are looked at when a price is chosen
    limit: float = 30.0
    glance: float = 1.0  # seconds for each of those sizes
    repeats: int = 3  # of solves that take less than a second


QUICK = Plan(datasets=("690_visualizing_galaxy",), sizes=(2, 3), limit=5.0, glance=0.5, repeats=1)


@dataclass(frozen=True)
class Task:
    """A problem that both sides solve, and how we did."""

    problem: Problem
    price: float | None  # of a coefficient; None when no price gives this size
    taken: float
    ours: Solution

    @property
    def k(self) -> int:
        """The size asked for."""
        return int(self.problem.max_rules)


@dataclass(frozen=True)
class Case:
    """The problems of one table at one ridge."""

    name: str
    statistics: Statistics
    gamma: float
    tasks: list[Task]

    def __str__(self) -> str:
        gamma_n = self.gamma * self.statistics.n
        return f"{self.name} (m = {self.statistics.m}, gamma n = {gamma_n:.3g})"


def run(*, quick: bool) -> Report:
    """Solve the same problems by all, table by table."""
    plan = QUICK if quick else Plan()
    pythons, notes = make_environments()
    warm_up()
    warm_up_solver()
    report = Report("rivals", settings=asdict(plan), notes=notes)
    report.tables = {rival: [] for rival in pythons}
    for name, ridge in product(plan.datasets, plan.ridges):
        pool = read_pool(name)
        gamma = pool.gamma if ridge is None else ridge / pool.statistics.n
        case = make_case(name, pool.statistics, gamma, plan)
        measure(report, "l0bnb", pythons["l0bnb"], case, plan)
        report.notes += [
            f"{case}: no price makes l0bnb select {task.k} rules"
            for task in case.tasks
            if task.price is None
        ]
        if "okridge" in pythons:
            measure(report, "okridge", pythons["okridge"], case, plan)
            part = make_case(name, independent(pool.statistics), gamma, plan)
            measure(report, "okridge", pythons["okridge"], part, plan)
    report.figures = [speed_figure(rival, rows) for rival, rows in report.tables.items()]
    return report


def make_environments() -> tuple[dict[str, Path], list[str]]:
    """Return the interpreters that have the rivals, and notes; l0bnb is a must."""
    pythons = {"l0bnb": kept_environment("l0bnb", L0BNB)}
    notes = [
        (
            "All on one thread. Rivals get a matrix of at most m + 1 rows with the same G, q and "
            "yy, so that nobody pays for the rows; starting and compiling do not count."
        ),
        (
            f"l0bnb's gap of {FINE:g} is relative to its own objective, loss plus prices, which "
            "asks less of it than of us. Its bound on coefficients is "
            f"{LARGEST_WEIGHT:g} times the largest of our solution."
        ),
        (
            "OKRidge's gap is set so that it is ours in absolute terms. It also gets the rules "
            "that are linearly independent, for those that are not end in an error."
        ),
        (
            "Rivals that were cut off count with the limit, which understates the ratios, and "
            "larger sizes of the same table and ridge are then not tried."
        ),
    ]
    try:
        pythons["okridge"] = kept_environment("okridge", OKRIDGE)
    except Skipped as reason:
        notes.append(f"OKRidge left out: {reason}")
    return pythons, notes


def make_case(name: str, statistics: Statistics, gamma: float, plan: Plan) -> Case:
    """Return the problems of some rules, solved by us."""
    problems = {
        k: Problem(statistics, max_rules=k, gamma=gamma)
        for k in range(1, min(plan.largest_size, statistics.m) + 1)
    }
    losses = {k: solve_ours(problem, FINE, plan.glance).loss for k, problem in problems.items()}
    losses[0] = statistics.yy / 2
    settings = Settings(limit=plan.limit, repeats=plan.repeats)
    tasks = []
    for k in plan.sizes:
        taken, solution = time_ours(problems[k], FINE, settings)
        price = price_of_size(losses | {k: solution.loss}, k)
        tasks.append(Task(problems[k], price, taken, solution))
    return Case(name, statistics, gamma, tasks)


def measure(report: Report, rival: str, python: Path, case: Case, plan: Plan) -> None:
    """Let a rival solve the problems of a case; add rows, and notes on what went wrong."""
    asked, job = JOBS[rival](case)
    X, y = compress(case.statistics)
    job |= {"X": X, "y": y, "limit": plan.limit, "repeats": plan.repeats}
    timeout = START_SECONDS + 2 * plan.limit * len(asked)
    found = ask(python, f"{rival}_problems.py", job, timeout)
    rows, troubles = side_by_side(case, asked, found, plan)
    report.tables[rival] += rows
    report.notes += [f"{rival} on {trouble}" for trouble in troubles]
    for row in rows:
        say(f"{rival}  " + "  ".join(f"{key} {show(value)}" for key, value in row.items()))


def price_of_size(losses: Mapping[int, float], k: int) -> float | None:
    """Return a price at which the loss of size k plus its price is least; None if there is none."""
    low = max((losses[k] - loss) / (size - k) for size, loss in losses.items() if size > k)
    high = min((loss - losses[k]) / (k - size) for size, loss in losses.items() if size < k)
    return (low + high) / 2 if low < high else None


def independent(statistics: Statistics) -> Statistics:
    """Return the statistics of as many rules as there are linearly independent ones."""
    X, _ = compress(statistics)
    R, order = qr(X, mode="r", pivoting=True)
    diagonal = np.abs(np.diagonal(R))
    kept = np.sort(order[: np.count_nonzero(diagonal > 1e-3 * diagonal[0])])
    return take(statistics, kept)


# --- one rival ----------------------------------------------------------------------------------


def l0bnb_job(case: Case) -> tuple[list[Task], Row]:
    """Return the problems that have a price, and what l0bnb needs to know of them."""
    asked = [task for task in case.tasks if task.price is not None]
    largest = [LARGEST_WEIGHT * np.abs(task.ours.weights).max() for task in asked]
    job = {
        "l2": 0.5 / case.gamma,
        "l0": np.array([task.price for task in asked], dtype=np.float64),
        "largest": np.array(largest, dtype=np.float64),
        "gap": FINE,
    }
    return asked, job


def okridge_job(case: Case) -> tuple[list[Task], Row]:
    """Return all problems, and what OKRidge needs to know of them."""
    twice = np.array([2 * task.ours.loss for task in case.tasks])
    job = {
        "lambda2": 1 / case.gamma,
        "size": np.array([task.k for task in case.tasks]),
        "gap": FINE * twice / (case.statistics.yy - twice),  # of what is explained
    }
    return [replace(task, price=0.0) for task in case.tasks], job


JOBS = {"l0bnb": l0bnb_job, "okridge": okridge_job}


def side_by_side(
    case: Case, tasks: list[Task], found: Answers, plan: Plan
) -> tuple[list[Row], list[str]]:
    """Return a row for each problem that was answered, and what went wrong with the others."""
    rows = []
    troubles: dict[str, None] = {}
    for task, result in zip(tasks, found.results, strict=False):
        if "error" in result:
            troubles[f"{case}: {result['error']}"] = None
            continue
        support = np.array(result["support"], dtype=np.int64)
        price = task.price or 0.0
        theirs = task.problem.loss(support) + price * len(support)
        rows.append(
            {
                "dataset": case.name,
                "m": case.statistics.m,
                "gamma n": case.gamma * case.statistics.n,
                "k": task.k,
                "theirs s": min(result["seconds"], plan.limit),
                "ours s": task.taken,
                "their gap": result["gap"],
                "our gap": float(task.ours.gap),
                "their size": len(support),
                "their objective over ours": theirs / (task.ours.loss + price * task.k),
                "their nodes": result["nodes"],
                "our nodes": float(task.ours.report.counters.get("nodes", math.nan)),
                "cut off": result["seconds"] >= plan.limit,
            }
        )
    if found.failure is not None:
        left = len(tasks) - len(found.results)
        troubles[f"{case}: {found.failure.rstrip('.')}; {left} problems not answered"] = None
    return rows, list(troubles)


def speed_figure(rival: str, rows: list[Row]) -> Figure:
    """Return the geometric mean of their times over ours, where sizes are equal."""
    equal = [row for row in rows if row["their size"] == row["k"] or row["cut off"]]
    ratios = [row["theirs s"] / row["ours s"] for row in equal]
    parts = {"problems": len(equal), "cut off": sum(row["cut off"] for row in equal)}
    mean = geometric_mean(ratios) if ratios else math.nan
    return Figure(f"speed against {rival}", mean, "times", parts=parts)
