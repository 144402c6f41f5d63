"""The price of staying near an approved rule set: for each number of kept rules, the best fit.

It is a `Frontier` whose floors are on the number of approved rules and not on trees, with what each
point means for people beside it. Nothing is solved here; `learning.near` makes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from mossrules._display import display_class
from mossrules._frames import Backend, make_frame
from mossrules.exceptions import InvalidParameter
from mossrules.frontier.result import ROUNDING, Frontier
from mossrules.solver.result import Status

__all__ = ["NearFrontier", "NearPoint"]


@dataclass(frozen=True)
class NearPoint:
    """The best rule set that keeps so many approved rules.

    See Also
    --------
    mossrules.frontier.NearFrontier : Has them, as `points`.
    """

    kept: int  #: approved rules in the rule set
    share: float  #: of the approved rules
    rules: int  #: in the rule set
    recurrence: float  #: rules in common with the approved rule set (Dice)
    fit: float  #: R2 on the training rows; of classes, the share of the log-loss explained
    loss: float  #: H2, with its penalty, which is what is proven
    bound: float  #: proven: no rule set that keeps as many has a smaller loss
    gap: float  #: relative distance between the two
    status: str  #: how the search ended


@dataclass(frozen=True, repr=False)
class NearFrontier:
    """What it costs to keep more of an approved rule set, the nearest rule sets first.

    Every number of kept rules was solved for, each with its certificate: no other rule set that
    keeps as many has a smaller loss, to within the gap. A number between two points costs what the
    next larger one does.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> X, y = {"age": [20, 30, 40, 50, 60, 70, 80]}, [2.0, 3.0, 9.0, 8.0, 7.0, 2.0, 1.0]
    >>> approved = MossRegressor(2, n_trees=20).fit(X, y).rules_
    >>> new = [1.0, 2.0, 5.0, 9.0, 8.0, 9.0, 9.0]
    >>> model = MossRegressor(2, n_trees=20, near=approved, keep=0.5).fit(X, new)
    >>> price = model.near_frontier()
    >>> [(point.kept, point.rules) for point in price]
    [(2, 2), (1, 2), (0, 2)]
    >>> price.complete
    True
    """

    points: tuple[NearPoint, ...]  #: those that no other beats in both, most kept rules first
    n_approved: int  #: rules of the approved rule set
    frontier: Frontier  #: the same with all certificates; its stability counts kept rules
    measure: Literal["R2", "explained"] = "R2"  #: what `fit` is

    @property
    def complete(self) -> bool:
        """Whether every number of rules was solved for, and proven to the gap asked for."""
        solutions = [entry.solution for entry in self.frontier.entries]
        proven = all(solution.status is Status.OPTIMAL for solution in solutions)
        return proven and not self.frontier.interrupted

    def __len__(self) -> int:
        return len(self.points)

    def __iter__(self) -> Iterator[NearPoint]:
        return iter(self.points)

    def __getitem__(self, index: int) -> NearPoint:
        return self.points[index]

    def at(self, kept: int) -> NearPoint:
        """Return the best point that keeps at least so many approved rules."""
        reaching = [point for point in self.points if point.kept >= kept]
        if not reaching:
            most = self.points[0].kept if self.points else 0
            raise InvalidParameter(
                f"kept is {kept}, and at most {most} of the {self.n_approved} approved rules can "
                "be kept; ask for at most that."
            )
        return reaching[-1]

    def frame(self, backend: Backend | None = None) -> Any:
        """Return one row for each point as a data frame, or a dict of lists."""
        return make_frame(self.columns(), backend)

    def columns(self) -> dict[str, list[Any]]:
        """Return the columns of `frame`: the fields of `NearPoint`."""
        names = [field.name for field in fields(NearPoint)]
        return {name: [getattr(point, name) for point in self.points] for name in names}

    def plot(self, ax: Any = None, *, loss: Literal["loss", "explained"] = "loss") -> Any:
        """Draw kept rules against loss with matplotlib, and return the `FrontierDisplay`.

        Parameters
        ----------
        ax
            Matplotlib's axes to draw on; by default those of a new figure.
        loss
            What the vertical axis has: H2 itself, or the share of it that is "explained".
        """
        display = display_class("FrontierDisplay")
        frontier = replace(self.frontier, complete=self.complete)  # no number is between others
        drawn = display.from_frontier(frontier, n_approved=self.n_approved)
        return drawn.plot(ax, loss=loss)

    def to_text(self) -> str:
        """Return a table for people to read."""
        rules = "approved rule" if self.n_approved == 1 else "approved rules"
        head = f"What it costs to keep more of the {self.n_approved} {rules}"
        lines = [
            f"{head}; recurrence: rules in common with them (Dice).",
            f"  kept  recurrence  rules  {self.measure:>9}  gap",
        ]
        lines += [
            f"  {point.kept:4}  {point.recurrence:10.1%}  {point.rules:5}  {point.fit:9.3f}  "
            f"{point.gap:.2%}"
            for point in self.points
        ]
        return "\n".join([*lines, self.proof])

    @property
    def proof(self) -> str:
        """How good each point is known to be, in a sentence."""
        if not self.complete:
            return "Not all of it is proven: some searches ended early; allow more time."
        gap = max([0.0, *(point.gap for point in self.points)])
        better = "better" if gap < ROUNDING else f"more than {gap:.2%} better"
        return (
            f"Proven: no rule set that keeps as many fits {better} (loss with its penalty), in "
            f"{self.frontier.seconds:.2g} s."
        )

    def __repr__(self) -> str:
        return self.to_text()
