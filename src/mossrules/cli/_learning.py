"""From a file and options to a fitted model, or to many."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from mossrules.cli._console import progress
from mossrules.cli._options import File, Forest, Moss
from mossrules.exceptions import InvalidParameter, SolveLimitWarning

if TYPE_CHECKING:
    from mossrules.constraints import Constraint
    from mossrules.estimators import MossRegressor
    from mossrules.estimators.cross_validation import EvaluationProgress
    from mossrules.evaluation import Evaluation
    from mossrules.files import Columns

__all__ = [
    "evaluated",
    "forest_parameters",
    "learn",
    "moss_parameters",
    "number_or_word",
    "read_training_file",
]


def read_training_file(file: File) -> Columns:
    """Return the columns to learn from, the target among them."""
    from mossrules.columns import Kind  # noqa: PLC0415  the command line starts without them
    from mossrules.files import read_file  # noqa: PLC0415

    target, dropped, categories = file.target, file.drop or [], file.categorical or []
    for name in (target, *categories):
        if name in dropped:
            raise InvalidParameter(f"Column {name!r} is dropped and used; do one of the two.")
    if target in categories:
        raise InvalidParameter(f"The target {target!r} is a number and cannot be categorical.")
    return read_file(
        file.data,
        drop=dropped,
        required=[target, *categories],
        kinds={**dict.fromkeys(categories, Kind.CATEGORICAL), target: Kind.NUMERIC},
        delimiter=file.delimiter,
    )


def number_or_word(text: str) -> Any:
    """Return a number if the text is one; which words there are, the library knows."""
    try:
        return float(text)
    except ValueError:
        return text


def forest_parameters(forest: Forest) -> dict[str, Any]:
    """Return the parameters of estimators that the options stand for."""
    parameters = asdict(forest)
    return {"random_state": parameters.pop("seed"), **parameters}


def moss_parameters(moss: Moss, table: Columns, target: str) -> dict[str, Any]:
    """Return the parameters of `MossRegressor` that the options stand for."""
    return {
        "time_limit": moss.time_limit,
        "gamma": number_or_word(moss.gamma),
        "constraints": read_constraints(moss, table, target),
    }


def read_constraints(moss: Moss, table: Columns, target: str) -> list[Constraint] | None:
    """Return what the options ask of a rule set; None if they ask for nothing."""
    from mossrules import constraints as known  # noqa: PLC0415  loads numba
    from mossrules.table import did_you_mean  # noqa: PLC0415  loads narwhals

    named = {
        "--never-use": (known.NeverUse, moss.never_use),
        "--only-up": (known.OnlyUp, moss.only_up),
        "--only-down": (known.OnlyDown, moss.only_down),
    }
    counted = (
        (known.AtMostFeatures, moss.at_most_features),
        (known.AtMostPerFeature, moss.at_most_per_feature),
    )
    features = [name for name in table if name != target]
    for option, (_, names) in named.items():
        for name in names or ():
            if name not in features:
                raise InvalidParameter(
                    f"{option} is {name!r}, which is no feature of the file; name one of its "
                    f"columns.{did_you_mean(name, features)}"
                )
    asked: list[Constraint] = [kind(*names) for kind, names in named.values() if names]
    asked += [kind(most) for kind, most in counted if most is not None]
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
