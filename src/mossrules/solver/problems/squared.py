"""The problem to solve: at most k rules, at least `eps` stability, the smallest ridge loss.

Notation (shapes in brackets)
    G, q, yy   Gram matrix M'M, M'y and y'y of the rule columns and the target   (m, m), (m,), ()
    c          counts: number of trees in which each rule appears                (m,)
    k, gamma   maximum number of rules, ridge parameter
    eps        minimum stability asked for, in counts
    S, z       a selection of rules as positions, and as an indicator in [0, 1]^m

    H1(S) = sum_{i in S} c_i, or with floor="each" the least c_i of S (`each_floor`)
    H2(S) = 1/2 min_w |y - M_S w|^2 + |w|^2 / gamma
          = 1/2 (yy - q_S' (G_SS + I/gamma)^-1 q_S)

Where a sign s_i is given, the minimum is over weights with s_i w_i >= 0 only, and H2(S) is still
1/2 (yy - q_S'w) at the best w. H2 extends to fractional z by the weight w_i^2 / (gamma z_i) in
place of w_i^2 / gamma, and is convex there. What is written here is the slow and plain form:
everything else in the solver is tested against it, and every answer is recomputed by it before it
is returned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mossrules._arrays import number_array
from mossrules._typing import FloatArray, IntArray
from mossrules.exceptions import InvalidParameter
from mossrules.solver.kernels.linalg import signed_weights, solve_in_order
from mossrules.solver.problems.linear_constraints import LinearConstraints
from mossrules.solver.problems.selection import (
    Fit,
    FloorKind,
    SelectionProblem,
    check_point,
    whole_counts,
)
from mossrules.statistics import Statistics

__all__ = ["LinearConstraints", "Problem", "refuse_other_losses"]


@dataclass(frozen=True, eq=False, repr=False)
class Problem(SelectionProblem):
    """Select at most `max_rules` rules with at least `min_stability` counts and the least loss.

    `fixed_in` and `fixed_out` are positions of rules that must and must not be selected. Further
    limits on the selection go into `constraints`. `signs` are those of the weights, one for each
    rule: 1 for weights that may not be negative, -1 for none above zero, 0 for any.

    With `floor="each"`, `min_stability` is the minimum of the count of each rule, and not of their
    sum; rules that are fixed in are exempt. The stability of a selection is then the count of its
    least frequent rule, and of no rule the largest count there is. At least `min_approved` of the
    rules in `approved` must then be selected; they too are exempt.

    Examples
    --------
    >>> from mossrules import find_candidates
    >>> candidates = find_candidates({"age": [30, 40, 50, 60]}, [2.0, 3.0, 9.0, 8.0], n_trees=20)
    >>> problem = Problem(candidates.statistics, max_rules=2, gamma=10)
    >>> problem
    Problem(m=7, max_rules=2, gamma=10, min_stability=0 of 27)
    >>> problem.stability([0, 2]), problem.max_stability
    (25, 27)

    The third of these rules is in 11 trees.

    >>> each = problem.with_floor("each").at(13)
    >>> each.stability([0, 2]), each.is_feasible([0, 2]), each.max_stability
    (11, False, 13)
    """

    statistics: Statistics  #: of the candidate rules, from `find_candidates`
    max_rules: int = 15  #: maximum number of rules
    gamma: float = 0.01  #: ridge parameter: the larger, the less weights are shrunk
    min_stability: int = 0  #: minimum stability, in counts of trees
    fixed_in: Sequence[int] = ()
    fixed_out: Sequence[int] = ()
    constraints: LinearConstraints | None = None
    signs: IntArray | None = None
    floor: FloorKind = "sum"  #: what has a minimum: the "sum" of the counts, or "each" of them
    approved: Sequence[int] = ()  #: rules that the floor on each is not on
    min_approved: int = 0  #: how many of them must be selected at least

    @classmethod
    def from_matrix(
        cls, M: FloatArray, y: FloatArray, counts: IntArray, **settings: Any
    ) -> Problem:
        """Return the problem of explicit rule columns and an already scaled target.

        Parameters
        ----------
        M, y, counts
            As in `Statistics.from_matrix`.
        **settings
            Fields of the problem, such as `max_rules`.

        Examples
        --------
        Three rules and six rows. The first two together explain the target, but the second is in
        few trees: with a floor on stability the third takes its place.

        >>> import numpy as np
        >>> from mossrules.solver import solve
        >>> M = np.array([[1, 0, 0], [1, 0, 1], [0, 1, 1], [0, 1, 1], [0, 0, 0], [0, 0, 0.0]])
        >>> y = np.array([2, 2, -2, -2, 0, 0.0])
        >>> problem = Problem.from_matrix(M, y, np.array([90, 5, 60]), max_rules=2, gamma=10)
        >>> solve(problem).support
        array([0, 1])
        >>> solve(problem.at(100)).support
        array([0, 2])
        """
        M, y = number_array("M", M), number_array("y", y)
        if not (np.isfinite(M).all() and np.isfinite(y).all()):
            raise InvalidParameter("M or y has entries that are not finite; leave those rows out.")
        return cls(Statistics.from_matrix(M, y, whole_counts(counts)), **settings)

    def __post_init__(self) -> None:
        _check_statistics(self.statistics)
        self._check_conditions()

    @property
    def largest_curvature(self) -> float:
        """The largest G_ii."""
        return float(np.diagonal(self.statistics.G).max())

    @property
    def data(self) -> Statistics:
        """What is known of the rows."""
        return self.statistics

    @property
    def loss_parts(self) -> tuple[object, ...]:
        """The arrays and numbers that the loss depends on."""
        return self.statistics.G, self.statistics.q, self.statistics.yy

    @property
    def counts(self) -> IntArray:
        """Number of trees in which each rule appears."""
        return self.statistics.counts

    def with_counts(self, counts: IntArray) -> Problem:
        """Return a copy with other counts."""
        other = copy(self)
        object.__setattr__(other, "statistics", replace(self.statistics, counts=counts))
        return other

    @property
    def null_loss(self) -> float:
        """The loss of no rule at all, yy/2."""
        return 0.5 * self.statistics.yy

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
        if len(S) > self.max_rules:  # fractional points, of which only bounds are made
            return np.asarray(np.linalg.solve(A, q), dtype=np.float64)
        # Slower than LAPACK, but with the same bits whoever made it: these weights are returned.
        return solve_in_order(A, q)

    def loss(self, support: IntArray, weights: FloatArray | None = None) -> float:
        """Return H2 of a selection, from its `weights` if they are known."""
        S = np.asarray(support, dtype=np.int64)
        w = self.weights(S) if weights is None else weights
        # Not q @ w: sums of NumPy have one order, and those of BLAS have that of its maker.
        return 0.5 * max(0.0, self.statistics.yy - float(np.sum(self.statistics.q[S] * w)))

    def fit(self, support: IntArray) -> Fit:
        """Return the best weights of a selection and its loss; there is no intercept."""
        w = self.weights(support)
        return Fit(w, 0.0, self.loss(support, w))

    def relaxed_loss(self, z: FloatArray) -> float:
        """Return H2 at a point of [0, 1]^m."""
        return self.tangent(z)[0]

    def gradient(self, z: FloatArray) -> FloatArray:
        """Return dH2/dz_i = -(gamma/2) r_i^2, with r = q - G w, at a point of [0, 1]^m."""
        return self.tangent(z)[1]

    def relaxed_weights(self, z: FloatArray) -> FloatArray:
        """Return w (m,) at a point of [0, 1]^m: (G + diag(1/(gamma z)))^-1 q where z is not 0."""
        z = check_point(z, self.m)
        S = np.flatnonzero(z)
        # The substitution w = sqrt(z) u keeps the matrix well scaled however small z is.
        root = np.sqrt(z[S])
        A = root[:, None] * self.statistics.G[np.ix_(S, S)] * root + np.eye(len(S)) / self.gamma
        w = np.zeros(self.m)
        w[S] = root * self._solve(A, root * self.statistics.q[S], S)
        return w

    def _with_blanks(self, n: int) -> Problem:
        """Return the problem with n more rules, which hold nowhere and count for nothing."""
        # The column of a blank is zero: its weight is 0, and H2 is what it is without the blank.
        data = self.statistics
        statistics = replace(
            data,
            G=np.pad(data.G, ((0, n), (0, n))),
            q=np.pad(data.q, (0, n)),
            values=np.pad(data.values, (0, n)),
            counts=self._padded_counts(n),
            support=np.pad(data.support, (0, n)),
        )
        return replace(self, statistics=statistics, **self._padded_conditions(n))

    # --- tangents and bounds --------------------------------------------------------------------

    def tangent_at(self, support: IntArray) -> tuple[float, FloatArray]:
        """Return H2 and its gradient at a selection, in O(mk)."""
        w = self.weights(support)
        r = self.statistics.q - w @ self.statistics.G[support]
        return self.loss(support, w), -self.gains(r)

    def tangent(self, z: FloatArray) -> tuple[float, FloatArray]:
        """Return H2 and its gradient at any point of [0, 1]^m."""
        data, w = self.statistics, self.relaxed_weights(z)
        S = np.flatnonzero(w)
        loss = 0.5 * max(0.0, data.yy - float(data.q @ w))
        return loss, -self.gains(data.q - w[S] @ data.G[S])

    def dual_parts(self, w: FloatArray) -> tuple[float, FloatArray]:
        """Return yy/2 - w'Gw/2 and (gamma/2) r^2: H2(z) is at least the one less z' the other."""
        data, S = self.statistics, np.flatnonzero(w)
        Gw = w[S] @ data.G[S]
        return float(0.5 * (data.yy - w @ Gw)), self.gains(data.q - Gw)

    def data_parts(self) -> Iterator[bytes]:
        """Yield all numbers that the loss depends on, gamma left aside."""
        s = self.statistics
        yield from (np.ascontiguousarray(part).tobytes() for part in (s.G, s.q, s.counts))
        yield repr(s.yy).encode()


def refuse_other_losses(problem: SelectionProblem, what: str) -> None:
    """Say that something is for the squared loss only."""
    if not isinstance(problem, Problem):
        raise InvalidParameter(f"{what} is for the squared loss; pass a Problem.")


# --- checks -------------------------------------------------------------------------------------


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
    """Tell whether G is symmetric and no scalar product exceeds the lengths, up to rounding.

    That G has no negative eigenvalue is left to `Solution.verify`: it would cost m^3 here.
    """
    diagonal = np.diagonal(G)
    if (diagonal < 0).any() or yy < 0:
        return False
    # G and q may be any user's sums, in any order: so much is left for their rounding.
    length = np.sqrt(diagonal)
    longest = float(length.max())
    return (
        bool((np.abs(G - G.T) <= 1e-9 * longest**2).all())
        and bool((np.abs(G) <= np.outer(length, length) + 1e-6 * longest**2).all())
        and bool((np.abs(q) <= (length + 1e-6 * longest) * np.sqrt(yy)).all())
    )
