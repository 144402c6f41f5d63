"""The methods that are compared, said once: for the command line, the report and research.

To add one, add a `Baseline` here and its name to `mossrules.cli.compare.MethodName`, which has to
be known before anything is loaded; a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from mossrules import defaults
from mossrules.baselines.fire import FireRegressor
from mossrules.baselines.glrm import GlrmClassifier, GlrmRegressor
from mossrules.baselines.rulefit import RuleFitClassifier, RuleFitRegressor
from mossrules.baselines.sirus import SirusClassifier, SirusRegressor
from mossrules.baselines.yardsticks import (
    YARDSTICKS,
    ClassifierOnNumbers,
    RegressorOnNumbers,
)
from mossrules.estimators import MossClassifier, MossRegressor
from mossrules.estimators.base import SEARCH_PARAMETERS
from mossrules.exceptions import InvalidParameter
from mossrules.learning.stability_levels import Stability

__all__ = [
    "BASELINES",
    "COMPARED",
    "METHODS",
    "MOSS",
    "OWN",
    "Baseline",
    "baselines_like",
    "make_methods",
]


@dataclass(frozen=True)
class Baseline:
    """A method to compare with, for numbers and for classes."""

    about: str  # what it does, after "it"
    regressor: type[Any]
    classifier: type[Any] | None = None  # None where the method is for numbers only

    def estimator(self, *, classes: bool) -> type[Any] | None:
        """Return the estimator for this kind of target."""
        return self.classifier if classes else self.regressor


# Names and order are those of the paper's tables; MOSS by the stability that is asked for.
MOSS: Mapping[str, Stability] = {"MOSS-H": "high", "MOSS-M": "medium", "MOSS-L": "low"}
BASELINES: Mapping[str, Baseline] = {
    "FIRE": Baseline(
        "lets weights that do little shrink to nothing, and joins those of neighbours",
        FireRegressor,
    ),
    "GLRM": Baseline(
        "builds its rules one after the other, as long as each is worth its length",
        GlrmRegressor,
        GlrmClassifier,
    ),
    "SIRUS": Baseline("takes the rules that most trees contain", SirusRegressor, SirusClassifier),
    "RuleFit": Baseline(
        "shrinks all weights until few rules are left",
        RuleFitRegressor,
        RuleFitClassifier,
    ),
}
METHODS = (*MOSS, *BASELINES)
# What a comparison has by default: MOSS with the parameters that were asked for, the methods of the
# paper, and what everyone knows.
OWN = "MOSS"
COMPARED = (OWN, *METHODS, *YARDSTICKS)


def make_methods(
    names: Iterable[str] | None,
    *,
    classes: bool,
    moss: Mapping[str, Any] | None = None,
    own: Mapping[str, Any] | None = None,
    **shared: Any,
) -> dict[str, Any]:
    """Return estimators by name.

    Parameters
    ----------
    names
        Of `COMPARED`; None for all that are for this kind of target.
    classes
        Whether the target is classes, and not a number.
    moss
        Parameters of MOSS alone.
    own
        Parameters of "MOSS" alone, whose stability is not one of the paper's.
    **shared
        Parameters that all have, but for yardsticks, which see `max_rules` and `random_state`.
    """
    kind = MossClassifier if classes else MossRegressor
    methods: dict[str, Any] = {}
    for name in COMPARED if names is None else names:
        if name == OWN:
            methods[name] = kind(**{**shared, **(moss or {}), **(own or {})})
            continue
        if name in MOSS:
            # The words are of the paper's floors, and the methods are the paper's.
            given = {**shared, **(moss or {}), **defaults.PAPER_WAY}
            methods[name] = kind(stability=MOSS[name], **given)
            continue
        if name in YARDSTICKS:
            methods[name] = _yardstick(name, classes=classes, **shared)
            continue
        if name not in BASELINES:
            raise InvalidParameter(f"There is no method {name!r}; choose from {COMPARED}.")
        estimator = BASELINES[name].estimator(classes=classes)
        if estimator is not None:
            methods[name] = estimator(**shared)
        elif names is not None:  # asked for by name, so that leaving it out would mislead
            raise InvalidParameter(f"{name} is for numbers and not for classes; leave it out.")
    return methods


def _yardstick(
    name: str,
    *,
    classes: bool,
    max_rules: int = defaults.MAX_RULES,
    random_state: Any = None,
    **_: Any,
) -> Any:
    """Return a yardstick for tables of any kind."""
    inner = YARDSTICKS[name](classes=classes, max_rules=max_rules, random_state=random_state)
    return ClassifierOnNumbers(inner) if classes else RegressorOnNumbers(inner)


def baselines_like(model: MossRegressor | MossClassifier) -> dict[str, Any]:
    """Return the baselines for a model's target, looking for rules as it does.

    With the same parameters of the search and as many rules an evaluation searches once for all.
    """
    search = {name: getattr(model, name) for name in SEARCH_PARAMETERS}
    classes = isinstance(model, MossClassifier)
    if classes:
        search["outcome"] = model.outcome
    # SIRUS first, as the one that is nearest to MOSS: it has the same rules to choose from.
    names = sorted(BASELINES, key=lambda name: name != "SIRUS")
    return make_methods(
        [name for name in names if BASELINES[name].estimator(classes=classes)],
        classes=classes,
        max_rules=model.max_rules,
        **search,
    )
