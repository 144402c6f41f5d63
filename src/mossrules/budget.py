"""Time for long work that has parts: one clock, which is asked how much the next part may take.

A frontier has floors, an evaluation folds, a track record refits, a report all of these. Each asks
the `Budget` that it was given, and passes on a `part` of it. Equal shares fixed beforehand would be
lost where a part needs less than its own, so a share is of what is left when the part begins: what
easy parts leave goes to those that come later.

No part is left out of a proof for lack of time: a search whose share is over has the rule set of
its heuristics and the bound of its root, and a status that says so. Repetitions (refits, folds of a
comparison) can be left out: the first of them are made however little time there is, a further one
if it is likely to end in time, and results say how many were asked for.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from mossrules._common import Clock, check_number

__all__ = [
    "SOON",
    "Budget",
    "Shares",
    "left_out_in_words",
    "read_budget",
    "stopped_in_words",
    "unproven_in_words",
]

# For a search that begins when the time is over: a limit has to be positive, and the root and the
# first heuristics, which take milliseconds, are not interrupted.
SOON = 1e-3


def read_budget(time_budget: Any) -> Budget:
    """Return the budget of an argument `time_budget`: seconds, None, or a budget that began."""
    if isinstance(time_budget, Budget):
        return time_budget
    return Budget(None if time_budget is None else check_number("time_budget", time_budget))


@dataclass(frozen=True)
class Budget:
    """Seconds for some work, from now on; None for as many as it takes."""

    seconds: float | None = None
    now: Callable[[], float] = time.perf_counter  # tests have a clock of their own
    started: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "started", self.now())

    def elapsed(self) -> float:
        """Return the seconds since the start."""
        return self.now() - self.started

    def left(self) -> float:
        """Return the seconds left; infinity without a limit, never negative."""
        return math.inf if self.seconds is None else max(0.0, self.seconds - self.elapsed())

    @property
    def is_limited(self) -> bool:
        """Whether there is a limit."""
        return self.seconds is not None

    @property
    def is_spent(self) -> bool:
        """Whether no time is left."""
        return self.left() <= 0.0

    def part(self, share: float = 1.0) -> Budget:
        """Return a share of what is left as the budget of some part, which begins now."""
        return Budget(self.left() * min(1.0, share) if self.is_limited else None, self.now)

    def next_of(self, rounds: int) -> Budget:
        """Return the budget of the next part, where there is time for so many of them in turn."""
        return self.part(1.0 / max(1, rounds))

    def limit(self, own: float | None = None) -> float | None:
        """Return the time limit of a search: its own, or what is left if that is less."""
        if not self.is_limited:
            return own
        left = max(SOON, self.left())
        return left if own is None else min(own, left)

    def clock(self) -> Clock:
        """Return the clock of work that begins now, and ends at once where no time is left."""
        return Clock(self.left() if self.is_limited else None)


@dataclass
class Shares:
    """The parts of some work that share a budget: some at a time, in order.

    The first `needed` are done however little time there is.
    """

    budget: Budget
    total: int
    at_once: int = 1  # parts that are worked on side by side
    needed: int | None = None  # None is all
    begun: int = 0
    taken: list[float] = field(default_factory=list)  # seconds, of each part that was done
    lock: Lock = field(default_factory=Lock)

    def begin(self) -> Budget | None:
        """Return the budget of the next part; None where there is no time for it."""
        with self.lock:
            usual = sum(self.taken) / len(self.taken) if self.taken else 0.0
            is_needed = self.needed is None or self.begun < self.needed
            left = self.budget.left()
            if not is_needed and (left <= 0.0 or left < usual):
                return None
            rounds = -(-(self.total - self.begun) // self.at_once)
            self.begun += 1
            return self.budget.next_of(rounds)

    def end(self, part: Budget) -> None:
        """Note how long a part took, which is a guess of what the next ones take."""
        with self.lock:
            self.taken.append(part.elapsed())


# --- in words -------------------------------------------------------------------------------------


def unproven_in_words(
    gaps: Sequence[float], total: int, noun: str = "point", nouns: str | None = None
) -> str | None:
    """Return how far searches came that had no more time; None where there are none.

    `gaps` are what they have proven, of `total` in all; NaN where nothing was found.
    """
    if not gaps:
        return None
    known = [gap for gap in gaps if not math.isnan(gap)]
    proven = f"proven to {max(known):.2%} only" if known else "without a rule set"
    verb = "is" if len(gaps) == 1 else "are"
    many = f"{noun}s" if nouns is None else nouns
    return f"{len(gaps)} of {total} {noun if total == 1 else many} {verb} {proven}: time was up."


def left_out_in_words(asked: int, done: int, noun: str) -> str | None:
    """Return how many repetitions were left out; None where none were."""
    if done >= asked:
        return None
    return f"{done} of the {asked} {noun}s asked for were made: time was up."


def stopped_in_words(stopped: int, total: int, what: str = "searches") -> str | None:
    """Return how many searches ended before their proof; None where none did."""
    if stopped == 0:
        return None
    return f"{stopped} of {total} {what} ended before the gap asked for was proven: time was up."
