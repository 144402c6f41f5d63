"""Sentences of pages and docstrings that promise a sameness: each is in a table, with its test."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "sameness.md"
# What is written by programs, reports what was measured once, or is about research.
RECORDS = {
    "sameness", "results", "quality", "soak", "classification_results", "comparison_paper",
    "commandline_reference", "benchmarks", "changelog", "contributing", "reproducing",
}  # fmt: skip
# What has such words and promises nothing: (where it stands, some of its words).
NO_PROMISES = {
    ("baselines", "500 trees of depth 2 take about half a second"),
    ("baselines", "rules that do not depend on others"),
    ("commandline", "fits the same model to the rest"),
    ("testing", "## The same bits"),
    ("tutorial", "the last bit of stability"),
}
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGES = [page for page in PAGES if page.stem not in RECORDS]
PROMISES = re.compile(
    r"bit for bit|last bit|same bits|no bit\b|every bit|(?:do|does) not depend|any order"
    r"|as if (?:it|they) were not there|same model\b|no difference|any number of"
    r"|(?:result|answer|predictions?) (?:is|are) the same|chang(?:es|ing) nothing"
    r"|whatever the (?:order|table|rows|number)|exactly none",
    re.IGNORECASE,
)
MODULES = sorted((ROOT / "src" / "mossrules").rglob("*.py"))


def sentences(text):
    """Yield the sentences of a text, each on one line, without blocks of code."""
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    # Paragraphs, items, rows of tables, and parameters of docstrings with what is said of them.
    for paragraph in re.split(r"\n\s*\n|\n(?=[*#|-] ?)|\n(?=\d+\. )|\n(?=\w[^\n]*\n    )", text):
        line = " ".join(paragraph.split())
        yield from re.split(r"(?<=[.:!?])\s+(?=[A-Z`*\"(\[])|(?<=\.\*\*)\s+| \| ", line)


@cache
def docstrings():
    """Return the docstrings of public names, by name."""
    found = {}
    for path in MODULES:
        if any(part.startswith("_") and part != "__init__.py" for part in path.parts):
            continue
        tree = ast.parse(path.read_text("utf-8"))
        names = {
            element.value
            for node in tree.body
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__"
            for element in getattr(node.value, "elts", ())
        }
        for node in tree.body:
            if not isinstance(node, ast.ClassDef | ast.FunctionDef) or node.name not in names:
                continue
            inside = [each for each in node.body if isinstance(each, ast.FunctionDef)]
            for each in (node, *(e for e in inside if not e.name.startswith("_"))):
                place = node.name if each is node else f"{node.name}.{each.name}"
                found[place] = ast.get_docstring(each) or ""
    # Public is what the reference lists, with what it inherits.
    listed = set(re.findall(r"[A-Za-z_]+", (ROOT / "docs" / "api.rst").read_text("utf-8")))
    listed |= {"RuleRegressor", "RuleClassifier"}
    return {place: text for place, text in found.items() if place.split(".")[0] in listed}


def promising():
    """Yield where a promising sentence stands, and the sentence."""
    for page in PAGES:
        for each in sentences(page.read_text("utf-8")):
            if PROMISES.search(each):
                yield page.stem, each
    for place, text in docstrings().items():
        for each in sentences(text):
            if PROMISES.search(each):
                yield place, each


@cache
def table():
    """Return of each line of the page where its sentence stands, the sentence, and its tests."""
    lines = []
    for line in PAGE.read_text("utf-8").splitlines():
        if not line.startswith("| ") or line.startswith("| Sentence"):
            continue
        sentence, where, tests = (cell.strip() for cell in line.strip("|").split(" | "))
        page = re.fullmatch(r"\[.+\]\((?:\.\./)?(\w+)\.md\)", where)
        place = where.split("`")[1] if page is None else page[1]
        lines.append((place, sentence, tuple(re.findall(r"`(tests/[^`]+)`", tests))))
    return lines


def test_every_sentence_that_promises_a_sameness_is_in_the_table():
    """Or among those that only sound like it. A new one needs a line, and a test."""
    known = {(place, words) for place, words, _ in table()} | NO_PROMISES
    missing = [
        (place, sentence)
        for place, sentence in promising()
        if not any(page == place and words in sentence for page, words in known)
    ]
    assert missing == []


def text_of(place):
    """Return all sentences of a page or a docstring, on one line."""
    texts = {page.stem: page for page in PAGES}
    text = texts[place].read_text("utf-8") if place in texts else docstrings().get(place, "")
    return " ".join(text.split())


@pytest.mark.parametrize("line", range(len(table())))
def test_every_sentence_of_the_table_stands_in_its_page_and_has_tests(line):
    """Word for word; and each test is one that pytest collects."""
    place, sentence, tests = table()[line]
    assert sentence in text_of(place)
    assert tests
    for test in tests:
        path, _, name = test.partition("::")
        tree = ast.parse((ROOT / path).read_text("utf-8"))
        names = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert name in names if name != "*" else any(each.startswith("test_") for each in names)


def test_words_that_promise_nothing_still_stand():
    """What is left out of the table by name is there to be left out."""
    assert all(words in text_of(place) for place, words in NO_PROMISES)


def test_a_promise_is_found_wherever_it_stands():
    """In a paragraph, an item, a row of a table and a parameter."""
    for text in (
        "Rules are short. Weights are\nthe same bits.",
        "* one\n* in any order",
        "| a |\n| no bit |",
        "n_jobs : int\n    Threads. The result does not depend on it.",
    ):
        assert sum(bool(PROMISES.search(each)) for each in sentences(text)) == 1
