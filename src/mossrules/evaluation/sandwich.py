"""Least squares and logistic regression with intervals that hold whatever the spread of the errors.

The variance of a coefficient is estimated by what each row, or each group of rows, moves it when it
is left out: the sandwich of MacKinnon and White (1985) known as HC3, and CV3 for groups (MacKinnon,
Nielsen and Webb 2023). Both assume no more than that rows, or groups, are independent. The smaller
sandwiches HC1 and CR1 cover too rarely where a rule holds on few rows or in few groups, which
`research/studies/coverage.py` measures.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import linprog
from scipy.special import expit
from scipy.stats import t as student

from mossrules._typing import BoolArray, FloatArray, IntArray
from mossrules.exceptions import InvalidTarget

__all__ = ["Coefficients", "independent_columns", "least_squares", "logistic", "separating_columns"]

TINY = 1e-9  # of a leverage: one minus it is a rounding
STEPS = 100  # of Newton's method; a dozen are many


@dataclass(frozen=True)
class Coefficients:
    """Coefficients of a regression; an error is NaN where a single row or group decides."""

    values: FloatArray
    errors: FloatArray
    degrees: float  # of freedom of the t distribution

    def interval(self, confidence: float) -> tuple[FloatArray, FloatArray]:
        """Return the ends of the t intervals."""
        width = student.ppf(0.5 + confidence / 2, self.degrees) * self.errors
        return self.values - width, self.values + width

    @property
    def p_values(self) -> FloatArray:
        """Two-sided, of the hypothesis that a coefficient is 0."""
        far = np.full(len(self.values), np.inf)  # of an error of 0, where residuals are
        ratio = np.abs(np.divide(self.values, self.errors, out=far, where=self.errors != 0))
        return np.asarray(2 * student.sf(ratio, self.degrees), dtype=np.float64)


def least_squares(
    M: FloatArray, y: FloatArray, weights: FloatArray | None, groups: IntArray | None
) -> Coefficients:
    """Return the coefficients of columns that are linearly independent."""
    w = np.ones(len(y)) if weights is None else weights
    root = np.sqrt(w)
    values = np.asarray(np.linalg.lstsq(M * root[:, None], y * root, rcond=None)[0], np.float64)
    return _with_errors(values, M, w, w * (y - M @ values), groups)


def logistic(
    M: FloatArray,
    y: FloatArray,
    weights: FloatArray | None,
    groups: IntArray | None,
    offset: FloatArray | None = None,
) -> Coefficients:
    """Return the maximum likelihood coefficients of the log-odds; there must be a maximum."""
    w = np.ones(len(y)) if weights is None else weights
    fixed = np.zeros(len(y)) if offset is None else offset

    def loss(values: FloatArray) -> float:
        eta = fixed + M @ values
        return float(np.sum(w * (np.logaddexp(0.0, eta) - y * eta)))

    values = np.zeros(M.shape[1])
    for _ in range(STEPS):
        p = expit(fixed + M @ values)
        curvature = w * p * (1 - p)
        score = M.T @ (w * (y - p))
        step = np.linalg.solve(M.T @ (M * curvature[:, None]), score)
        if float(score @ step) < 1e-18 * np.sum(w):  # twice what the likelihood can still gain
            return _with_errors(values, M, curvature, w * (y - p), groups)
        length, now = 1.0, loss(values)
        while loss(values + length * step) > now and length > 1e-6:
            length /= 2
        values = values + length * step
    raise InvalidTarget(
        "The logistic regression has not converged, as predictions and classes nearly separate; "
        "add rows."
    )


def _with_errors(
    values: FloatArray,
    M: FloatArray,
    curvature: FloatArray,
    residuals: FloatArray,
    groups: IntArray | None,
) -> Coefficients:
    """Return coefficients with the errors of leaving out each row, or each group.

    Without the rows g, a Newton step from the estimate moves it by (A - A_g)^-1 s_g, where A is the
    curvature of the loss and s_g the score of these rows. For least squares that is exact.
    """
    A = M.T @ (M * curvature[:, None])
    L = cholesky(A, lower=True)
    Z = solve_triangular(L, M.T, lower=True).T  # rows for which A is the identity
    if groups is None:
        moves, lost = _without_each_row(Z, curvature, residuals)
        factor, degrees = 1.0, float(max(len(M) - M.shape[1], 1))
    else:
        moves, lost = _without_each_group(Z, curvature, residuals, groups)
        n_groups = len(np.unique(groups))
        factor, degrees = (n_groups - 1) / n_groups, float(max(n_groups - 1, 1))
    back = solve_triangular(L, np.eye(len(L)), lower=True)
    errors = np.sqrt(factor * np.sum((moves @ back) ** 2, axis=0))
    # What is lost with a single row or group has no other to tell how it varies.
    size = np.sqrt(np.sum(back**2, axis=0))
    errors[(np.abs(lost @ back) > 1e-6 * size).any(axis=0)] = np.nan
    return Coefficients(values, errors, degrees)


def _without_each_row(
    Z: FloatArray, curvature: FloatArray, residuals: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return what leaving out each row moves, and directions that only a single row determines."""
    leverage = curvature * np.sum(Z**2, axis=1)
    alone = leverage > 1 - TINY
    moves = Z * (np.where(alone, 0.0, residuals) / np.where(alone, 1.0, 1 - leverage))[:, None]
    lengths = np.sqrt(np.sum(Z[alone] ** 2, axis=1))
    return moves, Z[alone] / lengths[:, None]


def _without_each_group(
    Z: FloatArray, curvature: FloatArray, residuals: FloatArray, groups: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return the same for groups of rows."""
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order], prepend=groups[order][0] - 1))
    moves, lost = [], []
    for rows in np.split(order, starts[1:]):
        left = np.eye(Z.shape[1]) - Z[rows].T @ (Z[rows] * curvature[rows, None])
        values, vectors = np.linalg.eigh(left)
        known = values > TINY
        score = vectors.T @ (Z[rows].T @ residuals[rows])
        moves.append(vectors[:, known] @ (score[known] / values[known]))
        lost.append(vectors[:, ~known].T)
    return np.array(moves), np.concatenate(lost)


# --- what cannot be estimated ---------------------------------------------------------------------


def independent_columns(M: FloatArray) -> BoolArray:
    """Tell of each column whether it is linearly independent of those before it."""
    patterns = np.unique(M, axis=0)  # rows that are alike add nothing to a rank
    kept: list[int] = []
    for column in range(M.shape[1]):
        tried = [*kept, column]
        if np.linalg.matrix_rank(patterns[:, tried]) == len(tried):
            kept = tried
    return np.isin(np.arange(M.shape[1]), kept)


def separating_columns(M: FloatArray, y: FloatArray) -> BoolArray:
    """Tell which columns have infinite effects in a logistic regression, if any have.

    A maximum is missing if some combination of columns is >= 0 wherever y is 1, <= 0 wherever it is
    0, and not 0 everywhere (Albert and Anderson 1984): a linear program looks for the largest sum.
    """
    sides = np.unique(np.column_stack([M, y]), axis=0)
    D = np.where(sides[:, -1:] > 0, 1.0, -1.0) * sides[:, :-1]
    found = linprog(
        -D.sum(axis=0),
        A_ub=np.vstack([-D, D]),
        b_ub=np.concatenate([np.zeros(len(D)), np.ones(len(D))]),
        bounds=(None, None),
    )
    if not found.success or -found.fun < 1e-6:
        return np.zeros(M.shape[1], dtype=bool)
    return np.asarray(np.abs(found.x) > 1e-6)
