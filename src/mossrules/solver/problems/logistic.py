"""The problem for two classes: at most k rules, at least `eps` stability, the smallest log-loss.

Notation (shapes in brackets; the rest as in `squared` and in `patterns`)
    eta          log-odds of class 1 of each pattern: b0 + b + M_S w              (P,)
    b0, b        log-odds of the share of class 1, and what the intercept adds to it
    f(eta)       sum_p pos_p log(1 + exp(-eta_p)) + neg_p log(1 + exp(eta_p))
    alpha        -df/deta, at the best weights what the rules leave unexplained    (P,)
    r            M'alpha                                                          (m,)

    H2(S) = min_{w,b} f(eta) + |w|^2 / (2 gamma) + b^2 / (2 gamma_b),    gamma_b = 100 gamma

The intercept is one more column, of value 10 on every row and with the same ridge: it is always in,
and its ridge is so weak that it hardly counts. What it is for is that every alpha between -neg and
pos then is a feasible dual point, so that for every eta, with x = eta - b0,

    H2(z) >= f(eta) + alpha'x - (gamma_b / 2) (sum alpha)^2 - sum_i z_i (gamma/2) r_i^2

which at the best weights is the tangent of H2. It has the form of the squared loss's bound, and all
that rests on that form serves both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from mossrules._common import cached_property
from mossrules._typing import FloatArray, IntArray
from mossrules.exceptions import InvalidParameter
from mossrules.patterns import Patterns, logistic_loss
from mossrules.solver.kernels.linalg import signed_weights
from mossrules.solver.problems.linear_constraints import LinearConstraints
from mossrules.solver.problems.selection import (
    Fit,
    FloorKind,
    SelectionProblem,
    check_point,
    whole_counts,
)

__all__ = ["GAMMA_INFORMATION", "INTERCEPT", "LogisticProblem"]

# Value of the intercept's column: its square is gamma_b / gamma. With no ridge on the intercept,
# only alpha that add up to 0 would be feasible dual points, and most weights have none such.
INTERCEPT = 10.0
# gamma="auto" is this over n share (1 - share). Near b0 the logistic loss curves by the variance of
# the target, so this is the squared loss's 30 over n in the units of log-odds.
GAMMA_INFORMATION = 30.0
AUTO: Any = "auto"
PRECISION = 1e-14  # of the loss: Newton's method ends where no step promises more
MAX_STEPS = 200


@dataclass(frozen=True, eq=False, repr=False)
class LogisticProblem(SelectionProblem):
    """Select at most `max_rules` rules with at least `min_stability` counts for two classes.

    The fields after `patterns` are those of `Problem`. With gamma="auto" weights are shrunk as much
    as by default in regression.

    Examples
    --------
    >>> from mossrules.solver import solve
    >>> active = [[1, 0], [1, 0], [1, 1], [0, 1], [0, 1], [0, 0]]
    >>> problem = LogisticProblem.from_matrix(active, [1, 1, 1, 0, 0, 1], [9, 4], max_rules=1)
    >>> problem
    LogisticProblem(m=2, max_rules=1, gamma=22.5, min_stability=0 of 9)
    >>> solve(problem).support
    array([0])
    """

    patterns: Patterns
    max_rules: int = 15
    gamma: float = AUTO  #: ridge parameter; "auto" is that of regression, in log-odds
    min_stability: int = 0
    fixed_in: Sequence[int] = ()  #: rules that must be selected
    fixed_out: Sequence[int] = ()  #: rules that must not be
    constraints: LinearConstraints | None = None  #: further limits on the selection
    signs: IntArray | None = None  #: of the weights: 1, -1, or 0 for any
    floor: FloorKind = "sum"  #: what has a minimum: the "sum" of the counts, or "each" of them
    approved: Sequence[int] = ()  #: rules that the floor on each is not on
    min_approved: int = 0  #: how many of them must be selected at least

    @classmethod
    def from_matrix(
        cls,
        active: Any,
        y: Any,
        counts: Any,
        *,
        values: FloatArray | None = None,
        weights: FloatArray | None = None,
        **settings: Any,
    ) -> LogisticProblem:
        """Return the problem of rows of two classes.

        Parameters
        ----------
        active, y, counts, values, weights
            As in `Patterns.from_matrix`.
        **settings
            Fields of the problem, such as `max_rules`.
        """
        patterns = Patterns.from_matrix(active, y, whole_counts(counts), values, weights)
        return cls(patterns, **settings)

    def __post_init__(self) -> None:
        counts = self.patterns.counts
        if len(counts) == 0:
            raise InvalidParameter(
                "There are no candidate rules; grow more trees or pass other data."
            )
        if counts.dtype.kind not in "iu" or (counts < 0).any():
            raise InvalidParameter("Counts must be whole numbers of trees, none below 0.")
        if isinstance(self.gamma, str) and self.gamma == AUTO:
            object.__setattr__(self, "gamma", GAMMA_INFORMATION / self.patterns.information)
        self._check_conditions()

    # A sum of logarithms over all patterns, minimised by Newton's method, is known less well than a
    # squared loss, whose weights solve linear equations.
    precision: ClassVar[float] = 1e-9

    @property
    def largest_curvature(self) -> float:
        """A quarter of the largest square of a column, that of the intercept included."""
        support, values = self.patterns.support, self.patterns.values
        return 0.25 * max(float((support * values**2).max()), INTERCEPT**2 * self.patterns.n)

    @property
    def data(self) -> Patterns:
        """What is known of the rows."""
        return self.patterns

    @property
    def loss_parts(self) -> tuple[object, ...]:
        """The arrays that the loss depends on."""
        p = self.patterns
        return p.activations, p.positives, p.negatives, p.values

    @property
    def counts(self) -> IntArray:
        """Number of trees in which each rule appears."""
        return self.patterns.counts

    def with_counts(self, counts: IntArray) -> LogisticProblem:
        """Return a copy with other counts."""
        other = copy(self)
        object.__setattr__(other, "patterns", replace(self.patterns, counts=counts))
        return other

    @property
    def base(self) -> float:
        """The log-odds of the share of class 1, b0."""
        return float(np.log(self.patterns.positives.sum() / self.patterns.negatives.sum()))

    @cached_property
    def null_loss(self) -> float:
        """The loss of no rule at all: that of b0."""
        share = self.patterns.share
        return -self.patterns.n * float(share * np.log(share) + (1.0 - share) * np.log1p(-share))

    def reduced(
        self,
        rules: IntArray,
        fixed_in: Sequence[int],
        *,
        most_stable_feasible: IntArray | None = None,
    ) -> LogisticProblem:
        """Return the problem of some of the rules; limits `A z <= b` must not count groups.

        Parameters
        ----------
        rules, fixed_in
            Positions of the rules to keep, ascending, and of those among them that are fixed in.
        most_stable_feasible
            Of this problem, if it is known and all of it is kept: it is also that of the other.
        """
        limits = self.constraints
        reduced = replace(
            self,
            patterns=self.patterns.collapsed(rules),
            fixed_in=tuple(int(i) for i in np.searchsorted(rules, fixed_in)),
            fixed_out=(),
            signs=None if self.signs is None else self.signs[rules],
            constraints=None if limits is None else LinearConstraints(limits.A[:, rules], limits.b),
        )
        if most_stable_feasible is None:
            return reduced
        return reduced.knowing(np.searchsorted(rules, most_stable_feasible))

    def _with_blanks(self, n: int) -> LogisticProblem:
        """Return the problem with n more rules, which hold nowhere and count for nothing."""
        p = self.patterns
        patterns = replace(
            p,
            activations=np.pad(p.activations, ((0, n), (0, 0))),
            values=np.pad(p.values, (0, n)),
            counts=self._padded_counts(n),
        )
        return replace(self, patterns=patterns, **self._padded_conditions(n))

    # --- the plain definitions ------------------------------------------------------------------

    def fit(self, support: IntArray) -> Fit:
        """Return the best weights and intercept of a selection, and H2."""
        S = np.asarray(support, dtype=np.int64)
        minimum = self._minimise(S, np.ones(len(S)))
        return Fit(minimum.x[:-1], self.base + INTERCEPT * minimum.x[-1], minimum.loss)

    def tangent(self, z: FloatArray) -> tuple[float, FloatArray]:
        """Return H2 and its gradient -(gamma/2) r^2 at any point of [0, 1]^m."""
        z = check_point(z, self.m)
        S = np.flatnonzero(z)
        constant, gains = self.dual_parts(self.relaxed_weights(z))
        # By the dual point, not by the loss there: rounding then cannot make the cut too high.
        return constant - float(gains[S] @ z[S]), -gains

    def relaxed_weights(self, z: FloatArray) -> FloatArray:
        """Return the best weights (m,) at a point of [0, 1]^m."""
        S = np.flatnonzero(z)
        w = np.zeros(self.m)
        w[S] = self._minimise(S, z[S]).x[:-1] * np.sqrt(z[S])
        return w

    def dual_parts(self, w: FloatArray) -> tuple[float, FloatArray]:
        """Return C and (gamma/2) r^2 at the alpha of weights (m,) and the best intercept for them.

        H2(z) is at least C less z' the other.
        """
        # Any intercept gives a bound; the best one for these weights makes the sum of alpha small,
        # and takes Newton's method in one variable.
        S = np.flatnonzero(w)
        x = self.patterns.active(S) @ (self.patterns.values[S] * w[S])
        ridge = np.full(1, 1.0 / self.gamma)
        column = np.full((len(x), 1), INTERCEPT)
        intercept = _newton(column, self.base + x, self._weights_of_classes, ridge, None)
        x += INTERCEPT * intercept.x[0]
        f, alpha = _loss(self.base + x, self._weights_of_classes)
        by_intercept = 0.5 * self.gamma * INTERCEPT**2 * float(alpha.sum()) ** 2
        r = self.patterns.values * self.patterns.sums(alpha)
        return f + float(alpha @ x) - by_intercept, self.gains(r)

    def _minimise(self, S: IntArray, z: FloatArray) -> Minimum:
        """Return the minimum over u on S and the intercept, where w_i = sqrt(z_i) u_i.

        |u|^2 / (2 gamma) is then the penalty w_i^2 / (2 gamma z_i) of fractional z.
        """
        # k rules have 2^k patterns at most, and in data far fewer: Newton's steps are over these.
        active, weights = self._distinct(S)
        columns = np.empty((len(active), len(S) + 1))
        columns[:, :-1] = active * (self.patterns.values[S] * np.sqrt(z))
        columns[:, -1] = INTERCEPT
        base = np.full(len(active), self.base)
        ridge = np.full(len(S) + 1, 1.0 / self.gamma)
        signs = None
        if self.signs is not None and np.any(self.signs[S]):
            signs = np.append(self.signs[S], 0)
        return _newton(columns, base, weights, ridge, signs)

    @property
    def _weights_of_classes(self) -> FloatArray:
        return np.stack([self.patterns.positives, self.patterns.negatives])

    def _distinct(self, S: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the distinct patterns of some rules (P', rules), and the weights of both classes.

        Up to 2^k of them are told apart by one number each; many rules are left as they are.
        """
        active = self.patterns.active(S)
        if len(S) > 52:  # a float has no more binary digits to number them by
            return active.astype(np.float64), self._weights_of_classes
        keys = active @ (2.0 ** np.arange(len(S)))
        distinct, which = np.unique(keys, return_inverse=True)
        held = (distinct.astype(np.int64)[:, None] >> np.arange(len(S))) & 1
        weights = [np.bincount(which, rows, len(distinct)) for rows in self._weights_of_classes]
        return held.astype(np.float64), np.stack(weights)

    def data_parts(self) -> Iterator[bytes]:
        """Yield all numbers that the loss depends on, gamma left aside."""
        p = self.patterns
        for part in (p.activations, p.positives, p.negatives, p.values, p.counts):
            yield np.ascontiguousarray(part).tobytes()


# --- Newton's method ----------------------------------------------------------------------------


class Minimum(NamedTuple):
    """Where f(base + columns x) + x'ridge x / 2 is smallest, and its value there."""

    x: FloatArray
    loss: float


def _loss(eta: FloatArray, weights: FloatArray) -> tuple[float, FloatArray]:
    """Return f and alpha."""
    alpha = np.zeros(len(eta))
    return float(logistic_loss(eta, weights[0], weights[1], alpha)), alpha


def _newton(
    columns: FloatArray,
    base: FloatArray,
    weights: FloatArray,
    ridge: FloatArray,
    signs: IntArray | None,
) -> Minimum:
    """Minimise by Newton's method with halved steps; with `signs`, over x with s_i x_i >= 0.

    `weights` are those of class 1 and class 0 (2, P).
    """
    x = np.zeros(columns.shape[1])
    total = weights.sum(axis=0)
    f, alpha = _loss(base, weights)
    value, eta = f, base
    for _ in range(MAX_STEPS):
        odds = 1.0 / (1.0 + np.exp(-np.abs(eta)))
        curvature = total * odds * (1.0 - odds)
        A = columns.T @ (curvature[:, None] * columns) + np.diag(ridge)
        slope = ridge * x - alpha @ columns
        if signs is None:
            step = -np.linalg.solve(A, slope)
        else:  # the minimum of the same quadratic model, among weights of the right signs
            step = signed_weights(A, A @ x - slope, signs) - x
        promised = -float(slope @ step)
        if promised <= PRECISION * value:
            break
        share = 1.0  # far from the minimum a whole step may overshoot: the loss is not quadratic
        while True:
            there = x + share * step
            eta_there = base + columns @ there
            f, alpha_there = _loss(eta_there, weights)
            value_there = f + 0.5 * float(ridge @ there**2)
            if value_there <= value - 0.1 * share * promised or share < 1e-6:
                break
            share *= 0.5
        if value_there >= value:  # rounding: no step helps any more
            break
        x, eta, alpha, value = there, eta_there, alpha_there, value_there
    return Minimum(x, value)
