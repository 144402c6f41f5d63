"""Selections brought to the size and to the floor of a problem, at little cost in loss.

Notation (shapes in brackets; the rest as in `squared`), with A = G + I/gamma
    B    inverse of A_SS                                                   (k, k)
    w    B q_S, the weights                                                (k,)
    P    B G_S.                                                            (k, m)
    a    q - G_.S w, what each rule has in common with the residual        (m,)
    d    A_jj - G_jS P_.j, what S leaves of each rule                      (m,)

The loss rises by w_i^2 / (2 B_ii) without rule i of S, and falls by a_j^2 / (2 d_j) with rule j.
Without i, a_j is a_j + P_ij w_i / B_ii and d_j is d_j + P_ij^2 / B_ii, which gives every swap.

Where weights have signs, w is the best w of these, and rules whose weight they hold at 0 are left
out of B and P; an a_j of the wrong sign gains nothing. What the formulas say is then a guess, as
another weight may come to 0; whoever compares selections takes their loss.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mossrules._typing import BoolArray, FloatArray, IntArray
from mossrules.solver.problems.squared import Problem

__all__ = ["lifted", "resized"]


def resized(problem: Problem, support: IntArray, lambda_2: float = 0.0) -> IntArray:
    """Drop or add rules, the cheapest or best first, until the selection has the problem's size."""
    S = _without_surplus(problem, support, lambda_2)
    free = np.zeros(problem.m, dtype=bool)
    free[problem.free] = True
    free[S] = False
    # Each addition costs O(m k^2 + k^3) anew; sizes are some dozens, so updates would save little.
    while len(S) < problem.size:
        gain = _Exchange.of(problem, S).fall_by_adding() + lambda_2 * problem.statistics.counts
        best = int(np.argmax(np.where(free, gain, -np.inf)))
        free[best] = False
        S = np.append(S, best)
    return np.sort(S)


def lifted(problem: Problem, support: IntArray) -> IntArray:
    """Swap rules for ones with more counts, the least loss per count first, up to the floor.

    A selection of full size that no swap lifts has the largest counts there are, so this ends well.
    """
    counts = problem.statistics.counts
    S = support.copy()
    while (missing := problem.min_stability - problem.stability(S)) > 0:
        gained = (counts[None, :] - counts[S, None]).astype(np.float64)
        gained[np.isin(S, problem.fixed_in)] = 0
        allowed = np.zeros(problem.m, dtype=bool)
        allowed[problem.free] = True
        allowed[S] = False
        gained[:, ~allowed] = 0
        rise = _Exchange.of(problem, S).rise_by_swapping()
        # Loss per count gained, as for a knapsack. Counts above the floor are worth nothing.
        rate = np.full_like(rise, np.inf)
        np.divide(rise, np.minimum(gained, missing), out=rate, where=gained > 0)
        out, into = np.unravel_index(int(np.argmin(rate)), rate.shape)
        if gained[out, into] <= 0:
            raise AssertionError("A selection below the floor has no swap that lifts it.")
        S[out] = into
    return np.sort(S)


def _without_surplus(problem: Problem, S: IntArray, lambda_2: float) -> IntArray:
    """Drop rules by the rise in loss, w_i^2 / (2 B_ii), and the counts that go with them."""
    if len(S) <= problem.size:
        return S
    B, w = _inverse(problem, S)
    worth = lambda_2 * problem.statistics.counts[S]
    worth[np.isin(S, problem.fixed_in)] = np.inf
    while len(S) > problem.size:
        out = int(np.argmin(0.5 * w**2 / np.diagonal(B) + worth))
        rest = np.arange(len(S)) != out
        S, worth = S[rest], worth[rest]
        if problem.signs is None:
            # The inverse and the weights without one rule, by the formula for a block.
            column = B[:, out] / B[out, out]
            w = (w - column * w[out])[rest]
            B = (B - np.outer(column, B[out]))[np.ix_(rest, rest)]
        else:  # which the formula does not know of: a rule at 0 may have a weight again
            B, w = _inverse(problem, S)
    return S


def _inverse(problem: Problem, S: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return B and w; a rule that is held at 0 has the row and column of the identity in B."""
    A = problem.statistics.G[np.ix_(S, S)] + np.eye(len(S)) / problem.gamma
    if problem.signs is None:
        B: FloatArray = np.linalg.inv(A).astype(np.float64)
        return B, B @ problem.statistics.q[S]
    w = problem.weights(S)
    held = _held(problem.signs[S], w)
    A[held], A[:, held] = 0.0, 0.0
    A[held, held] = 1.0
    return np.linalg.inv(A).astype(np.float64), w


def _held(signs: IntArray, w: FloatArray) -> BoolArray:
    """Return which weights their signs hold at 0."""
    return np.asarray((signs != 0) & (w == 0))


class _Exchange(NamedTuple):
    """What changes of a selection S cost, in the notation above."""

    B: FloatArray
    w: FloatArray
    P: FloatArray
    a: FloatArray
    d: FloatArray
    signs: IntArray | None

    @classmethod
    def of(cls, problem: Problem, S: IntArray) -> _Exchange:
        data, ridge = problem.statistics, 1.0 / problem.gamma
        rows = data.G[S]
        B, w = _inverse(problem, S)
        P = B @ rows
        if problem.signs is not None:
            P[_held(problem.signs[S], w)] = 0.0
        d = np.diagonal(data.G) - (rows * P).sum(axis=0) + ridge
        # d is the ridge and a squared length; rounding may take it below the ridge, and then a rule
        # that S explains in full would seem to gain.
        return cls(B, w, P, data.q - w @ rows, np.maximum(d, ridge), problem.signs)

    def fall_by_adding(self) -> FloatArray:
        """Return the fall in loss by each rule (m,)."""
        return 0.5 * self._allowed(self.a) ** 2 / self.d

    def rise_by_swapping(self) -> FloatArray:
        """Return the rise in loss by each rule of S in exchange for each rule (k, m)."""
        b = np.diagonal(self.B)[:, None]
        w = self.w[:, None]
        a = self._allowed(self.a + self.P * w / b)
        return 0.5 * w**2 / b - 0.5 * a**2 / (self.d + self.P**2 / b)

    def _allowed(self, a: FloatArray) -> FloatArray:
        """Return a, with 0 where a weight would need the wrong sign."""
        return a if self.signs is None else np.where(self.signs * a < 0, 0.0, a)
