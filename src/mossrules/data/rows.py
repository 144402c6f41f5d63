"""Rows to learn from, wherever they are: what their columns are, and chunks to fold over.

A row's number is all that random draws know of it, so the same rows with the same numbers give the
same rules, however they are cut into chunks and in whatever order these come.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from mossrules._typing import AnyArray, FloatArray, IntArray
from mossrules.data.chunks import ChunkSource, LocalChunks, RowRange
from mossrules.data.columns import Column
from mossrules.data.fixed_point import integer_weights
from mossrules.data.table import Table
from mossrules.exceptions import InvalidTarget

__all__ = ["Goal", "RowChunk", "Span", "TrainingRows", "rows_of_table", "target_span"]

Span = tuple[float, float]  # smallest and largest target
Goal = Callable[[int, int], FloatArray]  # the target of rows start..stop-1 of a table


@dataclass(frozen=True)
class RowChunk:
    """Some of the rows, read when they are asked for.

    Row i has the number `start + places[i]`. `weights` are None where all rows count alike.
    """

    table: Table
    span: RowRange  # which rows of the table these are
    place: int  # of the first of them, among all rows as they are given
    start: int
    places: AnyArray
    weights: IntArray | None = None
    goal: Goal | None = None
    picked: IntArray | None = None  # rows of the span, where some are repeated or left out

    def __len__(self) -> int:
        return len(self.places)

    def read(self, column: Column) -> AnyArray:
        """Return the values of a column of the table."""
        return self._picked(column.read(self.span.start, self.span.stop))

    @property
    def target(self) -> FloatArray:
        """The target of these rows."""
        if self.goal is None:
            raise InvalidTarget("The rows have no target; name one.")
        return self._picked(self.goal(self.span.start, self.span.stop))

    def _picked(self, values: AnyArray) -> AnyArray:
        return values if self.picked is None else values[self.picked]


@dataclass(frozen=True)
class TrainingRows:
    """All rows: their columns by name, kind and levels, and the chunks they come in.

    `spans` are the rows of each chunk, by their places as they are given.

    Weights of rows are integers, of which one is `weight_step`; it is None where all count alike.
    """

    columns: tuple[Column, ...]
    n_rows: int
    chunks: ChunkSource[RowChunk]
    spans: Sequence[RowRange]
    weight_step: float | None = None
    named: bool = True

    @property
    def is_weighted(self) -> bool:
        """Whether rows carry weights of their own."""
        return self.weight_step is not None


def rows_of_table(
    table: Table,
    ranges: Sequence[RowRange],
    target: FloatArray | None = None,
    weights: FloatArray | None = None,
) -> TrainingRows:
    """Return the rows of a table of this process, numbered as they stand there."""
    row_weights, step = (None, None) if weights is None else integer_weights(weights)
    goal = None if target is None else partial(_part_of, target)
    reads = bool(table.parts)
    chunks = LocalChunks[RowChunk](ranges, partial(_chunk_of, table, row_weights, goal), reads)
    return TrainingRows(table.columns, table.n_rows, chunks, ranges, step, table.named)


def _chunk_of(
    table: Table, weights: IntArray | None, goal: Goal | None, rows: RowRange
) -> list[RowChunk]:
    part = None if weights is None else weights[rows.start : rows.stop]
    places = np.arange(len(rows), dtype=np.uint32)
    return [RowChunk(table, rows, rows.start, rows.start, places, part, goal)]


def _part_of(values: FloatArray, start: int, stop: int) -> FloatArray:
    return values[start:stop]


def target_span(rows: TrainingRows, *, n_jobs: int = 1) -> Span:
    """Return the smallest and the largest target of the rows that count."""
    return rows.chunks.fold(_target_span, _wider, n_jobs=n_jobs)


def _target_span(chunk: RowChunk) -> Span:
    # A row of weight zero may lie outside the range of the others; it counts for nothing.
    target = chunk.target if chunk.weights is None else chunk.target[chunk.weights > 0]
    return float(target.min(initial=np.inf)), float(target.max(initial=-np.inf))


def _wider(one: Span, other: Span) -> Span:
    return min(one[0], other[0]), max(one[1], other[1])
