"""The published schema of rule sets, and what a JSON value has that it does not allow.

The part of the schema language that it is written in is checked here, in a few functions;
`jsonschema` would be one more library to depend on.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = ["Schema", "ruleset_schema", "violation"]

Schema = Mapping[str, Any]


@cache
def ruleset_schema() -> Schema:
    """Return the schema of rule sets as JSON."""
    text = files("mossrules.model").joinpath("ruleset.schema.json").read_text(encoding="utf-8")
    schema: Schema = json.loads(text)
    return schema


def violation(value: Any, schema: Schema, path: str = "") -> str | None:
    """Return what is wrong with a JSON value and where, or None.

    `schema` may use: $ref, anyOf, const, enum, type, minimum, maximum, required, properties,
    additionalProperties (false), items, minItems, maxItems and uniqueItems (of strings).
    """
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        return violation(value, ruleset_schema()["$defs"][name], path)
    return next(_violations(value, schema, path), None)


def _violations(value: Any, schema: Schema, path: str) -> Iterator[str]:
    where = path or "the whole"
    reasons = [violation(value, choice, path) for choice in schema.get("anyOf", [])]
    if reasons and all(reasons):
        # What is wrong further inside tells more: the value was of that kind, but for this.
        inside = (reason for reason in filter(None, reasons) if reason.startswith(f"{path}."))
        yield next(inside, f"{where} is of none of the kinds it may be")
    allowed = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if allowed is not None and not any(_is_same(value, each) for each in allowed):
        yield f"{where} must be {' or '.join(map(json.dumps, allowed))}"
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_is_kind(value, kind) for kind in kinds):
        yield f"{where} must be of type {' or '.join(kinds)}"
    elif _is_kind(value, "number"):
        low, high = schema.get("minimum", value), schema.get("maximum", value)
        if not low <= value <= high:
            yield f"{where} must be between {low} and {high}"
    elif isinstance(value, dict):
        yield from _violations_of_object(value, schema, path)
    elif isinstance(value, list):
        yield from _violations_of_array(value, schema, path)


def _violations_of_object(value: Mapping[str, Any], schema: Schema, path: str) -> Iterator[str]:
    properties = schema.get("properties", {})
    for name in schema.get("required", []):
        if name not in value:
            yield f"{path or 'the whole'} lacks {name!r}"
    for name, field in value.items():
        if name in properties:
            reason = violation(field, properties[name], f"{path}.{name}".lstrip("."))
            if reason is not None:
                yield reason
        elif schema.get("additionalProperties") is False:
            yield f"{path or 'the whole'} has an unknown field {name[:50]!r}"


def _violations_of_array(value: list[Any], schema: Schema, path: str) -> Iterator[str]:
    minimum, maximum = schema.get("minItems", 0), schema.get("maxItems", len(value))
    if not minimum <= len(value) <= maximum:
        yield f"{path} must have {minimum} or more items and at most {maximum}"
    for number, item in enumerate(value):
        reason = violation(item, schema.get("items", {}), f"{path}[{number}]")
        if reason is not None:
            yield reason
    if schema.get("uniqueItems") and len(set(value)) < len(value):
        yield f"{path} has an item twice"


def _is_kind(value: Any, kind: str) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    match kind:
        case "number":
            return is_number
        case "integer":
            # 3.0 is one to JSON, whose numbers have one type; int(value) would fail for infinity.
            return is_number and value == value // 1
        case "null":
            return value is None
    types = {"object": dict, "array": list, "string": str, "boolean": bool}
    return isinstance(value, types[kind])


def _is_same(value: Any, other: Any) -> bool:
    """Tell whether two JSON scalars are equal: true is not 1."""
    return isinstance(value, bool) == isinstance(other, bool) and bool(value == other)
