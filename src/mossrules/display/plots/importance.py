"""How much each rule, or each column, moves the predictions, as bars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from mossrules._frames import Backend
from mossrules.display.plots._axes import PALETTE, axes_for, check_choice
from mossrules.display.plots._rows import (
    BAR,
    LETTER,
    PLAIN,
    Rows,
    rules_of,
    units,
    wrap,
    wrap_name,
    write,
)
from mossrules.model import RuleSet
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

__all__ = ["ImportanceDisplay"]

Kind = Literal["rules", "features"]
BARS = 3.6  # inches
NUMBER = 8 * LETTER  # inches of room for a share beside its bar


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
    0       age <= 40        2.75   0.86
    1  40 < age <= 50        0.43   0.14
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
        found = self.importances
        rows = Rows(tuple(map(self._words, found)))
        self.ax_: Axes = axes_for(ax, rows.figure_size(BARS + 0.2, around=0.9))
        self.figure_: Figure | SubFigure = self.ax_.figure
        rows.draw(self.ax_)
        colour = PALETTE["blue" if self.kind == "rules" else "green"]
        amounts = [each.importance for each in found]
        self.bars_: BarContainer = self.ax_.barh(rows.centres, amounts, height=BAR, color=colour)
        for y, each in zip(rows.centres, found, strict=True):
            write(self.ax_, each.importance, y, f"{each.share:.1%}")
        self.ax_.set_xlim(0.0, max([0.0, *amounts]) / (1.0 - NUMBER / BARS) or 1.0)
        none = "" if found else "; there are no rules"
        self.ax_.set_xlabel(
            f"importance of {self.kind}\n({units(self.ruleset.target, self.ruleset.link)}{none})",
            **PLAIN,
        )
        return self

    def _words(self, importance: Importance) -> str:
        if self.kind == "features":
            return wrap_name(importance.name)
        return wrap(self.ruleset.rules[importance.position], self.ruleset.binning)
