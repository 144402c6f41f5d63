"""Training rows in an order of their own, so that a fit does not depend on the order given.

A forest draws its bootstrap by row number. Rows are therefore numbered by what they hold: sorted
by a hash of the ranks of their values and target, and a row of whole weight w counts as w rows.
The same rows in any order or unit, and integer weights in place of repeated rows, then give the
same model, bit by bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from hashlib import blake2b

import numpy as np

from mossrules._typing import AnyArray, BitArray, FloatArray, IntArray
from mossrules.chunks import fold
from mossrules.columns import NUMBERS, Column, Label
from mossrules.table import Table

__all__ = ["Rows", "settle_rows"]

MOST_REPEATS = 10  # whole weights are repetitions as long as they make the table no longer than so

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX = ((30, np.uint64(0xBF58476D1CE4E5B9)), (27, np.uint64(0x94D049BB133111EB)))


@dataclass(frozen=True)
class Rows:
    """Rows to learn from; `weights` is None when all count alike."""

    table: Table
    target: FloatArray
    weights: FloatArray | None

    @property
    def is_constant(self) -> bool:
        """Whether the target is the same on all rows."""
        return bool(self.target.min() == self.target.max())

    @property
    def mean(self) -> float:
        """Mean target."""
        if self.is_constant:
            return float(self.target[0])  # an average may be off by a rounding
        return float(np.average(self.target, weights=self.weights))


def settle_rows(
    table: Table, target: FloatArray, weights: FloatArray | None, *, n_jobs: int = 1
) -> Rows:
    """Return the rows that count, in an order that depends on nothing but what they hold."""
    used = np.arange(table.n_rows) if weights is None else np.flatnonzero(weights)
    values = [column.read(0, table.n_rows) for column in table.columns]

    def key(position: int) -> BitArray:
        if position == len(values):
            return mix(ranks(target[used]), position)
        read = values[position][used]
        is_number = table.columns[position].kind in NUMBERS
        return mix(ranks(read) if is_number else hashes(read), position)

    keys = fold(key, range(len(values) + 1), np.add, n_jobs=n_jobs)
    order = used[np.argsort(keys, kind="stable")]
    if weights is not None and are_repetitions(weights):
        order, weights = np.repeat(order, weights[order].astype(np.int64)), None
    columns = tuple(
        Column(column.name, column.kind, partial(_read_rows, read, order), column.levels)
        for column, read in zip(table.columns, values, strict=True)
    )
    return Rows(
        Table(columns, len(order), table.named),
        target[order],
        None if weights is None else weights[order],
    )


def are_repetitions(weights: FloatArray) -> bool:
    """Tell whether weights are whole numbers, small enough to repeat rows instead."""
    whole = bool((weights == np.round(weights)).all())
    return whole and float(weights.sum()) <= MOST_REPEATS * len(weights)


def ranks(numbers: FloatArray) -> BitArray:
    """Return the rank of each number among the distinct ones, which no change of unit moves."""
    return np.unique(numbers, return_inverse=True)[1].astype(np.uint64)


def hashes(labels: AnyArray) -> BitArray:
    """Return a number for each label; not `hash`, which differs from one run to the next."""
    known: dict[Label | None, int] = {}
    for label in set(labels.tolist()):
        text = f"{type(label).__name__}:{label}".encode(errors="surrogatepass")
        known[label] = int.from_bytes(blake2b(text, digest_size=8).digest())
    return np.array([known[label] for label in labels.tolist()], dtype=np.uint64)


def mix(words: BitArray, position: int) -> BitArray:
    """Return SplitMix64's numbers for the values of the column at a position, to be added up."""
    state = words + GOLDEN * np.array(position + 1, dtype=np.uint64)
    for _ in range(2):  # twice, so that positions and ranks, both small, cannot meet
        for shift, factor in MIX:
            state = (state ^ (state >> np.uint64(shift))) * factor
        state = (state ^ (state >> np.uint64(31))) + GOLDEN
    return state


def _read_rows(values: AnyArray, order: IntArray, start: int, stop: int) -> AnyArray:
    return values[order[start:stop]]
