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
    """Where a run stands after a floor.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> from mossrules.frontier import solve_frontier
    >>> model = MossRegressor(2, n_trees=20).fit({"age": [30, 40, 50, 60]}, [2.0, 3.0, 9.0, 8.0])
    >>> frontier = solve_frontier(model.problem_, [20, 17], progress=print)
    floor 20: stability 20, loss 1.11625, gap 0.00%, optimal, ... s
    floor 17: stability 17, loss 0.487825, gap 0.10%, optimal, ... s
    """

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
