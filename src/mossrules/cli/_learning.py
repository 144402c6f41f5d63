"""From a file and options to a fitted model, or to many."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mossrules.cli._console import progress
from mossrules.exceptions import InvalidParameter, SolveLimitWarning

if TYPE_CHECKING:
    from mossrules.constraints import Constraint
    from mossrules.estimators import MossRegressor
    from mossrules.estimators.cross_validation import EvaluationProgress
    from mossrules.evaluation import Evaluation
    from mossrules.files import Columns

__all__ = ["evaluated", "learn", "number_or_word", "read_constraints", "read_training_file"]


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


def read_constraints(
    table: Columns,
    target: str,
    *,
    never_use: list[str] | None,
    only_up: list[str] | None,
    only_down: list[str] | None,
    at_most_features: int | None,
    at_most_per_feature: int | None,
) -> list[Constraint] | None:
    """Return what the options ask of a rule set; None if they ask for nothing."""
    from mossrules import constraints as known  # noqa: PLC0415  loads numba
    from mossrules.table import did_you_mean  # noqa: PLC0415  loads narwhals

    named = {"--never-use": never_use, "--only-up": only_up, "--only-down": only_down}
    features = [name for name in table if name != target]
    for option, names in named.items():
        for name in names or ():
            if name not in features:
                raise InvalidParameter(
                    f"{option} is {name!r}, which is no feature of the file; name one of its "
                    f"columns.{did_you_mean(name, features)}"
                )
    asked: list[Constraint] = []
    if never_use:
        asked.append(known.NeverUse(*never_use))
    if only_up:
        asked.append(known.OnlyUp(*only_up))
    if only_down:
        asked.append(known.OnlyDown(*only_down))
    if at_most_features is not None:
        asked.append(known.AtMostFeatures(at_most_features))
    if at_most_per_feature is not None:
        asked.append(known.AtMostPerFeature(at_most_per_feature))
    return asked or None


def evaluated(learners: Mapping[str, Any], table: Columns, target: str, **how: Any) -> Evaluation:
    """Return learners evaluated side by side, showing how far it is meanwhile."""
    from mossrules.evaluation import evaluate  # noqa: PLC0415  loads numba

    stage = "learning on folds"
    with progress(stage) as show:

        def listen(state: EvaluationProgress) -> None:
            show(stage, state.done, state.total)

        return evaluate(learners, table, target, progress=listen, **how)


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
