"""GLRM: a LASSO over rules in which a long rule pays more than a short one.

Wei, Dash, Gao and Gunluk, "Generalized Linear Rule Models", 2019, without linear terms. In standard
deviations of the target, as everywhere:

    min over b of 1/(2n) |z - a - A b|^2 + 1/2 sum_k (lambda_0 + lambda_1 d_k) |b_k|

with d_k the number of literals of rule k, and columns A of 0 and 1; or with the logistic loss of
two classes over n in place of the squares.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mossrules._typing import FloatArray, IntArray
from mossrules.baselines._columns import ColumnGeneration, Prices
from mossrules.baselines._lasso import Loss
from mossrules.baselines._literals import count_literals
from mossrules.baselines._masters import LogisticMaster, SquaredMaster, solve_master
from mossrules.baselines._path import PathPoint, Solve, follow_path
from mossrules.candidates.codes import EncodedTable
from mossrules.candidates.rules import Rule

__all__ = [
    "Generated",
    "choose_rules",
    "generate_rules",
    "prices_in_proportion",
    "prices_of_length",
]

# No rule is worth it at the first of these, as a rule that holds on half of the rows, and explains
# all there is, has a correlation of 1/2 with the target; 0.05 is the default of the authors' code.
STRENGTHS = np.geomspace(1.0, 1e-3, 200)
HALVINGS = 20  # of the last step, in search of a point with as many rules as allowed


class Generated(NamedTuple):
    """Rules, and whether no rule that the search finds would still have lowered the objective."""

    rules: tuple[Rule, ...]
    converged: bool


def prices_in_proportion(ratio: float) -> Prices:
    """Return prices of which lambda_1 is always `ratio` times lambda_0."""

    def prices(strength: float, lengths: IntArray) -> FloatArray:
        return 0.5 * strength * (1.0 + ratio * lengths.astype(np.float64))

    return prices


def prices_of_length(extra: float) -> Prices:
    """Return prices of which lambda_1 is always `extra`, while lambda_0 falls."""

    def prices(strength: float, lengths: IntArray) -> FloatArray:
        return 0.5 * (strength + extra * lengths.astype(np.float64))

    return prices


def choose_rules(
    loss: Loss, rules: Sequence[Rule], prices: Prices, max_rules: int, *, scale: float = 1.0
) -> PathPoint:
    """Return the point of the path with as many rules as allowed, over columns that are given.

    Strengths are multiples of `scale`, the standard deviation of the target: 1 for squares.
    """
    lengths: IntArray = np.array([count_literals(rule) for rule in rules], dtype=np.int64)

    def solve(strength: float, start: FloatArray) -> PathPoint:
        w = solve_master(loss, prices(strength, lengths), start)
        return PathPoint(strength, w, int(np.count_nonzero(w)))

    return _follow(solve, loss.m, max_rules, scale)


def generate_rules(
    data: EncodedTable,
    prices: Prices,
    max_rules: int,
    *,
    width: int,
    max_length: int,
    master: type[SquaredMaster | LogisticMaster] = SquaredMaster,
    scale: float = 1.0,
) -> Generated:
    """Return the columns that are generated on the way to a point with as many rules as allowed."""
    problem = ColumnGeneration.of(data, prices, width=width, max_length=max_length, master=master)
    point = _follow(problem.solve, 0, max_rules, scale)
    return Generated(tuple(problem.rules), point.converged)


def _follow(solve: Solve, n_columns: int, max_rules: int, scale: float) -> PathPoint:
    strengths = scale * STRENGTHS
    start = PathPoint(float(strengths[0]), np.zeros(n_columns), 0)
    return follow_path(solve, start, strengths[1:].tolist(), max_rules, halvings=HALVINGS)
