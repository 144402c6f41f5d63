"""Squared problems that touch a logistic one, so that one set of kernels serves both losses.

At any weights w, with W the curvature of the loss at some weights near by,

    f(w') ~ f(w) - r'(w' - w) + 1/2 (w' - w)'G(w' - w),      G = M'WM

is a squared loss with q = r + G w and yy/2 = f(w) + r'w + w'Gw/2. In its own bound, evaluated at w,
G cancels out: what is left is f(w) + r'w, less the terms of r, and that is the logistic bound of
`logistic` itself. So a kernel for the squared loss takes a step, f and r are found anew where it
ends, and what the kernel then says of that point is proven, however good or bad the curvature was.

The intercept is the last column here: a rule of no count that is always in. A second set of kernels
for the logistic loss would spare the passes over patterns, and would have to be kept in step with
the first; the touching problems cost one pass for each step of a node.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mossrules._common import cached_property
from mossrules._typing import BitArray, FloatArray, IntArray
from mossrules.patterns import Patterns, add_columns, column_sums, logistic_loss
from mossrules.solver.problems.logistic import INTERCEPT, LogisticProblem
from mossrules.solver.problems.squared import Problem
from mossrules.statistics import Statistics

__all__ = ["Columns", "Point", "QuadraticModel"]

# Of the weight of a pattern, whose curvature is a quarter of it at most. Where the model is sure of
# a class the curvature vanishes, and a step on it would be endless.
MIN_CURVATURE = 0.02
CHEAP = 2e9  # multiplications: fewer take some tenths of a second, which are not worth saving
BLOCK = 4096  # patterns whose columns are unpacked at once


@dataclass(frozen=True, eq=False)
class Point:
    """The logistic loss at some weights: f, and r = M'alpha of all columns."""

    w: FloatArray
    f: float
    r: FloatArray


@dataclass(frozen=True, eq=False)
class Columns:
    """Some columns of a logistic problem, and the weight of both classes."""

    bits: BitArray  # (columns, words)
    values: FloatArray
    base: float
    positives: FloatArray
    negatives: FloatArray

    @classmethod
    def of(cls, problem: LogisticProblem) -> Columns:
        """Return all rules and, last, the intercept."""
        patterns = problem.patterns
        return cls(
            _with_intercept(patterns),
            np.append(patterns.values, INTERCEPT),
            problem.base,
            patterns.positives,
            patterns.negatives,
        )

    def take(self, rules: IntArray, flip: FloatArray) -> Columns:
        """Return some of the columns, and some of these with the opposite sign."""
        return replace(self, bits=self.bits[rules], values=flip * self.values[rules])

    @cached_property
    def by_word(self) -> BitArray:
        """The bits as (words, columns)."""
        return np.ascontiguousarray(self.bits.T)

    def duplicates(self, order: IntArray) -> tuple[IntArray, IntArray]:
        """Return for each rule of an order the equal one just before it and just after it, or -1.

        They hold on the same patterns with the same value. Rules that are not in the order, such as
        those fixed in, have none.
        """
        before, after = np.full(len(self.values), -1), np.full(len(self.values), -1)
        last: dict[tuple[float, bytes], int] = {}
        for i in order:
            key = (float(self.values[i]), self.bits[i].tobytes())
            if key in last:
                before[i], after[last[key]] = last[key], i
            last[key] = i
        return before, after

    def predictor(self, w: FloatArray) -> FloatArray:
        """Return eta of every bit, spare ones too."""
        eta = np.full(64 * self.bits.shape[1], self.base)
        add_columns(self.bits, self.values * w, eta)
        return eta

    def point(self, w: FloatArray) -> Point:
        """Return the loss at weights, one for each column."""
        eta = self.predictor(w)
        alpha, r = np.zeros(len(eta)), np.empty(len(self.values))
        f = float(logistic_loss(eta, self.positives, self.negatives, alpha))
        column_sums(self.by_word, alpha, r)
        return Point(w, f, self.values * r)

    def gram(self, w: FloatArray) -> FloatArray:
        """Return M'WM with the curvature W at weights, which is kept from vanishing.

        In single precision: what is proven does not rest on it.
        """
        n_patterns = len(self.positives)
        odds = 1.0 / (1.0 + np.exp(-np.abs(self.predictor(w)[:n_patterns])))
        weight = self.positives + self.negatives
        root = np.sqrt(weight * np.maximum(odds * (1.0 - odds), MIN_CURVATURE))
        root = root.astype(np.float32)
        G = np.zeros((len(self.values), len(self.values)))
        # Unpacked in blocks, for BLAS: bit counts would do for 0 and 1, but W weighs each pattern.
        octets = np.ascontiguousarray(self.bits).astype("<u8", copy=False).view(np.uint8)
        for start in range(0, n_patterns, BLOCK):
            part = root[start : start + BLOCK]
            held = np.unpackbits(
                octets[:, start // 8 : -(-(start + len(part)) // 8)],
                axis=1, count=len(part), bitorder="little",
            ).astype(np.float32)  # fmt: skip
            held *= part
            G += held @ held.T
        return np.asarray(self.values[:, None] * G * self.values)


@dataclass(frozen=True, eq=False)
class QuadraticModel:
    """Rule columns and intercept of a logistic problem, and the curvature G of its model."""

    problem: LogisticProblem
    columns: Columns
    G: FloatArray

    @classmethod
    def of(cls, problem: LogisticProblem, w: FloatArray | None = None) -> QuadraticModel:
        """Return the model with the curvature at weights (m + 1,), by default at none."""
        columns = Columns.of(problem)
        return cls(problem, columns, columns.gram(np.zeros(problem.m + 1) if w is None else w))

    @property
    def is_cheap(self) -> bool:
        """Whether another curvature takes next to no time."""
        return (self.problem.m + 1) ** 2 * self.problem.patterns.n_patterns < CHEAP

    def curved_at(self, w: FloatArray) -> QuadraticModel:
        """Return the model with the curvature at other weights."""
        return replace(self, G=self.columns.gram(w))

    def point(self, w: FloatArray) -> Point:
        """Return the loss at weights (m + 1,), the last of them the intercept's."""
        return self.columns.point(w)

    def squared_problem(
        self, at: Point, *, most_stable_feasible: IntArray | None = None
    ) -> Problem:
        """Return the squared problem that touches the logistic one at a point.

        Its loss is as good as the other's for comparing selections, and differs by a constant: one
        is added to yy where the statistics would not be those of any target. With the logistic
        problem's `most_stable_feasible`, it need not look for its own.
        """
        # q and yy are such that value and slope at the point are those of the logistic loss.
        own, m = self.problem, self.problem.m
        q = at.r + self.G @ at.w
        diagonal = np.diagonal(self.G)
        # No column explains more than all of a target: q_i^2 <= G_ii yy.
        min_yy = np.divide(q**2, diagonal, out=np.zeros(m + 1), where=diagonal > 0).max()
        statistics = Statistics(
            G=self.G,
            q=q,
            yy=max(2.0 * at.f + float(at.w @ (at.r + q)), 1.001 * float(min_yy)),
            n=own.patterns.n,
            values=self.columns.values,
            counts=np.append(own.counts, 0),
            support=np.append(own.patterns.support, own.patterns.n),
        )
        limits = own.constraints
        squared = Problem(
            statistics,
            max_rules=own.max_rules + 1,
            gamma=own.gamma,
            min_stability=own.min_stability,
            fixed_in=(*own.fixed_in, m),
            fixed_out=own.fixed_out,
            signs=None if own.signs is None else np.append(own.signs, 0),
            constraints=None if limits is None else limits.padded(1),
        )
        if most_stable_feasible is None:
            return squared
        return squared.knowing(np.append(most_stable_feasible, m))

    def weights(self, support: IntArray) -> FloatArray:
        """Return the best weights of a selection as (m + 1,), the intercept's last."""
        fit = self.problem.fit(support)
        w = np.zeros(self.problem.m + 1)
        w[support] = fit.weights
        w[-1] = (fit.intercept - self.problem.base) / INTERCEPT
        return w


def _with_intercept(patterns: Patterns) -> BitArray:
    """Return the activations with one more rule, which holds everywhere."""
    everywhere = np.zeros(64 * patterns.activations.shape[1], dtype=np.uint8)
    everywhere[: patterns.n_patterns] = 1
    packed = np.packbits(everywhere, bitorder="little").view("<u8").astype(np.uint64)
    return np.vstack([patterns.activations, packed[None, :]])
