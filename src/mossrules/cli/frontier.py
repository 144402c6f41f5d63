"""`mossrules frontier`: what stability costs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.table import Table

from mossrules import _late as late
from mossrules import defaults
from mossrules._files import check_outputs, write_file
from mossrules._signals import check_interrupted
from mossrules.budget import Budget
from mossrules.cli import _options as options
from mossrules.cli._classes import OutcomeRows, check_one, outcomes_of
from mossrules.cli._learning import (
    forest_parameters,
    learn,
    learn_classes,
    moss_parameters,
    read_for_task,
    stability_parameters,
)
from mossrules.cli._output import (
    check_plot,
    figure_bytes,
    out,
    print_json,
    print_line,
    progress,
    solution_content,
    table_of,
)
from mossrules.exceptions import InvalidParameter

__all__ = ["frontier"]

FIT = {"identity": "r2_training", "logit": "explained_training"}  # by link


@options.with_option_groups
def frontier(
    *,
    file: options.File,
    points: Annotated[
        str, typer.Option(help="How many stability targets, or 'complete' for every point.")
    ] = "50",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="JSON", help="Where to keep the frontier."),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="PNG|SVG|PDF", help="Where to draw it.")
    ] = None,
    checkpoint: options.Record = None,
    as_json: options.Json = False,
    gap: Annotated[
        float, typer.Option(help="Largest optimality gap of each point.")
    ] = defaults.FRONTIER_GAP,
    budget: Annotated[float | None, options.budget_option("all points", "--time-budget")] = None,
    task: options.TaskOption = options.Task.AUTO,
    max_rules: options.MaxRules = defaults.MAX_RULES,
    floor: options.FloorOption = None,
    ties: options.TiesOption = options.Ties.KEEP,
    forest: options.Forest,
    moss: options.Moss,
    jobs: options.Jobs = None,
) -> None:
    """Show the best fit at many stability targets, each with its certificate.

    Of more than two classes, that of each, or of the one that --outcome names.
    """
    wanted = number_of_points(points)
    outputs = {"--output": output, "--plot": plot, "--checkpoint": checkpoint}
    check_outputs(outputs, [*file.paths, *moss.paths])
    if plot is not None:
        check_plot(plot)
    table, task = read_for_task(file, task)
    outcomes = outcomes_of(table, file, task)
    check_one(outcomes, output=output, plot=plot, checkpoint=checkpoint)
    parameters = {
        "max_rules": max_rules,
        "ties": ties.value,
        "gap": gap,
        **moss_parameters(moss, table, file),
        **forest_parameters(forest, moss),
        # The quickest choice; points of the frontier are chosen below.
        **stability_parameters("1.0", floor, moss),
        "n_jobs": jobs,
    }
    contents: dict[str, Any] = {}
    time = Budget(budget)
    for place, outcome in enumerate(outcomes):
        model = fit_at_most_stable(outcome, file, parameters)
        check_interrupted()
        result = solve(model, wanted, gap, time.next_of(len(outcomes) - place), checkpoint)
        if output is not None:
            write_file(output, f"{result.to_json()}\n")
        if plot is not None:
            write_file(plot, figure_bytes(result.plot, plot))
        rows = frontier_rows(model, result)
        if as_json:
            contents[str(outcome.label)] = frontier_content(result, rows)
        else:
            print_frontier(result, rows, model.pool_.n_trees, outcome)
    if as_json:
        print_json({"classes": contents} if len(outcomes) > 1 else next(iter(contents.values())))
        return
    for path in (output, plot):
        if path is not None:
            print_line(f"Written to {path}.")


def fit_at_most_stable(
    outcome: OutcomeRows, file: options.File, parameters: dict[str, Any]
) -> late.estimators.MossRegressor | late.estimators.MossClassifier:
    """Return the model whose frontier is asked for, at the largest stability score."""
    parameters = outcome.parameters(parameters)
    if outcome.label is None:
        return learn(outcome.table, file, **parameters)
    return learn_classes(outcome.table, file, outcome.target, **parameters)


def frontier_content(result: late.frontier.Frontier, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a frontier for machines."""
    words = {} if result.cut_short is None else {"cut_short": result.cut_short}
    return {
        "points": rows,
        "complete": result.complete,
        "interrupted": result.interrupted,
        "worst_gap": result.worst_gap,
        **words,
    }


def number_of_points(text: str) -> int | Literal["complete"]:
    """Return the points asked for."""
    if text == "complete":
        return "complete"
    if not text.isdecimal() or int(text) == 0:
        raise InvalidParameter(f"--points is {text!r}; pass a whole number, or 'complete'.")
    return int(text)


def solve(
    model: late.estimators.MossRegressor | late.estimators.MossClassifier,
    points: int | Literal["complete"],
    gap: float,
    time_budget: Budget,
    checkpoint: Path | None,
) -> late.frontier.Frontier:
    """Return the frontier of a model, showing how far it is meanwhile."""
    with progress("solving at stability targets") as show:

        def listen(state: late.frontier.FrontierProgress) -> None:
            show("solving at stability targets", state.done, state.total)

        return model.frontier(
            points, gap, time_budget=time_budget, checkpoint=checkpoint, progress=listen
        )


def frontier_rows(
    model: late.estimators.MossRegressor | late.estimators.MossClassifier,
    frontier: late.frontier.Frontier,
) -> list[dict[str, Any]]:
    """Return what is said of each point and its model, the most stable first."""
    fit = model.fitted_.settings.objective.training_fit
    points = frontier.points
    knee = frontier.knee() if len(points) > 2 else None
    models = [model.fitted_.at(index=index, frontier=frontier) for index in range(len(points))]
    return [
        {
            "index": index,
            **solution_content(point, frontier.share(point.stability)),
            "rules": len(chosen.rules),  # without those that hardly count
            FIT[chosen.rules.link]: fit(chosen.candidates, chosen.rules),
            "knee": point is knee,
        }
        for index, (point, chosen) in enumerate(zip(points, models, strict=True))
    ]


def print_frontier(
    frontier: late.frontier.Frontier,
    rows: list[dict[str, Any]],
    n_trees: int,
    outcome: OutcomeRows,
) -> None:
    """Print what stability costs, and what the columns mean."""
    heading = f"What stability costs{outcome.of_class}"
    print_line((heading, "bold"), ": the most stable first, * at the knee.")
    each = frontier.floor == "each"
    out.print(frontier_table(rows, n_trees if each else None))
    if each:
        print_line(
            f"in trees: every rule is in at least this share of the {n_trees:,} trees; "
            "share: the same, of the largest that is possible."
        )
    if outcome.label is not None:
        print_line("explained: share of the log-loss of the training rows that rules explain.")
    print_line(repr(frontier))
    if frontier.cut_short is not None:
        print_line(frontier.cut_short)


def frontier_table(rows: list[dict[str, Any]], n_trees: int | None) -> Table:
    """Return one line for each point of a frontier; `n_trees` where each rule has a floor."""
    stability = "stability" if n_trees is None else "in trees"
    fit = next((name for name in FIT.values() if rows and name in rows[0]), FIT["identity"])
    shown = "R2" if fit == FIT["identity"] else "explained"
    headings = ("point", "rules", stability, "share", "loss", shown, "gap")
    table = table_of(right=headings, last="status")
    for row in rows:
        table.add_row(
            f"{'*' if row['knee'] else ''}{row['index']}",
            str(row["rules"]),
            str(row["stability"]) if n_trees is None else f"{row['stability'] / n_trees:.1%}",
            f"{row['stability_share']:.1%}",
            f"{row['loss']:.6g}",
            f"{row[fit]:.4f}",
            f"{row['gap']:.2%}",
            row["status"],
        )
    return table
