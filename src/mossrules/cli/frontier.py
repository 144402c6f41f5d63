"""`mossrules frontier`: what stability costs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from mossrules import defaults
from mossrules._files import check_place, write_file
from mossrules._signals import check_interrupted
from mossrules.cli import _options as options
from mossrules.cli._console import out, print_json, print_line, progress
from mossrules.cli._figures import check_plot, drawn
from mossrules.cli._learning import (
    forest_parameters,
    learn,
    moss_parameters,
    read_numbers,
)
from mossrules.cli._tables import frontier_rows, frontier_table
from mossrules.exceptions import InvalidParameter

if TYPE_CHECKING:
    from mossrules.estimators import MossRegressor
    from mossrules.frontier import Frontier, FrontierProgress

__all__ = ["frontier"]


@options.gathered
def frontier(
    *,
    file: options.File,
    points: Annotated[
        str, typer.Option(help="How many levels of stability, or 'complete' for every point.")
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
        float, typer.Option(help="Largest relative distance of each point from its optimum.")
    ] = 0.01,
    time_budget: Annotated[
        float | None, typer.Option(help="Seconds for all points together.", show_default=False)
    ] = None,
    max_rules: options.MaxRules = defaults.MAX_RULES,
    ties: options.TiesOption = options.Ties.KEEP,
    forest: options.Forest,
    moss: options.Moss,
    jobs: options.Jobs = None,
) -> None:
    """Show the best fit at many levels of stability, each with its certificate."""
    wanted = number_of_points(points)
    for path in (output, plot, checkpoint):
        if path is not None:
            check_place(path)
    if plot is not None:
        check_plot(plot)
    table = read_numbers(file)
    model = learn(
        table,
        file.target,
        max_rules=max_rules,
        stability=1.0,  # the quickest choice; points of the frontier are chosen below
        ties=ties.value,
        **forest_parameters(forest),
        gap=gap,
        **moss_parameters(moss, table, file.target),
        n_jobs=jobs,
    )
    check_interrupted()
    found = solve(model, wanted, gap, time_budget, checkpoint)
    if output is not None:
        write_file(output, f"{found.to_json()}\n")
    if plot is not None:
        write_file(plot, drawn(found.plot, plot))
    rows = frontier_rows(model, found)
    if as_json:
        print_json({
            "points": rows,
            "complete": found.complete,
            "interrupted": found.interrupted,
            "worst_gap": found.worst_gap,
        })  # fmt: skip
        return
    print_line(("What stability costs", "bold"), ": the most stable first, * at the knee.")
    out.print(frontier_table(rows))
    print_line(repr(found))
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
    model: MossRegressor,
    points: int | Literal["complete"],
    gap: float,
    time_budget: float | None,
    checkpoint: Path | None,
) -> Frontier:
    """Return the frontier of a model, showing how far it is meanwhile."""
    with progress("solving at levels of stability") as show:

        def listen(state: FrontierProgress) -> None:
            show("solving at levels of stability", state.done, state.total)

        return model.frontier(
            points, gap, time_budget=time_budget, checkpoint=checkpoint, progress=listen
        )
