"""Ridge regression with non-negative weights, and how its penalty is chosen.

Notation (the rest as in `_design`)
    ridge    the penalty of glmnet
    S        where weights are positive

    min over w >= 0 of 1/(2n) |y - Z w|^2 + ridge/2 |w|^2
    GCV(ridge) = n |y - Z w|^2 / (n - d)^2  with  d = 1 + trace C_SS (C_SS + n ridge I)^-1
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import nnls

from mossrules._typing import FloatArray
from mossrules.baselines._design import Design
from mossrules.baselines._folds import Folds

__all__ = ["best_by_folds", "best_by_gcv", "ridge_grid", "solve_ridge"]

N_RIDGES = 100
STRONGEST = 1000.0  # of the largest covariance of a column and the target, as in glmnet
SHORTEST, SHORTEST_WIDE = 1e-4, 1e-2  # of the strongest; the second where columns outnumber rows


def solve_ridge(design: Design, ridge: float) -> FloatArray:
    """Return the best non-negative weights."""
    # A least squares problem with these sums: L L' = C + n ridge I and L t = c.
    L = cholesky(design.C + design.n * ridge * np.eye(design.m), lower=True)
    w: FloatArray = nnls(L.T, solve_triangular(L, design.c, lower=True))[0]
    return w


def ridge_grid(design: Design) -> FloatArray:
    """Return the penalties that glmnet would try, for a target of variance 1; strongest first."""
    top = STRONGEST * float(np.abs(design.c).max()) / design.n
    shortest = SHORTEST if design.n >= design.m else SHORTEST_WIDE
    return np.geomspace(top, shortest * top, N_RIDGES)


def best_by_gcv(design: Design) -> float:
    """Return the penalty of least error by generalised cross-validation, which needs no rows."""

    def score(ridge: float) -> float:
        w = solve_ridge(design, ridge)
        C = design.C[np.ix_(w > 0, w > 0)]
        eigenvalues = np.maximum(np.linalg.eigvalsh(C), 0.0)
        freedom = 1.0 + float(np.sum(eigenvalues / (eigenvalues + design.n * ridge)))
        # As many weights as rows fit anything: such a fit says nothing.
        left = design.n - freedom
        return design.n * design.residual(w) / left**2 if left > 0 else np.inf

    return float(min(ridge_grid(design), key=score))


def best_by_folds(design: Design, folds: Folds) -> float:
    """Return the penalty of least error on rows left out."""
    ridges = ridge_grid(design)
    errors = folds.errors(lambda part: [solve_ridge(part, ridge) for ridge in ridges])
    return float(ridges[np.argmin(errors)])
