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
from mossrules.cli import _options as options
from mossrules.cli._learning import (
    forest_parameters,
    learn,
    moss_parameters,
    read_numbers,
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
    time_budget: Annotated[
        float | None, typer.Option(help="Seconds for all points together.", show_default=False)
    ] = None,
    max_rules: options.MaxRules = defaults.MAX_RULES,
    floor: options.FloorOption = None,
    ties: options.TiesOption = options.Ties.KEEP,
    forest: options.Forest,
    moss: options.Moss,
    jobs: options.Jobs = None,
) -> None:
    """Show the best fit at many stability targets, each with its certificate."""
    wanted = number_of_points(points)
    outputs = {"--output": output, "--plot": plot, "--checkpoint": checkpoint}
    check_outputs(outputs, [*file.paths, *moss.paths])
    if plot is not None:
        check_plot(plot)
    table = read_numbers(file)
    model = learn(
        table,
        file,
        max_rules=max_rules,
        ties=ties.value,
        gap=gap,
        **{
            **moss_parameters(moss, table, file),
            **forest_parameters(forest, moss),
            # The quickest choice; points of the frontier are chosen below.
            **stability_parameters("1.0", floor, moss),
        },
        n_jobs=jobs,
    )
    check_interrupted()
    result = solve(model, wanted, gap, time_budget, checkpoint)
    if output is not None:
        write_file(output, f"{result.to_json()}\n")
    if plot is not None:
        write_file(plot, figure_bytes(result.plot, plot))
    rows = frontier_rows(model, result)
    if as_json:
        print_json({
            "points": rows,
            "complete": result.complete,
            "interrupted": result.interrupted,
            "worst_gap": result.worst_gap,
        })  # fmt: skip
        return
    print_frontier(result, rows, model.pool_.n_trees)
    for path in (output, plot):
        if path is not None:
            print_line(f"Written to {path}.")


def number_of_points(text: str) -> int | Literal["complete"]:
    """Return the points asked for."""
    if text == "complete":
        return "complete"
    if not text.isdecimal() or int(text) == 0:
        raise InvalidParameter(f"--points is {text!r}; pass a whole number, or 'complete'.")
    return int(text)


def solve(
    model: late.estimators.MossRegressor,
    points: int | Literal["complete"],
    gap: float,
    time_budget: float | None,
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
    model: late.estimators.MossRegressor, frontier: late.frontier.Frontier
) -> list[dict[str, Any]]:
    """Return what is said of each point and its model, the most stable first."""
    points = frontier.points
    knee = frontier.knee() if len(points) > 2 else None
    models = [model.fitted_.at(index=index, frontier=frontier) for index in range(len(points))]
    return [
        {
            "index": index,
            **solution_content(point, frontier.share(point.stability)),
            "rules": len(chosen.rules),  # without those that hardly count
            "r2_training": late.squared_error.training_r2(chosen.candidates, chosen.rules),
            "knee": point is knee,
        }
        for index, (point, chosen) in enumerate(zip(points, models, strict=True))
    ]


def print_frontier(
    frontier: late.frontier.Frontier, rows: list[dict[str, Any]], n_trees: int
) -> None:
    """Print what stability costs, and what the columns mean."""
    print_line(("What stability costs", "bold"), ": the most stable first, * at the knee.")
    each = frontier.floor == "each"
    out.print(frontier_table(rows, n_trees if each else None))
    if each:
        print_line(
            f"in trees: every rule is in at least this share of the {n_trees:,} trees; "
            "share: the same, of the largest that is possible."
        )
    print_line(repr(frontier))


def frontier_table(rows: list[dict[str, Any]], n_trees: int | None) -> Table:
    """Return one line for each point of a frontier; `n_trees` where each rule has a floor."""
    stability = "stability" if n_trees is None else "in trees"
    headings = ("point", "rules", stability, "share", "loss", "R2", "gap")
    table = table_of(right=headings, last="status")
    for row in rows:
        table.add_row(
            f"{'*' if row['knee'] else ''}{row['index']}",
            str(row["rules"]),
            str(row["stability"]) if n_trees is None else f"{row['stability'] / n_trees:.1%}",
            f"{row['stability_share']:.1%}",
            f"{row['loss']:.6g}",
            f"{row['r2_training']:.4f}",
            f"{row['gap']:.2%}",
            row["status"],
        )
    return table
