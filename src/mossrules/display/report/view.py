"""What the page shows of a report's content: its numbers as words, and its figures.

Every point of the trade-off is put into words here, in Python. The templates write those of the
fitted model, and the script puts those of another point in their places. The script has words of
its own only for what a reader does: a case typed in, and two points compared. The text of a rule is
on the page once, since most rules are in many points: for 38 points of 15 rules, all tables written
out would have added half a megabyte.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from mossrules.candidates.rules import level_words
from mossrules.defaults import MIN_ROWS_SHOWN
from mossrules.display.report.figures import Axis, Figure, Mark, Ring
from mossrules.display.report.numbers import (
    LARGEST,
    NOTHING,
    PERCENT,
    amount,
    decimals_for,
    fixed,
    number,
    odds_ratio,
    percent,
)
from mossrules.display.report.record_words import (
    base_range,
    found_cells,
    observed_cells,
    record_of,
    record_sentence,
)
from mossrules.evaluation.agreement import Identity
from mossrules.model.track_record import TrackRecord
from mossrules.solver.problems.selection import FloorKind

__all__ = ["fit_figure", "label_words", "make_view", "score_figure"]

WIDE, NARROW = (440, 340), (320, 300)  # of figures, for a column of text and for a phone
JUMPS = (
    ("fitted", "chosen", "the fitted model"),
    ("knee", "knee", "the knee"),
    ("advised", "advised", "the cross-validated choice"),
)
# Letters that are written from right to left, and marks that turn the direction around.
TURNING = re.compile(
    "[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufeff"
    "\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
# What the stability score of a point is called on an axis, by the kind of floor.
SCORE_NAMES: dict[FloorKind, str] = {"sum": "stability score", "each": "least tree frequency"}
# When two rules are the same, by the identity that recurrence was measured with.
SAME_RULES: dict[Identity, str] = {
    "thresholds": "Two rules are the same if they read the same, cut points included.",
    "codes": "Two rules are the same if they have the same bins, even if the cut points differ.",
    "rows": "Two rules of two rule sets are the same if they hold on nearly the same rows, and a "
    "rule counts as found in a fold if one there reads the same.",
}
OTHER = {"value": "other", "text": "another value", "typical": False}
Content = Mapping[str, Any]


def make_view(content: Content) -> dict[str, Any]:
    """Return what the templates need beside the content itself."""
    points, columns = content["points"], content["data"]["columns"]
    record = record_of(content)
    texts = [_point(content, position, record) for position in range(len(points))]
    shown = texts[content["chosen"]]
    return {
        "rows": f"{content['data']['rows']:,}",
        "learned_from": _rows_in_words(content["data"]),
        "rule_count": _count(len(shown["rules"]), "rule"),
        "date": _date(content["made"]["date"]),
        "event": _event(content["target"], content["outcome"]),
        "jumps": [
            {"name": name, "point": content[key], "words": words}
            for name, key, words in JUMPS
            if content[key] is not None
        ],
        "figures": _figures(content),
        "floor": content.get("floor", "sum"),
        "limited": dict(content["settings"]).get("constraints", "None") != "None",
        "same": SAME_RULES[content.get("identity", "thresholds")],
        "texts": texts,
        "shown": shown,
        "rules": _rules(content),
        "record": record,
        "found": record is not None or bool(content["folds"]),
        "observed": any(rule["n"] is not None for rule in content["rules"]),
        "has_training": any(point["training"] is not None for point in points),
        "evaluated": any(point["evaluated"] is not None for point in points),
        "fields": [
            _field(position, column) for position, column in enumerate(columns) if column["used"]
        ],
        "baselines": [{**baseline, **_tested(baseline)} for baseline in content["baselines"]],
        "used": [column for column in columns if column["used"]],
        "unused": [column for column in columns if not column["used"]],
        "min_rows": MIN_ROWS_SHOWN,
        "left_out": content.get("left_out", 0),
        "cut_short": content.get("cut_short", ()),
        "fold_gap": content.get("fold_gap"),
        "rare": _rare_levels(content),
    }


def _rare_levels(content: Content) -> str:
    """Return the levels of few rows that rules of the fitted model name."""
    rare = content.get("rare_levels", ())
    return ", ".join(f"{name} {label_words(level)}" for name, level in rare)


def _rows_in_words(data: Mapping[str, Any]) -> str:
    """Return how many rows there are, what whole weights make of them, and their groups."""
    words, groups, times = (
        f"{data['rows']:,} rows of data",
        data.get("groups"),
        data.get("repetitions"),
    )
    if times is not None and times != data["rows"]:
        words += f", which count as {times:,} by their weights"
    return words if groups is None else f"{words}, in {groups:,} groups"


def label_words(label: str | float | bool | None) -> str:
    """Return a level of a column as people write it."""
    if label is None:
        return "missing"
    if isinstance(label, bool):
        return "true" if label else "false"
    return repr(label).removesuffix(".0") if isinstance(label, float) else level_words(label)


# --- points and rules ---------------------------------------------------------------------------


def _point(content: Content, position: int, record: TrackRecord | None) -> dict[str, Any]:
    """Return the texts of a point, by the slot of the page that each stands in."""
    point = content["points"][position]
    certificate, tested = point["certificate"], point["evaluated"]
    # One number of decimals for all amounts of a point, so that a reader can add them up.
    decimals = _decimals(point)
    is_own = position == content["chosen"]
    own = record if is_own else None
    return {
        "point": f"point {position + 1}",
        "words": _point_words(position, len(content["points"]), point),
        "stability": percent(point["stability"]),
        "explained": _fit(point["explained"]),
        "training": fixed(point["training"], 3),
        "count": str(len(point["rules"])),
        **_tested(tested),
        **{key: certificate[key] for key in ("sentence", "status", "method")},
        "gap": _exact_percent(certificate["gap"]),
        "asked": _exact_percent(certificate["asked"]),
        "loss": number(point["loss"]),
        "bound": number(certificate["bound"]),
        "seconds": number(certificate["seconds"]),
        "stopped": NOTHING if tested is None else str(tested["stopped"]),
        "record": record_sentence(content, record, own=is_own),
        "base": amount(point["intercept"], decimals),
        "base_range": base_range(own, content["link"], decimals),
        "decimals": decimals,  # of the sums that the script writes
        "rules": _rows(content, point, decimals, own),
        "columns": _columns_used(content, point),
    }


def _rows(
    content: Content, point: Mapping[str, Any], decimals: int | None, record: TrackRecord | None
) -> list[dict[str, Any]]:
    """Return what the table of rules says of each rule at this point."""
    largest = max(map(abs, point["weights"]), default=0.0) or 1.0
    found = found_cells(content, point, record, decimals)
    return [
        {
            "rule": rule,
            "weight": amount(weight, decimals),
            "bar": _bar(weight, largest),
            "odds": odds_ratio(math.exp(min(weight, 700.0))),  # beyond, float64 overflows
            **cells,
        }
        for rule, weight, cells in zip(point["rules"], point["weights"], found, strict=True)
    ]


def _bar(weight: float, largest: float) -> dict[str, str]:
    """Return the attributes of the bar of a weight, which begins in the middle."""
    size = f"{100.0 * abs(weight) / largest:.1f}"
    if weight < 0.0:
        return {"class": "minus", "x": f"-{size}", "width": size}
    return {"class": "plus", "x": "0", "width": size}


def _columns_used(content: Content, point: Mapping[str, Any]) -> list[int]:
    """Return the positions of the columns that the rules of a point look at."""
    tests = (test for rule in point["rules"] for test in content["rules"][rule]["tests"])
    used = {test["feature"] for test in tests}
    columns = content["data"]["columns"]
    return [position for position, column in enumerate(columns) if column["name"] in used]


def _rules(content: Content) -> list[dict[str, Any]]:
    """Return what is the same of a rule at every point."""
    rules = content["rules"]
    decimals = decimals_for(rule["mean"] for rule in rules)
    return [
        {
            "pieces": _pieces(rule),
            "support": percent(rule["support"]),
            "proportion": percent(rule["proportion"]),
            **observed_cells(rule, content["link"], decimals),
        }
        for rule in rules
    ]


def _pieces(rule: Mapping[str, Any]) -> list[tuple[str, bool]]:
    """Return the text of a rule in pieces, and of each whether it must stand by itself.

    A name that is written from right to left would draw "<= 98" behind it to its left.
    """
    tests = rule["tests"]
    names = {name for test in tests for name in [test["feature"], *test.get("levels", [])]}
    # The longest first, or a name that begins another would cut it in two.
    turning = sorted((n for n in names if isinstance(n, str) and TURNING.search(n)), key=len)
    if not turning:
        return [(rule["text"], False)]
    pieces = re.split(f"({'|'.join(map(re.escape, reversed(turning)))})", rule["text"])
    return [(piece, place % 2 == 1) for place, piece in enumerate(pieces) if piece]


def _decimals(point: Mapping[str, Any]) -> int | None:
    """Return the decimals of all amounts of a point: those that the largest weight needs."""
    weights = [weight for weight in point["weights"] if weight]
    if abs(point["intercept"]) >= LARGEST:
        return None
    return decimals_for(weights or [point["intercept"]])


def _tested(evaluated: Mapping[str, Any] | None) -> dict[str, str]:
    """Return in words how a point or another method did in cross-validation."""
    if evaluated is None:
        return {"score": NOTHING, "dice": NOTHING, "tested_rules": NOTHING}
    score, dice = fixed(evaluated["score"], 3), fixed(evaluated["dice"], 2)
    if evaluated["score_se"] is not None:
        score += f" ± {fixed(evaluated['score_se'], 3)}"
    low, high = evaluated["dice_low"], evaluated["dice_high"]
    if low is not None and high is not None:
        dice += f" ({fixed(low, 2)} to {fixed(high, 2)})"
    return {"score": score, "dice": dice, "tested_rules": number(evaluated["rules"])}


# --- figures ------------------------------------------------------------------------------------


def fit_figure(
    stability: Sequence[float],
    explained: Sequence[float],
    *,
    chosen: int | None = None,
    knee: int | None = None,
    advised: int | None = None,
    proven: Sequence[bool] | None = None,
    floor: FloorKind = "sum",
) -> Figure:
    """Return fit, the share of the loss explained, against stability for points of a trade-off."""
    count = len(stability)
    shares = zip(stability, explained, strict=True)
    points = [{"stability": x, "explained": y} for x, y in shares]
    marks = tuple(
        Mark(
            x=point["stability"],
            y=point["explained"],
            kind="point" if proven is None or proven[i] else "unproven",
            title=_point_words(i, count, point),
            point=i,
            rings=_rings(i, {"chosen": chosen, "knee": knee, "advised": advised}),
        )
        for i, point in enumerate(points)
    )
    return Figure(
        name="fit",
        title="Fit against stability",
        description=(
            f"{count} points of the trade-off, from the most stable on the right to the one that "
            f"fits best on the left. {_named_points(marks)}"
        ),
        x=Axis.of(f"{SCORE_NAMES[floor]}, % of the maximum", stability, scale=100.0),
        y=Axis.of("fit, % of the loss explained", explained, scale=100.0),
        marks=marks,
        selected=chosen,
    )


def score_figure(content: Content) -> Figure | None:
    """Return the score on unseen rows against Dice; None where nothing was cross-validated."""
    points, score = content["points"], content["score"]
    marks: list[Mark] = []
    for i, point in enumerate(points):
        words = _point_words(i, len(points), point)
        rings = _rings(i, content)
        marks += _tested_mark(point["evaluated"], words, score, point=i, rings=rings)
    for baseline in content["baselines"]:
        marks += _tested_mark(baseline, baseline["name"], score, name=baseline["name"])
    if not marks:
        return None
    places = [place for mark in marks for place in mark.spread()]
    return Figure(
        name="score",
        title="Score against recurrence, on unseen rows",
        description=(
            "Points of the trade-off and other methods in cross-validation. " + _named_points(marks)
        ),
        x=Axis.of("recurrence of the rules (Dice)", [x for x, _ in places]),
        y=Axis.of(f"{score} on unseen rows", [y for _, y in places]),
        marks=tuple(marks),
        selected=content["chosen"],
    )


def _figures(content: Content) -> list[dict[str, str]]:
    points = content["points"]
    fit = fit_figure(
        [point["stability"] for point in points],
        [point["explained"] for point in points],
        chosen=content["chosen"],
        knee=content["knee"],
        advised=content["advised"],
        proven=[point["certificate"]["status"] == "optimal" for point in points],
        floor=content.get("floor", "sum"),
    )
    caption = "Further right is more stable, and higher fits better."
    if any(mark.kind == "unproven" for mark in fit.marks):
        caption += " At hollow dots the search stopped before the proof was complete."
    drawings = [_drawing(fit, caption)]
    score = score_figure(content)
    if score is not None:
        others = " Triangles are other methods." if content["baselines"] else ""
        caption = (
            "The same points in cross-validation: higher and further right is better. "
            f"Lines show how uncertain the labelled ones are.{others}"
        )
        drawings.append(_drawing(score, caption))
    return drawings


def _drawing(figure: Figure, caption: str) -> dict[str, str]:
    return {
        "title": figure.title,
        "caption": caption,
        "wide": figure.svg(*WIDE, suffix="-wide"),
        "narrow": figure.svg(*NARROW, suffix="-narrow"),
    }


def _tested_mark(
    evaluated: Mapping[str, Any] | None,
    words: str,
    score: str,
    *,
    point: int | None = None,
    rings: tuple[Ring, ...] = (),
    name: str = "",
) -> Iterator[Mark]:
    """Give the mark of a cross-validation, if both of its coordinates are known."""
    if evaluated is None or evaluated["score"] is None or evaluated["dice"] is None:
        return
    x, y, error = evaluated["dice"], evaluated["score"], evaluated["score_se"]
    ends = (evaluated["dice_low"], evaluated["dice_high"])
    yield Mark(
        x=x,
        y=y,
        kind="baseline" if point is None else "point",
        title=f"{words}; on unseen rows {score} {fixed(y, 3)}, Dice {fixed(x, 2)}",
        point=point,
        rings=rings,
        name=name,
        x_range=None if None in ends else ends,
        y_range=None if error is None else (y - error, y + error),
    )


def _rings(position: int, named: Mapping[str, Any]) -> tuple[Ring, ...]:
    """Return the rings of a point, by the positions of the named points."""
    ring_of: dict[str, Ring] = {"chosen": "fitted", "knee": "knee", "advised": "advised"}
    return tuple(ring for key, ring in ring_of.items() if named[key] == position)


def _named_points(marks: Iterable[Mark]) -> str:
    return " ".join(f"{mark.label}: {mark.title}." for mark in marks if mark.label)


# --- the case to try ----------------------------------------------------------------------------


def _field(position: int, column: Mapping[str, Any]) -> dict[str, Any]:
    """Return an input for a column: text for a number, else a list to choose from."""
    typical, quantiles = column["typical"], column["quantiles"]
    field = {"position": position, "name": column["name"], "kind": column["kind"], "hint": ""}
    if column["kind"] == "numeric":
        if quantiles is not None:
            low, high = number(quantiles[0]), number(quantiles[4])
            field["hint"] = f"range: {low} to {high}"
        text = "" if typical is None else label_words(typical)
        return {**field, "options": None, "typical": text}
    if column["kind"] == "boolean":
        options = [_option(label_words(label), label, typical) for label in (True, False)]
        return {**field, "options": _with_missing(options)}
    choices: Sequence[Any] = column["choices"] or []
    # By position: a level may be any text, and is not safe or unique as the value of an option.
    options = [_option(str(place), label, typical) for place, label in enumerate(choices)]
    return {**field, "options": [*_with_missing(options), OTHER]}


def _option(value: str, label: Any, typical: Any) -> dict[str, Any]:
    # True equals 1 in Python, and yet is another label.
    is_typical = type(label) is type(typical) and label == typical
    return {"value": value, "text": label_words(label), "typical": is_typical}


def _with_missing(options: list[dict[str, Any]]) -> list[dict[str, Any]]:
    known = any(option["typical"] for option in options)
    return [*options, {"value": "missing", "text": "missing", "typical": not known}]


# --- words --------------------------------------------------------------------------------------


def _point_words(position: int, count: int, point: Mapping[str, Any]) -> str:
    stability, fit = percent(point["stability"]), _fit(point["explained"])
    return f"point {position + 1} of {count}: stability score {stability}, fit {fit}"


def _fit(explained: float) -> str:
    # A decimal even where `percent` gives none: along the trade-off fits differ by little.
    return f"{fixed(100.0 * explained, 1)}{PERCENT}"


def _exact_percent(share: float | None) -> str:
    return NOTHING if share is None else f"{number(100.0 * share)}{PERCENT}"


def _count(number_of: int, name: str) -> str:
    words = "No" if number_of == 0 else str(number_of)
    return f"{words} {name}{'' if number_of == 1 else 's'}"


def _date(text: str) -> str:
    """Return a date and time of the form 2026-11-16T15:40:00Z for people."""
    return text.replace("T", " ").removesuffix("Z")[:16] + " UTC"


def _event(target: str | None, outcome: Any) -> str:
    """Return the event that a probability is of."""
    if outcome is None:
        return "the outcome" if target is None else target
    words = label_words(outcome)
    return words if target is None else f"{target} = {words}"
