"""Lower bounds on the loss of every selection, by weak duality and by tangents.

Notation (shapes in brackets; the rest as in `squared`)
    w            any weights, those of a selection say                             (m,)
    r            q - G w, what the rules have in common with the residual          (m,)
    g            gamma/2 r^2, or 0 where r has the wrong sign for a rule           (m,)
    In, Out      rules fixed in and fixed out; Free is the rest
    K, E         k - |In| and eps - c(In): the rules and the stability left to Free
    lam, mu      multipliers of the size and of the floor, not negative

For a selection z, H2(z) is a maximum over the residual y - M w, so that at every w (of any sign)

    H2(z) >= yy/2 - w'Gw/2 - sum_i z_i g_i,

and the best z for the right-hand side, under both conditions, is bounded by its Lagrangian. At the
best w of a z the right-hand side is the tangent of H2 there, which the cutting plane and the
multipliers of limits work with.

This is the plain form, which certificates rest on: kernels raise the same bound faster, and what
they say is recomputed here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from mossrules._typing import FloatArray, IntArray
from mossrules.exceptions import InfeasibleProblem, InvalidParameter
from mossrules.solver.problems.selection import SelectionProblem

__all__ = ["Cut", "DualPoint", "Multipliers", "best_multipliers", "dual_bound"]


class Multipliers(NamedTuple):
    """Prices of one more rule and of one more count, in loss."""

    lam: float
    mu: float


def dual_bound(
    problem: SelectionProblem,
    w: FloatArray,
    lam: float,
    mu: float,
    *,
    prices: FloatArray | None = None,
    fixed_in: Iterable[int] = (),
    fixed_out: Iterable[int] = (),
) -> float:
    """Return a lower bound on the loss, valid for any w and any lam, mu >= 0.

        L = yy/2 - w'Gw/2 - sum_In g_i - sum_Free max(0, g_i - lam + mu c_i) - lam K + mu E

    It holds for every selection that keeps the problem's fixings and those given here. Limits
    `A z <= b` only take selections away, so it holds with them as well. With `prices` y >= 0 of
    those that count no groups, g_i is less by (y'A)_i, and the bound by y'b.
    """
    if not (0 <= lam < math.inf and 0 <= mu < math.inf):
        raise InvalidParameter(f"lam is {lam} and mu is {mu}; neither may be negative or infinite.")
    offset, allowance = _priced_limits(problem, prices)
    parts = _Parts.of(problem, w, fixed_in, fixed_out, offset)
    parts = parts._replace(constant=parts.constant - allowance)
    # The best z takes every free rule whose gain is above its price; the size and the floor, which
    # it may break, are paid for by lam K and mu E. With large counts lam and mu c are far larger
    # than what is left of them, so counts are taken from the mean that the floor asks for, which
    # changes nothing else.
    centre = parts.E // max(1, parts.K)
    price = float(Fraction(lam) - Fraction(mu) * centre)
    inner = np.maximum(0.0, parts.g - price + mu * (parts.c - centre)).sum()
    inner += price * parts.K - mu * (parts.E - parts.K * centre)
    return float(parts.constant - inner)


def best_multipliers(
    problem: SelectionProblem,
    w: FloatArray,
    *,
    fixed_in: Iterable[int] = (),
    fixed_out: Iterable[int] = (),
) -> Multipliers:
    """Return the lam and mu that make `dual_bound` largest at this w.

    With lam at its best, what is left is phi(mu) = max_{S in Free, |S| <= K} g(S) + mu (c(S) - E):
    the upper envelope of one line for each S. Its lowest point is found from two of its lines, one
    falling and one rising: where they meet is the lowest point, or a line above the meeting takes
    the place of one of them. Each step is one sort.
    """
    parts = _Parts.of(problem, w, fixed_in, fixed_out)
    g, c = parts.g, parts.c
    rising = parts.line(np.lexsort((-g, -c)))  # the most counts; of those, the largest g
    if parts.K < 0 or rising.slope < 0:
        raise InfeasibleProblem(
            "No rule set meets the size and the floor with these rules fixed; fix fewer."
        )
    falling = parts.line(np.lexsort((-c, -g)))
    mu = 0.0
    # The dual of a fractional knapsack with two conditions, in mu alone: convex, and of pieces that
    # are lines.
    while falling.slope < 0:  # otherwise the lowest point is at mu = 0, where this is the line
        mu = (falling.height - rising.height) / (rising.slope - falling.slope)
        line = parts.line(np.argsort(-(g + mu * c), kind="stable"))
        if line.at(mu) <= max(falling.at(mu), rising.at(mu)):
            break
        if line.slope < 0:
            falling = line
        else:
            rising = line
        if line.slope == 0:
            break
    return Multipliers(parts.best_lam(mu), mu)


@dataclass(frozen=True, eq=False)
class DualPoint:
    """Weights and multipliers that prove a lower bound on the loss, and what they prove.

    `fixed_in` and `fixed_out` are rules that the floor alone decides.

    See Also
    --------
    mossrules.solver.Solution : Has one, as `dual`.
    mossrules.solver.Verification : Recomputes what it proves.
    """

    rules: IntArray  #: with a weight that is not zero
    weights: FloatArray  #: of these rules
    lam: float  #: price of one more rule
    mu: float  #: price of one more count of stability
    bound: float  #: what they prove
    fixed_in: IntArray
    fixed_out: IntArray
    prices: FloatArray = field(default_factory=lambda: np.empty(0))  #: of limits on rules

    @classmethod
    def at(
        cls,
        problem: SelectionProblem,
        w: FloatArray,
        lam: float,
        mu: float,
        *,
        fixed_in: IntArray | None = None,
        fixed_out: IntArray | None = None,
        prices: FloatArray | None = None,
    ) -> DualPoint:
        """Return the dual point of weights (m,) and multipliers, its bound by the plain formula."""
        none = np.empty(0, dtype=np.int64)
        fixed_in = none if fixed_in is None else fixed_in
        fixed_out = none if fixed_out is None else fixed_out
        prices = np.empty(0) if prices is None else prices
        bound = dual_bound(
            problem, w, lam, mu, prices=prices, fixed_in=fixed_in, fixed_out=fixed_out
        )
        rules = np.flatnonzero(w)
        return cls(rules, w[rules], float(lam), float(mu), bound, fixed_in, fixed_out, prices)

    @classmethod
    def of_selection(cls, problem: SelectionProblem, support: IntArray) -> DualPoint:
        """Return the dual point of a selection's weights, at the multipliers best for them."""
        w = np.zeros(problem.m)
        w[support] = problem.weights(support)
        return cls.at(problem, w, *best_multipliers(problem, w))


@dataclass(frozen=True, eq=False)
class Cut:
    """The tangent of H2 at z."""

    value: float
    gradient: FloatArray
    z: FloatArray

    @classmethod
    def at_support(cls, problem: SelectionProblem, support: IntArray) -> Cut:
        """Return the tangent at a selection."""
        z = np.zeros(problem.m)
        z[support] = 1.0
        return cls(*problem.tangent_at(support), z)

    @classmethod
    def at_point(cls, problem: SelectionProblem, z: FloatArray) -> Cut:
        """Return the tangent at any point of [0, 1]^m."""
        return cls(*problem.tangent(z), z)

    @property
    def constant(self) -> float:
        """The cut is nu >= constant + gradient'z."""
        return self.value - float(self.gradient @ self.z)

    @property
    def slopes(self) -> FloatArray:
        """The gradient, no steeper than a selection can tell.

        H2 is never negative and slopes never positive, so a rule with a slope below -constant ends
        the cut's demand by itself, and one of -constant does the same. A solver's tolerance counts
        as often as the slope says: slopes of 1e4 have let one prove too much by 1e-7.
        """
        return np.maximum(self.gradient, -max(0.0, self.constant))


# --- the parts of the formula -------------------------------------------------------------------


class _Line(NamedTuple):
    """g(S) + mu (c(S) - E) of one S, as a function of mu."""

    height: float
    slope: int

    def at(self, mu: float) -> float:
        return self.height + mu * self.slope


def _priced_limits(
    problem: SelectionProblem, prices: FloatArray | None
) -> tuple[FloatArray | float, float]:
    """Return y'A and y'b of the limits that count no groups."""
    limits = None if problem.constraints is None else problem.constraints.on_rules
    if prices is None or len(prices) == 0:
        return 0.0, 0.0
    if limits is None or len(prices) != len(limits.b) or not (prices >= 0).all():
        raise InvalidParameter("prices must be one for each limit on rules, none below 0.")
    return prices @ limits.A, float(prices @ limits.b)


class _Parts(NamedTuple):
    """What the bound is made of once w is given; g and c are those of the free rules."""

    constant: float  # yy/2 - w'Gw/2 - sum_In g
    g: FloatArray
    c: IntArray
    K: int
    E: int

    @classmethod
    def of(
        cls,
        problem: SelectionProblem,
        w: FloatArray,
        fixed_in: Iterable[int],
        fixed_out: Iterable[int],
        offset: FloatArray | float = 0.0,
    ) -> _Parts:
        w = np.asarray(w, dtype=np.float64)
        if w.shape != (problem.m,):
            raise InvalidParameter(f"w has shape {w.shape}; it needs one weight per rule.")
        inside = np.zeros(problem.m, dtype=bool)
        inside[[*problem.fixed_in, *fixed_in]] = True
        free = ~inside
        free[[*problem.fixed_out, *fixed_out]] = False
        constant, gains = problem.dual_parts(w)
        g = gains - offset
        return cls(
            constant=constant - float(g[inside].sum()),
            g=g[free],
            c=problem.counts[free],
            K=problem.max_rules - int(inside.sum()),
            E=problem.min_stability - int(problem.counts[inside].sum()),
        )

    def line(self, order: IntArray) -> _Line:
        """Return the line of the first K rules of an order."""
        # At the best lam, the K largest scores are taken in full and no others.
        S = order[: max(0, self.K)]
        return _Line(float(self.g[S].sum()), int(self.c[S].sum()) - self.E)

    def best_lam(self, mu: float) -> float:
        """Return the largest g + mu c that K rules leave over: one rule more gains that much."""
        n_free = len(self.g)
        if n_free <= self.K:
            return 0.0
        score = self.g + mu * self.c
        return float(np.partition(score, n_free - 1 - self.K)[n_free - 1 - self.K])
