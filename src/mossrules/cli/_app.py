"""The application: its name, its version, and how it fails."""

from __future__ import annotations

import warnings
from typing import Annotated, Any

import typer
from rich.text import Text
from typer.core import TyperGroup

from mossrules import __version__
from mossrules.cli._console import errors, out
from mossrules.exceptions import MixedColumnWarning, MossError, SolveLimitWarning

__all__ = ["ARGUMENTS", "app", "main"]

INTERRUPTED = 130  # the exit status that shells have for it
ARGUMENTS = "mossrules.arguments"  # what was typed, among the contexts' own figures


class _OneSentence(TyperGroup):
    """Commands that say what is wrong in one sentence; an error is a failing exit too."""

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        ctx.meta[ARGUMENTS] = list(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        with warnings.catch_warnings():
            for category in (MixedColumnWarning, SolveLimitWarning):
                warnings.simplefilter("always", category)
            warnings.showwarning = _show_warning  # type: ignore[assignment]  # of fewer arguments
            try:
                return super().invoke(ctx)
            except MossError as error:
                _say(("error: ", "bold red"), error)
                raise typer.Exit(1) from None
            except KeyboardInterrupt:
                _say(("stopped: ", "bold yellow"), "interrupted before there was a result.")
                raise typer.Exit(INTERRUPTED) from None


def _show_warning(message: Warning | str, *_where: object) -> None:
    _say(("warning: ", "bold yellow"), message)


def _say(what: tuple[str, str], sentence: object) -> None:
    # Never as markup: names of columns are in it.
    errors.print(Text.assemble(what, str(sentence)), soft_wrap=True)


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
