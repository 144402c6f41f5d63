"""What an auditor may ask of a rule set: which features and rules, how many, and pushing which way.

>>> [NeverUse("sex"), AtMostFeatures(3), OnlyUp("dose")]
[NeverUse('sex'), AtMostFeatures(3), OnlyUp('dose')]

Each is a value that says what it means for candidate rules; `limit_problem` makes of them what the
solver takes: rules fixed in and out, limits `A z <= b` on rules and features, signs of weights.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any, TypeVar

import numpy as np

from mossrules._checks import check_integer
from mossrules._typing import BoolArray, FloatArray
from mossrules.candidates import Candidates
from mossrules.columns import Kind
from mossrules.exceptions import InfeasibleProblem, InvalidParameter
from mossrules.rules import Range, Rule
from mossrules.solver.limits import LinearConstraints
from mossrules.solver.selection import SelectionProblem

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
    "check_constraints",
    "limit_problem",
    "required_rules",
]

Limited = TypeVar("Limited", bound=SelectionProblem)


# --- what the solver takes ------------------------------------------------------------------------


@dataclass
class Limits:
    """What constraints ask of the candidates, in the solver's terms."""

    candidates: Candidates
    required: set[int] = field(default_factory=set)
    forbidden: set[int] = field(default_factory=set)
    rows: list[FloatArray] = field(default_factory=list)  # over rules, then features
    most: list[float] = field(default_factory=list)
    up: set[int] = field(default_factory=set)  # rules that may only raise the prediction
    down: set[int] = field(default_factory=set)
    own_direction: bool = False  # of all rules

    def __post_init__(self) -> None:
        self.names = self.candidates.binning.names
        position = {name: number for number, name in enumerate(self.names)}
        self.uses: BoolArray = np.zeros((len(self.names), len(self.candidates)), dtype=bool)
        for number, rule in enumerate(self.candidates.pool.rules):
            self.uses[[position[name] for name in rule.features], number] = True

    def features(self, given: Iterable[str]) -> list[int]:
        """Return the positions of features, or say which is not there."""
        places = []
        for name in given:
            if name not in self.names:
                near = get_close_matches(str(name), self.names, 1)
                hint = f"; did you mean {near[0]!r}" if near else f"; there are {len(self.names)}"
                raise InvalidParameter(f"A constraint names {name!r}, which is no feature{hint}.")
            places.append(self.names.index(name))
        return places

    def using(self, given: Iterable[str]) -> set[int]:
        """Return the rules that look at any of these features."""
        return set(np.flatnonzero(self.uses[self.features(given)].any(axis=0)).tolist())

    def openings(self, given: Iterable[str]) -> Iterator[tuple[int, int]]:
        """Yield the rules whose answer depends on how large one of these features is, and how.

        It is 1 for rules that hold above some value, -1 below one, and 0 between two.
        """
        rules = self.candidates.pool.rules
        for name in given:
            for number in sorted(self.using([name])):
                (condition,) = (each for each in rules[number].conditions if each.feature == name)
                if isinstance(condition, Range) and condition.opening is not None:
                    yield number, condition.opening

    def rule(self, given: Rule | str) -> int | None:
        """Return the position of a rule, a value or its text; None if it is no candidate."""
        known = self.candidates.texts if isinstance(given, str) else self.candidates.pool.rules
        return known.index(given) if given in known else None  # type: ignore[arg-type]

    def add_row(self, rules: Any, features: Any, most: int) -> None:
        """Let rules and features, 1 where they count, count for at most so much together."""
        self.rows.append(np.concatenate([rules, features]).astype(np.float64))
        self.most.append(float(most))

    def close(self) -> None:
        """Settle what follows from all constraints together."""
        self.bounded = self.one_way(self.up, 1) | self.one_way(self.down, -1)
        if self.own_direction:
            self.bounded |= self.candidates.statistics.values != 0

    def one_way(self, rules: set[int], push: int) -> BoolArray:
        """Return the rules that may push one way only; those that go the other way are forbidden.

        The weight of a column, which is the rule's mean times 0 or 1, is not negative then.
        """
        concerned = np.zeros(len(self.candidates), dtype=bool)
        concerned[sorted(rules)] = True
        goes_right = push * self.candidates.statistics.values > 0
        self.forbidden.update(np.flatnonzero(concerned & ~goes_right).tolist())
        return np.asarray(concerned & goes_right)

    def apply_to(self, problem: Limited) -> Limited:
        """Return the problem under these limits."""
        linear = None
        if self.rows:
            by_feature = np.array(self.rows)[:, len(self.candidates) :].any()
            A = np.array(self.rows)
            linear = (
                LinearConstraints(A, np.array(self.most), self.uses)
                if by_feature
                else LinearConstraints(A[:, : len(self.candidates)], np.array(self.most))
            )
        return replace(  # type: ignore[type-var]  # all of them are dataclasses
            problem,
            fixed_in=sorted(self.required),
            fixed_out=sorted(self.forbidden),
            constraints=linear,
            signs=self.bounded.astype(np.int64),
            min_stability=0,
        )


# --- constraints ----------------------------------------------------------------------------------


class Constraint(ABC):
    """Something that a rule set has to keep to."""

    @abstractmethod
    def limit(self, limits: Limits) -> None:
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

    def limit(self, limits: Limits) -> None:
        """Forbid the rules that look at them."""
        limits.forbidden.update(limits.using(self.given))


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

    def limit(self, limits: Limits) -> None:
        """Ask for weights that raise it."""
        limits.up.update(limits.using(self.given))


class OnlyDown(_OfSeveral):
    """A rule that looks at one of these features may only lower the prediction.

    Rules whose rows have a mean target above that of all rows are left out. This is no word on
    what happens as the feature grows; `Decreasing` is.

    Parameters
    ----------
    *given : str
        Names of features.
    """

    def limit(self, limits: Limits) -> None:
        """Ask for weights that lower it."""
        limits.down.update(limits.using(self.given))


class _Monotone(_OfSeveral):
    """The prediction goes one way as a feature grows, whatever the other features are.

    It does if every rule does: one that holds above some value goes that way, one that holds below
    some value the other way, and none holds between two values.
    """

    def limit(self, limits: Limits) -> None:
        """Ask for weights by where rules hold."""
        for place in limits.features(self.given):
            if limits.candidates.binning[limits.names[place]].kind is Kind.CATEGORICAL:
                raise InvalidParameter(
                    f"{self!r} names {limits.names[place]!r}, whose values have no order; make it "
                    "a number or an ordered category, or see OnlyUp and OnlyDown."
                )
        above, below = self._pushes(limits)
        chosen = {1: above, -1: below, 0: limits.forbidden}
        for number, opening in limits.openings(self.given):
            chosen[opening].add(number)

    @abstractmethod
    def _pushes(self, limits: Limits) -> tuple[set[int], set[int]]:
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
    >>> table = {"dose": [1, 2, 3, 4, 5, 6], "age": [30, 60, 40, 50, 70, 20]}
    >>> model = MossRegressor(3, n_trees=20, constraints=Increasing("dose"))
    >>> found = model.fit(table, [1.0, 3.0, 2.0, 6.0, 4.0, 7.0])
    >>> low, high = found.predict({"dose": [2, 5], "age": [40, 40]})
    >>> bool(low <= high)
    True
    """

    def _pushes(self, limits: Limits) -> tuple[set[int], set[int]]:
        return limits.up, limits.down


class Decreasing(_Monotone):
    """As one of these features grows, and nothing else changes, the prediction does not rise.

    `Increasing` says how.

    Parameters
    ----------
    *given : str
        Names of features that are numbers, truth values or ordered categories.
    """

    def _pushes(self, limits: Limits) -> tuple[set[int], set[int]]:
        return limits.down, limits.up


@dataclass(frozen=True)
class OwnDirection(Constraint):
    """A rule may move the prediction only to the side on which its own rows lie.

    Rules overlap, and beside others the best weight of one may have the other sign.
    """

    def limit(self, limits: Limits) -> None:
        """Ask for weights that agree with the means of the rules."""
        limits.own_direction = True


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

    A rule that no tree has found is a candidate all the same, with a stability of 0.

    Parameters
    ----------
    *given : Rule or str
        Rules as values, or as they are printed.
    """

    def limit(self, limits: Limits) -> None:
        """Fix them in."""
        for rule in self.given:
            position = limits.rule(rule)
            if position is None:
                near = get_close_matches(str(rule), limits.candidates.texts, 1)
                hint = f"; the nearest is {near[0]!r}" if near else ""
                raise InvalidParameter(
                    f"The rule {str(rule)!r} must be in, but is not among the "
                    f"{len(limits.candidates)} candidates{hint}."
                )
            limits.required.add(position)


class MustExclude(_OfRules):
    """These rules may not be in the rule set.

    Parameters
    ----------
    *given : Rule or str
        Rules as values, or as they are printed.
    """

    def limit(self, limits: Limits) -> None:
        """Forbid those that are candidates."""
        found = {limits.rule(rule) for rule in self.given} - {None}
        limits.forbidden.update(position for position in found if position is not None)


@dataclass(frozen=True)
class AtMostPerFeature(Constraint):
    """At most `most` rules may look at the same feature; at any, or at those named."""

    most: int
    features: tuple[str, ...] = ()  #: those that are limited; none named are all

    def __init__(self, most: int, *features: str) -> None:
        object.__setattr__(self, "most", check_integer("AtMostPerFeature", most, least=0))
        object.__setattr__(self, "features", features)

    def limit(self, limits: Limits) -> None:
        """Count the rules of each feature."""
        for place in limits.features(self.features or limits.names):
            limits.add_row(limits.uses[place], np.zeros(len(limits.names)), self.most)

    def __repr__(self) -> str:
        return f"AtMostPerFeature({', '.join([str(self.most), *map(repr, self.features)])})"


@dataclass(frozen=True, repr=False)
class AtMostFeatures(Constraint):
    """All rules together may look at no more than `most` features."""

    most: int

    def __post_init__(self) -> None:
        check_integer("AtMostFeatures", self.most)

    def limit(self, limits: Limits) -> None:
        """Count the features that are used."""
        limits.add_row(np.zeros(len(limits.candidates)), np.ones(len(limits.names)), self.most)

    def __repr__(self) -> str:
        return f"AtMostFeatures({self.most})"


@dataclass(frozen=True, repr=False)
class AtMostConditions(Constraint):
    """No rule may have more than `most` conditions."""

    most: int

    def __post_init__(self) -> None:
        check_integer("AtMostConditions", self.most)

    def limit(self, limits: Limits) -> None:
        """Forbid longer rules."""
        rules = limits.candidates.pool.rules
        limits.forbidden.update(i for i, rule in enumerate(rules) if len(rule) > self.most)

    def __repr__(self) -> str:
        return f"AtMostConditions({self.most})"


# --- all together ---------------------------------------------------------------------------------


def check_constraints(constraints: Any) -> tuple[Constraint, ...]:
    """Return the constraints that a user has given: none, one or several."""
    given = () if constraints is None else constraints
    given = (given,) if isinstance(given, Constraint) else given
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidParameter(f"constraints is {constraints!r}; pass a list of constraints.")
    given = tuple(given)
    for each in given:
        if not isinstance(each, Constraint):
            raise InvalidParameter(
                f"constraints has {each!r} in it; pass objects of mossrules.constraints, "
                "NeverUse('age') say."
            )
    return given


def required_rules(constraints: Sequence[Constraint]) -> tuple[Rule, ...]:
    """Return the rules, given as values, that have to be among the candidates."""
    return tuple(
        rule
        for each in constraints
        if isinstance(each, MustInclude)
        for rule in each.given
        if isinstance(rule, Rule)
    )


def limit_problem(
    problem: Limited, candidates: Candidates, constraints: Sequence[Constraint]
) -> Limited:
    """Return the problem, without a floor yet, under constraints.

    Where they leave no selection with a rule in it, the error names those that are to be relaxed.

    Parameters
    ----------
    problem
        Of the candidates, without a floor.
    candidates
        What the constraints speak of: rules and their features.
    constraints
        All that are to be kept.
    """
    if not constraints:
        return problem
    limited = _limited(problem, candidates, constraints)
    if limited is not None:
        return limited
    alone = [
        each
        for n, each in enumerate(constraints)
        if _limited(problem, candidates, [*constraints[:n], *constraints[n + 1 :]]) is not None
    ]
    remedy = f"relax {' or '.join(map(repr, alone))}"
    if not alone:
        together = _conflict(problem, candidates, constraints)
        remedy = f"relax one of {', '.join(map(repr, together))}, and then look again"
    raise InfeasibleProblem(
        f"No rule set of at most {problem.max_rules} of the {len(candidates)} candidate rules "
        f"keeps all constraints; {remedy}."
    )


def _limited(
    problem: Limited, candidates: Candidates, constraints: Sequence[Constraint]
) -> Limited | None:
    """Return the problem under constraints; None when no selection with a rule keeps them."""
    limits = Limits(candidates)
    for each in constraints:
        each.limit(limits)
    limits.close()
    clash = bool(limits.required & limits.forbidden) or len(limits.required) > problem.max_rules
    if clash or len(limits.forbidden) == len(candidates):
        return None
    found = limits.apply_to(problem)
    return found if found.reachable is not None and _has_any_rule(found) else None


def _has_any_rule(problem: SelectionProblem) -> bool:
    """Tell whether a selection that keeps the limits has any rule in it."""
    if problem.reachable is not None and len(problem.reachable) > 0:
        return True
    return any(problem.is_feasible(np.array([i])) for i in problem.free)


def _conflict(
    problem: SelectionProblem, candidates: Candidates, constraints: Sequence[Constraint]
) -> list[Constraint]:
    """Return constraints that cannot be kept together, none of which can be left out."""
    kept = list(constraints)
    for each in constraints:
        without = [other for other in kept if other is not each]
        if _limited(problem, candidates, without) is None:
            kept = without
    return kept
