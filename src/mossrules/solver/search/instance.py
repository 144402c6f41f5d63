"""The rules that may still be selected, as kernels want them, and good selections to begin with.

Nothing is proven here: exchanges of single rules, from the most stable selection or a given one,
end at a selection that is the optimum often enough for a search to have little left to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mossrules._typing import AnyArray, FloatArray, IntArray
from mossrules.exceptions import InfeasibleProblem
from mossrules.solver.kernels.fixing import chain_duplicates, fix_by_conditions
from mossrules.solver.kernels.state import (
    FREE,
    IN,
    OUT,
    Constraints,
    Data,
    Precedence,
    no_constraints,
)
from mossrules.solver.kernels.swaps import improve_by_swaps
from mossrules.solver.problems.logistic import LogisticProblem
from mossrules.solver.problems.quadratic_model import QuadraticModel
from mossrules.solver.problems.selection import SelectionProblem
from mossrules.solver.problems.squared import Problem
from mossrules.solver.search.state import Incumbent

__all__ = [
    "MAX_ROUNDS",
    "WORTHWHILE",
    "Instance",
    "constraints_of",
    "first_selection",
    "has_selection",
    "local_search",
    "logistic_selection",
]

MAX_SWAPS = 200
MAX_ROUNDS = 8  # squared problems that touch a logistic one
WORTHWHILE = 1e-9  # relative fall in loss: a smaller one ends the search


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
    decision: AnyArray  # FREE or IN
    by_count: IntArray  # rules by falling count
    flip: FloatArray  # -1 where column and weight change sides, so that all bounds are from below
    constraints: Constraints  # on all rules of the problem
    shift: float  # from the ridge to the diagonal of G, which changes no loss (see `proofs`)

    @classmethod
    def of(
        cls, problem: Problem, prices: FloatArray | None = None, *, shift: float = 0.0
    ) -> Instance:
        """Leave out the rules that are fixed out, and those that floor or limits keep out.

        `prices` of the limits make bounds heed them.
        """
        decision = np.full(problem.m, FREE, np.int8)
        decision[list(problem.fixed_in)] = IN
        decision[list(problem.fixed_out)] = OUT
        everything = cls._with(
            problem, np.arange(problem.m), decision, constraints_of(problem, prices), 0.0
        )
        possible, _, _ = fix_by_conditions(
            everything.data,
            everything.without_duplicates(),
            decision,
            everything.rules_left,
            everything.stability_left,
        )
        if not possible:
            raise InfeasibleProblem("No rule set meets the floor and the limits; relax either.")
        # The shift comes last: a copy of all of G would take longer than most searches.
        return replace(everything, shift=shift).without(decision)

    @classmethod
    def _with(
        cls,
        problem: Problem,
        rules: IntArray,
        decision: AnyArray,
        constraints: Constraints,
        shift: float,
    ) -> Instance:
        """Return the instance of some rules."""
        statistics = problem.statistics
        counts = statistics.counts[rules].astype(np.float64)
        everything = len(rules) == problem.m
        G = statistics.G if everything else statistics.G[np.ix_(rules, rules)]
        signs = np.zeros(len(rules)) if problem.signs is None else problem.signs[rules]
        flip = np.where(signs < 0, -1.0, 1.0)
        if (signs < 0).any():
            G = flip[:, None] * G * flip
        if shift > 0.0:
            G = 0.5 * (G + G.T) + shift * np.eye(len(rules))
        data = Data(
            G=np.ascontiguousarray(G, dtype=np.float64),
            q=flip * statistics.q[rules],
            counts=counts,
            gamma=problem.gamma / (1.0 - shift * problem.gamma),
            half_yy=0.5 * statistics.yy,
            signed=bool(signs.any()),
            bounded=signs != 0,
            constraints=constraints._replace(
                A=np.ascontiguousarray(constraints.A[:, rules]), offset=constraints.offset[rules]
            ),
        )
        by_count = np.argsort(-counts, kind="stable")
        return cls(problem, rules, data, decision[rules], by_count, flip, constraints, shift)

    @classmethod
    def covering(cls, instances: Sequence[Instance]) -> Instance:
        """Return what covers instances of one problem at several floors, the lowest first.

        It has the rules of any of them, and those fixed in that are so in all of them.
        """
        first, *others = instances
        if not others:
            return first
        votes = np.zeros(first.problem.m, np.int64)
        decision = np.full(first.problem.m, OUT, np.int8)
        for each in instances:
            decision[each.rules] = FREE
            votes[each.rules[each.decision == IN]] += 1
        decision[votes == len(instances)] = IN
        return cls._with(
            first.problem,
            np.flatnonzero(decision != OUT),
            decision,
            first.constraints,
            first.shift,
        )

    def without(self, decision: AnyArray) -> Instance:
        """Return the instance less the rules that are out by now."""
        everywhere = np.full(self.problem.m, OUT, np.int8)
        everywhere[self.rules] = decision
        left = self.rules[decision != OUT]
        return self._with(self.problem, left, everywhere, self.constraints, self.shift)

    @property
    def rules_left(self) -> float:
        """Rules still to be chosen, K."""
        return float(self.problem.size - np.count_nonzero(self.decision == IN))

    @property
    def stability_left(self) -> float:
        """Stability still to be had, E."""
        return float(self.problem.min_stability - self.data.counts[self.decision == IN].sum())

    def without_duplicates(self) -> Precedence:
        """Return the order of the rules in which duplicates are treated as different."""
        m = len(self.by_count)
        return Precedence(self.by_count, np.full(m, -1), np.full(m, -1))

    def with_duplicates(self) -> Precedence:
        """Return the order of the rules, and of equal columns among those that are free.

        Of two rules with the same column the one with the larger count may as well be chosen first,
        which cuts off one of each pair of mirror images in the tree. What they count in
        constraints, and the sign of their weights, must be the same as well.
        """
        data, precedence = self.data, self.without_duplicates()
        free = self.by_count[self.decision[self.by_count] == FREE]
        length = np.sqrt(np.diagonal(data.G)[free] * 2.0 * data.half_yy)
        # Correlations with y: only rules that have the same one need be compared column by column.
        keys = np.round(data.q[free] / np.where(length > 0.0, length, 1.0), 12)
        if self.problem.is_limited:
            same = np.column_stack([keys, data.bounded[free], data.constraints.A.T[free]])
            which = np.unique(same, axis=0, return_inverse=True)[1]
            keys = which.reshape(-1).astype(np.float64)  # NumPy 2.0 returns a column
        by_key = np.argsort(keys, kind="stable")  # within a key, still by falling count
        chain_duplicates(data.G, keys[by_key], free[by_key], precedence.before, precedence.after)
        return precedence

    def with_classes(self, classes: IntArray) -> Precedence:
        """Return the same order for rules that are known to be duplicates: of one class each."""
        precedence, last = self.without_duplicates(), dict[int, int]()
        for i in self.by_count.tolist():
            if self.decision[i] != FREE:
                continue
            own = int(classes[self.rules[i]])
            if own in last:
                precedence.before[i], precedence.after[last[own]] = last[own], i
            last[own] = i
        return precedence


def constraints_of(problem: Problem, prices: FloatArray | None = None) -> Constraints:
    """Return the constraints on rules for the kernels; bounds heed them at the prices given."""
    own = problem.constraints
    if own is None:
        return no_constraints(problem.m)
    if len(own.groups):
        raise AssertionError("Constraints on groups must be decided before those on rules.")
    prices = np.zeros(len(own.b)) if prices is None else prices
    return Constraints(own.A, own.maximum, prices @ own.A, float(prices @ own.b))


# --- good selections ----------------------------------------------------------------------------


def first_selection(instance: Instance, start: IntArray | None) -> Incumbent:
    """Return the better of `start` and the most stable selection, each improved by swaps."""
    problem, data = instance.problem, instance.data
    fixed = np.flatnonzero(instance.decision == IN)
    best = Incumbent(np.empty(0, dtype=np.int64), np.inf)
    assert problem.most_stable_feasible is not None  # noqa: S101  tells mypy what the callers know
    starts = [problem.most_stable_feasible]
    if start is not None and problem.constraints is not None:
        start = problem.filled(start)
    if start is not None and problem.is_feasible(start) and len(start) == problem.size:
        starts.append(np.sort(start))
    # Fixed rules come first, where exchanges leave them alone.
    for given in starts:
        here = np.searchsorted(instance.rules, given)
        support = np.concatenate([fixed, np.setdiff1d(here, fixed)])
        allowed = np.ones(len(instance.rules), dtype=np.bool_)
        allowed[support] = False
        explained = improve_by_swaps(
            data, float(problem.min_stability), allowed, support, len(fixed), MAX_SWAPS
        )
        best.offer(instance.rules[support], data.half_yy - explained)
    return best


def local_search(
    model: QuadraticModel, start: IntArray | None = None
) -> tuple[Incumbent, QuadraticModel]:
    """Return a selection for the logistic loss that no exchange of one rule seems to improve.

    Exchanges are tried on squared problems that touch the logistic one: at the selection found, the
    next one is made to touch, until the logistic loss itself falls no more. With the selection
    comes the model with the curvature near there, if that is cheap to have.
    """
    problem, m = model.problem, model.problem.m
    most_stable = problem.most_stable_feasible
    assert most_stable is not None  # noqa: S101  tells mypy what the callers know
    best = Incumbent(most_stable, problem.loss(most_stable))
    if start is not None and len(start) == problem.size and problem.is_feasible(start):
        best.offer(start, problem.loss(start))
    w = np.zeros(m + 1)
    for _ in range(MAX_ROUNDS):
        squared = model.squared_problem(model.point(w), most_stable_feasible=most_stable)
        found = first_selection(Instance.of(squared), np.append(best.support, m)).support
        found = found[found < m]
        loss = problem.loss(found)
        if w.any() and loss >= best.loss * (1.0 - WORTHWHILE):
            break
        best.offer(found, loss)
        # The curvature is made anew once, near a good selection; later rounds move little.
        first = not w.any()
        w = model.weights(best.support)
        model = model.curved_at(w) if model.is_cheap and first else model
    return best, model


def logistic_selection(
    problem: LogisticProblem, start: IntArray | None
) -> tuple[Incumbent, QuadraticModel, IntArray]:
    """Return a good selection for the logistic loss, in positions among the rules that come last.

    Those are the rules of any selection that meets the floor; the model, of these alone, has the
    curvature near the selection if that is cheap to have.
    """
    rules = problem.possible_rules()
    most_stable = None if problem.constraints is None else problem.most_stable_feasible
    here = problem.reduced(rules, problem.fixed_in, most_stable_feasible=most_stable)
    known = None if start is None else np.searchsorted(rules, np.intersect1d(start, rules))
    best, model = local_search(QuadraticModel.of(here), known)
    return best, model, rules
