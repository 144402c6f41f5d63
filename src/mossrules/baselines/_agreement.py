"""How many trees it takes until two forests would choose the same rules (SIRUS).

Notation
    M, p      number of trees, and the share of them that contain a rule
    p0        a threshold: the rules with p > p0 are chosen
    phi       chance that a forest of M trees chooses a rule: Phi((p - p0) / sqrt(p (1 - p) / M))
    sum phi^2 / sum phi    the Dice agreement to be expected between two such forests
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from mossrules._typing import FloatArray, IntArray
from mossrules.candidates.pool import CandidatePool

__all__ = ["expected_agreement", "settled_trees"]

STEP = 1000  # trees
N_THRESHOLDS = 50


def expected_agreement(proportions: FloatArray, n_trees: int) -> float:
    """Return the agreement of two forests, on average over thresholds between frequent rules."""
    levels = np.unique(proportions)[::-1][: N_THRESHOLDS + 1]
    thresholds = (levels[1:] + levels[:-1]) / 2
    if len(thresholds) == 0:
        return 1.0  # all rules or none
    spread = np.sqrt(proportions * (1.0 - proportions) / n_trees)
    distance = proportions - thresholds[:, None]
    certain = np.copysign(np.inf, distance)  # a rule of all trees is in every forest
    phi = ndtr(np.divide(distance, spread, out=certain, where=spread > 0))
    return float(np.mean((phi**2).sum(axis=1) / phi.sum(axis=1)))


def settled_trees(pool: CandidatePool, share: float, *, after: int = 0) -> int | None:
    """Return the first multiple of a thousand trees at which forests agree by `share`, or None.

    The first trees of a forest are a forest, so a large one tells of all smaller ones; those of up
    to `after` trees were asked before.
    """
    rule = np.repeat(np.arange(len(pool)), pool.counts)
    tree = np.array([number for found in pool.trees for number in found], dtype=np.int64)
    for n_trees in range(after + STEP, pool.n_trees + 1, STEP):
        counts: IntArray = np.bincount(rule[tree < n_trees], minlength=len(pool))
        if expected_agreement(counts[counts > 0] / n_trees, n_trees) >= share:
            return n_trees
    return None
