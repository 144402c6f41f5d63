"""`mossrules compare`: learners side by side on one file."""

from __future__ import annotations

import math
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mossrules import defaults
from mossrules._files import check_place, write_file
from mossrules.cli import _options as options
from mossrules.cli._console import out, print_json, print_line
from mossrules.cli._figures import check_plot, drawn
from mossrules.cli._learning import (
    evaluated,
    forest_parameters,
    moss_parameters,
    read_for_task,
)
from mossrules.cli._tables import as_csv, learners_table

if TYPE_CHECKING:
    from mossrules.evaluation import Evaluation

__all__ = ["compare"]

WIDE = (7.6, 4.4)  # inches: the legend is beside the axes


class LearnerName(StrEnum):
    """Learners to compare, under the names of the paper's tables."""

    MOSS_HIGH = "MOSS-H"
    MOSS_MEDIUM = "MOSS-M"
    MOSS_LOW = "MOSS-L"
    FIRE = "FIRE"
    GLRM = "GLRM"
    SIRUS = "SIRUS"
    RULEFIT = "RuleFit"


class MetricName(StrEnum):
    """What classifiers are ranked by."""

    AUC = "auc"
    LOG_LOSS = "log_loss"
    BALANCED_ACCURACY = "balanced_accuracy"
    BRIER = "brier"


@options.gathered
def compare(
    *,
    file: options.File,
    task: options.TaskOption = options.Task.AUTO,
    learner: Annotated[
        list[LearnerName] | None,
        typer.Option(
            "--learner",
            case_sensitive=False,
            help="Learner to take part; may be repeated. All of them by default.",
            show_default=False,
        ),
    ] = None,
    metric: Annotated[
        MetricName | None,
        typer.Option(help="What classifiers are ranked by; auc by default.", show_default=False),
    ] = None,
    folds: options.Folds = defaults.FOLDS,
    identity: options.IdentityOption = options.Identity.CODES,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="CSV", help="Where to write a row per fold."),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="PNG|SVG|PDF", help="Where to draw all learners.")
    ] = None,
    checkpoint: options.Record = None,
    as_json: options.Json = False,
    max_rules: options.MaxRules = defaults.MAX_RULES,
    gap: options.ChoiceGap = defaults.FRONTIER_GAP,
    forest: options.Forest,
    moss: options.Moss,
    jobs: options.Jobs = None,
) -> None:
    """Compare MOSS with other learners on one file: accuracy and stability over folds."""
    from mossrules.baselines.registry import make_methods  # noqa: PLC0415  loads numba

    for path in (output, plot, checkpoint):
        if path is not None:
            check_place(path)
    if plot is not None:
        check_plot(plot)
    table, kind = read_for_task(file, task)
    methods = make_methods(
        None if learner is None else dict.fromkeys(each.value for each in learner),
        classes=kind is options.Task.CLASSIFICATION,
        moss={"gap": gap, **moss_parameters(moss, table, file.target)},
        max_rules=max_rules,
        **forest_parameters(forest),
    )
    found = evaluated(
        methods,
        table,
        file.target,
        metric=None if metric is None else metric.value,
        cv=folds,
        identity=identity.value,
        checkpoint=checkpoint,
        n_jobs=jobs,
    )
    if output is not None:
        write_file(output, as_csv(without_nan(found.columns())))
    if plot is not None:
        write_file(plot, drawn(found.plot, plot, WIDE))
    if as_json:
        print_json(content(found))
        return
    show(found)
    for path in (output, plot):
        if path is not None:
            print_line(f"Written to {path}.")


def content(found: Evaluation) -> dict[str, Any]:
    """Return a comparison for machines."""
    return {
        "identity": found.identity,
        "metric": found.metric,
        "learners": listed(found.summary_columns()),
        "folds": listed(found.columns()),
        "seconds": found.seconds,
    }


def without_nan(columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Return columns with None for figures that are missing."""
    return {
        name: [None if isinstance(each, float) and math.isnan(each) else each for each in values]
        for name, values in columns.items()
    }


def listed(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """Return columns as rows."""
    return [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]


def show(found: Evaluation) -> None:
    """Print a comparison for people."""
    from mossrules.evaluation.metrics import LABELS  # noqa: PLC0415  loads scikit-learn

    print_line(
        ("Learners on rows they have not seen", "bold"),
        f": means of {found.n_folds} folds, and how far the rules of the folds agree (Dice, same "
        f"{found.identity}).",
    )
    out.print(learners_table(found))
    for each in found.failures:
        print_line(("failed: ", "bold red"), f"{each.learner} on fold {each.fold}: {each.failure}")
    stopped = sum("limit" in each.status for each in found.results)
    if stopped:
        print_line(f"{stopped} choices ran out of time; allow more, or a larger gap.")
    print_line(
        f"The rank is the mean of those by {LABELS[found.metric]} and by Dice, 1 being the best; "
        "seconds are those of "
        f"a fold, with the search that learners share. {found!r}"
    )
