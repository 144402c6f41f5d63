"""The rules that may still be selected, in the form that the kernels of branch and bound want."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mossrules._typing import AnyArray, IntArray
from mossrules.solver._kernels.fixing import fix_by_floor
from mossrules.solver._kernels.state import FREE, IN, OUT, Data
from mossrules.solver.problem import Problem

__all__ = ["Instance"]


@dataclass(frozen=True, eq=False)
class Instance:
    """A problem without the rules that cannot be in a better selection."""

    problem: Problem
    rules: IntArray  # positions in the problem, ascending
    data: Data
    fate: AnyArray  # FREE or IN
    order: IntArray  # by falling count
    before: IntArray  # the twin to be chosen first, or -1
    after: IntArray

    @classmethod
    def of(cls, problem: Problem) -> Instance:
        """Leave out the rules that are fixed out, and those that the floor keeps out."""
        counts = problem.statistics.counts.astype(np.float64)
        fate = np.full(problem.m, FREE, np.int8)
        fate[list(problem.fixed_in)] = IN
        fate[list(problem.fixed_out)] = OUT
        order = np.argsort(-counts, kind="stable")
        nobody = np.full(problem.m, -1)
        room = float(problem.size - len(problem.fixed_in))
        floor = float(problem.min_stability - counts[fate == IN].sum())
        possible, _, _ = fix_by_floor(counts, order, fate, nobody, nobody, room, floor)
        if not possible:
            raise AssertionError("A problem that passed its checks has no feasible selection.")
        return cls._with(problem, np.flatnonzero(fate != OUT), fate)

    @classmethod
    def _with(cls, problem: Problem, rules: IntArray, fate: AnyArray) -> Instance:
        statistics = problem.statistics
        counts = statistics.counts[rules].astype(np.float64)
        data = Data(
            G=np.ascontiguousarray(statistics.G[np.ix_(rules, rules)]),
            q=statistics.q[rules],
            counts=counts,
            gamma=problem.gamma,
            half=0.5 * statistics.yy,
        )
        fate = fate[rules]
        order = np.argsort(-counts, kind="stable")
        return cls(problem, rules, data, fate, order, *find_twins(data, fate, order))

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

    def most_stable(self) -> IntArray:
        """Return the feasible selection with the largest stability, fixed rules first."""
        free = self.order[self.fate[self.order] == FREE]
        return np.concatenate([np.flatnonzero(self.fate == IN), free[: int(self.room)]])


def find_twins(data: Data, fate: AnyArray, order: IntArray) -> tuple[IntArray, IntArray]:
    """Return for each free rule the equal column to be chosen just before it and just after it.

    Of two rules with the same column the one with the larger count may as well be chosen first,
    which cuts off one of each pair of mirror images in the tree.
    """
    before, after = np.full(len(order), -1), np.full(len(order), -1)
    scale = float(np.abs(data.q).max(initial=0.0)) or 1.0
    keys = np.round(data.q / scale, 11).tolist()
    last: dict[float, list[int]] = {}  # of each chain of twins, by what M'y is for them
    for i in order.tolist():
        if fate[i] != FREE:
            continue
        chains = last.setdefault(keys[i], [])
        for place, j in enumerate(chains):
            if np.abs(data.G[i] - data.G[j]).max() <= 1e-13 * data.G[j, j]:
                before[i], after[j] = j, i
                chains[place] = i
                break
        else:
            chains.append(i)
    return before, after
