"""`mossrules diff`: two rule sets side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mossrules import _late as late
from mossrules._files import check_outputs, write_file
from mossrules.cli import _options as options
from mossrules.cli._output import print_json, print_line, print_plain
from mossrules.exceptions import InvalidParameter

__all__ = ["diff"]


@options.with_option_groups
def diff(
    old: Annotated[
        Path, typer.Argument(help="A rule set that fit has written.", show_default=False)
    ],
    new: Annotated[
        Path, typer.Argument(help="The rule set to compare with it.", show_default=False)
    ],
    data: Annotated[
        Path | None,
        typer.Argument(
            help="Rows on which to compare predictions: .csv, .csv.gz, .tsv, .xlsx or .parquet.",
            show_default=False,
        ),
    ] = None,
    *,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="PAGE.HTML", help="Write a page for any browser too."),
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print tables in Markdown.")] = False,
    as_json: options.Json = False,
    effect_change: Annotated[
        float,
        typer.Option(help="List effects that changed by more than this share of the old one."),
    ] = 0.2,
    reading: options.Reading,
) -> None:
    """Compare two rule sets: rules that were kept, moved, gone or new, and changed effects.

    With data, also how far apart their predictions are, and which rules hold on nearly the same
    rows. Differences are no error: the exit status is 0.
    """
    if markdown and as_json:
        raise InvalidParameter("--markdown and --json are two forms of one output; choose one.")
    if effect_change < 0:
        raise InvalidParameter(
            f"--effect-change is {effect_change:g}; pass a share of at least 0, such as 0.2."
        )
    if reading.is_said and data is None:
        raise InvalidParameter(
            "Options that say how a file is read are of one with data; name it after the rule sets."
        )
    check_outputs({"--html": html}, [old, new, data])
    models = [late.rulesets.read_model(path) for path in (old, new)]
    table = None
    if data is not None:
        sets = [
            each
            for model in models
            for each in ([model] if isinstance(model, late.model.RuleSet) else model.values())
        ]
        table = late.side_by_side.scan_used(sets, data, **reading.said)
    comparison = late.evaluation.compare_rule_sets(old, new, table, effect_change=effect_change)
    if html is not None:
        write_file(html, comparison.to_html())
    if as_json:
        print_json(comparison.to_dict())
        return
    print_plain(comparison.to_markdown() if markdown else comparison.to_text())
    if html is not None and not markdown:
        print_line(f"\nWritten to {html}; open it in a browser.")
