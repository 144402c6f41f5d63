"""Rule sets as plain text and as Markdown."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING

from mossrules.model.formatting import header, predicted, table_rows

if TYPE_CHECKING:
    from mossrules.model.ruleset import RuleSet

__all__ = ["to_markdown", "to_text"]


def to_text(ruleset: RuleSet) -> str:
    """Return a table for people to read."""
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
