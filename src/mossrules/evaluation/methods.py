"""Methods to compare: what each is, what it makes of the rows of a fold, and how that is scored.

Any estimator of scikit-learn is a method. Those of this package (`RuleMethod`) choose among
candidate rules, which they share. docs/architecture.md says what else a new metric needs, beside
its value in `score_numbers` or `score_classes`.
"""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from time import perf_counter
from typing import Any

import joblib
import narwhals as nw
import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.metrics import (
    brier_score_loss,
    log_loss,
    mean_squared_error,
    r2_score,
    roc_auc_score,
)

from mossrules._common import cached_property
from mossrules._refusals import is_from_files
from mossrules._typing import AnyArray, BoolArray, FloatArray, IntArray
from mossrules.budget import Budget
from mossrules.candidates.cut_points import for_parts
from mossrules.candidates.pool import CandidatePool
from mossrules.candidates.search import Candidates, resolve_seed
from mossrules.data.labels import python_label
from mossrules.data.outcome import outcome_place
from mossrules.data.rows import Rows, read_rows
from mossrules.data.table import Table, take_rows, target_name, without
from mossrules.evaluation.results import FAILED, NAN, MethodFold, Task
from mossrules.exceptions import InvalidParameter, MossError, UnsupportedType
from mossrules.learning.fit import find_in_rows
from mossrules.learning.method import RuleMethod
from mossrules.model.ruleset import RuleSet
from mossrules.solver.result import Solution, Status

__all__ = [
    "FAILURES",
    "Fold",
    "Method",
    "Source",
    "check_estimator",
    "check_outcomes",
    "check_prepare",
    "expect_part",
    "fit_options",
    "probabilities",
    "read_methods",
    "score_classes",
    "statuses_of",
    "task_of",
]

# What a method can run into because of its data or its settings: values it cannot use, sums that
# overflow, matrices that cannot be inverted (a ValueError in NumPy), columns it looks for in vain,
# no convergence, no memory, a package that is not installed (a MossError here). It is then listed
# as failed. Mistakes in the program of a method (names, attributes, assertions), interrupts and
# trouble with files are not among them, and end the run: an `except Exception` would hide them.
FAILURES = (
    MossError, ValueError, TypeError, ArithmeticError, LookupError, RuntimeError, MemoryError,
)  # fmt: skip


def check_estimator(name: str, value: Any) -> None:
    """Refuse what cannot be fitted."""
    if not hasattr(value, "fit") or isinstance(value, type):
        kind = type(value).__name__
        raise UnsupportedType(
            f"{name} is of type {kind}; pass an estimator, such as MossRegressor()."
        )


EXACT = ("auto", "branch-and-bound")  # solvers of MOSS whose kernels take long to compile
IRRELEVANT = ("n_jobs", "verbose")  # parameters on which no result depends


@dataclass(frozen=True)
class Method:
    """A method under its name."""

    name: str
    estimator: Any
    seed: int | None  # on the first fold; None where it is not known
    varies: bool = False  # whether the seed is one more on each fold

    @property
    def is_ours(self) -> bool:
        """Whether it chooses among candidates that can be shared."""
        return isinstance(self.estimator, RuleMethod)

    @property
    def may_prove(self) -> bool:
        """Whether it, or a method within it, may search by branch and bound."""
        parameters = self.estimator.get_params(deep=True)
        solvers = [value for name, value in parameters.items() if name.split("__")[-1] == "solver"]
        return any(solver in EXACT for solver in solvers if isinstance(solver, str))

    @cached_property
    def settings(self) -> str:
        """The method as it is written in Python."""
        if isinstance(self.estimator, BaseEstimator):
            return " ".join(self.estimator.__repr__(N_CHAR_MAX=10_000).split())
        return repr(self.estimator)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all that its results depend on, besides the rows."""
        kind = f"{type(self.estimator).__module__}.{type(self.estimator).__qualname__}"
        source = self.estimator if self.is_ours else clone(self.estimator)
        parameters = source.get_params(deep=False)
        kept = {name: value for name, value in parameters.items() if name not in IRRELEVANT}
        if self.is_ours:
            kept["random_state"] = self.seed
        try:
            return str(joblib.hash((kind, kept, "varies") if self.varies else (kind, kept)))
        except (pickle.PicklingError, TypeError, AttributeError) as reason:
            raise InvalidParameter(
                f"The method {self.name!r} cannot be recognised in a checkpoint, as some of its "
                "parameters cannot be pickled; leave out checkpoint, or use functions with names."
            ) from reason

    def on(self, fold: int) -> Method:
        """Return the method as it is on a fold, with the seed that it has there."""
        if not self.varies or self.seed is None:
            return self
        return replace(self, seed=self.seed + fold)

    def seeded(self, seed: int, n_jobs: int, budget: Budget | None = None) -> Any:
        """Return one that is not fitted, with this seed wherever it, or one within it, has one."""
        if self.is_ours:
            return replace(self, seed=seed).fresh(n_jobs, budget)
        copy = clone(self.estimator)
        names = [each for each in copy.get_params() if each.split("__")[-1] == "random_state"]
        return copy.set_params(**dict.fromkeys(names, seed))

    def fresh(self, n_jobs: int | None, budget: Budget | None = None) -> Any:
        """Return one that is not fitted, for a single fold, and what it may take of a budget."""
        if not self.is_ours:
            copy = clone(self.estimator)
            fixed = self.seed is None or not self.varies
            return copy if fixed else copy.set_params(random_state=self.seed)
        # Not a clone, which would empty a fitted ensemble that is the source of rules.
        parameters = self.estimator.get_params(deep=False)
        parameters |= {"random_state": self.seed, "n_jobs": n_jobs}
        if "verbose" in parameters:
            parameters["verbose"] = 0
        if budget is not None and "time_budget" in parameters:
            parameters["time_budget"] = budget.limit(parameters["time_budget"])
        return type(self.estimator)(**parameters)


def read_methods(estimators: Any, *, vary: bool = False) -> list[Method]:
    """Return the methods of a dict, checked before any work; seeds may vary over folds."""
    if not isinstance(estimators, Mapping):
        raise UnsupportedType(
            f"methods is a {type(estimators).__name__}; pass a dict from names to estimators, "
            'such as {"MOSS": MossRegressor()}.'
        )
    if not estimators:
        raise InvalidParameter("methods is empty; pass at least one, with its name.")
    seeds: dict[int, int] = {}  # a generator that several methods have gives all the same seed
    methods = []
    for name, estimator in estimators.items():
        if not isinstance(name, str) or not name:
            raise InvalidParameter(f"methods has the name {name!r}; names are text.")
        needed = ("fit", "predict", "get_params")
        if isinstance(estimator, type) or not all(map(partial(hasattr, estimator), needed)):
            raise UnsupportedType(
                f"The method {name!r} is {estimator!r}; pass an estimator with fit and predict, "
                "that is MossRegressor() and not MossRegressor."
            )
        seed = getattr(estimator, "random_state", None)
        if isinstance(estimator, RuleMethod):
            estimator.check_parameters()
            seed = seeds.setdefault(id(seed), resolve_seed(seed))
        known = int(seed) if isinstance(seed, int | np.integer) else None
        methods.append(Method(name, estimator, known, vary))
    return methods


def task_of(methods: Sequence[Method]) -> Task:
    """Return what methods predict, which has to be the same for all of them."""
    by_task: dict[Task, list[str]] = {"regression": [], "classification": []}
    for method in methods:
        by_task["classification" if is_classifier(method.estimator) else "regression"].append(
            method.name
        )
    numbers, classes = by_task["regression"], by_task["classification"]
    if numbers and classes:
        raise InvalidParameter(
            f"methods has a classifier, {classes[0]!r}, and a regressor, {numbers[0]!r}; evaluate "
            "them apart, as a target is either classes or numbers."
        )
    return "classification" if classes else "regression"


def check_outcomes(methods: Sequence[Method], classes: AnyArray | None) -> None:
    """Refuse the outcome of a method that is no class, which would make each of its fits fail."""
    if classes is None:
        return
    for method in methods:
        outcome_place(classes, getattr(method.estimator, "outcome", None))


def check_prepare(prepare: Any, checkpoint: Any) -> None:
    """Refuse what is no transformer; and any, with a record, which cannot recognise it later."""
    if prepare is None:
        return
    needed = ("fit", "transform", "get_params")
    if isinstance(prepare, type) or not all(map(partial(hasattr, prepare), needed)):
        raise UnsupportedType(
            f"prepare is {prepare!r}; pass a transformer with fit and transform, or None."
        )
    if checkpoint is not None:
        raise InvalidParameter("A checkpoint does not know what prepare does; leave one out.")


# --- a fold ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Source:
    """The table as the user gave it, for methods that do not know ours."""

    X: Any
    target: str | None  # its name, if it has one
    prepare: Any = None  # transformer that each fold fits to its training rows
    classes: AnyArray | None = None  # of which the target of rows has the positions

    @classmethod
    def of(cls, X: Any, y: Any, prepare: Any, classes: AnyArray | None = None) -> Source:
        """Return the features, without the target's column."""
        X = without(X, y) if isinstance(y, str) else X
        return cls(X, target_name(y), prepare, classes)

    def take(self, positions: IntArray) -> Any:
        """Return some rows, as a table of the same kind."""
        if isinstance(self.X, Table):
            return take_rows(self.X, positions)
        if isinstance(self.X, Mapping):
            return {name: _take(values, positions) for name, values in self.X.items()}
        if nw.dependencies.is_into_dataframe(self.X):
            return nw.from_native(self.X, eager_only=True)[positions].to_native()
        return _take(self.X, positions)


def _take(values: Any, positions: IntArray) -> Any:
    if nw.dependencies.is_into_series(values):
        return nw.from_native(values, series_only=True)[positions].to_native()
    if isinstance(values, Sequence):
        return [values[position] for position in positions.tolist()]
    return np.asanyarray(values)[positions]


@dataclass(frozen=True)
class _Search:
    """Candidates, and what it took to find them."""

    candidates: Candidates
    seconds: float
    names: frozenset[str]


@dataclass(frozen=True)
class Fold:
    """The rows of a fold, and the candidates that its methods share.

    Sharing is quicker, as the search takes most of the time, and fairer: only the choice differs.
    """

    number: int
    rows: Rows  # all of them
    train: IntArray
    test: IntArray
    source: Source
    n_jobs: int
    _searches: dict[tuple[object, ...], _Search] = field(default_factory=dict)  # by parameters

    @cached_property
    def training(self) -> Rows:
        """The rows to learn from, in canonical order."""
        if self.source.prepare is None:
            return self.rows.take(self.train)
        weights = None if self.rows.weights is None else self.rows.weights[self.train]
        rows = read_rows(self._seen(self.train), self.rows.target[self.train], weights)
        if self.rows.groups is None:
            return rows
        return replace(rows, groups=self.rows.groups[self.rows.origin[self.train]])

    @cached_property
    def _of_first(self) -> Rows:
        """The same, with the target 1 in the first of two classes and not in the second."""
        return replace(self.training, known_target=1.0 - self.training.given)

    def _training_of(self, model: Any) -> Rows:
        """Return the rows to learn from; of two classes, the target is 1 in the model's outcome."""
        classes = self.source.classes
        is_second = classes is None or outcome_place(classes, model.outcome) == 1
        return self.training if is_second else self._of_first

    @cached_property
    def _prepared(self) -> Any:
        """The transformer, fitted to the training rows."""
        train = self.source.take(self.rows.origin[self.train])
        return clone(self.source.prepare).fit(train, self.rows.target[self.train])

    def _seen(self, positions: IntArray) -> Any:
        """Return rows as methods see them."""
        taken = self.source.take(self.rows.origin[positions])
        return taken if self.source.prepare is None else self._prepared.transform(taken)

    def evaluate(self, method: Method, budget: Budget | None = None) -> MethodFold:
        """Return what a method makes of the fold; if it fails, that it does."""
        method = method.on(self.number)
        try:
            return self._evaluate(method, budget)
        except FAILURES as failure:
            if is_from_files(failure):
                raise
            return MethodFold(
                method=method.name,
                fold=self.number,
                status=FAILED,
                failure=f"{type(failure).__name__}: {' '.join(str(failure).split())}",
                seed=method.seed,
            )

    def _evaluate(self, method: Method, budget: Budget | None) -> MethodFold:
        model = method.fresh(self.n_jobs, budget)
        search = self._search(model) if method.is_ours and self._can_share(model) else None
        begun = perf_counter()
        if search is not None:
            classes = self.source.classes
            labels = {} if classes is None else {"classes": _outcome_last(model, classes)}
            target, rows = self.source.target, self._training_of(model)
            model.fit_candidates(search.candidates, target=target, rows=rows, **labels)
        else:
            self._fit(model)
        seconds = perf_counter() - begun
        statuses = statuses_of(model)
        if Status.INTERRUPTED in statuses:
            raise KeyboardInterrupt  # which a choice takes for a wish to have what there is
        rules, pool = getattr(model, "rules_", None), getattr(model, "pool_", None)
        candidates = None if search is None else search.names
        if candidates is None and isinstance(pool, CandidatePool):
            candidates = _names(pool)
        return MethodFold(
            method=method.name,
            fold=self.number,
            status=statuses[0].value if len(statuses) == 1 else "fitted",
            seed=method.seed,
            scores=self._score(model),
            seconds=seconds,
            search_seconds=NAN if search is None else search.seconds,
            rules=rules if isinstance(rules, RuleSet) else None,
            candidates=candidates,
        )

    def _can_share(self, model: Any) -> bool:
        """Whether the candidates of these rows are those that the model would look for.

        Of more than two classes each has candidates of its own, and weights of classes are weights
        of rows: such models are fitted as those of others are.
        """
        classes = self.source.classes
        if classes is None:
            return True
        return len(classes) == 2 and getattr(model, "class_weight", None) is None

    def _search(self, model: RuleMethod) -> _Search:
        """Return the candidates of a model, found once for all that look for the same."""
        if model.has_own_candidates:
            return self._timed(lambda: model.find_candidates(self._training_of(model)))
        rows, parameters = self._training_of(model), model.search_parameters()
        # A generator need not be hashable. Its method holds it, so the id stays that of one object.
        key = (
            rows is self.training,
            *(
                (name, value if isinstance(value, int | float | str | tuple) else id(value))
                for name, value in sorted(parameters.items())
            ),
        )
        if key not in self._searches:
            self._searches[key] = self._timed(lambda: find_in_rows(rows, **parameters))
        return self._searches[key]

    def _timed(self, find: Any) -> _Search:
        begun = perf_counter()
        candidates: Candidates = find()
        return _Search(candidates, perf_counter() - begun, _names(candidates.pool))

    def _fit(self, model: Any) -> None:
        """Fit a method to rows of the table as it was given."""
        expect_part(model, self.source.classes)
        X, y = self._seen(self.train), self._target(self.train)
        model.fit(X, y, **fit_options(model, self.rows, self.train))

    def _target(self, positions: IntArray) -> AnyArray:
        """Return the target as it was given: numbers, or labels."""
        target, classes = self.rows.target[positions], self.source.classes
        return target if classes is None else classes[target.astype(np.int64)]

    def _score(self, model: Any) -> dict[str, float]:
        """Return the metrics on the test rows."""
        target, seen = self.rows.target[self.test], self._seen(self.test)
        weights = None if self.rows.weights is None else self.rows.weights[self.test]
        if self.source.classes is None:
            return score_numbers(target, model.predict(seen), weights)
        return score_classes(model, seen, target.astype(np.int64), self.source.classes, weights)


def statuses_of(model: Any) -> list[Status]:
    """Return how the searches of a fitted model ended, one for each class; none of others."""
    found = getattr(model, "solution_", None)
    solutions = found.values() if isinstance(found, Mapping) else [found]
    return [each.status for each in solutions if isinstance(each, Solution)]


def fit_options(model: Any, rows: Rows, positions: IntArray) -> dict[str, Any]:
    """Return what `fit` of a method is told of some rows: weights, and groups where it takes any.

    Estimators of other packages take none, and divide no rows by them.
    """
    told: dict[str, Any] = {}
    if rows.weights is not None:
        told["sample_weight"] = rows.weights[positions]
    if rows.groups is not None and "groups" in inspect.signature(model.fit).parameters:
        told["groups"] = rows.groups[rows.origin[positions]]
    return told


def expect_part(model: Any, classes: AnyArray | None) -> None:
    """Tell a method that it is fitted to a part of the rows, whose classes are these in all.

    Cut points may separate none of them, all parts have the same outcome, and nobody reads them.
    """
    if hasattr(model, "tells"):
        model.tells = False
    if hasattr(model, "cuts"):
        model.set_params(cuts=for_parts(model.cuts))
    if classes is not None and len(classes) == 2 and getattr(model, "outcome", classes) is None:
        model.set_params(outcome=python_label(classes[outcome_place(classes)]))


def _outcome_last(model: Any, classes: AnyArray) -> AnyArray:
    """Return two classes, that of the model's outcome last."""
    return classes if outcome_place(classes, model.outcome) == 1 else classes[::-1]


def _names(pool: CandidatePool) -> frozenset[str]:
    """Return short names of rules, which tell whether those of two folds are the same.

    The candidates of all folds are only counted: 8 bytes for each do, and a record stays small.
    """
    return frozenset(
        blake2b(repr(rule.sort_key).encode(), digest_size=8).hexdigest() for rule in pool.rules
    )


# --- metrics --------------------------------------------------------------------------------------


def score_numbers(
    target: FloatArray, predicted: AnyArray, weights: FloatArray | None
) -> dict[str, float]:
    """Return R2 and the mean squared error."""
    return {
        "r2": float(r2_score(target, predicted, sample_weight=weights)),
        "error": float(mean_squared_error(target, predicted, sample_weight=weights)),
    }


def score_classes(
    model: Any, X: Any, codes: IntArray, classes: AnyArray, weights: FloatArray | None
) -> dict[str, float]:
    """Return the metrics of a classifier; `codes` are positions among all classes.

    For more than two classes, AUC is the mean over classes of each against all others, and the
    Brier score adds up over classes, while for two it is that of the second, as in scikit-learn. A
    model without `predict_proba` has an AUC by `decision_function`, and no log-loss or Brier score.
    """
    hits = np.asarray(model.predict(X)) == classes[codes]
    scores = {
        "auc": NAN,
        "log_loss": NAN,
        "balanced_accuracy": _balanced_accuracy(codes, hits, weights),
        "brier": NAN,
    }
    known = np.asarray(model.classes_)
    if hasattr(model, "predict_proba"):
        chances = probabilities(model, X, classes)
        everyone = {"labels": np.arange(len(classes)), "sample_weight": weights}
        scores["log_loss"] = float(log_loss(codes, chances, **everyone))
        scores["brier"] = float(brier_score_loss(codes, chances, **everyone))
    elif hasattr(model, "decision_function") and len(known) == len(classes):
        chances = np.asarray(model.decision_function(X))
        chances = np.column_stack([-chances, chances]) if chances.ndim == 1 else chances
    else:
        return scores
    return {**scores, "auc": _auc(codes, chances, weights)}


def probabilities(model: Any, X: Any, classes: AnyArray) -> FloatArray:
    """Return the probability of each class; a class that the model does not know has none."""
    found = np.asarray(model.predict_proba(X))
    chances = np.zeros((len(found), len(classes)))
    chances[:, np.searchsorted(classes, np.asarray(model.classes_))] = found
    return chances


def _balanced_accuracy(codes: IntArray, hits: BoolArray, weights: FloatArray | None) -> float:
    """Return the mean, over classes with test rows, of the share that is predicted right."""
    totals = np.bincount(codes, weights)
    right = np.bincount(codes, hits if weights is None else hits * weights)
    return float(np.mean(right[totals > 0] / totals[totals > 0]))


def _auc(codes: IntArray, chances: FloatArray, weights: FloatArray | None) -> float:
    """Return the area under the curve, the mean over classes if there are more than two."""
    n_classes = chances.shape[1]
    if len(np.unique(codes)) < n_classes:
        return NAN  # no pair of rows to rank where a class has no test rows
    # roc_auc_score(multi_class="ovr") refuses scores that do not add up to 1, as those of a
    # `decision_function` do not.
    areas = [
        float(roc_auc_score(codes == code, chances[:, code], sample_weight=weights))
        for code in (range(n_classes) if n_classes > 2 else [1])
    ]
    return float(np.mean(areas))
