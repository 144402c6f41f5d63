"""Options that commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "Bins",
    "Categorical",
    "Data",
    "Delimiter",
    "Depth",
    "Drop",
    "Features",
    "Gamma",
    "Jobs",
    "Json",
    "MaxRules",
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


DATA, MODEL = "Data", "Model"  # headings of the help

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
Json = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
