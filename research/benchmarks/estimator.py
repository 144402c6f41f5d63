"""The estimators as people call them: how long fits and frontiers take, and what exports predict.

All with default parameters, on arrays and frames that are in memory, with kernels compiled.
"""

from __future__ import annotations

import gc
from typing import Any

from mossrules import MossClassifier, MossRegressor
from research.benchmarks import _exports
from research.benchmarks._data import Floats, read_classes, read_openml
from research.harness.measuring import interleave, seconds
from research.harness.reports import Bound, Figure, Report, Row, Skipped
from research.paper.generated import generated_rows

COLUMNS = 20
GALAXY = "690_visualizing_galaxy"
ADULT = "adult"
POINTS, GAP = 50, 0.01
SEED = 0
TOLERANCE = 1e-9


def run(*, quick: bool) -> Report:
    """Time fits from small to large, frontiers, and then check the exports."""
    sizes = (1_000, 3_000, 10_000) if quick else (10_000, 100_000, 1_000_000)
    report = Report("estimator", settings={"columns": COLUMNS, "points": POINTS, "gap": GAP})
    warm_up()
    fits = fit_times(sizes, repeats=1 if quick else 3)
    report.figures += fit_figures(fits)
    report.tables["fits of generated rows, and where their time goes"] = fits
    report.figures.append(frontier_figure(f"{sizes[0]:,} x {COLUMNS}", *synthetic_table(sizes[0])))
    try:
        report.figures.append(classes_figure(*read_classes(ADULT), repeats=1 if quick else 3))
    except Skipped as reason:
        report.notes.append(f"Classes are left out: {reason}.")
    try:
        report.figures += galaxy_figures(repeats=2 if quick else 5)
        names = _exports.DATASETS[:2] if quick else _exports.DATASETS
        rows = [_exports.check_dataset(name, n_trees=100 if quick else 500) for name in names]
    except Skipped as reason:
        report.notes.append(f"Galaxy and exports are left out: {reason}.")
        return report
    report.figures.append(exports_figure(rows))
    report.tables["largest difference between predictions and exports"] = rows
    return report


def warm_up() -> None:
    """Compile all that a fit and a frontier need."""
    X, y = generated_rows(300, 6, seed=SEED)
    for stability in ("high", 0.5):
        MossRegressor(5, n_trees=20, stability=stability).fit(X, y).frontier(points=5)


def synthetic_table(n_rows: int) -> tuple[Floats, Floats]:
    """Return generated rows."""
    return generated_rows(n_rows, COLUMNS, SEED)


# --- fits ---------------------------------------------------------------------------------------


def fit_times(sizes: tuple[int, ...], repeats: int) -> list[Row]:
    """Return the best time of fits on more and more rows, and that of the choice alone."""
    rows = []
    for n_rows in sizes:
        X, y = synthetic_table(n_rows)
        model = MossRegressor()
        best = interleave({"fit": lambda X=X, y=y, model=model: model.fit(X, y)}, repeats)["fit"]
        solution = model.solution_
        rows.append(
            {
                "rows": n_rows,
                "fit s": best,
                "of which choosing s": solution.report.seconds,
                "candidates": len(model.candidates_),
                "status": solution.status.value,
                "gap": solution.gap,
            }
        )
    return rows


def fit_figures(fits: list[Row]) -> list[Figure]:
    """Return the smallest fit against what was asked, and how the cost grows."""
    first, last = fits[0], fits[-1]
    return [
        Figure(
            f"fit on {first['rows']:,} x {COLUMNS}", first["fit s"], "s", Bound("<", 2.0), first
        ),
        *(Figure(f"fit on {row['rows']:,} x {COLUMNS}", row["fit s"], "s") for row in fits[1:]),
        Figure(
            f"growth of the time for {last['rows'] / first['rows']:g} times the rows",
            last["fit s"] / first["fit s"],
            "times",
        ),
    ]


def galaxy_figures(repeats: int) -> list[Figure]:
    """Return the times of a fit and of a frontier on a small table."""
    X, y = read_openml(GALAXY)
    size = f"{len(y)} x {X.shape[1]} (galaxy)"
    model = MossRegressor()
    best = interleave({"fit": lambda: model.fit(X, y)}, repeats)["fit"]
    parts = {"status": model.solution_.status.value, "choosing": model.solution_.report.seconds}
    return [
        Figure(f"fit on {size}", best, "s", Bound("<", 0.3), parts),
        frontier_figure(size, X, y, Bound("<", 10.0)),
    ]


def classes_figure(X: Any, y: Any, repeats: int) -> Figure:
    """Return the best time of a classifier at the preset "high", with the gap that it proves."""
    model = MossClassifier(stability="high")
    model.fit(X[:2000], y[:2000])  # compiles what two classes need
    best = interleave({"fit": lambda: model.fit(X, y)}, repeats)["fit"]
    solution = model.solution_
    parts = {
        "choosing": solution.report.seconds,
        "candidates": len(model.candidates_),
        "status": solution.status.value,
        "gap": solution.gap,
    }
    name = f"classifier at 'high' on {len(y):,} x {X.shape[1]}"
    return Figure(name, best, "s", Bound("<", 30.0), parts)


def frontier_figure(size: str, X: Any, y: Floats, asked: Bound | None = None) -> Figure:
    """Return how long a frontier of a fitted model takes, its first call, which is not kept."""
    model = MossRegressor().fit(X, y)
    gc.collect()
    taken = seconds(lambda: model.frontier(points=POINTS, gap=GAP))
    frontier = model.frontier(points=POINTS, gap=GAP)
    parts = {"points": len(frontier), "floors": len(frontier.entries), "worst": frontier.worst_gap}
    return Figure(f"frontier of {POINTS} floors to {GAP:.0%} on {size}", taken, "s", asked, parts)


# --- exports ------------------------------------------------------------------------------------


def exports_figure(rows: list[Row]) -> Figure:
    """Return the largest difference that any export has on any table."""
    known = ("dataset", "rows", "columns", "rules", "largest prediction")
    worst = {
        row["dataset"]: max(value for name, value in row.items() if name not in known)
        for row in rows
    }
    return Figure(
        f"largest difference of SQL, Python and JSON from predict, {len(rows)} tables",
        max(worst.values()),
        "",
        Bound("<=", TOLERANCE),
        worst,
    )
