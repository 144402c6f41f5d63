"""The folds of a report: what the trade-off is worth on them, and what other learners are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from mossrules.baselines.registry import BASELINES, baselines_like
from mossrules.display.report.data import BaselinePoint
from mossrules.estimators import MossClassifier, MossRegressor
from mossrules.estimators.cross_validation import EvaluationProgress
from mossrules.estimators.evaluated import FrontierEvaluation, standard_error
from mossrules.evaluation import Evaluation, evaluate, evaluate_frontier
from mossrules.exceptions import InvalidParameter
from mossrules.progress import StageListener

__all__ = ["Folds", "Learners", "measure_rivals"]

Learners = Literal["baselines"] | Mapping[str, Any] | None


@dataclass(frozen=True)
class Folds:
    """Rows, how they are dealt out, and whom to tell how far it is."""

    X: Any
    y: Any
    how: Mapping[str, Any]
    say: StageListener

    def evaluate(
        self, model: MossRegressor | MossClassifier, shares: Sequence[float], gap: float
    ) -> FrontierEvaluation:
        """Return what each point is worth on rows that were not learned from."""
        listen = self._listener("cross-validating the trade-off")
        return evaluate_frontier(
            model, self.X, self.y, points=shares, gap=gap, progress=listen, **self.how
        )

    def compare(self, learners: Mapping[str, Any]) -> Evaluation:
        """Return what other learners are worth on the same rows."""
        listen = self._listener("comparing with other learners")
        return evaluate(learners, self.X, self.y, progress=listen, **self.how)

    def _listener(self, stage: str) -> Callable[[EvaluationProgress], None]:
        def listen(state: EvaluationProgress) -> None:
            self.say(stage, state.done, state.total)

        return listen


def measure_rivals(
    model: MossRegressor | MossClassifier,
    learners: Learners,
    folds: Folds,
    evaluation: FrontierEvaluation,
) -> Sequence[BaselinePoint]:
    """Return what other learners make of the folds that a trade-off was evaluated on."""
    if learners is None:
        return ()
    found = folds.compare(_named(model, learners))
    return [_point(found, evaluation, name) for name in found.learners]


def _named(
    model: MossRegressor | MossClassifier, learners: Literal["baselines"] | Mapping[str, Any]
) -> Mapping[str, Any]:
    """Return the learners; baselines look for rules as the model does, and so share the search."""
    if isinstance(learners, Mapping):
        return learners
    if learners != "baselines":
        raise InvalidParameter(
            f"learners is {learners!r}; pass 'baselines', a dict of estimators, or None."
        )
    return baselines_like(model)


def _point(found: Evaluation, evaluation: FrontierEvaluation, learner: str) -> BaselinePoint:
    summary = next(each for each in found.summaries if each.learner == learner)
    scores, dice = _scores(found, evaluation, learner), summary.dice
    return BaselinePoint(
        name=learner,
        score=float(np.mean(scores)) if len(scores) else float("nan"),
        score_se=standard_error(scores),
        dice=None if dice is None else dice.estimate,
        dice_low=None if dice is None else dice.lower,
        dice_high=None if dice is None else dice.upper,
        rules=summary.n_rules,
        what=BASELINES[learner].about if learner in BASELINES else "",
    )


def _scores(found: Evaluation, evaluation: FrontierEvaluation, learner: str) -> Any:
    """Return the score of each fold, by the measure that the trade-off has."""
    folds = [each for each in found.folds(learner) if not each.failed]
    if found.metric == "r2":
        return np.array([each.r2 for each in folds])
    # The share of the log-loss that is gone; what it is without rules, the trade-off knows.
    alone = {
        each.fold: each.error / (1.0 - each.r2)
        for points in evaluation.results
        for each in points[:1]
    }
    return np.array([1.0 - each.score("log_loss") / alone[each.fold] for each in folds])
