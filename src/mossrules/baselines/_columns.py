"""Column generation: the LASSO over all conjunctions, of which only those that matter are formed.

Notation (the rest as in `_design`)
    z, h       centred, scaled target and weight of each row                (rows,)
    e          what the current model leaves of the target                  (rows,)
    p_d        price of a rule with d literals, p_1 < p_2 < ...

    min over b of 1/(2n) sum_r h_r (z_r - a - sum_k b_k [rule k holds])^2 + sum_k p_d(k) |b_k|

or with the logistic loss of `_logistic` over n in place of the squares, where e is the class less
its chance; all that follows is the same.

A rule that is not there yet lowers this if its reduced cost p_d - |sum_r h_r e_r [it holds]| / n is
negative. Rules of low reduced cost are looked for by beam search: conjunctions grow by one literal
at a time, and of each length the most promising are kept. As no longer rule can collect more than
the residuals of one sign, branches that cannot beat the best rule found are cut off; a beam that
is wide enough to keep all others finds the best rule of all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from mossrules._typing import BoolArray, CodeArray, FloatArray, IntArray
from mossrules.baselines._literals import Literals
from mossrules.baselines._masters import LogisticMaster, Master, SquaredMaster
from mossrules.baselines._path import PathPoint
from mossrules.baselines.kernels.literals import sum_by_code
from mossrules.candidates.codes import EncodedTable
from mossrules.candidates.rules import Rule

__all__ = ["Beam", "ColumnGeneration", "Conjunction", "Prices"]

SLACK = 1e-3  # of the price of one literal: a reduced cost nearer to zero than this is zero
PER_ROUND = 10  # most columns to add at once
MAX_ROUNDS = 200  # of solving and adding, at one price
DIGITS = 10  # of a cost: rules of the same rows, or of opposite ones, tie in spite of rounding

Members = frozenset[int]
Prices = Callable[[float, IntArray], FloatArray]  # of rules with these numbers of literals


class Conjunction(NamedTuple):
    """Some literals, and their reduced cost."""

    members: Members
    cost: float


@dataclass(frozen=True)
class Beam:
    """A search for conjunctions: how many to keep of each length, and how long they may get."""

    literals: Literals
    codes: CodeArray
    width: int
    max_length: int

    def search(self, residual: FloatArray, prices: FloatArray, slack: float) -> list[Conjunction]:
        """Return conjunctions of reduced cost below -slack, the lowest first.

        `residual` is h e / n, and prices[d] the price of d literals (d = 0 has none).
        """
        found: dict[Members, float] = {}
        for sign in (1.0, -1.0):
            self._search(sign * residual, prices, slack, found)
        ranked = sorted(found.items(), key=lambda each: (each[1], sorted(each[0])))
        return [Conjunction(members, cost) for members, cost in ranked]

    def _search(
        self, residual: FloatArray, prices: FloatArray, slack: float, found: dict[Members, float]
    ) -> None:
        """Add to `found` conjunctions that collect positive residuals."""
        beam: list[tuple[Members, BoolArray]] = [(frozenset(), np.ones(len(residual), dtype=bool))]
        lowest = -slack
        for length in range(1, self.max_length + 1):
            cost, bound, allowed = self._children(beam, residual, prices, length)
            parents, literals = np.nonzero(allowed & (cost < -slack))
            best = np.argsort(cost[parents, literals], kind="stable")[:PER_ROUND]
            for parent, literal in zip(parents[best], literals[best], strict=True):
                found[beam[parent][0] | {int(literal)}] = float(cost[parent, literal])
            lowest = min(lowest, float(np.min(cost, where=allowed, initial=0.0)))
            promising = allowed & (bound < lowest)
            if length == self.max_length or not promising.any():
                return
            beam = self._keep(beam, 0.5 * (cost + bound), promising)

    def _children(
        self,
        beam: list[tuple[Members, BoolArray]],
        residual: FloatArray,
        prices: FloatArray,
        length: int,
    ) -> tuple[FloatArray, FloatArray, BoolArray]:
        """Return reduced cost, lower bound on that of longer rules, and which children there are.

        Of each member of the beam with each literal: (beam, literals).
        """
        literals, n_codes = self.literals, self.literals.accepts.shape[1]
        shape = (len(beam), len(literals))
        gains, hopes = np.empty(shape), np.empty(shape)
        allowed = np.ones(shape, dtype=bool)
        for position, (members, holds) in enumerate(beam):
            above = np.zeros((len(self.codes), n_codes))
            below = np.zeros((len(self.codes), n_codes))
            sum_by_code(self.codes, residual, holds, above, below)
            hopes[position] = np.sum(above[literals.features], axis=1, where=literals.accepts)
            losses = np.sum(below[literals.features], axis=1, where=literals.accepts)
            gains[position] = hopes[position] - losses
            for member in members:
                allowed[position] &= literals.beside(member)
        longer = prices[min(length + 1, self.max_length)]
        costs, bounds = prices[length] - gains, longer - hopes
        return np.round(costs, DIGITS), np.round(bounds, DIGITS), allowed

    def _keep(
        self, beam: list[tuple[Members, BoolArray]], score: FloatArray, promising: BoolArray
    ) -> list[tuple[Members, BoolArray]]:
        """Return the `width` most promising children, each of them once."""
        parents, literals = np.nonzero(promising)
        kept: dict[Members, BoolArray] = {}
        for k in np.argsort(score[parents, literals], kind="stable"):
            members, holds = beam[parents[k]]
            child = members | {int(literals[k])}
            if child not in kept:
                kept[child] = holds & self._holds(int(literals[k]))
                if len(kept) == self.width:
                    break
        return list(kept.items())

    def _holds(self, literal: int) -> BoolArray:
        found: BoolArray = self.literals.accepts[literal][
            self.codes[self.literals.features[literal]]
        ]
        return found

    def holds(self, members: Members) -> BoolArray:
        """Return on which rows a conjunction holds."""
        found: BoolArray = np.logical_and.reduce([self._holds(i) for i in sorted(members)])
        return found


@dataclass
class ColumnGeneration:
    """Conjunctions that are looked for, and the master problem of those found so far."""

    beam: Beam
    master: Master
    prices: Prices
    columns: list[Members] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        data: EncodedTable,
        prices: Prices,
        *,
        width: int,
        max_length: int,
        master: type[SquaredMaster | LogisticMaster] = SquaredMaster,
    ) -> ColumnGeneration:
        """Return the problem of a table, without any column yet."""
        moments = data.moments
        target = np.concatenate([chunk.target for chunk in data.chunks]).astype(np.float64)
        z = (target - float(moments.mean)) / float(moments.variance) ** 0.5
        if master is LogisticMaster:
            z = (z > 0).astype(np.float64)  # of two classes, the second is above the mean
        h = np.ones(len(z))
        if data.is_weighted:
            parts = [chunk.weights for chunk in data.chunks if chunk.weights is not None]
            h = np.concatenate(parts).astype(np.float64) * data.weight_step
        codes = np.concatenate([chunk.codes for chunk in data.chunks], axis=1)
        return cls(Beam(Literals.of(data), codes, width, max_length), master(z, h), prices)

    @property
    def rules(self) -> list[Rule]:
        """The columns as rules, in the order in which they were added."""
        return [self.beam.literals.rule(members) for members in self.columns]

    def solve(self, strength: float, start: FloatArray) -> PathPoint:
        """Solve the problem over all conjunctions, as far as the search finds them.

        Solve for the columns there are, look for others worth adding, and again, until none is.
        """
        by_length = self.prices(strength, np.arange(self.beam.max_length + 1))
        w = start
        for _ in range(MAX_ROUNDS):
            w = self._solve_master(by_length, w)
            found = self.beam.search(self.master.residual(w), by_length, SLACK * by_length[1])
            known = set(self.columns)
            new = [each.members for each in found if each.members not in known][:PER_ROUND]
            if not new:
                return PathPoint(strength, w, int(np.count_nonzero(w)))
            self.columns += new
            self.master.add([self.beam.holds(each) for each in new])
        return PathPoint(strength, w, int(np.count_nonzero(w)), converged=False)

    def _solve_master(self, by_length: FloatArray, start: FloatArray) -> FloatArray:
        w = np.concatenate([start, np.zeros(len(self.columns) - len(start))])
        if not self.columns:
            return w
        lengths = np.array([len(members) for members in self.columns])
        return self.master.solve(by_length[lengths], w)
