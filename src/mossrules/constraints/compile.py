"""All constraints of a user together: checked, and made into a problem for the solver.

Each constraint tells a `ConstraintBuilder` what it asks for (`kinds.py`). Together that becomes
rules fixed in and out, limits `A z <= b` on rules and features, and signs of weights: all that the
solver knows of constraints, so that a new kind needs nothing there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from mossrules._typing import BoolArray, FloatArray, IntArray
from mossrules.candidates.rules import Range, Rule
from mossrules.constraints.kinds import CONTRARY, Constraint, MustInclude
from mossrules.exceptions import InfeasibleProblem, InvalidParameter
from mossrules.solver.problems.linear_constraints import LinearConstraints

if TYPE_CHECKING:
    from mossrules.candidates.search import Candidates
    from mossrules.solver.problems.selection import SelectionProblem

__all__ = [
    "ConstraintBuilder",
    "apply_constraints",
    "check_constraints",
    "directions_of",
    "required_rules",
]

Limited = TypeVar("Limited", bound="SelectionProblem")


def check_constraints(constraints: Any) -> tuple[Constraint, ...]:
    """Return the constraints that a user has given: none, one or several."""
    given = () if constraints is None else constraints
    given = (given,) if isinstance(given, Constraint) else given
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidParameter(f"constraints is {constraints!r}; pass a list of constraints.")
    given = tuple(given)
    for constraint in given:
        if not isinstance(constraint, Constraint):
            raise InvalidParameter(
                f"constraints has {constraint!r} in it; pass objects of mossrules.constraints, "
                "such as NeverUse('age')."
            )
    _refuse_contraries(given)
    return given


def _refuse_contraries(given: Sequence[Constraint]) -> None:
    """Refuse a feature that is to go both ways: no rule on it would be left, without a word."""
    for one, other in CONTRARY:
        ways = [
            {name for each in given if isinstance(each, kind) for name in each.given}
            for kind in (one, other)
        ]
        for name in sorted(ways[0] & ways[1]):
            raise InvalidParameter(
                f"{one.__name__}({name!r}) and {other.__name__}({name!r}) contradict each other; "
                f"leave out one, or say NeverUse({name!r}) if no rule shall look at it."
            )


def required_rules(constraints: Sequence[Constraint]) -> tuple[Rule | str, ...]:
    """Return the rules, values or texts, that have to be among the candidates."""
    return tuple(
        rule
        for constraint in constraints
        if isinstance(constraint, MustInclude)
        for rule in constraint.given
    )


def apply_constraints(
    problem: Limited, candidates: Candidates, constraints: Sequence[Constraint]
) -> Limited:
    """Return the problem, without a floor yet, under constraints.

    Where they leave no rule set but the empty one, the error names the constraints to relax.

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
    # The helpful answer first: constraints without any one of which the others can be kept. That is
    # one attempt for each, and none solves more than a linear program.
    alone = [
        constraint
        for n, constraint in enumerate(constraints)
        if _limited(problem, candidates, [*constraints[:n], *constraints[n + 1 :]]) is not None
    ]
    remedy = f"relax {' or '.join(map(repr, alone))}"
    if not alone:
        together = _conflict(problem, candidates, constraints)
        remedy = f"relax one of {', '.join(map(repr, together))}, and try again"
    raise InfeasibleProblem(
        f"No rule set of at most {problem.max_rules} of the {len(candidates)} candidate rules "
        f"keeps all constraints; {remedy}."
    )


def directions_of(
    candidates: Candidates, constraints: Sequence[Constraint]
) -> tuple[IntArray, BoolArray]:
    """Return the signs that constraints ask of the weights of rules that are chosen already.

    Where one is 1, the weight is not below 0. And return which rules may have no weight at all, as
    they would have to push against the mean of their own rows.
    """
    builder = ConstraintBuilder(candidates)
    for constraint in constraints:
        constraint.limit(builder)
    builder.finish()
    forbidden = np.zeros(len(candidates), dtype=bool)
    forbidden[sorted(builder.forbidden)] = True
    return builder.bounded.astype(np.int64), forbidden


def _limited(
    problem: Limited, candidates: Candidates, constraints: Sequence[Constraint]
) -> Limited | None:
    """Return the problem under constraints; None when no set with a rule in it keeps them."""
    builder = ConstraintBuilder(candidates)
    for constraint in constraints:
        constraint.limit(builder)
    builder.finish()
    clash = bool(builder.required & builder.forbidden) or len(builder.required) > problem.max_rules
    if clash or len(builder.forbidden) == len(candidates):
        return None
    limited = builder.apply_to(problem)
    return limited if limited.most_stable_feasible is not None and _has_any_rule(limited) else None


def _has_any_rule(problem: SelectionProblem) -> bool:
    """Tell whether a set that keeps the limits has any rule in it."""
    # The most stable one may be empty where all free rules have a count of 0.
    if problem.most_stable_feasible is not None and len(problem.most_stable_feasible) > 0:
        return True
    return any(problem.is_feasible(np.array([i])) for i in problem.free)


def _conflict(
    problem: SelectionProblem, candidates: Candidates, constraints: Sequence[Constraint]
) -> list[Constraint]:
    """Return constraints that cannot be kept together, none of which can be left out."""
    # By deletion: what can be left out while the rest still conflicts is not part of the reason.
    # All minimal conflicts would be exponentially many, and one is enough to go on from.
    kept = list(constraints)
    for constraint in constraints:
        without = [other for other in kept if other is not constraint]
        if _limited(problem, candidates, without) is None:
            kept = without
    return kept


# --- what constraints ask for, in the solver's terms ----------------------------------------------


@dataclass
class ConstraintBuilder:
    """What constraints ask of the candidates: they call its methods, or add to its sets."""

    candidates: Candidates
    required: set[int] = field(default_factory=set)
    forbidden: set[int] = field(default_factory=set)
    rows: list[FloatArray] = field(default_factory=list)  # over rules, then features
    maximum: list[float] = field(default_factory=list)
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
        positions = []
        for name in given:
            if name not in self.names:
                near = get_close_matches(str(name), self.names, 1)
                hint = f"Did you mean {near[0]!r}?" if near else f"There are {len(self.names)}."
                raise InvalidParameter(
                    f"A constraint names {name!r}, which is not a column. {hint}"
                )
            positions.append(self.names.index(name))
        return positions

    def using(self, given: Iterable[str]) -> set[int]:
        """Return the rules that look at any of these features."""
        return set(np.flatnonzero(self.uses[self.features(given)].any(axis=0)).tolist())

    def range_directions(self, given: Iterable[str]) -> Iterator[tuple[int, int]]:
        """Yield the rules whose answer depends on how large one of these features is, and how.

        It is 1 for rules that hold above some value, -1 below one, and 0 between two.
        """
        rules = self.candidates.pool.rules
        for name in given:
            for number in sorted(self.using([name])):
                # One condition at most on a feature: rules have them merged.
                (condition,) = (of for of in rules[number].conditions if of.feature == name)
                if isinstance(condition, Range) and condition.opening is not None:
                    yield number, condition.opening

    def rule(self, given: Rule | str) -> int | None:
        """Return the position of a rule, a value or its text; None if it is no candidate."""
        rules = self.candidates.pool.rules
        if isinstance(given, Rule):
            return rules.index(given) if given in rules else None
        texts = self.candidates.texts
        return texts.index(given) if given in texts else None

    def add_row(self, rules: Any, features: Any, maximum: int) -> None:
        """Add a row of A and b: the rules and features marked 1 may be at most `maximum`."""
        self.rows.append(np.concatenate([rules, features]).astype(np.float64))
        self.maximum.append(float(maximum))

    def finish(self) -> None:
        """Work out what follows from all constraints together."""
        self.bounded = self.one_way(self.up, 1) | self.one_way(self.down, -1)
        if self.own_direction:
            self.bounded |= self.candidates.statistics.values != 0

    def one_way(self, rules: set[int], push: int) -> BoolArray:
        """Return the rules that may push one way only; those that go the other are forbidden."""
        # Rule i adds w_i v_i where it holds, with v_i the mean of its rows. If v_i goes the right
        # way, w_i >= 0 keeps to it. If not, w_i <= 0 would, against the rule's own rows: a weight
        # that only corrects others, and that nobody could explain.
        concerned = np.zeros(len(self.candidates), dtype=bool)
        concerned[sorted(rules)] = True
        goes_right = push * self.candidates.statistics.values > 0
        self.forbidden.update(np.flatnonzero(concerned & ~goes_right).tolist())
        return np.asarray(concerned & goes_right)

    def apply_to(self, problem: Limited) -> Limited:
        """Return the problem under these limits."""
        linear = None
        if self.rows:
            A, b, m = np.array(self.rows), np.array(self.maximum), len(self.candidates)
            # Limits on features need a search over groups of rules, those on rules alone do not.
            by_feature = A[:, m:].any()
            linear = (
                LinearConstraints(A, b, self.uses) if by_feature else LinearConstraints(A[:, :m], b)
            )
        return replace(  # type: ignore[type-var]  # all of them are dataclasses
            problem,
            fixed_in=sorted(self.required),
            fixed_out=sorted(self.forbidden),
            constraints=linear,
            signs=self.bounded.astype(np.int64),
            min_stability=0,
        )
