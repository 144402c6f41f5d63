"""All constraints of a user together: checked, and made into a problem for the solver.

What constraints ask of candidate rules becomes rules fixed in and out, limits `A z <= b` on rules
and features, and signs of weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any, TypeVar

import numpy as np

from mossrules._typing import BoolArray, FloatArray
from mossrules.candidates.rules import Range, Rule
from mossrules.candidates.search import Candidates
from mossrules.exceptions import InvalidParameter
from mossrules.solver.problems.linear_constraints import LinearConstraints
from mossrules.solver.problems.selection import SelectionProblem

__all__ = ["ConstraintBuilder", "Limited"]

Limited = TypeVar("Limited", bound=SelectionProblem)


@dataclass
class ConstraintBuilder:
    """What constraints ask of the candidates, in the solver's terms."""

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
                (condition,) = (each for each in rules[number].conditions if each.feature == name)
                if isinstance(condition, Range) and condition.opening is not None:
                    yield number, condition.opening

    def rule(self, given: Rule | str) -> int | None:
        """Return the position of a rule, a value or its text; None if it is no candidate."""
        known = self.candidates.texts if isinstance(given, str) else self.candidates.pool.rules
        return known.index(given) if given in known else None  # type: ignore[arg-type]

    def add_row(self, rules: Any, features: Any, maximum: int) -> None:
        """Let rules and features, 1 where they count, count for at most so much together."""
        self.rows.append(np.concatenate([rules, features]).astype(np.float64))
        self.maximum.append(float(maximum))

    def finish(self) -> None:
        """Work out what follows from all constraints together."""
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
                LinearConstraints(A, np.array(self.maximum), self.uses)
                if by_feature
                else LinearConstraints(A[:, : len(self.candidates)], np.array(self.maximum))
            )
        return replace(  # type: ignore[type-var]  # all of them are dataclasses
            problem,
            fixed_in=sorted(self.required),
            fixed_out=sorted(self.forbidden),
            constraints=linear,
            signs=self.bounded.astype(np.int64),
            min_stability=0,
        )
