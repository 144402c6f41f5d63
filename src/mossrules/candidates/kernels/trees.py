"""One level of every tree: histograms in one pass over a chunk of rows, then the best splits.

Notation (shapes in brackets)
    codes      bin codes                                             (columns, rows)
    target     target on its integer grid                            (rows,)
    weights    integer sample weights; empty means all ones          (rows,)
    row_ids    the rows' numbers, which draws go by, less `start`    (rows,)
    split_*    feature (-1 for a leaf), low and width of every node in heap order; a row goes left
               when `low <= code < low + width`, one comparison of wrapped uint8  (trees, nodes)
    features   columns to histogram at each node of the level, -1 for none   (trees, nodes, m)
    histogram  [..., 0] weight and [..., 1] weighted target per code  (trees, nodes, m, codes, 2)

Code 0 is a missing value and codes 1, 2, ... are the bins or levels of a column.
An ordered column is cut between two bins, and missing values go to the better side.
A nominal column is split into one level and the rest.
"""

import numpy as np

from mossrules._compiled import njit
from mossrules._typing import AnyArray, BitArray, BoolArray, CodeArray, IntArray
from mossrules.candidates.kernels.draws import TREES_PER_DRAW, draw_uniforms, poisson

BLOCK_ROWS = 4096  # rows handled together, so that all scratch stays in the second cache
MAX_PAIR_CELLS = 4096  # largest joint histogram worth its flush

# Without sample weights and noise, a row's weight (at most 8) and weighted target (below 2^33)
# travel in one word, weight on top: over a block they stay below 2^15 and 2^46.
TARGET_BITS = 46
TARGET_MASK = (1 << TARGET_BITS) - 1


@njit(nogil=True, cache=True)
def add_level_histograms(
    codes: CodeArray,
    target: AnyArray,
    weights: IntArray,
    start: int,
    row_ids: AnyArray,
    group_keys: BitArray,
    noise: IntArray,
    split_feature: IntArray,
    split_low: CodeArray,
    split_width: CodeArray,
    level: int,
    features: IntArray,
    histogram: IntArray,
) -> None:
    """Add one chunk's rows to `histogram`, in place.

    Two columns share one scatter: their joint histogram is filled with a single addition per row
    and split into its margins once per block, which halves the cost where bins are few. Weight and
    target share one addition where they fit in one word.
    """
    n_rows = codes.shape[1]
    n_trees, n_nodes, m, n_codes, _ = histogram.shape
    paired = n_nodes * n_codes * n_codes <= MAX_PAIR_CELLS
    n_cells = n_nodes * n_codes * (n_codes if paired else 1)
    packed = weights.shape[0] == 0 and noise.shape[0] == 0

    uniforms = np.empty((TREES_PER_DRAW, BLOCK_ROWS), np.uint16)
    drawn = np.empty(BLOCK_ROWS, np.uint8)
    row_weight = np.empty(BLOCK_ROWS, np.int64)
    row_target = np.empty(BLOCK_ROWS, np.int64)
    node_of_row = np.zeros(BLOCK_ROWS, np.uint8)
    cell_of_row = np.empty(BLOCK_ROWS, np.uint16)
    cell_weight = np.zeros(n_cells + 1, np.int64)  # the last cell takes rows of finished nodes
    cell_target = np.zeros(n_cells + 1, np.int64)

    for block_start in range(0, n_rows, BLOCK_ROWS):
        size = min(BLOCK_ROWS, n_rows - block_start)
        block_codes = codes[:, block_start : block_start + size]
        block_target = target[block_start : block_start + size]
        block_weights = weights[block_start : block_start + size]
        block_ids = row_ids[block_start : block_start + size]
        for group in range(group_keys.shape[0]):
            first_tree = group * TREES_PER_DRAW
            last_tree = min(first_tree + TREES_PER_DRAW, n_trees)
            if not np.any(features[first_tree:last_tree] >= 0):
                continue
            draw_uniforms(group_keys[group], start, block_ids, uniforms[:, :size])
            for tree in range(first_tree, last_tree):
                draws = uniforms[tree - first_tree]
                _weigh_rows(
                    draws, block_target, block_weights, noise, drawn, row_weight, row_target
                )
                _find_nodes(
                    block_codes,
                    split_feature[tree],
                    split_low[tree],
                    split_width[tree],
                    level,
                    node_of_row,
                )
                for j in range(0, m, 2 if paired else 1):
                    width = n_codes if paired and j + 1 < m else 1  # codes of a second column
                    cell_of_row[:size] = n_cells
                    _place_rows(
                        block_codes, features[tree, :, j:], n_codes, width, node_of_row, cell_of_row
                    )
                    for i in range(size):
                        cell_weight[cell_of_row[i]] += row_weight[i]
                    if packed:
                        _unpack_cells(cell_weight, cell_target)
                    else:
                        for i in range(size):
                            cell_target[cell_of_row[i]] += row_target[i]
                    _flush_cells(cell_weight, width, histogram[tree, :, j:, :, 0])
                    _flush_cells(cell_target, width, histogram[tree, :, j:, :, 1])


@njit(inline="always")
def _weigh_rows(
    uniforms: AnyArray,
    target: AnyArray,
    weights: IntArray,
    noise: IntArray,
    drawn: CodeArray,
    row_weight: IntArray,
    row_target: IntArray,
) -> None:
    """Set each row's weight and weighted target in one tree: bootstrap, or noise on the target.

    The bootstrap of rows without weights of their own is packed, both parts in `row_weight`.
    """
    size = target.shape[0]
    if noise.shape[0] > 0:
        for i in range(size):
            row_weight[i] = 1
            row_target[i] = np.int64(target[i]) + noise[uniforms[i]]
    else:
        for i in range(size):
            drawn[i] = poisson(uniforms[i])  # a loop of its own, for narrow vectors
        if weights.shape[0] == 0:
            for i in range(size):
                row_weight[i] = np.int64(drawn[i]) * ((1 << TARGET_BITS) + np.int64(target[i]))
            return
        for i in range(size):
            row_weight[i] = np.int64(drawn[i])
            row_target[i] = np.int64(drawn[i]) * np.int64(target[i])
    if weights.shape[0] > 0:
        for i in range(size):
            row_weight[i] *= weights[i]
            row_target[i] *= weights[i]


@njit(inline="always")
def _find_nodes(
    codes: CodeArray,
    feature: IntArray,
    low: CodeArray,
    width: CodeArray,
    level: int,
    node_of_row: CodeArray,
) -> None:
    """Walk each row down to its node of the level (numbered within the level)."""
    size = codes.shape[1]
    node_of_row[:size] = 0
    for above in range(level):
        # Without branches: rows of a node are scattered, so a jump would be guessed wrong half the
        # time.
        first = (1 << above) - 1
        for node in range((1 << above) - 1, -1, -1):
            # From the last node to the first: children 2k and 2k+1 are never met again.
            split = first + node
            here, left = np.uint8(node), np.uint8(2 * node)
            split_low, split_width = low[split], width[split]
            column = codes[max(feature[split], 0)]  # the rows of a finished node may go anywhere
            for i in range(size):
                right = np.uint8(np.uint8(column[i] - split_low) >= split_width)
                node_of_row[i] = (
                    np.uint8(left + right) if node_of_row[i] == here else node_of_row[i]
                )


@njit()
def _place_rows(
    codes: CodeArray,
    features: IntArray,
    n_codes: int,
    width: int,
    node_of_row: CodeArray,
    cell_of_row: AnyArray,
) -> None:
    """Set each row's cell: its node, its code in the node's first column and in the second, if any.

    One pass over all rows for every node, without branches: vectors of 16-bit numbers are faster
    than looking up each row's columns.
    """
    for node in range(features.shape[0]):
        first = features[node, 0]
        if first < 0:
            continue
        second = features[node, 1] if width > 1 else -1
        codes_first, codes_second = codes[first], codes[max(second, 0)]
        use_second = np.uint16(1 if second >= 0 else 0)
        here, stride = np.uint8(node), np.uint16(width)
        base = np.uint16(node * n_codes * width)
        for i in range(codes.shape[1]):
            cell = np.uint16(
                base + np.uint16(codes_first[i]) * stride + np.uint16(codes_second[i]) * use_second
            )
            cell_of_row[i] = cell if node_of_row[i] == here else cell_of_row[i]


@njit()
def _unpack_cells(cell_weight: IntArray, cell_target: IntArray) -> None:
    """Part sums of packed words into weights and targets."""
    for cell in range(cell_weight.shape[0]):
        cell_target[cell] = cell_weight[cell] & TARGET_MASK
        cell_weight[cell] >>= TARGET_BITS


@njit()
def _flush_cells(cells: IntArray, width: int, margins: IntArray) -> None:
    """Add the joint histogram to those of its one or two columns, and clear it."""
    n_nodes, _, n_codes = margins.shape
    for node in range(n_nodes):
        for a in range(n_codes):
            start = (node * n_codes + a) * width
            row_total = np.int64(0)
            for b in range(width):
                row_total += cells[start + b]
            margins[node, 0, a] += row_total
            if width > 1:
                for b in range(width):
                    margins[node, 1, b] += cells[start + b]
    cells[:] = 0


# --- splits ---------------------------------------------------------------------------------------


# What became of a node: its outcome is one of these.
INACTIVE, SPLIT, NO_GAIN, ALL_CONSTANT = 0, 1, 2, 3

# Even gains that differ by less than this share are the same: rounding is some thousand times
# smaller, and splits of different rows that are so near without being equal hardly occur.
TIE = 1e-12


@njit(cache=True)
def choose_splits(
    histogram: IntArray,
    features: IntArray,
    n_levels: IntArray,
    min_leaf_weight: int,
    first_varying_only: bool,
    even: bool,
    split_feature: IntArray,
    split_low: CodeArray,
    split_width: CodeArray,
    split_has_missing: BoolArray,
    outcome: CodeArray,
) -> None:
    """Set the split and the outcome of every node of the level that has features, in place.

    Ties go to the feature that stands first and then to the lowest code, so the choice is a
    function of the integers in `histogram` and of `features` alone. If `even`, gains are compared
    so that a target turned around, or in another unit, has the same ties.
    `n_levels` is the number of levels of a nominal column and 0 for an ordered one.
    With `first_varying_only`, a node looks no further than its first column that varies.
    """
    n_trees, n_nodes, m, _, _ = histogram.shape
    margin = 1.0 + TIE if even else 1.0
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
                # As in scikit-learn: columns that are constant here do not use up the draw.
                if not _varies(weight):
                    continue
                if outcome[tree, node] == ALL_CONSTANT:
                    outcome[tree, node] = NO_GAIN
                if n_levels[feature] > 0:
                    gain, low, width = _best_level(
                        weight, total, n_levels[feature], min_leaf_weight, even, margin
                    )
                else:
                    gain, low, width = _best_cut(weight, total, min_leaf_weight, even, margin)
                if gain > best_gain * margin:
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
def _gain(
    left_weight: int, left: int, weight: int, total: int, min_leaf_weight: int, even: bool
) -> float:
    """Return the fall in the sum of squares, w_L w_R / w (mean_L - mean_R)^2, or -1 if not allowed.

    In this form the gain is exactly zero when the means agree, whatever the rounding. If `even`, it
    is times w, which is the same for all splits of a node, and right to the last digits.
    """
    right_weight = weight - left_weight
    if min(left_weight, right_weight) < min_leaf_weight:
        return -1.0
    if even:
        apart = _cross(left, right_weight, total - left, left_weight)
        return apart / left_weight * (apart / right_weight)
    difference = left / left_weight - (total - left) / right_weight
    return float(left_weight) * float(right_weight) / float(weight) * difference * difference


@njit()
def _cross(a: int, b: int, c: int, d: int) -> float:
    """Return |a b - c d| of integers that are not negative, exact up to its last rounding."""
    high, low = _product(np.uint64(a), np.uint64(b))
    other_high, other_low = _product(np.uint64(c), np.uint64(d))
    if high < other_high or (high == other_high and low < other_low):
        high, low, other_high, other_low = other_high, other_low, high, low
    borrow = np.uint64(1) if low < other_low else np.uint64(0)
    return np.float64(high - other_high - borrow) * 2.0**64 + np.float64(low - other_low)


@njit()
def _product(a: np.uint64, b: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return the upper and the lower 64 bits of a b."""
    half, mask = np.uint64(32), np.uint64(0xFFFFFFFF)
    a_high, a_low, b_high, b_low = a >> half, a & mask, b >> half, b & mask
    lowest, one, two = a_low * b_low, a_high * b_low, a_low * b_high
    middle = (lowest >> half) + (one & mask) + (two & mask)
    high = a_high * b_high + (one >> half) + (two >> half) + (middle >> half)
    return high, (middle << half) | (lowest & mask)


@njit()
def _best_level(
    weight: IntArray,
    total: IntArray,
    n_levels: int,
    min_leaf_weight: int,
    even: bool,
    margin: float,
) -> tuple[float, int, int]:
    """Return (gain, low, width) of the best split into one level (or missing) and the rest.

    Levels too rare to have their own code share the next one, which is only ever "the rest".
    """
    best_gain, best_code = 0.0, 0
    all_weight, all_total = weight.sum(), total.sum()
    for code in range(n_levels + 1):
        gain = _gain(weight[code], total[code], all_weight, all_total, min_leaf_weight, even)
        if gain > best_gain * margin:
            best_gain, best_code = gain, code
    return best_gain, best_code, 1


@njit()
def _best_cut(
    weight: IntArray, total: IntArray, min_leaf_weight: int, even: bool, margin: float
) -> tuple[float, int, int]:
    """Return (gain, low, width) of the best cut, with missing values on the better side.

    A cut through empty bins is put in the middle of them, as scikit-learn does with thresholds.
    """
    best_gain, best_low, best_cut = 0.0, 1, 0
    all_weight, all_total = weight.sum(), total.sum()
    if weight[0] > 0:  # missing against present
        gain = _gain(weight[0], total[0], all_weight, all_total, min_leaf_weight, even)
        best_gain = max(0.0, gain)
        best_low = 0
    left_weight, left, previous = np.int64(0), np.int64(0), 0
    for code in range(1, weight.shape[0]):
        if weight[code] == 0:
            continue
        if previous > 0:
            middle = (previous + code) // 2
            gain = _gain(left_weight, left, all_weight, all_total, min_leaf_weight, even)
            if gain > best_gain * margin:  # missing on the right
                best_gain, best_low, best_cut = gain, 1, middle
            if weight[0] > 0:
                gain = _gain(
                    left_weight + weight[0],
                    left + total[0],
                    all_weight,
                    all_total,
                    min_leaf_weight,
                    even,
                )
                if gain > best_gain * margin:  # missing on the left
                    best_gain, best_low, best_cut = gain, 0, middle
        left_weight += weight[code]
        left += total[code]
        previous = code
    return best_gain, best_low, best_cut + 1 - best_low
