"""`mossrules performance`: how good predictions are on rows left out, also by subgroup."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from mossrules import _late as late
from mossrules._files import check_outputs, write_file
from mossrules.cli import _options as options
from mossrules.cli._learning import (
    Columns,
    choice_parameters,
    forest_parameters,
    moss_parameters,
    read_for_task,
)
from mossrules.cli._output import (
    check_plot,
    figure_bytes,
    is_excel,
    print_json,
    print_line,
    print_plain,
    progress,
    table_file,
)
from mossrules.exceptions import InvalidParameter, SolveLimitWarning

__all__ = ["performance"]

SQUARE = (5.2, 5.2)  # inches


@options.with_option_groups
def performance(
    *,
    file: options.File,
    task: options.TaskOption = options.Task.AUTO,
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="MODEL.JSON",
            help="Judge this model, which fit has written, on the rows of the file, which must be "
            "new to it. By default models of folds predict the rows left out.",
            show_default=False,
        ),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            "--by",
            metavar="COLUMN",
            help="Column of subgroups to tell apart; may be repeated. It stays a feature, unless "
            "--drop names it too. Numbers are cut into quarters of the rows.",
            show_default=False,
        ),
    ] = None,
    threshold: Annotated[
        float,
        typer.Option(min=0.0, max=1.0, help="Probability from which on rows are flagged."),
    ] = 0.5,
    confidence: Annotated[float, typer.Option(help="Confidence level of the intervals.")] = 0.95,
    folds: options.Folds = 5,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="CSV|XLSX",
            help="Where to write a row per measure and subgroup.",
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="PNG|SVG|PDF", help="Where to draw the calibration curve."),
    ] = None,
    as_json: options.Json = False,
    choice: options.Choice,
    forest: options.Forest,
    moss: options.Moss,
    jobs: options.Jobs = None,
) -> None:
    """Measure predictions on rows left out, each measure with its interval, also by subgroup."""
    is_excel(output)
    check_outputs({"--output": output, "--plot": plot}, [*file.paths, *moss.paths, model])
    if plot is not None:
        check_plot(plot)
    known = None if model is None else late.rulesets.read_model(model)
    if known is not None:
        task = task_of(known)  # which refuses --outcome where the model predicts a number
    table, kind, subgroups = read_subgroups(file, task, by or [])
    how: dict[str, Any] = {"threshold": threshold, "confidence": confidence, "n_jobs": jobs}
    judged: Any = known
    if known is None:
        estimators = late.estimators
        is_class = kind is options.Task.CLASSIFICATION
        judged = (estimators.MossClassifier if is_class else estimators.MossRegressor)(
            **{
                **moss_parameters(moss, table, file),
                **forest_parameters(forest, moss),
                **choice_parameters(choice, moss),
            }
        )
    with progress("learning on folds"), warnings.catch_warnings():
        warnings.simplefilter("ignore", SolveLimitWarning)  # rule sets of folds are not shown
        cv = folds if known is None else None
        how |= {"by": subgroups, "cv": cv, "outcome": file.outcome, **file.beside}
        found = late.evaluation.performance(judged, table, file.target, **how)
    finish(found, output, plot, as_json=as_json)


def task_of(model: late.model.RuleSet | late.model.RuleSets) -> options.Task:
    """Return what a model that was read predicts."""
    is_number = isinstance(model, late.model.RuleSet) and model.link != "logit"
    return options.Task.REGRESSION if is_number else options.Task.CLASSIFICATION


def read_subgroups(
    file: options.File, task: options.Task, by: list[str]
) -> tuple[Columns, options.Task, Any]:
    """Return the columns to learn from, and the labels of subgroups, which may be no features."""
    dropped = file.drop or []
    kept = replace(file, drop=[name for name in dropped if name not in by])
    table, kind = read_for_task(kept, task)
    for name in by:
        if name == file.target:
            raise InvalidParameter(
                f"--by is {name!r}, the target: in subgroups by what is observed, measures of "
                "predictions mean little; name another column."
            )
        if name not in table:
            raise InvalidParameter(
                f"--by is {name!r}, which is not a column of the file; name one of its columns."
                + late.table.did_you_mean(name, [*table, *dropped])
            )
    labels = {name: table[name] for name in by}
    features = {name: values for name, values in table.items() if name not in dropped}
    return features, kind, labels or None


def finish(
    found: late.evaluation.Performance, output: Path | None, plot: Path | None, *, as_json: bool
) -> None:
    """Write and print what was found."""
    if output is not None:
        columns = {
            name: [None if value != value else value for value in values]  # noqa: PLR0124  NaN
            for name, values in found.columns().items()
        }
        write_file(output, table_file(output, columns))
    if plot is not None:
        write_file(plot, figure_bytes(lambda ax: found.plot("calibration", ax), plot, SQUARE))
    if as_json:
        print_json(found.to_dict())
        return
    print_plain(str(found))
    for path in (output, plot):
        if path is not None:
            print_line(f"Written to {path}.")
