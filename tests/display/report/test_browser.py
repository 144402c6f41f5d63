"""The report in a real browser: what a person sees, clicks, types, copies and prints."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from mossrules import RuleSet
from mossrules.display.report.numbers import NOTHING
from support.browser_cases import REQUIRED, Visit, lacking, running_browser, violations, wait_until
from support.model_cases import plain_values, records
from support.report_cases import TITLE, WORDS, Report, report_classes, report_numbers

BAD_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Bad</title>
<main><h1>Bad</h1><img src="https://example.invalid/picture.png"></main>
<script>console.error("careless"); alert("hello"); undefined_name;</script></html>"""
COPIES = {"text": "text", "sql": "SQL", "python": "Python", "json": "JSON"}
CLIPBOARD = {"permissions": ["clipboard-read", "clipboard-write"]}
DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 360, "height": 740}


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


def test_what_is_not_ours_is_left_out_by_rule_and_element(browser, tmp_path):
    """Not a rule wherever it is broken, nor an element whatever is wrong with it."""
    path = tmp_path / "shared.html"
    path.write_text(
        '<!doctype html><html lang="en"><title>Shared</title><main><h1>Shared</h1>'
        '<img id="ours"><img class="theirs"><a class="theirs" href="x.html"></a></main></html>',
        encoding="utf-8",
    )
    with closing(Visit(browser, path)) as visit:
        every, ours = violations(visit.page), violations(visit.page, {"image-alt": ".theirs"})
    assert [each.split(" ")[0] for each in every] == ["image-alt", "image-alt", "link-name"]
    assert ours == [every[0], every[2]]
    assert "ours" in ours[0]


# --- what the page shows --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def numbers(tmp_path_factory) -> Report:
    """Report on numbers, with folds."""
    return report_numbers(tmp_path_factory.mktemp("report"))


@pytest.fixture(scope="module")
def classes(tmp_path_factory) -> Report:
    """Report on classes, without folds."""
    return report_classes(tmp_path_factory.mktemp("report"))


SHOWN = """() => {
  const slots = (node) => Object.fromEntries(
    [...node.querySelectorAll("[data-slot]")]
      .map((each) => [each.dataset.slot, each.hidden ? null : each.textContent]));
  const all = (place) => [...document.querySelectorAll(place)];
  return {
    position: Number(document.body.dataset.point),
    words: document.getElementById("point-words").textContent,
    said: document.getElementById("point-slider").getAttribute("aria-valuetext"),
    base: slots(document.getElementById("base-value")),
    rules: all("#rule-rows > tr").map(slots),
    left: all("#changes:not([hidden]) #left-out > li").map(slots),
    figures: slots(document.getElementById("point-figures")),
    certificate: document.getElementById("certificate-words").textContent,
    details: slots(document.getElementById("certificate-details")),
  };
}"""


def shown(page) -> dict:
    """Return what the page says of the point that it shows, as text; None for what is hidden."""
    return page.evaluate(SHOWN)


def amount(text: str) -> float:
    """Return the number that a person reads."""
    return float(text.replace("\u2212", "-").replace(",", "").rstrip("%\xa0 "))


def is_rounded(text: str, value: float) -> bool:
    """Tell whether a text is a number, rounded to its decimals."""
    decimals = len(text.rstrip("%\xa0 ").partition(".")[2])
    return math.isclose(amount(text), value, rel_tol=0.0, abs_tol=0.5001 * 10.0**-decimals)


def times_found(report: Report, position: int) -> list[str]:
    """Return how often each rule of a point was found: in refits, or in folds beside the model."""
    record = report.rule_sets[position].track_record
    if record is not None:
        return [f"{rule.found} of {record.refits}" for rule in record.rules]
    point = report.content["points"][position]
    return [f"{times} of 3" for times in point["found"] or []] or [NOTHING] * len(point["rules"])


def assert_shows(page, report: Report, position: int, before: RuleSet | None) -> None:
    """Check the rules of a point, and how they are said to differ from those shown before."""
    seen, expected = shown(page), report.rule_sets[position]
    assert seen["position"] == position
    assert seen["words"] == seen["said"]
    assert seen["words"].startswith(f"point {position + 1} of {len(report.rule_sets)}")
    assert [row["text"] for row in seen["rules"]] == expected.texts
    columns = {"weight": expected.weights, "support": 100 * expected.support}
    columns["proportion"] = 100 * expected.proportion
    for name, values in columns.items():
        assert all(
            is_rounded(row[name], value) for row, value in zip(seen["rules"], values, strict=True)
        ), name
    assert is_rounded(seen["base"]["weight"], expected.intercept)
    assert seen["figures"]["count"] == str(len(expected))
    assert [row["found"] for row in seen["rules"]] == times_found(report, position)
    if before is not None:
        is_new = [rule not in before for rule in expected]
        assert [row["new"] is not None for row in seen["rules"]] == is_new
        left = [
            text for rule, text in zip(before, before.texts, strict=True) if rule not in expected
        ]
        assert [row["text"] for row in seen["left"]] == left


# --- sliding along the frontier -------------------------------------------------------------------


def test_arrow_keys_slide_through_all_points(visit, numbers):
    """At each, the table has the rules of `select`, and says which are new and which left out."""
    page = visit(numbers.path).page
    assert_shows(page, numbers, numbers.chosen, None)
    page.focus("#point-slider")
    page.keyboard.press("End")
    before = numbers.rule_sets[numbers.chosen]
    for position, rule_set in enumerate(numbers.rule_sets):
        assert_shows(page, numbers, position, before)
        before = rule_set
        page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    assert_shows(page, numbers, len(numbers.rule_sets) - 2, before)


@pytest.mark.parametrize(("figure", "width"), [("fit-wide", 1280), ("score-narrow", 360)])
def test_a_click_on_a_mark_shows_its_point(visit, numbers, figure, width):
    """In either figure, in a wide window or on a phone; the ring is then around the mark."""
    page = visit(numbers.path, viewport={"width": width, "height": 4000}).page  # nothing to scroll
    marks = page.locator(f"#figure-{figure} .mark[data-point]")
    assert marks.count() == len(numbers.rule_sets)
    before = numbers.rule_sets[numbers.chosen]
    for mark in marks.all():
        position = int(mark.get_attribute("data-point"))
        mark.locator(".dot").click(force=True)  # whatever line of another mark is over it
        assert_shows(page, numbers, position, before)
        before = numbers.rule_sets[position]
        ring = page.locator(f"#figure-{figure} .selection")
        assert ring.get_attribute("transform") == mark.get_attribute("transform")


PILE_UP = """(marks) => marks.forEach((each) =>
  each.setAttribute("transform", marks[0].getAttribute("transform")))"""


def test_clicks_lead_through_marks_over_each_other(visit, numbers):
    """Points that do equally well on folds lie in one place, and each can be had by a click."""
    page = visit(numbers.path, viewport={"width": 1280, "height": 4000}).page
    marks = page.locator("#figure-score-wide .mark[data-point]")
    marks.evaluate_all(PILE_UP)
    seen = []
    for _ in numbers.rule_sets:
        marks.last.locator(".dot").click(force=True)
        seen.append(shown(page)["position"])
    assert sorted(seen) == list(range(len(numbers.rule_sets)))


OVERLAPS = """(figure) => {
  const labels = [...document.querySelectorAll(`#${figure} .label`)];
  const boxes = labels.map((each) => [each.textContent, each.getBoundingClientRect()]);
  return boxes.flatMap(([text, box], i) => boxes.slice(i + 1)
    .filter(([, other]) => box.left < other.right && other.left < box.right
      && box.top < other.bottom && other.top < box.bottom)
    .map(([other]) => [text, other]));
}"""


def test_labels_of_figures_are_apart(visit, numbers):
    """In the letters of a real browser, which are wider than some."""
    for width, suffix in ((1280, "wide"), (360, "narrow")):
        page = visit(numbers.path, viewport={"width": width, "height": 900}).page
        for name, least in (("fit", 2), ("score", 3)):
            figure = f"figure-{name}-{suffix}"
            assert page.locator(f"#{figure} .label").count() >= least
            assert page.evaluate(OVERLAPS, figure) == [], figure


def test_buttons_lead_to_neighbours_and_named_points(visit, numbers):
    """Next, previous, the knee, what folds advise and the fitted model; ends are ends."""
    page, content = visit(numbers.path).page, numbers.content
    last = len(numbers.rule_sets) - 1
    page.click("#point-next")
    assert shown(page)["position"] == numbers.chosen + 1
    page.click("#point-previous")
    page.click("#point-previous")
    assert shown(page)["position"] == numbers.chosen - 1
    for name, key in (("knee", "knee"), ("fitted", "chosen"), ("advised", "advised")):
        page.click(f"#go-{name}")
        assert shown(page)["position"] == content[key]
    for button, end in (("#point-next", last), ("#point-previous", 0)):
        for _ in range(last + 1):
            page.click(button, force=True)  # it stays where it is, without effect, at the end
        assert shown(page)["position"] == end


@pytest.mark.parametrize("name", ["numbers", "classes"])
def test_coming_back_to_a_point_leaves_no_trace(visit, request, name):
    """Whoever comes back to the fitted model reads what was there before the script."""
    report = request.getfixturevalue(name)
    page = visit(report.path).page
    at_first = shown(page)
    page.click("#point-next")
    assert shown(page)["rules"] != at_first["rules"]
    page.click("#go-fitted")
    again = shown(page)
    for row in (*at_first["rules"], *again["rules"], at_first["base"], again["base"]):
        row.pop("new", None), row.pop("was", None)
    assert again | {"left": []} == at_first


# --- trying a case --------------------------------------------------------------------------------


def entries(report: Report, row: dict) -> list[dict]:
    """Return what to type or choose in each field, in the words of playwright's `select_option`."""
    found: list[dict] = []
    for column in report.content["data"]["columns"]:
        value = row[column["name"]]
        if column["kind"] == "numeric":
            found.append({"text": "" if value is None else repr(value)})
        elif value is None:
            found.append({"value": "missing"})
        elif column["kind"] == "boolean":
            found.append({"value": "true" if value else "false"})
        elif value in column["choices"]:
            found.append({"index": column["choices"].index(value)})
        else:
            found.append({"value": "other"})
    return found


def type_row(page, report: Report, row: dict) -> None:
    """Type or choose the values of a row as a person does."""
    for position, entry in enumerate(entries(report, row)):
        field = page.locator(f"#what-if-{position}")
        field.fill(entry["text"]) if "text" in entry else field.select_option(**entry)


PUT = """(entries) => entries.forEach(({ text, value, index }, position) => {
  const field = document.getElementById(`what-if-${position}`);
  if (index !== undefined) field.selectedIndex = index;
  else field.value = text ?? value;
  field.dispatchEvent(new Event("input", { bubbles: true }));
})"""


SUM = """() => {
  const texts = (place) => [...document.querySelectorAll(place)].map((each) => each.textContent);
  const { value, total } = document.getElementById("prediction").dataset;
  return {
    value, total,
    text: document.getElementById("prediction").textContent,
    holding: texts("#sum-rows [data-slot=text]"),
    adds: texts("#sum-base [data-slot=weight], #sum-rows [data-slot=weight]"),
    totals: texts("#sum-base [data-slot=total], #sum-rows [data-slot=total]"),
    silent: texts("#silent-rules > li"),
  };
}"""


def assert_adds_up(page, rule_set: RuleSet, holds: np.ndarray, total: float) -> dict:
    """Check which rules the panel says hold, in the order of adding, and which do not."""
    seen = page.evaluate(SUM)
    assert seen["holding"] == [
        text for text, is_so in zip(rule_set.texts, holds, strict=True) if is_so
    ]
    assert seen["silent"] == [
        text for text, is_so in zip(rule_set.texts, holds, strict=True) if not is_so
    ]
    amounts = [rule_set.intercept, *rule_set.weights[holds]]
    assert all(map(is_rounded, seen["adds"], amounts))
    assert all(map(is_rounded, seen["totals"], np.cumsum(amounts)))
    assert len(seen["adds"]) == len(seen["totals"]) == len(amounts)
    assert float(seen["total"]) == total
    return seen


@pytest.mark.parametrize("name", ["numbers", "classes"])
def test_fifty_cases_add_up_to_what_predict_says(visit, request, name):
    """To the last bit; values on and beside cuts, missing ones and unseen labels are among them.

    The first few are typed; for the others, fields are told what a person who types would tell.
    """
    report = request.getfixturevalue(name)
    rule_set, page = report.rule_sets[report.chosen], visit(report.path).page
    predictions, totals = rule_set.predict(report.rows), rule_set.decision_function(report.rows)
    holds, rows = rule_set.holds(report.rows), records(report.rows)
    cases = zip(rows, holds, totals, predictions, strict=True)
    for n, (row, held, total, prediction) in enumerate(cases):
        if n < 6:
            type_row(page, report, row)
        else:
            page.evaluate(PUT, entries(report, row))
        seen = assert_adds_up(page, rule_set, held, total)
        if rule_set.link == "identity":
            assert float(seen["value"]) == prediction
            assert amount(seen["text"]) == pytest.approx(prediction, rel=1e-3)
        else:
            assert float(seen["value"]) == pytest.approx(prediction, rel=0.0, abs=1e-12)
            assert seen["text"].endswith("%")


def test_the_case_follows_the_point(visit, classes):
    """Moving along the frontier keeps what was typed, and asks for what its rules look at."""
    page, row = visit(classes.path).page, records(classes.rows)[3]
    page.focus("#point-slider")
    page.keyboard.press("Home")
    type_row(page, classes, row)  # all columns are asked for here
    for position, rule_set in reversed(list(enumerate(classes.rule_sets))):
        columns = classes.content["data"]["columns"]
        asked = [column["name"] for column in columns if column["name"] in rule_set.features]
        assert page.locator(".field:visible label").all_text_contents() == asked, position
        only = classes.rows.iloc[[3]]
        assert_adds_up(page, rule_set, rule_set.holds(only)[0], rule_set.decision_function(only)[0])
        page.focus("#point-slider")
        page.keyboard.press("ArrowRight")


def test_a_number_that_cannot_be_read_is_refused(visit, numbers):
    """With a remedy and without a prediction; typical values come back by a button."""
    page = visit(numbers.path).page
    position, field = 0, page.locator("#what-if-0")
    typical = page.evaluate(SUM)
    for wrong in ("1,5", "12 apples", "0x10", "NaN", "1e999"):
        field.fill(wrong)
        seen = page.evaluate(SUM)
        assert seen["value"] == seen["total"] == "", wrong
        assert field.get_attribute("aria-invalid") == "true"
        assert "number" in page.locator(f"#what-if-{position}-error").inner_text()
    for same in ("-1.5e1", "\u221215", " -15.0 "):
        field.fill(same)
        case = {**typical_row(numbers), numbers.content["data"]["columns"][0]["name"]: -15.0}
        total = numbers.rule_sets[numbers.chosen].explain(case).total
        assert float(page.evaluate(SUM)["total"]) == total
        assert page.locator(f"#what-if-{position}-error").is_hidden()
    page.click("#what-if-reset")
    wait_until(page, "document.getElementById('what-if-0').value !== '-15.0'")
    total = "document.getElementById('prediction').dataset.total"
    wait_until(page, f"{total} === '{typical['total']}'")
    assert page.evaluate(SUM) == typical
    row = numbers.rule_sets[numbers.chosen].explain(typical_row(numbers))
    assert float(typical["total"]) == row.total


def typical_row(report: Report) -> dict:
    """Return the row that the panel begins with."""
    return {column["name"]: column["typical"] for column in report.content["data"]["columns"]}


# --- exporting rules ------------------------------------------------------------------------------


def sql_predictions(sql: str, rows) -> list[float]:
    """Run a query in SQLite on a table called data."""
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in rows)
    values = [plain_values(rows[name]) for name in rows]
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"CREATE TABLE data ({names})")
        marks = ", ".join("?" * len(values))
        connection.executemany(f"INSERT INTO data VALUES ({marks})", zip(*values, strict=True))  # noqa: S608
        return [row[0] for row in connection.execute(sql).fetchall()]


def python_predictions(source: str, rows) -> list[float]:
    """Run a program that has been copied."""
    names: dict = {}
    exec(source, names)  # noqa: S102  it is what is tested
    return [names["predict"](row) for row in records(rows)]


@pytest.mark.parametrize("name", ["numbers", "classes"])
def test_what_is_copied_and_downloaded_works(visit, request, name):
    """Text, SQL, Python and JSON of the point that is shown, which predict what `predict` does."""
    report = request.getfixturevalue(name)
    page = visit(report.path, **CLIPBOARD).page
    for button, position in ((None, report.chosen), ("#point-next", report.chosen + 1)):
        if button:
            page.click(button)
        rule_set, copied = report.rule_sets[position], {}
        for kind, words in COPIES.items():
            page.click(f"#copy-{kind}")
            page.get_by_text(f"Copied as {words}.").first.wait_for()
            copied[kind] = page.evaluate("navigator.clipboard.readText()")
        assert copied["text"] == rule_set.to_text()
        assert RuleSet.from_json(copied["json"]).to_json() == rule_set.to_json()
        expected = rule_set.predict(report.rows)
        by_sql = sql_predictions(copied["sql"], report.rows)
        np.testing.assert_allclose(by_sql, expected, rtol=1e-12)
        by_python = python_predictions(copied["python"], report.rows)
        np.testing.assert_allclose(by_python, expected, rtol=1e-12)
        with page.expect_download() as download:
            page.click("#download-json")
        assert download.value.suggested_filename.endswith(".json")
        text = Path(download.value.path()).read_text(encoding="utf-8")
        assert RuleSet.from_json(text).to_json() == rule_set.to_json()


def test_where_nothing_can_be_copied_the_text_is_there(visit, numbers):
    """In a box, selected, for the reader to copy."""
    no_clipboard = "delete Navigator.prototype.clipboard; document.execCommand = () => false;"
    page = visit(numbers.path, script=no_clipboard).page
    assert page.locator("#copied-text").is_hidden()
    page.click("#copy-text")
    box = page.locator("#copied-text")
    assert box.is_visible()
    assert box.input_value() == numbers.rule_sets[numbers.chosen].to_text()
    selected = "document.activeElement.selectionEnd - document.activeElement.selectionStart"
    assert page.evaluate(selected) == len(box.input_value())


# --- hostile names --------------------------------------------------------------------------------

INTRUDERS = """() => [...document.querySelectorAll("*")]
  .filter((each) => each.matches("img, b, i, u, iframe, object, embed, base")
    || [...each.attributes].some(({ name }) => name.startsWith("on")))
  .map((each) => each.outerHTML)"""


@pytest.mark.parametrize("name", ["numbers", "classes"])
def test_hostile_names_and_labels_are_text(visit, request, name):
    """Wherever they stand, and at every point: no element, no dialog, all letters as they are."""
    report = request.getfixturevalue(name)
    page, content = visit(report.path).page, report.content
    assert page.title() == page.locator("h1").text_content() == TITLE
    for position in range(len(report.rule_sets)):
        page.fill("#point-slider", str(position))
        assert page.evaluate(INTRUDERS) == []
        assert page.locator("script").count() == 3
    columns = {column["name"]: column for column in content["data"]["columns"]}
    fields = page.locator(".field")
    assert fields.locator("label").all_text_contents() == list(columns)
    for field, column in zip(fields.all(), columns.values(), strict=True):
        if column["choices"]:
            options = field.locator("option").all_text_contents()
            words = [str(choice) or "''" for choice in column["choices"]]
            assert options[: len(words)] == words
    summary = page.locator("#data").text_content()
    assert all(name in summary for name in columns)
    assert all(word in summary for word in WORDS)


# --- for everyone, everywhere ---------------------------------------------------------------------


def unfold(page) -> None:
    """Show what is folded, and what appears in use: changes, and what was copied."""
    page.click("#point-next")
    page.click("#copy-text")
    wait_until(page, "!document.getElementById('copied').hidden")
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")


@pytest.mark.parametrize(
    ("name", "colours", "viewport"),
    [
        ("numbers", "light", DESKTOP),
        ("numbers", "dark", PHONE),
        ("classes", "dark", DESKTOP),
        ("classes", "light", PHONE),
    ],
    ids=["light-desktop", "dark-phone", "dark-desktop", "light-phone"],
)
def test_axe_finds_nothing_serious(visit, request, name, colours, viewport):
    """In either colours, on a desktop and on a phone, with all parts unfolded, and an error."""
    path = request.getfixturevalue(name).path
    page = visit(path, viewport=viewport, color_scheme=colours, **CLIPBOARD).page
    unfold(page)
    if colours == "dark":
        page.fill("#what-if-0", "no number")
    assert violations(page) == []


@pytest.mark.parametrize("name", ["numbers", "classes"])
@pytest.mark.parametrize("width", [360, 320])
def test_a_phone_need_not_scroll_sideways(visit, request, name, width):
    """Whatever the names, and with all parts unfolded."""
    path = request.getfixturevalue(name).path
    page = visit(path, viewport={"width": width, "height": 740}, **CLIPBOARD).page
    assert page.evaluate("document.documentElement.scrollWidth") == width
    unfold(page)
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_everything_can_be_reached_by_keyboard(visit, numbers):
    """The key Tab leads to every control in use, and each of them shows that it has the focus."""
    page = visit(numbers.path).page
    reached = {}
    for _ in range(60):
        page.keyboard.press("Tab")
        focus = page.evaluate(
            "(({ id, tagName }) => [id || tagName, getComputedStyle(document.activeElement)"
            ".outlineStyle])(document.activeElement)"
        )
        reached[focus[0]] = focus[1]
    buttons = ["point-next", "point-previous", "go-fitted", "go-knee", "go-advised"]
    buttons += [f"copy-{kind}" for kind in COPIES]
    fields = [f"what-if-{position}" for position in range(6)]
    for name in ("point-slider", "download-json", "what-if-reset", "SUMMARY", *buttons, *fields):
        assert reached.get(name) not in {None, "none"}, name


def test_paper_shows_figures_and_rules_but_no_controls(visit, numbers):
    """In black on white, even from a dark screen, and of the point that was shown."""
    page = visit(numbers.path, color_scheme="dark", viewport={"width": 718, "height": 1000}).page
    page.click("#point-next")
    page.emulate_media(media="print")
    for control in ("#controls", "#export", "#what-if", "nav", ".skip"):
        assert page.locator(control).is_hidden(), control
    assert page.locator("button:visible, input:visible, select:visible").count() == 0
    for part in ("#certificate-words", "#data", "#reproduce", "#glossary", "#left-out"):
        assert page.locator(part).is_visible(), part
    for figure in ("fit", "score"):
        assert page.locator(f"svg[id^=figure-{figure}]:visible").count() == 1
    shown_texts = page.locator("#rule-rows [data-slot=text]:visible").all_text_contents()
    assert shown_texts == numbers.rule_sets[numbers.chosen + 1].texts
    style = "(name) => getComputedStyle(document.body)[name]"
    assert page.evaluate(style, "color") == "rgb(0, 0, 0)"
    assert page.evaluate(style, "backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("document.documentElement.scrollWidth") == 718
    assert page.pdf().startswith(b"%PDF")


def test_without_scripts_the_fitted_model_can_be_read(visit, numbers):
    """Its rules, figures and certificate are in the file, and what would have no effect is not."""
    page = visit(numbers.path, java_script_enabled=False).page
    rule_set = numbers.rule_sets[numbers.chosen]
    assert page.locator("#rule-rows [data-slot=text]:visible").all_text_contents() == rule_set.texts
    weights = page.locator("#rule-rows [data-slot=weight]:visible").all_text_contents()
    assert len(weights) == len(rule_set)
    assert all(map(is_rounded, weights, rule_set.weights))
    assert page.locator("svg[id^=figure-fit]:visible .mark").count() == len(numbers.rule_sets)
    assert "Scripts are off" in page.locator("noscript").inner_text()
    assert page.locator("button:visible, input:visible, select:visible").count() == 0


BREAK_OUT = """() => {
  window.refused = [];
  document.addEventListener("securitypolicyviolation", (event) =>
    window.refused.push(event.effectiveDirective));
  const add = (kind, content) =>
    document.body.append(Object.assign(document.createElement(kind), content));
  fetch("https://example.invalid/").catch(() => {});
  add("img", { src: "https://example.invalid/x.png" });
  add("iframe", { src: "https://example.invalid/" });
  try { add("script", { textContent: "window.entered = true" }); } catch {}
}"""


def test_the_policy_forbids_all_network_use(browser, numbers):
    """A script that got in after all could neither load nor send anything, nor add a script."""
    visit = Visit(browser, numbers.path)
    visit.page.evaluate(BREAK_OUT)
    wanted = ["connect-src", "img-src", "frame-src", "require-trusted-types-for"]
    wait_until(visit.page, f"{wanted}.every((x) => refused.includes(x))")
    entered = visit.page.evaluate("window.entered")
    visit.close()
    assert entered is None
