"""How far a frontier is: for callbacks, and as a line in the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from mossrules.frontier.result import FrontierPoint

__all__ = ["FrontierProgress", "Listener", "progress_line"]


@dataclass(frozen=True)
class FrontierProgress:
    """Where a run stands after a floor."""

    done: int  #: floors that are finished
    total: int | None  #: None when it is not known beforehand
    point: FrontierPoint  #: the last of them
    seconds: float  #: since the start

    def __str__(self) -> str:
        solution = self.point.solution
        how = "re-used" if self.point.reused else f"{solution.report.seconds:.2f} s"
        return (
            f"floor {self.point.floor}: stability {solution.stability}, loss {solution.loss:.6g}, "
            f"gap {solution.gap:.2%}, {solution.status.value}, {how}"
        )


Listener = Callable[[FrontierProgress], object]


class State(Protocol):
    """What a line can show: how much is done, and what it has to say."""

    @property
    def done(self) -> int:
        """Steps done."""


@contextmanager
def progress_line(
    verbose: bool, total: int | None, title: str = "frontier"
) -> Iterator[Callable[[State], object] | None]:
    """Show a line of progress while the block runs, and give the function that updates it."""
    if not verbose:
        yield None
        return
    columns = (TextColumn(title), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
               TextColumn("{task.description}"))  # fmt: skip
    with Progress(*columns, transient=True) as line:
        task = line.add_task("", total=total)
        yield lambda state: line.update(task, completed=state.done, description=str(state))
