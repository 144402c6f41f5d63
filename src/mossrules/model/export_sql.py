"""Rule sets as SQL: an expression, or a whole SELECT.

What databases do not agree on, and what is done about it:

* NaN. DuckDB and PostgreSQL order it above every number, SQLite has none. A bound from below
  needs a second one unless missing values pass, and missing is NULL or NaN.
* Literals. `0.1` is a decimal in some, which a column of 32-bit floats would be compared with in 32
  bits; `0.1e0` is a double everywhere. SQLite may read a literal of many digits as the next
  double, so a cut of more than a few digits is a division of whole numbers, which is exact.
* Whole numbers beyond 2^53 are compared as doubles, as in training, only after a cast.
* EXP. Some builds of SQLite have none. A probability is 1 / (1 + 1 / odds), and 1 / odds is a
  product of constants, one for each rule that holds.
* Quotes. SQLite takes "name" for a string where there is no such column; `name` it does not.

Sums are those of `RuleSet.predict` in every bit, and probabilities to the last digits but one, as
programs differ in how they round exponentials. Tests run all of it in SQLite and in DuckDB.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from mossrules.candidates.cuts import BinnedColumn
from mossrules.candidates.rules import Levels, Rule
from mossrules.candidates.thresholds import readable
from mossrules.data.columns import Kind, Label
from mossrules.exceptions import InvalidParameter
from mossrules.model.export_text import probability_name
from mossrules.model.values import Interval, boolean_levels, sorted_labels, value_test

if TYPE_CHECKING:
    from mossrules.model.ruleset import RuleSet

__all__ = ["DIALECTS", "classes_to_sql", "to_sql"]

LARGEST = "1.7976931348623157e308"  # of the finite numbers; NaN is above it where there is NaN
MAX_LOG_ODDS = 700.0  # whose exponential, and that of its opposite, is a double
EXACT = 1 << 53  # whole numbers up to here are doubles
EXACT_POWER = 22  # so are powers of ten up to this one


@dataclass(frozen=True)
class Dialect:
    """How a database quotes names and tells that a number is NaN, or is not; "" if it never is."""

    quote: str
    is_nan: str
    is_not_nan: str


DIALECTS = {
    "ansi": Dialect('"', f"{{0}} > {LARGEST}", f"{{0}} <= {LARGEST}"),
    "duckdb": Dialect('"', "isnan({0})", "NOT isnan({0})"),
    "sqlite": Dialect("`", "", ""),
}


def to_sql(
    ruleset: RuleSet, table: str | Sequence[str] | None, dialect: str, keep: Sequence[str]
) -> str:
    """Return the prediction as an expression or, with a table, as a SELECT."""
    syntax = _dialect(dialect)
    if keep and table is None:
        raise InvalidParameter("keep names columns of a SELECT; pass the table as well.")
    is_probability = ruleset.link == "logit"
    expression = (_probability if is_probability else _total)(ruleset, syntax)
    if table is None:
        return expression
    selected = [_quoted(name, syntax) for name in keep]
    column = "prediction"
    if is_probability:
        column = probability_name(ruleset.target, ruleset.outcome)
    selected.append(f"{expression} AS {_quoted(column, syntax)}")
    return f"SELECT {', '.join(selected)}\nFROM {_table_name(table, syntax)}"


def classes_to_sql(
    by_class: Mapping[Label, RuleSet], table: str | Sequence[str], dialect: str, keep: Sequence[str]
) -> str:
    """Return a SELECT with a column such as `P(species=setosa)` for each class.

    Probabilities of single classes are columns of an inner query, so that each is computed once and
    not again in the sum that all of them are divided by.
    """
    syntax = _dialect(dialect)
    # Names that no column to keep has: more underscores than the longest has letters.
    prefix = "_" * (1 + max(map(len, keep), default=0))
    alone = [_quoted(f"{prefix}{number}", syntax) for number in range(len(by_class))]
    kept = [_quoted(name, syntax) for name in keep]
    inner = [
        f"{_probability(ruleset, syntax)} AS {name}"
        for ruleset, name in zip(by_class.values(), alone, strict=True)
    ]
    total = " + ".join(alone)
    outer = [
        f"{name} / ({total}) AS "
        + _quoted(probability_name(ruleset.target, ruleset.outcome), syntax)
        for ruleset, name in zip(by_class.values(), alone, strict=True)
    ]
    source = f"SELECT {', '.join([*kept, *inner])}\nFROM {_table_name(table, syntax)}"
    return f"SELECT {', '.join([*kept, *outer])}\nFROM (\n{source}\n) AS {_quoted('t', syntax)}"


def _dialect(name: str) -> Dialect:
    if name not in DIALECTS:
        raise InvalidParameter(f"dialect is {name!r}; choose one of {', '.join(DIALECTS)}.")
    return DIALECTS[name]


def _table_name(table: str | Sequence[str], dialect: Dialect) -> str:
    """Return the name of a table, which may have several parts."""
    names = [table] if isinstance(table, str) else table
    return ".".join(_quoted(name, dialect) for name in names)


def _total(ruleset: RuleSet, dialect: Dialect) -> str:
    """Return the intercept plus the weights of the rules that hold."""
    # A cast makes doubles of all that is added to it, also where literals are decimals.
    terms = [f"CAST({weight_literal(ruleset.intercept)} AS DOUBLE PRECISION)"]
    for rule, weight in zip(ruleset.rules, ruleset.weights.tolist(), strict=True):
        holds = _rule(rule, ruleset, dialect)
        terms.append(f"CASE WHEN {holds} THEN {weight_literal(weight)} ELSE 0 END")
    return "(" + "\n  + ".join(terms) + ")"


def _probability(ruleset: RuleSet, dialect: Dialect) -> str:
    """Return 1 / (1 + exp(-total)), with the exponential as a product of one factor per rule."""
    weights = ruleset.weights.tolist()
    if abs(ruleset.intercept) + sum(map(abs, weights)) > MAX_LOG_ODDS:
        return f"(1 / (1 + EXP(-{_total(ruleset, dialect)})))"  # a product might overflow
    factors = [f"CAST({weight_literal(math.exp(-ruleset.intercept))} AS DOUBLE PRECISION)"]
    for rule, weight in zip(ruleset.rules, weights, strict=True):
        holds = _rule(rule, ruleset, dialect)
        factors.append(f"CASE WHEN {holds} THEN {weight_literal(math.exp(-weight))} ELSE 1 END")
    return "(1 / (1 + " + "\n  * ".join(factors) + "))"


# --- conditions -----------------------------------------------------------------------------------
#
# NULL makes a comparison neither true nor false. No condition is ever negated as a whole, so that
# is as good as false.


def _rule(rule: Rule, ruleset: RuleSet, dialect: Dialect) -> str:
    parts = []
    for condition in rule.conditions:
        column = ruleset.binning[condition.feature]
        test = value_test(condition, column)
        if isinstance(test, Interval) and column.kind is Kind.BOOLEAN:
            test = boolean_levels(test)
        name = _quoted(test.feature, dialect)
        parts.append(
            _interval(test, name, dialect)
            if isinstance(test, Interval)
            else _levels(test, column, name)
        )
    return " AND ".join(parts)


def _interval(test: Interval, name: str, dialect: Dialect) -> str:
    bounds = []
    if test.above is not None:
        least, is_outside = readable(test.above)
        sign = ">" if is_outside else ">="
        bounds.append(f"{_compared(name, least)} {sign} {cut_literal(least)}")
    if test.most is not None:
        most, is_inside = readable(test.most)
        sign = "<=" if is_inside else "<"
        bounds.append(f"{_compared(name, most)} {sign} {cut_literal(most)}")
    lets_nan_pass = test.present and test.most is None
    if not test.missing:
        if lets_nan_pass:
            bounds.append(dialect.is_not_nan.format(name) or f"{name} IS NOT NULL")
        return " AND ".join(bounds)
    is_nan = "" if lets_nan_pass else dialect.is_nan.format(name)
    ways = [f"{name} IS NULL", is_nan, " AND ".join(bounds)]
    return f"({' OR '.join(filter(None, ways))})"


def _compared(name: str, cut: float) -> str:
    return name if abs(cut) < EXACT else f"CAST({name} AS DOUBLE PRECISION)"


def _levels(test: Levels, column: BinnedColumn, name: str) -> str:
    labels = [_label(level, column) for level in sorted_labels(test) if level is not None]
    among = f"IN ({', '.join(labels)})"
    if len(labels) == 1:
        among = f"= {labels[0]}" if test.inside else f"<> {labels[0]}"
    elif not test.inside:
        among = f"NOT {among}"
    missing = (None in test.levels) == test.inside
    if not labels:
        return f"{name} IS NULL" if missing else f"{name} IS NOT NULL"
    return f"({name} IS NULL OR {name} {among})" if missing else f"{name} {among}"


# --- literals -------------------------------------------------------------------------------------


def _quoted(name: str, dialect: Dialect) -> str:
    """Return a name as an identifier, whatever is in it."""
    quote = dialect.quote
    return quote + _storable(name).replace(quote, 2 * quote) + quote


def _label(level: Label, column: BinnedColumn) -> str:
    if isinstance(level, str):
        return "'" + _storable(level).replace("'", "''") + "'"
    if isinstance(level, bool):
        return str(level).upper()
    if isinstance(level, int):
        if not -(1 << 63) <= level < 1 << 63:
            raise InvalidParameter(
                f"Level {level} of column {column.name!r} takes more than 64 bits, which not every "
                "database has; use another export."
            )
        return str(level)
    if math.isinf(level):
        raise InvalidParameter(
            f"Level {level!r} of column {column.name!r} has no SQL literal; use another export."
        )
    return cut_literal(level)


def _storable(text: str) -> str:
    if "\0" in text or any(0xD800 <= ord(letter) < 0xE000 for letter in text):
        raise InvalidParameter(
            f"{text!r} has a character that SQL cannot write (NUL or half of a surrogate pair); "
            "use another export."
        )
    return text


def weight_literal(value: float) -> str:
    """Return a double with so many digits that even a slightly careless reader gets it right."""
    return _short_literal(value) or f"{value:.17e}"


def cut_literal(value: float) -> str:
    """Return a double in a form that every reader gets right to the last bit."""
    short = _short_literal(value)
    if short is not None:
        return short
    digits, power = _decimal(value)
    if abs(digits) < EXACT and abs(power) <= EXACT_POWER:
        # Two exact numbers: their quotient or product is rounded once, as the number itself.
        return f"({digits}e0 {'/' if power < 0 else '*'} 1e{abs(power)})"
    mantissa, exponent = math.frexp(value)
    operator = "/" if exponent < 53 else "*"
    powers = _powers_of_two(abs(exponent - 53))
    factors = "".join(f" {operator} {factor}e0" for factor in powers)
    return f"({int(mantissa * EXACT)}e0{factors})"


def _short_literal(value: float) -> str | None:
    """Return the usual text of a number that has so few digits that nobody reads it wrong."""
    if value == int(value) and abs(value) < 1 << 24:
        return str(int(value))
    digits, power = _decimal(value)
    # Up to four decimals a quotient in extended precision is too far from a midpoint between
    # doubles for a second rounding to matter.
    return f"{value!r}e0" if abs(digits) < EXACT and -4 <= power < 0 else None


def _decimal(value: float) -> tuple[int, int]:
    """Return (digits, power) of the shortest decimal of a number, digits * 10^power."""
    sign, digits, power = Decimal(repr(value)).normalize().as_tuple()
    whole = int("".join(map(str, digits)))
    return (-whole if sign else whole), int(power)


def _powers_of_two(exponent: int) -> list[int]:
    """Return powers of two below 2^63 whose product is 2^exponent."""
    whole, rest = divmod(exponent, 62)
    return [1 << 62] * whole + ([1 << rest] if rest else [])
