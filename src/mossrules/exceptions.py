"""Errors: one class per cause, all of them `MossError`, each also the built-in a caller expects.

Every message is one sentence that names what was wrong and what to do about it. Warnings are
issued by `warn_user`, which is for the package itself, at the line of the user that caused them.
"""

from __future__ import annotations

import warnings
from types import FrameType

__all__ = [
    "CacheWarning",
    "ColumnNameWarning",
    "FewEventsWarning",
    "InfeasibleProblem",
    "InvalidColumn",
    "InvalidFile",
    "InvalidParameter",
    "InvalidTable",
    "InvalidTarget",
    "LicenceLimit",
    "MissingColumns",
    "MissingDependency",
    "MixedColumnWarning",
    "MossError",
    "NotEnoughMemory",
    "NothingFound",
    "OutcomeWarning",
    "SolveLimitWarning",
    "TableWarning",
    "UnsupportedType",
]

PACKAGE = __name__.partition(".")[0]


LONGEST = 1500  # characters of a sentence: names and values in it may be of any length


class MossError(Exception):
    """Base of every error that mossrules raises on purpose; its sentence is on one line."""

    def __str__(self) -> str:
        line = " ".join(super().__str__().splitlines())
        if len(line) > LONGEST:
            line = f"{line[: 2 * LONGEST // 3]} ... {line[-LONGEST // 3 :]}"
        return line


class InvalidTable(MossError, ValueError):
    """The table as a whole cannot be used: empty, too small, or with unusable column names."""


class InvalidColumn(MossError, ValueError):
    """A column holds values that cannot be used."""


class InvalidTarget(MossError, ValueError):
    """The target (or the sample weights) cannot be used with this table."""


class InvalidParameter(MossError, ValueError):
    """A parameter is outside the values it may take."""


class MissingColumns(MossError, ValueError):
    """Columns known from training are not in the table."""


class UnsupportedType(MossError, TypeError):
    """A table, column or parameter is of a type that mossrules does not read."""


class MissingDependency(MossError, ImportError):
    """An optional package is needed and not installed."""


class LicenceLimit(MossError):
    """A commercial solver has no licence for a problem of this size."""


class NotEnoughMemory(MossError, MemoryError):
    """There is not enough memory for what was passed."""


class InfeasibleProblem(MossError, ValueError):
    """No rule set can meet the conditions asked for."""


class NothingFound(MossError):
    """Time ran out before any rule set was found that meets the conditions."""


class InvalidFile(MossError, ValueError):
    """A file or text is not what it should be: damaged, of another kind, or of another version."""


class FewEventsWarning(UserWarning):
    """There are few training rows of the rarer class for the rules that tell the two apart."""


class CacheWarning(UserWarning):
    """What was compiled could not be read or kept, so that it is compiled again."""


class MixedColumnWarning(UserWarning):
    """A column of a text file has words among its numbers, and so all of it is text."""


class ColumnNameWarning(UserWarning):
    """Names of columns in a file had spaces around them, which were left out."""


class OutcomeWarning(UserWarning):
    """The names of two classes do not say which one is the outcome, and nobody has named it."""


class SolveLimitWarning(UserWarning):
    """A search for rules ended before it had proven the gap asked for."""


class TableWarning(UserWarning):
    """A table has a column with which a model is worthless: an identifier, a date, the target."""


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the nearest line that is not of this package: the one that its reader can change."""
    frame, level = _caller(), 1
    while frame is not None and _is_inside(frame):
        # Python's own machinery of imports does not count: `warnings` leaves it out too.
        level += "importlib._bootstrap" not in frame.f_code.co_filename
        frame = frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _caller() -> FrameType | None:
    """Return the frame of who calls; `inspect` takes longer to load than the package does."""
    try:
        raise RuntimeError  # noqa: TRY301  for its traceback
    except RuntimeError as error:
        here = error.__traceback__
    return None if here is None else here.tb_frame.f_back


def _is_inside(frame: FrameType) -> bool:
    """Tell whether a frame is of this package, or of the import of one of its modules."""
    top = frame.f_globals.get("__name__", "").partition(".")[0]
    return top in (PACKAGE, "importlib")
