"""`mossrules compare`: methods side by side on one file."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from mossrules import _late as late
from mossrules import defaults
from mossrules._files import check_outputs, write_file
from mossrules.budget import left_out_in_words
from mossrules.cli import _options as options
from mossrules.cli._learning import (
    assess_methods,
    choice_parameters,
    evaluate_methods,
    forest_parameters,
    moss_parameters,
    read_for_task,
)
from mossrules.cli._output import (
    check_plot,
    figure_bytes,
    fits,
    format_interval,
    format_number,
    is_excel,
    out,
    print_json,
    print_line,
    table_file,
    table_of,
)

__all__ = ["compare"]

WIDE = (7.6, 4.4)  # inches: the legend is beside the axes


class MethodName(StrEnum):
    """Methods to compare: what `fit` gives, those of the paper, and what everyone knows."""

    MOSS = "MOSS"
    MOSS_HIGH = "MOSS-H"
    MOSS_MEDIUM = "MOSS-M"
    MOSS_LOW = "MOSS-L"
    FIRE = "FIRE"
    GLRM = "GLRM"
    SIRUS = "SIRUS"
    RULEFIT = "RuleFit"
    LINEAR = "linear"
    TREE = "tree"
    FOREST = "forest"


class SchemeName(StrEnum):
    """What refits of the trust table learn from."""

    FOLDS = "folds"
    BOOTSTRAP = "bootstrap"


class MetricName(StrEnum):
    """What classifiers are ranked by."""

    AUC = "auc"
    LOG_LOSS = "log_loss"
    BALANCED_ACCURACY = "balanced_accuracy"
    BRIER = "brier"


@dataclass(frozen=True)
class Refitting:
    """Whether to show the trust table, and by which refits."""

    trust: Annotated[
        bool,
        typer.Option(
            "--trust",
            help="Show the trust table instead: refits, each with its own seed, and how far rules, "
            "effects and predictions agree.",
        ),
    ] = False
    refits: Annotated[int, typer.Option(min=2, help="Refits of the trust table.")] = 10
    scheme: Annotated[
        SchemeName,
        typer.Option(help="Refits leave out a tenth of the rows ('folds'), or are bootstraps."),
    ] = SchemeName.FOLDS
    seeds: Annotated[
        int, typer.Option(min=0, help="Seeds that the trust table tries on the same rows.")
    ] = 5

    @property
    def how(self) -> dict[str, Any]:
        """The refits as `assess` has them."""
        return {"refits": self.refits, "scheme": self.scheme.value, "seeds": self.seeds}


@options.with_option_groups
def compare(
    *,
    file: options.File,
    task: options.TaskOption = options.Task.AUTO,
    method: Annotated[
        list[MethodName] | None,
        typer.Option(
            "--method",
            case_sensitive=False,
            help="Method to compare; may be repeated. All of them by default: MOSS as `fit` has "
            "it, the methods of the paper, and a linear model, a tree and a forest.",
            show_default=False,
        ),
    ] = None,
    metric: Annotated[
        MetricName | None,
        typer.Option(help="What classifiers are ranked by; auc by default.", show_default=False),
    ] = None,
    folds: options.Folds = defaults.FOLDS,
    identity: options.IdentityOption = options.Identity.THRESHOLDS,
    refitting: Refitting,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="CSV|XLSX",
            help="Where to write a row per fold, or per method of the trust table.",
        ),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="PNG|SVG|PDF", help="Where to draw all methods.")
    ] = None,
    checkpoint: options.Record = None,
    budget: options.BudgetOption = None,
    as_json: options.Json = False,
    choice: options.Choice,
    forest: options.Forest,
    moss: options.Moss,
    jobs: options.Jobs = None,
) -> None:
    """Compare MOSS with other methods on one file: accuracy and stability over folds."""
    outputs = {"--output": output, "--plot": plot, "--checkpoint": checkpoint}
    is_excel(output)
    check_outputs(outputs, [*file.paths, *moss.paths])
    if plot is not None:
        check_plot(plot)
    table, kind = read_for_task(file, task)
    methods = make_methods(
        method, kind, choice=choice, forest=forest, moss=moss, table=table, file=file
    )
    where = {"checkpoint": checkpoint, "time_budget": budget, "n_jobs": jobs}
    found: late.evaluation.Evaluation | late.evaluation.Assessment
    if refitting.trust:
        found = assess_methods(methods, table, file, **refitting.how, **where)
    else:
        by = None if metric is None else metric.value
        how = {"metric": by, "cv": folds, "identity": identity.value}
        found = evaluate_methods(methods, table, file, **how, **where)
    finish(found, output, plot, as_json=as_json)


def make_methods(
    names: list[MethodName] | None,
    kind: options.Task,
    *,
    choice: options.Choice,
    forest: options.Forest,
    moss: options.Moss,
    table: Any,
    file: options.File,
) -> dict[str, Any]:
    """Return the methods to compare, with what the options say of them."""
    searched = forest_parameters(forest, moss)
    is_class = kind is options.Task.CLASSIFICATION
    named = {"outcome": file.outcome} if is_class and file.outcome is not None else {}
    return late.registry.make_methods(
        None if names is None else dict.fromkeys(name.value for name in names),
        classes=is_class,
        moss={
            # Not closer than a comparison needs; MOSS itself is as `fit` has it.
            "gap": max(choice.gap, defaults.FRONTIER_GAP),
            **moss_parameters(moss, table, file),
        },
        own={**searched, **choice_parameters(choice, moss)},
        max_rules=choice.max_rules,
        **named,
        **searched,
    )


def finish(
    found: late.evaluation.Evaluation | late.evaluation.Assessment,
    output: Path | None,
    plot: Path | None,
    *,
    as_json: bool,
) -> None:
    """Write and print what was found."""
    if output is not None:
        write_file(output, table_file(output, without_nan(found.columns())))
    if plot is not None:
        write_file(plot, figure_bytes(found.plot, plot, WIDE))
    if isinstance(found, late.evaluation.Assessment):
        print_json(trust_content(found)) if as_json else show_trust(found)
    else:
        print_json(comparison_content(found)) if as_json else show(found)
    if as_json:
        return
    for path in (output, plot):
        if path is not None:
            print_line(f"Written to {path}.")


def comparison_content(evaluation: late.evaluation.Evaluation) -> dict[str, Any]:
    """Return a comparison for machines."""
    return {
        "identity": evaluation.identity,
        "metric": evaluation.metric,
        "methods": as_rows(evaluation.summary_columns()),
        "folds": as_rows(evaluation.columns()),
        "seconds": evaluation.seconds,
        **cut_short(evaluation),
    }


def trust_content(assessment: late.evaluation.Assessment) -> dict[str, Any]:
    """Return a trust table for machines."""
    return {
        "refits": assessment.refits,
        "scheme": assessment.scheme,
        "seeds": assessment.seeds,
        "methods": as_rows(without_nan(assessment.columns())),
        "seconds": assessment.elapsed,
        **cut_short(assessment),
    }


def cut_short(found: late.evaluation.Evaluation | late.evaluation.Assessment) -> dict[str, str]:
    """Return what was cut short for lack of time, for machines; nothing where nothing was."""
    return {} if found.cut_short is None else {"cut_short": found.cut_short}


def without_nan(columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Return columns with None where a number is missing."""
    return {
        name: [
            None if isinstance(value, float) and math.isnan(value) else value for value in values
        ]
        for name, values in columns.items()
    }


def as_rows(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """Return columns as rows."""
    return [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]


def show(evaluation: late.evaluation.Evaluation) -> None:
    """Print a comparison for people."""
    metric = late.results.LABELS[evaluation.metric]
    print_line(
        ("Methods on rows they have not seen", "bold"),
        f": means of {evaluation.n_folds} folds, and how far the rules of the folds agree (Dice, "
        f"same {evaluation.identity}).",
    )
    out.print(methods_table(evaluation, metric))
    for fold in evaluation.failures:
        print_line(("failed: ", "bold red"), f"{fold.method} on fold {fold.fold}: {fold.failure}")
    left_out = left_out_in_words(evaluation.asked, evaluation.n_folds, "fold")
    if left_out is not None:
        print_line(left_out)
    stopped = sum("limit" in fold.status for fold in evaluation.results)
    if stopped:
        print_line(
            f"{stopped} {'search' if stopped == 1 else 'searches'} ran out of time before the gap "
            "was proven; raise --time-limit or --gap."
        )
    print_line(
        f"rank: the mean of the ranks by {metric} and by Dice, where 1 is best; seconds: of a "
        f"fold, with the search for candidates that methods share. {evaluation!r}"
    )


def show_trust(assessment: late.evaluation.Assessment) -> None:
    """Print a trust table for people."""
    left_out = "without a tenth of the rows" if assessment.scheme == "folds" else "of a bootstrap"
    print_line(
        ("What refits agree on", "bold"),
        f": {assessment.refits} of each method, {left_out} and each with its own seed.",
    )
    for table in trust_tables(assessment):
        out.print(table)
    for method in assessment.methods:
        if method.failed:
            print_line(
                ("failed: ", "bold red"), f"{method.method}, {method.failed} fits: {method.failure}"
            )
    if assessment.cut_short is not None:
        print_line(assessment.cut_short)


def trust_tables(assessment: late.evaluation.Assessment) -> list[Table]:
    """Return a table with a line for each measure; too wide, some with a line for each method."""
    methods = [each.method for each in assessment.methods]
    table = table_of(left=["measure"], right=methods)
    for name in assessment.measures:
        heading, _ = late.assessment.COLUMNS[name]
        table.add_row(*map(Text, [heading, *trust_cells(assessment, name)]))
    if fits(table):
        return [table]
    tables: list[Table] = []
    names: list[str] = []  # of measures in the last table
    for name in assessment.measures:
        wider = table_of_methods(assessment, [*names, name])
        if names and fits(wider):
            tables[-1] = wider
            names.append(name)
        else:
            tables.append(table_of_methods(assessment, [name]))
            names = [name]
    return tables


def table_of_methods(assessment: late.evaluation.Assessment, names: list[str]) -> Table:
    """Return a line for each method with some measures, whose headings have a line for a word."""
    headings = [late.assessment.COLUMNS[name][0].replace(" ", "\n") for name in names]
    table = table_of(left=["method"], right=headings)
    methods = [each.method for each in assessment.methods]
    columns = [methods, *(trust_cells(assessment, name) for name in names)]
    for row in zip(*columns, strict=True):
        table.add_row(*map(Text, row))
    return table


def trust_cells(assessment: late.evaluation.Assessment, name: str) -> list[str]:
    """Return a measure of all methods as text."""
    form = late.assessment.COLUMNS[name][1]
    return [format_number(getattr(each, name), form) for each in assessment.methods]


def methods_table(evaluation: late.evaluation.Evaluation, metric: str) -> Table:
    """Return one line for each method."""
    table = table_of(left=["method"], right=[metric, "Dice", "rules", "seconds", "rank"])
    for summary in evaluation.summaries:
        score, error = format_number(summary.score, ".3f"), format_number(summary.score_se, ".3f")
        cells = (
            summary.method,
            f"{score} +- {error}",
            "-" if summary.dice is None else format_interval(summary.dice),
            format_number(summary.n_rules, ".3g"),
            format_number(summary.search_seconds + summary.seconds, ".2g"),
            format_number(summary.rank_combined, ".3g"),
        )
        table.add_row(*map(Text, cells))
    return table
