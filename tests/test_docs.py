import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import mossrules

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("**/*.md"))]
MODULES = [
    module.name
    for module in pkgutil.walk_packages(mossrules.__path__, "mossrules.")
    if not module.name.endswith("__main__")
]


def test_the_example_of_the_readme_prints_what_it_says(capsys):
    """Running the README's Python gives the lines that the README shows."""
    text = (ROOT / "README.md").read_text()
    code, shown = re.search(r"```python\n(.*?)```.*?```text\n(.*?)```", text, re.DOTALL).groups()
    exec(compile(code, "README.md", "exec"), {})  # noqa: S102  our own example
    printed = capsys.readouterr().out
    for line in shown.splitlines():
        assert line.strip() == "..." or line in printed


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_in_pages_runs(page):
    """The Python of a page runs from top to bottom."""
    names = {}
    for code in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL):
        exec(compile(code, page.name, "exec"), names)  # noqa: S102  our own examples


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page):
    """Every relative link names a file of the repository."""
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_are_true(name):
    """Doctests of every module pass."""
    outcome = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert outcome.failed == 0


def test_there_are_examples_in_docstrings():
    """The check above has something to check."""
    finder = doctest.DocTestFinder()
    found = [
        test
        for name in MODULES
        for test in finder.find(importlib.import_module(name))
        if test.examples
    ]
    assert len(found) >= 2
