"""How much each rule, and each column, moves the predictions.

As RuleFit defines it (Friedman and Popescu, 2008), for a rule of weight w and support s:

    of a rule      |w| sqrt(s (1 - s)), the standard deviation over the training rows of what the
                   rule adds to a prediction, in the target's units
    of a feature   the sum over the rules that use it, each divided by its number of features

What holds everywhere or nowhere moves no prediction apart from others, so it counts for nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mossrules._frames import Backend, make_frame
from mossrules._typing import FloatArray

if TYPE_CHECKING:
    from mossrules.model.ruleset import RuleSet

__all__ = ["Importance", "column_shares", "feature_importances", "importance_frame",
           "rule_importances"]  # fmt: skip


@dataclass(frozen=True)
class Importance:
    """The importance of one rule or feature.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> from mossrules.display import ImportanceDisplay
    >>> model = MossRegressor(2, n_trees=20).fit({"age": [30, 40, 50, 60]}, [2.0, 3.0, 9.0, 8.0])
    >>> first = ImportanceDisplay.from_estimator(model).importances[0]
    >>> first.name, round(first.share, 2)
    ('age <= 40', 0.86)
    """

    position: int  #: among the rule set's rules or features
    name: str  #: the rule in words, or the feature
    importance: float  #: in the target's units
    share: float  #: of all importances; 0 where none has any


def rule_importances(ruleset: RuleSet) -> list[Importance]:
    """Return the importance of each rule, the largest first."""
    amounts = _amounts(ruleset)
    return _ranked(ruleset.texts, amounts.tolist(), _shares(amounts).tolist())


def feature_importances(ruleset: RuleSet) -> list[Importance]:
    """Return the importance of each feature that a rule uses, the largest first."""
    amounts = _amounts(ruleset)
    names = ruleset.features
    return _ranked(
        names, _by_feature(ruleset, names, amounts), _by_feature(ruleset, names, _shares(amounts))
    )


def column_shares(ruleset: RuleSet) -> FloatArray:
    """Return each column's share of all importances, in the order of the training table."""
    return np.array(_by_feature(ruleset, ruleset.columns, _shares(_amounts(ruleset))))


def importance_frame(kind: str, found: Sequence[Importance], backend: Backend | None) -> Any:
    """Return importances as a data frame, with their names in the column `kind`."""
    return make_frame(
        {
            kind: [each.name for each in found],
            "importance": [each.importance for each in found],
            "share": [each.share for each in found],
        },
        backend,
    )


def _amounts(ruleset: RuleSet) -> FloatArray:
    support = ruleset.support
    return np.asarray(np.abs(ruleset.weights) * np.sqrt(support * (1.0 - support)))


def _shares(amounts: FloatArray) -> FloatArray:
    largest = amounts.max(initial=0.0)
    if largest == 0.0:
        return np.zeros_like(amounts)
    scaled = amounts / largest  # so that the sum is finite
    return np.asarray(scaled / scaled.sum())


def _by_feature(ruleset: RuleSet, names: Sequence[str], per_rule: FloatArray) -> list[float]:
    """Return what features have of a quantity of rules that is divided equally among theirs."""
    total = dict.fromkeys(names, 0.0)
    for rule, amount in zip(ruleset.rules, per_rule.tolist(), strict=True):
        for feature in rule.features:
            total[feature] += amount / len(rule)
    return list(total.values())


def _ranked(
    names: Sequence[str], amounts: Sequence[float], shares: Sequence[float]
) -> list[Importance]:
    """Return importances by falling amount; those of one amount stay in their order."""
    found = [
        Importance(position, *each)
        for position, each in enumerate(zip(names, amounts, shares, strict=True))
    ]
    return sorted(found, key=lambda each: -each.importance)
