"""A rule set as figures: its rules with what each adds and how firm it is, and importances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from mossrules._common import check_choice
from mossrules._frames import Backend
from mossrules.display.plots._axes import (
    BAR,
    LETTER,
    PALETTE,
    PLAIN,
    SMALL,
    Rows,
    axes_for,
    rules_of,
    shorten,
    signed,
    split_axes,
    units,
    wrap,
    wrap_name,
    write,
)
from mossrules.model import RuleSet
from mossrules.model.export_text import event_text, format_amounts
from mossrules.model.importance import (
    Importance,
    feature_importances,
    importance_frame,
    rule_importances,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from matplotlib.figure import Figure, SubFigure

__all__ = ["ImportanceDisplay", "RulesDisplay"]

Kind = Literal["rules", "features"]
UP, DOWN = PALETTE["blue"], PALETTE["vermillion"]
PANELS = {"weight": 2.5, "support": 1.25, "proportion": 1.25}  # inches
BARS = 3.6  # inches of a panel of importances
NUMBER = 8 * LETTER  # inches of room for a share beside its bar


@dataclass
class RulesDisplay:
    """The rules of a rule set in words, with effect, coverage and tree frequency.

    Make it with `from_estimator` or `from_rules`; `frame` has the data, `plot` draws them. After
    `plot`, `ax_` (the rows) and `figure_` are matplotlib's, and `axes_` has the panels "weight",
    "support" and "proportion".

    Effects (weights) are bars, to the right where a rule raises the prediction and to the left
    where it lowers it. Coverage (support), the share of rows where a rule holds, is bars too, and
    tree frequency (proportion), the share of trees that contain the rule, is dots. The intercept,
    where all predictions start, is in the title.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> model = MossRegressor(2, n_trees=20).fit({"age": [30, 40, 50, 60]}, [2.0, 3.0, 9.0, 8.0])
    >>> frame = RulesDisplay.from_estimator(model).frame(backend="pandas")
    >>> frame[["rule", "weight", "support", "proportion"]].round(2)
                 rule  weight  support  proportion
    0        age > 40    5.27     0.50        0.70
    1  40 < age <= 50    1.12     0.25        0.55
    """

    ruleset: RuleSet  #: that is drawn

    # --- data -----------------------------------------------------------------------------------

    @classmethod
    def from_estimator(cls, model: Any) -> RulesDisplay:
        """Return the display of a fitted estimator's `rules_`."""
        return cls(rules_of(model))

    @classmethod
    def from_rules(cls, ruleset: RuleSet) -> RulesDisplay:
        """Return the display of a rule set."""
        return cls(rules_of(ruleset, "ruleset"))

    def frame(self, *, backend: Backend | None = None) -> Any:
        """Return one row for each rule as a data frame, from the largest weight to the smallest.

        Columns: `rule`, `weight` (in the target's units), `support` (share of rows), `proportion`
        (share of trees).
        """
        return self.ruleset.to_frame(backend)

    # --- drawing --------------------------------------------------------------------------------

    def plot(self, ax: Axes | None = None) -> RulesDisplay:
        """Draw on the axes given, which are divided into panels, or on those of a new figure."""
        ruleset = self.ruleset
        rows = Rows(tuple(wrap(rule, ruleset.binning) for rule in ruleset.rules))
        size = rows.figure_size(sum(PANELS.values()) + 0.4, around=1.15)
        self.ax_: Axes = axes_for(ax, size)
        self.figure_: Figure | SubFigure = self.ax_.figure
        rows.draw(self.ax_)
        # Each measure has a scale of its own: on one for all, the largest would hide the others.
        panels = split_axes(self.ax_, list(PANELS.values()))
        self.axes_: dict[str, Axes] = dict(zip(PANELS, panels, strict=True))
        self._draw_weights(rows.centres)
        self._draw_support(rows.centres)
        self._draw_proportion(rows.centres)
        self.ax_.set_title(self._title(), fontsize=10, loc="right", **PLAIN)
        return self

    def _title(self) -> str:
        intercept, *_ = format_amounts([self.ruleset.intercept], self.ruleset.weights.tolist())
        ruleset, are = self.ruleset, "is"
        what = (
            "The prediction"
            if ruleset.target is None
            else f"Predicted {shorten(ruleset.target, 44)}"
        )
        if ruleset.link == "logit":
            event = shorten(event_text(ruleset.target, ruleset.outcome), 44)
            what, are = f"The log-odds of {event}", "are"
        start = signed(intercept.removeprefix("+"))
        if not len(self.ruleset):
            return f"{what} {are} {start}: there are no rules"
        return f"{what} {are} {start} (intercept)\nplus the effects of the rules that hold"

    def _draw_weights(self, centres: Sequence[float]) -> None:
        ax = self.axes_["weight"]
        weights = self.ruleset.weights.tolist()
        colours = [UP if weight > 0 else DOWN for weight in weights]
        ax.barh(centres, weights, height=BAR, color=colours)
        ax.axvline(0.0, color="0.3", linewidth=0.8)
        amounts = [signed(amount) for amount in format_amounts(weights, weights)] if weights else []
        for y, weight, amount in zip(centres, weights, amounts, strict=True):
            write(ax, weight, y, amount, left=weight < 0)
        # Room for the numbers beyond the longest bars.
        # Numbers take inches and the axis is in units of the target: of the panel's width, a share
        # goes to the numbers, on each side that has bars, and the rest to the bars.
        share = LETTER * (2 + max(map(len, amounts), default=0)) / PANELS["weight"]
        low, high = min([0.0, *weights]), max([0.0, *weights])
        sides = (low < 0) + (high > 0)
        room = (high - low) * share / max(1.0 - sides * share, 0.2)
        ax.set_xlim(low - room * (low < 0), (high + room * (high > 0)) or 1.0)
        in_units = units(self.ruleset.target, self.ruleset.link)
        self._label("weight", f"effect\n({in_units})", ticks=4)

    def _draw_support(self, centres: Sequence[float]) -> None:
        ax = self.axes_["support"]
        percents = [100.0 * share for share in self.ruleset.support.tolist()]
        ax.barh(centres, percents, height=BAR, color=PALETTE["grey"], alpha=0.7)
        _percents(ax, centres, percents)
        self._label("support", "coverage\n(% of rows)", ticks=3)

    def _draw_proportion(self, centres: Sequence[float]) -> None:
        ax = self.axes_["proportion"]
        percents = [100.0 * share for share in self.ruleset.proportion.tolist()]
        ax.hlines(centres, 0.0, percents, color=PALETTE["green"], linewidth=1.2)
        ax.plot(percents, centres, "o", color=PALETTE["green"], markersize=5)
        _percents(ax, centres, percents, gap=6)
        self._label("proportion", "tree frequency\n(% of trees)", ticks=3)

    def _label(self, panel: str, words: str, *, ticks: int) -> None:
        ax = self.axes_[panel]
        ax.set_xlabel(words, fontsize=SMALL + 0.5, **PLAIN)
        ax.tick_params(axis="x", labelsize=SMALL - 0.5)
        ax.xaxis.get_offset_text().set_fontsize(SMALL - 0.5)
        ax.locator_params(axis="x", nbins=ticks)
        if not len(self.ruleset):
            ax.set_xticks([])


def _percents(
    ax: Axes, centres: Sequence[float], percents: Sequence[float], gap: float = 4
) -> None:
    for y, percent in zip(centres, percents, strict=True):
        write(ax, percent, y, f"{percent:.1f}", gap)
    room = 6 * LETTER / PANELS["support"]
    ax.set_xlim(0.0, max([0.0, *percents]) / (1.0 - room) or 1.0)


@dataclass
class ImportanceDisplay:
    """Importances of rules or of features, the largest first.

    Make it with `from_estimator` or `from_rules`; `frame` has the data, `plot` draws them. After
    `plot`, `ax_` and `figure_` are matplotlib's, and `bars_` has the bars.

    The importance of a rule is the standard deviation, over the training rows, of what it adds to
    a prediction; it is divided equally among the features of the rule. Beside each bar is its
    share of the sum of all.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> model = MossRegressor(2, n_trees=20).fit({"age": [30, 40, 50, 60]}, [2.0, 3.0, 9.0, 8.0])
    >>> ImportanceDisplay.from_estimator(model).frame(backend="pandas").round(2)
                 rule  importance  share
    0        age > 40        2.63   0.84
    1  40 < age <= 50        0.48   0.16
    """

    ruleset: RuleSet  #: that is drawn
    kind: Kind = "rules"  #: "rules" or "features"

    # --- data -----------------------------------------------------------------------------------

    @classmethod
    def from_estimator(cls, model: Any, kind: Kind = "rules") -> ImportanceDisplay:
        """Return the display of a fitted estimator's "rules" or "features"."""
        check_choice("kind", kind, get_args(Kind))
        return cls(rules_of(model), kind)

    @classmethod
    def from_rules(cls, ruleset: RuleSet, kind: Kind = "rules") -> ImportanceDisplay:
        """Return the display of the "rules" or "features" of a rule set."""
        check_choice("kind", kind, get_args(Kind))
        return cls(rules_of(ruleset, "ruleset"), kind)

    @property
    def importances(self) -> list[Importance]:
        """What is drawn, from the top down."""
        find = {"rules": rule_importances, "features": feature_importances}[self.kind]
        return find(self.ruleset)

    def frame(self, *, backend: Backend | None = None) -> Any:
        """Return one row for each rule or feature in use as a data frame, the largest first.

        Columns: `rule` or `feature`, `importance` (in the target's units), `share` (of the sum).
        """
        return importance_frame(self.kind.removesuffix("s"), self.importances, backend)

    # --- drawing --------------------------------------------------------------------------------

    def plot(self, ax: Axes | None = None) -> ImportanceDisplay:
        """Draw on the axes given, or on those of a new figure."""
        importances = self.importances
        rows = Rows(tuple(map(self._words, importances)))
        self.ax_: Axes = axes_for(ax, rows.figure_size(BARS + 0.2, around=0.9))
        self.figure_: Figure | SubFigure = self.ax_.figure
        rows.draw(self.ax_)
        colour = PALETTE["blue" if self.kind == "rules" else "green"]
        amounts = [each.importance for each in importances]
        self.bars_: BarContainer = self.ax_.barh(rows.centres, amounts, height=BAR, color=colour)
        for y, each in zip(rows.centres, importances, strict=True):
            write(self.ax_, each.importance, y, f"{each.share:.1%}")
        self.ax_.set_xlim(0.0, max([0.0, *amounts]) / (1.0 - NUMBER / BARS) or 1.0)
        none = "" if importances else "; there are no rules"
        self.ax_.set_xlabel(
            f"importance of {self.kind}\n({units(self.ruleset.target, self.ruleset.link)}{none})",
            **PLAIN,
        )
        return self

    def _words(self, importance: Importance) -> str:
        if self.kind == "features":
            return wrap_name(importance.name)
        return wrap(self.ruleset.rules[importance.position], self.ruleset.binning)
