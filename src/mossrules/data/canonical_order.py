"""Training rows in an order of their own, so that a fit does not depend on the order given.

A forest draws its bootstrap by row number. Rows are therefore numbered by what they hold: sorted by
target and, where that ties, by one column after the other, then shuffled by a seed that is made of
ranks. A row of whole weight w counts as w rows. The same rows in any order or unit, and integer
weights in place of repeated rows, then give the same model, bit by bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b

import numpy as np

from mossrules._typing import AnyArray, BitArray, BoolArray, FloatArray, IntArray
from mossrules.data.columns import NUMBERS, Column, Kind
from mossrules.data.table import Table

__all__ = [
    "Key",
    "Rows",
    "are_repetitions",
    "column_key",
    "has_own_order",
    "mean_target",
    "settle_rows",
    "shuffle_runs",
    "sort_rows",
    "take_rows",
]

MOST_REPEATS = 10  # whole weights are repetitions as long as they make the table no longer than so
MOST_SORTED = 1 << 24  # rows that get an order of their own; more are taken as they are given
SAMPLE_ROWS = 1000  # whose ranks decide how the rows are shuffled

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX = ((30, np.uint64(0xBF58476D1CE4E5B9)), (27, np.uint64(0x94D049BB133111EB)))

Key = Callable[[IntArray], FloatArray]  # from some rows to numbers by which to sort them


@dataclass(frozen=True)
class Rows:
    """Rows to learn from; `weights` is None when all count alike."""

    table: Table
    target: FloatArray
    weights: FloatArray | None
    origin: IntArray  # which of the rows given each of these is
    given: FloatArray  # the target of all rows given, in their order

    @property
    def is_constant(self) -> bool:
        """Whether the target is the same on all rows."""
        return bool(self.target.min() == self.target.max())

    @property
    def mean(self) -> float:
        """Mean target."""
        return mean_target(self.target, self.weights)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The features."""
        return self.table.columns

    @property
    def named(self) -> bool:
        """Whether the columns have names of their own."""
        return self.table.named

    def part(self, positions: IntArray) -> Rows:
        """Return some of the rows, as if they alone had been given."""
        weights = None if self.weights is None else self.weights[positions]
        return settle_rows(take_rows(self.table, positions), self.target[positions], weights)


def mean_target(target: FloatArray, weights: FloatArray | None) -> float:
    """Return the mean of a target over rows that are in an order of their own."""
    if target.min() == target.max():
        return float(target[0])  # an average may be off by a rounding
    return float(np.average(target, weights=weights))


def settle_rows(table: Table, target: FloatArray, weights: FloatArray | None) -> Rows:
    """Return the rows that count, in an order that depends on nothing but what they hold."""
    used = np.arange(table.n_rows) if weights is None else np.flatnonzero(weights)
    values = [column.read(0, table.n_rows) for column in table.columns]
    keys: list[Key] = [target.take]
    keys += [
        partial(_column_key, column.kind, read)
        for column, read in zip(table.columns, values, strict=True)
    ]
    repeated = weights is not None and are_repetitions(weights)
    if weights is not None and not repeated:
        keys.append(weights.take)  # rows may be alike in all else
    order = used
    if has_own_order(len(used)):
        order = shuffle_runs(*sort_rows(used, keys), keys)
    if weights is not None and repeated:
        order, weights = np.repeat(order, weights[order].astype(np.int64)), None
    return Rows(
        _take(table, values, order),
        target[order],
        None if weights is None else weights[order],
        origin=order,
        given=target,
    )


def has_own_order(n_rows: int) -> bool:
    """Tell whether so many rows are put in an order of their own, which takes a sort of all."""
    return n_rows <= MOST_SORTED


def take_rows(table: Table, positions: IntArray) -> Table:
    """Return some rows of a table, in the order of their positions."""
    return _take(table, [column.read(0, table.n_rows) for column in table.columns], positions)


def are_repetitions(weights: FloatArray) -> bool:
    """Tell whether weights are whole numbers, small enough to repeat rows instead."""
    whole = bool((weights == np.round(weights)).all())
    return whole and float(weights.sum()) <= MOST_REPEATS * len(weights)


def sort_rows(rows: IntArray, keys: Sequence[Key]) -> tuple[IntArray, BoolArray]:
    """Return rows sorted by the keys, the first one first, and where each run of equals begins.

    Only rows that are still tied are asked for the next key, and most targets leave few: sorting by
    all columns of a large table would take longer than growing the forest.
    """
    rows = rows.copy()
    begins = np.zeros(len(rows), dtype=bool)
    begins[0] = True
    for key in keys:
        tied = np.flatnonzero(~(begins & np.append(begins[1:], True)))
        if len(tied) == 0:
            break
        among, runs = key(rows[tied]), np.cumsum(begins[tied])
        order = np.argsort(among)
        if runs[-1] > 1:  # quicker than lexsort, and quicker still where small integers will do
            runs = runs.astype(np.min_scalar_type(runs[-1]))
            order = order[np.argsort(runs[order], kind="stable")]
        rows[tied], among = rows[tied][order], among[order]
        begins[tied[1:]] |= among[1:] != among[:-1]
    return rows, begins


def shuffle_runs(rows: IntArray, begins: BoolArray, keys: Sequence[Key]) -> IntArray:
    """Return the rows with runs of equals in random order, the same whatever their lengths.

    Another table has another order, for rows of the same rank share their bootstrap: parts of a
    table would be given more alike forests than parts of the world are.
    """
    runs = np.cumsum(begins).astype(np.uint64)
    return rows[np.argsort(mix(runs + seed_of(rows[begins], keys)), kind="stable")]


def seed_of(rows: IntArray, keys: Sequence[Key]) -> np.uint64:
    """Return a hash of the ranks that some of the rows have in each key."""
    places = np.linspace(0, len(rows) - 1, min(SAMPLE_ROWS, len(rows)))
    sample = rows[places.astype(np.int64)]
    digest = blake2b(str(len(rows)).encode(), digest_size=8)
    for key in keys:
        digest.update(np.unique(key(sample), return_inverse=True)[1].astype("<u4").tobytes())
    return np.uint64(int.from_bytes(digest.digest(), "little"))


def mix(numbers: BitArray) -> BitArray:
    """Return the SplitMix64 numbers at some places of their sequence, all different."""
    state = numbers * GOLDEN
    for shift, factor in MIX:
        state = (state ^ (state >> np.uint64(shift))) * factor
    return state ^ (state >> np.uint64(31))


def _column_key(kind: Kind, values: AnyArray, rows: IntArray) -> FloatArray:
    return column_key(kind, values[rows])


def column_key(kind: Kind, read: AnyArray) -> FloatArray:
    """Return numbers by which to sort the values of a column; missing ones come last, as one."""
    if kind in NUMBERS:
        return np.where(np.isnan(read), np.inf, read)
    known = sorted(set(read.tolist()), key=lambda label: (type(label).__name__, str(label)))
    rank = {label: number for number, label in enumerate(known)}
    return np.array([rank[label] for label in read.tolist()], dtype=np.float64)


def _take(table: Table, values: Sequence[AnyArray], positions: IntArray) -> Table:
    columns = tuple(
        Column(column.name, column.kind, partial(_read_rows, read, positions), column.levels)
        for column, read in zip(table.columns, values, strict=True)
    )
    return Table(columns, len(positions), table.named)


def _read_rows(values: AnyArray, order: IntArray, start: int, stop: int) -> AnyArray:
    return values[order[start:stop]]
