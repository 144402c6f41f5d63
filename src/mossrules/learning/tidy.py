"""Which of the chosen rules a rule set needs: none that others express, none that hardly counts.

Notation (shapes in brackets)
    C      products of the chosen columns less their means                        (k, k)
    w      weights of these columns, in the direction asked for                   (k,)
    a      a circuit: C a = 0, so that M a is the same on all rows                (k,)

Chosen columns and the intercept may be linearly dependent: the four cells of two crossed
conditions add up to one, and a rule may be the sum of two that split it. Then many weights predict
the same, and which of them a fit returns is chance. Along a circuit, w - t a predicts what w does,
so one rule can leave without any change of a prediction: t is taken so that no weight changes its
direction, and of the two rules that this allows to leave the one in fewer trees does. What is
fitted stays as it was, so that only the ridge knows of the difference.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from mossrules._typing import BoolArray, FloatArray, IntArray
from mossrules.solver.kernels.linalg import solve_in_order

if TYPE_CHECKING:
    from mossrules.solver.problems.selection import SelectionProblem

__all__ = [
    "drop_dependent",
    "drop_idle",
    "exempt_rules",
    "importances",
    "required_first",
    "with_approved",
]

# A column counts as a combination of others when less than this share of its square is left; sums
# over rows are exact up to about 1e-12 of it.
DEPENDENT = 1e-9

# A weight below this share of the largest is zero: what rounding leaves has no direction.
ROUNDING = 1e-12


def drop_dependent(C: FloatArray, w: FloatArray, counts: IntArray) -> IntArray:
    """Return positions of independent columns, ascending, that predict what all of them do.

    `counts` are the trees of each rule: rules of many trees are looked at, and stay, first.
    """
    w = w.copy()
    least = ROUNDING * np.abs(w).max(initial=0.0)
    kept: list[int] = []
    for j in np.argsort(-counts, kind="stable").tolist():
        kept.append(j)
        a = _circuit(C, kept)
        if a is not None:
            leaving = _leaving(w[kept], a)
            w[kept] -= w[kept][leaving] / a[leaving] * a
            w[np.abs(w) <= least] = 0.0  # another one that came to zero at the same time
            del kept[leaving]
    return np.sort(np.array(kept, dtype=np.int64))


def required_first(counts: IntArray, required: BoolArray) -> IntArray:
    """Return counts with which `drop_dependent` keeps the required rules before all others."""
    return np.where(required, counts.max(initial=0) + 1, counts)


def exempt_rules(problem: SelectionProblem | None, chosen: IntArray) -> tuple[BoolArray, BoolArray]:
    """Return which of the chosen rules constraints require, and which were approved before."""
    required, approved = ((), ()) if problem is None else (problem.fixed_in, problem.approved)
    return np.isin(chosen, required), np.isin(chosen, approved)


def with_approved(
    tidy: IntArray,
    approved: IntArray,
    min_approved: int,
    sizes: Callable[[IntArray], FloatArray],
) -> IntArray:
    """Return tidy rules with as many approved ones as there have to be, ascending.

    `approved` are all that were chosen. Those come back first that move predictions most beside the
    others; `sizes` returns how far rules at some positions do.
    """
    left = np.setdiff1d(approved, tidy)
    n_missing = min_approved - (len(approved) - len(left))
    if n_missing <= 0:
        return tidy
    together = np.union1d(tidy, left)
    size = sizes(together)[np.isin(together, left)]
    return np.union1d(tidy, left[np.argsort(-size, kind="stable")[:n_missing]])


def _circuit(C: FloatArray, columns: list[int]) -> FloatArray | None:
    """Return a with C a = 0 on columns of which all but the last are independent; None without."""
    *first, last = columns
    if C[last, last] <= 0.0:
        return np.append(np.zeros(len(first)), 1.0)
    b = np.empty(0)
    if first:
        b = solve_in_order(C[np.ix_(first, first)], C[first, last])
    left = C[last, last] - float(np.sum(b * C[first, last]))
    return np.append(-b, 1.0) if left <= DEPENDENT * C[last, last] else None


def _leaving(w: FloatArray, a: FloatArray) -> int:
    """Return which weight the circuit brings to zero first, of both ways the rarer rule's."""
    size = np.abs(a)
    taking_part = np.flatnonzero(size > 1e-6 * size.max())
    reach = w[taking_part] / a[taking_part]
    # Towards larger t, weights of the sign of their a fall to zero; towards smaller t, the others.
    # A weight of zero has been reached already.
    ways = [np.where(reach >= 0, reach, np.inf), np.where(reach <= 0, -reach, np.inf)]
    ends = [taking_part[int(np.argmin(way))] for way in ways if np.isfinite(way).any()]
    return int(max(ends))


def importances(C: FloatArray, w: FloatArray, n: float) -> FloatArray:
    """Return how far each rule moves predictions: |w_i| times the deviation of its column."""
    return np.asarray(np.abs(w) * np.sqrt(np.maximum(np.diagonal(C), 0.0) / n))


def drop_idle(
    C: FloatArray, n: float, fit: Callable[[IntArray], FloatArray], least: float
) -> tuple[IntArray, FloatArray]:
    """Return positions of rules with a share of the largest importance, and their weights.

    `fit` returns the weights of the rules at some positions. A rule that leaves changes the weights
    of others, so it is called again until none leaves.
    """
    kept = np.arange(len(C))
    while True:
        w = fit(kept)
        size = importances(C[np.ix_(kept, kept)], w, n)
        stays = size >= least * size.max(initial=0.0)
        stays &= size > 0.0
        if stays.all():
            return kept, w
        kept = kept[stays]
