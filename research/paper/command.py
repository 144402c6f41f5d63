"""`mossrules reproduce`: the paper's experiments, each from one command.

The entry point of `research/pyproject.toml`; it loads an experiment only when one is run.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mossrules._signals import stopped_status
from mossrules.cli import _options as options
from mossrules.cli._output import errors, print_line, print_plain, progress
from mossrules.exceptions import InvalidFile, InvalidParameter

if TYPE_CHECKING:
    from research.paper.running import Finished, Step

__all__ = ["reproduce"]


class Protocol(StrEnum):
    """How tables are prepared and learners set up."""

    PAPER = "paper"
    OURS = "ours"


def reproduce(
    name: Annotated[
        str | None, typer.Argument(help="Experiment to run; see --list.", show_default=False)
    ] = None,
    *,
    show_list: Annotated[
        bool, typer.Option("--list", help="Print the experiments and stop.")
    ] = False,
    quick: Annotated[bool, typer.Option("--quick", help="A look of a minute or two.")] = False,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder of tables with an INDEX.csv; without it they come from OpenML.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Folder for results.")
    ] = Path("reproduced"),
    page: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Run nothing: write a page in Markdown about all results in --out.",
            show_default=False,
        ),
    ] = None,
    note: Annotated[
        str | None,
        typer.Option(help="A sentence for the head of the page.", show_default=False),
    ] = None,
    protocol: Annotated[
        Protocol, typer.Option(help="As the paper's authors do it, or as we would.")
    ] = Protocol.PAPER,
    jobs: options.Jobs = None,
) -> None:
    """Run an experiment of the paper: rows, tables and figures; interrupted runs resume.

    This command comes with the repository: `pip install ./research` in a clone adds it.
    """
    from research.paper.registry import experiment_names, find_experiment  # noqa: PLC0415

    if show_list:
        width = max(map(len, experiment_names()))
        for each in experiment_names():
            print_plain(f"{each:{width}}  {find_experiment(each).title}")
        return
    if page is not None:
        _write_page(output, page, note)
        return
    if name is None:
        raise InvalidParameter("No experiment is named; choose one of mossrules reproduce --list.")
    if data is not None and not data.is_dir():
        raise InvalidFile(f"--data is {data}, which is no folder; name one with an INDEX.csv.")
    if output.exists() and not output.is_dir():
        raise InvalidFile(f"--out is {output}, which is a file; name a folder.")
    _show(_run(name, output, data, protocol, quick=quick, jobs=jobs))


def _run(
    name: str, output: Path, data: Path | None, protocol: Protocol, *, quick: bool, jobs: int | None
) -> Finished:
    from research.paper.running import reproduce as run  # noqa: PLC0415  loads numba

    with progress(name) as show:

        def listen(step: Step) -> None:
            show(f"{name}: {step.task}", step.done, step.total)
            if step.seconds is not None and not errors.is_terminal:
                line = f"{step.done} of {step.total}: {step.task}, {step.seconds:.1f} s"
                errors.print(line, markup=False, soft_wrap=True)

        try:
            return run(
                name,
                out=output,
                data=data,
                protocol=protocol.value,
                quick=quick,
                jobs=jobs,
                listen=listen,
            )
        except KeyboardInterrupt:
            stopped = "Stopped; what is finished is kept, and the same command goes on from there."
            errors.print(stopped, soft_wrap=True)
            raise typer.Exit(stopped_status()) from None


def _write_page(output: Path, page: Path, note: str | None) -> None:
    """Write the page, and say where everything is."""
    from research.paper.collecting import collect  # noqa: PLC0415

    for path in collect(output, page, note):
        print_line(f"Written to {path}.")


def _show(finished: Finished) -> None:
    """Print the tables and where everything is."""
    from research.paper.markdown import table  # noqa: PLC0415

    for each in finished.tables:
        print_line((each.heading, "bold"))
        if each.rows:
            print_plain(f"\n{table(each)}")
        for note in each.notes:
            print_line(f"\n{note}")
        print_plain("")
    if finished.undrawn is not None:
        errors.print(f"No figures: {finished.undrawn}", markup=False, soft_wrap=True)
    for path in finished.paths:
        print_line(f"Written to {path}.")
