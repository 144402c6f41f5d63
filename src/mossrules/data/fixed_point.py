"""Targets and weights on integer grids, so that every sum over rows is exact.

A sum of floats depends on the order of its terms; a sum of integers does not. The target becomes
an integer between 0 and 2^30 (a step of 2^-29 of its range or finer), sample weights become
integers whose total leaves room for weighted sums of the target in 64 bits.
Steps are powers of two: values that are already multiples of them are kept exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from mossrules._typing import AnyArray, FloatArray, IntArray
from mossrules.exceptions import InvalidTarget

# With its sign, the target fits an int32: half of what an int64 takes in every pass. A step of
# 2^-29 of the range is below what targets are measured to.
TARGET_BITS = 30
WEIGHT_BITS = 20
# A weighted forest reads the target at 24 bits: with total weight below 2^38 sums stay below 2^62.
WEIGHTED_TARGET_SHIFT = 6
TOTAL_WEIGHT_BITS = 38


@dataclass(frozen=True)
class TargetGrid:
    """y = low + step * integer."""

    low: float
    step: float

    @classmethod
    def from_range(cls, low: float, high: float) -> TargetGrid:
        """Return the grid of a target with this smallest and largest value."""
        span = high - low
        if span == 0.0:
            raise InvalidTarget(
                f"The target is constant ({low:g} on every row), so no rule can explain it; "
                "check that the right column was chosen."
            )
        if not math.isfinite(span):
            raise InvalidTarget(
                f"The target runs from {low:g} to {high:g}, too far for a float; rescale it."
            )
        return cls(low, _step(span, TARGET_BITS))

    def encode(self, y: FloatArray) -> AnyArray:
        """Return the nearest grid points as int32."""
        # Exact where values are multiples of the step already: the division is by a power of two.
        return np.rint((y - self.low) / self.step).astype(np.int32)


@dataclass(frozen=True)
class WeightGrid:
    """weight = step * integer."""

    step: float

    @classmethod
    def from_largest(cls, largest: float, n_rows: int) -> WeightGrid:
        """Return the finest grid on which n_rows weights cannot overflow a weighted sum."""
        bits = min(WEIGHT_BITS, TOTAL_WEIGHT_BITS - n_rows.bit_length())
        return cls(_step(largest, bits))

    def encode(self, weights: FloatArray) -> IntArray:
        """Return the nearest grid points."""
        return np.rint(weights / self.step).astype(np.int64)


def integer_weights(weights: FloatArray, n_rows: int | None = None) -> tuple[IntArray, float]:
    """Return weights on the finest grid that they allow, as those of so many rows, and its step."""
    grid = WeightGrid.from_largest(float(weights.max()), n_rows or len(weights))
    integers = grid.encode(weights)
    if np.count_nonzero(integers) < 2:
        raise InvalidTarget(
            "sample_weight leaves fewer than two rows that count, since beside the largest "
            f"({weights.max():g}) those up to {grid.step / 2:.3g} are as zero; limit the largest."
        )
    return integers, grid.step


def _step(span: float, bits: int) -> float:
    """Return the power of two of which `span` is at most 2^bits.

    The smallest float is the least it can be, and of that every float is a multiple.
    """
    return max(math.ldexp(1.0, math.frexp(span)[1] - bits), math.ulp(0.0))


@dataclass(frozen=True)
class Moments:
    """Exact sums over rows: weight, weight * target and weight * target^2, in grid units.

    `rows` counts those with a positive weight.
    """

    rows: int
    weight: int
    total: int
    squares: int

    @classmethod
    def of(cls, target: AnyArray, weights: IntArray | None) -> Moments:
        """Return the moments of one chunk."""
        target = target.astype(np.int64)
        if weights is None:
            n_rows = len(target)
            return cls(n_rows, n_rows, int(target.sum()), exact_dot(target, target))
        return cls(
            int(np.count_nonzero(weights)),
            int(weights.sum()),
            exact_dot(weights, target),
            exact_dot(weights * target, target),
        )

    def __add__(self, other: Moments) -> Moments:
        return Moments(
            self.rows + other.rows,
            self.weight + other.weight,
            self.total + other.total,
            self.squares + other.squares,
        )

    @property
    def mean(self) -> Fraction:
        """Mean target, in grid units."""
        return Fraction(self.total, self.weight)

    @property
    def variance(self) -> Fraction:
        """Variance of the target (divisor n), in squared grid units."""
        return Fraction(self.weight * self.squares - self.total**2, self.weight**2)


def exact_dot(a: IntArray, b: IntArray) -> int:
    """Return the sum of a_i b_i of non-negative integers without overflow.

    Digits to the base 2^16 have products below 2^32, whose sum over a chunk fits in 64 bits.
    """
    return sum(
        int(digit_a @ digit_b) << (shift_a + shift_b)
        for shift_a, digit_a in _digits(a)
        for shift_b, digit_b in _digits(b)
    )


def _digits(values: IntArray) -> Iterator[tuple[int, IntArray]]:
    for shift in range(0, int(values.max(initial=0)).bit_length(), 16):
        yield shift, (values >> shift) & 0xFFFF
