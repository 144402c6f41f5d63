"""`mossrules frontier`: what stability costs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from mossrules._files import check_place, write_file
from mossrules.cli import _options as options
from mossrules.cli._console import out, print_json, print_line, progress
from mossrules.cli._figures import check_plot, drawn
from mossrules.cli._learning import learn, number_or_word, read_constraints, read_training_file
from mossrules.cli._tables import frontier_rows, frontier_table
from mossrules.exceptions import InvalidParameter

if TYPE_CHECKING:
    from mossrules.estimators import MossRegressor
    from mossrules.frontier import Frontier
    from mossrules.frontier.progress import FrontierProgress

__all__ = ["frontier"]


def frontier(
    data: options.Data,
    target: options.Target,
    *,
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
    max_rules: options.MaxRules = 15,
    time_limit: options.TimeLimit = 60.0,
    gamma: options.Gamma = "auto",
    ties: options.TiesOption = options.Ties.KEEP,
    n_trees: options.Trees = 500,
    max_depth: options.Depth = 2,
    n_bins: options.Bins = 10,
    max_features: options.Features = 1 / 3,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    drop: options.Drop = None,
    categorical: options.Categorical = None,
    delimiter: options.Delimiter = None,
    never_use: options.NeverUse = None,
    only_up: options.OnlyUp = None,
    only_down: options.OnlyDown = None,
    at_most_features: options.AtMostFeatures = None,
    at_most_per_feature: options.AtMostPerFeature = None,
) -> None:
    """Show the best fit at many levels of stability, each with its certificate."""
    wanted = number_of_points(points)
    for path in (output, plot, checkpoint):
        if path is not None:
            check_place(path)
    if plot is not None:
        check_plot(plot)
    table = read_training_file(data, target, drop, categorical, delimiter)
    model = learn(
        table,
        target,
        max_rules=max_rules,
        stability=1.0,  # the quickest choice; points of the frontier are chosen below
        gamma=number_or_word(gamma),
        ties=ties.value,
        n_trees=n_trees,
        max_depth=max_depth,
        n_bins=n_bins,
        max_features=max_features,
        gap=gap,
        time_limit=time_limit,
        constraints=read_constraints(
            table,
            target,
            never_use=never_use,
            only_up=only_up,
            only_down=only_down,
            at_most_features=at_most_features,
            at_most_per_feature=at_most_per_feature,
        ),
        random_state=seed,
        n_jobs=jobs,
    )
    found = solve(model, wanted, gap, time_budget, checkpoint)
    if output is not None:
        write_file(output, f"{found.to_json()}\n")
    if plot is not None:
        write_file(plot, drawn(found.plot, plot))
    rows = frontier_rows(model, found)
    if as_json:
        print_json({"points": rows, "complete": found.complete, "worst_gap": found.worst_gap})
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
