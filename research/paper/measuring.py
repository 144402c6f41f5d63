"""Learners over the folds of a dataset, as rows; and ranks over datasets."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import rankdata

from mossrules._typing import FloatArray
from mossrules.defaults import PAPER_WAY
from mossrules.evaluation import Evaluation, evaluate
from mossrules.evaluation.folds import Split
from mossrules.exceptions import SolveLimitWarning
from mossrules.model import RuleSet
from mossrules.solver import Problem, Status
from mossrules.stability import Agreement, Estimate
from research.paper.datasets import Dataset
from research.paper.framework import ExperimentContext, Row
from research.paper.protocols import MedianFilled, MedianFiller

__all__ = [
    "MEASURES",
    "compare",
    "mark_note",
    "marked",
    "mean_of",
    "mean_ranks",
    "model_rows",
    "problem_of",
    "ranks_of",
    "summary_rows",
]

MEASURES = ("dice", "jaccard", "ochiai", "pog")
MARK = "(substitute)"
PROVEN = (Status.OPTIMAL.value, Status.HEURISTIC.value, "fitted")  # or nothing to prove


def compare(
    context: ExperimentContext,
    data: Dataset,
    learners: Mapping[str, Any],
    folds: int | Sequence[Split],
    *,
    vary_seed: bool = False,
) -> Evaluation:
    """Return what learners make of the folds; rows count searches that ended early.

    Where they fill in medians, that is done once for all on each fold, so that they can share
    candidates.
    """
    filled = any(isinstance(each, MedianFilled) for each in learners.values())
    bare = {
        name: each.learner if isinstance(each, MedianFilled) else each
        for name, each in learners.items()
    }
    prepare = MedianFiller() if filled else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SolveLimitWarning)
        return evaluate(
            bare,
            data.X,
            data.y,
            cv=folds,
            identity="codes",  # as the paper counts
            prepare=prepare,
            vary_seed=vary_seed,
            n_jobs=context.jobs,
        )


def summary_rows(data: Dataset, found: Evaluation) -> list[Row]:
    """Return one row for each learner: R2, all measures of stability, sizes and times."""
    rows = []
    for each in found.summaries:
        folds = found.folds(each.method)
        measures = {name: getattr(each, name) for name in MEASURES}
        rows.append({
            "dataset": data.name,
            "rows": len(data.y),
            "substitute": data.substitute,
            "learner": each.method,
            "folds": found.n_folds,
            "failed": each.failed,
            "unproven": sum(fold.status not in PROVEN and not fold.failed for fold in folds),
            "r2": each.r2,
            "r2_se": each.r2_se,
            **{name: _value(value) for name, value in measures.items()},
            "dice_se": None if each.dice is None else each.dice.standard_error,
            "dice_spread": _spread(found.rule_sets(each.method)),
            "n_rules": each.n_rules,
            "seconds": each.seconds,
            "search_seconds": each.search_seconds,
            "failure": next((fold.failure for fold in folds if fold.failed), None),
        })  # fmt: skip
    return rows


def _value(measured: Estimate | None) -> float | None:
    return None if measured is None else measured.estimate


def _spread(rule_sets: Sequence[RuleSet]) -> float | None:
    """Return the standard deviation of Dice over pairs: what the paper prints as standard error."""
    if len(rule_sets) < 2:
        return None
    pairs = Agreement.of(rule_sets, identity="codes").similarity("dice")[
        np.triu_indices(len(rule_sets), 1)
    ]
    return float(np.std(pairs))


def model_rows(found: Evaluation, place: str) -> list[Row]:
    """Return one row for each learner and fold, which `place` names, with the rule set itself."""
    return [
        {
            "learner": each.method,
            place: each.fold + 1,
            "status": each.status,
            "failure": each.failure,
            "r2": each.r2,
            "n_rules": each.n_rules,
            "model": None if each.rules is None else each.rules.to_json(),
        }
        for each in found.results
    ]


def problem_of(data: Dataset, context: ExperimentContext, settings: Any) -> Problem:
    """Return the paper's problem of choosing among the candidates of a table, ties kept."""
    model = context.moss(settings, data, 1.0, **{**PAPER_WAY, "ties": "keep"})
    found: Problem = model.fit(data.X, data.y).problem_
    return found


def marked(row: Row) -> str:
    """Return the name of a row's dataset, with a mark if it stands in for the paper's."""
    return f"{row['dataset']} {MARK}" if row["substitute"] else str(row["dataset"])


def mark_note(rows: Sequence[Row]) -> list[str]:
    """Return what the mark means, if there is one."""
    if not any(row["substitute"] for row in rows):
        return []
    return [f"{MARK} Not the paper's rows, but a table that stands in for them."]


# --- over datasets --------------------------------------------------------------------------------


def mean_of(rows: Sequence[Row], name: str) -> float:
    """Return the mean of a column, of the rows that have it."""
    values = [float(row[name]) for row in rows if row[name] is not None]
    return float(np.nanmean(values)) if values else float("nan")


def mean_ranks(rows: Sequence[Row]) -> dict[str, dict[str, float]]:
    """Return by learner the mean rank in R2 and in Dice over datasets, and the mean of both."""
    found = {}
    for learner, own in ranks_of(rows, ("r2", "dice")).items():
        r2, dice = (float(np.mean(each)) if len(each) else float("nan") for each in own.values())
        found[learner] = {"r2": r2, "dice": dice, "both": (r2 + dice) / 2}
    return found


def ranks_of(rows: Sequence[Row], names: Sequence[str]) -> dict[str, dict[str, FloatArray]]:
    """Return by learner its ranks in some figures, one for each dataset; rank 1 is the largest.

    Learners that tie share the mean of their ranks. Datasets on which one of them failed, or has no
    rules, are left out.
    """
    learners = list(dict.fromkeys(row["learner"] for row in rows))
    ranks: dict[str, list[FloatArray]] = {name: [] for name in names}
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        own = {row["learner"]: row for row in rows if row["dataset"] == dataset}
        if len(own) < len(learners) or any(
            row["failed"] or row["dice"] is None for row in own.values()
        ):
            continue
        for name, found in ranks.items():
            found.append(rankdata([-own[learner][name] for learner in learners]))
    return {
        learner: {name: np.array([each[i] for each in found]) for name, found in ranks.items()}
        for i, learner in enumerate(learners)
    }
