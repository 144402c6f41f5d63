"""What scikit-learn asks of inputs: the names and the number of features on the estimator.

Rows are read by `mossrules.data`. Names follow scikit-learn: a table has the columns of training in
the same order, compared by name where both have names of text, and taken by position.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import validate_data

from mossrules.data.chunks import resolve_n_jobs
from mossrules.data.files import scan_if_path
from mossrules.data.rows import Rows, read_rows
from mossrules.data.table import Table, without
from mossrules.exceptions import warn_user

__all__ = ["read_features", "read_training", "set_names"]


def read_training(estimator: Any, X: Any, y: Any, sample_weight: Any, **how: Any) -> Rows:
    """Return the rows to learn from; names and number of features are set on the estimator.

    `how` they are read is said as in `read_rows`. They stay where they are unless it says `whole`.
    """
    if getattr(y, "shape", ())[1:] == (1,):
        warn_user(
            "A column-vector y was passed when a 1d array was expected; pass y.ravel() instead.",
            DataConversionWarning,
        )
    rows = read_rows(X, y, sample_weight, n_jobs=_jobs(estimator), **how)
    if nw.dependencies.is_into_dataframe(X):
        # The frame itself, for scikit-learn has its own rule for names that are not text.
        features = without(X, y) if isinstance(y, str) else X
        validate_data(estimator, features, reset=True, skip_check_array=True)
    else:
        set_names(estimator, [column.name for column in rows.columns], named=rows.named)
    return rows


def set_names(estimator: Any, names: Sequence[str], *, named: bool) -> None:
    """Set the number of features on the estimator, and their names if they have any."""
    estimator.n_features_in_ = len(names)
    if named:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_  # of an earlier fit


def _jobs(estimator: Any) -> int:
    return resolve_n_jobs(getattr(estimator, "n_jobs", None))


def read_features(estimator: Any, X: Any, target: str | None) -> Table:
    """Return the columns of training; a column of the name `target` may be there beside them."""
    names = getattr(estimator, "feature_names_in_", None)
    X = scan_if_path(X, only=None if names is None else names.tolist())
    if isinstance(X, Table) and X.parts:
        table: Table = X if target is None else X.without(target)
        return replace(table if names is None else table.select(names.tolist()), named=False)
    if target is not None:
        X = without(X, target)
    table = Table.from_any(X)
    if not isinstance(X, Mapping | Table):
        validate_data(estimator, X, reset=False, skip_check_array=True)
    if isinstance(X, Mapping) and hasattr(estimator, "feature_names_in_"):
        table = table.select(estimator.feature_names_in_.tolist())
    # From here on by position: the names agree, or there are none to go by.
    return Table(table.columns, table.n_rows, named=False)
