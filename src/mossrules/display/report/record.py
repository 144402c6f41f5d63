"""The track record that a report shows, and what its rows say of each rule.

A report is made to be passed on, so nothing is kept that belongs to one person: not the ranges of
single predictions, and no mean of only a few rows, or of all but a few.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from mossrules._common import check_integer
from mossrules._typing import BoolArray, FloatArray
from mossrules.candidates.rules import Rule
from mossrules.data.canonical_order import are_repetitions
from mossrules.data.groups import read_groups
from mossrules.data.labels import read_labels
from mossrules.data.table import Table, finite_numbers, read_weights, split_column
from mossrules.evaluation import EvaluationProgress, TrackRecord, track_record
from mossrules.evaluation.rule_rows import tells_single
from mossrules.exceptions import MossError
from mossrules.model import RuleSet
from mossrules.progress import StageListener

__all__ = ["Observed", "SeenRows", "record_for"]

STAGE = "repeating the analysis"


# --- the record -----------------------------------------------------------------------------------


def record_for(
    model: Any, X: Any, y: Any, *, refits: int, say: StageListener, **how: Any
) -> tuple[TrackRecord | None, str | None]:
    """Return the model's own track record, or one made of its rows; and why there is none.

    A report is worth having without, so what stands against a record is told and raises nothing.
    """
    if check_integer("refits", refits, minimum=0) == 1:
        check_integer("refits", refits, minimum=2)
    known: TrackRecord | None = model.rules_.track_record
    if known is not None:
        return known, None
    if X is None or refits == 0:
        return None, None
    read_groups(how["groups"], split_column(X, y)[0].n_rows)  # a mistake in them is an error

    def listen(state: EvaluationProgress) -> None:
        say(STAGE, state.done, state.total)

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what a refit warns of, the fit has warned of
            made: Any = track_record(model, X, y, refits=refits, progress=listen, **how)
    except MossError as reason:
        return None, str(reason)
    return replace(made, people_ranges=None), None


# --- the rows -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Observed:
    """What is observed on the rows where a rule holds."""

    n: int  # of them; whole weights count as repetitions
    mean: float | None = None  # of the target: of classes the rate of the outcome
    events: int | None = None  # of classes, rows of them that have the outcome


@dataclass(frozen=True, eq=False)
class SeenRows:
    """The rows of a report: features, target (0 and 1 for classes) and weights."""

    table: Table
    target: FloatArray
    weights: FloatArray | None
    of_classes: bool

    @classmethod
    def of(cls, X: Any, y: Any, sample_weight: Any, outcome_place: int | None) -> SeenRows:
        """Return the rows of a fit; of classes, the outcome is at a place among them."""
        table, column = split_column(X, y)
        weights = read_weights(sample_weight, table.n_rows)
        if outcome_place is None:
            return cls(table, finite_numbers(column, 0, table.n_rows), weights, of_classes=False)
        occurred = read_labels(column, table.n_rows)[1] == outcome_place
        return cls(table, occurred.astype(np.float64), weights, of_classes=True)

    @property
    def repetitions(self) -> int | None:
        """How many rows those with whole weights stand for; None of other weights."""
        if self.weights is None or not are_repetitions(self.weights):
            return None
        return round(float(self.weights.sum()))

    def discrimination(self, rules: RuleSet) -> tuple[float, float]:
        """Return the AUC of the predictions, and the balanced accuracy of those above one half."""
        predicted, weights = rules.predict(self.table), self.weights
        return (
            float(roc_auc_score(self.target, predicted, sample_weight=weights)),
            float(balanced_accuracy_score(self.target, predicted > 0.5, sample_weight=weights)),
        )

    def observed(self, rule_sets: Sequence[RuleSet]) -> Mapping[Rule, Observed]:
        """Return what is observed where each rule holds; rules are the same in all sets."""
        found: dict[Rule, Observed] = {}
        for rule_set in rule_sets:
            if all(rule in found for rule in rule_set.rules):
                continue
            for rule, holds in zip(rule_set.rules, rule_set.holds(self.table).T, strict=True):
                if rule not in found:
                    found[rule] = self._on(holds)
        return found

    def _on(self, holds: BoolArray) -> Observed:
        times, weights = np.ones(len(holds)), self.weights
        if weights is not None:
            times = weights if are_repetitions(weights) else (weights > 0).astype(np.float64)
        n = round(times[holds].sum())
        if tells_single(n, round(times.sum())):
            return Observed(n)
        # At least five rows count, so the weights do not sum to nothing.
        mean = np.average(self.target[holds], weights=None if weights is None else weights[holds])
        events = round((times * self.target)[holds].sum()) if self.of_classes else None
        return Observed(n, float(mean), events)
