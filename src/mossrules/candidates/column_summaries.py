"""What one pass over the rows learns of each column, to bin it: sampled numbers, counts of levels.

The sample is the same however rows are cut into chunks, and so is all that is made of it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mossrules._typing import AnyArray, FloatArray, IntArray
from mossrules.candidates.kernels.draws import ROW_SAMPLE, hash_rows, stream_key
from mossrules.data.columns import NUMBERS, Label
from mossrules.exceptions import InvalidColumn

if TYPE_CHECKING:
    from mossrules.data.row_chunks import Chunk

__all__ = ["TableFound", "ValuesFound", "check_finite", "summarise"]


@dataclass
class ValuesFound:
    """Sampled numbers with the exact range, or exact counts (sums of weights) of levels."""

    n_missing: int
    n_present: int
    numbers: FloatArray | None = None  # at the sampled rows; None for labels
    low: float = np.inf
    high: float = -np.inf
    counts: Counter[Label] = field(default_factory=Counter)
    given: Counter[Label] | None = None  # rows given with each level; None where `counts` has them

    @property
    def n_rows(self) -> Counter[Label]:
        """How many of the rows given have each level, whatever their weights."""
        return self.counts if self.given is None else self.given

    def combine(self, other: ValuesFound, keep: IntArray | slice) -> ValuesFound:
        """Return what two parts of the rows say, with the sampled rows that `keep` names."""
        numbers = None
        if self.numbers is not None and other.numbers is not None:
            numbers = np.concatenate([self.numbers, other.numbers])[keep]
        return ValuesFound(
            self.n_missing + other.n_missing,
            self.n_present + other.n_present,
            numbers,
            min(self.low, other.low),
            max(self.high, other.high),
            self.counts + other.counts,
            None if self.given is other.given is None else self.n_rows + other.n_rows,
        )


@dataclass
class TableFound:
    """Summaries of all columns over some rows, with one row sample for all of them.

    The sample is the rows with the smallest hashes, a set that does not depend on the chunking.
    """

    hashes: AnyArray
    weights: IntArray | None  # at the sampled rows; None when all rows count alike
    columns: list[ValuesFound]

    @staticmethod
    def combine(a: TableFound, b: TableFound, limit: int) -> TableFound:
        """Return what two parts of the rows say, with `limit` sampled rows."""
        hashes = np.concatenate([a.hashes, b.hashes])
        keep = _smallest(hashes, limit)
        weights = None
        if a.weights is not None and b.weights is not None:
            weights = np.concatenate([a.weights, b.weights])[keep]
        return TableFound(
            hashes[keep],
            weights,
            [left.combine(right, keep) for left, right in zip(a.columns, b.columns, strict=True)],
        )


def summarise(limit: int, chunk: Chunk) -> TableFound:
    """Return what some rows say of each column, with at most `limit` of them sampled."""
    # A hash of its number decides whether a row is in the sample, so the sample is the same however
    # rows are cut into chunks; a generator of random numbers would go by the order of the work.
    hashes = np.empty(len(chunk), dtype=np.uint64)
    key = stream_key(np.uint64(0), ROW_SAMPLE, 0)
    hash_rows(key, chunk.start, chunk.row_ids, hashes)
    used: IntArray | slice = slice(None)
    row_weights = None
    if chunk.weights is not None:
        used = np.flatnonzero(chunk.weights)
        row_weights = chunk.weights[used]
    hashes = hashes[used]
    keep = _smallest(hashes, limit)
    picked = chunk.picked
    columns = []
    for column in chunk.table.columns:
        values = chunk.read(column)[used]
        if column.kind in NUMBERS:
            columns.append(_summarise_numbers(column.name, values, keep))
        else:
            found = _summarise_labels(values, row_weights)
            # A row that counts three times is the same row, and no more than one.
            if row_weights is not None or chunk.picked is not None:
                found.given = _count_rows(values, None if picked is None else picked[used])
            columns.append(found)
    return TableFound(hashes[keep], None if row_weights is None else row_weights[keep], columns)


def _smallest(hashes: AnyArray, limit: int) -> IntArray | slice:
    """Return where the `limit` smallest hashes are, in no particular order."""
    return np.argpartition(hashes, limit)[:limit] if len(hashes) > limit else slice(None)


def _summarise_numbers(name: str, numbers: FloatArray, keep: IntArray | slice) -> ValuesFound:
    low = float(np.fmin.reduce(numbers, initial=np.inf))  # fmin and fmax pass over NaN
    high = float(np.fmax.reduce(numbers, initial=-np.inf))
    check_finite(name, numbers)
    n_missing = int(np.count_nonzero(np.isnan(numbers)))
    return ValuesFound(n_missing, len(numbers) - n_missing, numbers[keep], low, high)


def _summarise_labels(labels: AnyArray, weights: IntArray | None) -> ValuesFound:
    counts: Counter[Any] = Counter()
    if weights is None:
        counts.update(labels.tolist())
    else:
        for label, weight in zip(labels, weights.tolist(), strict=True):
            counts[label] += weight
    n_missing = counts.pop(None, 0)
    return ValuesFound(n_missing, counts.total(), counts=counts)


def _count_rows(labels: AnyArray, picked: IntArray | None) -> Counter[Label]:
    """Return how many rows have each label, of rows of which some are repeated."""
    once = labels if picked is None else labels[np.unique(picked, return_index=True)[1]]
    counts: Counter[Any] = Counter(once.tolist())
    counts.pop(None, None)
    return counts


def check_finite(name: str, values: FloatArray) -> None:
    """Refuse infinities, naming the column."""
    n_infinite = int(np.count_nonzero(np.isinf(values)))
    if n_infinite:
        raise InvalidColumn(
            f"Column {name!r} has {n_infinite} infinite values (inf); "
            "replace them by a finite number, or by NaN for missing."
        )
