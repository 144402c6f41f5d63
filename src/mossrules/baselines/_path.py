"""Walk down a path of penalties to the solution with as many rules as are allowed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from mossrules._typing import FloatArray

__all__ = ["PathPoint", "Solve", "follow_path", "without_rounding"]

ROUNDING = 1e-9  # standard deviations of the target: a weight below this is what rounding left


@dataclass(frozen=True)
class PathPoint:
    """The solution at one strength of the penalty; `converged` is False for an unfinished one."""

    strength: float
    w: FloatArray
    n_rules: int
    converged: bool = True


Solve = Callable[[float, FloatArray], PathPoint]  # at a strength, from the weights of another


def follow_path(
    solve: Solve,
    start: PathPoint,
    strengths: Iterable[float],
    most: int,
    *,
    halvings: int = 0,
) -> PathPoint:
    """Return the point with the most rules among those with at most `most`.

    Strengths decrease, and each solution starts from the last one. The walk ends at the first
    point with too many rules. Then the step to it, from the last point that had few enough, is cut
    in half as often as `halvings` says, in search of a point that has exactly `most`.
    """
    last = best = start
    for strength in strengths:
        point = solve(strength, last.w)
        if point.n_rules > most:
            return _bisect(solve, last, best, strength, most=most, halvings=halvings)
        last = point
        best = _better(best, point)
    return best


def _bisect(
    solve: Solve, last: PathPoint, best: PathPoint, too_weak: float, *, most: int, halvings: int
) -> PathPoint:
    for _ in range(halvings):
        if best.n_rules == most:
            break
        point = solve((last.strength * too_weak) ** 0.5, last.w)
        if point.n_rules > most:
            too_weak = point.strength
        else:
            last = point
            best = _better(best, point)
    return best


def _better(a: PathPoint, b: PathPoint) -> PathPoint:
    """Return the point with more rules or, with as many, the later and so less penalised one."""
    return b if b.n_rules >= a.n_rules else a


def without_rounding(weights: FloatArray) -> FloatArray:
    """Return the weights of columns of 0 and 1 with those set to zero that are rounding errors."""
    return np.where(np.abs(weights) > ROUNDING, weights, 0.0)
