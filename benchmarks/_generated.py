"""Pools of exactly as many rules as asked for, from generated rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from benchmarks._data import synthetic
from benchmarks._harness import THREADS
from benchmarks._pools import N_TREES, SEED, Pool
from mossrules import find_candidates
from mossrules.statistics import Statistics

COLUMNS = 20  # enough for 600 rules from 500 trees; six of them make the target


def generated_pool(n_rows: int, n_rules: int, *, n_trees: int = N_TREES) -> Pool:
    """Return the `n_rules` rules that are in most trees of a forest on generated rows."""
    X, y = synthetic(n_rows, COLUMNS, SEED)
    found = find_candidates(
        X, y, n_trees=n_trees, max_features=1 / 3, random_state=SEED, n_jobs=THREADS
    )
    return Pool(f"{n_rows} x {n_rules}", most_frequent(found.statistics, n_rules))


def most_frequent(statistics: Statistics, n_rules: int) -> Statistics:
    """Return the statistics of the rules with the largest counts, in the order they had."""
    if n_rules > statistics.m:
        raise ValueError(f"{n_rules} rules are asked for and the pool has {statistics.m}.")
    return take(statistics, np.sort(np.argsort(-statistics.counts, kind="stable")[:n_rules]))


def take(statistics: Statistics, kept: npt.NDArray[np.intp]) -> Statistics:
    """Return the statistics of some of the rules."""
    return replace(
        statistics,
        G=np.ascontiguousarray(statistics.G[np.ix_(kept, kept)]),
        q=statistics.q[kept],
        values=statistics.values[kept],
        counts=statistics.counts[kept],
        support=statistics.support[kept],
    )
