"""All that the logistic loss sees of the data: which rules hold together, and how often.

Notation (shapes in brackets)
    P            distinct patterns of activation: the sets of rules that hold on a row
    pos, neg     total weight of the rows of class 1 and of class 0 with each pattern     (P,)
    share        of class 1: pos / (pos + neg), summed over all patterns
    v            values: mean of the centred, scaled target over the rows of each rule    (m,)
    M            rule columns, M_pi = v_i where rule i holds on pattern p, 0 elsewhere    (P, m)

The target is 0 or 1, centred by `share` and scaled by sqrt(share (1 - share)), as in regression, so
that columns and counts are the same as those of `Statistics`. Rows with one pattern are as good as
one row, so n rows become at most 2^m patterns, and for a few rules a few hundred.

In the kernels, bit p % 64 of word p // 64 of `bits[i]` says whether rule i holds on pattern p.
Vectors over patterns have an entry for every bit, spare ones too. `candidates.patterns` computes
the value from rows; nothing is imported of it, nor of the solver.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mossrules._arrays import number_array
from mossrules._common import cached_property
from mossrules._compiled import njit
from mossrules._typing import AnyArray, BitArray, BoolArray, FloatArray, IntArray
from mossrules.exceptions import InvalidParameter, InvalidTarget

__all__ = [
    "PackedRows",
    "Patterns",
    "add_columns",
    "collapse",
    "column_sums",
    "even_mean_targets",
    "logistic_loss",
    "mean_targets",
    "pack_columns",
    "pack_rows",
]

BLOCK = 1 << 14  # patterns that are unpacked at once


@dataclass(frozen=True, eq=False)
class Patterns:
    """Distinct patterns of m rules with the weight of both classes; see the module's notation.

    `counts` is the number of trees in which each rule appears.

    Examples
    --------
    Three rows, of which two meet the same rules: they are one pattern, of both classes.

    >>> patterns = Patterns.from_matrix([[1, 0], [1, 0], [1, 1]], [1, 0, 1], counts=[9, 4])
    >>> patterns.n_patterns, patterns.positives, patterns.negatives
    (2, array([1., 1.]), array([1., 0.]))
    """

    activations: BitArray  #: (m, words): bit p of row i says whether rule i holds on pattern p
    positives: FloatArray  #: (patterns,): weight of the rows of the second class
    negatives: FloatArray  #: (patterns,): weight of the other rows
    values: FloatArray  #: (m,): value of each rule's column where it holds
    counts: IntArray
    n_trees: int | None = None  #: of the forest, where it is known

    @classmethod
    def from_matrix(
        cls,
        active: AnyArray,
        y: AnyArray,
        counts: IntArray,
        values: FloatArray | None = None,
        weights: FloatArray | None = None,
    ) -> Patterns:
        """Return the patterns of rows of two classes.

        Parameters
        ----------
        active, y
            Which rules hold on each row, (n, m), and its class, 0 or 1.
        counts
            Number of trees in which each rule appears, (m,).
        values, weights
            Of the rules, (m,), where their columns are not 0 and 1, and of the rows, (n,).
        """
        active, y = number_array("active", active), number_array("y", y)
        counts = number_array("counts", counts).astype(np.int64)
        weights = np.ones(y.shape[:1]) if weights is None else number_array("weights", weights)
        weights = weights.astype(np.float64)
        if active.ndim != 2 or y.shape != active.shape[:1] or weights.shape != y.shape:
            raise InvalidParameter(
                f"active has shape {active.shape}, y {y.shape} and weights {weights.shape}; they "
                "must be (n, m), (n,) and (n,)."
            )
        if counts.shape != active.shape[1:]:
            raise InvalidParameter(f"There are {active.shape[1]} rules and {len(counts)} counts.")
        known = active.dtype == np.bool_ or np.isin(active, (0, 1)).all()
        if not known or not np.isin(y, (0, 1)).all():
            raise InvalidParameter("active and y may have no entries but 0 and 1, False and True.")
        rows = np.packbits(active.astype(bool), axis=1)
        rows, (positives, negatives) = collapse(rows, np.stack([weights * y, weights * (1 - y)]))
        bits = pack_columns(rows, active.shape[1])
        if values is None:
            values = mean_targets(bits, positives, negatives)
        values = number_array("values", values).astype(np.float64)
        if values.shape != counts.shape:
            raise InvalidParameter(f"values has shape {values.shape} and counts {counts.shape}.")
        return cls(bits, positives, negatives, values, counts)

    def __post_init__(self) -> None:
        weights = np.concatenate([self.positives, self.negatives])
        if not np.isfinite(weights).all() or (weights < 0).any():
            raise InvalidParameter("Weights of rows must be finite and not negative.")
        if not (self.positives.sum() > 0 and self.negatives.sum() > 0):
            raise InvalidTarget("All rows are of one class; both are needed to tell them apart.")
        if len(self.positives) > 64 * self.activations.shape[1] or not (
            self.m == len(self.counts) == len(self.activations)
        ):
            raise InvalidParameter("Activations, values, counts and weights differ in number.")
        if not np.isfinite(self.values).all():
            raise InvalidParameter("Values of rules must be finite.")

    # --- sizes and sums ---------------------------------------------------------------------------

    @property
    def m(self) -> int:
        """Number of rules."""
        return len(self.values)

    @property
    def n_patterns(self) -> int:
        """Number of distinct patterns."""
        return len(self.positives)

    @cached_property
    def n(self) -> float:
        """Total weight of the rows."""
        return float(self.positives.sum() + self.negatives.sum())

    @cached_property
    def share(self) -> float:
        """Share of class 1."""
        return float(self.positives.sum()) / self.n

    @property
    def information(self) -> float:
        """What the rows tell of a log-odds: n share (1 - share), as many times the variance."""
        return self.n * self.share * (1.0 - self.share)

    @cached_property
    def support(self) -> FloatArray:
        """Total weight of the rows of each rule."""
        return self.sums(self.positives + self.negatives)

    @cached_property
    def by_word(self) -> BitArray:
        """The activations with one row per word, in which `column_sums` reads them."""
        return np.ascontiguousarray(self.activations.T)

    def sums(self, alpha: FloatArray) -> FloatArray:
        """Return the sum over the patterns of each rule of a number for each pattern."""
        padded = np.zeros(64 * self.activations.shape[1])
        padded[: self.n_patterns] = alpha
        sums = np.empty(self.m)
        column_sums(self.by_word, padded, sums)
        return sums

    # --- some of the rules ----------------------------------------------------------------------

    def active(self, rules: AnyArray | Sequence[int]) -> BoolArray:
        """Return on which patterns some rules hold: (P, rules)."""
        octets = np.ascontiguousarray(self.activations[rules]).astype("<u8", copy=False)
        holds = np.unpackbits(
            octets.view(np.uint8), axis=1, count=self.n_patterns, bitorder="little"
        )
        return holds.view(np.bool_).T

    def collapsed(self, rules: IntArray) -> Patterns:
        """Return the distinct patterns of some of the rules."""
        rows, (positives, negatives) = collapse(
            pack_rows(self.activations[rules], self.n_patterns),
            np.stack([self.positives, self.negatives]),
        )
        bits = pack_columns(rows, len(rules))
        values, counts = self.values[rules], self.counts[rules]
        return Patterns(bits, positives, negatives, values, counts, self.n_trees)

    def __repr__(self) -> str:
        return (
            f"Patterns(m={self.m:,} rules, {self.n_patterns:,} patterns of {self.n:,.0f} rows, "
            f"{self.share:.1%} of class 1)"
        )


def mean_targets(bits: BitArray, positives: FloatArray, negatives: FloatArray) -> FloatArray:
    """Return the mean of the centred, scaled target over the rows of each rule."""
    ones, all_rows = _rule_sums(bits, positives), _rule_sums(bits, positives + negatives)
    share = positives.sum() / ((positives + negatives).sum() or 1.0)
    mean = np.divide(ones, all_rows, out=np.full_like(ones, share), where=all_rows > 0)
    scale = np.sqrt(share * (1.0 - share)) or 1.0
    return np.asarray((mean - share) / scale, dtype=np.float64)


def even_mean_targets(bits: BitArray, positives: FloatArray, negatives: FloatArray) -> FloatArray:
    """Return the same, rounded so that classes that are swapped give the other sign, to the bit."""
    ones, others = _rule_sums(bits, positives), _rule_sums(bits, negatives)
    n_ones, n_others = positives.sum(), negatives.sum()
    # (ones / all - share) / sqrt(share (1 - share)) on one denominator.
    above, all_rows = ones * n_others - others * n_ones, ones + others
    mean = np.divide(above, all_rows, out=np.zeros_like(above), where=all_rows > 0)
    return np.asarray(mean / (np.sqrt(n_ones) * np.sqrt(n_others) or 1.0), dtype=np.float64)


def _rule_sums(bits: BitArray, rows: FloatArray) -> FloatArray:
    """Return the sum over the patterns of each rule."""
    padded, sums = np.zeros(64 * bits.shape[1]), np.empty(len(bits))
    padded[: len(rows)] = rows
    column_sums(np.ascontiguousarray(bits.T), padded, sums)
    return sums


# --- rows as bytes ------------------------------------------------------------------------------

# Packed rows (rows, bytes), and the weights of both classes (2, rows).
PackedRows = tuple[AnyArray, AnyArray]


def collapse(rows: AnyArray, weights: AnyArray) -> PackedRows:
    """Return the distinct rows in their order, and the sums of the weights of each."""
    n, width = rows.shape
    words = np.zeros((n, 8 * max(1, -(-width // 8))), dtype=np.uint8)
    # Rows as a few integers each, which sort faster than as many bytes.
    words[:, :width] = rows
    keys = words.view(np.uint64)
    order = np.lexsort(keys.T)
    ordered = keys[order]
    starts = np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1))
    which = np.cumsum(starts) - 1  # sums of integers are exact: they are below 2^38
    return rows[order[starts]], np.stack([np.bincount(which, each[order]) for each in weights])


def pack_rows(bits: BitArray, n: int) -> AnyArray:
    """Return packed columns as packed rows: (n, bytes), eight rules to a byte."""
    return np.concatenate([_pack_block(bits, start, n) for start in range(0, n, BLOCK)])


def _pack_block(bits: BitArray, start: int, n: int) -> AnyArray:
    # One byte for each rule and row of a block: all rows at once would take gigabytes.
    words = bits[:, start // 64 : -(-min(start + BLOCK, n) // 64)]
    octets = np.ascontiguousarray(words).astype("<u8", copy=False).view(np.uint8)
    held = np.unpackbits(octets, axis=1, count=min(BLOCK, n - start), bitorder="little")
    return np.packbits(held, axis=0).T


def pack_columns(rows: AnyArray, m: int) -> BitArray:
    """Return packed rows as packed columns: (rules, words)."""
    P = len(rows)
    octets = np.zeros((m, 8 * -(-P // 64)), dtype=np.uint8)
    for start in range(0, P, BLOCK):
        part = np.unpackbits(rows[start : start + BLOCK], axis=1, count=m)
        packed = np.packbits(part.T, axis=1, bitorder="little")
        octets[:, start // 8 : start // 8 + packed.shape[1]] = packed
    return octets.view("<u8").astype(np.uint64)


# --- kernels --------------------------------------------------------------------------------------


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
        # exp(-|eta|) never overflows, and serves the loss and both slopes.
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
