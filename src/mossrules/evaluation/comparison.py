"""Every method on every fold of a table: accuracy and recurrence of all of them, in one run.

`evaluate` is the function that users call. What a method is, and what it makes of a fold, stands in
`methods.py`; what comes out, in `results.py`; the file that runs resume from, in `record.py`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from mossrules import defaults
from mossrules._common import check_choice, check_listener
from mossrules._deprecated import old_parameters
from mossrules._refusals import names_input
from mossrules._typing import IntArray
from mossrules.budget import Budget, read_budget
from mossrules.data.chunks import resolve_n_jobs
from mossrules.data.dask_partitions import on_cluster
from mossrules.data.groups import split_beside
from mossrules.data.rows import Rows, read_rows
from mossrules.data.table import Table
from mossrules.evaluation.agreement import SAME_ROWS, Identity, check_identity
from mossrules.evaluation.folds import FoldRun, Listener, split_rows
from mossrules.evaluation.methods import (
    Fold,
    Method,
    Source,
    check_outcomes,
    check_prepare,
    read_methods,
    task_of,
)
from mossrules.evaluation.record import Record
from mossrules.evaluation.results import METRICS, Evaluation, MethodFold
from mossrules.exceptions import InvalidParameter, UnsupportedType
from mossrules.solver.result import Status
from mossrules.solver.search.branch_and_bound import compile_kernels

__all__ = ["evaluate"]

Engine = Literal["threads", "dask"]
FEWEST_FOLDS = 2  # recurrence is between folds


@names_input("X")
@old_parameters({"learners": "methods"})
def evaluate(
    methods: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    cv: Any = defaults.FOLDS,
    groups: Any = None,
    sample_weight: Any = None,
    identity: Identity = defaults.IDENTITY,
    overlap: float = SAME_ROWS,
    metric: str | None = None,
    prepare: Any = None,
    vary_seed: bool = False,
    checkpoint: str | os.PathLike[str] | None = None,
    time_budget: float | Budget | None = None,
    n_jobs: int | None = None,
    engine: Engine = "threads",
    progress: Listener | None = None,
    verbose: bool = False,
) -> Evaluation:
    """Cross-validate methods side by side: R2, the recurrence of their rules, sizes and times.

    Classifiers are measured by AUC in place of R2, and by the log-loss, the balanced accuracy and
    the Brier score. For more than two classes, AUC is the mean over classes of each against all
    others, the Brier score adds up over classes (for two it is that of the second), and the
    recurrence of rules is not measured, as there is a rule set for each class.

    On each fold candidate rules are found once for all methods of this package whose parameters of
    the search agree (see `mossrules.estimators.search_parameters`). That takes most of the time,
    and is reported apart: `seconds` is what a method takes once there are candidates,
    `search_seconds` what the search takes; a method alone would take both.

    A method that fails on a fold (with an error that data or settings can lead to) is listed in the
    result with the reason, and the others go on.

    Parameters
    ----------
    methods : dict from names to regressors, or to classifiers
        `MossRegressor`, those of `mossrules.baselines`, and any other of scikit-learn. Recurrence
        is measured where a fitted model has `rules_`, a `RuleSet`, and missing elsewhere. They are
        not fitted themselves. A generator as `random_state` gives all folds one seed.
    X, y, sample_weight, groups : as in `MossRegressor.fit`
        Methods of other packages get rows of X as it is given: they may need numbers, without
        missing values. Weights count on test rows too. Rows of a group are in the same fold, and
        methods whose `fit` has `groups` get those of their rows.
    cv : as in `evaluate_frontier`
        A number of folds has the same share of each class in all of them, as far as groups allow.
    identity, overlap
        When rules of two folds count as the same, as in `mossrules.stability.dice`; "rows" looks at
        all rows of X.
    metric : {"auc", "log_loss", "balanced_accuracy", "brier"}, optional
        Of classifiers, what methods are ranked by and figures show; AUC by default. All are
        measured: see `Evaluation.by`.
    prepare : transformer of scikit-learn, optional
        Fitted, on each fold, to the training rows, and applied to training and test rows before any
        method sees them: medians for missing values, say. It is not fitted itself, and returns a
        table that methods can read, with the same rows.
    vary_seed : bool, default=False
        By default a method has the same seed on all folds, so that its trees look at the same
        columns. Rules then agree more than those of separate analyses would. If True, the seed is
        one more on each fold.
    checkpoint : path, optional
        A file to which each result is written at once, and from which an interrupted run resumes.
        What failed is tried again, and methods can be added; other data, folds or settings are
        refused. Cannot be used with `prepare`.
    time_budget : float, optional
        Seconds for all folds together. Two folds at least are evaluated, and further ones while
        there is time, each with all methods; `asked` says how many folds there were to be. Searches
        of MOSS share the time of their fold; methods of other packages take what they take.
        Workers of Dask do not know what is left of it: with `engine="dask"` it is refused.
    n_jobs : int or None, default=None
        Threads, over folds first; None uses all cores. Results do not depend on it, but for the
        times: to compare those, use 1.
    engine : {"threads", "dask"}, default="threads"
        Where folds are evaluated: by threads of this process, or by the workers of the current Dask
        client (extra `dask`), which are sent all rows; there `n_jobs` is the threads of each fold,
        one by default, and an interrupted run keeps nothing of the folds under way.
    progress
        Called with an `EvaluationProgress` after each method on each fold.
    verbose
        Whether to show a line of progress in the terminal.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import LinearRegression
    >>> from mossrules import MossRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> methods = {"MOSS": MossRegressor(5, n_trees=100), "least squares": LinearRegression()}
    >>> evaluation = evaluate(methods, X, y, cv=5)
    >>> evaluation.summary()["dice"].isna().tolist()
    [False, True]
    >>> len(evaluation.rule_sets("MOSS"))
    5
    """
    check_identity(identity, overlap)
    check_listener(progress, "EvaluationProgress")
    check_choice("engine", engine, get_args(Engine))
    if isinstance(X, str | os.PathLike) or (isinstance(X, Table) and X.parts):
        raise UnsupportedType(
            "X is in files, and methods of other packages need a table; read it first, with pandas "
            "or polars."
        )
    check_prepare(prepare, checkpoint)
    read_budget(time_budget)  # which refuses what is none
    if engine == "dask" and time_budget is not None:
        raise InvalidParameter(
            "time_budget is shared among the threads of this process, and with engine='dask' folds "
            "run elsewhere; leave one of them out."
        )
    compared = read_methods(methods, vary=vary_seed)
    task = task_of(compared)
    metric = METRICS[task][0] if metric is None else metric
    check_choice("metric", metric, METRICS[task])
    X, sample_weight, groups = split_beside(X, y, sample_weight, groups)
    rows = read_rows(X, y, sample_weight, groups, of_classes=task != "regression", whole=True)
    check_outcomes(compared, rows.classes)
    splits = split_rows(rows, cv, stratify=rows.classes is not None)
    record = None if checkpoint is None else Record.open(checkpoint, rows, splits, compared)
    if any(method.may_prove for method in compared):
        compile_kernels()  # not in several threads, nor on anyone's time
    run = FoldRun(
        splits, len(compared), n_jobs, budget=read_budget(time_budget), needed=FEWEST_FOLDS
    )
    threads = run.threads
    if (
        engine == "dask"
    ):  # a worker has a fold to itself, and cores that cannot be counted from here
        threads = 1 if n_jobs is None else resolve_n_jobs(n_jobs)
    source = Source.of(X, y, prepare, rows.classes)
    work = _FoldWork(_Folds(compared, rows, source, threads), run, record)
    with run.shown(progress, verbose=verbose):
        folds = work.send() if engine == "dask" else run.map(work)
    return Evaluation(
        tuple(result for of_method in zip(*folds, strict=True) for result in of_method),
        {method.name: method.settings for method in compared},
        seconds=run.seconds,
        asked=len(splits),
        identity=identity,
        overlap=overlap,
        table=rows.table if identity == "rows" else None,
        metric=metric,
    )


@dataclass(frozen=True)
class _Folds:
    """What any worker, here or on a cluster, needs to evaluate any fold; it can be pickled."""

    methods: Sequence[Method]
    rows: Rows
    source: Source
    n_jobs: int

    def at(self, number: int, train: IntArray, test: IntArray) -> Fold:
        """Return one fold."""
        return Fold(number, self.rows, train, test, self.source, self.n_jobs)

    def __call__(self, task: tuple[int, IntArray, IntArray, set[str]]) -> list[MethodFold]:
        """Return what the methods make of a fold, but for those that are known."""
        number, train, test, known = task
        fold = self.at(number, train, test)
        return [fold.evaluate(method) for method in self.methods if method.name not in known]


@dataclass(frozen=True)
class _FoldWork:
    """All methods on a fold, one after the other; what is recorded is not done again."""

    folds: _Folds
    run: FoldRun
    record: Record | None

    def __call__(self, number: int, train: IntArray, test: IntArray) -> list[MethodFold]:
        """Return what all methods make of a fold."""
        fold = self.folds.at(number, train, test)
        results = []
        methods, part = self.folds.methods, self.run.parts[number]
        for place, method in enumerate(methods):
            self.run.check()
            result = self._known(method.name, number)
            if result is None:
                own = part.next_of(len(methods) - place)
                result = fold.evaluate(method, own)
                # With more time another run may do better than one whose share was over.
                if not (part.is_limited and result.status == Status.TIME_LIMIT.value):
                    self._keep(result)
            results.append(result)
            self.run.tell(number, method=method.name)
        return results

    def _known(self, method: str, fold: int) -> MethodFold | None:
        """Return what an earlier run has recorded."""
        return None if self.record is None else self.record.find(method, fold)

    def _keep(self, result: MethodFold) -> MethodFold:
        """Record a result, if there is a record."""
        if self.record is not None:
            self.record.add(result)
        return result

    def send(self) -> list[list[MethodFold]]:
        """Return the results of each fold, by method, which workers of Dask find.

        The record stays in this process: only here is there one writer.
        """
        names = [method.name for method in self.folds.methods]
        splits = self.run.splits
        known = [
            {name: result for name in names if (result := self._known(name, number)) is not None}
            for number in range(len(splits))
        ]
        tasks = [(number, *splits[number], set(known[number])) for number in range(len(splits))]
        folds = []
        for number, results in enumerate(on_cluster(self.folds, tasks)):
            by_name = known[number] | {result.method: self._keep(result) for result in results}
            folds.append([by_name[name] for name in names])
            for name in names:
                self.run.tell(number, method=name)
        return folds
