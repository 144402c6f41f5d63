"""`RuleSets`: one rule set for each of several classes, and their probabilities side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from mossrules._typing import FloatArray
from mossrules.columns import Label
from mossrules.exceptions import InvalidParameter
from mossrules.model.ruleset import RuleSet

__all__ = ["RuleSets"]


class RuleSets(Mapping[Label, RuleSet]):
    """A mapping from classes to rule sets, each of which gives the log-odds of its class.

    The probability of a class is what its own rules say, divided by the sum over all classes.
    """

    def __init__(self, by_class: Mapping[Label, RuleSet]) -> None:
        if len(by_class) < 2 or any(each.link != "logit" for each in by_class.values()):
            raise InvalidParameter(
                "RuleSets needs a rule set with link='logit' for each of two classes or more."
            )
        self._by_class = dict(by_class)

    def __getitem__(self, label: Label) -> RuleSet:
        return self._by_class[label]

    def __iter__(self) -> Iterator[Label]:
        return iter(self._by_class)

    def __len__(self) -> int:
        return len(self._by_class)

    def decision_function(self, X: Any) -> FloatArray:
        """Return the log-odds of each class against all others: (rows, classes)."""
        return np.column_stack([each.decision_function(X) for each in self.values()])

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class: (rows, classes), each row adding up to 1."""
        alone = np.column_stack([each.predict(X) for each in self.values()])
        # Where all rules say no, the smallest of doubles keeps their ratios from 0 / 0.
        alone = np.maximum(alone, np.finfo(np.float64).tiny)
        return np.asarray(alone / alone.sum(axis=1, keepdims=True), dtype=np.float64)

    def to_text(self) -> str:
        """Return the tables of all classes for people to read."""
        tables = [each.to_text() for each in self.values()]
        last = "Probabilities of all classes are then divided by their sum."
        return "\n\n".join([*tables, last])

    def __repr__(self) -> str:
        return self.to_text()
