"""The application: its name, its version, and how it fails."""

from __future__ import annotations

import errno
import os
import sys
import warnings
from collections.abc import Callable
from typing import Annotated, Any

import typer
from rich.text import Text
from typer.core import TyperGroup

from mossrules import _late as late
from mossrules._common import cached_property
from mossrules._signals import ToldStatus, interrupted_by, stopped_status
from mossrules._version import __version__
from mossrules.cli._options import ARGUMENTS
from mossrules.cli._output import errors, out
from mossrules.exceptions import (
    ColumnNameWarning,
    FewEventsWarning,
    MissingDependency,
    MixedColumnWarning,
    MossError,
    OutcomeWarning,
    SolveLimitWarning,
    TableWarning,
)

__all__ = ["app", "main"]

NO_THREAD = "can't start new thread"  # as Python says where there is no memory for one
TOLD = (ColumnNameWarning, FewEventsWarning, MixedColumnWarning, OutcomeWarning, SolveLimitWarning)
STYLES = {"error": "bold red", "stopped": "bold yellow", "warning": "bold yellow"}
COMMANDS = "mossrules.commands"  # entry points of other distributions: functions, as commands here
FROM_CLONE = {  # what a clone of the repository adds, and its folder
    "bench": "research",
    "reproduce": "research",
}


class _Commands(TyperGroup):
    """Commands that say what is wrong in one sentence; an error is a failing exit too."""

    @cached_property
    def _added(self) -> dict[str, late.metadata.EntryPoint]:
        """The commands that other distributions add."""
        return {entry.name: entry for entry in late.metadata.entry_points(group=COMMANDS)}

    def list_commands(self, ctx: Any) -> list[str]:
        return [*super().list_commands(ctx), *self._added]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        # Our own come first: looking for others reads the metadata of all that is installed.
        command = super().get_command(ctx, cmd_name)
        if command is not None:
            return command
        if entry := self._added.get(cmd_name):
            return _as_command(cmd_name, entry.load())
        if cmd_name in FROM_CLONE:
            raise MissingDependency(
                f"The command {cmd_name} comes with the repository and not with the package; in a "
                f"clone of it, run pip install ./{FROM_CLONE[cmd_name]}."
            )
        return None

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        ctx.meta[ARGUMENTS] = list(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        with warnings.catch_warnings():
            for category in TOLD:
                warnings.simplefilter("always", category)
            # What `fit` in Python warns of is told by the look of commands, with their options.
            warnings.simplefilter("ignore", TableWarning)
            warnings.showwarning = _teller()
            try:
                result = super().invoke(ctx)
            except MossError as error:
                _tell("error", error)
                raise typer.Exit(1) from None
            except (MemoryError, RuntimeError) as error:
                if isinstance(error, RuntimeError) and str(error) != NO_THREAD:
                    raise
                _tell("error", f"There is not enough memory ({_first(error)}).")
                raise typer.Exit(1) from None
            except KeyboardInterrupt:
                _tell("stopped", "interrupted before it was done.")
                raise typer.Exit(stopped_status()) from None
            if interrupted_by() is not None:  # and the search has made a result of what it had
                _tell("stopped", "interrupted; this is the result so far.")
                raise typer.Exit(stopped_status())
            return result


def _as_command(name: str, function: Callable[..., Any]) -> Any:
    """Return a function as a command, as `app.command()` makes one."""
    alone = typer.Typer(add_completion=False)
    alone.command(name)(function)
    return typer.main.get_command(alone)


def _teller() -> Callable[..., None]:
    """Return what shows each warning once: a file may be read twice."""
    told: set[str] = set()

    def show(message: Warning | str, *_where: object) -> None:
        if str(message) not in told:
            told.add(str(message))
            _tell("warning", message)

    return show


def _tell(kind: str, sentence: object) -> None:
    # Never as markup: names of columns are in it.
    errors.print(Text.assemble((f"{kind}: ", STYLES[kind]), str(sentence)), soft_wrap=True)


def _first(error: BaseException) -> str:
    """Return what is said of an error, on one line."""
    return " ".join(str(error).split()) or "an allocation failed"


def _failed(error: OSError) -> str:
    """Return the sentence about something that the system did not do, such as to print."""
    what = "Reading or writing" + (f" {error.filename}" if error.filename else "")
    why = error.strerror or _first(error)
    return f"{what} failed ({why}); check that it is permitted and that there is room."


app = typer.Typer(
    cls=_Commands,
    help="Short rule sets that predict well, and that you can expect to find again.",
    add_completion=False,
    no_args_is_help=True,
)


def main() -> None:
    """Run the command line."""
    try:
        try:
            app()
        finally:
            sys.stdout.flush()  # while it can still be said that this does not go
    except SystemExit as end:
        # Between commands, Typer makes an exit of an interrupt without a word.
        if interrupted_by() is not None and not isinstance(end.code, ToldStatus):
            raise KeyboardInterrupt from None
        raise
    except OSError as error:
        # What could not be written waits still, and Python would try it again when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if error.errno != errno.EPIPE:  # whoever reads no further knows it
            _tell("error", _failed(error))
        sys.exit(1)


@app.callback(invoke_without_command=True)
def root(
    *,
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    """Short rule sets that predict well, and that you can expect to find again."""
    if version:
        out.print(f"mossrules {__version__}")
        raise typer.Exit
