"""JSON keeps every bit, and texts that are damaged in any way are refused."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mossrules import RuleSet
from mossrules.candidates.cuts import BinnedColumn, Binning
from mossrules.candidates.rules import Levels, Range, Rule
from mossrules.data.columns import Kind
from mossrules.exceptions import InvalidFile
from mossrules.model.json_schema import ruleset_schema, violation
from support.model_cases import (
    HOSTILE,
    finite,
    function_of,
    rulesets,
    wild_ruleset,
)


def bits(ruleset):
    """Return all numbers of a rule set as bytes, and the rest."""
    cuts = [column.cuts for column in ruleset.binning.columns]
    return (
        ruleset.weights.tobytes(), ruleset.support.tobytes(), ruleset.proportion.tobytes(),
        np.array([ruleset.intercept]).tobytes(), [np.array(each).tobytes() for each in cuts],
        ruleset.rules, ruleset.binning, ruleset.columns, ruleset.target,
        [[(type(level), level) for level in column.levels] for column in ruleset.binning.columns],
    )  # fmt: skip


@settings(deadline=None)
@given(rulesets())
def test_json_keeps_every_bit(ruleset):
    """Numbers, labels with their types, names of any kind."""
    text = ruleset.to_json()
    back = RuleSet.from_json(text)
    assert bits(back) == bits(ruleset)
    assert back.to_json() == text
    assert bits(RuleSet.from_json(text.encode())) == bits(ruleset)
    assert violation(json.loads(text), ruleset_schema()) is None


@pytest.mark.parametrize("seed", range(15))
def test_a_rule_set_predicts_the_same_after_a_round_trip(seed):
    """Predictions, explanations and all exports."""
    ruleset, later = wild_ruleset(seed)
    back = RuleSet.from_json(ruleset.to_json())
    np.testing.assert_array_equal(back.predict(later), ruleset.predict(later))
    assert back.to_python() == ruleset.to_python()
    assert back.to_sql() == ruleset.to_sql()
    assert back.to_text() == ruleset.to_text()


def read_or_refuse(text):
    """Read a text; if it is not refused properly, it is a rule set in every respect."""
    try:
        ruleset = RuleSet.from_json(text)
    except InvalidFile as error:
        message = str(error)
        assert message.endswith(".")
        assert len(message.splitlines()) == 1
        assert len(message) < 500
        return
    assert bits(RuleSet.from_json(ruleset.to_json())) == bits(ruleset)
    ruleset.to_text()
    function_of(ruleset)
    ruleset.explain(dict.fromkeys(ruleset.columns, None) or {"x": 1.0})


SAMPLES = [wild_ruleset(seed)[0].to_json() for seed in (1, 2, 5)]


@settings(deadline=None, max_examples=200)
@given(st.sampled_from(SAMPLES), st.data())
def test_damaged_text_is_refused(sample, data):
    """Whatever is cut out, put in or exchanged: a rule set is read, or InvalidFile raised."""
    start = data.draw(st.integers(0, len(sample)))
    stop = min(len(sample), start + data.draw(st.integers(0, 30)))
    put_in = data.draw(
        st.text(max_size=5)
        | st.sampled_from(["NaN", "1e999", "-1", "null", "{}", "[]", '"', "9" * 5000, "[" * 3000])
    )
    read_or_refuse(sample[:start] + put_in + sample[stop:])


fields = st.sampled_from(["feature", "low", "high", "missing", "levels", "inside", "number", "x"])
words = st.sampled_from([*HOSTILE[:3], "numeric", "ordered", "inf"])
scalars = st.one_of(st.none(), st.booleans(), st.integers(-3, 300), st.just(10**400), finite, words)
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(fields, inner, max_size=4),
    max_leaves=6,
)


def places(content, path=()):
    """Yield the paths of all values in a JSON value."""
    yield path
    items = content.items() if isinstance(content, dict) else ()
    items = enumerate(content) if isinstance(content, list) else items
    for key, value in items:
        yield from places(value, (*path, key))


@settings(deadline=None, max_examples=400)
@given(st.sampled_from(SAMPLES), st.data())
def test_damaged_values_are_refused(sample, data):
    """Values exchanged for others, left out, or repeated, anywhere."""
    content = json.loads(sample)
    for _ in range(data.draw(st.integers(1, 2))):
        *path, key = data.draw(st.sampled_from([path for path in places(content) if path]))
        parent = content
        for step in path:
            parent = parent[step]
        match data.draw(st.sampled_from(["exchange", "nudge", "remove", "repeat", "swap"])):
            case "exchange":
                parent[key] = data.draw(json_values)
            case "nudge" if isinstance(parent[key], int | float):
                parent[key] += data.draw(st.sampled_from([-1, 1, 0.5, -2, 100]))
            case "remove":
                del parent[key]
            case "repeat" if isinstance(parent, list):
                parent.append(parent[key])
            case "swap" if isinstance(parent, list):
                parent.reverse()
    read_or_refuse(json.dumps(content))


def changed(path, value):
    """Return the JSON of a small rule set in which one value is another."""
    columns = (
        BinnedColumn("x", Kind.NUMERIC, (0.5, 1.5)),
        BinnedColumn("c", Kind.CATEGORICAL, levels=("a", "b")),
        BinnedColumn("o", Kind.ORDERED, (0.0,), ("s", "m", "l")),
    )
    rules = (
        Rule.of([Range("x", low=2), Levels("c", frozenset("a"))]),
        Rule.of([Range("o", high=1)]),
    )
    ruleset = RuleSet(
        rules, [2.0, 1.0], 0.0, Binning(columns), ("x", "c", "o"), [0.5] * 2, [0.5] * 2
    )
    content = json.loads(ruleset.to_json())
    parent = content
    for step in path[:-1]:
        parent = parent[step]
    if value is ...:
        del parent[path[-1]]
    else:
        parent[path[-1]] = value
    return json.dumps(content)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["format"], "other", "not in the format 'mossrules rule set'"),
        (["version"], 2, "has format version 2 and this release reads version 1"),
        (["version"], True, "version must be 1"),
        (["intercept"], ..., "the whole lacks 'intercept'"),
        (["intercept"], "1", "intercept must be of type number"),
        (["intercept"], True, "intercept must be of type number"),
        (["intercept"], 10**400, "intercept must be between"),
        (["extra"], 1, "the whole has an unknown field 'extra'"),
        (["target"], 3, "target must be of type string or null"),
        (["columns"], ["x", "x", "c", "o"], "columns has an item twice"),
        (["columns"], ["x", "c"], "'o' is used by a rule and not among"),
        (["columns"], ["c", "x", "o"], "in another order than the columns"),
        (["rules"], [], "features that no rule uses"),
        (["rules", 0, "weight"], None, r"rules\[0\].weight must be of type number"),
        (["rules", 0, "support"], 1.5, r"rules\[0\].support must be between 0 and 1"),
        (["rules", 1, "proportion"], -1, r"rules\[1\].proportion must be between 0 and 1"),
        (["rules", 0, "conditions"], [], r"rules\[0\].conditions must have 1 or more items"),
        (["rules", 1, "conditions", 0, "low"], 2, "conditions on 'o' contradict each other"),
        (["rules", 1, "conditions", 0, "high"], 2, "has bins 1 to 2"),
        (["rules", 1, "conditions", 0, "low"], 1.5, "low must be of type integer"),
        (["rules", 1, "conditions", 0, "high"], 251, "high is of none of the kinds"),
        (
            ["rules", 1, "conditions", 0],
            {"feature": "o"},
            r"conditions\[0\] is of none of the kinds",
        ),
        (["rules", 1, "conditions", 0, "feature"], "y", "no column 'y'"),
        (["rules", 0, "conditions", 0, "levels"], ["z"], "'z', which is no level"),
        (["rules", 0, "conditions", 0, "levels"], ["a", "a"], "has a level twice"),
        (["rules", 0, "conditions", 0, "feature"], "z", "not in canonical form|no column"),
        (["features", 0, "kind"], "date", r"features\[0\].kind must be"),
        (["features", 0, "cuts"], [1.5, 0.5], "cuts that do not increase"),
        (["features", 0, "cuts"], [1.5, 1.5], "cuts that do not increase"),
        (["features", 0, "cuts"], list(range(250)), "at most 249"),
        (["features", 0, "levels"], ["a"], "levels, or none, unlike its kind"),
        (["features", 1, "levels"], [], "is no level of its column"),
        (["features", 1, "levels"], ["a", "b", "a"], "a level twice"),
        (["features", 1, "levels"], ["a", 1, True], "a level twice"),
        (["features", 1, "levels"], [None, "a"], "none of the kinds"),
        (["features", 1, "levels"], ["a", *range(250)], "more than 250 levels"),
        (["features", 1, "cuts"], [1.0], "cuts, or more than 250 levels"),
        (["features", 2, "cuts"], [0.5], "cuts that are not between two levels"),
        (["features", 2, "cuts"], [2.0], "cuts that are not between two levels"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(path, value, message):
    """In one sentence that names the place."""
    with pytest.raises(InvalidFile, match=message):
        RuleSet.from_json(changed(path, value))


@pytest.mark.parametrize(
    "text",
    ["", "3", "[]", "null", '{"format": 1}', "\ud800", b"\xff\xfe\x00", b"", None, 3, "[" * 100_000,
     '{"a": 1, "a": 2}', "NaN", "9" * 10_000],
)  # fmt: skip
def test_what_is_no_rule_set_at_all_is_refused(text):
    """Also what is no text."""
    with pytest.raises(InvalidFile, match="pass the whole text that to_json returned"):
        RuleSet.from_json(text)


def test_a_field_given_twice_is_refused():
    """Readers of JSON differ in which of two fields they take."""
    text = changed(["target"], "y").replace('"version": 1', '"version": 1, "version": 1')
    with pytest.raises(InvalidFile, match="a field appears twice"):
        RuleSet.from_json(text)


def test_files_may_be_written_by_others():
    """Whole numbers without a point, and rules in any order, are as good."""
    text = changed(["rules", 0, "weight"], 0)
    assert '"weight": 0,' in text
    ruleset = RuleSet.from_json(text)
    assert ruleset.weights.tolist() == [1.0, 0.0]
    assert ruleset.weights.dtype == np.float64
    assert RuleSet.from_json(changed(["rules", 1, "conditions", 0, "low"], 1.0)) == ruleset


def test_reading_executes_nothing():
    """A label that looks like a program stays a label."""
    evil = "__import__('os').system('false')"
    ruleset = RuleSet.from_json(changed(["target"], evil))
    assert ruleset.target == evil
    assert evil not in function_of(ruleset).__code__.co_names


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "integer"}, [3, 3.0], [3.5, True, "3", None, math.inf]),
        ({"type": "number"}, [3, 3.5], [True, "3", None, []]),
        ({"type": ["string", "null"]}, ["", None], [3, [], {}]),
        ({"type": "boolean"}, [True, False], [0, 1]),
        ({"const": 1}, [1, 1.0], [True, 2, "1"]),
        ({"enum": ["a", "b"]}, ["a"], ["c", None]),
        ({"minimum": 2, "maximum": 4}, [2, 4, 3.5, "x", True], [1.99, 4.01]),
        ({"anyOf": [{"type": "null"}, {"type": "number", "minimum": 0}]}, [None, 3], [-1, "x"]),
        ({"type": "array", "items": {"type": "null"}, "minItems": 1, "maxItems": 2},
         [[None], [None, None]], [[], [None] * 3, [1], {}]),
        ({"type": "array", "uniqueItems": True}, [[], ["a", "b"]], [["a", "a"]]),
        ({"type": "object", "required": ["a"], "properties": {"a": {"type": "null"}}},
         [{"a": None}, {"a": None, "b": 1}], [{}, {"a": 1}]),
        ({"additionalProperties": False, "properties": {"a": {}}}, [{}, {"a": 1}], [{"b": 1}]),
        ({"$ref": "#/$defs/share"}, [0, 1, 0.5], [2, -1, "x"]),
    ],
)  # fmt: skip
def test_the_schema_language_means_what_its_standard_says(schema, good, bad):
    """Each keyword that the published schema uses."""
    for value in good:
        assert violation(value, schema) is None
    for value in bad:
        assert violation(value, schema) is not None


def test_the_published_schema_uses_only_words_that_are_checked():
    """A keyword that we would pass over in silence would be a promise not kept."""
    known = {
        "$schema", "$defs", "$ref", "title", "description", "type", "const", "enum", "anyOf",
        "minimum", "maximum", "required", "properties", "additionalProperties", "items",
        "minItems", "maxItems", "uniqueItems",
    }  # fmt: skip

    def check(schema):
        assert set(schema) <= known
        if "$ref" in schema:
            assert set(schema) <= {"$ref", "description"}
            assert schema["$ref"].removeprefix("#/$defs/") in ruleset_schema()["$defs"]
        for each in (
            *schema.get("properties", {}).values(),
            *schema.get("$defs", {}).values(),
            *schema.get("anyOf", []),
            *([schema["items"]] if "items" in schema else []),
        ):
            check(each)

    check(ruleset_schema())
