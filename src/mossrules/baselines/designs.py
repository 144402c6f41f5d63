"""Columns of a linear model as sums over the rows: all that least squares with penalties needs.

Notation (shapes in brackets)
    Z        columns, each less its mean over the rows                    never formed
    C, c     Z'Z and Z'y                                                  (m, m), (m,)
    yy, n    y'y of a target that sums to zero, total weight of the rows
    means    what was taken off each column                               (m,)
    A        a constant, the columns and the target, side by side         held in parts
    S_f      A'A over the rows of fold f                                  (folds, m + 2, m + 2)

    |y - a - (Z + means) w|^2 = yy - 2 c'w + w'C w     at the best intercept, a = -means'w

What is left of the sum over all folds without S_f is what a model learns from; its errors on fold f
are a product with S_f. So rows are read once, however many penalties are tried.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mossrules._typing import FloatArray, IntArray
from mossrules.baselines.kernels import descend_lasso
from mossrules.candidates.search import Candidates
from mossrules.candidates.statistics import rule_columns
from mossrules.data.chunks import RowRange, row_ranges
from mossrules.data.rows import Rows
from mossrules.evaluation.folds import deal, groups_by_number
from mossrules.statistics import Statistics

__all__ = ["Design", "Folds", "row_weights", "scaled_target"]

MAX_SWEEPS = 20_000
CHUNK_VALUES = 1 << 22  # entries of A that are held at a time: 32 MB

Columns = Callable[[RowRange], FloatArray]  # from a range of rows to (rows, columns)


def row_weights(rows: Rows) -> FloatArray:
    """Return the weight of each row, 1 where none were given."""
    return np.ones(rows.table.n_rows) if rows.weights is None else rows.weights


def scaled_target(rows: Rows, statistics: Statistics) -> FloatArray:
    """Return the target with the mean 0 and variance 1 that statistics are of."""
    target: FloatArray = (rows.target - statistics.target_mean) / statistics.target_scale
    return target


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
        # From G_ij = v_i v_j N_ij: rows need not be read again.
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
        # Where columns explain all there is, rounding would leave less than nothing.
        return max(0.0, self.yy - float((2.0 * self.c - self.C @ w) @ w))

    def descend(self, penalties: FloatArray, max_gap: float, w: FloatArray) -> float:
        """Minimise half the residual plus sum_k penalties_k |w_k|, in place; return the gap left.

        It ends when the gap is at most `max_gap`.
        """
        used = np.flatnonzero(w)
        r = self.c - w[used] @ self.C[used]  # a path has few weights, and C is large
        gap: float = descend_lasso(self.C, self.c, self.yy, penalties, max_gap, MAX_SWEEPS, w, r)
        return gap


@dataclass(frozen=True)
class Folds:
    """Sums over the rows of each fold, to cross-validate linear models from."""

    sums: FloatArray

    @classmethod
    def of_rows(
        cls,
        candidates: Candidates,
        support: IntArray,
        rows: Rows,
        *,
        n_folds: int,
        more: Columns | None = None,
    ) -> Folds:
        """Return the sums of some of the rules' columns of 0 and 1, and of `more` beside them.

        Rows are dealt to folds in turn: training rows are in an order that is as good as random,
        and always the same. Rows of a group stay together.
        """
        binning = candidates.binning
        rules = [candidates.pool.rules[i] for i in support]
        target, weights = scaled_target(rows, candidates.statistics), row_weights(rows)
        folds = deal(n_folds, len(target), groups_by_number(rows))
        sums = np.zeros(())
        for part in row_ranges(len(target), chunk_rows=max(1, CHUNK_VALUES // (len(rules) + 1))):
            span = slice(part.start, part.stop)
            holds = rule_columns(rules, binning, binning.encode(rows.table, part)).T
            others = np.empty((len(part), 0)) if more is None else more(part)
            A = np.hstack([np.ones((len(part), 1)), holds, others, target[span, None]])
            w, fold = weights[span, None], folds[span]
            # All folds in one pass over the rows; what is kept is small, (m + 2)^2 numbers a fold.
            members = [fold == number for number in range(n_folds)]
            sums = sums + np.stack([A[inside].T @ (w[inside] * A[inside]) for inside in members])
        return cls(sums)

    def scaled(self, factors: FloatArray) -> Folds:
        """Return the sums of the columns times a factor each."""
        all_factors = np.concatenate([[1.0], factors, [1.0]])
        return Folds(self.sums * np.outer(all_factors, all_factors))

    def design(self) -> Design:
        """Return the design of all rows."""
        return _design(self.sums.sum(axis=0))[0]

    def errors(self, fit: Callable[[Design], Sequence[FloatArray]]) -> FloatArray:
        """Return the mean squared error on rows left out, for each penalty that `fit` tries.

        `fit` takes the design of the other rows and returns weights at each penalty.
        """
        total = self.sums.sum(axis=0)
        errors = []
        for left_out in self.sums:
            design, target_mean = _design(total - left_out)
            w = np.array(fit(design))
            intercepts = target_mean - w @ design.means
            # The residual is the target less the prediction, so minus one of it is a product.
            v = np.column_stack([intercepts, w, -np.ones(len(w))])
            errors.append(np.einsum("ij,jk,ik->i", v, left_out, v))
        mean: FloatArray = np.sum(errors, axis=0) / total[0, 0]
        return mean


def _design(sums: FloatArray) -> tuple[Design, float]:
    """Return the centred columns of some rows, and the mean of their target."""
    # Sums of columns that are not centred can be added up and taken apart; so centre them last.
    n, means = float(sums[0, 0]), sums[0] / sums[0, 0]
    centred = sums - n * np.outer(means, means)
    C, c, yy = centred[1:-1, 1:-1], centred[1:-1, -1], float(centred[-1, -1])
    return Design(np.ascontiguousarray(C), c.copy(), yy, n, means[1:-1]), float(means[-1])
