"""From the sum of weights to a prediction: why one row gets its own.

The link says what the sum is: the prediction itself, or the log-odds of an outcome.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from scipy.special import expit

from mossrules._frames import Backend, make_frame
from mossrules.candidates.rules import Rule
from mossrules.data.columns import Label
from mossrules.model.calibration import Calibration
from mossrules.model.export_text import INTERCEPT, event_text, format_amounts, one_line

__all__ = ["Explanation", "Link", "inverse_link"]

Link = Literal["identity", "logit"]


def inverse_link(link: Link, total: Any) -> Any:
    """Return predictions from sums of weights: the same numbers, or probabilities."""
    # By SciPy, whose expit overflows nowhere, as 1 / (1 + exp(-total)) does below -709.
    return expit(total) if link == "logit" else total


@dataclass(frozen=True, repr=False)
class Explanation:
    """The rules of a rule set, which of them hold for one row, and the effect of each.

    Rules are in the order of the rule set, and contributions are added in that order, so that
    `prediction` is what `RuleSet.predict` gives for the row, bit for bit.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> X = {"age": [25, 35, 45, 55, 65, 75], "smoker": [False, True] * 3}
    >>> model = MossRegressor(2, n_trees=20).fit(X, [2.0, 5.0, 3.0, 9.0, 6.0, 12.0])
    >>> why = model.rules_.explain({"age": 45, "smoker": True})
    >>> why
      +2.472  (intercept)
      +3.201  smoker is true
    = +5.672  prediction (1 other rule does not hold)
    >>> why.holds, round(why.prediction, 3)
    ((False, True), 5.672)
    """

    rules: tuple[Rule, ...]  #: all rules of the rule set
    texts: tuple[str, ...]  #: the rules in words
    weights: tuple[float, ...]  #: effect of each where it holds
    holds: tuple[bool, ...]  #: whether each holds for the row
    intercept: float  #: prediction where no rule holds
    target: str | None = None  #: name of the target, if it has one
    link: Link = "identity"  #: "logit" where the sum is log-odds, else "identity"
    outcome: Label | None = None  #: with "logit", the class whose probability it is
    calibration: Calibration | None = None  #: with "logit", outcomes of training rows
    threshold: float = 0.5  #: probability from which on one acts

    @property
    def contributions(self) -> tuple[float, ...]:
        """The effect of each rule on this row: its weight where it holds, else 0."""
        return tuple(
            weight if holds else 0.0 for weight, holds in zip(self.weights, self.holds, strict=True)
        )

    @property
    def prediction(self) -> float:
        """The intercept and all contributions; with the link "logit", the probability."""
        return float(inverse_link(self.link, self.total))

    @property
    def total(self) -> float:
        """The intercept and all contributions; with the link "logit", log-odds."""
        # Not by `sum`, which since Python 3.12 makes up for rounding: `RuleSet.predict` does not.
        total = self.intercept
        for contribution in self.contributions:
            total += contribution
        return total

    def frame(self, backend: Backend | None = None) -> Any:
        """Return a row per rule: its text, whether it holds, its weight and its contribution."""
        return make_frame(
            {
                "rule": list(self.texts),
                "holds": list(self.holds),
                "weight": list(self.weights),
                "contribution": list(self.contributions),
            },
            backend,
        )

    def __repr__(self) -> str:
        held = [position for position, holds in enumerate(self.holds) if holds]
        values = [self.intercept, *(self.weights[i] for i in held), self.total]
        words = [INTERCEPT, *(one_line(self.texts[i]) for i in held)]
        *amounts, total = format_amounts(values, self.weights)
        width = max(map(len, [*amounts, total]))
        silent = len(self.holds) - len(held)
        rest = f" ({silent} other rule{'s do' if silent != 1 else ' does'} not hold)"
        lines = [
            f"  {amount:>{width}}  {text}" for amount, text in zip(amounts, words, strict=True)
        ]
        lines.append(f"= {total:>{width}}  {self._name}{rest if silent else ''}")
        if self.link == "logit":
            lines.append(f"  {self.prediction:>{width}.3f}  probability, 1 / (1 + exp(-log-odds))")
            lines += self.advice
        return "\n".join(lines)

    @property
    def advice(self) -> list[str]:
        """How often the outcome occurred at such predictions, and what the threshold does."""
        if self.link != "logit":
            return []
        event = one_line(event_text(self.target, self.outcome))
        lines = [] if self.calibration is None else [self._observed(self.calibration, event)]
        act = self.prediction >= self.threshold
        lines.append(
            f"At a threshold of {self.threshold:g} this row is {'' if act else 'not '}classified "
            f"as {event}{_cost_clause(self.threshold)}."
        )
        if self.calibration is not None:
            lines.append(_performance(self.calibration, self.threshold))
        return lines

    def _observed(self, calibration: Calibration, event: str) -> str:
        """Return how often the outcome occurred in training rows with predictions like this."""
        seen = calibration.around(self.prediction)
        words = f"predicted {seen.low:.1f} to {seen.high:.1f}"
        if not seen.rows:
            return f"No training row was {words}: there is nothing to compare with."
        return (
            f"Of the {seen.rows:,.0f} training rows {words}, {seen.share:.0%} were {event} "
            f"({seen.lower:.0%} to {seen.upper:.0%} at 95 % confidence)."
        )

    @property
    def _name(self) -> str:
        """The name of the total."""
        if self.link == "logit":
            return f"log-odds of {one_line(event_text(self.target, self.outcome))}"
        return "prediction" if self.target is None else f"predicted {one_line(self.target)}"


def _cost_clause(threshold: float) -> str:
    """Return the costs for which a threshold is right, as the end of a sentence.

    To act on a probability p is right where (1 - p) false alarms cost less than p misses; where a
    miss costs c false alarms, from p = 1 / (1 + c) on.
    """
    if not 0.0 < threshold < 1.0:
        return ""
    cost = (1.0 - threshold) / threshold
    words = "as much as" if abs(cost - 1.0) < 1e-9 else f"{cost:.3g} times"
    return f"; that threshold is right where a miss costs {words} a false alarm"


def _performance(calibration: Calibration, threshold: float) -> str:
    """Return what the threshold would have done, and what the best one would have."""
    here = calibration.at_threshold(threshold)
    best = calibration.most_balanced()
    return (
        f"On the training rows it has sensitivity {here.sensitivity:.0%} and specificity "
        f"{here.specificity:.0%}; their mean is best at {best.threshold:g}, with "
        f"{best.sensitivity:.0%} and {best.specificity:.0%}."
    )
