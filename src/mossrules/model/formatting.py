"""Numbers and words as people read them, the same in every kind of table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mossrules.model.link import event_text

if TYPE_CHECKING:
    from mossrules.model.ruleset import RuleSet

__all__ = ["INTERCEPT", "Row", "format_amounts", "header", "one_line", "predicted", "table_rows"]

DIGITS = 4  # of the largest weight; the others have as many decimals
INTERCEPT = "(intercept)"


@dataclass(frozen=True)
class Row:
    """One line of a table, as words: weight, share of rows, share of trees, rule."""

    weight: str
    support: str
    proportion: str
    rule: str


def header(ruleset: RuleSet) -> tuple[str, str, str, str]:
    """Return the titles of the columns that `Row` has."""
    return ("log-odds" if ruleset.link == "logit" else "weight", "rows", "trees", "rule")


def predicted(ruleset: RuleSet) -> str:
    """Return in words what the weights add up to, to begin a sentence with."""
    if ruleset.link == "logit":
        return f"The log-odds of {one_line(event_text(ruleset.target, ruleset.outcome))}"
    return "The prediction" if ruleset.target is None else f"Predicted {one_line(ruleset.target)}"


def table_rows(ruleset: RuleSet) -> list[Row]:
    """Return the intercept and the rules, from the largest weight to the smallest."""
    weights = ruleset.weights.tolist()
    intercept, *amounts = format_amounts([ruleset.intercept, *weights], weights)
    shares = zip(ruleset.support.tolist(), ruleset.proportion.tolist(), strict=True)
    return [
        Row(intercept, "", "", INTERCEPT),
        *(
            Row(amount, f"{support:.1%}", f"{proportion:.1%}", one_line(text))
            for amount, (support, proportion), text in zip(
                amounts, shares, ruleset.texts, strict=True
            )
        ),
    ]


def format_amounts(values: Sequence[float], weights: Sequence[float]) -> list[str]:
    """Return amounts with signs and equally many decimals, as the largest of the weights needs."""
    largest = max(map(abs, weights), default=0.0) or max(map(abs, values))
    if largest and not 1e-6 <= largest < 1e9:
        return [f"{value:+.{DIGITS}g}" for value in values]
    magnitude = math.floor(math.log10(largest)) if largest else 0
    return [f"{value:+.{max(0, DIGITS - 1 - magnitude)}f}" for value in values]


def one_line(text: str) -> str:
    """Return text without line breaks, control characters or others that do not show.

    They are written as escapes, since one in a column's name could break a table or a comment, or
    turn around the order in which a line is read.
    """
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii")
        for letter in text
    )
