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
from mossrules.learning.tidy import (
    drop_dependent,
    drop_idle,
    exempt_rules,
    importances,
    required_first,
    with_approved,
)
from mossrules.model.ruleset import RuleSet
from mossrules.solver.kernels.linalg import signed_weights, solve_in_order
from mossrules.solver.problems.squared import Problem

if TYPE_CHECKING:
    from mossrules.candidates.search import Candidates
    from mossrules.solver.problems.selection import SelectionProblem
    from mossrules.solver.result import Solution
    from mossrules.statistics import Statistics

__all__ = [
    "GAMMA_ROWS",
    "REFIT_RIDGE",
    "RIDGES",
    "SquaredError",
    "best_ridge",
    "refit_weights",
    "training_r2",
]

# gamma="auto" is this over the number of rows. With equal shrinkage R2 grows with gamma up to about
# 100, but times grow six- to tenfold for each step from 30 on (docs/estimator.md, "How large is
# gamma"). Where shrinkage is by tree frequency, most rules are shrunk more than gamma says; there
# 3000 has .002 more R2 than 1000 and .02 less Dice; 300 has .004 less R2, and .02 more Dice.
GAMMA_ROWS = {"equal": 30.0, "frequency": 1000.0}

# The paper's authors' value. Beside sums over rows it only settles ties between equal columns.
REFIT_RIDGE = 1e-3

# What refit_ridge="auto" chooses from: half decades from the smallest, which is none in effect, up.
RIDGES = REFIT_RIDGE * 10.0 ** (np.arange(13) / 2.0)


def refit_weights(
    statistics: Statistics,
    support: IntArray,
    signs: IntArray | None = None,
    ridge: float = REFIT_RIDGE,
) -> tuple[FloatArray, float]:
    """Return weights and intercept of the least squares fit, with a ridge on the weights.

    `signs` of all rules, if given, are kept.
    """
    C, q = _products(statistics, support)
    w = _weights(C, q, _scaled_ridge(statistics, ridge), None if signs is None else signs[support])
    return w, -float(np.sum(statistics.sums[support] * w)) / statistics.n


def _products(statistics: Statistics, support: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return G - uu'/n and q of some rules."""
    u = statistics.sums[support]
    return (
        statistics.G[np.ix_(support, support)] - np.outer(u, u) / statistics.n,
        statistics.q[support],
    )


def _scaled_ridge(statistics: Statistics, ridge: float) -> float:
    # Rows that weigh less than 1 in the mean shrink the ridge with them: weights of 1e-6 would
    # otherwise leave a model of nothing but the ridge.
    return ridge * min(1.0, statistics.row_weight)


def _weights(C: FloatArray, q: FloatArray, ridge: float, signs: IntArray | None) -> FloatArray:
    """Return (C + ridge I)^-1 q, or the best weights of the signs given."""
    A = C + ridge * np.eye(len(q))
    # Solved in a fixed order of operations, not by LAPACK, whose last bits depend on its maker.
    return solve_in_order(A, q) if signs is None else signed_weights(A, q, signs)


def best_ridge(statistics: Statistics, support: IntArray, signs: IntArray | None = None) -> float:
    """Return the ridge of `RIDGES` that generalised cross-validation finds best.

    That is the smallest n |y - a - M w|^2 / (n - p)^2, with p = 1 + tr (C + ridge I)^-1 C over the
    weights that are not 0: leave-one-out error, with the mean influence of a row in place of each
    row's own, so that sums over rows are all it needs. Of equally good ones the smallest.
    """
    C, q = _products(statistics, support)
    errors = []
    for ridge in RIDGES:
        scaled = _scaled_ridge(statistics, ridge)
        w = _weights(C, q, scaled, None if signs is None else signs[support])
        S = np.flatnonzero(w)
        A = C[np.ix_(S, S)]
        p = 1.0 + float(np.trace(np.linalg.solve(A + scaled * np.eye(len(S)), A)))
        left = statistics.yy - 2.0 * float(np.sum(q * w)) + float(w @ C @ w)
        free = max(statistics.n / statistics.row_weight - p, 1e-9)
        errors.append(left / free**2)
    # Rounded, so that ridges that differ by nothing do not win by the last bits of a sum.
    return float(RIDGES[int(np.argmin(np.round(np.array(errors) / min(errors), 9)))])


def training_r2(candidates: Candidates, rules: RuleSet) -> float:
    """Return R2 on the training rows of a rule set of candidates, from their statistics alone."""
    statistics = candidates.statistics
    if not statistics.yy:
        return 1.0  # a constant target is met
    places = {rule: place for place, rule in enumerate(candidates.pool.rules)}
    support = np.array([places[rule] for rule in rules.rules], dtype=np.int64)
    values, scale = statistics.values[support], statistics.target_scale
    # A rule whose rows have the mean of all rows has a column of zeros, and moves nothing.
    w = np.divide(rules.weights / scale, values, out=np.zeros_like(values), where=values != 0)
    a = (rules.intercept - statistics.target_mean) / scale
    G, u = statistics.G[np.ix_(support, support)], statistics.sums[support]
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
        gamma = GAMMA_ROWS[self.shrinkage] / statistics.n if gamma == "auto" else gamma
        factors = self.factors(statistics.counts)
        if self.intercept == "chosen":
            statistics = statistics.centred()
        if factors is not None:
            statistics = statistics.scaled(factors)
        problem = Problem(statistics, max_rules=max_rules, gamma=gamma)
        limits = self.all_constraints(check_constraints(constraints))
        return apply_constraints(problem, candidates, limits)

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
        if refit:
            support, w, a = self._refit(statistics, support, problem)
        elif isinstance(problem, Problem):
            # The solver weighs columns of its own: those of the problem, which may be scaled.
            factors = self.factors(statistics.counts)
            w = solution.weights if factors is None else solution.weights * factors[support]
            centred = self.intercept == "chosen"
            a = -float(np.sum(statistics.sums[support] * w)) / statistics.n if centred else 0.0
        else:
            w, a = solution.weights, 0.0
        return RuleSet.from_candidates(
            candidates,
            support,
            w * statistics.values[support] * statistics.target_scale,
            statistics.target_mean + a * statistics.target_scale,
            target=target,
        )

    def _refit(
        self, statistics: Statistics, support: IntArray, problem: SelectionProblem | None
    ) -> tuple[IntArray, FloatArray, float]:
        """Return the rules that stay, their weights and the intercept."""
        signs = None if problem is None else problem.signs
        if self.min_importance:
            support = self._tidy(statistics, support, problem)
        ridge = self._ridge(statistics, support, signs)
        return support, *refit_weights(statistics, support, signs, ridge)

    def _tidy(
        self,
        statistics: Statistics,
        chosen: IntArray,
        problem: SelectionProblem | None,
    ) -> IntArray:
        """Return the chosen rules without those that others express and those that hardly count.

        Those that constraints require stay, whatever they add, and as many approved ones as the
        problem asks for.
        """
        signs = None if problem is None else problem.signs
        required, approved = (chosen[which] for which in exempt_rules(problem, chosen))
        support = self.with_direction(statistics.values, chosen)
        C, _ = _products(statistics, support)
        w, _ = refit_weights(statistics, support, signs)
        counts = required_first(statistics.counts[support], np.isin(support, approved))
        counts = required_first(counts, np.isin(support, required))
        kept = support[drop_dependent(C, w, counts)]

        def fit(positions: IntArray) -> FloatArray:
            some = kept[positions]
            return refit_weights(statistics, some, signs, self._ridge(statistics, some, signs))[0]

        C, _ = _products(statistics, kept)
        tidy = np.union1d(kept[drop_idle(C, statistics.n, fit, self.min_importance)[0]], required)

        def sizes(some: IntArray) -> FloatArray:
            w, _ = refit_weights(statistics, some, signs)
            return importances(_products(statistics, some)[0], w, statistics.n)

        return with_approved(tidy, approved, 0 if problem is None else problem.min_approved, sizes)

    def _ridge(self, statistics: Statistics, support: IntArray, signs: IntArray | None) -> float:
        if self.refit_ridge == "auto" and len(support):
            return best_ridge(statistics, support, signs)
        given = self.refit_ridge
        return given if isinstance(given, float | int) else REFIT_RIDGE

    def training_fit(self, candidates: Candidates, rules: RuleSet) -> float:
        """Return R2 on the training rows."""
        return training_r2(candidates, rules)

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
