"""The restricted master problem of column generation, for either loss: the columns so far.

Notation as in `_columns`; `e` is what the model leaves of the target, or of the classes.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from mossrules._typing import BoolArray, FloatArray
from mossrules.baselines._design import Design
from mossrules.baselines._lasso import Loss, solve_lasso
from mossrules.baselines._logistic import Logistic
from mossrules.baselines._path import without_rounding
from mossrules.baselines.kernels.literals import weigh_overlaps

__all__ = ["LogisticMaster", "Master", "SquaredMaster", "solve_master"]

MASTER_TOLERANCE = 1e-11  # tells costs that are zero from those that are worth a column


class Master(Protocol):
    """Columns, to which others can be added."""

    def solve(self, prices: FloatArray, start: FloatArray) -> FloatArray:
        """Return the best weights of the columns, each at its price."""

    def residual(self, w: FloatArray) -> FloatArray:
        """Return h e / n of each row."""

    def add(self, columns: list[BoolArray]) -> None:
        """Add the rows of more columns."""


def solve_master(loss: Loss, prices: FloatArray, start: FloatArray) -> FloatArray:
    """Return the best weights of columns that are there, each at its price."""
    point = solve_lasso(loss, 1.0, prices, start=start, tolerance=MASTER_TOLERANCE)
    return without_rounding(point.weights)


class SquaredMaster:
    """Squared error of a centred, scaled target, from sums over the rows."""

    def __init__(self, target: FloatArray, weights: FloatArray) -> None:
        self.target, self.weights = target, weights
        self._active = np.empty((0, len(target)), dtype=bool)
        empty = np.empty(0)
        yy, n = float(weights @ target**2), float(weights.sum())
        self.design = Design(np.empty((0, 0)), empty, yy, n, empty)

    def solve(self, prices: FloatArray, start: FloatArray) -> FloatArray:
        """Return the best weights of the columns, each at its price."""
        return solve_master(self.design, prices, start)

    def residual(self, w: FloatArray) -> FloatArray:
        """Return h e / n of each row."""
        left = self.target - self.design.intercept(w)
        for k in np.flatnonzero(w):
            left -= w[k] * self._active[k]
        return self.weights * left / self.design.n

    def add(self, columns: list[BoolArray]) -> None:
        """Add the rows of more columns, and their part of the sums."""
        first, m = len(self._active), len(self._active) + len(columns)
        self._active = np.concatenate([self._active, columns])
        old, n = self.design, self.design.n
        overlaps = np.empty((m, m))
        overlaps[:first, :first] = old.C + n * np.outer(old.means, old.means)
        for k in range(first, m):
            weigh_overlaps(self._active, self._active[k], self.weights, overlaps[k])
            overlaps[:first, k] = overlaps[k, :first]
        means = np.diagonal(overlaps) / n
        C = overlaps - n * np.outer(means, means)
        sums = np.empty(len(columns))
        everywhere = np.ones(len(self.target), dtype=bool)
        weigh_overlaps(self._active[first:], everywhere, self.weights * self.target, sums)
        self.design = Design(C, np.concatenate([old.c, sums]), old.yy, n, means)


class LogisticMaster:
    """The logistic loss of classes; rows on which all columns are the same count as one."""

    def __init__(self, classes: FloatArray, weights: FloatArray) -> None:
        self._rows = Logistic(np.empty((0, len(classes)), dtype=bool), weights, classes)
        self.loss = self._rows

    def solve(self, prices: FloatArray, start: FloatArray) -> FloatArray:
        """Return the best weights of the columns, each at its price."""
        return solve_master(self.loss, prices, start)

    def residual(self, w: FloatArray) -> FloatArray:
        """Return h e / n of each row."""
        return self._rows.weights * self._rows.residual(w) / self._rows.n

    def add(self, columns: list[BoolArray]) -> None:
        """Add the rows of more columns."""
        h, s = self._rows.weights, self._rows.classes
        self._rows = Logistic(np.concatenate([self._rows.A, columns]), h, s)
        self.loss = Logistic.merged(self._rows.A, h, s)
