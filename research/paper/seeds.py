"""How much of the stability between folds is due to a seed that all folds share.

Our forests draw the columns of each split from the seed alone, so that with one seed the trees of
all folds look at the same columns: part of what could differ does not. Separate analyses of other
data would share that as well if they kept the seed, and would not if they drew a new one. The paper
does not say which of the two its folds do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mossrules.baselines.registry import MOSS
from research.paper.datasets import NUMBERS_OF
from research.paper.framework import Experiment, ExperimentContext, Presentation, Row, TableOf
from research.paper.measuring import compare, mark_note, marked, mean_of, summary_rows
from research.paper.protocols import DEFAULT
from research.paper.published import published_results

__all__ = ["EXPERIMENT", "Settings"]

KINDS = {"one": False, "own": True}  # seeds of the folds, and whether they vary


@dataclass(frozen=True)
class Settings:
    """What is run."""

    datasets: tuple[str, ...] = tuple(NUMBERS_OF)
    learners: tuple[str, ...] = ("MOSS-H", "MOSS-M", "MOSS-L", "FIRE", "SIRUS")
    ours: tuple[str, ...] = (DEFAULT, "SIRUS")  # under the protocol of that name
    max_rules: int = 15
    folds: int = 10
    n_trees: int | None = None  # as many as the protocol has
    seconds: float = 20.0  # for each exact choice
    seed: int = 0


def tasks(settings: Settings) -> Sequence[str]:
    """Return the datasets."""
    return settings.datasets


def run(settings: Settings, task: str, context: ExperimentContext) -> list[Row]:
    """Return two rows for each learner: with one seed, and with one of its own for each fold."""
    data = context.load(task)
    learners: dict[str, Any] = {}
    for name in settings.learners if context.protocol.is_paper else settings.ours:
        limit = {"time_limit": settings.seconds} if name in (DEFAULT, *MOSS) else {}
        learners |= context.learners(settings, data, (name,), **limit)
    rows = []
    for kind, varies in KINDS.items():
        found = compare(context, data, learners, settings.folds, vary_seed=varies)
        rows += [{**row, "seeds": kind} for row in summary_rows(data, found)]
    return rows


def present(settings: Settings, rows: Sequence[Row]) -> Presentation:
    """Return means with one seed and with several, beside the paper's, and every dataset."""
    tables = {"r2": published_results("r2_mean"), "dice": published_results("dsc_mean")}
    names = list(dict.fromkeys(row["dataset"] for row in rows))
    means: list[Row] = []
    for learner in dict.fromkeys(row["learner"] for row in rows):
        line: Row = {"learner": learner}
        for figure, heading in (("r2", "R2"), ("dice", "Dice")):
            for kind in KINDS:
                own = [row for row in rows if (row["learner"], row["seeds"]) == (learner, kind)]
                line[f"{heading}, {kind} seed"] = mean_of(own, figure)
            papers = tables[figure]
            printed = [{figure: papers.get((name, learner))} for name in names]
            line[f"paper's {heading}"] = mean_of(printed, figure)
        means.append(line)
    notes = [
        (
            f"Means over {len(names)} datasets, {settings.max_rules} rules. One seed: all folds "
            f"have {settings.seed}, as in the other experiments. Own seed: each fold adds its "
            "number to it. The paper does not say which its folds have."
        )
    ]
    each: dict[tuple[str, str], Row] = {}
    for row in rows:
        line = each.setdefault(
            (row["dataset"], row["learner"]), {"dataset": marked(row), "learner": row["learner"]}
        )
        line |= {f"R2, {row['seeds']} seed": row["r2"], f"Dice, {row['seeds']} seed": row["dice"]}
    return Presentation([
        TableOf("One seed for all folds, or one for each", means, notes),
        TableOf("Each dataset", list(each.values()), mark_note(rows)),
    ])  # fmt: skip


EXPERIMENT = Experiment(
    "seeds",
    "What a shared seed does to stability",
    "Stability between folds that share a seed, and between folds that do not.",
    Settings(),
    Settings(("vinnie", "auto_price", "visualizing_galaxy", "ESL"), folds=5, seconds=2.0),
    tasks,
    run,
    present,
)
