"""Chunks of rows: their values, numbers and weights, and the work that is done on one of them.

What is here may be sent to workers of Dask, with the table of a file or a partition: functions of
this module whose arguments are small, so that no rows travel.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from mossrules._typing import AnyArray, FloatArray, IntArray
from mossrules.data.chunks import ChunkSource, LocalChunks, RowRange
from mossrules.data.columns import Column, Label
from mossrules.data.dask_partitions import DaskChunks, partition_table
from mossrules.data.labels import label_values, sort_labels
from mossrules.data.table import Table, finite_numbers, target_column
from mossrules.exceptions import InvalidTarget

__all__ = [
    "Chunk",
    "Span",
    "gather_column",
    "gather_target",
    "number_chunk",
    "one_class",
    "partition_chunks",
    "read_beside",
    "split_chunk",
    "table_chunks",
    "target_in_parts",
    "target_span",
    "without_columns",
]

Span = tuple[float, float]  # smallest and largest target
ReadTarget = Callable[[Column, int, int], AnyArray]  # a column's values as a target
ByOffset = dict[int, AnyArray]  # values of some chunks, by the offset of their first row


@dataclass(frozen=True)
class Chunk:
    """Some of the rows, whose values are read when they are asked for.

    Row i has the number `start + row_ids[i]`: small integers beside a base, since every row has
    one. `weights` are None where all rows count alike. Where rows are in groups, `draw_ids` are
    the numbers of these, by which a forest draws.
    """

    table: Table
    span: RowRange  # which rows of the table these are
    offset: int  # of the first of them, among all rows given
    start: int
    row_ids: AnyArray
    weights: IntArray | None = None
    read_target: Callable[[], FloatArray] | None = None  # of all rows of the span
    picked: IntArray | None = None  # rows of the span, where some are repeated or left out
    draw_ids: AnyArray | None = None

    def __len__(self) -> int:
        return len(self.row_ids)

    def read(self, column: Column) -> AnyArray:
        """Return the values of a column of the table."""
        return self._pick(column.read(self.span.start, self.span.stop))

    @property
    def numbers(self) -> IntArray:
        """The number of each row."""
        return self.start + self.row_ids.astype(np.int64)

    @property
    def target(self) -> FloatArray:
        """The target of these rows."""
        if self.read_target is None:
            raise InvalidTarget("The rows have no target; name a column for it.")
        return self._pick(self.read_target())

    def _pick(self, values: AnyArray) -> AnyArray:
        return values if self.picked is None else values[self.picked]


# --- where they come from -------------------------------------------------------------------------


def table_chunks(table: Table, spans: Sequence[RowRange]) -> LocalChunks[Chunk]:
    """Return the rows of a table as they are given, each numbered by its offset."""
    return LocalChunks(spans, partial(_table_chunk, table), reads=bool(table.parts))


def _table_chunk(table: Table, span: RowRange) -> list[Chunk]:
    row_ids = np.arange(len(span), dtype=np.uint32)
    return [Chunk(table, span, span.start, span.start, row_ids)]


def partition_chunks(table: Table, partitions: DaskChunks[Any]) -> DaskChunks[Chunk]:
    """Return the rows of Dask's partitions as they are given, each numbered by its offset."""
    offsets = [(span.start,) for span in table.parts]
    return partitions.split(partial(_partition_chunk, table.columns), keep=False, beside=offsets)


def _partition_chunk(columns: Sequence[Column], part: tuple[int, Any], offset: int) -> list[Chunk]:
    """Return the rows of a partition; it may have none."""
    table = partition_table(columns, part)
    row_ids = np.arange(table.n_rows, dtype=np.uint32)
    span = RowRange(0, table.n_rows)
    return [Chunk(table, span, offset, offset, row_ids)] if len(span) else []


def split_chunk(name: str, read: ReadTarget, chunk: Chunk) -> list[Chunk]:
    """Return a chunk whose target is one of its columns."""
    column = target_column(chunk.table, name)
    values = partial(read, column, chunk.span.start, chunk.span.stop)
    return [replace(chunk, table=chunk.table.without(name), read_target=values)]


def target_in_parts(
    source: ChunkSource[Chunk],
    name: str,
    weights: FloatArray | None,
    spans: Sequence[RowRange],
    *,
    of_classes: bool,
    n_jobs: int,
) -> tuple[ChunkSource[Chunk], AnyArray | None]:
    """Return chunks that read their target from a column, and its classes, found in one pass.

    Classes are those of rows that count; the position of others says nothing.
    """
    read: ReadTarget = finite_numbers
    classes = None
    # Two readings of the same column: labels to find out which there are, and then positions among
    # them. Workers are sent the few labels, and nobody holds those of all rows.
    if of_classes:
        labelled = source.split(partial(split_chunk, name, label_values), keep=False)
        if weights is not None:
            counts = weights > 0
            beside = [(counts[span.start : span.stop],) for span in spans]
            labelled = labelled.split(_with_counts, keep=False, beside=beside)
        counted, others = labelled.fold(_labels_in, _more_labels, n_jobs=n_jobs)
        classes = sort_labels(name, counted if len(counted) > 1 else counted | others)
        position = {label: number for number, label in enumerate(classes.tolist())}
        read = partial(_positions, position)
    return source.split(partial(split_chunk, name, read), keep=False), classes


def _positions(position: dict[Label, int], column: Column, start: int, stop: int) -> FloatArray:
    labels = label_values(column, start, stop).tolist()
    return np.array([position.get(label, 0) for label in labels], dtype=np.float64)


def _with_counts(chunk: Chunk, counts: AnyArray) -> list[Chunk]:
    return [replace(chunk, weights=counts)]


def _labels_in(chunk: Chunk) -> tuple[set[Any], set[Any]]:
    """Return the labels of rows that count, and those of others."""
    labels = chunk.target
    counts = np.ones(len(labels), dtype=bool) if chunk.weights is None else chunk.weights
    return set(labels[counts].tolist()), set(labels[~counts].tolist())


def _more_labels(one: Sequence[set[Any]], other: Sequence[set[Any]]) -> tuple[set[Any], set[Any]]:
    return one[0] | other[0], one[1] | other[1]


def one_class(position: int, chunk: Chunk) -> list[Chunk]:
    """Return a chunk whose target is 1 in a class and 0 elsewhere."""
    return [replace(chunk, read_target=partial(_is_class, position, chunk))]


def _is_class(position: int, chunk: Chunk) -> FloatArray:
    return np.asarray(chunk.target == position, dtype=np.float64)


def number_chunk(  # noqa: PLR0917  what is beside a chunk comes by position
    chunk: Chunk,
    row_ids: AnyArray | None,
    weights: IntArray | None,
    times: IntArray | None,
    target: FloatArray | None,
    draw_ids: AnyArray | None,
) -> list[Chunk]:
    """Return a chunk of rows as they are given with what is known of each, by its offset."""
    # The target of all rows is known here when it came beside the rows, as values. It travels with
    # the chunks, a slice to each, and not with the work.
    if target is not None:
        chunk = replace(chunk, read_target=partial(_itself, target))
    chunk = replace(chunk, draw_ids=draw_ids)
    if row_ids is None:
        return [replace(chunk, weights=weights)]
    # Picking rows copies each column; most chunks have every row once, and need no copy.
    if times is None or (times == 1).all():
        return [replace(chunk, start=0, row_ids=row_ids, weights=weights)]
    picked = np.repeat(np.arange(len(chunk)), times)
    if not len(picked):
        return []
    firsts = np.cumsum(times) - times
    numbers = row_ids.astype(np.int64)[picked] + np.arange(len(picked)) - firsts[picked]
    # Tables too long to be sorted keep their order, so numbers of a chunk are close together: less
    # the smallest they fit in 32 bits, whatever the number of rows.
    start = int(numbers.min())
    return [
        replace(
            chunk,
            start=start,
            row_ids=(numbers - start).astype(np.uint32),
            weights=None if weights is None else weights[picked],
            picked=picked,
            draw_ids=None if draw_ids is None else draw_ids[picked],
        )
    ]


def _values_at(position: int, chunk: Chunk, rows: IntArray) -> list[ByOffset]:
    """Return the values of a column at some rows of the chunk, if there are any."""
    if len(rows) == 0:
        return []
    values = chunk.read(chunk.table.columns[position])[rows - chunk.offset]
    if values.dtype == object:  # one string for all that are alike
        same: dict[Any, Any] = {}
        values[:] = [same.setdefault(label, label) for label in values]
    return [{chunk.offset: values}]


def gather_target(source: ChunkSource[Chunk], n_jobs: int) -> FloatArray:
    """Return the target of all rows, in the order of chunks."""
    return _joined(source.fold(_target_by_offset, operator.or_, n_jobs=n_jobs))


def gather_column(
    source: ChunkSource[Chunk],
    spans: Sequence[RowRange],
    position: int,
    rows: IntArray,
    n_jobs: int,
) -> AnyArray:
    """Return the values of a column at some of the rows given, of which each chunk gives a few."""
    order = np.argsort(rows, kind="stable")
    ordered = rows[order]
    first = np.searchsorted(ordered, [span.start for span in spans])
    last = np.searchsorted(ordered, [span.stop for span in spans])
    beside = [(ordered[a:b],) for a, b in zip(first, last, strict=True)]
    # Each chunk is asked for the rows that tie in it: a whole column may not fit in memory, and
    # where the target has few ties, the first column is the last one to be asked.
    chunks = source.split(partial(_values_at, position), keep=False, beside=beside)
    picked = _joined(chunks.fold(_itself, operator.or_, n_jobs=n_jobs))
    values = np.empty_like(picked)
    values[order] = picked
    return values


def read_beside(
    source: ChunkSource[Chunk], name: str, read: Callable[[Column, int, int], Any], n_jobs: int
) -> list[Any]:
    """Return what `read` makes of a column that is no feature, of each chunk in their order."""
    parts = source.fold(partial(_part_beside, name, read), operator.or_, n_jobs=n_jobs)
    return [parts[offset] for offset in sorted(parts)]


def _part_beside(
    name: str, read: Callable[[Column, int, int], Any], chunk: Chunk
) -> dict[int, Any]:
    column = next(each for each in chunk.table.columns if each.name == name)
    return {chunk.offset: read(column, chunk.span.start, chunk.span.stop)}


def without_columns(names: Sequence[str], chunk: Chunk) -> list[Chunk]:
    """Return a chunk less some columns of its table."""
    return [replace(chunk, table=chunk.table.without(*names))]


def _target_by_offset(chunk: Chunk) -> ByOffset:
    return {chunk.offset: chunk.target}


def _joined(parts: ByOffset) -> AnyArray:
    return np.concatenate([parts[offset] for offset in sorted(parts)])


def _itself(values: Any) -> Any:
    return values


def target_span(chunks: ChunkSource[Chunk], n_jobs: int) -> Span:
    """Return the smallest and the largest target of the rows that count."""
    return chunks.fold(_span_of, _wider, n_jobs=n_jobs)


def _span_of(chunk: Chunk) -> Span:
    # A row of weight zero may lie outside the range of the others; it counts for nothing.
    target = chunk.target if chunk.weights is None else chunk.target[chunk.weights > 0]
    return float(target.min(initial=np.inf)), float(target.max(initial=-np.inf))


def _wider(one: Span, other: Span) -> Span:
    return min(one[0], other[0]), max(one[1], other[1])
