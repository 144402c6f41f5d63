"""Growing the forest, against scikit-learn's on the same codes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import RandomForestRegressor

from mossrules.candidates.codes import EncodedTable
from mossrules.candidates.forest import grow_forest
from research.benchmarks._data import Floats, codes_by_row, encode, warm_up
from research.harness.measuring import THREADS, Task, interleave
from research.harness.reports import Bound, Figure, Report, Row
from research.paper.generated import generated_rows

N_TREES = 500
N_COLUMNS = 20
SEED = 0
FEW_TREES = 50  # of scikit-learn where all 500 would take minutes; its time is scaled up


def run(*, quick: bool) -> Report:
    """Compare at the asked sizes, then show growth with rows and with depth."""
    warm_up()
    small, large = (5_000, 20_000) if quick else (20_000, 1_000_000)
    few = N_TREES if quick else FEW_TREES
    report = Report(
        "forest",
        settings={"trees": N_TREES, "columns": N_COLUMNS, "seed": SEED, "threads": THREADS},
        notes=[
            "scikit-learn gets the codes as float32 in column order, so it pays no conversion.",
            (
                f"scikit-learn grows {few} trees at {large:,} rows and its time there is "
                f"multiplied by {N_TREES // few}; ours grows all {N_TREES}."
            ),
        ],
    )
    report.figures.append(compare(small, N_TREES, Bound(">=", 10), repeats=1 if quick else 3))
    report.figures.append(compare(large, few, Bound(">=", 20), repeats=1))
    sizes = [1_000, 10_000] if quick else [10_000, 30_000, 100_000, 300_000, 1_000_000]
    report.tables["growth with rows, depth 2"] = [grow_rows(n) for n in sizes]
    depths = range(1, 3 if quick else 7)
    report.tables[f"growth with depth, {small:,} rows"] = [grow_depth(small, d) for d in depths]
    return report


def compare(n_rows: int, reference_trees: int, asked: Bound, *, repeats: int) -> Figure:
    """Return how many times faster our forest is."""
    best = time_both(n_rows, 2, reference_trees, repeats)
    return Figure(
        f"speed against scikit-learn, {n_rows:,} x {N_COLUMNS}",
        best["scikit-learn"] / best["ours"],
        "times",
        asked,
        {"rows": n_rows, "reference_trees": reference_trees, "seconds": best},
    )


def time_both(n_rows: int, depth: int, reference_trees: int, repeats: int) -> dict[str, float]:
    """Return best seconds for 500 trees, scaled up where the reference grew fewer."""
    X, y = generated_rows(n_rows, N_COLUMNS, SEED)
    data = encode(X, y)
    codes = np.asfortranarray(codes_by_row(data), dtype=np.float32)
    best = interleave(
        {
            "ours": ours(data, depth),
            "scikit-learn": scikit_learn(codes, y, depth, reference_trees),
        },
        repeats,
    )
    best["scikit-learn"] *= N_TREES / reference_trees
    return best


def ours(data: EncodedTable, depth: int) -> Task:
    """Return the task of growing our forest."""
    return lambda: grow_forest(
        data, n_trees=N_TREES, max_depth=depth, max_features=1 / 3, seed=SEED, n_jobs=THREADS
    )


def scikit_learn(codes: npt.NDArray[np.float32], y: Floats, depth: int, n_trees: int) -> Task:
    """Return the task of growing scikit-learn's forest."""
    model = RandomForestRegressor(
        n_trees, max_depth=depth, max_features=1 / 3, random_state=SEED, n_jobs=THREADS
    )
    return lambda: model.fit(codes, y)


def grow_rows(n_rows: int) -> Row:
    """Return our time at one number of rows."""
    data = encode(*generated_rows(n_rows, N_COLUMNS, SEED))
    repeats = 3 if n_rows <= 100_000 else 1
    best = interleave({"ours": ours(data, 2)}, repeats)["ours"]
    return {"rows": n_rows, "seconds": best, "ns per tree and row": 1e9 * best / N_TREES / n_rows}


def grow_depth(n_rows: int, depth: int) -> Row:
    """Return both times at one depth."""
    best = time_both(n_rows, depth, N_TREES, repeats=1)
    return {"depth": depth, **best, "times faster": best["scikit-learn"] / best["ours"]}
