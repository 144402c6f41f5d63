"""From table to Gram matrix the way a research notebook does it, as the reference to beat.

Written afresh from a description of the method (the MOSS paper, "Generating Candidate Rules", and
our notes on how its experiments were run): quantile codes by pandas, scikit-learn's forest, one
column per leaf from the leaf numbers of all rows, rules as sets of texts, duplicates found by
comparing pairs. Nothing is slowed on purpose; where pandas has two ways, both can be had.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.ensemble import RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor

from research.benchmarks._data import Floats

Form = Literal["dummies", "pivot"]  # how the columns of a tree's leaves are made
TextRule = frozenset[str]  # of texts "column|threshold|L" (at most) or "column|threshold|R" (above)


@dataclass(frozen=True)
class NotebookResult:
    """Distinct rules in the order found, the number of leaves that made each, G and q."""

    rules: list[TextRule]
    counts: list[int]
    G: Floats
    q: Floats


def notebook_candidates(
    table: pd.DataFrame,
    y: Floats,
    *,
    n_trees: int,
    seed: int,
    n_jobs: int,
    form: Form = "pivot",
) -> NotebookResult:
    """Return the candidate rules of a table and their Gram matrix."""
    codes = table.apply(quantile_codes)
    target = (y - y.mean()) / y.std()
    forest = RandomForestRegressor(
        n_trees, max_depth=2, max_features=1 / 3, random_state=seed, n_jobs=n_jobs
    ).fit(codes.to_numpy(), target)
    columns: list[pd.DataFrame] = []
    rules: list[TextRule] = []
    values = codes.to_numpy(dtype=np.float32)
    for tree in forest.estimators_:
        matrix = leaf_matrix(tree, values, form)
        paths = leaf_rules(tree, list(table.columns))
        columns.append(matrix)
        rules += [paths[leaf] for leaf in matrix.columns]
    kept, counts = distinct_rules(rules)
    M = pd.concat(columns, axis=1).to_numpy()[:, kept]
    return NotebookResult([rules[i] for i in kept], counts, M.T @ M, M.T @ target)


def quantile_codes(column: pd.Series[float]) -> pd.Series[int]:
    """Return the decile of every value; columns with few distinct values keep them."""
    if column.nunique() <= 10:
        return column.rank(method="dense").astype(int) - 1
    return pd.qcut(column, 10, labels=False, duplicates="drop")


def leaf_matrix(
    tree: DecisionTreeRegressor, codes: npt.NDArray[np.float32], form: Form
) -> pd.DataFrame:
    """Return one column per leaf: its value on the rows that fall in it, 0 elsewhere."""
    leaf = pd.Series(tree.apply(codes))
    value = tree.tree_.value[:, 0, 0]
    if form == "dummies":
        indicators = pd.get_dummies(leaf, dtype=float)
        return indicators * value[indicators.columns]
    long = pd.DataFrame({"row": leaf.index, "leaf": leaf, "value": value[leaf]})
    return long.pivot(index="row", columns="leaf", values="value").fillna(0.0)  # noqa: PD010


def leaf_rules(tree: DecisionTreeRegressor, names: list[str]) -> dict[int, TextRule]:
    """Return the conditions on the way to each leaf, as texts."""
    structure = tree.tree_
    found: dict[int, TextRule] = {}

    def descend(node: int, conditions: list[str]) -> None:
        if structure.children_left[node] < 0:
            found[node] = frozenset(conditions)
            return
        split = f"{names[structure.feature[node]]}|{structure.threshold[node]}"
        descend(structure.children_left[node], [*conditions, f"{split}|L"])
        descend(structure.children_right[node], [*conditions, f"{split}|R"])

    descend(0, [])
    return found


def distinct_rules(rules: list[TextRule]) -> tuple[list[int], list[int]]:
    """Return the positions of first appearances and how often each rule appears."""
    repeated = [False] * len(rules)
    kept: list[int] = []
    counts: list[int] = []
    for i, rule in enumerate(rules):
        if repeated[i]:
            continue
        count = 1
        for j in range(i + 1, len(rules)):
            if not repeated[j] and rules[j] == rule:
                repeated[j] = True
                count += 1
        kept.append(i)
        counts.append(count)
    return kept, counts
