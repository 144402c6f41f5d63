"""How good predictions are on rows that were not seen: of numbers, and of classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics import (
    brier_score_loss,
    log_loss,
    mean_squared_error,
    r2_score,
    roc_auc_score,
)

from mossrules._typing import AnyArray, BoolArray, FloatArray, IntArray
from mossrules.exceptions import InvalidParameter

__all__ = [
    "LABELS",
    "LARGER_IS_BETTER",
    "METRICS",
    "Task",
    "score_classes",
    "score_numbers",
    "task_of",
]

Task = Literal["regression", "classification"]
NAN = float("nan")

# The first of each is the one that methods are ranked by, unless another is asked for.
METRICS: dict[Task, tuple[str, ...]] = {
    "regression": ("r2", "error"),
    "classification": ("auc", "log_loss", "balanced_accuracy", "brier"),
}
LABELS = {
    "r2": "R2",
    "error": "squared error",
    "auc": "AUC",
    "log_loss": "log-loss",
    "balanced_accuracy": "balanced accuracy",
    "brier": "Brier score",
}
LARGER_IS_BETTER = ("r2", "auc", "balanced_accuracy")


def task_of(methods: Sequence[tuple[str, Any]]) -> Task:
    """Return what methods predict, which has to be the same for all of them."""
    by_task: dict[Task, list[str]] = {"regression": [], "classification": []}
    for name, estimator in methods:
        by_task["classification" if is_classifier(estimator) else "regression"].append(name)
    numbers, classes = by_task["regression"], by_task["classification"]
    if numbers and classes:
        raise InvalidParameter(
            f"methods has a classifier, {classes[0]!r}, and a regressor, {numbers[0]!r}; evaluate "
            "them apart, as a target is either classes or numbers."
        )
    return "classification" if classes else "regression"


def score_numbers(
    target: FloatArray, predicted: AnyArray, weights: FloatArray | None
) -> dict[str, float]:
    """Return R2 and the mean squared error."""
    return {
        "r2": float(r2_score(target, predicted, sample_weight=weights)),
        "error": float(mean_squared_error(target, predicted, sample_weight=weights)),
    }


def score_classes(
    model: Any, X: Any, codes: IntArray, classes: AnyArray, weights: FloatArray | None
) -> dict[str, float]:
    """Return the metrics of a classifier; `codes` are positions among all classes.

    Of more than two classes, AUC is the mean over classes of each against all others, and the Brier
    score adds up over classes, while for two it is that of the second, as in scikit-learn. A model
    without `predict_proba` has an AUC by `decision_function`, and no log-loss or Brier score.
    """
    hits = np.asarray(model.predict(X)) == classes[codes]
    scores = {
        "auc": NAN,
        "log_loss": NAN,
        "balanced_accuracy": _balanced_accuracy(codes, hits, weights),
        "brier": NAN,
    }
    known = np.asarray(model.classes_)
    if hasattr(model, "predict_proba"):
        chances = np.zeros((len(codes), len(classes)))
        chances[:, np.searchsorted(classes, known)] = model.predict_proba(X)
        everyone = {"labels": np.arange(len(classes)), "sample_weight": weights}
        scores["log_loss"] = float(log_loss(codes, chances, **everyone))
        scores["brier"] = float(brier_score_loss(codes, chances, **everyone))
    elif hasattr(model, "decision_function") and len(known) == len(classes):
        chances = np.asarray(model.decision_function(X))
        chances = np.column_stack([-chances, chances]) if chances.ndim == 1 else chances
    else:
        return scores
    return {**scores, "auc": _auc(codes, chances, weights)}


def _balanced_accuracy(codes: IntArray, hits: BoolArray, weights: FloatArray | None) -> float:
    """Return the mean, over the classes of test rows, of the share of each that is found."""
    totals = np.bincount(codes, weights)
    found = np.bincount(codes, hits if weights is None else hits * weights)
    return float(np.mean(found[totals > 0] / totals[totals > 0]))


def _auc(codes: IntArray, chances: FloatArray, weights: FloatArray | None) -> float:
    """Return the area under the curve, the mean over classes if there are more than two.

    It is not known where a class has no test rows, or all of them.
    """
    n_classes = chances.shape[1]
    if len(np.unique(codes)) < n_classes:
        return NAN
    found = [
        float(roc_auc_score(codes == code, chances[:, code], sample_weight=weights))
        for code in (range(n_classes) if n_classes > 2 else [1])
    ]
    return float(np.mean(found))
