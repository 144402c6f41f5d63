"""Tables for learners that know nothing but numbers: scikit-learn's forest, and other packages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted

from mossrules._typing import FloatArray
from mossrules.data.table import Table
from research.paper.protocols import MedianFiller, one_hot

__all__ = ["Numbers", "OnNumbers"]


@dataclass(frozen=True)
class Numbers:
    """How to read a table as a matrix, learned from training rows.

    Categories have a column of 0 and 1 for each level of the training rows, and a missing number is
    the median of the column's training rows.
    """

    filler: MedianFiller

    @classmethod
    def of(cls, X: Any) -> Numbers:
        """Learn columns and medians from training rows."""
        return cls(MedianFiller().fit(one_hot(Table.from_any(X))))

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the matrix."""
        return tuple(self.filler.medians_)

    def read(self, X: Any) -> FloatArray:
        """Return the rows of a table as a matrix without gaps."""
        table = Table.from_any(X)
        columns = one_hot(table)
        absent = np.zeros(table.n_rows)  # a level that only training rows have
        filled = self.filler.transform({name: columns.get(name, absent) for name in self.names})
        return np.column_stack(list(filled.values()))


class OnNumbers(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # sklearn has no types
    """A regressor that sees a table as `Numbers` of its training rows."""

    def __init__(self, learner: Any) -> None:
        self.learner = learner

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the columns, and fit the learner to the matrix."""
        self.numbers_ = Numbers.of(X)
        self.learner_ = clone(self.learner).fit(self.numbers_.read(X), y)
        return self

    def predict(self, X: Any) -> FloatArray:
        """Return the learner's predictions of the matrix."""
        check_is_fitted(self)
        found: FloatArray = self.learner_.predict(self.numbers_.read(X))
        return found
