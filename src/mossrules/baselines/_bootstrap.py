"""Mean targets of rules in the first tree that has them, over the rows that tree was grown on.

A forest draws how often each row counts in each tree as a function of its seed, so what a tree saw
can be had again. The authors of the MOSS paper take these means for those of the rules; a mean over
all rows is less noisy.
"""

from __future__ import annotations

import numpy as np

from mossrules._typing import FloatArray, IntArray
from mossrules.candidates.kernels.draws import (
    BOOTSTRAP,
    POISSON_THRESHOLDS,
    TREES_PER_DRAW,
    draw_uniforms,
    stream_key,
)
from mossrules.candidates.search import Candidates
from mossrules.candidates.statistics import rule_columns
from mossrules.data.canonical_order import Rows
from mossrules.data.chunks import row_ranges

__all__ = ["bootstrap_counts", "first_tree_means"]


def bootstrap_counts(seed: int, tree: int, first_row: int, n_rows: int) -> IntArray:
    """Return how often a tree of a forest counts each of some rows."""
    group, place = divmod(tree, TREES_PER_DRAW)
    uniforms = np.empty((TREES_PER_DRAW, n_rows), dtype=np.uint16)
    key = np.uint64(stream_key(np.uint64(seed), BOOTSTRAP, group))
    draw_uniforms(key, first_row, np.arange(n_rows, dtype=np.uint32), uniforms)
    counts: IntArray = np.searchsorted(POISSON_THRESHOLDS, uniforms[place], side="right")
    return counts


def first_tree_means(candidates: Candidates, rows: Rows, seed: int) -> FloatArray:
    """Return the mean of the scaled target of each rule in its first tree."""
    statistics, pool, binning = candidates.statistics, candidates.pool, candidates.binning
    target = (rows.target - statistics.target_mean) / statistics.target_scale
    weights = np.ones(len(target)) if rows.weights is None else rows.weights
    first = np.array([min(trees) for trees in pool.trees])
    sums, sizes = np.zeros(len(pool)), np.zeros(len(pool))
    for part in row_ranges(len(target)):
        span = slice(part.start, part.stop)
        holds = rule_columns(pool.rules, binning, binning.encode(rows.table, part))
        for tree in np.unique(first):
            counts = weights[span] * bootstrap_counts(seed, int(tree), part.start, len(part))
            of_tree = np.flatnonzero(first == tree)
            sums[of_tree] += holds[of_tree] @ (counts * target[span])
            sizes[of_tree] += holds[of_tree] @ counts
    return np.divide(sums, sizes, out=np.zeros_like(sums), where=sizes > 0)
