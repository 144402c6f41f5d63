"""Which rows each refit learns from, and which it leaves out: folds, or bootstraps."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from mossrules._typing import AnyArray, IntArray
from mossrules.data.rows import Rows
from mossrules.evaluation.folds import MIN_ROWS, Split
from mossrules.exceptions import InvalidParameter

__all__ = ["PARTS", "Scheme", "read_groups", "refit_splits"]

Scheme = Literal["folds", "bootstrap"]
PARTS = 10  # a refit leaves out one of so many


def read_groups(groups: Any, n_rows: int) -> IntArray | None:
    """Return the number of each row's group, in the order given."""
    if groups is None:
        return None
    labels: AnyArray = np.asarray(groups)
    if labels.shape != (n_rows,):
        raise InvalidParameter(
            f"groups has the shape {labels.shape}; pass one label for each of the {n_rows} rows."
        )
    if labels.dtype == object:
        labels = np.array([repr(label) for label in labels.tolist()])
    codes: IntArray = np.unique(labels, return_inverse=True)[1].astype(np.int64)
    return codes


def refit_splits(
    rows: Rows, refits: int, scheme: Scheme, groups: IntArray | None, seed: int, *, stratify: bool
) -> list[Split]:
    """Return the rows of each refit; rows of a group stay together.

    With "folds", ten refits leave out each row once; with more, rows are divided again. With fewer
    than ten groups, or twenty rows, parts are larger. Draws know a row by its canonical number or
    by its group, so none depends on the order in which rows are given.
    """
    n_rows = len(rows.target)
    of_rows = None if groups is None else groups[rows.origin]
    units = n_rows // MIN_ROWS if of_rows is None else len(np.unique(of_rows))
    if units < 2:
        what = "groups has a single group" if groups is not None else f"There are {n_rows} rows"
        raise InvalidParameter(f"{what}, and each refit leaves some out; add more.")
    parts = min(PARTS, units)
    splits: list[Split] = []
    while len(splits) < refits:
        rng = np.random.default_rng([seed, len(splits)])
        if scheme == "bootstrap":
            splits.append(_draw(n_rows, of_rows, rng))
            continue
        first = not splits
        if of_rows is not None:
            part = _deal_groups(of_rows, parts, None if first else rng)
        else:
            order = np.arange(n_rows) if first else rng.permutation(n_rows)
            if stratify:
                order = order[np.argsort(rows.target[order], kind="stable")]
            part = np.empty(n_rows, dtype=np.int64)
            part[order] = np.arange(n_rows) % parts
        splits += [(np.flatnonzero(part != i), np.flatnonzero(part == i)) for i in range(parts)]
    return splits[:refits]


def _deal_groups(groups: IntArray, parts: int, rng: np.random.Generator | None) -> IntArray:
    """Return the part of each row: the largest groups first, each to the part with fewest rows."""
    distinct, sizes = np.unique(groups, return_counts=True)
    order = np.arange(len(distinct)) if rng is None else rng.permutation(len(distinct))
    order = order[np.argsort(-sizes[order], kind="stable")]
    part_of, filled = np.empty(len(distinct), dtype=np.int64), np.zeros(parts, dtype=np.int64)
    for group in order:
        part_of[group] = np.argmin(filled)
        filled[part_of[group]] += sizes[group]
    return part_of[np.searchsorted(distinct, groups)]


def _draw(n_rows: int, groups: IntArray | None, rng: np.random.Generator) -> Split:
    """Return rows, or whole groups, drawn with replacement, and those that were not drawn."""
    if groups is None:
        times = np.bincount(rng.integers(n_rows, size=n_rows), minlength=n_rows)
    else:
        distinct = np.unique(groups)
        drawn = np.bincount(
            rng.integers(len(distinct), size=len(distinct)), minlength=len(distinct)
        )
        times = drawn[np.searchsorted(distinct, groups)]
    return np.repeat(np.arange(n_rows), times), np.flatnonzero(times == 0)
