"""Generated rows, and pools of exactly as many rules as asked for.

The paper times its algorithms at given numbers of rows and rules, and does not say of which data.
"""

from __future__ import annotations

import numpy as np

from mossrules._typing import FloatArray
from mossrules.candidates.search import find_candidates
from mossrules.exceptions import InvalidParameter
from mossrules.statistics import Statistics

__all__ = ["COLUMNS", "generated_rows", "generated_statistics"]

COLUMNS = 20  # six of them make the target
MOST_TREES = 64_000


def generated_rows(n_rows: int, n_columns: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """Return normal columns and a target with steps, slopes and an interaction in the first six."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_columns))
    y = 2.0 * (X[:, 0] > 0.3) + X[:, 1] + 1.5 * (X[:, 2] > 0) * (X[:, 3] < 0.5)
    y += 0.7 * np.sin(2 * X[:, 4]) + 0.5 * np.abs(X[:, 5]) + rng.standard_normal(n_rows)
    return X, y


def generated_statistics(
    n_rows: int,
    n_rules: int,
    *,
    n_trees: int = 500,
    seed: int = 0,
    n_jobs: int | None = None,
) -> Statistics:
    """Return the statistics of the `n_rules` rules that are in most trees of generated rows.

    There are `n_trees` trees, or twice as many, and so on, until they have that many rules.
    """
    X, y = generated_rows(n_rows, COLUMNS, seed)
    while n_trees <= MOST_TREES:
        found = find_candidates(
            X,
            y,
            n_trees=n_trees,
            n_bins=10,
            cuts="quantile",
            max_features=1 / 3,  # as in the paper
            generator="paper-forest",
            max_candidates=n_rules,
            random_state=seed,
            n_jobs=n_jobs,
        ).statistics
        if found.m == n_rules:
            return found
        n_trees *= 2
    raise InvalidParameter(
        f"{n_rules} rules are asked for and trees of {n_rows} rows have {found.m}; ask for fewer "
        "rules or more rows."
    )
