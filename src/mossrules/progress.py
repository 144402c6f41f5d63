"""How far long work is: what listeners are told, and a line in the terminal.

Long work tells its listener after each step, with one record that has at least the fields of
`Progress`; each kind of work adds its own: `FrontierProgress`, `EvaluationProgress`. A search tells
of a `Snapshot` a few times a second instead, as nobody knows how many steps it will take.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol, TypeVar

__all__ = [
    "Progress",
    "StageListener",
    "guess_left",
    "progress_line",
    "telling",
]

# Of work in stages, whose steps differ: called with what is being done, the steps done, and the
# steps in all; None where they cannot be counted.
StageListener = Callable[[str, int | None, int | None], object]


class Progress(Protocol):
    """Where long work stands after a step; as text, it says what the step was."""

    # Properties, so that frozen records fit.
    @property
    def done(self) -> int:
        """Steps that are finished."""

    @property
    def total(self) -> int | None:
        """Steps in all, if that is known beforehand."""

    @property
    def seconds(self) -> float:
        """Time since the start."""

    @property
    def seconds_left(self) -> float | None:
        """About how long the rest takes; None where nobody can know."""


State = TypeVar("State", bound=Progress)


def guess_left(
    done: int, total: int | None, seconds: float, most: float = math.inf
) -> float | None:
    """Return about how long the rest takes: as the steps that are done did, and `most` at most."""
    if not done or total is None:
        return None if math.isinf(most) else most
    return min(most, seconds / done * max(0, total - done))


@contextmanager
def telling(
    listener: Callable[[State], object] | None, *, verbose: bool, total: int | None, title: str
) -> Iterator[Callable[[State], None]]:
    """Give the function that tells a listener and, if `verbose`, a line in the terminal.

    What a listener raises is passed on: KeyboardInterrupt is its way to end the work. Calls come
    from several threads, so the caller has to hold a lock.
    """
    with progress_line(verbose, total, title) as show:
        listeners = [function for function in (listener, show) if function is not None]

        def tell(state: State) -> None:
            for function in listeners:
                function(state)

        yield tell


@contextmanager
def progress_line(
    verbose: bool, total: int | None, title: str
) -> Iterator[Callable[[Progress], object] | None]:
    """Show a line of progress while the block runs, and give the function that updates it."""
    if not verbose:
        yield None
        return
    from rich import progress  # noqa: PLC0415  which most programs never show

    columns = (
        progress.TextColumn(title),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TextColumn("{task.description}"),
    )
    with progress.Progress(*columns, transient=True) as line:
        task = line.add_task("", total=total)

        def show(state: Progress) -> None:
            left = state.seconds_left
            rest = "" if left is None else f"about {left:.0f} s left; "
            line.update(task, completed=state.done, description=f"{rest}{state}")

        yield show
