"""How good predictions are: a calibration curve above a histogram, and a measure by subgroup."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mossrules._common import check_choice
from mossrules._frames import Backend
from mossrules.data.columns import Label
from mossrules.display.plots._axes import (
    PALETTE,
    PLAIN,
    Rows,
    axes_for,
    records_frame,
    shorten,
    wrap_name,
)
from mossrules.evaluation import CalibrationCurve, CurvePoint, Performance
from mossrules.exceptions import InvalidParameter, UnsupportedType
from mossrules.model.export_text import event_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["CalibrationDisplay", "SubgroupDisplay", "SubgroupMark"]

SIZE = (5.2, 5.2)  # inches
HISTOGRAM = 0.2  # of the height
MARKS = 3.4  # inches
IDEAL = {"slope": 1.0, "intercept": 0.0, "bias": 0.0}  # of a calibrated model
POINTS: dict[str, Any] = {"color": PALETTE["blue"], "marker": "o", "markersize": 5,
                          "capsize": 2.5, "elinewidth": 1.2, "linewidth": 0.8}  # fmt: skip


def check_performance(performance: object) -> Performance:
    """Return what `performance` returns, or say that it is not."""
    if not isinstance(performance, Performance):
        raise UnsupportedType(
            f"performance is a {type(performance).__name__}; pass a Performance, as the function "
            "performance returns it."
        )
    return performance


def choose_outcome(performance: Performance, outcome: Label | None) -> Label | None:
    """Return the outcome to draw, which has to be named where there are several."""
    known = performance.outcomes
    if outcome is None and len(known) == 1:
        return known[0]
    if outcome not in known:
        listed = ", ".join(map(repr, known))
        raise InvalidParameter(f"outcome is {outcome!r}; choose from {listed}.")
    return outcome


@dataclass
class CalibrationDisplay:
    """What was observed where what was predicted, above a histogram of the predictions.

    Make it with `from_performance` or `Performance.plot`; `frame` has the points, `plot` draws
    them. After `plot`, `ax_` (the curve), `histogram_` (below it) and `figure_` are matplotlib's.

    A point is a tenth of the rows, those of like predictions, with the interval of what was
    observed there. Of a calibrated model points are on the line, but for chance.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from mossrules import MossRegressor
    >>> from mossrules.evaluation import performance
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> found = performance(MossRegressor(3, n_trees=100), X, y)
    >>> list(CalibrationDisplay.from_performance(found).frame(backend="pandas"))
    ['predicted', 'observed', 'lower', 'upper', 'n']
    """

    calibration: CalibrationCurve  #: that is drawn
    confidence: float  #: of the intervals
    target: str | None = None  #: its name, if it has one

    @classmethod
    def from_performance(
        cls, performance: Performance, *, outcome: Label | None = None
    ) -> CalibrationDisplay:
        """Return the display of a performance; of several classes, that of one `outcome`."""
        found = check_performance(performance)
        place = found.outcomes.index(choose_outcome(found, outcome))
        return cls(found.curves[place], found.confidence, found.target)

    def frame(self, *, backend: Backend | None = None) -> Any:
        """Return a row for each point: `predicted`, `observed`, `lower`, `upper` and `n`."""
        return records_frame(CurvePoint, self.calibration.points, backend)

    def plot(self, ax: Axes | None = None) -> CalibrationDisplay:
        """Draw on the axes given, or on those of a new figure."""
        self.ax_: Axes = axes_for(ax, SIZE)
        self.figure_: Figure | SubFigure = self.ax_.figure
        curve = self.calibration
        points = [(each.predicted, each.observed, each.lower, each.upper) for each in curve.points]
        predicted, observed, lower, upper = np.array(points).T
        sides = np.nan_to_num([observed - lower, upper - observed]).clip(0.0)
        label = f"tenths of the rows, {self.confidence:.0%} interval"
        self.ax_.errorbar(predicted, observed, yerr=sides, label=label, **POINTS)
        ends = curve.edges[0], curve.edges[-1]
        self.ax_.plot(ends, ends, color="0.3", linewidth=0.8, linestyle="--", label="calibrated")
        self._draw_histogram()
        what, predicts = "target" if self.target is None else shorten(self.target, 30), "predicted"
        if curve.outcome is not None:
            what = f"share with {shorten(event_text(self.target, curve.outcome), 30)}"
            predicts = "predicted probability"
        self.ax_.set_ylabel(f"observed: {what}", **PLAIN)
        self.histogram_.set_xlabel(f"{predicts}: {what.removeprefix('share with ')}", **PLAIN)
        self.ax_.grid(visible=True, color="0.9", linewidth=0.6)
        self.ax_.set_axisbelow(True)
        self.ax_.legend(loc="upper left", fontsize="small", framealpha=0.9)
        return self

    def _draw_histogram(self) -> None:
        """Draw how many rows there are by their prediction; of classes, events upwards."""
        curve = self.calibration
        below: Axes = self.ax_.inset_axes((0.0, -HISTOGRAM - 0.02, 1.0, HISTOGRAM), sharex=self.ax_)
        self.histogram_ = below
        widths, left = np.diff(curve.edges), np.array(curve.edges[:-1])
        style: dict[str, Any] = {"align": "edge", "edgecolor": "white", "linewidth": 0.4}
        if curve.events is None:
            below.bar(left, curve.counts, widths, color=PALETTE["grey"], **style)
        else:
            events = np.array(curve.events)
            others = np.array(curve.counts) - events
            below.bar(left, events, widths, color=PALETTE["vermillion"], label="with", **style)
            below.bar(left, -others, widths, color=PALETTE["grey"], label="without", **style)
            below.axhline(0.0, color="0.3", linewidth=0.6)
            below.legend(fontsize="x-small", loc="best", framealpha=0.7)
        below.set_yticks([])
        below.set_ylabel("rows", fontsize="small")
        self.ax_.tick_params(labelbottom=False)


@dataclass(frozen=True)
class SubgroupMark:
    """One subgroup of the figure."""

    by: str | None  # None of all rows
    subgroup: str
    estimate: float
    lower: float
    upper: float
    n: int


@dataclass
class SubgroupDisplay:
    """A measure of each subgroup, with its interval, beside that of all rows.

    Make it with `from_performance` or `Performance.plot("subgroups")`; `frame` has the data, `plot`
    draws them. After `plot`, `ax_` and `figure_` are matplotlib's. Intervals that overlap do not
    mean that subgroups are alike.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from mossrules import MossRegressor
    >>> from mossrules.evaluation import performance
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> found = performance(MossRegressor(3, n_trees=100), X, y, by="sex")
    >>> display = SubgroupDisplay.from_performance(found, measure="mae")
    >>> display.frame(backend="pandas")["subgroup"].tolist()
    ['all', '1', '2']
    """

    marks: tuple[SubgroupMark, ...]  #: all rows, and each subgroup
    measure: str  #: that is drawn
    label: str  #: its heading
    confidence: float  #: of the intervals
    outcome: str | None = None  #: whose probability is judged, in words; None of numbers

    @classmethod
    def from_performance(
        cls, performance: Performance, *, measure: str | None = None, outcome: Label | None = None
    ) -> SubgroupDisplay:
        """Return the display of a measure; of several classes, of one.

        Parameters
        ----------
        performance : Performance
            As `mossrules.evaluation.performance` returns it.
        measure : str, optional
            One of its measures; by default AUC or R2.
        outcome
            Of several classes, the one whose measure is drawn.
        """
        found = check_performance(performance)
        chosen = choose_outcome(found, outcome)
        measure = next(iter(found.labels)) if measure is None else measure
        check_choice("measure", measure, [*found.labels])
        rows = [row for row in found.rows if row.outcome == chosen]
        nothing = (float("nan"),) * 3
        marks = [
            SubgroupMark(row.by, row.subgroup, *row.measures.get(measure, nothing), n=row.n)
            for row in rows
        ]
        words = None if chosen is None else event_text(found.target, chosen)
        return cls(tuple(marks), measure, found.labels[measure], found.confidence, words)

    def frame(self, *, backend: Backend | None = None) -> Any:
        """Return a row for each: `by`, `subgroup`, `estimate`, `lower`, `upper` and `n`."""
        return records_frame(SubgroupMark, self.marks, backend)

    def plot(self, ax: Axes | None = None) -> SubgroupDisplay:
        """Draw on the axes given, or on those of a new figure."""
        rows = Rows(tuple(map(_words, self.marks)))
        self.ax_: Axes = axes_for(ax, rows.figure_size(MARKS + 0.2, around=1.1))
        self.figure_: Figure | SubFigure = self.ax_.figure
        rows.draw(self.ax_)
        values = np.array([(each.estimate, each.lower, each.upper) for each in self.marks])
        estimate, lower, upper = values.T
        sides = np.nan_to_num([estimate - lower, upper - estimate]).clip(0.0)
        style = {**POINTS, "linestyle": "none"}
        self.ax_.errorbar(estimate, rows.centres, xerr=sides, **style)
        self.ax_.axvline(estimate[0], color=PALETTE["blue"], linewidth=0.6, linestyle=":")
        if self.measure in IDEAL:
            self.ax_.axvline(IDEAL[self.measure], color="0.3", linewidth=0.8, linestyle="--")
        of = "" if self.outcome is None else f" of {shorten(self.outcome, 30)}"
        self.ax_.set_xlabel(f"{self.label}{of}, {self.confidence:.0%} interval", **PLAIN)
        self.ax_.grid(visible=True, axis="x", color="0.9", linewidth=0.6)
        self.ax_.set_axisbelow(True)
        return self


def _words(mark: SubgroupMark) -> str:
    label = mark.subgroup
    if mark.by is not None and mark.by not in label:  # bands of numbers name their column
        label = f"{mark.by}: {label}"
    return wrap_name(f"{label} (n = {mark.n})")
