"""Random problems with a floor on each rule, of both losses; half have centred columns."""

import itertools
import math

import numpy as np

from mossrules.frontier import solve_frontier
from mossrules.solver import LinearConstraints, Options, Problem, Status, solve
from support.oracles import (
    fit_by_scipy,
    keeps_limits,
    logistic_losses,
    plain_stability,
    random_class_rows,
    signed_loss,
)

EXACT = Options(gap=0.0)


def conditions(rng: np.random.Generator, m: int, *, limited: bool) -> dict:
    """Return random fixings, signs and limits, each absent in most problems."""
    order = [int(i) for i in rng.permutation(m)]
    fixed_in = order[: rng.integers(0, 2)] if rng.random() < 0.4 else []
    found = {
        "fixed_in": fixed_in,
        "fixed_out": order[1 : 1 + rng.integers(1, 3)] if rng.random() < 0.3 else [],
        "signs": rng.integers(-1, 2, m) if rng.random() < 0.4 else None,
    }
    if not limited:
        return found
    features = rng.integers(0, 3, (2, m))
    groups = np.array([(features == g).any(axis=0) for g in range(3)])
    rows, most = np.zeros((0, m + 3)), np.zeros(0)
    if rng.random() < 0.7:  # so many rules of each group
        rows = np.vstack([rows, np.pad(groups, ((0, 0), (0, 3)))])
        most = np.append(most, rng.integers(1, 4, 3))
    if rng.random() < 0.5:  # so many groups
        rows, most = np.vstack([rows, np.repeat([0.0, 1.0], [m, 3])]), np.append(most, 2)
    if rng.random() < 0.2:  # one of some at least
        rows = np.vstack([rows, np.append(-1.0 * (rng.random(m) < 0.5), np.zeros(3))])
        most = np.append(most, -1)
    return found | {"constraints": LinearConstraints(rows, most, groups) if len(most) else None}


def random_floor(rng: np.random.Generator, problem):
    """Return the problem at a floor between 0 and the largest count, that at full size often."""
    top = problem.max_stability if rng.random() < 0.7 else problem.largest_floor
    return problem.at(int(rng.choice([0.0, 0.3, 0.6, 0.9, 1.0]) * top))


def squared_each(seed: int, *, limited: bool | None = None, most_rules: int = 12) -> Problem:
    """Return a small problem of rule columns, some never or everywhere true, or twice there."""
    rng = np.random.default_rng([19, seed])
    n, m = int(rng.integers(6, 50)), int(rng.integers(1, most_rules + 1))
    active = rng.random((n, m)) < rng.uniform(0.1, 0.9, m)
    for j in range(m):
        kind = rng.random()
        if kind < 0.05:
            active[:, j] = kind < 0.02
        elif kind < 0.2:
            active[:, j] = active[:, rng.integers(m)] ^ (kind < 0.12)  # a copy or the complement
    M = active * rng.normal(size=m)
    y = M @ rng.normal(size=m) * rng.integers(0, 2) + rng.normal(size=n)
    counts = rng.integers(0, int(rng.choice([2, 6, 40])), m)
    if seed % 2:  # its Gram matrix is G - uu'/n, with u the sums of the columns
        M = M - M.mean(axis=0)
    limited = bool(rng.random() < 0.4) if limited is None else limited
    problem = Problem.from_matrix(
        M,
        y - y.mean(),
        counts,
        max_rules=int(rng.integers(1, 5)),
        gamma=float(10 ** rng.uniform(-2.5, 1.5)),
        floor="each",
        **conditions(rng, m, limited=limited),
    )
    return random_floor(rng, problem)


def logistic_each(seed: int):
    """Return rows of two classes and a small problem of them."""
    rng = np.random.default_rng([20, seed])
    rows = random_class_rows(seed, most_rules=6)
    m = len(rows.counts)
    problem = rows.problem(
        max_rules=int(rng.integers(1, 5)),
        gamma=float(10 ** rng.uniform(-2, 2)),
        floor="each",
        **conditions(rng, m, limited=bool(rng.random() < 0.4)),
    )
    return rows, random_floor(rng, problem)


# --- brute force ----------------------------------------------------------------------------------


def all_pairs(problem, rows=None) -> list[tuple[int, float]]:
    """Return H1 and the least loss of every selection that keeps all but the floor."""
    sets = [
        support
        for size in range(min(problem.max_rules, problem.m) + 1)
        for support in itertools.combinations(range(problem.m), size)
        if set(problem.fixed_in) <= set(support)
        and not set(problem.fixed_out) & set(support)
        and keeps_limits(problem, support)
    ]
    if rows is None:
        losses = [signed_loss(problem, support) for support in sets]
    elif problem.signs is not None:
        losses = [fit_by_scipy(rows, S, problem.gamma, problem.signs).fun for S in sets]
    else:
        by_size = itertools.groupby(sets, len)
        losses = [
            float(loss)
            for _, some in by_size
            for loss in logistic_losses(rows, np.array(list(some), dtype=np.int64), problem.gamma)
        ]
    return [(plain_stability(problem, S), loss) for S, loss in zip(sets, losses, strict=True)]


def least_loss(pairs: list[tuple[int, float]], floor: int) -> float:
    """Return the least loss of the selections that meet a floor; infinity where there are none."""
    return min((loss for stability, loss in pairs if stability >= floor), default=math.inf)


def check_solution(problem, rows=None, method="auto", options=EXACT) -> None:
    """Hold a proven solution against every selection there is, and its certificate too."""
    best = least_loss(all_pairs(problem, rows), problem.min_stability)
    solution = solve(problem, method, options)
    if best == math.inf:
        assert solution.status is Status.INFEASIBLE
        return
    close = (1e-9 if rows is None else 1e-7) * problem.null_loss
    assert solution.status is Status.OPTIMAL
    assert abs(solution.loss - best) <= close
    assert solution.bound <= best + close
    assert problem.is_feasible(solution.support)
    support = solution.support.tolist()
    assert solution.stability == plain_stability(problem, support) >= problem.min_stability
    verified = solution.verify(problem)
    assert verified.passed, str(verified)


def check_complete(problem, rows=None, **how) -> None:
    """Hold a complete frontier against the least loss at each floor, and all certificates."""
    frontier = solve_frontier(problem, "complete", options=EXACT, **how)
    assert frontier.complete
    pairs = all_pairs(problem, rows)
    close = (1e-9 if rows is None else 1e-7) * problem.null_loss
    high = how.get("max_stability", problem.max_stability)
    floors = [0, *sorted({int(c) for c in problem.counts if c <= high})]
    least = [least_loss(pairs, floor) for floor in floors]
    for floor, loss in zip(floors, least, strict=True):
        found = [point.loss for point in frontier if point.stability >= floor]
        assert abs(min(found) - loss) <= close if found else loss == math.inf
    known = np.array([loss for loss in least if loss < math.inf])
    assert len(frontier) <= 1 + np.count_nonzero(np.diff(known) > 0)
    for entry in frontier.entries:
        assert entry.solution.verify(problem.at(entry.floor)).passed
