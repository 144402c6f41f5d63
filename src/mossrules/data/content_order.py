"""An order of rows and of columns by what they hold, the same for a target turned around.

Rows are sorted by their columns, and by the target only where all columns agree. The target is
known by its rank, counted from the middle, and turned to one side that it has with either sign:
`y`, `-y` and `a y + b` then give one order, and so do two classes whose labels are swapped. Columns
are in the order of their names. The names of an array's columns are made up, and these are put in
an order by what they hold. Ranks and exact sums are all that is used, so units do not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Literal, get_args

import numpy as np

from mossrules._typing import AnyArray, BitArray, FloatArray, IntArray
from mossrules.data.canonical_order import GOLDEN, Key, mix, shuffle_runs, sort_rows

__all__ = [
    "CONTENT",
    "NUMBERINGS",
    "TARGET",
    "Numbering",
    "centred_ranks",
    "order_by_content",
    "order_columns",
]

# How rows are numbered: by target first, as the first release did, or by content.
Numbering = Literal["content", "target"]
CONTENT: Final = "content"
TARGET: Final = "target"
NUMBERINGS = get_args(Numbering)

ReadKey = Callable[[int], FloatArray]  # from the position of a column to numbers to sort it by


def centred_ranks(target: FloatArray, used: IntArray) -> IntArray:
    """Return the ranks of the distinct values of the rows used, counted from the middle.

    They are those of `-target` with the other sign; 0 for rows that are not used.
    """
    ranks = np.zeros(len(target), dtype=np.int64)
    distinct, found = np.unique(target[used], return_inverse=True)
    ranks[used] = 2 * found - (len(distinct) - 1)
    return ranks


def order_by_content(
    rows: IntArray,
    columns: Sequence[Key],
    ranks: IntArray,
    times: IntArray | None,
    weights: FloatArray | None,
    *,
    groups: IntArray | None = None,
) -> IntArray:
    """Return rows in an order by columns, then by the target's ranks, turned, then by weight.

    `ranks` are those of `centred_ranks`, `times` how often each row counts, and `groups` those in
    which rows are.
    """
    rows, begins = sort_rows(rows, columns)
    alike = np.cumsum(begins).astype(np.uint64)
    turned = _side(alike, ranks[rows], None if times is None else times[rows]) * ranks
    keys: list[Key] = [lambda some: turned[some].astype(np.float64)]
    if weights is not None:
        keys.append(weights.take)  # rows may be alike in all else
    rows, begins = sort_rows(rows, keys, begins)
    return shuffle_runs(rows, begins, [*columns, *keys], groups, times)


def _side(alike: BitArray, ranks: IntArray, times: IntArray | None) -> int:
    """Return the sign by which ranks are multiplied: -1 of one target is 1 of its negative.

    Each row has a whole number of its own, made of what is the same on both sides, and the sum of
    these with the signs of the ranks decides. It is 0 where turning the target around changes
    nothing at all, and then either sign gives the same order.
    """
    state = (alike << np.uint64(32)) + np.abs(ranks).astype(np.uint64)
    # 31 bits each: sums over 2^24 rows, ten times repeated, fit in 64 bits.
    parts = (mix(state * GOLDEN) >> np.uint64(33)).astype(np.int64) * np.sign(ranks)
    total = int(parts.sum() if times is None else parts @ times)
    return -1 if total < 0 else 1


# --- columns without names ------------------------------------------------------------------------


def order_columns(
    n_columns: int, read: ReadKey, ranks: IntArray, times: IntArray | None
) -> IntArray:
    """Return the positions of columns in an order by what they hold, of as many rows as `ranks`.

    Columns are told apart by how their ranks go with those of the target and, where that is not
    enough, with all other columns as well. What still ties holds the same, in its place.
    """
    counts = np.ones(len(ranks), np.uint64) if times is None else times.astype(np.uint64)
    # Both sides of the target, each with a number for each row: to turn it around swaps them.
    sides = [_hashed(side * ranks.astype(np.int64)) for side in (1, -1)]
    prints = _prints(n_columns, read, sides, counts)
    told_apart = 0
    while told_apart < len(set(prints[0])) < n_columns:
        told_apart = len(set(prints[0]))
        # With a look at the other columns: each row's number is now made of all of them.
        for i in range(n_columns):
            found = _ranks_of(read(i))
            for side, own in zip(sides, prints, strict=True):
                side += _hashed(found + np.uint64(own[i]))  # noqa: PLW2901  in place
        prints = _prints(n_columns, read, sides, counts)
    chosen = min(prints, key=sorted)
    return np.array(sorted(range(n_columns), key=chosen.__getitem__), dtype=np.int64)


def _ranks_of(values: FloatArray) -> BitArray:
    return np.unique(values, return_inverse=True)[1].astype(np.uint64)


def _hashed(numbers: AnyArray) -> BitArray:
    return mix((numbers.astype(np.uint64) + np.uint64(1)) * GOLDEN)


def _prints(
    n_columns: int, read: ReadKey, sides: Sequence[BitArray], counts: BitArray
) -> list[list[int]]:
    """Return the fingerprint of each column beside each side: a sum over rows, in any order."""
    prints: list[list[int]] = [[] for _ in sides]
    for i in range(n_columns):
        own = _hashed(_ranks_of(read(i)))
        for side, found in zip(sides, prints, strict=True):
            found.append(int((counts * mix(own + side)).sum()))
    return prints
