"""Classifiers on six tables of PMLB: AUC, log-loss and the stability of rules, in one table.

MOSS at its three settings, SIRUS, RuleFit and GLRM, with at most 15 rules each, on the same folds
and, but for GLRM, from the same candidates. Beside them what has no rules, or not few: logistic
regression, an explainable boosting machine (of interpret, in an environment of its own) and a
forest of 500 full trees. The result is a page in Markdown beside the JSON.
"""

from __future__ import annotations

import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from mossrules.baselines.registry import MOSS, make_methods
from mossrules.evaluation import Evaluation, evaluate
from mossrules.exceptions import SolveLimitWarning
from mossrules.solver import Status
from research.benchmarks._classification_page import page
from research.benchmarks._data import CLASSES, read_table
from research.harness.clone import environment, write_text
from research.harness.measuring import THREADS
from research.harness.processes import ask, kept_environment
from research.harness.records import resume
from research.harness.reports import Figure, Report, Row, Skipped, say

DATASETS = (
    "breast_cancer_wisconsin_diagnostic",
    "credit_approval_germany",
    "churn",
    "spambase",
    "magic",
    "adult",
)
IDENTIFIERS = {"churn": ("phone number",)}  # say nothing of a row but which it is: left out
# Columns of codes without an order, in the tables whose index says that they have some.
CATEGORIES = {
    "adult": (
        "workclass", "education", "marital-status", "occupation", "relationship", "race", "sex",
        "native-country",
    ),
    "credit_approval_germany": (
        "Status", "Credit-history", "Purpose", "Savings-account", "Employment", "Personal-status",
        "Debtors", "Property", "Installments", "Housing", "Job", "Telephone", "Foreign",
    ),
}  # fmt: skip
FOLDS, MAX_RULES, SEED = 10, 15, 0
N_TREES, FULL_TREES = 2000, 500  # shallow ones for candidates, and those of the black box
# One pool for all; MOSS finds and chooses rules as the paper does.
SEARCH: dict[str, Any] = {"n_bins": 8, "max_features": 0.5, "generator": "paper-forest"}
TITLES = {"MOSS-H": "MOSS high", "MOSS-M": "MOSS medium", "MOSS-L": "MOSS low"}
EBM = "EBM"
INTERPRET = ("interpret-core==0.7.8",)
EBM_SECONDS = 2400.0  # for all folds of a table; it has those answered by then
METRICS = ("auc", "log_loss", "balanced_accuracy", "brier")
UNPROVEN = (Status.TIME_LIMIT.value, Status.NODE_LIMIT.value)


def features_and_classes(name: str, folder: Path | None = None) -> tuple[pd.DataFrame, pd.Series]:
    """Return features, categories as texts, and the classes of a table."""
    frame = read_table(folder or CLASSES, name).drop(columns=list(IDENTIFIERS.get(name, ())))
    target = frame.pop("target")
    return frame.astype(dict.fromkeys(CATEGORIES.get(name, ()), str)), target


def splitter(n_folds: int) -> StratifiedKFold:
    """Return the folds, the same for all learners and in all processes."""
    return StratifiedKFold(n_folds, shuffle=True, random_state=SEED)


def learners(n_trees: int, full_trees: int) -> dict[str, Any]:
    """Return all learners but the one with an environment of its own."""
    texts = make_column_selector(dtype_exclude="number")
    one_hot = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), texts), remainder=StandardScaler()
    )
    codes = make_column_transformer(
        (OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), texts),
        remainder="passthrough",
    )
    names = (*MOSS, "SIRUS", "RuleFit", "GLRM")  # in the order of the page
    methods = make_methods(
        names, classes=True, moss={"gap": 0.01}, max_rules=MAX_RULES, n_trees=n_trees,
        random_state=SEED, **SEARCH,
    )  # fmt: skip
    methods["GLRM"].set_params(source="own")
    return {
        **{TITLES.get(name, name): method for name, method in methods.items()},
        "logistic regression": make_pipeline(one_hot, LogisticRegression(max_iter=2000)),
        "forest": make_pipeline(codes, RandomForestClassifier(full_trees, random_state=SEED)),
    }


# --- measuring ------------------------------------------------------------------------------------


def measure(name: str, n_folds: int, n_trees: int, record: Path) -> list[Row]:
    """Return a row for each learner on one table; an interrupted run goes on from the record."""
    say(name)
    X, y = features_and_classes(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SolveLimitWarning)
        found = evaluate(
            learners(n_trees, min(n_trees, FULL_TREES)),
            X,
            y,
            cv=splitter(n_folds),
            identity="codes",
            checkpoint=record,
            n_jobs=THREADS,
        )
    return [summary_row(name, len(X), found, learner) for learner in found.methods]


def summary_row(name: str, n_rows: int, found: Evaluation, learner: str) -> Row:
    """Return the figures of a learner."""
    each = next(summary for summary in found.summaries if summary.method == learner)
    folds, dice = found.folds(learner), each.dice
    return {
        "table": name,
        "rows": n_rows,
        "learner": learner,
        "folds": found.n_folds,
        **{metric: each.scores[metric] for metric in METRICS},
        **{f"{metric}_se": each.errors[metric] for metric in METRICS},
        "dice": None if dice is None else dice.estimate,
        "dice_low": None if dice is None else dice.lower,
        "dice_high": None if dice is None else dice.upper,
        "n_rules": each.n_rules,
        "seconds": float(np.nansum([each.search_seconds, each.seconds])),
        "failed": each.failed,
        "unproven": sum(fold.status in UNPROVEN for fold in folds),
        "failure": next((fold.failure for fold in folds if fold.failed), None),
    }


def measure_ebm(name: str, n_folds: int) -> list[Row]:
    """Return the row of the explainable boosting machine, or one that says why there is none."""
    say(f"{name}, {EBM}")
    row: Row = {"table": name, "learner": EBM, "folds": n_folds, "dice": None, "failure": None}
    X, y = features_and_classes(name)
    fold = np.zeros(len(y), dtype=np.int64)
    for number, (_, test) in enumerate(splitter(n_folds).split(X, y)):
        fold[test] = number
    texts = [column for column in X if column in CATEGORIES.get(name, ())]
    job = {
        "X": X.astype(float).to_numpy(),
        "nominal": np.isin(X.columns, texts),
        "y": y.to_numpy(),
        "fold": fold,
    }
    try:
        python = kept_environment("interpret", INTERPRET)
    except Skipped as reason:
        return [{**row, "failure": str(reason)}]
    outcome = ask(python, "ebm_folds.py", job, EBM_SECONDS)
    answered = len(outcome.results)
    if answered < 2:
        return [{**row, "failure": outcome.failure or "fewer than two folds were answered"}]
    scores = {metric: np.array([each[metric] for each in outcome.results]) for metric in METRICS}
    errors = {key: each.std(ddof=1) / np.sqrt(answered) for key, each in scores.items()}
    measured = {
        "rows": len(y),
        "folds": answered,
        **{metric: float(each.mean()) for metric, each in scores.items()},
        **{f"{metric}_se": float(each) for metric, each in errors.items()},
        "seconds": float(np.median([each["seconds"] for each in outcome.results])),
    }
    return [{**row, **measured}]


def run(*, quick: bool, folder: Path) -> Report:
    """Measure all learners on all tables, and write the page."""
    names = DATASETS[:1] if quick else DATASETS
    n_folds, n_trees = (3, 50) if quick else (FOLDS, N_TREES)
    settings = {
        "folds": n_folds, "n_trees": n_trees, "full_trees": min(n_trees, FULL_TREES),
        "max_rules": MAX_RULES, "gap": 0.01, "seed": SEED, "ebm_seconds": EBM_SECONDS,
    }  # fmt: skip
    suffix = "-quick" if quick else ""
    record = resume(folder, "classification", settings, quick=quick)
    folder.mkdir(parents=True, exist_ok=True)
    rows: list[Row] = []
    for name in names:
        folds = folder / f"classification{suffix}-{name}.json"
        rows += record.once(name, partial(measure, name, n_folds, n_trees, folds))
        folds.unlink(missing_ok=True)
    for name in names:  # last, as it takes longer than all others together
        rows += record.once(f"{name}, {EBM}", partial(measure_ebm, name, n_folds))
    path = folder / f"classification_results{suffix}.md"
    write_text(path, page(rows, settings, environment()))
    record.delete()
    report = Report("classification", settings=settings, tables={"all": rows})
    report.notes.append(f"The page is {path.name}, beside the JSON.")
    report.figures = figures_of(rows)
    return report


def figures_of(rows: list[Row]) -> list[Figure]:
    """Return means over the tables that every learner has a figure of."""
    whole = [row for row in rows if row["failure"] is None]
    return [
        Figure(f"{what} of {learner}, mean over tables", float(np.mean(values)))
        for learner in dict.fromkeys(row["learner"] for row in whole)
        for what in ("auc", "log_loss", "dice")
        if None not in (values := [row[what] for row in whole if row["learner"] == learner])
    ]
