"""The application: its name, its version, and how it fails."""

from __future__ import annotations

import errno
import os
import shlex
import sys
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text
from typer.core import TyperGroup

from mossrules import _late as late
from mossrules._common import cached_property
from mossrules._refusals import first_line, is_memory
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

TRACEBACK = "MOSSRULES_TRACEBACK"  # set, it shows where what nobody foresaw happened
LONGEST = 300  # characters of a command or of an error that are shown
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
            except (MemoryError, RuntimeError) as error:
                if not is_memory(error):
                    raise
                said = first_line(error.__cause__ or error)
                _tell("error", f"There is not enough memory for {_this()} ({said}).")
                raise typer.Exit(1) from None
            except MossError as error:
                _tell("error", error)
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


def _failed(error: OSError) -> str:
    """Return the sentence about something that the system did not do, such as to print."""
    what = f"Reading or writing {error.filename}" if error.filename else _this()
    why = error.strerror or first_line(error)
    return f"{what} failed ({why}); check that it is permitted and that there is room."


def _unexpected(error: Exception) -> str:
    """Return the sentence about what nobody foresaw, with all that a report of it needs."""
    *_, (frame, line) = traceback.walk_tb(error.__traceback__)
    where = "/".join(Path(frame.f_code.co_filename).parts[-2:])
    said = f"{type(error).__name__}: {first_line(error)[:LONGEST]}, in {where}, line {line}"
    return (
        f"{_this()} failed in a way that nobody foresaw ({said}), which is a mistake in mossrules "
        "or below it; please report this line on the Issues tab of the repository, with what "
        f"mossrules doctor prints, or set {TRACEBACK}=1 to see more."
    )


def _this() -> str:
    """Return what was run, as it would be typed."""
    words = shlex.join(["mossrules", *sys.argv[1:]])
    return words if len(words) <= LONGEST else f"{words[:LONGEST]}..."


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
    except Exception as error:  # whatever it is, a person at a terminal gets a sentence
        if os.environ.get(TRACEBACK):
            raise
        _tell("error", _unexpected(error))
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
