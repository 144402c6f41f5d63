"""The paper's main experiment: seven learners on thirty tables, accuracy against stability.

All learners and all numbers of rules choose, on a fold, from the same candidates (but for those
that make their own). What is shown of it is in `performance_tables` and `performance_figures`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from mossrules.baselines.registry import METHODS, MOSS
from research.paper.framework import Experiment, ExperimentContext, Presentation, Row
from research.paper.measuring import compare, summary_rows
from research.paper.performance_figures import draw_differences, draw_ranks
from research.paper.performance_tables import differences, ranks, tables
from research.paper.protocols import DEFAULT

__all__ = ["EXPERIMENT", "Settings"]

# Small tables first, so that a run has something to show early.
DATASETS = (
    "vinnie", "auto_price", "visualizing_galaxy", "ESL", "no2", "autoMpg", "bodyfat", "stock",
    "socmob", "tecator", "pollen", "space_ga", "abalone", "Moneyball", "kin8nm", "wine_quality",
    "wind", "cpu_small", "houses", "us_crime", "satellite_image", "bank32nh", "puma32H",
    "elevators", "house_16H", "mv", "Ailerons", "pol", "mtp", "Mercedes_Benz",
)  # fmt: skip


OTHERS = ", other sizes"  # after the name of a dataset; the paper's size comes first for all


@dataclass(frozen=True)
class Settings:
    """What is run."""

    datasets: tuple[str, ...] = DATASETS
    learners: tuple[str, ...] = METHODS
    ours: tuple[str, ...] = (DEFAULT, "FIRE", "SIRUS")  # under the protocol of that name
    sizes: tuple[int, ...] = (15, 10, 20)  # the first is the paper's
    folds: int = 10
    n_trees: int | None = None  # as many as the protocol has
    seconds: float = 20.0  # for each exact choice
    seed: int = 0


def tasks(settings: Settings) -> Sequence[str]:
    """Return the datasets with the first number of rules, and then again with the others."""
    again = [f"{name}{OTHERS}" for name in settings.datasets] if settings.sizes[1:] else []
    return [*settings.datasets, *again]


def run(settings: Settings, task: str, context: ExperimentContext) -> list[Row]:
    """Return one row for each learner and number of rules."""
    data = context.load(task.removesuffix(OTHERS))
    sizes = settings.sizes[1:] if task.endswith(OTHERS) else settings.sizes[:1]
    names = settings.learners if context.protocol.is_paper else settings.ours
    learners: dict[str, Any] = {}
    kinds = []
    for size, name in product(sizes, names):
        limit = {"time_limit": settings.seconds} if name in (DEFAULT, *MOSS) else {}
        model = context.learners(settings, data, (name,), max_rules=size, **limit)[name]
        learners[f"{name}, {size} rules"] = model
        kinds.append({"learner": name, "max_rules": size})
    found = summary_rows(data, compare(context, data, learners, settings.folds))
    return [{**row, **kind} for row, kind in zip(found, kinds, strict=True)]


def present(settings: Settings, rows: Sequence[Row]) -> Presentation:
    """Return the tables, and the figures of the paper's number of rules."""
    first = [row for row in rows if row["max_rules"] == settings.sizes[0]]
    return Presentation(
        tables(rows, settings.sizes),
        {
            "ranks": lambda: draw_ranks(ranks(first)),
            "differences": lambda: draw_differences(differences(first)),
        },
    )


EXPERIMENT = Experiment(
    "performance",
    "Accuracy and stability of learners on thirty tables",
    "Accuracy against stability on thirty datasets: the paper's learners, or our default.",
    Settings(),
    Settings(
        ("vinnie", "auto_price", "visualizing_galaxy", "ESL"),
        sizes=(15,),
        folds=5,
        seconds=2.0,
    ),
    tasks,
    run,
    present,
)
