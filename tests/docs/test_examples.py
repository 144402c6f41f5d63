import doctest
import importlib
import pkgutil
import re
import runpy
from collections import Counter
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

import mossrules
from docs import docstrings
from docs.blocks import PAGES, blocks, prose
from docs.cli_reference import PAGE as REFERENCE
from docs.docstrings import WITHOUT_EXAMPLE, faults, listed_names, unshown

mpl.use("agg")  # draw without a screen

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
CODED = [page for page in PAGES if any(block.language == "python" for block in blocks(page))]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
MODULES = [
    module.name
    for module in pkgutil.walk_packages(mossrules.__path__, "mossrules.")
    if not module.name.endswith("__main__")
]
PUBLIC = ("baselines", "constraints", "data", "display", "display.report", "estimators",
          "evaluation", "exceptions", "frontier", "model", "solver", "stability")  # fmt: skip


def shows(shown, printed):
    """Tell whether lines were printed one after the other, whole but where dots stand."""
    wanted = "".join(as_pattern(line.rstrip()) for line in shown.strip("\n").splitlines())
    text = "".join(f"{line.rstrip()}\n" for line in printed.splitlines())
    return re.search(f"^{wanted}", text, re.MULTILINE) is not None


def as_pattern(line):
    """Return what a line stands for: dots alone for any lines, dots behind words for the rest."""
    if line.strip() == "...":
        return r"(.*\n)*?"
    if line.endswith(" ..."):
        return re.escape(line.removesuffix(" ...")) + r".*\n"
    return re.escape(line) + r"\n"


def unknown_blocks(page):
    """Return the blocks that no test looks at, and lines that open a block of another form."""
    found = blocks(page)
    printed = {block.shown for block in found}
    return [
        *(block.text for block in found if not is_known(block, printed)),
        *re.findall(r"^[ \t>*+\d.-]*(?:```|~~~|:::).*", prose(page), re.MULTILINE),
    ]


def is_known(block, printed):
    """Tell whether a block is run, compared with what was printed, or made by Sphinx."""
    kind, *_ = block.language.split() or [""]
    as_printed = kind == "text" and (block.text in printed or block.page == REFERENCE)
    return as_printed or block.language in {"python", "sh"} or kind in {"{include}", "{toctree}"}


@pytest.mark.parametrize("page", CODED, ids=lambda page: page.name)
def test_code_in_pages_runs_and_prints_what_they_show(page, capsys):
    """The Python of a page runs from top to bottom, and prints the text that follows a block."""
    names = {}
    for block in (block for block in blocks(page) if block.language == "python"):
        exec(compile(block.text, page.name, "exec"), names)  # noqa: S102  our own examples
        printed = capsys.readouterr().out
        assert not block.shown or shows(block.shown, printed), printed
    plt.close("all")


@pytest.mark.parametrize(
    ("shown", "printed", "true"),
    [
        ("one\ntwo\n", "nought\none\ntwo \nthree\n", True),
        ("one\n ...\nthree\n", "one\ntwo\nthree\n", True),
        ("one\n...\n", "one\ntwo\n", True),
        ("two\none\n", "one\ntwo\n", False),
        ("one\n...\none\n", "one\ntwo\n", False),
        ("one\nthree\n", "one\ntwo\nthree\n", False),
        ("one\n", "one and a half\n", False),
        ("one ...\ntwo\n", "one and a half\ntwo\n", True),
        ("one ...\nthree\n", "one and a half\ntwo\nthree\n", False),
        ("one\n", "", False),
    ],
)
def test_what_pages_show_is_compared_line_by_line_in_order(shown, printed, true):
    """Whole lines match, in their order, and none is left out but where dots say so."""
    assert shows(shown, printed) is true


@pytest.mark.parametrize("page", PAGES, ids=lambda page: "-".join(page.relative_to(ROOT).parts))
def test_no_block_of_code_is_left_out(page):
    """Blocks are Python, lines for the shell, what Python has printed, or lists for Sphinx."""
    assert unknown_blocks(page) == []


@pytest.mark.parametrize(
    "block",
    [
        "```\n1 / 0\n```",
        "```py\n1 / 0\n```",
        "```python title\n1 / 0\n```",
        "```text\nprinted by nothing\n```",
        "```{code-block} python\n1 / 0\n```",
        "```{eval-rst}\n1 / 0\n```",
        "````python\n1 / 0\n````",
        "~~~python\n1 / 0\n~~~",
        ":::{code-block} python\n1 / 0\n:::",
        "> ```python\n> 1 / 0\n> ```",
        "- ```python\n  1 / 0\n  ```",
        "```python\n1 / 0\n",
    ],
)
def test_blocks_of_another_kind_are_told_of(block, tmp_path):
    """A block that would be shown and not run is found, however it is written."""
    page = tmp_path / "page.md"
    page.write_text(f"# Page\n\n{block}\n")
    assert unknown_blocks(page)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_examples_of_the_gallery_run(example):
    """Each script of the gallery runs, and draws a figure."""
    runpy.run_path(str(example))
    assert plt.get_fignums()
    plt.close("all")


# --- links ----------------------------------------------------------------------------------------


def anchors(page):
    """Return what links may name behind a #: headings in small letters, joined by hyphens."""
    headings = re.findall(r"^#+ (.*)", prose(page), re.MULTILINE)
    words = [re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings]
    return {each.strip().replace(" ", "-") for each in words}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: "-".join(page.relative_to(ROOT).parts))
def test_links_between_pages_lead_somewhere(page):
    """Every relative link names a file of the repository, and a heading in it."""
    for link in re.findall(r"\]\((?!https?:)([^)\s]+)\)", prose(page)):
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        if target.parent == DOCS / "gallery":
            continue  # Sphinx makes it of examples/
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_every_page_is_in_a_table_of_contents():
    """A reader of the site can come to each page."""
    toctrees = re.compile(r"^```{toctree}\n(.*?)^```", re.DOTALL | re.MULTILINE)
    listed = {
        re.sub(r".*<(.*)>", r"\1", line)
        for page in DOCS.glob("*.md")
        for toctree in toctrees.findall(page.read_text())
        for line in toctree.splitlines()
    }
    unlisted = {page.name for page in DOCS.glob("*.md") if page.stem not in listed} - {"index.md"}
    assert not unlisted, "put it into the toctree of docs/guides.md, inside.md or evidence.md"


# --- reference ------------------------------------------------------------------------------------


def test_the_reference_has_every_public_name_once():
    """What a public module exports is listed in docs/api.rst, in one place."""
    listed = Counter(
        id(getattr(importlib.import_module(home), name))
        for home, _, name in (each.rpartition(".") for each in listed_names())
    )
    assert max(listed.values()) == 1
    for module in ("mossrules", *(f"mossrules.{name}" for name in PUBLIC)):
        for name in importlib.import_module(module).__all__:
            if name != "__version__":
                assert id(getattr(importlib.import_module(module), name)) in listed, (module, name)


def test_public_names_are_described():
    """Each has a summary, and says of each parameter and field what it is, by numpydoc's checks."""
    pytest.importorskip("numpydoc", reason="it is in the dependency groups lint and docs")
    assert faults() == []


def test_public_names_are_shown_in_an_example():
    """Each has an example, says which other name has one, or is listed as needing none."""
    assert unshown() == []


def test_a_name_without_an_example_is_told_of(monkeypatch):
    """Without its place in the list, a name is told of; and nothing is in the list for nothing."""
    for pattern in WITHOUT_EXAMPLE:
        rest = {each: why for each, why in WITHOUT_EXAMPLE.items() if each != pattern}
        monkeypatch.setattr(docstrings, "WITHOUT_EXAMPLE", rest)
        assert any(line.startswith(pattern.rstrip("*")) for line in unshown()), pattern


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
    assert len(found) >= 30
