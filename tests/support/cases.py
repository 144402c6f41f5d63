"""Problems that are hard on a solver: degenerate columns, extreme scales, few or many fixings."""

from __future__ import annotations

import numpy as np

from mossrules.solver.problems.logistic import LogisticProblem
from mossrules.solver.problems.squared import LinearConstraints, Problem


def wild_columns(rng, n, m):
    """Return rule-like columns, some zero, repeated, parallel or sums and differences of others."""
    M = (rng.random((n, m)) < rng.uniform(0.1, 0.9)) * rng.normal(size=m)
    if rng.random() < 0.3:
        M = rng.normal(size=(n, m))
    for j in range(m):
        kind, others = rng.random(), rng.integers(m, size=2)
        if kind < 0.07:
            M[:, j] = 0.0
        elif kind < 0.20:
            M[:, j] = M[:, others[0]]
        elif kind < 0.26:
            M[:, j] = -2.0 * M[:, others[0]]
        elif kind < 0.34:
            M[:, j] = M[:, others[0]] + M[:, others[1]]
        elif kind < 0.40:
            M[:, j] = M[:, others[0]] - M[:, others[1]]
    return M


def wild_problem(seed: int, *, strongest: float = 11.5) -> Problem:
    """Return one of endlessly many problems of up to 14 rules; all kinds of trouble are frequent.

    The scales of target and columns vary over many orders of magnitude, as does gamma: up to
    10^strongest of what the longest column needs. Floors go from 0 to the largest stability, and a
    third of the problems have fixed rules.
    """
    rng = np.random.default_rng([7, seed])
    n, m = int(rng.integers(2, 50)), int(rng.integers(1, 15, size=2).max())
    M = wild_columns(rng, n, m) * 10.0 ** rng.choice([-3, 0, 0, 0, 3])
    y = (M @ rng.normal(size=m)) * rng.integers(0, 2)
    y = y + rng.choice([0.0, 0.1, 1.0, 1.0]) * (y.std() or 1.0) * rng.normal(size=n)
    y = (y - y.mean()) * 10.0 ** rng.choice([-6, -2, 0, 0, 0, 3, 6])
    counts = rng.integers(0, int(rng.choice([1, 2, 6, 40, 500])), m)
    length = float((M**2).sum(axis=0).max()) or 1.0
    settings = {"gamma": 10.0 ** rng.uniform(-4, strongest) / length}
    settings["max_rules"] = k = int(rng.integers(1, 6))
    if rng.random() < 0.35:
        order = rng.permutation(m)
        n_in, n_out = min(rng.integers(0, 3), k, m), rng.integers(0, 4)
        settings |= {"fixed_in": order[:n_in], "fixed_out": order[n_in : n_in + n_out]}
    problem = Problem.from_matrix(M, y, counts, **settings)
    return floored(problem, float(rng.choice([0.0, 0.3, 0.6, 0.8, 0.9, 0.97, 1.0, 1.0])))


def limited_problem(seed: int) -> Problem:
    """Return a small problem with limits on rules and on groups, fixed rules, signs, or none.

    The groups are like features, of which each rule has one or two.
    """
    rng = np.random.default_rng([3, seed])
    m, p = int(rng.integers(3, 10)), 4
    M = wild_columns(rng, 30, m)
    y = M @ rng.normal(size=m) * rng.integers(0, 2) + rng.normal(size=30)
    features = rng.integers(0, p, (2, m))
    groups = np.array([(features == g).any(axis=0) for g in range(p)])
    rows, most = np.zeros((0, m + p)), np.zeros(0)
    if rng.random() < 0.6:  # so many rules of each group
        rows = np.vstack([rows, np.pad(groups, ((0, 0), (0, p)))])
        most = np.append(most, rng.integers(0, 4, p))
    if rng.random() < 0.6:  # so many groups
        rows = np.vstack([rows, np.repeat([0.0, 1.0], [m, p])])
        most = np.append(most, rng.integers(1, 4))
    if rng.random() < 0.2:  # one of some at least
        rows = np.vstack([rows, np.append(-1.0 * (rng.random(m) < 0.4), np.zeros(p))])
        most = np.append(most, -1)
    problem = Problem.from_matrix(
        M,
        y - y.mean(),
        rng.integers(0, 20, m),
        max_rules=int(rng.integers(1, 5)),
        gamma=10.0 ** rng.uniform(-3, 2),
        fixed_in=rng.permutation(m)[: rng.integers(0, 2)],
        constraints=LinearConstraints(rows, most, groups) if len(most) else None,
        signs=rng.integers(-1, 2, m) if rng.random() < 0.5 else None,
    )
    return problem.at(int(rng.choice([0.0, 0.5, 0.9, 1.0]) * problem.max_stability))


def floored(problem: Problem, share: float) -> Problem:
    """Return the problem with a share of the largest stability for its floor."""
    return problem.at(int(share * problem.max_stability_unlimited))


def hard_problem(m: int = 40, k: int = 6, seed: int = 0, **settings) -> Problem:
    """Return a problem without structure, which takes branch and bound thousands of nodes."""
    rng = np.random.default_rng(seed)
    M, y = rng.normal(size=(2 * m, m)), rng.normal(size=2 * m)
    settings = {"max_rules": k, "gamma": 1.0, **settings}
    return Problem.from_matrix(M, y, rng.integers(0, 40, m), **settings)


def mixed_problem(seed: int) -> Problem:
    """Return a problem that is degenerate, or one that has many selections of nearly equal loss."""
    if seed % 2:
        return wild_problem(seed, strongest=4)
    problem = hard_problem(m=12, k=2 + seed % 3, seed=seed, gamma=10.0 ** (seed % 5 - 3))
    return floored(problem, (seed % 7) / 7)


def swap_nothing(*arguments):
    """Stand in for the local search: evaluate the selection, and leave it as it is."""
    data, floor, allowed, support, first, rounds = arguments
    assert data.counts[support].sum() >= floor
    assert not allowed[support].any()
    assert min(first, rounds) >= 0
    A = data.G[np.ix_(support, support)] + np.eye(len(support)) / data.gamma
    return 0.5 * data.q[support] @ np.linalg.solve(A, data.q[support])


def hard_classes() -> LogisticProblem:
    """Return a problem of two classes that the root does not solve: rules overlap, few rows."""
    rng = np.random.default_rng(5)
    values = rng.normal(size=(300, 6))
    active = np.column_stack(
        [
            (values[:, a] > cut) & (values[:, b] < cut)
            for a in range(6)
            for b in range(6)
            for cut in (-0.5, 0.3)
            if a != b
        ]
    )
    y = rng.random(300) < 1 / (1 + np.exp(-values[:, 0] - values[:, 1] * (values[:, 2] > 0)))
    counts = rng.integers(1, 60, active.shape[1])
    return LogisticProblem.from_matrix(
        active, y.astype(float), counts, weights=np.ones(300), max_rules=6, gamma=2.0
    )
