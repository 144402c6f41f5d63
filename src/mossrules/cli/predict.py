"""`mossrules predict`: apply a rule set to a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from mossrules import _late as late
from mossrules._files import check_outputs, write_file
from mossrules.cli import _options as options
from mossrules.cli._learning import Columns
from mossrules.cli._output import as_csv, errors, is_excel, print_json, print_plain, table_file
from mossrules.exceptions import InvalidParameter

__all__ = ["predict"]

OF_THE_FILE = ("delimiter", "encoding", "sheet")  # and not of its values
PREDICTION, PROBABILITY = "prediction", "probability"


@options.with_option_groups
def predict(
    model: Annotated[
        Path, typer.Argument(help="A rule set that fit has written.", show_default=False)
    ],
    data: options.Data,
    *,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="CSV|XLSX", help="Where to write, instead of printing."
        ),
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
    reading: options.Reading,
) -> None:
    """Predict each row of a CSV or Parquet file, or explain one of them.

    Of a class, its probability is predicted, in a column such as P(status=case); of several, that
    of each and the likeliest.
    """
    is_excel(output)
    check_outputs({"--output": output}, [model, data])
    ruleset = late.rulesets.read_model(model)
    known = ruleset.reading.describe()
    if known:
        sentence = f"The file is read as that of training was: {known}."
        errors.print(sentence, soft_wrap=True, markup=False)
    table = read_features(data, ruleset, reading.said)
    if explain is not None:
        show_explanation(ruleset, table, explain, as_json=as_json)
        return
    predictions = predicted_columns(ruleset, table)
    for name in predictions:
        if name in (keep or []):
            raise InvalidParameter(f"--keep has {name!r}, the name of a new column; rename it.")
    columns = read_kept(data, keep or [], reading.said) | predictions
    if as_json:
        print_json(columns)
    elif output is None:
        print_plain(as_csv(columns).rstrip("\n"))
    else:
        write_file(output, table_file(output, columns))


def predicted_columns(
    ruleset: late.model.RuleSet | late.model.RuleSets, table: Columns
) -> dict[str, list[Any]]:
    """Return what is predicted, by the names of columns."""
    if isinstance(ruleset, late.model.RuleSet):
        return {predicted_name(ruleset): ruleset.predict(table).tolist()}
    labels, probabilities = [*ruleset], ruleset.predict_proba(table)
    names = map(predicted_name, ruleset.values())
    columns = dict(zip(names, probabilities.T.tolist(), strict=True))
    likeliest = [labels[place] for place in probabilities.argmax(axis=1)]
    return columns | {PREDICTION: likeliest}


def predicted_name(ruleset: late.model.RuleSet) -> str:
    """Return the name of the column of what a rule set predicts, such as P(status=case)."""
    if ruleset.link != "logit":
        return PREDICTION
    return late.export_text.probability_name(ruleset.target, ruleset.outcome)


def read_features(
    path: Path, ruleset: late.model.RuleSet | late.model.RuleSets, said: Mapping[str, Any]
) -> Columns:
    """Return the columns that rules use, in the types they had in training, and read as then."""
    sets = [ruleset] if isinstance(ruleset, late.model.RuleSet) else [*ruleset.values()]
    how = late.values.reading_options(path, [each.binning for each in sets])
    return late.data.read_file(path, **how, **said)


def read_kept(path: Path, names: Sequence[str], said: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return columns to write beside the predictions, as text; None where a value is missing."""
    if not names:
        return {}
    kept = late.data.read_file(
        path,
        only=names,
        required=names,
        kinds=dict.fromkeys(names, late.columns.Kind.CATEGORICAL),
        **{name: value for name, value in said.items() if name in OF_THE_FILE},
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
    ruleset: late.model.RuleSet | late.model.RuleSets, table: Columns, row: int, *, as_json: bool
) -> None:
    """Print which rules hold for a row, counted from 1, and what each adds."""
    n_rows = late.table.Table.from_any(table).n_rows
    if row > n_rows:
        raise InvalidParameter(f"Row {row} does not exist: the file has {n_rows} rows.")
    alone = {name: values[row - 1 : row] for name, values in table.items()}
    if isinstance(ruleset, late.model.RuleSet):
        found = ruleset.explain(late.table.Table.from_any(alone))
        content, text = explanation_content(found), repr(found)
    else:
        by_class = ruleset.explain(late.table.Table.from_any(alone))
        content = {
            "classes": {str(label): explanation_content(each) for label, each in by_class.items()}
        }
        total = sum(each.prediction for each in by_class.values()) or 1.0
        shares = (
            f"{late.export_text.one_line(str(k))} {v.prediction / total:.3f}"
            for k, v in by_class.items()
        )
        last = f"Probabilities divided by their sum: {', '.join(shares)}."
        text = "\n\n".join([*map(repr, by_class.values()), last])
    if as_json:
        print_json({"row": row, **content})
    else:
        print_plain(text)


def probability_content(found: late.model.Explanation) -> dict[str, Any]:
    """Return what is said of a probability, and whose it is."""
    return {
        "of": late.export_text.event_text(found.target, found.outcome),
        "log_odds": found.total,
        "advice": found.advice,
    }


def explanation_content(found: late.model.Explanation) -> dict[str, Any]:
    """Return an explanation for machines."""
    parts = zip(found.texts, found.weights, found.holds, found.contributions, strict=True)
    names = ("rule", "weight", "holds", "contribution")
    is_probability = found.link == "logit"
    return {
        PROBABILITY if is_probability else PREDICTION: found.prediction,
        **(probability_content(found) if is_probability else {}),
        "intercept": found.intercept,
        "rules": [dict(zip(names, part, strict=True)) for part in parts],
    }
