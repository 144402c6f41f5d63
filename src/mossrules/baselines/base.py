"""What all baselines share: where their candidate rules come from, and how weights become a model.

A baseline is a scikit-learn estimator of its own file, which reads parameters, calls functions of
statistics, patterns and rules (the other modules of this folder, which know no estimator), and
keeps their answer. What may be touched here: the steps that are the same for all of them.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from mossrules._common import check_choice, check_integer
from mossrules._typing import FloatArray, IntArray
from mossrules.candidates.search import Candidates
from mossrules.data.labels import check_class_weight
from mossrules.data.rows import Rows
from mossrules.estimators.base import RuleClassifier, RuleEstimator, RuleRegressor, by_class
from mossrules.exceptions import InvalidParameter
from mossrules.learning.log_loss import events_of, share_log_odds
from mossrules.model import RuleSet

__all__ = [
    "Baseline",
    "BaselineClassifier",
    "BaselineRegressor",
    "ChosenRules",
    "Source",
    "Variant",
    "require_rows",
]

Source = Literal["pool", "own"]
Variant = Literal["published", "paper"]


class ChosenRules(NamedTuple):
    """Some of the candidates with weights, for the target of mean 0 and variance 1.

    The prediction is the intercept plus the weights of the rules that hold: weights are those of
    columns of 0 and 1, not of the columns `v_i` or 0 that `Statistics` describes.
    """

    support: IntArray
    weights: FloatArray
    intercept: float

    @classmethod
    def of_weights(cls, weights: FloatArray, intercept: float) -> ChosenRules:
        """Return the candidates whose weight is not zero, out of one weight for each."""
        support: IntArray = np.flatnonzero(weights)
        return cls(support, weights[support], intercept)


class Baseline(RuleEstimator):
    """A method to compare with.

    `source` says where candidates come from: "pool" is the forest that all methods share, and
    whose candidates `fit_candidates` takes; "own" is what the method's authors use.

    A baseline adds `_find_own` and `_choose`. It checks its own parameters in `check_parameters`,
    after those that are checked here.
    """

    max_rules: int
    source: Source

    @abstractmethod
    def _find_own(self, rows: Rows) -> Candidates:
        """Return the candidates of `source="own"`; none where there is nothing to find."""

    @abstractmethod
    def _choose(self, candidates: Candidates, rows: Rows | None) -> ChosenRules:
        """Choose among candidates, of which there is at least one.

        `rows` are None where only candidates were given: what needs them says so by an error.
        """

    def check_parameters(self) -> None:
        """Refuse parameters that cannot be, before any work."""
        check_integer("max_rules", self.max_rules)
        check_choice("source", self.source, get_args(Source))

    @property
    def has_own_candidates(self) -> bool:
        """Whether its candidates are its own: those of its authors."""
        return self.source == "own"

    @property
    def _needs_rows(self) -> bool:
        return True

    def find_candidates(self, rows: Rows) -> Candidates:
        """Return the candidates that `fit` finds in rows that were read."""
        # Candidates of the shared pool are found once for all methods that are compared.
        if self.has_own_candidates:
            return self._find_own(rows)
        return super().find_candidates(rows)

    def _choose_if_any(self, rows: Rows | None) -> ChosenRules | None:
        """Return the chosen rules; None where there are no candidates."""
        if rows is None and self.source == "own":
            raise InvalidParameter(
                "source is 'own', and candidates found before would take its place; call fit, or "
                "set source='pool'."
            )
        return self._choose(self.candidates_, rows) if len(self.candidates_) > 0 else None

    def _rules_in_target_units(self, rows: Rows | None) -> RuleSet:
        """Return the chosen rules as a rule set, their weights in units of the target."""
        statistics = self.candidates_.statistics
        chosen = self._choose_if_any(rows) or ChosenRules.of_weights(np.empty(0), 0.0)
        return RuleSet.from_candidates(
            self.candidates_,
            chosen.support,
            chosen.weights * statistics.target_scale,
            statistics.target_mean + chosen.intercept * statistics.target_scale,
            target=self._target_name,
        )


class BaselineRegressor(Baseline, RuleRegressor):
    """A regressor to compare with.

    `variant` says which version chooses among candidates: "published" is its authors', "paper" that
    to which the MOSS paper compares, as its notebooks have it.
    """

    variant: Variant

    def check_parameters(self) -> None:
        """Refuse parameters that cannot be, before any work."""
        super().check_parameters()
        check_choice("variant", self.variant, get_args(Variant))

    def _learn(self, rows: Rows | None) -> None:
        self.rules_ = self._rules_in_target_units(rows)


class BaselineClassifier(Baseline, RuleClassifier):
    """A classifier to compare with: weights and intercept of its rules are log-odds.

    The MOSS paper compares regressors only, so there is one version, that of the authors.
    """

    class_weight: Any
    _by_class: tuple[str, ...] = ()  # attributes that a model of several classes has by class

    def check_parameters(self) -> None:
        """Refuse parameters that cannot be, before any work."""
        super().check_parameters()
        check_class_weight(self.class_weight)

    def _learn(self, rows: Rows | None) -> None:
        chosen = self._choose_if_any(rows)
        if chosen is None:
            statistics = self.candidates_.statistics
            log_odds = share_log_odds(statistics.target_mean, statistics.n)
            chosen = ChosenRules.of_weights(np.empty(0), log_odds)
        self.rules_ = RuleSet.from_candidates(
            self.candidates_,
            chosen.support,
            chosen.weights,
            chosen.intercept,
            target=self._target_name,
            link="logit",
            outcome=self._outcome,
            events=self._events or events_of(self.candidates_),
        )

    def _attributes_of_all(self, members: dict[Any, Any]) -> dict[str, Any]:
        figures = {name: by_class(members, name) for name in self._by_class}
        return super()._attributes_of_all(members) | figures


def require_rows(rows: Rows | None, what: str, instead: str) -> Rows:
    """Return the rows; refuse to go on without them, with the way out."""
    if rows is None:
        raise InvalidParameter(f"{what} and only candidates were given; call fit, or {instead}.")
    return rows
