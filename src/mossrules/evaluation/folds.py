"""Which rows are for training and which for testing, and the run over all folds.

Every fold that this package fits goes through `FoldRun`: one way to share threads, to report
progress, and to stop. What is done on a fold is a function that the caller passes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import Any, TypeVar

import numpy as np

from mossrules._common import check_integer
from mossrules._deprecated import Renamed
from mossrules._typing import AnyArray, FloatArray, IntArray
from mossrules.budget import Budget, Shares
from mossrules.data.chunks import resolve_n_jobs
from mossrules.data.content_order import CONTENT, Numbering
from mossrules.data.rows import Rows
from mossrules.exceptions import InvalidParameter, warn_user
from mossrules.progress import guess_left, telling

__all__ = [
    "MIN_ROWS",
    "Dealt",
    "EvaluationProgress",
    "FoldRun",
    "Listener",
    "Split",
    "deal",
    "groups_by_number",
    "most_parts",
    "split_rows",
    "splits_of",
    "strata",
]

Result = TypeVar("Result")
Split = tuple[IntArray, IntArray]  # positions, among the rows to learn from, to train and to test

MIN_ROWS = 2  # of a test set: R2 of a single row is not defined


@dataclass(frozen=True)
class Dealt:
    """A number of folds for `cv`, dealt out by a numbering that the rows themselves may not have.

    Methods that are evaluated apart are then tested on the same rows.
    """

    folds: Any  # a number, or any other `cv`, which no numbering changes
    numbering: Numbering


def split_rows(
    rows: Rows,
    cv: Any,
    groups: IntArray | None = None,
    *,
    fewer: bool = False,
    stratify: bool = False,
) -> list[Split]:
    """Return the training and test rows of each fold.

    A number of folds deals out the rows in turn, in their canonical order: it looks random but does
    not depend on the order in which rows were given. Rows that are alike, and so repetitions of a
    row, come to different folds, as they mostly would by chance. Rows of a group stay together;
    `groups` are the codes of the rows given, if they are others than those that the rows have. To
    `stratify` is to deal out the rows of each target by themselves, so that all folds have the same
    share of it, as far as groups allow. If `fewer` folds will do, there are as many as have enough
    test rows.

    A splitter of scikit-learn, or pairs of positions, refer to rows in the order given.
    """
    if isinstance(cv, Dealt):
        numbered = rows.numbered(cv.numbering)
        splits = split_rows(numbered, cv.folds, groups, fewer=fewer, stratify=stratify)
        return _renumbered(splits, numbered, rows)
    of_rows = groups_by_number(rows, groups)
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        folds = check_integer("cv", cv, minimum=2)
        folds = _number_of_folds(folds, len(rows.target), of_rows, fewer=fewer)
        target = strata(rows) if stratify else None
        return splits_of(deal(folds, len(rows.target), of_rows, target))
    if hasattr(cv, "split") and not isinstance(cv, str | bytes):  # which text has too
        # Splitters ask X for its number of rows; columns of ours they might not be able to read.
        with warnings.catch_warnings():
            # Most splitters ignore groups; whether they divide any is looked at below.
            warnings.filterwarnings("ignore", "The groups parameter is ignored")
            codes = rows.groups if groups is None else groups
            cv = list(cv.split(np.empty((len(rows.given), 0)), rows.given, codes))
    if isinstance(cv, str | bytes) or not isinstance(cv, Iterable):
        raise InvalidParameter(
            f"cv is {cv!r}; pass a number of folds, a splitter of scikit-learn, or pairs of "
            "training and test rows."
        )
    splits = [_read_split(rows, fold, pair) for fold, pair in enumerate(cv)]
    if len(splits) < 2:
        raise InvalidParameter(
            f"The number of folds in cv is {len(splits)}; stability needs at least two."
        )
    _warn_of_divided(splits, of_rows)
    return splits


def _warn_of_divided(splits: Sequence[Split], groups: IntArray | None) -> None:
    """Tell that folds which were given have rows of a group on both sides."""
    if groups is None:
        return
    divided = sum(bool(np.isin(groups[test], groups[train]).any()) for train, test in splits)
    if divided:
        warn_user(
            f"{divided} of the {len(splits)} folds in cv test on groups that they learn from, so "
            "scores and recurrence are too optimistic; pass a number of folds, or GroupKFold.",
            UserWarning,
        )


def _renumbered(splits: list[Split], numbered: Rows, rows: Rows) -> list[Split]:
    """Return the splits of rows in one numbering as those of the same rows in another."""
    where = np.empty(len(rows.origin), dtype=np.int64)
    # Repetitions of a row are alike: the first of one numbering is the first of the other.
    where[np.argsort(numbered.origin, kind="stable")] = np.argsort(rows.origin, kind="stable")
    return [(np.sort(where[train]), np.sort(where[test])) for train, test in splits]


def strata(rows: Rows) -> FloatArray:
    """Return the class of each row as a number, by which rows are dealt out or drawn.

    Where rows are numbered by content, classes are numbered as they first occur, whatever they are
    called.
    """
    if rows.numbering != CONTENT:
        return rows.target
    first, which = np.unique(rows.target, return_index=True, return_inverse=True)[1:]
    return np.argsort(np.argsort(first)).astype(np.float64)[which]


# --- dealing -------------------------------------------------------------------------------------


def groups_by_number(rows: Rows, groups: IntArray | None = None) -> IntArray | None:
    """Return the number of the first row of each row's group, for the rows by number.

    Whatever groups are called, they are the same by these numbers. `groups` are codes of the rows
    given, by default those that the rows have.
    """
    codes = rows.groups if groups is None else groups
    if codes is None:
        return None
    first, which = np.unique(codes[rows.origin], return_index=True, return_inverse=True)[1:]
    return first[which].astype(np.int64)


def most_parts(n_rows: int, groups: IntArray | None) -> int:
    """Return into how many parts of `MIN_ROWS` rows or more the rows can be divided."""
    if groups is None:
        return n_rows // MIN_ROWS
    sizes = np.unique(groups, return_counts=True)[1]
    enough = sizes >= MIN_ROWS
    return int(np.count_nonzero(enough) + sizes[~enough].sum() // MIN_ROWS)


def _number_of_folds(folds: int, n_rows: int, groups: IntArray | None, *, fewer: bool) -> int:
    maximum = most_parts(n_rows, groups)
    if maximum < (2 if fewer else folds):
        units = f"{n_rows} rows" if groups is None else f"{len(np.unique(groups))} groups"
        raise InvalidParameter(
            f"cv is {folds}, and {units} make {maximum} folds of {MIN_ROWS} rows or more; "
            f"add {units.split()[1]}{', or ask for fewer folds' if maximum > 1 else ''}."
        )
    return min(folds, maximum)


def splits_of(part: IntArray) -> list[Split]:
    """Return each part of the rows as the test rows of a fold."""
    numbers = range(int(part.max()) + 1)
    return [(np.flatnonzero(part != i), np.flatnonzero(part == i)) for i in numbers]


def deal(
    parts: int,
    n_rows: int,
    groups: IntArray | None,
    target: FloatArray | None = None,
    rng: np.random.Generator | None = None,
) -> IntArray:
    """Return the part to which each row is dealt, in turn or, with `rng`, in a random order.

    With a `target`, the rows of each of its values are dealt out by themselves. Rows of a group
    come to one part.
    """
    if groups is not None:
        return _deal_groups(parts, groups, target, rng)
    # Dealt in turn, not drawn: that needs no seed, and copies of a row, which are neighbours in
    # this order, are spread over the parts.
    order = np.arange(n_rows) if rng is None else rng.permutation(n_rows)
    if target is not None:
        order = order[np.argsort(target[order], kind="stable")]
    part = np.empty(n_rows, dtype=np.int64)
    part[order] = np.arange(n_rows) % parts
    return part


def _deal_groups(
    parts: int, groups: IntArray, target: FloatArray | None, rng: np.random.Generator | None
) -> IntArray:
    """Return the part of each row: the largest groups first, each to the part with most room.

    With N[p, k] rows of class k in part p, of T[k] in all, that is the part where a group adds
    least to the sum of (N[p, k] / T[k])^2, and of equals the one with the fewest rows. Without
    classes it is the latter. Groups of one row each are dealt out as rows without groups are.
    """
    distinct, which = np.unique(groups, return_inverse=True)
    codes = np.zeros(len(groups), dtype=np.int64)
    if target is not None:
        codes = np.unique(target, return_inverse=True)[1].astype(np.int64)
    counts = np.zeros((len(distinct), int(codes.max()) + 1), dtype=np.int64)  # by group and class
    np.add.at(counts, (which, codes), 1)
    sizes, totals = counts.sum(axis=1), counts.sum(axis=0)
    order = np.arange(len(distinct)) if rng is None else rng.permutation(len(distinct))
    by_class = counts @ np.arange(len(totals))
    order = order[np.lexsort((by_class[order], -sizes[order]))]
    part_of = np.empty(len(distinct), dtype=np.int64)
    held = np.zeros((parts, len(totals)), dtype=np.int64)
    for group in order:
        added = (held * counts[group]) @ (1.0 / totals**2)  # half of it, but for what all parts add
        chosen = int(np.lexsort((held.sum(axis=1), added))[0])
        part_of[group] = chosen
        held[chosen] += counts[group]
    if target is not None and held.sum(axis=1).min() < MIN_ROWS <= len(groups) // parts:
        return _deal_groups(parts, groups, None, rng)  # equal sizes come before equal shares
    return part_of[which]


def _read_split(rows: Rows, fold: int, pair: Any) -> Split:
    try:
        train, test = (_read_positions(part, len(rows.given)) for part in pair)
    except (TypeError, ValueError) as error:
        raise InvalidParameter(
            f"Fold {fold} of cv is not a pair of positions of training and test rows, from 0 to "
            f"{len(rows.given) - 1}; pass two arrays of integers."
        ) from error
    # Rows are in canonical order here, repeated as whole weights say and without those of weight 0;
    # `origin` is the position of each in the table as it was given.
    both = tuple(np.flatnonzero(np.isin(rows.origin, part)) for part in (train, test))
    for name, part in zip(("train", "test"), both, strict=True):
        if len(part) < MIN_ROWS:
            raise InvalidParameter(
                f"Fold {fold} of cv has {len(part)} rows to {name}; it needs at least {MIN_ROWS}."
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


# --- the run --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class EvaluationProgress:
    """Where an evaluation stands after a point of a fold, or a method on a fold.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> from mossrules.evaluation import evaluate
    >>> X = {"age": range(24), "smoker": [False, True] * 12}
    >>> y = [1.0, 5.0, 1.0, 6.0] * 6
    >>> model = MossRegressor(2, max_depth=1, n_trees=20)
    >>> evaluation = evaluate({"MOSS": model}, X, y, cv=2, n_jobs=1, progress=print)
    MOSS, fold 0, ... s
    MOSS, fold 1, ... s
    """

    done: int  #: steps that are finished
    total: int  #: folds times points, or times methods
    fold: int  #: of the last step
    seconds: float  #: since the start
    method: str | None = None  #: of the last step, where methods are compared
    seconds_left: float | None = None  #: about how long the rest takes, where that can be guessed

    learner = Renamed("method")

    def __str__(self) -> str:
        who = "" if self.method is None else f"{self.method}, "
        return f"{who}fold {self.fold}, {self.seconds:.1f} s"


Listener = Callable[[EvaluationProgress], object]


@dataclass
class FoldRun:
    """Folds being worked on by threads of this process, and the listeners to their progress.

    Threads, not processes: kernels release the GIL, and the table needs no copies. They go to
    folds first, as these wait for each other least; what is left over each fold uses itself.

    The first `needed` folds are done however little time there is, all where it is None.
    """

    splits: Sequence[Split]
    steps: int  # of each fold
    n_jobs: int | None  # threads in all
    tell_all: Listener | None = None
    budget: Budget = field(default_factory=Budget)
    needed: int | None = None
    parts: dict[int, Budget] = field(default_factory=dict)  # of the budget, by fold
    done: dict[int, int] = field(default_factory=dict)  # steps, by fold
    lock: Lock = field(default_factory=Lock)
    stop: Event = field(default_factory=Event)

    def __post_init__(self) -> None:
        threads = resolve_n_jobs(self.n_jobs)
        self.jobs = min(threads, len(self.splits))  # folds at a time
        self.threads = threads // self.jobs  # of each fold
        self.shares = Shares(self.budget, len(self.splits), self.jobs, self.needed)

    @property
    def seconds(self) -> float:
        """Time since the run began."""
        return self.budget.elapsed()

    def map(self, work: Callable[[int, IntArray, IntArray], Result]) -> list[Result]:
        """Return the result of `work` on each fold; if one fails, the others are asked to stop.

        Folds for which no time is left are not begun, and have no result.
        """

        def do(fold: int, train: IntArray, test: IntArray) -> list[Result]:
            part = self.shares.begin()
            if part is None:
                return []
            self.parts[fold] = part
            result = work(fold, train, test)
            self.shares.end(part)
            return [result]

        if self.jobs == 1:
            return [each for fold, split in enumerate(self.splits) for each in do(fold, *split)]
        with ThreadPoolExecutor(self.jobs) as pool:
            try:
                tasks = [pool.submit(do, fold, *split) for fold, split in enumerate(self.splits)]
                return [each for task in tasks for each in task.result()]
            except BaseException:  # an interrupt too: the others must not go on
                self.stop.set()
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    @contextmanager
    def shown(
        self, listener: Listener | None, *, verbose: bool, title: str = "evaluation"
    ) -> Iterator[None]:
        """Tell a listener, and a line in the terminal, of each step while the block runs."""
        total = len(self.splits) * self.steps
        with telling(listener, verbose=verbose, total=total, title=title) as self.tell_all:
            yield

    def check(self) -> None:
        """End the work on a fold if another one has failed, as threads cannot be stopped."""
        if self.stop.is_set():
            raise KeyboardInterrupt

    def tell(self, fold: int, done: int | None = None, method: str | None = None) -> None:
        """Tell all listeners that one more step of a fold is done, or how many are."""
        with self.lock:
            self.done[fold] = self.done.get(fold, 0) + 1 if done is None else done
            finished, total = sum(self.done.values()), len(self.splits) * self.steps
            left = guess_left(finished, total, self.seconds, self.budget.left())
            progress = EvaluationProgress(finished, total, fold, self.seconds, method, left)
            if self.tell_all is not None:  # within the lock: lines of two threads would mix
                self.tell_all(progress)
