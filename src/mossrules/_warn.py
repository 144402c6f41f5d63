"""Warnings at the user's line, however deep in the package their cause lies."""

from __future__ import annotations

import sys
import warnings
from itertools import count

__all__ = ["warn_user"]

PACKAGE = __name__.partition(".")[0]


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the nearest line that is not of this package: the one that its reader can change."""
    for level in count(1):
        module = sys._getframe(level).f_globals.get("__name__", "")  # noqa: SLF001  as warnings does
        if module.partition(".")[0] != PACKAGE:
            break
    warnings.warn(message, category, stacklevel=level + 1)
