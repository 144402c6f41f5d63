"""How much the ridge matters: the paper's table of sensitivity to gamma."""

from __future__ import annotations

from collections.abc import Sequence

from research.paper.framework import Experiment, ExperimentContext, Presentation, Row
from research.paper.sensitivity import QUICK_DATASETS, Settings, measure, show, tasks

__all__ = ["EXPERIMENT"]

VALUES = (0.0001, 0.0005, 0.001, 0.005)


def run(settings: Settings, task: str, context: ExperimentContext) -> list[Row]:
    """Return one row for each gamma."""
    values = {gamma: {"gamma": gamma, "max_rules": settings.max_rules} for gamma in settings.values}
    return measure(settings, task, context, "gamma", values)


def present(settings: Settings, rows: Sequence[Row]) -> Presentation:
    """Return our table beside the paper's."""
    note = f"MOSS at high stability, k = {settings.max_rules}, gamma as given under any protocol."
    return show(rows, "gamma", [note])


EXPERIMENT = Experiment(
    "gamma",
    "How much the ridge matters",
    "Accuracy and stability of MOSS at several ridges.",
    Settings(VALUES),
    Settings(VALUES, datasets=QUICK_DATASETS, seconds=2.0),
    tasks,
    run,
    present,
)
