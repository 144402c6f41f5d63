"""`mossrules bench`: the benchmarks, as `python -m research.benchmarks` runs them.

The entry point of `research/pyproject.toml`; it loads nothing that measures before it is run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mossrules.exceptions import InvalidParameter

__all__ = ["bench"]


def bench(
    subjects: Annotated[
        list[str] | None,
        typer.Argument(help="What to measure; everything by default.", show_default=False),
    ] = None,
    *,
    quick: Annotated[bool, typer.Option("--quick", help="Small sizes: a minute in all.")] = False,
    output: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Folder for results.")
    ] = Path("benchmarked"),
) -> None:
    """Measure speed and memory, beside other packages where that makes sense.

    This command comes with the repository: `pip install ./research` in a clone adds it.
    """
    from research.benchmarks.__main__ import SUBJECTS, measure  # noqa: PLC0415  loads numba

    for name in subjects or ():
        if name not in SUBJECTS:
            raise InvalidParameter(f"There is no benchmark {name!r}; name {', '.join(SUBJECTS)}.")
    results = [measure(name, output, quick=quick) for name in subjects or SUBJECTS]
    if not all(results):
        raise typer.Exit(1)
