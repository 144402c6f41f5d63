"""The trade-off between stability and loss as a figure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from mossrules import defaults
from mossrules._common import check_choice
from mossrules._deprecated import Renamed
from mossrules._frames import Backend
from mossrules.display.plots._axes import PALETTE, axes_for, finish, records_frame
from mossrules.exceptions import InvalidParameter, UnsupportedType
from mossrules.frontier.result import ROUNDING, Frontier
from mossrules.solver.problems.selection import FloorKind
from mossrules.solver.result import Solution, Status

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["FrontierDisplay", "Mark"]

Kind = Literal[
    "exact", "stopped", "open gap", "approximate", "dominated", "stability only", "knee", "solution"
]
Vertical = Literal["loss", "explained"]
Solutions = Solution | Iterable[Solution] | Mapping[str, Solution | Iterable[Solution]]

# What the horizontal axis has, by the kind of floor, and of what the axis above it has the share.
HORIZONTAL: dict[FloorKind, str] = {
    "sum": "stability score $H_1$ (tree counts, summed over the rules)",
    "each": "least tree frequency $H_1$ (tree count of the least frequent rule)",
}
SCORES: dict[FloorKind, str] = {"sum": "stability score", "each": "least tree frequency"}
KEPT = "approved rules that are kept"
BLUE = PALETTE["blue"]
RING = {"color": "black", "markersize": 9.5, "fillstyle": "none", "zorder": 5}
STYLES: dict[Kind, dict[str, Any]] = {
    "exact": {"marker": "o", "color": BLUE, "markersize": 4.5, "zorder": 3.2},
    "stopped": {"marker": "o", "color": BLUE, "markersize": 4.5, "mfc": "white", "zorder": 3.1},
    "open gap": {"color": BLUE, "linewidth": 0.8, "alpha": 0.6, "zorder": 2.1},
    "approximate": {"marker": "^", "color": PALETTE["vermillion"], "mfc": "none", "zorder": 3.3},
    "dominated": {"marker": "x", "color": PALETTE["grey"], "markersize": 4, "alpha": 0.6},
    "stability only": {"marker": "s", **RING},  # around a point that has a mark already
    "knee": {"marker": "D", **RING},  # likewise
    "solution": {"markersize": 10, "mec": "white", "mew": 0.7, "zorder": 4},
}
STEPS: dict[str, Any] = {"color": BLUE, "linewidth": 1.1, "alpha": 0.6, "zorder": 2}
OWN = (("P", "green"), ("v", "purple"), ("X", "orange"), ("p", "sky"))  # solutions, name by name


@dataclass(frozen=True)
class Mark:
    """One mark of the figure: a rule set, or the open gap of a stability target."""

    mark: Kind
    label: str  # in the legend
    stability: int  # H1 of the rule set; of an open gap, the target
    share: float  # of the largest stability
    loss: float
    explained: float  # share of the loss without rules that is gone
    bound: float
    explained_bound: float
    gap: float
    rules: int
    status: str

    @classmethod
    def of(
        cls,
        frontier: Frontier,
        solution: Solution,
        mark: Kind,
        *,
        label: str | None = None,
        floor: int | None = None,
    ) -> Mark:
        """Return the mark of a solution of the frontier's problem, at its stability or a target."""
        stability = solution.stability if floor is None else floor
        return cls(
            mark=mark,
            label=mark if label is None else label,
            stability=stability,
            share=frontier.share(stability),
            loss=solution.loss,
            explained=frontier.explained(solution.loss),
            bound=solution.bound,
            explained_bound=frontier.explained(solution.bound),
            gap=solution.gap,
            rules=len(solution.support),
            status=solution.status.value,
        )


@dataclass
class FrontierDisplay:
    """Stability against loss: the points of a frontier, and how far each is proven.

    Make it with `from_frontier`, `from_estimator` or `Frontier.plot`; `frame` has the data, `plot`
    draws them. After `plot`, `ax_` and `figure_` are matplotlib's, and `artists_` has what was
    drawn by its label in the legend, to be changed as you like.

    Marks are

    * "exact": points proven to the requested gap; "stopped": points of a search that stopped
      early; "approximate": points of a method without proof. Steps join the first two; they are
      dashed unless the frontier is complete, since points between the targets may lie below them.
    * "open gap": a bar from loss to bound at each stability target whose gap is still too wide.
    * "dominated": rule sets that another one beats in both objectives.
    * "stability only": the point of the largest possible stability, and "knee", if there are at
      least three points: rings around points.
    * "solution": your own.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> X, y = {"age": [20, 30, 40, 50, 60, 70, 80]}, [2.0, 3.0, 9.0, 8.0, 7.0, 2.0, 1.0]
    >>> model = MossRegressor(2, n_trees=20).fit(X, y)
    >>> display = FrontierDisplay.from_estimator(model, points=[1, 0.55, 0.5, 0.1])
    >>> display.frame(backend="pandas")[["mark", "stability", "status"]]
                 mark  stability   status
    0           exact         14  optimal
    1           exact          8  optimal
    2           exact          7  optimal
    3           exact          2  optimal
    4  stability only         14  optimal
    5            knee          7  optimal
    6        solution          2  optimal
    """

    marks: tuple[Mark, ...]  #: in the order of the legend; points the most stable first
    max_stability: int  #: of any selection
    complete: bool  #: whether no point is missing
    floor: FloorKind = "sum"  #: what the stability score is of: the "sum" of counts, or "each"
    n_approved: int | None = None  #: where the stability score counts how many of these are kept
    largest_stability = Renamed("max_stability")

    # --- data -----------------------------------------------------------------------------------

    @classmethod
    def from_frontier(
        cls,
        frontier: Frontier,
        approximate: Frontier | None = None,
        solutions: Solutions | None = None,
        *,
        n_approved: int | None = None,
    ) -> FrontierDisplay:
        """Return the display of a frontier.

        Parameters
        ----------
        frontier
            The frontier. A stability target that no rule set meets has no mark; targets that are
            met by the same rule set share one.
        approximate
            Another frontier of the same problem, whose points are drawn as approximate.
        solutions
            Solutions of the same problem to mark: one, several, or either by name.
        n_approved
            How many rules were approved, where the frontier is that of a `NearFrontier`.
        """
        _check_frontiers(frontier, approximate)
        marks = [*_points(frontier), *_open_gaps(frontier), *_dominated(frontier)]
        if n_approved is not None:  # which is no stability
            marks = [each for each in marks if each.mark != "stability only"]
        if approximate is not None:
            marks += [Mark.of(frontier, each, "approximate") for each in approximate.points]
        for name, each in _by_name(solutions):
            marks.append(Mark.of(frontier, each, "solution", label=name))
        if not marks:
            raise InvalidParameter("The frontier has no points; solve for at least one target.")
        order = get_args(Kind)
        marks.sort(key=lambda each: order.index(each.mark))
        largest = frontier.max_stability if n_approved is None else n_approved
        return cls(tuple(marks), largest, frontier.complete, frontier.floor, n_approved)

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        points: int = defaults.FRONTIER_POINTS,
        *,
        gap: float = defaults.FRONTIER_GAP,
    ) -> FrontierDisplay:
        """Return the display of a fitted estimator's frontier, with the point that it is at.

        Parameters
        ----------
        model
            A fitted `MossRegressor`.
        points, gap
            Number of stability targets, and largest gap, as in `MossRegressor.frontier`.
        """
        if not callable(getattr(model, "frontier", None)):
            raise UnsupportedType(
                f"model is a {type(model).__name__}; pass a fitted MossRegressor."
            )
        return cls.from_frontier(
            model.frontier(points, gap), solutions={"fitted model": model.solution_}
        )

    def frame(self, *, backend: Backend | None = None) -> Any:
        """Return one row for each mark as a data frame.

        Columns: `mark`, `label` (in the legend), `stability` (H1; of an open gap, the target) and
        its `share` of the largest, `loss` (H2) and the share `explained`, `bound` and
        `explained_bound` (where the bar of an open gap ends), `gap`, `rules`, `status`.
        """
        return records_frame(Mark, self.marks, backend)

    # --- drawing --------------------------------------------------------------------------------

    def plot(self, ax: Axes | None = None, *, loss: Vertical = "loss") -> FrontierDisplay:
        """Draw on the axes given, or on those of a new figure.

        Parameters
        ----------
        ax
            Matplotlib's axes.
        loss
            What the vertical axis has: H2 itself, or the share of it that is "explained".
        """
        check_choice("loss", loss, get_args(Vertical))
        self.ax_: Axes = axes_for(ax)
        self.figure_: Figure | SubFigure = self.ax_.figure
        self.artists_: dict[str, Artist] = {}
        self._draw_steps(loss)
        # More solutions than markers begin anew with the first marker: the legend still names each.
        own = iter(OWN * len(self.marks))
        for kind, label in dict.fromkeys((mark.mark, mark.label) for mark in self.marks):
            style = {**STYLES[kind], "label": label}
            if kind == "solution":
                style["marker"], colour = next(own)
                style["color"] = PALETTE[colour]
            group = [mark for mark in self.marks if (mark.mark, mark.label) == (kind, label)]
            draw = self._draw_bars if kind == "open gap" else self._draw_markers
            self.artists_[label] = draw(group, loss, style)
        self._add_shares()
        vertical = {
            "loss": "loss $H_2$ (with penalty)",
            "explained": "share of the loss explained (with penalty)",
        }
        finish(
            self.ax_,
            x=HORIZONTAL[self.floor] if self.n_approved is None else KEPT,
            y=vertical[loss],
        )
        return self

    def _draw_markers(self, marks: list[Mark], vertical: Vertical, style: dict[str, Any]) -> Artist:
        x, y = [mark.stability for mark in marks], [getattr(mark, vertical) for mark in marks]
        (line,) = self.ax_.plot(x, y, linestyle="none", **style)
        return line

    def _draw_bars(self, marks: list[Mark], vertical: Vertical, style: dict[str, Any]) -> Artist:
        end = {"loss": "bound", "explained": "explained_bound"}[vertical]
        x, ends = [mark.stability for mark in marks], [getattr(mark, end) for mark in marks]
        # `errorbar` would do the same, but it puts its caps at both ends; this bar has one, at the
        # bound, as its other end is a mark.
        caps = {"color": style["color"], "alpha": style["alpha"], "zorder": style["zorder"]}
        self.ax_.plot(x, ends, linestyle="none", marker="_", markersize=4, **caps)
        return self.ax_.vlines(x, ends, [getattr(mark, vertical) for mark in marks], **style)

    def _draw_steps(self, vertical: Vertical) -> None:
        """Draw the smallest loss by stability target: that of the next point above."""
        points = [mark for mark in self.marks if mark.mark in ("exact", "stopped")]
        points.sort(key=lambda mark: mark.stability)
        if not points:
            return
        x = [mark.stability for mark in points]
        y = [getattr(mark, vertical) for mark in points]
        # The best rule set for a target is the point at or above it, so the steps are flat to the
        # left of each point.
        lowest = min([x[0], *(mark.stability for mark in self.marks if mark.mark == "open gap")])
        style = {**STEPS, "linestyle": "-" if self.complete else (0, (4, 1.5))}
        # Bars of targets below the last point hang from the steps too.
        self.ax_.step([lowest, *x], [y[0], *y], where="pre", **style)

    def _add_shares(self) -> None:
        """Add the percentage of the largest stability as a second axis, unless there is one."""
        # A second frontier on the same axes finds the axis there: it is of the same problem, as
        # `_check_frontiers` makes sure, and has the same largest stability.
        percent = self.max_stability / 100.0
        if not percent or self.ax_.child_axes:
            return

        def to_share(stability: Any) -> Any:
            return stability / percent

        def from_share(share: Any) -> Any:
            return share * percent

        shares = self.ax_.secondary_xaxis("top", functions=(to_share, from_share))
        score = f"maximum {SCORES[self.floor]}" if self.n_approved is None else "approved rules"
        shares.set_xlabel(f"% of the {score}")


# --- marks --------------------------------------------------------------------------------------


def _points(frontier: Frontier) -> Iterator[Mark]:
    """Give the points, and the rings around two of them."""
    points = frontier.points
    for solution in points:
        asked = solution.report.asked_gap
        if solution.status is Status.HEURISTIC:
            yield Mark.of(frontier, solution, "approximate")
        elif _is_open(solution):
            yield Mark.of(frontier, solution, "stopped", label="stopped early")
        else:
            # The gap is in the legend, for an "exact" point is only as good as what was asked for.
            label = f"exact to {100 * asked:g} %" if asked > 0 else "exact"
            yield Mark.of(frontier, solution, "exact", label=label)
    if points and points[0].stability == frontier.max_stability:
        yield Mark.of(frontier, points[0], "stability only")
    if len(points) >= 3:
        yield Mark.of(frontier, frontier.knee(), "knee")


def _open_gaps(frontier: Frontier) -> Iterator[Mark]:
    for entry in frontier.entries:
        if _is_open(entry.solution):
            yield Mark.of(
                frontier, entry.solution, "open gap", label="optimality gap left", floor=entry.floor
            )


def _is_open(solution: Solution) -> bool:
    """Tell whether the gap is wider than requested; NaN requests none, nor is it a gap."""
    # At the optimum a gap of 0 is met up to rounding only.
    proven = solution.status is Status.OPTIMAL
    return not proven and solution.gap > solution.report.asked_gap + ROUNDING


def _dominated(frontier: Frontier) -> Iterator[Mark]:
    """Give what lies where no point does, one mark for each place."""
    # Several targets often end at the same rule set, and a pale mark drawn twice looks dark.
    taken = {(each.stability, each.loss) for each in frontier.points}
    for solution in frontier.dominated:
        place = (solution.stability, solution.loss)
        if solution.has_selection and place not in taken:
            taken.add(place)
            yield Mark.of(frontier, solution, "dominated")


# --- what was passed ----------------------------------------------------------------------------


def _check_frontiers(frontier: Frontier, approximate: Frontier | None) -> None:
    others = [] if approximate is None else [("approximate", approximate)]
    for name, given in [("frontier", frontier), *others]:
        if not isinstance(given, Frontier):
            raise UnsupportedType(f"{name} is a {type(given).__name__}; pass a Frontier.")
    for _, given in others:  # not the frontier itself: without candidates its gamma is NaN
        if frontier.floor != given.floor:
            raise InvalidParameter(
                f"The frontiers have floor {frontier.floor!r} and {given.floor!r}; draw together "
                "only those of one problem."
            )
        for figure in ("max_stability", "null_loss", "max_rules", "gamma"):
            one, other = getattr(frontier, figure), getattr(given, figure)
            if one != other:
                raise InvalidParameter(
                    f"The frontiers have {figure} {one:g} and {other:g}; draw together only those "
                    "of one problem."
                )


def _by_name(solutions: Solutions | None) -> Iterator[tuple[str, Solution]]:
    """Give the user's solutions with their names."""
    if solutions is None:
        return
    named = solutions if isinstance(solutions, Mapping) else {"solution": solutions}
    for name, given in named.items():
        for each in given if isinstance(given, Iterable) else [given]:
            if not isinstance(each, Solution) or not each.has_selection:
                raise UnsupportedType(
                    f"solutions has {each!r}; pass feasible solutions, in a list or by name."
                )
            yield str(name), each
