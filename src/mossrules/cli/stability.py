"""`mossrules stability`: whether an analysis finds the same rules again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from mossrules import _late as late
from mossrules import defaults
from mossrules._files import check_outputs
from mossrules.budget import Budget
from mossrules.cli import _options as options
from mossrules.cli._classes import OutcomeRows, check_one, outcomes_of
from mossrules.cli._learning import (
    evaluate_methods,
    forest_parameters,
    moss_parameters,
    read_for_task,
    stability_parameters,
)
from mossrules.cli._output import format_interval, out, print_json, print_line, table_of
from mossrules.exceptions import InvalidParameter

__all__ = ["stability"]

NAME = "MOSS"
ANY = 1e-9  # a share of the folds that every rule has
MEASURES = ("dice", "jaccard", "ochiai", "pog", "nogueira")


@options.with_option_groups
def stability(
    *,
    file: options.File,
    folds: options.Folds = defaults.FOLDS,
    identity: options.IdentityOption = options.Identity.THRESHOLDS,
    share: Annotated[
        float, typer.Option(help="Show rules found in at least this share of the refits.")
    ] = 0.5,
    checkpoint: options.Record = None,
    budget: options.BudgetOption = None,
    as_json: options.Json = False,
    task: options.TaskOption = options.Task.AUTO,
    level: options.StabilityOption = None,
    floor: options.FloorOption = None,
    max_rules: options.MaxRules = defaults.MAX_RULES,
    gap: options.ChoiceGap = defaults.FRONTIER_GAP,
    ties: options.TiesOption = options.Ties.KEEP,
    forest: options.Forest,
    moss: options.Moss,
    jobs: options.Jobs = None,
) -> None:
    """Show which rules of MOSS recur when part of the rows is left out.

    Of more than two classes, those of each, or of the one that --outcome names.
    """
    if not 0 < share <= 1:
        raise InvalidParameter(f"--share is {share!r}; pass a share of the refits in (0, 1].")
    check_outputs({"--checkpoint": checkpoint}, [*file.paths, *moss.paths])
    table, task = read_for_task(file, task)
    outcomes = outcomes_of(table, file, task)
    check_one(outcomes, checkpoint=checkpoint)
    estimators = late.estimators
    is_class = task is options.Task.CLASSIFICATION
    kind = estimators.MossClassifier if is_class else estimators.MossRegressor
    parameters = {
        "max_rules": max_rules,
        "gap": gap,
        "ties": ties.value,
        **moss_parameters(moss, table, file),
        **forest_parameters(forest, moss),
        **stability_parameters(level, floor, moss),
    }
    how: dict[str, Any] = {
        "cv": folds,
        "identity": identity.value,
        "checkpoint": checkpoint,
        "n_jobs": jobs,
    }
    contents: dict[str, Any] = {}
    time = Budget(budget)
    for place, rows in enumerate(outcomes):
        methods = {NAME: kind(**rows.parameters(parameters))}
        how["time_budget"] = time.next_of(len(outcomes) - place)
        evaluation = evaluate_methods(methods, rows.table, file, rows.target, **how)
        if evaluation.failures:
            raise InvalidParameter(
                f"There is no model{rows.of_class} for {len(evaluation.failures)} of the {folds} "
                f"folds. {evaluation.failures[0].failure}"
            )
        if as_json:
            contents[str(rows.label)] = stability_content(evaluation, share, rows)
        else:
            show(evaluation, share, rows)
    if as_json:
        print_json({"classes": contents} if len(outcomes) > 1 else next(iter(contents.values())))


def rules_again(evaluation: late.evaluation.Evaluation, share: float) -> list[tuple[str, float]]:
    """Return rules of at least a share of the folds with their shares, the most frequent first.

    By bins, a rule reads as in the first fold that has it. Agreement on rows makes pairs and no
    list, so with it rules are listed as they read.
    """
    sets = evaluation.rule_sets(NAME)
    if evaluation.identity != "codes":
        return list(late.stability.consistent_rules(sets, share).items())
    texts: dict[Any, str] = {}
    for rules in sets:
        for rule, text in zip(rules, rules.texts, strict=True):
            texts.setdefault(rule, text)
    by_bins = late.stability.consistent_rules(sets, share, identity="codes")
    return [(texts[rule], part) for rule, part in by_bins.items()]


def stability_content(
    evaluation: late.evaluation.Evaluation, share: float, rows: OutcomeRows
) -> dict[str, Any]:
    """Return what is said of a model, for machines."""
    summary = evaluation.summaries[0]
    fit: dict[str, Any] = {"r2": summary.r2, "r2_se": summary.r2_se}
    if rows.label is not None:
        errors = {f"{name}_se": error for name, error in summary.errors.items()}
        fit = {"outcome": rows.name, **summary.scores, **errors}
    return {
        "folds": evaluation.n_folds,
        "identity": evaluation.identity,
        "measures": measures_content(summary),
        "rules": [{"rule": text, "share": part} for text, part in rules_again(evaluation, share)],
        "distinct": len(rules_again(evaluation, ANY)),
        "n_rules": summary.n_rules,
        **fit,
        **({} if evaluation.cut_short is None else {"cut_short": evaluation.cut_short}),
    }


def fit_in_words(summary: late.evaluation.MethodSummary) -> str:
    """Return how well the refits predict: R2, or what there is for classes."""
    names = [name for name in ("r2", "auc", "balanced_accuracy") if name in summary.scores]
    return ", ".join(
        f"{late.results.LABELS[name]} {summary.scores[name]:.3f} +- {summary.errors[name]:.3f}"
        for name in names
    )


def show(evaluation: late.evaluation.Evaluation, share: float, rows: OutcomeRows) -> None:
    """Print a model's stability for people."""
    summary, rules = evaluation.summaries[0], rules_again(evaluation, share)
    print_line(
        (f"Rules that recur{rows.of_class}", "bold"),
        f": those found in at least {share:.0%} of {evaluation.n_folds} refits, each without a "
        "part of the rows.",
    )
    if rules:
        out.print(consistency_table(rules))
    else:
        print_line("There are none. Try fewer rules or fewer bins, or a lower --share.")
    always, ever = (len(rules_again(evaluation, least)) for least in (1.0, ANY))
    print_line(
        f"{always or 'No'} {'rules were' if always > 1 else 'rule was'} found in all "
        f"{evaluation.n_folds} refits, out of {ever} found in any. A refit has "
        f"{summary.n_rules:.3g} rules on average. {fit_in_words(summary)} on the rows left out."
    )
    out.print(measures_table(summary))
    if evaluation.cut_short is not None:
        print_line(evaluation.cut_short)


def consistency_table(rules: Sequence[tuple[str, float]]) -> Table:
    """Return one line for each rule with the share of the refits that found it."""
    table = table_of(right=["refits"], last="rule")
    for text, share in rules:
        table.add_row(f"{share:.0%}", Text(text))
    return table


def measures_content(summary: late.evaluation.MethodSummary) -> dict[str, Any]:
    """Return each measure of stability with its interval, for machines."""
    names = ("estimate", "lower", "upper", "confidence", "identity")
    return {
        measure: {name: getattr(getattr(summary, measure), name) for name in names}
        for measure in MEASURES
    }


def measures_table(summary: late.evaluation.MethodSummary) -> Table:
    """Return one line for each measure of stability."""
    table = Table()
    for heading in ("measure", "recurrence [interval]", "rules are the same by"):
        table.add_column(Text(heading))
    for measure in MEASURES:
        estimate = getattr(summary, measure)
        table.add_row(measure, Text(format_interval(estimate)), estimate.identity)
    return table
