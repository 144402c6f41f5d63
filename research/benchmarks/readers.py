"""Reading a large file: CSV by pyarrow and by Python, and Parquet, with the same values."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mossrules.data import read_file, scan_files
from mossrules.data.files import fast_blocks
from research.harness.measuring import interleave
from research.harness.reports import Bound, Figure, Report

N_COLUMNS = 20
SEED = 0


def run(*, quick: bool) -> Report:
    """Read the same table from both formats, whole and as `fit` does, in turns."""
    n_rows = 50_000 if quick else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        csv, parquet = Path(folder, "rows.csv"), Path(folder, "rows.parquet")
        frame = table(n_rows)
        frame.to_csv(csv, index=False)
        frame.to_parquet(parquet)
        del frame
        tasks: dict[str, Callable[[], Any]] = {
            "CSV by Python, whole": partial(by_python, read_file, csv),
            "CSV by Python, scanned": partial(by_python, scan_files, csv),
            "CSV, whole": partial(read_file, csv),
            "CSV, scanned": partial(scan_files, csv),
            "Parquet, whole": partial(read_file, parquet),
            "Parquet, scanned": lambda: scan_files(parquet).loaded(),
        }
        seconds = interleave(tasks, repeats=1 if quick else 3)
        different = differing(csv, parquet)
        megabytes = csv.stat().st_size / 1e6
    size = f"{n_rows:,} x {N_COLUMNS}"
    figures = [
        Figure(
            f"reading CSV {how}, {size}, as a share of the time of Python's reader",
            seconds[f"CSV, {how}"] / seconds[f"CSV by Python, {how}"],
            asked=None if quick else Bound("<=", 0.2),
            parts={name: value for name, value in seconds.items() if name.endswith(how)},
        )
        for how in ("whole", "scanned")
    ]
    figures.append(
        Figure(
            "columns whose values are not the same in every bit",
            float(len(different)),
            asked=Bound("<=", 0),
            parts={"columns": different},
        )
    )
    return Report(
        "readers",
        figures,
        {"seconds": [{"way": name, "seconds": value} for name, value in seconds.items()]},
        {"rows": n_rows, "columns": N_COLUMNS, "seed": SEED, "CSV MB": round(megabytes, 1)},
        [
            "Numbers of 0 to 17 digits, 5 % of some missing, truth values and labels.",
            "Scanned is what fit does: numbers go to a temporary folder, or are loaded of Parquet.",
        ],
    )


def table(n_rows: int) -> pd.DataFrame:
    """Return columns of all kinds, most of them numbers."""
    rng = np.random.default_rng(SEED)
    columns: dict[str, Any] = {
        f"x{j}": np.round(rng.normal(50, 20, n_rows), j % 7) for j in range(N_COLUMNS - 6)
    }
    columns["x0"] = np.where(rng.random(n_rows) < 0.05, np.nan, columns["x0"])
    columns |= {f"n{j}": rng.integers(0, 1000, n_rows) for j in range(3)}
    columns["flag"] = rng.random(n_rows) < 0.5
    columns["colour"] = rng.choice(["red", "green", "blue"], n_rows)
    columns["y"] = rng.normal(size=n_rows)
    return pd.DataFrame(columns)


def by_python(read: Callable[[Path], Any], path: Path) -> Any:
    """Read a file by Python's reader, as files are read that are small or where pyarrow is not."""
    least, fast_blocks.LEAST = fast_blocks.LEAST, math.inf  # type: ignore[assignment]
    try:
        return read(path)
    finally:
        fast_blocks.LEAST = least


def differing(csv: Path, parquet: Path) -> list[str]:
    """Return the columns that are not the same by both readers and in Parquet."""
    expected, found = by_python(read_file, csv), read_file(csv)
    stored = scan_files(parquet).loaded()
    scanned = scan_files(csv).loaded()
    n = stored.n_rows
    different = []
    for other, column in zip(stored.columns, scanned.columns, strict=True):
        one, two = expected[column.name], found[column.name]
        same = one.dtype == two.dtype and (
            one.tolist() == two.tolist() if one.dtype == object else one.tobytes() == two.tobytes()
        )
        values, kept = column.read(0, n), other.read(0, n)
        if values.dtype == object:
            same &= values.tolist() == kept.tolist()
        else:
            same &= values.tobytes() == kept.astype(np.float64).tobytes()
        if not same:
            different.append(column.name)
    return different
