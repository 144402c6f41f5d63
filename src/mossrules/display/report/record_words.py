"""A track record in the words of the page: beside each rule, above the table, and in its glossary.

Only the model's own point has a record. Rules of other points have the number of folds that found
them, which is another question: folds leave out little, and their rules are chosen at that point.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from mossrules.display.report.numbers import (
    NOTHING,
    PERCENT,
    amount,
    fixed,
    odds_ratio,
    percent,
)
from mossrules.model.track_record import TrackRecord

__all__ = ["base_range", "found_cells", "observed_cells", "record_of", "record_sentence"]

Content = Mapping[str, Any]
BEYOND = 700.0  # exp of more is no float64


def record_of(content: Content) -> TrackRecord | None:
    """Return the track record of a report's content."""
    record = content["track_record"]
    return None if record is None else TrackRecord.from_dict(record)


def record_sentence(content: Content, record: TrackRecord | None, *, own: bool) -> str:
    """Return what stands above the rules of a point; nothing where nothing was repeated."""
    if record is None:
        reason = content["not_repeated"]
        return "" if reason is None else f"The analysis was not repeated. {reason}"
    if own:
        return re.sub(" ?%", PERCENT, " ".join(record.summary().splitlines()))
    words = "The track record is that of the fitted model; this point has none."
    if content["folds"]:
        words += " Beside its rules stands how many folds found them."
    return words


def found_cells(
    content: Content,
    point: Mapping[str, Any],
    record: TrackRecord | None,
    decimals: int | None,
) -> list[dict[str, str]]:
    """Return for each rule of a point how often it was found, and how sure its effect is.

    The record is that of these very rules; without it, folds are counted.
    """
    if record is None:
        found = point["found"] or [None] * len(point["rules"])
        return [_counted_in_folds(times, content["folds"]) for times in found]
    return [_recorded(record, position, content["link"], decimals) for position in _places(record)]


def _places(record: TrackRecord) -> Sequence[int]:
    return range(len(record.rules))


def _counted_in_folds(times: int | None, folds: int | None) -> dict[str, str]:
    nothing = {"often": "", "nearly": "", "range": "", "odds_range": "", "more": ""}
    if times is None:
        return {"found": NOTHING, "counted": "", **nothing}
    return {"found": f"{times} of {folds}", "counted": "folds", **nothing}


def _recorded(
    record: TrackRecord, position: int, link: str, decimals: int | None
) -> dict[str, str]:
    rule, refits = record.rules[position], record.refits
    low, high = rule.held_fixed
    known, of_classes = not math.isnan(low), link == "logit"
    return {
        "found": f"{rule.found} of {refits}",
        "counted": "refits",
        "often": f"{100.0 * rule.found / refits:.1f}",  # widths of the bars
        "nearly": f"{100.0 * rule.near / refits:.1f}",
        # Beside odds ratios the same in log-odds would say nothing more.
        "range": "" if of_classes else _amounts(rule.held_fixed, decimals),
        "odds_range": _range(_odds(low), _odds(high)) if of_classes and known else "",
        "more": _more(record, position, decimals),
    }


def _more(record: TrackRecord, position: int, decimals: int | None) -> str:
    """Return what a reader unfolds."""
    rule, refits, confidence = record.rules[position], record.refits, percent(record.confidence)
    low, high = map(percent, rule.found_interval)
    words = (
        f"Found in {rule.found} of {refits} refits, {percent(rule.found / refits)} ({confidence} "
        f"interval: {low} to {high}); the rule or one near it in {rule.near}."
    )
    analysis = _amounts(rule.whole_analysis, decimals)
    if analysis:
        words += (
            f" In the refits that found it, its effect was {analysis} ({confidence} range), with "
            f"the same sign in {percent(rule.same_sign)} of them."
        )
    return words


def base_range(record: TrackRecord | None, link: str, decimals: int | None) -> str:
    """Return the interval of the base value."""
    return "" if record is None or link == "logit" else _amounts(record.intercept, decimals)


def observed_cells(rule: Mapping[str, Any], link: str, decimals: int | None) -> dict[str, str]:
    """Return how many rows a rule holds on, and what is observed on them."""
    n, mean, events = rule["n"], rule["mean"], rule["events"]
    rows = "" if n is None else f"{n:,} row{'' if n == 1 else 's'}"
    if mean is None:
        return {"n": rows, "observed": NOTHING, "events": ""}
    if link == "logit":
        return {"n": rows, "observed": percent(mean), "events": f"{events:,} of {n:,}"}
    return {"n": rows, "observed": fixed(mean, decimals), "events": ""}


def _amounts(ends: Sequence[float], decimals: int | None) -> str:
    low, high = ends
    return "" if math.isnan(low) else _range(amount(low, decimals), amount(high, decimals))


def _range(low: str, high: str) -> str:
    return f"{low} to {high}"


def _odds(log_odds: float) -> str:
    return odds_ratio(math.exp(min(log_odds, BEYOND)))
