"""Which experiments there are; each is loaded when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from mossrules.data.table import did_you_mean
from mossrules.exceptions import InvalidParameter
from research.paper.framework import Experiment

__all__ = ["experiment_names", "find_experiment"]

# To add one: a module that makes an `Experiment` called EXPERIMENT, here under its name.
MODULES = {
    "motivating": "motivating",
    "sliding-window": "sliding_window",
    "sandwich": "sandwich",
    "epm": "efficient_pareto",
    "approximate": "approximate",
    "timing": "timing",
    "performance": "performance",
    "seeds": "seeds",
    "gamma": "sensitivity_gamma",
    "k": "sensitivity_k",
    "noise": "noise",
    "case-study": "case_study",
    "peers": "peers",
    "beyond": "beyond",
}


def experiment_names() -> tuple[str, ...]:
    """Return the names of all experiments, in the order of the paper."""
    return tuple(MODULES)


def find_experiment(name: str) -> Experiment[Any]:
    """Return an experiment by its name."""
    if name not in MODULES:
        raise InvalidParameter(
            f"There is no experiment {name!r}; choose from {', '.join(MODULES)}."
            f"{did_you_mean(name, [*MODULES])}"
        )
    module = import_module(f"research.paper.{MODULES[name]}")
    found: Experiment[Any] = module.EXPERIMENT
    return found
