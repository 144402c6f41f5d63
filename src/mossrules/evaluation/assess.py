"""`assess`: refits of every method, each with its own seed, and the trust table that they make.

Every fit is one that a user could make: `fit` on rows of the table as it was given, with nothing
shared among methods, so that the seconds are those of a fit.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from time import perf_counter
from typing import Any, get_args

import numpy as np

from mossrules._common import Clock, check_choice, check_integer, check_listener
from mossrules._refusals import is_from_files, names_input
from mossrules._typing import AnyArray, FloatArray, IntArray
from mossrules.budget import Budget, read_budget
from mossrules.candidates.search import resolve_seed
from mossrules.checkpoint import CheckpointFile
from mossrules.data.groups import split_beside
from mossrules.data.labels import python_label
from mossrules.data.rows import Rows, read_rows
from mossrules.data.table import Table, names_files
from mossrules.evaluation.assessment import (
    Assessment,
    MethodTrust,
    trust_from_dict,
    trust_to_dict,
)
from mossrules.evaluation.folds import EvaluationProgress, FoldRun, Listener, Split
from mossrules.evaluation.methods import (
    FAILURES,
    Method,
    Source,
    check_outcomes,
    expect_part,
    fit_options,
    probabilities,
    read_methods,
    score_classes,
    statuses_of,
    task_of,
)
from mossrules.evaluation.record import fingerprint
from mossrules.evaluation.refits import Scheme, refit_splits
from mossrules.evaluation.results import NAN
from mossrules.evaluation.trust import Fit, FoundRules, Outcomes, measure_trust
from mossrules.exceptions import InvalidFile, UnsupportedType
from mossrules.model.ruleset import RuleSet
from mossrules.model.rulesets import RuleSets
from mossrules.progress import telling
from mossrules.solver.result import Status
from mossrules.solver.search.branch_and_bound import compile_kernels

__all__ = ["assess"]

FORMAT, VERSION = "mossrules assessment run", 1
FEWEST_FITS = 2  # that can be compared
LARGEST_SEED = 2**31  # scikit-learn takes no larger ones


@names_input("X")
def assess(
    methods: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    refits: int = 10,
    scheme: Scheme = "folds",
    sample_weight: Any = None,
    groups: Any = None,
    seeds: int = 5,
    time_budget: float | Budget | None = None,
    n_jobs: int | None = None,
    random_state: Any = 0,
    progress: Listener | None = None,
    verbose: bool = False,
    checkpoint: str | os.PathLike[str] | None = None,
) -> Assessment:
    """Measure how far rules can be trusted: refit each method, and compare the results.

    Each refit leaves out a tenth of the rows, or is a bootstrap, and has a seed of its own: what
    another person with slightly different data would do. Further fits to all rows differ in the
    seed alone. The trust table has, for each method,

    1. R2 over all rows left out, against the mean of the training rows; of classes the share of the
       log-loss that is gone (skill), likewise, and the AUC, mean over refits;
    2. Dice of rules that read the same, and of rules that hold on nearly the same rows (90 % of
       those where either holds), means over pairs of refits;
    3. the same weighted by importance: the sum over common rules of the smaller share of importance
       (|effect| times the standard deviation of the rule's column on the training rows);
    4. the share of common rules whose effects have the same sign;
    5. the share of rules whose effect opposes the mean of their own rows;
    6. the share of idle rules, under 1 % of the largest importance;
    7. the share of refits whose rules and intercept are linearly dependent on the training rows:
       their effects are then not determined by the data;
    8. the instability of predictions: the 95 % range of a person's prediction over refits, mean
       over people, in standard deviations of the target. The range is from the 2.5th to the 97.5th
       percentile from 40 refits on, and 2 * 1.96 standard deviations with fewer;
    9. the number of rules that every refit has;
    10. Dice of fits to the same rows with several seeds;
    11. the median seconds of a fit, and the mean number of rules.

    Methods without rules have (1), (8) and seconds. Of more than two classes, each of which has
    rules of its own, the measures of rules and of predictions are means over classes.

    Parameters
    ----------
    methods : dict from names to regressors, or to classifiers
        As in `evaluate`; `random_state`, where they or estimators within them have one, is set for
        each fit. They are not fitted themselves.
    X, y, sample_weight, groups : as in `evaluate`
        Weights count in all measures. Rows of a group are left out, or drawn, together.
    refits : int, default=10
        At least 2. Ten folds leave out each row once; more refits divide the rows again.
    scheme : {"folds", "bootstrap"}, default="folds"
        Whether refits leave out a tenth of the rows, or draw as many with replacement, and are
        tested on those not drawn.
    seeds : int, default=5
        Fits to all rows, each with its own seed; 0 for none.
    time_budget : float, optional
        Seconds for all fits together, of which each method has its share. Each has at least two
        refits, and two fits to all rows, and further ones while there is time; searches of MOSS
        share it too. `cut_short` says what was left out.
    n_jobs : int or None, default=None
        Threads, over fits first; None uses all cores. Results do not depend on it, but for the
        seconds: to compare those, use 1.
    random_state : int, NumPy generator or None, default=0
        The seed of the first refit and of the first fit to all rows; others have the next ones.
    progress
        Called with an `EvaluationProgress` after each fit.
    verbose
        Whether to show a line of progress in the terminal.
    checkpoint : path, optional
        A file to which each method is written when it is measured, and from which an interrupted
        run resumes. Methods with failures are tried again, and methods can be added; other data,
        refits or settings are refused.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import LinearRegression
    >>> from mossrules import MossRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> methods = {"MOSS": MossRegressor(5, n_trees=100), "least squares": LinearRegression()}
    >>> table = assess(methods, X, y, refits=5, seeds=2)
    >>> table["MOSS"].dice < table["MOSS"].dice_seeds
    True
    >>> table.frame(backend="pandas")["dice"].isna().tolist()
    [False, True]
    """
    check_listener(progress, "EvaluationProgress")
    refits = check_integer("refits", refits, minimum=2)
    seeds = check_integer("seeds", seeds, minimum=0)
    check_choice("scheme", scheme, get_args(Scheme))
    read_budget(time_budget)  # which refuses what is none
    if names_files(X) or (isinstance(X, Table) and X.parts):
        raise UnsupportedType(
            "X is in files, and methods of other packages need a table; read it first, with pandas "
            "or polars."
        )
    compared = read_methods(methods)
    task = task_of(compared)
    X, sample_weight, groups = split_beside(X, y, sample_weight, groups)
    rows = read_rows(X, y, sample_weight, groups, of_classes=task != "regression", whole=True)
    check_outcomes(compared, rows.classes)
    first = resolve_seed(random_state) % LARGEST_SEED
    splits = refit_splits(rows, refits, scheme, None, first, stratify=task != "regression")
    work = _Work(rows, Source.of(X, y, None, rows.classes), splits, first, seeds, n_jobs)
    record = None if checkpoint is None else _Record.open(checkpoint, work, compared)
    if any(method.may_prove for method in compared):
        compile_kernels()  # not in several threads, nor on anyone's time
    total = len(compared) * (refits + seeds)
    found: list[MethodTrust] = []
    with telling(progress, verbose=verbose, total=total, title="refits") as tell:
        steps, budget = _Steps(tell, total), read_budget(time_budget)
        for method in compared:
            known = None if record is None else record.find(method)
            part = budget.next_of(len(compared) - len(found))
            trust = work.measure(method, steps, part) if known is None else known
            # With more time another run may do better than one whose share was over.
            whole = trust.refits + trust.failed >= refits and not trust.stopped
            if record is not None and (whole or not budget.is_limited):
                record.add(trust)
            steps.skip_to(len(found) + 1, refits + seeds)
            found.append(trust)
    return Assessment(
        tuple(found), task, refits, scheme, seeds, len(rows.target), steps.clock.elapsed()
    )


@dataclass
class _Steps:
    """What listeners are told after each fit."""

    tell_all: Callable[[EvaluationProgress], None]
    total: int
    done: int = 0
    clock: Clock = field(default_factory=lambda: Clock(None))
    lock: Lock = field(default_factory=Lock)

    def tell(self, method: str, fit: int) -> None:
        """Tell that a fit of a method is done."""
        with self.lock:
            self.done += 1
            seconds = self.clock.elapsed()
            self.tell_all(EvaluationProgress(self.done, self.total, fit, seconds, method))

    def skip_to(self, methods: int, fits: int) -> None:
        """Count the fits that a method did not need."""
        self.done = methods * fits


# --- fits -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Work:
    """The rows, and what is done with them."""

    rows: Rows
    source: Source
    splits: Sequence[Split]
    seed: int  # the first
    seeds: int
    n_jobs: int | None

    def measure(self, method: Method, steps: _Steps, budget: Budget) -> MethodTrust:
        """Return the row of a method, whose fits share a budget."""
        stopped: list[int] = []
        everything = len(self.splits) + self.seeds
        own = budget.part(len(self.splits) / everything)
        run = FoldRun(self.splits, 1, self.n_jobs, budget=own, needed=FEWEST_FITS)
        refits = self._map(method, run, steps, self._refit, stopped)
        done = [each for each in refits if isinstance(each, Fit)]
        everyone = np.arange(len(self.rows.target))
        alike: list[Any] = []
        if self.seeds and any(fit.rules is not None for fit in done):
            same = [(everyone, everyone[:0])] * self.seeds
            run = FoldRun(same, 1, self.n_jobs, budget=budget.part(), needed=FEWEST_FITS)
            alike = self._map(method, run, steps, self._rules, stopped)
        failures = [each for each in (*refits, *alike) if isinstance(each, str)]
        n_classes = None if self.rows.classes is None else len(self.rows.classes)
        outcomes = Outcomes.of(self.rows.target, self.rows.weights, n_classes)
        reseeded = [rules for rules in alike if rules is not None and not isinstance(rules, str)]
        return MethodTrust(
            method=method.name,
            settings=method.settings,
            refits=len(done),
            failed=len(failures),
            failure=failures[0] if failures else None,
            stopped=len(stopped),
            **(measure_trust(done, reseeded, outcomes) if done else {}),
        )

    def _map(
        self,
        method: Method,
        run: FoldRun,
        steps: _Steps,
        fit: Callable[[Any, IntArray, IntArray, float], Any],
        stopped: list[int],
    ) -> list[Any]:
        """Return what `fit` makes of the models of some rows, or why there is none.

        `stopped` gets the numbers of those whose search had no more time.
        """

        def work(number: int, train: IntArray, test: IntArray) -> Any:
            run.check()
            try:
                model = method.seeded(self.seed + number, run.threads, run.parts[number])
                seconds = self._fit(model, train)
                if Status.TIME_LIMIT in statuses_of(model):
                    stopped.append(number)
                result = fit(model, train, test, seconds)
            except FAILURES as failure:
                if is_from_files(failure):
                    raise
                result = f"{type(failure).__name__}: {' '.join(str(failure).split())}"
            steps.tell(method.name, number)
            return result

        return run.map(work)

    def _fit(self, model: Any, train: IntArray) -> float:
        """Fit a model to some rows as they were given, and return how long it took."""
        X, y = self.source.take(self.rows.origin[train]), self._labels(train)
        how = fit_options(model, self.rows, train)
        expect_part(model, self.rows.classes)
        begun = perf_counter()
        model.fit(X, y, **how)
        seconds = perf_counter() - begun
        if Status.INTERRUPTED in statuses_of(model):
            raise KeyboardInterrupt  # which a choice takes for a wish to have what there is
        return seconds

    def _labels(self, positions: IntArray) -> AnyArray:
        """Return the target as it was given: numbers, or labels."""
        target, classes = self.rows.target[positions], self.rows.classes
        return target if classes is None else classes[target.astype(np.int64)]

    def _refit(self, model: Any, train: IntArray, test: IntArray, seconds: float) -> Fit:
        everyone = self.source.take(self.rows.origin)
        predicted, auc = self._predict(model, everyone), NAN
        if self.rows.classes is not None and len(test):
            weights = None if self.rows.weights is None else self.rows.weights[test]
            codes = self.rows.target[test].astype(np.int64)
            left_out = self.source.take(self.rows.origin[test])
            auc = score_classes(model, left_out, codes, self.rows.classes, weights)["auc"]
        return Fit(train, test, predicted, self._rules(model, train, test, seconds), seconds, auc)

    def _predict(self, model: Any, X: Any) -> FloatArray:
        """Return a prediction for each outcome, probabilities of classes; NaN if it has none."""
        classes = self.rows.classes
        if classes is None:
            return np.asarray(model.predict(X), dtype=np.float64).reshape(-1, 1)
        if not hasattr(model, "predict_proba"):
            return np.full((len(self.rows.target), len(classes) - (len(classes) == 2)), NAN)
        chances = probabilities(model, X, classes)
        return chances[:, 1:] if len(classes) == 2 else chances

    def _rules(self, model: Any, *_: Any) -> tuple[FoundRules | None, ...] | None:
        """Return the rules of a model for each outcome; None of one without rules."""
        rules, classes = getattr(model, "rules_", None), self.rows.classes
        by_outcome: list[Any]
        if isinstance(rules, RuleSet):
            by_outcome = [rules]
        elif isinstance(rules, RuleSets):
            labels = [python_label(label) for label in classes]
            by_outcome = [rules.get(label) for label in labels]
        else:
            return None
        n_outcomes = 1 if classes is None or len(classes) == 2 else len(classes)
        if len(by_outcome) != n_outcomes:
            return (None,) * n_outcomes  # a refit in which classes are missing
        table, sign = self.rows.table, 1.0
        if isinstance(rules, RuleSet) and getattr(model, "outcome_place", 1) == 0:
            sign = -1.0  # what is predicted here is the second class, whichever the rules are for
        return tuple(
            None if each is None else FoundRules.of(each, table).times(sign) for each in by_outcome
        )


# --- the checkpoint -------------------------------------------------------------------------------


@dataclass
class _Record:
    """Methods that were measured, in memory and on disk."""

    file: CheckpointFile
    data: str  # hash of the table, its refits and their seeds
    prints: dict[str, str]  # hash of each method, by name
    known: dict[str, MethodTrust] = field(default_factory=dict)

    @classmethod
    def open(cls, path: str | os.PathLike[str], work: _Work, methods: Sequence[Method]) -> _Record:
        """Return the record at a path, with what an earlier run has put there."""
        data = f"{fingerprint(work.rows, work.splits)} {work.seed} {work.seeds}"
        # The seed of a method itself is replaced.
        prints = {method.name: method.fingerprint for method in methods}
        record = cls(CheckpointFile(Path(path), FORMAT, VERSION), data, prints)
        if record.file.path.exists():
            record._read()
        else:
            record._write()
        return record

    def find(self, method: Method) -> MethodTrust | None:
        """Return what is known; a method with failures is tried again."""
        known = self.known.get(method.name)
        return None if known is None or known.failed else known

    def add(self, trust: MethodTrust) -> None:
        """Store one more method."""
        self.known[trust.method] = trust
        self._write()

    def _write(self) -> None:
        methods = [trust_to_dict(each) for each in self.known.values()]
        self.file.write({"data": self.data, "prints": self.prints, "methods": methods})

    def _read(self) -> None:
        content = self.file.read_own("data", self.data, "other data, refits or seeds")
        with self.file.refuse_damage():
            prints = {str(name): str(value) for name, value in content["prints"].items()}
            known = [trust_from_dict(each) for each in content["methods"]]
        for name, value in self.prints.items():
            if prints.get(name, value) != value:
                raise InvalidFile(
                    f"{self.file} has the method {name!r} with other settings; rename the method, "
                    "or choose another path."
                )
        self.prints = {**prints, **self.prints}
        self.known = {each.method: each for each in known}
