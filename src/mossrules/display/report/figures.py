"""The figures of the report: data first, then SVG text, with nothing but Python.

They need no script and no style sheet: colours are attributes, which a page's own styles may
change by class. Kinds of marks differ in shape and are named in words; none differ in colour alone.
Every mark of a point of the trade-off has its position in `data-point`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Literal

from mossrules.display.report.labels import Box, Label, place_labels
from mossrules.display.report.numbers import MINUS, PERCENT, fixed, percent

__all__ = ["Axis", "Figure", "Mark", "fit_figure", "point_words", "score_figure"]

Kind = Literal["point", "unproven", "baseline"]
Ring = Literal["fitted", "knee", "advised"]
Span = tuple[float, float]

RINGS: dict[Ring, str] = {
    "fitted": "fitted model",
    "knee": "knee",
    "advised": "cross-validation",
}
BLUE, ORANGE, GREY = "#0072B2", "#B34F00", "#6E6E6E"
LETTERS = 12  # height of text
TOP, BOTTOM, SIDE = 30.0, 44.0, 12.0  # room around the frame
HIDDEN = ' display="none"'
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

    def place(self, x: float, y: float, width: float, height: float) -> tuple[float, float]:
        """Return where a value lies in a picture of a size, from the top left."""
        frame = self.frame(width, height)
        across, up = self.x.share(x), self.y.share(y)
        return (
            frame.left + across * (frame.right - frame.left),
            frame.bottom - up * (frame.bottom - frame.top),
        )

    def frame(self, width: float, height: float) -> Box:
        """Return the part of a picture in which marks are."""
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
        return place_labels(wanted, places, self.frame(width, height), LETTERS)

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


# --- the two figures of the report --------------------------------------------------------------


def fit_figure(
    stability: Sequence[float],
    explained: Sequence[float],
    *,
    chosen: int | None = None,
    knee: int | None = None,
    advised: int | None = None,
    proven: Sequence[bool] | None = None,
) -> Figure:
    """Return fit, the share of the loss explained, against stability for points of a trade-off."""
    count = len(stability)
    sure = [True] * count if proven is None else proven
    marks = tuple(
        Mark(
            x=x,
            y=y,
            kind="point" if sure[i] else "unproven",
            title=point_words(i, count, x, y),
            point=i,
            rings=_rings(i, chosen, knee, advised),
        )
        for i, (x, y) in enumerate(zip(stability, explained, strict=True))
    )
    return Figure(
        name="fit",
        title="Fit against stability",
        description=(
            f"{count} points of the trade-off, from the most stable on the right to the one that "
            f"fits best on the left. {_named_points(marks)}"
        ),
        x=Axis.of("stability, % of the largest possible", stability, scale=100.0),
        y=Axis.of("fit, % of the loss explained", explained, scale=100.0),
        marks=marks,
        selected=chosen,
    )


def score_figure(content: Mapping[str, Any]) -> Figure | None:
    """Return the score on new rows against Dice, or None where nothing was cross-validated.

    The content is that of a report.
    """
    score, rings = content["score"], (content["chosen"], content["knee"], content["advised"])
    marks: list[Mark] = []
    for i, point in enumerate(content["points"]):
        words = point_words(i, len(content["points"]), point["stability"], point["explained"])
        marks += _tested(point["evaluated"], words, score, point=i, rings=_rings(i, *rings))
    for each in content["baselines"]:
        marks += _tested(each, each["name"], score, name=each["name"])
    if not marks:
        return None
    places = [place for mark in marks for place in mark.spread()]
    return Figure(
        name="score",
        title="On new rows: fit against likeness of rule sets",
        description=(
            "Points of the trade-off and other methods, by cross-validation. "
            + _named_points(marks)
        ),
        x=Axis.of("likeness of rule sets (Dice)", [x for x, _ in places]),
        y=Axis.of(f"{score} (rows not seen)", [y for _, y in places]),
        marks=tuple(marks),
        selected=content["chosen"],
    )


def point_words(position: int, count: int, stability: float, explained: float) -> str:
    """Return a point in words."""
    fit = f"{fixed(100.0 * explained, 1)}{PERCENT}"
    return f"point {position + 1} of {count}: stability {percent(stability)}, fit {fit}"


def _tested(
    found: Mapping[str, Any] | None,
    words: str,
    score: str,
    *,
    point: int | None = None,
    rings: tuple[Ring, ...] = (),
    name: str = "",
) -> Iterator[Mark]:
    """Give the mark of what cross-validation found, if it is known."""
    if found is None or found["score"] is None or found["dice"] is None:
        return
    x, y, error = found["dice"], found["score"], found["score_se"]
    ends = (found["dice_low"], found["dice_high"])
    yield Mark(
        x=x,
        y=y,
        kind="baseline" if point is None else "point",
        title=f"{words}; on new rows {score} {fixed(y, 3)}, Dice {fixed(x, 2)}",
        point=point,
        rings=rings,
        name=name,
        x_range=None if None in ends else ends,
        y_range=None if error is None else (y - error, y + error),
    )


def _rings(i: int, chosen: int | None, knee: int | None, advised: int | None) -> tuple[Ring, ...]:
    wanted: dict[Ring, int | None] = {"fitted": chosen, "knee": knee, "advised": advised}
    return tuple(ring for ring, position in wanted.items() if position == i)


def _named_points(marks: Iterable[Mark]) -> str:
    return " ".join(f"{mark.label}: {mark.title}." for mark in marks if mark.label)


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


def _nice_step(least: float) -> float:
    """Return the smallest round number that is no less."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in (1.0, 2.0, 2.5, 5.0, 10.0) if factor * power >= least)
