"""Rows to learn from, wherever they are: in memory, in files, or in partitions of Dask.

`read_rows` opens what a user passes, once, and `Rows` is all that later steps see of it: columns,
chunks to fold over, and each row's number. A number is all that random draws know of a row, so the
same rows with the same numbers give the same rules, however they are cut into chunks and in
whatever order these come. Rows stay where they are and in the order they were given: what is put
into canonical order are their numbers, for which the target comes together here and, where it
ties, one column after the other. (To move the rows themselves took a copy of the table, and twice
the time.) With `Rows` come three rules that hold for every input: rows of weight zero are not
there, whole weights are repetitions of rows, and other weights multiply.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np

from mossrules._common import cached_property
from mossrules._typing import AnyArray, FloatArray, IntArray
from mossrules.data.canonical_order import (
    Key,
    are_repetitions,
    canonicalise_rows,
    column_key,
    has_canonical_order,
)
from mossrules.data.chunks import ChunkSource, RowRange, row_ranges
from mossrules.data.columns import NUMBERS, Column, Kind
from mossrules.data.content_order import (
    CONTENT,
    TARGET,
    Numbering,
    centred_ranks,
    order_by_content,
    order_columns,
)
from mossrules.data.dask_partitions import on_workers, read_partitions
from mossrules.data.files import scan_files
from mossrules.data.fixed_point import integer_weights
from mossrules.data.groups import (
    check_several,
    column_beside,
    group_part,
    join_parts,
    names_beside,
    read_groups,
    split_beside,
)
from mossrules.data.labels import (
    check_class_weight,
    read_target,
    scale_weights,
    weigh_classes,
)
from mossrules.data.reading import Reading
from mossrules.data.row_chunks import (
    Chunk,
    Span,
    gather_column,
    gather_target,
    number_chunk,
    one_class,
    partition_chunks,
    read_beside,
    table_chunks,
    target_in_parts,
    target_span,
    without_columns,
)
from mossrules.data.table import (
    Table,
    check_weights,
    finite_numbers,
    is_dask,
    names_files,
    read_weights,
    split_column,
    take_rows,
)
from mossrules.exceptions import InvalidTable

__all__ = ["Rows", "read_rows"]


@dataclass(frozen=True, eq=False, repr=False)
class Rows:
    """Rows to learn from: their columns, chunks to fold over, and the number of each row.

    Attributes of one value per row (`target`, `weights`, `origin`, `table`) go by these numbers.
    They come together when they are first asked for: a fit of files never asks for the table. So do
    `group_numbers`, where rows are in groups: draws know a row by the number of its group, which is
    that of its first row.

    Of classes, the target is the position of a row's class among `classes`, and `one_vs_rest` has
    the rows from which to learn one of them.
    """

    features: Table  # as given; of Dask, columns that cannot be read here
    source: ChunkSource[Chunk]  # all rows given, numbered by their offset
    spans: Sequence[RowRange]  # of each chunk's rows, among all given
    known_target: FloatArray | None = None  # of the rows given, unless chunks read it themselves
    sample_weight: FloatArray | None = None
    repeats: IntArray | None = None  # how often rows count beside their weight
    keeps_order: bool = False  # whether numbers are offsets, and not canonical
    numbering: Numbering = TARGET  # by what rows are put in canonical order first
    classes: Any = None  # the labels as an array, sorted; None where the target is a number
    class_weight: Any = None
    n_jobs: int = 1
    is_part: bool = False  # whether they were taken from others, as those of a fold are
    groups: IntArray | None = None  # a code of the group of each row given

    @classmethod
    def from_table(
        cls,
        table: Table,
        target: FloatArray | None,
        weights: FloatArray | None = None,
        *,
        spans: Sequence[RowRange] | None = None,
        **settings: Any,
    ) -> Self:
        """Return rows of a table whose target is known; `settings` are further fields."""
        if spans is None:
            spans = table.ranges(n_jobs=settings.get("n_jobs", 1))
        return cls(table, table_chunks(table, spans), spans, target, weights, **settings)

    # --- what they are ----------------------------------------------------------------------------

    @property
    def columns(self) -> tuple[Column, ...]:
        """The features, by name, kind and levels."""
        return self.features.columns

    @property
    def named(self) -> bool:
        """Whether the columns have names of their own."""
        return self.features.named

    @property
    def reading(self) -> Reading:
        """How their values were read, if they are of files."""
        return self.features.reading

    @property
    def in_memory(self) -> bool:
        """Whether all rows are in the memory of this process."""
        return not self.features.parts

    @cached_property
    def given(self) -> FloatArray:
        """The target of all rows given, in their order."""
        if self.known_target is not None:
            return self.known_target
        return gather_target(self.source, self.n_jobs)

    @cached_property
    def n_rows(self) -> int:
        """Number of rows, repetitions counted."""
        return self.features.n_rows if self._times is None else int(self._times.sum())

    # --- numbers and weights ----------------------------------------------------------------------

    @cached_property
    def _counted(self) -> tuple[FloatArray | None, IntArray | None]:
        """Weights that multiply, and how often each row counts, of all rows given."""
        weights, repeats = self.sample_weight, self.repeats
        # `find_candidates` keeps the order and so the rows: repeating them would renumber all
        # others.
        if weights is None or self.keeps_order:
            return weights, repeats
        if are_repetitions(weights if repeats is None else np.repeat(weights, repeats)):
            whole = weights.astype(np.int64)
            return None, whole if repeats is None else whole * repeats
        return weights, repeats

    @cached_property
    def _times(self) -> IntArray | None:
        """How often each row given is one of these rows; None for once each."""
        weights, repeats = self._counted
        if weights is None and repeats is None:
            return None
        if self.keeps_order and (weights is None or weights.all()):
            return None
        times = np.ones(self.features.n_rows, np.int64) if repeats is None else repeats.copy()
        if weights is not None:
            # A row that does not count must not take a number, or it would move the draws of all
            # others.
            times[weights == 0] = 0
        return times

    @property
    def used(self) -> IntArray | slice:
        """Which of the rows given count at all."""
        return slice(None) if self._times is None else np.flatnonzero(self._times)

    @property
    def n_used(self) -> int:
        """How many of the rows given count at all."""
        return self.features.n_rows if self._times is None else int(np.count_nonzero(self._times))

    @cached_property
    def _order(self) -> IntArray | None:
        """The rows given that count, in the order of their numbers; None for all, as they are."""
        weights, times = self._counted[0], self._times
        used = None if times is None else np.flatnonzero(times)
        # With weights the limit is on repetitions too, since these are weighed one by one.
        n_sorted = self.n_rows if used is None or weights is not None else len(used)
        if self.keeps_order or not has_canonical_order(n_sorted):
            return used
        if self.numbering == CONTENT:
            start = np.arange(self.features.n_rows) if used is None else used
            # Numbers before labels, which take longer to compare.
            places = sorted(self.column_order, key=lambda i: self.columns[i].kind not in NUMBERS)
            columns = [partial(self._column_key, int(position)) for position in places]
            ranks = centred_ranks(self.given, start)
            return order_by_content(start, columns, ranks, times, weights, groups=self.groups)
        keys: list[Key] = [self.given.take]
        keys += [partial(self._column_key, position) for position in range(len(self.columns))]
        if weights is not None:
            keys.append(weights.take)  # rows may be alike in all else
        start = np.arange(self.n_rows) if used is None else used
        return canonicalise_rows(start, keys, self.groups, times)

    def _column_key(self, position: int, rows: IntArray) -> FloatArray:
        """Return numbers by which to sort some rows on a column."""
        column = self.columns[position]
        if self.in_memory:  # where a column is a view, and not worth a fold
            values = column.read(0, self.features.n_rows)[rows]
        else:
            values = gather_column(self.source, self.spans, position, rows, self.n_jobs)
        return column_key(column.kind, values)

    @cached_property
    def column_order(self) -> IntArray:
        """Positions of the columns in an order of their own: by name, or by what they hold.

        Made-up names say nothing; of more rows than are sorted, such columns stay as they are.
        """
        names = [column.name for column in self.columns]
        if self.features.named and self.features.has_text_names:
            return np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.int64)
        if len(names) == 1 or not has_canonical_order(self.n_used):
            return np.arange(len(names))
        times = self._times
        used = np.arange(self.features.n_rows)[self.used]
        ranks = centred_ranks(self.given, used)[used]
        read = partial(self._column_key, rows=used)
        return order_columns(len(names), read, ranks, None if times is None else times[used])

    @cached_property
    def origin(self) -> IntArray:
        """Which of the rows given each of these is."""
        order, repeats = self._order, self._counted[1]
        if order is None:
            return np.arange(self.features.n_rows)
        return order if repeats is None else np.repeat(order, repeats[order])

    @cached_property
    def _integer_weights(self) -> tuple[IntArray | None, float | None]:
        """Weights of all rows given on a grid of integers, and its step; None without weights."""
        weights, _ = self._counted
        if weights is None:
            return None, None
        if self._times is None:
            return integer_weights(weights)
        used = np.flatnonzero(self._times)
        integers = np.zeros(len(weights), dtype=np.int64)
        # The grid leaves room for the sum over all rows, repetitions among them.
        integers[used], step = integer_weights(weights[used], self.n_rows)
        return integers, step

    @property
    def weight_step(self) -> float | None:
        """What a weight of one in chunks stands for; None where all rows count alike."""
        return self._integer_weights[1]

    @property
    def is_weighted(self) -> bool:
        """Whether rows carry weights of their own."""
        return self._counted[0] is not None

    @cached_property
    def chunks(self) -> ChunkSource[Chunk]:
        """The rows in chunks to fold over, each with numbers, integer weights and the target."""
        integers = self._integer_weights[0]
        known = (self._row_ids(), integers, self._times, self.known_target, self._draw_ids)
        if all(values is None for values in known):
            return self.source
        beside = [
            tuple(None if values is None else values[span.start : span.stop] for values in known)
            for span in self.spans
        ]
        return self.source.split(number_chunk, keep=False, beside=beside)

    def _row_ids(self) -> AnyArray | None:
        """Return the number of each row given (its first, if repeated); None for their offsets."""
        order, times = self._order, self._times
        if order is None:
            return None
        numbers = np.zeros(self.features.n_rows, np.uint32 if self.n_rows < 1 << 32 else np.int64)
        counts = np.ones(len(order), np.int64) if times is None else times[order]
        # A row that counts three times has three numbers in a row: its first is the total before
        # it.
        numbers[order] = np.cumsum(counts) - counts
        return numbers

    @cached_property
    def _draw_ids(self) -> AnyArray | None:
        """The number of the group of each row given; None where rows are in no groups."""
        if self.groups is None:
            return None
        numbers = self._row_ids()
        if numbers is None:
            numbers = np.arange(self.features.n_rows)
        # Rows that do not count must not lend their number to those of their group that do.
        used = slice(None) if self._order is None else self._order
        first = np.full(int(self.groups.max()) + 1, np.iinfo(numbers.dtype).max, numbers.dtype)
        np.minimum.at(first, self.groups[used], numbers[used])
        found: AnyArray = first[self.groups]
        return found

    def in_chunks(self, *, n_jobs: int = 1, chunk_rows: int | None = None) -> Rows:
        """Return the same rows in chunks for a number of threads, if they are in memory.

        Chunks of files and of Dask are where they are; an order that is known stays so.
        """
        spans = row_ranges(self.features.n_rows, n_jobs=n_jobs, chunk_rows=chunk_rows)
        if not self.in_memory or spans == self.spans:
            return self
        # Each thread is to have a chunk where that pays, and how many threads there are is known
        # when candidates are looked for, not when rows are read: folds may share what the reader
        # had.
        source = table_chunks(self.features, spans)
        other = replace(self, source=source, spans=spans, n_jobs=n_jobs)
        return self._remembered(other, "_order", "column_order", "_draw_ids")

    def numbered(self, numbering: Numbering) -> Rows:
        """Return the same rows numbered by content, or by target first."""
        if numbering == self.numbering:
            return self
        return self._remembered(replace(self, numbering=numbering), "given", "column_order")

    def _remembered(self, other: Rows, *names: str) -> Rows:
        """Return other rows with what is known of these already, and is the same of both."""
        vars(other).update({name: vars(self)[name] for name in names if name in vars(self)})
        return other

    # --- values by number -------------------------------------------------------------------------

    @cached_property
    def table(self) -> Table:
        """The features of these rows, whose values are read when they are asked for."""
        return take_rows(self.features, self.origin)

    @cached_property
    def target(self) -> FloatArray:
        """The target."""
        return self.given[self.origin]

    @cached_property
    def weights(self) -> FloatArray | None:
        """Weights; None where all rows count alike."""
        weights, _ = self._counted
        return None if weights is None else weights[self.origin]

    @cached_property
    def group_numbers(self) -> IntArray | None:
        """The number of the first row of each row's group; None where rows are in no groups."""
        return None if self._draw_ids is None else self._draw_ids[self.origin].astype(np.int64)

    @property
    def n_groups(self) -> int | None:
        """The number of groups; None where rows are in none."""
        numbers = self.group_numbers
        return None if numbers is None else len(np.unique(numbers))

    @cached_property
    def mean(self) -> float:
        """Mean target."""
        if self.is_constant:
            return float(self.target[0])  # an average may be off by a rounding
        return float(np.average(self.target, weights=self.weights))

    @cached_property
    def span(self) -> Span:
        """The smallest and the largest target of the rows that count on the grid of weights."""
        return target_span(self.chunks, self.n_jobs)

    @cached_property
    def is_constant(self) -> bool:
        """Whether the target is the same on all rows."""
        if self.known_target is None and not self.is_weighted:
            low, high = self.span  # without bringing all of it here
            return not low < high
        # Weights that round to zero on the grid still count here; `target_varies` knows the grid.
        used = self.given[self.used]
        return bool(used.min() == used.max())

    # --- other rows -------------------------------------------------------------------------------

    def take(self, positions: IntArray) -> Rows:
        """Return the rows of some numbers, as if they alone had been given, in memory."""
        return Rows.from_table(
            take_rows(self.features, self.origin[positions]).loaded(),
            self.target[positions],
            None if self.weights is None else self.weights[positions],
            classes=self.classes,
            class_weight=self.class_weight,
            numbering=self.numbering,
            n_jobs=self.n_jobs,
            is_part=True,
            groups=None if self.groups is None else self.groups[self.origin[positions]],
        )

    def features_of(self, offsets: IntArray) -> Table:
        """Return the features of some of the rows given, in memory, wherever the rows are."""
        if self.in_memory:
            return take_rows(self.features, offsets).loaded()
        columns = tuple(
            column.with_values(
                gather_column(self.source, self.spans, position, offsets, self.n_jobs)
            )
            for position, column in enumerate(self.columns)
        )
        return Table(columns, len(offsets), self.named, reading=self.reading)

    def draw(self, positions: IntArray) -> Rows:
        """Return the rows of some numbers, of which some may be there several times.

        Those in files or in Dask stay where they are, under a mask: no copies are made.
        """
        if self.in_memory:
            return self.take(positions)
        times = np.bincount(self.origin[positions], minlength=self.features.n_rows)
        weights, repeats = self._counted[0], None
        if weights is None:
            weights = times.astype(np.float64)
        else:
            # Twice a weight of 0.7 is not once 1.4: a tree draws each repetition by itself.
            weights, repeats = np.where(times > 0, weights, 0.0), times.astype(np.int64)
        return replace(self, sample_weight=weights, repeats=repeats, is_part=True)

    def one_vs_rest(self, position: int) -> Rows:
        """Return the rows to learn from, with the target 1 in a class and 0 elsewhere.

        Whole weights are repetitions of rows, whatever the weights of classes. Other weights are
        scaled to a mean of 1, since what the rows say is held against what is known beforehand.
        """
        weights, repeats = self.sample_weight, self.repeats
        if weights is not None or self.class_factors is not None:
            weights, repeats = self._class_weights()
        known, source = self.known_target, self.source
        if known is None:
            source = source.split(partial(one_class, position), keep=False)
        else:
            known = (known == position).astype(np.float64)
        return replace(
            self,
            source=source,
            known_target=known,
            sample_weight=weights,
            repeats=repeats,
            classes=None,
        )

    def _class_weights(self) -> tuple[FloatArray, IntArray | None]:
        """Return the weights of rows that a class is learned from, and how often each counts."""
        weights, repeats, factors = self.sample_weight, self.repeats, self.class_factors
        each = np.arange(self.features.n_rows)
        rows = each if repeats is None else np.repeat(each, repeats)
        scaled = np.zeros(len(each))
        if factors is not None and weights is not None and are_repetitions(weights[rows]):
            # Scaling them would make fractions of them, and repetitions would no longer be exact.
            repeats = weights.astype(np.int64) * (1 if repeats is None else repeats)
            rows, weights = np.repeat(each, repeats), None
        own = np.ones(len(each)) if weights is None else weights
        if factors is not None:
            own = own * factors[self._codes]
        scaled[rows] = scale_weights(own[rows])
        return scaled, repeats

    @cached_property
    def class_factors(self) -> FloatArray | None:
        """What multiplies the weights of the rows of each class; None for nothing."""
        if self.classes is None or (self.sample_weight is None and self.class_weight is None):
            return None
        # A part of the rows may have those of one class only, from which no rules are learned.
        how = {"several": not self.is_part}
        weights = self.sample_weight
        if weights is not None and self.repeats is not None:
            weights = weights * self.repeats
        return weigh_classes(self.classes, self._codes, weights, self.class_weight, **how)

    @property
    def _codes(self) -> IntArray:
        """The position of each given row's class among the classes."""
        return self.given.astype(np.int64)


# --- reading --------------------------------------------------------------------------------------


def read_rows(
    X: Any,
    y: Any,
    sample_weight: Any = None,
    groups: Any = None,
    *,
    of_classes: bool = False,
    class_weight: Any = None,
    whole: bool = False,
    keeps_order: bool = False,
    numbering: Numbering = TARGET,
    n_jobs: int = 1,
) -> Rows:
    """Return the rows of a table, of files or of a Dask collection: the one way in.

    Parameters
    ----------
    X : table, array, dict of columns, path or paths, what `scan_files` returns, Dask collection
    y : one value per row, or the name of a column of X
    sample_weight : one non-negative number per row, or the name of a column of X
    groups : one label per row, or the name of a column of X
    of_classes : whether the target is a label
    class_weight : what multiplies the weights of the rows of each class
    whole : whether files are read into memory; a Dask collection is then refused
    keeps_order : whether rows are numbered as they are given
    numbering : by what they are put in canonical order first otherwise
    n_jobs : threads
    """
    if of_classes:
        check_class_weight(class_weight)
    if names_files(X):
        # Labels of groups are names, whatever they look like, and weights numbers.
        beside = ((groups, Kind.CATEGORICAL), (sample_weight, Kind.NUMERIC))
        X = scan_files(X, kinds={name: kind for name, kind in beside if isinstance(name, str)})
    in_parts = not whole and (is_dask(X) or (isinstance(X, Table) and bool(X.parts)))
    rows = (_read_in_parts if in_parts else _read_whole)(
        X,
        y,
        sample_weight,
        groups,
        of_classes=of_classes,
        class_weight=class_weight,
        keeps_order=keeps_order,
        numbering=numbering,
        n_jobs=n_jobs,
    )
    check_several(rows.groups, rows.sample_weight, groups if isinstance(groups, str) else "groups")
    _ = rows.class_factors  # computed now, so that weights of one class only are refused here
    return rows


def _read_whole(
    X: Any,
    y: Any,
    sample_weight: Any,
    groups: Any,
    *,
    of_classes: bool,
    keeps_order: bool,
    **settings: Any,
) -> Rows:
    """Return the rows of a table in memory, or of files that are read into it."""
    X, sample_weight, groups = split_beside(X, y, sample_weight, groups)
    table, column = split_column(X, y)
    _check_size(table.n_rows)
    weights = read_weights(sample_weight, table.n_rows)
    target, classes = read_target(column, table.n_rows, weights, of_classes=of_classes)
    # Canonical order looks at columns row by row, and folds and classes read them again. In the
    # order given, two passes over slices are all, for which nothing need be kept.
    table = replace(table, parts=()) if keeps_order else table.loaded()
    table = replace(table, named=table.named and table.has_text_names)
    settings |= {"classes": classes, "groups": read_groups(groups, table.n_rows)}
    return Rows.from_table(table, target, weights, keeps_order=keeps_order, **settings)


def _read_in_parts(
    X: Any,
    y: Any,
    sample_weight: Any,
    groups: Any,
    *,
    of_classes: bool,
    n_jobs: int,
    **settings: Any,
) -> Rows:
    """Return the rows of files or of Dask, which stay where they are."""
    if is_dask(X):
        table, partitions, y = read_partitions(X, y)
        source: ChunkSource[Chunk] = partition_chunks(table, partitions)
    else:
        table, source = X, table_chunks(X, X.parts)
        source = on_workers(source) if X.on_cluster else source
    _check_size(table.n_rows)
    named = hasattr(X, "columns")  # as all but arrays of Dask have
    table = replace(table, named=named)
    names = names_beside(y, sample_weight, groups)
    weights = _weights_of_parts(table, source, sample_weight, n_jobs)
    codes = _groups_of_parts(table, source, groups, n_jobs)
    if names:
        table = table.without(*names)
        source = source.split(partial(without_columns, names), keep=False)
    features, column = split_column(replace(table, named=True), y)
    target, classes = None, None
    if isinstance(y, str):
        source, classes = target_in_parts(
            source, y, weights, table.parts, of_classes=of_classes, n_jobs=n_jobs
        )
    else:
        target, classes = read_target(column, table.n_rows, weights, of_classes=of_classes)
    text = not is_dask(X) or all(isinstance(name, str) for name in getattr(X, "columns", ()))
    features = replace(features, named=named, has_text_names=text)
    return Rows(
        features,
        source,
        table.parts,
        target,
        weights,
        classes=classes,
        n_jobs=n_jobs,
        groups=codes,
        **settings,
    )


def _weights_of_parts(
    table: Table, source: ChunkSource[Chunk], sample_weight: Any, n_jobs: int
) -> FloatArray | None:
    """Return the weights of rows in files or in Dask, whose column is read part by part."""
    if not isinstance(sample_weight, str):
        return read_weights(sample_weight, table.n_rows)
    column_beside(table, "sample_weight", sample_weight)
    parts = read_beside(source, sample_weight, finite_numbers, n_jobs)
    return check_weights(np.concatenate(parts), sample_weight)


def _groups_of_parts(
    table: Table, source: ChunkSource[Chunk], groups: Any, n_jobs: int
) -> IntArray | None:
    """Return a code of the group of each row in files or in Dask, likewise."""
    if not isinstance(groups, str):
        return read_groups(groups, table.n_rows)
    column_beside(table, "groups", groups)
    return join_parts(groups, read_beside(source, groups, group_part, n_jobs))


def _check_size(n_rows: int) -> None:
    if n_rows < 2:
        raise InvalidTable(
            f"The table has {n_rows} sample(s) (n_samples={n_rows}) while a minimum of 2 is "
            "required; add rows."
        )
