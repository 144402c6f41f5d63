"""What everyone knows, to measure by: a linear model, a tree and a forest of scikit-learn.

They see a table as numbers: a column of 0 and 1 for each level of a category, the median of the
training rows for a missing number, and all columns centred and scaled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.validation import check_is_fitted

from mossrules._typing import AnyArray, FloatArray
from mossrules.data.columns import NUMBERS
from mossrules.data.table import Table

__all__ = ["YARDSTICKS", "ClassifierOnNumbers", "RegressorOnNumbers"]

TREES = 200  # of the forest


class _OnNumbers(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """An estimator that needs numbers, for any table."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn how to read the table, and fit the estimator to the numbers."""
        table = Table.from_any(X)
        self.levels_: dict[str, list[Any]] = {}
        for column in table.columns:
            if column.kind not in NUMBERS:
                values = column.read(0, table.n_rows).tolist()
                known = {value for value in values if value is not None}
                self.levels_[column.name] = sorted(known, key=str)
        raw = self._raw(table)
        self.medians_ = np.array([_median(values) for values in raw.T])
        filled = np.where(np.isnan(raw), self.medians_, raw)
        self.means_, spread = filled.mean(axis=0), filled.std(axis=0)
        self.scales_ = np.where(spread > 0, spread, 1.0)
        how = {} if sample_weight is None else {"sample_weight": sample_weight}
        self.estimator_ = clone(self.estimator).fit(self._numbers(X), y, **how)
        return self

    def predict(self, X: Any) -> AnyArray:
        """Return the estimator's predictions."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict(self._numbers(X)))

    def _numbers(self, X: Any) -> FloatArray:
        raw = self._raw(Table.from_any(X))
        filled = np.where(np.isnan(raw), self.medians_, raw)
        numbers: FloatArray = (filled - self.means_) / self.scales_
        return numbers

    def _raw(self, table: Table) -> FloatArray:
        """Return a matrix with NaN for missing numbers; a missing level is 0 in all its columns."""
        columns: list[FloatArray] = []
        for column in table.columns:
            values = column.read(0, table.n_rows)
            if column.name not in self.levels_:
                columns.append(np.asarray(values, dtype=np.float64))
                continue
            labels = values.tolist()
            columns += [
                np.array([label == level for label in labels], dtype=np.float64)
                for level in self.levels_[column.name]
            ]
        return np.column_stack(columns)


class RegressorOnNumbers(RegressorMixin, _OnNumbers):  # type: ignore[misc]
    """A regressor of scikit-learn for any table."""


class ClassifierOnNumbers(ClassifierMixin, _OnNumbers):  # type: ignore[misc]
    """A classifier of scikit-learn for any table."""

    @property
    def classes_(self) -> AnyArray:
        """The classes, sorted."""
        check_is_fitted(self, "estimator_")
        classes: AnyArray = self.estimator_.classes_
        return classes

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict_proba(self._numbers(X)), dtype=np.float64)


def _median(values: FloatArray) -> float:
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else 0.0


def _linear(*, classes: bool, **_: Any) -> Any:
    return LogisticRegression(max_iter=5000) if classes else LinearRegression()


def _tree(*, classes: bool, max_rules: int, random_state: Any) -> Any:
    kind = DecisionTreeClassifier if classes else DecisionTreeRegressor
    # With a leaf for each rule; scikit-learn has at least two.
    return kind(max_leaf_nodes=max(2, max_rules), random_state=random_state)


def _forest(*, classes: bool, random_state: Any, **_: Any) -> Any:
    kind = RandomForestClassifier if classes else RandomForestRegressor
    return kind(TREES, random_state=random_state)


YARDSTICKS: Mapping[str, Callable[..., Any]] = {
    "linear": _linear,
    "tree": _tree,
    "forest": _forest,
}
