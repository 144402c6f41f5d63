"""`performance`: predictions for rows that a model has not seen, and how good they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from mossrules._refusals import names_input
from mossrules._typing import BoolArray, FloatArray, IntArray
from mossrules.data.columns import Label
from mossrules.data.labels import python_label
from mossrules.data.outcome import find_class, outcome_place, warn_if_guessed
from mossrules.defaults import MIN_ROWS_OF_MEAN
from mossrules.evaluation.influence import (
    Interval,
    Sample,
    measure_classes,
    measure_numbers,
    proportion,
)
from mossrules.evaluation.parts import Parts, check_confidence, fold_of_each_row, in_memory
from mossrules.evaluation.performance_table import (
    ALL,
    CalibrationCurve,
    CurvePoint,
    Performance,
    SubgroupPerformance,
)
from mossrules.evaluation.results import NAN
from mossrules.evaluation.subgroups import Subgroups, read_subgroups
from mossrules.exceptions import InvalidParameter, InvalidTarget, UnsupportedType
from mossrules.model.ruleset import RuleSet
from mossrules.model.rulesets import RuleSets

__all__ = ["performance"]

LEAST = 10  # rows of a subgroup
POINTS = 10  # of a calibration curve
BINS = 20  # of a histogram


@names_input("X")
def performance(
    model: Any,
    X: Any,
    y: Any,
    *,
    by: Any = None,
    outcome: Label | None = None,
    threshold: float = 0.5,
    cv: Any = 5,
    groups: Any = None,
    sample_weight: Any = None,
    confidence: float = 0.95,
    n_jobs: int | None = None,
) -> Performance:
    """Measure predictions on rows left out, each measure with its interval, also by subgroup.

    Of numbers: R2, the mean absolute error, the root mean squared error, the mean error (predicted
    minus observed) and the calibration slope. Of classes: AUC, the Brier score, the log-loss, the
    calibration slope and intercept, sensitivity, specificity and predictive values at a threshold;
    of more than two classes for each against all others. docs/intervals.md defines them.

    Intervals take rows, or groups, for independent and the predictions as they are: they tell how
    exactly these rows measure. With cross-validation they leave out that the folds share training
    rows, and what is measured are models of a part of the rows.

    Parameters
    ----------
    model : estimator, or with `cv=None` a fitted model, RuleSet or RuleSets
        Any of scikit-learn; classifiers need `predict_proba`. It is not fitted itself.
    X, y, sample_weight : as in `MossRegressor.fit`
        Also files, which are read into memory. Weights count in all measures; whole ones are
        repetitions of rows.
    by
        Subgroups: the name of a column of X, which stays a feature, or a list of names; or a label
        for each row, or a dict of names and labels, of which the model sees nothing. Numbers of
        more than four values are cut into quarters of the rows. Of a subgroup with fewer than ten
        rows, or without both classes, nothing is measured.
    outcome : label, optional
        The class whose probability is judged. By default, of two classes, that of the model, or of
        a model of another package the one that `MossClassifier` would take; of more classes, each.
    threshold : float, default=0.5
        The probability from which on rows are flagged.
    cv : as in `evaluate`, or None, default=5
        Folds, whose models predict the rows left out; None if the model is fitted and the rows are
        new to it.
    groups
        One label per row, or the name of a column of X, which is then no feature. Rows of a group
        are left out together, and may depend on each other.
    confidence : float, default=0.95
        Of the intervals.
    n_jobs : int or None, default=None
        Threads, over folds first; None uses all cores.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from mossrules import MossClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = MossClassifier(3, n_trees=100).fit(X[:300], y[:300])
    >>> found = performance(model, X[300:], y[300:], cv=None)
    >>> found["auc"].lower > 0.9
    True
    >>> sorted(found["sensitivity"]._asdict())
    ['estimate', 'lower', 'upper']
    """
    confidence = check_confidence(confidence)
    if (
        isinstance(threshold, bool)
        or not isinstance(threshold, int | float)
        or not (0 <= threshold <= 1)
    ):
        raise InvalidParameter(f"threshold is {threshold!r}; pass a probability from 0 to 1.")
    if cv is None:
        _check_fitted(model)
    how = {"groups": groups, "sample_weight": sample_weight, "n_jobs": n_jobs}
    X = in_memory(X)
    parts = Parts.read(model, X, y, fitted=cv is None, **how)
    if outcome is not None and not parts.of_classes:
        raise InvalidParameter("outcome names a class, and the target is a number; leave it out.")
    if parts.of_classes and not isinstance(model, RuleSet | RuleSets):
        _check_probabilities(model)
    subgroups = read_subgroups(X, by, len(parts.rows.given))
    if cv is None:
        judged, folds = _predict_new(parts, model, outcome), None
    else:
        judged, folds = _predict_left_out(parts, model, cv, outcome)
    return _measure(
        parts, judged, subgroups, folds=folds, threshold=float(threshold), confidence=confidence
    )


def _check_fitted(model: Any) -> None:
    if isinstance(model, RuleSet | RuleSets):
        return
    try:
        check_is_fitted(model)
    except (NotFittedError, TypeError) as reason:
        raise InvalidParameter(
            f"cv is None, which takes a model that is fitted, and the {type(model).__name__} is "
            "not; fit it to other rows first, or pass a number of folds."
        ) from reason


def _check_probabilities(model: Any) -> None:
    if not hasattr(model, "predict_proba"):
        raise UnsupportedType(
            f"model is a {type(model).__name__} without predict_proba; pass a classifier that "
            "predicts probabilities."
        )


# --- predictions ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Judged:
    """Rows, and what was predicted for each outcome."""

    numbers: IntArray
    outcomes: tuple[Label | None, ...]
    y: FloatArray  # (rows, outcomes): numbers, or whether the outcome is there
    predicted: FloatArray  # (rows, outcomes)


def _predict_left_out(
    parts: Parts, model: Any, cv: Any, outcome: Label | None
) -> tuple[_Judged, int]:
    """Return the predictions of models of all folds but one for the rows of that one."""
    labels = parts.rows.classes
    places = None if labels is None else _judged_places(model, labels, outcome)
    splits = parts.folds(cv)
    numbers = np.flatnonzero(fold_of_each_row(splits, len(parts.rows.target)) >= 0)
    found = parts.on_folds(splits, parts.predictions)
    tests = np.concatenate([test for _, test in splits])
    predicted = np.concatenate(found)[np.argsort(tests)]
    return _judge(parts, numbers, predicted, labels, places), len(splits)


def _predict_new(parts: Parts, model: Any, outcome: Label | None) -> _Judged:
    """Return the predictions of a model that is fitted already."""
    numbers = np.arange(len(parts.rows.target))
    seen = parts.table(numbers)
    if not parts.of_classes:
        return _judge(parts, numbers, np.asarray(model.predict(seen)).reshape(-1), None, None)
    predicted = np.asarray(model.predict_proba(seen))
    if isinstance(model, RuleSet):
        return _one_outcome(parts, numbers, predicted, model.outcome, outcome)
    labels = [*model] if isinstance(model, RuleSets) else np.asarray(model.classes_)
    known = [python_label(label) for label in labels]
    for label in map(python_label, parts.rows.classes):
        if label not in known:
            listed = ", ".join(map(repr, known[:10]))
            raise InvalidTarget(
                f"y has the class {label!r}, which the model does not know; its classes are "
                f"{listed}."
            )
    return _judge(parts, numbers, predicted, labels, _judged_places(model, labels, outcome))


def _judged_places(model: Any, labels: Any, outcome: Label | None) -> list[int]:
    """Return which classes' probabilities are judged: of two that of the outcome, of more each."""
    if outcome is not None:
        return [find_class(labels, outcome)]
    if len(labels) > 2:
        return [*range(len(labels))]
    asked = getattr(model, "outcome", None)
    warn_if_guessed(labels, asked)
    return [outcome_place(labels, asked)]


def _judge(
    parts: Parts,
    numbers: IntArray,
    predicted: FloatArray,
    labels: Any,
    places: list[int] | None,
) -> _Judged:
    """Return what is judged: numbers, or the probabilities of the classes of some places."""
    if labels is None or places is None:
        y = parts.rows.target[numbers]
        return _Judged(numbers, (None,), y[:, None], np.asarray(predicted, float)[:, None])
    known = [python_label(label) for label in labels]
    codes = _codes(parts, numbers, known)
    y = (codes[:, None] == np.array(places)).astype(np.float64)
    return _Judged(numbers, tuple(known[place] for place in places), y, predicted[:, places])


def _codes(parts: Parts, numbers: IntArray, known: Sequence[Label]) -> IntArray:
    place = {label: number for number, label in enumerate(known)}
    return np.array([place[python_label(label)] for label in parts.labels(numbers)])


def _one_outcome(
    parts: Parts, numbers: IntArray, chances: FloatArray, own: Label | None, asked: Label | None
) -> _Judged:
    """Return what is judged of a rule set, which knows its own outcome only."""
    labels = [python_label(label) for label in parts.labels(numbers)]
    classes = [python_label(label) for label in parts.rows.classes]
    if own is None:  # a rule set that was made by hand, of a target that is true or not
        own = classes[outcome_place(classes)]
    outcome = own if asked is None else classes[find_class(classes, asked)]
    if outcome != own and len(classes) > 2:
        raise InvalidParameter(
            f"outcome is {asked!r}, and the rule set gives the probability of {own!r} alone; name "
            "that, or leave it out."
        )
    y = np.array([[label == outcome] for label in labels], dtype=np.float64)
    # That of the other of two classes is the rest.
    return _Judged(numbers, (outcome,), y, chances[:, [1 if outcome == own else 0]])


# --- measures -------------------------------------------------------------------------------------


def _measure(
    parts: Parts,
    judged: _Judged,
    subgroups: Sequence[Subgroups],
    *,
    folds: int | None,
    threshold: float,
    confidence: float,
) -> Performance:
    weights = parts.weights_of(judged.numbers)
    groups = parts.groups_of(judged.numbers)
    everyone = np.ones(len(judged.numbers), dtype=bool)
    sample = Sample(everyone.astype(float) if weights is None else weights, groups, confidence)
    given = parts.rows.origin[judged.numbers]
    members = [(None, ALL, everyone)] + [
        (each.by, label, where[given]) for each in subgroups for label, where in each
    ]
    rows, curves = [], []
    for place, outcome in enumerate(judged.outcomes):
        values = _Values(judged.y[:, place], judged.predicted[:, place], outcome, threshold, sample)
        rows += [values.row(by, label, where) for by, label, where in members]
        curves.append(values.curve())
    counted = len(np.unique(given))
    repeated = (
        f"The weights are whole numbers and count as repetitions: {counted:,} rows of the table "
        f"stand for {len(given):,}."
    )
    return Performance(
        # All rows first, of several classes those of each.
        rows=tuple(sorted(rows, key=lambda row: row.by is not None)),
        curves=tuple(curves),
        task="classification" if parts.of_classes else "regression",
        target=parts.source.target,
        confidence=confidence,
        threshold=threshold,
        folds=folds,
        groups=None if groups is None else sample.units,
        notes=(
            *([repeated] if len(given) > counted else []),
            *(each.note for each in subgroups if each.note is not None),
        ),
    )


@dataclass(frozen=True)
class _Values:
    """Predictions and observations of one outcome."""

    y: FloatArray
    predicted: FloatArray
    outcome: Label | None
    threshold: float
    sample: Sample

    def row(self, by: str | None, label: str, where: BoolArray) -> SubgroupPerformance:
        """Return the measures of some rows."""
        y, predicted, n = self.y[where], self.predicted[where], int(np.count_nonzero(where))
        events = None if self.outcome is None else int(y.sum())
        note = None
        measures: dict[str, Interval] = {}
        if n < LEAST:
            note = f"{n} rows are fewer than {LEAST}"
        elif events is not None and events in (0, n):
            note = f"{'all' if events else 'none'} of {n} rows are {self.outcome}"
        elif self.outcome is None:
            measures = measure_numbers(y, predicted, self.sample.only(where))
        else:
            measures = measure_classes(y, predicted, self.threshold, self.sample.only(where))
        return SubgroupPerformance(by, label, self.outcome, n, events, measures, note)

    def curve(self) -> CalibrationCurve:
        """Return what was observed by tenths of the rows, and the histogram of predictions.

        Of few rows, or few different predictions, there are fewer points.
        """
        number = min(POINTS, max(1, len(self.y) // MIN_ROWS_OF_MEAN))
        ends = np.quantile(self.predicted, np.arange(1, number) / number, method="inverted_cdf")
        ends = np.unique(ends[ends < self.predicted.max()])
        band = np.searchsorted(ends, self.predicted)  # equal predictions are in the same band
        # The mean of a single row is its value, which is nobody's business.
        while len(ends) and (counts := np.bincount(band)).min() < MIN_ROWS_OF_MEAN:
            ends = np.delete(ends, min(int(np.argmin(counts)), len(ends) - 1))
            band = np.searchsorted(ends, self.predicted)
        points = tuple(self._point(band == number) for number in range(len(ends) + 1))
        limits = None if self.outcome is None else (0.0, 1.0)
        counts, edges = np.histogram(self.predicted, bins=BINS, range=limits)
        events = None
        if self.outcome is not None:
            found = np.histogram(self.predicted[self.y > 0], bins=BINS, range=limits)[0]
            events = tuple(map(int, found))
        return CalibrationCurve(
            self.outcome, points, tuple(edges.tolist()), tuple(map(int, counts)), events
        )

    def _point(self, where: BoolArray) -> CurvePoint:
        part, y = self.sample.only(where), self.y[where]
        if self.outcome is not None:
            observed = proportion(self.y > 0, where, self.sample)
        elif part.units > 1:
            mean = part.mean(y)
            observed = part.about(mean, y - mean)
        else:
            observed = Interval(part.mean(y), NAN, NAN)
        return CurvePoint(part.mean(self.predicted[where]), *observed, len(y))
