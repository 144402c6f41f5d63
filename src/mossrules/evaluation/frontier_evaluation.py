"""What cross-validation has found about each point of the trade-off, and the choice among them.

Values only: `trade_off.py` makes them. A new way to choose a point is a `SelectionCriterion` here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from mossrules import defaults
from mossrules._common import check_choice
from mossrules._display import display_class
from mossrules._frames import Backend, make_frame
from mossrules._typing import FloatArray
from mossrules.budget import unproven_in_words
from mossrules.evaluation.agreement import (
    MEASURES,
    SAME_ROWS,
    Agreement,
    Estimate,
    Identity,
    Measure,
)
from mossrules.exceptions import InvalidParameter
from mossrules.solver.result import Status

if TYPE_CHECKING:
    from mossrules.data.table import Table
    from mossrules.model.ruleset import RuleSet

__all__ = [
    "EvaluatedPoint",
    "FoldPoint",
    "FrontierEvaluation",
    "SelectionCriterion",
    "standard_error",
]

SelectionCriterion = Literal["one-standard-error", "paired-standard-error", "best"]

STOPPED = (Status.TIME_LIMIT, Status.NODE_LIMIT, Status.INTERRUPTED)


@dataclass(frozen=True, eq=False)
class FoldPoint:
    """What one fold has at one share of the largest stability.

    See Also
    --------
    mossrules.evaluation.FrontierEvaluation : Has them, as `results`.
    """

    fold: int  #: from 0
    share: float  #: asked for
    stability: float  #: reached, as a share of the largest
    loss: float  #: H2 on the training rows
    gap: float  #: that is proven
    status: Status  #: how its solve ended
    r2: float  #: on the test rows; NaN where no rule set meets the conditions
    error: float  #: mean squared error there
    rules: RuleSet  #: the rule set


@dataclass(frozen=True, eq=False)
class EvaluatedPoint:
    """What all folds have at one share of the largest stability.

    See Also
    --------
    mossrules.evaluation.FrontierEvaluation : Has them, as `points`.
    """

    index: int  #: of the point, from 0
    share: float  #: of the largest stability, asked for
    stability: float  #: mean of what was reached
    r2: float  #: mean over the folds
    r2_se: float  #: standard error of that mean
    error: float  #: mean squared error, mean over the folds
    rules: float  #: mean number of rules
    optimal: int  #: folds that were solved to the gap
    stopped: int  #: folds that were not, for lack of time
    approximate: int  #: folds of a method that does not prove
    dice: Estimate  #: agreement between folds
    jaccard: Estimate  #: likewise
    ochiai: Estimate  #: likewise
    pog: Estimate  #: likewise
    nogueira: Estimate  #: likewise, corrected for chance
    score: str = "R2"  #: what `r2` is: of classes "log-loss explained", the share of it

    @classmethod
    def of(
        cls, index: int, folds: Sequence[FoldPoint], agreement: Agreement, n_candidates: int
    ) -> EvaluatedPoint:
        """Return the summary of the folds at one share."""
        # A fold without a score makes the means NaN: over the others they would be of other rows
        # than those of all other points.
        scores = np.array([fold.r2 for fold in folds])
        return cls(
            index=index,
            share=folds[0].share,
            stability=float(np.mean([fold.stability for fold in folds])),
            r2=float(scores.mean()),
            r2_se=standard_error(scores),
            error=float(np.mean([fold.error for fold in folds])),
            rules=float(agreement.sizes.mean()),
            optimal=sum(fold.status is Status.OPTIMAL for fold in folds),
            stopped=sum(fold.status in STOPPED for fold in folds),
            approximate=sum(fold.status is Status.HEURISTIC for fold in folds),
            **{measure: agreement.mean(measure) for measure in MEASURES},
            # Candidates are counted by codes. By thresholds one of them may be several rules.
            nogueira=agreement.nogueira(max(1, n_candidates, agreement.distinct)),
            score="R2" if folds[0].rules.link == "identity" else "log-loss explained",
        )

    def __repr__(self) -> str:
        return (
            f"EvaluatedPoint(share {self.share:.3g}: {self.score} {self.r2:.3f} +- "
            f"{self.r2_se:.3f}, Dice {self.dice.estimate:.3f}, {self.rules:.3g} rules)"
        )


@dataclass(frozen=True, eq=False)
class FrontierEvaluation:
    """Accuracy and recurrence out of sample, at each point of the trade-off.

    `points` are in the order of their shares, the most stable first. `frame` has one row for each,
    `folds` one for each fold and point, `choose` picks one, and `plot` draws all.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> from mossrules.evaluation import evaluate_frontier
    >>> X = {"age": range(20, 60), "smoker": [False, True] * 20}
    >>> y = [1.0, 5.0] * 10 + [3.0, 9.0] * 10
    >>> model = MossRegressor(3, n_trees=20)
    >>> evaluation = evaluate_frontier(model, X, y, cv=3, points=[1, 0.5, 0.2])
    >>> evaluation.frame(backend="pandas")[["share", "r2", "dice", "rules"]].round(2)
       share    r2  dice  rules
    0    1.0  0.96  0.27   2.33
    1    0.5  0.97  0.60   2.67
    2    0.2  0.99  0.56   3.00
    >>> evaluation.choose()
    EvaluatedPoint(share 0.5: R2 0.974 +- 0.012, Dice 0.600, 2.67 rules)
    >>> evaluation.results[0][1].rules.texts  # of the first fold, at the second point
    ['smoker is true', 'age > 40']
    """

    points: tuple[EvaluatedPoint, ...]
    results: tuple[tuple[FoldPoint, ...], ...]  #: by fold, then by point
    n_candidates: int  #: distinct rules that some fold could choose from
    gap: float  #: asked for
    seconds: float  #: that it took

    @classmethod
    def of(
        cls,
        results: Sequence[Sequence[FoldPoint]],
        *,
        n_candidates: int,
        gap: float,
        seconds: float,
        identity: Identity = defaults.IDENTITY,
        table: Table | None = None,
        overlap: float = SAME_ROWS,
    ) -> FrontierEvaluation:
        """Return the evaluation of what the folds have found."""
        points = []
        for index, folds in enumerate(zip(*results, strict=True)):
            sets = [fold.rules for fold in folds]
            agreement = Agreement.of(sets, identity=identity, X=table, overlap=overlap)
            points.append(EvaluatedPoint.of(index, folds, agreement, n_candidates))
        return cls(tuple(points), tuple(map(tuple, results)), n_candidates, gap, seconds)

    # --- figures --------------------------------------------------------------------------------

    @property
    def shares(self) -> FloatArray:
        """Share of the largest stability at each point."""
        return np.array([point.share for point in self.points])

    @property
    def scores(self) -> FloatArray:
        """R2 on the test rows: (folds, points)."""
        return np.array([[point.r2 for point in fold] for fold in self.results])

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return len(self.results)

    @property
    def identity(self) -> str:
        """When two rules counted as the same."""
        return self.points[0].dice.identity

    @property
    def cut_short(self) -> str | None:
        """What was cut short for lack of time, in a sentence; None where nothing was."""
        points = [point for fold in self.results for point in fold]
        late = [point.gap for point in points if point.status is Status.TIME_LIMIT]
        return unproven_in_words(late, len(points), "search on folds", "searches on folds")

    def rule_sets(self, index: int) -> list[RuleSet]:
        """Return the rule sets of all folds at a point, for `mossrules.stability`."""
        return [fold[index].rules for fold in self.results]

    # --- choosing -------------------------------------------------------------------------------

    def choose(self, rule: SelectionCriterion = "one-standard-error") -> EvaluatedPoint:
        """Return the point that a criterion selects, with the `share` to pass to `MossRegressor`.

        Parameters
        ----------
        rule : {"one-standard-error", "paired-standard-error", "best"}
            * "one-standard-error": of all points whose mean R2 is within one standard error of the
              best mean (that of the best point, over the folds), the one whose rules recur most, by
              the mean Dice of pairs of folds; of equals the most stable.
            * "paired-standard-error": likewise, with the standard error of the difference between
              the two in the same fold. Folds differ in difficulty for all points alike; this leaves
              that out, and so gives up less accuracy.
            * "best": the point with the best mean R2; of equals likewise.
        """
        check_choice("rule", rule, get_args(SelectionCriterion))
        if not self._is_scored:
            raise InvalidParameter(
                "No point has a rule set in all folds; ask for lower shares, or relax constraints."
            )
        scores, means = self.scores, self.scores.mean(axis=0)
        best = int(np.nanargmax(means))
        behind = scores[:, [best]] - scores
        allowed = {
            "one-standard-error": np.full(len(means), self.points[best].r2_se),
            "paired-standard-error": np.array([standard_error(losses) for losses in behind.T]),
            "best": np.zeros(len(means)),
        }[rule]
        # NaN compares as false: points without a score are never chosen. Points are in order, so
        # the first of equals is the most stable. One fold has no pairs, and so no recurrence.
        within = means[best] - means <= allowed
        recurrence = np.nan_to_num([point.dice.estimate for point in self.points])
        return self.points[int(np.argmax(np.where(within, recurrence, -1.0)))]

    @property
    def _is_scored(self) -> bool:
        """Whether some point has a rule set in all folds."""
        return not all(np.isnan(point.r2) for point in self.points)

    # --- showing --------------------------------------------------------------------------------

    def frame(self, *, backend: Backend | None = None) -> Any:
        """Return one row for each point.

        Columns: `share` of the largest stability asked for, and `stability` reached on average;
        `r2` on the test rows (of classes the share of the log-loss that is explained) with its
        standard error `r2_se`, and `error`, the mean squared one (of classes the log-loss); `dice`
        with its interval, the other measures; `rules`, their mean number; in how many folds the
        choice was `optimal` to the gap, `stopped` before, or `approximate`; and whether the point
        is `chosen` by "one-standard-error".
        """
        chosen = self.choose() if self._is_scored else None

        def of(*names: str) -> dict[str, list[Any]]:
            return {name: [getattr(point, name) for point in self.points] for name in names}

        columns = {
            **of("share", "stability", "r2", "r2_se", "error"),
            "dice": [point.dice.estimate for point in self.points],
            "dice_lower": [point.dice.lower for point in self.points],
            "dice_upper": [point.dice.upper for point in self.points],
            **{
                name: [*map(float, values)]
                for name, values in of(*MEASURES[1:], "nogueira").items()
            },
            **of("rules", "optimal", "stopped", "approximate"),
            "chosen": [point is chosen for point in self.points],
        }
        return make_frame(columns, backend)

    def folds(self, *, backend: Backend | None = None) -> Any:
        """Return one row for each fold and point."""
        names = ("fold", "share", "stability", "loss", "gap", "r2", "error")
        points = [point for fold in self.results for point in fold]
        columns: dict[str, list[Any]] = {
            name: [getattr(point, name) for point in points] for name in names
        }
        columns["status"] = [point.status.value for point in points]
        columns["rules"] = [len(point.rules) for point in points]
        return make_frame(columns, backend)

    def plot(
        self,
        ax: Any = None,
        *,
        measure: Measure | Literal["nogueira"] = "dice",
        rule: SelectionCriterion = "one-standard-error",
    ) -> Any:
        """Draw recurrence against R2, and return the `EvaluationDisplay` of matplotlib.

        Parameters
        ----------
        ax
            Matplotlib's axes to draw on; by default those of a new figure.
        measure
            What the horizontal axis has: "dice", "jaccard", "ochiai", "pog" or "nogueira".
        rule
            Whose choice to mark; see `choose`.
        """
        display = display_class("EvaluationDisplay")
        return display.from_evaluation(self, measure=measure, rule=rule).plot(ax)

    def __repr__(self) -> str:
        stopped = sum(point.stopped for point in self.points)
        parts = [f"{len(self.points)} points, {self.n_folds} folds, gap {self.gap:.3g}"]
        if self._is_scored:
            chosen = self.choose()
            r2 = [point.r2 for point in self.points if not np.isnan(point.r2)]
            dice = [point.dice.estimate for point in self.points]
            parts += [
                f"{chosen.score} {min(r2):.3f} to {max(r2):.3f}",
                f"Dice {min(dice):.3f} to {max(dice):.3f} (same {self.identity})",
                f"chosen share {chosen.share:.3g} with {chosen.score} {chosen.r2:.3f}",
            ]
        if stopped:
            parts.append(f"{stopped} solves stopped early")
        return f"FrontierEvaluation({', '.join(parts)}, {self.seconds:.2g} s)"


def standard_error(values: FloatArray) -> float:
    """Return the standard error of the mean; NaN of fewer than two values."""
    if len(values) < 2:
        return float("nan")
    return float(values.std(ddof=1) / np.sqrt(len(values)))
