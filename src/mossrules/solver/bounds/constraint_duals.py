"""Multipliers of limits `A z <= b` at which the bound of the relaxation is largest.

With y >= 0 on the rows, every selection that keeps the limits has (y'A) z <= y'b, so that adding
y'(A z - b) to the loss leaves a lower bound. The best y are duals of a linear program, the one that
minimises the largest of some tangents of H2 (as in `cutting_plane`) over the relaxed selections:

    min nu   s.t.   nu >= d_j + g_j'z for every tangent j,   A z <= b,   1'z <= k,   c'z >= eps
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

from mossrules._typing import FloatArray, IntArray
from mossrules.solver.bounds.duality import Cut, DualPoint
from mossrules.solver.options import relative_gap
from mossrules.solver.problems.linear_constraints import unit_of
from mossrules.solver.problems.selection import SelectionProblem

__all__ = ["constraint_multipliers"]

MAX_CUTS = 40  # new ones
KEPT = 60  # for the next problem
# Relative. The multipliers need not be exact: any y >= 0 gives a valid bound, and the ascent at the
# root goes on from there.
ENOUGH = 3e-3
NEGLIGIBLE = 1e-6  # of z


def constraint_multipliers(
    problem: SelectionProblem, start: IntArray, cuts: list[Cut]
) -> DualPoint | None:
    """Return weights and multipliers that are nearly the best; None if a program has no answer.

    `start` is a selection that keeps the limits. Tangents in `cuts`, which hold at any floor and
    with any rules fixed, are used, and new ones are added.
    """
    program = _LinearProgram.of(problem)
    inner = Cut.at_support(problem, start)
    cuts.append(inner)
    for n_new in range(MAX_CUTS + 1):
        optimum = program.solve(cuts)
        if optimum.x is None:
            return None
        if n_new == MAX_CUTS or relative_gap(inner.value, optimum.fun) <= ENOUGH:
            break
        # Half-way to the best point known, as in the cutting plane: corners jump.
        point = inner.z / 2
        point[program.kept] += np.clip(optimum.x[:-1], 0.0, 1.0) / 2
        cut = Cut.at_point(problem, np.where(point < NEGLIGIBLE, 0.0, point))
        cuts.append(cut)
        inner = cut if cut.value < inner.value else inner
    duals = optimum.ineqlin.marginals
    n_rows = len(program.upper)
    # Only tangents that bind are kept: with all of them the program would grow from node to node.
    binding = duals[n_rows:] < 0
    cuts[:] = [cut for cut, binds in zip(cuts, binding, strict=True) if binds][-KEPT:]
    *prices, lam, mu = np.maximum(0.0, -duals[:n_rows])
    mu /= program.unit
    return DualPoint.at(problem, problem.relaxed_weights(inner.z), lam, mu, prices=np.array(prices))


class _LinearProgram(NamedTuple):
    """The rows of the program but for the tangents; its columns are the kept rules, and nu."""

    kept: IntArray  # rules that are not fixed out
    rows: FloatArray  # (limits + 2, kept): limits, size and floor
    upper: FloatArray  # (limits + 2,)
    bounds: FloatArray  # (kept + 1, 2)
    unit: float  # of counts in the floor: as they are, large ones would swamp all else

    @classmethod
    def of(cls, problem: SelectionProblem) -> _LinearProgram:
        limits = problem.constraints
        if limits is None or len(limits.groups):
            raise AssertionError("There are no limits to be priced, or some that count groups.")
        kept = np.setdiff1d(np.arange(problem.m), problem.fixed_out)
        counts = problem.counts[kept].astype(np.float64)
        unit = unit_of(problem.counts)
        bounds = np.tile([0.0, 1.0], (len(kept) + 1, 1))
        bounds[np.searchsorted(kept, problem.fixed_in), 0] = 1.0
        bounds[-1, 1] = np.inf  # nu, the largest of the tangents
        return cls(
            kept,
            np.vstack([limits.A[:, kept], np.ones(len(kept)), -counts / unit]),
            np.concatenate([limits.b, [problem.max_rules, -problem.min_stability / unit]]),
            bounds,
            unit,
        )

    def solve(self, cuts: list[Cut]) -> Any:
        """Return what `linprog` returns, the program written anew: it is small."""
        # The dual simplex ends in a corner, and with exact duals: an interior point would not.
        slopes = [cut.gradient[self.kept] for cut in cuts]
        return linprog(
            np.append(np.zeros(len(self.kept)), 1.0),
            csr_array(
                np.vstack(
                    [
                        np.column_stack([self.rows, np.zeros(len(self.rows))]),
                        np.column_stack([slopes, -np.ones(len(cuts))]),
                    ]
                )
            ),
            np.concatenate([self.upper, [-cut.constant for cut in cuts]]),
            bounds=self.bounds,
            method="highs-ds",
        )
