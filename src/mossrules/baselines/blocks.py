"""Block coordinate descent: a price for weights, and for neighbours in a block that differ.

Notation (the rest as in `designs`)
    w          one weight per column; several columns may be the same rule      (columns,)
    u          one weight per rule: the sum over the columns that are it        (m,)
    L          largest eigenvalue of each block's part of C                     (blocks,)
    price      what each column pays for its size                               (columns,)

    min over w of 1/2 |y - Z u|^2 + sum_c P(w_c) + fusion * sum of |w_c - w_(c+1)| within blocks

P is the minimax concave penalty; `kernels` has its formula and how the descent works.

FIRE's blocks are the leaves of each tree, from left to right. A pool of distinct rules knows in
which trees a rule appears, so the rules of one tree are its leaves. What lies next to what follows
from the rules themselves: the tree's first split is on a column that separates its leaves into two
groups, and so on within each group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mossrules._common import cached_property
from mossrules._typing import AnyArray, BoolArray, FloatArray, IntArray
from mossrules.baselines.designs import Design
from mossrules.baselines.kernels import descend_blocks
from mossrules.candidates.cuts import Binning
from mossrules.candidates.pool import CandidatePool
from mossrules.candidates.rules import Rule

__all__ = ["BlockDescent", "Blocks", "Penalty", "Stationary", "leaf_blocks", "left_to_right"]

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
        curvatures = np.empty(len(self))
        sizes = np.diff(self.offsets)
        # Blocks of one size are stacked: thousands of small matrices in one call of LAPACK.
        for size in np.unique(sizes):
            where = np.flatnonzero(sizes == size)
            members = self.rules[self.offsets[where, None] + np.arange(size)]
            squares = C[members[:, :, None], members[:, None, :]]
            curvatures[where] = np.linalg.eigvalsh(squares)[:, -1]
        # Of columns that depend on each other the smallest eigenvalues may come out below zero.
        return np.maximum(curvatures, 0.0)

    def per_rule(self, w: FloatArray, m: int) -> FloatArray:
        """Return u: for each of m rules the sum of the weights of all columns that are it."""
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
        # Columns that are the same rule share a row of C, which is m x m whatever the trees.
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


# --- the leaves of a forest -----------------------------------------------------------------------


def leaf_blocks(pool: CandidatePool, binning: Binning) -> Blocks:
    """Return the leaves of each tree as a block, in order; the same leaf may be in many."""
    leaves: list[list[int]] = [[] for _ in range(pool.n_trees)]
    for position, trees in enumerate(pool.trees):
        for tree in trees:
            leaves[tree].append(position)
    blocks = []
    known: dict[tuple[int, ...], list[int]] = {}  # many trees are alike
    for members in leaves:
        if members:
            key = tuple(members)
            if key not in known:
                order = left_to_right([pool.rules[i] for i in members], binning)
                known[key] = [members[i] for i in order]
            blocks.append(known[key])
    return Blocks(
        np.array([position for block in blocks for position in block], dtype=np.int64),
        np.cumsum([0, *map(len, blocks)], dtype=np.int64),
    )


def left_to_right(rules: Sequence[Rule], binning: Binning) -> list[int]:
    """Return the positions of rules in the order in which a tree has them as leaves.

    Where two columns could both be the first split (a chessboard), the first of them is taken.
    Of the two sides of a split the one with the lower code comes first. Rules that no split
    separates, which do not come from one tree, stay in their order.
    """
    accepted = [
        {
            condition.feature: condition.accepts(binning[condition.feature])
            for condition in rule.conditions
        }
        for rule in rules
    ]
    return _ordered(list(range(len(rules))), accepted, binning)


def _ordered(
    members: list[int], accepted: list[dict[str, BoolArray]], binning: Binning
) -> list[int]:
    if len(members) > 1:
        shared = set(accepted[members[0]]).intersection(*(accepted[i] for i in members[1:]))
        for feature in sorted(shared, key=binning.index):
            n_codes = binning[feature].n_codes
            groups = _separate(members, [accepted[i][feature][:n_codes] for i in members])
            if len(groups) > 1:
                return [i for group in groups for i in _ordered(group, accepted, binning)]
    return members


def _separate(members: list[int], codes: list[AnyArray]) -> list[list[int]]:
    """Group members whose codes overlap, directly or by way of others, by lowest code."""
    groups: list[tuple[AnyArray, list[int]]] = []
    for member, accepts in zip(members, codes, strict=True):
        merged, joined, apart = accepts, [member], []
        for other, inside in groups:
            if (other & merged).any():
                merged, joined = other | merged, inside + joined
            else:
                apart.append((other, inside))
        groups = [*apart, (merged, joined)]
    return [sorted(inside) for _, inside in sorted(groups, key=_first_code)]


def _first_code(group: tuple[AnyArray, list[int]]) -> int:
    """Return the lowest code of a group; that of missing values only where there is no other."""
    present = group[0][1:]
    return int(present.argmax()) + 1 if present.any() else 0
