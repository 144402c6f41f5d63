"""What can be said about the data again and again: the shape of the paper's two case studies.

The paper studies seabirds, on data of its own, and responses to a census, on 3000 columns. Here are
two tables that anyone has: abalone, which is marine biology as well, and us_crime, which is a
question of policy on census columns. Each is analysed over and over, with a part of the rows left
out, by a black box and by learners of rules; what every analysis finds is what one may rely on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from sklearn.ensemble import RandomForestRegressor

from mossrules.display import ConsistencyDisplay, StructureDisplay
from mossrules.model import RuleSet
from research.paper.drawing import Figure, figure_of
from research.paper.framework import Experiment, ExperimentContext, Presentation, Row, TableOf
from research.paper.measuring import compare, mean_of, model_rows
from research.paper.numbers import OnNumbers
from research.paper.protocols import DEFAULT

__all__ = ["EXPERIMENT", "Settings", "Study"]

FOREST = "random forest"


@dataclass(frozen=True)
class Study:
    """A question asked of a table, and the study of the paper that it takes after."""

    question: str
    unit: str  # of the target
    max_rules: int  # as in the paper's
    left_out: tuple[str, ...]  # columns that name places and not what they are like
    paper: str
    published: dict[str, float]  # the paper's R2, by learner
    published_common: dict[str, int]  # its rules found in every re-analysis


STUDIES = {
    "us_crime": Study(
        "Violent crimes per head in 1994 communities of the United States",
        "the crime rate, 0 to 1",
        15,
        ("state", "county", "community", "communityname", "fold"),
        "responses to a census",
        {FOREST: 0.79, "SIRUS": 0.52, "FIRE": 0.75, "MOSS-H": 0.73},
        {"MOSS-H": 4},
    ),
    "abalone": Study(
        "Rings, and so the age, of 4177 abalone from measures of their shells",
        "rings",
        10,
        (),
        "trophic position of seabirds",
        {FOREST: 0.58, "SIRUS": 0.30, "FIRE": 0.59, "MOSS-H": 0.57},
        {"FIRE": 0, "MOSS-H": 5},
    ),
}


@dataclass(frozen=True)
class Settings:
    """What is run."""

    studies: tuple[str, ...] = tuple(STUDIES)
    learners: tuple[str, ...] = ("SIRUS", "FIRE", "MOSS-H", DEFAULT)
    analyses: int = 10
    n_trees: int | None = None  # shallow ones, of which rules are made
    forest_trees: int = 500  # deep ones, of the black box
    seed: int = 0


def tasks(settings: Settings) -> Sequence[str]:
    """Return the studies."""
    return settings.studies


def run(settings: Settings, task: str, context: ExperimentContext) -> list[Row]:
    """Return one row for each learner and re-analysis, with the rule set itself."""
    study = STUDIES[task]
    data = context.load(task, without=study.left_out)
    forest = RandomForestRegressor(
        settings.forest_trees, max_features=1 / 3, random_state=settings.seed
    )
    rules = context.learners(settings, data, settings.learners, max_rules=study.max_rules)
    learners = {FOREST: OnNumbers(forest), **rules}
    found = model_rows(compare(context, data, learners, settings.analyses), "analysis")
    return [{"study": task, **row} for row in found]


# --- showing --------------------------------------------------------------------------------------


def present(settings: Settings, rows: Sequence[Row]) -> Presentation:
    """Return accuracy and stability, the rules of every re-analysis in words, and figures."""
    tables = []
    figures: dict[str, Callable[[], Figure]] = {}
    for name in settings.studies:
        own = [row for row in rows if row["study"] == name]
        found = {learner: models_of(own, learner) for learner in settings.learners}
        found = {learner: models for learner, models in found.items() if len(models) > 1}
        blocks = ConsistencyDisplay.from_splits(found, identity="codes")
        stable = {
            learner: replace(
                StructureDisplay.from_splits(models, identity="codes"), target=STUDIES[name].unit
            )
            for learner, models in found.items()
        }
        tables += [
            accuracy(settings, name, own, blocks),
            TableOf(f"{name}: rules found in every re-analysis", in_words(stable), NOTES),
        ]
        figures[f"{name}-analyses"] = partial(figure_of, blocks)
        for learner in (each for each in stable if each.startswith("MOSS")):
            figures[f"{name}-structure-{learner.replace(' ', '-')}"] = partial(
                figure_of, stable[learner]
            )
    return Presentation(tables, figures)


NOTES = (
    (
        "Rules are the same if they ask for the same bins of the same features; where the "
        "thresholds of the bins differ between re-analyses, the smallest and the largest are "
        "given, as in 2.1..2.3. Weights are what a rule adds to a prediction, in the target's "
        "units: the mean over re-analyses, the smallest and the largest."
    ),
)


def models_of(rows: Sequence[Row], learner: str) -> list[RuleSet]:
    """Return the rule sets of a learner's re-analyses, those that did not fail."""
    own = [row for row in rows if row["learner"] == learner and row["model"] is not None]
    return [RuleSet.from_json(row["model"]) for row in own]


def accuracy(
    settings: Settings, name: str, rows: Sequence[Row], blocks: ConsistencyDisplay
) -> TableOf:
    """Return each learner's accuracy and stability beside those of the paper's study."""
    study = STUDIES[name]
    shown = {each.method: each for each in blocks.methods}
    lines = []
    for learner in dict.fromkeys(row["learner"] for row in rows):
        own = [row for row in rows if row["learner"] == learner]
        found = shown.get(learner)
        lines.append({
            "learner": learner,
            "test R2": mean_of(own, "r2"),
            "paper's study R2": study.published.get(learner),
            "Dice": None if found is None else found.dice,
            "rules": None if found is None else mean_of(own, "n_rules"),
            "distinct rules": None if found is None else found.distinct,
            "in every re-analysis": None if found is None else found.common,
            "paper's study": study.published_common.get(learner),
            "failed": sum(row["failure"] is not None for row in own),
        })  # fmt: skip
    notes = [
        (
            f"{study.question}; at most {study.max_rules} rules, {settings.analyses} re-analyses "
            "that each leave out another part of the rows, on which R2 is measured. "
            f"{FOREST.capitalize()}: scikit-learn's, {settings.forest_trees} trees of any depth, "
            "a third of the columns at each split. "
            f"{DEFAULT}: with its default stability."
        ),
        (
            f"The paper's figures are those of its own study ({study.paper}), on data that we do "
            "not have: alike in shape, not to be compared digit by digit."
        ),
    ]
    if study.left_out:
        notes.append(
            f"Left out: {', '.join(study.left_out)}. They name places, or folds, and a rule about "
            "them says nothing that policy could use."
        )
    return TableOf(f"{name}: accuracy and stability", lines, notes)


def in_words(stable: dict[str, StructureDisplay]) -> list[Row]:
    """Return the rules that every re-analysis of a learner has."""
    return [
        {
            "learner": learner,
            "rule": str(rule),
            "rows": f"{rule.support:.0%}",
            "weight": f"{rule.weight:+.3g}",
            "from": f"{rule.weight_low:+.3g}",
            "to": f"{rule.weight_high:+.3g}",
        }
        for learner, display in stable.items()
        for rule in display.rules
    ]


EXPERIMENT = Experiment(
    "case-study",
    "Two case studies",
    "What every re-analysis finds: crime in communities, and the age of abalone.",
    Settings(),
    Settings(analyses=3, n_trees=100, forest_trees=30),
    tasks,
    run,
    present,
)
