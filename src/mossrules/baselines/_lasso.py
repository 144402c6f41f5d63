"""The LASSO along a path of penalties, whatever the loss.

Notation
    L           a loss of columns: half the squares of `Design`, or that of `Logistic`
    n           total weight of the rows
    alpha       the penalty, that of scikit-learn's `Lasso` for squares
    factors     multiples of it that each column pays, 1 by default            (m,)

    min over w of L(w) / n + alpha sum_i factors_i |w_i|
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple, Protocol

import numpy as np

from mossrules._typing import FloatArray

__all__ = ["LassoPoint", "Loss", "largest_alpha", "lasso_at", "lasso_path", "solve_lasso"]

TOLERANCE = 1e-7  # of the loss without weights: largest distance of the objective from its optimum
ROUNDING = 1e-12  # standard deviations of the target


class Loss(Protocol):
    """What a path needs to know of columns and a target, at the intercept that is best."""

    @property
    def m(self) -> int:
        """Number of columns."""

    @property
    def n(self) -> float:
        """Total weight of the rows."""

    @property
    def c(self) -> FloatArray:
        """How much the loss falls with each weight, where all are zero."""

    @property
    def null_loss(self) -> float:
        """The loss without any weight."""

    @property
    def spreads(self) -> FloatArray:
        """Standard deviation of each column."""

    def intercept(self, w: FloatArray) -> float:
        """Return the best intercept beside the weights w."""

    def descend(self, penalties: FloatArray, enough: float, w: FloatArray) -> float:
        """Minimise the loss plus sum_k penalties_k |w_k|, in place; return the gap left."""


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


def largest_alpha(loss: Loss, factors: FloatArray | None = None) -> float:
    """Return the least penalty at which all weights are zero."""
    factors = np.ones(loss.m) if factors is None else factors
    return float(np.max(np.abs(loss.c) / factors, initial=0.0)) / loss.n


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
    enough = tolerance * loss.null_loss
    gap = loss.descend(penalties, enough, w)
    # What rounding left of a weight that is zero moves no prediction.
    w[np.abs(w) * loss.spreads < ROUNDING] = 0.0
    return LassoPoint(alpha, w, gap, converged=gap <= enough)


def lasso_path(
    loss: Loss,
    factors: FloatArray | None = None,
    *,
    n_alphas: int = 100,
    shortest: float = 1e-3,
) -> Iterator[LassoPoint]:
    """Yield the weights from the largest penalty, where all are zero, to `shortest` times that.

    Points are found when asked for, each from the one before: who has seen enough just stops.
    """
    top = largest_alpha(loss, factors)
    first = LassoPoint(top, np.zeros(loss.m), 0.0)
    alphas = np.geomspace(top, shortest * top, n_alphas)[1:] if top > 0.0 else np.empty(0)
    return chain([first], lasso_at(loss, alphas, factors))


def lasso_at(
    loss: Loss, alphas: FloatArray, factors: FloatArray | None = None
) -> Iterator[LassoPoint]:
    """Yield the weights at decreasing penalties, each found from the one before."""
    w = np.zeros(loss.m)
    for alpha in alphas:
        point = solve_lasso(loss, float(alpha), factors, start=w)
        w = point.weights
        yield point
