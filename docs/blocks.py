"""Blocks of code in the pages, of which tests run every one.

Python runs from top to bottom of its page, and prints the text that follows it. A line for the
shell runs as well, unless its comment begins with a word of `NOT_RUN`: then it is held to what the
programs take.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

__all__ = ["PAGES", "Block", "Line", "blocks", "prose", "shell_lines"]

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
MADE = {DOCS / "api", DOCS / "gallery"}  # by Sphinx
PAGES = [
    *sorted(ROOT.glob("*.md")),
    ROOT / "research" / "benchmarks" / "README.md",
    *sorted(page for page in DOCS.glob("**/*.md") if not MADE & set(page.parents)),
]

NOT_RUN = ("long", "network")  # what a line needs that tests do not have: time, or other machines

_FENCED = re.compile(r"^ *```(?P<language>[^\n`]*)\n(?P<text>.*?)^ *```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A block of a page between lines of three backticks."""

    page: Path
    language: str
    text: str
    shown: str = ""  # of Python, the text that follows: what it prints


@dataclass(frozen=True)
class Line:
    """A line for the shell."""

    page: Path
    words: tuple[str, ...]
    needs: str  # a word of NOT_RUN, or nothing


def blocks(page: Path) -> list[Block]:
    """Return the blocks of a page, in their order."""
    text = page.read_text("utf-8")
    found = list(_FENCED.finditer(text))
    return [
        Block(page, each["language"].strip(), each["text"], _shown(text, each, after))
        for each, after in zip_longest(found, found[1:])
    ]


def _shown(text: str, block: re.Match[str], after: re.Match[str] | None) -> str:
    """Return what a block of Python prints, if that is what comes right after it."""
    if after is None or block["language"] != "python" or after["language"] != "text":
        return ""
    return "" if text[block.end() : after.start()].strip() else after["text"]


def shell_lines(page: Path) -> Iterator[Line]:
    """Yield the lines for the shell of a page; what is joined by && is several."""
    for block in blocks(page):
        for line in block.text.splitlines() if block.language == "sh" else ():
            code, _, comment = line.partition("#")
            needs = comment.strip().partition(":")[0]
            for part in code.split("&&"):
                yield Line(page, tuple(shlex.split(part)), needs if needs in NOT_RUN else "")


def prose(page: Path) -> str:
    """Return the text of a page without its blocks."""
    return _FENCED.sub("", page.read_text("utf-8"))
