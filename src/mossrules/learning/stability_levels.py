"""What the words, shares and numbers of `stability` mean once the candidate rules are known.

The solver knows floors only: whole numbers that the sum of the counts must reach, or each of them.
Here a word or a share becomes such a floor of one problem. A new word is an entry of `PLACES`, for
floors on the sum, and of `SHARES_OF_EACH`.
"""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np

from mossrules import defaults
from mossrules._common import MOST_POINTS, check_integer, check_number
from mossrules._typing import FloatArray, IntArray
from mossrules.exceptions import InvalidParameter
from mossrules.frontier.sweep import epsilon_sequence, floors_within_reach

if TYPE_CHECKING:
    from mossrules.solver.options import Method
    from mossrules.solver.problems.selection import FloorKind, SelectionProblem

__all__ = [
    "AUTO",
    "Stability",
    "Ties",
    "at_stability",
    "check_stability",
    "count_untied",
    "default_stability",
    "effective_max_rules",
    "exempt_in_words",
    "floor_in_words",
    "method_for",
    "read_shares",
    "stability_floors",
]

Stability = Literal["auto", "high", "medium", "low"] | float | int
Ties = Literal["keep", "drop"]
Problem = TypeVar("Problem", bound="SelectionProblem")

PLACES = {"high": 3, "medium": 40}  # which floor of the paper's sequence E, counted from 1
# With a floor on each rule the words are shares, as places in a sequence of counts mean another
# thing in each table. On eleven of the paper's tables, with 15 rules and 500 trees, they left 21 to
# 63 of the candidates, 42 to 162, and 59 to 281.
SHARES_OF_EACH = {"high": 0.5, "medium": 0.2, "low": 0.1}
APPROXIMATE = "low"
AUTO = "auto"  # chosen by cross-validation

# Where equal steps of shares end. "medium", the 40th of the paper's floors, is at 0.42 to 0.51 of
# the largest stability on the tables that were looked at, and "high" at 0.89 to 0.96.
MIN_SHARE = 0.5
# With a floor on each rule, shares are in equal ratios down to this: as many more rules each time.
# At its end 90 to 590 candidates were left on those tables.
MIN_SHARE_OF_EACH = 0.05

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


def default_stability(floor: FloorKind) -> Stability:
    """Return the target where none is given: a tenth of the sum would ask for next to nothing."""
    target: Stability = defaults.STABILITY
    if isinstance(floor, str) and floor == "sum":  # what else it may be is checked later
        target = defaults.PAPER["stability"]
    return target


def check_stability(stability: Stability, floor: FloorKind = "sum") -> None:
    """Refuse what is no word, no share, and no number of rules where one can be given."""
    if isinstance(stability, str) and stability in (*PLACES, APPROXIMATE, AUTO):
        return
    is_number = not isinstance(stability, str) and _is_number_of_rules(stability)
    if is_number and floor == "each":
        return
    if isinstance(stability, str) or check_number("stability", stability) > 1:
        others = "; a number of rules goes with floor='each'." if is_number else "."
        if floor == "each":
            others = ", or a whole number of rules from 2 on (a number of trees: frontier.at)."
        raise InvalidParameter(
            f"stability is {stability!r}; choose 'auto', 'high', 'medium' or 'low', or a share of "
            f"the largest stability score in (0, 1]{others}"
        )


def _is_number_of_rules(stability: float) -> bool:
    return isinstance(stability, Integral) and not isinstance(stability, bool) and stability >= 2


def at_stability(problem: Problem, stability: Stability) -> Problem:
    """Return the problem with the floor that a word, a share or a number of rules stands for."""
    if problem.floor == "each":
        return problem.at(_floor_on_each(problem, stability))
    if stability == APPROXIMATE:
        return problem.at(0)
    if not isinstance(stability, str):
        return problem.at(int(np.ceil(stability * problem.max_stability * ROUNDING)))
    # Where few rules leave a short sequence, a word is its last floor, the least stable.
    sequence = stability_floors(problem)
    return problem.at(int(sequence[min(PLACES[stability], len(sequence)) - 1]))


def _floor_on_each(problem: SelectionProblem, stability: Stability) -> int:
    """Return the floor on each rule, which is the count of a rule: that of the last one allowed."""
    counts = np.sort(problem.counts[problem.free])[::-1]
    if len(counts) == 0:
        return 0
    if not isinstance(stability, str) and _is_number_of_rules(stability):
        return int(counts[min(int(stability), len(counts)) - 1])
    share = SHARES_OF_EACH[stability] if isinstance(stability, str) else stability
    allowed = counts[counts >= share * problem.max_stability * ROUNDING]
    return int(allowed.min(initial=counts[0]))


def floor_in_words(problem: SelectionProblem, n_trees: int, chosen: IntArray) -> str | None:
    """Return in how many trees each of the chosen rules is, where the floor is on each rule.

    Of the rules themselves, as a floor may be far below them, and a report shows points without
    it. Rules that were required or approved are exempt; None where there are no others.
    """
    others = np.setdiff1d(chosen, (*problem.fixed_in, *problem.approved))
    if problem.floor == "sum" or len(others) == 0:
        return None
    least = int(problem.counts[others].min())
    # In whole numbers, and rounded down: the sentence must not say more than is true.
    share = (1000 * least // n_trees) / 10.0 or (100_000 * least // n_trees) / 1000.0
    those = f"Every rule{exempt_in_words(problem, chosen, least)}"
    return f"{those} is in at least {share:g} % of the trees."


def exempt_in_words(problem: SelectionProblem, chosen: IntArray, least: int) -> str:
    """Return which rules may be in fewer trees, where some of those are."""
    kinds = {"required": problem.fixed_in, "approved": np.intersect1d(chosen, problem.approved)}
    rarer = [kind for kind, rules in kinds.items() if (problem.counts[list(rules)] < least).any()]
    return f" that was not {' or '.join(rarer)}" if rarer else ""


def stability_floors(problem: SelectionProblem) -> IntArray:
    """Return the paper's sequence of floors, descending, of the rules that may be chosen.

    Where constraints keep selections below its first floor, all floors are lowered by that share.
    With a floor on each rule, it is the counts of rules from the largest stability on.
    """
    if problem.floor == "each":
        return floors_within_reach(problem)
    counts = np.delete(problem.counts, list(problem.fixed_out))
    sequence = epsilon_sequence(counts, problem.max_rules)
    largest = problem.max_stability
    if sequence[0] == largest:
        return sequence
    lowered = np.ceil(sequence * (largest / max(1, sequence[0])) * ROUNDING).astype(np.int64)
    return np.unique(lowered)[::-1]


def method_for(problem: SelectionProblem, stability: Stability, method: Method) -> Method:
    """Return the method to solve with: "low" stands for the paper's approximate algorithm."""
    # Coordinate descent knows no limits on features: such problems are solved exactly. So are those
    # with a floor on each rule, where "low" is a floor like others.
    if stability == APPROXIMATE and problem.constraints is None and problem.floor == "sum":
        return "coordinate-descent"
    return method


def read_shares(points: int | Iterable[float], floor: FloorKind = "sum") -> FloatArray:
    """Return shares of the largest stability, descending: equal steps to a half, or those given.

    With a floor on each rule, equal ratios to a twentieth.
    """
    if not isinstance(points, Iterable):
        number = check_integer("points", points, maximum=MOST_POINTS)
        if floor == "each":
            return np.geomspace(1.0, MIN_SHARE_OF_EACH, number)
        return np.linspace(1.0, MIN_SHARE, number)
    shares = sorted({check_number("points", share) for share in points}, reverse=True)
    if not shares or shares[0] > 1:
        raise InvalidParameter(
            f"points is {points!r}; pass a number of them, or shares of the largest stability in "
            "(0, 1]."
        )
    return np.array(shares)
