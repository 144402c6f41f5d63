"""FIRE's optimisation: few rules by a concave price on weights, neighbouring leaves fused.

Both versions walk down a path of prices, each solution the start of the next.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mossrules._typing import FloatArray
from mossrules.baselines._descent import BlockDescent, Blocks, Penalty
from mossrules.baselines._design import Design
from mossrules.baselines._leaves import leaf_blocks
from mossrules.baselines._path import PathPoint, follow_path, without_rounding
from mossrules.candidates.search import Candidates
from mossrules.statistics import Statistics

__all__ = ["FirePath"]

STEPS = 100  # points of a path
LEAST = 1e-3  # the last one's price, as a share of the first one's
HALVINGS = 20  # of the last step, in search of a point with as many rules as allowed


@dataclass(frozen=True)
class FirePath:
    """The problem at all prices; `factors` turn weights of its columns into those of 0 and 1.

    `gamma`, greater than one, is that of the minimax concave penalty; the price of differing
    neighbours is `fusion` times that of size, so that there is one path and not a grid of them.
    """

    descent: BlockDescent
    factors: FloatArray
    gamma: float
    fusion: float
    prices: FloatArray
    halvings: int

    @classmethod
    def of_leaves(cls, candidates: Candidates, *, gamma: float, fusion: float) -> FirePath:
        """Return the published problem: all leaves of all trees, a block for each tree.

        A column is the leaf's value where a row falls in it, and 0 elsewhere.
        """
        design = Design.of_values(candidates.statistics)
        top = float(np.abs(design.c).max())
        return cls(
            BlockDescent(design, leaf_blocks(candidates.pool, candidates.binning)),
            candidates.statistics.values,
            gamma,
            fusion,
            np.geomspace(top, LEAST * top, STEPS) if top > 0.0 else np.zeros(1),
            HALVINGS,
        )

    @classmethod
    def of_rules(cls, statistics: Statistics, *, gamma: float) -> FirePath:
        """Return what the MOSS paper ran: each distinct rule once, on its own, without fusion.

        Columns have variance one, and prices are the same for all data: from that at which no
        column is worth it, even one that is the target, to a thousandth of it.
        """
        design = Design.of_rules(statistics)
        spread = np.sqrt(np.diagonal(design.C) / design.n)
        factors = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0.0)
        return cls(
            BlockDescent(design.scaled(factors), Blocks.single(statistics.m)),
            factors,
            gamma,
            0.0,
            design.n * np.geomspace(1.0, LEAST, STEPS),
            halvings=0,
        )

    def follow(self, max_rules: int) -> PathPoint:
        """Return the point with the most rules that are no more than `max_rules`."""
        start = PathPoint(float(self.prices[0]), np.zeros(len(self.descent.blocks.rules)), 0)
        prices = self.prices[1:].tolist()
        return follow_path(self.solve, start, prices, max_rules, halvings=self.halvings)

    def solve(self, price: float, start: FloatArray) -> PathPoint:
        """Return the stationary point that a descent from `start` finds at one price."""
        found = self.descent.minimise(self.penalty(price), start)
        n_rules = int(np.count_nonzero(self.weights(found.w)))
        return PathPoint(price, found.w, n_rules, found.converged)

    def penalty(self, price: float) -> Penalty:
        """Return what is paid at a price."""
        prices = np.full(len(self.descent.blocks.rules), price)
        return Penalty(prices, 1.0 / self.gamma, self.fusion * price)

    def weights(self, w: FloatArray) -> FloatArray:
        """Return the weight of each rule, of columns of 0 and 1."""
        return without_rounding(self.per_rule(w) * self.factors)

    def intercept(self, w: FloatArray) -> float:
        """Return the intercept that goes with them."""
        return self.descent.design.intercept(self.per_rule(w))

    def per_rule(self, w: FloatArray) -> FloatArray:
        """Return the weight of each rule, of the columns of the problem."""
        return self.descent.blocks.per_rule(w, self.descent.design.m)
