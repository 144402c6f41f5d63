"""Rule sets as HTML tables, for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from mossrules.model.formatting import header, one_line, table_rows
from mossrules.model.link import event_text

if TYPE_CHECKING:
    from mossrules.model.ruleset import RuleSet

__all__ = ["to_html"]

NUMBER = '<td style="text-align: right">{}</td>'
TEXT = '<td style="text-align: left; white-space: pre-wrap">{}</td>'


def to_html(ruleset: RuleSet) -> str:
    """Return a table; everything that comes from the data is escaped."""
    caption = "Rules for the prediction: add the weights of those that hold"
    if ruleset.link == "logit":
        event = escape(one_line(event_text(ruleset.target, ruleset.outcome)))
        caption = f"Rules for the log-odds of {event}: add those of the rules that hold"
    elif ruleset.target is not None:
        caption = caption.replace("the prediction", escape(one_line(ruleset.target)))
    head = "".join(f"<th>{title}</th>" for title in header(ruleset))
    body = "".join(
        "<tr>"
        + "".join(NUMBER.format(escape(cell)) for cell in (row.weight, row.support, row.proportion))
        + TEXT.format(escape(row.rule))
        + "</tr>"
        for row in table_rows(ruleset)
    )
    return (
        f"<table><caption>{caption}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )
