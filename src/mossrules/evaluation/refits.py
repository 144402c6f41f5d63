"""Which rows each refit learns from, and which it leaves out: folds, bootstraps or subsamples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Literal

import numpy as np

from mossrules._typing import BoolArray, FloatArray, IntArray
from mossrules.data.groups import read_groups
from mossrules.data.rows import Rows
from mossrules.evaluation.folds import (
    MIN_ROWS,
    Split,
    deal,
    groups_by_number,
    most_parts,
    splits_of,
    strata,
)
from mossrules.exceptions import InvalidParameter

__all__ = ["PARTS", "Scheme", "read_groups", "refit_splits", "spread_factor"]

Scheme = Literal["folds", "bootstrap", "subsample"]
PARTS = 10  # a refit of "folds" leaves out one of so many
# Of the rows that a refit of "subsample" has. Refits have rows in common with the analysis that
# they are held against, and so find its rules more often than fresh samples of as many rows would;
# having fewer rows, they find them less often. With a third the two cancel: of the rules found in
# 49 % of refits, fresh samples find 52 %, where halves say 69 % (docs/trackrecord.md).
SHARE = 1 / 3
FEW_PARTS = 30  # of so many different ones, or fewer, each is drawn before any is drawn again


def refit_splits(
    rows: Rows,
    refits: int,
    scheme: Scheme,
    groups: IntArray | None,
    seed: int,
    *,
    stratify: bool,
    share: float = SHARE,
) -> list[Split]:
    """Return the rows of each refit; rows of a group stay together.

    `groups` are codes of the rows given, by default those that the rows have.

    With "folds", ten refits leave out each row once; with more, rows are divided again. With fewer
    than ten groups, or twenty rows, parts are larger. With "subsample", each refit has a `share` of
    the rows, or of the groups, and with "bootstrap" as many as there are, drawn with replacement.
    Draws know a row by its canonical number or by its group, so none depends on the order in which
    rows are given. Of a few groups, all different subsamples are drawn before any is drawn again.
    """
    n_rows = len(rows.target)
    of_rows = groups_by_number(rows, groups)
    units = n_rows // MIN_ROWS if of_rows is None else len(np.unique(of_rows))
    if units < 2:
        what = f"There are {n_rows} rows" if of_rows is None else "groups has a single group"
        raise InvalidParameter(f"{what}, and each refit leaves some out; add more.")
    if scheme == "subsample" and of_rows is None and share * n_rows * (1.0 + 1e-12) < MIN_ROWS:
        raise InvalidParameter(
            f"There are {n_rows} rows, of which a share of {share:.3g} is less than {MIN_ROWS}; "
            "add rows, or pass a larger share."
        )
    parts = max(2, min(PARTS, most_parts(n_rows, of_rows)))
    target = strata(rows) if stratify else None
    splits: list[Split] = []
    while len(splits) < refits:
        rng = np.random.default_rng([seed, len(splits)])
        if scheme == "bootstrap":
            splits.append(_draw(n_rows, of_rows, rng))
            continue
        if scheme == "subsample":
            splits += _subsamples(n_rows, of_rows, share, rng, target)
            continue
        splits += splits_of(deal(parts, n_rows, of_rows, target, rng if splits else None))
    return splits[:refits]


def _subsamples(
    n_rows: int,
    groups: IntArray | None,
    share: float,
    rng: np.random.Generator,
    target: FloatArray | None,
) -> list[Split]:
    """Return a share of the rows, or of the groups, drawn without replacement, and the others.

    Of few groups, all that can be drawn, in a random order: independent draws repeat each other,
    and one in eight of four draws from two groups are of the same group.
    """
    if groups is not None:
        distinct = np.unique(groups)
        size = _part(share, len(distinct))
        if math.comb(len(distinct), size) <= FEW_PARTS:
            parts = rng.permutation(list(combinations(range(len(distinct)), size)))
        else:
            parts = rng.permutation(len(distinct))[None, :size]
        return [_split(np.isin(groups, distinct[part])) for part in parts]
    # At equal distances in an order sorted by class: each class gives its share.
    order = rng.permutation(n_rows)
    if target is not None:
        order = order[np.argsort(target[order], kind="stable")]
    taken = np.zeros(n_rows, dtype=bool)
    share = min(share, 1.0 - 1.0 / n_rows)  # so that some row is left out
    steps = np.floor(np.arange(n_rows + 1) * share + rng.random())
    taken[order[np.diff(steps) > 0]] = True
    return [_split(taken)]


def _split(taken: BoolArray) -> Split:
    return np.flatnonzero(taken), np.flatnonzero(~taken)


def _part(share: float, whole: int) -> int:
    """Return a share of some units: at least one, and not all."""
    return min(max(round(share * whole), 1), whole - 1)


def spread_factor(splits: Sequence[Split], scheme: Scheme) -> float:
    """Return how much wider results of as many rows as there are vary than those of refits do.

    An estimate from m of n rows, drawn without replacement, varies about that from all n by a
    variance of s2 (1/m - 1/n), where an estimate from n rows of a population varies by s2 / n:
    sqrt(m / (n - m)) times as far (Politis, Romano and Wolf 1999, section 2.3). For halves it is 1,
    without a tenth of the rows 3. Bootstraps vary as samples do.
    """
    if scheme == "bootstrap":
        return 1.0
    m = float(np.mean([len(train) for train, _ in splits]))
    left_out = float(np.mean([len(test) for _, test in splits]))
    return math.sqrt(m / left_out)


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
