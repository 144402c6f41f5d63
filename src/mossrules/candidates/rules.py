"""Rules as values: immutable, hashable, canonical. Text is made from them, here and nowhere else.

A rule is a conjunction with at most one condition per feature, in the order of feature names, so
two rules are the same exactly when they compare equal. Numbers are referred to by bin, not by
threshold ("income is in bins 3 to 7"), which is how the literature counts a rule as found again
on other data; categories are referred to by label.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from functools import reduce
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from mossrules._typing import BoolArray
from mossrules.candidates.cuts import MISSING, BinnedColumn, Binning
from mossrules.candidates.thresholds import format_number, readable
from mossrules.data.columns import Kind, Label
from mossrules.exceptions import InvalidParameter

if TYPE_CHECKING:
    from mossrules.candidates.forest import Step

# Codes end at 251 (missing, 250 bins or levels, and all others). An end of its own, not the last
# bin, makes "age > 50" the same rule in tables that have other numbers of bins.
OPEN = 254  # upper end of a range without one: larger than any bin number


@dataclass(frozen=True, slots=True)
class Range:
    """`feature` is in bins low..high (counted from 1), or is missing when `missing` is set.

    `low=1` and `high=OPEN` are no bounds; the empty range, written 1..0, leaves missing only.

    Examples
    --------
    >>> str(Range("age", low=2) & Range("age", high=4))
    'age in bins 2..4'
    >>> str(Range("age", high=4, missing=True))
    'age in bins 1..4 or missing'
    """

    feature: str
    low: int = 1  #: first bin that is allowed
    high: int = OPEN  #: last bin that is allowed
    missing: bool = False

    def __and__(self, other: Range) -> Range:
        low, high = max(self.low, other.low), min(self.high, other.high)
        if low > high:
            low, high = 1, 0
        return Range(self.feature, low, high, self.missing and other.missing)

    @property
    def is_empty(self) -> bool:
        """Whether no row can satisfy the condition."""
        return self.low > self.high and not self.missing

    @property
    def opening(self) -> int | None:
        """1 if it holds above some value, -1 below one, 0 between two; else None."""
        if self.low > self.high or (self.low == 1 and self.high == OPEN):
            return None  # a matter of missing values alone
        return int(self.high == OPEN) - int(self.low == 1)

    def accepts(self, _column: BinnedColumn) -> BoolArray:
        """Return for each possible code whether it satisfies the condition."""
        accepted = np.zeros(256, dtype=bool)
        accepted[self.low : self.high + 1] = True
        accepted[MISSING] = self.missing
        return accepted

    def misfit(self, column: BinnedColumn) -> str | None:
        """Return what makes the condition impossible or empty for its column; None if it fits."""
        if column.kind is Kind.CATEGORICAL:
            return "asks for an order, which a categorical column does not have"
        if (self.low, self.high, self.missing) == (1, 0, True):
            return None
        last_cut = len(column.cuts)
        if not 1 <= self.low <= last_cut + 1 or not (
            self.low <= self.high <= last_cut or self.high == OPEN
        ):
            return f"does not fit its column, which has bins 1 to {last_cut + 1}"
        if (self.low, self.high, self.missing) == (1, OPEN, True):
            return "holds for every value"
        return None

    def text(self, column: BinnedColumn) -> str:
        """Return the condition in the user's units."""
        name = self.feature
        if self.low > self.high:
            return f"{name} is missing"
        if self.low == 1 and self.high == OPEN:
            return f"{name} is {'anything' if self.missing else 'not missing'}"
        if column.kind is Kind.BOOLEAN:
            words = f"{name} is {'false' if self.low == 1 else 'true'}"
        else:
            words = self._bounds(column)
        return f"({words} or {name} is missing)" if self.missing else words

    def printed(self, column: BinnedColumn) -> Hashable:
        """Return what `text` says, as values: equal where the texts are."""
        if self.low > self.high:
            return self.feature, True, ("missing",)
        if self.low == 1 and self.high == OPEN:
            return (self.feature, self.missing, ("anything" if self.missing else "missing",))
        if column.kind is Kind.BOOLEAN:
            words = ("false" if self.low == 1 else "true",)
            return (self.feature, True, words, *(("or missing",) if self.missing else ()))
        lower = _cut_value(column, self.low - 1) if self.low > 1 else None
        upper = _cut_value(column, self.high) if self.high < OPEN else None
        return self.feature, lower, upper, self.missing

    def _bounds(self, column: BinnedColumn) -> str:
        """Return the comparisons with one threshold or two."""
        words = self.feature
        if self.high < OPEN:
            most, is_inside = _threshold(column, self.high)
            words = f"{words} <= {most}" if is_inside else f"{words} < {most}"
        if self.low > 1:
            least, is_outside = _threshold(column, self.low - 1)
            if self.high == OPEN:
                return f"{words} > {least}" if is_outside else f"{words} >= {least}"
            words = f"{least} < {words}" if is_outside else f"{least} <= {words}"
        return words

    def __str__(self) -> str:
        if self.low > self.high:
            return f"{self.feature} is missing"
        high = "" if self.high == OPEN else self.high
        return f"{self.feature} in bins {self.low}..{high}{' or missing' if self.missing else ''}"

    @property
    def sort_key(self) -> tuple[object, ...]:
        """A fixed total order among conditions."""
        return self.feature, 0, self.low, self.high, self.missing


def level_words(level: Label | None) -> str:
    """Return a level as people read it; one that shows nothing, or says "missing", in quotes."""
    if level is None:
        return "missing"
    unclear = isinstance(level, str) and (not level.strip() or level == "missing")
    return repr(level) if unclear else str(level)


@dataclass(frozen=True, slots=True)
class Levels:
    """`feature` is one of `levels` or, with `inside=False`, anything else.

    A missing value is the level None. Anything else includes levels that training never saw.

    Examples
    --------
    >>> str(Levels("colour", frozenset(["red", "blue"])))
    'colour is blue or red'
    >>> str(Levels("colour", frozenset(["red"]), inside=False))
    'colour is not red'
    """

    feature: str
    levels: frozenset[Label | None]
    inside: bool = True  #: whether it must be one of the levels, or must not

    def __and__(self, other: Levels) -> Levels:
        match self.inside, other.inside:
            case True, True:
                levels = self.levels & other.levels
            case True, False:
                levels = self.levels - other.levels
            case False, True:
                levels = other.levels - self.levels
            case _:
                return Levels(self.feature, self.levels | other.levels, inside=False)
        return Levels(self.feature, levels)

    @property
    def is_empty(self) -> bool:
        """Whether no row can satisfy the condition."""
        return self.inside and not self.levels

    def accepts(self, column: BinnedColumn) -> BoolArray:
        """Return for each possible code whether it satisfies the condition."""
        accepted = np.full(256, not self.inside)
        for level in self.levels:
            # A level that this training did not see has no code, and so accepts no row.
            code = column.code_of_level.get(level)
            if code is not None:
                accepted[code] = self.inside
        return accepted

    def misfit(self, column: BinnedColumn) -> str | None:
        """Return what makes the condition impossible or empty for its column; None if it fits."""
        if column.kind is not Kind.CATEGORICAL:
            return f"asks for levels, which a column that is {column.kind.value} does not have"
        known = {*column.levels, None}
        unknown = [level for level in self._sorted() if level not in known]
        if unknown:
            return f"names {unknown[0]!r}, which is no level of its column"
        return None if self.levels else "names no level"

    def text(self, _column: BinnedColumn) -> str:
        """Return the condition in words."""
        return str(self)

    def printed(self, _column: BinnedColumn) -> Hashable:
        """Return what `text` says, as values: equal where the texts are."""
        # By their words: the levels 1 and "1" of two tables read the same.
        return self.feature, self.inside, tuple(map(level_words, self._sorted()))

    def __str__(self) -> str:
        words = " or ".join(map(level_words, self._sorted()))
        return f"{self.feature} is {'' if self.inside else 'not '}{words}"

    def _sorted(self) -> list[Label | None]:
        return sorted(self.levels, key=lambda level: (level is None, str(level)))

    @property
    def sort_key(self) -> tuple[object, ...]:
        """A fixed total order among conditions."""
        return self.feature, 1, not self.inside, tuple(str(level) for level in self._sorted())


Condition = Range | Levels


@dataclass(frozen=True, slots=True)
class Rule:
    """A conjunction of conditions on different features, ordered by feature.

    Build one with `Rule.of`, which merges conditions on the same feature.

    Examples
    --------
    >>> Rule.of([Range("age", high=5), Range("income", low=4), Range("age", high=3)])
    Rule(age in bins 1..3 and income in bins 4..)
    """

    conditions: tuple[Condition, ...]  #: one for each feature, ordered by feature
    # A search looks rules up hundreds of thousands of times, and Python would hash all conditions
    # each time, which no two threads do at once.
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash(self.conditions))

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[type[Rule], tuple[tuple[Condition, ...]]]:
        # Another process hashes text in its own way.
        return Rule, (self.conditions,)

    @classmethod
    def of(cls, conditions: Iterable[Condition]) -> Rule:
        """Return the canonical rule that holds where all conditions hold."""
        # Trees split a feature twice and in any order; as sets of rows the paths are one rule.
        ordered = sorted(conditions, key=lambda condition: condition.feature)
        merged = tuple(
            reduce(_intersect, same) for _, same in groupby(ordered, lambda each: each.feature)
        )
        if not merged:
            raise InvalidParameter("A rule needs at least one condition.")
        for condition in merged:
            if condition.is_empty:
                raise InvalidParameter(
                    f"The conditions on {condition.feature!r} contradict each other."
                )
        return cls(merged)

    @property
    def features(self) -> tuple[str, ...]:
        """The features the rule looks at."""
        return tuple(condition.feature for condition in self.conditions)

    @property
    def sort_key(self) -> tuple[object, ...]:
        """A fixed total order among rules: short ones first, then by feature and bins."""
        return len(self.conditions), *(condition.sort_key for condition in self.conditions)

    def __len__(self) -> int:
        return len(self.conditions)

    def text(self, binning: Binning) -> str:
        """Return the rule with thresholds in the user's units."""
        return " and ".join(
            condition.text(binning[condition.feature]) for condition in self.conditions
        )

    def printed(self, binning: Binning) -> Hashable:
        """Return what stands for the rule as a user reads it: equal where the texts are.

        Columns, thresholds and levels are compared as values, exactly; text is not parsed.
        """
        return tuple(condition.printed(binning[condition.feature]) for condition in self.conditions)

    def __str__(self) -> str:
        return " and ".join(str(condition) for condition in self.conditions)

    def __repr__(self) -> str:
        return f"Rule({self})"


def named_levels(rules: Iterable[Rule]) -> dict[str, set[Label | None]]:
    """Return the levels that rules name, by the columns that they look at."""
    named: dict[str, set[Label | None]] = {}
    for condition in (each for rule in rules for each in rule.conditions):
        levels = condition.levels if isinstance(condition, Levels) else ()
        named.setdefault(condition.feature, set()).update(levels)
    return named


def _intersect(a: Condition, b: Condition) -> Condition:
    if isinstance(a, Range) and isinstance(b, Range):
        return a & b
    if isinstance(a, Levels) and isinstance(b, Levels):
        return a & b
    raise InvalidParameter(f"Feature {a.feature!r} is used both as ordered and as categorical.")


def condition_of_step(step: Step, column: BinnedColumn) -> Condition:
    """Return the condition that a row meets by taking one step down a tree.

    A rule covers missing values only if rows with missing values took that side in training.
    """
    # Labels and not codes: the codes of another table are others.
    if column.kind is Kind.CATEGORICAL:
        return _levels_of_step(step, column)
    first_right = step.low + step.width
    if first_right == 1:  # missing against present
        high = 0 if step.goes_left else OPEN
        return Range(column.name, 1, high, missing=step.goes_left)
    if step.goes_left:
        return Range(column.name, 1, first_right - 1, missing=step.low == MISSING)
    return Range(column.name, first_right, OPEN, missing=step.has_missing and step.low != MISSING)


def _levels_of_step(step: Step, column: BinnedColumn) -> Levels:
    label_of_code = {code: level for level, code in column.code_of_level.items()}
    left = frozenset(label_of_code[code] for code in range(step.low, step.low + step.width))
    if step.goes_left:
        return Levels(column.name, left)
    if column.is_nominal or left == {None}:
        return Levels(column.name, left, inside=False)
    # Two levels: name the other one, and missing values if they were there and went right.
    right: frozenset[Label | None] = frozenset(column.levels) - left
    if step.has_missing and step.low != MISSING:
        right |= frozenset([None])
    return Levels(column.name, right)


def _threshold(column: BinnedColumn, cut: int) -> tuple[str, bool]:
    """Return the upper end of bin `cut` as text, and whether it is in the bin."""
    value = _cut_value(column, cut)
    if isinstance(value, str):
        return value, True
    number, is_inside = readable(value)
    return format_number(number), is_inside


def _cut_value(column: BinnedColumn, cut: int) -> float | str:
    """Return the upper end of bin `cut`: a number, or the words of a level."""
    if not 1 <= cut <= len(column.cuts):
        raise InvalidParameter(
            f"Column {column.name!r} has {column.n_values} bins, so there is no cut number {cut}."
        )
    value = column.cuts[cut - 1]
    if column.kind is Kind.ORDERED:
        return str(column.levels[int(value)])
    return float(value) + 0.0  # -0.0 is 0.0
