"""Rule sets as tables for people: plain text, Markdown, LaTeX and HTML.

All four have the same rows, `table_rows`, and differ only in what they escape. Names of columns and
labels are data and may hold anything, markup and line breaks too: each format shows them as they
are, and none lets them do anything. Numbers are rounded; other exports have all digits.
"""

from __future__ import annotations

import math
import re
import string
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from mossrules.data.columns import Label

if TYPE_CHECKING:
    from mossrules.model.ruleset import RuleSet

__all__ = [
    "INTERCEPT",
    "Row",
    "code_cell",
    "event_text",
    "format_amounts",
    "header",
    "one_line",
    "predicted",
    "table_rows",
    "to_html",
    "to_latex",
    "to_markdown",
    "to_text",
]

DIGITS = 4  # of the largest weight; the others have as many decimals
INTERCEPT = "(intercept)"


# --- words and numbers ----------------------------------------------------------------------------


def one_line(text: str) -> str:
    """Return text without line breaks, control characters or others that do not show.

    They are written as escapes, since one in a column's name could break a table or a comment, or
    turn around the order in which a line is read.
    """
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii")
        for letter in text
    )


def event_text(target: str | None, outcome: Label | None) -> str:
    """Return in words what a probability is that of."""
    if outcome is None:
        return "the outcome" if target is None else target
    return f"{outcome}" if target is None else f"{target} = {outcome}"


def predicted(ruleset: RuleSet) -> str:
    """Return in words what the weights add up to, to begin a sentence with."""
    if ruleset.link == "logit":
        return f"The log-odds of {one_line(event_text(ruleset.target, ruleset.outcome))}"
    return "The prediction" if ruleset.target is None else f"Predicted {one_line(ruleset.target)}"


def format_amounts(values: Sequence[float], weights: Sequence[float]) -> list[str]:
    """Return amounts with signs and equally many decimals, as the largest of the weights needs.

    Readers add them up, which takes equal decimals: rounding each to four digits of its own would
    show digits of small weights that are lost in the sum.
    """
    largest = max(map(abs, weights), default=0.0) or max(map(abs, values))
    # Decimals of numbers like these would fill the line with zeros.
    if largest and not 1e-6 <= largest < 1e9:
        return [f"{value:+.{DIGITS}g}" for value in values]
    magnitude = math.floor(math.log10(largest)) if largest else 0
    return [f"{value:+.{max(0, DIGITS - 1 - magnitude)}f}" for value in values]


# --- rows -----------------------------------------------------------------------------------------


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


# --- plain text and Markdown ----------------------------------------------------------------------


def to_text(ruleset: RuleSet) -> str:
    """Return an aligned table."""
    rows, titles = table_rows(ruleset), header(ruleset)
    width = max(len(titles[0]), *(len(row.weight) for row in rows))
    are = "are" if ruleset.link == "logit" else "is"
    lines = [
        f"{predicted(ruleset)} {are} the sum of the weights of the rules that hold.",
        f"  {titles[0]:>{width}}  {titles[1]:>6}  {titles[2]:>6}  {titles[3]}",
        *(
            f"  {row.weight:>{width}}  {row.support:>6}  {row.proportion:>6}  {row.rule}"
            for row in rows
        ),
    ]
    if ruleset.link == "logit":
        lines.append("The probability is 1 / (1 + exp(-log-odds)).")
    return "\n".join(lines)


def to_markdown(ruleset: RuleSet) -> str:
    """Return a table in GitHub's Markdown; rules are code, so nothing in them is markup."""
    lines = [f"| {' | '.join(header(ruleset))} |", "|---:|---:|---:|:---|"]
    lines += [
        f"| {row.weight} | {row.support} | {row.proportion} | {code_cell(row.rule)} |"
        for row in table_rows(ruleset)
    ]
    return "\n".join(lines)


def code_cell(text: str) -> str:
    """Return text as code in a cell of a table."""
    if not set(text) & set("`|\\") and text == text.strip():
        return f"`{text}`"
    # Backticks cannot show these, whose meaning in a cell differs between readers: entities can.
    return f"<code>{''.join(map(_entity, text))}</code>"


def _entity(letter: str) -> str:
    return f"&#{ord(letter)};" if letter in string.punctuation else letter


# --- LaTeX ----------------------------------------------------------------------------------------

# What means something to LaTeX.
LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "|": r"\textbar{}",
    "<=": r"$\leq$",
    ">=": r"$\geq$",
    "<": "$<$",
    ">": "$>$",
    " ": r"\ ",  # the first of two, which would be set as one
}
# The last two are signs that LaTeX would join with the next one, such as the hyphens of a dash.
LATEX_SPECIAL = re.compile(r"[<>]=|[\\{}$&#%_~^|<>]| (?= |$)|^ |([-',])(?=\1)|[`?!](?=`)")


def to_latex(ruleset: RuleSet) -> str:
    r"""Return a tabular; the document needs \usepackage{booktabs}."""
    lines = [
        r"\begin{tabular}{rrrl}",
        r"\toprule",
        " & ".join(header(ruleset)) + r" \\",
        r"\midrule",
    ]
    for row in table_rows(ruleset):
        cells = (f"${row.weight}$", *map(_latex, (row.support, row.proportion, row.rule)))
        lines.append(" & ".join(cells) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def _latex(text: str) -> str:
    """Return text that LaTeX sets as it is."""
    # An empty group keeps a sign apart from the next one.
    return LATEX_SPECIAL.sub(lambda match: LATEX.get(match[0], match[0] + "{}"), text)


# --- HTML -----------------------------------------------------------------------------------------

# Notebooks have styles of their own for tables, which would centre numbers and join spaces.
NUMBER_CELL = '<td style="text-align: right">{}</td>'
TEXT_CELL = '<td style="text-align: left; white-space: pre-wrap">{}</td>'


def to_html(ruleset: RuleSet) -> str:
    """Return a table for notebooks; everything that comes from the data is escaped."""
    caption = "Rules for the prediction: add the weights of those that hold"
    if ruleset.link == "logit":
        event = escape(one_line(event_text(ruleset.target, ruleset.outcome)))
        caption = f"Rules for the log-odds of {event}: add those of the rules that hold"
    elif ruleset.target is not None:
        caption = caption.replace("the prediction", escape(one_line(ruleset.target)))
    head = "".join(f"<th>{title}</th>" for title in header(ruleset))
    body = "".join(f"<tr>{_html_cells(row)}</tr>" for row in table_rows(ruleset))
    return (
        f"<table><caption>{caption}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _html_cells(row: Row) -> str:
    numbers = (row.weight, row.support, row.proportion)
    cells = "".join(NUMBER_CELL.format(escape(number)) for number in numbers)
    return cells + TEXT_CELL.format(escape(row.rule))
