"""How often an outcome was there where it was predicted with some probability, and what follows.

The rows of training are counted by their predicted probability, in hundredths, and by whether the
outcome was there. From these counts come the shares to compare predictions with, and what a
threshold would have done.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from mossrules._common import check_number
from mossrules._frames import Backend, make_frame
from mossrules._typing import AnyArray, FloatArray
from mossrules.exceptions import InvalidParameter

__all__ = ["PARTS", "Calibration", "Range", "ThresholdFigures"]

PARTS = 100  # of the range of probabilities
RANGES = 10  # in which shares are looked at
CONFIDENCE = 0.95


class Range(NamedTuple):
    """Rows with a predicted probability from `low` to `high`, and the share that had the outcome.

    `lower` and `upper` are Wilson's interval of that share, at 95 %; all three are NaN of no rows.
    """

    low: float
    high: float
    rows: float
    share: float
    lower: float
    upper: float


class ThresholdFigures(NamedTuple):
    """What it would have meant to act on probabilities of at least `threshold`."""

    threshold: float
    flagged: float  # share of all rows
    sensitivity: float  # share of the rows with the outcome that are flagged
    specificity: float  # share of the others that are not
    precision: float  # share of the flagged that have the outcome
    balanced_accuracy: float  # mean of sensitivity and specificity


@dataclass(frozen=True)
class Calibration:
    """Weights of training rows with and without the outcome, by hundredths of the probability.

    A row at p is counted in part floor(100 p), the last part having 1.0 too.

    Examples
    --------
    >>> from mossrules import MossClassifier
    >>> X, y = {"dose": [1, 2, 3, 4, 5, 6]}, [0, 0, 1, 0, 1, 1]
    >>> calibration = MossClassifier(1, n_trees=20).fit(X, y).rules_.calibration
    >>> calibration.rows, calibration.prevalence
    (6.0, 0.5)
    >>> figures = calibration.at_threshold(0.5)
    >>> round(figures.sensitivity, 2), round(figures.specificity, 2)
    (1.0, 0.67)
    """

    positives: tuple[float, ...]  #: weight of rows with the outcome, in each hundredth
    negatives: tuple[float, ...]  #: weight of rows without it

    def __post_init__(self) -> None:
        for name in ("positives", "negatives"):
            parts = tuple(float(each) for each in getattr(self, name))
            if len(parts) != PARTS or not all(0.0 <= each < math.inf for each in parts):
                raise InvalidParameter(
                    f"{name} of a calibration must be {PARTS} weights of rows, none below 0."
                )
            object.__setattr__(self, name, parts)
        if not math.isfinite(self.rows):
            raise InvalidParameter("The weights of a calibration have no finite sum; rescale them.")

    @classmethod
    def of(
        cls, probabilities: FloatArray, outcome: AnyArray, weights: FloatArray | None = None
    ) -> Calibration:
        """Return the counts of rows with these probabilities; `outcome` is 1 where it was there."""
        weights = np.ones(len(probabilities)) if weights is None else weights
        hundredths = np.asarray(probabilities) * PARTS * (1 + 1e-12)  # 0.29 * 100 is below 29
        parts = np.minimum(hundredths.astype(np.int64), PARTS - 1)
        there = np.asarray(outcome) > 0
        counts = [
            np.bincount(parts[which], weights[which], minlength=PARTS) for which in (there, ~there)
        ]
        return cls(*(tuple(each.tolist()) for each in counts))

    @property
    def rows(self) -> float:
        """Weight of all rows."""
        return sum(self.positives) + sum(self.negatives)

    @property
    def prevalence(self) -> float:
        """Share of the rows that have the outcome."""
        return sum(self.positives) / self.rows if self.rows else math.nan

    # --- predictions and what was seen ------------------------------------------------------------

    def around(self, probability: float) -> Range:
        """Return the rows predicted about as this: one of ten ranges."""
        return self._range(min(int(probability * RANGES * (1 + 1e-12)), RANGES - 1))

    def _range(self, position: int) -> Range:
        width = PARTS // RANGES
        part = slice(position * width, (position + 1) * width)
        hits = sum(self.positives[part])
        rows = hits + sum(self.negatives[part])
        share = hits / rows if rows else math.nan
        low, high = position / RANGES, (position + 1) / RANGES
        return Range(low, high, rows, share, *wilson(share, rows))

    def frame(self, *, backend: Backend | None = None) -> Any:
        """Return a row for each of ten ranges of predictions: `low`, `high`, `rows`, `share`...

        `lower` and `upper` are the interval of the share.
        """
        return _as_frame([self._range(i) for i in range(RANGES)], Range._fields, backend)

    # --- thresholds -------------------------------------------------------------------------------

    def at_threshold(self, threshold: float) -> ThresholdFigures:
        """Return what a threshold, in hundredths, would have done."""
        first = math.ceil(check_number("threshold", threshold, minimum=0.0) * PARTS * (1 - 1e-12))
        hits, alarms = sum(self.positives[first:]), sum(self.negatives[first:])
        sensitivity = _share(hits, sum(self.positives))
        specificity = 1.0 - _share(alarms, sum(self.negatives))
        return ThresholdFigures(
            threshold=first / PARTS,
            flagged=_share(hits + alarms, self.rows),
            sensitivity=sensitivity,
            specificity=specificity,
            precision=_share(hits, hits + alarms),
            balanced_accuracy=0.5 * (sensitivity + specificity),
        )

    def most_balanced(self) -> ThresholdFigures:
        """Return the threshold of the best mean of sensitivity and specificity.

        Of several, the one nearest to the prevalence, where it is for probabilities that are true.
        """
        found = [self.at_threshold(part / PARTS) for part in range(1, PARTS)]
        best = max(each.balanced_accuracy for each in found)
        near = [each for each in found if each.balanced_accuracy >= best - 1e-12]
        return min(near, key=lambda each: abs(each.threshold - self.prevalence))

    def advice(self, miss_costs: Sequence[float] = (1.0,)) -> dict[str, ThresholdFigures]:
        """Return thresholds by what they are for.

        Where missing the outcome costs c times as much as a false alarm, true probabilities are
        acted upon from 1 / (1 + c) on: 0.5 where both cost the same.
        """
        found = {}
        for cost in miss_costs:
            threshold = 1.0 / (1.0 + check_number("miss_cost", cost))
            words = "as much as" if cost == 1 else f"{cost:g} times"
            found[f"a miss costs {words} a false alarm"] = self.at_threshold(threshold)
        return found | {"best balanced accuracy": self.most_balanced()}


def wilson(share: float, rows: float) -> tuple[float, float]:
    """Return Wilson's interval of a share of so many rows; NaN of none."""
    if not rows:
        return math.nan, math.nan
    z = float(ndtri(0.5 + CONFIDENCE / 2))
    # All of it times the rows, which may be so few, being weights, that their square is 0.
    middle = share * rows + z * z / 2
    spread = z * math.sqrt(share * (1 - share) * rows + z * z / 4)
    scale = rows + z * z
    return max(0.0, (middle - spread) / scale), min(1.0, (middle + spread) / scale)


def _share(part: float, whole: float) -> float:
    return part / whole if whole else math.nan


def _as_frame(rows: Sequence[Any], names: Sequence[str], backend: Backend | None) -> Any:
    return make_frame({name: [getattr(row, name) for row in rows] for name in names}, backend)
