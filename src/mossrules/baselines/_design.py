"""Columns of a linear model as sums over the rows: all that least squares with penalties needs.

Notation (shapes in brackets)
    Z        columns, each less its mean over the rows                    never formed
    C, c     Z'Z and Z'y                                                  (m, m), (m,)
    yy, n    y'y of a target that sums to zero, total weight of the rows
    means    what was taken off each column                               (m,)

    |y - a - (Z + means) w|^2 = yy - 2 c'w + w'C w     at the best intercept, a = -means'w
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mossrules._typing import FloatArray, IntArray
from mossrules.baselines.kernels.lasso import descend_lasso
from mossrules.statistics import Statistics

__all__ = ["Design"]

MAX_SWEEPS = 20_000


@dataclass(frozen=True)
class Design:
    """Sums over the rows of centred columns; see the module's notation."""

    C: FloatArray
    c: FloatArray
    yy: float
    n: float
    means: FloatArray

    @classmethod
    def of_rules(cls, statistics: Statistics) -> Design:
        """Return the design of columns that are 1 where a rule holds and 0 elsewhere.

        Overlaps are read off the Gram matrix, whose entries are v_i v_j N_ij. Of a rule with the
        mean of all rows, v_i = 0, they are not known: its column is taken for zero throughout, as
        is that of a rule that holds on all rows, which the intercept makes useless.
        """
        v, sizes, n = statistics.values, statistics.support, statistics.n
        known = (v != 0.0) & (sizes < n)
        inverse = np.divide(1.0, v, out=np.zeros_like(v), where=known)
        means = np.where(known, sizes, 0.0) / n
        C = statistics.G * np.outer(inverse, inverse) - n * np.outer(means, means)
        return cls(C, statistics.q * inverse, statistics.yy, n, means)

    @classmethod
    def of_values(cls, statistics: Statistics) -> Design:
        """Return the design of the columns of `Statistics`: v_i where a rule holds, else 0."""
        means = statistics.values * statistics.support / statistics.n
        C = statistics.G - statistics.n * np.outer(means, means)
        return cls(C, statistics.q, statistics.yy, statistics.n, means)

    @property
    def m(self) -> int:
        """Number of columns."""
        return len(self.c)

    @property
    def null_loss(self) -> float:
        """Half the sum of squared residuals without any weight."""
        return 0.5 * self.yy

    @property
    def spreads(self) -> FloatArray:
        """Standard deviation of each column."""
        return np.sqrt(np.diagonal(self.C) / self.n)

    def take(self, positions: IntArray) -> Design:
        """Return some of the columns."""
        C = self.C[np.ix_(positions, positions)]
        return Design(C, self.c[positions], self.yy, self.n, self.means[positions])

    def scaled(self, factors: FloatArray) -> Design:
        """Return the columns times a factor each."""
        C = self.C * np.outer(factors, factors)
        return Design(C, self.c * factors, self.yy, self.n, self.means * factors)

    def intercept(self, w: FloatArray) -> float:
        """Return the best intercept beside the weights w."""
        return -float(self.means @ w)

    def residual(self, w: FloatArray) -> float:
        """Return the sum of squared residuals at the weights w and the best intercept."""
        return max(0.0, self.yy - float((2.0 * self.c - self.C @ w) @ w))

    def descend(self, penalties: FloatArray, enough: float, w: FloatArray) -> float:
        """Minimise half the residual plus sum_k penalties_k |w_k|, in place; return the gap left.

        It ends when the gap is at most `enough`.
        """
        used = np.flatnonzero(w)
        r = self.c - w[used] @ self.C[used]  # a path has few weights, and C is large
        gap: float = descend_lasso(self.C, self.c, self.yy, penalties, enough, MAX_SWEEPS, w, r)
        return gap
