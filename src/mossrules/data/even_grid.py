"""A grid of the target that turning it around, or another unit of it, does not move.

`TargetGrid` has steps of a power of two, so `0.1 * y` is rounded otherwise than `y`, and ties among
splits or rule sets may break otherwise. Here the range of the target is cut into equal steps: the
integers of `a y + b` are those of `y` or, for negative a, the largest integer less those.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mossrules._typing import AnyArray, FloatArray
from mossrules.data.fixed_point import WEIGHTED_TARGET_SHIFT, TargetGrid

__all__ = ["EvenGrid", "coarse"]

STEPS = 1 << 29  # of the range: as fine as those of `TargetGrid`
# A target of whole numbers, or of so many decimals, has equally spaced values, and so few of them
# leave room for the binary digits that a weighted forest leaves out.
MOST_VALUES = STEPS >> WEIGHTED_TARGET_SHIFT
NEAR = 2.0**-32  # of the range: an eighth of a step
MOST_PARTS = 12  # of the smallest distance between two values, when their spacing is looked for


@dataclass(frozen=True)
class EvenGrid:
    """y = low + step * integer, where `parts * scale` steps make the range."""

    low: float
    high: float
    parts: int  # as many equal distances lie between the values; STEPS where no spacing was found
    scale: int  # steps in each, a power of two

    @classmethod
    def from_range(cls, low: float, high: float, values: FloatArray | None = None) -> EvenGrid:
        """Return the grid of a target, whose values are looked at where they are known."""
        TargetGrid.from_range(low, high)  # refuses what has no range
        parts = STEPS
        if values is not None:
            parts = _spacing((np.unique(values) - low) / (high - low))
        return cls(low, high, parts, 1 << (STEPS // parts).bit_length() - 1)

    @property
    def step(self) -> float:
        """The target's units in one integer."""
        return (self.high - self.low) / self.parts / self.scale

    def encode(self, y: FloatArray) -> AnyArray:
        """Return the nearest grid points as int32."""
        nearest = np.rint((y - self.low) / (self.high - self.low) * self.parts)
        return (nearest * self.scale).astype(np.int32)


def coarse(target: AnyArray, shift: int) -> AnyArray:
    """Return integers of an even grid without some of their binary digits.

    Rounded, half to even: cutting digits off would round a target down, and its negative up.
    """
    return np.rint(target / (1 << shift)).astype(np.int32) if shift else target


def _spacing(places: FloatArray) -> int:
    """Return of how many equal parts of [0, 1] sorted numbers are multiples; else STEPS."""
    gaps = np.diff(places)
    gap = float(gaps[gaps > NEAR].min())
    for number in range(1, MOST_PARTS + 1):
        parts = round(number / gap)
        if parts > MOST_VALUES:
            break
        if np.abs(places - np.rint(places * parts) / parts).max() <= NEAR:
            return parts
    return STEPS
