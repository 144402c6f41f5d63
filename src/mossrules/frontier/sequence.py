"""The floors at which the paper solves: sums of a window that slides down the sorted counts."""

from __future__ import annotations

import numpy as np

from mossrules._checks import check_integer
from mossrules._typing import IntArray
from mossrules.exceptions import InvalidParameter

__all__ = ["epsilon_sequence"]


def epsilon_sequence(counts: IntArray, max_rules: int) -> IntArray:
    """Return the paper's E: distinct sums of `max_rules` consecutive sorted counts, descending.

    The first is the largest stability of any selection. With fewer rules than `max_rules` there is
    one window, all of them.

    Examples
    --------
    >>> epsilon_sequence([5, 9, 7, 1, 1], max_rules=2)
    array([16, 12,  6,  2])
    """
    max_rules = check_integer("max_rules", max_rules)
    given = np.asarray(counts)
    if given.ndim != 1 or len(given) == 0 or given.dtype.kind not in "iu" or (given < 0).any():
        raise InvalidParameter(
            "counts must be a list of integers that are not negative, one for each rule."
        )
    ordered = np.sort(given.astype(np.int64))[::-1]
    size = min(max_rules, len(ordered))
    total = np.concatenate([[0], np.cumsum(ordered)])
    return np.unique(total[size:] - total[:-size])[::-1]
