"""HTML: of `ReportData` one self-contained page, and of models and frontiers a notebook's view.

Everything is escaped: in the text by jinja2, in the data for the script as JSON without the letters
that could end it. The page's own policy lets it load nothing, and run no script and no style but
the two whose hashes it names. Views of notebooks need no jinja2, no script and no style sheet.
"""

from __future__ import annotations

import json
import os
from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from html import escape
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from mossrules._files import write_file
from mossrules._refusals import names_input
from mossrules.display.report.collect import with_own
from mossrules.display.report.data import CertificateSummary
from mossrules.display.report.numbers import number, odds_ratio, percent
from mossrules.display.report.view import fit_figure, label_words, make_view
from mossrules.frontier import Frontier
from mossrules.model import RuleSet
from mossrules.solver import Solution, Status

__all__ = ["PAPER", "STYLES", "Content", "frontier_html", "model_html", "page_environment",
           "page_policy", "read_part", "render", "writable", "write_report"]  # fmt: skip

SCRIPTS = ("numbers.js", "rules.js", "what_if.js", "export.js", "report.js")
STYLES = ("report.css", "print.css")
# A notebook's view has colours of its own, as it does not know those of the notebook.
PAPER = '<div style="background: #fff; color: #222; padding: 0.5em; max-width: 60em">{}</div>'
SMALL = (420, 260)
MOST_LINES = 12  # of the table of a frontier


class Content(Protocol):
    """What can be rendered."""

    def content(self) -> dict[str, Any]:
        """Return the content of a report, JSON-able."""


def render(data: Content) -> str:
    """Return the page of a report as HTML.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> from mossrules.display.report import collect
    >>> model = MossRegressor(2, n_trees=20).fit({"age": [30, 40, 50, 60]}, [2.0, 3.0, 9.0, 8.0])
    >>> render(collect(model, cv=None, points=3))[:15]
    '<!doctype html>'
    """
    templates, safe = page_environment()
    content = data.content()
    styles, script = ("\n".join(map(read_part, names)) for names in (STYLES, SCRIPTS))
    view = make_view(content)
    view |= {
        "styles": safe(styles),
        "script": safe(script),
        "data": safe(_json_block(content)),
        "texts": safe(_json_block(view["texts"])),
        "policy": page_policy(styles, script),
    }
    for figure in view["figures"]:  # made by figures.py, which escapes what it writes
        figure.update(wide=safe(figure["wide"]), narrow=safe(figure["narrow"]))
    return writable(templates.get_template("report.html.j2").render(r=content, view=view))


def page_environment() -> tuple[Any, Any]:
    """Return the templates of pages, which escape what they show, and the type of safe text."""
    # Loaded only when a page is written: notebooks and the estimators need neither.
    jinja2, markupsafe = import_module("jinja2"), import_module("markupsafe")  # only when needed
    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        loader=jinja2.FunctionLoader(read_part),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": number,
        "percent": percent,
        "ratio": odds_ratio,
        "label": label_words,
    }
    return environment, markupsafe.Markup


def writable(page: str) -> str:
    """Return a page without halves of pairs of surrogates, which no file can hold."""
    return page.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@names_input("path")
def write_report(path: str | os.PathLike[str], data: Content) -> None:
    """Write the page of a report to a file, whole or not at all.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from mossrules import MossRegressor
    >>> from mossrules.display.report import collect
    >>> model = MossRegressor(2, n_trees=20).fit({"age": [30, 40, 50, 60]}, [2.0, 3.0, 9.0, 8.0])
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "report.html")
    ...     write_report(path, collect(model, cv=None, points=3))
    ...     path.exists()
    True
    """
    write_file(Path(path), render(data))


def _json_block(content: Mapping[str, Any] | Sequence[Any]) -> str:
    """Return JSON that no HTML parser can see an end in."""
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    # JSON may hold "</script>" or "<!--" in a text. Escaped as \u003c it is the same JSON, and no
    # HTML parser sees a tag in it.
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def page_policy(styles: str, script: str | None = None) -> str:
    """Return a policy by which a page loads nothing, and runs only what it came with."""
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src {_hash(script)}" if script is not None else "script-src 'none'",
            f"style-src {_hash(styles)}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        ]
    )


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def read_part(name: str) -> str:
    """Return a file of the page."""
    return (files(__name__.rpartition(".")[0]) / "page" / name).read_text(encoding="utf-8")


# --- views of notebooks -------------------------------------------------------------------------


def model_html(model: Any) -> str:
    """Return the rules of a fitted MOSS model, its certificate, and its place on the trade-off.

    The trade-off is drawn only if it was solved before: to look at a model must not take long.
    """
    rules = model.rules_
    parts = [f"<p><strong>{escape(type(model).__name__)}</strong></p>", rules._repr_html_()]
    if isinstance(rules, RuleSet):
        certificate = CertificateSummary.of(model.fitted_, model.solution_, rules)
        parts.append(f"<p>{escape(certificate.sentence)}</p>")
        frontiers = list(model.fitted_.frontiers.values())  # those that were asked for
        if frontiers:
            frontier = with_own(max(frontiers, key=len), model.solution_)
            parts.append(_frontier_figure(frontier, model.solution_))
    return PAPER.format("".join(parts))


def frontier_html(frontier: Frontier) -> str:
    """Return the trade-off as a figure, and its points as a table."""
    if not frontier.points:
        return PAPER.format("<p>A frontier without points.</p>")
    parts = [_frontier_figure(frontier), _frontier_table(frontier)]
    return PAPER.format("".join([*parts, f"<p>{escape(repr(frontier))}</p>"]))


def _frontier_figure(frontier: Frontier, own: Solution | None = None) -> str:
    points = frontier.points
    figure = fit_figure(
        [frontier.share(point.stability) for point in points],
        [frontier.explained(point.loss) for point in points],
        chosen=None if own is None else _position(points, own),
        knee=_position(points, frontier.knee()) if len(points) > 2 else None,
        proven=[point.status is Status.OPTIMAL for point in points],
        floor=frontier.floor,
    )
    return figure.svg(*SMALL, suffix=f"-{id(frontier):x}")  # ids of a notebook's figures differ


def _position(points: list[Solution], wanted: Solution) -> int | None:
    """Return where a rule set is among points, if it is one of them."""
    rules = set(wanted.support.tolist())
    same = (i for i, point in enumerate(points) if set(point.support.tolist()) == rules)
    return next(same, None)


def _frontier_table(frontier: Frontier) -> str:
    """Return some of the points, from the most stable to the one that fits best."""
    points = frontier.points
    # The ceiling, so that there are never more lines than wanted but for the last point.
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
    names = ("index", "stability score", "share explained", "rules", "status", "optimality gap")
    head = "".join(f'<th scope="col">{name}</th>' for name in names)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in line)}</tr>" for line in cells
    )
    caption = "Points of the trade-off, the most stable first"
    if len(shown) < len(points):
        caption += f" ({len(shown)} of {len(points)} points; frame() has all)"
    return (
        f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )
