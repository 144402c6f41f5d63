"""Intervals for predictions of numbers that need no model of the errors: split conformal and CV+.

MAPIE has both, and tests hold this module to it on tables of numbers. It is not used because its
quantiles know neither weights of rows nor groups, in which rows are not exchangeable; it would
refuse dicts of columns and files; and what it fits cannot be kept as JSON. What it would save is
the thirty lines of NumPy at the end of this module.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

import numpy as np
from sklearn.base import is_classifier

from mossrules._common import check_choice
from mossrules._frames import Backend, make_frame
from mossrules._refusals import names_input
from mossrules._typing import FloatArray, IntArray
from mossrules.candidates.cuts import shortest_between
from mossrules.checkpoint import parse_document, read_count, read_number, refuse_damage, strict_json
from mossrules.evaluation.methods import check_estimator
from mossrules.evaluation.parts import (
    Parts,
    check_confidence,
    fold_of_each_row,
    in_memory,
    known_columns,
)
from mossrules.evaluation.results import NAN
from mossrules.exceptions import InvalidFile, InvalidParameter, UnsupportedType
from mossrules.model.ruleset import RuleSet

__all__ = ["PredictionIntervals", "prediction_intervals"]

FORMAT, VERSION = "mossrules prediction intervals", 1
IntervalMethod = Literal["cv+", "split"]
FEW = 1e-9  # roundings of a share
ROUNDED_BY = 0.01  # a share of the half width, at most
CELLS = 2**22  # of rows times residuals at a time: 32 megabytes


@dataclass(frozen=True, eq=False)
class LeftOut:
    """What CV+ keeps: models of all folds but one, and the residuals of the rows of that one."""

    models: tuple[Any, ...]
    fold: IntArray  # that each row was left out of
    residuals: FloatArray  # absolute
    shares: FloatArray  # what each residual counts


@dataclass(frozen=True, eq=False, repr=False)
class PredictionIntervals:
    """Intervals for the target of new rows, with a guarantee that holds for any model.

    `predict` returns them for a table. They hold for rows like those given, on average over such
    rows: not for each kind of row by itself.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from mossrules import MossRegressor
    >>> from mossrules.evaluation import prediction_intervals
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> model = MossRegressor(3, n_trees=100)
    >>> intervals = prediction_intervals(model, X[:400], y[:400], method="split")
    >>> intervals
    Split conformal intervals: prediction +- 108, for 90% of new rows (guaranteed: 90%).
    >>> inside = intervals.covers(X[400:], y[400:])
    >>> float(inside.mean().round(2))
    0.93
    >>> PredictionIntervals.from_json(intervals.to_json()).half_width == intervals.half_width
    True
    """

    method: IntervalMethod  #: "cv+" or "split"
    confidence: float  #: how often the target is to be within the interval
    guarantee: float | None  #: the least coverage that is proven; None with weights of rows
    model: Any  #: makes the predictions: of "cv+" fitted to all rows, of "split" to the first part
    n: int  #: rows whose residuals the intervals are made of
    groups: int | None = None  #: groups of these rows, if there are any
    half_width: float = NAN  #: of "split", the same for all rows; rounded up, by 1 % at most
    left_out: LeftOut | None = None  #: of "cv+", the models of the folds and their residuals

    def bounds(self, X: Any) -> FloatArray:
        """Return the lower end, the prediction and the upper end for each row: (rows, 3)."""
        X = in_memory(X)
        predicted = _predict(self.model, X)
        known = self.left_out
        if known is None:
            width = self.half_width
            return np.column_stack([predicted - width, predicted, predicted + width])
        by_fold = np.column_stack([_predict(model, X) for model in known.models])
        ends = []
        for rows in np.array_split(by_fold, max(1, len(by_fold) * self.n // CELLS)):
            centres = rows[:, known.fold]
            upper = _upper_ends(centres + known.residuals, known.shares, self.confidence)
            lower = -_upper_ends(known.residuals - centres, known.shares, self.confidence)
            ends.append(np.column_stack([lower, upper]))
        lower, upper = np.concatenate(ends).T
        return np.column_stack([lower, predicted, upper])

    def predict(self, X: Any, *, backend: Backend | None = None) -> Any:
        """Return a frame with `lower`, `prediction` and `upper` for each row of a table."""
        names = ("lower", "prediction", "upper")
        return make_frame(dict(zip(names, self.bounds(X).T.tolist(), strict=True)), backend)

    def covers(self, X: Any, y: Any) -> Any:
        """Return for each row whether the interval contains its target, which is known here."""
        lower, _, upper = self.bounds(X).T
        target = np.asarray(y, dtype=np.float64)
        return (lower <= target) & (target <= upper)

    def __repr__(self) -> str:
        whose = "rows" if self.groups is None else "rows of new groups"
        proven = "not guaranteed with row weights"
        if self.guarantee is not None:
            proven = f"guaranteed: {100 * self.guarantee:.3g}%"
        end = f"for {100 * self.confidence:.4g}% of new {whose} ({proven})."
        if self.left_out is None:
            return f"Split conformal intervals: prediction +- {self.half_width:.3g}, {end}"
        return f"CV+ intervals of {self.n} rows in {len(self.left_out.models)} folds, {end}"

    # --- files ----------------------------------------------------------------------------------

    def to_json(self) -> str:
        """Return split intervals as versioned JSON: the rule set and the half width."""
        if self.left_out is not None:
            raise InvalidParameter(
                "CV+ intervals need all fold models and residuals, which are not written; use "
                "method='split', of which the rule set and one number are all there is."
            )
        rules = self.model if isinstance(self.model, RuleSet) else getattr(self.model, "rules_", 0)
        if not isinstance(rules, RuleSet):
            raise UnsupportedType(
                f"The model is a {type(self.model).__name__} without rules, which JSON cannot "
                "hold; keep it with joblib."
            )
        content = {
            "confidence": self.confidence,
            "guarantee": self.guarantee,
            "half_width": self.half_width,
            "n": self.n,
            "groups": self.groups,
            "rules": json.loads(rules.to_json()),
        }
        return strict_json({"format": FORMAT, "version": VERSION, **content})

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Return the intervals of a text that `to_json` wrote; what is wrong is `InvalidFile`."""
        what, remedy = "The text", "pass what PredictionIntervals.to_json returned"
        content = parse_document(text, what, remedy, FORMAT, VERSION)
        with refuse_damage(f"{what} is damaged", remedy):
            proven, groups = content["guarantee"], content["groups"]
            found = cls(
                method="split",
                confidence=check_confidence(content["confidence"]),
                guarantee=None if proven is None else float(read_number(proven)),
                model=RuleSet.from_json(json.dumps(content["rules"])),
                n=read_count(content["n"]),
                groups=None if groups is None else read_count(groups),
                half_width=float(read_number(content["half_width"])),
            )
        if not 0 <= found.half_width < math.inf:
            raise InvalidFile(f"{what} is damaged (half_width); {remedy}.")
        return found


def _predict(model: Any, X: Any) -> FloatArray:
    return np.asarray(model.predict(known_columns(model, X)), dtype=np.float64).reshape(-1)


# --- making them ----------------------------------------------------------------------------------


@names_input("X")
def prediction_intervals(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    method: IntervalMethod = "cv+",
    confidence: float = 0.9,
    cv: Any = 10,
    share: float = 0.5,
    groups: Any = None,
    sample_weight: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> PredictionIntervals:
    """Return intervals that contain the target of new rows as often as `confidence` says.

    "split" fits the model to one part of the rows; the quantile of its absolute residuals on the
    other part is the half width of all intervals (Lei et al. 2018). A new row is within them with a
    probability of at least the confidence, whatever the model and the data.

    "cv+" fits the model to all folds but one, for each fold, and gives each row the residual of the
    model that has not seen it; intervals are made of the predictions of all these models and of all
    residuals (Barber et al. 2021). No row is given up, so intervals are narrower. With confidence
    1 - a, a new row is within them with a probability of at least 1 - 2a, less what `guarantee` has
    taken off for the number of folds; usually it is 1 - a.

    With groups, rows of a group stay together and each group counts alike: the guarantee is for a
    row of a new group (Lee, Barber and Willett 2023). Without, it is for rows that are drawn like
    those given, independently.

    For numbers only: of classes, the prediction is a probability, whose calibration `performance`
    measures.

    Parameters
    ----------
    estimator : MossRegressor, or any regressor of scikit-learn
        It is not fitted itself.
    X, y, sample_weight : as in `MossRegressor.fit`
        Also files, which are read into memory. Whole weights are repetitions of rows. With other
        weights a new row counts as an average one, and nothing is guaranteed.
    method : {"cv+", "split"}, default="cv+"
        Only "split" can be kept as JSON.
    confidence : float, default=0.9
        How often the target is to be within the interval.
    cv : as in `evaluate`, default=10
        Folds of "cv+".
    share : float, default=0.5
        Of the rows, or of the groups, that "split" fits the model to.
    groups
        One label per row, or the name of a column of X, which is then no feature.
    random_state : int, NumPy generator or None, default=0
        Which rows "split" fits the model to.
    n_jobs : int or None, default=None
        Threads, over folds first; None uses all cores.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from mossrules import MossRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> intervals = prediction_intervals(MossRegressor(3, n_trees=100), X, y, cv=5)
    >>> intervals.predict(X[:2], backend="pandas").round()
       lower  prediction  upper
    0  125.0       240.0  335.0
    1   -3.0       100.0  200.0
    >>> round(intervals.guarantee, 3)
    0.782
    """
    check_estimator("estimator", estimator)
    if is_classifier(estimator):
        raise InvalidParameter(
            "estimator is a classifier, whose predictions are probabilities; call performance, "
            "which measures how well they are calibrated."
        )
    check_choice("method", method, get_args(IntervalMethod))
    confidence = check_confidence(confidence)
    how = {"groups": groups, "sample_weight": sample_weight, "n_jobs": n_jobs}
    parts = Parts.read(estimator, X, y, **how)
    if method == "split":
        return _split(parts, share, random_state, confidence)
    return _cross(parts, cv, confidence)


def _split(parts: Parts, share: float, random_state: Any, confidence: float) -> PredictionIntervals:
    first, second = parts.two(share, random_state)
    shares, groups = _shares(parts, second, confidence)
    model = parts.fit(first)
    residuals = np.abs(parts.rows.target[second] - parts.predictions(model, second))
    return PredictionIntervals(
        method="split",
        confidence=confidence,
        guarantee=None if parts.rows.weights is not None else confidence,
        model=model,
        n=len(second),
        groups=groups,
        half_width=_rounded_up(float(_upper_ends(residuals[None, :], shares, confidence)[0])),
    )


def _rounded_up(width: float) -> float:
    """Return a number with few digits that is hardly larger, so that the guarantee stays.

    The exact one is what a single row is off by: with its prediction, it tells that row's target.
    """
    return shortest_between(width, width * (1 + ROUNDED_BY))


def _cross(parts: Parts, cv: Any, confidence: float) -> PredictionIntervals:
    splits = parts.folds(cv)
    everyone = np.arange(len(parts.rows.target))
    fold = fold_of_each_row(splits, len(everyone))
    if (fold < 0).any():
        raise InvalidParameter(
            f"{np.count_nonzero(fold < 0)} rows are left out by no fold of cv, and CV+ needs a "
            "residual of each; pass a number of folds."
        )
    shares, groups = _shares(parts, everyone, confidence)

    def left_out(model: Any, test: IntArray) -> tuple[Any, FloatArray]:
        return model, np.abs(parts.rows.target[test] - parts.predictions(model, test))

    found = parts.on_folds(splits, left_out)
    residuals = np.empty(len(everyone))
    for (_, test), (_, of_fold) in zip(splits, found, strict=True):
        residuals[test] = of_fold
    units = len(everyone) if groups is None else groups
    return PredictionIntervals(
        method="cv+",
        confidence=confidence,
        guarantee=None if parts.rows.weights is not None else _proven(confidence, units, splits),
        model=parts.fit(everyone),
        n=len(everyone),
        groups=groups,
        left_out=LeftOut(tuple(model for model, _ in found), fold, residuals, shares),
    )


def _proven(confidence: float, units: int, splits: list[Any]) -> float:
    """Return the least coverage of CV+ (Barber et al. 2021, theorem 4), for equal folds."""
    folds = len(splits)
    lost = min(2 * (1 - 1 / folds) / (units / folds + 1), (1 - folds / units) / (folds + 1))
    return max(0.0, 1 - 2 * (1 - confidence) - max(lost, 0.0))


# --- quantiles ------------------------------------------------------------------------------------


def _shares(parts: Parts, numbers: IntArray, confidence: float) -> tuple[FloatArray, int | None]:
    """Return what each residual counts, and the number of groups.

    A new row, or a new group, counts as one more, with a residual that may be infinite: n residuals
    count 1 / (n + 1) each, those of one of G groups 1 / (G + 1) together.
    """
    weights, groups = parts.weights_of(numbers), parts.groups_of(numbers)
    w = np.ones(len(numbers)) if weights is None else weights
    if groups is None:
        total, units = w.sum() + w.mean(), len(w)
        shares = w / total
    else:
        units = int(groups.max()) + 1
        shares = w / np.bincount(groups, w)[groups] / (units + 1)
    if shares.sum() < confidence - FEW:
        what = "rows" if groups is None else "groups"
        raise InvalidParameter(
            f"{units} {what} are too few for intervals of confidence {confidence:g}, which need "
            f"{math.ceil(confidence / (1 - confidence) - FEW)}; add {what}, or ask for less."
        )
    return shares, None if groups is None else units


def _upper_ends(values: FloatArray, shares: FloatArray, confidence: float) -> FloatArray:
    """Return of each row the smallest value up to which values have that share: (rows,)."""
    order = np.argsort(values, axis=1, kind="stable")
    reached = np.cumsum(shares[order], axis=1) >= confidence - FEW
    first = np.argmax(reached, axis=1)
    return np.asarray(np.take_along_axis(values, order, axis=1)[np.arange(len(values)), first])
