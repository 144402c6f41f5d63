"""Cut points at round numbers, which another sample of the same rows finds again.

A quantile moves with every sample: 27.2, 27.3, 27. A round number near it does not. So a column is
halved again and again: the part that holds most rows is cut at the roundest number that leaves a
fifth of them or more on either side, until no part holds many more rows than its share. Then the
part at each end is cut once more if it stretches far: of incomes, most of what there is to tell may
lie beyond the last of eight parts.

All is computed in whole numbers: sums of weights, and numbers in units of a power of ten. So an
integer weight is that many rows, and nothing depends on how a product was rounded.
"""

from __future__ import annotations

import heapq
from decimal import Decimal, DecimalTuple

import numpy as np

from mossrules._typing import FloatArray, IntArray

__all__ = ["find_round_cuts", "roundest_between"]

# Chosen on 26 tables by how many cut points two refits share that leave out a tenth of the rows, as
# research/studies/round_cuts.py measures it. A wider window recurs more often and cuts less evenly;
# so does a higher stop. Cutting tails has .009 more R2 over the paper's tables at the same Dice.
SIDE = 5  # a cut leaves at least 1 / SIDE of its part on either side, where values allow it
STOP = (8, 5)  # a part of at most 8/5 of the rows' share of a bin is left whole
TAIL = (8, 3)  # an end part of 8/3 of a bin's share of the range, without strays, stretches far
TAIL_VALUES = 10  # and of fewer distinct values it is no tail, but strays
SLIVER = 10  # a cut that parts less than 1 / SLIVER of a bin's share from a frequent value is none

TENTHS = (100, 50, 25, 20, 10)  # steps between round numbers, in tenths of a power of ten


def find_round_cuts(values: FloatArray, cumulative: IntArray, n_bins: int) -> FloatArray:
    """Return increasing cuts of a column into two to `n_bins` bins, and up to two more for tails.

    Parameters
    ----------
    values
        The distinct values, increasing; there are at least two.
    cumulative
        The number of rows, or their weight, up to each of them.
    n_bins
        Most bins, but for those of tails.
    """
    total = int(cumulative[-1])
    cuts: list[float] = []
    parts = [(-total, 0, len(values))]  # a heap: the heaviest first, of equals the lowest
    while parts and len(cuts) + 1 < n_bins:
        weight, start, stop = heapq.heappop(parts)
        weight = -weight
        if cuts and weight * n_bins * STOP[1] <= total * STOP[0]:
            break
        if stop - start < 2:
            continue
        before = int(cumulative[start - 1]) if start else 0
        left = cumulative[start : stop - 1] - before
        first, last, cut_off = _cuttable(left, weight)
        # The first cut is made in any case: a column that varies has one.
        if cuts and (cut_off == 0 or cut_off * n_bins * SLIVER < total):
            continue
        median = int(np.searchsorted(left, -(-weight // 2)))
        cut = roundest_between(
            values[start + first], values[start + last + 1], values[start + median]
        )
        cuts.append(cut)
        middle = int(np.searchsorted(values, cut, side="right"))
        on_left = int(cumulative[middle - 1]) - before
        heapq.heappush(parts, (-on_left, start, middle))
        heapq.heappush(parts, (on_left - weight, middle, stop))
    inner = np.array(sorted(cuts))
    tails = (_tail_cut(values, cumulative, inner, n_bins, upper=upper) for upper in (False, True))
    return np.array(sorted({*cuts, *(cut for cut in tails if cut is not None)}))


def _tail_cut(
    values: FloatArray, cumulative: IntArray, cuts: FloatArray, n_bins: int, *, upper: bool
) -> float | None:
    """Return a cut of the last part, or of the first; None if it does not stretch far."""
    total = int(cumulative[-1])
    hundredth = total // 100
    least, most = np.searchsorted(cumulative, [total - 99 * total // 100, total - hundredth])
    middle = int(np.searchsorted(values, cuts[-1 if upper else 0], side="right"))
    start, stop = (middle, len(values)) if upper else (0, middle)
    ends = [max(start, least), min(stop - 1, most)]
    # Strays count as the quantiles .01 and .99: one wild value makes no tail.
    if (
        stop - start < TAIL_VALUES
        or ends[0] >= ends[1]
        or not _stretches(values[[*ends, least, most]], n_bins)
    ):
        return None
    before = int(cumulative[start - 1]) if start else 0
    weight = int(cumulative[stop - 1]) - before
    left = cumulative[start : stop - 1] - before
    first, last, cut_off = _cuttable(left, weight)
    if cut_off < max(1, hundredth):
        return None
    median = int(np.searchsorted(left, -(-weight // 2)))
    return roundest_between(values[start + first], values[start + last + 1], values[start + median])


def _stretches(ends: FloatArray, n_bins: int) -> bool:
    """Tell whether an interval is a large part of another one: (low, high, least, most)."""
    numbers = [Decimal(repr(float(number))).as_tuple() for number in ends]
    unit = min(int(number.exponent) for number in numbers)
    low, high, least, most = (_in_units(number, unit) for number in numbers)
    return (high - low) * n_bins * TAIL[1] >= (most - least) * TAIL[0]


def _cuttable(left: IntArray, weight: int) -> tuple[int, int, int]:
    """Return the first and the last value after which to cut, and the least that is cut off.

    `left` is the weight up to each value of a part but the last, and `weight` that of the part.
    """
    side = -(-weight // SIDE)
    first = int(np.searchsorted(left, side, side="left"))
    last = int(np.searchsorted(left, weight - side, side="right")) - 1
    if first <= last:
        return first, last, side
    # A single value has most of the rows. The cut is above or below it, where more is cut off.
    above = weight - int(left[first]) if first < len(left) else -1
    below = int(left[last]) if last >= 0 else -1
    return (first, first, above) if above >= below else (last, last, below)


def roundest_between(low: float, high: float, near: float) -> float:
    """Return the roundest number in [low, high); of several, the one nearest to `near`.

    A number is the rounder, the larger a step it is a multiple of: 10, 5, 2.5, 2 or 1 times a power
    of ten. So 0 is the roundest of all.
    """
    if low <= 0.0 < high:
        return 0.0
    numbers = [Decimal(repr(float(number))).as_tuple() for number in (low, high, near)]
    # In a unit of which all three are multiples, and so are the steps down to the digits of `low`.
    unit = min(int(number.exponent) for number in numbers) - 1
    least, end, target = (_in_units(number, unit) for number in numbers)
    for power in range(len(str(max(abs(least), abs(end)))), -1, -1):
        for tenths in TENTHS:
            step = tenths * 10**power // 10
            first, last = -(-least // step), (end - 1) // step
            if first <= last:
                multiple = min(max((2 * target + step) // (2 * step), first), last)
                number = float(f"{multiple * step}e{unit}")
                if low <= number < high:  # as floats too
                    return number
    return float(low)


def _in_units(number: DecimalTuple, unit: int) -> int:
    """Return a decimal number as a multiple of a power of ten."""
    whole: int = int("".join(map(str, number.digits))) * 10 ** (int(number.exponent) - unit)
    return -whole if number.sign else whole
