"""`mossrules predict`: apply a rule set to a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mossrules._files import check_place, write_file
from mossrules.cli import _options as options
from mossrules.cli._console import print_json, print_plain
from mossrules.cli._tables import as_csv
from mossrules.exceptions import InvalidFile, InvalidParameter

if TYPE_CHECKING:
    from mossrules.data.files import Columns
    from mossrules.model import Explanation, RuleSet, RuleSets

__all__ = ["predict"]

PREDICTION, PROBABILITY = "prediction", "probability"


def predict(
    model: Annotated[
        Path, typer.Argument(help="A rule set that fit has written.", show_default=False)
    ],
    data: options.Data,
    *,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="CSV", help="Where to write, instead of printing."),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--keep",
            metavar="COLUMN",
            help="Column to write beside the prediction, such as a key; may be repeated.",
        ),
    ] = None,
    explain: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="ROW", help="Explain the prediction for one row, the first being 1."
        ),
    ] = None,
    as_json: options.Json = False,
    delimiter: options.Delimiter = None,
) -> None:
    """Predict each row of a CSV or Parquet file, or explain one of them.

    Of a class, its probability is predicted; of several, that of each and the likeliest.
    """
    if output is not None:
        check_place(output)
    ruleset = read_model(model)
    table = read_features(data, ruleset, delimiter)
    if explain is not None:
        show_explanation(ruleset, table, explain, as_json=as_json)
        return
    predictions = predicted_columns(ruleset, table)
    for name in predictions:
        if name in (keep or []):
            raise InvalidParameter(f"--keep has {name!r}, the name of a new column; rename it.")
    columns = read_kept(data, keep or [], delimiter) | predictions
    if as_json:
        print_json(columns)
    elif output is None:
        print_plain(as_csv(columns).rstrip("\n"))
    else:
        write_file(output, as_csv(columns))


def predicted_columns(ruleset: RuleSet | RuleSets, table: Columns) -> dict[str, list[Any]]:
    """Return what is predicted, by the names of columns."""
    from mossrules.model import RuleSet  # noqa: PLC0415  the command line starts without NumPy

    if isinstance(ruleset, RuleSet):
        name = PROBABILITY if ruleset.link == "logit" else PREDICTION
        return {name: ruleset.predict(table).tolist()}
    labels, probabilities = [*ruleset], ruleset.predict_proba(table)
    columns = zip(labels, probabilities.T.tolist(), strict=True)
    likeliest = [labels[place] for place in probabilities.argmax(axis=1)]
    return {f"{PROBABILITY} of {label}": each for label, each in columns} | {PREDICTION: likeliest}


def read_model(path: Path) -> RuleSet | RuleSets:
    """Return the rule set in a file, or those of several classes."""
    from mossrules.model import RuleSet, RuleSets  # noqa: PLC0415  loads NumPy
    from mossrules.model.export_json import CLASSES_FORMAT  # noqa: PLC0415

    try:
        text = path.read_bytes()
        return (RuleSets if CLASSES_FORMAT.encode() in text[:100] else RuleSet).from_json(text)
    except FileNotFoundError:
        raise InvalidFile(f"{path} does not exist; write a model with fit --output.") from None
    except OSError as reason:
        raise InvalidFile(
            f"{path} cannot be read ({reason.strerror or reason}); check the path."
        ) from reason
    except InvalidFile as reason:
        raise InvalidFile(f"{path} holds no model. {reason}") from reason


def read_features(path: Path, ruleset: RuleSet | RuleSets, delimiter: str | None) -> Columns:
    """Return the columns that rules use, in the types they had in training."""
    from mossrules.data.files import read_file  # noqa: PLC0415  loads narwhals
    from mossrules.model import RuleSet  # noqa: PLC0415

    sets = [ruleset] if isinstance(ruleset, RuleSet) else [*ruleset.values()]
    kinds = {column.name: column.kind for each in sets for column in each.binning.columns}
    # Columns without names go by position, and some column has to tell the number of rows.
    by_name = sets[0].binning.named and bool(kinds)
    return read_file(
        path,
        only=kinds if by_name else None,
        required=kinds if by_name else (),
        kinds=kinds,
        delimiter=delimiter,
    )


def read_kept(path: Path, names: Sequence[str], delimiter: str | None) -> dict[str, list[Any]]:
    """Return columns to write beside the predictions, as text; None where a value is missing."""
    from mossrules.data.columns import Kind  # noqa: PLC0415
    from mossrules.data.files import read_file  # noqa: PLC0415

    if not names:
        return {}
    kept = read_file(
        path,
        only=names,
        required=names,
        kinds=dict.fromkeys(names, Kind.CATEGORICAL),
        delimiter=delimiter,
    )
    return {
        name: [None if value is None else str(value) for value in _listed(kept[name])]
        for name in names
    }


def _listed(vector: Any) -> list[Any]:
    """Return the values of an array, or of a series of pyarrow or polars."""
    method = next(name for name in ("to_pylist", "to_list", "tolist") if hasattr(vector, name))
    values: list[Any] = getattr(vector, method)()
    return values


def show_explanation(
    ruleset: RuleSet | RuleSets, table: Columns, row: int, *, as_json: bool
) -> None:
    """Print which rules hold for a row, counted from 1, and what each adds."""
    from mossrules.data.table import Table  # noqa: PLC0415  loads narwhals
    from mossrules.model import RuleSet  # noqa: PLC0415
    from mossrules.model.export_text import one_line  # noqa: PLC0415

    n_rows = Table.from_any(table).n_rows
    if row > n_rows:
        raise InvalidParameter(f"--explain is {row} and the file has {n_rows} rows; name one.")
    alone = {name: values[row - 1 : row] for name, values in table.items()}
    if isinstance(ruleset, RuleSet):
        found = ruleset.explain(Table.from_any(alone))
        content, text = explained(found), repr(found)
    else:
        by_class = ruleset.explain(Table.from_any(alone))
        content = {"classes": {str(label): explained(each) for label, each in by_class.items()}}
        total = sum(each.prediction for each in by_class.values()) or 1.0
        shares = (f"{one_line(str(k))} {v.prediction / total:.3f}" for k, v in by_class.items())
        last = f"Probabilities divided by their sum: {', '.join(shares)}."
        text = "\n\n".join([*map(repr, by_class.values()), last])
    if as_json:
        print_json({"row": row, **content})
    else:
        print_plain(text)


def explained(found: Explanation) -> dict[str, Any]:
    """Return an explanation for machines."""
    parts = zip(found.texts, found.weights, found.holds, found.contributions, strict=True)
    names = ("rule", "weight", "holds", "contribution")
    is_probability = found.link == "logit"
    return {
        PROBABILITY if is_probability else PREDICTION: found.prediction,
        **({"log_odds": found.total, "advice": found.advice} if is_probability else {}),
        "intercept": found.intercept,
        "rules": [dict(zip(names, part, strict=True)) for part in parts],
    }
