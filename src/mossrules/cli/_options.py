"""Options that commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "AtMostFeatures",
    "AtMostPerFeature",
    "Bins",
    "Categorical",
    "Data",
    "Delimiter",
    "Depth",
    "Drop",
    "Features",
    "Folds",
    "Gamma",
    "Identity",
    "IdentityOption",
    "Jobs",
    "Json",
    "MaxRules",
    "NeverUse",
    "OnlyDown",
    "OnlyUp",
    "Record",
    "Seed",
    "Target",
    "Ties",
    "TiesOption",
    "TimeLimit",
    "Trees",
]


class Ties(StrEnum):
    """What happens to rules that tie at the end of the list."""

    KEEP = "keep"
    DROP = "drop"


class Identity(StrEnum):
    """When two rules count as the same."""

    CODES = "codes"
    THRESHOLDS = "thresholds"
    ROWS = "rows"


DATA, MODEL, CONSTRAINTS = "Data", "Model", "Constraints on MOSS"  # headings of the help

Data = Annotated[
    Path, typer.Argument(help="A file: .csv, .csv.gz, .tsv or .parquet.", show_default=False)
]
Target = Annotated[
    str, typer.Option("--target", "-t", help="Column to predict.", show_default=False)
]
Drop = Annotated[
    list[str] | None,
    typer.Option(
        "--drop",
        metavar="COLUMN",
        help="Column to leave out, such as an identifier; may be repeated.",
        rich_help_panel=DATA,
    ),
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(
        "--categorical",
        metavar="COLUMN",
        help="Column of codes that look like numbers; may be repeated.",
        rich_help_panel=DATA,
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        help="Between fields of a CSV file; a comma by default, a tab in .tsv.",
        rich_help_panel=DATA,
        show_default=False,
    ),
]
MaxRules = Annotated[
    int, typer.Option("--max-rules", "-k", help="Most rules in the model.", rich_help_panel=MODEL)
]
TiesOption = Annotated[
    Ties,
    typer.Option("--ties", help="'drop' leaves out rules that tie last.", rich_help_panel=MODEL),
]
Gamma = Annotated[
    str,
    typer.Option(
        help="Weights are shrunk less the larger it is: a number, or 'auto'.",
        rich_help_panel=MODEL,
    ),
]
Trees = Annotated[int, typer.Option("--n-trees", help="Trees to grow.", rich_help_panel=MODEL)]
Depth = Annotated[int, typer.Option("--max-depth", help="Depth of trees.", rich_help_panel=MODEL)]
Bins = Annotated[
    int, typer.Option("--n-bins", help="Bins of a numeric column.", rich_help_panel=MODEL)
]
Features = Annotated[
    float,
    typer.Option(
        "--max-features",
        help="Share of the columns that each split looks at.",
        rich_help_panel=MODEL,
    ),
]
TimeLimit = Annotated[
    float, typer.Option(help="Seconds for each search of the best rules.", rich_help_panel=MODEL)
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the forest.", rich_help_panel=MODEL)]
Jobs = Annotated[
    int | None,
    typer.Option(help="Threads; all cores by default.", rich_help_panel=MODEL, show_default=False),
]
Folds = Annotated[int, typer.Option(min=2, help="Parts that the rows are dealt out to.")]
IdentityOption = Annotated[
    Identity,
    typer.Option(
        "--identity",
        help="Rules are the same if they have the same bins ('codes'), read the same "
        "('thresholds'), or hold on nearly the same 'rows'.",
    ),
]
Record = Annotated[
    Path | None,
    typer.Option(
        "--checkpoint", metavar="FILE", help="Record of a long run, to go on from after a stop."
    ),
]
NeverUse = Annotated[
    list[str] | None,
    typer.Option(
        "--never-use",
        metavar="FEATURE",
        help="No rule looks at this feature; may be repeated.",
        rich_help_panel=CONSTRAINTS,
    ),
]
OnlyUp = Annotated[
    list[str] | None,
    typer.Option(
        "--only-up",
        metavar="FEATURE",
        help="Rules that look at it only raise the prediction; may be repeated.",
        rich_help_panel=CONSTRAINTS,
    ),
]
OnlyDown = Annotated[
    list[str] | None,
    typer.Option(
        "--only-down",
        metavar="FEATURE",
        help="Rules that look at it only lower the prediction; may be repeated.",
        rich_help_panel=CONSTRAINTS,
    ),
]
AtMostFeatures = Annotated[
    int | None,
    typer.Option(
        "--at-most-features",
        metavar="N",
        help="All rules together look at no more features.",
        rich_help_panel=CONSTRAINTS,
        show_default=False,
    ),
]
AtMostPerFeature = Annotated[
    int | None,
    typer.Option(
        "--at-most-per-feature",
        metavar="N",
        help="No more rules look at the same feature.",
        rich_help_panel=CONSTRAINTS,
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
