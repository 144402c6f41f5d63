"""SIRUS's three steps: when a forest is large enough, which rules to take, and their weights.

**Agreement** of two forests of M trees, by the tree frequencies p of their rules
    p0        a threshold: the rules with p > p0 are chosen
    phi       chance that a forest chooses a rule: Phi((p - p0) / sqrt(p (1 - p) / M))
    sum phi^2 / sum phi    the Dice agreement to be expected between two such forests

**Independence.** A rule is redundant if its column of 0 and 1 is a linear combination of a constant
and the columns of the rules kept so far, whatever the rows: as functions on all combinations of
codes that the columns of the table can have. It does not count that two rules happen to hold on the
same rows.
    D_f       codes that column f can have
    <a, b>    share of all combinations on which rules a and b both hold: a product over columns,
              of |a_f and b_f| / |D_f|, as a rule is a set of codes for each column
    cos       <a, b> / sqrt(<a, a> <b, b>)
    K = LL'   cosines of a constant and the rules kept so far, with each other
    k         their cosines with rule b

Rule b depends on them exactly if its squared distance from their span, as a share of its square,
is zero: 1 - k'K^-1 k = 1 - z'z with L z = k. If not, (z, sqrt(1 - z'z)) is the next row of L.

**Ridge** with non-negative weights, and how its penalty is chosen (the rest as in `designs`)
    ridge    the penalty of glmnet
    S        where weights are positive

    min over w >= 0 of 1/(2n) |y - Z w|^2 + ridge/2 |w|^2
    GCV(ridge) = n |y - Z w|^2 / (n - d)^2  with  d = 1 + trace C_SS (C_SS + n ridge I)^-1
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import nnls
from scipy.special import ndtr

from mossrules._typing import BoolArray, FloatArray, IntArray
from mossrules.baselines.designs import Design, Folds
from mossrules.candidates.cuts import MISSING, Binning
from mossrules.candidates.pool import CandidatePool
from mossrules.candidates.rules import OPEN, Condition, Range, Rule

__all__ = [
    "STEP",
    "best_by_folds",
    "best_by_gcv",
    "expected_agreement",
    "independent_rules",
    "ridge_grid",
    "settled_trees",
    "solve_ridge",
]

STEP = 1000  # trees, as in the R package
N_THRESHOLDS = 50  # likewise
TOLERANCE = 1e-9  # for rounding; squared distances that are not zero are larger by far

N_RIDGES = 100
STRONGEST = 1000.0  # of the largest covariance of a column and the target, as in glmnet
SHORTEST, SHORTEST_WIDE = 1e-4, 1e-2  # of the strongest; the second where columns outnumber rows

Sets = Mapping[str, BoolArray]  # the codes of D_f that a rule accepts, for each column it looks at


# --- how many trees -------------------------------------------------------------------------------


def expected_agreement(frequencies: FloatArray, n_trees: int) -> float:
    """Return the agreement of two forests, on average over thresholds between frequent rules."""
    levels = np.unique(frequencies)[::-1][: N_THRESHOLDS + 1]
    thresholds = (levels[1:] + levels[:-1]) / 2
    if len(thresholds) == 0:
        return 1.0  # all rules or none
    # Trees with a rule are binomial; the normal approximation is that of the R package.
    spread = np.sqrt(frequencies * (1.0 - frequencies) / n_trees)
    distance = frequencies - thresholds[:, None]
    certain = np.copysign(np.inf, distance)  # a rule of all trees is in every forest
    phi = ndtr(np.divide(distance, spread, out=certain, where=spread > 0))
    return float(np.mean((phi**2).sum(axis=1) / phi.sum(axis=1)))


def settled_trees(pool: CandidatePool, agreement: float, *, after: int = 0) -> int | None:
    """Return the first multiple of a thousand trees at which forests agree so well, or None.

    The first trees of a forest are a forest, so a large one tells of all smaller ones; those of up
    to `after` trees were asked before.
    """
    # All pairs of a rule and a tree that has it, so that a part of the forest is a mask.
    rule = np.repeat(np.arange(len(pool)), pool.counts)
    tree = np.array([number for trees in pool.trees for number in trees], dtype=np.int64)
    for n_trees in range(after + STEP, pool.n_trees + 1, STEP):
        counts: IntArray = np.bincount(rule[tree < n_trees], minlength=len(pool))
        if expected_agreement(counts[counts > 0] / n_trees, n_trees) >= agreement:
            return n_trees
    return None


# --- which rules ----------------------------------------------------------------------------------


def independent_rules(rules: Sequence[Rule], binning: Binning, max_rules: int) -> IntArray:
    """Return the positions of the first `max_rules` rules that do not depend on those before."""
    # The R package tells dependence by symbols for depth 2 and by the rank of random rows beyond;
    # the inner products below are exact at any depth, and cost no rows.
    kept: list[int] = []
    sets: list[Sets] = [{}]  # the constant: it holds everywhere
    sizes = [1.0]
    L = np.ones((1, 1))
    for position, candidate in enumerate(_sets_of_codes(rules, binning)):
        if len(kept) == max_rules:
            break
        size = _overlap(candidate, candidate)
        overlaps = np.array([_overlap(candidate, other) for other in sets])
        z = solve_triangular(L, overlaps / np.sqrt(size * np.array(sizes)), lower=True)
        distance = 1.0 - float(z @ z)
        if distance > TOLERANCE:
            kept.append(position)
            sets.append(candidate)
            sizes.append(size)
            L = np.pad(L, (0, 1))
            L[-1] = [*z, np.sqrt(distance)]
    return np.array(kept, dtype=np.int64)


def _sets_of_codes(rules: Sequence[Rule], binning: Binning) -> Iterator[Sets]:
    """Yield for each rule and each column it looks at which of the column's codes it accepts."""
    conditions = [condition for rule in rules for condition in rule.conditions]
    missing = _columns_with_missing(conditions)
    domains = {
        name: np.arange(MISSING if name in missing else 1, binning[name].n_values + 1)
        for name in {condition.feature for condition in conditions}
    }
    for rule in rules:
        yield {
            condition.feature: condition.accepts(binning[condition.feature])[
                domains[condition.feature]
            ]
            for condition in rule.conditions
        }


def _columns_with_missing(conditions: Iterable[Condition]) -> set[str]:
    """Return the columns that had missing values in training, as far as rules speak of them."""
    return {
        condition.feature
        for condition in conditions
        if (
            condition.missing or (condition.low, condition.high) == (1, OPEN)
            if isinstance(condition, Range)
            else None in condition.levels
        )
    }


def _overlap(a: Sets, b: Sets) -> float:
    """Return <a, b>: the share of all combinations of codes on which both rules hold."""
    both = (a[name] & b[name] if name in a and name in b else {**a, **b}[name] for name in {*a, *b})
    return prod(float(accepted.mean()) for accepted in both)


# --- their weights --------------------------------------------------------------------------------


def solve_ridge(design: Design, ridge: float) -> FloatArray:
    """Return the best non-negative weights."""
    # A least squares problem with these sums: L L' = C + n ridge I and L t = c. Active sets are
    # exact. scikit-learn's Ridge(positive=True), which is L-BFGS, gave the same rules on 12 fits
    # and took 400 to 2,600 times as long.
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
        # trace C (C + n ridge I)^-1 by eigenvalues: no inverse of a matrix that may be singular.
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
