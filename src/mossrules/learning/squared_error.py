"""The loss for a numeric target: squared error, refitted from statistics alone, without rows.

Notation (shapes in brackets)
    G, q, n    Gram matrix and M'y of the chosen columns, total weight of the rows  (k, k), (k,), ()
    u          column sums M'1 = v_i N_ii: value times rows of each rule            (k,)
    w, a       weights and intercept, for a target of mean 0 and variance 1         (k,), ()

    (w, a) = argmin |y - a - M w|^2 + alpha |w|^2
           = (G - uu'/n + alpha I)^-1 q,  -u'w / n          as y sums to zero

The intercept has no ridge: a model may be off by a constant at no price.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.metrics import mean_squared_error, r2_score

from mossrules._typing import FloatArray, IntArray
from mossrules.constraints.compile import apply_constraints, check_constraints
from mossrules.learning.objective import Objective, Score, no_rules
from mossrules.model.ruleset import RuleSet
from mossrules.solver.kernels.linalg import signed_weights, solve_in_order
from mossrules.solver.problems.squared import Problem

if TYPE_CHECKING:
    from mossrules.candidates.search import Candidates
    from mossrules.solver.problems.selection import SelectionProblem
    from mossrules.solver.result import Solution
    from mossrules.statistics import Statistics

__all__ = ["GAMMA_ROWS", "REFIT_RIDGE", "SquaredError", "refit_weights", "training_r2"]

# gamma="auto" is this over the number of rows. R2 grows with gamma up to about 100, but times grow
# six- to tenfold for each step from 30 on (docs/estimator.md, "How large is gamma").
GAMMA_ROWS = 30.0

# The paper's authors' value. Beside sums over rows it only settles ties between equal columns.
REFIT_RIDGE = 1e-3


def refit_weights(
    statistics: Statistics, support: IntArray, signs: IntArray | None = None
) -> tuple[FloatArray, float]:
    """Return weights and intercept of the least squares fit, with a small ridge on the weights.

    `signs` of all rules, if given, are kept.
    """
    G, q = statistics.G[np.ix_(support, support)], statistics.q[support]
    u = statistics.values[support] * statistics.support[support]
    # Rows that weigh less than 1 in the mean shrink the ridge with them: weights of 1e-6 would
    # otherwise leave a model of nothing but the ridge.
    ridge = REFIT_RIDGE * min(1.0, statistics.row_weight)
    # Solved in a fixed order of operations, not by LAPACK, whose last bits depend on its maker.
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


@dataclass(frozen=True)
class SquaredError(Objective):
    """The loss of numbers: half the sum of squared errors, with a ridge on the weights."""

    def build_problem(
        self,
        candidates: Candidates,
        *,
        max_rules: int,
        gamma: float | Literal["auto"],
        constraints: Any = None,
    ) -> Problem:
        """Return the problem of choosing among candidates, with no floor yet."""
        statistics = candidates.statistics
        # The ridge 1/gamma stands beside sums over n rows: a constant over n shrinks a mean by the
        # same factor in tables of all sizes.
        gamma = GAMMA_ROWS / statistics.n if gamma == "auto" else gamma
        problem = Problem(statistics, max_rules=max_rules, gamma=gamma)
        if constraints is None:
            return problem
        return apply_constraints(problem, candidates, check_constraints(constraints))

    def null_solution(self, candidates: Candidates) -> Solution:
        """Return the solution without rules: its loss is yy/2."""
        return no_rules(0.5 * candidates.statistics.yy)

    def rule_set(
        self,
        candidates: Candidates,
        solution: Solution,
        problem: SelectionProblem | None,
        *,
        refit: bool,
        target: str | None,
    ) -> RuleSet:
        """Return the chosen rules with what each adds to a prediction, in the target's units."""
        statistics, support = candidates.statistics, solution.support
        signs = None if problem is None else problem.signs
        w, a = refit_weights(statistics, support, signs) if refit else (solution.weights, 0.0)
        return RuleSet.from_candidates(
            candidates,
            support,
            w * statistics.values[support] * statistics.target_scale,
            statistics.target_mean + a * statistics.target_scale,
            target=target,
        )

    def score(
        self,
        candidates: Candidates,  # noqa: ARG002
        target: FloatArray,
        predicted: FloatArray,
        weights: FloatArray | None,
    ) -> Score:
        """Return R2 and the mean squared error."""
        return Score(
            float(r2_score(target, predicted, sample_weight=weights)),
            float(mean_squared_error(target, predicted, sample_weight=weights)),
        )
