"""Warnings at the user's line, however deep in the package their cause lies."""

from __future__ import annotations

import inspect
import warnings
from types import FrameType

__all__ = ["warn_user"]

PACKAGE = __name__.partition(".")[0]


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the nearest line that is not of this package: the one that its reader can change."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and _is_inside(frame):
        # Python's own machinery of imports does not count: `warnings` leaves it out too.
        level += "importlib._bootstrap" not in frame.f_code.co_filename
        frame = frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_inside(frame: FrameType) -> bool:
    """Tell whether a frame is of this package, or of the import of one of its modules."""
    top = frame.f_globals.get("__name__", "").partition(".")[0]
    return top in (PACKAGE, "importlib")
