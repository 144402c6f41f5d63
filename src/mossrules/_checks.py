"""Checks of parameters that several modules share."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

from mossrules.exceptions import InvalidParameter


def check_integer(name: str, value: Any, *, minimum: int = 1, maximum: int | None = None) -> int:
    """Return `value` as an int within its bounds."""
    allowed = isinstance(value, Integral) and not isinstance(value, bool)
    if not allowed or value < minimum or (maximum is not None and value > maximum):
        bounds = f"of at least {minimum}" if maximum is None else f"between {minimum} and {maximum}"
        raise InvalidParameter(f"{name} is {value!r}; pass an integer {bounds}.")
    return int(value)


def check_number(
    name: str, value: Any, *, above: float = 0.0, minimum: float | None = None
) -> float:
    """Return `value` as a finite float greater than `above`, or of at least `minimum` if given."""
    allowed = isinstance(value, Real) and not isinstance(value, bool) and value < float("inf")
    if not allowed or not (value > above if minimum is None else value >= minimum):
        bound = f"greater than {above:g}" if minimum is None else f"of at least {minimum:g}"
        raise InvalidParameter(f"{name} is {value!r}; pass a finite number {bound}.")
    return float(value)


def check_choice(name: str, value: object, choices: Sequence[object]) -> None:
    """Refuse a value that is not among the choices."""
    if not any(value is choice or value == choice for choice in choices):
        listed = ", ".join(map(repr, choices))
        raise InvalidParameter(f"{name} is {value!r}; choose from {listed}.")
