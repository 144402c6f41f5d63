"""`ReportData` -> one self-contained HTML page.

Everything is escaped: in the text by jinja2, in the data for the script as JSON without the letters
that could end it. The page's own policy lets it load nothing, and run no script and no style but
the two whose hashes it names.
"""

from __future__ import annotations

import json
import os
from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol

from mossrules._files import write_file
from mossrules.display.report.numbers import number, odds_ratio, percent
from mossrules.display.report.view import label_words, make_view

__all__ = ["Content", "render", "write_report"]

SCRIPTS = ("numbers.js", "rules.js", "what_if.js", "export.js", "report.js")
STYLES = ("report.css", "print.css")


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
    jinja2, markupsafe = import_module("jinja2"), import_module("markupsafe")  # only when needed
    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        loader=jinja2.FunctionLoader(_read),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": number,
        "percent": percent,
        "ratio": odds_ratio,
        "label": label_words,
    }
    content = data.content()
    styles, script = ("\n".join(map(_read, names)) for names in (STYLES, SCRIPTS))
    safe = markupsafe.Markup
    view = {
        **make_view(content),
        "styles": safe(styles),
        "script": safe(script),
        "data": safe(_json_block(content)),
        "policy": _policy(styles, script),
    }
    view["words"] = safe(_json_block(view["points"]))
    for figure in view["figures"]:  # made by figures.py, which escapes what it writes
        figure.update(wide=safe(figure["wide"]), narrow=safe(figure["narrow"]))
    page: str = environment.get_template("report.html.j2").render(r=content, view=view)
    # Half a pair of surrogates, which a name may hold, cannot be in a file.
    return page.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


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
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def _policy(styles: str, script: str) -> str:
    """Return a policy by which the page loads nothing, and runs only what it came with."""
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src '{_hash(script)}'",
            f"style-src '{_hash(styles)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        ]
    )


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _read(name: str) -> str:
    """Return a file of the page."""
    return (files(__name__.rpartition(".")[0]) / "page" / name).read_text(encoding="utf-8")
