"""What all baselines share: where their rules come from, and how a choice becomes a model."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from mossrules._checks import check_integer
from mossrules._typing import FloatArray, IntArray
from mossrules.candidates.search import Candidates
from mossrules.data.canonical_order import Rows
from mossrules.data.labels import check_class_weight
from mossrules.data.streams import Streamed
from mossrules.estimators.base import RuleClassifier, RuleEstimator, RuleRegressor
from mossrules.exceptions import InvalidParameter
from mossrules.learning.log_odds import share_log_odds
from mossrules.learning.stability_levels import check_choice
from mossrules.model import RuleSet

__all__ = ["Baseline", "BaselineClassifier", "BaselineRegressor", "Choice", "Source", "Variant"]

Source = Literal["pool", "own"]
Variant = Literal["published", "paper"]


class Choice(NamedTuple):
    """Some of the candidates with weights, for the target of mean 0 and variance 1.

    The prediction is the intercept plus the weights of the rules that hold: weights are those of
    columns of 0 and 1, not of the columns `v_i` or 0 that `Statistics` describes.
    """

    support: IntArray
    weights: FloatArray
    intercept: float

    @classmethod
    def of_weights(cls, weights: FloatArray, intercept: float) -> Choice:
        """Return the candidates whose weight is not zero, out of one weight for each."""
        support: IntArray = np.flatnonzero(weights)
        return cls(support, weights[support], intercept)


class Baseline(RuleEstimator):
    """A learner to compare with.

    `source` says where candidates come from: "pool" is the forest that all learners share, and
    whose candidates `fit_candidates` takes; "own" is what the learner's authors use.

    A learner adds `_find_own` and `_choose`. It checks its own parameters in `_check_parameters`,
    after those that are checked here.
    """

    max_rules: int
    source: Source

    @abstractmethod
    def _find_own(self, rows: Rows) -> Candidates:
        """Return the candidates of `source="own"`; none where there is nothing to find."""

    @abstractmethod
    def _choose(self, candidates: Candidates, rows: Rows | None) -> Choice:
        """Choose among candidates, of which there is at least one.

        `rows` are None where only candidates were given: what needs them says so by an error.
        """

    def _check_parameters(self) -> None:
        check_integer("max_rules", self.max_rules)
        check_choice("source", self.source, get_args(Source))

    @property
    def _finds_alone(self) -> bool:
        return self.source == "own"

    @property
    def _needs_rows(self) -> bool:
        return True

    def _find(self, rows: Rows | Streamed) -> Candidates:
        if self._finds_alone and isinstance(rows, Rows):
            return self._find_own(rows)
        return super()._find(rows)

    def _choice(self, rows: Rows | None) -> Choice | None:
        """Return the choice among the candidates; None where there are none."""
        if rows is None and self.source == "own":
            raise InvalidParameter(
                "source is 'own', and candidates found before would take its place; call fit, or "
                "set source='pool'."
            )
        return self._choose(self.candidates_, rows) if len(self.candidates_) > 0 else None

    def _in_units(self, rows: Rows | None) -> RuleSet:
        """Return the chosen rules, their weights in units of the target."""
        statistics = self.candidates_.statistics
        choice = self._choice(rows) or Choice.of_weights(np.empty(0), 0.0)
        return RuleSet.from_candidates(
            self.candidates_,
            choice.support,
            choice.weights * statistics.target_scale,
            statistics.target_mean + choice.intercept * statistics.target_scale,
            target=self._target_name,
        )


class BaselineRegressor(Baseline, RuleRegressor):
    """A regressor to compare with.

    `variant` says which version chooses among candidates: "published" is its authors', "paper" that
    to which the MOSS paper compares, as its notebooks have it.
    """

    variant: Variant

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("variant", self.variant, get_args(Variant))

    def _learn(self, rows: Rows | None) -> None:
        self.rules_ = self._in_units(rows)


class BaselineClassifier(Baseline, RuleClassifier):
    """A classifier to compare with: weights and intercept of its choice are log-odds.

    The MOSS paper compares regressors only, so there is one version, that of the authors.
    """

    class_weight: Any
    _figures: tuple[str, ...] = ()  # attributes that a model of several classes has by class

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_class_weight(self.class_weight)

    def _learn(self, rows: Rows | None) -> None:
        choice = self._choice(rows)
        if choice is None:
            statistics = self.candidates_.statistics
            alone = share_log_odds(statistics.target_mean, statistics.n)
            choice = Choice.of_weights(np.empty(0), alone)
        self.rules_ = RuleSet.from_candidates(
            self.candidates_,
            choice.support,
            choice.weights,
            choice.intercept,
            target=self._target_name,
            link="logit",
            outcome=self._outcome,
        )

    def _gather(self) -> None:
        super()._gather()
        for name in self._figures:
            setattr(self, name, {label: getattr(m, name) for label, m in self.estimators_.items()})
