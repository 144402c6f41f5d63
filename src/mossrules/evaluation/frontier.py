"""Accuracy and stability out of sample, all along the trade-off."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from typing import Any

from mossrules import defaults
from mossrules._checks import check_number
from mossrules.data.canonical_order import Rows
from mossrules.estimators import MossClassifier, MossRegressor
from mossrules.estimators.cross_validation import EvaluationProgress, cross_validate, read_shares
from mossrules.estimators.evaluated import FrontierEvaluation
from mossrules.estimators.folds import split_rows
from mossrules.estimators.inputs import read_labelled, read_training
from mossrules.exceptions import InvalidParameter, UnsupportedType
from mossrules.stability import Identity
from mossrules.stability.identity import SAME_ROWS

__all__ = ["evaluate_frontier"]


def evaluate_frontier(
    estimator: MossRegressor | MossClassifier,
    X: Any,
    y: Any,
    *,
    cv: Any = defaults.FOLDS,
    points: int | Iterable[float] = defaults.FRONTIER_POINTS,
    groups: Any = None,
    sample_weight: Any = None,
    identity: Identity = "codes",
    overlap: float = SAME_ROWS,
    gap: float = defaults.FRONTIER_GAP,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    progress: Callable[[EvaluationProgress], object] | None = None,
    verbose: bool = False,
) -> FrontierEvaluation:
    """Cross-validate the trade-off: R2 and the stability of the rules, at each of its points.

    On each fold, candidates are found once, and the choices at all points share one search.

    A point is a share of the largest stability that the rules of a fold can have. The paper takes
    the i-th of the floors of each fold; but how far down that is depends on the counts of that fold
    alone. A share means the same in all of them, and on all rows: `MossRegressor(stability=share)`
    is the model whose accuracy and stability a point estimates.

    Parameters
    ----------
    estimator : MossRegressor, or MossClassifier for two classes
        Its `stability` plays no part; it is not fitted. For classes, `r2` is the share of the
        log-loss that is explained, and `error` the log-loss.
    X, y, sample_weight : as in `MossRegressor.fit`
        Weights count on test rows too.
    cv : int, splitter of scikit-learn, or pairs of training and test rows, default=10
        A number of folds deals out the rows in an order of their own, at random so to speak, and
        the same whatever the order in which rows are given. With `groups`, rows of a group are
        never on both sides. Folds of a classifier have equal shares of both classes. For rows in
        time, pass `TimeSeriesSplit`.
    points : int or shares, default=50
        How many points, in equal steps from 1 to 0.5 (from the most stable rules to about the
        paper's "medium"); or the shares, in (0, 1].
    groups
        One label per row, for splitters that ask for them.
    identity, overlap
        When rules of two folds count as the same, as in `mossrules.stability.dice`; "rows" looks at
        all rows of X.
    gap : float, default=0.01
        Largest relative distance of each choice from its optimum.
    time_limit : float, optional
        Seconds for all folds together, from the first choice on, beside those that the estimator
        allows each choice. Choices that run out of either have the best selection found so far, and
        count as `stopped`.
    n_jobs : int or None, default=None
        Threads, over folds first; None uses all cores. The result does not depend on it, unless
        the time is over.
    progress
        Called with an `EvaluationProgress` after each step.
    verbose
        Whether to show a line of progress in the terminal.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> model = MossRegressor(max_rules=5, n_trees=100)
    >>> evaluation = evaluate_frontier(model, X, y, cv=5, points=[1.0, 0.9, 0.7])
    >>> evaluation.shares
    array([1. , 0.9, 0.7])
    >>> best = evaluation.choose("best")
    >>> chosen = model.set_params(stability=best.share).fit(X, y)
    """
    if not isinstance(estimator, MossRegressor | MossClassifier):
        raise UnsupportedType(
            f"estimator is a {type(estimator).__name__}; pass a MossRegressor or MossClassifier, "
            "which have a trade-off to look at."
        )
    if progress is not None and not callable(progress):
        raise InvalidParameter("progress must be a function of one EvaluationProgress, or None.")
    if time_limit is not None:
        check_number("time_limit", time_limit)
    check_number("gap", gap, minimum=0.0)
    shares = read_shares(points)
    model = copy(estimator)  # takes the names of columns, and leaves the caller's as it is
    model._check_parameters()  # noqa: SLF001  as in fit
    rows = _read_rows(model, X, y, sample_weight)
    return cross_validate(
        model,
        rows,
        split_rows(rows, cv, groups, stratify=isinstance(model, MossClassifier)),
        shares,
        gap=gap,
        time_limit=time_limit,
        identity=identity,
        overlap=overlap,
        n_jobs=n_jobs,
        progress=progress,
        verbose=verbose,
    )


def _read_rows(model: MossRegressor | MossClassifier, X: Any, y: Any, sample_weight: Any) -> Rows:
    """Return the rows to learn from and to test on."""
    if isinstance(model, MossRegressor):
        return read_training(model, X, y, sample_weight)
    labelled = read_labelled(model, X, y, sample_weight, model.class_weight)
    if len(labelled.classes) != 2:
        raise InvalidParameter(
            f"y has {len(labelled.classes)} classes, each of which has a trade-off of its own; "
            "pass whether a row is of one of them."
        )
    model._take_classes(labelled.classes)  # noqa: SLF001  as in fit
    return labelled.rows(1)
