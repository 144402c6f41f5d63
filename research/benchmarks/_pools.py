"""Pools of candidate rules: of the OpenML tables, and of generated rows as many as asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from mossrules import find_candidates
from mossrules._typing import IntArray
from mossrules.frontier import epsilon_sequence
from mossrules.statistics import Statistics
from research.benchmarks._data import read_mixed
from research.harness.measuring import THREADS
from research.paper.generated import generated_statistics

MAX_RULES = 15
N_TREES = 500
SEED = 0
LEFT_OUT = 10  # one row in so many, as in one fold of the paper's cross-validation
SMALL = 1_000  # rows up to which the authors take the larger gamma
LARGEST = 1  # the number of the largest floor that can be met: eps #1 is the first of the sequence

DATASETS = (
    "690_visualizing_galaxy",
    "1027_ESL",
    "547_no2",
    "537_houses",
    "503_wind",
    "227_cpu_small",
    "201_pol",
    "505_tecator",
    "183_abalone",
    "223_stock",
    "287_wine_quality",
    "294_satellite_image",
    "296_Ailerons",
    "507_space_ga",
    "560_bodyfat",
    "574_house_16H",
    "189_kin8nm",
    "216_elevators",
)


@dataclass(frozen=True)
class Pool:
    """The statistics of one table's candidate rules."""

    name: str
    statistics: Statistics

    @property
    def gamma(self) -> float:
        """The authors' ridge parameter."""
        return 0.05 if self.statistics.n <= SMALL else 0.01

    @cached_property
    def floors(self) -> list[int]:
        """The authors' sequence of stability floors; its first is the largest that can be met."""
        return [int(floor) for floor in epsilon_sequence(self.statistics.counts, MAX_RULES)]

    def floor(self, number: int) -> int | None:
        """Return the floor of eps #`number`; None when the sequence is shorter."""
        position = number - LARGEST
        return self.floors[position] if position < len(self.floors) else None


def read_pool(name: str) -> Pool:
    """Return the candidates of nine tenths of a table's rows."""
    table, target = read_mixed(name)
    n = len(target)
    kept = np.sort(np.random.default_rng(SEED).permutation(n)[n // LEFT_OUT :])
    found = find_candidates(
        table.iloc[kept].reset_index(drop=True),
        target[kept],
        n_trees=N_TREES,
        n_bins=10,
        cuts="quantile",
        max_features=1 / 3,
        generator="paper-forest",  # as in the paper
        random_state=SEED,
        n_jobs=THREADS,
    )
    return Pool(name, found.statistics)


def scale_rows(statistics: Statistics, n: float) -> tuple[Statistics, float]:
    """Return the statistics of as many copies of the rows as make `n`, and how many that is."""
    factor = n / statistics.n
    scaled = replace(
        statistics,
        G=statistics.G * factor,
        q=statistics.q * factor,
        yy=statistics.yy * factor,
        n=float(n),
        support=statistics.support * factor,
    )
    return scaled, factor


# --- generated rows -------------------------------------------------------------------------------


def generated_pool(n_rows: int, n_rules: int, *, n_trees: int = N_TREES) -> Pool:
    """Return the `n_rules` rules that are in most trees of a forest on generated rows."""
    found = generated_statistics(n_rows, n_rules, n_trees=n_trees, seed=SEED, n_jobs=THREADS)
    return Pool(f"{n_rows} x {n_rules}", found)


def take(statistics: Statistics, kept: IntArray) -> Statistics:
    """Return the statistics of some of the rules."""
    return replace(
        statistics,
        G=np.ascontiguousarray(statistics.G[np.ix_(kept, kept)]),
        q=statistics.q[kept],
        values=statistics.values[kept],
        counts=statistics.counts[kept],
        support=statistics.support[kept],
    )
