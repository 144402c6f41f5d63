"""What estimators share whose model is a rule set: tables in, candidates, predictions out.

Glue between scikit-learn and the rooms before: nothing is computed here. `MossEstimator` and the
baselines subclass it, and say how they learn from candidates. Names of columns follow scikit-learn:
a table has the columns of training in the same order, compared by name where both have names of
text, and taken by position.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Self, TypeVar

import narwhals as nw
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from mossrules._refusals import names_input
from mossrules._typing import AnyArray, FloatArray
from mossrules.budget import read_budget
from mossrules.constraints.compile import check_constraints, required_rules
from mossrules.data.checks.before_fit import surely_wrong
from mossrules.data.chunks import resolve_n_jobs
from mossrules.data.dask_partitions import predict_partitions
from mossrules.data.files import scan_if_path
from mossrules.data.groups import names_beside, split_beside
from mossrules.data.labels import python_label, read_labels
from mossrules.data.outcome import outcome_place, warn_if_guessed
from mossrules.data.reading import Reading
from mossrules.data.rows import Rows, read_rows
from mossrules.data.table import (
    Table,
    is_dask,
    split_column,
    split_target,
    target_name,
    without,
)
from mossrules.exceptions import (
    FewEventsWarning,
    InvalidParameter,
    InvalidTable,
    TableWarning,
    warn_user,
)
from mossrules.learning.fit import find_in_rows
from mossrules.learning.method import RuleMethod
from mossrules.learning.near import approved_rules
from mossrules.model.events import Events
from mossrules.model.export_text import few_events
from mossrules.model.importance import column_shares
from mossrules.model.rulesets import RuleSets
from mossrules.model.values import field_kinds_of

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from mossrules.candidates.approved import ApprovedRules
    from mossrules.candidates.pool import CandidatePool
    from mossrules.candidates.search import Candidates
    from mossrules.data.columns import Kind
    from mossrules.data.values import Label
    from mossrules.model.ruleset import RuleSet

__all__ = [
    "SEARCH_PARAMETERS",
    "RuleClassifier",
    "RuleEstimator",
    "RuleRegressor",
    "approved_by",
    "by_class",
    "read_features",
    "search_parameters",
]

Predictions = TypeVar("Predictions", bound=AnyArray)

# Parameters that decide which candidates are found, under the names they have in `find_candidates`.
SEARCH_PARAMETERS = ("n_trees", "max_depth", "n_bins", "max_features", "generator", "random_state")
# Those that not all baselines have, with what stands for rules as the trees have them.
REFINEMENTS: dict[str, Any] = {
    "inner_nodes": False,
    "max_overlap": None,
    "min_coverage": 0,
    "min_tree_frequency": 0,
}


def search_parameters(estimator: Any) -> dict[str, Any]:
    """Return the parameters with which an estimator looks for candidates.

    Two estimators find the same candidates in the same rows if these agree, but for `n_jobs`.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> from mossrules.estimators import candidates_for
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 0.0, 1.0, 2.0]
    >>> model = MossRegressor(2, n_trees=20)
    >>> candidates = candidates_for(X, y, **search_parameters(model))
    >>> len(model.fit_candidates(candidates).rules_)
    2
    """
    parameters = {name: getattr(estimator, name) for name in (*SEARCH_PARAMETERS, "n_jobs")}
    # Baselines cut as their authors do, unless they have the parameter.
    parameters["cuts"] = getattr(estimator, "cuts", "quantile")
    include = required_rules(check_constraints(getattr(estimator, "constraints", None)))
    if include:
        parameters["include"] = include
    near = approved_by(estimator)
    if near is not None:
        parameters["near"] = near
    parameters |= {name: getattr(estimator, name, plain) for name, plain in REFINEMENTS.items()}
    if is_classifier(estimator):
        parameters["patterns"] = True  # of which the logistic loss is a function
    return parameters


def approved_by(estimator: Any) -> ApprovedRules | None:
    """Return the approved rules that an estimator stays near, those of its own class of several."""
    return approved_rules(
        getattr(estimator, "near", None),
        classifies=is_classifier(estimator),
        outcome=getattr(estimator, "_outcome", None),
        several=getattr(estimator, "_is_member", False),
    )


def by_partition(
    method: Callable[[Any, Any], Predictions],
) -> Callable[[Any, Any], Predictions]:
    """Let a method that predicts from a table give lazy predictions of a Dask collection too."""

    @wraps(method)
    def predict(self: RuleEstimator, X: Any) -> Predictions:
        return self._by_partition(X, method.__name__) if is_dask(X) else method(self, X)

    return predict


class RuleEstimator(BaseEstimator, RuleMethod):  # type: ignore[misc]  # sklearn has no types
    """A scikit-learn estimator that chooses some of many candidate rules.

    A subclass has the parameters of the search (see `search_parameters`) and `n_jobs`, and says how
    its parameters are checked and how it learns from candidates. It may look for others.
    """

    rules_: Any
    candidates_: Candidates
    pool_: CandidatePool
    n_jobs: int | None
    _target: str | None = None  # column of the target in X, which `predict` ignores
    _beside: tuple[str, ...] = ()  # columns of weights and groups, likewise
    _reading: Reading = Reading()  # of the file of training, if it was one
    _target_name: str | None = None  # as reports and exports show it
    tells = True  # whether `fit` warns of what the reader of a model should know

    @abstractmethod
    def _learn(self, rows: Any) -> None:
        """Set `rules_` from `candidates_`, of which there may be none.

        `rows` are those to learn from, or None where only candidates were given, or rows that are
        not in memory.
        """

    @property
    def _needs_rows(self) -> bool:
        """Whether rows have to be in memory, though they are in files."""
        return False

    def search_parameters(self) -> dict[str, Any]:
        """Return the parameters with which `fit` looks for candidates."""
        return search_parameters(self)

    def find_candidates(self, rows: Any) -> Candidates:
        """Return the candidates that `fit` finds in rows that were read."""
        return find_in_rows(rows, **self.search_parameters())

    def _warn_of_table(self, X: Any, rows: Rows) -> None:
        """Tell of columns with which the model is worthless, where values can be looked at here."""
        if not self.tells or is_dask(X) or rows.features.on_cluster:
            return
        about = (rows.features, rows.given, self._target_name or "y")
        for finding in surely_wrong(*about, of_classes=rows.classes is not None):
            warn_user(f"{finding.sentence()} mossrules.data.check says more.", TableWarning)

    def _set_names(self, y: Any, sample_weight: Any, groups: Any) -> None:
        """Keep the names of the columns that are no features."""
        self._target = y if isinstance(y, str) else None
        self._target_name = target_name(y)
        self._beside = names_beside(y, sample_weight, groups)

    @property
    def _ignored(self) -> tuple[str, ...]:
        """Columns that may be in X and are no features."""
        return (*self._beside, *([] if self._target is None else [self._target]))

    def fit_rows(self, rows: Rows) -> Self:
        """Find rules in rows that were read, and choose among them, as `fit` does."""
        self._set_candidates(self.find_candidates(rows))
        self._learn(rows if rows.in_memory else None)
        return self

    def fit_read(self, rows: Rows) -> Self:
        """Fit to rows that were read, whatever their target is; names of columns are not set."""
        return self.fit_rows(rows)

    def _fit_candidates(self, candidates: Candidates, target: str | None, rows: Any) -> Self:
        self.check_parameters()
        set_names(self, candidates.binning.names, named=candidates.named)
        self._target = None if target in candidates.binning.names else target
        self._target_name = target
        self._beside = ()
        self._reading = candidates.binning.reading
        self._set_candidates(candidates)
        self._learn(rows)
        return self

    def _set_candidates(self, candidates: Candidates) -> None:
        self.candidates_ = candidates
        self.pool_ = candidates.pool

    def _features(self, X: Any) -> Table:
        """Return the columns of training."""
        check_is_fitted(self)
        return read_features(self, X, self._ignored)

    def _by_partition(self, X: Any, name: str) -> Any:
        """Return what a method predicts for each partition of a Dask collection."""
        check_is_fitted(self)
        # Each task carries the model: without candidates and their statistics, which take some
        # megabytes, it has some kilobytes.
        slim, method = copy(self), getattr(type(self), name)
        for attribute in ("candidates_", "pool_", "problem_", "solution_", "fitted_"):
            slim.__dict__.pop(attribute, None)
        if hasattr(slim, "estimators_"):
            slim.estimators_ = {}
        columns = getattr(self, "feature_names_in_", None)
        row: Any = np.empty((1, self.n_features_in_))
        if columns is not None:
            row = {column: [np.nan] for column in columns.tolist()}
        # Dask wants an empty result of the right type; that of one row, cut off, is.
        return predict_partitions(X, partial(method, slim), method(slim, row)[:0])

    @property
    def feature_importances_(self) -> FloatArray:
        """Share of each column of X in what the rules move; all 0 where they move nothing."""
        check_is_fitted(self)
        return column_shares(self.rules_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


class RuleRegressor(RegressorMixin, RuleEstimator):  # type: ignore[misc]  # sklearn has no types
    """A regressor whose predictions are those of `rules_`."""

    rules_: RuleSet

    @names_input("X")
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Find rules and choose among them.

        Parameters
        ----------
        X : pandas, polars or pyarrow table, dict of columns, or two-dimensional array
            Or files: a path, a pattern such as `"data/*.parquet"`, a list of these, or what
            `mossrules.data.scan_files` returns. They are read in parts, and never whole. Or a Dask
            frame or array, which is worked on where its partitions are.
        y : one number per row, or the name of the target's column in X
        sample_weight : one non-negative number per row, or the name of a column of X
            Whole numbers are repetitions of rows, exactly, unless they add up to more than ten
            times the rows; others multiply the rows' part in the forest and in the loss. A column
            is then no feature.
        groups : one label per row, or the name of a column of X, optional
            Which rows belong together, such as the visits of a patient or the pupils of a school.
            A tree of the forest, a fold of "auto" and whatever else divides the rows has all rows
            of a group or none. A column is then no feature. See docs/data.md.

        Warns
        -----
        TableWarning
            Where a column makes the model worthless for certain, such as an identifier, a date as
            text, or the target under another name. It looks at some 2,000 rows, and changes
            nothing; `mossrules.data.check` looks at everything. See docs/check.md.
        """
        self.check_parameters()
        rows = read_training(self, X, y, sample_weight, groups, whole=self._needs_rows)
        self._set_names(y, sample_weight, groups)
        self._warn_of_table(X, rows)
        return self.fit_rows(rows)

    def fit_candidates(
        self, candidates: Candidates, *, target: str | None = None, rows: Any = None
    ) -> Self:
        """Choose among rules that were found before; rows are not needed for that.

        Where several models learn from the same rows, the search for rules, which takes most of
        the time, is done once: by `mossrules.estimators.candidates_for`, which finds those that
        `fit` would find, or by `find_candidates`. Parameters of the search are not used here.

        Parameters
        ----------
        candidates : Candidates
        target : name of the target, if it has one; `predict` ignores a column of that name
        rows : rows to learn from
            As the package reads them; for methods that look at rows beside the candidates.
        """
        return self._fit_candidates(candidates, target, rows)

    @names_input("X")
    @by_partition
    def predict(self, X: Any) -> FloatArray:
        """Return the prediction for each row; bit for bit that of `rules_`.

        For a Dask collection it is one too, and lazy.
        """
        table = self._features(X)  # which refuses a model that is not fitted
        return self.rules_.predict(table)

    @names_input("X")
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R2 of the predictions; `y` and weights may be columns of X, as in `fit`."""
        X = scan_if_path(X, reading=self._reading)
        weights = split_beside(X, y, sample_weight, None)[1]
        values = split_target(X, y)[1] if isinstance(y, str) else y
        return float(super().score(X, values, weights))


class RuleClassifier(ClassifierMixin, RuleEstimator):  # type: ignore[misc]  # sklearn has no types
    """A classifier whose log-odds are those of `rules_`.

    For two classes, the rules are for one of them, the outcome: `_learn` sets `rules_` from the
    candidates of a target that is 1 there and 0 elsewhere, with `link="logit"` and the outcome
    `_outcome`. Which one that is, `outcome` says, or by default the names of the classes
    (`mossrules.data.outcome`). What scikit-learn knows keeps its order, whichever it is: that of
    `classes_`, where the second class is the one of positive `decision_function`. For more classes,
    each has a model of its own against all others, in `estimators_`, and `rules_` are `RuleSets`.

    `class_weight`, where a classifier has it, multiplies the weights of rows.
    """

    outcome: Any

    rules_: RuleSet | RuleSets
    classes_: AnyArray
    estimators_: dict[Label, Any]
    _outcome: Label | None = None  # the class whose log-odds the rules add up to
    _place = 1  # of two classes, where the outcome is in `classes_`
    _is_member = False  # of a model of several classes
    _events: Events | None = None  # of weighted rows

    @names_input("X")
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Find rules and choose among them; with more than two classes, for each class.

        Parameters
        ----------
        X : pandas, polars or pyarrow table, dict of columns, or two-dimensional array
            Or files: a path, a pattern such as `"data/*.parquet"`, a list of these, or what
            `mossrules.data.scan_files` returns. They are read in parts, and never whole. Or a Dask
            frame or array, which is worked on where its partitions are.
        y : one label per row (text, truth values or whole numbers), or the name of the target's
            column in X
        sample_weight : one non-negative number per row, or the name of a column of X
            Whole numbers are repetitions of rows, exactly, unless they add up to more than ten
            times the rows; others multiply the rows' part in the forest and in the loss. A column
            is then no feature.
        groups : one label per row, or the name of a column of X, optional
            Which rows belong together, such as the visits of a patient or the pupils of a school.
            A tree of the forest, a fold of "auto" and whatever else divides the rows has all rows
            of a group or none. A column is then no feature. See docs/data.md.

        Warns
        -----
        TableWarning
            Where a column makes the model worthless for certain; as `MossRegressor.fit`.
        """
        self._outcome = None  # of an earlier fit, to other classes maybe
        self.check_parameters()
        class_weight = getattr(self, "class_weight", None)
        how = {"of_classes": True, "class_weight": class_weight, "whole": self._needs_rows}
        rows = read_training(self, X, y, sample_weight, groups, **how)
        self._set_names(y, sample_weight, groups)
        self._warn_of_table(X, rows)
        if self.tells:
            warn_if_guessed(rows.classes, self.outcome)
        self.fit_read(rows)
        self._warn_of_few_events()
        return self

    def fit_read(self, rows: Rows) -> Self:
        """Fit to rows that were read, whose target are classes."""
        self._set_classes(rows.classes, outcome_place(rows.classes, self.outcome))
        if len(rows.classes) == 2:
            return self.fit_outcome(rows.one_vs_rest(self._place))
        members, n_classes = {}, len(rows.classes)
        budget = read_budget(getattr(self, "time_budget", None))
        for position, label in enumerate(map(python_label, rows.classes)):
            member = self.member(label)
            if budget.is_limited:
                member.time_budget = budget.next_of(n_classes - position).limit()
            members[label] = member.fit_outcome(rows.one_vs_rest(position))
        self.__dict__.update(self._attributes_of_all(members))
        return self

    def fit_outcome(self, rows: Rows) -> Self:
        """Fit to rows whose target is 1 where the outcome is."""
        self._events = None
        if rows.is_weighted:
            with_outcome = int(rows.target.sum())
            self._events = Events(with_outcome, len(rows.target) - with_outcome)
        return self.fit_rows(rows)

    def _warn_of_few_events(self) -> None:
        """Tell whoever fits a model that its rules rest on few rows of a class."""
        rule_sets = self.rules_.values() if isinstance(self.rules_, Mapping) else [self.rules_]
        for ruleset in rule_sets if self.tells else ():
            sentence = few_events(ruleset)
            if sentence is not None:
                warn_user(sentence, FewEventsWarning)

    def fit_candidates(
        self,
        candidates: Candidates,
        *,
        target: str | None = None,
        classes: Sequence[Label] = (0, 1),
        rows: Any = None,
    ) -> Self:
        """Choose among rules that were found before; rows are not needed for that.

        Parameters
        ----------
        candidates : Candidates
            Found for a target that is 1 in the second of two classes and 0 in the first; see
            `mossrules.estimators.candidates_for`.
        target : name of the target, if it has one; `predict` ignores a column of that name
        classes : the two labels, the outcome last
        rows : as in `MossRegressor.fit_candidates`
        """
        if len(classes) != 2:
            raise InvalidParameter(
                f"classes has {len(classes)} labels, and candidates are those of two classes; "
                "pass two, or call fit."
            )
        labels = np.asarray(classes)
        if self.outcome is not None and outcome_place(labels, self.outcome) != 1:
            raise InvalidParameter(
                f"outcome is {self.outcome!r}, and the candidates are for the second of classes, "
                f"{python_label(labels[1])!r}; pass candidates for the outcome, and it last."
            )
        order = np.argsort(labels)
        self._set_classes(labels[order], int(np.flatnonzero(order == 1)[0]))
        return self._fit_candidates(candidates, target, rows)

    def _set_classes(self, classes: AnyArray, place: int) -> None:
        self.classes_, self._place, self._events = classes, place, None
        self._outcome = python_label(classes[place])
        if hasattr(self, "estimators_"):
            del self.estimators_  # of an earlier fit

    # --- several classes ------------------------------------------------------------------------

    def member(self, label: Label) -> Self:
        """Return the model of one class against all others, not yet fitted."""
        member = copy(self)  # not a clone, which would empty a fitted ensemble of rules
        classes = np.array([False, True])
        member.__dict__.pop("estimators_", None)
        member.__dict__.update(classes_=classes, _outcome=label, _place=1, _is_member=True)
        return member

    @property
    def _has_members(self) -> bool:
        """Whether each of several classes has a model of its own."""
        return hasattr(self, "estimators_")

    def _attributes_of_all(self, members: dict[Any, Any]) -> dict[str, Any]:
        """Return what a model of several classes has, from the model of each."""
        return {
            "estimators_": members,
            "rules_": self._joined({label: member.rules_ for label, member in members.items()}),
            **{name: by_class(members, name) for name in ("candidates_", "pool_")},
        }

    def _joined(self, rule_sets: dict[Label, RuleSet]) -> Any:
        """Return the rule sets of several classes as one model."""
        return RuleSets(rule_sets)

    # --- using ----------------------------------------------------------------------------------

    @property
    def outcome_place(self) -> int:
        """Where the class whose probability the rules give, of two, is in `classes_`."""
        check_is_fitted(self)
        return self._place

    @names_input("X")
    @by_partition
    def decision_function(self, X: Any) -> FloatArray:
        """Return log-odds of the second class (rows,), or of each of several (rows, classes).

        The second in `classes_`, as in scikit-learn, whichever of two classes the rules are for.
        """
        table = self._features(X)
        return self._of_second(self.rules_.decision_function(table))

    def _of_second(self, totals: FloatArray) -> FloatArray:
        """Return sums that are above 0 for the outcome as such for the second class."""
        return totals if totals.ndim == 2 or self._place == 1 else -totals

    @names_input("X")
    @by_partition
    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class, in the order of `classes_`: (rows, classes)."""
        table = self._features(X)
        chances = self.rules_.predict_proba(table)
        return chances if self._has_members or self._place == 1 else chances[:, ::-1]

    @names_input("X")
    @by_partition
    def predict(self, X: Any) -> AnyArray:
        """Return the most probable class of each row."""
        totals = self.decision_function(X)
        codes = (totals > 0).astype(np.int64) if totals.ndim == 1 else totals.argmax(axis=1)
        return np.asarray(self.classes_[codes])

    @names_input("X")
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of rows classified right; `y` and weights may be columns of X."""
        X = scan_if_path(X, reading=self._reading)
        weights = split_beside(X, y, sample_weight, None)[1]
        if isinstance(y, str):
            table, column = split_column(X, y)
            classes, codes = read_labels(column, table.n_rows, minimum=1)
            y = classes[codes]
        return float(super().score(X, y, weights))

    @property
    def feature_importances_(self) -> FloatArray:
        """Share of each column of X in what the rules move; the mean over classes."""
        check_is_fitted(self)
        sets = [*self.rules_.values()] if isinstance(self.rules_, Mapping) else [self.rules_]
        return np.asarray(np.mean([column_shares(rules) for rules in sets], axis=0))


def by_class(members: dict[Any, Any], name: str) -> dict[Any, Any]:
    """Return an attribute of the model of each class."""
    return {label: getattr(member, name) for label, member in members.items()}


# --- tables, as scikit-learn wants them -----------------------------------------------------------


def read_training(
    estimator: Any, X: Any, y: Any, sample_weight: Any, groups: Any = None, **how: Any
) -> Rows:
    """Return the rows to learn from; names and number of features are set on the estimator.

    `how` goes to `read_rows`. Rows in files stay there, unless it says `whole`.
    """
    if getattr(y, "shape", ())[1:] == (1,):
        warn_user(
            "A column-vector y was passed when a 1d array was expected; pass y.ravel() instead.",
            DataConversionWarning,
        )
    n_jobs = resolve_n_jobs(getattr(estimator, "n_jobs", None))
    _names_columns(X)
    rows = read_rows(X, y, sample_weight, groups, n_jobs=n_jobs, **how)
    estimator._reading = rows.reading.kept([column.name for column in rows.columns])  # noqa: SLF001
    if nw.dependencies.is_into_dataframe(X):
        # The frame itself: scikit-learn has a rule of its own for names that are not text.
        features = without(X, *names_beside(y, sample_weight, groups))
        features = without(features, y) if isinstance(y, str) else features
        validate_data(estimator, features, reset=True, skip_check_array=True)
    else:
        set_names(estimator, [column.name for column in rows.columns], named=rows.named)
    return rows


def _names_columns(X: Any) -> bool:
    """Tell whether the columns of a frame have names, or refuse names of which some are text."""
    if not nw.dependencies.is_into_dataframe(X):
        return False
    names = list(getattr(X, "columns", ()))
    if nw.dependencies.is_pyarrow_table(X):
        names = list(X.column_names)
    are_text = [isinstance(name, str) for name in names]
    if any(are_text) and not all(are_text):
        other = names[are_text.index(False)]
        raise InvalidTable(
            f"Some names of columns are text and {other!r} is not; name all columns by text, such "
            "as by X.columns = X.columns.astype(str) in pandas."
        )
    return all(are_text)


def set_names(estimator: Any, names: Sequence[str], *, named: bool) -> None:
    """Set the number of features on the estimator, and their names if they have any."""
    estimator.n_features_in_ = len(names)
    if named:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_  # of an earlier fit


def _kinds_of(rules: Any) -> dict[str, Kind]:
    """Return what the columns of a rule set, or of those of several classes, hold in files."""
    sets = rules.values() if isinstance(rules, Mapping) else [rules]
    return field_kinds_of(*(each.binning for each in sets))


def read_features(estimator: Any, X: Any, ignored: Sequence[str]) -> Table:
    """Return the columns of training; those that are `ignored` may be there beside them."""
    names = getattr(estimator, "feature_names_in_", None)
    only = None if names is None else names.tolist()
    kinds = None if names is None else _kinds_of(estimator.rules_)
    X = scan_if_path(X, only, kinds, getattr(estimator, "_reading", None))
    if isinstance(X, Table) and X.parts:
        table = X.without(*ignored)
        return replace(table if names is None else table.select(names.tolist()), named=False)
    X = without(X, *ignored)
    table = Table.from_any(X)
    has_names = isinstance(X, Mapping) or _names_columns(X)
    if names is not None and has_names:
        # By name, in any order and with others beside them, which scikit-learn would refuse.
        table = table.select(names.tolist())
    elif not isinstance(X, Mapping | Table):
        validate_data(estimator, X, reset=False, skip_check_array=True)
    # From here on by position: the names agree, or there are none to go by.
    return Table(table.columns, table.n_rows, named=False)
