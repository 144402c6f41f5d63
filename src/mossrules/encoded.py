"""The training data as the forest and the statistics see them: codes and integers, in chunks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mossrules._typing import AnyArray, CodeArray, FloatArray, IntArray
from mossrules.binning import MISSING, Binning
from mossrules.chunks import Progress, RowRange, fold
from mossrules.grid import WEIGHTED_TARGET_SHIFT, Moments, TargetGrid, integer_weights
from mossrules.table import Table


@dataclass(frozen=True)
class EncodedChunk:
    """Consecutive rows: codes (columns, rows), target on its grid, weights on theirs."""

    start: int
    codes: CodeArray
    target: AnyArray
    weights: IntArray | None

    def __len__(self) -> int:
        return int(self.codes.shape[1])


@dataclass(frozen=True)
class EncodedTable:
    """All chunks, with what is needed to read their integers."""

    chunks: tuple[EncodedChunk, ...]
    binning: Binning
    target_grid: TargetGrid
    weight_step: float  # 1.0 when there are no weights
    moments: Moments

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(len(chunk) for chunk in self.chunks)

    @property
    def is_weighted(self) -> bool:
        """Whether rows carry weights of their own."""
        return self.chunks[0].weights is not None

    @property
    def forest_shift(self) -> int:
        """Binary digits of the target that a forest leaves out, so that its sums fit in 64 bits."""
        return WEIGHTED_TARGET_SHIFT if self.is_weighted else 0

    @property
    def has_missing(self) -> list[bool]:
        """Which columns have missing values."""
        found = np.zeros(len(self.binning.columns), dtype=bool)
        for chunk in self.chunks:
            found |= (chunk.codes == MISSING).any(axis=1)
        return [bool(each) for each in found]


def encode_table(
    table: Table,
    target: FloatArray,
    binning: Binning,
    chunks: Sequence[RowRange],
    *,
    weights: FloatArray | None = None,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> EncodedTable:
    """Return the codes, target and weights of all rows."""
    row_weights, weight_step = (None, 1.0) if weights is None else integer_weights(weights)
    # A row of weight zero may lie outside the range of the others; it counts for nothing.
    used = target if row_weights is None else target[row_weights > 0]
    lowest, highest = float(used.min()), float(used.max())
    target_grid = TargetGrid.from_range(lowest, highest)

    def encode(rows: RowRange) -> tuple[list[EncodedChunk], Moments]:
        part = slice(rows.start, rows.stop)
        integers = target_grid.encode(np.clip(target[part], lowest, highest))
        part_weights = None if row_weights is None else row_weights[part]
        chunk = EncodedChunk(rows.start, binning.encode(table, rows), integers, part_weights)
        return [chunk], Moments.of(integers, part_weights)

    encoded, moments = fold(
        encode,
        chunks,
        lambda a, b: (a[0] + b[0], a[1] + b[1]),
        n_jobs=n_jobs,
        stage="binning",
        progress=progress,
    )
    return EncodedTable(
        chunks=tuple(sorted(encoded, key=lambda chunk: chunk.start)),
        binning=binning,
        target_grid=target_grid,
        weight_step=weight_step,
        moments=moments,
    )
