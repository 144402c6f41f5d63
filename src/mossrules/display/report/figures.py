"""The figures of the report: data first, then SVG text, with nothing but Python.

They need no script and no style sheet: colours are attributes, which a page's own styles may
change by class. Kinds of marks differ in shape and are named in words; none differ in colour alone.
Every mark of a point of the trade-off has its position in `data-point`.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal

from mossrules.display.report.numbers import MINUS

__all__ = ["Axis", "Figure", "Mark", "Ring"]

Kind = Literal["point", "unproven", "baseline"]
Ring = Literal["fitted", "knee", "advised"]
Span = tuple[float, float]
Place = tuple[float, float]  # in a picture, from the top left

RINGS: dict[Ring, str] = {
    "fitted": "fitted model",
    "knee": "knee",
    "advised": "cross-validation",
}
BLUE, ORANGE, GREY = "#0072B2", "#B34F00", "#6E6E6E"
LETTERS = 12  # height of text
TOP, BOTTOM, SIDE = 30.0, 44.0, 12.0  # room around the frame
HIDDEN = ' display="none"'
LONGEST = 38  # letters
NEAR = 17.0  # distance of a label from its mark
REACH = (NEAR, 2.0 * NEAR, 3.0 * NEAR, 4.5 * NEAR)
TEXT = f'font-family="system-ui, sans-serif" font-size="{LETTERS}"'


@dataclass(frozen=True)
class Axis:
    """What one direction of a figure shows, from where to where, with numbers at the ticks."""

    label: str
    low: float
    high: float
    ticks: tuple[float, ...]
    scale: float = 1.0  # 100 where shares are written in percent

    @classmethod
    def of(cls, label: str, values: Iterable[float], *, scale: float = 1.0, about: int = 5) -> Axis:
        """Return an axis that has room for all values, with about so many ticks."""
        given = list(values)
        low, high = min(given), max(given)
        # A margin even around a single value, and one that float64 can tell from large values.
        room = max(0.07 * (high - low), 0.001, 0.001 * max(abs(low), abs(high)))
        low, high = low - room, high + room
        step = _nice_step((high - low) / about)
        ticks = range(math.ceil(low / step), math.floor(high / step) + 1)
        return cls(label, low, high, tuple(tick * step for tick in ticks), scale)

    def share(self, value: float) -> float:
        """Return how far along the axis a value lies, from 0 to 1."""
        return (value - self.low) / (self.high - self.low)

    def words(self) -> list[str]:
        """Return what is written at the ticks, all with as many decimals."""
        steps = zip(self.ticks[1:], self.ticks, strict=False)
        step = min((self.scale * (b - a) for a, b in steps), default=1.0)
        decimals = max(0, -math.floor(math.log10(abs(step)) + 1e-9)) if step else 0
        # Steps of 2.5 need a decimal more than their power of ten says.
        exact = f".{decimals + 1}f" if round(step * 10**decimals, 6) % 1 else f".{decimals}f"
        texts = [f"{self.scale * tick + 0.0:{exact}}" for tick in self.ticks]
        return [text.replace("-", MINUS) for text in texts]


@dataclass(frozen=True)
class Mark:
    """One mark: where it is, how sure that is, its shape, the rings around it and what it says."""

    x: float
    y: float
    kind: Kind
    title: str  # shown by a pointer that rests upon it
    point: int | None = None  # position on the trade-off
    rings: tuple[Ring, ...] = ()
    name: str = ""  # of a baseline
    x_range: Span | None = None
    y_range: Span | None = None

    @property
    def label(self) -> str:
        """What is written beside the mark."""
        return self.name or ", ".join(RINGS[ring] for ring in self.rings)

    def spread(self) -> Iterator[tuple[float, float]]:
        """Give all places that the mark reaches."""
        yield self.x, self.y
        yield from ((x, self.y) for x in self.x_range or ())
        yield from ((self.x, y) for y in self.y_range or ())


@dataclass(frozen=True)
class Figure:
    """Marks between two axes."""

    name: str  # begins every id
    title: str
    description: str  # for those who do not see it
    x: Axis
    y: Axis
    marks: tuple[Mark, ...]
    selected: int | None  # the point that is shown

    def place(self, x: float, y: float, width: float, height: float) -> Place:
        """Return where a value lies in a picture of a size, from the top left."""
        frame = self.frame(width, height)
        across, up = self.x.share(x), self.y.share(y)
        return (
            frame.left + across * (frame.right - frame.left),
            frame.bottom - up * (frame.bottom - frame.top),
        )

    def frame(self, width: float, height: float) -> Box:
        """Return the part of a picture in which marks are."""
        # 0.62 of the height is about the width of a digit in the fonts of `system-ui`.
        widest = max(map(len, self.y.words()), default=0)
        return Box(SIDE + 0.62 * LETTERS * widest, TOP, width - SIDE, height - BOTTOM)

    def labels(self, width: float, height: float) -> list[Label]:
        """Return what is written beside marks, and where: no two over each other."""
        places = [self.place(mark.x, mark.y, width, height) for mark in self.marks]
        wanted = [
            (mark.label, place)
            for mark, place in zip(self.marks, places, strict=True)
            if mark.label
        ]
        return _place_labels(wanted, places, self.frame(width, height))

    def svg(self, width: int = 520, height: int = 360, *, suffix: str = "") -> str:
        """Return the picture in a size; a suffix keeps the ids of several apart."""
        own = f"figure-{self.name}{suffix}"
        named = f'id="{own}" class="chart" role="img" aria-labelledby="{own}-title {own}-words"'
        size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" {named} {size} {TEXT}>',
            f'<title id="{own}-title">{escape(self.title)}</title>',
            f'<desc id="{own}-words">{escape(self.description)}</desc>',
            *self._axes(width, height),
            self._line(width, height),
            *(self._mark(mark, width, height) for mark in self.marks),
            *(_label(label) for label in self.labels(width, height)),
            self._selection(width, height),
            "</svg>",
        ]
        return "\n".join(part for part in parts if part)

    def _axes(self, width: int, height: int) -> Iterator[str]:
        frame = self.frame(width, height)
        for tick, words in zip(self.x.ticks, self.x.words(), strict=True):
            x = self.place(tick, self.y.low, width, height)[0]
            yield _line(x, frame.top, x, frame.bottom, "grid")
            yield _text(x, frame.bottom + 16, words, "tick", "middle")
        for tick, words in zip(self.y.ticks, self.y.words(), strict=True):
            y = self.place(self.x.low, tick, width, height)[1]
            yield _line(frame.left, y, frame.right, y, "grid")
            yield _text(frame.left - 6, y + 4, words, "tick", "end")
        yield _text(SIDE / 2, 16, f"↑ {self.y.label}", "axis", "start")
        yield _text(width - SIDE / 2, height - 9, f"{self.x.label} →", "axis", "end")

    def _line(self, width: int, height: int) -> str:
        """Join the points of the trade-off."""
        own = [mark for mark in self.marks if mark.point is not None]
        places = [self.place(mark.x, mark.y, width, height) for mark in own]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        look = f'fill="none" stroke="{BLUE}" stroke-opacity="0.45" stroke-width="1.5"'
        return f'<polyline class="path" points="{path}" {look}/>' if len(own) > 1 else ""

    def _mark(self, mark: Mark, width: int, height: int) -> str:
        x, y = self.place(mark.x, mark.y, width, height)
        point = "" if mark.point is None else f' data-point="{mark.point}"'
        return (
            f'<g class="mark {mark.kind}"{point} transform="translate({x:.2f} {y:.2f})">'
            f"<title>{escape(mark.title)}</title>{self._ranges(mark, width, height)}"
            f"{SHAPES[mark.kind]}{''.join(SHAPES[ring] for ring in mark.rings)}</g>"
        )

    def _ranges(self, mark: Mark, width: int, height: int) -> str:
        """Return how sure a place is; of points that nothing singles out, for a script to show."""
        x, y = self.place(mark.x, mark.y, width, height)
        ends = [self.place(end, mark.y, width, height) for end in mark.x_range or ()]
        ends += [self.place(mark.x, end, width, height) for end in mark.y_range or ()]
        lines = "".join(_line(0, 0, to_x - x, to_y - y, "error") for to_x, to_y in ends)
        is_seen = mark.label or mark.point == self.selected
        return f'<g class="range"{"" if is_seen else HIDDEN}>{lines}</g>' if lines else ""

    def _selection(self, width: int, height: int) -> str:
        """Return the ring around the point that is shown, which a script may move."""
        marks = [mark for mark in self.marks if mark.point is not None]
        if not marks:
            return ""
        shown = next((mark for mark in marks if mark.point == self.selected), None)
        x, y = (0.0, 0.0) if shown is None else self.place(shown.x, shown.y, width, height)
        return (
            f'<g class="selection" transform="translate({x:.2f} {y:.2f})"'
            f"{HIDDEN if shown is None else ''}>"
            '<circle r="14" fill="none" stroke="#000" stroke-width="2.5"/></g>'
        )


# --- labels -------------------------------------------------------------------------------------


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
    of: Place

    @property
    def distance(self) -> float:
        """How far the text is from its mark."""
        return math.dist(self.of, self.box.nearest(*self.of))

    @property
    def is_far(self) -> bool:
        """Whether a line should join the two."""
        return self.distance > 1.5 * NEAR


def _place_labels(
    wanted: Sequence[tuple[str, Place]], marks: Sequence[Place], frame: Box
) -> list[Label]:
    """Return labels for marks: in the frame, off each other, and off marks where possible."""
    obstacles = [Box(x - 6.0, y - 6.0, x + 6.0, y + 6.0) for x, y in marks]
    obstacles += [Box(x - 13.0, y - 13.0, x + 13.0, y + 13.0) for _, (x, y) in wanted]
    placed: list[Label] = []

    def cost(label: Label) -> tuple[float, float]:
        # Two labels over each other cannot be read, so that comes first; marks under a label can be
        # guessed, and a distance can be bridged by a line.
        over = sum(label.box.shared(other.box) for other in placed)
        hidden = sum(label.box.shared(mark) for mark in obstacles)
        return over, hidden + label.distance

    for text, place in wanted:
        # Greedily, in the order of the marks: few have labels, and these seldom compete.
        short = _shortened(text, frame.right - frame.left)
        placed.append(min(_candidates(short, place, frame), key=cost))
    return placed


def _candidates(text: str, place: Place, frame: Box) -> Iterator[Label]:
    """Give places for a label: around the mark, nearer ones first, then all over the frame."""
    (x, y), width, height = place, _width(text), 1.3 * LETTERS
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
    # In a crowd no place near the mark may be free; somewhere in the frame there is one.
    for line in range(int((frame.bottom - frame.top) / height)):
        for left in (x + NEAR, frame.left, frame.right - width):
            top = frame.top + line * height
            yield Label(text, frame.around(left, top, width, height), place)


def _shortened(text: str, room: float) -> str:
    if len(text) <= LONGEST and _width(text) <= room:
        return text
    while len(text) >= LONGEST or _width(f"{text}…") > room:
        text = text[:-1]
    return f"{text.rstrip()}…"


# Estimated, since there is no font here to measure: with margins that a real browser has kept
# (test_browser.py looks at the boxes it draws).
def _width(text: str) -> float:
    """Return about how wide a text is; capitals are wide, letters of East Asia wider."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    capitals = sum(letter.isupper() for letter in text)
    return LETTERS * (0.57 * (len(text) - wide - capitals) + 0.73 * capitals + 1.05 * wide)


# --- pieces of SVG ------------------------------------------------------------------------------


SHAPES: dict[Kind | Ring, str] = {
    "point": f'<circle class="dot" r="4" fill="{BLUE}"/>',
    "unproven": f'<circle class="dot" r="3.5" fill="#fff" stroke="{BLUE}" stroke-width="1.5"/>',
    "baseline": f'<path class="dot" d="M0 -6.5 L6 4.5 L-6 4.5 Z" fill="{ORANGE}"/>',
    "fitted": f'<circle class="ring" r="7.5" fill="none" stroke="{BLUE}" stroke-width="2"/>',
    "knee": '<path class="ring" d="M0 -10.5 L10.5 0 L0 10.5 L-10.5 0 Z" fill="none" '
    f'stroke="{ORANGE}" stroke-width="2"/>',
    "advised": '<rect class="ring" x="-8.5" y="-8.5" width="17" height="17" fill="none" '
    f'stroke="{GREY}" stroke-width="2"/>',
}


def _line(x1: float, y1: float, x2: float, y2: float, kind: Literal["grid", "error"]) -> str:
    looks = {"grid": ("#888", "0.25", "1"), "error": (GREY, "0.5", "1")}
    colour, opacity, width = looks[kind]
    return (
        f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
        f'stroke="{colour}" stroke-opacity="{opacity}" stroke-width="{width}"/>'
    )


def _text(x: float, y: float, words: str, kind: str, anchor: str) -> str:
    return (
        f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" '
        f'fill="{"#555" if kind == "tick" else "#222"}">{escape(words)}</text>'
    )


def _label(label: Label) -> str:
    leader = ""
    if label.is_far:
        x, y = label.box.nearest(*label.of)
        leader = _line(*label.of, x, y, "error")
    return leader + _text(label.box.left, label.box.bottom - 3, label.text, "label", "start")


def _nice_step(minimum: float) -> float:
    """Return the smallest round number that is no less."""
    power = 10.0 ** math.floor(math.log10(minimum))
    return next(
        factor * power for factor in (1.0, 2.0, 2.5, 5.0, 10.0) if factor * power >= minimum
    )
