"""The paper's own figures: its result tables, as published under CC BY by Liu and Mazumder (2025).

They are in the folder beside this module, as they were printed.
"""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files

from research.paper.datasets import NUMBERS_OF

__all__ = ["published_results", "published_sensitivity"]

# Where the paper's tables call a dataset otherwise than its list of datasets does.
ALIASES = {"body_fat": "bodyfat", "mercedes": "Mercedes_Benz"}


@cache
def published_results(table: str) -> dict[tuple[str, str], float]:
    """Return the figures of a table, such as "r2_mean", by dataset and learner."""
    found: dict[tuple[str, str], float] = {}
    for row in _rows(table):
        name = _name(row.pop("dataset").rpartition("_")[0])  # without the number at OpenML
        found |= {(name, learner): float(value) for learner, value in row.items()}
    return found


@cache
def published_sensitivity(parameter: str) -> dict[tuple[str, float], tuple[float, float]]:
    """Return R2 and Dice by dataset and value of a parameter, "gamma" or "k"."""
    return {
        (_name(row["dataset"]), float(row[parameter])): (float(row["r2"]), float(row["dsc"]))
        for row in _rows(f"sensitivity_{parameter}")
    }


def _rows(table: str) -> list[dict[str, str]]:
    text = (files("research.paper") / "published" / f"{table}.csv").read_text("utf-8")
    return list(csv.DictReader(text.splitlines()))


def _name(printed: str) -> str:
    name = ALIASES.get(printed, printed)
    if name not in NUMBERS_OF:
        raise KeyError(name)
    return name
