"""`mossrules report`: one page on which a person chooses their model."""

from __future__ import annotations

import hashlib
import shlex
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from mossrules import _late as late
from mossrules import defaults
from mossrules._files import check_outputs
from mossrules._signals import check_interrupted
from mossrules.budget import Budget
from mossrules.cli import _options as options
from mossrules.cli._checking import check_before, warn_of_rare
from mossrules.cli._classes import class_labels, find_label
from mossrules.cli._learning import Columns, learn_for_task, read_for_task, refits_of
from mossrules.cli._output import print_line, progress
from mossrules.exceptions import InvalidParameter

__all__ = ["report"]

OF_THE_FIT = 0.25  # of the time of a report: the rest is for what the page says of the rules


@options.with_option_groups
def report(
    *,
    context: typer.Context,
    file: options.File,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="HTML", help="Where to write the page.")
    ] = Path("report.html"),
    folds: Annotated[
        int, typer.Option(min=0, help="Parts to cross-validate on; 0 leaves that out.")
    ] = 5,
    points: Annotated[
        int, typer.Option(min=1, help="Stability targets to look at, from the largest down.")
    ] = 51,
    baselines: Annotated[
        bool,
        typer.Option("--baselines/--no-baselines", help="Whether to compare with other methods."),
    ] = True,
    identity: options.IdentityOption = options.Identity.THRESHOLDS,
    title: Annotated[
        str | None, typer.Option(help="Heading of the page.", show_default=False)
    ] = None,
    task: options.TaskOption = options.Task.AUTO,
    anyway: options.Anyway = False,
    choice: options.Choice,
    forest: options.Forest,
    moss: options.Moss,
    refits: options.Refits = None,
    budget: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            callback=options.some_time,
            help="Seconds for all of it together; what does not fit in is cut short, and the page "
            "says so.",
        ),
    ] = defaults.REPORT_SECONDS,
    jobs: options.Jobs = None,
) -> None:
    """Write the interactive report, a page for any browser, to choose between stability and fit."""
    check_outputs({"--output": output}, [*file.paths, *moss.paths])
    if folds == 1:
        raise InvalidParameter("--folds is 1; pass 2 or more, or 0 to leave them out.")
    table, task = read_for_task(file, task)
    labels, codes = class_labels(table, file) if task is options.Task.CLASSIFICATION else ((), None)
    several, place = len(labels) > 2, None
    if several:
        place = check_class(labels, file.outcome)
    fitted = replace(file, outcome=None) if several else file
    look = partial(check_before, table, file, task, max_rules=choice.max_rules, anyway=anyway)
    time = Budget(budget)
    how: dict[str, Any] = {
        "choice": choice,
        "forest": forest,
        "moss": moss,
        "jobs": jobs,
        "look": look,
    }
    own = time.part(OF_THE_FIT).limit()
    model = learn_for_task(table, fitted, task, time_budget=own, **how)
    check_interrupted()
    warn_of_rare(model)
    X: Columns = table
    y: Any = file.target
    if place is not None:
        model = list(model.estimators_.values())[place]
        X, y = {name: values for name, values in table.items() if name != y}, codes == place
    with progress("looking at the trade-off") as show:
        data = late.report.collect(
            model,
            X,
            y,
            cv=folds or None,
            points=points,
            methods="baselines" if baselines else None,
            identity=identity.value,
            sample_weight=file.weights,
            groups=file.groups,
            refits=refits_of(table, refits),
            title=title,
            made={
                "source": file.data.name,
                "sha256": digest(file.data),
                "command": command(context.meta[options.ARGUMENTS], file.data, output),
            },
            time_budget=time,
            n_jobs=jobs,
            progress=show,
        )
    late.report.write_report(output, data)
    print_line(repr(data))
    for sentence in data.cut_short:
        print_line(sentence)
    print_line(f"Written to {output}; open it in a browser.")


def check_class(labels: Any, outcome: str | None) -> int:
    """Return which of several classes the report is of."""
    if outcome is None:
        raise InvalidParameter(
            "--outcome is missing, and each of the classes has a trade-off of its own; pass one of "
            f"{', '.join(map(str, labels))}."
        )
    return find_label(labels, outcome)


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def command(arguments: list[str], *paths: Path) -> str:
    """Return what was typed, with names of files in place of paths: they are nobody else's."""
    names = {str(path): path.name for path in paths}
    return shlex.join(["mossrules", *(names.get(word, word) for word in arguments)])
