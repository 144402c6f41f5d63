"""Bin codes of numbers."""

import numpy as np
from numba import njit

from mossrules._typing import CodeArray, FloatArray


@njit(nogil=True, cache=True)
def encode_numbers(values: FloatArray, cuts: FloatArray, codes: CodeArray) -> None:
    """Set code 0 for NaN and otherwise 1 + the number of cuts below the value, in place.

    One comparison per cut, branch-free: for the usual nine cuts this beats a binary search.
    """
    for i in range(values.shape[0]):
        codes[i] = np.uint8(values[i] == values[i])
    for cut in cuts:
        for i in range(values.shape[0]):
            codes[i] += np.uint8(values[i] > cut)
