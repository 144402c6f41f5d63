"""Sums over the rows of conjunctions, for the search of columns that are worth adding."""

import numpy as np
from numba import njit

from mossrules._typing import BoolArray, CodeArray, FloatArray


@njit(nogil=True, cache=True)
def sum_by_code(
    codes: CodeArray, values: FloatArray, holds: BoolArray, above: FloatArray, below: FloatArray
) -> None:
    """Add the positive values of some rows to `above` and the sizes of the others to `below`.

    In place, by column and code: `above[j, codes[j, r]] += values[r]` where `holds[r]`.
    """
    rows = np.flatnonzero(holds)
    for j in range(codes.shape[0]):
        column = codes[j]
        for r in rows:
            value = values[r]
            if value > 0.0:
                above[j, column[r]] += value
            else:
                below[j, column[r]] -= value


@njit(nogil=True, cache=True)
def weigh_overlaps(
    members: BoolArray, other: BoolArray, weights: FloatArray, overlaps: FloatArray
) -> None:
    """Write the total weight of the rows that each member shares with another set of rows."""
    rows = np.flatnonzero(other)
    for i in range(members.shape[0]):
        member = members[i]
        total = 0.0
        for r in rows:
            if member[r]:
                total += weights[r]
        overlaps[i] = total
