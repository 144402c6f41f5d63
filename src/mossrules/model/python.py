"""Rule sets as Python: the source of one function that needs no library."""

from __future__ import annotations

import builtins
import keyword
import math
from typing import TYPE_CHECKING

from mossrules.candidates.cuts import BinnedColumn
from mossrules.candidates.rules import Levels
from mossrules.data.columns import NUMBERS, Label
from mossrules.exceptions import InvalidParameter
from mossrules.model.formatting import one_line
from mossrules.model.values import Interval, Test, sorted_labels, value_test

if TYPE_CHECKING:
    from mossrules.model.ruleset import RuleSet

__all__ = ["check_name", "to_python"]

HEAD = '''\
def {name}(row):
    """Return {what} for a row: a mapping from column names to values.

    A missing value is None or NaN; a column that is not there is a KeyError.
    """
'''

IS_MISSING = """\
    def is_missing(value):
        unknown = type(value).__name__ in ("NAType", "NaTType")
        return value is None or unknown or value != value

"""

NUMBER = """\
    def number(column):
        value = row[column]
        if is_missing(value):
            return float("nan")
        if isinstance(value, (str, bytes)):
            raise TypeError(f"Column {column!r} was numeric in training and is text now.")
        value = float(value)
        if value in (float("inf"), float("-inf")):
            raise ValueError(f"Column {column!r} is infinite; pass None for missing.")
        return value

"""

LABEL = """\
    def label(column, numeric=False):
        value = row[column]
        if is_missing(value):
            return None
        if not numeric and not isinstance(value, str):
            raise TypeError(f"Column {column!r} was text in training and is not now.")
        return value

"""

# Without an overflow for any sum.
PROBABILITY = """\
    from math import exp

    odds = exp(-abs(total))
    return (1.0 if total > 0 else odds) / (1.0 + odds)
"""


def to_python(ruleset: RuleSet, name: str) -> str:
    """Return the source of a function `name`."""
    check_name(name)
    columns = ruleset.binning.columns
    variables = {column.name: f"v{number}" for number, column in enumerate(columns)}
    is_probability = ruleset.link == "logit"
    what = "the probability" if is_probability else "the prediction"
    parts = [HEAD.format(name=name, what=what)]
    if columns:
        parts.append(IS_MISSING)
    if any(column.kind in NUMBERS for column in columns):
        parts.append(NUMBER)
    if any(column.kind not in NUMBERS for column in columns):
        parts.append(LABEL)
    parts += [f"    {variables[column.name]} = {_read(column)}\n" for column in columns]
    parts.append(f"    total = {ruleset.intercept!r}\n")
    weights = ruleset.weights.tolist()
    for rule, text, weight in zip(ruleset.rules, ruleset.texts, weights, strict=True):
        tests = [value_test(each, ruleset.binning[each.feature]) for each in rule.conditions]
        holds = " and ".join(_test(test, variables[test.feature]) for test in tests)
        parts.append(f"    # {one_line(text)}\n    if {holds}:\n        total += {weight!r}\n")
    return "".join([*parts, PROBABILITY if is_probability else "    return total\n"])


def check_name(name: str) -> None:
    """Refuse what cannot be the name of a function."""
    if not name.isidentifier() or keyword.iskeyword(name) or hasattr(builtins, name):
        raise InvalidParameter(
            f"name is {name!r}; pass an identifier that is not a word of Python itself."
        )


def _read(column: BinnedColumn) -> str:
    if column.kind in NUMBERS:
        return f"number({column.name!r})"
    numeric = any(not isinstance(level, str) for level in column.levels)
    return f"label({column.name!r}{', numeric=True' if numeric else ''})"


def _test(test: Test, variable: str) -> str:
    return _interval(test, variable) if isinstance(test, Interval) else _levels(test, variable)


def _interval(test: Interval, variable: str) -> str:
    """Return a test that NaN, which no comparison holds for, fails unless it says otherwise."""
    match test.above, test.most:
        case None, None:
            inside = f"{variable} == {variable}"
        case above, None:
            inside = f"{variable} > {above!r}"
        case None, most:
            inside = f"{variable} <= {most!r}"
        case above, most:
            inside = f"{above!r} < {variable} <= {most!r}"
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
