"""Pools of exactly as many rules as asked for, from generated rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from mossrules.statistics import Statistics
from research.benchmarks._pools import N_TREES, SEED, Pool
from research.harness.measuring import THREADS
from research.paper.generated import generated_statistics


def generated_pool(n_rows: int, n_rules: int, *, n_trees: int = N_TREES) -> Pool:
    """Return the `n_rules` rules that are in most trees of a forest on generated rows."""
    found = generated_statistics(n_rows, n_rules, n_trees=n_trees, seed=SEED, n_jobs=THREADS)
    return Pool(f"{n_rows} x {n_rules}", found)


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
