"""Column generation: the LASSO over all conjunctions, of which only those that matter are formed.

Notation (the rest as in `designs`)
    z, h       centred, scaled target and weight of each row                (rows,)
    e          what the current model leaves of the target                  (rows,)
    p_d        price of a rule with d literals, p_1 < p_2 < ...

    min over b of 1/(2n) sum_r h_r (z_r - a - sum_k b_k [rule k holds])^2 + sum_k p_d(k) |b_k|

or with the logistic loss of `logistic` over n in place of the squares, where e is the class less
its chance; all that follows is the same.

A rule that is not there yet lowers this if its reduced cost p_d - |sum_r h_r e_r [it holds]| / n is
negative. Rules of low reduced cost are looked for by beam search: conjunctions grow by one literal
at a time, and of each length the most promising are kept. As no longer rule can collect more than
the residuals of one sign, branches that cannot beat the best rule found are cut off; a beam that
is wide enough to keep all others finds the best rule of all.

Literals are the conditions from which conjunctions are built one by one, each at the same price. A
numeric column has `x <= cut` and `x > cut` for every cut of its bins, a categorical one `x is v`
and `x is not v` for every level; where values are missing, to be missing is a level like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from mossrules._typing import BoolArray, CodeArray, FloatArray, IntArray
from mossrules.baselines.designs import Design
from mossrules.baselines.kernels import sum_by_code, weigh_overlaps
from mossrules.baselines.logistic import Logistic
from mossrules.baselines.paths import PathPoint, solve_closely
from mossrules.candidates.codes import EncodedTable
from mossrules.candidates.cuts import BinnedColumn
from mossrules.candidates.rules import OPEN, Condition, Levels, Range, Rule
from mossrules.data.columns import Kind

__all__ = [
    "Beam",
    "ColumnGeneration",
    "Conjunction",
    "Literals",
    "LogisticMaster",
    "Prices",
    "SquaredMaster",
    "count_literals",
]

SLACK = 1e-3  # of the price of one literal: a reduced cost nearer to zero than this is zero
PER_ROUND = 10  # most columns to add at once
MAX_ROUNDS = 200  # of solving and adding, at one price
DIGITS = 10  # of a cost: rules of the same rows, or of opposite ones, tie in spite of rounding

Members = frozenset[int]
Prices = Callable[[float, IntArray], FloatArray]  # of rules with these numbers of literals


# --- literals -------------------------------------------------------------------------------------


def count_literals(rule: Rule) -> int:
    """Return how many literals a rule takes: two for a range with two ends, one per level left out.

    A condition of a tree that holds for missing values too is no more than one that does not.
    """
    return sum(map(_count, rule.conditions))


def _count(condition: Condition) -> int:
    # To meet one of several levels is one literal, as in a column of its own; to leave out
    # several is a literal for each, as the search adds them one by one.
    if isinstance(condition, Levels):
        return 1 if condition.inside else len(condition.levels)
    return max(1, (condition.low > 1) + (0 < condition.high < OPEN))


@dataclass(frozen=True)
class Literals:
    """All literals of a table, with the position of the column and the codes that satisfy each."""

    conditions: tuple[Condition, ...]
    features: IntArray
    accepts: BoolArray  # (literals, codes)
    ends: IntArray  # number of the cut of an upper end, minus that of a lower end, 0 for none
    excludes: BoolArray  # whether it leaves a level out

    @classmethod
    def of(cls, data: EncodedTable) -> Literals:
        """Return the literals of the columns of a table."""
        columns = data.binning.columns
        literals = [
            (condition, feature)
            for feature, has_missing in enumerate(data.has_missing)
            for condition in _literals(columns[feature], has_missing=has_missing)
        ]
        conditions = tuple(condition for condition, _ in literals)
        accepts = [condition.accepts(columns[feature]) for condition, feature in literals]
        return cls(
            conditions,
            np.array([feature for _, feature in literals], dtype=np.int64),
            # A condition knows all 256 codes of a byte; those that no column has are cut off.
            np.array(accepts, dtype=bool).reshape(-1, 256)[:, : data.binning.n_codes],
            np.array([_end(condition) for condition in conditions], dtype=np.int64),
            np.array([_excludes(condition) for condition in conditions], dtype=bool),
        )

    def __len__(self) -> int:
        return len(self.conditions)

    def beside(self, literal: int) -> BoolArray:
        """Return which literals make a conjunction of two with a given one.

        On the same column that is a lower beside a higher end, or another level that is left out;
        all else either contradicts the given one or says no more than one of the two.
        """
        end = self.ends[literal]
        allowed: BoolArray = self.features != self.features[literal]
        allowed |= (self.ends * end < 0) & (self.ends + end > 0)  # there is room between them
        allowed |= self.excludes & self.excludes[literal]
        allowed[literal] = False
        return allowed

    def rule(self, members: frozenset[int]) -> Rule:
        """Return the conjunction of some literals."""
        return Rule.of(self.conditions[i] for i in sorted(members))


def _excludes(condition: Condition) -> bool:
    return isinstance(condition, Levels) and not condition.inside


def _end(condition: Condition) -> int:
    if isinstance(condition, Levels) or condition.low > condition.high:
        return 0
    return condition.high if condition.high < OPEN else 1 - condition.low


def _literals(column: BinnedColumn, *, has_missing: bool) -> Iterator[Condition]:
    if column.kind is Kind.CATEGORICAL:
        levels = [*column.levels, *([None] if has_missing else [])]
        for level in levels if len(levels) > 1 else []:
            yield Levels(column.name, frozenset([level]))
            if len(levels) > 2:  # of two levels, each is what the other is not
                yield Levels(column.name, frozenset([level]), inside=False)
        return
    for cut in range(1, column.n_values):
        yield Range(column.name, 1, cut)
        yield Range(column.name, cut + 1)
    if has_missing:
        yield Range(column.name, 1, 0, missing=True)
        yield Range(column.name)


# --- the search -----------------------------------------------------------------------------------


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
        costs: dict[Members, float] = {}
        for sign in (1.0, -1.0):  # a rule of a positive weight, and one of a negative
            self._search(sign * residual, prices, slack, costs)
        ranked = sorted(costs.items(), key=lambda item: (item[1], sorted(item[0])))
        return [Conjunction(members, cost) for members, cost in ranked]

    def _search(
        self, residual: FloatArray, prices: FloatArray, slack: float, costs: dict[Members, float]
    ) -> None:
        """Add to `costs` those of conjunctions that collect positive residuals."""
        beam: list[tuple[Members, BoolArray]] = [(frozenset(), np.ones(len(residual), dtype=bool))]
        lowest = -slack
        for length in range(1, self.max_length + 1):
            cost, bound, allowed = self._children(beam, residual, prices, length)
            parents, literals = np.nonzero(allowed & (cost < -slack))
            best = np.argsort(cost[parents, literals], kind="stable")[:PER_ROUND]
            for parent, literal in zip(parents[best], literals[best], strict=True):
                costs[beam[parent][0] | {int(literal)}] = float(cost[parent, literal])
            lowest = min(lowest, float(np.min(cost, where=allowed, initial=0.0)))
            promising = allowed & (bound < lowest)
            if length == self.max_length or not promising.any():
                return
            # The authors' ranking: what a child is worth, and what it may become, count alike.
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
        # One pass over the rows sums residuals by code, and every literal of a column is a sum over
        # codes: this costs rows times columns, not rows times literals.
        for position, (members, holds) in enumerate(beam):
            above = np.zeros((len(self.codes), n_codes))
            below = np.zeros((len(self.codes), n_codes))
            sum_by_code(self.codes, residual, holds, above, below)
            hopes[position] = np.sum(above[literals.features], axis=1, where=literals.accepts)
            losses = np.sum(below[literals.features], axis=1, where=literals.accepts)
            gains[position] = hopes[position] - losses
            for member in members:
                allowed[position] &= literals.beside(member)
        # A longer rule costs one more literal at least, and gains at most what is positive now.
        longer = prices[min(length + 1, self.max_length)]
        costs, bounds = prices[length] - gains, longer - hopes
        return np.round(costs, DIGITS), np.round(bounds, DIGITS), allowed

    def _keep(
        self, beam: list[tuple[Members, BoolArray]], score: FloatArray, promising: BoolArray
    ) -> list[tuple[Members, BoolArray]]:
        """Return the `width` most promising children, each of them once."""
        # The same literals in another order are the same conjunction: the first, better one stays.
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
        codes = self.codes[self.literals.features[literal]]
        holds: BoolArray = self.literals.accepts[literal][codes]
        return holds

    def holds(self, members: Members) -> BoolArray:
        """Return on which rows a conjunction holds."""
        holds: BoolArray = np.logical_and.reduce([self._holds(i) for i in sorted(members)])
        return holds


# --- the problem of the columns so far ------------------------------------------------------------


class SquaredMaster:
    """Squared error of a centred, scaled target, from sums over the rows."""

    def __init__(self, target: FloatArray, weights: FloatArray) -> None:
        self.target, self.weights = target, weights
        self._active = np.empty((0, len(target)), dtype=bool)
        empty = np.empty(0)
        yy, n = float(weights @ target**2), float(weights.sum())
        self.loss = Design(np.empty((0, 0)), empty, yy, n, empty)

    def residual(self, w: FloatArray) -> FloatArray:
        """Return h e / n of each row."""
        left = self.target - self.loss.intercept(w)
        for k in np.flatnonzero(w):
            left -= w[k] * self._active[k]
        return self.weights * left / self.loss.n

    def add(self, columns: list[BoolArray]) -> None:
        """Add the rows of more columns, and their part of the sums."""
        first, m = len(self._active), len(self._active) + len(columns)
        self._active = np.concatenate([self._active, columns])
        old, n = self.loss, self.loss.n
        # Old overlaps are read off C; each new column costs one pass over its rows.
        overlaps = np.empty((m, m))
        overlaps[:first, :first] = old.C + n * np.outer(old.means, old.means)
        for k in range(first, m):
            weigh_overlaps(self._active, self._active[k], self.weights, overlaps[k])
            overlaps[:first, k] = overlaps[k, :first]
        means = np.diagonal(overlaps) / n
        C = overlaps - n * np.outer(means, means)
        sums = np.empty(len(columns))
        everywhere = np.ones(len(self.target), dtype=bool)
        weigh_overlaps(self._active[first:], everywhere, self.weights * self.target, sums)
        self.loss = Design(C, np.concatenate([old.c, sums]), old.yy, n, means)


class LogisticMaster:
    """The logistic loss of classes; rows on which all columns are the same count as one."""

    def __init__(self, classes: FloatArray, weights: FloatArray) -> None:
        self._rows = Logistic(np.empty((0, len(classes)), dtype=bool), weights, classes)
        self.loss = self._rows

    def residual(self, w: FloatArray) -> FloatArray:
        """Return h e / n of each row."""
        return self._rows.weights * self._rows.residual(w) / self._rows.n

    def add(self, columns: list[BoolArray]) -> None:
        """Add the rows of more columns."""
        h, s = self._rows.weights, self._rows.classes
        self._rows = Logistic(np.concatenate([self._rows.A, columns]), h, s)
        # Merged from all rows each time, as a new column may split any group of them.
        self.loss = Logistic.merged(self._rows.A, h, s)


# --- generation -----------------------------------------------------------------------------------


@dataclass
class ColumnGeneration:
    """Conjunctions that are looked for, and the master problem of those found so far."""

    beam: Beam
    master: SquaredMaster | LogisticMaster
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
        rows = data.whole()
        target = rows.target.astype(np.float64)
        z = (target - float(moments.mean)) / float(moments.variance) ** 0.5
        if master is LogisticMaster:
            z = (z > 0).astype(np.float64)  # of two classes, the second is above the mean
        h = np.ones(len(z))
        if rows.weights is not None:
            h = rows.weights.astype(np.float64) * data.weight_step
        return cls(Beam(Literals.of(data), rows.codes, width, max_length), master(z, h), prices)

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
            worthwhile = self.beam.search(self.master.residual(w), by_length, SLACK * by_length[1])
            known = set(self.columns)
            # The authors add one column a round. With ten there are fewer problems to solve, and a
            # column that turns out to be of no use has the weight 0.
            new = [members for members, _ in worthwhile if members not in known][:PER_ROUND]
            if not new:
                return PathPoint.of_weights(strength, w)
            self.columns += new
            self.master.add([self.beam.holds(members) for members in new])
        return PathPoint.of_weights(strength, w, converged=False)

    def _solve_master(self, by_length: FloatArray, start: FloatArray) -> FloatArray:
        w = np.concatenate([start, np.zeros(len(self.columns) - len(start))])
        if not self.columns:
            return w
        lengths = np.array([len(members) for members in self.columns])
        return solve_closely(self.master.loss, by_length[lengths], w)
