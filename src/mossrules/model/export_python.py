"""Rule sets as Python: the source of a function that needs no library.

It adds the same doubles in the same order as `RuleSet.predict`, so sums are the same in every bit.
Weights and cuts are written by `repr`, whose text Python reads back as the same double. Names of
columns stand in the source as literals only, never as identifiers, whatever they are made of.
"""

from __future__ import annotations

import builtins
import keyword
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from mossrules.candidates.cuts import BinnedColumn
from mossrules.candidates.rules import Levels
from mossrules.candidates.thresholds import readable
from mossrules.data.columns import NUMBERS, Kind
from mossrules.data.values import Label
from mossrules.exceptions import InvalidParameter
from mossrules.model.export_text import event_text, one_line
from mossrules.model.values import Interval, Test, sorted_labels, value_test

if TYPE_CHECKING:
    from mossrules.model.ruleset import RuleSet

__all__ = ["classes_to_python", "to_python"]

HEAD = '''\
def {name}(row):
    """Return {what} for a row: a mapping from column names to values.

    A missing value is None or NaN; a column that is not there is a KeyError.
    """
'''

# pandas' NA and NaT are told by the names of their types: pandas is not imported for them. What
# differs from itself is NaN.
IS_MISSING = """\
    def is_missing(value):
        unknown = type(value).__name__ in ("NAType", "NaTType")
        return value is None or unknown or value != value

"""

NUMBER = """\
    def number(column, truth=False):
        value = row[column]
        if is_missing(value):
            return float("nan")
        if isinstance(value, (str, bytes)):
            raise TypeError(f"Column {column!r} was numeric in training and is text now.")
        value = float(value)
        if value in (float("inf"), float("-inf")):
            raise ValueError(f"Column {column!r} is infinite; pass None for missing.")
        if truth and value not in (0.0, 1.0):
            raise ValueError(f"Column {column!r} was boolean in training and is {value} now.")
        return value

"""

LABEL = """\
    def label(column, *known):
        value = row[column]
        if is_missing(value):
            return None
        found = "numbers"
        if isinstance(value, str):
            found = "text"
        elif type(value).__name__ in ("bool", "bool_"):
            found = "truth values"
        elif known == ("truth values",) and value in (0, 1):
            found = "truth values"
        if found not in known:
            known = " and ".join(known)
            raise TypeError(f"Column {column!r} was {known} in training and is {found} now.")
        return value

"""

# Without an overflow for any sum: exp is only ever taken of what is not above 0.
PROBABILITY = """\
    from math import exp

    odds = exp(-abs(total))
    return (1.0 if total > 0 else odds) / (1.0 + odds)
"""


def to_python(ruleset: RuleSet, name: str) -> str:
    """Return the source of a function `name`."""
    _check_name(name)
    columns = ruleset.binning.columns
    variables = {column.name: f"v{number}" for number, column in enumerate(columns)}
    is_probability = ruleset.link == "logit"
    what = "the prediction"
    if is_probability:
        event = event_text(ruleset.target, ruleset.outcome)
        what = _in_docstring(f"the probability of {event}")
    parts = [HEAD.format(name=name, what=what)]
    if columns:
        parts.append(IS_MISSING)
    if any(column.kind in NUMBERS for column in columns):
        parts.append(NUMBER)
    if any(column.kind not in NUMBERS for column in columns):
        parts.append(LABEL)
    parts += [f"    {variables[column.name]} = {_read(column)}\n" for column in columns]
    # One `if` for each rule, with its text above it: the source is to be read and audited too. A
    # loop over a table of rules would be shorter and say nothing to a reader.
    parts.append(f"    total = {ruleset.intercept!r}\n")
    weights = ruleset.weights.tolist()
    for rule, text, weight in zip(ruleset.rules, ruleset.texts, weights, strict=True):
        tests = [
            value_test(condition, ruleset.binning[condition.feature])
            for condition in rule.conditions
        ]
        holds = " and ".join(_test(test, variables[test.feature]) for test in tests)
        parts.append(f"    # {one_line(text)}\n    if {holds}:\n        total += {weight!r}\n")
    return "".join([*parts, PROBABILITY if is_probability else "    return total\n"])


def _in_docstring(text: str) -> str:
    """Return text that stays what it is in a docstring."""
    return one_line(text).replace("\\", "\\\\").replace('"', '\\"')


def classes_to_python(by_class: Mapping[Label, RuleSet], name: str, minimum: float) -> str:
    """Return the source of a function `name` from a row to a dict of the classes' probabilities.

    A probability counts for no less than `minimum`.
    """
    _check_name(name)
    parts = [
        to_python(ruleset, f"{name}_{number}") for number, ruleset in enumerate(by_class.values())
    ]
    calls = "".join(
        f"        {label!r}: max({name}_{number}(row), {minimum!r}),\n"
        for number, label in enumerate(by_class)
    )
    parts.append(
        f"def {name}(row):\n"
        '    """Return the probability of each class for a row, as a dict."""\n'
        f"    alone = {{\n{calls}    }}\n"
        "    total = sum(alone.values())\n"
        "    return {label: value / total for label, value in alone.items()}\n"
    )
    return "\n\n".join(parts)


def _check_name(name: str) -> None:
    """Refuse what cannot be the name of a function, or would hide what the function calls."""
    if not isinstance(name, str):
        raise InvalidParameter(f"name is of type {type(name).__name__}; pass text.")
    if not name.isidentifier() or keyword.iskeyword(name) or hasattr(builtins, name):
        raise InvalidParameter(
            f"name is {name!r}; pass an identifier that is not a word of Python itself."
        )


def _read(column: BinnedColumn) -> str:
    if column.kind in NUMBERS:
        return f"number({column.name!r}{', truth=True' if column.kind is Kind.BOOLEAN else ''})"
    known = (repr(str(family)) for family in sorted(column.families))
    return f"label({', '.join([repr(column.name), *known])})"


def _test(test: Test, variable: str) -> str:
    return _interval(test, variable) if isinstance(test, Interval) else _levels(test, variable)


def _interval(test: Interval, variable: str) -> str:
    """Return a test of a number, which fails for NaN unless missing values pass."""
    # No comparison holds for NaN, so bounds need no test for it beside them. `v == v` is for a
    # condition that only missing values fail.
    inside = variable
    if test.most is not None:
        most, is_inside = readable(test.most)
        inside = f"{inside} {'<=' if is_inside else '<'} {most!r}"
    if test.above is not None:
        least, is_outside = readable(test.above)
        if test.most is None:
            inside = f"{variable} {'>' if is_outside else '>='} {least!r}"
        else:
            inside = f"{least!r} {'<' if is_outside else '<='} {inside}"
    elif test.most is None:
        inside = f"{variable} == {variable}"
    if not test.missing:
        return inside
    missing = f"{variable} != {variable}"
    return f"({inside} or {missing})" if test.present else missing


def _levels(test: Levels, variable: str) -> str:
    labels = "".join(f"{_literal(level)}, " for level in sorted_labels(test))
    return f"{variable} {'in' if test.inside else 'not in'} ({labels.rstrip()})"


def _literal(level: Label | None) -> str:
    if isinstance(level, float) and math.isinf(level):
        return f'float("{level!r}")'
    return repr(level)
