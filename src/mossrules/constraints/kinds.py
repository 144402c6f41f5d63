"""Each kind of constraint: a value that says what it means for candidate rules.

A new kind is a subclass of `Constraint` whose `limit` tells a `ConstraintBuilder` what it asks for,
by rules fixed in or out, rows of limits, or the way that rules may push.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mossrules._common import check_integer
from mossrules.candidates.rule_texts import read_rule
from mossrules.candidates.rules import Rule
from mossrules.candidates.simplify import complement
from mossrules.data.columns import Kind
from mossrules.exceptions import InvalidParameter

if TYPE_CHECKING:
    from mossrules.constraints.compile import ConstraintBuilder

__all__ = [
    "AtMostConditions",
    "AtMostFeatures",
    "AtMostPerFeature",
    "Constraint",
    "Decreasing",
    "Increasing",
    "MustExclude",
    "MustInclude",
    "NeverUse",
    "OnlyDown",
    "OnlyUp",
    "OwnDirection",
]


class Constraint(ABC):
    """Something that a rule set has to keep to."""

    @abstractmethod
    def limit(self, builder: ConstraintBuilder) -> None:
        """Add what this asks for."""


class _OfSeveral(Constraint):
    """A constraint on some features or rules, given one after the other."""

    what = "feature"

    def __init__(self, *given: Any) -> None:
        if not given:
            raise InvalidParameter(f"{type(self).__name__} needs one {self.what} at least.")
        self._check(given)
        self.given = given

    def _check(self, given: Sequence[Any]) -> None:
        for name in given:
            if not isinstance(name, str):
                raise InvalidParameter(
                    f"{type(self).__name__} was given {name!r}; pass names of features."
                )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _OfSeveral) and (type(self), self.given) == (
            type(other),
            other.given,
        )

    def __hash__(self) -> int:
        return hash((type(self), self.given))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.given))})"


class NeverUse(_OfSeveral):
    """No rule may look at these features.

    Parameters
    ----------
    *given : str
        Names of features.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> table = {"age": [30, 40, 50, 60], "dose": [1, 2, 2, 1]}
    >>> model = MossRegressor(2, n_trees=20, constraints=NeverUse("age"))
    >>> model.fit(table, [3.0, 5.0, 6.0, 4.0]).rules_.features
    ('dose',)
    """

    def limit(self, builder: ConstraintBuilder) -> None:
        """Forbid the rules that look at them."""
        builder.forbidden.update(builder.using(self.given))


class OnlyUp(_OfSeveral):
    """A rule that looks at one of these features may only raise the prediction.

    Rules whose rows have a mean target below that of all rows are left out. This is no word on
    what happens as the feature grows: a rule on its low values may raise the prediction too.
    `Increasing` asks for that.

    Parameters
    ----------
    *given : str
        Names of features.
    """

    def limit(self, builder: ConstraintBuilder) -> None:
        """Ask for weights that raise it."""
        builder.up.update(builder.using(self.given))


class OnlyDown(_OfSeveral):
    """A rule that looks at one of these features may only lower the prediction.

    Rules whose rows have a mean target above that of all rows are left out. This is no word on
    what happens as the feature grows; `Decreasing` is.

    Parameters
    ----------
    *given : str
        Names of features.
    """

    def limit(self, builder: ConstraintBuilder) -> None:
        """Ask for weights that lower it."""
        builder.down.update(builder.using(self.given))


class _Monotone(_OfSeveral):
    """The prediction goes one way as a feature grows, whatever the other features are.

    It does if every rule does: one that holds above some value goes that way, one that holds below
    some value the other way, and none holds between two values. That is more than the sum of rules
    would need, but each rule can then be defended alone, and no combination has to be looked at.
    """

    def limit(self, builder: ConstraintBuilder) -> None:
        """Ask for weights by where rules hold."""
        for position in builder.features(self.given):
            name = builder.names[position]
            if builder.candidates.binning[name].kind is Kind.CATEGORICAL:
                raise InvalidParameter(
                    f"{self!r} names {name!r}, whose values have no order; make it a number or an "
                    "ordered category, or see OnlyUp and OnlyDown."
                )
        above, below = self._pushes(builder)
        by_direction = {1: above, -1: below, 0: builder.forbidden}
        for number, direction in builder.range_directions(self.given):
            by_direction[direction].add(number)

    @abstractmethod
    def _pushes(self, builder: ConstraintBuilder) -> tuple[set[int], set[int]]:
        """Return where rules belong that hold above a value, and those that hold below one."""


class Increasing(_Monotone):
    """As one of these features grows, and nothing else changes, the prediction does not fall.

    Rules that hold above a value of it may only raise the prediction, rules that hold below one
    may only lower it, and rules that hold between two values are left out. What is predicted where
    it is missing is not limited. For classes it is the probability, which does not fall; of more
    than two, the log-odds of each class against the others.

    Parameters
    ----------
    *given : str
        Names of features that are numbers, truth values or ordered categories.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> X, y = {"dose": [1, 2, 3, 4, 5, 6]}, [1.0, 3.0, 6.0, 7.0, 5.0, 4.0]
    >>> MossRegressor(2, n_trees=20).fit(X, y).rules_.texts
    ['2 < dose <= 4', 'dose > 2']
    >>> model = MossRegressor(2, n_trees=20, constraints=Increasing("dose")).fit(X, y)
    >>> model.rules_.texts
    ['dose > 2', 'dose > 1']
    """

    def _pushes(self, builder: ConstraintBuilder) -> tuple[set[int], set[int]]:
        return builder.up, builder.down


class Decreasing(_Monotone):
    """As one of these features grows, and nothing else changes, the prediction does not rise.

    `Increasing` says how.

    Parameters
    ----------
    *given : str
        Names of features that are numbers, truth values or ordered categories.
    """

    def _pushes(self, builder: ConstraintBuilder) -> tuple[set[int], set[int]]:
        return builder.down, builder.up


# Two of these on one feature could only be kept by no rule on it.
CONTRARY: tuple[tuple[type[_OfSeveral], type[_OfSeveral]], ...] = (
    (Increasing, Decreasing),
    (OnlyUp, OnlyDown),
)


@dataclass(frozen=True)
class OwnDirection(Constraint):
    """A rule may move the prediction only to the side on which its own rows lie.

    Rules overlap, and beside others the best weight of one may have the other sign.
    """

    def limit(self, builder: ConstraintBuilder) -> None:
        """Ask for weights that agree with the means of the rules."""
        builder.own_direction = True


class _OfRules(_OfSeveral):
    """A constraint on rules: values, or texts as they are printed."""

    what = "rule"

    def _check(self, given: Sequence[Any]) -> None:
        for rule in given:
            if not isinstance(rule, Rule | str):
                raise InvalidParameter(
                    f"{type(self).__name__} was given {rule!r}; pass rules or their texts."
                )


class MustInclude(_OfRules):
    """These rules have to be in the rule set, whatever they add to the fit.

    One that the fit would turn against its own rows stays with an effect of 0, unless directions
    are "free".

    A rule that no tree has found is a candidate all the same, with a tree frequency of 0, if its
    cut points and categories are among those of the columns.

    Parameters
    ----------
    *given : Rule or str
        Rules as values, or as they are printed.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> X = {"age": [25, 35, 45, 55, 65, 75], "smoker": [False, True] * 3}
    >>> y = [2.0, 5.0, 3.0, 9.0, 6.0, 12.0]
    >>> MossRegressor(2, n_trees=20).fit(X, y).rules_.texts
    ['age > 50', 'smoker is true']
    >>> model = MossRegressor(2, n_trees=20, constraints=MustInclude("age > 60")).fit(X, y)
    >>> model.rules_.texts
    ['smoker is true', 'age > 60']
    """

    def limit(self, builder: ConstraintBuilder) -> None:
        """Fix them in."""
        candidates = builder.candidates
        for given in self.given:
            rule, position = given, builder.rule(given)
            if position is None and isinstance(given, str):  # conditions may be in another order
                rule = read_rule(given, candidates.binning, candidates.texts)
                position = builder.rule(rule)
            if position is None:
                other = _complement_among(builder, rule)
                if other is not None:
                    raise InvalidParameter(
                        f"The rule {str(given)!r} must be in, and its complement {other!r} is the "
                        f"candidate, which says the same; name {other!r}, or let fit search."
                    )
                raise InvalidParameter(
                    f"The rule {str(given)!r} must be in, but is not among the {len(candidates)} "
                    "candidates; let fit search for them, or include it in the search."
                )
            builder.required.add(position)


def _complement_among(builder: ConstraintBuilder, rule: Rule) -> str | None:
    """Return the candidate that holds on exactly the rows where a rule of one condition does not.

    Of a rule and its complement just one becomes a candidate.
    """
    candidates = builder.candidates
    if len(rule.conditions) != 1 or rule.features[0] not in candidates.binning.names:
        return None
    (condition,) = rule.conditions
    column = candidates.binning[condition.feature]
    for has_missing in (False, True):
        other = complement(condition, column, has_missing=has_missing)
        if other is not None and builder.rule(Rule((other,))) is not None:
            return Rule((other,)).text(candidates.binning)
    return None


class MustExclude(_OfRules):
    """These rules may not be in the rule set.

    Parameters
    ----------
    *given : Rule or str
        Rules as values, or as they are printed.
    """

    def limit(self, builder: ConstraintBuilder) -> None:
        """Forbid those that are candidates."""
        # What is no candidate is not in the rule set anyway: no error, unlike `MustInclude`.
        positions = map(builder.rule, self.given)
        builder.forbidden.update(position for position in positions if position is not None)


@dataclass(frozen=True)
class AtMostPerFeature(Constraint):
    """At most `most` rules may look at the same feature; at any, or at those named."""

    most: int
    features: tuple[str, ...] = ()  #: those that are limited; none named are all

    def __init__(self, most: int, *features: str) -> None:
        object.__setattr__(self, "most", check_integer("AtMostPerFeature", most, minimum=0))
        object.__setattr__(self, "features", features)

    def limit(self, builder: ConstraintBuilder) -> None:
        """Count the rules of each feature."""
        for position in builder.features(self.features or builder.names):
            builder.add_row(builder.uses[position], np.zeros(len(builder.names)), self.most)

    def __repr__(self) -> str:
        return f"AtMostPerFeature({', '.join([str(self.most), *map(repr, self.features)])})"


@dataclass(frozen=True, repr=False)
class AtMostFeatures(Constraint):
    """All rules together may look at no more than `most` features."""

    most: int

    def __post_init__(self) -> None:
        check_integer("AtMostFeatures", self.most)

    def limit(self, builder: ConstraintBuilder) -> None:
        """Count the features that are used."""
        builder.add_row(np.zeros(len(builder.candidates)), np.ones(len(builder.names)), self.most)

    def __repr__(self) -> str:
        return f"AtMostFeatures({self.most})"


@dataclass(frozen=True, repr=False)
class AtMostConditions(Constraint):
    """No rule may have more than `most` conditions."""

    most: int

    def __post_init__(self) -> None:
        check_integer("AtMostConditions", self.most)

    def limit(self, builder: ConstraintBuilder) -> None:
        """Forbid longer rules."""
        rules = builder.candidates.pool.rules
        builder.forbidden.update(i for i, rule in enumerate(rules) if len(rule) > self.most)

    def __repr__(self) -> str:
        return f"AtMostConditions({self.most})"
