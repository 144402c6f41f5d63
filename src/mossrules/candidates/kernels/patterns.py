"""Sums over patterns of activation, whose rules are packed bits, and the logistic loss on them.

Bit p % 64 of word p // 64 of `bits[i]` says whether rule i holds on pattern p. Vectors over
patterns have an entry for every bit, spare ones too.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from mossrules._typing import BitArray, FloatArray


@njit(cache=True, nogil=True)
def add_columns(bits: BitArray, x: FloatArray, eta: FloatArray) -> None:
    """Add x_i to `eta` on the patterns of each rule i, in place."""
    for i in range(bits.shape[0]):
        if x[i] != 0.0:
            for word in range(bits.shape[1]):
                packed, start = bits[i, word], 64 * word
                for r in range(64):
                    eta[start + r] += x[i] * np.float64((packed >> np.uint64(r)) & np.uint64(1))


@njit(cache=True, nogil=True)
def column_sums(by_word: BitArray, alpha: FloatArray, sums: FloatArray) -> None:
    """Fill `sums` with the sum of alpha over the patterns of each rule; bits are (words, rules).

    Eight patterns at a time: the sums of all their 256 subsets are tabled once, and each rule
    looks its own up.
    """
    sums[:] = 0.0
    table = np.zeros((8, 256))
    octet = np.uint64(255)
    for word in range(by_word.shape[0]):
        for part in range(8):
            start, size = 64 * word + 8 * part, 1
            for b in range(8):
                for subset in range(size):
                    table[part, size + subset] = table[part, subset] + alpha[start + b]
                size *= 2
        for i in range(by_word.shape[1]):
            packed = by_word[word, i]
            total = 0.0
            for part in range(8):
                total += table[part, (packed >> np.uint64(8 * part)) & octet]
            sums[i] += total


@njit(cache=True, nogil=True)
def logistic_loss(
    eta: FloatArray, positives: FloatArray, negatives: FloatArray, alpha: FloatArray
) -> float:
    """Return the sum of pos log(1 + exp(-eta)) + neg log(1 + exp(eta)); fill alpha, less its slope.

    `positives` and `negatives` may be shorter than `eta`; the rest of alpha is left as it is.
    """
    loss = 0.0
    for p in range(positives.shape[0]):
        small = math.exp(-abs(eta[p]))
        less, more = small / (1.0 + small), 1.0 / (1.0 + small)
        both = math.log1p(small)
        if eta[p] >= 0.0:
            loss += positives[p] * both + negatives[p] * (both + eta[p])
            alpha[p] = positives[p] * less - negatives[p] * more
        else:
            loss += positives[p] * (both - eta[p]) + negatives[p] * both
            alpha[p] = positives[p] * more - negatives[p] * less
    return loss
