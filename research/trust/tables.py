"""The tables: the paper's thirty, of numbers, and six of classes; of large ones a sample."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mossrules.data.table import Table, take_rows
from research.benchmarks.classification import DATASETS, features_and_classes
from research.harness.clone import DATA
from research.paper.datasets import NUMBERS_OF, load_dataset

__all__ = ["CLASSES", "NUMBERS", "TABLES", "TrustTable", "load", "tables_named"]

NUMBERS = tuple(NUMBERS_OF)
CLASSES = tuple(DATASETS)
TABLES = (*NUMBERS, *CLASSES)
SEED = 0  # of the samples


@dataclass(frozen=True)
class TrustTable:
    """A table as methods see it."""

    name: str
    X: Any
    y: Any
    classes: bool


def tables_named(text: str) -> list[str]:
    """Return the names of tables: "all", "numbers", "classes", or names separated by commas."""
    groups = {"all": TABLES, "numbers": NUMBERS, "classes": CLASSES}
    names = list(groups.get(text, text.split(",")))
    unknown = [name for name in names if name not in TABLES]
    if unknown:
        raise SystemExit(f"There is no table {unknown[0]!r}; choose from {', '.join(TABLES)}.")
    return names


def load(name: str, max_rows: int, folder: Path = DATA) -> TrustTable:
    """Return a table with at most so many rows, drawn once for all methods."""
    if name in CLASSES:
        X, y = features_and_classes(name, folder / "pmlb_classification")
        rows = _sample(len(y), max_rows)
        return TrustTable(name, X.iloc[rows].reset_index(drop=True), y.to_numpy()[rows], True)
    data = load_dataset(name, folder / "openml")
    table = Table.from_any(data.X)
    rows = _sample(table.n_rows, max_rows)
    columns = take_rows(table, rows)
    X = {column.name: column.read(0, len(rows)) for column in columns.columns}
    return TrustTable(name, X, data.y[rows], False)


def _sample(n_rows: int, max_rows: int) -> Any:
    if n_rows <= max_rows:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(SEED).choice(n_rows, max_rows, replace=False))
