"""A headless browser that notes whatever a page should not do: for the tests and the screenshots.

It needs three things: the Python package `playwright`, a Chromium or Chrome on the machine, and
axe-core from npm. `MOSSRULES_BROWSER=required`, as `.ci/run` sets it, makes absence a failure.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

AXE = Path(__file__).parents[1] / "browser" / "node_modules" / "axe-core" / "axe.min.js"
REQUIRED = os.environ.get("MOSSRULES_BROWSER") == "required"

_COMMANDS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_ON_A_MAC = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
_FLAGS = [
    "--disable-background-networking",  # the browser itself keeps quiet,
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
    "--disable-gpu",
    "--host-resolver-rules=MAP * ~NOTFOUND",  # and a page that calls out reaches nobody
]


def find_chromium() -> str | None:
    """Return where a Chromium or Chrome is, or None."""
    found = next(filter(None, map(shutil.which, _COMMANDS)), None)
    return found or (str(_ON_A_MAC) if _ON_A_MAC.exists() else None)


def lacking() -> list[str]:
    """Return what to install before a page can be tested here, one sentence for each thing."""
    wants = {
        "the Python package playwright (pip install playwright)": importlib.util.find_spec(
            "playwright"
        ),
        "Chromium or Chrome (apt-get install chromium)": find_chromium(),
        "axe-core (npm ci --prefix tests/browser)": AXE.exists(),
    }
    return [name for name, found in wants.items() if not found]


@contextmanager
def running_browser() -> Iterator[Browser]:
    """Run a headless browser."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - the suite runs without it

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=_FLAGS)
        try:
            yield browser
        finally:
            browser.close()


class Visit:
    """A page in a window of its own, and a list of what it did that a report must never do.

    A `script` runs before those of the page; other options are those of playwright's contexts.
    """

    def __init__(self, browser: Browser, path: Path, *, script: str = "", **options: Any) -> None:
        self.offences: list[str] = []
        self._address = path.resolve().as_uri()
        self._context = browser.new_context(reduced_motion="reduce", **options)
        self.page: Page = self._context.new_page()
        self.page.set_default_timeout(60_000)  # milliseconds; a busy machine is slow
        self._context.on("page", lambda page: self._note("opened a window", page.url))
        self.page.on("request", self._on_request)
        self.page.on("console", self._on_console)
        self.page.on("pageerror", lambda error: self._note("raised", str(error)))
        self.page.on("dialog", self._on_dialog)
        self.page.add_init_script(script)
        self.page.goto(self._address)

    def close(self) -> None:
        """Close the window."""
        self._context.close()

    def _note(self, deed: str, what: str) -> None:
        self.offences.append(f"{deed}: {what}")

    def _on_request(self, request: Any) -> None:
        if request.url != self._address and not request.url.startswith("blob:"):
            self._note("requested", request.url)

    def _on_console(self, message: Any) -> None:
        if message.type in {"error", "warning", "assert"}:
            self._note("logged", message.text)

    def _on_dialog(self, dialog: Any) -> None:
        self._note("asked", dialog.message)
        dialog.dismiss()


def wait_until(page: Page, condition: str, seconds: float = 30.0) -> None:
    """Return once an expression of JavaScript is true on the page, or say that it never was.

    Asked again and again from here: playwright's own `wait_for_function` asks from within the page
    where the first answer is no, and there the report's policy forbids it to evaluate anything.
    """
    end = time.monotonic() + seconds
    while not page.evaluate(condition):
        assert time.monotonic() < end, f"not true after {seconds} s: {condition}"
        page.wait_for_timeout(20)


_EXAMINE = """async ([options, others]) => {
    const { violations } = await axe.run(options);
    return violations.map(({ id, impact, help, nodes }) => ({
        id, impact, help,
        nodes: nodes
            .filter(({ element }) => !(id in others && element.matches(others[id])))
            .map(({ html }) => html),
    }));
}"""


def violations(page: Page, others: Mapping[str, str] | None = None) -> list[str]:
    """Return what axe-core finds seriously inaccessible or worse, and in which elements.

    `others` has, by rule, a selector of elements that are not ours to mend and are left out.
    """
    page.evaluate(AXE.read_text(encoding="utf-8"))
    options = {"preload": False, "elementRef": True, "resultTypes": ["violations"]}  # no fetching
    found = page.evaluate(_EXAMINE, [options, dict(others or {})])
    return [
        f"{each['id']} ({each['impact']}): {each['help']}: {html[:200]}"
        for each in found
        if each["impact"] in {"serious", "critical"}
        for html in each["nodes"]
    ]
