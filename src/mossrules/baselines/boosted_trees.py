"""RuleFit's own trees: boosting with trees of random sizes, on random parts of the rows.

As Friedman and Popescu (2008) do it for squared loss: each tree is fitted to the residuals of those
before it, on rows drawn without replacement (or on groups of them, where rows are in groups), and
moves the predictions by a small share of its own.
Trees look at bin codes, so that their rules speak of the same bins as everyone's: a missing value
is below the first bin, and each level of a category is a column of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from mossrules._common import check_integer, check_number
from mossrules._typing import AnyArray, IntArray
from mossrules.candidates.codes import EncodedTable
from mossrules.candidates.cuts import MISSING, Binning
from mossrules.candidates.ensembles import tree_paths
from mossrules.candidates.forest import Path, Step
from mossrules.data.chunks import Progress
from mossrules.exceptions import InvalidParameter

__all__ = ["BoostedTrees"]


@dataclass(frozen=True)
class BoostedTrees:
    """A source of candidate rules.

    Parameters
    ----------
    n_trees : how many trees.
    tree_size : mean number of their leaves: 2 plus a whole number from an exponential distribution.
    learning_rate : share of a tree's predictions by which those of the model move.
    seed : of sizes, rows and the order in which splits are compared.
    """

    n_trees: int = 500
    tree_size: float = 4
    learning_rate: float = 0.01
    seed: int = 0

    def __post_init__(self) -> None:
        check_integer("n_trees", self.n_trees)
        check_number("tree_size", self.tree_size, minimum=2.0)
        if check_number("learning_rate", self.learning_rate) > 1:
            raise InvalidParameter(
                f"learning_rate is {self.learning_rate!r}; pass a share in (0, 1]."
            )

    def adapt(self, binning: Binning) -> Binning:
        """Return the binning as it is: trees split where the bins are."""
        return binning

    def paths(
        self,
        data: EncodedTable,
        *,
        inner_nodes: bool = False,
        n_jobs: int = 1,  # noqa: ARG002  a tree waits for the one before it
        progress: Progress | None = None,
    ) -> Iterator[tuple[int, Path]]:
        """Grow the trees and yield their paths."""
        # scikit-learn's gradient boosting has one size for all trees; RuleFit's sizes are drawn, so
        # that rules are of different lengths.
        columns = _Columns.of(data)
        for number, tree in enumerate(self._grow(data, columns.values)):
            for path in tree_paths(tree, partial(columns.steps, tree), inner_nodes=inner_nodes):
                yield number, path
            if progress is not None:
                progress("boosting trees", number + 1, self.n_trees)

    def _grow(self, data: EncodedTable, X: AnyArray) -> Iterator[Any]:
        """Yield scikit-learn's tree structures, in order."""
        rng = np.random.default_rng(self.seed)
        rows = data.whole()
        y = rows.target.astype(np.float64)
        weights = np.ones(len(y))
        if rows.weights is not None:
            weights = rows.weights.astype(np.float64)
            weights /= weights.max()  # so that weights which are all alike are none, to the bit
        residuals = y - np.average(y, weights=weights)
        used = np.flatnonzero(weights)
        units = _units(used, rows.draw_ids)
        # As many groups as have, on average, the rows of a tree.
        n_drawn = max(1, round(rows_per_tree(len(used)) * len(units) / len(used)))
        for size in self.tree_sizes(rng):
            drawn = np.concatenate(
                [units[i] for i in rng.choice(len(units), n_drawn, replace=False)]
            )
            tree = DecisionTreeRegressor(
                max_leaf_nodes=int(size), random_state=int(rng.integers(1 << 31))
            ).fit(X[drawn], residuals[drawn], sample_weight=weights[drawn])
            # All rows are predicted, also those that were not drawn: the next tree may draw them.
            residuals -= self.learning_rate * tree.predict(X)
            yield tree.tree_

    def tree_sizes(self, rng: np.random.Generator) -> IntArray:
        """Draw the number of leaves of each tree."""
        sizes: IntArray = 2 + rng.exponential(self.tree_size - 2, self.n_trees).astype(np.int64)
        return sizes


def _units(used: IntArray, draw_ids: AnyArray | None) -> Sequence[IntArray]:
    """Return the rows that are drawn together: those of a group, or each by itself."""
    if draw_ids is None:
        return used[:, None]  # type: ignore[return-value]  # a sequence of arrays too
    order = np.argsort(draw_ids[used], kind="stable")
    first = np.unique(draw_ids[used][order], return_index=True)[1]
    return np.split(used[order], first[1:])


def rows_per_tree(n_rows: int) -> int:
    """Return how many of the rows each tree is fitted to: fewer than half where there are many."""
    # The published share is min(1/2, (100 + 6 sqrt(n)) / n): trees on few rows differ more.
    return max(2, int(min(n_rows / 2, 100 + 6 * n_rows**0.5)))


@dataclass(frozen=True)
class _Columns:
    """What trees split: the codes of a column, or whether it is at one level of a category."""

    values: AnyArray  # (rows, columns), in scikit-learn's type
    features: tuple[int, ...]  # position in the table of what each is made from
    levels: tuple[int | None, ...]  # the code that is 1 where others are 0; None for codes
    has_missing: tuple[bool, ...]

    @classmethod
    def of(cls, data: EncodedTable) -> _Columns:
        codes = data.whole().codes
        has_missing = data.has_missing
        features: list[int] = []
        levels: list[int | None] = []
        values = []
        for feature, column in enumerate(data.binning.columns):
            first = MISSING if has_missing[feature] else 1
            # Levels have no order that a split could use, so each is a column of its own.
            some = range(first, column.n_values + 1) if column.is_nominal else (None,)
            for level in some:
                features.append(feature)
                levels.append(level)
                values.append(codes[feature] if level is None else codes[feature] == level)
        return cls(
            # Codes fit into a byte, so single precision holds them exactly.
            np.array(values, dtype=np.float32).T,
            tuple(features),
            tuple(levels),
            tuple(has_missing[feature] for feature in features),
        )

    def steps(self, tree: Any, node: int) -> tuple[Step, Step]:
        """Return the steps to the left and to the right child of a scikit-learn node."""
        column = int(tree.feature[node])
        level, has_missing = self.levels[column], self.has_missing[column]
        if level is None:
            low = MISSING if has_missing else 1
            width = int(tree.threshold[node]) + 1 - low
        else:
            low, width = level, 1
        split = (self.features[column], low, width, has_missing)
        left, right = Step(*split, goes_left=True), Step(*split, goes_left=False)
        # A level is the larger value of its column, so rows at that level are on the right.
        return (left, right) if level is None else (right, left)
