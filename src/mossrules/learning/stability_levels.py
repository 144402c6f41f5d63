"""What words such as "high" and "auto" mean once the candidate rules are known."""

from __future__ import annotations

from typing import Any, Literal, TypeVar, cast

import numpy as np

from mossrules._checks import check_integer, check_number
from mossrules._typing import IntArray
from mossrules.candidates.search import Candidates
from mossrules.exceptions import InvalidParameter
from mossrules.frontier import epsilon_sequence
from mossrules.learning.constraints import check_constraints, limit_problem
from mossrules.solver import LogisticProblem, Problem
from mossrules.solver.options import Method
from mossrules.solver.problems.selection import SelectionProblem

__all__ = [
    "AUTO",
    "GAMMA_ROWS",
    "Stability",
    "Ties",
    "at_stability",
    "check_choice",
    "check_stability",
    "floors_of",
    "method_for",
    "pose_logistic",
    "pose_problem",
    "untied",
]

Stability = Literal["auto", "high", "medium", "low"] | float
Ties = Literal["keep", "drop"]
Chosen = TypeVar("Chosen", bound=SelectionProblem)

PLACES = {"high": 3, "medium": 40}  # which floor of the paper's sequence E, counted from 1
APPROXIMATE = "low"
AUTO = "auto"  # chosen by cross-validation
GAMMA_ROWS = 30.0  # gamma="auto" is this over the number of rows; measured in docs/estimator.md


def pose_problem(
    candidates: Candidates,
    *,
    max_rules: int,
    ties: Ties,
    gamma: float | Literal["auto"],
    constraints: Any = None,
) -> Problem:
    """Return the problem of choosing among the candidates, with no floor yet."""
    statistics = candidates.statistics
    problem = Problem(
        statistics,
        max_rules=_most(candidates, max_rules, ties),
        gamma=GAMMA_ROWS / statistics.n if gamma == "auto" else gamma,
    )
    return limit_problem(problem, candidates, check_constraints(constraints))


def pose_logistic(
    candidates: Candidates,
    *,
    max_rules: int,
    ties: Ties,
    gamma: float | Literal["auto"],
    constraints: Any = None,
) -> LogisticProblem:
    """Return the same for two classes: by the logistic loss."""
    if candidates.patterns is None:
        raise InvalidParameter(
            "The candidates were found without the patterns that the logistic loss is of; find "
            "them with patterns=True."
        )
    problem = LogisticProblem(
        candidates.patterns,
        max_rules=_most(candidates, max_rules, ties),
        gamma=cast("float", gamma),  # the problem itself knows what "auto" is
    )
    return limit_problem(problem, candidates, check_constraints(constraints))


def _most(candidates: Candidates, max_rules: int, ties: Ties) -> int:
    most = check_integer("max_rules", max_rules)
    return untied(candidates.pool.counts, most) if ties == "drop" else most


def untied(counts: IntArray, max_rules: int) -> int:
    """Return how many of the `max_rules` most frequent rules are more frequent than the next one.

    As the paper's authors do it: where the last of them ties with the next rule, all rules of that
    count are left out. If no rule would be left, `max_rules` stays.
    """
    if len(counts) <= max_rules:
        return max_rules
    next_count = np.sort(counts)[::-1][max_rules]
    return int(np.count_nonzero(counts > next_count)) or max_rules


def check_stability(stability: Stability) -> None:
    """Refuse what is neither one of the words nor a share."""
    if isinstance(stability, str) and stability in (*PLACES, APPROXIMATE, AUTO):
        return
    if isinstance(stability, str) or check_number("stability", stability) > 1:
        raise InvalidParameter(
            f"stability is {stability!r}; choose 'auto', 'high', 'medium' or 'low', or a share of "
            "the largest stability in (0, 1]."
        )


def check_choice(name: str, value: object, choices: tuple[object, ...]) -> None:
    """Refuse a value that is not among the choices."""
    if not any(value is choice or value == choice for choice in choices):
        listed = ", ".join(map(repr, choices))
        raise InvalidParameter(f"{name} is {value!r}; choose from {listed}.")


def at_stability(problem: Chosen, stability: Stability) -> Chosen:
    """Return the problem with the floor that a word or a share stands for."""
    if stability == APPROXIMATE:
        return problem.at(0)
    if not isinstance(stability, str):
        # A share of a whole number may come out a rounding error above one.
        return problem.at(int(np.ceil(stability * problem.max_stability * (1.0 - 1e-12))))
    sequence = floors_of(problem)
    return problem.at(int(sequence[min(PLACES[stability], len(sequence)) - 1]))


def floors_of(problem: SelectionProblem) -> IntArray:
    """Return the paper's sequence of floors, descending, of the rules that may be chosen.

    Where constraints keep selections below its first floor, all floors are lowered by that share.
    """
    counts = np.delete(problem.counts, list(problem.fixed_out))
    sequence = epsilon_sequence(counts, problem.max_rules)
    largest = problem.max_stability
    if sequence[0] == largest:
        return sequence
    lowered = np.ceil(sequence * (largest / max(1, sequence[0])) * (1.0 - 1e-12)).astype(np.int64)
    return np.unique(lowered)[::-1]


def method_for(problem: SelectionProblem, stability: Stability, method: Method) -> Method:
    """Return the method to choose with: "low" stands for one of its own, if that may be used."""
    if stability == APPROXIMATE and not problem.is_limited:
        return "coordinate-descent"
    return method
