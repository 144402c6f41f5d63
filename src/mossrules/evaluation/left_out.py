"""How sure the effects of a rule set are: by what refits mispredict on rows that they left out.

Rules that were chosen because they fit some rows leave residuals there that are too small, most of
all where rows come in few groups: with fifty groups that differ, the residuals of six chosen rules
had two thirds of the variance that they have in other groups. Errors made of them make intervals
too narrow, and so do refits of the chosen rules to parts of the same rows. What the refits that
left out a row predict for it knows nothing of its target, and neither does the residual.

Notation (shapes in brackets)
    M, w       ones and the columns of the rules; weights of the rows              (n, 1 + k), (n,)
    e          target less the mean prediction of the refits that left out the row           (n,)
    c          curvature of the loss: 1, of classes p (1 - p) for the model's own p          (n,)

    A   = sum_i w_i c_i M_i M_i'
    S_g = sum_{i in g} w_i e_i M_i               over the rows of a group; each row is one without
    V   = A^-1 (sum_g S_g S_g') A^-1             White (1980); of groups Liang and Zeger (1986)

An interval is effect +- t sqrt(V_jj), with G - 1 degrees of freedom, or n - 1 - k without groups.
Of many rows some stand for all: A and each row's own S_i S_i' grow by the factor f = n / sampled,
and products of two rows of a group by its square.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from mossrules._typing import BoolArray, FloatArray, IntArray

__all__ = ["LeftOut", "effect_errors", "half_widths"]

TINY = 1e-9  # of the largest curvature: what is flatter no row determines


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Rows with what is observed there, and which refits left them out."""

    which: IntArray  # of the people: each row is one of them, or a repetition
    target: FloatArray  # numbers, or 1 where the outcome is and 0 elsewhere
    weights: FloatArray
    groups: IntArray | None
    without: Sequence[BoolArray]  # of each refit, which of these rows it left out
    share: float  # of all rows that these are

    def residuals(self, predictions: Sequence[FloatArray]) -> FloatArray:
        """Return the target less what refits predict that left the row out; NaN if none did.

        `predictions` of each refit are of the people.
        """
        total, times = np.zeros(len(self.which)), np.zeros(len(self.which))
        for left_out, predicted in zip(self.without, predictions, strict=True):
            total[left_out] += predicted[self.which[left_out]]
            times += left_out
        mean = np.divide(total, times, out=np.full(len(total), np.nan), where=times > 0)
        return np.asarray(self.target - mean, dtype=np.float64)


def effect_errors(
    rows: LeftOut,
    holds: BoolArray,
    own: FloatArray,
    predictions: Sequence[FloatArray],
    *,
    of_classes: bool,
) -> tuple[FloatArray, float]:
    """Return standard errors of the intercept and of each effect, and the degrees of freedom.

    `holds` says which rules hold for the people, and `own` what the rule set predicts for them.
    The error of an effect that no row determines is NaN.
    """
    e = rows.residuals(predictions)
    known = ~np.isnan(e)
    M = np.column_stack([np.ones(len(holds)), holds])[rows.which[known]]
    w, groups = rows.weights[known], None if rows.groups is None else rows.groups[known]
    p = own[rows.which[known]]
    n, factor = len(rows.which) / rows.share, 1.0 / rows.share
    A = factor * _products(M, w * p * (1.0 - p) if of_classes else w)
    inverse, determined = _inverse(A)
    scores = (w * e[known])[:, None] * M @ inverse
    alone = np.sum(scores**2, axis=0)
    variances = factor * alone
    degrees = n - M.shape[1]
    if groups is not None:
        sums = np.zeros((int(groups.max(initial=-1)) + 1, M.shape[1]))
        np.add.at(sums, groups, scores)
        together = factor**2 * (np.sum(sums**2, axis=0) - alone)
        # Of a sample, the part that rows of a group share may come out below 0 by chance.
        variances += together if factor == 1.0 else np.maximum(together, 0.0)
        degrees = len(np.unique(groups)) - 1.0
    if degrees < 1:  # a single group, say, tells of no spread
        return np.full(M.shape[1], np.nan), 1.0
    # Rows, or groups, that every refit had are like the others: there are just fewer of these.
    errors = np.sqrt(np.maximum(variances, 0.0) * known.mean())
    return np.where(determined, errors, np.nan), float(degrees)


def half_widths(errors: FloatArray, degrees: float, confidence: float) -> FloatArray:
    """Return half the widths of the t intervals."""
    return np.asarray(student.ppf(0.5 + confidence / 2.0, degrees) * errors, dtype=np.float64)


def _products(M: FloatArray, weights: FloatArray) -> FloatArray:
    """Return M' diag(weights) M, summed in the order of the rows."""
    return np.asarray(np.einsum("ij,i,ik->jk", M, weights, M), dtype=np.float64)


def _inverse(A: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Return the inverse where A has one, and which coefficients it determines."""
    size = np.sqrt(np.maximum(np.diag(A), 0.0))
    scale = np.where(size > 0, size, 1.0)
    values, vectors = np.linalg.eigh(A / np.outer(scale, scale))
    known = values > TINY * values.max(initial=0.0)
    kept = vectors[:, known]
    inverse = (kept / values[known]) @ kept.T / np.outer(scale, scale)
    lost = np.abs(vectors[:, ~known]).max(axis=1, initial=0.0)
    return inverse, (lost < TINY**0.5) & (size > 0)
