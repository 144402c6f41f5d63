"""Rule sets as plain text and as Markdown."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING

from mossrules.model.figures import HEADER, one_line, table_rows

if TYPE_CHECKING:
    from mossrules.model.ruleset import RuleSet

__all__ = ["to_markdown", "to_text"]


def to_text(ruleset: RuleSet) -> str:
    """Return a table for people to read."""
    rows = table_rows(ruleset)
    width = max(len(HEADER[0]), *(len(row.weight) for row in rows))
    target = "The prediction" if ruleset.target is None else f"Predicted {one_line(ruleset.target)}"
    lines = [
        f"{target} is the sum of the weights of the rules that hold.",
        f"  {HEADER[0]:>{width}}  {HEADER[1]:>6}  {HEADER[2]:>6}  {HEADER[3]}",
        *(
            f"  {row.weight:>{width}}  {row.support:>6}  {row.proportion:>6}  {row.rule}"
            for row in rows
        ),
    ]
    return "\n".join(lines)


def to_markdown(ruleset: RuleSet) -> str:
    """Return a table in GitHub's Markdown; rules are code, so nothing in them is markup."""
    lines = [f"| {' | '.join(HEADER)} |", "|---:|---:|---:|:---|"]
    lines += [
        f"| {row.weight} | {row.support} | {row.proportion} | {_code(row.rule)} |"
        for row in table_rows(ruleset)
    ]
    return "\n".join(lines)


def _code(text: str) -> str:
    """Return text as code in a cell of a table."""
    if not set(text) & set("`|\\") and text == text.strip():
        return f"`{text}`"
    # Backticks cannot show these, whose meaning in a cell differs between readers: entities can.
    return f"<code>{''.join(map(_entity, text))}</code>"


def _entity(letter: str) -> str:
    return f"&#{ord(letter)};" if letter in string.punctuation else letter
