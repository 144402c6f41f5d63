"""Measures of predictions, each with an interval that weights of rows and groups go into.

A measure is written as its value plus a mean of influences, what each row adds to it (Hampel 1974).
The variance of that mean is a sum over rows, or over groups of the sum of their rows, so one line
serves every measure, with weights and groups or without. Intervals are symmetric on the scale on
which a measure is nearest to normal: the log-odds of an AUC, the logarithm of an error.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit
from scipy.stats import t as student

from mossrules._common import cached_property
from mossrules._typing import BoolArray, FloatArray, IntArray
from mossrules.evaluation.results import NAN
from mossrules.evaluation.sandwich import Coefficients, least_squares, logistic
from mossrules.model.shares import normal_quantile, wilson_ends

__all__ = ["CLASSES", "NUMBERS", "Interval", "Sample", "measure_classes", "measure_numbers"]

# Measures with their headings, in the order in which they are shown.
NUMBERS: Mapping[str, str] = {
    "r2": "R2",
    "mae": "mean absolute error",
    "rmse": "root mean squared error",
    "bias": "mean error, predicted - observed",
    "slope": "calibration slope",
}
CLASSES: Mapping[str, str] = {
    "auc": "AUC",
    "brier": "Brier score",
    "log_loss": "log-loss",
    "slope": "calibration slope",
    "intercept": "calibration intercept",
    "sensitivity": "sensitivity",
    "specificity": "specificity",
    "ppv": "positive predictive value",
    "npv": "negative predictive value",
}
SURE = 1e-6  # log-odds of predictions that are surer than this are those of it
EPSILON = float(np.finfo(np.float64).eps)  # likewise for the log-loss, as in scikit-learn


class Interval(NamedTuple):
    """A measure and its interval; NaN for what the rows do not determine.

    Parameters
    ----------
    estimate : float
        The measure on the rows at hand.
    lower, upper : float
        The ends of its interval.

    See Also
    --------
    mossrules.evaluation.Performance : Has them, under the names of measures.
    """

    estimate: float
    lower: float = NAN
    upper: float = NAN


@dataclass(frozen=True)
class Sample:
    """Rows that predictions are judged by: their weights, and the groups they come in."""

    weights: FloatArray  # ones where all rows count alike
    groups: IntArray | None
    confidence: float

    def only(self, where: BoolArray) -> Sample:
        """Return some of the rows."""
        groups = None if self.groups is None else self.groups[where]
        return replace(self, weights=self.weights[where], groups=groups)

    def mean(self, values: FloatArray) -> float:
        """Return the weighted mean."""
        return float(np.average(values, weights=self.weights))

    @cached_property
    def codes(self) -> IntArray | None:
        """Groups numbered from 0."""
        if self.groups is None:
            return None
        return np.unique(self.groups, return_inverse=True)[1].astype(np.int64)

    @property
    def units(self) -> int:
        """How many rows, or groups, are independent of each other."""
        return len(self.weights) if self.codes is None else int(self.codes.max()) + 1

    def variance(self, influence: FloatArray) -> float:
        """Return the variance of the weighted mean of influences, without a factor for few units.

        It is the sum over groups g of (sum of u_i psi_i over rows i of g)^2, with shares u of the
        weight that add up to 1.
        """
        parts = self.weights / self.weights.sum() * influence
        if self.codes is not None:
            parts = np.bincount(self.codes, parts)
        return float(np.sum(parts**2))

    @property
    def factor(self) -> float:
        """What the variance is multiplied by, as influences are taken about an estimate."""
        return self.units / (self.units - 1) if self.units > 1 else NAN

    @property
    def t(self) -> float:
        """The quantile of the t distribution."""
        return float(student.ppf(0.5 + self.confidence / 2, max(self.units - 1, 1)))

    @property
    def z(self) -> float:
        """The normal quantile; with groups that of the t distribution."""
        return self.t if self.groups is not None else normal_quantile(self.confidence)

    def about(self, estimate: float, influence: FloatArray) -> Interval:
        """Return the t interval of a mean."""
        width = self.t * math.sqrt(self.factor * self.variance(influence))
        return Interval(estimate, estimate - width, estimate + width)

    def above_zero(self, estimate: float, influence: FloatArray) -> Interval:
        """Return the t interval of the mean of what is never below 0."""
        _, lower, upper = self.about(estimate, influence)
        return Interval(estimate, lower if math.isnan(lower) else max(0.0, lower), upper)


# --- numbers --------------------------------------------------------------------------------------


def measure_numbers(y: FloatArray, predicted: FloatArray, sample: Sample) -> dict[str, Interval]:
    """Return the measures of predictions of numbers, under the names of `NUMBERS`."""
    error = predicted - y
    squared, around = error**2, (y - sample.mean(y)) ** 2
    mse, variance = sample.mean(squared), sample.mean(around)
    bias, mae = sample.mean(error), sample.mean(np.abs(error))
    return {
        "r2": _r2(squared, around, mse, variance, sample),
        "mae": sample.above_zero(mae, np.abs(error) - mae),
        "rmse": _exponential(math.sqrt(mse), (squared - mse) / (2 * mse), sample)
        if mse
        else Interval(0.0),
        "bias": sample.about(bias, error - bias),
        "slope": _slope_of_numbers(y, predicted, sample),
    }


def _r2(
    squared: FloatArray, around: FloatArray, mse: float, variance: float, sample: Sample
) -> Interval:
    """Return R2 = 1 - mse / variance, with the interval of the logarithm of the ratio."""
    if not variance:
        return Interval(NAN)
    if not mse:
        return Interval(1.0)
    ratio = _exponential(mse / variance, squared / mse - around / variance, sample)
    return Interval(1 - ratio.estimate, 1 - ratio.upper, 1 - ratio.lower)


def _exponential(estimate: float, influence: FloatArray, sample: Sample) -> Interval:
    """Return a positive measure with an interval from influences on its logarithm."""
    _, lower, upper = sample.about(math.log(estimate), influence)
    return Interval(estimate, math.exp(lower), math.exp(upper))


def _slope_of_numbers(y: FloatArray, predicted: FloatArray, sample: Sample) -> Interval:
    if np.ptp(predicted) <= 1e-12 * np.abs(predicted).max():
        return Interval(NAN)  # a line needs two predictions
    M = np.column_stack([np.ones(len(y)), predicted])
    return _coefficient(least_squares(M, y, sample.weights, sample.groups), 1, sample)


def _coefficient(found: Coefficients, place: int, sample: Sample) -> Interval:
    lower, upper = found.interval(sample.confidence)
    return Interval(float(found.values[place]), float(lower[place]), float(upper[place]))


# --- classes --------------------------------------------------------------------------------------


def measure_classes(
    y: FloatArray, chances: FloatArray, threshold: float, sample: Sample
) -> dict[str, Interval]:
    """Return the measures of probabilities, under the names of `CLASSES`; y is 0 or 1, both."""
    squared = (chances - y) ** 2
    sure = np.clip(chances, EPSILON, 1 - EPSILON)
    loss = -np.log(np.where(y > 0, sure, 1 - sure))
    flagged = chances >= threshold
    brier, log_loss = sample.mean(squared), sample.mean(loss)
    auc = area_under_curve(y, chances, sample)
    slope, intercept = _recalibration(y, chances, sample)
    return {
        "auc": auc,
        "brier": sample.above_zero(brier, squared - brier),
        "log_loss": sample.above_zero(log_loss, loss - log_loss),
        "slope": slope,
        "intercept": intercept,
        "sensitivity": proportion(flagged, y > 0, sample),
        "specificity": proportion(~flagged, y == 0, sample),
        "ppv": proportion(y > 0, flagged, sample),
        "npv": proportion(y == 0, ~flagged, sample),
    }


def area_under_curve(y: FloatArray, chances: FloatArray, sample: Sample) -> Interval:
    """Return the AUC with DeLong's interval, on the scale of log-odds.

    The placement of a row is the share of rows of the other class that it is on the right side of,
    ties counting half: AUC is the mean placement of either class, and the influence of a row is its
    placement minus AUC, divided by the share of its class (DeLong, DeLong and Clarke-Pearson 1988).
    """
    events, w = y > 0, sample.weights
    levels, place = np.unique(chances, return_inverse=True)
    at_level = [np.bincount(place, w * of, minlength=len(levels)) for of in (~events, events)]
    others, own = (each / each.sum() for each in at_level)
    below = np.cumsum(others) - others / 2
    above = 1 - (np.cumsum(own) - own / 2)
    placement = np.where(events, below[place], above[place])
    area = float(np.average(placement[events], weights=w[events]))
    shares = np.where(events, w[events].sum(), w[~events].sum()) / w.sum()
    influence = (placement - area) / shares
    if sample.groups is None:
        counts = np.where(events, np.count_nonzero(events), np.count_nonzero(~events))
        variance = sample.variance(influence * np.sqrt(counts / np.maximum(counts - 1, 1)))
    else:
        variance = sample.factor * sample.variance(influence)
    units = min(sample.only(each).units for each in (events, ~events))
    if units < 2 or not 0 < area < 1:
        return Interval(area)  # of a single row or group, or of one rank, nothing tells a spread
    width = sample.z * math.sqrt(variance) / (area * (1 - area))
    return Interval(area, *map(float, expit(logit(area) + np.array([-width, width]))))


def proportion(hits: BoolArray, among: BoolArray, sample: Sample) -> Interval:
    """Return the share of hits among some rows, with Wilson's interval for an effective number.

    It is the number of independent rows of equal weight that would have the same variance (Korn and
    Graubard 1998), and no more than weights alone leave.
    """
    part = sample.only(among)
    if not len(part.weights) or not part.weights.sum():
        return Interval(NAN)
    hit = hits[among].astype(np.float64)
    share = part.mean(hit)
    rows = float(part.weights.sum() ** 2 / np.sum(part.weights**2))
    if part.units < 2 and part.groups is not None:
        return Interval(share)
    if part.groups is not None and not 0 < share < 1:
        rows = min(rows, float(part.units))  # nothing tells how alike rows of a group are
    elif 0 < share < 1:
        factor = 1.0 if part.groups is None else part.factor
        rows = min(rows, share * (1 - share) / (factor * part.variance(hit - share)))
    return Interval(share, *wilson_ends(share, rows, part.z))


def _recalibration(y: FloatArray, chances: FloatArray, sample: Sample) -> tuple[Interval, Interval]:
    """Return the calibration slope and intercept (Cox 1958).

    The slope is b in log-odds(y) = a + b log-odds(prediction); the intercept is a where b is 1.
    """
    sure = logit(np.clip(chances, SURE, 1 - SURE))
    ones = np.ones((len(y), 1))
    intercept = _coefficient(logistic(ones, y, sample.weights, sample.groups, sure), 0, sample)
    events = sure[y > 0], sure[y == 0]
    apart = any(low.max() <= high.min() for low, high in (events, events[::-1]))
    if apart:  # or all predictions are equal: no finite slope fits best
        return Interval(NAN), intercept
    M = np.column_stack([ones, sure])
    return _coefficient(logistic(M, y, sample.weights, sample.groups), 1, sample), intercept
