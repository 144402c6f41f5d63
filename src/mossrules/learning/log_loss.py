"""The loss of classes: logistic, with log-odds refitted from patterns, and calibrated.

Notation (shapes in brackets)
    X       distinct patterns of the chosen rules, with a column of ones         (P, k + 1)
    eta, p  log-odds and probability of class 1 of each pattern                  (P,)
    t       total weight of the rows of each pattern                             (P,)
    A       X' diag(t p (1 - p)) X + ridge, the curvature of the penalised loss  (k + 1, k + 1)
    g       x' A^-1 x: how much a row moves its own log-odds                     (P,)

Without a row of class y, by one Newton step, its log-odds would be

    eta - g (y - p) / (1 - g p (1 - p))

so that each training row has a prediction by weights that were fitted without it, from one solve in
place of a refit per row. (Sample weights count as numbers of rows: what is left out is one of
them.) The choice of the rules has seen the row all the same: how a model does on other rows,
`evaluate` measures.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.special import expit, logit
from sklearn.metrics import log_loss

from mossrules._typing import FloatArray, IntArray
from mossrules.constraints.compile import apply_constraints, check_constraints
from mossrules.exceptions import InvalidParameter
from mossrules.learning.objective import Objective, Score, no_rules
from mossrules.learning.tidy import (
    drop_dependent,
    drop_idle,
    exempt_rules,
    importances,
    required_first,
    with_approved,
)
from mossrules.model.calibration import Calibration
from mossrules.model.events import Events
from mossrules.model.ruleset import RuleSet
from mossrules.solver.problems.logistic import GAMMA_INFORMATION, LogisticProblem

if TYPE_CHECKING:
    from mossrules.candidates.search import Candidates
    from mossrules.data.columns import Label
    from mossrules.patterns import Patterns
    from mossrules.solver.problems.selection import SelectionProblem
    from mossrules.solver.result import Solution

__all__ = [
    "LogLoss",
    "LogOdds",
    "best_log_odds",
    "events_of",
    "refit_log_odds",
    "share_log_odds",
    "training_explained",
    "training_log_losses",
]

# On log-odds: a normal prior around 0 with a standard deviation of 3, so 1 / 3^2. It keeps weights
# finite where rules separate the classes without error; beside more than a few rows it is nothing.
REFIT_RIDGE = 1.0 / 9.0
# What refit_ridge="auto" chooses from, in half decades: standard deviations of 9.5 to 0.3.
RIDGES = REFIT_RIDGE * 10.0 ** (np.arange(-2, 5) / 2.0)
# gamma="auto" is this over n share (1 - share), the unit of log-odds: see the squared loss's.
GAMMAS = {"equal": GAMMA_INFORMATION, "frequency": 10.0 * GAMMA_INFORMATION}
MIN_SLOPE = 0.05  # of a calibration: a negative one would turn the meaning of all rules around
MAX_STEPS = 50  # of Newton's method, for two numbers


@dataclass(frozen=True)
class LogLoss(Objective):
    """The loss for two classes: rules add up to the log-odds of one of them, the outcome.

    With several classes, each has a model against all others, `calibrated` so that their
    probabilities can be compared.
    """

    outcome: Label | None
    calibrated: bool = False
    events: Events | None = None  # of weighted rows; others are counted by their weight

    needs_patterns = True

    def build_problem(
        self,
        candidates: Candidates,
        *,
        max_rules: int,
        gamma: float | Literal["auto"],
        constraints: Any = None,
    ) -> LogisticProblem:
        """Return the problem of choosing among candidates, with no floor yet."""
        if candidates.patterns is None:
            raise InvalidParameter(
                "The candidates were found without the patterns that the logistic loss is of; find "
                "them with patterns=True."
            )
        patterns = candidates.patterns
        if gamma == "auto":
            gamma = GAMMAS[self.shrinkage] / patterns.information
        factors = self.factors(patterns.counts)
        if factors is not None:
            patterns = replace(patterns, values=patterns.values * factors)
        problem = LogisticProblem(patterns, max_rules=max_rules, gamma=gamma)
        limits = self.all_constraints(check_constraints(constraints))
        return apply_constraints(problem, candidates, limits)

    def null_solution(self, candidates: Candidates) -> Solution:
        """Return the solution without rules: its loss is n times the entropy of the classes."""
        statistics = candidates.statistics
        share = statistics.target_mean
        if not 0.0 < share < 1.0:
            return no_rules(0.0)
        entropy = -share * np.log(share) - (1.0 - share) * np.log1p(-share)  # of one row
        return no_rules(float(statistics.n * entropy))

    def rule_set(
        self,
        candidates: Candidates,
        solution: Solution,
        problem: SelectionProblem | None,
        *,
        refit: bool,
        target: str | None,
    ) -> RuleSet:
        """Return the chosen rules with what each adds to the log-odds of the outcome."""
        support, log_odds = self._log_odds(candidates, solution, problem, refit=refit)
        statistics = candidates.statistics
        weights, calibration = np.empty(0), None
        intercept = share_log_odds(statistics.target_mean, statistics.n)  # without rules
        if log_odds is not None:
            weights, intercept = log_odds.weights, log_odds.intercept
            calibration = log_odds.calibration
        return RuleSet.from_candidates(
            candidates,
            support,
            weights,
            intercept,
            target=target,
            link="logit",
            outcome=self.outcome,
            calibration=calibration,
            events=self.events or events_of(candidates),
        )

    def _log_odds(
        self,
        candidates: Candidates,
        solution: Solution,
        problem: SelectionProblem | None,
        *,
        refit: bool,
    ) -> tuple[IntArray, LogOdds | None]:
        """Return the rules that stay, and what they add; None where there are none."""
        patterns, support = candidates.patterns, solution.support
        if patterns is None or not isinstance(problem, LogisticProblem) or len(support) == 0:
            return support, None
        if refit:
            if self.min_importance:
                support = self._tidy(patterns, support, problem)
            log_odds = self._refitted(patterns, support, problem.signs)
        else:
            # The solver's ridge is on weights of columns v_i; on those of 0 and 1 it is 1/v_i^2.
            values = problem.patterns.values[support]
            ridge = 1.0 / (problem.gamma * np.maximum(values**2, 1e-12))
            weights = solution.weights * values
            log_odds = log_odds_of(patterns.collapsed(support), weights, solution.intercept, ridge)
        return support, log_odds.calibrated() if self.calibrated else log_odds

    def _refitted(self, patterns: Patterns, support: IntArray, signs: IntArray | None) -> LogOdds:
        """Return the log-odds of rules, with the ridge asked for."""
        if self.refit_ridge == "auto" and len(support):
            return best_log_odds(patterns, support, signs)
        given = self.refit_ridge
        ridge = given if isinstance(given, float | int) else REFIT_RIDGE
        return refit_log_odds(patterns, support, signs, ridge)

    def _tidy(
        self,
        patterns: Patterns,
        chosen: IntArray,
        problem: LogisticProblem,
    ) -> IntArray:
        """Return the chosen rules without those that others express and those that hardly count.

        Those that constraints require stay, whatever they add, and as many approved ones as the
        problem asks for.
        """
        signs = problem.signs
        required, approved = (chosen[which] for which in exempt_rules(problem, chosen))
        support = self.with_direction(patterns.values, chosen)
        C = _centred_products(patterns.collapsed(support))
        w = refit_log_odds(patterns, support, signs).weights
        counts = required_first(patterns.counts[support], np.isin(support, approved))
        counts = required_first(counts, np.isin(support, required))
        independent = drop_dependent(C, w, counts)
        kept, C = support[independent], C[np.ix_(independent, independent)]

        def fit(positions: IntArray) -> FloatArray:
            return self._refitted(patterns, kept[positions], signs).weights

        tidy = np.union1d(kept[drop_idle(C, patterns.n, fit, self.min_importance)[0]], required)

        def sizes(some: IntArray) -> FloatArray:
            w = refit_log_odds(patterns, some, signs).weights
            return importances(_centred_products(patterns.collapsed(some)), w, patterns.n)

        return with_approved(tidy, approved, problem.min_approved, sizes)

    def training_fit(self, candidates: Candidates, rules: RuleSet) -> float:
        """Return the share of the log-loss on the training rows that rules explain."""
        return training_explained(candidates, rules)

    def score(
        self,
        candidates: Candidates,
        target: FloatArray,
        predicted: FloatArray,
        weights: FloatArray | None,
    ) -> Score:
        """Return the share of the log-loss that is explained, and the log-loss."""
        statistics = candidates.statistics
        alone = share_log_odds(statistics.target_mean, statistics.n)
        without = np.full(len(target), 1.0 / (1.0 + np.exp(-alone)))
        loss, null = (
            float(log_loss(target, probability, sample_weight=weights, labels=[0, 1]))
            for probability in (predicted, without)
        )
        return Score(1.0 - loss / null, loss)


@dataclass(frozen=True)
class LogOdds:
    """What the chosen rules add to the log-odds of class 1 where they hold."""

    weights: FloatArray  # of columns of 0 and 1
    intercept: float
    left_out: FloatArray  # log-odds of rows, each by weights that were fitted without it  (2, P)
    rows: FloatArray  # total weight of the rows of class 1 and of class 0                 (2, P)

    @property
    def loss_left_out(self) -> float:
        """The log-loss over all rows, each by weights that were fitted without it."""
        signed = self.left_out * np.array([[-1.0], [1.0]])
        return float(np.sum(self.rows * np.logaddexp(0.0, signed)))

    @property
    def calibration(self) -> Calibration:
        """The rows by predictions that were made without them."""
        classes = np.repeat([1.0, 0.0], self.rows.shape[1])
        return Calibration.of(expit(self.left_out.ravel()), classes, self.rows.ravel())

    def calibrated(self) -> LogOdds:
        """Return the log-odds moved and stretched to fit rows that were left out (Platt's way)."""
        slope, offset = platt(self.left_out, self.rows)
        return LogOdds(
            slope * self.weights,
            slope * self.intercept + offset,
            slope * self.left_out + offset,
            self.rows,
        )


def _centred_products(chosen: Patterns) -> FloatArray:
    """Return the products of columns of 0 and 1 less their means, over all rows."""
    active = chosen.active(np.arange(chosen.m)).astype(np.float64)
    rows = chosen.positives + chosen.negatives
    support = rows @ active
    return np.asarray(active.T @ (rows[:, None] * active) - np.outer(support, support) / chosen.n)


def best_log_odds(patterns: Patterns, support: IntArray, signs: IntArray | None = None) -> LogOdds:
    """Return the log-odds with the ridge of `RIDGES` whose log-loss on rows left out is smallest.

    Of equally good ones the smallest.
    """
    fits = [refit_log_odds(patterns, support, signs, ridge) for ridge in RIDGES]
    losses = [each.loss_left_out for each in fits]
    # Rounded, so that ridges that differ by nothing do not win by the last bits of a sum.
    return fits[int(np.argmin(np.round(np.array(losses) / min(losses), 9)))]


def refit_log_odds(
    patterns: Patterns,
    support: IntArray,
    signs: IntArray | None = None,
    ridge: float = REFIT_RIDGE,
) -> LogOdds:
    """Return the log-odds of greatest likelihood, with a ridge on the weights.

    `signs` of all rules' columns, if given, are kept.
    """
    # Columns of 0 and 1, where the search had 0 and v_i: people read weights of these, and the
    # ridge is then on log-odds. A sign asked of w_i is turned for w_i v_i where v_i is negative.
    chosen = patterns.collapsed(support)
    if signs is not None:
        signs = (signs[support] * np.sign(chosen.values)).astype(np.int64)
    plain = replace(chosen, values=np.ones(chosen.m))
    k = chosen.m
    problem = LogisticProblem(plain, max_rules=max(1, k), gamma=1.0 / ridge, signs=signs)
    fit = problem.fit(np.arange(k))
    return log_odds_of(plain, fit.weights, fit.intercept, ridge)


def log_odds_of(
    patterns: Patterns, weights: FloatArray, intercept: float, ridge: float | FloatArray
) -> LogOdds:
    """Return log-odds of patterns of 0 and 1, with those of rows that are left out."""
    active = patterns.active(np.arange(patterns.m)).astype(np.float64)
    X = np.column_stack([active, np.ones(len(active))])
    rows = np.stack([patterns.positives, patterns.negatives])
    eta = active @ weights + intercept
    p = expit(eta)
    curvature = p * (1.0 - p)
    penalty = np.append(np.broadcast_to(ridge, patterns.m), 0.0)
    A = X.T @ ((rows.sum(axis=0) * curvature)[:, None] * X) + np.diag(penalty)
    g = np.einsum("pi,pi->p", X, np.linalg.solve(A + 1e-10 * np.eye(len(A)), X.T).T)
    # A row of its own pattern has all of its curvature but the ridge's: 1 - g p (1 - p) is above 0.
    left = np.maximum(1.0 - g * curvature, 1e-3)
    left_out = np.stack([eta - g * (1.0 - p) / left, eta + g * p / left])
    return LogOdds(weights, intercept, left_out, rows)


def events_of(candidates: Candidates) -> Events:
    """Return how many rows have the outcome, by their weight."""
    n = round(candidates.statistics.n)
    with_outcome = round(candidates.statistics.n * candidates.statistics.target_mean)
    return Events(with_outcome, n - with_outcome)


def share_log_odds(share: float, n: float) -> float:
    """Return the log-odds of a share of n rows; of none or all, of half a row less or more."""
    return float(logit(min(max(share, 0.5 / (n + 1.0)), (n + 0.5) / (n + 1.0))))


def platt(left_out: FloatArray, rows: FloatArray) -> tuple[float, float]:
    """Return slope and offset that make log-odds of rows left out the likeliest.

    By Newton's method on two numbers. With N+ rows of class 1 and N- of class 0, targets are
    (N+ + 1) / (N+ + 2) and 1 / (N- + 2) in place of 1 and 0, as in Platt's paper: where rules
    separate the classes, slope and offset stay finite.
    """
    totals = rows.sum(axis=1)
    sure = np.array([[(totals[0] + 1.0) / (totals[0] + 2.0)], [1.0 / (totals[1] + 2.0)]])
    x = np.array([1.0, 0.0])
    for _ in range(MAX_STEPS):
        p = expit(x[0] * left_out + x[1])
        error, curvature = rows * (p - sure), rows * p * (1.0 - p)
        slope = np.array([(error * left_out).sum(), error.sum()])
        cross = (curvature * left_out).sum()
        A = np.array([[(curvature * left_out**2).sum(), cross], [cross, curvature.sum()]])
        # The ridge keeps A invertible where all log-odds are equal.
        step = np.linalg.solve(A + 1e-9 * np.eye(2) * max(1.0, np.trace(A)), slope)
        x = x - np.clip(step, -1.0, 1.0)  # far from the optimum, a whole step may overshoot
        if np.abs(step).max() < 1e-10:
            break
    if x[0] >= MIN_SLOPE:
        return float(x[0]), float(x[1])
    # Rules that say nothing about rows left out: little more than the share of the class.
    return MIN_SLOPE, float(logit(totals[0] / totals.sum()))


def training_explained(candidates: Candidates, rules: RuleSet) -> float:
    """Return the share of the log-loss that a rule set of candidates explains, from patterns."""
    patterns = candidates.patterns
    if patterns is None:
        return 1.0  # all rows are of one class
    places = {rule: place for place, rule in enumerate(candidates.pool.rules)}
    chosen = patterns.collapsed(np.array([places[rule] for rule in rules.rules], dtype=np.int64))
    eta = chosen.active(np.arange(chosen.m)) @ rules.weights + rules.intercept
    loss = chosen.positives @ np.logaddexp(0.0, -eta) + chosen.negatives @ np.logaddexp(0.0, eta)
    totals = np.array([chosen.positives.sum(), chosen.negatives.sum()])
    return 1.0 + float(loss / np.sum(totals * np.log(totals / totals.sum())))


def training_log_losses(
    codes: IntArray, probabilities: FloatArray, weights: FloatArray | None = None
) -> tuple[float, float]:
    """Return the log-loss of the probabilities (rows, classes), and that without any rules.

    Without rules each row has the share of its class for its probability, so that the mean loss is
    the entropy of the shares.
    """
    labels = range(probabilities.shape[1])
    totals = np.bincount(codes, weights, minlength=len(labels))
    shares = totals[totals > 0] / totals.sum()
    without = -(shares * np.log(shares)).sum()
    found = log_loss(codes, probabilities, labels=labels, sample_weight=weights)
    return float(found), float(without)
