"""The trust table as a plane: what methods explain, against how often their rules recur."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mossrules._frames import Backend
from mossrules.display.plots._axes import axes_for, finish, legend_label, records_frame
from mossrules.display.plots.evaluation import COLOURS, LINE, MARKERS, SIZE
from mossrules.evaluation import Assessment
from mossrules.exceptions import UnsupportedType

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["TrustDisplay", "TrustMark"]

HEADINGS = {"r2": "$R^2$", "auc": "AUC"}


@dataclass(frozen=True)
class TrustMark:
    """One method on the plane."""

    method: str
    dice: float  # of rules that read the same; NaN of methods without rules
    score: float
    failed: int  # fits

    @property
    def label(self) -> str:
        """What the legend says of it."""
        return f"{self.method} ({self.failed} fits failed)" if self.failed else self.method


@dataclass
class TrustDisplay:
    """R2, or AUC, on rows left out against the recurrence of rules as printed.

    Make it with `from_assessment` or `Assessment.plot`; `frame` has the data, `plot` draws them.
    After `plot`, `ax_` and `figure_` are matplotlib's, and `artists_` has what was drawn by method.

    A method without rules is a horizontal line. What is above and to the right is better on both.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> from mossrules.evaluation import assess
    >>> X = {"age": range(20, 60), "smoker": [False, True] * 20}
    >>> y = [1.0, 5.0] * 10 + [3.0, 9.0] * 10
    >>> table = assess({"MOSS": MossRegressor(3, max_depth=1, n_trees=20)}, X, y, seeds=0)
    >>> TrustDisplay.from_assessment(table).frame(backend="pandas").round(2)
      method  dice    r2  failed
    0   MOSS  0.77  0.95       0
    """

    marks: tuple[TrustMark, ...]  #: one for each method
    metric: str  #: "r2" or "auc", on the vertical axis
    refits: int  #: of the assessment

    # --- data -----------------------------------------------------------------------------------

    @classmethod
    def from_assessment(cls, assessment: Assessment) -> TrustDisplay:
        """Return the display of a trust table."""
        if not isinstance(assessment, Assessment):
            raise UnsupportedType(
                f"assessment is a {type(assessment).__name__}; pass an Assessment, as assess "
                "returns it."
            )
        metric = "r2" if assessment.task == "regression" else "auc"
        marks = [
            TrustMark(each.method, each.dice, getattr(each, metric), each.failed)
            for each in assessment.methods
        ]
        return cls(tuple(marks), metric, assessment.refits)

    def frame(self, *, backend: Backend | None = None) -> Any:
        """Return one row for each method: its name, `dice`, the score, and fits that `failed`."""
        return records_frame(TrustMark, self.marks, backend, {"score": self.metric})

    # --- drawing --------------------------------------------------------------------------------

    def plot(self, ax: Axes | None = None) -> TrustDisplay:
        """Draw on the axes given, or on those of a new figure."""
        self.ax_: Axes = axes_for(ax, size=SIZE)
        self.figure_: Figure | SubFigure = self.ax_.figure
        self.artists_: dict[str, Any] = {}
        for number, mark in enumerate(self.marks):
            colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
            self.artists_[mark.method] = self._draw(mark, colour, marker)
        finish(
            self.ax_,
            x=f"recurrence as printed: Dice, mean over pairs of {self.refits} refits",
            y=f"{HEADINGS[self.metric]} on rows left out",
            whole=False,
        )
        # Beside the axes, where it hides no method.
        self.ax_.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), fontsize="small")
        return self

    def _draw(self, mark: TrustMark, colour: str, marker: str) -> Any:
        label = legend_label(mark.label)
        if np.isnan(mark.dice) and not np.isnan(mark.score):
            return self.ax_.axhline(mark.score, label=label, color=colour, **LINE)
        style: dict[str, Any] = {"color": colour, "marker": marker, "linestyle": "none"}
        return self.ax_.plot([mark.dice], [mark.score], label=label, markersize=8, **style)[0]
