"""A forest of shallow trees on bin codes: all trees at once, one pass over the rows per level.

Each pass fills, for every node of the level in every tree, the histograms of the columns drawn
for that node; the split is then a function of these integers alone. Rows are weighted by
Poisson(1) draws keyed by (seed, tree, row), columns are drawn by (seed, tree, node): the forest is
the same for any chunking, any number of threads and any order of the work. Rows of a group share
the draw of their group, as does the noise of a noisy target.

Differences from scikit-learn's forest: Poisson instead of multinomial bootstrap, and a node whose
best gain is exactly zero is not split. Where every column drawn for a node is constant there, the
draw goes on until one varies, as in scikit-learn; such nodes cost one more pass.

`ForestGenerator` is the forest as a source of rules: trees on bootstrap rows, a random share of the
columns at each split; or, with `noise`, on all rows and the target plus Gaussian noise of each
tree's own (paper, "Generating Candidate Rules"). Other sources are a `Generator` too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
from scipy.special import ndtri

from mossrules._common import check_integer, check_number
from mossrules._typing import AnyArray, BitArray, BoolArray, CodeArray, IntArray
from mossrules.candidates.kernels.draws import BOOTSTRAP, TREES_PER_DRAW, draw_features, stream_key
from mossrules.candidates.kernels.trees import (
    ALL_CONSTANT,
    INACTIVE,
    add_level_histograms,
    choose_splits,
)
from mossrules.data.content_order import TARGET, Numbering
from mossrules.data.even_grid import coarse
from mossrules.exceptions import InvalidParameter

if TYPE_CHECKING:
    from mossrules.candidates.codes import EncodedChunk, EncodedTable
    from mossrules.candidates.cuts import Binning
    from mossrules.data.chunks import Progress

# A rule of more than six conditions is not read by anyone, and node numbers have six bits.
MAX_DEPTH = 6
MOST_TREES = 10**9  # of more, the nodes alone would fill any memory
AUTO_TREES: Final = "auto"  # as many trees as `enough_trees` finds to be enough
HISTOGRAM_BYTES = 1 << 28  # trees are grown in batches when their histograms would exceed this


class Step(NamedTuple):
    """One step down a tree: codes low..low+width-1 of a column go left, all others right.

    `has_missing` tells whether rows with a missing value were among those split.
    """

    feature: int
    low: int
    width: int
    has_missing: bool
    goes_left: bool


Path = tuple[Step, ...]


@dataclass(frozen=True)
class Forest:
    """Splits of all trees in heap order: the children of node k are 2k+1 and 2k+2.

    Arrays are (trees, nodes that may split); `feature` is -1 where a node was not split.
    """

    feature: IntArray
    low: CodeArray
    width: CodeArray
    has_missing: BoolArray

    @classmethod
    def unsplit(cls, n_trees: int, max_depth: int) -> Forest:
        """Return trees that are all root."""
        shape = (n_trees, (1 << max_depth) - 1)
        return cls(
            np.full(shape, -1, dtype=np.int64),
            np.zeros(shape, dtype=np.uint8),
            np.zeros(shape, dtype=np.uint8),
            np.zeros(shape, dtype=bool),
        )

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.feature)

    def paths(self, *, inner_nodes: bool = False) -> Iterator[tuple[int, Path]]:
        """Yield (tree, path from the root) of every leaf and, if wanted, every inner node."""
        columns = (self.feature, self.low, self.width, self.has_missing)
        n_nodes = self.feature.shape[1]
        for tree, splits in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
            feature, low, width, has_missing = splits
            stack: list[tuple[int, Path]] = [(0, ())]
            while stack:
                node, path = stack.pop()
                is_leaf = node >= n_nodes or feature[node] < 0
                if path and (is_leaf or inner_nodes):
                    yield tree, path
                if not is_leaf:
                    split = (feature[node], low[node], width[node], has_missing[node])
                    stack.append((2 * node + 2, (*path, Step(*split, goes_left=False))))
                    stack.append((2 * node + 1, (*path, Step(*split, goes_left=True))))

    def distinct_paths(self, *, inner_nodes: bool = False) -> Iterator[tuple[IntArray, Path]]:
        """Yield (trees, path) of each distinct path of `paths`.

        Most paths are those of many trees: here each is made once, level by level. A path has a
        number, by which the nodes that it leads to are put together.
        """
        n_nodes = self.feature.shape[1]
        known: list[Path] = [()]  # by number
        numbers = np.zeros((self.n_trees, 1), dtype=np.int64)  # of the nodes of a level; -1: none
        while True:
            n_level = numbers.shape[1]
            first = n_level - 1
            is_last = first >= n_nodes
            there = numbers >= 0
            splits = np.zeros_like(there)
            if not is_last:
                splits = there & (self.feature[:, first : first + n_level] >= 0)
            ends = there & (~splits | inner_nodes)
            yield from _trees_of_each(numbers, ends, known)
            if not splits.any():
                return
            numbers, known = self._step_down(numbers, splits, first, known)

    def _step_down(
        self, numbers: IntArray, splits: BoolArray, first: int, known: list[Path]
    ) -> tuple[IntArray, list[Path]]:
        """Return the numbers of the paths to the nodes of the next level, and these paths."""
        trees, nodes = np.nonzero(splits)
        columns = (self.feature, self.low, self.width, self.has_missing)
        at = [numbers[trees, nodes], *(each[trees, first + nodes] for each in columns)]
        parts = np.stack([np.asarray(each, dtype=np.int64) for each in at])
        # A key for each: the mixed-radix number of its parts.
        radices = parts.max(axis=1) + 1
        key = np.zeros(len(trees), dtype=np.int64)
        for part, radix in zip(parts, radices, strict=True):
            key = key * radix + part
        firsts, which = np.unique(key, return_index=True, return_inverse=True)[1:]
        paths: list[Path] = []
        for number, column, low, width, missing in parts[:, firsts].T.tolist():
            for goes_left in (True, False):
                step = Step(column, low, width, bool(missing), goes_left)
                paths.append((*known[number], step))
        below = np.full((len(numbers), 2 * numbers.shape[1]), -1, dtype=np.int64)
        below[trees, 2 * nodes] = 2 * which
        below[trees, 2 * nodes + 1] = 2 * which + 1
        return below, paths


def _trees_of_each(
    numbers: IntArray, ends: BoolArray, known: list[Path]
) -> Iterator[tuple[IntArray, Path]]:
    """Yield the trees of each path that ends on a level; that to the root says nothing."""
    trees, nodes = np.nonzero(ends)
    if known == [()] or not len(trees):
        return
    ended = numbers[trees, nodes]
    order = np.argsort(ended, kind="stable")
    found, starts = np.unique(ended[order], return_index=True)
    for number, of_path in zip(found.tolist(), np.split(trees[order], starts[1:]), strict=True):
        yield of_path, known[number]


def grow_forest(
    data: EncodedTable,
    *,
    n_trees: int = 500,
    max_depth: int = 2,
    max_features: float = 1 / 3,
    min_leaf: float = 1,
    seed: int = 0,
    first_tree: int = 0,
    noise: IntArray | None = None,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> Forest:
    """Grow the trees.

    Parameters
    ----------
    max_features : share of the columns that each split looks at (or their number, if an int).
    min_leaf : least number of bootstrap rows in a leaf (with sample weights: of average rows).
    first_tree : of a larger forest these trees are those from this one on, a multiple of four.
    noise : 65536 equally likely amounts to add to the target instead of the bootstrap.
    """
    max_depth = check_integer("max_depth", max_depth, maximum=MAX_DEPTH)
    n_columns = len(data.binning.columns)
    grower = _Grower(
        data=data,
        forest=Forest.unsplit(check_integer("n_trees", n_trees, maximum=MOST_TREES), max_depth),
        n_drawn=count_features(max_features, n_columns),
        min_leaf_weight=_leaf_weight(data, min_leaf),
        seed=np.uint64(seed),
        first_tree=check_integer("first_tree", first_tree, minimum=0),
        noise=np.empty(0, dtype=np.int64) if noise is None else noise,
        n_jobs=n_jobs,
        progress=progress,
    )
    # Level by level, not tree by tree: all trees share one pass over the rows, so that a thousand
    # trees read them as often as one does.
    for level in range(max_depth):
        grower.grow_level(level)
    return grower.forest


def count_features(max_features: float, n_columns: int) -> int:
    """Return how many columns a split looks at, as scikit-learn counts them."""
    if isinstance(max_features, int | np.integer) and max_features >= 1:
        return min(int(max_features), n_columns)
    if isinstance(max_features, float | np.floating) and 0.0 < max_features <= 1.0:
        return max(1, int(max_features * n_columns))
    raise InvalidParameter(
        f"max_features is {max_features!r}; pass a share in (0, 1] or a number of columns."
    )


def _leaf_weight(data: EncodedTable, min_leaf: float) -> int:
    """Return `min_leaf` rows in the integer units of the weights."""
    min_leaf = check_number("min_leaf", min_leaf)
    if not data.is_weighted:
        return int(np.ceil(min_leaf))
    # A leaf of one row is any leaf: rows lighter than the average may stand alone.
    average = data.moments.weight / data.moments.rows
    return 1 if min_leaf <= 1 else max(1, round(min_leaf * average))


@dataclass
class _Grower:
    """What the levels of one forest share while it grows."""

    data: EncodedTable
    forest: Forest
    n_drawn: int
    min_leaf_weight: int
    seed: np.uint64
    first_tree: int
    noise: IntArray
    n_jobs: int
    progress: Progress | None

    def grow_level(self, level: int) -> None:
        """Split every node of the level that can be split.

        Order of steps: draw columns -> fill histograms -> choose splits; then the same again, with
        the next columns of each draw, for nodes in which all columns so far were constant.
        """
        active = self._active_nodes(level)
        n_columns = len(self.data.binning.columns)
        for start in range(0, n_columns, self.n_drawn):
            if not active.any():
                break
            outcome = np.full(active.shape, INACTIVE, dtype=np.uint8)
            for trees in self._batches(active.shape[1]):
                if active[trees].any():
                    self._split_nodes(level, trees, active, start, outcome)
            # These alone look at further columns: a constant column says nothing for or against a
            # split.
            active = outcome == ALL_CONSTANT

    def _active_nodes(self, level: int) -> BoolArray:
        """Return which nodes of the level exist: those whose parent was split."""
        n_nodes = 1 << level
        if level == 0:
            return np.ones((self.forest.n_trees, 1), dtype=bool)
        parents = self.forest.feature[:, n_nodes // 2 - 1 : n_nodes - 1] >= 0
        return np.repeat(parents, 2, axis=1)

    def _batches(self, n_nodes: int) -> Iterator[slice]:
        """Yield groups of trees whose histograms fit in memory; bounds are multiples of four."""
        # Weight and target of each code, eight bytes each.
        bytes_per_tree = n_nodes * self.n_drawn * self.data.binning.n_codes * 16
        # Each thread fills histograms of its own, and one more set is being added up.
        size = max(1, HISTOGRAM_BYTES // (bytes_per_tree * TREES_PER_DRAW * (self.n_jobs + 1)))
        for first in range(0, self.forest.n_trees, size * TREES_PER_DRAW):
            yield slice(first, min(first + size * TREES_PER_DRAW, self.forest.n_trees))

    def _split_nodes(
        self, level: int, trees: slice, active: BoolArray, start: int, outcome: CodeArray
    ) -> None:
        first_node = (1 << level) - 1
        level_nodes = slice(first_node, 2 * first_node + 1)
        n_nodes = active.shape[1]
        binning = self.data.binning
        features = np.empty((trees.stop - trees.start, n_nodes, self.n_drawn), dtype=np.int64)
        draw_features(
            self.seed,
            self.first_tree + trees.start,
            first_node,
            active[trees],
            len(binning.columns),
            start,
            features,
        )
        if self.data.column_order is not None:
            features = _in_order(features, self.data.column_order, drawn_first=start > 0)
        histogram = self._histograms(level, trees, features)
        forest = self.forest
        choose_splits(
            histogram,
            features,
            binning.nominal_levels,
            self.min_leaf_weight,
            start > 0,
            self.data.is_even and not len(self.noise),
            forest.feature[trees, level_nodes],
            forest.low[trees, level_nodes],
            forest.width[trees, level_nodes],
            forest.has_missing[trees, level_nodes],
            outcome[trees],
        )

    def _histograms(self, level: int, trees: slice, features: IntArray) -> AnyArray:
        """Fold the level's histograms over all chunks: the one pass over the rows."""
        first = self.first_tree // TREES_PER_DRAW
        groups = range(
            first + trees.start // TREES_PER_DRAW, first - (-trees.stop // TREES_PER_DRAW)
        )
        keys = np.array([stream_key(self.seed, BOOTSTRAP, group) for group in groups], np.uint64)
        forest = self.forest
        fill = _LevelHistograms(
            keys=keys,
            noise=self.noise,
            target_shift=self.data.forest_shift,
            is_even=self.data.is_even,
            splits=(forest.feature[trees], forest.low[trees], forest.width[trees]),
            level=level,
            features=features,
            n_codes=self.data.binning.n_codes,
        )
        return self.data.chunks.fold(
            fill,
            _add_in_place,
            n_jobs=self.n_jobs,
            stage=f"growing level {level + 1}",
            progress=self.progress,
        )


@dataclass(frozen=True)
class _LevelHistograms:
    """The work of a level on one chunk; what it holds is small, and may be sent to where it is."""

    keys: BitArray
    noise: IntArray
    target_shift: int
    is_even: bool
    splits: tuple[IntArray, CodeArray, CodeArray]  # feature, low and width of the levels above
    level: int
    features: IntArray
    n_codes: int

    def __call__(self, chunk: EncodedChunk) -> AnyArray:
        histogram = np.zeros((*self.features.shape, self.n_codes, 2), dtype=np.int64)
        shifted = coarse if self.is_even else np.right_shift
        add_level_histograms(
            chunk.codes,
            shifted(chunk.target, self.target_shift),
            np.empty(0, dtype=np.int64) if chunk.weights is None else chunk.weights,
            *chunk.drawn_by,
            self.keys,
            self.noise,
            *self.splits,
            self.level,
            self.features,
            histogram,
        )
        return histogram


def _in_order(features: IntArray, column_order: IntArray, *, drawn_first: bool) -> IntArray:
    """Return the columns that stand at drawn places of an order, in this order themselves.

    Ties go to the column that stands first. A further draw is looked at in the order drawn, as it
    ends with its first column that varies.
    """
    places = features if drawn_first else np.sort(features.astype(np.uint64)).astype(np.int64)
    return np.where(places < 0, -1, column_order[np.maximum(places, 0)])


def _add_in_place(total: AnyArray, part: AnyArray) -> AnyArray:
    total += part
    return total


# --- as a source of rules ------------------------------------------------------------------------


@runtime_checkable
class Generator(Protocol):
    """What every source of rules offers."""

    @property
    def n_trees(self) -> int | Literal["auto"]:
        """Number of trees whose paths are given."""

    def adapt(self, binning: Binning) -> Binning:
        """Return the binning whose codes the paths refer to."""

    def paths(
        self,
        data: EncodedTable,
        *,
        inner_nodes: bool = False,
        n_jobs: int = 1,
        progress: Progress | None = None,
    ) -> Iterator[tuple[int, Path]]:
        """Yield (tree, path) of every leaf and, if wanted, every inner node."""


@dataclass(frozen=True)
class ForestGenerator:
    """A forest of our own; see `grow_forest` for the parameters.

    `noise` is the standard deviation of Gaussian noise on the target, in standard deviations of
    the target; None means bootstrap rows instead. With `numbering="content"` the forest does not
    depend on the order of the columns, nor on the sign and the unit of the target; "target" is the
    paper's experiments'.
    """

    n_trees: int | Literal["auto"] = 500
    max_depth: int = 2
    max_features: float = 1 / 3
    min_leaf: float = 1
    noise: float | None = None
    seed: int = 0
    first_tree: int = 0  # of those of a larger forest
    numbering: Numbering = TARGET  # by what rows and columns are numbered, which draws go by

    def __post_init__(self) -> None:
        if isinstance(self.n_trees, str) and self.n_trees != AUTO_TREES:
            raise InvalidParameter(
                f"n_trees is {self.n_trees!r}; pass a number of trees, or 'auto'."
            )
        if not isinstance(self.n_trees, str):
            check_integer("n_trees", self.n_trees, maximum=MOST_TREES)
        if self.noise is not None:
            check_number("noise", self.noise)

    def adapt(self, binning: Binning) -> Binning:
        """Return the binning as it is: our trees split where the bins are."""
        return binning

    def paths(
        self,
        data: EncodedTable,
        *,
        inner_nodes: bool = False,
        n_jobs: int = 1,
        progress: Progress | None = None,
    ) -> Iterator[tuple[int, Path]]:
        """Grow the forest and yield its paths."""
        return self.grow(data, n_jobs=n_jobs, progress=progress).paths(inner_nodes=inner_nodes)

    def grow(
        self, data: EncodedTable, *, n_jobs: int = 1, progress: Progress | None = None
    ) -> Forest:
        """Return the trees."""
        return grow_forest(
            data,
            n_trees=check_integer("n_trees", self.n_trees, maximum=MOST_TREES),
            max_depth=self.max_depth,
            max_features=self.max_features,
            min_leaf=self.min_leaf,
            seed=self.seed,
            first_tree=self.first_tree,
            noise=None if self.noise is None else gaussian_noise(data, self.noise),
            n_jobs=n_jobs,
            progress=progress,
        )


def gaussian_noise(data: EncodedTable, scale: float) -> IntArray:
    """Return 65536 equally likely normal amounts, of `scale` target standard deviations.

    They are the quantiles at the midpoints of 65536 equal shares, in the units that the forest
    reads the target in.
    """
    deviation = float(data.moments.variance) ** 0.5 / (1 << data.forest_shift)
    # A table of quantiles, looked up by a 16-bit draw: each row's noise is then a function of its
    # number and the tree, as bootstrap counts are, and no stream of random numbers has to be cut
    # up.
    quantiles = ndtri((np.arange(65536) + 0.5) / 65536)
    noise: IntArray = np.rint(quantiles * deviation * scale).astype(np.int64)
    return noise
