"""RuleFit's columns beside those of 0 and 1: linear terms, and rules with means of one tree.

Notation (shapes in brackets)
    l_j     column j, cut off at its 2.5 % and 97.5 % quantiles, less its mean; 0 where missing
    s_j     standard deviation of l_j

A model weighs l_j times 0.4 / s_j: 0.4 is about the standard deviation of a rule, so that neither
kind of term is cheaper than the other.

The authors of the MOSS paper give a rule the mean target of the first tree that has it, over the
rows which that tree was grown on. A forest draws how often each row counts in each tree as a
function of its seed, so what a tree saw can be had again. A mean over all rows is less noisy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mossrules._typing import BoolArray, FloatArray, IntArray
from mossrules.baselines.designs import row_weights, scaled_target
from mossrules.candidates.column_summaries import check_finite
from mossrules.candidates.kernels.draws import (
    BOOTSTRAP,
    POISSON_THRESHOLDS,
    TREES_PER_DRAW,
    draw_uniforms,
    stream_key,
)
from mossrules.candidates.search import Candidates
from mossrules.candidates.statistics import rule_columns
from mossrules.candidates.thresholds import format_number
from mossrules.data.chunks import RowRange, row_ranges
from mossrules.data.columns import Column, Kind
from mossrules.data.rows import Rows
from mossrules.data.table import Table
from mossrules.data.values import as_numbers
from mossrules.model.export_text import format_amounts, one_line

__all__ = ["LinearTerms", "bootstrap_counts", "first_tree_means"]

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
        terms = []
        weights = row_weights(rows)
        for position, column in enumerate(rows.table.columns):
            if column.kind is not Kind.NUMERIC:
                continue
            values = _numbers(column, RowRange(0, rows.table.n_rows))
            present = ~np.isnan(values)
            if present.any():
                low, high, mean, spread = _summary(values, present, weights)
                if low < high:
                    terms.append((column.name, position, low, high, mean, spread, 0.0))
        if not terms:
            return cls.none()
        names, positions, *numbers = zip(*terms, strict=True)
        return cls(names, positions, *map(np.array, numbers))

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
            *(of[chosen] for of in (self.low, self.high, self.means, self.spreads, weights)),
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


def _summary(
    values: FloatArray, present: BoolArray, weights: FloatArray
) -> tuple[float, float, float, float]:
    """Return bounds, mean and spread of a column."""
    # Of NumPy's quantiles only these take weights; they are values that the column has.
    low, high = np.quantile(
        values[present], [TAIL, 1 - TAIL], weights=weights[present], method="inverted_cdf"
    )
    cut = np.clip(values, low, high)
    mean = np.average(cut[present], weights=weights[present])
    variance = np.average(np.where(present, cut - mean, 0.0) ** 2, weights=weights)
    return float(low), float(high), float(mean), float(np.sqrt(variance))


def _numbers(column: Column, rows: RowRange) -> FloatArray:
    """Return the numbers of a column; one of nothing but missing values may have lost its type."""
    values = as_numbers(column.name, column.read(rows.start, rows.stop))
    check_finite(column.name, values)
    return values


# --- means of the first tree ----------------------------------------------------------------------


def bootstrap_counts(seed: int, tree: int, numbers: IntArray) -> IntArray:
    """Return how often a tree of a forest counts rows of some numbers."""
    # Each random number serves several trees, which take 16 bits of it each.
    group, offset = divmod(tree, TREES_PER_DRAW)
    uniforms = np.empty((TREES_PER_DRAW, len(numbers)), dtype=np.uint16)
    key = np.uint64(stream_key(np.uint64(seed), BOOTSTRAP, group))
    draw_uniforms(key, 0, numbers.astype(np.uint32), uniforms)
    counts: IntArray = np.searchsorted(POISSON_THRESHOLDS, uniforms[offset], side="right")
    return counts


def first_tree_means(candidates: Candidates, rows: Rows, seed: int) -> FloatArray:
    """Return the mean of the scaled target of each rule in its first tree."""
    pool, binning = candidates.pool, candidates.binning
    target, weights = scaled_target(rows, candidates.statistics), row_weights(rows)
    # What a tree drew is a function of seed, tree and row, or group, so it is drawn again by parts.
    numbers = np.arange(len(target)) if rows.group_numbers is None else rows.group_numbers
    first = np.array([min(trees) for trees in pool.trees])
    sums, sizes = np.zeros(len(pool)), np.zeros(len(pool))
    for part in row_ranges(len(target)):
        span = slice(part.start, part.stop)
        holds = rule_columns(pool.rules, binning, binning.encode(rows.table, part))
        for tree in np.unique(first):
            counts = weights[span] * bootstrap_counts(seed, int(tree), numbers[span])
            of_tree = np.flatnonzero(first == tree)
            sums[of_tree] += holds[of_tree] @ (counts * target[span])
            sizes[of_tree] += holds[of_tree] @ counts
    return np.divide(sums, sizes, out=np.zeros_like(sums), where=sizes > 0)
