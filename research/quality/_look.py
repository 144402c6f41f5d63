"""The built site as a person sees it: in a browser, light, dark and on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from support.browser_cases import lacking, running_browser, violations

__all__ = ["OTHERS", "Look", "look_at"]

VIEWS = {
    "light": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "color_scheme": "light"},
}
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
# What axe-core holds against what others write, and is not ours to mend: rule, selector, name. In
# all other elements the same rules count.
OTHERS = (
    ("label-content-name-mismatch", ".search-button-field", "the search button of the theme"),
    ("summary-name", "summary:has(> .toctree-toggle)", "the arrows in the theme's navigation"),
    ("link-name", ".sphx-glr-thumbcontainer a", "the cards of sphinx-gallery"),
    ("definition-list", "dt.sig > dl", "the lists of parameters in Sphinx's signatures"),
)


@dataclass
class Look:
    """What was looked at, and what is wrong in sentences."""

    absent: list[str] = field(default_factory=lacking)  # what to install before one can look
    views: int = 0
    examined: int = 0  # by axe-core
    faults: list[str] = field(default_factory=list)


def look_at(folder: Path, pages: set[str]) -> Look:
    """Open every page as on a phone, and those named in light and dark, with axe-core.

    Nothing may be fetched from elsewhere, logged as an error, or stick out at the side, and
    nothing of ours may be seriously inaccessible.
    """
    look = Look()
    if look.absent:
        return look
    paths = [path for path in sorted(folder.rglob("*.html")) if "_static" not in path.parts]
    with running_browser() as browser:
        for view, options in VIEWS.items():
            context = browser.new_context(reduced_motion="reduce", **options)
            page, heard = context.new_page(), list[str]()
            page.on("request", lambda each, heard=heard: heard.append(each.url))
            page.on("console", lambda each, heard=heard: heard.append(f"{each.type}: {each.text}"))
            for path in paths:
                name = str(path.relative_to(folder).with_suffix(""))
                closely = view != "phone"
                if closely and name not in pages:
                    continue
                heard.clear()
                page.goto(path.resolve().as_uri())
                found = list(_calls(heard))
                if (wider := page.evaluate(WIDER)) > 1:
                    found.append(f"sticks out by {wider} pixels")
                if closely:
                    look.examined += 1
                    found += violations(page, {rule: selector for rule, selector, _ in OTHERS})
                look.views += 1
                look.faults += [f"{name}, {view}: {each}" for each in found]
            context.close()
    return look


def _calls(heard: list[str]) -> Iterator[str]:
    quiet = ("file:", "data:", "blob:", "log:", "info:", "debug:")
    yield from (each for each in heard if not each.startswith(quiet))
