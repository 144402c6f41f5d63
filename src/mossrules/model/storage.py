"""Rule sets as JSON, to keep and to deploy.

Numbers survive the round trip bit for bit. Whatever is wrong with a text, reading it raises
`InvalidFile` and nothing else.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from mossrules._typing import FloatArray
from mossrules.candidates.cuts import MAX_BINS, BinnedColumn, Binning
from mossrules.candidates.rules import OPEN, Condition, Levels, Range, Rule
from mossrules.data.columns import Kind, Label
from mossrules.exceptions import InvalidFile, MossError
from mossrules.model.calibration import Calibration
from mossrules.model.schema import ruleset_schema, violation
from mossrules.model.values import sorted_labels

if TYPE_CHECKING:
    from mossrules.model.ruleset import RuleSet

__all__ = ["REMEDY", "from_json", "parse_json", "to_json"]

FORMAT, VERSION = "mossrules rule set", 1
INFINITIES = {"inf": math.inf, "-inf": -math.inf}
REMEDY = "pass the whole text that to_json returned"


def to_json(ruleset: RuleSet) -> str:
    """Return a rule set as text."""
    figures = zip(
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
        "features": [_write_feature(column) for column in ruleset.binning.columns],
        "rules": [
            {
                "weight": weight,
                "support": support,
                "proportion": proportion,
                "conditions": [_write_condition(condition) for condition in rule.conditions],
            }
            for rule, weight, support, proportion in figures
        ],
    }
    return json.dumps(content, allow_nan=False, indent=2)


def from_json(cls: type[RuleSet], text: str | bytes) -> RuleSet:
    """Return the rule set of a text, or say what is wrong with it."""
    content = parse_json(text, FORMAT, VERSION)
    wrong = violation(content, ruleset_schema())
    if wrong is not None:
        raise InvalidFile(f"The rule set cannot be read, since {wrong}; {REMEDY}.")
    features = tuple(_read_feature(feature) for feature in content["features"])
    binning = Binning(features, content.get("named", True))
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
        )
    except MossError as reason:
        brief = str(reason).rstrip(".")[:200]
        raise InvalidFile(f"The rule set contradicts itself ({brief}); {REMEDY}.") from reason
    if ruleset.binning != binning:
        raise InvalidFile(
            "The rule set has features that no rule uses, or in another order than the columns; "
            f"{REMEDY}."
        )
    return ruleset


def _write_link(ruleset: RuleSet) -> dict[str, Any]:
    """Return what is there with a link only: rule sets without are as they always were."""
    if ruleset.link == "identity":
        return {}
    outcome = ruleset.outcome
    return {
        "link": ruleset.link,
        "outcome": None if outcome is None else _write_label(outcome),
        **_write_calibration(ruleset.calibration),
    }


def _write_calibration(calibration: Calibration | None) -> dict[str, Any]:
    if calibration is None:
        return {}
    names = ("positives", "negatives")
    return {"calibration": {name: list(getattr(calibration, name)) for name in names}}


def _read_calibration(content: Mapping[str, Any] | None) -> Calibration | None:
    if content is None:
        return None
    return Calibration(tuple(content["positives"]), tuple(content["negatives"]))


def _read_outcome(content: Any) -> Label | None:
    return None if content is None else _read_label(content)


def _floats(rules: Sequence[Mapping[str, Any]], field: str) -> FloatArray:
    return np.array([float(rule[field]) for rule in rules], dtype=np.float64)


def parse_json(text: str | bytes, form: str, current: int) -> Mapping[str, Any]:
    """Return an object of JSON that says it is of this format and version."""
    if not isinstance(text, str | bytes):
        raise InvalidFile(f"A rule set is read from text and not from {type(text)}; {REMEDY}.")
    try:
        content = json.loads(text, object_pairs_hook=_unrepeated, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as reason:
        raise InvalidFile(f"The text is not JSON ({reason}); {REMEDY}.") from reason
    if not isinstance(content, dict) or content.get("format") != form:
        raise InvalidFile(f"The JSON is not a {form}; {REMEDY}.")
    version = content.get("version")
    if version != current:
        raise InvalidFile(
            f"The rule set has format version {repr(version)[:50]} and this release reads version "
            f"{current}; use the release that wrote it."
        )
    return content


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse an object in which a field is there twice: readers differ in which one they take."""
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError("a field is there twice")
    return content


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON")


# --- features and conditions ----------------------------------------------------------------------


def _write_feature(column: BinnedColumn) -> dict[str, Any]:
    return {
        "name": column.name,
        "kind": column.kind.value,
        "cuts": list(column.cuts),
        "levels": [_write_label(level) for level in column.levels],
    }


def _read_feature(content: Mapping[str, Any]) -> BinnedColumn:
    name, kind = content["name"], Kind(content["kind"])
    cuts = tuple(float(cut) for cut in content["cuts"])
    levels = tuple(_read_label(level) for level in content["levels"])
    wrong = None
    if any(low >= high for low, high in pairwise(cuts)):
        wrong = "cuts that do not increase"
    elif len(set(levels)) < len(levels):
        wrong = "a level twice"
    elif (kind in (Kind.CATEGORICAL, Kind.ORDERED)) != bool(levels):
        wrong = "levels, or none, unlike its kind"
    elif kind is Kind.CATEGORICAL and (cuts or len(levels) > MAX_BINS):
        wrong = f"cuts, or more than {MAX_BINS} levels"
    elif kind is Kind.ORDERED and any(cut not in range(len(levels) - 1) for cut in cuts):
        wrong = "cuts that are not between two levels"
    if wrong is not None:
        raise InvalidFile(f"Feature {name[:50]!r} has {wrong}; {REMEDY}.")
    return BinnedColumn(name, kind, cuts, levels)


def _write_condition(condition: Condition) -> dict[str, Any]:
    if isinstance(condition, Range):
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
    if isinstance(level, float) and math.isinf(level):
        return {"number": repr(level)}
    return level


def _read_label(content: Any) -> Label:
    label: Label = INFINITIES[content["number"]] if isinstance(content, dict) else content
    return label
