"""Random draws as pure functions of (key, counter): nothing depends on the order of the work.

The generator is SplitMix64 read at an arbitrary position: number `i` of the stream `key` is
`mix(key + i * GOLDEN)`. One 64-bit number serves four trees, with 16 bits each.
"""

import math

import numpy as np

from mossrules._compiled import njit
from mossrules._typing import AnyArray, BitArray, BoolArray, IntArray
from mossrules.data import canonical_order
from mossrules.data.canonical_order import GOLDEN

# One 64-bit hash has four 16-bit uniforms in it, which are enough for Poisson draws; a hash for
# each tree would be work for bits that nobody needs.
TREES_PER_DRAW = 4

# What a stream is for: part of its key, so that no two uses share numbers.
BOOTSTRAP, FEATURES, ROW_SAMPLE = np.int64(1), np.int64(2), np.int64(3)

# Poisson(1) by inversion of a 16-bit uniform: the draw is the number of thresholds at or below it.
# Rounding the distribution function to 16 bits moves each probability by less than 2^-16 and caps
# the draw at 8, which a true Poisson(1) exceeds about once in a million draws.
POISSON_THRESHOLDS = np.round(
    65536 * np.cumsum([math.exp(-1.0) / math.factorial(count) for count in range(8)])
).astype(np.uint16)
_P0, _P1, _P2, _P3, _P4, _P5, _P6, _P7 = POISSON_THRESHOLDS

mix = njit(inline="always")(canonical_order.mix)  # SplitMix64, written once for arrays and kernels


@njit(cache=True)
def stream_key(seed: np.uint64, purpose: int, index: int) -> np.uint64:
    """Return the key of stream `index` of one `purpose` under `seed`."""
    key = mix(mix(seed + GOLDEN) + np.uint64(purpose) * GOLDEN)
    return np.uint64(mix(key + np.uint64(index) * GOLDEN))


@njit(nogil=True, cache=True)
def hash_rows(key: np.uint64, start: int, row_ids: AnyArray, hashes: BitArray) -> None:
    """Fill `hashes` with one 64-bit number for each row number `start + row_ids[i]`, in place."""
    for i in range(hashes.shape[0]):
        hashes[i] = mix(key + np.uint64(start + np.int64(row_ids[i])) * GOLDEN)


@njit(nogil=True, cache=True)
def draw_uniforms(key: np.uint64, start: int, row_ids: AnyArray, uniforms: AnyArray) -> None:
    """Fill `uniforms` (4 trees, rows) with 16-bit numbers for rows start + row_ids, in place."""
    for i in range(uniforms.shape[1]):
        word = mix(key + np.uint64(start + np.int64(row_ids[i])) * GOLDEN)
        uniforms[0, i] = np.uint16(word)
        uniforms[1, i] = np.uint16(word >> np.uint64(16))
        uniforms[2, i] = np.uint16(word >> np.uint64(32))
        uniforms[3, i] = np.uint16(word >> np.uint64(48))


@njit(inline="always")
def poisson(uniform: np.uint16) -> np.uint8:
    """Return the Poisson(1) quantile of a 16-bit uniform (branch-free, so that it vectorises)."""
    return np.uint8(
        np.uint8(uniform >= _P0)
        + np.uint8(uniform >= _P1)
        + np.uint8(uniform >= _P2)
        + np.uint8(uniform >= _P3)
        + np.uint8(uniform >= _P4)
        + np.uint8(uniform >= _P5)
        + np.uint8(uniform >= _P6)
        + np.uint8(uniform >= _P7)
    )


@njit(cache=True)
def draw_features(
    seed: np.uint64,
    first_tree: int,
    first_node: int,
    active: BoolArray,
    n_columns: int,
    start: int,
    features: IntArray,
) -> None:
    """Fill `features` (trees, nodes, m) with ranks start..start+m-1 of each node's permutation.

    The permutation of the columns is keyed by (seed, tree, node), so later ranks continue an
    earlier draw. Inactive nodes, and ranks past the last column, get -1. In place.
    """
    n_trees, n_nodes, m = features.shape
    stop = min(start + m, n_columns)
    order = np.empty(n_columns, np.int64)
    for tree in range(n_trees):
        for node in range(n_nodes):
            features[tree, node, :] = -1
            if not active[tree, node]:
                continue
            # 64 node numbers per tree hold a tree of depth 6.
            key = stream_key(seed, FEATURES, (first_tree + tree) * 64 + first_node + node)
            for column in range(n_columns):
                order[column] = column
            for rank in range(stop):  # Fisher-Yates, as far as it is asked for
                word = mix(key + np.uint64(rank) * GOLDEN)
                pick = rank + np.int64(word % np.uint64(n_columns - rank))
                order[rank], order[pick] = order[pick], order[rank]
            for rank in range(start, stop):
                features[tree, node, rank - start] = order[rank]
