"""Random problems with approved rules, of both losses, and every selection of them."""

import itertools
import math

import numpy as np

from mossrules.exceptions import InfeasibleProblem
from mossrules.frontier import solve_frontier
from mossrules.solver import LogisticProblem, Options, Status, solve
from support.each_floor_cases import logistic_each, squared_each
from support.oracles import fit_by_scipy, keeps_limits, logistic_losses, signed_loss

EXACT = Options(gap=0.0)


def approved_case(seed: int, *, classes: bool):
    """Return rows (None of numbers), and a problem in which some rules are approved, none kept yet.

    Approved rules are often among the rarest, where the floor on each rule would leave them out.
    """
    rng = np.random.default_rng([23, seed])
    rows, problem = logistic_each(seed) if classes else (None, squared_each(seed, most_rules=9))
    rarest = np.argsort(problem.counts, kind="stable")
    order = rarest if rng.random() < 0.5 else rng.permutation(problem.m)
    approved = [int(i) for i in order[: rng.integers(1, problem.m + 1)]]
    return rows, problem.keeping(approved, 0)


def selections(problem, rows=None) -> list[tuple[tuple[int, ...], int, float]]:
    """Return every selection of a problem but for the number of approved rules, that, and its loss.

    By the plain definitions: sizes, fixings, limits, and trees of all rules that are not exempt.
    """
    exempt = {*problem.fixed_in, *problem.approved}
    sets = [
        S
        for size in range(min(problem.max_rules, problem.m) + 1)
        for S in itertools.combinations(range(problem.m), size)
        if set(problem.fixed_in) <= set(S)
        and not set(problem.fixed_out) & set(S)
        and keeps_limits(problem, S)
        and all(problem.counts[i] >= problem.min_stability for i in S if i not in exempt)
    ]
    if rows is None:
        losses = [signed_loss(problem, S) for S in sets]
    elif problem.signs is not None:
        losses = [fit_by_scipy(rows, S, problem.gamma, problem.signs).fun for S in sets]
    else:
        losses = [
            float(loss)
            for _, some in itertools.groupby(sets, len)
            for loss in logistic_losses(rows, np.array(list(some), dtype=np.int64), problem.gamma)
        ]
    kept = [len(set(S) & set(problem.approved)) for S in sets]
    return list(zip(sets, kept, losses, strict=True))


def best_keeping(everything, number: int) -> float:
    """Return the least loss of the selections with so many approved rules; infinity without any."""
    return min((loss for _, kept, loss in everything if kept >= number), default=math.inf)


def tolerance(problem) -> float:
    """Return how far two ways to compute a loss may be apart."""
    return (1e-7 if isinstance(problem, LogisticProblem) else 1e-9) * problem.null_loss


def check_near(problem, number: int, everything, **how) -> None:
    """Hold the selection of the least loss that keeps so many approved rules against all."""
    best = best_keeping(everything, number)
    try:
        problem = problem.keeping(problem.approved, number)
    except InfeasibleProblem:
        assert best == math.inf
        return
    solution = solve(problem, options=EXACT, **how)
    if best == math.inf:
        assert solution.status is Status.INFEASIBLE
        return
    support = solution.support.tolist()
    assert solution.status is Status.OPTIMAL
    assert abs(solution.loss - best) <= tolerance(problem)
    assert solution.bound <= best + tolerance(problem)
    assert len(set(support) & set(problem.approved)) >= number
    assert tuple(support) in {S for S, _, _ in everything}
    assert problem.is_feasible(solution.support)
    verified = solution.verify(problem)
    assert verified.passed, str(verified)


def check_price(problem, everything) -> None:
    """Hold the complete frontier of approved rules against loss against every selection."""
    counting = problem.counting_approved()
    frontier = solve_frontier(counting, "complete", options=EXACT)
    assert frontier.complete
    known = {number: best_keeping(everything, number) for number in range(problem.m + 1)}
    possible = [number for number, least in known.items() if least < math.inf]
    for number, least in known.items():
        found = [point.loss for point in frontier if point.stability >= number]
        assert abs(min(found) - least) <= tolerance(problem) if found else least == math.inf
    assert frontier.max_stability == max(possible, default=0)
    assert problem.max_approved == max(possible, default=-1)
    for entry in frontier.entries:
        verified = entry.solution.verify(counting.at(entry.floor))
        assert verified.passed, str(verified)
