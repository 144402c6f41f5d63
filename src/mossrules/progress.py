"""How far long work is: a clock, what listeners are told, and a line in the terminal.

Long work tells its listener after each step, with one record that has at least the fields of
`Progress`; each kind of work adds its own: `FrontierProgress`, `EvaluationProgress`. A search tells
of a `Snapshot` a few times a second instead, as nobody knows how many steps it will take.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from mossrules.exceptions import InvalidParameter

__all__ = [
    "Clock",
    "Progress",
    "StageListener",
    "check_listener",
    "progress_line",
    "telling",
]

# Of work in stages, whose steps differ: called with what is being done, the steps done, and the
# steps in all; None where they cannot be counted.
StageListener = Callable[[str, int | None, int | None], object]


@dataclass(frozen=True)
class Clock:
    """Time since some work began, and time left to it."""

    limit: float | None
    started: float = field(default_factory=time.perf_counter)

    def elapsed(self) -> float:
        """Return the seconds since the start."""
        return time.perf_counter() - self.started

    def left(self) -> float:
        """Return the seconds left; infinity without a limit, never negative."""
        return float("inf") if self.limit is None else max(0.0, self.limit - self.elapsed())


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


State = TypeVar("State", bound=Progress)


def check_listener(listener: Any, record: str) -> None:
    """Refuse what cannot be called after each step; `record` is what it is called with."""
    if listener is not None and not callable(listener):
        raise InvalidParameter(f"progress must be a function of one {record}, or None.")


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
        yield lambda state: line.update(task, completed=state.done, description=str(state))
