"""When rules of different packages are the same: if they are the same ranges of bins.

A rule is a conjunction of ranges of bins (`mossrules.Rule`), and found again if another fold
has the same one. Ours are made on bins, and compared on these. A threshold of another package
splits the training rows of a fold in two, and stands for the nearest of the cuts that ten bins of
that fold have: nearest in training rows between them. For SIRUS, which makes its rules on ten bins,
that changes nothing; rules with thresholds of their own gain, as near ones become the same.

Ours must not be read on ten bins if they have eight: the cut at a quarter of the rows lies midway
between two of the ten, and would be now the one and now the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mossrules._typing import BoolArray, FloatArray, IntArray
from mossrules.candidates.cuts import fit_binning
from mossrules.candidates.rules import OPEN, Range, Rule
from mossrules.data.rows import Rows
from mossrules.data.table import Table
from research.paper.protocols import one_hot

__all__ = ["BINS", "LINEAR", "Comparison", "Cuts", "holds"]

BINS = 10
LINEAR = "linear"
Comparison = tuple[str, str, float]  # name of a column, one of < <= > >=, a number


@dataclass(frozen=True)
class Cuts:
    """The ten bins of a fold's training rows, and how many of them each cut leaves below."""

    sorted_values: Mapping[str, FloatArray]  # by column, those that are not missing
    below: Mapping[str, IntArray]  # rows below each cut

    @classmethod
    def of(cls, X: Any) -> Cuts:
        """Learn them from training rows, categories as columns of 0 and 1."""
        columns = one_hot(Table.from_any(X))
        table = Table.from_any(columns)
        binning = fit_binning(Rows.from_table(table, None, keeps_order=True), n_bins=BINS)
        values = {name: np.sort(each[~np.isnan(each)]) for name, each in columns.items()}
        return cls(
            values,
            {
                column.name: np.searchsorted(values[column.name], column.cuts, side="right")
                for column in binning.columns
            },
        )

    def rule(self, comparisons: Iterable[Comparison]) -> Rule:
        """Return the rule that holds where all comparisons do, on the fold's bins."""
        return Rule.of(self._ranges(comparisons))

    def _ranges(self, comparisons: Iterable[Comparison]) -> list[Range]:
        """Return one range for each column; one between two cuts is the bin that it is in."""
        bounds: dict[str, tuple[int, int]] = {}
        for name, comparison, value in comparisons:
            low, high = bounds.get(name, (1, OPEN))
            cut = self._nearest(name, value, strict=comparison in ("<", ">="))
            if comparison in ("<", "<="):
                bounds[name] = low, min(high, cut)
            else:
                bounds[name] = max(low, cut + 1), high
        return [Range(name, low, max(low, high)) for name, (low, high) in bounds.items()]

    def _nearest(self, name: str, value: float, *, strict: bool) -> int:
        """Return the number of the cut, from 1, that splits the rows most nearly as a value does.

        With `strict` the rows of just that value are above it. A column without cuts has none to
        take, and any number does.
        """
        if len(self.below[name]) == 0:
            return 1
        values = self.sorted_values[name]
        rows = np.searchsorted(values, value, side="left" if strict else "right")
        return 1 + int(np.argmin(np.abs(self.below[name] - rows)))


def holds(
    comparisons: Sequence[Comparison], matrix: FloatArray, place: Mapping[str, int]
) -> BoolArray:
    """Return the rows of a matrix on which all comparisons hold."""
    compare = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}
    found = np.ones(len(matrix), dtype=bool)
    for name, comparison, value in comparisons:
        found &= compare[comparison](matrix[:, place[name]], value)
    return found
