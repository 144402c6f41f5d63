"""From rows to the candidate rules that an estimator chooses from."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier

from mossrules import defaults
from mossrules.candidates.cuts import BinnedColumn, Binning
from mossrules.candidates.pool import CandidatePool
from mossrules.candidates.search import Candidates, find_candidates
from mossrules.data.canonical_order import Rows
from mossrules.data.fixed_point import integer_weights
from mossrules.data.streams import Streamed
from mossrules.exceptions import InvalidTable
from mossrules.learning.constraints import check_constraints, required_rules
from mossrules.learning.inputs import stream_training
from mossrules.statistics import Statistics

__all__ = ["GENERATION", "candidates_for", "find_in_rows", "generation", "tells_apart"]

# Parameters that decide which candidates are found, under the names they have in `find_candidates`.
GENERATION = ("n_trees", "max_depth", "n_bins", "max_features", "generator", "random_state")


def generation(estimator: Any) -> dict[str, Any]:
    """Return the parameters with which an estimator looks for candidates.

    Two estimators find the same candidates in the same rows if these agree, but for `n_jobs`.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> from mossrules.estimators import candidates_for
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 0.0, 1.0, 2.0]
    >>> model = MossRegressor(2, n_trees=20)
    >>> candidates = candidates_for(X, y, **generation(model))
    >>> len(model.fit_candidates(candidates).rules_)
    2
    """
    found = {name: getattr(estimator, name) for name in (*GENERATION, "n_jobs")}
    include = required_rules(check_constraints(getattr(estimator, "constraints", None)))
    if include:
        found["include"] = include
    if getattr(estimator, "inner_nodes", False):  # which not every learner can ask for
        found["inner_nodes"] = True
    if is_classifier(estimator):
        found["patterns"] = True
    return found


def candidates_for(X: Any, y: Any, sample_weight: Any = None, **parameters: Any) -> Candidates:
    """Return the candidates that an estimator finds: those that its `fit` chooses from.

    Unlike those of `find_candidates` they do not depend on the order of the rows, and where nothing
    can be found (a constant target, constant columns) there are none, without an error.

    Parameters
    ----------
    X, y, sample_weight
        As in `MossRegressor.fit`.
    **parameters
        Of the search, as in `find_candidates`; see `generation`.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 0.0, 1.0, 2.0]
    >>> candidates = candidates_for(X, y, n_trees=20)
    >>> one, two = (MossRegressor(k).fit_candidates(candidates) for k in (1, 2))
    >>> len(one.rules_), len(two.rules_)
    (1, 2)
    """
    rows = stream_training(_Nobody(), X, y, sample_weight)
    return find_in_rows(rows, **parameters)


def find_in_rows(
    rows: Rows | Streamed, *, n_trees: int = defaults.N_TREES, **parameters: Any
) -> Candidates:
    """Return the candidates of rows that were read; none where there is nothing to find."""
    if rows.is_constant or not tells_apart(rows):
        return no_candidates(rows, n_trees)
    parameters = {"n_trees": n_trees, **parameters}
    try:
        if isinstance(rows, Streamed):
            return find_candidates(rows.training, None, **parameters)
        return find_candidates(rows.table, rows.target, sample_weight=rows.weights, **parameters)
    except InvalidTable:
        # The table itself is sound, as was seen when it was read: all its columns are constant, or
        # no tree found a split. The mean is the model then.
        return no_candidates(rows, n_trees)


def tells_apart(rows: Rows | Streamed) -> bool:
    """Whether the target differs among rows whose weights are more than nothing to the largest."""
    if isinstance(rows, Streamed) or rows.weights is None:
        return True
    used = rows.target[integer_weights(rows.weights)[0] > 0]
    return bool(used.min() < used.max())


def no_candidates(rows: Rows | Streamed, n_trees: int) -> Candidates:
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


class _Nobody(BaseEstimator):  # type: ignore[misc]  # sklearn has no types
    """Takes the names of columns where no estimator is being fitted."""
