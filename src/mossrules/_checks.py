"""Checks of parameters that several modules share."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from mossrules.exceptions import InvalidParameter


def check_integer(name: str, value: Any, *, least: int = 1, most: int | None = None) -> int:
    """Return `value` as an int within its bounds."""
    allowed = isinstance(value, Integral) and not isinstance(value, bool)
    if not allowed or value < least or (most is not None and value > most):
        bounds = f"of at least {least}" if most is None else f"between {least} and {most}"
        raise InvalidParameter(f"{name} is {value!r}; pass an integer {bounds}.")
    return int(value)


def check_number(name: str, value: Any, *, above: float = 0.0, least: float | None = None) -> float:
    """Return `value` as a finite float greater than `above`, or of at least `least` if given."""
    allowed = isinstance(value, Real) and not isinstance(value, bool) and value < float("inf")
    if not allowed or not (value > above if least is None else value >= least):
        bound = f"greater than {above:g}" if least is None else f"of at least {least:g}"
        raise InvalidParameter(f"{name} is {value!r}; pass a finite number {bound}.")
    return float(value)
