"""All selections within a tolerance of the optimum: the Rashomon set of a problem at its floor.

Branch and bound lists instead of improving: it drops only what is proven to be outside, and keeps
every selection of full size that is not. Smaller selections need no search. Another rule never
raises the loss and never lowers the stability, so a selection of one rule less that is within the
tolerance is part of a larger one that is within it too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mossrules._common import check_integer, check_number
from mossrules._frames import Backend, make_frame
from mossrules._refusals import names_input
from mossrules._typing import FloatArray, IntArray
from mossrules.exceptions import InvalidParameter
from mossrules.solver.kernels.state import Bounds
from mossrules.solver.options import Clock, Options, Snapshot
from mossrules.solver.problems.logistic import LogisticProblem
from mossrules.solver.problems.selection import SelectionProblem
from mossrules.solver.problems.squared import Problem
from mossrules.solver.result import Status
from mossrules.solver.search.branch_and_bound import Root, SquaredTree, compile_kernels
from mossrules.solver.search.instance import Instance, first_selection
from mossrules.solver.search.logistic import LogisticTree
from mossrules.solver.search.state import (
    Floor,
    SearchState,
    TreeSearch,
)

__all__ = ["NearOptimalSet", "near_optimal"]

TINY = 1e-300  # of a loss, where that of no rule is 0


@dataclass(frozen=True, eq=False)
class NearOptimalSet:
    """Rule sets of nearly the least loss, the best first.

    The status is OPTIMAL when every rule set within the tolerance is there, and SOLUTION_LIMIT when
    these are the best of more; `complete_within` says up to where nothing is missing.

    Examples
    --------
    >>> import numpy as np
    >>> from mossrules.solver import Problem, near_optimal
    >>> M = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 1], [0, 1, 1], [0, 0, 0.0]])
    >>> y = np.array([2, 2, -2, -2, 0.0])
    >>> best = near_optimal(Problem.from_matrix(M, y, np.array([9, 8, 7]), max_rules=2, gamma=10))
    >>> best
    NearOptimalSet(2 rule sets within 1.00%, complete, 1 rules in all of them, optimal)
    >>> best.frame(backend="pandas")[["stability", "support"]]
       stability support
    0         17  [0, 1]
    1         16  [0, 2]
    """

    supports: tuple[IntArray, ...]  #: positions of the rules of each
    losses: FloatArray  #: of each
    stabilities: IntArray  #: of each
    tolerance: float  #: asked for
    limit: float  #: every rule set with a smaller loss than this is there
    status: Status  #: OPTIMAL when all within the tolerance are there
    n_rules: int  #: rules to select from
    nodes: int  #: of the search
    seconds: float  #: that it took

    @property
    def is_complete(self) -> bool:
        """Whether every rule set within the tolerance is there."""
        return self.status is Status.OPTIMAL

    @property
    def complete_within(self) -> float:
        """The tolerance within which nothing is missing; negative if the optimum may be."""
        if self.is_complete:
            return self.tolerance
        best = float(self.losses[0])
        return self.limit / best - 1.0 if best > 0 else 0.0

    def __len__(self) -> int:
        return len(self.supports)

    def __iter__(self) -> Iterator[IntArray]:
        return iter(self.supports)

    def __getitem__(self, index: int) -> IntArray:
        return self.supports[index]

    # --- what the rule sets have in common ------------------------------------------------------

    @property
    def frequency(self) -> FloatArray:
        """The share of the rule sets that have each rule, by its position in the problem."""
        return self._counts() / len(self)

    @property
    def core(self) -> IntArray:
        """Rules that are in every rule set."""
        return np.flatnonzero(self._counts() == len(self))

    def _counts(self) -> IntArray:
        return np.bincount(np.concatenate(self.supports), minlength=self.n_rules)

    def summary(self, *, backend: Backend | None = None) -> Any:
        """Return one row for each rule in any of the rule sets, the most frequent first.

        `least_loss_with` and `least_loss_without` are those of the best rule sets that have the
        rule and that do not: how much it costs to leave it out. Without one, it is NaN.
        """
        frequency = self.frequency
        rules = np.flatnonzero(frequency)
        rules = rules[np.argsort(-frequency[rules], kind="stable")]
        has = np.array([np.isin(rules, support) for support in self.supports])
        columns = {
            "rule": rules.tolist(),
            "frequency": frequency[rules].tolist(),
            "in_all": (frequency[rules] == 1.0).tolist(),
            "least_loss_with": [_least(self.losses[having]) for having in has.T],
            "least_loss_without": [_least(self.losses[~having]) for having in has.T],
        }
        return make_frame(columns, backend)

    def frame(self, *, backend: Backend | None = None) -> Any:
        """Return one row for each rule set, as a data frame or a dict of lists."""
        best = self.losses[0]
        columns = {
            "loss": self.losses.tolist(),
            "excess": [loss / best - 1.0 if best > 0 else 0.0 for loss in self.losses.tolist()],
            "stability": self.stabilities.tolist(),
            "rules": [len(support) for support in self.supports],
            "support": [support.tolist() for support in self.supports],
        }
        return make_frame(columns, backend)

    def __repr__(self) -> str:
        proven = "complete" if self.is_complete else f"complete within {self.complete_within:.2%}"
        return (
            f"NearOptimalSet({len(self)} rule sets within {self.tolerance:.2%}, {proven}, "
            f"{len(self.core)} rules in all of them, {self.status.value})"
        )


def _least(losses: FloatArray) -> float:
    return float(losses.min()) if len(losses) else float("nan")


@names_input("problem")
def near_optimal(
    problem: SelectionProblem,
    tolerance: float = 0.01,
    max_solutions: int = 1000,
    options: Options | None = None,
) -> NearOptimalSet:
    """List the rule sets whose loss is within a tolerance of the optimum at the problem's floor.

    Parameters
    ----------
    problem
        What to select from, and under which conditions; of either loss, with either kind of floor.
    tolerance
        Rule sets with a loss of at most (1 + tolerance) times the optimum are listed.
    max_solutions
        Where there are more, the best so many are returned.
    options
        The limits, `threads` and `progress` are used. The gap is not: the list is exact, or its
        status says that it is not.

    Returns
    -------
    NearOptimalSet
        With status OPTIMAL when nothing within the tolerance is missing. Otherwise
        `complete_within` says up to where nothing is.

    Examples
    --------
    Two rules that are the same on all rows: either will do, and the other one is needed.

    >>> import numpy as np
    >>> M = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 1], [0, 1, 1], [0, 0, 0.0]])
    >>> y = np.array([2, 2, -2, -2, 0.0])
    >>> best = near_optimal(Problem.from_matrix(M, y, np.array([9, 8, 7]), max_rules=2, gamma=10))
    >>> [support.tolist() for support in best.supports], best.core
    ([[0, 1], [0, 2]], array([0]))
    """
    if problem.constraints is not None:
        raise InvalidParameter("A near-optimal set takes no limits A z <= b; leave them out.")
    asked, problem = problem, problem.as_sum()  # no search knows of a floor on each rule
    tolerance = check_number("tolerance", tolerance, minimum=0.0)
    max_solutions = check_integer("max_solutions", max_solutions)
    # The gap is of no use to a list: what is within the tolerance is in, what is not is out.
    options = replace(Options() if options is None else options, gap=0.0)
    if options.proof is not None:
        raise InvalidParameter("A proof can be written of a solution, and this is a list of them.")
    compile_kernels()
    clock = Clock(options.time_limit)
    selections = _Selections(problem, tolerance, max_solutions, problem.margin)
    if problem.size == 0:
        selections.add([np.empty(0, dtype=np.int64)])
        return selections.set_of(asked, selections.limit, Status.OPTIMAL, 0, clock.elapsed())
    search = _search(problem, selections, options)
    status = search.run(clock).status
    selections.add_smaller()
    limit = min(search.bound, selections.limit)
    return selections.set_of(asked, limit, status, search.nodes, clock.elapsed())


# --- the list -----------------------------------------------------------------------------------


class _Selections:
    """Selections found so far, at most so many, and the loss up to which more are wanted."""

    def __init__(
        self, problem: SelectionProblem, tolerance: float, maximum: int, rounding: float
    ) -> None:
        self.problem, self.tolerance, self.maximum = problem, tolerance, maximum
        self.rounding = rounding  # losses closer than this count as equal
        self.losses: dict[tuple[int, ...], float] = {}
        self.limit = math.inf
        self.is_full = False

    def add(self, supports: Iterable[IntArray]) -> bool:
        """Add those that are new; tell whether there were any."""
        n_before = len(self.losses)
        for support in supports:
            key = tuple(sorted(int(i) for i in support))
            if key not in self.losses:
                self.losses[key] = self.problem.loss(np.array(key, dtype=np.int64))
        if len(self.losses) == n_before:
            return False
        best = min(self.losses.values())
        self.limit = min(self.limit, (1.0 + self.tolerance) * best + self.rounding)
        self._forget()
        return True

    def _forget(self) -> None:
        """Leave out what is no longer wanted: outside the tolerance, or after the last place."""
        kept = sorted((loss, key) for key, loss in self.losses.items() if loss <= self.limit)
        if len(kept) > self.maximum:
            self.is_full = True
            self.limit = kept[self.maximum - 1][0]
            kept = kept[: self.maximum]
        self.losses = {key: loss for loss, key in kept}

    def add_smaller(self) -> None:
        """Add selections of fewer rules: each is one of the list less a rule."""
        fixed, largest = set(self.problem.fixed_in), list(self.losses)
        while largest:
            smaller = {
                key[:at] + key[at + 1 :] for key in largest for at in range(len(key))
                if key[at] not in fixed
            }  # fmt: skip
            candidates = [np.array(key, dtype=np.int64) for key in smaller]
            self.add(support for support in candidates if self.problem.is_feasible(support))
            largest = [key for key in smaller if key in self.losses]

    def set_of(
        self, asked: SelectionProblem, limit: float, status: Status, nodes: int, seconds: float
    ) -> NearOptimalSet:
        """Return what is in the list, with the stability that the problem asked for has."""
        if self.is_full and status is Status.OPTIMAL:
            status = Status.SOLUTION_LIMIT
        supports = tuple(np.array(key, dtype=np.int64) for key in self.losses)
        return NearOptimalSet(
            supports=supports,
            losses=np.array(list(self.losses.values())),
            stabilities=np.array([asked.stability(each) for each in supports], np.int64),
            tolerance=self.tolerance,
            limit=limit,
            status=status,
            n_rules=self.problem.m,
            nodes=nodes,
            seconds=seconds,
        )


# --- the search ---------------------------------------------------------------------------------


@dataclass(eq=False)
class _ListState(SearchState):
    """The state of a search for all selections of full size with a loss below that of the list.

    The cutoff is the limit of the list, which comes down as it fills, and what is dropped is of no
    use to anyone: it is outside.
    """

    selections: _Selections = field(kw_only=True)

    lists_all = True

    @property
    def cutoff(self) -> float:
        """The loss from which selections are not listed; rounding must not lose one at the end."""
        return self.selections.limit + max(2.0 * self.margin, TINY)

    def bound(self, least_open: float) -> float:
        """Return what is proven: selections of a smaller loss are listed, if they are wanted."""
        return least_open

    def tell_kernels(self, bounds: Bounds) -> None:
        """Let kernels drop what is above the cutoff itself."""
        bounds.loss, bounds.gap, bounds.margin = self.cutoff, 0.0, 0.0

    def offer(self, support: IntArray, loss: float, stability: int | None = None) -> None:
        """Add a selection whatever the loss that a search has found for it."""
        del loss, stability  # the list computes losses itself, by the plain definition
        self.offer_all([support])

    def offer_all(self, supports: Iterable[IntArray]) -> None:
        """Add some selections to the list."""
        self.selections.add(supports)
        best, loss = next(iter(self.selections.losses.items()))
        self.best.offer(np.array(best, dtype=np.int64), loss)

    def snapshot(self, nodes: int, bound: float) -> Snapshot:
        """Return where the search stands; the bound is not told to be above the best loss."""
        return super().snapshot(nodes, min(self.best.loss, bound))


def _search(problem: SelectionProblem, selections: _Selections, options: Options) -> TreeSearch:
    """Return the search that fills the list."""
    floor = Floor(problem.min_stability)
    state = _ListState(options, selections.rounding, [floor], selections=selections)
    if isinstance(problem, LogisticProblem):
        return LogisticTree([problem], state)
    assert isinstance(problem, Problem)  # noqa: S101  tells mypy that there are two losses
    instance = Instance.of(problem)
    first = first_selection(instance, None)
    state.offer_all([first.support])
    first.loss = state.cutoff  # relaxed and rounded as if the limit were the best loss so far
    root = Root.of(instance, first, options, None)
    state.offer_all([root.best.support])
    return SquaredTree([root], state)
