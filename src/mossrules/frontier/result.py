"""The trade-off between stability and loss: its points, and the ways to choose one of them.

A frontier is a value: nothing is solved here. `sweep.py` and `approximate.py` make frontiers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from mossrules._common import check_integer, check_number
from mossrules._deprecated import Renamed
from mossrules._display import display_class, frontier_html
from mossrules._frames import Backend, make_frame
from mossrules._typing import FloatArray, IntArray
from mossrules.budget import unproven_in_words
from mossrules.checkpoint import (
    parse_document,
    read_count,
    read_number,
    read_truth,
    refuse_damage,
    strict_json,
)
from mossrules.exceptions import InvalidParameter
from mossrules.frontier.points import (
    FORMAT,
    VERSION,
    FrontierPoint,
    point_from_dict,
    point_to_dict,
)
from mossrules.solver.methods import prove
from mossrules.solver.problems.selection import FloorKind, SelectionProblem
from mossrules.solver.problems.squared import Problem
from mossrules.solver.result import Solution, Status

__all__ = ["Frontier", "frontier_from_json", "frontier_to_json"]

ROUNDING = 1e-9  # of a share times the largest stability score
# Of the text, not of the code: what was written earlier can be read.
KEYS = {"max_stability": "largest_stability"}


@dataclass(frozen=True, eq=False)
class Frontier:
    """Solutions of one problem at several floors on stability, the most stable first.

    `points` are those that no other beats in both stability and loss; `dominated` are the rest.
    Points are compared by what was found; how far each may be from the optimum is its `gap`.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> X, y = {"age": [20, 30, 40, 50, 60, 70, 80]}, [2.0, 3.0, 9.0, 8.0, 7.0, 2.0, 1.0]
    >>> model = MossRegressor(2, n_trees=20).fit(X, y)
    >>> frontier = model.frontier("complete", gap=0)
    >>> [(point.stability, point.support.tolist()) for point in frontier]
    [(14, [0, 1]), (8, [1, 4]), (7, [0, 5]), (2, [5, 8])]
    >>> frontier.at(stability=0.9).stability, frontier.knee().stability
    (14, 7)
    >>> [round(point.loss, 3) for point in frontier]
    [2.072, 0.427, 0.163, 0.127]
    """

    entries: tuple[FrontierPoint, ...]  #: all floors, descending
    max_stability: int  #: of any rule set, as the problem has it
    null_loss: float  #: of no rule at all
    max_rules: int  #: of the problem
    gamma: float  #: of the problem
    complete: bool = False  #: every non-dominated point of the range is there, and proven
    seconds: float = 0.0  #: that it took
    interrupted: bool = False  #: by Ctrl-C, with what there was: floors may be missing
    floor: FloorKind = "sum"  #: of the problem: whether floors are on the "sum" or on "each" count
    largest_stability = Renamed("max_stability")

    @classmethod
    def of(
        cls,
        problem: SelectionProblem,
        entries: Iterable[FrontierPoint],
        *,
        complete: bool = False,
        seconds: float = 0.0,
        interrupted: bool = False,
    ) -> Frontier:
        """Return the frontier of a problem's solutions, in any order."""
        ordered = sorted(entries, key=lambda entry: -entry.floor)
        return cls(
            entries=tuple(ordered),
            max_stability=problem.max_stability,
            null_loss=problem.null_loss,
            max_rules=problem.max_rules,
            gamma=problem.gamma,
            complete=complete,
            seconds=seconds,
            interrupted=interrupted,
            floor=problem.floor,
        )

    # --- proofs ---------------------------------------------------------------------------------

    def proof(
        self, path: str | Path, problem: SelectionProblem, names: Sequence[str] | None = None
    ) -> Frontier:
        """Write one file with a complete proof of the bound at each floor.

        The problem is solved again at each floor, from what was found there.

        Parameters
        ----------
        path
            The file to write.
        problem
            The problem that this is a frontier of, at any floor.
        names
            Texts of all rules, for readers of the file.

        Returns
        -------
        Frontier
            That of the proofs. Its bounds are lower than these by next to nothing.
        """
        found = [entry for entry in self.entries if entry.solution.has_selection]
        if not found:
            raise InvalidParameter("There is nothing to prove: no floor has a rule set.")
        problems = [problem.at(entry.floor) for entry in found]
        proven = prove(problems, [entry.solution for entry in found], Path(path), names)
        entries = [
            replace(entry, solution=solution) for entry, solution in zip(found, proven, strict=True)
        ]
        return replace(self, entries=tuple(entries))

    # --- points ---------------------------------------------------------------------------------

    @property
    def points(self) -> list[Solution]:
        """Solutions that no other beats in both objectives, the most stable first."""
        best: list[Solution] = []
        # The same rules, summed up in another order, must not make two points.
        rounding = Problem.precision * self.null_loss
        solutions = [entry.solution for entry in self.entries if entry.solution.has_selection]
        # From the most stable down, a solution is on the frontier if none before it has less loss.
        for solution in sorted(solutions, key=lambda one: (-one.stability, one.loss)):
            if not best or solution.loss < best[-1].loss - rounding:
                best.append(solution)
        return best

    @property
    def dominated(self) -> list[Solution]:
        """Solutions that another equals or beats in both objectives."""
        kept = {id(solution) for solution in self.points}  # several may be equal in all figures
        return [entry.solution for entry in self.entries if id(entry.solution) not in kept]

    @property
    def stability(self) -> IntArray:
        """H1 of each point."""
        return np.array([point.stability for point in self.points], dtype=np.int64)

    @property
    def loss(self) -> FloatArray:
        """H2 of each point."""
        return np.array([point.loss for point in self.points])

    def __len__(self) -> int:
        return len(self.points)

    def __iter__(self) -> Any:
        return iter(self.points)

    def __getitem__(self, index: int) -> Solution:
        return self.points[index]

    @property
    def worst_gap(self) -> float:
        """The largest gap of any floor."""
        gaps = [entry.solution.gap for entry in self.entries]
        return max((gap for gap in gaps if not np.isnan(gap)), default=float("nan"))

    @property
    def unproven(self) -> int:
        """How many floors ran out of time before the gap asked for was proven."""
        return sum(entry.solution.status is Status.TIME_LIMIT for entry in self.entries)

    @property
    def cut_short(self) -> str | None:
        """What was cut short for lack of time, in a sentence; None where nothing was."""
        late = [entry.solution for entry in self.entries]
        late = [each for each in late if each.status is Status.TIME_LIMIT]
        return unproven_in_words([each.gap for each in late], len(self.entries))

    def share(self, stability: float) -> float:
        """Return a stability as a share of the largest, at most 1.

        Fewer rules than `max_rules` may have a least count that is larger: they have all of it.
        """
        return min(1.0, stability / self.max_stability) if self.max_stability else 1.0

    def explained(self, loss: float) -> float:
        """Return the share of the loss without rules that is gone at this loss."""
        return 1.0 - loss / self.null_loss if self.null_loss else 0.0

    # --- choosing -------------------------------------------------------------------------------

    def at(
        self,
        *,
        stability: float | None = None,
        index: int | None = None,
        max_loss: float | None = None,
    ) -> Solution:
        """Return one point; give exactly one of the three.

        Parameters
        ----------
        stability
            The least stability score: above 1 it is a number of trees (which `select` of a model
            takes for a number of rules), up to 1 a share of the largest. Of the points that reach
            it, the one with the least loss.
        index
            Position among the points, the most stable first.
        max_loss
            The largest loss: of the points within it, the most stable (the paper's Rashomon form).
        """
        given = [value for value in (stability, index, max_loss) if value is not None]
        if len(given) != 1:
            raise InvalidParameter("Give exactly one of stability, index and max_loss.")
        points = self._some_points()
        if index is not None:
            return points[
                check_integer("index", index, minimum=-len(points), maximum=len(points) - 1)
            ]
        if stability is not None:
            return self._least_loss_from(points, stability)
        limit = check_number("max_loss", max_loss, minimum=0.0)
        within = [point for point in points if point.loss <= limit]
        if not within:
            raise InvalidParameter(
                f"max_loss is {limit:g} and the least loss on the frontier is {points[-1].loss:g}; "
                "allow at least that, or add lower floors."
            )
        return within[0]

    def _least_loss_from(self, points: Sequence[Solution], stability: float) -> Solution:
        asked = check_number("stability", stability, minimum=0.0)
        # A share times the largest is seldom an integer; counts are, and are compared as such.
        floor = asked if asked > 1 else asked * self.max_stability * (1.0 - ROUNDING)
        reaching = [point for point in points if point.stability >= floor]
        if not reaching:
            raise InvalidParameter(
                f"stability is {stability:g}{' trees' if asked > 1 else ''} and the most stable "
                f"point of the frontier has {points[0].stability}; ask for at most that, or "
                f"for a share of at most {self.share(points[0].stability):.3g}."
            )
        return reaching[-1]

    def _some_points(self) -> list[Solution]:
        points = self.points
        if not points:
            raise InvalidParameter("The frontier has no points; solve at one floor at least.")
        return points

    def knee(self) -> Solution:
        """Return the point after which more fit costs most stability.

        With both objectives scaled to [0, 1] between the ends of the frontier, it is the point
        farthest below the line between them.
        """
        points = self._some_points()
        H1, H2 = self.stability.astype(np.float64), self.loss
        if len(points) < 3:
            return points[0]
        # The line is gained = given_up here, so their difference is how far a point is below it.
        given_up = (H1[0] - H1) / (H1[0] - H1[-1])
        gained = (H2[0] - H2) / (H2[0] - H2[-1])
        return points[int(np.argmax(gained - given_up))]

    # --- showing --------------------------------------------------------------------------------

    def frame(self, *, backend: Backend | None = None) -> Any:
        """Return one row for each floor, dominated ones too, as a data frame or a dict of lists."""
        kept = {id(solution) for solution in self.points}
        rows = [self._row(entry, id(entry.solution) in kept) for entry in self.entries]
        names = list(rows[0]) if rows else []
        return make_frame({name: [row[name] for row in rows] for name in names}, backend)

    def _row(self, entry: FrontierPoint, on_frontier: bool) -> dict[str, Any]:
        solution = entry.solution
        return {
            "floor": entry.floor,
            "stability": solution.stability,
            "share": self.share(solution.stability),
            "loss": solution.loss,
            "explained": self.explained(solution.loss),
            "bound": solution.bound,
            "gap": solution.gap,
            "status": solution.status.value,
            "rules": len(solution.support),
            "on_frontier": on_frontier,
            "reused": entry.reused,
            "method": solution.report.method,
            "seconds": solution.report.seconds,
        }

    def plot(
        self,
        ax: Any = None,
        *,
        approximate: Frontier | None = None,
        solutions: Any = None,
        loss: Literal["loss", "explained"] = "loss",
    ) -> Any:
        """Draw stability against loss with matplotlib, and return the `FrontierDisplay`.

        Parameters
        ----------
        ax
            Matplotlib's axes to draw on; by default those of a new figure.
        approximate, solutions
            What else to draw, as in `FrontierDisplay.from_frontier`.
        loss
            What the vertical axis has: H2 itself, or the share of it that is "explained".
        """
        display = display_class("FrontierDisplay")
        drawn = display.from_frontier(self, approximate=approximate, solutions=solutions)
        return drawn.plot(ax, loss=loss)

    # --- keeping --------------------------------------------------------------------------------

    def to_json(self) -> str:
        """Return all of the frontier as text; numbers survive bit for bit."""
        return frontier_to_json(self)

    @classmethod
    def from_json(cls, text: str) -> Frontier:
        """Return the frontier of a text that `to_json` made, or say what is wrong with it."""
        return frontier_from_json(text)

    def _repr_html_(self) -> str:
        return frontier_html(self)

    def __repr__(self) -> str:
        if not self.points:
            return "Frontier(no points)"
        H1 = self.stability
        kind = "complete" if self.complete else f"{len(self.entries)} floors"
        kind += ", interrupted" if self.interrupted else ""
        kind += f", {self.unproven} unproven in the time" if self.unproven else ""
        kind += f", floor={self.floor!r}" if self.floor != "sum" else ""
        # The score of fewer than max_rules rules may be above that of the most stable max_rules.
        largest = "of" if H1[0] <= self.max_stability else "where a share of 1 is"
        return (
            f"Frontier({len(self)} points, {kind}, stability {H1[-1]} to {H1[0]} {largest} "
            f"{self.max_stability}, worst gap {self.worst_gap:.2g}, {self.seconds:.2g} s)"
        )


# --- keeping --------------------------------------------------------------------------------------


def frontier_to_json(frontier: Frontier) -> str:
    """Return a frontier as text; numbers survive bit for bit.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> from mossrules.frontier import frontier_from_json
    >>> model = MossRegressor(2, n_trees=20).fit({"age": [30, 40, 50, 60]}, [2.0, 3.0, 9.0, 8.0])
    >>> text = frontier_to_json(model.frontier([1, 0.5]))
    >>> frontier_from_json(text).stability
    array([14, 11])
    """
    content: dict[str, Any] = {"format": FORMAT, "version": VERSION}
    scalars = fields(frontier)[1:]  # all but the entries
    content |= {KEYS.get(each.name, each.name): getattr(frontier, each.name) for each in scalars}
    if frontier.floor == "sum":  # as before there was another, so that older releases read it
        del content["floor"]
    content["entries"] = [point_to_dict(entry) for entry in frontier.entries]
    return strict_json(content)


def frontier_from_json(text: str) -> Frontier:
    """Return the frontier of a text, or say what is wrong with it.

    See Also
    --------
    mossrules.frontier.frontier_to_json : Makes such texts.
    """
    remedy = "pass what Frontier.to_json returned"
    content = parse_document(text, "The text", remedy, FORMAT, VERSION)
    with refuse_damage("The frontier cannot be read", "write it again with Frontier.to_json"):
        return Frontier(
            entries=tuple(point_from_dict(entry) for entry in content["entries"]),
            max_stability=read_count(content["largest_stability"]),
            null_loss=float(read_number(content["null_loss"])),
            max_rules=read_count(content["max_rules"]),
            gamma=float(read_number(content["gamma"])),
            complete=read_truth(content["complete"]),
            seconds=float(read_number(content["seconds"])),
            interrupted=read_truth(content.get("interrupted", False)),  # older texts lack it
            floor=_read_floor(content.get("floor", "sum")),
        )


def _read_floor(value: Any) -> FloorKind:
    for floor in get_args(FloorKind):
        if value == floor:
            return floor  # type: ignore[no-any-return]
    raise ValueError(f"there is no floor {value!r}")
