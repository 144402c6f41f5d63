"""Rule sets as HTML tables, for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from mossrules.model.figures import HEADER, one_line, table_rows

if TYPE_CHECKING:
    from mossrules.model.ruleset import RuleSet

__all__ = ["to_html"]

NUMBER = '<td style="text-align: right">{}</td>'
TEXT = '<td style="text-align: left; white-space: pre-wrap">{}</td>'


def to_html(ruleset: RuleSet) -> str:
    """Return a table; everything that comes from the data is escaped."""
    target = "the prediction" if ruleset.target is None else one_line(ruleset.target)
    head = "".join(f"<th>{title}</th>" for title in HEADER)
    body = "".join(
        "<tr>"
        + "".join(NUMBER.format(escape(cell)) for cell in (row.weight, row.support, row.proportion))
        + TEXT.format(escape(row.rule))
        + "</tr>"
        for row in table_rows(ruleset)
    )
    return (
        f"<table><caption>Rules for {escape(target)}: add the weights of those that hold</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )
