"""Computing `Statistics` in one pass over the rows; the notation is that of `mossrules.statistics`.

The rows of each rule are a set of bits and an overlap is the bit count of an intersection. The
target, being an integer, is a stack of binary digits, so its sums are bit counts as well; sample
weights likewise. All sums are exact; the floats are made from them at the very end.

The logistic loss needs more than sums: `Patterns`, with the notation of `mossrules.patterns`,
count the rows of each class on which the same rules hold.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mossrules._typing import AnyArray, BitArray, BoolArray, CodeArray, FloatArray, IntArray
from mossrules.candidates.kernels.codes import (
    add_overlaps,
    intersect_conditions,
    pack_conditions,
    pack_planes,
)
from mossrules.data.fixed_point import TARGET_BITS, WEIGHT_BITS
from mossrules.exceptions import InvalidParameter, InvalidTarget
from mossrules.patterns import (
    PackedRows,
    Patterns,
    collapse,
    even_mean_targets,
    mean_targets,
    pack_columns,
    pack_rows,
)
from mossrules.statistics import Statistics

if TYPE_CHECKING:
    from mossrules.candidates.codes import EncodedChunk, EncodedTable
    from mossrules.candidates.cuts import Binning
    from mossrules.candidates.pool import CandidatePool
    from mossrules.candidates.rules import Rule
    from mossrules.data.chunks import Progress


def activations(rules: Sequence[Rule], binning: Binning, codes: CodeArray) -> BitArray:
    """Return for each rule the set of rows of a chunk on which it holds, as bits."""
    return _Evaluator.of(rules, binning).activations(codes)


def rule_columns(rules: Sequence[Rule], binning: Binning, codes: CodeArray) -> BoolArray:
    """Return for each rule and each row of a chunk whether the rule holds there: (rules, rows)."""
    octets = activations(rules, binning, codes).astype("<u8", copy=False).view(np.uint8)
    holds = np.unpackbits(octets, axis=1, count=codes.shape[1], bitorder="little")
    return holds.view(np.bool_)


def compute_overlaps(
    data: EncodedTable, rules: Sequence[Rule], *, n_jobs: int = 1, progress: Progress | None = None
) -> Overlaps:
    """Count, in one pass over the rows, all overlaps and the target's sums over each rule."""
    if not rules:
        raise InvalidParameter("There are no candidate rules to compute statistics of.")
    overlaps = data.chunks.fold(
        partial(_count_chunk, _Evaluator.of(rules, data.binning)),
        Overlaps.combine,
        n_jobs=n_jobs,
        stage="counting overlaps",
        progress=progress,
    )
    upper = np.triu(overlaps.counts)  # the kernel counts each pair once
    return Overlaps(upper + np.triu(upper, 1).T, overlaps.digit_counts)


def count_rows(
    data: EncodedTable, rules: Sequence[Rule], *, n_jobs: int = 1, progress: Progress | None = None
) -> IntArray:
    """Return the weight of the rows on which each rule holds, in units of the grid of weights."""
    counts: IntArray = data.chunks.fold(
        partial(_count_rows, _Evaluator.of(rules, data.binning)),
        operator.add,
        n_jobs=n_jobs,
        stage="counting rows",
        progress=progress,
    )
    return counts


def compute_statistics(
    data: EncodedTable,
    pool: CandidatePool,
    *,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> Statistics:
    """Return the statistics of a pool of rules on the training rows."""
    overlaps = compute_overlaps(data, pool.rules, n_jobs=n_jobs, progress=progress)
    return statistics_of_overlaps(data, overlaps, pool.counts)


def statistics_of_overlaps(data: EncodedTable, overlaps: Overlaps, counts: IntArray) -> Statistics:
    """Turn exact integers into the floats of the notation above."""
    mean, variance = data.moments.mean, data.moments.variance
    scale = float(variance) ** 0.5
    # Exact: counts and weights in grid units stay below 2^53.
    N = overlaps.counts.astype(np.float64)
    support = np.diagonal(N).copy()
    s = (_even_sums if data.is_even else _centred_sums)(overlaps.sums, support, mean) / scale
    # A rule that holds on no row (one that was asked for, say) has no mean: its column is zero.
    v = np.divide(s, support, out=np.zeros_like(s), where=support > 0)
    unit = data.weight_step
    grid = data.target_grid
    return Statistics(
        G=np.outer(v, v) * N * unit,
        q=v * s * unit,
        yy=data.moments.weight * unit,  # a target of unit variance: y'y is the total weight
        n=data.moments.weight * unit,
        values=v,
        counts=counts,
        support=support * unit,
        target_mean=grid.low + grid.step * float(mean),
        target_scale=grid.step * scale,
        row_weight=data.moments.weight * unit / data.moments.rows,
    )


def _centred_sums(sums: list[int], support: FloatArray, mean: Fraction) -> FloatArray:
    """Return sums of the target less its mean over the rows of each rule."""
    # Counted from the rounded mean: integers up to the last subtraction.
    origin = round(mean)
    found = np.array(
        [int(total) - origin * int(size) for total, size in zip(sums, support, strict=True)],
        dtype=np.float64,
    )
    return found - float(mean - origin) * support


def _even_sums(sums: list[int], support: FloatArray, mean: Fraction) -> FloatArray:
    """Return the same, rounded once: for the target turned around, they have the other sign."""
    return np.array([float(a - mean * int(n)) for a, n in zip(sums, support, strict=True)])


@dataclass(frozen=True)
class Overlaps:
    """Exact integers of m rules: overlaps (m, m) and, per binary digit, target sums (m, digits)."""

    counts: IntArray
    digit_counts: IntArray

    def combine(self, other: Overlaps) -> Overlaps:
        """Add the counts of other rows, in place."""
        np.add(self.counts, other.counts, out=self.counts)
        np.add(self.digit_counts, other.digit_counts, out=self.digit_counts)
        return self

    def take(self, positions: IntArray) -> Overlaps:
        """Return the counts of some of the rules."""
        return Overlaps(self.counts[np.ix_(positions, positions)], self.digit_counts[positions])

    @property
    def sums(self) -> list[int]:
        """Sum of weight times target over the rows of each rule, in grid units."""
        # In two halves: each fits in 64 bits whatever the number of rows, their sum may not.
        half = 26
        low = self.digit_counts[:, :half] @ (1 << np.arange(half))
        high = self.digit_counts[:, half:] @ (1 << np.arange(self.digit_counts.shape[1] - half))
        return [a + (b << half) for a, b in zip(low.tolist(), high.tolist(), strict=True)]

    def identical(self) -> list[list[int]]:
        """Return the groups of two or more rules that hold on exactly the same rows."""
        sizes = np.diagonal(self.counts)
        groups: dict[int, list[int]] = {}
        same = (self.counts == sizes) & (self.counts == sizes[:, None])
        for position, first in enumerate(same.argmax(axis=0)):
            groups.setdefault(int(first), []).append(position)
        return [group for group in groups.values() if len(group) > 1]


# --- one chunk ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Evaluator:
    """Rules as index lists into their distinct conditions, ready for the kernels."""

    features: IntArray  # column of each distinct condition
    accepts: AnyArray  # which codes satisfy it (conditions, 256)
    offsets: IntArray  # rule i is the conditions members[offsets[i]:offsets[i+1]]
    members: IntArray

    @classmethod
    def of(cls, rules: Sequence[Rule], binning: Binning) -> _Evaluator:
        distinct = {
            condition: number
            for number, condition in enumerate(
                dict.fromkeys(condition for rule in rules for condition in rule.conditions)
            )
        }
        unknown = {condition.feature for condition in distinct}.difference(binning.names)
        if unknown:
            raise InvalidParameter(f"Rules use columns that are not there: {sorted(unknown)}.")
        features = [binning.index(condition.feature) for condition in distinct]
        return cls(
            np.array(features, dtype=np.int64),
            np.array(
                [
                    condition.accepts(binning.columns[feature])
                    for condition, feature in zip(distinct, features, strict=True)
                ]
            ),
            np.cumsum([0, *(len(rule) for rule in rules)], dtype=np.int64),
            np.array([distinct[each] for rule in rules for each in rule.conditions], np.int64),
        )

    def activations(self, codes: CodeArray) -> BitArray:
        n_words = -(-codes.shape[1] // 64)
        condition_bits = np.empty((len(self.features), n_words), dtype=np.uint64)
        pack_conditions(codes, self.features, self.accepts, condition_bits)
        bits = np.empty((len(self.offsets) - 1, n_words), dtype=np.uint64)
        intersect_conditions(condition_bits, self.offsets, self.members, bits)
        return bits


def _count_chunk(evaluator: _Evaluator, chunk: EncodedChunk) -> Overlaps:
    bits = evaluator.activations(chunk.codes)
    m = len(bits)
    counts = np.zeros((m, m), dtype=np.int64)
    target = chunk.target.astype(np.int64)
    if chunk.weights is None:
        add_overlaps(bits, bits, True, 1, counts)
        digits = _digits(target, TARGET_BITS + 1)
    else:
        # Weight = sum of its binary digits: one unweighted count for each digit that occurs.
        for power, digit in enumerate(_digits(chunk.weights, WEIGHT_BITS + 1)):
            if digit.any():
                add_overlaps(bits & digit, bits, True, 1 << power, counts)
        digits = _digits(chunk.weights * target, TARGET_BITS + WEIGHT_BITS + 1)
    digit_counts = np.zeros((m, len(digits)), dtype=np.int64)
    add_overlaps(bits, digits, False, 1, digit_counts)
    return Overlaps(counts, digit_counts)


def _count_rows(evaluator: _Evaluator, chunk: EncodedChunk) -> IntArray:
    bits = evaluator.activations(chunk.codes)
    if chunk.weights is None:
        return np.asarray(np.bitwise_count(bits).sum(axis=1, dtype=np.int64))
    digits = enumerate(_digits(chunk.weights, WEIGHT_BITS + 1))
    parts = (np.bitwise_count(bits & digit).sum(axis=1, dtype=np.int64) << p for p, digit in digits)
    return np.asarray(sum(parts), dtype=np.int64)


def _digits(values: IntArray, n_digits: int) -> BitArray:
    bits = np.empty((n_digits, -(-len(values) // 64)), dtype=np.uint64)
    pack_planes(values, bits)
    return bits


# --- patterns -------------------------------------------------------------------------------------


__all__ = ["compute_patterns"]


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
    bits = pack_columns(rows, len(pool))
    positives, negatives = positives * data.weight_step, negatives * data.weight_step
    means = even_mean_targets if data.is_even else mean_targets
    values = means(bits, positives, negatives)
    return Patterns(bits, positives, negatives, values, pool.counts, pool.n_trees)


def _chunk_patterns(rules: Sequence[Rule], binning: Binning, chunk: EncodedChunk) -> PackedRows:
    bits = activations(rules, binning, chunk.codes)
    ones = chunk.target > 0
    highest = np.unique(chunk.target[ones])
    if len(highest) > 1:
        raise InvalidTarget("The target has more than two values; pass 0 and 1.")
    n = len(chunk)
    weights = np.ones(n, dtype=np.int64) if chunk.weights is None else chunk.weights
    return collapse(pack_rows(bits, n), np.stack([weights * ones, weights * ~ones]))


def _joined(one: PackedRows, other: PackedRows) -> PackedRows:
    # Collapsed after each chunk, so that memory grows with distinct patterns and not with rows.
    rows = np.concatenate([one[0], other[0]])
    return collapse(rows, np.concatenate([one[1], other[1]], axis=1))
