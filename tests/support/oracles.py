"""Second implementations, slow and plain, that the library is tested against."""

from __future__ import annotations

import gzip
import itertools
import math
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest
import scipy.optimize
import scipy.special
from scipy.optimize import nnls

from mossrules.candidates.codes import encode_table
from mossrules.candidates.cuts import fit_binning
from mossrules.candidates.rules import Levels
from mossrules.data.chunks import row_ranges
from mossrules.data.columns import Kind
from mossrules.data.rows import Rows
from mossrules.data.table import Table
from mossrules.solver.problems.logistic import LogisticProblem
from mossrules.solver.problems.squared import Problem

SHARED_DATA = Path(__file__).parents[3] / "shared" / "data"


def encode(X, y, *, n_bins=10, weights=None, chunk_rows=None, n_jobs=1, source=None):
    """Take raw arrays through binning to the encoded table that the forest reads."""
    table = Table.from_any(X)
    chunks = row_ranges(table.n_rows, n_jobs=n_jobs, chunk_rows=chunk_rows)
    weights = None if weights is None else np.asarray(weights, dtype=np.float64)
    target = np.asarray(y, dtype=np.float64)
    rows = Rows.from_table(table, target, weights, spans=chunks, keeps_order=True)
    binning = fit_binning(rows, n_bins=n_bins, n_jobs=n_jobs)
    binning = binning if source is None else source.adapt(binning)
    return encode_table(rows, binning, n_jobs=n_jobs)


def openml(name: str) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Read one of the paper's numeric datasets (target last), or skip where it is not there."""
    path = SHARED_DATA / "openml" / f"{name}.csv.gz"
    if not path.exists():
        pytest.skip(f"needs the paper's dataset {name}, which is not part of the repository")
    with gzip.open(path, "rt") as lines:
        header = next(lines).strip().split(",")
        values = np.loadtxt(lines, delimiter=",")
    return header[:-1], values[:, :-1], values[:, -1]


# --- SplitMix64 and Poisson(1) in Python integers ------------------------------------------------

_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15


def mix(state: int) -> int:
    """Return the SplitMix64 output of a state (Steele, Lea and Flood, 2014)."""
    state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & _MASK
    return state ^ (state >> 31)


def stream_key(seed: int, purpose: int, index: int) -> int:
    """Return the key of a stream."""
    key = mix((mix((seed + _GOLDEN) & _MASK) + purpose * _GOLDEN) & _MASK)
    return mix((key + index * _GOLDEN) & _MASK)


def bootstrap_weights(seed: int, tree: int, n_rows: int) -> np.ndarray:
    """Return how often each row is drawn into a tree."""
    key = stream_key(seed, 1, tree // 4)
    weights = np.empty(n_rows, dtype=np.int64)
    for row in range(n_rows):
        uniform = (mix((key + row * _GOLDEN) & _MASK) >> (16 * (tree % 4))) & 0xFFFF
        weights[row] = poisson_quantile((uniform + 0.5) / 65536)
    return weights


def poisson_quantile(probability: float) -> int:
    """Return the smallest count whose Poisson(1) distribution function reaches `probability`."""
    count, term, cumulative = 0, math.exp(-1.0), math.exp(-1.0)
    while cumulative < probability:
        count += 1
        term /= count
        cumulative += term
    return count


# --- rules evaluated on raw values ----------------------------------------------------------------


def holds(rule, binning, X: dict[str, np.ndarray]) -> np.ndarray:
    """Evaluate a rule on raw columns by its thresholds, without codes."""
    result = np.ones(len(next(iter(X.values()))), dtype=bool)
    for condition in rule.conditions:
        result &= _condition_holds(condition, binning[condition.feature], X[condition.feature])
    return result


def _condition_holds(condition, column, values: np.ndarray) -> np.ndarray:
    if isinstance(condition, Levels):
        inside = np.array([value in condition.levels for value in values])
        return inside if condition.inside else ~inside
    if column.kind is Kind.ORDERED:
        ranks = {level: rank for rank, level in enumerate(column.levels)}
        values = np.array([ranks.get(value, np.nan) for value in values])
    values = values.astype(np.float64)
    missing = np.isnan(values)
    thresholds = [-np.inf, *column.cuts, np.inf]
    lower = thresholds[condition.low - 1]
    upper = thresholds[min(condition.high, len(thresholds) - 1)]
    inside = (values > lower) & (values <= upper) if condition.low <= condition.high else False
    return np.where(missing, condition.missing, inside).astype(bool)


def dense_statistics(columns: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None):
    """Return (N, v, G, q, yy, n) of 0/1 rule columns by floating-point matrix products."""
    weights = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=np.float64)
    mean = np.average(y, weights=weights)
    scale = np.sqrt(np.average((y - mean) ** 2, weights=weights))
    z = (y - mean) / scale
    A = columns.astype(np.float64)
    N = A.T @ (weights[:, None] * A)
    s = A.T @ (weights * z)
    v = np.divide(s, np.diag(N), out=np.zeros_like(s), where=np.diag(N) > 0)
    M = A * v
    return (
        N,
        v,
        M.T @ (weights[:, None] * M),
        M.T @ (weights * z),
        float(weights @ z**2),
        weights.sum(),
    )


# --- rule selection by trying everything ----------------------------------------------------------


def brute_force(problem) -> tuple[float, np.ndarray | None]:
    """Return the least loss of all feasible selections and a selection that has it.

    All sizes are tried. The loss is the objective itself at the solution of the normal equations.
    """
    data, best, support = problem.statistics, np.inf, None
    for size in range(min(problem.max_rules, problem.m) + 1):
        sets = np.array(list(itertools.combinations(range(problem.m), size)), dtype=np.int64)
        sets = sets.reshape(math.comb(problem.m, size), size)
        sets = sets[_meets_conditions(problem, sets)]
        if not len(sets):
            continue
        G, q = data.G[sets[:, :, None], sets[:, None, :]], data.q[sets]
        w = np.linalg.solve(G + np.eye(size) / problem.gamma, q[:, :, None])[:, :, 0]
        fit = data.yy - 2 * (q * w).sum(axis=1) + np.einsum("ni,nij,nj->n", w, G, w)
        losses = 0.5 * (fit + (w**2).sum(axis=1) / problem.gamma)
        if losses.min() < best:
            best, support = float(losses.min()), sets[losses.argmin()]
    return best, support


def _meets_conditions(problem, sets: np.ndarray) -> np.ndarray:
    z = np.zeros((len(sets), problem.m))
    np.put_along_axis(z, sets, 1.0, axis=1)
    meets = _meets_floor(problem, z == 1)
    meets &= (z[:, list(problem.fixed_in)] == 1).all(axis=1)
    meets &= (z[:, list(problem.fixed_out)] == 0).all(axis=1)
    if problem.constraints is not None:
        meets &= (z @ problem.constraints.A.T <= problem.constraints.b + 1e-9).all(axis=1)
    return meets


def _meets_floor(problem, chosen: np.ndarray) -> np.ndarray:
    """Tell which selections, as rows of marks, meet the floor on the sum or on each free count."""
    if problem.floor == "sum":
        return chosen @ problem.counts >= problem.min_stability
    exempt = np.isin(np.arange(problem.m), problem.fixed_in)
    return ~(chosen & ~exempt & (problem.counts < problem.min_stability)).any(axis=1)


def plain_stability(problem, support) -> int:
    """Return H1 of a selection: counts added up, or the least of those that are not fixed in."""
    counts = [int(problem.counts[i]) for i in support]
    if problem.floor == "sum":
        return sum(counts)
    free = [count for i, count in zip(support, counts, strict=True) if i not in problem.fixed_in]
    return min(free, default=int(max(problem.counts)))


def random_problem(seed: int, *, floor: float | None = None, **settings):
    """Return a small problem: 0/1 columns with values, some zero, repeated or sums of others.

    `floor` is a share of the largest stability; None draws one, 0 and 1 among them.
    """
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 50)), int(rng.integers(1, 13))
    M = (rng.random((n, m)) < rng.uniform(0.1, 0.9)) * rng.normal(size=m)
    for j in range(m):
        kind = rng.random()
        if kind < 0.1:
            M[:, j] = 0.0
        elif kind < 0.2:
            M[:, j] = M[:, rng.integers(m)]
        elif kind < 0.3:
            M[:, j] = M[:, rng.integers(m)] + M[:, rng.integers(m)]
    y = M @ rng.normal(size=m) * rng.integers(0, 2) + rng.normal(size=n)
    counts = rng.integers(0, int(rng.choice([2, 6, 40])), m)
    drawn = {"max_rules": int(rng.integers(1, 6)), "gamma": float(10 ** rng.uniform(-2.5, 1.5))}
    problem = Problem.from_matrix(M, y - y.mean(), counts, **{**drawn, **settings})
    share = float(rng.choice([0.0, 0.5, 0.8, 0.9, 1.0])) if floor is None else floor
    return problem.at(int(share * problem.max_stability_unlimited))


# --- all selections of rules ----------------------------------------------------------------------


def all_selections(problem) -> tuple[list[tuple[int, ...]], np.ndarray]:
    """Return every feasible selection, ascending positions, and the loss of each."""
    found, losses = [], []
    for size in range(min(problem.max_rules, problem.m) + 1):
        for support in itertools.combinations(range(problem.m), size):
            if _meets_conditions(problem, np.array([support], dtype=np.int64)).all():
                found.append(support)
                losses.append(plain_loss(problem, support))
    return found, np.array(losses)


def plain_loss(problem, support) -> float:
    """Return the ridge objective itself at the weights that the normal equations give."""
    data, S = problem.statistics, list(support)
    G, q = data.G[np.ix_(S, S)], data.q[S]
    w = np.linalg.solve(G + np.eye(len(S)) / problem.gamma, q)
    return float(0.5 * (data.yy - 2 * q @ w + w @ G @ w + w @ w / problem.gamma))


def brute_force_pool(problem, tolerance: float) -> tuple[list[tuple[int, ...]], np.ndarray]:
    """Return the feasible selections with a loss of at most (1 + tolerance) times the optimum.

    They are sorted by loss, equal ones by their positions. A rounding error of yy/2 is allowed, so
    that selections which tie with the optimum are there at a tolerance of 0.
    """
    found, losses = all_selections(problem)
    if not found:
        return [], np.empty(0)
    limit = (1.0 + tolerance) * losses.min() + 1e-12 * 0.5 * problem.statistics.yy
    kept = sorted((loss, support) for loss, support in zip(losses, found, strict=True)
                  if loss <= limit)  # fmt: skip
    return [support for _, support in kept], np.array([loss for loss, _ in kept])


def brute_force_frontier(problem) -> list[tuple[int, float]]:
    """Return all pairs of H1 and H2 that no selection beats in both, the most stable first.

    The problem's floor plays no part; losses that differ by rounding count as equal.
    """
    found, losses = all_selections(problem.at(0))
    pairs = [
        (plain_stability(problem, support), float(loss))
        for support, loss in zip(found, losses, strict=True)
    ]
    best: list[tuple[int, float]] = []
    for stability, loss in sorted(pairs, key=lambda pair: (-pair[0], pair[1])):
        if not best or loss < best[-1][1] * (1 - 1e-9):
            best.append((stability, loss))
    return best


# --- a proof that a convex problem is solved ------------------------------------------------------


def generalised_lasso_bound(G, q, F, w: np.ndarray, reach: float) -> float:
    """Return what f(u) = u'Gu/2 - q'u + |F u|_1 is nowhere below, for all u of |u|_1 <= reach.

    For every |s| <= 1, f is above the quadratic with s'Fu in place of |Fu|_1, and that is above
    its tangent at w. The best s, by linear programming, gives f(w) itself if w is a minimum.
    """
    r = q - G @ w
    spread = np.abs(w).sum() + reach
    k = len(F)
    slack = np.ones((len(q), 1))
    found = scipy.optimize.linprog(
        np.append(-(F @ w), spread),
        A_ub=np.block([[F.T, -slack], [-F.T, -slack]]),
        b_ub=np.concatenate([r, -r]),
        bounds=[(-1, 1)] * k + [(0, None)],
    )
    assert found.status == 0, found.message
    s = np.clip(found.x[:k], -1, 1)
    steepest = np.abs(F.T @ s - r).max(initial=0.0)
    return float(0.5 * w @ G @ w - q @ w + s @ F @ w - spread * steepest)


# --- limits on selections and signs of weights ----------------------------------------------------


def signed_loss(problem, support) -> float:
    """Return the loss of a selection whose weights have the signs asked for, by scipy."""
    S = list(support)
    data = problem.statistics
    if not S:
        return data.yy / 2
    A, q = data.G[np.ix_(S, S)] + np.eye(len(S)) / problem.gamma, data.q[S]
    signs = np.zeros(len(S)) if problem.signs is None else problem.signs[S]
    w = np.linalg.solve(A, q)
    if (signs * w < 0).any():
        L = np.linalg.cholesky(A)
        free, turned = signs == 0, np.where(signs < 0, -1.0, 1.0)
        columns = np.hstack([L.T * turned, -L.T[:, free]])  # one for each sign a weight may have
        u, _ = nnls(columns, np.linalg.solve(L, q))
        w = turned * u[: len(S)]
        w[free] -= u[len(S) :]
    return float(data.yy / 2 - q @ w + w @ A @ w / 2)


def keeps_limits(problem, support) -> bool:
    """Tell whether a selection keeps limits on rules and groups, counted one by one."""
    limits = problem.constraints
    if limits is None:
        return True
    for row, most in zip(limits.A, limits.b, strict=True):
        total = sum(row[i] for i in support)
        for g, members in enumerate(limits.groups):
            total += row[problem.m + g] * any(members[i] for i in support)
        if total > most + 1e-6:
            return False
    return True


def brute_force_limited(problem) -> tuple[float, tuple[int, ...] | None]:
    """Return the least loss under limits and signs, and a selection that has it."""
    best, found = math.inf, None
    for size in range(min(problem.max_rules, problem.m) + 1):
        for support in itertools.combinations(range(problem.m), size):
            chosen = np.isin(np.arange(problem.m), support)
            if (
                set(problem.fixed_in) <= set(support)
                and not set(problem.fixed_out) & set(support)
                and _meets_floor(problem, chosen[None, :]).all()
                and keeps_limits(problem, support)
            ):
                loss = signed_loss(problem, support)
                if loss < best:
                    best, found = loss, support
    return best, found


# --- two classes, from rows -----------------------------------------------------------------------


@dataclass(frozen=True)
class ClassRows:
    """Rows of two classes: where rules hold (n, m), class 0 or 1, weights; and counts of rules."""

    active: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    counts: np.ndarray

    @cached_property
    def base(self) -> float:
        """Log-odds of the share of class 1."""
        ones = float(self.weights @ self.y)
        return math.log(ones / (self.weights.sum() - ones))

    @cached_property
    def columns(self) -> np.ndarray:
        """Rule columns: the mean scaled target of a rule's rows, where it holds."""
        return self.active * dense_statistics(self.active, self.y, self.weights)[1]

    def problem(self, **settings) -> LogisticProblem:
        """Return the problem of these rows."""
        return LogisticProblem.from_matrix(
            self.active, self.y, self.counts, weights=self.weights, **settings
        )


def logistic_objective(theta, rows: ClassRows, support, gamma: float) -> float:
    """Return the loss of weights and, last, what the intercept adds to the base."""
    eta = rows.base + theta[-1] + rows.columns[:, list(support)] @ theta[:-1]
    fit = rows.y * np.logaddexp(0, -eta) + (1 - rows.y) * np.logaddexp(0, eta)
    ridge = theta[:-1] @ theta[:-1] / (2 * gamma) + theta[-1] ** 2 / (200 * gamma)
    return float(rows.weights @ fit + ridge)


def fit_by_scipy(rows: ClassRows, support, gamma: float, signs=None):
    """Return scipy's minimum of the objective; with signs, within their bounds."""
    columns = rows.columns[:, list(support)]

    def slope(theta):
        eta = rows.base + theta[-1] + columns @ theta[:-1]
        residual = rows.weights * (scipy.special.expit(eta) - rows.y)
        by_weights = columns.T @ residual + theta[:-1] / gamma
        return np.append(by_weights, residual.sum() + theta[-1] / (100 * gamma))

    sides = {-1: (None, 0), 0: (None, None), 1: (0, None)}
    bounds = None if signs is None else [sides[int(signs[i])] for i in support] + [(None, None)]
    return scipy.optimize.minimize(
        lambda theta: logistic_objective(theta, rows, support, gamma),
        np.zeros(columns.shape[1] + 1),
        jac=slope,
        bounds=bounds,
        method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 1000},
    )


def logistic_losses(rows: ClassRows, sets: np.ndarray, gamma: float) -> np.ndarray:
    """Return the least objective of many selections of one size, by Newton's method on all."""
    n_sets, size = sets.shape
    X = np.ones((n_sets, len(rows.y), size + 1))
    X[:, :, :-1] = rows.columns[:, sets].transpose(1, 0, 2)
    ridge = np.append(np.full(size, 1 / gamma), 1 / (100 * gamma))

    def value(theta):
        eta = rows.base + np.einsum("snk,sk->sn", X, theta)
        fit = rows.y * np.logaddexp(0, -eta) + (1 - rows.y) * np.logaddexp(0, eta)
        return fit @ rows.weights + 0.5 * (theta**2 @ ridge)

    theta, best = np.zeros((n_sets, size + 1)), value(np.zeros((n_sets, size + 1)))
    for _ in range(50):
        p = scipy.special.expit(rows.base + np.einsum("snk,sk->sn", X, theta))
        slope = np.einsum("snk,sn->sk", X, rows.weights * (p - rows.y)) + ridge * theta
        bend = np.einsum("snk,sn,snl->skl", X, rows.weights * p * (1 - p), X) + np.diag(ridge)
        step = np.linalg.solve(bend, slope[:, :, None])[:, :, 0]
        if ((slope * step).sum(axis=1) <= 1e-13 * best).all():
            break
        share = np.ones((n_sets, 1))
        for _ in range(20):
            worse = value(theta - share * step) > best
            share[worse] /= 2
        theta = np.where(value(theta - share * step)[:, None] <= best[:, None],
                         theta - share * step, theta)  # fmt: skip
        best = value(theta)
    return best


def brute_force_logistic(rows: ClassRows, problem) -> float:
    """Return the least objective of all feasible selections, found from the rows."""
    best = np.inf
    for size in range(min(problem.max_rules, problem.m) + 1):
        sets = np.array(list(itertools.combinations(range(problem.m), size)), dtype=np.int64)
        sets = sets.reshape(math.comb(problem.m, size), size)
        plain = replace(problem, constraints=None)
        sets = sets[_meets_conditions(plain, sets)]
        sets = sets[np.array([keeps_limits(problem, S) for S in sets], dtype=bool)]
        if len(sets) and problem.signs is None:
            best = min(best, float(logistic_losses(rows, sets, problem.gamma).min()))
        elif len(sets):
            losses = [fit_by_scipy(rows, S, problem.gamma, problem.signs).fun for S in sets]
            best = min(best, *losses)
    return best


def brute_force_logistic_pool(
    rows: ClassRows, problem, tolerance: float
) -> dict[tuple[int, ...], float]:
    """Return the feasible selections within a tolerance of the optimum, with losses from the rows.

    There must be no signs and no limits. As much rounding is allowed as between equal losses.
    """
    losses: dict[tuple[int, ...], float] = {}
    for size in range(min(problem.max_rules, problem.m) + 1):
        sets = np.array(list(itertools.combinations(range(problem.m), size)), dtype=np.int64)
        sets = sets.reshape(math.comb(problem.m, size), size)
        sets = sets[_meets_conditions(problem, sets)]
        if len(sets):
            least = logistic_losses(rows, sets, problem.gamma).tolist()
            losses |= dict(zip(map(tuple, sets.tolist()), least, strict=True))
    limit = (1.0 + tolerance) * min(losses.values()) + 1e-9 * problem.null_loss
    return {support: loss for support, loss in losses.items() if loss <= limit}


def random_class_rows(seed: int, *, most_rules: int = 7) -> ClassRows:
    """Return few rows of two classes; some rules hold nowhere, twice, or where others do."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(4, 40)), int(rng.integers(1, most_rules + 1))
    active = rng.random((n, m)) < rng.uniform(0.1, 0.9)
    for j in range(m):
        kind = rng.random()
        if kind < 0.1:
            active[:, j] = False
        elif kind < 0.2:
            active[:, j] = active[:, rng.integers(m)]
        elif kind < 0.3:
            active[:, j] = active[:, rng.integers(m)] | active[:, rng.integers(m)]
    eta = active @ rng.normal(size=m) * 3 * rng.integers(0, 2) - rng.integers(0, 3)
    y = (rng.random(n) < scipy.special.expit(eta)).astype(np.float64)
    y[:2] = 0.0, 1.0
    weights = rng.exponential(size=n) + 0.01 if rng.random() < 0.3 else np.ones(n)
    return ClassRows(active, y, weights, rng.integers(0, int(rng.choice([2, 6, 40])), m))


def random_logistic_problem(seed: int):
    """Return rows and a small problem of them, with a floor, fixings and signs in some cases."""
    rng = np.random.default_rng([seed, 1])
    signed = rng.random() < 0.1
    rows = random_class_rows(seed, most_rules=5 if signed else 7)
    m = len(rows.counts)
    order = [int(i) for i in rng.permutation(m)]
    problem = rows.problem(
        max_rules=int(rng.integers(1, 3 if signed else 5)),
        gamma=float(10 ** rng.uniform(-2, 2)),
        signs=rng.integers(-1, 2, m) if signed else None,
        fixed_in=order[:1] if rng.random() < 0.2 else [],
        fixed_out=order[1:2] if rng.random() < 0.2 else [],
    )
    share = float(rng.choice([0.0, 0.5, 0.8, 0.9, 1.0]))
    return rows, problem.at(int(share * problem.max_stability_unlimited))
