"""Where results and messages go: results to standard output, everything else to the other one."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from mossrules.progress import StageListener

__all__ = ["errors", "out", "print_json", "print_line", "print_plain", "progress"]

out = Console(highlight=False)
errors = Console(highlight=False, stderr=True)


@contextmanager
def progress(stage: str) -> Iterator[StageListener]:
    """Show what is being done and how far it is, where someone is there to see it."""
    if not errors.is_terminal:
        yield lambda _stage, _done, _total: None
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=errors, transient=True) as bar:
        tasks = {stage: bar.add_task(stage, total=None)}

        def show(stage: str, done: int | None, total: int | None) -> None:
            if stage not in tasks:
                bar.remove_task(tasks.popitem()[1])
                tasks[stage] = bar.add_task(stage, total=total)
            bar.update(tasks[stage], completed=done, total=total)

        yield show


def print_plain(text: str) -> None:
    """Print text as it is: on lines as long as they are, with brackets that are just brackets."""
    sys.stdout.write(f"{text}\n")


def print_line(*parts: str | tuple[str, str]) -> None:
    """Print a line of text for people, parts of it with a style."""
    out.print(Text.assemble(*parts), soft_wrap=True)


def print_json(content: Any) -> None:
    """Print content for machines; figures that are not numbers are null."""
    print_plain(json.dumps(_finite(content), indent=2, allow_nan=False))


def _finite(content: Any) -> Any:
    if isinstance(content, dict):
        return {name: _finite(value) for name, value in content.items()}
    if isinstance(content, list):
        return [_finite(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content
