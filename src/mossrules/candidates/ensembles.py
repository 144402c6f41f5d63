"""Rules from trees that scikit-learn has fitted: a forest or a boosting model of the user's own.

Thresholds of its trees become the cut points of the columns, so that rules are conditions on codes
as everywhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from mossrules._typing import FloatArray
from mossrules.candidates.codes import EncodedTable
from mossrules.candidates.cuts import MAX_BINS, MISSING, BinnedColumn, Binning
from mossrules.candidates.forest import Path, Step
from mossrules.data.chunks import Progress
from mossrules.data.columns import Kind
from mossrules.exceptions import InvalidParameter, MissingColumns, UnsupportedType


@dataclass(frozen=True)
class FittedEnsemble:
    """The trees of a fitted scikit-learn ensemble as a source of rules.

    Parameters
    ----------
    model
        A fitted forest, extra-trees or gradient-boosting model, regressor or classifier.
    thresholds
        "snap" moves each threshold to the nearest cut of the table's quantile bins, so that nearly
        equal rules count as one; "exact" makes the model's own thresholds the cuts.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> from mossrules import MossRegressor
    >>> X, y = [[30], [40], [50], [60]], [2.0, 3.0, 9.0, 8.0]
    >>> forest = RandomForestRegressor(20, max_depth=2, random_state=0).fit(X, y)
    >>> len(MossRegressor(1, generator=FittedEnsemble(forest)).fit(X, y).rules_)
    1
    """

    model: Any
    thresholds: Literal["snap", "exact"] = "snap"

    def __post_init__(self) -> None:
        if self.thresholds not in ("snap", "exact"):
            raise InvalidParameter(f"thresholds is {self.thresholds!r}; choose 'snap' or 'exact'.")
        self._trees()

    @property
    def n_trees(self) -> int:
        """Number of trees in the ensemble."""
        return len(self._trees())

    def _trees(self) -> list[Any]:
        """Return scikit-learn's tree structures, in order."""
        if not hasattr(self.model, "estimators_"):
            raise UnsupportedType(
                f"{type(self.model).__name__} is not a fitted ensemble of trees; "
                "fit it first, or pass a forest or gradient-boosting model."
            )
        members = np.ravel(np.asarray(self.model.estimators_, dtype=object))
        if not all(hasattr(member, "tree_") for member in members):
            raise UnsupportedType(
                f"The members of {type(self.model).__name__} are not decision trees; "
                "pass a forest, extra-trees or gradient-boosting model."
            )
        return [member.tree_ for member in members]

    def adapt(self, binning: Binning) -> Binning:
        """Return the binning whose codes the paths refer to."""
        self._check_columns(binning)
        if self.thresholds == "snap":
            return binning
        thresholds: list[set[float]] = [set() for _ in binning.columns]
        for tree in self._trees():
            for feature, threshold in zip(tree.feature, tree.threshold, strict=True):
                if feature >= 0 and np.isfinite(threshold):
                    thresholds[feature].add(float(threshold))
        return Binning(
            tuple(
                self._with_cuts(column, sorted(cuts))
                for column, cuts in zip(binning.columns, thresholds, strict=True)
            ),
            binning.named,
            binning.reading,
        )

    def paths(
        self,
        data: EncodedTable,
        *,
        inner_nodes: bool = False,
        n_jobs: int = 1,  # noqa: ARG002  reading a model is quick
        progress: Progress | None = None,  # noqa: ARG002
    ) -> Iterator[tuple[int, Path]]:
        """Yield the paths of the model's trees.

        Missing values go where the model sends them, in columns that have any in training.
        A path that snapping leaves without any room (its leaf lies within one bin, or beyond a
        split of a column that has no cuts here) is dropped.
        """
        # scikit-learn sends missing values somewhere at every split, also in columns that have
        # none; rules should not mention them there.
        has_missing = data.has_missing
        cuts = [np.array(column.cuts) for column in data.binning.columns]

        def steps(tree: Any, node: int) -> tuple[Step, Step] | None:
            feature = int(tree.feature[node])
            if not len(cuts[feature]) and not np.isinf(tree.threshold[node]):
                return None
            return _steps(tree, node, cuts[feature], has_missing[feature])

        for number, tree in enumerate(self._trees()):
            for path in tree_paths(tree, partial(steps, tree), inner_nodes=inner_nodes):
                if _is_satisfiable(path):
                    yield number, path

    def _check_columns(self, binning: Binning) -> None:
        if self.model.n_features_in_ != len(binning.columns):
            raise MissingColumns(
                f"The ensemble was fitted on {self.model.n_features_in_} columns but the table has "
                f"{len(binning.columns)}; pass the columns it was fitted on, in the same order."
            )
        names = tuple(getattr(self.model, "feature_names_in_", binning.names))
        if names != binning.names:
            raise MissingColumns(
                "The ensemble was fitted on columns of other names or in another order: "
                f"{', '.join(map(str, names[:10]))}; pass the same columns in the same order."
            )
        for column in binning.columns:
            if column.kind not in (Kind.NUMERIC, Kind.BOOLEAN):
                raise UnsupportedType(
                    f"Column {column.name!r} is {column.kind.value}, which scikit-learn's trees do "
                    "not split; pass the numeric columns the ensemble was fitted on."
                )

    @staticmethod
    def _with_cuts(column: BinnedColumn, cuts: list[float]) -> BinnedColumn:
        if len(cuts) >= MAX_BINS:
            raise InvalidParameter(
                f"The ensemble has {len(cuts)} distinct thresholds on column {column.name!r}, more "
                f"than the {MAX_BINS - 1} that can be kept; use thresholds='snap'."
            )
        return BinnedColumn(column.name, column.kind, tuple(cuts))


def tree_paths(
    tree: Any, steps: Callable[[int], tuple[Step, Step] | None], *, inner_nodes: bool
) -> Iterator[Path]:
    """Yield the paths of a scikit-learn tree to its leaves and, if wanted, its inner nodes.

    `steps` gives the steps from a node to its left and its right child, or None where neither is
    to be looked at.
    """
    stack: list[tuple[int, Path]] = [(0, ())]
    while stack:
        node, path = stack.pop()
        is_leaf = tree.feature[node] < 0
        if path and (is_leaf or inner_nodes):
            yield path
        children = None if is_leaf else steps(node)
        if children is not None:
            left, right = children
            stack.append((int(tree.children_right[node]), (*path, right)))
            stack.append((int(tree.children_left[node]), (*path, left)))


def _steps(tree: Any, node: int, cuts: FloatArray, has_missing: bool) -> tuple[Step, Step]:
    """Return the steps to the left and to the right child of a scikit-learn node."""
    feature, threshold = int(tree.feature[node]), float(tree.threshold[node])
    if np.isinf(threshold):
        # Present values on the left, missing ones on the right: our left-hand set is {missing}.
        split = (feature, MISSING, 1, has_missing)
        return Step(*split, goes_left=False), Step(*split, goes_left=True)
    # The nearest cut and not the one below: thresholds of different trees for the same gap, which
    # differ in where they fell between two values, become one.
    nearest = int(np.argmin(np.abs(cuts - threshold)))  # the lower one of two equally near
    low = MISSING if has_missing and tree.missing_go_to_left[node] else 1
    split = (feature, low, nearest + 2 - low, has_missing)
    return Step(*split, goes_left=True), Step(*split, goes_left=False)


def _is_satisfiable(path: Path) -> bool:
    """Tell whether some code satisfies all steps of a path; sets of codes are bits of integers."""
    # Bits of Python's integers: a path has few steps, and arrays would cost more than they do.
    codes: dict[int, int] = {}
    for step in path:
        left = ((1 << step.width) - 1) << step.low
        side = left if step.goes_left else ~left
        if not step.has_missing:
            side &= ~(1 << MISSING)
        codes[step.feature] = codes.get(step.feature, (1 << 256) - 1) & side
    return all(codes.values())
