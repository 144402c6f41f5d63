"""Rule sets as JSON, to keep and to deploy: how they are written, checked and read.

Numbers survive the round trip bit for bit: JSON writes the shortest text that reads back as the
same double. Whatever is wrong with a text, reading it raises `InvalidFile` and nothing else.

`ruleset.schema.json` is the published JSON schema, and what is published is what is checked
(`json_schema.py`): there is no second list of fields to keep in step. A change of the format needs
a new version in the schema and here, and texts of older ones must still be read.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from mossrules._typing import FloatArray
from mossrules.candidates.cuts import MAX_BINS, BinnedColumn, Binning
from mossrules.candidates.rules import OPEN, Condition, Levels, Range, Rule
from mossrules.checkpoint import parse_document, refuse_damage
from mossrules.data.columns import NUMBERS, Kind, Label
from mossrules.data.reading import Reading
from mossrules.data.values import Family, families_of
from mossrules.exceptions import InvalidFile, MossError
from mossrules.model.calibration import Calibration
from mossrules.model.events import Events
from mossrules.model.json_schema import ruleset_schema, violation
from mossrules.model.track_record import TrackRecord
from mossrules.model.values import sorted_labels

if TYPE_CHECKING:
    from mossrules.model.ruleset import RuleSet

__all__ = [
    "CLASSES_FORMAT",
    "classes_from_json",
    "classes_to_json",
    "from_json",
    "to_json",
]

FORMAT, VERSION = "mossrules rule set", 1
CLASSES_FORMAT, CLASSES_VERSION = "mossrules rule sets", 1
INFINITIES = {"inf": math.inf, "-inf": -math.inf}
REMEDY = "pass the whole text that to_json returned"


def to_json(ruleset: RuleSet) -> str:
    """Return a rule set as text."""
    rows = zip(
        ruleset.rules,
        ruleset.weights.tolist(),
        ruleset.support.tolist(),
        ruleset.proportion.tolist(),
        strict=True,
    )
    content = {
        "format": FORMAT,
        "version": VERSION,
        "target": ruleset.target,
        **_write_link(ruleset),
        "intercept": ruleset.intercept,
        "columns": list(ruleset.columns),
        "named": ruleset.binning.named,
        **_write_reading(ruleset.reading),
        "features": [_write_feature(column) for column in ruleset.binning.columns],
        "rules": [
            {
                "weight": weight,
                "support": support,
                "proportion": proportion,
                "conditions": [_write_condition(condition) for condition in rule.conditions],
            }
            for rule, weight, support, proportion in rows
        ],
    }
    if ruleset.track_record is not None:
        content["track_record"] = ruleset.track_record.to_dict()
    return json.dumps(content, allow_nan=False, indent=2)


def from_json(cls: type[RuleSet], text: str | bytes) -> RuleSet:
    """Return the rule set of a text, or say what is wrong with it."""
    content = parse_document(text, "The text", REMEDY, FORMAT, VERSION)
    wrong = violation(content, ruleset_schema())
    if wrong is not None:
        raise InvalidFile(f"The rule set cannot be read, since {wrong}; {REMEDY}.")
    features = tuple(_read_feature(feature) for feature in content["features"])
    binning = Binning(features, content.get("named", True), _read_reading(content.get("reading")))
    rules = tuple(
        Rule(tuple(map(_read_condition, rule["conditions"]))) for rule in content["rules"]
    )
    try:
        ruleset = cls(
            rules=rules,
            weights=_floats(content["rules"], "weight"),
            intercept=float(content["intercept"]),
            binning=binning,
            columns=tuple(content["columns"]),
            support=_floats(content["rules"], "support"),
            proportion=_floats(content["rules"], "proportion"),
            target=content["target"],
            link=content.get("link", "identity"),
            outcome=_read_outcome(content.get("outcome")),
            calibration=_read_calibration(content.get("calibration")),
            track_record=_read_record(content.get("track_record")),
            events=_read_events(content.get("events")),
        )
    except MossError as reason:
        brief = str(reason).rstrip(".")[:200]
        raise InvalidFile(f"The rule set contradicts itself ({brief}); {REMEDY}.") from reason
    # The constructor drops features that no rule uses and sorts the rest. To accept a text in which
    # that changes something would be to hide that somebody has edited it by halves.
    if ruleset.binning != binning:
        raise InvalidFile(
            "The rule set has features that no rule uses, or in another order than the columns; "
            f"{REMEDY}."
        )
    return ruleset


def classes_to_json(by_class: Mapping[Label, RuleSet]) -> str:
    """Return the rule sets of several classes as text."""
    parts = [json.loads(to_json(ruleset)) for ruleset in by_class.values()]
    content = {"format": CLASSES_FORMAT, "version": CLASSES_VERSION, "rule_sets": parts}
    return json.dumps(content, allow_nan=False, indent=2)


def classes_from_json(text: str | bytes, read: Callable[[str], RuleSet]) -> dict[Label, RuleSet]:
    """Return the rule sets of a text by class; `read` gives the rule set of the text of one."""
    content = parse_document(text, "The text", REMEDY, CLASSES_FORMAT, CLASSES_VERSION)
    parts = content.get("rule_sets")
    if set(content) != {"format", "version", "rule_sets"} or not isinstance(parts, list):
        raise InvalidFile(f"The JSON has other fields than rule sets have; {REMEDY}.")
    # As text again, so that there is one way in, and one set of checks, for every rule set.
    rulesets = [read(json.dumps(part)) for part in parts]
    by_class = {ruleset.outcome: ruleset for ruleset in rulesets if ruleset.outcome is not None}
    if len(by_class) < max(2, len(rulesets)) or any(each.link != "logit" for each in rulesets):
        raise InvalidFile(f"The rule sets are not those of two classes or more; {REMEDY}.")
    return by_class


# --- what only rule sets with a link have ---------------------------------------------------------


def _write_link(ruleset: RuleSet) -> dict[str, Any]:
    """Return the fields that only a link other than "identity" needs."""
    if ruleset.link == "identity":
        return {}
    outcome = ruleset.outcome
    return {
        "link": ruleset.link,
        "outcome": None if outcome is None else _write_label(outcome),
        **_write_calibration(ruleset.calibration),
        **({} if ruleset.events is None else {"events": ruleset.events._asdict()}),
    }


def _write_reading(reading: Reading) -> dict[str, Any]:
    said = reading.to_dict()
    return {"reading": said} if said else {}


def _read_reading(content: Mapping[str, Any] | None) -> Reading:
    try:
        return Reading.from_dict(content or {})
    except MossError as reason:
        brief = str(reason).rstrip(".")[:200]
        raise InvalidFile(
            f"The reading of the rule set is damaged ({brief}); {REMEDY}."
        ) from reason


def _write_calibration(calibration: Calibration | None) -> dict[str, Any]:
    if calibration is None:
        return {}
    names = ("positives", "negatives")
    return {"calibration": {name: list(getattr(calibration, name)) for name in names}}


def _read_calibration(content: Mapping[str, Any] | None) -> Calibration | None:
    if content is None:
        return None
    return Calibration(tuple(content["positives"]), tuple(content["negatives"]))


def _read_events(content: Mapping[str, Any] | None) -> Events | None:
    return None if content is None else Events(content["outcome"], content["others"])


def _read_record(content: Mapping[str, Any] | None) -> TrackRecord | None:
    if content is None:
        return None
    with refuse_damage("The track record of the rule set is damaged", REMEDY):
        return TrackRecord.from_dict(content)


def _read_outcome(content: Any) -> Label | None:
    return None if content is None else _read_label(content)


def _floats(rules: Sequence[Mapping[str, Any]], field: str) -> FloatArray:
    return np.array([float(rule[field]) for rule in rules], dtype=np.float64)


# --- features and conditions ----------------------------------------------------------------------


def _write_feature(column: BinnedColumn) -> dict[str, Any]:
    content = {
        "name": column.name,
        "kind": column.kind.value,
        "cuts": list(column.cuts),
        "levels": [_write_label(level) for level in column.levels],
    }
    # Levels that are not kept may have been of a type that no other is of.
    if column.families != families_of(column.levels):
        content["types"] = sorted(map(str, column.families))
    return content


def _read_feature(content: Mapping[str, Any]) -> BinnedColumn:
    name, kind = content["name"], Kind(content["kind"])
    cuts = tuple(float(cut) for cut in content["cuts"])
    levels = tuple(_read_label(level) for level in content["levels"])
    wrong = None
    if any(low >= high for low, high in pairwise(cuts)):
        wrong = "cuts that do not increase"
    elif len(set(levels)) < len(levels):
        wrong = "a level twice"
    elif (kind is Kind.ORDERED and not levels) or (kind in NUMBERS and levels):
        wrong = "levels, or none, unlike its kind"
    elif kind is Kind.CATEGORICAL and (cuts or len(levels) > MAX_BINS):
        wrong = f"cuts, or more than {MAX_BINS} levels"
    elif kind is Kind.ORDERED and any(cut not in range(len(levels) - 1) for cut in cuts):
        wrong = "cuts that are not between two levels"
    if wrong is not None:
        raise InvalidFile(f"Feature {name[:50]!r} has {wrong}; {REMEDY}.")
    families = frozenset(map(Family, content.get("types", ())))
    return BinnedColumn(name, kind, cuts, levels, families=families)


def _write_condition(condition: Condition) -> dict[str, Any]:
    if isinstance(condition, Range):
        # Null and not OPEN, a number that means something to this program only.
        return {
            "feature": condition.feature,
            "low": condition.low,
            "high": None if condition.high == OPEN else condition.high,
            "missing": condition.missing,
        }
    levels = [None if level is None else _write_label(level) for level in sorted_labels(condition)]
    return {"feature": condition.feature, "levels": levels, "inside": condition.inside}


def _read_condition(content: Mapping[str, Any]) -> Condition:
    if "low" in content:
        high = OPEN if content["high"] is None else int(content["high"])
        return Range(content["feature"], int(content["low"]), high, content["missing"])
    levels = [None if level is None else _read_label(level) for level in content["levels"]]
    if len(set(levels)) < len(levels):
        raise InvalidFile(
            f"A condition on {content['feature'][:50]!r} has a level twice; {REMEDY}."
        )
    return Levels(content["feature"], frozenset(levels), content["inside"])


def _write_label(level: Label) -> Any:
    # An object, as a text would be taken for a label that says "inf".
    if isinstance(level, float) and math.isinf(level):
        return {"number": repr(level)}
    return level


def _read_label(content: Any) -> Label:
    label: Label = INFINITIES[content["number"]] if isinstance(content, dict) else content
    return label
