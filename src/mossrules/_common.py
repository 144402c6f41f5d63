"""Small tools of every room: checks of parameters, properties that are computed once, a clock.

Only what several rooms need belongs here, and nothing that loads more than Python itself: every
module waits for this one.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, Self, TypeVar, overload

from mossrules.exceptions import InvalidParameter

__all__ = [
    "MOST_POINTS",
    "Clock",
    "cached_property",
    "check_choice",
    "check_flag",
    "check_integer",
    "check_listener",
    "check_number",
]

Value = TypeVar("Value")
TRUTHS = ("bool", "bool_")  # of Python and of NumPy, which is not loaded here
MOST_POINTS = 100_000  # of a frontier or a grid
LONG = 200  # bits of an integer that is longer than anyone would read


# --- parameters -----------------------------------------------------------------------------------


def check_integer(name: str, value: Any, *, minimum: int = 1, maximum: int | None = None) -> int:
    """Return `value` as an int within its bounds."""
    # True is an Integral, but who writes n_trees=True has mixed up two parameters.
    allowed = isinstance(value, Integral) and not isinstance(value, bool)
    if not allowed or value < minimum or (maximum is not None and value > maximum):
        bounds = f"of at least {minimum}" if maximum is None else f"between {minimum} and {maximum}"
        raise InvalidParameter(f"{name} is {_shown(value)}; pass an integer {bounds}.")
    return int(value)


def _shown(value: Any) -> str:
    """Return a value as it is written, as far as one would read it."""
    if isinstance(value, int) and value.bit_length() > LONG:
        return f"an integer of {value.bit_length():,} bits"  # Python writes no more of it
    shown = " ".join(repr(value).split())
    return shown if len(shown) <= LONG else f"{shown[:LONG]}..."


def check_number(
    name: str, value: Any, *, above: float = 0.0, minimum: float | None = None
) -> float:
    """Return `value` as a finite float greater than `above`, or of at least `minimum` if given."""
    # Written so that NaN, for which no comparison holds, is refused too.
    allowed = isinstance(value, Real) and not isinstance(value, bool) and value < float("inf")
    if not allowed or not (value > above if minimum is None else value >= minimum):
        bound = f"greater than {above:g}" if minimum is None else f"of at least {minimum:g}"
        raise InvalidParameter(f"{name} is {_shown(value)}; pass a finite number {bound}.")
    try:
        return float(value)
    except OverflowError:  # an integer, which has no largest
        raise InvalidParameter(
            f"{name} is {_shown(value)}; pass a finite number of at most 1e308."
        ) from None


def check_choice(name: str, value: object, choices: Sequence[object]) -> None:
    """Refuse a value that is not among the choices."""
    if not any(value is choice or _equal(value, choice) for choice in choices):
        listed = ", ".join(map(repr, choices))
        raise InvalidParameter(f"{name} is {_shown(value)}; choose from {listed}.")


def _equal(value: object, choice: object) -> bool:
    """Tell whether two values are the same; a comparison with an array gives no answer."""
    same = value == choice
    return type(same).__name__ in TRUTHS and bool(same)


def check_flag(name: str, value: object) -> None:
    """Refuse what is not true or false."""
    if type(value).__name__ not in TRUTHS:
        raise InvalidParameter(f"{name} is {_shown(value)}; pass True or False.")


def check_listener(listener: Any, record: str) -> None:
    """Refuse what cannot be called after each step; `record` is what it is called with."""
    if listener is not None and not callable(listener):
        raise InvalidParameter(f"progress must be a function of one {record}, or None.")


# --- properties and time --------------------------------------------------------------------------


class cached_property(functools.cached_property[Value]):  # noqa: N801  as the one it stands for
    """The one of functools without its lock, which a process forked meanwhile would wait for.

    Python 3.12 has none either. Threads that ask at the same time may each compute the value; all
    of them get the same one.
    """

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> Value: ...

    def __get__(self, instance: object, owner: type[Any] | None = None) -> Self | Value:
        """Return the value, and keep it where Python looks before it asks here."""
        if instance is None:
            return self
        name = str(self.attrname)  # None only outside of classes
        # Not by setattr, which frozen dataclasses refuse.
        value: Value = vars(instance).setdefault(name, self.func(instance))
        return value


@dataclass(frozen=True)
class Clock:
    """Time since some work began, and time left to it."""

    limit: float | None
    # Not the time of day, which may be set back while the work goes on.
    started: float = field(default_factory=time.perf_counter)

    def elapsed(self) -> float:
        """Return the seconds since the start."""
        return time.perf_counter() - self.started

    def left(self) -> float:
        """Return the seconds left; infinity without a limit, never negative."""
        return float("inf") if self.limit is None else max(0.0, self.limit - self.elapsed())
