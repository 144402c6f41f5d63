"""The best split of every node of a level, from its histograms.

Code 0 is a missing value and codes 1, 2, ... are the bins or levels of a column.
An ordered column is cut between two bins, and missing values go to the better side.
A nominal column is split into one level and the rest.
"""

import numpy as np
from numba import njit

from mossrules._typing import BoolArray, CodeArray, IntArray

# What became of a node: its outcome is one of these.
INACTIVE, SPLIT, NO_GAIN, ALL_CONSTANT = 0, 1, 2, 3


@njit(cache=True)
def choose_splits(
    histogram: IntArray,
    features: IntArray,
    n_levels: IntArray,
    min_leaf_weight: int,
    first_varying_only: bool,
    split_feature: IntArray,
    split_low: CodeArray,
    split_width: CodeArray,
    split_has_missing: BoolArray,
    outcome: CodeArray,
) -> None:
    """Set the split and the outcome of every node of the level that has features, in place.

    Ties go to the feature drawn first and then to the lowest code, so the choice is a function of
    the integers in `histogram` and of the draw alone.
    `n_levels` is the number of levels of a nominal column and 0 for an ordered one.
    With `first_varying_only`, a node looks no further than its first column that varies.
    """
    n_trees, n_nodes, m, _, _ = histogram.shape
    for tree in range(n_trees):
        for node in range(n_nodes):
            if features[tree, node, 0] < 0:
                continue
            best_gain = 0.0
            outcome[tree, node] = ALL_CONSTANT
            for j in range(m):
                feature = features[tree, node, j]
                if feature < 0:
                    break
                weight = histogram[tree, node, j, :, 0]
                total = histogram[tree, node, j, :, 1]
                if not _varies(weight):
                    continue
                if outcome[tree, node] == ALL_CONSTANT:
                    outcome[tree, node] = NO_GAIN
                if n_levels[feature] > 0:
                    gain, low, width = _best_level(
                        weight, total, n_levels[feature], min_leaf_weight
                    )
                else:
                    gain, low, width = _best_cut(weight, total, min_leaf_weight)
                if gain > best_gain:
                    best_gain = gain
                    outcome[tree, node] = SPLIT
                    split_feature[tree, node] = feature
                    split_low[tree, node] = low
                    split_width[tree, node] = width
                    split_has_missing[tree, node] = weight[0] > 0
                if first_varying_only:
                    break


@njit(inline="always")
def _varies(weight: IntArray) -> bool:
    """Tell whether a node's rows have more than one code."""
    present = 0
    for code in range(weight.shape[0]):
        present += weight[code] > 0
    return present > 1


@njit(inline="always")
def _gain(left_weight: int, left: int, weight: int, total: int, min_leaf_weight: int) -> float:
    """Return the fall in the sum of squares, w_L w_R / w (mean_L - mean_R)^2, or -1 if not allowed.

    In this form the gain is exactly zero when the means agree, whatever the rounding.
    """
    right_weight = weight - left_weight
    if min(left_weight, right_weight) < min_leaf_weight:
        return -1.0
    difference = left / left_weight - (total - left) / right_weight
    return float(left_weight) * float(right_weight) / float(weight) * difference * difference


@njit
def _best_level(
    weight: IntArray, total: IntArray, n_levels: int, min_leaf_weight: int
) -> tuple[float, int, int]:
    """Return (gain, low, width) of the best split into one level (or missing) and the rest.

    Levels too rare to have their own code share the next one, which is only ever "the rest".
    """
    best_gain, best_code = 0.0, 0
    all_weight, all_total = weight.sum(), total.sum()
    for code in range(n_levels + 1):
        gain = _gain(weight[code], total[code], all_weight, all_total, min_leaf_weight)
        if gain > best_gain:
            best_gain, best_code = gain, code
    return best_gain, best_code, 1


@njit
def _best_cut(weight: IntArray, total: IntArray, min_leaf_weight: int) -> tuple[float, int, int]:
    """Return (gain, low, width) of the best cut, with missing values on the better side.

    A cut through empty bins is put in the middle of them, as scikit-learn does with thresholds.
    """
    best_gain, best_low, best_cut = 0.0, 1, 0
    all_weight, all_total = weight.sum(), total.sum()
    if weight[0] > 0:  # missing against present
        best_gain = max(0.0, _gain(weight[0], total[0], all_weight, all_total, min_leaf_weight))
        best_low = 0
    left_weight, left, previous = np.int64(0), np.int64(0), 0
    for code in range(1, weight.shape[0]):
        if weight[code] == 0:
            continue
        if previous > 0:
            middle = (previous + code) // 2
            gain = _gain(left_weight, left, all_weight, all_total, min_leaf_weight)
            if gain > best_gain:  # missing on the right
                best_gain, best_low, best_cut = gain, 1, middle
            if weight[0] > 0:
                gain = _gain(
                    left_weight + weight[0], left + total[0], all_weight, all_total, min_leaf_weight
                )
                if gain > best_gain:  # missing on the left
                    best_gain, best_low, best_cut = gain, 0, middle
        left_weight += weight[code]
        left += total[code]
        previous = code
    return best_gain, best_low, best_cut + 1 - best_low
