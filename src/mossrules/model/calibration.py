"""How often an outcome occurred where it was predicted with some probability, and what follows.

The rows of training are counted by their predicted probability, in hundredths, and by whether the
outcome occurred. From these counts come the shares to compare predictions with, and what a
threshold would have done. Two hundred counts go with a rule set wherever it goes; the rows
themselves, which may be private, never do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from mossrules._common import check_number
from mossrules._frames import Backend, make_frame
from mossrules._typing import AnyArray, FloatArray
from mossrules.exceptions import InvalidParameter
from mossrules.model.shares import normal_quantile, wilson_ends

__all__ = ["PARTS", "Calibration", "Range", "ThresholdPerformance"]

PARTS = 100  # of the range of probabilities, each a threshold to choose
RANGES = 10  # in which shares are compared: hundredths of a few hundred rows would be mostly empty
Z = normal_quantile(0.95)


class Range(NamedTuple):
    """Rows with a predicted probability from `low` to `high`, and the share that had the outcome.

    `lower` and `upper` are Wilson's interval of that share, at 95 %. Without rows, all three are
    NaN.
    """

    low: float
    high: float
    rows: float
    share: float
    lower: float
    upper: float


class ThresholdPerformance(NamedTuple):
    """How well it works to act on probabilities of at least `threshold`, on training rows."""

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
    >>> performance = calibration.at_threshold(0.5)
    >>> round(performance.sensitivity, 2), round(performance.specificity, 2)
    (0.67, 1.0)
    """

    positives: tuple[float, ...]  #: weight of rows with the outcome, in each hundredth
    negatives: tuple[float, ...]  #: weight of rows without it

    def __post_init__(self) -> None:
        for name in ("positives", "negatives"):
            parts = tuple(float(weight) for weight in getattr(self, name))
            if len(parts) != PARTS or not all(0.0 <= weight < math.inf for weight in parts):
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
        """Return the counts of rows with these probabilities; `outcome` is 1 where it occurred."""
        weights = np.ones(len(probabilities)) if weights is None else weights
        hundredths = np.asarray(probabilities) * PARTS * (1 + 1e-12)  # 0.29 * 100 is below 29
        parts = np.minimum(hundredths.astype(np.int64), PARTS - 1)
        occurred = np.asarray(outcome) > 0
        counts = [
            np.bincount(parts[which], weights[which], minlength=PARTS)
            for which in (occurred, ~occurred)
        ]
        return cls(*(tuple(count.tolist()) for count in counts))

    @property
    def rows(self) -> float:
        """Weight of all rows."""
        return sum(self.positives) + sum(self.negatives)

    @property
    def prevalence(self) -> float:
        """Share of the rows that have the outcome."""
        return sum(self.positives) / self.rows if self.rows else math.nan

    # --- predictions and outcomes -----------------------------------------------------------------

    def around(self, probability: float) -> Range:
        """Return the rows with predictions like this one: one of ten ranges."""
        return self._range(min(int(probability * RANGES * (1 + 1e-12)), RANGES - 1))

    def _range(self, position: int) -> Range:
        width = PARTS // RANGES
        part = slice(position * width, (position + 1) * width)
        hits = sum(self.positives[part])
        rows = hits + sum(self.negatives[part])
        share = hits / rows if rows else math.nan
        low, high = position / RANGES, (position + 1) / RANGES
        return Range(low, high, rows, share, *wilson_ends(share, rows, Z))

    def frame(self, *, backend: Backend | None = None) -> Any:
        """Return a row for each of ten ranges of predictions: `low`, `high`, `rows`, `share`...

        `lower` and `upper` are the interval of the share.
        """
        ranges = [self._range(position) for position in range(RANGES)]
        columns = {name: [getattr(row, name) for row in ranges] for name in Range._fields}
        return make_frame(columns, backend)

    # --- thresholds -------------------------------------------------------------------------------

    def at_threshold(self, threshold: float) -> ThresholdPerformance:
        """Return how well a threshold, in hundredths, works."""
        # The factor is for thresholds such as 0.07, which times 100 is a little more than 7.
        first = math.ceil(check_number("threshold", threshold, minimum=0.0) * PARTS * (1 - 1e-12))
        hits, alarms = sum(self.positives[first:]), sum(self.negatives[first:])
        sensitivity = _share(hits, sum(self.positives))
        specificity = 1.0 - _share(alarms, sum(self.negatives))
        return ThresholdPerformance(
            threshold=first / PARTS,
            flagged=_share(hits + alarms, self.rows),
            sensitivity=sensitivity,
            specificity=specificity,
            precision=_share(hits, hits + alarms),
            balanced_accuracy=0.5 * (sensitivity + specificity),
        )

    def most_balanced(self) -> ThresholdPerformance:
        """Return the threshold of the best mean of sensitivity and specificity.

        Of several, the one nearest to the prevalence, where it is for probabilities that are true.
        """
        choices = [self.at_threshold(part / PARTS) for part in range(1, PARTS)]
        best = max(choice.balanced_accuracy for choice in choices)
        near = [choice for choice in choices if choice.balanced_accuracy >= best - 1e-12]
        return min(near, key=lambda choice: abs(choice.threshold - self.prevalence))

    def advice(self, miss_costs: Sequence[float] = (1.0,)) -> dict[str, ThresholdPerformance]:
        """Return recommended thresholds by their purpose.

        Where missing the outcome costs c times as much as a false alarm, true probabilities are
        acted upon from 1 / (1 + c) on: 0.5 where both cost the same.
        """
        advice = {}
        for cost in miss_costs:
            threshold = 1.0 / (1.0 + check_number("miss_cost", cost))
            words = "as much as" if cost == 1 else f"{cost:g} times"
            advice[f"a miss costs {words} a false alarm"] = self.at_threshold(threshold)
        return advice | {"best balanced accuracy": self.most_balanced()}


def _share(part: float, whole: float) -> float:
    return part / whole if whole else math.nan
