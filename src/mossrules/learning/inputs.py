"""What users pass to `fit` and `predict` -> a table, a target and weights, checked.

Names follow scikit-learn: a table has the columns of training in the same order, compared by name
where both have names of text, and taken by position.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import validate_data

from mossrules._typing import FloatArray
from mossrules._warn import warn_user
from mossrules.candidates.search import Candidates, read_weights
from mossrules.data.canonical_order import Rows, settle_rows
from mossrules.data.chunks import resolve_n_jobs
from mossrules.data.columns import Column
from mossrules.data.dask_partitions import is_dask, on_workers, rows_of_dask
from mossrules.data.files import opened
from mossrules.data.labels import Labelled, read_labels, weigh_classes
from mossrules.data.rows import TrainingRows, rows_of_table
from mossrules.data.streams import (
    Streamed,
    StreamedLabels,
    stream_labels,
    stream_rows,
    with_target,
)
from mossrules.data.table import Table, finite_numbers, split_column
from mossrules.exceptions import InvalidTable

__all__ = [
    "read_features",
    "read_labelled",
    "read_training",
    "stream_labelled",
    "stream_training",
    "take_names",
    "target_name",
]


def stream_training(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Rows | Streamed:
    """Return the rows to learn from, which stay where they are if they are not in memory."""
    X = opened(X)
    if not is_streamed(X):
        return read_training(estimator, X, y, sample_weight)
    given, y, weights = _read_given(estimator, X, y, sample_weight)
    named = hasattr(estimator, "feature_names_in_")
    rows = stream_rows(with_target(given, y), weights, n_jobs=_jobs(estimator))
    return Streamed(replace(rows, named=named))


def stream_labelled(
    estimator: Any, X: Any, y: Any, sample_weight: Any, class_weight: Any = None
) -> Labelled | StreamedLabels:
    """Return the rows with their classes, which stay where they are if they are not in memory."""
    X = opened(X)
    if not is_streamed(X):
        return read_labelled(estimator, X, y, sample_weight, class_weight)
    given, y, weights = _read_given(estimator, X, y, sample_weight)
    labelled = stream_labels(given, y, weights, class_weight, n_jobs=_jobs(estimator))
    return replace(labelled, named=hasattr(estimator, "feature_names_in_"))


def read_training(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Rows:
    """Return the rows to learn from; names and number of features are set on the estimator."""
    table, column, weights = _read(estimator, X, y, sample_weight)
    return settle_rows(table, finite_numbers(column, 0, table.n_rows), weights)


def read_labelled(
    estimator: Any, X: Any, y: Any, sample_weight: Any, class_weight: Any = None
) -> Labelled:
    """Return the rows with their classes; names and number of features are set as well."""
    table, column, weights = _read(estimator, X, y, sample_weight)
    classes, codes = read_labels(column, table.n_rows)
    factors = weigh_classes(classes, codes, weights, class_weight)
    return Labelled(table, classes, codes, weights, factors)


def _read(
    estimator: Any, X: Any, y: Any, sample_weight: Any
) -> tuple[Table, Column, FloatArray | None]:
    if getattr(y, "shape", ())[1:] == (1,):
        warn_user(
            "A column-vector y was passed when a 1d array was expected; pass y.ravel() instead.",
            DataConversionWarning,
        )
    X = opened(X)
    table, column = split_column(X, y)
    _check_size(table.n_rows)
    weights = read_weights(sample_weight, table.n_rows)
    _check_names(estimator, without(X, y) if isinstance(y, str) else X, reset=True)
    named = hasattr(estimator, "feature_names_in_")
    return replace(table, named=named), column, weights


def is_streamed(X: Any) -> bool:
    """Tell whether rows are somewhere else, and come in chunks."""
    return is_dask(X) or (isinstance(X, Table) and bool(X.parts))


def _read_given(
    estimator: Any, X: Any, y: Any, sample_weight: Any
) -> tuple[TrainingRows, Any, FloatArray | None]:
    """Return rows in chunks as they are given, their target, and weights.

    The target is one of their columns, by name, or values.
    """
    if is_dask(X):
        named = hasattr(X, "columns")
        given, y = rows_of_dask(X, y)
    else:
        given, named = rows_of_table(X, X.parts), True
        given = on_workers(given) if X.on_cluster else given
    _check_size(given.n_rows)
    weights = read_weights(sample_weight, given.n_rows)
    names = [each.name for each in given.columns if not (isinstance(y, str) and each.name == y)]
    if named:
        _check_names(estimator, dict.fromkeys(names), reset=True)
    else:
        _check_names(estimator, np.empty((1, len(names))), reset=True)
    return given, y, weights


def _jobs(estimator: Any) -> int:
    return resolve_n_jobs(getattr(estimator, "n_jobs", None))


def _check_size(n_rows: int) -> None:
    if n_rows < 2:
        raise InvalidTable(
            f"The table has {n_rows} sample(s) (n_samples={n_rows}) while a minimum of 2 is "
            "required; add rows."
        )


def take_names(estimator: Any, candidates: Candidates) -> None:
    """Set names and number of features on the estimator, from candidates instead of a table."""
    names = candidates.binning.names
    estimator.n_features_in_ = len(names)
    if candidates.named:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_  # of an earlier fit


def read_features(estimator: Any, X: Any, target: str | None) -> Table:
    """Return the columns of training; a column of the name `target` may be there beside them."""
    names = getattr(estimator, "feature_names_in_", None)
    X = opened(X, only=None if names is None else names.tolist())
    if is_streamed(X):
        table: Table = X if target is None else X.without(target)
        return replace(table if names is None else table.select(names.tolist()), named=False)
    if target is not None:
        X = without(X, target)
    table = Table.from_any(X)
    _check_names(estimator, X, reset=False)
    if isinstance(X, Mapping) and hasattr(estimator, "feature_names_in_"):
        table = table.select(estimator.feature_names_in_.tolist())
    # From here on by position: the names agree, or there are none to go by.
    return Table(table.columns, table.n_rows, named=False)


def target_name(y: Any) -> str | None:
    """Return the name of the target if it has one: that of its column, or of a series."""
    if is_dask(y) and not hasattr(y, "divisions"):
        return None  # an array, whose name is not for people
    name = y if isinstance(y, str) else getattr(y, "name", None)
    return name if isinstance(name, str) and name else None


def without(X: Any, name: str) -> Any:
    """Return a frame or a dict of columns less one of them, if it is there."""
    if isinstance(X, Table):
        return X.without(name)
    if isinstance(X, Mapping):
        return {key: values for key, values in X.items() if key != name}
    if not nw.dependencies.is_into_dataframe(X):
        return X
    return nw.from_native(X).drop(name, strict=False).to_native()


def _check_names(estimator: Any, X: Any, *, reset: bool) -> None:
    """Set or compare `feature_names_in_` and `n_features_in_` as scikit-learn does."""
    if isinstance(X, Table):
        X = dict.fromkeys(X.names)
    if not isinstance(X, Mapping):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
    elif reset:
        # scikit-learn does not know dicts of columns: a table with their names stands in.
        names = np.array(list(X), dtype=object)
        validate_data(estimator, names[None, :], reset=True, skip_check_array=True)
        if all(isinstance(name, str) for name in X):
            estimator.feature_names_in_ = names
