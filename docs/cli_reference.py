"""Write docs/commandline_reference.md from the program itself.

Run `python -m docs.cli_reference` at the root after a change of the command line; a test holds the
page to what this module writes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import NoneType
from typing import Any, get_args

from typer.models import ArgumentInfo

from mossrules.cli import app
from research.benchmarks.command import bench
from research.paper.command import reproduce

__all__ = ["PAGE", "Entry", "commands", "entries", "reference"]

PAGE = Path(__file__).with_name("commandline_reference.md")

INTRODUCTION = """\
# All commands and options

<!-- Written by `python -m docs.cli_reference`; do not edit. -->

What each command is for, and how they go together, is told in [the command line](commandline.md). \
`mossrules COMMAND --help` prints what is written here, and `mossrules --version` the version.
"""


@dataclass(frozen=True)
class Entry:
    """A line of a table: an argument or an option of a command."""

    panel: str
    names: tuple[str, ...]
    value: str
    words: str
    default: str

    def __str__(self) -> str:
        names = ", ".join(f"`{name}`" for name in self.names)
        value = f" `{self.value}`" if self.value else ""
        return f"| {names}{value} | {self.words} | {self.default} |"


def reference() -> str:
    """Return the page."""
    parts = [INTRODUCTION]
    parts += [_section(command) for command in commands()]
    return "\n".join(parts)


def commands() -> list[Callable[..., Any]]:
    """Return the functions behind the commands, whose names they have."""
    own = [command.callback for command in app.registered_commands if command.callback]
    return [*own, reproduce, bench]  # the last two are there where research is installed


def entries(command: Callable[..., Any]) -> list[Entry]:
    """Return the arguments and options of a command."""
    parameters = inspect.signature(command, eval_str=True).parameters.values()
    return [_entry(each) for each in parameters if hasattr(each.annotation, "__metadata__")]


def _section(command: Callable[..., Any]) -> str:
    """Return what there is to know of one command."""
    listed = entries(command)
    usage = " ".join(
        ["mossrules", command.__name__]
        + ["[OPTIONS]"]
        + [entry.names[0] for entry in listed if entry.panel == "Arguments"]
    )
    lines = [f"## mossrules {command.__name__}", "", f"```text\n{usage}\n```", ""]
    lines += [inspect.cleandoc(command.__doc__ or ""), ""]
    for panel in dict.fromkeys(entry.panel for entry in listed):
        lines += [f"| {panel} | what it does | default |", "|---|---|---|"]
        lines += [str(entry) for entry in listed if entry.panel == panel]
        lines += [""]
    return "\n".join(lines)


def _entry(parameter: inspect.Parameter) -> Entry:
    """Return the line of a parameter, whose annotation carries what typer is told of it."""
    kind = next(_kinds(parameter.annotation.__origin__))
    info = parameter.annotation.__metadata__[0]
    words = " ".join(str(info.help).split()).replace("|", r"\|")
    default = _default(parameter.default, told=info.show_default)
    if isinstance(info, ArgumentInfo):
        return Entry("Arguments", (parameter.name.upper(),), "", words, default)
    # Where the annotation has the default apart, typer.Option(...) takes the first name for it.
    named = info.default if isinstance(info.default, str) else f"--{parameter.name}"
    names = (named.replace("_", "-"), *info.param_decls)
    return Entry(
        info.rich_help_panel or "Options", names, _value(kind, info.metavar), words, default
    )


def _kinds(annotation: Any) -> Iterator[Any]:
    """Yield the types behind `list[X] | None` and the like."""
    if get_args(annotation):
        for inner in get_args(annotation):
            yield from _kinds(inner)
    elif annotation is not NoneType:
        yield annotation


def _value(kind: Any, metavar: str | None) -> str:
    """Return what is to be put behind the name of an option."""
    if metavar is not None:
        return metavar.replace("|", r"\|")
    if issubclass(kind, Enum):
        return r"\|".join(member.value for member in kind)
    return {bool: "", int: "INTEGER", float: "NUMBER", str: "TEXT", Path: "PATH"}[kind]


def _default(default: Any, *, told: bool | str) -> str:
    """Return what counts where the option is not given."""
    if default is inspect.Parameter.empty:
        return "required"
    if isinstance(told, str):
        return told
    if default is None or default is False or not told:
        return ""
    if default is True:
        return "on"
    return f"`{default.value if isinstance(default, Enum) else default}`"


if __name__ == "__main__":
    PAGE.write_text(reference(), encoding="utf-8")
