"""The logistic loss of columns, and the LASSO with it: what `designs` is for squared error.

Notation (shapes in brackets)
    A        columns, of 0 and 1 or of numbers                                   (m, rows)
    h, s     weight of each row, and its class, 0 or 1                           (rows,)
    f, p     a + A'w, the logit, and the chance of class 1, 1 / (1 + exp(-f))    (rows,)
    n, e     total weight of the rows, and what p leaves: s - p

    L(w) = min over a of sum_r h_r (log(1 + exp(f_r)) - s_r f_r)

A step is that of Newton: squared error with weights v = h p (1 - p) is the best that squares can do
near w, and its LASSO is solved as any other. Only columns that have a weight, or are worth one,
take part; all others are asked at the end.

As log(1 + exp(f)) is the largest p f + H(p), with H the entropy, chances of any kind give a bound:
L(w) + sum_k price_k |w_k| >= sum_r h_r H(p_r) if sum_r h_r (s_r - p_r) A_kr is at most the price of
each column k, and 0 for the constant. Those of w, drawn towards the classes, are such.

Rows with the same columns count as one, with the weight of all and their mean class.

Why not scikit-learn's `LogisticRegression` with an L1 penalty: tried in place of `Logistic.descend`
on 48 fits of 12 tables. liblinear, which shrinks the intercept too, chose other rules on 8 of them,
agreed to 1 or 2 digits elsewhere (but where weights are refitted) and took 5 to 11 times as long;
saga took 75 to 430 times as long. Neither tells how far from the optimum it stopped, which column
generation has to know to tell a rule that is worth adding.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import entr, expit

from mossrules._common import cached_property
from mossrules._typing import AnyArray, BoolArray, FloatArray, IntArray
from mossrules.baselines.designs import row_weights
from mossrules.baselines.kernels import descend_lasso
from mossrules.candidates.search import Candidates
from mossrules.candidates.statistics import rule_columns
from mossrules.data.chunks import row_ranges
from mossrules.data.rows import Rows
from mossrules.exceptions import InvalidParameter

__all__ = ["Logistic"]

BLOCK = 8  # columns that are made floats at a time
MAX_STEPS = 100  # of Newton's, for one set of columns
MAX_ROUNDS = 100  # of columns that join
JOINING = 30  # most columns to join at once
MAX_SWEEPS = 20_000
HALVINGS = 40  # of a step that goes too far
ROUNDING = 1e-14  # of the objective: near its optimum steps are right whose gain cannot be seen
INNER = 0.01  # of what is asked of a solution: what is asked of the squares in a step


@dataclass(frozen=True)
class Logistic:
    """Columns and classes of rows; see the module's notation."""

    A: AnyArray
    weights: FloatArray  # h
    classes: FloatArray  # s

    @classmethod
    def of_rules(cls, candidates: Candidates) -> Logistic:
        """Return the loss of columns that are 1 where a rule holds and 0 elsewhere."""
        patterns = candidates.patterns
        if patterns is None:
            raise InvalidParameter(
                "The candidates were found without the patterns that the logistic loss is of; find "
                "them with patterns=True."
            )
        active = patterns.active(np.arange(patterns.m)).T
        h = patterns.positives + patterns.negatives
        return cls(np.ascontiguousarray(active), h, patterns.positives / h)

    @classmethod
    def by_row(cls, candidates: Candidates, rows: Rows, more: FloatArray | None) -> Logistic:
        """Return the loss row by row, of the rules' columns and of `more`: (rows, columns)."""
        binning, rules = candidates.binning, candidates.pool.rules
        parts = [
            rule_columns(rules, binning, binning.encode(rows.table, part))
            for part in row_ranges(rows.table.n_rows)
        ]
        columns: AnyArray = np.concatenate(parts, axis=1)
        if more is not None:
            columns = np.concatenate([columns.astype(np.float64), more.T])
        return cls(columns, row_weights(rows), rows.target)

    @classmethod
    def merged(cls, A: AnyArray, weights: FloatArray, classes: FloatArray) -> Logistic:
        """Return the loss of columns of 0 and 1, with rows on which they are the same made one."""
        if len(A) == 0:
            return cls(A, weights, classes)
        patterns = np.ascontiguousarray(np.packbits(A, axis=0).T)
        # Keys of m / 8 bytes each are sorted faster than rows of truth values.
        keys = patterns.view(np.dtype((np.void, patterns.shape[1]))).ravel()
        _, first, group = np.unique(keys, return_index=True, return_inverse=True)
        h: FloatArray = np.bincount(group, weights=weights).astype(np.float64)
        s = np.bincount(group, weights=weights * classes) / h
        return cls(np.ascontiguousarray(A[:, first]), h, np.clip(s, 0.0, 1.0))

    # --- figures --------------------------------------------------------------------------------

    @property
    def m(self) -> int:
        """Number of columns."""
        return len(self.A)

    @cached_property
    def n(self) -> float:
        """Total weight of the rows."""
        return float(self.weights.sum())

    @cached_property
    def c(self) -> FloatArray:
        """How much the loss falls with each weight, where all are zero."""
        return self._slopes(self.residual(np.zeros(self.m)))

    @cached_property
    def null_loss(self) -> float:
        """The loss without any weight."""
        return self.loss(np.zeros(self.m))

    @cached_property
    def spreads(self) -> FloatArray:
        """Standard deviation of each column."""
        means, squares = self._sums(self.weights) / self.n, self._sums(self.weights, 2) / self.n
        return np.sqrt(np.maximum(0.0, squares - means**2))

    def take(self, positions: IntArray) -> Logistic:
        """Return some of the columns."""
        return Logistic(self.A[positions], self.weights, self.classes)

    def of_rows(self, which: BoolArray) -> Logistic:
        """Return the same columns on some of the rows; those of 0 and 1 are merged again."""
        A, h, s = self.A[:, which], self.weights[which], self.classes[which]
        return Logistic.merged(A, h, s) if A.dtype == bool else Logistic(A, h, s)

    # --- at given weights -----------------------------------------------------------------------

    def intercept(self, w: FloatArray) -> float:
        """Return the best intercept beside the weights w."""
        return self.best_intercept(self._logits(w))

    def residual(self, w: FloatArray) -> FloatArray:
        """Return what the best model with these weights leaves of the classes: e."""
        logits = self._logits(w)
        left: FloatArray = self.classes - expit(logits + self.best_intercept(logits))
        return left

    def loss(self, w: FloatArray, intercept: float | None = None) -> float:
        """Return the loss at the weights w, and the best intercept if none is given."""
        logits = self._logits(w)
        return self.loss_of_logits(
            logits + (self.best_intercept(logits) if intercept is None else intercept)
        )

    def _logits(self, w: FloatArray) -> FloatArray:
        used = np.flatnonzero(w)
        logits: FloatArray = w[used] @ self.A[used].astype(np.float64)
        return logits

    def loss_of_logits(self, f: FloatArray) -> float:
        """Return the loss of logits with their intercept."""
        return float(self.weights @ (np.logaddexp(0.0, f) - self.classes * f))

    def best_intercept(self, logits: FloatArray) -> float:
        """Return the intercept at which chances add up to the classes, by Newton's steps.

        It lies between where the largest and where the smallest logit alone would have it.
        """
        share = float(self.weights @ self.classes) / self.n
        odds = float(np.log(share / (1.0 - share)))
        low, high = odds - float(logits.max()), odds - float(logits.min())
        a = min(max(odds - float(self.weights @ logits) / self.n, low), high)
        for _ in range(MAX_STEPS):
            p = expit(logits + a)
            left, slope = self.weights @ (self.classes - p), self.weights @ (p * (1.0 - p))
            low, high = (a, high) if left > 0 else (low, a)
            # Far out the curve is flat and the step leaves the bracket, which is halved then.
            step = left / slope if slope > 0 else np.inf
            if abs(left) <= 1e-14 * self.n or abs(step) <= 1e-15 * (1.0 + abs(a)):
                break
            a = a + step if low < a + step < high else 0.5 * (low + high)
        return a

    # --- sums over the rows ---------------------------------------------------------------------

    def _sums(self, numbers: FloatArray, power: int = 1) -> FloatArray:
        """Return sum_r numbers_r A_kr^power of each column; a few columns are floats at a time."""
        sums = np.empty(self.m)
        for k in range(0, self.m, BLOCK):
            sums[k : k + BLOCK] = self.A[k : k + BLOCK].astype(np.float64) ** power @ numbers
        return sums

    def _slopes(self, residual: FloatArray) -> FloatArray:
        return self._sums(self.weights * residual)

    # --- the LASSO ------------------------------------------------------------------------------

    def descend(self, penalties: FloatArray, max_gap: float, w: FloatArray) -> float:
        """Minimise L(w) + sum_k penalties_k |w_k|, in place; return the gap that is left.

        It ends when the gap is at most `max_gap`.
        """
        gap = np.inf
        for _ in range(MAX_ROUNDS):
            slopes = self._slopes(self.residual(w))
            last, gap = gap, self._gap(penalties, w, slopes)
            worth = np.abs(slopes) / penalties
            # All columns are asked once a round; Newton's steps, which cost a Gram matrix, see only
            # those with a weight and the few that are worth most.
            joining = np.flatnonzero((w == 0.0) & (worth > 1.0))
            joining = joining[np.argsort(-worth[joining], kind="stable")[:JOINING]]
            if gap <= max_gap or (len(joining) == 0 and gap > 0.5 * last):
                break  # or this is as far as numbers of this precision go
            working = np.union1d(np.flatnonzero(w), joining)
            few = self.take(working)
            w[working] = _descend_all(few, penalties[working], 0.5 * max_gap, w[working])
        return gap

    def _gap(self, penalties: FloatArray, w: FloatArray, slopes: FloatArray) -> float:
        logits = self._logits(w)
        return self.gap_at(penalties, w, slopes, logits + self.best_intercept(logits))

    def gap_at(
        self, penalties: FloatArray, w: FloatArray, slopes: FloatArray, f: FloatArray
    ) -> float:
        """Return how far the objective at w is from the bound that its own chances give."""
        # Chances between those of w and the classes: the nearer to the classes, the smaller all
        # slopes, in proportion; as near as it takes for each to be at most its price.
        excess = float(np.max(np.abs(slopes) / penalties, initial=1.0))
        p = self.classes + (expit(f) - self.classes) / excess
        bound = float(self.weights @ (entr(p) + entr(1.0 - p)))
        return self.loss_of_logits(f) + float(penalties @ np.abs(w)) - bound


def _descend_all(
    loss: Logistic, penalties: FloatArray, max_gap: float, start: FloatArray
) -> FloatArray:
    """Return the best weights of a few columns, all of them at once."""
    A, w = loss.A.astype(np.float64), start
    logits = w @ A
    a = loss.best_intercept(logits)
    value = loss.loss_of_logits(logits + a) + float(penalties @ np.abs(w))
    for _ in range(MAX_STEPS):
        p = expit(logits + a)
        slopes = A @ (loss.weights * (loss.classes - p))
        if loss.gap_at(penalties, w, slopes, logits + a) <= max_gap:
            return w
        step = _newton(loss, A, w, p, penalties=penalties, max_gap=INNER * max_gap) - w
        # Where squares are a poor picture of the loss, a whole step goes too far.
        size = 1.0
        for _ in range(HALVINGS):
            new = logits + size * (step @ A)
            new_a = loss.best_intercept(new)
            lower = loss.loss_of_logits(new + new_a) + float(penalties @ np.abs(w + size * step))
            if lower <= value + ROUNDING * abs(value):
                break
            size *= 0.5
        else:
            return w  # no step is short enough to be seen
        w = w + size * step
        logits, a, value = new, new_a, lower
    return w


def _newton(
    loss: Logistic,
    A: FloatArray,
    w: FloatArray,
    p: FloatArray,
    *,
    penalties: FloatArray,
    max_gap: float,
) -> FloatArray:
    """Return the weights that are best for the squares which touch the loss at w."""
    left = loss.weights * (loss.classes - p)
    r = A @ left
    # A row that is all but certain would have no curvature, and its square no minimum.
    v = loss.weights * np.maximum(p * (1.0 - p), 1e-12)
    weighted = A * v
    sums = weighted.sum(axis=1)
    # The intercept is free, so columns are centred by these weights, as in `designs`.
    C = weighted @ A.T - np.outer(sums, sums) / v.sum()
    new, c = w.copy(), r + C @ w
    # Squares of what the squares are fitted to; any target with these sums would do.
    yy = float(np.sum(left**2 / v) + w @ (c + r))
    descend_lasso(C, c, yy, penalties, max_gap, MAX_SWEEPS, new, r)
    return new
