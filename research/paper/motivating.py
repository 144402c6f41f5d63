"""Rules that come out again, and rules that fit: the paper's first figure.

Nine rules from each of five splits of the galaxy data, by a learner that looks at stability alone
(SIRUS), one that looks at fit alone (RuleFit), and one that looks at both (MOSS).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mossrules.display import ConsistencyDisplay
from mossrules.model import RuleSet
from research.paper.drawing import figure_of
from research.paper.framework import Experiment, ExperimentContext, Presentation, Row, TableOf
from research.paper.measuring import compare, mean_of, model_rows

__all__ = ["EXPERIMENT", "Settings"]

# As the paper's introduction has them: mean test R2, and rules that all five splits have.
PUBLISHED = {"SIRUS": (0.74, 2), "RuleFit": (0.85, 0), "MOSS-H": (0.83, 4)}


@dataclass(frozen=True)
class Settings:
    """What is run."""

    dataset: str = "visualizing_galaxy"
    learners: tuple[str, ...] = ("SIRUS", "RuleFit", "MOSS-H")
    max_rules: int = 9
    splits: int = 5
    n_trees: int | None = None  # as many as the protocol has
    seed: int = 0


def tasks(settings: Settings) -> list[str]:
    """Return the one task that there is."""
    return [settings.dataset]


def run(settings: Settings, task: str, context: ExperimentContext) -> list[Row]:
    """Return one row for each learner and split, with the rule set itself."""
    data = context.load(task)
    learners = context.learners(settings, data, settings.learners)
    found = model_rows(compare(context, data, learners, settings.splits), "split")
    return [{"dataset": task, **row} for row in found]


# --- showing --------------------------------------------------------------------------------------


def present(settings: Settings, rows: Sequence[Row]) -> Presentation:
    """Return fit and consistency of each learner beside the paper's figures, and the blocks."""
    display = consistency(settings, rows)
    beside = []
    for learner in display.methods:
        own = [row for row in rows if row["learner"] == learner.method]
        r2, common = PUBLISHED[learner.method]
        beside.append({
            "learner": learner.method,
            "test R2": mean_of(own, "r2"),
            "paper's": r2,
            "rules in all splits": learner.common,
            "the paper's": common,
            "Dice": learner.dice,
            "distinct rules": learner.distinct,
            "rules in a split": mean_of(own, "n_rules"),
        })  # fmt: skip
    note = (
        f"{settings.dataset}, {settings.max_rules} rules, {settings.splits} splits that each leave "
        f"out one of {settings.splits} parts of the rows. The paper does not say how its splits "
        "were made, nor which setting of MOSS it shows: here it is high."
    )
    return Presentation(
        [TableOf("Fit, and rules that come out again", beside, [note])],
        {"motivating": lambda: figure_of(display)},
    )


def consistency(settings: Settings, rows: Sequence[Row]) -> ConsistencyDisplay:
    """Return the rules of all splits as blocks."""
    return ConsistencyDisplay.from_splits(
        {
            name: [
                RuleSet.from_json(row["model"])
                for row in rows
                if row["learner"] == name and row["model"] is not None  # a fit that failed
            ]
            for name in settings.learners
        },
        identity="codes",
    )


EXPERIMENT = Experiment(
    "motivating",
    "Which rules come out again",
    "Nine rules from five splits of the galaxy data, by SIRUS, RuleFit and MOSS.",
    Settings(),
    Settings(n_trees=200),
    tasks,
    run,
    present,
)
