"""Compact views of models and frontiers, for notebooks: HTML without scripts or style sheets."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from mossrules.display.report.certificates import certificate_of
from mossrules.display.report.collect import with_own
from mossrules.display.report.figures import fit_figure
from mossrules.display.report.numbers import number, percent
from mossrules.frontier import Frontier
from mossrules.model import RuleSet
from mossrules.solver import Solution, Status

__all__ = ["frontier_html", "model_html"]

# Of its own colours, as it does not know those of the notebook.
PAPER = '<div style="background: #fff; color: #222; padding: 0.5em; max-width: 60em">{}</div>'
SMALL = (420, 260)
MOST_LINES = 12  # of the table of a frontier


def model_html(model: Any) -> str:
    """Return the rules of a fitted MOSS model, how good the choice is known to be, and where it is.

    The trade-off is drawn if it was solved before: to look at a model must not take long.
    """
    rules = model.rules_
    parts = [f"<p><strong>{escape(type(model).__name__)}</strong></p>", rules._repr_html_()]
    if isinstance(rules, RuleSet):
        certificate = certificate_of(model.solution_, model.max_rules)
        parts.append(f"<p>{escape(certificate.sentence)}</p>")
        frontiers = list(model._frontiers.values())  # noqa: SLF001  those that were asked for
        if frontiers:
            frontier = with_own(max(frontiers, key=len), model.solution_)
            parts.append(_figure(frontier, model.solution_))
    return PAPER.format("".join(parts))


def frontier_html(frontier: Frontier) -> str:
    """Return the trade-off as a figure, and its points as a table."""
    if not frontier.points:
        return PAPER.format("<p>A frontier without points.</p>")
    return PAPER.format(_figure(frontier) + _table(frontier) + f"<p>{escape(repr(frontier))}</p>")


def _figure(frontier: Frontier, own: Solution | None = None) -> str:
    points = frontier.points
    shares = [frontier.share(each.stability) for each in points]
    drawn = fit_figure(
        shares,
        [frontier.explained(each.loss) for each in points],
        chosen=None if own is None else _position(points, own),
        knee=_position(points, frontier.knee()) if len(points) > 2 else None,
        proven=[each.status is Status.OPTIMAL for each in points],
    )
    return drawn.svg(*SMALL, suffix=f"-{id(frontier):x}")  # ids of a notebook's figures differ


def _position(points: list[Solution], wanted: Solution) -> int | None:
    """Return where a selection is among points, if it is one of them."""
    rules = set(wanted.support.tolist())
    same = (i for i, each in enumerate(points) if set(each.support.tolist()) == rules)
    return next(same, None)


def _table(frontier: Frontier) -> str:
    """Return some of the points, from the most stable to the one that fits best."""
    points = frontier.points
    step = max(1, -(-len(points) // MOST_LINES))
    shown = sorted({*range(0, len(points), step), len(points) - 1})
    cells = [
        (
            str(i),
            percent(frontier.share(points[i].stability)),
            number(frontier.explained(points[i].loss)),
            str(len(points[i].support)),
            points[i].status.value,
            percent(None if np.isnan(points[i].gap) else points[i].gap),
        )
        for i in shown
    ]
    names = ("index", "stability", "share explained", "rules", "status", "gap")
    head = "".join(f'<th scope="col">{name}</th>' for name in names)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in line)}</tr>" for line in cells
    )
    caption = "The trade-off, the most stable first"
    if len(shown) < len(points):
        caption += f" ({len(shown)} of {len(points)} points; frame() has all)"
    return (
        f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )
