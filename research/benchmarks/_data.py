"""Tables to measure on: generated ones, and OpenML files kept beside the repository."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from mossrules import find_candidates
from mossrules.candidates.codes import EncodedTable
from mossrules.candidates.forest import ForestGenerator
from mossrules.candidates.search import encode_rows
from mossrules.data.rows import Rows
from mossrules.data.table import split_target
from research.harness.clone import DATA
from research.harness.measuring import THREADS
from research.harness.reports import Skipped
from research.paper.generated import generated_rows

Floats = npt.NDArray[np.float64]

OPENML, CLASSES = DATA / "openml", DATA / "pmlb_classification"
# Six of the paper's tables: small ones, and so often measured again with one thing changed.
COMPARED = (
    "1027_ESL",
    "690_visualizing_galaxy",
    "547_no2",
    "196_autoMpg",
    "560_bodyfat",
    "223_stock",
)


def read_table(folder: Path, name: str) -> pd.DataFrame:
    """Return `name`.csv.gz of a folder of tables, with its target."""
    path = folder / f"{name}.csv.gz"
    if not path.exists():
        raise Skipped(f"{path.name} is not in {folder}")
    return pd.read_csv(path)


def read_openml(name: str) -> tuple[pd.DataFrame, Floats]:
    """Return the features and the target of `name`.csv.gz, all of them numbers."""
    frame, target = read_mixed(name)
    return frame.astype(np.float64), target


def read_mixed(name: str) -> tuple[pd.DataFrame, Floats]:
    """Return the features and the target of `name`.csv.gz; features of texts stay texts."""
    frame = read_table(OPENML, name)
    return frame, frame.pop("target").to_numpy(dtype=np.float64)


def read_classes(name: str) -> tuple[pd.DataFrame, npt.NDArray[np.int64]]:
    """Return the features and the classes of `name`.csv.gz."""
    frame = read_table(CLASSES, name)
    return frame, frame.pop("target").to_numpy(dtype=np.int64)


def encode(X: Any, y: Floats) -> EncodedTable:
    """Return the table as the forest and the statistics see it."""
    table, target = split_target(X, y)
    return encode_rows(
        Rows.from_table(table, target, keeps_order=True, n_jobs=THREADS),
        ForestGenerator(),
        n_bins=10,
        cuts="quantile",
        n_jobs=THREADS,
    )


def codes_by_row(data: EncodedTable) -> npt.NDArray[np.uint8]:
    """Return the codes (rows, columns); by columns in memory."""
    return np.concatenate([chunk.codes for chunk in data.chunks], axis=1).T


def warm_up() -> None:
    """Compile the kernels, and load what they need, on a table too small to matter."""
    X, y = generated_rows(300, 6, seed=0)
    find_candidates(X, y, n_trees=8, n_jobs=THREADS)
