"""The floor on each rule: every rule that is chosen must be in at least so many trees.

Notation (the rest as in `squared`)
    S'        the rules of a selection that are neither fixed in nor approved
    H1(S)     min_{i in S'} c_i, and the largest of all counts where S' is empty
    P(eps)    the least loss of the selections with H1(S) >= eps

Rules that are fixed in are asked for by name, and so are those that were approved before (see
`approved`): the floor is not on them. P(eps) is then the
problem without a floor in which all other rules of fewer than eps counts are fixed out: that is
`SelectionProblem.as_sum`, which every method solves, so that no search knows of this floor. A
selection that is feasible at a floor is so at each lower one, as with the sum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mossrules._typing import IntArray

if TYPE_CHECKING:
    from mossrules.solver.problems.linear_constraints import LinearConstraints
    from mossrules.solver.problems.selection import SelectionProblem

__all__ = ["least_count", "most_stable_under_limits", "rules_below"]


def least_count(counts: IntArray, chosen: IntArray) -> int:
    """Return the count of the least frequent of some rules; of none, the largest of all counts."""
    # Any floor that can be met is then met without a rule: there is none that falls short of it.
    return int((counts[chosen] if len(chosen) else counts.max(keepdims=True)).min())


def rules_below(problem: SelectionProblem, floor: int) -> IntArray:
    """Return the rules that a floor on each rule leaves out, ascending."""
    on = np.setdiff1d(problem.free, problem.approved)
    return np.asarray(on[problem.counts[on] < floor], dtype=np.int64)


def most_stable_under_limits(
    problem: SelectionProblem, limits: LinearConstraints
) -> IntArray | None:
    """Return a selection of as many rules as limits allow, the least frequent as high as can be.

    None where no selection keeps the limits. Without "as many as they allow", the most frequent
    rule alone would be it.
    """

    def largest(floor: int) -> IntArray | None:
        out = [*problem.fixed_out, *rules_below(problem, floor)]
        return limits.cheapest(-np.ones(problem.m), problem.max_rules, problem.fixed_in, out)

    best = largest(0)
    if best is None or set(best.tolist()) <= set(problem.fixed_in):
        return best
    # By bisection over the counts: a higher floor never allows more rules, and above the count of
    # the last of so many most frequent rules there are not so many.
    free = np.sort(problem.counts[problem.free])[::-1]
    low, counts = 0, np.unique(free)
    high = int(np.searchsorted(counts, free[len(best) - len(problem.fixed_in) - 1]))
    while low < high:
        middle = (low + high + 1) // 2
        found = largest(int(counts[middle]))
        if found is not None and len(found) == len(best):
            best, low = found, middle
        else:
            high = middle - 1
    return best
