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
from mossrules.model.events import few_events_sentence

if TYPE_CHECKING:
    from mossrules.model.ruleset import RuleSet
    from mossrules.model.track_record import Interval, TrackRecord

__all__ = [
    "INTERCEPT",
    "Row",
    "code_cell",
    "event_text",
    "few_events",
    "format_amounts",
    "header",
    "notes",
    "notes_on_record",
    "one_line",
    "predicted",
    "probability_name",
    "sum_in_words",
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


def probability_name(target: str | None, outcome: Label | None) -> str:
    """Return the name of a column of probabilities, such as P(status=case)."""
    if outcome is None:
        return "probability"
    return one_line(f"P({outcome})" if target is None else f"P({target}={outcome})")


def predicted(ruleset: RuleSet) -> str:
    """Return in words what the effects add up to, to begin a sentence with."""
    if ruleset.link == "logit":
        return f"The log-odds of {one_line(event_text(ruleset.target, ruleset.outcome))}"
    return "The prediction" if ruleset.target is None else f"Predicted {one_line(ruleset.target)}"


def sum_in_words(ruleset: RuleSet) -> str:
    """Return the sentence that stands above a table."""
    are = "are" if ruleset.link == "logit" else "is"
    return f"{predicted(ruleset)} {are} the intercept plus the effects of the rules that hold."


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
    """One line of a table, as words: numbers, then the rule."""

    numbers: tuple[str, ...]
    rule: str


def header(ruleset: RuleSet) -> tuple[str, ...]:
    """Return the titles of the columns that `Row` has.

    Tree frequency says how rules were found, and not whether they are found again: where that is
    known, it is shown in place of it, before all else.
    """
    effect, record = "log-odds" if ruleset.link == "logit" else "effect", ruleset.track_record
    if record is None:
        return effect, "coverage", "tree frequency", "rule"
    return "found", "near", effect, _interval_title(record), "coverage", "rule"


def _interval_title(record: TrackRecord) -> str:
    return f"{record.confidence:.0%} interval"


def _effect_place(ruleset: RuleSet) -> int:
    """Return which of the numbers of a row is the effect."""
    return 0 if ruleset.track_record is None else 2


def table_rows(ruleset: RuleSet) -> list[Row]:
    """Return the intercept and the rules, from the largest weight to the smallest."""
    weights = ruleset.weights.tolist()
    intercept, *amounts = format_amounts([ruleset.intercept, *weights], weights)
    supports = [f"{support:.1%}" for support in ruleset.support.tolist()]
    texts = [one_line(text) for text in ruleset.texts]
    record = ruleset.track_record
    if record is None:
        trees = [f"{proportion:.1%}" for proportion in ruleset.proportion.tolist()]
        cells = zip(amounts, supports, trees, strict=True)
        first = Row((intercept, "", ""), INTERCEPT)
    else:
        found = [f"{each.found} of {record.refits}" for each in record.rules]
        near = [f"{each.near}" for each in record.rules]
        intervals = [record.intercept, *(each.held_fixed for each in record.rules)]
        own, *words = _format_intervals(intervals, weights)
        cells = zip(found, near, amounts, words, supports, strict=True)  # type: ignore[assignment]
        first = Row(("", "", intercept, own, ""), INTERCEPT)
    return [first, *(Row(tuple(line), text) for line, text in zip(cells, texts, strict=True))]


def _format_intervals(intervals: Sequence[Interval], weights: Sequence[float]) -> list[str]:
    """Return intervals with as many decimals as the weights have; a dash where there is none."""
    known = [end for each in intervals for end in each if not math.isnan(end)]
    words = iter(format_amounts(known, weights) if known else [])
    return [
        "-" if math.isnan(each.lower) else f"{next(words)} to {next(words)}" for each in intervals
    ]


def notes(ruleset: RuleSet) -> list[str]:
    """Return the sentences below a table."""
    lines = []
    if ruleset.link == "logit":
        lines.append("The probability is 1 / (1 + exp(-log-odds)).")
        few = few_events(ruleset)
        lines += [] if few is None else [few]
    record = ruleset.track_record
    return lines if record is None else lines + notes_on_record(record)


def few_events(ruleset: RuleSet) -> str | None:
    """Return a warning where training rows with the outcome are few for so many rules."""
    event = one_line(event_text(ruleset.target, ruleset.outcome))
    return few_events_sentence(ruleset, event)


def _shows_notes(ruleset: RuleSet) -> bool:
    """Whether a table that is part of a text needs the sentences below it."""
    return ruleset.track_record is not None or few_events(ruleset) is not None


def notes_on_record(record: TrackRecord) -> list[str]:
    """Return what the columns of a track record mean, and what a reader must know of them."""
    refits, interval = f"{record.refits} refits, each on {record.how}", _interval_title(record)
    return [
        f"found: in how many of {refits}, the rule was found again; near: it or one close to it.",
        f"{interval}: how far the effect would move with other rows if these rules were kept.",
        *record.cautions,
    ]


# --- plain text and Markdown ----------------------------------------------------------------------


def to_text(ruleset: RuleSet) -> str:
    """Return an aligned table."""
    rows, titles = table_rows(ruleset), header(ruleset)
    widths = [
        max(6, len(title), *(len(row.numbers[i]) for row in rows))
        for i, title in enumerate(titles[:-1])
    ]
    place = _effect_place(ruleset)
    widths[place] = max(len(titles[place]), *(len(row.numbers[place]) for row in rows))

    def line(cells: Sequence[str], last: str) -> str:
        return "  ".join(["", *(f"{c:>{w}}" for c, w in zip(cells, widths, strict=True)), last])

    return "\n".join(
        [
            sum_in_words(ruleset),
            line(titles[:-1], titles[-1]),
            *(line(row.numbers, row.rule) for row in rows),
            *notes(ruleset),
        ]
    )


def to_markdown(ruleset: RuleSet) -> str:
    """Return a table in GitHub's Markdown; rules are code, so nothing in them is markup."""
    titles = header(ruleset)
    event = code_cell(one_line(event_text(ruleset.target, ruleset.outcome)))
    lines = [f"Log-odds of {event}:", ""] if ruleset.outcome is not None else []
    lines += [f"| {' | '.join(titles)} |", f"{'|---:' * (len(titles) - 1)}|:---|"]
    lines += [
        f"| {' | '.join(row.numbers)} | {code_cell(row.rule)} |" for row in table_rows(ruleset)
    ]
    if _shows_notes(ruleset):
        lines += ["", *notes(ruleset)]
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
    titles = header(ruleset)
    lines = [f"% {predicted(ruleset)}"] if ruleset.outcome is not None else []
    lines += [
        rf"\begin{{tabular}}{{{'r' * (len(titles) - 1)}l}}",
        r"\toprule",
        " & ".join(map(_latex, titles)) + r" \\",
        r"\midrule",
    ]
    place = _effect_place(ruleset)
    for row in table_rows(ruleset):
        cells = [*map(_latex, (*row.numbers, row.rule))]
        cells[place] = f"${row.numbers[place]}$"
        lines.append(" & ".join(cells) + r" \\")
    comments = [f"% {note}" for note in notes(ruleset)] if _shows_notes(ruleset) else []
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", *comments])


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
    head = "".join(f"<th>{title}</th>" for title in header(ruleset))
    body = "".join(f"<tr>{_html_cells(row)}</tr>" for row in table_rows(ruleset))
    below = "".join(f"<p>{escape(note)}</p>" for note in notes(ruleset))
    return (
        f"<table><caption>{escape(sum_in_words(ruleset))}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        + (below if _shows_notes(ruleset) else "")
    )


def _html_cells(row: Row) -> str:
    cells = "".join(NUMBER_CELL.format(escape(number)) for number in row.numbers)
    return cells + TEXT_CELL.format(escape(row.rule))
