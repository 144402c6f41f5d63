"""Run by `classification` in an environment of its own: interpret's boosting machine on folds."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from answering import answer
from interpret.glassbox import ExplainableBoostingClassifier
from sklearn.metrics import (
    balanced_accuracy_score,
    brier_score_loss,
    log_loss,
    roc_auc_score,
)

SEED = 0
# Its defaults, 14 bags and three interactions for each column, take minutes for a fold of the
# smallest table, and hours for all; interactions beyond ten hardly move AUC there.
CHEAPER = {"outer_bags": 4, "interactions": 10}


def measure(job: Any) -> Iterator[dict[str, float]]:
    """Fit to the other folds and test on each, one after the other."""
    X, y, fold = pd.DataFrame(job["X"]), np.array(job["y"]), np.array(job["fold"])
    kinds = ["nominal" if nominal else "continuous" for nominal in job["nominal"]]
    X.columns = [f"x{number}" for number in X.columns]
    for number in np.unique(fold):
        train, test = fold != number, fold == number
        started = time.perf_counter()
        model = ExplainableBoostingClassifier(
            feature_types=kinds, random_state=SEED, n_jobs=1, **CHEAPER
        )
        model.fit(X[train], y[train])
        taken = time.perf_counter() - started
        chances = model.predict_proba(X[test])
        result = {
            "fold": number,
            "auc": roc_auc_score(y[test], chances[:, 1]),
            "log_loss": log_loss(y[test], chances),
            "balanced_accuracy": balanced_accuracy_score(y[test], model.predict(X[test])),
            "brier": brier_score_loss(y[test], chances[:, 1]),
            "seconds": taken,
        }
        yield {key: float(value) for key, value in result.items()}


if __name__ == "__main__":
    answer(measure)
