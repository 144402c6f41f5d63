"""Build the site, and count what of it is run, linked, described and looked at.

It needs the dependency groups `dev` and `docs`, and for a look at the site a browser.
"""

from __future__ import annotations

import doctest
import importlib
import os
import pkgutil
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator

import mossrules
from docs.blocks import DOCS, MADE, PAGES, Line, blocks, shell_lines
from docs.cli_reference import commands, entries
from docs.docstrings import faults, listed_names, need_example, public_names, unshown
from research.harness.clone import ROOT
from research.harness.processes import run_python
from research.quality._look import OTHERS, Look, look_at
from research.quality._record import Cell, Record
from research.quality._site import Site, read_site

__all__ = ["counts", "run"]

BUILT = ROOT / "build" / "docs"
TESTS = ("tests/docs/test_examples.py", "tests/docs/test_commands.py")
SECTIONS = ("index", "start")  # what they link to is looked at more closely


def run() -> Record:
    """Build the site from nothing, run the tests of the pages, and follow every link."""
    warnings, errors = _build()
    site = read_site(BUILT)
    passed, failed = tests = _test()
    look = look_at(BUILT, _main_pages())
    described = faults()
    rows = list(_rows(site, look, warnings, tests, described))
    for sentence in [
        *errors,
        *site.broken,
        *site.malformed,
        *site.loaded,
        *look.faults,
        *described,
        *unshown(),
    ]:
        print(sentence)
    return Record(
        title="Documentation",
        asked=(
            "The site is built without a warning; every block of code and every command on it "
            "runs, or is held to what its program takes; every link leads somewhere; every public "
            "name is described; a newcomer comes from the README to a model in under ten commands."
        ),
        seen=(
            f"{site.pages} pages, {warnings} warnings, {site.links:,} links of which "
            f"{len(site.broken)} lead nowhere, {passed} tests of pages pass and {failed} fail"
        ),
        passed=not errors and not any(row["wrong"] for row in rows) and not look.absent,
        command="python -m research.quality documentation",
        table=rows,
        notes=list(_notes(site, look)),
    )


# --- doing ----------------------------------------------------------------------------------------


def _build() -> tuple[int, list[str]]:
    """Build the site from nothing; return the number of warnings, and what was said of each."""
    for folder in (BUILT, *MADE):
        shutil.rmtree(folder, ignore_errors=True)
    sphinx = ["-m", "sphinx", "-b", "html", "-W", "--keep-going", "-n", "docs", str(BUILT)]
    done = _python(*sphinx)
    told = [line for line in done.stderr.splitlines() if "WARNING" in line or "ERROR" in line]
    return len(told), told or ([done.stderr[-2000:]] if done.returncode else [])


def _test() -> tuple[int, int]:
    """Run the tests of the pages; return how many pass, and how many do not."""
    done = _python("-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS)
    return counts(done.stdout, done.returncode)


def counts(printed: str, code: int) -> tuple[int, int]:
    """Return how many tests pass by the last line of pytest, and how many fail or cannot be run."""
    last = printed.strip().rpartition("\n")[2]
    found = Counter({word: int(number) for number, word in re.findall(r"(\d+) (\w+)", last)})
    wrong = found["failed"] + found["error"] + found["errors"]
    return found["passed"], wrong or int(code != 0)


def _python(*words: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    return run_python(*words, check=False, PYTHONPATH=path)


def _main_pages() -> set[str]:
    """Return the names of the pages that a reader comes to first."""
    listed = "\n".join((DOCS / f"{section}.md").read_text("utf-8") for section in SECTIONS)
    names = set(re.findall(r"\]\((\S+?)\.(?:md|rst)\)", listed))
    return {"index", "quality", *names} - {"results"}  # which has a hundred tables


# --- counting -------------------------------------------------------------------------------------


def _rows(
    site: Site, look: Look, warnings: int, tests: tuple[int, int], described: list[str]
) -> Iterator[dict[str, Cell]]:
    """Yield what there is, how that was checked, and how much of it is wrong."""
    passed, failed = tests
    languages = Counter(block.language for page in PAGES for block in blocks(page))
    shown = sum(bool(block.shown) for page in PAGES for block in blocks(page))
    lines = [line for page in PAGES for line in shell_lines(page)]
    gallery = len(list((ROOT / "examples").glob("*.py")))
    options = sum(len(entries(command)) for command in commands())
    yield _row("pages of the site", site.pages, "built, with warnings as errors", warnings)
    yield _row("tests of what follows", passed + failed, f"`{' '.join(TESTS)}`", failed)
    yield _row("blocks of Python in pages", languages["python"], "run")
    yield _row("of which pages show what they print", shown, "compared")
    yield _row("lines for the shell", len(lines), _how_run(lines))
    yield _row("examples in docstrings", _docstring_examples(), "run")
    yield _row("names that need one", len(need_example()), "have it, or name it", len(unshown()))
    yield _row("examples of the gallery", gallery, "run, by the build too")
    yield _row("commands from the README to a model", len(_path()), "run one after the other")
    yield _row("names in the reference", len(listed_names()), "every public one, once")
    yield _row("commands of the program", len(commands()), "their page is what it writes")
    yield _row("their arguments and options", options, "compared with `--help`")
    documented = len(list(public_names()))
    yield _row("docstrings, of methods too", documented, "numpydoc's checks", len(described))
    yield _row("links within the site", site.links, "followed", len(site.broken))
    yield _row("links to other sites", len(site.outside), "form alone", len(site.malformed))
    yield _row("files loaded from other hosts", len(site.loaded), "none wanted", len(site.loaded))
    yield _row("views of pages in Chromium", look.views, _how_looked(look), len(look.faults))


def _row(what: str, number: int, how: str, wrong: int | None = None) -> dict[str, Cell]:
    return {"What": what, "number": number, "How": how, "wrong": "" if wrong is None else wrong}


def _how_run(lines: list[Line]) -> str:
    run = sum(not line.needs for line in lines)
    return f"{run} run; {len(lines) - run} that are long or need a network, by their options"


def _how_looked(look: Look) -> str:
    return f"all on a phone; {look.examined // 2} in light and dark, and by axe-core"


def _path() -> list[Line]:
    return [line for line in shell_lines(ROOT / "README.md") if not line.needs]


def _docstring_examples() -> int:
    finder = doctest.DocTestFinder()
    modules = pkgutil.walk_packages(mossrules.__path__, "mossrules.")
    return sum(
        bool(test.examples)
        for module in modules
        if not module.name.endswith("__main__")
        for test in finder.find(importlib.import_module(module.name))
    )


def _notes(site: Site, look: Look) -> Iterator[str]:
    hosts = sorted({address.split("/")[2] for address in site.outside})
    yield (
        f"Links to other sites ({', '.join(hosts)}) are not followed here; `make linkcheck` does "
        "that."
    )
    yield from (f"Nothing was looked at in a browser, for want of {each}." for each in look.absent)
    yield f"axe-core also names, of others: {', '.join(name for *_, name in OTHERS)}."
