"""Every method on every fold of a table: accuracy and stability of all of them, in one run."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from mossrules import defaults
from mossrules._common import check_choice, check_listener, check_number
from mossrules._deprecated import old_parameters
from mossrules._typing import AnyArray
from mossrules.data.chunks import resolve_n_jobs
from mossrules.data.dask_partitions import on_cluster
from mossrules.data.rows import Rows, read_rows
from mossrules.data.table import Table
from mossrules.evaluation.agreement import SAME_ROWS, Identity
from mossrules.evaluation.folds import FoldRun, Listener, Split, split_rows
from mossrules.evaluation.methods import Fold, Method, Source, check_prepare, read_methods
from mossrules.evaluation.metrics import METRICS, Task, task_of
from mossrules.evaluation.record import Record
from mossrules.evaluation.results import Evaluation, MethodFold
from mossrules.exceptions import InvalidParameter, UnsupportedType
from mossrules.solver.search.branch_and_bound import compile_kernels

__all__ = ["evaluate"]

Engine = Literal["threads", "dask"]

EXACT = ("auto", "branch-and-bound")  # solvers of MOSS that need kernels which compile for long


@old_parameters({"learners": "methods"})
def evaluate(
    methods: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    cv: Any = defaults.FOLDS,
    groups: Any = None,
    sample_weight: Any = None,
    identity: Identity = "codes",
    overlap: float = SAME_ROWS,
    metric: str | None = None,
    prepare: Any = None,
    vary_seed: bool = False,
    checkpoint: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    engine: Engine = "threads",
    progress: Listener | None = None,
    verbose: bool = False,
) -> Evaluation:
    """Cross-validate methods side by side: R2, the stability of their rules, sizes and times.

    Of classifiers it is AUC in place of R2, beside the log-loss, the balanced accuracy and the
    Brier score. Of more than two classes, AUC is the mean over classes of each against all others,
    the Brier score adds up over classes (while of two it is that of the second), and the stability
    of rules is not measured, as there is a rule set for each class.

    On each fold candidate rules are found once for all methods of this package whose parameters of
    the search agree (see `mossrules.estimators.generation`). That takes most of the time, and is
    told apart: `seconds` is what a method takes once there are candidates, `search_seconds` what
    the search takes; a method alone would take both.

    A method that fails on a fold (with an error that data or settings can lead to) is a row of
    the result that says so, and the others go on.

    Parameters
    ----------
    methods : dict from names to regressors, or to classifiers
        `MossRegressor`, those of `mossrules.baselines`, and any other of scikit-learn. Stability is
        measured where a fitted model has `rules_`, a `RuleSet`, and missing elsewhere. They are not
        fitted themselves. A generator as `random_state` gives all folds one seed.
    X, y, sample_weight : as in `MossRegressor.fit`
        Other methods have rows of X as it is given: they may need numbers, without missing ones.
        Weights count on test rows too.
    cv, groups : as in `evaluate_frontier`
        A number of folds has the same share of each class in all of them.
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
        By default a method has its seed on all folds, and so, with a seed that is known, the same
        luck: trees look at the same columns. Rules then agree more than those of separate analyses
        would. If True, the seed is one more on each fold.
    checkpoint : path, optional
        A file to which each result is written at once, and from which a second run goes on. What
        failed is tried again, and methods can be added; other data, folds or settings are refused.
        Not to be had with `prepare`.
    n_jobs : int or None, default=None
        Threads, over folds first; None uses all cores. Results do not depend on it, but for the
        times: to compare those, use 1.
    engine : {"threads", "dask"}, default="threads"
        Where folds are worked on: threads of this process, or the workers of the current Dask
        client (extra `dask`), which are sent all rows; there `n_jobs` is the threads of each fold,
        one by default, and what is interrupted keeps nothing of folds that are under way.
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
    >>> found = evaluate(methods, X, y, cv=5)
    >>> found.summary()["dice"].isna().tolist()
    [False, True]
    >>> len(found.rule_sets("MOSS"))
    5
    """
    check_choice("identity", identity, get_args(Identity))
    if check_number("overlap", overlap) > 1:
        raise InvalidParameter(f"overlap is {overlap!r}; pass a share of rows in (0, 1].")
    check_listener(progress, "EvaluationProgress")
    check_choice("engine", engine, get_args(Engine))
    if isinstance(X, str | os.PathLike) or (isinstance(X, Table) and X.parts):
        raise UnsupportedType(
            "X is in files, and methods of other packages need a table; read it first, with pandas "
            "or polars."
        )
    check_prepare(prepare, checkpoint)
    wanted = read_methods(methods, vary=vary_seed)
    task = task_of([(each.name, each.estimator) for each in wanted])
    metric = METRICS[task][0] if metric is None else metric
    check_choice("metric", metric, METRICS[task])
    rows, classes = _read(task, X, y, sample_weight)
    splits = split_rows(rows, cv, groups, stratify=classes is not None)
    source = Source.of(X, y, prepare, classes)
    record = None if checkpoint is None else Record.open(checkpoint, rows, splits, wanted)
    if any(map(_may_prove, wanted)):
        compile_kernels()  # not in several threads, nor on anyone's time
    if engine == "dask":
        jobs, threads = len(splits), 1 if n_jobs is None else resolve_n_jobs(n_jobs)
    else:
        jobs = min(resolve_n_jobs(n_jobs), len(splits))
        threads = resolve_n_jobs(n_jobs) // jobs
    run = FoldRun(len(splits), len(wanted), jobs)
    work = _FoldWork(wanted, rows, source, threads, run, record)
    with run.shown(progress, verbose=verbose):
        folds = send(work, splits) if engine == "dask" else run.over(work, splits)
    return Evaluation(
        tuple(result for of_method in zip(*folds, strict=True) for result in of_method),
        {each.name: each.settings for each in wanted},
        seconds=run.clock.elapsed(),
        identity=identity,
        overlap=overlap,
        table=rows.table if identity == "rows" else None,
        metric=metric,
    )


def _read(task: Task, X: Any, y: Any, sample_weight: Any) -> tuple[Rows, AnyArray | None]:
    """Return the rows, and the classes of which their target has the positions, if it has."""
    rows = read_rows(X, y, sample_weight, of_classes=task != "regression", whole=True)
    return rows, rows.classes


def _may_prove(method: Method) -> bool:
    """Tell whether a method, or one within it, may search by branch and bound."""
    parameters = method.estimator.get_params(deep=True)
    solvers = [value for name, value in parameters.items() if name.split("__")[-1] == "solver"]
    return any(solver in EXACT for solver in solvers if isinstance(solver, str))


@dataclass(frozen=True)
class RemoteFold:
    """What a worker of a cluster needs to evaluate any fold."""

    methods: Sequence[Method]
    rows: Rows
    source: Source
    n_jobs: int

    def __call__(self, item: tuple[int, Any, Any, set[str]]) -> list[MethodFold]:
        number, train, test, known = item
        fold = Fold(number, self.rows, train, test, self.source, self.n_jobs)
        return [fold.evaluate(each) for each in self.methods if each.name not in known]


@dataclass(frozen=True)
class _FoldWork:
    """All methods on a fold, one after the other."""

    methods: Sequence[Method]
    rows: Rows
    source: Source
    n_jobs: int
    run: FoldRun
    record: Record | None

    def __call__(self, number: int, train: Any, test: Any) -> list[MethodFold]:
        """Return what all methods make of a fold."""
        fold = Fold(number, self.rows, train, test, self.source, self.n_jobs)
        results = []
        for method in self.methods:
            self.run.check()
            results.append(self.known(method.name, number) or self._evaluate(fold, method))
            self.run.tell(number, method=method.name)
        return results

    def known(self, method: str, fold: int) -> MethodFold | None:
        """Return what an earlier run has recorded."""
        return None if self.record is None else self.record.find(method, fold)

    def keep(self, result: MethodFold) -> None:
        """Record a result, if there is a record."""
        if self.record is not None:
            self.record.add(result)

    def _evaluate(self, fold: Fold, method: Method) -> MethodFold:
        result = fold.evaluate(method)
        self.keep(result)
        return result


def send(work: _FoldWork, splits: Sequence[Split]) -> list[list[MethodFold]]:
    """Return the results of each fold, by method, which Dask works on."""
    names = [method.name for method in work.methods]
    items = [
        (number, *split, {name for name in names if work.known(name, number)})
        for number, split in enumerate(splits)
    ]
    remote = RemoteFold(work.methods, work.rows, work.source, work.n_jobs)
    folds: list[list[MethodFold]] = []
    for number, results in enumerate(on_cluster(remote, items)):
        for result in results:
            work.keep(result)
        by_name = {result.method: result for result in results}
        both = [by_name.get(name) or work.known(name, number) for name in names]
        folds.append([result for result in both if result is not None])
        for name in names:
            work.run.tell(number, method=name)
    return folds
