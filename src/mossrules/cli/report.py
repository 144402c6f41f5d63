"""`mossrules report`: one page on which a person chooses their model."""

from __future__ import annotations

import hashlib
import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from mossrules import _late as late
from mossrules._files import check_outputs
from mossrules._signals import check_interrupted
from mossrules.cli import _options as options
from mossrules.cli._learning import Columns, learn_for_task, read_for_task, refits_of
from mossrules.cli._output import print_line, progress
from mossrules.exceptions import InvalidParameter

__all__ = ["report"]


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
    outcome: Annotated[
        str | None,
        typer.Option(
            help="Of more than two classes, the one to report on.",
            rich_help_panel=options.MODEL,
            show_default=False,
        ),
    ] = None,
    choice: options.Choice,
    forest: options.Forest,
    moss: options.Moss,
    refits: options.Refits = None,
    jobs: options.Jobs = None,
) -> None:
    """Write the interactive report, a page for any browser, to choose between stability and fit."""
    check_outputs({"--output": output}, [*file.paths, *moss.paths])
    if folds == 1:
        raise InvalidParameter("--folds is 1; pass 2 or more, or 0 to leave them out.")
    table, task = read_for_task(file, task)
    classifies = task is options.Task.CLASSIFICATION
    model = learn_for_task(table, file, task, choice=choice, forest=forest, moss=moss, jobs=jobs)
    check_interrupted()
    X, y = table, file.target
    if outcome is not None or (classifies and len(model.classes_) > 2):
        model, X, y = one_class(model, table, file.target, outcome)
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
            n_jobs=jobs,
            progress=show,
        )
    late.report.write_report(output, data)
    print_line(repr(data))
    print_line(f"Written to {output}; open it in a browser.")


def one_class(
    model: late.estimators.MossClassifier | Any, table: Columns, target: str, outcome: str | None
) -> tuple[late.estimators.MossClassifier, Columns, Any]:
    """Return the model of one class against all others, and the rows with that as target."""
    if not isinstance(model, late.estimators.MossClassifier):
        raise InvalidParameter("--outcome names a class, and the target is a number; leave it out.")
    if len(model.classes_) == 2:
        raise InvalidParameter(
            f"--outcome is for more than two classes; the report is of {model.classes_[1]!s}, the "
            "second of two. Leave it out."
        )
    labels = [str(label) for label in model.classes_]
    if outcome not in labels:
        found = "missing" if outcome is None else f"{outcome!r}"
        hint = "" if outcome is None else late.table.did_you_mean(outcome, labels)
        raise InvalidParameter(
            f"--outcome is {found}, and each of the classes has a trade-off of its own; pass one "
            f"of {', '.join(labels)}.{hint}"
        )
    position = labels.index(outcome)
    X, column = late.table.split_column(table, target)
    codes = late.labels.read_labels(column, X.n_rows)[1]
    features = {name: values for name, values in table.items() if name != target}
    return list(model.estimators_.values())[position], features, codes == position


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def command(arguments: list[str], *paths: Path) -> str:
    """Return what was typed, with names of files in place of paths: they are nobody else's."""
    names = {str(path): path.name for path in paths}
    return shlex.join(["mossrules", *(names.get(word, word) for word in arguments)])
