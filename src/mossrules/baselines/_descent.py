"""Least squares with a price for weights and for differing neighbours, in blocks of columns.

Notation (the rest as in `_design`)
    w          one weight per column; several columns may be the same rule      (columns,)
    u          one weight per rule: the sum over the columns that are it        (m,)
    L          largest eigenvalue of each block's part of C                     (blocks,)
    price      what each column pays for its size                               (columns,)

    min over w of 1/2 |y - Z u|^2 + sum_c P(w_c) + fusion * sum of |w_c - w_(c+1)| within blocks

P is the minimax concave penalty; `_kernels/blocks.py` has its formula and how the descent works.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mossrules._cached import cached_property
from mossrules._typing import FloatArray, IntArray
from mossrules.baselines._design import Design
from mossrules.baselines.kernels.blocks import descend_blocks

__all__ = ["BlockDescent", "Blocks", "Penalty", "Stationary"]

TOLERANCE = 1e-12  # of yy: what one more sweep would move; what is left to gain is a multiple of it
MAX_SWEEPS = 20_000


@dataclass(frozen=True)
class Blocks:
    """Columns in blocks: column c is rule `rules[c]`, block b is offsets[b]..offsets[b+1]-1."""

    rules: IntArray
    offsets: IntArray

    @classmethod
    def single(cls, m: int) -> Blocks:
        """Return one column, and a block of it, for each of m rules."""
        return cls(np.arange(m), np.arange(m + 1))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def curvatures(self, C: FloatArray) -> FloatArray:
        """Return the largest eigenvalue of each block's part of a Gram matrix."""
        found = np.empty(len(self))
        sizes = np.diff(self.offsets)
        for size in np.unique(sizes):
            where = np.flatnonzero(sizes == size)
            members = self.rules[self.offsets[where, None] + np.arange(size)]
            squares = C[members[:, :, None], members[:, None, :]]
            found[where] = np.linalg.eigvalsh(squares)[:, -1]
        return np.maximum(found, 0.0)

    def per_rule(self, w: FloatArray, m: int) -> FloatArray:
        """Return for each of m rules the sum of the weights of all columns that are it."""
        return np.bincount(self.rules, weights=w, minlength=m).astype(np.float64)


class Penalty(NamedTuple):
    """Prices; a concavity of 0 makes the lasso's of them, one near 1 all but counts weights."""

    price: FloatArray
    concavity: float = 0.0
    fusion: float = 0.0


class Stationary(NamedTuple):
    """Where a descent ended; `converged` tells whether it is known to be stationary."""

    w: FloatArray
    sweeps: int
    converged: bool


@dataclass(frozen=True)
class BlockDescent:
    """A problem to solve at many prices, each time from where the last solution left off."""

    design: Design
    blocks: Blocks

    @cached_property
    def curvatures(self) -> FloatArray:
        """L of each block."""
        return self.blocks.curvatures(self.design.C)

    def minimise(
        self,
        penalty: Penalty,
        start: FloatArray | None = None,
        *,
        tolerance: float = TOLERANCE,
        max_sweeps: int = MAX_SWEEPS,
    ) -> Stationary:
        """Descend from `start` (no weights at all, by default) to a stationary point.

        With a concavity of zero that is a minimum.
        """
        C, c = np.ascontiguousarray(self.design.C), self.design.c
        w = np.zeros(len(self.blocks.rules)) if start is None else start.copy()
        r = c - C @ self.blocks.per_rule(w, len(c))
        sweeps = descend_blocks(
            C,
            self.blocks.rules,
            self.blocks.offsets,
            self.curvatures,
            penalty.price,
            penalty.concavity,
            penalty.fusion,
            tolerance * self.design.yy,
            max_sweeps,
            w,
            r,
        )
        return Stationary(w, max_sweeps if sweeps < 0 else sweeps, converged=sweeps >= 0)

    def objective(self, penalty: Penalty, w: FloatArray) -> float:
        """Return what `minimise` lowers."""
        loss = 0.5 * self.design.residual(self.blocks.per_rule(w, self.design.m))
        return loss + self._price_of_sizes(penalty, w) + self._price_of_steps(penalty, w)

    def _price_of_sizes(self, penalty: Penalty, w: FloatArray) -> float:
        size, price = np.abs(w), penalty.price
        bend = penalty.concavity * np.repeat(self.curvatures, np.diff(self.blocks.offsets))
        # Beyond price / bend the penalty stays what it is there.
        size = np.divide(price, bend, out=size, where=bend * size > price)
        return float(price @ size - 0.5 * bend @ size**2)

    def _price_of_steps(self, penalty: Penalty, w: FloatArray) -> float:
        inside = np.ones(max(len(w) - 1, 0), dtype=bool)
        inside[self.blocks.offsets[1:-1] - 1] = False
        return float(penalty.fusion * np.abs(np.diff(w))[inside].sum())
