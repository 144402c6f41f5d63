"""Two rule sets side by side, for the eye: a page in the look of the report, and a notebook's view.

The page loads nothing, has no script, and holds no row of the data. What it says is made in
`evaluation/difference_words.py`, as for text.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from mossrules._version import __version__
from mossrules.display.report.render import (
    PAPER,
    STYLES,
    page_environment,
    page_policy,
    read_part,
    writable,
)
from mossrules.evaluation.difference_words import (
    ARROW,
    Line,
    figures,
    headline,
    likeliest,
    sections,
    words_on_coverage,
)
from mossrules.model.export_text import NUMBER_CELL, TEXT_CELL, one_line

if TYPE_CHECKING:
    from mossrules.evaluation import RuleSetComparison

__all__ = ["comparison_html", "comparison_page"]

TO = " \N{RIGHTWARDS ARROW} "


def comparison_page(comparison: RuleSetComparison) -> str:
    """Return the page of a comparison as HTML."""
    templates, safe = page_environment()
    styles = "\n".join(map(read_part, STYLES))
    page = templates.get_template("differences.html.j2").render(
        view=_view(comparison),
        styles=safe(styles),
        policy=page_policy(styles),
        version=__version__,
    )
    return writable(page)


def comparison_html(comparison: RuleSetComparison) -> str:
    """Return what a notebook shows of a comparison."""
    view = _view(comparison)
    parts = [f"<p><strong>{escape(view['headline'])}</strong></p>"]
    parts += [f"<p>{escape(note)}</p>" for note in view["notes"]]
    for outcome in view["outcomes"]:
        if outcome["title"]:
            parts.append(f"<p><strong>{escape(outcome['title'])}</strong></p>")
        rows = "".join(
            f"<tr>{TEXT_CELL.format(escape(each.name))}"
            f"{NUMBER_CELL.format(escape(each.value.replace(ARROW, TO)))}"
            f"{TEXT_CELL.format(escape(each.meaning))}</tr>"
            for each in outcome["figures"]
        )
        parts.append(f"<table><tbody>{rows}</tbody></table>")
        for section in outcome["sections"]:
            caption = f"{section.heading}: {section.meaning}"
            head = "".join(f"<th>{title}</th>" for title in (*section.headings, "rule"))
            rows = "".join(f"<tr>{_cells(line)}</tr>" for line in section.lines)
            parts.append(
                f"<table><caption>{escape(caption)}</caption>"
                f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
            )
    parts.append(f"<p>{escape(view['words'])}</p>")
    return PAPER.format("".join(parts))


def _cells(line: Line) -> str:
    numbers = "".join(NUMBER_CELL.format(escape(TO.join(cell))) for cell in line.cells)
    rules = (
        part.lead + (part.old if part.new is None else f"{part.old}{TO}{part.new}")
        for part in line.parts
    )
    return numbers + TEXT_CELL.format("<br>".join(map(escape, rules)))


def _view(comparison: RuleSetComparison) -> dict[str, Any]:
    """Return what page and notebook show, in words."""
    several = len(comparison.outcomes) > 1
    notes = [*comparison.notes]
    if comparison.likeliest_differs is not None:
        notes.append(likeliest(comparison))
    return {
        "headline": headline(comparison),
        "names": comparison.names,
        "notes": notes,
        "words": words_on_coverage(comparison),
        "outcomes": [
            {
                "title": f"Class {one_line(str(each.outcome))}" if several else "",
                "figures": figures(comparison, each),
                "sections": sections(comparison, each),
            }
            for each in comparison.outcomes
        ],
    }
