"""Why one row gets its prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mossrules._frames import Backend, make_frame
from mossrules.candidates.rules import Rule
from mossrules.data.columns import Label
from mossrules.model.calibration import Calibration
from mossrules.model.formatting import INTERCEPT, format_amounts, one_line
from mossrules.model.link import Link, event_text, inverse_link

__all__ = ["Explanation"]


@dataclass(frozen=True, repr=False)
class Explanation:
    """The rules of a rule set, which of them hold for a row, and what each adds.

    Rules are in the order of the rule set, and contributions are added in that order, so that
    `prediction` is what `RuleSet.predict` gives for the row, bit for bit.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> model = MossRegressor(2, n_trees=20).fit({"age": [30, 40, 50, 60]}, [2.0, 3.0, 9.0, 8.0])
    >>> why = model.rules_.explain({"age": 45})
    >>> why
      +7.995  (intercept)
      +1.004  40 < age <= 50
    = +8.999  prediction (1 other rule does not hold)
    >>> why.holds, round(why.prediction, 3)
    ((False, True), 8.999)
    """

    rules: tuple[Rule, ...]  #: all rules of the rule set
    texts: tuple[str, ...]  #: the rules in words
    weights: tuple[float, ...]  #: what each adds where it holds
    holds: tuple[bool, ...]  #: whether each holds for the row
    intercept: float  #: what the sum starts with
    target: str | None = None  #: name of the target, if it has one
    link: Link = "identity"  #: "logit" where the sum is log-odds, else "identity"
    outcome: Label | None = None  #: with "logit", the class whose probability it is
    calibration: Calibration | None = None  #: with "logit", how such predictions came out
    threshold: float = 0.5  #: of the probability, to act upon

    @property
    def contributions(self) -> tuple[float, ...]:
        """What each rule adds: its weight where it holds, else 0."""
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
        figures = [self.intercept, *(self.weights[i] for i in held), self.total]
        words = [INTERCEPT, *(one_line(self.texts[i]) for i in held)]
        *amounts, total = format_amounts(figures, self.weights)
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
        """What was seen where predictions were like this one, and what the threshold means."""
        if self.link != "logit":
            return []
        event = one_line(event_text(self.target, self.outcome))
        lines = [] if self.calibration is None else [self._seen(self.calibration, event)]
        act = self.prediction >= self.threshold
        lines.append(
            f"At a threshold of {self.threshold:g} the decision is {'' if act else 'not '}{event}"
            f"{_meaning(self.threshold)}."
        )
        if self.calibration is not None:
            lines.append(_done(self.calibration, self.threshold))
        return lines

    def _seen(self, calibration: Calibration, event: str) -> str:
        found = calibration.around(self.prediction)
        words = f"predicted {found.low:.1f} to {found.high:.1f}"
        if not found.rows:
            return f"No training row was {words}: there is nothing to compare with."
        return (
            f"Of the {found.rows:,.0f} training rows {words}, {found.share:.0%} were {event} "
            f"({found.lower:.0%} to {found.upper:.0%} at 95 % confidence)."
        )

    @property
    def _name(self) -> str:
        """What the total is."""
        if self.link == "logit":
            return f"log-odds of {one_line(event_text(self.target, self.outcome))}"
        return "prediction" if self.target is None else f"predicted {one_line(self.target)}"


def _meaning(threshold: float) -> str:
    """Return for which costs a threshold is right, in words that go on a sentence."""
    if not 0.0 < threshold < 1.0:
        return ""
    cost = (1.0 - threshold) / threshold
    words = "as much as" if abs(cost - 1.0) < 1e-9 else f"{cost:.3g} times"
    return f", which is right where a miss costs {words} a false alarm"


def _done(calibration: Calibration, threshold: float) -> str:
    found = calibration.at_threshold(threshold)
    best = calibration.most_balanced()
    return (
        f"On training rows it finds {found.sensitivity:.0%} of the outcomes and leaves alone "
        f"{found.specificity:.0%} of the others; both together are best at {best.threshold:g}, "
        f"with {best.sensitivity:.0%} and {best.specificity:.0%}."
    )
