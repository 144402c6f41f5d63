"""The rules that may still be selected, in the form that the kernels of branch and bound want."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mossrules._typing import AnyArray, IntArray
from mossrules.solver._kernels.fixing import chain_twins, fix_by_floor
from mossrules.solver._kernels.state import FREE, IN, OUT, Data
from mossrules.solver.problem import Problem

__all__ = ["Instance", "find_twins", "no_twins"]


@dataclass(frozen=True, eq=False)
class Instance:
    """A problem without the rules that cannot be in a better selection."""

    problem: Problem
    rules: IntArray  # positions in the problem, ascending
    data: Data
    fate: AnyArray  # FREE or IN
    order: IntArray  # by falling count

    @classmethod
    def of(cls, problem: Problem) -> Instance:
        """Leave out the rules that are fixed out, and those that the floor keeps out."""
        counts = problem.statistics.counts.astype(np.float64)
        fate = np.full(problem.m, FREE, np.int8)
        fate[list(problem.fixed_in)] = IN
        fate[list(problem.fixed_out)] = OUT
        order = np.argsort(-counts, kind="stable")
        nobody = no_twins(problem.m)
        room = float(problem.size - len(problem.fixed_in))
        floor = float(problem.min_stability - counts[fate == IN].sum())
        possible, _, _ = fix_by_floor(counts, order, fate, *nobody, room, floor)
        if not possible:
            raise AssertionError("A problem that passed its checks has no feasible selection.")
        return cls._with(problem, np.flatnonzero(fate != OUT), fate)

    @classmethod
    def _with(cls, problem: Problem, rules: IntArray, fate: AnyArray) -> Instance:
        statistics = problem.statistics
        counts = statistics.counts[rules].astype(np.float64)
        everything = len(rules) == problem.m
        G = statistics.G if everything else statistics.G[np.ix_(rules, rules)]
        data = Data(
            G=np.ascontiguousarray(G, dtype=np.float64),
            q=statistics.q[rules],
            counts=counts,
            gamma=problem.gamma,
            half=0.5 * statistics.yy,
        )
        return cls(problem, rules, data, fate[rules], np.argsort(-counts, kind="stable"))

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
        return cls._with(first.problem, np.flatnonzero(fate != OUT), fate)

    def without(self, fate: AnyArray) -> Instance:
        """Return the instance less the rules that are out by now."""
        everywhere = np.full(self.problem.m, OUT, np.int8)
        everywhere[self.rules] = fate
        return self._with(self.problem, self.rules[fate != OUT], everywhere)

    @property
    def room(self) -> float:
        """Rules still to be chosen, K."""
        return float(self.problem.size - np.count_nonzero(self.fate == IN))

    @property
    def floor(self) -> float:
        """Stability still to be had, E."""
        return float(self.problem.min_stability - self.data.counts[self.fate == IN].sum())


def no_twins(m: int) -> tuple[IntArray, IntArray]:
    """Return `before` and `after` of rules that are treated as all different."""
    return np.full(m, -1), np.full(m, -1)


def find_twins(instance: Instance) -> tuple[IntArray, IntArray]:
    """Return for each free rule the equal column to be chosen just before it and just after it.

    Of two rules with the same column the one with the larger count may as well be chosen first,
    which cuts off one of each pair of mirror images in the tree.
    """
    data = instance.data
    before, after = no_twins(len(data.q))
    free = instance.order[instance.fate[instance.order] == FREE]
    length = np.sqrt(np.diagonal(data.G)[free] * 2.0 * data.half)
    keys = np.round(data.q[free] / np.where(length > 0.0, length, 1.0), 12)  # correlations with y
    by_key = np.argsort(keys, kind="stable")  # within a key, still by falling count
    chain_twins(data.G, keys[by_key], free[by_key], before, after)
    return before, after
