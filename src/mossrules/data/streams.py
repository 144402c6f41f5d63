"""Rows that are not all in memory, numbered as if they had been put in an order of their own.

What `settle_rows` does to a table, here is done to numbers: rows stay in the chunks they come in,
and each gets the number of its place in the order. For that, the target of all rows comes together
here, and where it ties one column after the other; no more than a column at a time, and of more
rows than MOST_SORTED nothing: these are numbered as they are given.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from mossrules._cached import cached_property
from mossrules._typing import AnyArray, FloatArray, IntArray
from mossrules.data.canonical_order import (
    Key,
    are_repetitions,
    column_key,
    has_own_order,
    mean_target,
    shuffle_runs,
    sort_rows,
)
from mossrules.data.chunks import Progress
from mossrules.data.columns import Column, Label
from mossrules.data.fixed_point import integer_weights
from mossrules.data.labels import (
    check_class_weight,
    label_values,
    scaled_weights,
    sort_labels,
    weigh_classes,
)
from mossrules.data.rows import Goal, RowChunk, TrainingRows, target_span
from mossrules.data.table import Table, finite_numbers, target_column, vector_column
from mossrules.exceptions import InvalidTable

__all__ = ["Streamed", "StreamedLabels", "stream_labels", "stream_rows", "with_target"]

ByPlace = dict[int, AnyArray]  # values of some chunks, by the place of their first row
ReadTarget = Callable[[Column, int, int], FloatArray]


@dataclass(frozen=True)
class Streamed:
    """Rows to learn from, in chunks: what `Rows` are for a table in memory."""

    training: TrainingRows

    @cached_property
    def is_constant(self) -> bool:
        """Whether the target is the same on all rows that count."""
        low, high = target_span(self.training)
        return not low < high

    @property
    def columns(self) -> tuple[Column, ...]:
        """The features, by name, kind and levels."""
        return self.training.columns

    @property
    def named(self) -> bool:
        """Whether the columns have names of their own."""
        return self.training.named

    @cached_property
    def target(self) -> FloatArray:
        """The target of all rows in the order of their numbers."""
        numbers = self._gather(_numbers_of)
        return self._gather(_target_of)[np.argsort(numbers)]

    @property
    def weights(self) -> FloatArray | None:
        """Weights of all rows in the order of their numbers."""
        if self.training.weight_step is None:
            return None
        order = np.argsort(self._gather(_numbers_of))
        return self._gather(_weights_of)[order] * self.training.weight_step

    @property
    def mean(self) -> float:
        """Mean target."""
        return mean_target(self.target, self.weights)

    def _gather(self, work: Any) -> AnyArray:
        return gather(self.training, work)


def stream_rows(
    given: TrainingRows,
    weights: FloatArray | None = None,
    repeats: IntArray | None = None,
    *,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> TrainingRows:
    """Return rows, given in chunks that are numbered by place, with weights and their own numbers.

    Parameters
    ----------
    weights : of all rows; whole ones are repetitions, as in `settle_rows`
    repeats : how often rows count beside that
    """
    if weights is not None:
        counted = weights if repeats is None else np.repeat(weights, repeats)
        if are_repetitions(counted):
            whole = weights.astype(np.int64)
            repeats, weights = whole if repeats is None else whole * repeats, None
    plain = weights is None and repeats is None
    if plain and not has_own_order(given.n_rows):
        return given
    times = np.ones(given.n_rows, np.int64) if repeats is None else repeats.copy()
    if weights is not None:
        times[weights == 0] = 0
    order = used = np.flatnonzero(times)
    total = int(times.sum())
    if has_own_order(len(used) if weights is None else total):
        order = settled_order(given, used, weights, n_jobs=n_jobs, progress=progress)
    numbers = np.zeros(given.n_rows, dtype=np.uint32 if total < 1 << 32 else np.int64)
    numbers[order] = np.cumsum(times[order]) - times[order]
    integers, step = None, None
    if weights is not None:
        integers = np.zeros(given.n_rows, dtype=np.int64)
        integers[used], step = integer_weights(weights[used], total)
    beside = [
        tuple(
            None if each is None else each[span.start : span.stop]
            for each in (numbers, integers, None if plain else times)
        )
        for span in given.spans
    ]
    chunks = given.chunks.split(_renumbered, keep=False, beside=beside)
    return replace(given, chunks=chunks, n_rows=total, weight_step=step)


def settled_order(
    given: TrainingRows,
    used: IntArray,
    weights: FloatArray | None,
    *,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> IntArray:
    """Return the rows that count in the order that `settle_rows` gives them."""
    target = gather(given, _target_of, n_jobs=n_jobs, stage="reading the target", progress=progress)
    keys: list[Key] = [target.take]
    keys += [partial(_key, given, position, n_jobs) for position in range(len(given.columns))]
    if weights is not None:
        keys.append(weights.take)
    return shuffle_runs(*sort_rows(used, keys), keys)


def gather(
    rows: TrainingRows,
    work: Any,
    *,
    n_jobs: int = 1,
    stage: str = "",
    progress: Progress | None = None,
) -> AnyArray:
    """Return what some work makes of each chunk, one after the other in the order of chunks."""
    return _joined(
        rows.chunks.fold(
            partial(_by_place, work), operator.or_, n_jobs=n_jobs, stage=stage, progress=progress
        )
    )


def _joined(found: ByPlace) -> AnyArray:
    return np.concatenate([found[place] for place in sorted(found)])


# --- targets --------------------------------------------------------------------------------------


def with_target(given: TrainingRows, y: Any, read: ReadTarget = finite_numbers) -> TrainingRows:
    """Return rows with a target, which is the name of one of their columns or has a value each."""
    if not isinstance(y, str):
        column = vector_column(y, "y", given.n_rows)
        return replace(given, chunks=given.chunks.split(partial(_beside, column, read), keep=False))
    target_column(Table(given.columns, given.n_rows, given.named), y)
    columns = tuple(column for column in given.columns if column.name != y)
    if not columns:
        raise InvalidTable("The table has no columns besides the target; add features.")
    chunks = given.chunks.split(partial(_among, y, read), keep=False)
    return replace(given, chunks=chunks, columns=columns)


def _among(name: str, read: ReadTarget, chunk: RowChunk) -> list[RowChunk]:
    column = target_column(chunk.table, name)
    return [replace(chunk, table=chunk.table.without(name), goal=partial(read, column))]


def _beside(column: Column, read: ReadTarget, chunk: RowChunk) -> list[RowChunk]:
    first = chunk.place - chunk.span.start
    return [replace(chunk, goal=partial(_shifted, partial(read, column), first))]


def _shifted(read: Goal, first: int, start: int, stop: int) -> FloatArray:
    return read(start + first, stop + first)


@dataclass(frozen=True)
class StreamedLabels:
    """Rows as they are given, in chunks, and the classes of their target: as `Labelled` has it."""

    given: TrainingRows
    y: Any
    classes: AnyArray
    weights: FloatArray | None
    class_weight: Any
    n_jobs: int
    named: bool = True

    @cached_property
    def codes(self) -> IntArray:
        """The position of each row's class among the classes."""
        place = {label: position for position, label in enumerate(self.classes.tolist())}
        labels = with_target(self.given, self.y, partial(_positions, place))
        return gather(labels, _target_of, n_jobs=self.n_jobs).astype(np.int64)

    @cached_property
    def factors(self) -> FloatArray | None:
        """What multiplies the weights of the rows of each class."""
        if self.weights is None and self.class_weight is None:
            return None
        return weigh_classes(self.classes, self.codes, self.weights, self.class_weight)

    def rows(self, position: int) -> Streamed:
        """Return the rows to learn from, with the target 1 in a class and 0 elsewhere."""
        label = self.classes.tolist()[position]
        rows = with_target(self.given, self.y, partial(_is_label, label))
        weights, repeats = self.weights, None
        if self.factors is None:
            weights = scaled_weights(weights)
        elif weights is not None and are_repetitions(weights):
            repeats = weights.astype(np.int64)
            factors = self.factors[np.repeat(self.codes, repeats)]
            unit = scaled_weights(factors)
            weights = np.zeros(len(self.codes))
            assert unit is not None  # noqa: S101  as factors are not
            weights[np.repeat(np.arange(len(self.codes)), repeats)] = unit
        else:
            given = 1.0 if weights is None else weights
            weights = scaled_weights(given * self.factors[self.codes])
        rows = stream_rows(rows, weights, repeats, n_jobs=self.n_jobs)
        return Streamed(replace(rows, named=self.named))


def stream_labels(
    given: TrainingRows, y: Any, weights: FloatArray | None, class_weight: Any, *, n_jobs: int = 1
) -> StreamedLabels:
    """Return rows with their classes, which are found in one pass."""
    check_class_weight(class_weight)
    labels = with_target(given, y, label_values)
    found, dtype = labels.chunks.fold(_labels_in, _more_labels, n_jobs=n_jobs)
    name = y if isinstance(y, str) else "y"
    classes = sort_labels(name, found, dtype)
    return StreamedLabels(given, y, classes, weights, class_weight, n_jobs)


def _labels_in(chunk: RowChunk) -> tuple[set[Any], Any]:
    return set(chunk.target.tolist()), chunk.target.dtype


def _more_labels(one: tuple[set[Any], Any], other: tuple[set[Any], Any]) -> tuple[set[Any], Any]:
    return one[0] | other[0], one[1]


def _positions(place: dict[Label, int], column: Column, start: int, stop: int) -> FloatArray:
    return np.array([place[label] for label in label_values(column, start, stop).tolist()], float)


def _is_label(label: Label, column: Column, start: int, stop: int) -> FloatArray:
    return np.asarray(label_values(column, start, stop) == label, dtype=np.float64)


# --- one chunk ------------------------------------------------------------------------------------


def _itself(found: ByPlace) -> ByPlace:
    return found


def _by_place(work: Any, chunk: RowChunk) -> ByPlace:
    return {chunk.place: work(chunk)}


def _target_of(chunk: RowChunk) -> FloatArray:
    return chunk.target


def _numbers_of(chunk: RowChunk) -> IntArray:
    return chunk.start + chunk.places.astype(np.int64)


def _weights_of(chunk: RowChunk) -> IntArray:
    return np.ones(len(chunk), np.int64) if chunk.weights is None else chunk.weights


def _key(given: TrainingRows, position: int, n_jobs: int, rows: IntArray) -> FloatArray:
    """Return numbers by which to sort some rows on a column."""
    order = np.argsort(rows, kind="stable")
    ordered = rows[order]
    first = np.searchsorted(ordered, [span.start for span in given.spans])
    last = np.searchsorted(ordered, [span.stop for span in given.spans])
    beside = [(ordered[a:b],) for a, b in zip(first, last, strict=True)]
    chunks = given.chunks.split(partial(_pick, position), keep=False, beside=beside)
    found = _joined(chunks.fold(_itself, operator.or_, n_jobs=n_jobs))
    values = np.empty_like(found)
    values[order] = found
    return column_key(given.columns[position].kind, values)


def _pick(position: int, chunk: RowChunk, rows: IntArray) -> list[ByPlace]:
    """Return the values of a column at some rows of the chunk, if there are any."""
    if len(rows) == 0:
        return []
    values = chunk.read(chunk.table.columns[position])[rows - chunk.place]
    if values.dtype == object:  # one string for all that are alike
        same: dict[Any, Any] = {}
        values[:] = [same.setdefault(label, label) for label in values]
    return [{chunk.place: values}]


def _renumbered(
    chunk: RowChunk, numbers: AnyArray, weights: IntArray | None, times: IntArray | None
) -> list[RowChunk]:
    """Return a chunk of rows that are numbered by place with the numbers and weights they get."""
    if times is None:
        return [replace(chunk, start=0, places=numbers)]
    picked = np.repeat(np.arange(len(chunk)), times)
    if not len(picked):
        return []
    firsts = np.cumsum(times) - times
    among = numbers.astype(np.int64)[picked] + np.arange(len(picked)) - firsts[picked]
    start = int(among.min())
    return [
        replace(
            chunk,
            start=start,
            places=(among - start).astype(np.uint32),
            weights=None if weights is None else weights[picked],
            picked=picked,
        )
    ]
