"""Write into pages what their Python prints: `python -m docs.printed README.md docs/why.md`.

The text after a block of Python becomes what the block prints today. Where a text leaves lines out
by dots, the lines that are most like those before stay beside them. Figures in sentences are not
touched: they are for people to look up and to correct, and so is what a change of them means.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from contextlib import redirect_stdout
from difflib import SequenceMatcher
from io import StringIO
from itertools import groupby
from pathlib import Path

import matplotlib as mpl

from docs.blocks import Block, blocks

__all__ = ["main", "printed", "renewed", "renewed_page"]

DOTS = "..."


def main(pages: Iterable[str]) -> None:
    """Write the texts of some pages anew, and say which have changed."""
    mpl.use("agg")
    for page in map(Path, pages):
        before = page.read_text("utf-8")
        after = renewed_page(page, before)
        page.write_text(after, "utf-8")
        sys.stdout.write(f"{page}: {'the same' if after == before else 'changed'}\n")


def renewed_page(page: Path, text: str) -> str:
    """Return the text of a page with what its code prints."""
    place = 0
    for code, output in printed(page):
        place = text.index(code.text, place) + len(code.text)
        if code.shown:
            place = text.index(code.shown, place)
            shown = renewed(code.shown, output)
            text = text[:place] + shown + text[place + len(code.shown) :]
            place += len(shown)
    return text


def printed(page: Path) -> list[tuple[Block, str]]:
    """Return the blocks of Python of a page, with what each prints."""
    names: dict[str, object] = {}
    found = []
    for block in (block for block in blocks(page) if block.language == "python"):
        with redirect_stdout(StringIO()) as output:
            exec(compile(block.text, page.name, "exec"), names)  # noqa: S102  our own examples
        found.append((block, output.getvalue()))
    return found


def renewed(shown: str, output: str) -> str:
    """Return a text like the one shown, of the lines of an output."""
    lines = [line.rstrip() for line in output.splitlines()]
    new: list[str] = []
    parts = [(dots, list(part)) for dots, part in groupby(shown.splitlines(), DOTS.__eq__)]
    for dots, part in parts:
        if dots:
            new += part
            continue
        start = most_alike(part, lines)
        end = len(lines) if len(parts) == 1 else start + len(part)
        new += [abridged(*pair) for pair in zip_lines(part, lines[start:end])]
        lines = lines[end:]
    return "".join(f"{line}\n" for line in new)


def most_alike(part: Sequence[str], lines: Sequence[str]) -> int:
    """Return where the lines begin that are most like those of a part."""

    def likeness(start: int) -> float:
        here = lines[start : start + len(part)]
        pairs = zip(part, here, strict=False)
        return sum(SequenceMatcher(None, old, new).ratio() for old, new in pairs)

    return max(range(max(1, len(lines) - len(part) + 1)), key=likeness)


def zip_lines(part: Sequence[str], lines: Sequence[str]) -> Iterable[tuple[str, str]]:
    """Return each line with the one that was in its place, if there was one."""
    padded = [*part, *[""] * (len(lines) - len(part))]
    return zip(padded, lines, strict=False)


def abridged(old: str, new: str) -> str:
    """Return a new line, cut by dots where the old one was."""
    if not old.endswith(f" {DOTS}"):
        return new
    words = len(old.split(" ")) - 1
    return " ".join([*new.split(" ")[:words], DOTS])


if __name__ == "__main__":
    main(sys.argv[1:])
