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
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from mossrules._cached import cached_property
from mossrules._typing import AnyArray, BitArray, BoolArray, FloatArray, IntArray
from mossrules.candidates.codes import EncodedChunk, EncodedTable
from mossrules.candidates.cuts import Binning
from mossrules.candidates.kernels.patterns import column_sums
from mossrules.candidates.pool import CandidatePool
from mossrules.candidates.rules import Rule
from mossrules.candidates.statistics import activations
from mossrules.data.chunks import Progress
from mossrules.exceptions import InvalidParameter, InvalidTarget

__all__ = ["Patterns", "compute_patterns"]

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
        active, y, counts = np.asarray(active), np.asarray(y), np.asarray(counts, dtype=np.int64)
        weights = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=np.float64)
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
        rows, (positives, negatives) = _collapse(rows, np.stack([weights * y, weights * (1 - y)]))
        bits = _columns_of(rows, active.shape[1])
        if values is None:
            values = mean_targets(bits, positives, negatives)
        return cls(bits, positives, negatives, np.asarray(values, dtype=np.float64), counts)

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

    # --- figures --------------------------------------------------------------------------------

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
        found = np.empty(self.m)
        column_sums(self.by_word, padded, found)
        return found

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
        parts = [
            np.packbits(_unpacked(self.activations[rules], start, self.n_patterns), axis=0).T
            for start in range(0, self.n_patterns, BLOCK)
        ]
        rows, (positives, negatives) = _collapse(
            np.concatenate(parts), np.stack([self.positives, self.negatives])
        )
        bits = _columns_of(rows, len(rules))
        values, counts = self.values[rules], self.counts[rules]
        return Patterns(bits, positives, negatives, values, counts, self.n_trees)

    def __repr__(self) -> str:
        return (
            f"Patterns(m={self.m:,} rules, {self.n_patterns:,} patterns of {self.n:,.0f} rows, "
            f"{self.share:.1%} of class 1)"
        )


def mean_targets(bits: BitArray, positives: FloatArray, negatives: FloatArray) -> FloatArray:
    """Return the mean of the centred, scaled target over the rows of each rule."""
    padded = np.zeros((2, 64 * bits.shape[1]))
    padded[0, : len(positives)] = positives
    padded[1, : len(negatives)] = positives + negatives
    ones, all_rows = np.empty(len(bits)), np.empty(len(bits))
    by_word = np.ascontiguousarray(bits.T)
    column_sums(by_word, padded[0], ones)
    column_sums(by_word, padded[1], all_rows)
    share = positives.sum() / (padded[1].sum() or 1.0)
    mean = np.divide(ones, all_rows, out=np.full_like(ones, share), where=all_rows > 0)
    scale = np.sqrt(share * (1.0 - share)) or 1.0
    return np.asarray((mean - share) / scale, dtype=np.float64)


def compute_patterns(
    data: EncodedTable,
    pool: CandidatePool,
    *,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> Patterns:
    """Return the patterns of a pool of rules on the training rows; class 1 is the larger target."""
    rows, (positives, negatives) = data.chunks.fold(
        partial(_chunk_patterns, pool.rules, data.binning),
        _joined,
        n_jobs=n_jobs,
        stage="counting patterns",
        progress=progress,
    )
    bits = _columns_of(rows, len(pool))
    positives, negatives = positives * data.weight_step, negatives * data.weight_step
    values = mean_targets(bits, positives, negatives)
    return Patterns(bits, positives, negatives, values, pool.counts, pool.n_trees)


# --- rows as bytes ------------------------------------------------------------------------------

Weighted = tuple[AnyArray, AnyArray]  # packed rows (rows, bytes), weights of both classes (2, rows)


def _chunk_patterns(rules: Sequence[Rule], binning: Binning, chunk: EncodedChunk) -> Weighted:
    bits = activations(rules, binning, chunk.codes)
    ones = chunk.target > 0
    highest = np.unique(chunk.target[ones])
    if len(highest) > 1:
        raise InvalidTarget("The target has more than two values; pass 0 and 1.")
    n = len(chunk)
    weights = np.ones(n, dtype=np.int64) if chunk.weights is None else chunk.weights
    parts = [np.packbits(_unpacked(bits, start, n), axis=0).T for start in range(0, n, BLOCK)]
    return _collapse(np.concatenate(parts), np.stack([weights * ones, weights * ~ones]))


def _joined(one: Weighted, other: Weighted) -> Weighted:
    rows = np.concatenate([one[0], other[0]])
    return _collapse(rows, np.concatenate([one[1], other[1]], axis=1))


def _unpacked(bits: BitArray, start: int, stop: int) -> AnyArray:
    """Return bits from one pattern on, a block of them at most, as 0 and 1: (rules, patterns)."""
    words = bits[:, start // 64 : -(-min(start + BLOCK, stop) // 64)]
    octets = np.ascontiguousarray(words).astype("<u8", copy=False).view(np.uint8)
    return np.unpackbits(octets, axis=1, count=min(BLOCK, stop - start), bitorder="little")


def _collapse(rows: AnyArray, weights: AnyArray) -> Weighted:
    """Return the distinct rows in their order, and the sums of the weights of each."""
    n, width = rows.shape
    words = np.zeros((n, 8 * max(1, -(-width // 8))), dtype=np.uint8)
    words[:, :width] = rows
    keys = words.view(np.uint64)
    order = np.lexsort(keys.T)
    ordered = keys[order]
    starts = np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1))
    which = np.cumsum(starts) - 1  # sums of integers are exact: they are below 2^38
    return rows[order[starts]], np.stack([np.bincount(which, each[order]) for each in weights])


def _columns_of(rows: AnyArray, m: int) -> BitArray:
    """Return packed rows as packed columns: (rules, words)."""
    P = len(rows)
    octets = np.zeros((m, 8 * -(-P // 64)), dtype=np.uint8)
    for start in range(0, P, BLOCK):
        part = np.unpackbits(rows[start : start + BLOCK], axis=1, count=m)
        packed = np.packbits(part.T, axis=1, bitorder="little")
        octets[:, start // 8 : start // 8 + packed.shape[1]] = packed
    return octets.view("<u8").astype(np.uint64)
