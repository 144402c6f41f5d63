"""Columns of the data in a few figures, without extremes: a report is made to be passed on."""

from __future__ import annotations

from collections import Counter

import numpy as np

from mossrules._typing import AnyArray
from mossrules.candidates.cuts import BinnedColumn
from mossrules.data.columns import NUMBERS, Column, Kind, Label
from mossrules.display.report.data import ColumnSummary, plain_label

__all__ = ["QUANTILES", "known_column", "quantiles", "seen_column"]

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)  # no extremes: they are single people's values
MANY_LEVELS = 12
FEW_ROWS = 5  # levels of fewer rows are not named with their share


def known_column(column: BinnedColumn, *, used: bool) -> ColumnSummary:
    """Return what training alone knows of a column."""
    typical: Label | None = None
    if column.kind is Kind.NUMERIC and column.cuts:
        typical = column.cuts[(len(column.cuts) - 1) // 2]
    elif column.kind is Kind.BOOLEAN:
        typical = False
    elif column.levels:
        typical = plain_label(column.levels[0])
    return ColumnSummary(
        column.name, column.kind.value, used, typical=typical, choices=_choices(column)
    )


def seen_column(column: BinnedColumn, values: Column, n_rows: int, *, used: bool) -> ColumnSummary:
    """Return the summary of a column of which the rows are there."""
    found = values.read(0, n_rows)
    if values.kind in NUMBERS:
        return _numbers(column, found, used=used)
    present = [plain_label(label) for label in found.tolist() if label is not None]
    counts = Counter(present).most_common()
    named = [(label, count) for label, count in counts[:MANY_LEVELS] if count >= FEW_ROWS]
    rest = len(present) - sum(count for _, count in named)
    return ColumnSummary(
        column.name,
        column.kind.value,
        used,
        missing=1.0 - len(present) / n_rows,
        levels=tuple((label, count / n_rows) for label, count in named),
        others=rest / n_rows,
        typical=counts[0][0] if 2 * len(present) >= n_rows else None,
        choices=_choices(column),
    )


def quantiles(values: AnyArray) -> tuple[float, ...] | None:
    """Return the quantiles of numbers, none of which is missing; None where there are none."""
    return tuple(np.quantile(values, QUANTILES).tolist()) if len(values) else None


def _numbers(column: BinnedColumn, values: AnyArray, *, used: bool) -> ColumnSummary:
    present = values[~np.isnan(values)]
    missing = 1.0 - len(present) / len(values)
    typical: Label | None = None
    if missing <= 0.5:
        # The lower of two middle values: the median of whole numbers is one.
        typical = float(np.quantile(present, 0.5, method="lower"))
    if column.kind is not Kind.BOOLEAN:
        return ColumnSummary(
            column.name,
            column.kind.value,
            used,
            missing=missing,
            quantiles=quantiles(present),
            typical=typical,
        )
    true = float(np.count_nonzero(present)) / len(values)
    return ColumnSummary(
        column.name,
        column.kind.value,
        used,
        missing=missing,
        levels=((True, true), (False, 1.0 - missing - true)),
        typical=None if typical is None else bool(typical),
    )


def _choices(column: BinnedColumn) -> tuple[Label, ...] | None:
    return tuple(map(plain_label, column.levels)) if column.levels else None
