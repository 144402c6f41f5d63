"""Rules of an approved rule set as candidates of other rows: the same rules, as they are printed.

A rule speaks of bins, and the bins of other rows are others. So the cut points, and the categories,
of approved rules are added to those that the columns have here, and each rule is written in the
bins that come of it. The default cut points stay, so that other rules on these columns are found
too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from mossrules.candidates.cuts import MAX_BINS, BinnedColumn, Binning
from mossrules.candidates.rules import OPEN, Condition, Levels, Range, Rule, level_words
from mossrules.data.columns import Column, Kind, Label
from mossrules.data.table import did_you_mean
from mossrules.exceptions import InvalidParameter

if TYPE_CHECKING:
    from mossrules.candidates.pool import CandidatePool

__all__ = ["ApprovedRules"]


class ApprovedRules(NamedTuple):
    """Approved rules, and the bins that they speak of."""

    rules: tuple[Rule, ...]
    binning: Binning

    @property
    def texts(self) -> list[str]:
        """The rules as they were printed."""
        return [rule.text(self.binning) for rule in self.rules]

    def check_columns(self, columns: Sequence[Column]) -> None:
        """Refuse columns that are gone, or that are of another kind."""
        kinds = {column.name: column.kind for column in columns}
        for rule, text in zip(self.rules, self.texts, strict=True):
            for name in rule.features:
                if name not in kinds:
                    raise InvalidParameter(
                        f"near has the rule {text!r}, and there is no column {name!r}; add the "
                        f"column, or leave the rule out of near.{did_you_mean(name, list(kinds))}"
                    )
                before = self.binning[name].kind
                if kinds[name] is not before:
                    raise InvalidParameter(
                        f"near has the rule {text!r}, for which column {name!r} was "
                        f"{before.value}, and is {kinds[name].value} here; convert it to the type "
                        "it had."
                    )

    def added_to(self, binning: Binning) -> Binning:
        """Return a binning with the cut points and the categories of these rules as well."""
        used = {name for rule in self.rules for name in rule.features}
        columns = (
            self._with_ours(column) if column.name in used else column for column in binning.columns
        )
        return Binning(tuple(columns), binning.named, binning.reading)

    def on(self, binning: Binning) -> tuple[Rule, ...]:
        """Return the rules in the bins of a binning that has their cut points."""
        return tuple(
            Rule(tuple(self._written(each, binning[each.feature]) for each in rule.conditions))
            for rule in self.rules
        )

    def positions(self, pool: CandidatePool, binning: Binning) -> list[int]:
        """Return where the rules are among candidates, or say that one is not there."""
        places = {rule: place for place, rule in enumerate(pool.rules)}
        try:
            return [places[rule] for rule in self.on(binning)]
        except (KeyError, ValueError):  # the rule is not there, or its cut point is not
            raise InvalidParameter(
                "The candidates were found without the rules of near; pass near to the search as "
                "well, or call fit."
            ) from None

    # --- bins -----------------------------------------------------------------------------------

    def _conditions(self, name: str) -> Iterator[Condition]:
        """Yield the conditions on a column."""
        for rule in self.rules:
            yield from (condition for condition in rule.conditions if condition.feature == name)

    def _with_ours(self, column: BinnedColumn) -> BinnedColumn:
        """Return a column with the cut points, or the categories, of these rules as well."""
        conditions = list(self._conditions(column.name))
        if column.kind is Kind.CATEGORICAL:
            named = [label for each in conditions for label in _labels(each, column)]
            new = dict.fromkeys(label for label in named if label not in column.levels)
            levels = sorted((*column.levels, *new), key=lambda each: (type(each).__name__, each))
            return replace(column, levels=tuple(levels)) if new else column
        before, cuts = self.binning[column.name], set(column.cuts)
        for condition in conditions:
            cuts |= {_cut_here(before, number, column) for number in _cut_numbers(condition)}
        if len(cuts) >= MAX_BINS:
            raise InvalidParameter(
                f"Column {column.name!r} would have {len(cuts)} cut points with those of near; ask "
                f"for fewer bins, so that there are at most {MAX_BINS - 1}."
            )
        return replace(column, cuts=tuple(sorted(cuts)))

    def _written(self, condition: Condition, column: BinnedColumn) -> Condition:
        """Return a condition in the bins of a column."""
        if isinstance(condition, Levels):
            missing = {None} & condition.levels
            return replace(condition, levels=frozenset({*_labels(condition, column), *missing}))
        before, low, high = self.binning[condition.feature], condition.low, condition.high
        # Bin j is above cut j - 1, and up to cut j.
        if low > 1:
            low = column.cuts.index(_cut_here(before, low - 1, column)) + 2
        if 1 <= high < OPEN:
            high = column.cuts.index(_cut_here(before, high, column)) + 1
        return replace(condition, low=low, high=high)


def _cut_numbers(condition: Condition) -> list[int]:
    """Return the numbers of the cut points that a condition names, counted from 1."""
    if not isinstance(condition, Range):
        return []
    low = [condition.low - 1] if condition.low > 1 else []
    return [*low, condition.high] if 1 <= condition.high < OPEN else low


def _cut_here(before: BinnedColumn, number: int, column: BinnedColumn) -> float:
    """Return a cut point in the terms of another column: of ordered levels, the same level."""
    cut = before.cuts[number - 1]
    if column.kind is not Kind.ORDERED:
        return cut + 0.0  # -0.0 is 0.0
    level = before.levels[int(cut)]
    shared = [each for each in column.levels if each in before.levels]
    if level not in shared or shared != [each for each in before.levels if each in shared]:
        raise InvalidParameter(
            f"near cuts {column.name!r} after {level!r}, and its levels here are "
            f"{', '.join(map(str, column.levels[:20]))}; give it the levels it had, in their order."
        )
    return float(column.levels.index(level))


def _labels(condition: Condition, column: BinnedColumn) -> list[Label]:
    """Return the categories that a condition names, as this column has them."""
    if not isinstance(condition, Levels):
        return []
    # By their words, which are what is printed: 1 and "1" of two tables are the same category.
    known = {level_words(level): level for level in column.levels}
    named = sorted((level for level in condition.levels if level is not None), key=level_words)
    return [known.get(level_words(level), level) for level in named]
