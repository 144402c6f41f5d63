"""Paths of falling penalties, followed down to the rule set that is as large as allowed.

Notation (shapes in brackets)
    L           a loss of columns: half the squares of `Design`, or that of `Logistic`
    n           total weight of the rows
    alpha       the penalty, that of scikit-learn's `Lasso` for squares
    factors     multiples of it that each column pays, 1 by default            (m,)

    min over w of L(w) / n + alpha sum_i factors_i |w_i|

`lasso_path` is the LASSO on a grid of penalties; `follow_path` walks down a path of any solver to
the last solution with few enough rules.

Why not scikit-learn's `lasso_path` with a Gram matrix: tried in place of `Design.descend` on 154
fits of 11 tables, at the same tolerance. RuleFit's weights agreed to 4 digits or fewer (its rules
were the same but for one fit), GLRM's column generation chose other rules on 2 of 11 tables, and
the solver took 1 to 12 times as long: it has no penalties by column, so that C is scaled for each
solve.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np

from mossrules._typing import FloatArray
from mossrules.baselines.designs import Design
from mossrules.baselines.logistic import Logistic

__all__ = [
    "LassoPoint",
    "Loss",
    "PathPoint",
    "Solve",
    "follow_path",
    "largest_alpha",
    "lasso_at",
    "lasso_path",
    "solve_closely",
    "solve_lasso",
    "without_rounding",
]

TOLERANCE = 1e-7  # of the loss without weights: largest distance of the objective from its optimum
CLOSE_TOLERANCE = 1e-11  # tells costs that are zero from those that are worth a column
SPREAD_ROUNDING = 1e-12  # standard deviations of the target
WEIGHT_ROUNDING = 1e-9  # the same, of a column of 0 and 1: a smaller weight is what rounding left


Loss = Design | Logistic  # which have the same properties, and `descend`


# --- the LASSO ------------------------------------------------------------------------------------


class LassoPoint(NamedTuple):
    """A penalty and the weights that are best for it, to within `gap` of the objective times n."""

    alpha: float
    weights: FloatArray
    gap: float
    converged: bool = True  # False if the descent was cut short, and the gap is what was left

    @property
    def size(self) -> int:
        """Number of weights that are not zero."""
        return int(np.count_nonzero(self.weights))


def largest_alpha(loss: Loss) -> float:
    """Return the smallest penalty at which all weights are zero: the first of a path."""
    return float(np.max(np.abs(loss.c), initial=0.0)) / loss.n


def solve_lasso(
    loss: Loss,
    alpha: float,
    factors: FloatArray | None = None,
    *,
    start: FloatArray | None = None,
    tolerance: float = TOLERANCE,
) -> LassoPoint:
    """Return the weights at one penalty, by descent from `start`."""
    w = np.zeros(loss.m) if start is None else start.copy()
    penalties = alpha * loss.n * (np.ones(loss.m) if factors is None else factors)
    max_gap = tolerance * loss.null_loss
    gap = loss.descend(penalties, max_gap, w)
    # What rounding left of a weight that is zero moves no prediction, but would count as a rule.
    w[np.abs(w) * loss.spreads < SPREAD_ROUNDING] = 0.0
    return LassoPoint(alpha, w, gap, converged=gap <= max_gap)


def solve_closely(loss: Loss, prices: FloatArray, start: FloatArray) -> FloatArray:
    """Return the best weights, each at its price, so close that reduced costs can be told."""
    point = solve_lasso(loss, 1.0, prices, start=start, tolerance=CLOSE_TOLERANCE)
    return without_rounding(point.weights)


def lasso_path(loss: Loss, *, n_alphas: int = 100, shortest: float = 1e-3) -> Iterator[LassoPoint]:
    """Yield the weights from the largest penalty, where all are zero, to `shortest` times that.

    Points are found when asked for, each from the one before: whoever has seen enough just stops.
    """
    top = largest_alpha(loss)
    first = LassoPoint(top, np.zeros(loss.m), 0.0)
    # Steps of equal ratio, as in glmnet: weights change about as much in each.
    alphas = np.geomspace(top, shortest * top, n_alphas)[1:] if top > 0.0 else np.empty(0)
    return chain([first], lasso_at(loss, alphas))


def lasso_at(loss: Loss, alphas: FloatArray) -> Iterator[LassoPoint]:
    """Yield the weights at decreasing penalties, each found from the one before."""
    w = np.zeros(loss.m)
    for alpha in alphas:
        point = solve_lasso(loss, float(alpha), start=w)
        w = point.weights
        yield point


def without_rounding(weights: FloatArray) -> FloatArray:
    """Return the weights of columns of 0 and 1 with those set to zero that are rounding errors."""
    return np.where(np.abs(weights) > WEIGHT_ROUNDING, weights, 0.0)


# --- down to a number of rules --------------------------------------------------------------------


@dataclass(frozen=True)
class PathPoint:
    """The solution at one strength of the penalty; `converged` is False for an unfinished one."""

    strength: float
    w: FloatArray
    n_rules: int
    converged: bool = True

    @classmethod
    def of_weights(cls, strength: float, w: FloatArray, *, converged: bool = True) -> PathPoint:
        """Return the point of one weight per rule."""
        return cls(strength, w, int(np.count_nonzero(w)), converged)


Solve = Callable[[float, FloatArray], PathPoint]  # at a strength, from the weights of another


def follow_path(
    solve: Solve, start: PathPoint, strengths: Iterable[float], max_rules: int, *, halvings: int = 0
) -> PathPoint:
    """Return the point with the most rules among those with at most `max_rules`.

    Strengths decrease, and each solution starts from the last one. The walk ends at the first
    point with too many rules. Then the step to it, from the last point that had few enough, is cut
    in half as often as `halvings` says, in search of a point that has exactly `max_rules`.
    """
    last = best = start
    for strength in strengths:
        point = solve(strength, last.w)
        if point.n_rules > max_rules:
            return _bisect(solve, last, best, strength, max_rules=max_rules, halvings=halvings)
        last = point
        best = _better(best, point)
    return best


def _bisect(
    solve: Solve,
    last: PathPoint,
    best: PathPoint,
    too_weak: float,
    *,
    max_rules: int,
    halvings: int,
) -> PathPoint:
    # Sizes need not be monotone along a path, so a point of the wanted size may not exist.
    for _ in range(halvings):
        if best.n_rules == max_rules:
            break
        # The geometric mean, as steps of the path have equal ratios.
        point = solve((last.strength * too_weak) ** 0.5, last.w)
        if point.n_rules > max_rules:
            too_weak = point.strength
        else:
            last = point
            best = _better(best, point)
    return best


def _better(a: PathPoint, b: PathPoint) -> PathPoint:
    """Return the point with more rules or, with as many, the later and so less penalised one."""
    return b if b.n_rules >= a.n_rules else a
