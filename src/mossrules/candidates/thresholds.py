"""Thresholds as people read them.

Cuts are floats, and a bin ends with its cut: `x <= cut`. Where one asks for `x < 65`, the cut is
the float just below 65. It is compared as any other cut is, and written as `x < 65`.
"""

from __future__ import annotations

import math

__all__ = ["cut_below", "format_number", "readable"]

MANY = 15  # digits that every float keeps; the float just below a number of no more has more


def cut_below(number: float) -> float:
    """Return the cut that means `x < number`.

    >>> cut_below(65.0)
    64.99999999999999
    """
    return math.nextafter(number, -math.inf)


def readable(cut: float) -> tuple[float, bool]:
    """Return a number, and whether it is in the bin below: whether `x <= cut` is `x <= number`.

    >>> readable(65.0), readable(64.99999999999999)
    ((65.0, True), (65.0, False))
    """
    # It is the same for every x; which of the two is shorter to read decides.
    above = math.nextafter(cut, math.inf)
    if above == 0.0:
        return 0.0, False
    if math.isfinite(above) and _digits(cut) > MANY >= _digits(above):
        return above, False
    return cut, True


def _digits(number: float) -> int:
    """Return how many significant digits it takes to write a number."""
    return len(repr(abs(number)).partition("e")[0].replace(".", "").strip("0"))


def format_number(value: float) -> str:
    """Return the shortest text that reads back as the same number, without a trailing `.0`."""
    return repr(float(value)).removesuffix(".0")
