"""Tables and anchors in Markdown; how a number is written is each page's own affair."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

__all__ = ["anchor", "escape", "markdown_table"]


def markdown_table(
    columns: Sequence[str],
    lines: Iterable[Sequence[str]],
    *,
    right: Collection[str] = (),
    spaced: bool = False,
) -> list[str]:
    """Return the lines of a table, some columns aligned to the right.

    `spaced` is how the rule under the heading is written; a page keeps the one it has, so that it
    changes only where its figures do.
    """
    rule = ["---:" if column in right else "---" for column in columns]
    return [
        _line(columns),
        _line(rule) if spaced else f"|{'|'.join(rule)}|",
        *map(_line, lines),
    ]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def escape(text: str) -> str:
    """Return a text that does not end its cell."""
    return text.replace("|", "\\|")


def anchor(title: str) -> str:
    """Return the anchor of a heading, as code hosts and MyST make it."""
    kept = "".join(
        character for character in title.lower() if character.isalnum() or character in " -_"
    )
    return kept.replace(" ", "-")
