"""Prices of limits `A z <= b`: the multipliers at which the bound of the relaxation is largest.

With y >= 0 on the rows, every selection that keeps the limits has (y'A) z <= y'b, so that adding
y'(A z - b) to the loss leaves a lower bound. The best y are duals of a linear program, the one that
minimises the largest of some tangents of H2 (as in `cutting_plane`) over the relaxed selections.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

from mossrules._typing import IntArray
from mossrules.solver.bounds.duality import Cut, DualPoint
from mossrules.solver.options import relative_gap
from mossrules.solver.problems.selection import SelectionProblem

__all__ = ["constraint_multipliers"]

MOST_CUTS = 40  # new ones
KEPT = 60  # for the next problem
ENOUGH = 3e-3  # relative: the ascent at the root goes on from there
NEGLIGIBLE = 1e-6  # of z


def constraint_multipliers(
    problem: SelectionProblem, start: IntArray, cuts: list[Cut]
) -> DualPoint | None:
    """Return weights, multipliers and prices that nearly are the best; None if nothing is feasible.

    `start` is a selection that keeps the limits. Tangents in `cuts`, which hold at any floor and
    with any rules fixed, are used, and new ones are added.
    """
    limits = problem.constraints
    if limits is None or len(limits.groups):
        raise AssertionError("There are no limits to be priced, or some that count groups.")
    kept = np.setdiff1d(np.arange(problem.m), problem.fixed_out)
    n, counts = len(kept), problem.counts[kept].astype(np.float64)
    rows = np.vstack([limits.A[:, kept], np.ones(n), -counts])
    most = np.concatenate([limits.b, [problem.max_rules, -problem.min_stability]])
    bounds = np.tile([0.0, 1.0], (n + 1, 1))
    bounds[np.searchsorted(kept, problem.fixed_in), 0] = 1.0
    bounds[n, 1] = np.inf  # nu, the largest of the tangents
    inner = Cut.at_support(problem, start)
    cuts.append(inner)
    new = 0
    while True:
        found = linprog(
            np.append(np.zeros(n), 1.0),
            csr_array(
                np.vstack(
                    [
                        np.column_stack([rows, np.zeros(len(rows))]),
                        np.column_stack(
                            [[cut.gradient[kept] for cut in cuts], -np.ones(len(cuts))]
                        ),
                    ]
                )
            ),
            np.concatenate([most, [-cut.constant for cut in cuts]]),
            bounds=bounds,
            method="highs-ds",
        )
        if found.x is None:
            return None
        if new == MOST_CUTS or relative_gap(inner.value, found.fun) <= ENOUGH:
            break
        # Half-way to the best point known, as in the cutting plane: corners jump.
        point = inner.z / 2
        point[kept] += np.clip(found.x[:n], 0.0, 1.0) / 2
        cut = Cut.at_point(problem, np.where(point < NEGLIGIBLE, 0.0, point))
        cuts.append(cut)
        new += 1
        inner = cut if cut.value < inner.value else inner
    binding = found.ineqlin.marginals[len(most) :] < 0
    cuts[:] = [cut for cut, binds in zip(cuts, binding, strict=True) if binds][-KEPT:]
    *prices, lam, mu = np.maximum(0.0, -found.ineqlin.marginals[: len(most)])
    return DualPoint.at(problem, problem.relaxed_weights(inner.z), lam, mu, prices=np.array(prices))
