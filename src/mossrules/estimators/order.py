"""Training rows in an order of their own, so that a fit does not depend on the order given.

A forest draws its bootstrap by row number. Rows are therefore numbered by what they hold: sorted
by a hash of their values and target, and a row of whole weight w counts as w rows. The same rows
in any order, and integer weights in place of repeated rows, then give the same model, bit by bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from hashlib import blake2b

import numpy as np

from mossrules._typing import AnyArray, BitArray, FloatArray, IntArray
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


def settle_rows(table: Table, target: FloatArray, weights: FloatArray | None) -> Rows:
    """Return the rows that count, in an order that depends on nothing but what they hold."""
    values = [column.read(0, table.n_rows) for column in table.columns]
    keys = hash_numbers(np.zeros(table.n_rows, dtype=np.uint64), target)
    for column, read in zip(table.columns, values, strict=True):
        keys = hash_numbers(keys, read) if column.kind in NUMBERS else hash_labels(keys, read)
    order = np.argsort(keys, kind="stable")
    if weights is not None:
        order = order[weights[order] > 0]
        if are_repetitions(weights):
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


def hash_numbers(keys: BitArray, numbers: FloatArray) -> BitArray:
    """Return the keys mixed with one number per row; all NaN are alike, as are 0.0 and -0.0."""
    numbers = np.where(np.isnan(numbers), np.nan, numbers + 0.0)
    return mix(keys, numbers.view(np.uint64))


def hash_labels(keys: BitArray, labels: AnyArray) -> BitArray:
    """Return the keys mixed with one label per row."""
    known: dict[Label | None, int] = {label: _hash_label(label) for label in set(labels.tolist())}
    return mix(keys, np.array([known[label] for label in labels.tolist()], dtype=np.uint64))


def mix(keys: BitArray, words: BitArray) -> BitArray:
    """Return SplitMix64's numbers after `keys` have taken in `words`."""
    state = (keys ^ words) + GOLDEN
    for shift, factor in MIX:
        state = (state ^ (state >> np.uint64(shift))) * factor
    mixed: BitArray = state ^ (state >> np.uint64(31))
    return mixed


def _hash_label(label: Label | None) -> int:
    # Not `hash`, which differs from one run of Python to the next.
    text = f"{type(label).__name__}:{label}".encode(errors="surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=8).digest())


def _read_rows(values: AnyArray, order: IntArray, start: int, stop: int) -> AnyArray:
    return values[order[start:stop]]
