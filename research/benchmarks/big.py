"""From Parquet files to a rule set, at growing numbers of rows: seconds of each pass, and memory.

Beside it, on the same file in the same run, what else makes rules of depth two: scikit-learn's
forest on the whole table in memory, and LightGBM's random-forest mode. These give trees only; ours
is the whole way to a proven choice.
"""

from __future__ import annotations

import importlib.util
import tempfile
import time
from pathlib import Path
from typing import Any

from research.benchmarks._data import warm_up
from research.harness.measuring import THREADS, PeakMemory, available_gigabytes
from research.harness.processes import in_fresh_process
from research.harness.reports import Bound, Figure, Report, Row, Skipped
from research.paper.generated import generated_rows

N_COLUMNS = 20
N_TREES = 2000
SEED = 0
GROUP_ROWS = 1 << 17
FULL, QUICK = (100_000, 1_000_000, 10_000_000), (20_000, 100_000)
FEW_TREES = {"scikit-learn": 4, "LightGBM": 40}  # grown and timed; the rest is in proportion
MEMORY_PER_VALUE = 24  # bytes that a table in memory takes at its peak: its copies among them
GIB = 2 * 1024**3 / 1e6


def run(*, quick: bool) -> Report:
    """Measure each size and each way in a process of its own."""
    PeakMemory.require()
    if importlib.util.find_spec("pyarrow") is None:
        raise Skipped("pyarrow is not installed")
    ours: list[Row] = []
    passes: list[Row] = []
    others: list[Row] = []
    for n_rows in QUICK if quick else FULL:
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "rows.parquet")
            write_rows(path, n_rows)
            found = in_fresh_process("research.benchmarks.big:measure", path=path)
            passes.append({"rows": n_rows, **found.pop("passes")})
            ours.append({"rows": n_rows, **found})
            others += [
                in_fresh_process(
                    "research.benchmarks.big:measure_other", path=path, library=library
                )
                for library in _libraries(n_rows)
            ]
    return Report(
        "big",
        _figures(ours, others),
        {"ours": ours, "seconds of each pass": passes, "others": others},
        {"columns": N_COLUMNS, "trees": N_TREES, "seed": SEED, "threads": THREADS},
        [
            f"Row groups of {GROUP_ROWS:,} rows, written just before: they are in the page cache.",
            "Peaks are of whole processes, libraries and compiled kernels among them.",
            "Others: depth two, half of the columns at each split, on the table in memory.",
            f"Times of {N_TREES} trees are in proportion those of {FEW_TREES}, and reading once.",
        ],
    )


def _figures(ours: list[Row], others: list[Row]) -> list[Figure]:
    few, many = ours[-2:]
    growth = (many["seconds"] / few["seconds"]) / (many["rows"] / few["rows"])
    figures = [
        Figure(f"peak memory, {many['rows']:,} rows", many["peak MB"], "MB", Bound("<", GIB)),
        Figure("growth of the time over that of the rows", growth, "times", Bound("<=", 1.2)),
    ]
    return figures + [
        Figure(
            f"{other['library']} over ours, {other['rows']:,} rows",
            other["seconds"] / next(o["seconds"] for o in ours if o["rows"] == other["rows"]),
            "times",
        )
        for other in others
    ]


def _libraries(n_rows: int) -> list[str]:
    """Return the other libraries that are there, if the table fits into memory."""
    if n_rows * N_COLUMNS * MEMORY_PER_VALUE / 1e9 > available_gigabytes():
        return []
    there = importlib.util.find_spec("lightgbm") is not None
    return ["scikit-learn", *(["LightGBM"] if there else [])]


def write_rows(path: str, n_rows: int) -> None:
    """Write generated rows, a row group at a time."""
    import pyarrow as pa  # noqa: PLC0415  optional
    from pyarrow import parquet  # noqa: PLC0415

    names = [f"x{place}" for place in range(N_COLUMNS)]
    schema = pa.schema([(name, pa.float64()) for name in [*names, "y"]])
    with parquet.ParquetWriter(path, schema) as writer:
        for start in range(0, n_rows, GROUP_ROWS):
            X, y = generated_rows(min(GROUP_ROWS, n_rows - start), N_COLUMNS, SEED + start)
            columns = {name: X[:, place] for place, name in enumerate(names)}
            writer.write_table(pa.table({**columns, "y": y}, schema=schema))


# --- in processes of their own --------------------------------------------------------------------


def measure(path: str, n_trees: int = N_TREES) -> dict[str, Any]:
    """Return the seconds of each step from a file to a rule set, and the peak memory."""
    from mossrules import MossRegressor  # noqa: PLC0415  nothing heavy in the parent
    from mossrules.data.rows import read_rows  # noqa: PLC0415
    from mossrules.estimators import search_parameters  # noqa: PLC0415
    from mossrules.learning.fit import find_in_rows  # noqa: PLC0415

    warm_up()
    model = MossRegressor(n_trees=n_trees, n_jobs=THREADS)
    ends: dict[str, float] = {}
    with PeakMemory() as peak:
        started = time.perf_counter()
        rows = read_rows(path, "y")
        ends["numbering rows"] = time.perf_counter()

        def listen(stage: str, _done: int, _total: int) -> None:
            ends[stage] = time.perf_counter()

        candidates = find_in_rows(rows, progress=listen, **search_parameters(model))
        model.fit_candidates(candidates)
        ends["choosing rules"] = time.perf_counter()
    begins = [started, *ends.values()]
    passes = {stage: end - begin for (stage, end), begin in zip(ends.items(), begins, strict=False)}
    return {
        "rules": len(candidates),
        "seconds": begins[-1] - started,
        "peak MB": peak.highest,
        "passes": passes,
    }


def measure_other(path: str, library: str, n_trees: int = N_TREES) -> dict[str, Any]:
    """Return seconds and peak memory of another library's forest of depth two."""
    import pandas as pd  # noqa: PLC0415

    few = min(n_trees, FEW_TREES[library])
    with PeakMemory() as peak:
        started = time.perf_counter()
        frame = pd.read_parquet(path)
        y = frame.pop("y").to_numpy()
        read = time.perf_counter()
        grow = _scikit_learn if library == "scikit-learn" else _lightgbm
        once, trees = grow(frame, y, few)
    return {
        "rows": len(y),
        "library": library,
        "reading": read - started,
        "once": once,
        "a tree": trees / few,
        "seconds": read - started + once + trees * n_trees / few,
        "peak MB": peak.highest,
    }


def _scikit_learn(frame: Any, y: Any, n_trees: int) -> tuple[float, float]:
    import numpy as np  # noqa: PLC0415
    from sklearn.ensemble import RandomForestRegressor  # noqa: PLC0415

    started = time.perf_counter()
    X = frame.to_numpy(dtype=np.float32)
    made = time.perf_counter()
    RandomForestRegressor(
        n_trees, max_depth=2, max_features=0.5, random_state=SEED, n_jobs=THREADS
    ).fit(X, y)
    return made - started, time.perf_counter() - made


def _lightgbm(frame: Any, y: Any, n_trees: int) -> tuple[float, float]:
    import lightgbm  # noqa: PLC0415  optional

    parameters = {
        "boosting": "rf",
        "objective": "regression",
        "num_leaves": 4,
        "max_depth": 2,
        "max_bin": 10,
        "bagging_freq": 1,
        "bagging_fraction": 0.632,
        "feature_fraction_bynode": 0.5,
        "num_threads": THREADS,
        "verbosity": -1,
    }
    started = time.perf_counter()
    data = lightgbm.Dataset(frame, y, params=parameters).construct()
    made = time.perf_counter()
    lightgbm.train(parameters, data, num_boost_round=n_trees)
    return made - started, time.perf_counter() - made
