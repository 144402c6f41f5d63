"""All that the solver ever sees of the data: numbers whose size does not depend on the rows.

Notation (shapes in brackets)
    N       overlaps: total weight of the rows on which rules i and j both hold  (m, m)
    s       sums of the centred, scaled target over the rows of each rule        (m,)
    v       values: mean of that target over the rows of each rule, s_i / N_ii   (m,)
    M       rule columns, M_i = v_i on the rows of rule i and 0 elsewhere        never formed
    G       Gram matrix M'M = v_i v_j N_ij                                       (m, m)
    q       M'y = v_i s_i                                                        (m,)
    u       column sums M'1 = v_i N_ii                                           (m,)
    yy, n   y'y and the total weight of the rows

This is the waist of the package: `candidates.statistics` computes the value from rows, the solver
works from it alone. It imports nothing of either.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mossrules._arrays import number_array
from mossrules._typing import FloatArray, IntArray
from mossrules.exceptions import InvalidParameter

__all__ = ["Statistics"]


@dataclass(frozen=True)
class Statistics:
    """Sufficient statistics of m rule columns and a target; see the module's notation.

    `counts` is the number of trees in which each rule appears. `target_mean` and `target_scale`
    turn predictions of the centred, scaled target back into the user's units.

    Examples
    --------
    >>> import numpy as np
    >>> M = np.array([[1, 0], [1, 1], [0, 1]])
    >>> statistics = Statistics.from_matrix(M, np.array([1, 2, 3]), counts=np.array([9, 4]))
    >>> statistics
    Statistics(m=2 rules, n=3 rows)
    >>> statistics.q, statistics.support
    (array([3., 5.]), array([2., 2.]))
    """

    G: FloatArray  #: (m, m): products of the columns of rules
    q: FloatArray  #: (m,): their products with the target
    yy: float  #: squared length of the target
    n: float  #: rows, or their total weight
    values: FloatArray  #: (m,): mean of the scaled target on the rows of each rule
    counts: IntArray
    support: FloatArray  #: total weight of the rows of each rule, N_ii
    target_mean: float = 0.0
    target_scale: float = 1.0
    row_weight: float = 1.0  #: mean weight of the rows that count at all

    @classmethod
    def from_matrix(cls, M: FloatArray, y: FloatArray, counts: IntArray) -> Statistics:
        """Return the statistics of explicit rule columns and an already scaled target.

        Parameters
        ----------
        M, y
            The columns, (n, m), and the target, (n,).
        counts
            Number of trees in which each rule appears, (m,).
        """
        M, y = number_array("M", M).astype(np.float64), number_array("y", y).astype(np.float64)
        counts = number_array("counts", counts).astype(np.int64)
        if M.ndim != 2 or y.shape != M.shape[:1] or counts.shape != M.shape[1:]:
            raise InvalidParameter(
                f"M has shape {M.shape}, y {y.shape} and counts {counts.shape}; they must be "
                "(n, m), (n,) and (m,)."
            )
        # The value of a column that is constant where it is not zero; NaN where it is not.
        value = np.abs(M).max(axis=0, initial=0.0) * np.sign(M.sum(axis=0))
        constant = np.all((M == 0) | (value == M), axis=0)
        return cls(
            G=M.T @ M,
            q=M.T @ y,
            yy=float(y @ y),
            n=float(len(y)),
            values=np.where(constant, value, np.nan),
            counts=counts,
            support=np.count_nonzero(M, axis=0).astype(np.float64),
        )

    # --- other columns of the same rules ----------------------------------------------------------

    @property
    def sums(self) -> FloatArray:
        """(m,): u, the sums of the columns M'1 = v_i N_ii."""
        return self.values * self.support

    def centred(self) -> Statistics:
        """Return the statistics of columns less their means: G - uu'/n.

        A loss of such columns is that of the columns as they are beside the best intercept, so that
        the intercept is part of a choice. As y sums to zero, q stays.
        """
        u = self.sums
        return replace(self, G=self.G - np.outer(u, u / self.n))

    def scaled(self, factors: FloatArray) -> Statistics:
        """Return the statistics of columns multiplied by factors (m,).

        A ridge |w|^2 on weights of the scaled columns is one of w_i^2 / f_i^2 on those of the
        columns as they are: rules of larger factors are shrunk less.
        """
        return replace(
            self,
            G=self.G * factors * factors[:, None],
            q=self.q * factors,
            values=self.values * factors,
        )

    @property
    def m(self) -> int:
        """Number of rules."""
        return len(self.q)

    def __repr__(self) -> str:
        return f"Statistics(m={self.m:,} rules, n={self.n:,.0f} rows)"
