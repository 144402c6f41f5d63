"""What the two tables of sensitivity share: MOSS at several values of one parameter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from research.paper.datasets import NUMBERS_OF
from research.paper.framework import ExperimentContext, Presentation, Row, TableOf
from research.paper.measuring import compare, mark_note, marked, mean_of, summary_rows
from research.paper.published import published_sensitivity

__all__ = ["QUICK_DATASETS", "Settings", "measure", "show", "tasks"]

QUICK_DATASETS = ("auto_price", "ESL", "tecator", "visualizing_galaxy")


@dataclass(frozen=True)
class Settings:
    """What is run."""

    values: tuple[float, ...]
    gamma: float | None = None  # where another parameter is varied
    max_rules: int = 15
    datasets: tuple[str, ...] = tuple(NUMBERS_OF)
    folds: int = 10
    n_trees: int | None = None  # as many as the protocol has
    seconds: float = 60.0  # for each choice
    seed: int = 0


def tasks(settings: Settings) -> Sequence[str]:
    """Return the datasets."""
    return settings.datasets


def measure(
    settings: Settings,
    task: str,
    context: ExperimentContext,
    parameter: str,
    values: Mapping[float, dict[str, Any]],
) -> list[Row]:
    """Return one row for each value; all values choose from the same candidates of a fold."""
    data = context.load(task)
    learners = {
        f"{value:g}": context.moss(
            settings, data, "high", time_limit=settings.seconds, **parameters
        )
        for value, parameters in values.items()
    }
    found = summary_rows(data, compare(context, data, learners, settings.folds))
    return [
        {**row, "learner": "MOSS-H", "parameter": parameter, "value": value}
        for row, value in zip(found, values, strict=True)
    ]


def show(rows: Sequence[Row], parameter: str, notes: Sequence[str]) -> Presentation:
    """Return the means over datasets, and every dataset, beside the paper's."""
    printed = published_sensitivity(parameter)
    each = []
    for row in rows:
        r2, dice = printed[row["dataset"], float(row["value"])]
        each.append({
            "dataset": marked(row),
            parameter: row["value"],
            "test R2": row["r2"],
            "paper's R2": r2,
            "Dice": row["dice"],
            "paper's Dice": dice,
            "unproven": row["unproven"],
            "seconds": row["seconds"],
        })  # fmt: skip
    means = []
    for value in dict.fromkeys(row[parameter] for row in each):
        own = [row for row in each if row[parameter] == value]
        figures = {name: mean_of(own, name) for name in list(own[0])[2:6]}
        means.append({parameter: value, "datasets": len(own), **figures})
    unproven = (
        "`unproven` counts folds whose search ran out of time; seconds are the median to choose, "
        "without the search for candidates."
    )
    return Presentation([
        TableOf("Means over datasets", means, ["The paper's means are of the same datasets."]),
        TableOf("Each dataset", each, [unproven, *mark_note(rows), *notes]),
    ])  # fmt: skip
