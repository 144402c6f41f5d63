"""Learners side by side: accuracy against stability, both out of sample."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from mossrules._frames import Backend, make_frame
from mossrules.display.plots._axes import PALETTE, axes_for, check_choice, finish
from mossrules.display.plots.evaluation import NAMES, Horizontal
from mossrules.evaluation.metrics import LABELS
from mossrules.evaluation.results import Evaluation, LearnerSummary
from mossrules.exceptions import UnsupportedType

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["ComparisonDisplay", "ComparisonMark"]

NAN = float("nan")
SIZE = (7.6, 4.4)  # inches
COLOURS = tuple(PALETTE.values())
MARKERS = "osD^vPX*"  # one more than colours, so that pairs of both repeat late
BARS: dict[str, Any] = {"linestyle": "none", "markersize": 8, "elinewidth": 1.0, "capsize": 2.5,
                        "mec": "white", "mew": 0.6, "zorder": 3}  # fmt: skip
LINES: dict[str, Any] = {"linewidth": 1.1, "linestyle": (0, (4, 2)), "zorder": 1.5}


@dataclass(frozen=True)
class ComparisonMark:
    """One learner of the figure."""

    learner: str
    stability: float  # the measure on the horizontal axis; NaN where it is not known
    lower: float  # its interval
    upper: float
    score: float  # R2, or another metric; NaN where all folds failed
    score_se: float
    failed: int  # folds

    @classmethod
    def of(cls, summary: LearnerSummary, measure: Horizontal) -> ComparisonMark:
        """Return the mark of a learner."""
        estimate = getattr(summary, measure)
        interval = (NAN, NAN, NAN)
        if estimate is not None:
            interval = (estimate.estimate, estimate.lower, estimate.upper)
        return cls(summary.learner, *interval, summary.score, summary.score_se, summary.failed)

    @property
    def label(self) -> str:
        """What the legend says: never that there is nothing to see without a reason."""
        if np.isnan(self.score):
            return f"{self.learner} (failed)"
        said = [f"failed on {self.failed} folds"] if self.failed else []
        if np.isnan(self.stability):
            said.append("stability not known")
        return f"{self.learner} ({', '.join(said)})" if said else self.learner


@dataclass
class ComparisonDisplay:
    """Stability between folds against R2, or AUC, on test rows, a mark for each learner.

    Make it with `from_evaluation` or `Evaluation.plot`; `frame` has the data, `plot` draws them.
    After `plot`, `ax_` and `figure_` are matplotlib's, and `artists_` has what was drawn by
    learner.

    Bars are one standard error of R2, or of the metric of the evaluation, and the interval of the
    measure. A learner without rules is a line across.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> from mossrules.evaluation import evaluate
    >>> X = {"age": range(24), "smoker": [False, True] * 12}
    >>> y = [1.0, 5.0, 1.0, 6.0] * 6
    >>> model = MossRegressor(2, max_depth=1, n_trees=20)
    >>> found = evaluate({"MOSS": model}, X, y, cv=3)
    >>> display = ComparisonDisplay.from_evaluation(found)
    >>> list(display.frame(backend="pandas"))
    ['learner', 'stability', 'lower', 'upper', 'r2', 'r2_se', 'failed']
    """

    marks: tuple[ComparisonMark, ...]  #: one for each learner
    measure: Horizontal  #: of agreement, on the horizontal axis
    identity: str  #: when two rules counted as the same
    confidence: float  #: of the horizontal bars
    n_folds: int  #: of the evaluation
    metric: str = "r2"  #: on the vertical axis

    # --- data -----------------------------------------------------------------------------------

    @classmethod
    def from_evaluation(
        cls, evaluation: Evaluation, *, measure: Horizontal = "dice"
    ) -> ComparisonDisplay:
        """Return the display of an evaluation.

        Parameters
        ----------
        evaluation
            Evaluation.
        measure : {"dice", "jaccard", "ochiai", "pog", "nogueira"}, default="dice"
        """
        if not isinstance(evaluation, Evaluation):
            raise UnsupportedType(
                f"evaluation is a {type(evaluation).__name__}; pass an Evaluation, as evaluate "
                "returns it."
            )
        check_choice("measure", measure, tuple(NAMES))
        known = [each.dice for each in evaluation.summaries if each.dice is not None]
        return cls(
            tuple(ComparisonMark.of(each, measure) for each in evaluation.summaries),
            measure,
            identity=known[0].identity if known else evaluation.identity,
            confidence=known[0].confidence if known else NAN,
            n_folds=evaluation.n_folds,
            metric=evaluation.metric,
        )

    def frame(self, *, backend: Backend | None = None) -> Any:
        """Return one row for each learner as a data frame.

        Columns: `learner`, `stability` (the measure) with its interval `lower` and `upper`, `r2`
        with its standard error `r2_se` (or `auc` and `auc_se`, by the metric), and how many folds
        `failed`.
        """
        columns = {
            each.name.replace("score", self.metric): [
                getattr(mark, each.name) for mark in self.marks
            ]
            for each in fields(ComparisonMark)
        }
        return make_frame(columns, backend)

    # --- drawing --------------------------------------------------------------------------------

    def plot(self, ax: Axes | None = None) -> ComparisonDisplay:
        """Draw on the axes given, or on those of a new figure."""
        self.ax_: Axes = axes_for(ax, size=SIZE)
        self.figure_: Figure | SubFigure = self.ax_.figure
        self.artists_: dict[str, Any] = {}
        for number, mark in enumerate(self.marks):
            colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
            self.artists_[mark.learner] = self._draw(mark, colour, marker)
        known = not np.isnan(self.confidence)
        interval = f", {self.confidence:.0%} interval" if known else ""
        name = "$R^2$" if self.metric == "r2" else LABELS[self.metric]
        finish(
            self.ax_,
            x=f"stability: {NAMES[self.measure]} between folds (same {self.identity}){interval}",
            y=f"{name} on test rows: mean of {self.n_folds} folds, $\\pm$ standard error",
            whole=False,
        )
        # Beside the axes: bars reach far, and a legend among them would hide some.
        self.ax_.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), fontsize="small")
        return self

    def _draw(self, mark: ComparisonMark, colour: str, marker: str) -> Any:
        label = mark.label.replace("$", r"\$")  # matplotlib would read mathematics
        label = label if not label.startswith("_") else f" {label}"  # which a legend leaves out
        if np.isnan(mark.stability) and not np.isnan(mark.score):
            return self.ax_.axhline(mark.score, label=label, color=colour, **LINES)
        # An interval that was cut at 0 or 1, or is not known, leaves no bar behind the point.
        sides = np.nan_to_num([mark.stability - mark.lower, mark.upper - mark.stability]).clip(0.0)
        return self.ax_.errorbar(
            [mark.stability],
            [mark.score],
            xerr=sides[:, None],
            yerr=[np.nan_to_num(mark.score_se)],
            label=label,
            color=colour,
            marker=marker,
            **BARS,
        )
