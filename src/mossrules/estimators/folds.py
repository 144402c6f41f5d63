"""Which rows are for training and which for testing, and the work on each fold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any, TypeVar

import numpy as np
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

from mossrules._checks import check_integer
from mossrules._typing import AnyArray, FloatArray, IntArray
from mossrules.data.canonical_order import Rows
from mossrules.exceptions import InvalidParameter

__all__ = ["Split", "over_folds", "split_rows"]

Found = TypeVar("Found")
Split = tuple[IntArray, IntArray]  # positions, among the rows to learn from, to train and to test

FEWEST = 2  # rows to test: R2 of a single one is not defined


def split_rows(
    rows: Rows, cv: Any, groups: Any = None, *, fewer: bool = False, stratify: bool = False
) -> list[Split]:
    """Return the training and test rows of each fold.

    A number of folds deals out the rows, in the order that `settle_rows` gives them: that order
    looks random but is the rows' own, so folds do not depend on the order in which rows were given.
    Rows that are alike, and so repetitions of a row, come to different folds, as they mostly would
    by chance. With groups, rows of a group stay together. To `stratify` is to deal out the rows of
    each target by themselves, so that all folds have the same share of it. If there can be `fewer`
    folds, there are as many as have enough rows to test.

    A splitter of scikit-learn, or pairs of positions, refer to rows in the order given.
    """
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        folds = check_integer("cv", cv, minimum=2)
        if groups is None:
            return _deal(rows.target, folds, fewer=fewer, stratify=stratify)
        cv = StratifiedGroupKFold(folds) if stratify else GroupKFold(folds)
    if hasattr(cv, "split") and not isinstance(cv, str):
        cv = cv.split(np.empty((len(rows.given), 0)), rows.given, groups)
    if isinstance(cv, str) or not isinstance(cv, Iterable):
        raise InvalidParameter(
            f"cv is {cv!r}; pass a number of folds, a splitter of scikit-learn, or pairs of "
            "training and test rows."
        )
    splits = [_read_split(rows, fold, pair) for fold, pair in enumerate(cv)]
    if len(splits) < 2:
        raise InvalidParameter(
            f"The number of folds in cv is {len(splits)}; stability can be seen from two on."
        )
    return splits


def over_folds(
    work: Callable[[int, IntArray, IntArray], Found],
    splits: Sequence[Split],
    jobs: int,
    stop: Event,
) -> list[Found]:
    """Return what work finds on each fold, so many at a time; if one fails, `stop` is set."""
    if jobs == 1:
        return [work(fold, *split) for fold, split in enumerate(splits)]
    with ThreadPoolExecutor(jobs) as pool:
        try:
            tasks = [pool.submit(work, fold, *split) for fold, split in enumerate(splits)]
            return [task.result() for task in tasks]
        except BaseException:  # an interrupt too: the others must not go on
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _deal(target: FloatArray, folds: int, *, fewer: bool, stratify: bool) -> list[Split]:
    n_rows = len(target)
    most = n_rows // FEWEST
    if most < (2 if fewer else folds):
        raise InvalidParameter(
            f"cv is {folds}, and {n_rows} rows make {most} folds of {FEWEST} rows or more; add "
            f"rows{', or ask for fewer folds' if most > 1 else ''}."
        )
    folds = min(folds, most)
    order = np.argsort(target, kind="stable") if stratify else np.arange(n_rows)
    fold = np.empty(n_rows, dtype=np.int64)
    fold[order] = np.arange(n_rows) % folds
    return [(np.flatnonzero(fold != i), np.flatnonzero(fold == i)) for i in range(folds)]


def _read_split(rows: Rows, fold: int, pair: Any) -> Split:
    try:
        train, test = (_read_positions(part, len(rows.given)) for part in pair)
    except (TypeError, ValueError) as error:
        raise InvalidParameter(
            f"Fold {fold} of cv is no pair of positions of training and test rows, from 0 to "
            f"{len(rows.given) - 1}; pass two arrays of integers."
        ) from error
    both = tuple(np.flatnonzero(np.isin(rows.origin, part)) for part in (train, test))
    for name, part in zip(("train", "test"), both, strict=True):
        if len(part) < FEWEST:
            raise InvalidParameter(
                f"Fold {fold} of cv has {len(part)} rows to {name}; it needs at least {FEWEST}."
            )
    return both[0], both[1]


def _read_positions(part: Any, n_rows: int) -> AnyArray:
    positions = np.asarray(part)
    if positions.dtype == bool and positions.shape == (n_rows,):
        return np.flatnonzero(positions)
    if positions.ndim != 1 or (len(positions) and positions.dtype.kind not in "iu"):
        raise ValueError(part)
    if len(positions) and not 0 <= positions.min() <= positions.max() < n_rows:
        raise ValueError(part)
    return positions
