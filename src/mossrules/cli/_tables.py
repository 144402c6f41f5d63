"""Models and frontiers as tables for people, and as content for machines."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from mossrules.estimators import MossClassifier, MossRegressor
    from mossrules.evaluation import Evaluation, LearnerSummary
    from mossrules.frontier import Frontier
    from mossrules.model import RuleSet
    from mossrules.solver import Solution

__all__ = [
    "as_csv",
    "certificate",
    "class_scores",
    "consistency_table",
    "frontier_rows",
    "frontier_table",
    "learners_table",
    "measures_content",
    "measures_table",
    "members_of",
    "model_content",
    "rules_table",
    "solution_content",
]


def rules_table(ruleset: RuleSet) -> Table:
    """Return the rules with their weights, the share of rows and the share of trees."""
    from mossrules.model.export_text import header, table_rows  # noqa: PLC0415  loads NumPy

    table, (*figures, rule) = Table(), header(ruleset)
    for heading in figures:
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column(rule, overflow="fold")
    for row in table_rows(ruleset):
        cells = (row.weight, row.support, row.proportion, row.rule)
        table.add_row(*map(Text, cells))  # not as markup: names of columns have brackets too
    return table


def certificate(solution: Solution) -> str:
    """Return one line on how good the choice is known to be."""
    from mossrules.solver import Status  # noqa: PLC0415  loads numba

    seconds = f"{solution.report.seconds:.2g} s"
    if solution.status is Status.OPTIMAL:
        return f"Optimal: proven to within {solution.gap:.2%} of the best choice, in {seconds}."
    if solution.status is Status.HEURISTIC:
        return f"Heuristic: found by {solution.report.method} in {seconds}, without a proof."
    return (
        f"Not proven: {solution.status.value} after {seconds}, with a gap of {solution.gap:.2%} "
        "left; allow more time, or a larger gap."
    )


def solution_content(solution: Solution, frontier_share: float) -> dict[str, Any]:
    """Return a choice and its certificate for machines."""
    return {
        "status": solution.status.value,
        "rules": len(solution.support),
        "loss": solution.loss,
        "bound": solution.bound,
        "gap": solution.gap,
        "stability": solution.stability,
        "stability_share": frontier_share,
        "method": solution.report.method,
        "seconds": solution.report.seconds,
    }


def model_content(model: Any, scores: Mapping[str, float]) -> dict[str, Any]:
    """Return all that is said of a fitted model, for machines; of several classes, by class."""
    members = members_of(model)
    content = {str(label): _member_content(member) for label, member in members.items()}
    rows = next(iter(members.values())).candidates_.statistics.n
    said = next(iter(content.values())) if len(members) == 1 else {"classes": content}
    return {"model": json.loads(model.rules_.to_json()), **said, **scores, "rows": round(rows)}


def _member_content(model: Any) -> dict[str, Any]:
    return {
        "texts": model.rules_.texts,
        "solution": solution_content(model.solution_, share_of_largest(model)),
        **evaluation_content(model),
        "candidates": len(model.candidates_),
    }


def members_of(model: Any) -> dict[Any, Any]:
    """Return the models of several classes, or the one that there is."""
    return getattr(model, "estimators_", None) or {None: model}


def class_scores(model: MossClassifier, table: Any, target: str) -> dict[str, float]:
    """Return how well a classifier does on the rows that it was fitted to."""
    import numpy as np  # noqa: PLC0415  the command line starts without it
    from sklearn.metrics import log_loss  # noqa: PLC0415

    from mossrules.data.labels import read_labels  # noqa: PLC0415
    from mossrules.data.table import split_column  # noqa: PLC0415

    features, column = split_column(table, target)
    classes, codes = read_labels(column, features.n_rows)
    probabilities, labels = model.predict_proba(table), range(len(classes))
    shares = np.bincount(codes) / len(codes)
    return {
        "accuracy_training": model.score(table, target),
        "log_loss_training": float(log_loss(codes, probabilities, labels=labels)),
        "log_loss_without_rules": float(-(shares * np.log(shares)).sum()),
    }


def evaluation_content(model: MossRegressor | MossClassifier) -> dict[str, Any]:
    """Return what cross-validation said of the stability that it chose, if it did."""
    if not hasattr(model, "evaluation_"):
        return {}
    chosen = model.evaluation_.choose()
    return {"chosen_share": chosen.share, "r2_test": chosen.r2, "r2_test_error": chosen.r2_se}


def share_of_largest(model: MossRegressor | MossClassifier) -> float:
    """Return the stability of a model as a share of the most that there is."""
    largest = 0 if model.problem_ is None else model.problem_.max_stability
    return model.solution_.stability / largest if largest else 1.0


# --- frontiers ----------------------------------------------------------------------------------


def frontier_rows(model: MossRegressor, frontier: Frontier) -> list[dict[str, Any]]:
    """Return what is said of each point, the most stable first."""
    from mossrules.learning.squared_error import training_r2  # noqa: PLC0415  loads numba

    signs = None if model.problem_ is None else model.problem_.signs
    points = frontier.points
    knee = frontier.knee() if len(points) > 2 else None
    return [
        {
            "index": index,
            **solution_content(point, frontier.share(point.stability)),
            "r2_training": training_r2(model.candidates_.statistics, point.support, signs),
            "knee": point is knee,
        }
        for index, point in enumerate(points)
    ]


def frontier_table(rows: list[dict[str, Any]]) -> Table:
    """Return one line for each point of a frontier."""
    table = Table()
    for heading in ("point", "rules", "stability", "share", "loss", "R2", "gap"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("status")
    for row in rows:
        table.add_row(
            f"{'*' if row['knee'] else ''}{row['index']}",
            str(row["rules"]),
            str(row["stability"]),
            f"{row['stability_share']:.1%}",
            f"{row['loss']:.6g}",
            f"{row['r2_training']:.4f}",
            f"{row['gap']:.2%}",
            row["status"],
        )
    return table


# --- learners -----------------------------------------------------------------------------------

MEASURES = ("dice", "jaccard", "ochiai", "pog", "nogueira")


def learners_table(found: Evaluation) -> Table:
    """Return one line for each learner."""
    from mossrules.evaluation.metrics import LABELS  # noqa: PLC0415  loads scikit-learn

    table = Table()
    table.add_column("learner", no_wrap=True)
    for heading in (LABELS[found.metric], "Dice", "rules", "seconds", "rank"):
        table.add_column(heading, justify="right", no_wrap=True)
    for each in found.summaries:
        cells = (
            each.learner,
            f"{_figure(each.score, '.3f')} +- {_figure(each.score_se, '.3f')}",
            "-" if each.dice is None else _interval(each.dice),
            _figure(each.n_rules, ".3g"),
            _figure(each.search_seconds + each.seconds, ".2g"),
            _figure(each.rank_combined, ".3g"),
        )
        table.add_row(*map(Text, cells))
    return table


def consistency_table(rules: Sequence[tuple[str, float]]) -> Table:
    """Return one line for each rule with the share of the folds that have it."""
    table = Table()
    table.add_column("folds", justify="right", no_wrap=True)
    table.add_column("rule", overflow="fold")
    for text, share in rules:
        table.add_row(f"{share:.0%}", Text(text))
    return table


def measures_content(summary: LearnerSummary) -> dict[str, Any]:
    """Return each measure of stability with its interval, for machines."""
    names = ("estimate", "lower", "upper", "confidence", "identity")
    return {
        measure: {name: getattr(getattr(summary, measure), name) for name in names}
        for measure in MEASURES
    }


def measures_table(summary: LearnerSummary) -> Table:
    """Return one line for each measure of stability."""
    table = Table()
    for heading in ("measure", "stability and interval", "rules are the same by"):
        table.add_column(heading)
    for measure in MEASURES:
        estimate = getattr(summary, measure)
        table.add_row(measure, Text(_interval(estimate)), estimate.identity)
    return table


def _interval(estimate: Any) -> str:
    ends = f"{_figure(estimate.lower, '.2f')}, {_figure(estimate.upper, '.2f')}"
    return f"{estimate.estimate:.3f} [{ends}]"


def _figure(value: float, form: str) -> str:
    return "-" if math.isnan(value) else f"{value:{form}}"


# --- files --------------------------------------------------------------------------------------


def as_csv(columns: Mapping[str, Sequence[Any]]) -> str:
    """Return columns as the text of a CSV file; None is an empty field."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()
