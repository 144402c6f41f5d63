"""The problem to solve: at most k rules, at least `eps` stability, the least ridge loss.

Notation (shapes in brackets)
    G, q, yy   Gram matrix M'M, M'y and y'y of the rule columns and the target   (m, m), (m,), ()
    c          counts: number of trees in which each rule appears                (m,)
    k, gamma   most rules allowed, ridge parameter
    eps        least stability asked for, in counts
    S, z       a selection of rules as positions, and as an indicator in [0, 1]^m

    H1(S) = sum_{i in S} c_i
    H2(S) = 1/2 min_w |y - M_S w|^2 + |w|^2 / gamma
          = 1/2 (yy - q_S' (G_SS + I/gamma)^-1 q_S)

Where a sign s_i is given, the minimum is over weights with s_i w_i >= 0 only, and H2(S) is still
1/2 (yy - q_S'w) at the best w. H2 extends to fractional z by the weight w_i^2 / (gamma z_i) in
place of w_i^2 / gamma, and is convex there. What is written here is the slow and plain form:
everything else in the solver is tested against it, and every answer is recomputed by it before it
is returned.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mossrules._checks import check_integer, check_number
from mossrules._typing import FloatArray, IntArray
from mossrules.exceptions import InfeasibleProblem, InvalidParameter
from mossrules.solver._kernels.signed import signed_weights
from mossrules.solver.limits import LinearConstraints
from mossrules.statistics import Statistics

__all__ = ["LinearConstraints", "Problem"]

MOST_CONDITION = 1e12  # gamma times the largest G_ii: beyond it, weights have no correct digits


@dataclass(frozen=True, eq=False)
class Problem:
    """Select at most `max_rules` rules with at least `min_stability` counts and the least loss.

    `fixed_in` and `fixed_out` are positions of rules that must and must not be selected. Further
    limits on the selection go into `constraints`. `signs` are those of the weights, one for each
    rule: 1 for weights that may not be negative, -1 for none above zero, 0 for any.
    """

    statistics: Statistics
    max_rules: int = 15
    gamma: float = 0.01
    min_stability: int = 0
    fixed_in: Sequence[int] = ()
    fixed_out: Sequence[int] = ()
    constraints: LinearConstraints | None = None
    signs: IntArray | None = None

    @classmethod
    def from_matrix(
        cls, M: FloatArray, y: FloatArray, counts: IntArray, **settings: Any
    ) -> Problem:
        """Return the problem of explicit rule columns M (n, m) and an already scaled target."""
        if not (np.isfinite(M).all() and np.isfinite(y).all()):
            raise InvalidParameter("M or y has entries that are not finite; leave those rows out.")
        return cls(Statistics.from_matrix(M, y, _whole_counts(counts)), **settings)

    def __post_init__(self) -> None:
        _check_statistics(self.statistics)
        check = {
            "max_rules": check_integer("max_rules", self.max_rules),
            "gamma": check_number("gamma", self.gamma),
            "min_stability": _whole_floor(self.min_stability),
            "fixed_in": _positions("fixed_in", self.fixed_in, self.m),
            "fixed_out": _positions("fixed_out", self.fixed_out, self.m),
        }
        for name, value in check.items():
            object.__setattr__(self, name, value)
        self._check_gamma()
        self._check_fixings()
        if self.constraints is not None and self.constraints.m != self.m:
            raise InvalidParameter(
                f"The constraints have {self.constraints.m} columns and there are "
                f"{self.m} rules; give A one column per rule."
            )
        object.__setattr__(self, "signs", _signs(self.signs, self.m))
        _check_floor(self)

    def _check_gamma(self) -> None:
        # G_SS + I/gamma has a condition number of up to gamma times the trace of G_SS.
        largest = float(np.diagonal(self.statistics.G).max())
        if self.gamma * largest > MOST_CONDITION:
            raise InvalidParameter(
                f"gamma is {self.gamma:g}; with these rules, weights are lost in rounding above "
                f"{MOST_CONDITION / largest:.2g}."
            )

    def _check_fixings(self) -> None:
        both = sorted(set(self.fixed_in) & set(self.fixed_out))
        if both:
            raise InvalidParameter(f"Rules {both} are both fixed in and fixed out; choose one.")
        if len(self.fixed_in) > self.max_rules:
            raise InfeasibleProblem(
                f"{len(self.fixed_in)} rules are fixed in and max_rules is {self.max_rules}; raise "
                "max_rules or fix fewer."
            )

    # --- what there is --------------------------------------------------------------------------

    @property
    def m(self) -> int:
        """Number of candidate rules."""
        return self.statistics.m

    @cached_property
    def free(self) -> IntArray:
        """Positions of the rules that are neither fixed in nor fixed out, ascending."""
        decided = [*self.fixed_in, *self.fixed_out]
        return np.setdiff1d(np.arange(self.m), np.array(decided, dtype=np.int64))

    @property
    def is_limited(self) -> bool:
        """Whether there are limits `A z <= b` on the selection or signs of weights."""
        return self.constraints is not None or self.signs is not None

    @property
    def size(self) -> int:
        """Rules in a best selection: another rule never raises H2 nor lowers H1."""
        return min(self.max_rules, len(self.fixed_in) + len(self.free))

    @cached_property
    def most_stable(self) -> IntArray:
        """The selection of the largest H1, limits `A z <= b` left aside; ascending positions."""
        order = self.free[np.argsort(-self.statistics.counts[self.free], kind="stable")]
        fixed = np.array(self.fixed_in, dtype=np.int64)
        return np.sort(np.concatenate([fixed, order[: self.size - len(fixed)]]))

    @cached_property
    def largest_stability(self) -> int:
        """The largest H1 of any selection, `eps_max` (limits `A z <= b` left aside)."""
        return self.stability(self.most_stable)

    @cached_property
    def reachable(self) -> IntArray | None:
        """The selection of the largest H1 that keeps all limits, or None where none keeps them."""
        if self.constraints is None:
            return self.most_stable
        return self.constraints.cheapest(
            -self.statistics.counts.astype(np.float64),
            self.max_rules,
            self.fixed_in,
            self.fixed_out,
        )

    @property
    def eps_max(self) -> int:
        """The largest H1 of a selection that keeps all limits; 0 where none does."""
        return 0 if self.reachable is None else self.stability(self.reachable)

    def at(self, min_stability: int) -> Problem:
        """Return the same problem at another floor."""
        # Not `replace`, which would check all of G again: a frontier makes thousands of these.
        other = copy(self)
        object.__setattr__(other, "min_stability", _whole_floor(min_stability))
        _check_floor(other)
        return other

    def restricted(
        self, fixed_out: Iterable[int], constraints: LinearConstraints | None
    ) -> Problem:
        """Return the same problem with more rules fixed out, and other limits."""
        other = copy(self)
        out = tuple(sorted({*self.fixed_out, *map(int, fixed_out)}))
        object.__setattr__(other, "fixed_out", out)
        object.__setattr__(other, "constraints", constraints)
        for name in ("free", "most_stable", "largest_stability", "reachable"):
            vars(other).pop(name, None)
        if not set(out).isdisjoint(self.fixed_in):
            raise InfeasibleProblem("A rule would be both fixed in and fixed out; fix fewer.")
        _check_floor(other)
        return other

    # --- the plain definitions ------------------------------------------------------------------

    def weights(self, support: IntArray) -> FloatArray:
        """Return w = (G_SS + I/gamma)^-1 q_S of a selection, or the best w of the signs given."""
        S = np.asarray(support, dtype=np.int64)
        A = self.statistics.G[np.ix_(S, S)] + np.eye(len(S)) / self.gamma
        return self._solve(A, self.statistics.q[S], S)

    def _solve(self, A: FloatArray, q: FloatArray, S: IntArray) -> FloatArray:
        """Return A^-1 q, or the w of the signs given that minimises w'Aw/2 - q'w."""
        if self.signs is not None and np.any(self.signs[S]):
            return signed_weights(A, q, self.signs[S])
        return np.asarray(np.linalg.solve(A, q), dtype=np.float64)

    def has_other_signs(self, other: Problem) -> bool:
        """Tell whether weights have other signs than in another problem."""
        if self.signs is None or other.signs is None:
            return self.signs is not other.signs
        return not np.array_equal(self.signs, other.signs)

    def gains(self, r: FloatArray) -> FloatArray:
        """Return (gamma/2) r_i^2 of every rule, where its sign is not the wrong one; 0 there.

        With r = q - G w this is the rate -dH2/dz_i at which the loss falls.
        """
        if self.signs is not None:
            r = np.where(self.signs * r < 0, 0.0, r)
        return np.asarray(0.5 * self.gamma * r**2, dtype=np.float64)

    def loss(self, support: IntArray, weights: FloatArray | None = None) -> float:
        """Return H2 of a selection, from its `weights` if they are known."""
        S = np.asarray(support, dtype=np.int64)
        w = self.weights(S) if weights is None else weights
        return 0.5 * max(0.0, self.statistics.yy - float(self.statistics.q[S] @ w))

    def stability(self, support: IntArray) -> int:
        """Return H1 of a selection."""
        return int(self.statistics.counts[np.asarray(support, dtype=np.int64)].sum())

    def is_feasible(self, support: IntArray) -> bool:
        """Tell whether a selection meets every condition of the problem."""
        chosen = {int(i) for i in support}
        return (
            len(chosen) == len(support) <= self.max_rules
            and chosen.issubset(range(self.m))
            and self.stability(support) >= self.min_stability
            and chosen.issuperset(self.fixed_in)
            and chosen.isdisjoint(self.fixed_out)
            and (self.constraints is None or self.constraints.holds(support))
        )

    def relaxed_loss(self, z: FloatArray) -> float:
        """Return H2 at a point of [0, 1]^m."""
        return self.loss_of(self.relaxed_weights(z))

    def gradient(self, z: FloatArray) -> FloatArray:
        """Return dH2/dz_i = -(gamma/2) r_i^2, with r = q - G w, at a point of [0, 1]^m."""
        return self.gradient_of(self.relaxed_weights(z))

    def loss_of(self, w: FloatArray) -> float:
        """Return H2 where w (m,) are the best weights."""
        return 0.5 * max(0.0, self.statistics.yy - float(self.statistics.q @ w))

    def gradient_of(self, w: FloatArray) -> FloatArray:
        """Return dH2/dz where w (m,) are the best weights."""
        S = np.flatnonzero(w)
        return -self.gains(self.statistics.q - w[S] @ self.statistics.G[S])

    def relaxed_weights(self, z: FloatArray) -> FloatArray:
        """Return w (m,) at a point of [0, 1]^m: (G + diag(1/(gamma z)))^-1 q where z is not 0."""
        z = np.asarray(z, dtype=np.float64)
        if z.shape != (self.m,) or not ((z >= 0) & (z <= 1)).all():
            raise InvalidParameter(f"z must have {self.m} entries between 0 and 1.")
        S = np.flatnonzero(z)
        # The substitution w = sqrt(z) u keeps the matrix well scaled however small z is.
        root = np.sqrt(z[S])
        A = root[:, None] * self.statistics.G[np.ix_(S, S)] * root + np.eye(len(S)) / self.gamma
        w = np.zeros(self.m)
        w[S] = root * self._solve(A, root * self.statistics.q[S], S)
        return w

    def __repr__(self) -> str:
        extras = [
            f", {len(part)} {name}"
            for part, name in ((self.fixed_in, "fixed in"), (self.fixed_out, "fixed out"))
            if part
        ]
        if self.constraints is not None:
            extras.append(f", {self.constraints!r}")
        if self.signs is not None:
            extras.append(f", {np.count_nonzero(self.signs)} signs")
        return (
            f"Problem(m={self.m:,}, max_rules={self.max_rules}, gamma={self.gamma:g}, "
            f"min_stability={self.min_stability} of {self.largest_stability}{''.join(extras)})"
        )


# --- checks -------------------------------------------------------------------------------------


def _check_floor(problem: Problem) -> None:
    if problem.min_stability > problem.largest_stability:
        raise InfeasibleProblem(
            f"min_stability is {problem.min_stability}, but no {problem.max_rules} rules that may "
            f"be selected have more than {problem.largest_stability} counts together; ask for at "
            "most that."
        )


def _check_statistics(statistics: Statistics) -> None:
    G, q, counts = statistics.G, statistics.q, statistics.counts
    if statistics.m == 0:
        raise InvalidParameter("There are no candidate rules; grow more trees or pass other data.")
    if G.shape != (len(q), len(q)) or counts.shape != q.shape:
        raise InvalidParameter(
            f"G has shape {G.shape}, q {q.shape} and counts {counts.shape}; they must be (m, m), "
            "(m,) and (m,)."
        )
    if not (np.isfinite(G).all() and np.isfinite(q).all() and np.isfinite(statistics.yy)):
        raise InvalidParameter(
            "G, q or yy has entries that are not finite; check the rule columns and the target."
        )
    if not _is_like_gram(G, q, statistics.yy):
        raise InvalidParameter(
            "G, q and yy are not those of any columns: G must be symmetric, |G_ij| at most "
            "sqrt(G_ii G_jj) and |q_i| at most sqrt(G_ii yy)."
        )
    if counts.dtype.kind not in "iu":
        raise InvalidParameter(f"counts has dtype {counts.dtype}; pass whole numbers of trees.")
    if (counts < 0).any():
        first = int(np.argmax(counts < 0))
        raise InvalidParameter(
            f"Rule {first} has a count of {counts[first]}; counts must not be negative."
        )


def _is_like_gram(G: FloatArray, q: FloatArray, yy: float) -> bool:
    """Tell whether G is symmetric and no scalar product exceeds the lengths, up to rounding."""
    diagonal = np.diagonal(G)
    if (diagonal < 0).any() or yy < 0:
        return False
    length = np.sqrt(diagonal)
    longest = float(length.max())
    return (
        bool((np.abs(G - G.T) <= 1e-9 * longest**2).all())
        and bool((np.abs(G) <= np.outer(length, length) + 1e-6 * longest**2).all())
        and bool((np.abs(q) <= (length + 1e-6 * longest) * np.sqrt(yy)).all())
    )


def _whole_counts(counts: Any) -> IntArray:
    """Return counts as integers; proportions are a likely mistake."""
    counts = np.asarray(counts)
    if counts.dtype.kind not in "iu" and not np.array_equal(counts, np.round(counts)):
        raise InvalidParameter(
            "The counts are not whole numbers; pass the number of trees of each rule, not a share."
        )
    return np.asarray(counts, dtype=np.int64)


def _whole_floor(value: Any) -> int:
    """Return the least integer that is at least `value`, as H1 is a sum of integers.

    A share of a whole number may come out a rounding error above one.
    """
    floor = check_number("min_stability", value, least=0)
    return int(np.ceil(floor * (1.0 - 1e-12)))


def _signs(values: Any, m: int) -> IntArray | None:
    """Return the signs of weights; None if all are free."""
    if values is None:
        return None
    signs = np.asarray(values)
    if signs.shape != (m,) or not np.isin(signs, (-1, 0, 1)).all():
        raise InvalidParameter(f"signs must be {m} numbers, one per rule, each -1, 0 or 1.")
    return signs.astype(np.int64) if signs.any() else None


def _positions(name: str, values: Sequence[int], m: int) -> tuple[int, ...]:
    found = sorted({check_integer(name, value, least=0, most=m - 1) for value in values})
    return tuple(found)
