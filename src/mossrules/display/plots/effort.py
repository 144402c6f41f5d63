"""The work for each stability target: the paper's figures of re-use and of solve times."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from mossrules._common import check_choice
from mossrules._frames import Backend
from mossrules.display.plots._axes import PALETTE, axes_for, finish, records_frame
from mossrules.exceptions import InvalidParameter, UnsupportedType
from mossrules.frontier import Frontier, FrontierPoint
from mossrules.solver.problems.selection import FloorKind
from mossrules.solver.result import Status

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

__all__ = ["EffortDisplay", "FloorEffort"]

Measure = Literal["iterations", "seconds"]
Horizontal = Literal["position", "floor"]

# What a method counts, and what that is called in the figure.
ITERATIONS = {
    "cutting-plane": ("masters", "iterations of the cutting plane"),
    "branch-and-bound": ("nodes", "nodes of branch and bound"),
}
FINISHED = (Status.OPTIMAL, Status.INFEASIBLE, Status.HEURISTIC)  # not by a limit
TARGETS: dict[FloorKind, str] = {
    "sum": r"stability target $\epsilon$ (tree counts, summed over the rules)",
    "each": r"stability target $\epsilon$ (tree count of each rule)",
}
SERIES = (("blue", "o", "-"), ("vermillion", "^", "--"), ("green", "s", "-."),
          ("purple", "D", ":"), ("orange", "v", "-"), ("sky", "P", "--"))  # fmt: skip


@dataclass(frozen=True)
class FloorEffort:
    """The work for one stability target, which the frontier calls a floor."""

    series: str
    position: int  # of the target among all that are drawn, the largest first, from 1
    floor: int
    amount: float  # iterations, NaN where a run found nothing and kept no count, or seconds
    reused: bool  # proven by other targets: no search of its own
    stopped: bool  # by a limit or an interrupt: the full search would have taken more
    method: str


@dataclass
class EffortDisplay:
    """Work per stability target, of one or more frontiers.

    Make it with `from_frontiers`; `frame` has the data, `plot` draws them. After `plot`, `ax_` and
    `figure_` are matplotlib's, and `lines_` has the line of each series. Hollow markers are
    searches that stopped early.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> model = MossRegressor(2, n_trees=20).fit({"age": [30, 40, 50, 60]}, [2.0, 3.0, 9.0, 8.0])
    >>> display = EffortDisplay.from_frontiers({"floors in turn": model.frontier(points=3)})
    >>> list(display.frame(backend="pandas"))
    ['series', 'position', 'floor', 'iterations', 'reused', 'stopped', 'method']
    """

    efforts: tuple[FloorEffort, ...]  #: one for each target of each frontier
    measure: Measure  #: of work
    floor: FloorKind = "sum"  #: what targets are for: the "sum" of the counts, or "each"

    # --- data -----------------------------------------------------------------------------------

    @classmethod
    def from_frontiers(
        cls, frontiers: Mapping[str, Frontier], measure: Measure = "iterations"
    ) -> EffortDisplay:
        """Return the display of frontiers.

        Parameters
        ----------
        frontiers
            Frontiers by name, such as {"with re-use": ..., "without": ...}.
        measure
            "iterations" counts the integer programs solved by the cutting plane (as the paper
            does), or the nodes of branch and bound, and 0 where other targets gave the proof;
            "seconds" is the time for a target.
        """
        check_choice("measure", measure, get_args(Measure))
        if not isinstance(frontiers, Mapping) or not frontiers:
            raise UnsupportedType("frontiers must be one or more by name; pass a dict of them.")
        for name, frontier in frontiers.items():
            _check_searched(name, frontier)
        # Positions are of all targets together: the frontiers may have been solved for different
        # targets, and their lines must still be comparable.
        floors = {entry.floor for each in frontiers.values() for entry in each.entries}
        position = {floor: place for place, floor in enumerate(sorted(floors, reverse=True), 1)}
        efforts = [
            FloorEffort(
                series=str(name),
                position=position[entry.floor],
                floor=entry.floor,
                amount=_amount(entry, measure),
                reused=entry.reused,
                stopped=entry.solution.status not in FINISHED,
                method=entry.solution.report.method,
            )
            for name, frontier in frontiers.items()
            for entry in frontier.entries
        ]
        kinds = {frontier.floor for frontier in frontiers.values()}
        if len(kinds) > 1:
            raise InvalidParameter(
                "The frontiers have two kinds of floor, 'sum' and 'each'; draw those of one kind."
            )
        return cls(tuple(efforts), measure, kinds.pop())

    def frame(self, *, backend: Backend | None = None) -> Any:
        """Return one row for each target of each series as a data frame.

        Columns: `series`, `position` (of the target, the largest first), `floor` (the target),
        `iterations` or `seconds`, `reused`, `stopped` (by a limit or an interrupt), `method`.
        """
        return records_frame(FloorEffort, self.efforts, backend, {"amount": self.measure})

    @property
    def series(self) -> dict[str, list[FloorEffort]]:
        """The work of each frontier, by its name."""
        series: dict[str, list[FloorEffort]] = {}
        for effort in self.efforts:
            series.setdefault(effort.series, []).append(effort)
        return series

    # --- drawing --------------------------------------------------------------------------------

    def plot(self, ax: Axes | None = None, *, against: Horizontal = "position") -> EffortDisplay:
        """Draw on the axes given, or on those of a new figure.

        Parameters
        ----------
        ax
            Matplotlib's axes.
        against
            What the horizontal axis has: the "position" of a target in the descending sequence, or
            the target itself ("floor").
        """
        check_choice("against", against, get_args(Horizontal))
        self.ax_: Axes = axes_for(ax)
        self.figure_: Figure | SubFigure = self.ax_.figure
        self.lines_: dict[str, Line2D] = {}
        hollow = {"linestyle": "none", "mfc": "white", "label": "stopped early"}
        for place, (name, efforts) in enumerate(self.series.items()):
            colour, marker, dashes = SERIES[place % len(SERIES)]
            style = {"color": PALETTE[colour], "marker": marker, "markersize": 4, "linewidth": 0.8}
            solid = {"linestyle": dashes, "label": f"{name}: {self._total(efforts)} in total"}
            self.lines_[name] = self._draw(efforts, against, style | solid)
            stopped = [effort for effort in efforts if effort.stopped]
            if stopped:
                self._draw(stopped, against, style | hollow)
                hollow["label"] = "_nolegend_"  # once in the legend is enough
        self._set_scale()
        horizontal = {
            "position": r"position of the stability target $\epsilon$, largest first",
            "floor": TARGETS[self.floor],
        }
        finish(self.ax_, x=horizontal[against], y=self._vertical())
        return self

    def _draw(
        self, efforts: list[FloorEffort], against: Horizontal, style: dict[str, Any]
    ) -> Line2D:
        x = [getattr(effort, against) for effort in efforts]
        (line,) = self.ax_.plot(x, [effort.amount for effort in efforts], **style)
        return line

    def _total(self, efforts: list[FloorEffort]) -> str:
        total = math.fsum(e.amount for e in efforts if not math.isnan(e.amount))
        return f"{total:,.0f}" if self.measure == "iterations" else f"{total:.3g} s"

    def _vertical(self) -> str:
        if self.measure == "seconds":
            return "seconds per stability target"
        methods = {effort.method for effort in self.efforts}
        words = [words for method, (_, words) in ITERATIONS.items() if method in methods]
        return " or ".join(words) or "iterations"

    def _set_scale(self) -> None:
        """Take logarithms where amounts differ tenfold; with zeros, from the least amount up."""
        amounts = [e.amount for e in self.efforts if not math.isnan(e.amount)]
        positive = [amount for amount in amounts if amount > 0]
        if not positive:
            self.ax_.set_ylim(-0.04, 1.0)
        elif max(positive) < 10 * min(positive):
            self.ax_.set_ylim(bottom=-0.04 * max(positive))  # markers at 0 are seen whole
        elif len(positive) == len(amounts):
            self.ax_.set_yscale("log")
        else:
            # A logarithm has no place for the zeros of re-used targets: below the smallest amount
            # the scale is linear.
            minimum = 10.0 ** math.floor(math.log10(min(positive)))
            self.ax_.set_yscale("symlog", linthresh=minimum, linscale=0.5)
            self.ax_.set_ylim(bottom=-0.2 * minimum)


def _amount(entry: FrontierPoint, measure: Measure) -> float:
    """Return the work for a target."""
    report = entry.solution.report
    if measure == "seconds":
        return report.seconds
    if entry.reused:
        return 0.0
    if report.method not in ITERATIONS:
        raise InvalidParameter(
            f"The method {report.method!r} counts no iterations; use measure='seconds'."
        )
    counted, _ = ITERATIONS[report.method]
    return float(report.counters.get(counted, math.nan))


def _check_searched(name: object, frontier: Frontier) -> None:
    """Refuse a frontier that does not come from a search for each target."""
    if not isinstance(frontier, Frontier):
        raise UnsupportedType(
            f"frontiers has a {type(frontier).__name__} under {name!r}; pass a Frontier."
        )
    if not frontier.entries:
        raise InvalidParameter(
            f"The frontier {name!r} has no points; solve for at least one target."
        )
    # One sweep gives all points of an approximate frontier; no gap was asked of any of them.
    if any(math.isnan(entry.solution.report.asked_gap) for entry in frontier.entries):
        raise InvalidParameter(
            f"The frontier {name!r} comes from one sweep and not from a search for each target; "
            "frontier.seconds is its time as a whole."
        )
