"""What all figures share: axes of matplotlib, loaded when they are wanted, rows of words, colours.

Colours are those of Okabe and Ito, which people with any kind of colour vision can tell apart; no
two kinds of marks differ in colour alone.

Some figures have a row for each rule: words on the left, marks to the right of them. Heights are in
lines of text: a row is as high as its own words need.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from importlib import import_module
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from mossrules._frames import Backend, make_frame
from mossrules.candidates.cuts import Binning
from mossrules.candidates.rules import Rule
from mossrules.exceptions import MissingDependency, UnsupportedType
from mossrules.model import RuleSet, RuleSets
from mossrules.model.explanation import Link
from mossrules.model.export_text import one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["BAR", "LETTER", "PALETTE", "PLAIN", "SMALL", "Rows", "axes_for",
           "finish", "legend_label", "load", "records_frame", "rules_of", "shorten", "signed",
           "split_axes", "units", "wrap", "wrap_name", "wrap_texts", "write"]  # fmt: skip

PALETTE = {
    "blue": "#0072B2",
    "vermillion": "#D55E00",
    "green": "#009E73",
    "purple": "#CC79A7",
    "orange": "#E69F00",
    "sky": "#56B4E9",
    "grey": "#6E6E6E",
}

WIDTH = 44  # letters in a line
MOST_LINES = 2  # of one condition
FONT = 9.0  # points
SMALL = 8.0  # points, of numbers
LINE = 0.17  # inches
LETTER = 0.073  # inches, on average
SPACE = 0.8  # lines between two rows
BAR = 0.86  # lines
BAND = "0.955"

BREAKS = re.compile(r"[^\s_/]*[\s_/]+|[^\s_/]+")  # words, and the parts of names_of_parts

# Names come from the data: a dollar sign in one is no mathematics.
PLAIN: dict[str, Any] = {"parse_math": False}


# --- axes ---------------------------------------------------------------------------------------


def load(module: str) -> Any:
    """Return a module of matplotlib, loaded on first use, or say how to get it."""
    try:
        import_module("matplotlib")  # its submodules, once loaded, would not look for it
        return import_module(module)
    except ImportError as failure:
        raise MissingDependency(
            f"Plots need matplotlib, which could not be loaded ({failure}); "
            'run pip install "mossrules[plot]".'
        ) from failure


def axes_for(ax: Axes | None, size: tuple[float, float] = (6.4, 4.4)) -> Axes:
    """Return the axes to draw on: those given, or those of a new figure of a size in inches."""
    if ax is None:
        pyplot = load("matplotlib.pyplot")
        figure, new = pyplot.subplots(figsize=size, layout="constrained")
        figure.get_layout_engine().set(w_pad=0.1)  # a number below the right end needs room there
        axes: Axes = new
        return axes
    # Else matplotlib would say deep within that something has no such attribute.
    kind: type[Axes] = load("matplotlib.axes").Axes
    if not isinstance(ax, kind):
        raise UnsupportedType(f"ax is a {type(ax).__name__}; pass axes of matplotlib, or None.")
    return ax


def legend_label(name: str) -> str:
    """Return a name as a legend shows it: letter by letter."""
    name = name.replace("$", r"\$")  # matplotlib would read mathematics
    return f" {name}" if name.startswith("_") else name  # which a legend leaves out


def finish(ax: Axes, *, x: str, y: str, whole: bool = True) -> None:
    """Give the axes their labels, whole numbers below if wanted, a faint grid and a legend."""
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    if whole:
        ax.locator_params(axis="x", integer=True)
    # Behind the marks and pale: the grid is to read values by, not to be looked at.
    ax.grid(visible=True, color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.legend(loc="best", fontsize="small", framealpha=0.9)


# --- data ---------------------------------------------------------------------------------------


def records_frame(
    kind: type,
    records: Sequence[Any],
    backend: Backend | None,
    names: Mapping[str, str] | None = None,
) -> Any:
    """Return records of one kind as a data frame, with a column for each field.

    Columns have the names of the fields, or others if they are given.
    """
    shown = {field.name: field.name for field in fields(kind)} | dict(names or {})
    columns = {title: [getattr(each, name) for each in records] for name, title in shown.items()}
    return make_frame(columns, backend)


def rules_of(model: Any, name: str = "model") -> RuleSet:
    """Return the rule set of a fitted estimator, or the rule set itself."""
    rules = model if isinstance(model, RuleSet) else getattr(model, "rules_", None)
    if isinstance(rules, RuleSets):
        raise UnsupportedType(
            f"{name} has a rule set for each of {len(rules)} classes; pass that of one, "
            f"rules_[{next(iter(rules))!r}] say."
        )
    if not isinstance(rules, RuleSet):
        raise UnsupportedType(
            f"{name} is a {type(model).__name__} without rules; pass a RuleSet or a fitted "
            "estimator with rules_ (of a pipeline, its last step)."
        )
    return rules


# --- words ----------------------------------------------------------------------------------------


def wrap(rule: Rule, binning: Binning, width: int = WIDTH) -> str:
    """Return a rule in lines, broken between its conditions where that is possible."""
    return wrap_texts(
        [condition.text(binning[condition.feature]) for condition in rule.conditions], width
    )


def wrap_texts(conditions: Sequence[str], width: int = WIDTH) -> str:
    """Return conditions as one rule in lines, broken between them where that is possible."""
    lines: list[str] = []
    for text in map(one_line, conditions):
        piece = f"and {text}" if lines else text
        if lines and len(lines[-1]) + 1 + len(piece) <= width:
            lines[-1] += f" {piece}"
        else:
            lines += _broken(piece, width)
    return "\n".join(lines)


def wrap_name(name: str, width: int = WIDTH) -> str:
    """Return the name of a column in lines."""
    return "\n".join(_broken(one_line(name), width))


def shorten(text: str, width: int) -> str:
    """Return text in one line, without what is too much of it."""
    text = one_line(text)
    return text if len(text) <= width else f"{text[: width - 1].rstrip()}…"


def _broken(text: str, width: int) -> list[str]:
    """Return text in a few lines; what is too long loses its middle: thresholds are at the end."""
    lines = _filled(BREAKS.findall(text), width)
    if len(lines) <= MOST_LINES:
        return lines
    # The first lines from the start, and the last from the end: filled from the end backwards, so
    # that the last line holds as much of the thresholds as it can.
    *head, _ = _filled(BREAKS.findall(text), width - 1)[:MOST_LINES]
    tail = _filled([piece[::-1] for piece in reversed(BREAKS.findall(text))], width)[0][::-1]
    return [*head[:-1], f"{head[-1]}…", tail]


def _filled(pieces: Sequence[str], width: int) -> list[str]:
    """Return pieces of text joined to lines, as much in each as will fit."""
    lines = [""]
    for piece in pieces:
        if lines[-1] and len(lines[-1]) + len(piece.rstrip()) > width:
            lines.append("")
        lines[-1] += piece
        while len(lines[-1].rstrip()) > width:  # a word of more than a line
            lines[-1:] = [lines[-1][:width], lines[-1][width:]]
    return [line.strip() for line in lines]


def units(target: str | None, link: Link = "identity") -> str:
    """Return in what a rule set's weights are, in words."""
    if link == "logit":
        return "log-odds"
    return "the target's units" if target is None else f"units of {shorten(target, 24)}"


def signed(amount: str) -> str:
    """Return a number as text with a minus sign of the width of a plus sign."""
    return amount.replace("-", "\N{MINUS SIGN}")


# --- rows -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rows:
    """The rows of a figure, from the top down."""

    words: tuple[str, ...]

    @property
    def _edges(self) -> list[float]:
        heights = [words.count("\n") + 1 + SPACE for words in self.words]
        return [0.0, *accumulate(heights)]

    @property
    def centres(self) -> list[float]:
        """Where the middle of each row is."""
        return [(top + bottom) / 2 for top, bottom in pairwise(self._edges)]

    def figure_size(
        self, marks: float, around: float, line: float | None = None
    ) -> tuple[float, float]:
        """Return inches of a figure with some beside the words, and others above and below.

        A line may be of other than the usual inches.
        """
        longest = max((len(part) for words in self.words for part in words.split("\n")), default=0)
        lines = max(self._edges[-1], 1 + SPACE)
        return LETTER * longest + marks, (line or LINE) * lines + around

    def draw(self, ax: Axes) -> None:
        """Write the words beside the axes, and shade every other row."""
        # Downwards, so that the first row is on top. Not less than a row, for an empty figure.
        edges = self._edges
        ax.set_ylim(max(edges[-1], 1 + SPACE), 0.0)
        for top, bottom in [*pairwise(edges)][::2]:
            ax.axhspan(top, bottom, color=BAND, linewidth=0, zorder=0)
        style: dict[str, Any] = {"multialignment": "right", "linespacing": 1.15}
        ax.set_yticks(self.centres, labels=list(self.words), fontsize=FONT, **style, **PLAIN)
        ax.tick_params(axis="y", length=0)
        hide_sides(ax)


def split_axes(ax: Axes, widths: Sequence[float], space: float = 0.04) -> Iterator[Axes]:
    """Give panels that share the rows of the axes, side by side within them."""
    room = 1.0 - space * (len(widths) - 1)
    left = 0.0
    ax.set_xticks([])
    ax.spines["bottom"].set_visible(False)
    for width in widths:
        share = room * width / sum(widths)
        # Within the axes given, so that a user's own figure can hold them in one of its cells; a
        # grid of subplots would need the whole figure.
        panel = ax.inset_axes((left, 0.0, share, 1.0), sharey=ax, facecolor="none")
        panel.tick_params(axis="y", length=0, labelleft=False)
        hide_sides(panel)
        left += share + space
        yield panel


def hide_sides(ax: Axes) -> None:
    """Leave of the axes' frame the line below."""
    ax.spines[["top", "left", "right"]].set_visible(False)


def write(ax: Axes, x: float, y: float, text: str, gap: float = 4.0, *, left: bool = False) -> None:
    """Write a number beside the end of its bar."""
    ax.annotate(
        text,
        (x, y),
        xytext=(-gap if left else gap, 0),
        textcoords="offset points",
        ha="right" if left else "left",
        va="center_baseline",
        fontsize=SMALL,
    )
