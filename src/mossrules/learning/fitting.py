"""From a selection of rules to a rule set: weights, intercept, and the model without any rule.

Notation (shapes in brackets)
    G, q, n    Gram matrix and M'y of the chosen columns, total weight of the rows  (k, k), (k,), ()
    u          column sums M'1 = v_i N_ii: value times rows of each rule            (k,)
    w, a       weights and intercept, for a target of mean 0 and variance 1         (k,), ()

    (w, a) = argmin |y - a - M w|^2 + alpha |w|^2
           = (G - uu'/n + alpha I)^-1 q,  -u'w / n          as y sums to zero
"""

from __future__ import annotations

import numpy as np

from mossrules._typing import FloatArray, IntArray
from mossrules.candidates.search import Candidates
from mossrules.frontier import Frontier, FrontierPoint
from mossrules.model import RuleSet
from mossrules.solver import Report, Solution, Status
from mossrules.solver.kernels.linalg import solve_in_order
from mossrules.solver.kernels.signed import signed_weights
from mossrules.statistics import Statistics

__all__ = ["REFIT_RIDGE", "make_rules", "no_frontier", "no_rules", "refit_weights", "training_r2"]

REFIT_RIDGE = 1e-3  # the paper's authors'; next to sums over rows it only settles ties


def refit_weights(
    statistics: Statistics, support: IntArray, signs: IntArray | None = None
) -> tuple[FloatArray, float]:
    """Return weights and intercept of the least squares fit, with a small ridge on the weights.

    `signs` of all rules, if given, are kept. Where rows weigh less than 1 in the mean, so does the
    ridge, lest it be all that counts.
    """
    G, q = statistics.G[np.ix_(support, support)], statistics.q[support]
    u = statistics.values[support] * statistics.support[support]
    ridge = REFIT_RIDGE * min(1.0, statistics.row_weight)
    A = G - np.outer(u, u) / statistics.n + ridge * np.eye(len(support))
    w = solve_in_order(A, q) if signs is None else signed_weights(A, q, signs[support])
    return w, -float(np.sum(u * w)) / statistics.n


def training_r2(statistics: Statistics, support: IntArray, signs: IntArray | None = None) -> float:
    """Return R2 of the refitted rules on the training rows, from the statistics alone."""
    if not statistics.yy:
        return 1.0  # a constant target is met
    w, a = refit_weights(statistics, support, signs)
    G = statistics.G[np.ix_(support, support)]
    u = statistics.values[support] * statistics.support[support]
    left = statistics.yy - 2.0 * statistics.q[support] @ w + w @ G @ w
    return 1.0 - float(left + 2.0 * a * (u @ w) + statistics.n * a**2) / statistics.yy


def make_rules(
    candidates: Candidates,
    solution: Solution,
    *,
    refit: bool,
    target: str | None,
    signs: IntArray | None = None,
) -> RuleSet:
    """Return the chosen rules with what each adds to a prediction, in the target's units."""
    statistics, support = candidates.statistics, solution.support
    w, a = refit_weights(statistics, support, signs) if refit else (solution.weights, 0.0)
    return RuleSet.from_candidates(
        candidates,
        support,
        w * statistics.values[support] * statistics.target_scale,
        statistics.target_mean + a * statistics.target_scale,
        target=target,
    )


# --- where there is nothing to choose from --------------------------------------------------------


def no_rules(loss: float) -> Solution:
    """Return the only selection there is where there are no candidates, of this loss."""
    return Solution(
        support=np.empty(0, dtype=np.int64),
        weights=np.empty(0),
        loss=loss,
        stability=0,
        bound=loss,
        status=Status.OPTIMAL,
        report=Report("none", "there are no candidate rules", 0.0, 0.0),
    )


def no_frontier(solution: Solution, max_rules: int) -> Frontier:
    """Return the frontier of a model without candidates: one point."""
    return Frontier(
        entries=(FrontierPoint(0, solution),),
        largest_stability=0,
        null_loss=solution.loss,
        max_rules=max_rules,
        gamma=float("nan"),
        complete=True,
    )
