from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import Counter
from html.parser import HTMLParser

import pytest

from mossrules.display.report.render import render, write_report
from mossrules.exceptions import InvalidFile
from support.report_contents import HOSTILE, as_classifier, made_report, without_rows, without_rules

VOID = {"meta", "link", "input"}  # elements of the page without an end


class Page(HTMLParser):
    """What an HTML parser sees: elements, attributes, text and the contents of raw elements."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.raw: dict[str, list[str]] = {"script": [], "style": []}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        """Note an element, and that its attributes are all different."""
        assert len(dict(attrs)) == len(attrs)
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        """Note an element of SVG that ends where it begins."""
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        """Check that elements end in the order in which they began."""
        assert self.open.pop() == tag
        if tag in ("th", "td"):
            self.words.append(" ")

    def handle_data(self, data):
        """Keep text, that of scripts and styles apart."""
        place = self.open[-1] if self.open else ""
        self.raw.get(place, self.words).append(data)

    def attributes(self, name):
        """Return the values of an attribute, wherever it is."""
        return [found[name] for _, found in self.elements if name in found]

    def named(self, tag):
        """Return the attributes of all elements of a kind."""
        return [found for each, found in self.elements if each == tag]

    @property
    def text(self) -> str:
        """Everything that is there to be read."""
        return " ".join("".join(self.words).split())


VARIANTS = {
    "all parts": made_report(),
    "hostile": made_report(spice=HOSTILE),
    "classifier": as_classifier(made_report(spice=HOSTILE)),
    "model alone": without_rows(made_report()),
    "no rules": without_rules(made_report()),
    "one point": made_report(1),
    "no names": made_report(target=None, knee=None, advised=None, target_summary=None),
}


@pytest.fixture(scope="module")
def pages():
    """Render every variant once."""
    return {name: Page(render(report)) for name, report in VARIANTS.items()}


@pytest.fixture(params=list(VARIANTS))
def page(request, pages):
    """Give the page of each variant in turn."""
    return pages[request.param]


# --- for every report -----------------------------------------------------------------------------


def test_elements_end_and_ids_are_different(page):
    """The page is well formed, and references from element to element meet one element each."""
    assert page.open == []
    ids = Counter(page.attributes("id"))
    assert max(ids.values()) == 1
    references = [
        name
        for kind in ("for", "aria-labelledby", "aria-describedby")
        for value in page.attributes(kind)
        for name in value.split()
    ]
    references += [value[1:] for value in page.attributes("href") if value.startswith("#")]
    assert set(references) <= set(ids)


def test_the_policy_allows_the_page_s_own_script_and_style_and_nothing_else(page):
    """Hashes are those of the two blocks; there are neither handlers nor styles in attributes."""
    policies = [each["content"] for each in page.named("meta") if "http-equiv" in each]
    assert len(policies) == 1
    parts = {each.split()[0]: each.split()[1:] for each in policies[0].split("; ")}
    kinds = [each["type"] for each in page.named("script")]
    assert kinds == ["application/json", "application/json", "module"]
    hashes = [
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
        for text in (page.raw["script"][-1], "".join(page.raw["style"]))
    ]
    assert [parts["script-src"], parts["style-src"]] == [[hashes[0]], [hashes[1]]]
    assert parts["default-src"] == parts["base-uri"] == parts["form-action"] == ["'none'"]
    assert parts["img-src"] == ["data:"]
    names = {name for _, found in page.elements for name in found}
    assert not {name for name in names if name == "style" or name.startswith("on")}


def test_nothing_is_fetched(page):
    """Links lead to parts of the page; styles and scripts name no address and make no markup."""
    addresses = [value for kind in ("href", "src") for value in page.attributes(kind)]
    assert all(each.startswith(("#", "data:image/svg+xml,")) for each in addresses)
    assert not re.search(r"url\(|@import", "".join(page.raw["style"]))
    forbidden = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|fetch\(|XMLHttp|eval\("
    assert not re.search(forbidden, page.raw["script"][-1])
    assert "//" not in re.sub(r"//.*", "", page.raw["script"][-1])


@pytest.mark.parametrize("name", list(VARIANTS))
def test_the_script_reads_the_very_content(pages, name):
    """The data block is the report's content; it and that of words hold nothing to end them."""
    content, words, _ = pages[name].raw["script"]
    assert json.loads(content) == VARIANTS[name].content()
    assert len(json.loads(words)) == len(VARIANTS[name].points)
    assert not set("<>&\u2028\u2029") & set(content + words)


def test_columns_of_a_table_are_as_many_in_every_row(page):
    """Rows of the table of rules have a cell for each heading, the script's template too."""
    headings = sum(each.get("role") == "columnheader" for _, each in page.elements)
    cells: list[int] = []
    for tag, found in page.elements:
        if tag == "tr" and found.get("role") == "row":
            cells.append(0)
        elif found.get("role") in ("columnheader", "rowheader", "cell"):
            cells[-1] += int(found.get("colspan", 1))
    assert set(cells) == {headings}


# --- hostile names --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["hostile", "classifier"])
def test_what_users_wrote_is_text_and_nothing_else(pages, name):
    """No name, level, title or command becomes an element, an attribute, or a template's code."""
    page = pages[name]
    assert "i" not in {tag for tag, _ in page.elements}
    assert "evil" not in page.attributes("id")
    spiced = {
        attribute
        for _, found in page.elements
        for attribute, value in found.items()
        if value and "evil" in value
    }
    assert spiced == set()
    shown = " ".join(HOSTILE.split())
    for place in ("Title", "target", "size", "colour", "red", "blue", "unused", "data", "SIRUS"):
        assert f"{place}{shown}" in page.text
    assert f"[AtMost{shown}]" in page.text
    assert f"What{shown}." in page.text


def test_names_from_right_to_left_stand_by_themselves():
    """What follows such a name in a rule is not drawn to its left; its letters stay as they are."""
    report = made_report(spice=" אדום")
    text = render(report)
    assert "<bdi>size אדום</bdi> &gt; 1 and <bdi>colour אדום</bdi> is <bdi>red אדום</bdi>" in text
    assert "size אדום > 1 and colour אדום is red אדום" in Page(text).text
    assert "<bdi>" not in render(made_report())


def test_half_a_pair_of_surrogates_can_be_written(tmp_path):
    """A name that no file can hold is shown with a mark in its place."""
    write_report(tmp_path / "report.html", made_report(spice="\ud800"))
    assert "Title\ufffd" in (tmp_path / "report.html").read_text(encoding="utf-8")


# --- what is said ---------------------------------------------------------------------------------


def test_the_page_can_be_read_without_scripts(pages):
    """The chosen point's rules, weights, folds, certificate and figures are in the page itself."""
    page = pages["all parts"]
    assert "point 3 of 4: stability score 67 %, fit 43.3 %" in page.text.replace("\xa0", " ")
    for words in (
        "size > 1 and colour is red new",
        "Tree frequency 40 %. 0 of 10 folds +3.250",
        "Tree frequency 27 %. 1 of 10 folds −2.250",  # noqa: RUF001  a minus
        "Base value +12.500",
        "Sentence 2.",
        "1,234 rows and 4 columns",
        "mossrules report data.csv",
        "random_state",
        "abc1234",
        "At hollow dots the search stopped",
    ):
        assert words in page.text.replace("\xa0", " ")
    hidden = [each for _, each in page.elements if "hidden" in each and "id" in each]
    assert {"controls", "export", "what-if"} <= {each["id"] for each in hidden}
    rules = [each["data-rule"] for each in page.named("tr") if "data-rule" in each]
    assert rules == ["1", "2", "3", *("0", "1", "2", "3")]  # of the point, and a template of each


def test_bars_show_size_and_sign(pages):
    """The heaviest weight fills its side, and a negative one goes to the left of zero."""
    bars = [
        (each["class"], float(each["x"]), float(each["width"]))
        for each in pages["all parts"].named("rect")
        if each.get("class") in ("plus", "minus")
    ]
    assert bars[:3] == [("plus", 0.0, 100.0), ("minus", -69.2, 69.2), ("plus", 0.0, 38.5)]


def test_inputs_begin_with_typical_values(pages):
    """Numbers are typed in, and lists offer all levels, missing, and what training never saw."""
    page = pages["all parts"]
    inputs = {each["id"]: each for each in page.named("input") if each["type"] == "text"}
    assert {name: each["value"] for name, each in inputs.items()} == {"what-if-0": "3"}
    options = page.named("option")
    assert [each["value"] for each in options] == [
        *("0", "1", "2", "3", "missing", "other"),
        *("true", "false", "missing"),
    ]
    assert [i for i, each in enumerate(options) if "selected" in each] == [1, 6]
    empty = [each["value"] for each in pages["model alone"].named("option") if "selected" in each]
    assert empty == ["missing", "missing"]


@pytest.mark.parametrize(
    ("name", "there", "absent"),
    [
        ("model alone", ["figure-fit-wide"], ["figure-score-wide", "methods", "go-advised"]),
        ("all parts", ["figure-score-narrow", "methods", "go-advised", "go-knee"], []),
        ("no rules", ["figure-fit-wide", "no-rules"], ["what-if", "used-caption"]),
        ("no names", ["go-fitted"], ["go-knee", "go-advised"]),
        ("classifier", ["odds-words", "what-if"], []),
    ],
)
def test_parts_are_there_when_they_have_something_to_say(pages, name, there, absent):
    """Without a cross-validation, rules or names, the page leaves out what it cannot show."""
    ids = set(pages[name].attributes("id"))
    assert ids >= set(there)
    assert not ids & set(absent)


def test_a_probability_is_explained(pages):
    """A classifier's page speaks of log-odds, odds and the probability of its outcome."""
    text = pages["classifier"].text
    assert "The sum is the log-odds of target" in text
    assert "Probability of target" in text
    assert "+3.250 25.8 30" in text  # the odds ratio beside the weight


@pytest.mark.parametrize(
    ("changes", "there", "absent"),
    [
        (
            {"floor": "sum"},
            ["how many trees contain its rules, added up", "The tree frequencies of all rules"],
            ["least tree frequency", "rarest rule"],
        ),
        (
            {"floor": "each", "settings": [("constraints", "None")]},
            ["contain its rarest rule", "of the rarest rule, compared", "least tree frequency, %"],
            ["added up, compared", "required"],
        ),
        ({"floor": "each"}, ["of the rarest rule that was not required, compared"], []),
        ({}, ["if they read the same, cut points included"], ["have the same bins"]),
        ({"identity": "codes"}, ["if they have the same bins"], ["cut points included"]),
        ({"identity": "rows"}, ["hold on nearly the same rows"], ["cut points included"]),
    ],
)
def test_scores_are_explained_as_they_were_measured(changes, there, absent):
    """Stability by the kind of floor, and recurrence by when two rules are the same."""
    text = Page(render(made_report(**changes))).text
    assert [words for words in there if words not in text] == []
    assert [words for words in absent if words in text] == []


# --- files ----------------------------------------------------------------------------------------


def test_a_large_report_stays_small():
    """A hundred points of fifteen rules, with exports of their usual size, take less than 3 MB."""
    report = made_report(100, 15)
    usual = {"text": "x" * 1200, "sql": '"x"' * 1000, "python": "x\n" * 1500, "json": '"x"' * 2000}
    for point in report.points:
        point.exports.update(usual)
    assert len(render(report).encode()) < 3_000_000


def test_a_report_is_written_whole_or_not_at_all(tmp_path):
    """The file has what `render` returns; a folder that is not there is named."""
    write_report(tmp_path / "report.html", made_report())
    written = (tmp_path / "report.html").read_bytes()
    assert written == render(made_report()).encode()
    with pytest.raises(InvalidFile, match="folder does not exist"):
        write_report(tmp_path / "nowhere" / "report.html", made_report())
