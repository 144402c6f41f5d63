"""What the words and shares of `stability` mean once the candidate rules are known.

The solver knows floors only: whole numbers that the sum of the counts must reach. Here a word or a
share becomes such a floor of one problem. A new word is an entry of `PLACES`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np

from mossrules._common import check_integer, check_number
from mossrules._typing import FloatArray, IntArray
from mossrules.exceptions import InvalidParameter
from mossrules.frontier.sweep import epsilon_sequence

if TYPE_CHECKING:
    from mossrules.solver.options import Method
    from mossrules.solver.problems.selection import SelectionProblem

__all__ = [
    "AUTO",
    "Stability",
    "Ties",
    "at_stability",
    "check_stability",
    "count_untied",
    "effective_max_rules",
    "method_for",
    "read_shares",
    "stability_floors",
]

Stability = Literal["auto", "high", "medium", "low"] | float
Ties = Literal["keep", "drop"]
Problem = TypeVar("Problem", bound="SelectionProblem")

PLACES = {"high": 3, "medium": 40}  # which floor of the paper's sequence E, counted from 1
APPROXIMATE = "low"
AUTO = "auto"  # chosen by cross-validation

# Where equal steps of shares end. "medium", the 40th of the paper's floors, is at 0.42 to 0.51 of
# the largest stability on the tables that were looked at, and "high" at 0.89 to 0.96.
MIN_SHARE = 0.5

# The product of a share and a whole number may come out a rounding error above one.
ROUNDING = 1.0 - 1e-12


def effective_max_rules(counts: IntArray, max_rules: int, ties: Ties) -> int:
    """Return the maximum number of rules, lower than asked for where ties are dropped."""
    return count_untied(counts, max_rules) if ties == "drop" else max_rules


def count_untied(counts: IntArray, max_rules: int) -> int:
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


def at_stability(problem: Problem, stability: Stability) -> Problem:
    """Return the problem with the floor that a word or a share stands for."""
    if stability == APPROXIMATE:
        return problem.at(0)
    if not isinstance(stability, str):
        return problem.at(int(np.ceil(stability * problem.max_stability * ROUNDING)))
    # Where few rules leave a short sequence, a word is its last floor, the least stable.
    sequence = stability_floors(problem)
    return problem.at(int(sequence[min(PLACES[stability], len(sequence)) - 1]))


def stability_floors(problem: SelectionProblem) -> IntArray:
    """Return the paper's sequence of floors, descending, of the rules that may be chosen.

    Where constraints keep selections below its first floor, all floors are lowered by that share.
    """
    counts = np.delete(problem.counts, list(problem.fixed_out))
    sequence = epsilon_sequence(counts, problem.max_rules)
    largest = problem.max_stability
    if sequence[0] == largest:
        return sequence
    lowered = np.ceil(sequence * (largest / max(1, sequence[0])) * ROUNDING).astype(np.int64)
    return np.unique(lowered)[::-1]


def method_for(problem: SelectionProblem, stability: Stability, method: Method) -> Method:
    """Return the method to solve with: "low" stands for the paper's approximate algorithm."""
    # Coordinate descent knows no limits on features or signs: such problems are solved exactly.
    if stability == APPROXIMATE and not problem.is_limited:
        return "coordinate-descent"
    return method


def read_shares(points: int | Iterable[float]) -> FloatArray:
    """Return shares of the largest stability, descending: equal steps to a half, or those given."""
    if not isinstance(points, Iterable):
        return np.linspace(1.0, MIN_SHARE, check_integer("points", points))
    shares = sorted({check_number("points", share) for share in points}, reverse=True)
    if not shares or shares[0] > 1:
        raise InvalidParameter(
            f"points is {points!r}; pass a number of them, or shares of the largest stability in "
            "(0, 1]."
        )
    return np.array(shares)
