"""Methods to compare: what each is, and what it makes of the rows of a fold."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from time import perf_counter
from typing import Any

import joblib
import narwhals as nw
import numpy as np
from sklearn.base import BaseEstimator, clone

from mossrules._common import cached_property
from mossrules._typing import AnyArray, IntArray
from mossrules.candidates.rules import CandidatePool
from mossrules.candidates.search import Candidates, resolve_seed
from mossrules.data.rows import Rows, read_rows
from mossrules.data.table import target_name, without
from mossrules.evaluation.metrics import score_classes, score_numbers
from mossrules.evaluation.results import FAILED, MethodFold
from mossrules.exceptions import InvalidParameter, MossError, UnsupportedType
from mossrules.learning.candidate_search import find_in_rows
from mossrules.learning.method import RuleMethod
from mossrules.model.ruleset import RuleSet
from mossrules.solver import Status

__all__ = ["Fold", "Method", "Source", "check_prepare", "read_methods"]

# What a method can run into because of its data or its settings: values it cannot use, sums that
# overflow, matrices that cannot be inverted (a ValueError in NumPy), columns it looks for in vain,
# no convergence, no memory, a package that is not installed (a MossError here). It is then a row
# that says so. Mistakes in the program of a method (names, attributes, assertions), interrupts and
# trouble with files are not among them, and end the run.
FAILURES = (
    MossError, ValueError, TypeError, ArithmeticError, LookupError, RuntimeError, MemoryError,
)  # fmt: skip
NO_MATTER = ("n_jobs", "verbose")  # parameters on which no result depends


@dataclass(frozen=True)
class Method:
    """A method under its name; `seed` is where its folds begin to count, where it is known."""

    name: str
    estimator: Any
    seed: int | None
    varies: bool = False  # from fold to fold

    @property
    def is_ours(self) -> bool:
        """Whether it chooses among candidates that can be shared."""
        return isinstance(self.estimator, RuleMethod)

    @cached_property
    def settings(self) -> str:
        """The method as one would write it down."""
        if isinstance(self.estimator, BaseEstimator):
            return " ".join(self.estimator.__repr__(N_CHAR_MAX=10_000).split())
        return repr(self.estimator)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all that its results depend on, besides the rows."""
        kind = f"{type(self.estimator).__module__}.{type(self.estimator).__qualname__}"
        source = self.estimator if self.is_ours else clone(self.estimator)
        parameters = source.get_params(deep=False)
        kept = {name: value for name, value in parameters.items() if name not in NO_MATTER}
        if self.is_ours:
            kept["random_state"] = self.seed
        try:
            return str(joblib.hash((kind, kept, "varies") if self.varies else (kind, kept)))
        except (pickle.PicklingError, TypeError, AttributeError) as reason:
            raise InvalidParameter(
                f"The method {self.name!r} cannot be told again from its parameters, as some "
                "cannot be pickled; leave out checkpoint, or use functions that have names."
            ) from reason

    def on(self, fold: int) -> Method:
        """Return the method as it is on a fold, with the seed that it has there."""
        if not self.varies or self.seed is None:
            return self
        return replace(self, seed=self.seed + fold)

    def fresh(self, n_jobs: int) -> Any:
        """Return one that is not fitted, for a single fold."""
        if not self.is_ours:
            found = clone(self.estimator)
            fixed = self.seed is None or not self.varies
            return found if fixed else found.set_params(random_state=self.seed)
        # Not a clone, which would empty a fitted ensemble that is the source of rules.
        parameters = self.estimator.get_params(deep=False)
        parameters |= {"random_state": self.seed, "n_jobs": n_jobs}
        if "verbose" in parameters:
            parameters["verbose"] = 0
        return type(self.estimator)(**parameters)


def read_methods(estimators: Any, *, vary: bool = False) -> list[Method]:
    """Return the methods of a dict, checked before any work; seeds may vary over folds."""
    if not isinstance(estimators, Mapping):
        raise UnsupportedType(
            f"methods is a {type(estimators).__name__}; pass a dict from names to estimators, "
            '{"MOSS": MossRegressor()} say.'
        )
    if not estimators:
        raise InvalidParameter("methods is empty; pass at least one, with its name.")
    seeds: dict[int, int] = {}  # a generator that several methods have gives all the same seed
    found = []
    for name, estimator in estimators.items():
        if not isinstance(name, str) or not name:
            raise InvalidParameter(f"methods has the name {name!r}; names are text.")
        needed = ("fit", "predict", "get_params")
        if isinstance(estimator, type) or not all(hasattr(estimator, each) for each in needed):
            raise UnsupportedType(
                f"The method {name!r} is {estimator!r}; pass an estimator with fit and predict, "
                "that is MossRegressor() and not MossRegressor."
            )
        seed = getattr(estimator, "random_state", None)
        if isinstance(estimator, RuleMethod):
            estimator.check_parameters()
            seed = seeds.setdefault(id(seed), resolve_seed(seed))
        known = int(seed) if isinstance(seed, int | np.integer) else None
        found.append(Method(name, estimator, known, vary))
    return found


def check_prepare(prepare: Any, checkpoint: Any) -> None:
    """Refuse what is no transformer, and one whose part in a record could not be told."""
    if prepare is None:
        return
    needed = ("fit", "transform", "get_params")
    if isinstance(prepare, type) or not all(hasattr(prepare, each) for each in needed):
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
    """The rows of a fold, and candidates that its methods share."""

    number: int
    rows: Rows  # all of them
    train: IntArray
    test: IntArray
    source: Source
    n_jobs: int
    _searches: dict[tuple[object, ...], _Search] = field(default_factory=dict)

    @cached_property
    def training(self) -> Rows:
        """The rows to learn from, in an order of their own."""
        if self.source.prepare is None:
            return self.rows.take(self.train)
        weights = None if self.rows.weights is None else self.rows.weights[self.train]
        seen = self._seen(self.train)
        return read_rows(seen, self.rows.target[self.train], weights)

    @cached_property
    def _prepared(self) -> Any:
        """The transformer, fitted to the training rows."""
        train = self.source.take(self.rows.origin[self.train])
        return clone(self.source.prepare).fit(train, self.rows.target[self.train])

    def _seen(self, positions: IntArray) -> Any:
        """Return rows as methods see them."""
        taken = self.source.take(self.rows.origin[positions])
        return taken if self.source.prepare is None else self._prepared.transform(taken)

    def evaluate(self, method: Method) -> MethodFold:
        """Return what a method makes of the fold; if it fails, that it does."""
        method = method.on(self.number)
        try:
            return self._evaluate(method)
        except FAILURES as failure:
            return MethodFold(
                method=method.name,
                fold=self.number,
                status=FAILED,
                failure=f"{type(failure).__name__}: {' '.join(str(failure).split())}",
                seed=method.seed,
            )

    def _evaluate(self, method: Method) -> MethodFold:
        model = method.fresh(self.n_jobs)
        search = self._search(model) if method.is_ours and self._can_share(model) else None
        begun = perf_counter()
        if search is not None:
            classes = self.source.classes
            how = {} if classes is None else {"classes": classes}
            target, rows = self.source.target, self.training
            model.fit_candidates(search.candidates, target=target, rows=rows, **how)
        else:
            self._fit(model)
        seconds = perf_counter() - begun
        status = getattr(getattr(model, "solution_", None), "status", None)
        if status is Status.INTERRUPTED:
            raise KeyboardInterrupt  # which a choice takes for a wish to have what there is
        scores = self._score(model)
        rules = getattr(model, "rules_", None)
        rules = rules if isinstance(rules, RuleSet) else None
        pool = getattr(model, "pool_", None)
        names = search.names if search is not None else None
        if names is None and isinstance(pool, CandidatePool):
            names = _names(pool)
        return MethodFold(
            method=method.name,
            fold=self.number,
            status=getattr(status, "value", "fitted"),
            seed=method.seed,
            scores=scores,
            seconds=seconds,
            search_seconds=float("nan") if search is None else search.seconds,
            rules=rules,
            candidates=names,
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
            return self._timed(lambda: model.find_candidates(self.training))
        parameters = model.search_parameters()
        key = tuple(
            (name, value if isinstance(value, int | float | str | tuple) else id(value))
            for name, value in sorted(parameters.items())
        )
        if key not in self._searches:
            self._searches[key] = self._timed(lambda: find_in_rows(self.training, **parameters))
        return self._searches[key]

    def _timed(self, find: Any) -> _Search:
        begun = perf_counter()
        candidates: Candidates = find()
        return _Search(candidates, perf_counter() - begun, _names(candidates.pool))

    def _fit(self, model: Any) -> None:
        """Fit a method to rows of the table as it was given."""
        X, y = self._seen(self.train), self._target(self.train)
        if self.rows.weights is None:
            model.fit(X, y)
        else:
            model.fit(X, y, sample_weight=self.rows.weights[self.train])

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


def _names(pool: CandidatePool) -> frozenset[str]:
    """Return short names of rules, which tell whether those of two folds are the same."""
    return frozenset(
        blake2b(repr(rule.sort_key).encode(), digest_size=8).hexdigest() for rule in pool.rules
    )
