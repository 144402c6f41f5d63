"""From numbers to bin codes, and from codes to sets of rows.

Sets of rows are packed bits: 64 rows per word, row `r` of a chunk at bit `r % 64` of its word.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from mossrules._compiled import njit
from mossrules._typing import AnyArray, BitArray, BoolArray, CodeArray, FloatArray, IntArray

BLOCK_WORDS = 512  # words of each set handled together: with a thousand sets, half of a cache


@intrinsic
def _popcount(_typing_context, _word):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Count the set bits of a word by the machine's own instruction."""

    def generate(_context, builder: ir.IRBuilder, _signature, arguments):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@njit(nogil=True, cache=True)
def pack_conditions(
    codes: CodeArray, feature: IntArray, accepts: BoolArray, bits: BitArray
) -> None:
    """Set bit r of `bits[c]` to `accepts[c, codes[feature[c], r]]`, in place; spare bits are 0."""
    n_rows = codes.shape[1]
    for condition in range(feature.shape[0]):
        column = codes[feature[condition]]
        table = accepts[condition].astype(np.uint64)
        for word in range(bits.shape[1]):
            start = word * 64
            packed = np.uint64(0)
            for r in range(min(64, n_rows - start)):
                packed |= table[column[start + r]] << np.uint64(r)
            bits[condition, word] = packed


@njit(nogil=True, cache=True)
def pack_planes(values: IntArray, bits: BitArray) -> None:
    """Set bit r of `bits[b]` to binary digit b of `values[r]`, in place."""
    n_rows = values.shape[0]
    bits[:] = 0
    for plane in range(bits.shape[0]):
        for word in range(bits.shape[1]):
            start = word * 64
            packed = np.uint64(0)
            for r in range(min(64, n_rows - start)):
                packed |= np.uint64((values[start + r] >> plane) & 1) << np.uint64(r)
            bits[plane, word] = packed


@njit(nogil=True, cache=True)
def intersect_conditions(
    condition_bits: BitArray, offsets: IntArray, members: IntArray, bits: BitArray
) -> None:
    """Intersect conditions members[offsets[i]:offsets[i+1]] into `bits[i]`, in place."""
    for rule in range(bits.shape[0]):
        first = members[offsets[rule]]
        for word in range(bits.shape[1]):
            bits[rule, word] = condition_bits[first, word]
        for k in range(offsets[rule] + 1, offsets[rule + 1]):
            other = members[k]
            for word in range(bits.shape[1]):
                bits[rule, word] &= condition_bits[other, word]


@njit(nogil=True, cache=True)
def add_overlaps(
    left: BitArray, right: BitArray, symmetric: bool, factor: int, overlaps: AnyArray
) -> None:
    """Add `factor * |left_i and right_j|` to `overlaps[i, j]`, in place.

    With `symmetric` (left is right), only the upper triangle, in whole 2 x 2 tiles.
    Each tile reads four rows of words and forms four intersections, so that the counting, not the
    reading, sets the pace.
    """
    m, n_words = left.shape
    n = right.shape[0]
    # In blocks, so that words of all sets stay in the cache while each pair of sets meets there.
    for start in range(0, n_words, BLOCK_WORDS):
        stop = min(start + BLOCK_WORDS, n_words)
        for i in range(0, m, 2):
            i1 = min(i + 1, m - 1)
            a0, a1 = left[i, start:stop], left[i1, start:stop]
            for j in range(i if symmetric else 0, n, 2):
                j1 = min(j + 1, n - 1)
                b0, b1 = right[j, start:stop], right[j1, start:stop]
                s00 = s01 = s10 = s11 = np.uint64(0)
                for k in range(stop - start):
                    s00 += _popcount(a0[k] & b0[k])
                    s01 += _popcount(a0[k] & b1[k])
                    s10 += _popcount(a1[k] & b0[k])
                    s11 += _popcount(a1[k] & b1[k])
                overlaps[i, j] += factor * np.int64(s00)
                if j1 > j:
                    overlaps[i, j1] += factor * np.int64(s01)
                if i1 > i:
                    overlaps[i1, j] += factor * np.int64(s10)
                if i1 > i and j1 > j:
                    overlaps[i1, j1] += factor * np.int64(s11)


# --- codes ----------------------------------------------------------------------------------------


@njit(nogil=True, cache=True)
def encode_numbers(values: FloatArray, cuts: FloatArray, codes: CodeArray) -> None:
    """Set code 0 for NaN and otherwise 1 + the number of cuts below the value, in place.

    One comparison per cut, branch-free: for the usual nine cuts this beats a binary search.
    """
    # NaN is the only number that is not equal to itself.
    for i in range(values.shape[0]):
        codes[i] = np.uint8(values[i] == values[i])
    for cut in cuts:
        for i in range(values.shape[0]):
            codes[i] += np.uint8(values[i] > cut)
