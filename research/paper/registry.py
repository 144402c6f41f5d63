"""Which experiments there are; each is loaded when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from mossrules.data.table import did_you_mean
from mossrules.exceptions import InvalidParameter
from research.paper.framework import Experiment

__all__ = ["experiment_names", "find_experiment"]

# To add one: a module of that name (with _ for -) that makes an `Experiment` called EXPERIMENT.
NAMES = (
    "motivating",
    "sliding-window",
    "sandwich",
    "epm",
    "approximate",
    "timing",
    "performance",
    "seeds",
    "gamma",
    "k",
    "noise",
    "case-study",
    "peers",
    "beyond",
)


def experiment_names() -> tuple[str, ...]:
    """Return the names of all experiments, in the order of the paper."""
    return NAMES


def find_experiment(name: str) -> Experiment[Any]:
    """Return an experiment by its name."""
    if name not in NAMES:
        raise InvalidParameter(
            f"There is no experiment {name!r}; choose from {', '.join(NAMES)}."
            f"{did_you_mean(name, NAMES)}"
        )
    module = import_module(f"research.paper.{name.replace('-', '_')}")
    found: Experiment[Any] = module.EXPERIMENT
    return found
