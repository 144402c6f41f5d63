"""Effects of rules with their intervals, from rows that had no part in finding the rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mossrules._frames import Backend
from mossrules.data.columns import Label
from mossrules.display.plots._axes import (
    PALETTE,
    PLAIN,
    Rows,
    axes_for,
    records_frame,
    shorten,
    units,
    wrap_texts,
)
from mossrules.evaluation import SplitEffects
from mossrules.exceptions import InvalidParameter, UnsupportedType
from mossrules.model.export_text import event_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["SplitEffectMark", "SplitEffectsDisplay"]

MARKS = 3.6  # inches
POINT: dict[str, Any] = {"color": PALETTE["blue"], "marker": "o", "markersize": 5,
                         "linestyle": "none", "capsize": 2.5, "elinewidth": 1.2}  # fmt: skip
BEFORE: dict[str, Any] = {"color": PALETTE["grey"], "marker": "x", "markersize": 5,
                          "linestyle": "none"}  # fmt: skip


@dataclass(frozen=True)
class SplitEffectMark:
    """One rule of the figure."""

    rule: str
    effect: float  # NaN where the second part does not determine it
    lower: float
    upper: float
    first_effect: float  # in the model of the first part


@dataclass
class SplitEffectsDisplay:
    """Effects of rules on rows that had no part in finding them, each with its interval.

    Make it with `from_effects` or `SplitEffects.plot`; `frame` has the data, `plot` draws them.
    After `plot`, `ax_` and `figure_` are matplotlib's. Crosses are the effects in the model of the
    first part, which was chosen to fit those rows.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> from mossrules.evaluation import split_effects
    >>> X = {"dose": [1, 2, 3, 4] * 20, "smoker": [False, True] * 40}
    >>> y = [2.0 * (d > 2) + (i % 3) for i, d in enumerate(X["dose"])]
    >>> effects = split_effects(MossRegressor(1, max_depth=1, n_trees=20), X, y)
    >>> display = SplitEffectsDisplay.from_effects(effects)
    >>> display.frame(backend="pandas")["rule"].tolist()
    ['dose > 2']
    """

    marks: tuple[SplitEffectMark, ...]  #: one for each rule
    confidence: float  #: of the intervals
    outcome: Label | None = None  #: the class whose log-odds they move; None of numbers
    target: str | None = None  #: its name, if it has one

    # --- data -----------------------------------------------------------------------------------

    @classmethod
    def from_effects(
        cls, effects: SplitEffects, *, outcome: Label | None = None
    ) -> SplitEffectsDisplay:
        """Return the display of effects; of several classes, those of one `outcome`."""
        if not isinstance(effects, SplitEffects):
            raise UnsupportedType(
                f"effects is a {type(effects).__name__}; pass SplitEffects, as split_effects "
                "returns them."
            )
        known = [*dict.fromkeys(each.outcome for each in effects.effects)]
        if outcome is None and len(known) == 1:
            outcome = known[0]
        if outcome not in known:
            listed = ", ".join(map(repr, known))
            raise InvalidParameter(f"outcome is {outcome!r}; choose from {listed}.")
        _, *rules = [each for each in effects.effects if each.outcome == outcome]
        marks = [
            SplitEffectMark(each.rule, each.effect, each.lower, each.upper, each.first_effect)
            for each in rules
        ]
        return cls(tuple(marks), effects.confidence, outcome, effects.target)

    def frame(self, *, backend: Backend | None = None) -> Any:
        """Return a row for each rule: `rule`, `effect`, `lower`, `upper` and `first_effect`."""
        return records_frame(SplitEffectMark, self.marks, backend)

    # --- drawing --------------------------------------------------------------------------------

    def plot(self, ax: Axes | None = None) -> SplitEffectsDisplay:
        """Draw on the axes given, or on those of a new figure."""
        rows = Rows(tuple(wrap_texts(mark.rule.split(" and ")) for mark in self.marks))
        self.ax_: Axes = axes_for(ax, rows.figure_size(MARKS + 0.2, around=1.5))
        self.figure_: Figure | SubFigure = self.ax_.figure
        rows.draw(self.ax_)
        self._draw(rows.centres)
        self.ax_.axvline(0.0, color="0.3", linewidth=0.8)
        of = units(self.target, "identity")
        if self.outcome is not None:
            of = f"log-odds of {shorten(event_text(self.target, self.outcome), 30)}"
        self.ax_.set_xlabel(f"effect ({of})", **PLAIN)
        self.ax_.grid(visible=True, axis="x", color="0.9", linewidth=0.6)
        self.ax_.set_axisbelow(True)
        above: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0)}
        self.ax_.legend(frameon=False, fontsize="small", **above)
        return self

    def _draw(self, centres: Sequence[float]) -> None:
        values = np.array([(each.effect, each.lower, each.upper) for each in self.marks])
        effect, lower, upper = values.reshape(-1, 3).T
        sides = np.nan_to_num([effect - lower, upper - effect])
        label = f"on rows that had no part in the choice, {self.confidence:.0%} interval"
        self.ax_.errorbar(effect, centres, xerr=sides, label=label, **POINT)
        before = [each.first_effect for each in self.marks]
        self.ax_.plot(before, centres, label="in the model of the first part", **BEFORE)
