"""Score against recurrence, both out of sample: along the trade-off, and of several methods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from mossrules._common import check_choice
from mossrules._frames import Backend
from mossrules._typing import FloatArray
from mossrules.display.plots._axes import PALETTE, axes_for, finish, legend_label, records_frame
from mossrules.evaluation.agreement import Measure
from mossrules.evaluation.frontier_evaluation import FrontierEvaluation, SelectionCriterion
from mossrules.evaluation.results import LABELS, Evaluation, MethodSummary
from mossrules.exceptions import UnsupportedType

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["ComparisonDisplay", "ComparisonMark", "EvaluationDisplay", "EvaluationMark"]

Horizontal = Measure | Literal["nogueira"]

NAMES = {
    "dice": "Dice", "jaccard": "Jaccard", "ochiai": "Ochiai", "pog": "POG", "nogueira": "Nogueira",
}  # fmt: skip
BLUE = PALETTE["blue"]
BARS: dict[str, Any] = {"color": BLUE, "alpha": 0.25, "linewidth": 0.8, "zorder": 2}
POINTS: dict[str, Any] = {"color": BLUE, "marker": "o", "markersize": 4, "zorder": 3}
CHOSEN: dict[str, Any] = {
    "color": PALETTE["vermillion"], "marker": "D", "markersize": 8, "linestyle": "none",
    "mec": "white", "mew": 0.7, "zorder": 5,
}  # fmt: skip
STABLEST: dict[str, Any] = {
    "color": "black", "marker": "s", "markersize": 11, "fillstyle": "none", "linestyle": "none",
    "zorder": 4,
}  # fmt: skip
LIMIT: dict[str, Any] = {
    "color": PALETTE["grey"], "linewidth": 0.9, "linestyle": (0, (4, 2)), "zorder": 1.5,
}  # fmt: skip
NAN = float("nan")
SIZE = (7.6, 4.4)  # inches
COLOURS = tuple(PALETTE.values())
MARKERS = "osD^vPX*"  # one more than colours, so that pairs of both repeat late
METHOD: dict[str, Any] = {"linestyle": "none", "markersize": 8, "elinewidth": 1.0, "capsize": 2.5,
                        "mec": "white", "mew": 0.6, "zorder": 3}  # fmt: skip
LINE: dict[str, Any] = {"linewidth": 1.1, "linestyle": (0, (4, 2)), "zorder": 1.5}


@dataclass(frozen=True)
class EvaluationMark:
    """One point of the figure."""

    share: float  # of the largest stability: the target
    stability: float  # the measure of recurrence, on the horizontal axis
    lower: float  # its interval
    upper: float
    r2: float
    r2_se: float
    chosen: bool


@dataclass
class EvaluationDisplay:
    """Recurrence of the rules between folds against R2 on test rows: the paper's right-hand panel.

    Make it with `from_evaluation` or `FrontierEvaluation.plot`; `frame` has the data, `plot` draws
    them. After `plot`, `ax_` and `figure_` are matplotlib's, and `artists_` has what was drawn by
    its label in the legend.

    Points are joined in the order of their stability targets, from the most stable on ("stability
    only", if it is there). Bars are one standard error of R2 and the interval of the measure. The
    dashed line is the smallest R2 that "one-standard-error" accepts.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> from mossrules.evaluation import evaluate_frontier
    >>> X = {"age": range(24), "smoker": [False, True] * 12}
    >>> y = [1.0, 5.0, 1.0, 6.0] * 6
    >>> model = MossRegressor(2, max_depth=1, n_trees=20)
    >>> found = evaluate_frontier(model, X, y, cv=3, points=[1, 0.5])
    >>> display = EvaluationDisplay.from_evaluation(found)
    >>> list(display.frame(backend="pandas"))
    ['share', 'stability', 'lower', 'upper', 'r2', 'r2_se', 'chosen']
    """

    marks: tuple[EvaluationMark, ...]  #: the most stable first
    measure: Horizontal  #: of agreement, on the horizontal axis
    identity: str  #: when two rules counted as the same
    confidence: float  #: of the horizontal bars
    n_folds: int  #: of the evaluation
    limit: float | None  #: least R2 accepted, if the rule has one
    score: str = "R2"  #: what is on the vertical axis; of classes "log-loss explained"

    # --- data -----------------------------------------------------------------------------------

    @classmethod
    def from_evaluation(
        cls,
        evaluation: FrontierEvaluation,
        *,
        measure: Horizontal = "dice",
        rule: SelectionCriterion = "one-standard-error",
    ) -> EvaluationDisplay:
        """Return the display of an evaluation.

        Parameters
        ----------
        evaluation
            FrontierEvaluation.
        measure : {"dice", "jaccard", "ochiai", "pog", "nogueira"}, default="dice"
        rule
            Which point to mark as chosen; see `FrontierEvaluation.choose`.
        """
        if not isinstance(evaluation, FrontierEvaluation):
            raise UnsupportedType(
                f"evaluation is a {type(evaluation).__name__}; pass a FrontierEvaluation."
            )
        check_choice("measure", measure, tuple(NAMES))
        check_choice("rule", rule, get_args(SelectionCriterion))
        chosen, best = evaluation.choose(rule), evaluation.choose("best")
        estimates = [getattr(point, measure) for point in evaluation.points]
        marks = tuple(
            EvaluationMark(
                share=point.share,
                stability=estimate.estimate,
                lower=estimate.lower,
                upper=estimate.upper,
                r2=point.r2,
                r2_se=point.r2_se,
                chosen=point is chosen,
            )
            for point, estimate in zip(evaluation.points, estimates, strict=True)
        )
        return cls(
            marks,
            measure,
            identity=evaluation.identity,
            confidence=estimates[0].confidence,
            n_folds=evaluation.n_folds,
            limit=best.r2 - best.r2_se if rule == "one-standard-error" else None,
            score=best.score,
        )

    def frame(self, *, backend: Backend | None = None) -> Any:
        """Return one row for each point as a data frame.

        Columns: `share`, `stability` (the measure of recurrence) with its interval `lower` and
        `upper`, `r2` with its standard error `r2_se`, and whether the point is `chosen`.
        """
        return records_frame(EvaluationMark, self.marks, backend)

    # --- drawing --------------------------------------------------------------------------------

    def plot(self, ax: Axes | None = None) -> EvaluationDisplay:
        """Draw on the axes given, or on those of a new figure."""
        self.ax_: Axes = axes_for(ax)
        self.figure_: Figure | SubFigure = self.ax_.figure
        self.artists_: dict[str, Artist] = {}
        x, y = self._column("stability"), self._column("r2")
        # An interval that was cut at 0 or 1, or is not known, leaves no bar behind the point.
        sides = np.nan_to_num([x - self._column("lower"), self._column("upper") - x]).clip(0.0)
        self.ax_.errorbar(x, y, xerr=sides, yerr=self._column("r2_se"), fmt="none", **BARS)
        first, last = self.marks[0], self.marks[-1]
        label = f"stability targets from {first.share:.0%} to {last.share:.0%} of the maximum"
        self._draw(label, x, y, linewidth=0.9, **POINTS)
        if first.share == 1.0:
            self._draw("stability only", [first.stability], [first.r2], **STABLEST)
        for mark in self.marks:
            if mark.chosen:
                words = f"chosen: stability target {mark.share:.1%}"
                self._draw(words, [mark.stability], [mark.r2], **CHOSEN)
        score = "$R^2$" if self.score == "R2" else f"share of {self.score}"
        if self.limit is not None:
            label = f"best {score} minus one standard error"
            self.artists_[label] = self.ax_.axhline(self.limit, label=label, **LIMIT)
        finish(
            self.ax_,
            x=f"recurrence: {NAMES[self.measure]} between folds (same {self.identity}), "
            f"{self.confidence:.0%} interval",
            y=f"{score} on test rows: mean of {self.n_folds} folds, $\\pm$ standard error",
            whole=False,
        )
        return self

    def _draw(self, label: str, x: Any, y: Any, **style: Any) -> None:
        (self.artists_[label],) = self.ax_.plot(x, y, label=label, **style)

    def _column(self, name: str) -> FloatArray:
        return np.array([getattr(mark, name) for mark in self.marks])


@dataclass(frozen=True)
class ComparisonMark:
    """One method of the figure."""

    method: str
    stability: float  # the measure on the horizontal axis; NaN where it is not known
    lower: float  # its interval
    upper: float
    score: float  # R2, or another metric; NaN where all folds failed
    score_se: float
    failed: int  # folds

    @classmethod
    def of(cls, summary: MethodSummary, measure: Horizontal) -> ComparisonMark:
        """Return the mark of a method."""
        estimate = getattr(summary, measure)
        interval = (NAN, NAN, NAN)
        if estimate is not None:
            interval = (estimate.estimate, estimate.lower, estimate.upper)
        return cls(summary.method, *interval, summary.score, summary.score_se, summary.failed)

    @property
    def label(self) -> str:
        """The name in the legend, with the reason where there is nothing to see."""
        if np.isnan(self.score):
            return f"{self.method} (failed)"
        said = [f"failed on {self.failed} folds"] if self.failed else []
        if np.isnan(self.stability):
            said.append("recurrence unknown")
        return f"{self.method} ({', '.join(said)})" if said else self.method


@dataclass
class ComparisonDisplay:
    """Recurrence between folds against R2, or AUC, on test rows: a mark for each method.

    Make it with `from_evaluation` or `Evaluation.plot`; `frame` has the data, `plot` draws them.
    After `plot`, `ax_` and `figure_` are matplotlib's, and `artists_` has what was drawn by
    method.

    Bars are one standard error of R2, or of the metric of the evaluation, and the interval of the
    measure. A method without rules is a horizontal line.

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
    ['method', 'stability', 'lower', 'upper', 'r2', 'r2_se', 'failed']
    """

    marks: tuple[ComparisonMark, ...]  #: one for each method
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
        # Methods without rules have no measure of recurrence; any other has the one confidence.
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
        """Return one row for each method as a data frame.

        Columns: `method`, `stability` (the measure of recurrence) with its interval `lower` and
        `upper`, `r2` with its standard error `r2_se` (or `auc` and `auc_se`, by the metric), and
        how many folds `failed`.
        """
        names = {"score": self.metric, "score_se": f"{self.metric}_se"}
        return records_frame(ComparisonMark, self.marks, backend, names)

    # --- drawing --------------------------------------------------------------------------------

    def plot(self, ax: Axes | None = None) -> ComparisonDisplay:
        """Draw on the axes given, or on those of a new figure."""
        self.ax_: Axes = axes_for(ax, size=SIZE)
        self.figure_: Figure | SubFigure = self.ax_.figure
        self.artists_: dict[str, Any] = {}
        for number, mark in enumerate(self.marks):
            colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
            self.artists_[mark.method] = self._draw(mark, colour, marker)
        known = not np.isnan(self.confidence)
        interval = f", {self.confidence:.0%} interval" if known else ""
        name = "$R^2$" if self.metric == "r2" else LABELS[self.metric]
        finish(
            self.ax_,
            x=f"recurrence: {NAMES[self.measure]} between folds (same {self.identity}){interval}",
            y=f"{name} on test rows: mean of {self.n_folds} folds, $\\pm$ standard error",
            whole=False,
        )
        # Beside the axes: bars reach far, and a legend among them would hide some.
        self.ax_.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), fontsize="small")
        return self

    def _draw(self, mark: ComparisonMark, colour: str, marker: str) -> Any:
        label = legend_label(mark.label)
        if np.isnan(mark.stability) and not np.isnan(mark.score):
            return self.ax_.axhline(mark.score, label=label, color=colour, **LINE)
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
            **METHOD,
        )
