"""Cross-validation of linear models from sums over the rows of each fold.

Notation (shapes in brackets)
    A      a constant, the columns and the target, side by side                   never formed
    S_f    A'A over the rows of fold f                                (folds, m + 2, m + 2)

What is left of the sum over all folds without S_f is what a model learns from; its errors on fold f
are a product with S_f. So rows are read once, however many penalties are tried.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mossrules._typing import FloatArray, IntArray
from mossrules.baselines._design import Design
from mossrules.candidates.search import Candidates
from mossrules.candidates.statistics import rule_columns
from mossrules.data.canonical_order import Rows
from mossrules.data.chunks import RowRange, row_ranges
from mossrules.exceptions import InvalidParameter

__all__ = ["Folds"]

CHUNK_VALUES = 1 << 22  # entries of A that are held at a time

Columns = Callable[[RowRange], FloatArray]  # from a range of rows to (rows, columns)
Fit = Callable[[Design], Sequence[FloatArray]]  # from a design to the weights at each penalty


@dataclass(frozen=True)
class Folds:
    """Sums over the rows of each fold; see the module's notation."""

    sums: FloatArray

    @classmethod
    def of_rows(
        cls,
        candidates: Candidates,
        support: IntArray,
        rows: Rows | None,
        *,
        n_folds: int,
        more: Columns | None = None,
    ) -> Folds:
        """Return the sums of some of the rules' columns of 0 and 1, and of `more` beside them.

        The i-th row is in fold i modulo `n_folds`: training rows are in an order that is as good as
        random, and always the same.
        """
        if rows is None:
            raise InvalidParameter(
                "Cross-validation needs rows and only candidates were given; call fit, or choose a "
                "penalty that needs none."
            )
        statistics, binning = candidates.statistics, candidates.binning
        rules = [candidates.pool.rules[i] for i in support]
        target = (rows.target - statistics.target_mean) / statistics.target_scale
        weights = np.ones(len(target)) if rows.weights is None else rows.weights
        sums = np.zeros(())
        for part in row_ranges(len(target), chunk_rows=max(1, CHUNK_VALUES // (len(rules) + 1))):
            span = slice(part.start, part.stop)
            holds = rule_columns(rules, binning, binning.encode(rows.table, part)).T
            others = np.empty((len(part), 0)) if more is None else more(part)
            A = np.hstack([np.ones((len(part), 1)), holds, others, target[span, None]])
            fold = np.arange(part.start, part.stop) % n_folds
            w = weights[span, None]
            in_fold = [fold == number for number in range(n_folds)]
            sums = sums + np.stack([A[each].T @ (w[each] * A[each]) for each in in_fold])
        return cls(sums)

    def scaled(self, factors: FloatArray) -> Folds:
        """Return the sums of the columns times a factor each."""
        all_factors = np.concatenate([[1.0], factors, [1.0]])
        return Folds(self.sums * np.outer(all_factors, all_factors))

    def design(self) -> Design:
        """Return the design of all rows."""
        return _design(self.sums.sum(axis=0))[0]

    def errors(self, fit: Fit) -> FloatArray:
        """Return the mean squared error on rows left out, for each penalty that `fit` tries."""
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
    n, means = float(sums[0, 0]), sums[0] / sums[0, 0]
    centred = sums - n * np.outer(means, means)
    C, c, yy = centred[1:-1, 1:-1], centred[1:-1, -1], float(centred[-1, -1])
    return Design(np.ascontiguousarray(C), c.copy(), yy, n, means[1:-1]), float(means[-1])
