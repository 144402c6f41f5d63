"""The report in a real browser: what a person sees, clicks, types, copies and prints."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from browser_cases import REQUIRED, Visit, lacking, running_browser, violations

BAD_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Bad</title>
<main><h1>Bad</h1><img src="https://example.invalid/picture.png"></main>
<script>console.error("careless"); alert("hello"); undefined_name;</script></html>"""


# Not of the session: while playwright's loop runs in this thread, other tests could start none.
@pytest.fixture(scope="module")
def browser() -> Iterator:
    """Run one browser for all tests here, or say what it lacks."""
    if absent := lacking():
        reason = "the browser tests need " + "; ".join(absent)
        pytest.fail(reason) if REQUIRED else pytest.skip(reason)
    with running_browser() as running:
        yield running


@pytest.fixture
def visit(browser) -> Iterator[Callable[..., Visit]]:
    """Open pages that must not call out, complain, raise, ask or open windows."""
    visits: list[Visit] = []

    def opened(path: Path, **options) -> Visit:
        visits.append(Visit(browser, path, **options))
        return visits[-1]

    yield opened
    for each in visits:
        each.close()
    assert [offence for each in visits for offence in each.offences] == []


# --- the watch itself -----------------------------------------------------------------------------


def test_a_bad_page_is_noticed(browser, tmp_path):
    """Requests, logged errors, exceptions, dialogs and inaccessible elements are all seen."""
    path = tmp_path / "bad.html"
    path.write_text(BAD_PAGE, encoding="utf-8")
    visit = Visit(browser, path)
    found, deeds = violations(visit.page), {offence.split(":")[0] for offence in visit.offences}
    visit.close()
    assert deeds == {"requested", "logged", "raised", "asked"}
    assert [each.split(" ")[0] for each in found] == ["image-alt"]
