"""The rules that may still be selected, in the form that the kernels of branch and bound want."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mossrules._typing import AnyArray, FloatArray, IntArray
from mossrules.exceptions import InfeasibleProblem
from mossrules.solver.kernels.fixing import chain_twins
from mossrules.solver.kernels.limits import fix_by_conditions
from mossrules.solver.kernels.state import FREE, IN, OUT, Data, Limits, no_limits
from mossrules.solver.problems.selection import SelectionProblem
from mossrules.solver.problems.squared import Problem

__all__ = [
    "Instance",
    "find_twins",
    "has_selection",
    "limits_of",
    "no_twins",
]


def has_selection(problem: SelectionProblem) -> bool:
    """Tell whether any selection keeps the limits and meets the floor."""
    best = problem.most_stable_feasible
    return best is not None and problem.stability(best) >= problem.min_stability


@dataclass(frozen=True, eq=False)
class Instance:
    """A problem without the rules that cannot be in a better selection."""

    problem: Problem
    rules: IntArray  # positions in the problem, ascending
    data: Data
    fate: AnyArray  # FREE or IN
    order: IntArray  # by falling count
    flip: FloatArray  # -1 where column and weight change sides, so that all bounds are from below
    limits: Limits  # of all rules of the problem

    @classmethod
    def of(cls, problem: Problem, prices: FloatArray | None = None) -> Instance:
        """Leave out the rules that are fixed out, and those that floor or limits keep out.

        `prices` of the limits make bounds heed them.
        """
        fate = np.full(problem.m, FREE, np.int8)
        fate[list(problem.fixed_in)] = IN
        fate[list(problem.fixed_out)] = OUT
        everything = cls._with(problem, np.arange(problem.m), fate, limits_of(problem, prices))
        possible, _, _ = fix_by_conditions(
            everything.data,
            everything.order,
            fate,
            *no_twins(problem.m),
            everything.room,
            everything.floor,
        )
        if not possible:
            raise InfeasibleProblem("No selection meets the floor and the limits; relax either.")
        return everything.without(fate)

    @classmethod
    def _with(cls, problem: Problem, rules: IntArray, fate: AnyArray, limits: Limits) -> Instance:
        """Return the instance of some rules."""
        statistics = problem.statistics
        counts = statistics.counts[rules].astype(np.float64)
        everything = len(rules) == problem.m
        G = statistics.G if everything else statistics.G[np.ix_(rules, rules)]
        signs = np.zeros(len(rules)) if problem.signs is None else problem.signs[rules]
        flip = np.where(signs < 0, -1.0, 1.0)
        if (signs < 0).any():
            G = flip[:, None] * G * flip
        data = Data(
            G=np.ascontiguousarray(G, dtype=np.float64),
            q=flip * statistics.q[rules],
            counts=counts,
            gamma=problem.gamma,
            half=0.5 * statistics.yy,
            signed=bool(signs.any()),
            bounded=signs != 0,
            limits=limits._replace(
                A=np.ascontiguousarray(limits.A[:, rules]), offset=limits.offset[rules]
            ),
        )
        order = np.argsort(-counts, kind="stable")
        return cls(problem, rules, data, fate[rules], order, flip, limits)

    @classmethod
    def covering(cls, instances: Sequence[Instance]) -> Instance:
        """Return what covers instances of one problem at several floors, the lowest first.

        It has the rules of any of them, and those fixed in that are so in all of them.
        """
        first, *others = instances
        if not others:
            return first
        votes = np.zeros(first.problem.m, np.int64)
        fate = np.full(first.problem.m, OUT, np.int8)
        for each in instances:
            fate[each.rules] = FREE
            votes[each.rules[each.fate == IN]] += 1
        fate[votes == len(instances)] = IN
        return cls._with(first.problem, np.flatnonzero(fate != OUT), fate, first.limits)

    def without(self, fate: AnyArray) -> Instance:
        """Return the instance less the rules that are out by now."""
        everywhere = np.full(self.problem.m, OUT, np.int8)
        everywhere[self.rules] = fate
        return self._with(self.problem, self.rules[fate != OUT], everywhere, self.limits)

    @property
    def room(self) -> float:
        """Rules still to be chosen, K."""
        return float(self.problem.size - np.count_nonzero(self.fate == IN))

    @property
    def floor(self) -> float:
        """Stability still to be had, E."""
        return float(self.problem.min_stability - self.data.counts[self.fate == IN].sum())


def limits_of(problem: Problem, prices: FloatArray | None = None) -> Limits:
    """Return the limits on rules for the kernels; bounds heed them at the prices given."""
    own = problem.constraints
    if own is None:
        return no_limits(problem.m)
    if len(own.groups):
        raise AssertionError("Limits on groups must be decided before those on rules.")
    prices = np.zeros(len(own.b)) if prices is None else prices
    return Limits(own.A, own.most, prices @ own.A, float(prices @ own.b))


def no_twins(m: int) -> tuple[IntArray, IntArray]:
    """Return `before` and `after` of rules that are treated as all different."""
    return np.full(m, -1), np.full(m, -1)


def find_twins(instance: Instance) -> tuple[IntArray, IntArray]:
    """Return for each free rule the equal column to be chosen just before it and just after it.

    Of two rules with the same column the one with the larger count may as well be chosen first,
    which cuts off one of each pair of mirror images in the tree. What they count in limits, and
    the sign of their weights, must be the same as well.
    """
    data = instance.data
    before, after = no_twins(len(data.q))
    free = instance.order[instance.fate[instance.order] == FREE]
    length = np.sqrt(np.diagonal(data.G)[free] * 2.0 * data.half)
    keys = np.round(data.q[free] / np.where(length > 0.0, length, 1.0), 12)  # correlations with y
    if instance.problem.is_limited:
        limits = data.limits
        same = np.column_stack([keys, data.bounded[free], limits.A.T[free]])
        which = np.unique(same, axis=0, return_inverse=True)[1]
        keys = which.reshape(-1).astype(np.float64)  # NumPy 2.0 returns a column
    by_key = np.argsort(keys, kind="stable")  # within a key, still by falling count
    chain_twins(data.G, keys[by_key], free[by_key], before, after)
    return before, after
