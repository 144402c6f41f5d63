"""From a file and options to a fitted model."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mossrules.cli._console import progress
from mossrules.exceptions import InvalidParameter, SolveLimitWarning

if TYPE_CHECKING:
    from mossrules.estimators import MossRegressor
    from mossrules.files import Columns

__all__ = ["learn", "number_or_word", "read_training_file"]


def read_training_file(
    path: Path,
    target: str,
    drop: list[str] | None,
    categorical: list[str] | None,
    delimiter: str | None,
) -> Columns:
    """Return the columns to learn from, the target among them."""
    from mossrules.columns import Kind  # noqa: PLC0415  the command line starts without them
    from mossrules.files import read_file  # noqa: PLC0415

    dropped, categories = drop or [], categorical or []
    for name in (target, *categories):
        if name in dropped:
            raise InvalidParameter(f"Column {name!r} is dropped and used; do one of the two.")
    if target in categories:
        raise InvalidParameter(f"The target {target!r} is a number and cannot be categorical.")
    return read_file(
        path,
        drop=dropped,
        required=[target, *categories],
        kinds={**dict.fromkeys(categories, Kind.CATEGORICAL), target: Kind.NUMERIC},
        delimiter=delimiter,
    )


def number_or_word(text: str) -> Any:
    """Return a number if the text is one; which words there are, the library knows."""
    try:
        return float(text)
    except ValueError:
        return text


def learn(table: Columns, target: str, **parameters: Any) -> MossRegressor:
    """Return a model fitted to a table, showing how far it is meanwhile."""
    from mossrules.estimators import MossRegressor, candidates_for, generation  # noqa: PLC0415

    model = MossRegressor(**parameters)
    if model.stability == "auto":  # needs rows, and grows forests of its own
        with progress("cross-validating the stability"):
            return model.fit(table, target)
    with progress("getting ready") as show, warnings.catch_warnings():
        warnings.simplefilter("ignore", SolveLimitWarning)  # the certificate will say it
        candidates = candidates_for(table, target, progress=show, **generation(model))
        show("choosing rules", None, None)
        return model.fit_candidates(candidates, target=target)
