"""A floor on the approved rules: at least so many of the rules of an earlier rule set are kept.

Notation (the rest as in `squared`)
    A         the approved rules
    a         their indicator: a_i is 1 for i in A, and 0 elsewhere              (m,)
    p         how many of them a selection must have: a'z >= p

Like the sum of the counts, a'z is a sum over the selection, so this floor is one on the sum, of
counts a. It goes with a floor on each rule, which only fixes rules out and then needs no counts
(`each_floor`): `SelectionProblem.counting_approved` is that problem, and no search knows of either
floor. With a floor on the sum of the trees there would be two sums, and one of them a row of limits
`A z <= b`, under which searches take longer; that is left to those who ask for it there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from mossrules.exceptions import InfeasibleProblem, InvalidParameter

if TYPE_CHECKING:
    from mossrules.solver.problems.selection import SelectionProblem

__all__ = ["check_approved", "n_approved"]


def n_approved(problem: SelectionProblem, support: Iterable[int]) -> int:
    """Return how many approved rules a selection has."""
    return len(set(problem.approved).intersection(map(int, support)))


def check_approved(problem: SelectionProblem) -> None:
    """Refuse a floor on approved rules that size and fixings rule out, limits left aside."""
    approved, wanted = set(problem.approved), problem.min_approved
    if problem.floor == "sum" and approved:
        raise InvalidParameter("approved goes with floor='each'; choose that, or leave it out.")
    places = problem.max_rules - len(set(problem.fixed_in) - approved)
    most = min(places, len(approved - set(problem.fixed_out)))
    if wanted > most:
        raise InfeasibleProblem(
            f"min_approved is {wanted}, and no selection has more than {most} of the "
            f"{len(approved)} approved rules; ask for at most that."
        )
