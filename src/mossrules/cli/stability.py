"""`mossrules stability`: whether an analysis finds the same rules again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from mossrules import defaults
from mossrules._files import check_place
from mossrules.cli import _options as options
from mossrules.cli._console import out, print_json, print_line
from mossrules.cli._learning import (
    evaluated,
    forest_parameters,
    moss_parameters,
    number_or_word,
    read_numbers,
)
from mossrules.cli._tables import consistency_table, measures_content, measures_table
from mossrules.exceptions import InvalidParameter

if TYPE_CHECKING:
    from mossrules.evaluation import Evaluation

__all__ = ["stability"]

NAME = "MOSS"
ANY = 1e-9  # a share of the folds that every rule has


@options.gathered
def stability(
    *,
    file: options.File,
    folds: options.Folds = defaults.FOLDS,
    identity: options.IdentityOption = options.Identity.CODES,
    share: Annotated[
        float, typer.Option(help="Show rules of at least this share of the folds, in (0, 1].")
    ] = 0.5,
    checkpoint: options.Record = None,
    as_json: options.Json = False,
    level: Annotated[
        str,
        typer.Option(
            "--stability",
            help="How stable: 'high', 'medium', 'low', a share of the largest in (0, 1], or "
            "'auto'.",
            rich_help_panel=options.MODEL,
        ),
    ] = "0.8",
    max_rules: options.MaxRules = defaults.MAX_RULES,
    gap: options.ChoiceGap = defaults.FRONTIER_GAP,
    ties: options.TiesOption = options.Ties.KEEP,
    forest: options.Forest,
    moss: options.Moss,
    jobs: options.Jobs = None,
) -> None:
    """Show which rules of MOSS come out again when a part of the rows is left out."""
    if not 0 < share <= 1:
        raise InvalidParameter(f"--share is {share!r}; pass a part of the folds in (0, 1].")
    if checkpoint is not None:
        check_place(checkpoint)
    table = read_numbers(file)
    model = make_model(
        max_rules=max_rules,
        stability=number_or_word(level),
        gap=gap,
        ties=ties.value,
        **forest_parameters(forest),
        **moss_parameters(moss, table, file.target),
    )
    found = evaluated(
        {NAME: model},
        table,
        file.target,
        cv=folds,
        identity=identity.value,
        checkpoint=checkpoint,
        n_jobs=jobs,
    )
    if found.failures:
        raise InvalidParameter(
            f"There is no model for {len(found.failures)} of the {folds} folds. "
            f"{found.failures[0].failure}"
        )
    if as_json:
        print_json(content(found, share))
    else:
        show(found, share)


def make_model(**parameters: Any) -> Any:
    """Return the model to look at."""
    from mossrules.estimators import MossRegressor  # noqa: PLC0415  loads numba

    return MossRegressor(**parameters)


def rules_again(found: Evaluation, share: float) -> list[tuple[str, float]]:
    """Return rules of at least a share of the folds with their shares, the most frequent first.

    A rule reads as in the first fold that has it. Agreement on rows makes pairs and no list, so
    with it rules are listed by bins.
    """
    from mossrules.evaluation.measures import consistent_rules  # noqa: PLC0415  loads numba

    sets = found.rule_sets(NAME)
    if found.identity == "thresholds":
        return list(consistent_rules(sets, share, identity="thresholds").items())
    texts: dict[Any, str] = {}
    for rules in sets:
        for rule, text in zip(rules, rules.texts, strict=True):
            texts.setdefault(rule, text)
    return [(texts[rule], part) for rule, part in consistent_rules(sets, share).items()]


def content(found: Evaluation, share: float) -> dict[str, Any]:
    """Return what is said of a model, for machines."""
    summary = found.summaries[0]
    return {
        "folds": found.n_folds,
        "identity": found.identity,
        "measures": measures_content(summary),
        "rules": [{"rule": text, "share": part} for text, part in rules_again(found, share)],
        "distinct": len(rules_again(found, ANY)),
        "n_rules": summary.n_rules,
        "r2": summary.r2,
        "r2_se": summary.r2_se,
    }


def show(found: Evaluation, share: float) -> None:
    """Print a model's stability for people."""
    summary, rules = found.summaries[0], rules_again(found, share)
    print_line(
        ("Rules that come out again", "bold"),
        f": those of at least {share:.0%} of {found.n_folds} folds, each without a part of the "
        "rows.",
    )
    if rules:
        out.print(consistency_table(rules))
    else:
        print_line("There are none; ask for fewer rules or fewer bins, or look at a lower share.")
    print_line(
        f"{len(rules_again(found, 1.0))} rules are in all folds, of "
        f"{len(rules_again(found, ANY))} that are in some; a fold has {summary.n_rules:.3g}. R2 "
        f"{summary.r2:.3f} +- {summary.r2_se:.3f} on the rows left out."
    )
    out.print(measures_table(summary))
