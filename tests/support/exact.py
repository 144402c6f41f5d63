"""Small problems of any units and gammas, and their answers in exact arithmetic.

Losses of numbers are ratios of determinants of integers, as floats are integers times powers of
two: nothing is rounded. Those of classes are sums of logarithms, which brute force finds from rows.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from mossrules.solver import Problem
from mossrules.solver.problems.selection import SelectionProblem
from support.cases import wild_columns
from support.each_floor_cases import all_pairs, conditions
from support.oracles import (
    ClassRows,
    keeps_limits,
    plain_stability,
    random_class_rows,
)

__all__ = ["DRAWN", "Answers", "Drawn", "ExactLoss"]

Support = tuple[int, ...]
Pair = tuple[int, Any]  # stability and loss
LIMITED = 0.12  # share of problems with limits, which take ten times as long as others


# --- losses ---------------------------------------------------------------------------------------


def determinant(matrix: list[list[int]]) -> int:
    """Return the determinant of a matrix of integers, by Bareiss's elimination: all are whole."""
    rows, last, sign = [row[:] for row in matrix], 1, 1
    for n in range(len(rows) - 1):
        if rows[n][n] == 0:
            other = next((i for i in range(n + 1, len(rows)) if rows[i][n]), None)
            if other is None:
                return 0
            rows[n], rows[other], sign = rows[other], rows[n], -sign
        pivot = rows[n][n]
        for row in rows[n + 1 :]:
            first = row[n]
            row[n + 1 :] = [
                (pivot * a - first * b) // last
                for a, b in zip(row[n + 1 :], rows[n][n + 1 :], strict=True)
            ]
        last = pivot
    return sign * rows[-1][-1] if rows else 1


@dataclass(frozen=True)
class ExactLoss:
    """H2 of the selections of a problem of numbers, as fractions.

    With all of G, q and yy times a power of two and the numerator of gamma, the matrix of the
    normal equations and its sides are integers.
    """

    problem: Problem

    @cached_property
    def _integers(self) -> tuple[list[list[int]], list[int], int, int]:
        data, gamma = self.problem.statistics, Fraction(self.problem.gamma)
        parts = [*np.ravel(data.G).tolist(), *data.q.tolist(), float(data.yy)]
        unit = max(Fraction(part).denominator for part in parts)  # all are powers of two
        scaled = [int(Fraction(part) * unit) * gamma.numerator for part in parts]
        m = self.problem.m
        G = [scaled[m * i : m * i + m] for i in range(m)]
        for i in range(m):
            G[i][i] += gamma.denominator * unit
        return G, scaled[m * m : -1], scaled[-1], unit * gamma.numerator

    @cached_property
    def _known(self) -> dict[Support, tuple[Fraction, bool]]:
        return {}

    def _free(self, support: Support) -> tuple[Fraction, bool]:
        """Return the loss where weights have any sign, and whether they have those asked for."""
        if support not in self._known:
            G, q, yy, unit = self._integers
            rows = [[G[i][j] for j in support] for i in support]
            below = determinant(rows)
            bordered = [[*row, q[i]] for row, i in zip(rows, support, strict=True)]
            above = determinant([*bordered, [*(q[i] for i in support), yy]])
            self._known[support] = Fraction(above, 2 * below * unit), self._has_signs(support, rows)
        return self._known[support]

    def _has_signs(self, support: Support, rows: list[list[int]]) -> bool:
        signs = self.problem.signs
        if signs is None:
            return True
        for n, i in enumerate(support):
            if signs[i]:  # Cramer's rule; the determinant below is that of a positive definite G
                own = [
                    [*row[:n], self._integers[1][j], *row[n + 1 :]]
                    for row, j in zip(rows, support, strict=True)
                ]
                if determinant(own) * int(signs[i]) < 0:
                    return False
        return True

    def __call__(self, support: Sequence[int]) -> Fraction:
        """Return the loss of a selection, its weights with the signs asked for."""
        # A best weight is 0, or has its sign: it is best, with any sign, among those that are not.
        chosen = tuple(sorted(map(int, support)))
        if self.problem.signs is None:
            return self._free(chosen)[0]
        parts = itertools.chain.from_iterable(
            itertools.combinations(chosen, size) for size in range(len(chosen) + 1)
        )
        return min(loss for loss, has_signs in map(self._free, parts) if has_signs)


# --- all selections -------------------------------------------------------------------------------


def selections(problem: SelectionProblem) -> Iterator[Support]:
    """Yield all selections that keep everything but the floor."""
    fixed_in, fixed_out = set(problem.fixed_in), set(problem.fixed_out)
    for size in range(min(problem.max_rules, problem.m) + 1):
        for support in itertools.combinations(range(problem.m), size):
            keeps = fixed_in <= set(support) and fixed_out.isdisjoint(support)
            if keeps and keeps_limits(problem, support):
                yield support


@dataclass(frozen=True)
class Answers:
    """What is true of a problem: by exact arithmetic for numbers, from the rows for classes."""

    problem: SelectionProblem
    rows: ClassRows | None = None

    @cached_property
    def _by_support(self) -> dict[Support, Pair]:
        if self.rows is not None:
            pairs = all_pairs(self.problem, self.rows)
            return dict(zip(selections(self.problem), pairs, strict=True))
        loss = ExactLoss(self.problem)  # type: ignore[arg-type]
        return {S: (plain_stability(self.problem, S), loss(S)) for S in selections(self.problem)}

    @property
    def pairs(self) -> Iterable[Pair]:
        """Stability and loss of all selections that keep everything but the floor."""
        return self._by_support.values()

    def of(self, support: Support) -> Pair | None:
        """Return stability and loss of a selection; None where a condition does not allow it."""
        return self._by_support.get(support)

    def least(self, floor: int) -> Fraction | float:
        """Return the least loss at a floor; infinity where nothing meets it."""
        return min((loss for stability, loss in self.pairs if stability >= floor), default=math.inf)

    @property
    def rounding(self) -> Fraction:
        """How far a bound may be above the optimum: what is stated of bounds."""
        return Fraction(self.problem.precision) * Fraction(self.problem.null_loss)

    @property
    def known(self) -> Fraction:
        """How well losses are known: what is stated of them."""
        return Fraction(self.problem.rounding)


# --- problems -------------------------------------------------------------------------------------


class Drawn(NamedTuple):
    """How a problem and its floor are made, and the rows of classes. Making it may be refused."""

    make: Callable[[], tuple[SelectionProblem, int]]
    rows: ClassRows | None = None


def _size(draw: np.random.Generator) -> tuple[int, int, int]:
    """Return rows, rules, and the most rules of a selection."""
    return int(draw.integers(2, 13)), int(draw.integers(1, 9)), int(draw.integers(1, 5))


def _with_floor(
    draw: np.random.Generator, problem: SelectionProblem
) -> tuple[SelectionProblem, int]:
    """Return the problem and a floor, often one that some selection just meets or just misses."""
    top = problem.largest_floor if draw.random() < 0.3 else problem.max_stability
    floor = int(draw.choice([0.0, 0.3, 0.6, 0.9, 1.0]) * top)
    if draw.random() < 0.4:
        some = draw.permutation(problem.m)[: int(draw.integers(1, problem.max_rules + 1))]
        floor = plain_stability(problem, some.tolist()) + int(draw.integers(-1, 2))
    return problem, max(0, floor)


def _numbers(
    draw: np.random.Generator, M: np.ndarray, y: np.ndarray, strength: float, counts: Any, *, k: int
) -> Drawn:
    """Return the problem of columns, with fixings, signs and limits in some cases."""
    m = M.shape[1]
    length = float(np.square(M).sum(axis=0).max()) or 1.0
    settings = {
        "max_rules": k,
        "gamma": 10.0**strength / length,
        "floor": "each" if draw.random() < 0.4 else "sum",
        **conditions(draw, m, limited=bool(draw.random() < LIMITED)),
    }
    return Drawn(lambda: _with_floor(draw, Problem.from_matrix(M, y, counts, **settings)))


def _counts(draw: np.random.Generator, m: int) -> np.ndarray:
    return draw.integers(0, int(draw.choice([2, 6, 40, 2000])), m)


def rule_columns(seed: int) -> Drawn:
    """Draw columns as rules have them, some zero, twice there, or sums of others: ties abound."""
    draw = np.random.default_rng([31, seed])
    n, m, k = _size(draw)
    M = wild_columns(draw, n, m)
    y = M @ draw.normal(size=m) * draw.integers(0, 2) + draw.normal(size=n)
    return _numbers(draw, M, y, draw.uniform(-4, 4), _counts(draw, m), k=k)


def near_collinear(seed: int) -> Drawn:
    """Draw columns that differ in some digits only, and gammas at which that matters."""
    draw = np.random.default_rng([32, seed])
    n, m, k = _size(draw)
    M = draw.normal(size=(n, m))
    M[:, 1:] = M[:, :1] + 10.0 ** draw.uniform(-12, 0, m - 1) * M[:, 1:]
    y = M.sum(axis=1) + 10.0 ** draw.uniform(-8, 1) * draw.normal(size=n)
    return _numbers(draw, M, y, draw.uniform(4, 11.9), _counts(draw, m), k=k)


def any_units(seed: int) -> Drawn:
    """Draw columns and targets of any unit that is allowed, and gammas to the end of theirs."""
    draw = np.random.default_rng([33, seed])
    n, m, k = _size(draw)
    M = wild_columns(draw, n, m) * 10.0 ** draw.uniform(-29, 29)
    M = M * 10.0 ** draw.uniform(-6, 0, m) if draw.random() < 0.3 else M  # of its own each
    y = M @ draw.normal(size=m) + draw.normal(size=n) * 10.0 ** draw.uniform(-3, 3)
    y = y / (np.abs(y).max() or 1.0) * 10.0 ** draw.uniform(-29, 29)
    return _numbers(draw, M, y, draw.uniform(-6, 11), _counts(draw, m), k=k)


def beyond_units(seed: int) -> Drawn:
    """Draw scales from 1e-100 to 1e100: what is not refused is right."""
    draw = np.random.default_rng([34, seed])
    n, m, k = _size(draw)
    M = draw.normal(size=(n, m)) * 10.0 ** draw.uniform(-100, 100)
    y = draw.normal(size=n) * 10.0 ** draw.uniform(-100, 100)
    return _numbers(draw, M, y, draw.uniform(-20, 20), _counts(draw, m), k=k)


def large_counts(seed: int) -> Drawn:
    """Draw counts far above ten million, some of which differ by one."""
    draw = np.random.default_rng([35, seed])
    n, m, k = _size(draw)
    M = draw.normal(size=(n, m)) * (draw.random((n, m)) < 0.6)
    y = M.sum(axis=1) + draw.normal(size=n)
    top = int(10.0 ** draw.uniform(7, 9.5 if draw.random() < 0.7 else 15.9))
    counts = draw.integers(0, top, m, endpoint=True)
    if draw.random() < 0.5:
        counts = np.maximum(0, top - draw.integers(0, 4, m))
    return _numbers(draw, M, y, draw.uniform(-2, 3), counts, k=k)


def two_classes(seed: int) -> Drawn:
    """Draw rows of two classes, whose rules nearly tell them apart in some cases."""
    draw = np.random.default_rng([36, seed])
    rows = random_class_rows(seed, most_rules=5)
    if draw.random() < 0.2:
        y = rows.active[:, 0].astype(float)
        if 0 < y.sum() < len(y):
            rows = ClassRows(rows.active, y, rows.weights, rows.counts)
    m = len(rows.counts)
    settings: dict[str, Any] = {
        "max_rules": int(draw.integers(1, 4)),
        "gamma": float(10.0 ** draw.uniform(-2, 3)),
        "floor": "each" if draw.random() < 0.4 else "sum",
        **conditions(draw, m, limited=bool(draw.random() < LIMITED)),
    }
    if draw.random() < 0.8:
        settings["signs"] = None  # whose brute force takes long
    return Drawn(lambda: _with_floor(draw, rows.problem(**settings)), rows)


DRAWN: dict[str, Callable[[int], Drawn]] = {
    "numbers, rules as columns": rule_columns,
    "numbers, nearly collinear": near_collinear,
    "numbers, any units": any_units,
    "numbers, counts above ten million": large_counts,
    "numbers, scales from 1e-100 to 1e100": beyond_units,
    "two classes": two_classes,
}
