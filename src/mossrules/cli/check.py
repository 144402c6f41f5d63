"""`mossrules check`: what each column of a file is taken for, and what looks wrong."""

from __future__ import annotations

import warnings
from typing import Annotated

import typer

from mossrules import defaults
from mossrules.cli import _options as options
from mossrules.cli._checking import look_at
from mossrules.cli._learning import scan
from mossrules.cli._output import print_plain
from mossrules.exceptions import MixedColumnWarning

__all__ = ["check"]


@options.with_option_groups
def check(
    *,
    file: options.CheckedFile,
    task: options.TaskOption = options.Task.AUTO,
    max_rules: Annotated[
        int,
        typer.Option(
            "--max-rules",
            "-k",
            min=1,
            help="Most rules in the model: rows are held against them.",
            rich_help_panel=options.MODEL,
        ),
    ] = defaults.MAX_RULES,
    as_json: options.Json = False,
) -> None:
    """Show what each column is taken for, and what looks wrong, with a remedy for each.

    The exit status is 0 if nothing is surely wrong, and 1 if something is.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MixedColumnWarning)  # it is among what is found
        table = scan(file, task)
    found = look_at(table, file, task, max_rules=max_rules)
    print_plain(found.to_json() if as_json else found.to_text())
    if found.wrong:
        raise typer.Exit(1)
