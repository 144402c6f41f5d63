"""Exported Python computes what `predict` does, and takes names and labels for data."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

from mossrules import RuleSet
from mossrules.candidates.cuts import BinnedColumn, Binning
from mossrules.candidates.rules import Levels, Range, Rule
from mossrules.data.columns import Kind
from mossrules.exceptions import InvalidParameter
from support.model_cases import (
    HOSTILE,
    MAKERS,
    _measured,
    function_of,
    on_names,
    records,
    rulesets,
    wild_ruleset,
)


@pytest.mark.parametrize("seed", range(40))
def test_the_exported_function_computes_what_predict_does(seed):
    """On rows of all kinds, bit for bit."""
    makers = (_measured, *MAKERS) if seed % 2 else MAKERS
    ruleset, later = wild_ruleset(seed, makers)
    function = function_of(ruleset)
    found = [function(row) for row in records(later, np.random.default_rng(seed))]
    assert {type(each) for each in found} == {float}
    np.testing.assert_array_equal(found, ruleset.predict(later))


@pytest.mark.parametrize("name", HOSTILE)
def test_names_and_labels_are_only_data_to_python(name):
    """A column may be called like the parameter, like a variable, or like a piece of code."""
    column = BinnedColumn(name, Kind.CATEGORICAL, levels=(name, "other"))
    rule = Rule.of([Levels(name, frozenset([name]))])
    ruleset = RuleSet((rule,), [1.0], 0.0, Binning((column,)), (name,), [0.5], [0.5], target=name)
    function = function_of(ruleset)
    assert [function({name: value}) for value in (name, "other", "unseen", None)] == [1, 0, 0, 0]


@settings(deadline=None, max_examples=60)
@given(rulesets())
def test_any_rule_set_is_valid_python(ruleset):
    """Also with names and labels that nobody would think of."""
    function = function_of(ruleset, "f")
    nothing = dict.fromkeys(ruleset.columns)
    assert function(nothing) == ruleset.explain(nothing).prediction


def test_the_exported_function_refuses_what_predict_refuses():
    """Text for numbers, numbers for text, infinities and columns that are not there."""
    columns = (
        BinnedColumn("x", Kind.NUMERIC, (0.5,)),
        BinnedColumn("c", Kind.CATEGORICAL, levels=("a", "b")),
    )
    rules = (Rule.of([Range("x", low=2)]), Rule.of([Levels("c", frozenset("a"))]))
    ruleset = RuleSet(rules, [1.0, 2.0], 0.0, Binning(columns), ("x", "c"), [0.5] * 2, [0.5] * 2)
    function = function_of(ruleset)
    assert function({"x": np.float32(0.6), "c": np.str_("a")}) == 3.0
    assert function({"x": pd.NA, "c": pd.NA}) == 0.0
    assert function({"x": pd.NaT, "c": math.nan}) == 0.0
    assert function({"x": True, "c": "?"}) == 1.0
    for row, error in [
        ({"x": "1", "c": "a"}, TypeError),
        ({"x": 1.0, "c": 3}, TypeError),
        ({"x": math.inf, "c": "a"}, ValueError),
        ({"x": -math.inf, "c": "a"}, ValueError),
        ({"x": 1.0}, KeyError),
    ]:
        with pytest.raises(error, match=r"c|x"):
            function(row)


def test_the_function_can_have_any_name_that_python_leaves_free():
    """Not a keyword, nor a built-in that the function itself may need, nor something else."""
    ruleset = on_names(["a"])
    for name in ("f", "row", "total", "number", "v0", "größe"):
        assert function_of(ruleset, name)({"a": 1.0}) == 11.0
    for name in ("class", "float", "type", "1st", "a b", "", "f(row): pass\ndef g"):
        with pytest.raises(InvalidParameter, match="pass an identifier"):
            ruleset.to_python(name)


def test_no_rules_are_a_function_too():
    """Which returns the intercept for any row."""
    empty = RuleSet((), [], 1.5, Binning(()), (), [], [])
    assert function_of(empty)({}) == 1.5
    assert RuleSet.from_json(empty.to_json()).to_json() == empty.to_json()
    assert "(intercept)" in empty.to_text()
