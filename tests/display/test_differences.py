"""Two rule sets side by side on a page, and in a notebook."""

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest

from mossrules import compare_rule_sets
from mossrules.exceptions import InvalidFile
from support.model_cases import HOSTILE, on_names

VOID = {"meta", "link", "br"}
SHOWN = [name for name in HOSTILE if name.isprintable()]


class Page(HTMLParser):
    """The elements and words that an HTML parser sees, which must nest."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.words, self.styles = [], [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        """Note an element."""
        self.elements.append((tag, dict(attrs)))
        self.open += [tag] * (tag not in VOID)

    def handle_endtag(self, tag):
        """Check that it was the last that began."""
        assert self.open.pop() == tag

    def handle_data(self, data):
        """Keep words and styles apart."""
        (self.styles if self.open[-1:] == ["style"] else self.words).append(data)


@pytest.fixture(scope="module")
def found():
    """Return the comparison of rule sets whose names break careless pages."""
    old = on_names(SHOWN[:-1], target="<script>alert(1)</script>")
    new = on_names(SHOWN[1:], target="\ud800&")
    return compare_rule_sets(old, new, {name: [0.0, 1.0] for name in SHOWN})


def test_the_page_loads_and_runs_nothing(found):
    """Its policy allows its own style alone; there is no script, and no address of anything."""
    page = Page(found.to_html())
    tags = {tag for tag, _ in page.elements}
    assert tags.isdisjoint({"script", "img", "iframe", "form", "object"})
    policy = next(each["content"] for _, each in page.elements if "http-equiv" in each)
    digest = hashlib.sha256("".join(page.styles).encode()).digest()
    assert f"style-src 'sha256-{base64.b64encode(digest).decode()}'" in policy
    assert "default-src 'none'" in policy
    assert "script-src 'none'" in policy
    addresses = [
        each[name] for _, each in page.elements for name in ("src", "href") if name in each
    ]
    assert all(address.startswith(("data:", "#")) for address in addresses)
    assert "prefers-color-scheme: dark" in "".join(page.styles)


@pytest.mark.parametrize("form", ["page", "notebook"])
def test_names_are_shown_as_they_are_and_do_nothing(found, form):
    """Every rule can be read word for word, whatever its column is called."""
    html = found.to_html() if form == "page" else found._repr_html_()
    page = Page(html)
    words = " ".join(page.words)
    for rule in (*found.outcomes[0].gone, *found.outcomes[0].new):
        assert rule.text in words
    for pair in found.outcomes[0].kept:
        assert pair.new.text in words
    assert {tag for tag, _ in page.elements}.isdisjoint({"script", "b", "h4"})
    assert not any(name.startswith("on") for _, each in page.elements for name in each)


def test_sections_and_figures_are_those_of_the_text(found):
    """The page says what the text does, in the same words."""
    words = re.sub(r"\s+", " ", " ".join(Page(found.to_html()).words))
    for heading in re.findall(r"^([A-Z][\w ]+ \(\d+\)): ", found.to_text(), re.MULTILINE):
        assert heading in words
    assert f"{found.outcomes[0].dice:.3f}" in words
    assert "compared on 2 rows" in words


def test_the_page_is_written_whole_or_refused(found, tmp_path):
    """To a file, or with a sentence on why not."""
    found.page(tmp_path / "changes.html")
    text = (tmp_path / "changes.html").read_text(encoding="utf-8")
    assert text == found.to_html()
    assert text.startswith("<!doctype html>")
    with pytest.raises(InvalidFile, match="its folder does not exist"):
        found.page(tmp_path / "nosuch" / "changes.html")
