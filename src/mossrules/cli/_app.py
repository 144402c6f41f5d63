"""The application: its name, its version, and how it fails."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.text import Text
from typer.core import TyperGroup

from mossrules import __version__
from mossrules.cli._console import errors, out
from mossrules.exceptions import MossError

__all__ = ["app", "main"]


class _OneSentence(TyperGroup):
    """Commands of which an error of ours is one sentence and a failing exit."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except MossError as error:
            # Never as markup: names of columns are in it.
            errors.print(Text.assemble(("error: ", "bold red"), str(error)), soft_wrap=True)
            raise typer.Exit(1) from None


app = typer.Typer(
    cls=_OneSentence,
    help="Short rule sets that predict well and come out the same when the data are perturbed.",
    add_completion=False,
    no_args_is_help=True,
)


def main() -> None:
    """Run the command line."""
    app()


@app.callback(invoke_without_command=True)
def root(
    *,
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    """Short rule sets that predict well and come out the same when the data are perturbed."""
    if version:
        out.print(f"mossrules {__version__}")
        raise typer.Exit
