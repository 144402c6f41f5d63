"""Where to write beside marks, so that no two labels lie over each other."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

__all__ = ["Box", "Label", "place_labels"]

LONGEST = 26  # letters
NEAR = 13.0  # distance of a label from its mark
REACH = (NEAR, 2.0 * NEAR, 3.5 * NEAR, 5.0 * NEAR)


@dataclass(frozen=True)
class Box:
    """A rectangle; y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float

    def shared(self, other: Box) -> float:
        """Return the area of what two boxes have in common."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(0.0, width) * max(0.0, height)

    @property
    def area(self) -> float:
        """Width times height."""
        return (self.right - self.left) * (self.bottom - self.top)

    def nearest(self, x: float, y: float) -> tuple[float, float]:
        """Return the point of the box that is nearest to another."""
        return min(max(x, self.left), self.right), min(max(y, self.top), self.bottom)


@dataclass(frozen=True)
class Label:
    """Text, the box it fills, and the mark it is of; `far` from it, a line should join them."""

    text: str
    box: Box
    of: tuple[float, float]
    far: bool


def place_labels(
    wanted: Sequence[tuple[str, tuple[float, float]]],
    marks: Sequence[tuple[float, float]],
    frame: Box,
    letters: float,
) -> list[Label]:
    """Return labels for marks: in the frame, off each other, and off marks where possible."""
    obstacles = [Box(x - 6.0, y - 6.0, x + 6.0, y + 6.0) for x, y in marks]
    placed: list[Label] = []
    for text, (x, y) in wanted:
        short = text if len(text) <= LONGEST else text[: LONGEST - 1].rstrip() + "…"
        size = _width(short, letters), 1.3 * letters

        def cost(label: Label) -> float:
            outside = label.box.area - label.box.shared(frame)
            over = sum(label.box.shared(other.box) for other in placed)
            hidden = sum(label.box.shared(mark) for mark in obstacles)
            return 50.0 * outside + 20.0 * over + hidden + (40.0 if label.far else 0.0)

        # The first of the best: nearest, and to the right before other sides.
        placed.append(min(_candidates(short, x, y, *size), key=cost))
    return placed


def _candidates(text: str, x: float, y: float, width: float, height: float) -> Iterator[Label]:
    for distance in REACH:
        middle = y - height / 2
        for left, top in (
            (x + distance, middle),
            (x - distance - width, middle),
            (x + 0.7 * distance, y - 0.7 * distance - height),
            (x - 0.7 * distance - width, y - 0.7 * distance - height),
            (x + 0.7 * distance, y + 0.7 * distance),
            (x - 0.7 * distance - width, y + 0.7 * distance),
            (x - width / 2, y - distance - height),
            (x - width / 2, y + distance),
        ):
            box = Box(left, top, left + width, top + height)
            yield Label(text, box, (x, y), far=distance > NEAR)


def _width(text: str, letters: float) -> float:
    """Return about how wide a text is; letters of East Asia and pictures are wide."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return letters * (0.57 * (len(text) - wide) + 1.05 * wide)
