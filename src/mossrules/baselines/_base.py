"""What all baselines share: where their rules come from, and which of two versions they are."""

from __future__ import annotations

from abc import abstractmethod
from typing import Literal, NamedTuple, get_args

import numpy as np

from mossrules._checks import check_integer
from mossrules._typing import FloatArray, IntArray
from mossrules.candidates import Candidates
from mossrules.estimators.base import RuleRegressor
from mossrules.estimators.choices import check_choice
from mossrules.estimators.order import Rows
from mossrules.exceptions import InvalidParameter
from mossrules.model import RuleSet

__all__ = ["BaselineRegressor", "Choice", "Source", "Variant"]

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


class BaselineRegressor(RuleRegressor):
    """A learner to compare with.

    `source` says where candidates come from: "pool" is the forest that all learners share, and
    whose candidates `fit_candidates` takes; "own" is what the learner's authors use. `variant` says
    which version chooses among them: "published" is its authors', "paper" that to which the MOSS
    paper compares, as its notebooks have it.

    A learner adds `_find_own` and `_choose`. It checks its own parameters in `_check_parameters`,
    after those that are checked here.
    """

    max_rules: int
    source: Source
    variant: Variant

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
        check_choice("variant", self.variant, get_args(Variant))

    @property
    def _finds_alone(self) -> bool:
        return self.source == "own"

    def _find(self, rows: Rows) -> Candidates:
        return self._find_own(rows) if self._finds_alone else super()._find(rows)

    def _learn(self, rows: Rows | None) -> None:
        if rows is None and self.source == "own":
            raise InvalidParameter(
                "source is 'own', and candidates found before would take its place; call fit, or "
                "set source='pool'."
            )
        candidates, statistics = self.candidates_, self.candidates_.statistics
        choice = Choice.of_weights(np.empty(0), 0.0)
        if len(candidates) > 0:
            choice = self._choose(candidates, rows)
        self.rules_ = RuleSet.from_candidates(
            candidates,
            choice.support,
            choice.weights * statistics.target_scale,
            statistics.target_mean + choice.intercept * statistics.target_scale,
            target=self._target_name,
        )
