"""The LASSO along a path of penalties, from sums over the rows.

Notation (the rest as in `_design`)
    alpha       the penalty of scikit-learn's `Lasso`
    factors     multiples of it that each column pays, 1 by default            (m,)

    min over w of 1/(2n) |y - Z w|^2 + alpha sum_i factors_i |w_i|
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

import numpy as np

from mossrules._kernels.lasso import descend_lasso
from mossrules._typing import FloatArray
from mossrules.baselines._design import Design

__all__ = ["LassoPoint", "largest_alpha", "lasso_at", "lasso_path", "solve_lasso"]

TOLERANCE = 1e-7  # of yy/2: largest distance of the objective from its optimum
MAX_SWEEPS = 20_000
ROUNDING = 1e-12  # standard deviations of the target


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


def largest_alpha(design: Design, factors: FloatArray | None = None) -> float:
    """Return the least penalty at which all weights are zero."""
    factors = np.ones(design.m) if factors is None else factors
    return float(np.max(np.abs(design.c) / factors, initial=0.0)) / design.n


def solve_lasso(
    design: Design,
    alpha: float,
    factors: FloatArray | None = None,
    *,
    start: FloatArray | None = None,
    tolerance: float = TOLERANCE,
) -> LassoPoint:
    """Return the weights at one penalty, by descent from `start`."""
    w = np.zeros(design.m) if start is None else start.copy()
    penalties = alpha * design.n * (np.ones(design.m) if factors is None else factors)
    used = np.flatnonzero(w)
    r = design.c - w[used] @ design.C[used]  # a path has few weights, and C is large
    enough = 0.5 * tolerance * design.yy
    gap = descend_lasso(design.C, design.c, design.yy, penalties, enough, MAX_SWEEPS, w, r)
    # What rounding left of a weight that is zero moves no prediction.
    w[np.abs(w) * np.sqrt(np.diagonal(design.C) / design.n) < ROUNDING] = 0.0
    return LassoPoint(alpha, w, gap, converged=gap <= enough)


def lasso_path(
    design: Design,
    factors: FloatArray | None = None,
    *,
    n_alphas: int = 100,
    shortest: float = 1e-3,
) -> Iterator[LassoPoint]:
    """Yield the weights from the largest penalty, where all are zero, to `shortest` times that.

    Points are found when asked for, each from the one before: who has seen enough just stops.
    """
    top = largest_alpha(design, factors)
    first = LassoPoint(top, np.zeros(design.m), 0.0)
    alphas = np.geomspace(top, shortest * top, n_alphas)[1:] if top > 0.0 else np.empty(0)
    return chain([first], lasso_at(design, alphas, factors))


def lasso_at(
    design: Design, alphas: FloatArray, factors: FloatArray | None = None
) -> Iterator[LassoPoint]:
    """Yield the weights at decreasing penalties, each found from the one before."""
    w = np.zeros(design.m)
    for alpha in alphas:
        point = solve_lasso(design, float(alpha), factors, start=w)
        w = point.weights
        yield point
