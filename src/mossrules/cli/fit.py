"""`mossrules fit`: from a file to a rule set."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mossrules._files import check_place, write_file
from mossrules.cli import _options as options
from mossrules.cli._console import out, print_json, print_line, print_plain
from mossrules.cli._learning import (
    forest_parameters,
    learn,
    moss_parameters,
    number_or_word,
    read_training_file,
)
from mossrules.cli._tables import certificate, model_content, rules_table, share_of_largest
from mossrules.exceptions import InvalidParameter

if TYPE_CHECKING:
    from mossrules.estimators import MossRegressor
    from mossrules.model import RuleSet

__all__ = ["fit"]


class Export(StrEnum):
    """Forms in which a rule set is printed."""

    TEXT = "text"
    MARKDOWN = "markdown"
    LATEX = "latex"
    SQL = "sql"
    PYTHON = "python"


@options.gathered
def fit(
    *,
    file: options.File,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="MODEL.JSON", help="Where to keep the model."),
    ] = None,
    export: Annotated[
        Export | None, typer.Option(help="Print the rule set in this form and nothing else.")
    ] = None,
    as_json: options.Json = False,
    stability: Annotated[
        str,
        typer.Option(
            help="How stable: 'high', 'medium', 'low', a share of the largest in (0, 1], or "
            "'auto' to choose one by cross-validation.",
            rich_help_panel=options.MODEL,
        ),
    ] = "high",
    max_rules: options.MaxRules = 15,
    gap: Annotated[
        float,
        typer.Option(
            help="Largest relative distance from the best choice.", rich_help_panel=options.MODEL
        ),
    ] = 1e-3,
    ties: options.TiesOption = options.Ties.KEEP,
    forest: options.Forest,
    moss: options.Moss,
    jobs: options.Jobs = None,
) -> None:
    """Find a short, stable rule set in a CSV or Parquet file."""
    if export is not None and as_json:
        raise InvalidParameter("--export and --json both say what to print; give one of them.")
    if output is not None:
        check_place(output)
    table = read_training_file(file)
    model = learn(
        table,
        file.target,
        max_rules=max_rules,
        stability=number_or_word(stability),
        ties=ties.value,
        **forest_parameters(forest),
        gap=gap,
        **moss_parameters(moss, table, file.target),
        n_jobs=jobs,
    )
    if output is not None:
        write_file(output, f"{model.rules_.to_json()}\n")
    if export is not None:
        print_plain(exported(model.rules_, export))
        return
    r2 = model.score(table, file.target)
    if as_json:
        print_json(model_content(model, r2))
    else:
        show(model, r2, output)


def exported(ruleset: RuleSet, form: Export) -> str:
    """Return a rule set in one of its forms."""
    forms: dict[Export, Callable[[], str]] = {
        Export.TEXT: ruleset.to_text,
        Export.MARKDOWN: ruleset.to_markdown,
        Export.LATEX: ruleset.to_latex,
        Export.SQL: ruleset.to_sql,
        Export.PYTHON: ruleset.to_python,
    }
    return forms[form]().rstrip("\n")


def show(model: MossRegressor, r2: float, output: Path | None) -> None:
    """Print a model for people."""
    from mossrules.model.figures import one_line  # noqa: PLC0415  loads NumPy

    print_line(
        ("Rules for ", "bold"),
        (one_line(str(model.rules_.target)), "bold"),
        ": the prediction is the sum of the weights of those that hold.",
    )
    out.print(rules_table(model.rules_))
    print_line(certificate(model.solution_))
    if hasattr(model, "evaluation_"):
        chosen = model.evaluation_.choose()
        print_line(
            f"Stability chosen by cross-validation: {chosen.share:.0%} of the largest, with R2 "
            f"{chosen.r2:.3f} +- {chosen.r2_se:.3f} on other rows."
        )
    print_line(
        f"R2 {r2:.3f} on the {model.candidates_.statistics.n:,.0f} training rows. "
        f"{len(model.rules_)} of {len(model.candidates_):,} candidate rules, with "
        f"{share_of_largest(model):.0%} of the largest stability."
    )
    if output is not None:
        print_line(f"Written to {output}.")
