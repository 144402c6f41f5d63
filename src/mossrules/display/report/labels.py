"""Where to write beside marks, so that no two labels lie over each other."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

__all__ = ["Box", "Label", "place_labels"]

LONGEST = 38  # letters
NEAR = 17.0  # distance of a label from its mark
REACH = (NEAR, 2.0 * NEAR, 3.0 * NEAR, 4.5 * NEAR)


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

    def around(self, left: float, top: float, width: float, height: float) -> Box:
        """Return a box of a size within this one, as near to a place as can be."""
        left = max(self.left, min(left, self.right - width))
        top = max(self.top, min(top, self.bottom - height))
        return Box(left, top, left + width, top + height)

    def nearest(self, x: float, y: float) -> tuple[float, float]:
        """Return the point of the box that is nearest to another."""
        return min(max(x, self.left), self.right), min(max(y, self.top), self.bottom)


@dataclass(frozen=True)
class Label:
    """Text, the box it fills, and the mark it is of."""

    text: str
    box: Box
    of: tuple[float, float]

    @property
    def distance(self) -> float:
        """How far the text is from its mark."""
        return math.dist(self.of, self.box.nearest(*self.of))

    @property
    def is_far(self) -> bool:
        """Whether a line should join the two."""
        return self.distance > 1.5 * NEAR


def place_labels(
    wanted: Sequence[tuple[str, tuple[float, float]]],
    marks: Sequence[tuple[float, float]],
    frame: Box,
    letters: float,
) -> list[Label]:
    """Return labels for marks: in the frame, off each other, and off marks where possible."""
    obstacles = [Box(x - 6.0, y - 6.0, x + 6.0, y + 6.0) for x, y in marks]
    obstacles += [Box(x - 13.0, y - 13.0, x + 13.0, y + 13.0) for _, (x, y) in wanted]
    placed: list[Label] = []

    def cost(label: Label) -> tuple[float, float]:
        over = sum(label.box.shared(other.box) for other in placed)
        hidden = sum(label.box.shared(mark) for mark in obstacles)
        return over, hidden + label.distance

    for text, place in wanted:
        short = _shortened(text, letters, frame.right - frame.left)
        placed.append(min(_candidates(short, place, frame, letters), key=cost))
    return placed


def _candidates(
    text: str, place: tuple[float, float], frame: Box, letters: float
) -> Iterator[Label]:
    """Give places for a label: around the mark, nearer ones first, then all over the frame."""
    (x, y), width, height = place, _width(text, letters), 1.3 * letters
    for reach in REACH:
        slant = 0.7 * reach
        for left, top in (
            (x + reach, y - height / 2),
            (x - reach - width, y - height / 2),
            (x + slant, y - slant - height),
            (x - slant - width, y - slant - height),
            (x + slant, y + slant),
            (x - slant - width, y + slant),
            (x - width / 2, y - reach - height),
            (x - width / 2, y + reach),
        ):
            yield Label(text, frame.around(left, top, width, height), place)
    for line in range(int((frame.bottom - frame.top) / height)):
        for left in (x + NEAR, frame.left, frame.right - width):
            top = frame.top + line * height
            yield Label(text, frame.around(left, top, width, height), place)


def _shortened(text: str, letters: float, room: float) -> str:
    if len(text) <= LONGEST and _width(text, letters) <= room:
        return text
    while len(text) >= LONGEST or _width(f"{text}…", letters) > room:
        text = text[:-1]
    return f"{text.rstrip()}…"


def _width(text: str, letters: float) -> float:
    """Return about how wide a text is; capitals are wide, letters of East Asia wider."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    capitals = sum(letter.isupper() for letter in text)
    return letters * (0.57 * (len(text) - wide - capitals) + 0.73 * capitals + 1.05 * wide)
