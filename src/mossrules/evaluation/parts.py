"""Rows as they were given, of which models learn from some and are judged by the others.

`effects.py`, `conformal.py` and `performance.py` divide rows, fit and predict by this one class. It
goes through `fit` and `predict` of estimators, so that any of scikit-learn will do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self, TypeVar

import narwhals as nw
import numpy as np
from sklearn.base import is_classifier

from mossrules._typing import AnyArray, FloatArray, IntArray
from mossrules.candidates.search import resolve_seed
from mossrules.data.files import scan_if_path
from mossrules.data.groups import split_beside
from mossrules.data.rows import Rows, read_rows
from mossrules.data.table import Table
from mossrules.evaluation.folds import FoldRun, Split, groups_by_number, split_rows
from mossrules.evaluation.methods import (
    Method,
    Source,
    expect_part,
    fit_options,
    probabilities,
    read_methods,
)
from mossrules.evaluation.refits import refit_splits
from mossrules.exceptions import InvalidParameter
from mossrules.model.ruleset import RuleSet
from mossrules.model.rulesets import RuleSets
from mossrules.solver.result import Status
from mossrules.solver.search.branch_and_bound import compile_kernels

__all__ = ["Parts", "check_confidence", "fold_of_each_row", "in_memory", "known_columns"]

Result = TypeVar("Result")
LARGEST_SEED = 2**31


@dataclass(frozen=True)
class Parts:
    """All rows, and the estimator that is fitted to some of them.

    Rows go by their canonical numbers, so no result depends on the order in which they are given.
    """

    method: Method | None  # None of a model that is fitted already
    rows: Rows
    source: Source
    groups: IntArray | None  # of each row, by number
    n_jobs: int | None

    @classmethod
    def read(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        groups: Any = None,
        sample_weight: Any = None,
        n_jobs: int | None = None,
        fitted: bool = False,
    ) -> Self:
        """Return the rows of a table or of files, which are read into memory.

        A `fitted` model is a rule set, or an estimator, and is given the columns that it knows.
        """
        method = None if fitted else read_methods({"estimator": estimator})[0]
        X, sample_weight, groups = split_beside(in_memory(X), y, sample_weight, groups)
        of_classes = predicts_classes(estimator)
        rows = read_rows(X, y, sample_weight, groups, of_classes=of_classes, whole=True)
        source = Source.of(X, y, None, rows.classes)
        if fitted:
            source = replace(source, X=known_columns(estimator, source.X))
        return cls(method, rows, source, groups_by_number(rows), n_jobs)

    # --- dividing -------------------------------------------------------------------------------

    def two(self, share: float, random_state: Any) -> Split:
        """Return a share of the rows, or of the groups, and the others."""
        if not isinstance(share, float) or not 0 < share < 1:
            raise InvalidParameter(
                f"share is {share!r}; pass the share of the rows for the first part, between 0 "
                "and 1."
            )
        seed = resolve_seed(random_state) % LARGEST_SEED
        how: dict[str, Any] = {"stratify": self.of_classes, "share": share}
        return refit_splits(self.rows, 1, "subsample", None, seed, **how)[0]

    def folds(self, cv: Any) -> list[Split]:
        """Return the rows to learn from and those to predict of each fold."""
        return split_rows(self.rows, cv, stratify=self.of_classes)

    # --- fitting --------------------------------------------------------------------------------

    @property
    def of_classes(self) -> bool:
        """Whether the target is a class."""
        return self.rows.classes is not None

    def fit(self, train: IntArray, n_jobs: int | None = None) -> Any:
        """Return a model of some rows; the estimator itself stays as it is."""
        if self.method is None:
            raise TypeError("A fitted model is not fitted again.")
        model = self.method.fresh(self.n_jobs if n_jobs is None else n_jobs)
        if len(train) < len(self.rows.target):
            expect_part(model, self.rows.classes)
        told = fit_options(model, self.rows, train)
        model.fit(self.table(train), self.labels(train), **told)
        if getattr(getattr(model, "solution_", None), "status", None) is Status.INTERRUPTED:
            raise KeyboardInterrupt  # which a choice takes for a wish to have what there is
        return model

    def on_folds(
        self, splits: list[Split], work: Callable[[Any, IntArray], Result]
    ) -> list[Result]:
        """Return what `work` makes of the model of each fold and its rows left out."""
        if self.method is not None and self.method.may_prove:
            compile_kernels()  # not in several threads
        run = FoldRun(splits, 1, self.n_jobs)

        def one(_: int, train: IntArray, test: IntArray) -> Result:
            run.check()
            return work(self.fit(train, run.threads), test)

        return run.map(one)

    # --- values ---------------------------------------------------------------------------------

    def table(self, numbers: IntArray) -> Any:
        """Return the features of some rows, as a table of the kind given."""
        return self.source.take(self.rows.origin[numbers])

    def labels(self, numbers: IntArray) -> AnyArray:
        """Return the target as it was given: numbers, or labels."""
        target, classes = self.rows.target[numbers], self.rows.classes
        return target if classes is None else np.asarray(classes[target.astype(np.int64)])

    def weights_of(self, numbers: IntArray) -> FloatArray | None:
        """Return the weights of some rows; None where all count alike."""
        return None if self.rows.weights is None else self.rows.weights[numbers]

    def groups_of(self, numbers: IntArray) -> IntArray | None:
        """Return the groups of some rows, numbered from 0."""
        if self.groups is None:
            return None
        return np.unique(self.groups[numbers], return_inverse=True)[1].astype(np.int64)

    def predictions(self, model: Any, numbers: IntArray) -> FloatArray:
        """Return what a model predicts for some rows: numbers, or (rows, classes) probabilities."""
        seen = self.table(numbers)
        if self.rows.classes is not None:
            return probabilities(model, seen, self.rows.classes)
        return np.asarray(model.predict(seen), dtype=np.float64).reshape(-1)


def predicts_classes(model: Any) -> bool:
    """Tell whether an estimator or a rule set is one of classes."""
    if isinstance(model, RuleSet | RuleSets):
        return isinstance(model, RuleSets) or model.link == "logit"
    return bool(is_classifier(model))


def known_columns(model: Any, X: Any) -> Any:
    """Return the columns that a fitted estimator knows, of a table that may have others."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return X
    wanted = names.tolist()
    if isinstance(X, Table):
        return X.select(wanted)
    if isinstance(X, Mapping):
        return {name: X[name] for name in wanted} if set(wanted) <= set(X) else X
    if nw.dependencies.is_into_dataframe(X):
        frame = nw.from_native(X, eager_only=True)
        return frame.select(wanted).to_native() if set(wanted) <= set(frame.columns) else X
    return X


def fold_of_each_row(splits: list[Split], n_rows: int) -> IntArray:
    """Return which fold leaves out each row, and -1 for those that none does."""
    fold = np.full(n_rows, -1)
    for number, (_, test) in enumerate(splits):
        if (fold[test] >= 0).any():
            raise InvalidParameter(
                "Several folds of cv leave out the same row; pass folds that leave out each row "
                "once, or a number of folds."
            )
        fold[test] = number
    return fold


def in_memory(X: Any) -> Any:
    """Return the table of files, or a table as it is."""
    X = scan_if_path(X)
    return X.loaded() if isinstance(X, Table) and X.parts else X


def check_confidence(confidence: Any) -> float:
    """Return a confidence between 0 and 1."""
    if not isinstance(confidence, float) or not 0 < confidence < 1:
        raise InvalidParameter(
            f"confidence is {confidence!r}; pass a number between 0 and 1, such as 0.95."
        )
    return confidence
