"""The training data as the forest and the statistics see them: codes and integers, in chunks."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mossrules._typing import AnyArray, BoolArray, CodeArray, IntArray
from mossrules.candidates.cuts import MISSING, Binning
from mossrules.data.canonical_order import has_canonical_order
from mossrules.data.chunks import MAX_CHUNK_ROWS, ChunkSource, Progress
from mossrules.data.content_order import CONTENT
from mossrules.data.even_grid import EvenGrid
from mossrules.data.fixed_point import WEIGHTED_TARGET_SHIFT, Moments, TargetGrid

Grid = TargetGrid | EvenGrid

if TYPE_CHECKING:
    from mossrules.data.row_chunks import Chunk, Span
    from mossrules.data.rows import Rows


@dataclass(frozen=True)
class EncodedChunk:
    """Some rows: codes (columns, rows), target on its grid, weights on theirs.

    Row i has the number `start + row_ids[i]`, by which draws are made, unless rows are in groups:
    then `draw_ids` are the numbers of these.
    """

    start: int
    row_ids: AnyArray
    codes: CodeArray
    target: AnyArray
    weights: IntArray | None
    draw_ids: AnyArray | None = None

    def __len__(self) -> int:
        return int(self.codes.shape[1])

    @property
    def drawn_by(self) -> tuple[int, AnyArray]:
        """What draws go by, as a base and integers beside it."""
        return (self.start, self.row_ids) if self.draw_ids is None else (0, self.draw_ids)


@dataclass(frozen=True)
class EncodedTable:
    """All chunks, with what is needed to read their integers."""

    chunks: ChunkSource[EncodedChunk]
    n_rows: int
    binning: Binning
    target_grid: Grid
    is_weighted: bool  # whether rows carry weights of their own
    weight_step: float  # 1.0 when there are no weights
    moments: Moments
    # Canonical order of the columns, where results must not depend on theirs, nor on the sign and
    # the unit of the target.
    column_order: IntArray | None = None

    @property
    def is_even(self) -> bool:
        """Whether all is to be the same, up to signs, for the target turned around."""
        return self.column_order is not None

    @property
    def made_up_order(self) -> tuple[str, ...] | None:
        """Names of columns that were made up, in canonical order, where that is asked for."""
        if self.column_order is None or self.binning.named:
            return None
        return tuple(self.binning.columns[position].name for position in self.column_order)

    @property
    def forest_shift(self) -> int:
        """Binary digits of the target that a forest leaves out, so that its sums fit in 64 bits."""
        return WEIGHTED_TARGET_SHIFT if self.is_weighted else 0

    def whole(self) -> EncodedChunk:
        """Return all rows as one chunk, in the order of their numbers: for what sums floats."""
        chunks = list(self.chunks)
        # Sums of floats depend on their order, and that of chunks is an accident.
        order = np.argsort(
            np.concatenate([chunk.start + chunk.row_ids.astype(np.int64) for chunk in chunks])
        )
        weights = [chunk.weights for chunk in chunks if chunk.weights is not None]
        draw_ids = [chunk.draw_ids for chunk in chunks if chunk.draw_ids is not None]
        return EncodedChunk(
            start=0,
            row_ids=np.arange(len(order)),
            codes=np.concatenate([chunk.codes for chunk in chunks], axis=1)[:, order],
            target=np.concatenate([chunk.target for chunk in chunks])[order],
            weights=np.concatenate(weights)[order] if weights else None,
            draw_ids=np.concatenate(draw_ids)[order] if draw_ids else None,
        )

    @property
    def has_missing(self) -> list[bool]:
        """Which columns have missing values."""
        return [bool(each) for each in self.chunks.fold(_find_missing, operator.or_)]


def _find_missing(chunk: EncodedChunk) -> BoolArray:
    found: BoolArray = (chunk.codes == MISSING).any(axis=1)
    return found


def encode_table(
    rows: Rows,
    binning: Binning,
    *,
    keep: bool | None = None,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> EncodedTable:
    """Return the codes, target and weights of all rows.

    Where they are not kept they are made from the rows again in each pass, which takes no memory;
    by default they are kept if they take at most half of that where the rows are.
    """
    if keep is None:
        # One byte per column, four each for target and number, eight for a weight. Half of the
        # memory, as histograms and overlaps need some, and so does whatever else the machine does.
        beside = 1 + rows.is_weighted + (rows.groups is not None)
        bytes_per_row = len(binning.columns) + 8 * beside
        keep = rows.n_rows * bytes_per_row <= rows.chunks.memory // 2
    # One more pass than codes need: the grid must be known before the first target is encoded.
    span = rows.span
    grid = _grid_of(rows, span)
    moments = rows.chunks.fold(partial(_moments, grid, span), operator.add, n_jobs=n_jobs)
    chunks = rows.chunks.split(
        partial(_encode_chunk, binning, grid, span),
        keep=keep,
        n_jobs=n_jobs,
        stage="binning",
        progress=progress,
    )
    return EncodedTable(
        chunks=chunks,
        n_rows=rows.n_rows,
        binning=binning,
        target_grid=grid,
        is_weighted=rows.is_weighted,
        weight_step=1.0 if rows.weight_step is None else rows.weight_step,
        moments=moments,
        column_order=rows.column_order if rows.numbering == CONTENT else None,
    )


def _grid_of(rows: Rows, span: Span) -> Grid:
    if rows.numbering != CONTENT:
        return TargetGrid.from_range(*span)
    if not has_canonical_order(rows.n_used):  # then the target is not brought here
        return EvenGrid.from_range(*span)
    return EvenGrid.from_range(*span, np.clip(rows.given[rows.used], *span))


# --- one chunk ----------------------------------------------------------------------------------


def _on_grid(grid: Grid, span: Span, chunk: Chunk) -> AnyArray:
    return grid.encode(np.clip(chunk.target, *span))


def _moments(grid: Grid, span: Span, chunk: Chunk) -> Moments:
    return Moments.of(_on_grid(grid, span, chunk), chunk.weights)


def _encode_chunk(binning: Binning, grid: Grid, span: Span, chunk: Chunk) -> list[EncodedChunk]:
    """Return the chunk in pieces small enough to work on; columns are read one after the other."""
    table = chunk.table.select(binning.names)
    pieces = [slice(i, i + MAX_CHUNK_ROWS) for i in range(0, len(chunk), MAX_CHUNK_ROWS)]
    codes = [
        np.empty((len(binning.columns), len(chunk.row_ids[piece])), np.uint8) for piece in pieces
    ]
    # By column, as files store them: only one column of raw values is in memory at a time.
    for position, (binned, column) in enumerate(zip(binning.columns, table.columns, strict=True)):
        found = binned.encode_values(chunk.read(column), column.kind)
        for piece, part in zip(pieces, codes, strict=True):
            part[position] = found[piece]
    target = _on_grid(grid, span, chunk)
    return [
        EncodedChunk(
            chunk.start,
            chunk.row_ids[piece],
            part,
            target[piece],
            None if chunk.weights is None else chunk.weights[piece],
            None if chunk.draw_ids is None else chunk.draw_ids[piece],
        )
        for piece, part in zip(pieces, codes, strict=True)
    ]
