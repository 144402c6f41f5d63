"""How good are rules that choose the stability? Test R2 and Dice of each, by nested folds.

On each of five outer folds the training rows are cross-validated as `stability="auto"` does, every
rule of `FrontierEvaluation.choose` picks a share, and the model of that share predicts the test
rows. Run `python -m research.studies.choosing_stability`; its table is in docs/choosing.md. It
takes a quarter of an hour.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import get_args

import numpy as np
from sklearn.model_selection import KFold

from mossrules import MossRegressor, RuleSet, evaluate_frontier
from mossrules.defaults import PAPER_WAY
from mossrules.estimators import candidates_for, search_parameters
from mossrules.evaluation.frontier_evaluation import SelectionCriterion
from mossrules.stability import empirical_stability
from research.benchmarks._data import read_mixed

DATASETS = (
    "560_bodyfat",
    "690_visualizing_galaxy",
    "1027_ESL",
    "547_no2",
    "223_stock",
    "183_abalone",
)
FOLDS = 5
POINTS = 11
SECONDS = 60.0  # for the inner folds of an outer one
FIXED = ("high", "medium", 1.0)
CHOICES = (*FIXED, *get_args(SelectionCriterion))


def measure(name: str) -> dict[object, tuple[float, float, float]]:
    """Return mean test R2, Dice and mean share of each choice."""
    X, y = read_mixed(name)
    scores: dict[object, list[float]] = {choice: [] for choice in CHOICES}
    rules: dict[object, list[RuleSet]] = {choice: [] for choice in CHOICES}
    shares: dict[object, list[float]] = {choice: [] for choice in CHOICES}
    for train, test in KFold(FOLDS, shuffle=True, random_state=0).split(X):
        model = MossRegressor(
            n_trees=500, n_bins=10, max_features=1 / 3, time_limit=SECONDS, **PAPER_WAY
        )
        inner = evaluate_frontier(
            model,
            X.iloc[train],
            y[train],
            cv=FOLDS,
            points=POINTS,
            time_budget=SECONDS,
            identity="codes",
        )
        candidates = candidates_for(X.iloc[train], y[train], **search_parameters(model))
        for choice in CHOICES:
            stability = choice if choice in FIXED else inner.choose(choice).share
            model.set_params(stability=stability).fit_candidates(candidates)
            scores[choice].append(model.score(X.iloc[test], y[test]))
            rules[choice].append(model.rules_)
            shares[choice].append(
                model.problem_.min_stability / model.problem_.max_stability_unlimited
            )
    return {
        choice: (
            float(np.mean(scores[choice])),
            float(empirical_stability(rules[choice], identity="codes")),
            float(np.mean(shares[choice])),
        )
        for choice in CHOICES
    }


def lines() -> Iterator[str]:
    """Yield the lines of the table, as they are measured."""
    yield f"| table | {' | '.join(map(str, CHOICES))} |"
    yield "|---" * (len(CHOICES) + 1) + "|"
    everything = []
    for name in DATASETS:
        figures = measure(name)
        everything.append([figures[choice] for choice in CHOICES])
        yield f"| {name.partition('_')[2]} | {' | '.join(map(cell, everything[-1]))} |"
    yield f"| mean | {' | '.join(map(cell, np.mean(everything, axis=0)))} |"


def cell(figures: tuple[float, float, float]) -> str:
    """Return R2 / Dice at the mean share."""
    score, agreement, share = figures
    return f"{score:.3f} / {agreement:.2f} at {share:.2f}"


if __name__ == "__main__":
    for line in lines():
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
