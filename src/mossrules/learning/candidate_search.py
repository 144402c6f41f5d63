"""From rows to the candidate rules that a fit chooses from: the first step of learning.

Where there is nothing to find, there are no candidates, and no error: the mean is a model too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mossrules import defaults
from mossrules.candidates.cuts import BinnedColumn, Binning
from mossrules.candidates.rules import CandidatePool
from mossrules.candidates.search import Candidates, find_candidates
from mossrules.data.chunks import resolve_n_jobs
from mossrules.data.rows import Rows, read_rows
from mossrules.exceptions import InvalidTable
from mossrules.statistics import Statistics

__all__ = [
    "candidates_for",
    "find_in_rows",
    "no_candidates",
    "target_varies",
]


def candidates_for(X: Any, y: Any, sample_weight: Any = None, **parameters: Any) -> Candidates:
    """Return the candidates that an estimator finds: those that its `fit` chooses from.

    Unlike those of `find_candidates` they do not depend on the order of the rows, and where nothing
    can be found (a constant target, constant columns) there are none, without an error.

    Parameters
    ----------
    X, y, sample_weight
        As in `MossRegressor.fit`.
    **parameters
        Of the search, as in `find_candidates`; see `search_parameters`.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 0.0, 1.0, 2.0]
    >>> candidates = candidates_for(X, y, n_trees=20)
    >>> one, two = (MossRegressor(k).fit_candidates(candidates) for k in (1, 2))
    >>> len(one.rules_), len(two.rules_)
    (1, 2)
    """
    n_jobs = resolve_n_jobs(parameters.get("n_jobs"))
    rows = read_rows(X, y, sample_weight, n_jobs=n_jobs)
    return find_in_rows(rows, **parameters)


def find_in_rows(rows: Rows, *, n_trees: int = defaults.N_TREES, **parameters: Any) -> Candidates:
    """Return the candidates of rows that were read; none where there is nothing to find."""
    if not target_varies(rows):
        return no_candidates(rows, n_trees)
    try:
        return find_candidates(rows, None, n_trees=n_trees, **parameters)
    except InvalidTable:
        # The table itself is sound, as was seen when it was read: all its columns are constant, or
        # no tree found a split. The mean is the model then.
        return no_candidates(rows, n_trees)


def target_varies(rows: Rows) -> bool:
    """Whether the target differs among rows whose weights are more than nothing to the largest."""
    low, high = (0.0, 0.0) if rows.is_constant else rows.span
    return low < high


def no_candidates(rows: Rows, n_trees: int) -> Candidates:
    """Return what is found where the target or all columns are constant: no rules."""
    empty = np.empty(0)
    weights = np.ones(len(rows.target)) if rows.weights is None else rows.weights
    n = float(weights.sum())
    apart = rows.target - rows.mean
    largest = float(np.abs(apart).max()) or 1.0  # squares of very large numbers are none
    scale = largest * float(np.sqrt(np.average((apart / largest) ** 2, weights=weights)))
    return Candidates(
        Binning(
            tuple(BinnedColumn(column.name, column.kind) for column in rows.columns),
            rows.named,
        ),
        CandidatePool((), (), n_trees),
        Statistics(
            G=np.empty((0, 0)),
            q=empty,
            yy=n if scale > 0 else 0.0,
            n=n,
            values=empty,
            counts=np.empty(0, dtype=np.int64),
            support=empty,
            target_mean=rows.mean,
            target_scale=scale,
        ),
    )
