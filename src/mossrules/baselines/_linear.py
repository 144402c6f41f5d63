"""RuleFit's linear terms: numeric columns beside the rules.

Notation (shapes in brackets)
    l_j     column j, cut off at its 2.5 % and 97.5 % quantiles, less its mean; 0 where missing
    s_j     standard deviation of l_j

A model weighs l_j times 0.4 / s_j: 0.4 is about the standard deviation of a rule, so that neither
kind of term is cheaper than the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mossrules._typing import BoolArray, FloatArray
from mossrules.candidates.cuts import check_finite
from mossrules.candidates.rules import format_number
from mossrules.data.canonical_order import Rows
from mossrules.data.chunks import RowRange
from mossrules.data.columns import NUMBERS, Column, Kind
from mossrules.data.table import Table
from mossrules.exceptions import InvalidColumn
from mossrules.model.formatting import format_amounts, one_line

__all__ = ["LinearTerms"]

TAIL = 0.025
SPREAD = 0.4


@dataclass(frozen=True)
class LinearTerms:
    """Numeric columns and what the prediction gains per unit of each, within its bounds.

    A column at its mean adds nothing, nor does a missing value; beyond its bounds a value counts as
    the bound.
    """

    names: tuple[str, ...]
    positions: tuple[int, ...]  # among the columns of the training table
    low: FloatArray
    high: FloatArray
    means: FloatArray
    spreads: FloatArray  # standard deviation of what a column is within its bounds
    weights: FloatArray  # per unit of the column, in the target's units

    @classmethod
    def none(cls) -> LinearTerms:
        """Return no terms at all."""
        return cls((), (), *(np.empty(0) for _ in range(5)))

    @classmethod
    def of_rows(cls, rows: Rows) -> LinearTerms:
        """Return a term of weight zero for each numeric column that varies within its bounds."""
        found = []
        weights = np.ones(rows.table.n_rows) if rows.weights is None else rows.weights
        for position, column in enumerate(rows.table.columns):
            if column.kind is not Kind.NUMERIC:
                continue
            values = _numbers(column, RowRange(0, rows.table.n_rows))
            present = ~np.isnan(values)
            if present.any():
                found.append((column.name, position, *_figures(values, present, weights)))
        found = [each for each in found if each[2] < each[3]]
        if not found:
            return cls.none()
        names, positions, *figures = zip(*found, strict=True)
        return cls(names, positions, *(np.array(each) for each in figures))

    def __len__(self) -> int:
        return len(self.names)

    @property
    def factors(self) -> FloatArray:
        """What columns are multiplied by so that they vary as rules do."""
        return SPREAD / self.spreads

    @property
    def importances(self) -> FloatArray:
        """Standard deviation over the training rows of what each term adds to a prediction."""
        return np.abs(self.weights) * self.spreads

    def columns(self, table: Table, rows: RowRange | None = None) -> FloatArray:
        """Return the columns, cut off and centred: (rows, terms)."""
        rows = RowRange(0, table.n_rows) if rows is None else rows
        values = np.empty((len(rows), len(self)))
        for term, position in enumerate(self.positions):
            values[:, term] = _numbers(table.columns[position], rows)
        centred = np.clip(values, self.low, self.high) - self.means
        return np.where(np.isnan(centred), 0.0, centred)

    def weighed(self, weights: FloatArray) -> LinearTerms:
        """Return the terms whose weight, per unit of the column, is not zero."""
        chosen = np.flatnonzero(weights)
        return LinearTerms(
            tuple(self.names[i] for i in chosen),
            tuple(self.positions[i] for i in chosen),
            *(each[chosen] for each in (self.low, self.high, self.means, self.spreads, weights)),
        )

    def predict(self, table: Table) -> FloatArray:
        """Return what the terms add to the prediction of each row."""
        return self.columns(table) @ self.weights

    def __repr__(self) -> str:
        lines = ["Linear terms, to be added to what the rules predict:"]
        amounts = format_amounts(self.weights.tolist(), self.weights.tolist()) if self.names else []
        for term, amount in enumerate(amounts):
            mean, low, high = (
                format_number(float(f"{bound[term]:.4g}"))
                for bound in (self.means, self.low, self.high)
            )
            name = one_line(self.names[term])
            lines.append(f"  {amount}  times {name} above {mean}, within {low} to {high}")
        return "\n".join(lines if self.names else ["No linear terms."])


def _figures(
    values: FloatArray, present: BoolArray, weights: FloatArray
) -> tuple[float, float, float, float, float]:
    """Return bounds, mean and spread of a column, and no weight."""
    low, high = np.quantile(
        values[present], [TAIL, 1 - TAIL], weights=weights[present], method="inverted_cdf"
    )
    cut = np.clip(values, low, high)
    mean = np.average(cut[present], weights=weights[present])
    variance = np.average(np.where(present, cut - mean, 0.0) ** 2, weights=weights)
    return float(low), float(high), float(mean), float(np.sqrt(variance)), 0.0


def _numbers(column: Column, rows: RowRange) -> FloatArray:
    """Return the numbers of a column; one of nothing but missing values may have lost its type."""
    values = column.read(rows.start, rows.stop)
    if column.kind not in NUMBERS:
        if any(value is not None for value in values):
            raise InvalidColumn(
                f"Column {column.name!r} was numeric in training and is {column.kind.value} now; "
                "convert it to the type it had."
            )
        return np.full(len(rows), np.nan)
    check_finite(column.name, values)
    return values
