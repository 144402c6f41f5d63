"""How much each rule, and each column, moves the predictions.

As RuleFit defines it (Friedman and Popescu, 2008), for a rule of weight w and support s:

    of a rule      |w| sqrt(s (1 - s)), the standard deviation over the training rows of what the
                   rule adds to a prediction, in the target's units
    of a feature   the sum over the rules that use it, each divided by its number of features

A rule that holds everywhere or nowhere does not tell rows apart, so its importance is 0.
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
           "importances_of", "rule_importances"]  # fmt: skip


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
    ('age > 40', 0.84)
    """

    position: int  #: among the rule set's rules or features
    name: str  #: the rule in words, or the feature
    importance: float  #: in the target's units
    share: float  #: of all importances; 0 where none has any


def rule_importances(ruleset: RuleSet) -> list[Importance]:
    """Return the importance of each rule, the largest first."""
    amounts = importances_of(ruleset)
    return _ranked(ruleset.texts, amounts.tolist(), _shares(amounts).tolist())


def feature_importances(ruleset: RuleSet) -> list[Importance]:
    """Return the importance of each feature that a rule uses, the largest first."""
    amounts = importances_of(ruleset)
    names = ruleset.features
    return _ranked(
        names, _by_feature(ruleset, names, amounts), _by_feature(ruleset, names, _shares(amounts))
    )


def column_shares(ruleset: RuleSet) -> FloatArray:
    """Return each column's share of all importances, in the order of the training table."""
    return np.array(_by_feature(ruleset, ruleset.columns, _shares(importances_of(ruleset))))


def importance_frame(kind: str, items: Sequence[Importance], backend: Backend | None) -> Any:
    """Return importances as a data frame, with their names in the column `kind`."""
    return make_frame(
        {
            kind: [item.name for item in items],
            "importance": [item.importance for item in items],
            "share": [item.share for item in items],
        },
        backend,
    )


def importances_of(ruleset: RuleSet) -> FloatArray:
    """Return the importance of each rule, in their order."""
    # A rule is a variable of 0 and 1, whose variance is s (1 - s).
    support = ruleset.support
    return np.asarray(np.abs(ruleset.weights) * np.sqrt(support * (1.0 - support)))


def _shares(amounts: FloatArray) -> FloatArray:
    largest = amounts.max(initial=0.0)
    if largest == 0.0:
        return np.zeros_like(amounts)
    scaled = amounts / largest  # so that the sum is finite
    return np.asarray(scaled / scaled.sum())


def _by_feature(ruleset: RuleSet, names: Sequence[str], per_rule: FloatArray) -> list[float]:
    """Return a quantity of rules by feature, each rule's divided equally among its features."""
    total = dict.fromkeys(names, 0.0)
    for rule, amount in zip(ruleset.rules, per_rule.tolist(), strict=True):
        for feature in rule.features:
            total[feature] += amount / len(rule)
    return list(total.values())


def _ranked(
    names: Sequence[str], amounts: Sequence[float], shares: Sequence[float]
) -> list[Importance]:
    """Return importances by falling amount; those of one amount stay in their order."""
    items = [
        Importance(position, *values)
        for position, values in enumerate(zip(names, amounts, shares, strict=True))
    ]
    return sorted(items, key=lambda item: -item.importance)
