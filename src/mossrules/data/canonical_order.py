"""An order of rows that depends on nothing but what they hold: keys, a sort, and a shuffle.

A forest draws its bootstrap by row number. Rows are therefore numbered by what they hold: sorted by
target and, where that ties, by one column after the other (or the other way round, as
`content_order.py` has it), then shuffled by a seed that is made of ranks. The same rows in any
order or unit, and integer weights in place of repeated rows, then give the same model, bit by bit.
`Rows` says which keys there are; nothing here reads a table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2b

import numpy as np

from mossrules._typing import AnyArray, BitArray, BoolArray, FloatArray, IntArray
from mossrules.data.columns import NUMBERS, Kind

__all__ = [
    "GOLDEN",
    "Key",
    "are_repetitions",
    "canonicalise_rows",
    "column_key",
    "has_canonical_order",
    "mix",
    "shuffle_runs",
    "sort_rows",
]

# Weights above this stay weights: a table that is made longer costs time in every pass, and only
# small whole weights are likely to mean repeated rows.
MOST_REPEATS = 10  # whole weights are repetitions as long as they make the table no longer than so
# The sort needs the target of all rows at once, eight bytes each, where everything else is read in
# chunks. This is 128 MB; beyond it the order given is kept, and so is the promise on memory.
MOST_SORTED = 1 << 24  # rows that are sorted; more are taken as they are given
SAMPLE_ROWS = 1000  # whose ranks decide how the rows are shuffled

GOLDEN = np.uint64(0x9E3779B97F4A7C15)

Key = Callable[[IntArray], FloatArray]  # from some rows to numbers by which to sort them


def has_canonical_order(n_rows: int) -> bool:
    """Tell whether this many rows are sorted: it takes the target of all of them in one place."""
    return n_rows <= MOST_SORTED


def are_repetitions(weights: FloatArray) -> bool:
    """Tell whether weights are whole numbers, small enough to repeat rows instead."""
    whole = bool((weights == np.round(weights)).all())
    # Rows of weight zero are not there, and so must not decide what the others are.
    return whole and float(weights.sum()) <= MOST_REPEATS * int(np.count_nonzero(weights))


def canonicalise_rows(
    rows: IntArray,
    keys: Sequence[Key],
    groups: IntArray | None = None,
    times: IntArray | None = None,
) -> IntArray:
    """Return rows in an order that depends only on their keys, of which the first counts most.

    Sorting alone would not do: neighbours would have similar targets, and in folds or blocks of
    rows the target would be a matter of position. Hence the shuffle. Rows that agree in all keys
    are interchangeable, and stay together.
    """
    rows, begins = sort_rows(rows, keys)
    return shuffle_runs(rows, begins, keys, groups, times)


def shuffle_runs(
    rows: IntArray,
    begins: BoolArray,
    keys: Sequence[Key],
    groups: IntArray | None = None,
    times: IntArray | None = None,
) -> IntArray:
    """Return sorted rows shuffled by a seed that is made of their ranks in all keys.

    Rows that are alike stand by what else their group holds, each row `times`, and those of one
    group together, if there are `groups`.
    """
    # The seed is a hash of ranks, so another table has another order: rows of the same rank share
    # their bootstrap, and parts of one table would get forests more alike than two samples get.
    runs = np.cumsum(begins).astype(np.uint64)
    shuffled = mix((runs + _seed_of(rows[begins], keys)) * GOLDEN)
    if groups is None:
        return rows[np.argsort(shuffled, kind="stable")]
    # Whose label comes first says nothing; what else a group holds does.
    of_rows = groups[rows]
    prints = _group_prints(of_rows, shuffled, None if times is None else times[rows])
    return rows[np.lexsort((of_rows, prints[of_rows], shuffled))]


def _group_prints(groups: IntArray, runs: BitArray, times: IntArray | None) -> BitArray:
    """Return a number for each group, the same for those with the same rows in any order."""
    prints = np.zeros(int(groups.max()) + 1, np.uint64)
    each = mix(runs + GOLDEN)
    # A sum of hashes, modulo 2^64: groups that differ share one about never.
    np.add.at(prints, groups, each if times is None else each * times.astype(np.uint64))
    return prints


def column_key(kind: Kind, values: AnyArray) -> FloatArray:
    """Return numbers by which to sort the values of a column; missing ones come last, as one."""
    if kind in NUMBERS:
        return np.where(np.isnan(values), np.inf, values)
    # Ranks within this column: labels of any type get numbers, by type first, as 1 and "1" differ.
    labels = sorted(set(values.tolist()), key=lambda label: (type(label).__name__, str(label)))
    rank = {label: number for number, label in enumerate(labels)}
    return np.array([rank[label] for label in values.tolist()], dtype=np.float64)


def mix(state: BitArray) -> BitArray:
    """Return the SplitMix64 output for states (Steele, Lea and Flood, 2014).

    It is one to one, so different states are never mixed up. Kernels compile this same function.
    """
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


def sort_rows(
    rows: IntArray, keys: Sequence[Key], begins: BoolArray | None = None
) -> tuple[IntArray, BoolArray]:
    """Return rows sorted by the keys, the first one first, and where each run of equals begins.

    Rows that are sorted by other keys already are sorted within their runs, which begin there.

    Only rows that are still tied are asked for the next key, and most targets leave few: sorting by
    all columns of a large table would take longer than growing the forest.
    """
    rows = rows.copy()
    begins = np.zeros(len(rows), dtype=bool) if begins is None else begins.copy()
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


def _seed_of(rows: IntArray, keys: Sequence[Key]) -> np.uint64:
    """Return a hash of the ranks that some of the rows have in each key.

    Ranks, not values: another unit of a column or of the target changes nothing.
    """
    positions = np.linspace(0, len(rows) - 1, min(SAMPLE_ROWS, len(rows)))
    sample = rows[positions.astype(np.int64)]
    # The number of distinct rows first: tables whose samples rank alike but which differ in length
    # must not share an order.
    digest = blake2b(str(len(rows)).encode(), digest_size=8)
    for key in keys:
        digest.update(np.unique(key(sample), return_inverse=True)[1].astype("<u4").tobytes())
    return np.uint64(int.from_bytes(digest.digest(), "little"))
