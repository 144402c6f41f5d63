"""What the sum of the weights says: the prediction itself, or the log-odds of an outcome."""

from __future__ import annotations

from typing import Any, Literal

from scipy.special import expit

from mossrules.data.columns import Label

__all__ = ["Link", "event_text", "inverse_link"]

Link = Literal["identity", "logit"]


def inverse_link(link: Link, total: Any) -> Any:
    """Return predictions from sums of weights: the same numbers, or probabilities."""
    return expit(total) if link == "logit" else total


def event_text(target: str | None, outcome: Label | None) -> str:
    """Return in words what a probability is that of."""
    if outcome is None:
        return "the outcome" if target is None else target
    return f"{outcome}" if target is None else f"{target} = {outcome}"
