"""All constraints of a user together: checked, and made into a problem for the solver."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from mossrules.candidates.rules import Rule
from mossrules.candidates.search import Candidates
from mossrules.constraints.builder import ConstraintBuilder, Limited
from mossrules.constraints.kinds import Constraint, MustInclude
from mossrules.exceptions import InfeasibleProblem, InvalidParameter
from mossrules.solver.problems.selection import SelectionProblem

__all__ = ["apply_constraints", "check_constraints", "required_rules"]


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


def apply_constraints(
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
    """Tell whether a selection that keeps the limits has any rule in it."""
    if problem.most_stable_feasible is not None and len(problem.most_stable_feasible) > 0:
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
