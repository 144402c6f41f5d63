"""All selections within a tolerance of the optimum: the Rashomon set of a problem at its floor.

Branch and bound lists instead of improving: it drops only what is proven to be outside, and keeps
every selection of full size that is not. Smaller selections need no search. Another rule never
raises the loss and never lowers the stability, so a selection of one rule less that is within the
tolerance is part of a larger one that is within it too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mossrules._common import check_integer, check_number
from mossrules._frames import Backend, make_frame
from mossrules._typing import FloatArray, IntArray
from mossrules.exceptions import InvalidParameter
from mossrules.solver.kernels.search import DONE, OUT_OF_SLOTS, run
from mossrules.solver.kernels.state import IN, Node, make_search
from mossrules.solver.kernels.tree import Tree, grow_tree, make_tree, push
from mossrules.solver.options import Clock, Options, Snapshot
from mossrules.solver.problems.squared import Problem, refuse_other_losses
from mossrules.solver.result import Status
from mossrules.solver.search.branch_and_bound import compile_kernels
from mossrules.solver.search.heuristics import first_selection
from mossrules.solver.search.instance import Instance
from mossrules.solver.search.root import Root

__all__ = ["SolutionPool", "solve_pool"]

SLICE = 64  # nodes between two looks at what was listed
ROOM = 32 * SLICE  # a node lists fewer than 32 selections: its children, and those it tries
FIRST_SLOTS = 1024
ROUNDING = 1e-12  # of yy/2: losses closer than this count as equal
TINY = 1e-300  # of a loss, where yy is 0


@dataclass(frozen=True, eq=False)
class SolutionPool:
    """Selections of nearly the least loss, the best first.

    The status is OPTIMAL when every selection within the tolerance is there, and SOLUTION_LIMIT
    when these are the best of more; `complete_within` says up to where nothing is missing.

    Examples
    --------
    >>> import numpy as np
    >>> from mossrules.solver import Problem, solve_pool
    >>> M = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 1], [0, 1, 1], [0, 0, 0.0]])
    >>> y = np.array([2, 2, -2, -2, 0.0])
    >>> pool = solve_pool(Problem.from_matrix(M, y, np.array([9, 8, 7]), max_rules=2, gamma=10))
    >>> pool
    SolutionPool(2 selections within 1.00%, complete, 1 rules in all of them, optimal)
    >>> pool.frame(backend="pandas")[["stability", "support"]]
       stability support
    0         17  [0, 1]
    1         16  [0, 2]
    """

    supports: tuple[IntArray, ...]  #: positions of the rules of each selection
    losses: FloatArray  #: of each
    stabilities: IntArray  #: of each
    tolerance: float  #: asked for
    limit: float  #: every selection with a smaller loss than this is in the pool
    status: Status  #: OPTIMAL when all selections within the tolerance are there
    n_rules: int  #: rules to select from
    nodes: int  #: of the search
    seconds: float  #: that it took

    @property
    def is_complete(self) -> bool:
        """Whether every selection within the tolerance is there."""
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

    # --- what the selections have in common -----------------------------------------------------

    @property
    def frequency(self) -> FloatArray:
        """The share of the selections that have each rule, by its position in the problem."""
        return self._counts() / len(self)

    @property
    def core(self) -> IntArray:
        """Rules that are in every selection."""
        return np.flatnonzero(self._counts() == len(self))

    def _counts(self) -> IntArray:
        return np.bincount(np.concatenate(self.supports), minlength=self.n_rules)

    def summary(self, *, backend: Backend | None = None) -> Any:
        """Return one row for each rule in any of the selections, the most frequent first.

        `least_loss_with` and `least_loss_without` are those of the best selections that have the
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
        """Return one row for each selection, as a data frame or a dict of lists."""
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
            f"SolutionPool({len(self)} selections within {self.tolerance:.2%}, {proven}, "
            f"{len(self.core)} rules in all of them, {self.status.value})"
        )


def _least(losses: FloatArray) -> float:
    return float(losses.min()) if len(losses) else float("nan")


def solve_pool(
    problem: Problem,
    tolerance: float = 0.01,
    max_solutions: int = 1000,
    options: Options | None = None,
) -> SolutionPool:
    """List the selections whose loss is within a tolerance of the optimum at the problem's floor.

    Parameters
    ----------
    problem
        What to select from, and under which conditions.
    tolerance
        Selections with a loss of at most (1 + tolerance) times the optimum are listed.
    max_solutions
        Where there are more, the best so many are returned.
    options
        `time_limit`, `node_limit`, `open_nodes` and `progress` are used. The gap is not: the list
        is exact, or its status says that it is not.

    Returns
    -------
    SolutionPool
        With status OPTIMAL when nothing within the tolerance is missing. Otherwise
        `pool.complete_within` says up to where nothing is.

    Examples
    --------
    Two rules that are the same on all rows: either will do, and the other one is needed.

    >>> import numpy as np
    >>> M = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 1], [0, 1, 1], [0, 0, 0.0]])
    >>> y = np.array([2, 2, -2, -2, 0.0])
    >>> pool = solve_pool(Problem.from_matrix(M, y, np.array([9, 8, 7]), max_rules=2, gamma=10))
    >>> [support.tolist() for support in pool.supports], pool.core
    ([[0, 1], [0, 2]], array([0]))
    """
    refuse_other_losses(problem, "A pool of solutions")
    if problem.is_limited:
        raise InvalidParameter("A pool takes neither limits A z <= b nor signs; leave them out.")
    tolerance = check_number("tolerance", tolerance, minimum=0.0)
    max_solutions = check_integer("max_solutions", max_solutions)
    options = Options() if options is None else options
    compile_kernels()
    clock = Clock(options.time_limit)
    found = _Found(problem, tolerance, max_solutions)
    listing = _Listing(problem, found, options, clock)
    status = listing.run()
    found.add_smaller()
    return found.pool(min(listing.bound, found.limit), status, listing.nodes, clock.elapsed())


# --- the list -----------------------------------------------------------------------------------


class _Found:
    """Selections found so far, at most so many, and the loss up to which more are wanted."""

    def __init__(self, problem: Problem, tolerance: float, most: int) -> None:
        self.problem, self.tolerance, self.most = problem, tolerance, most
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
        slack = ROUNDING * 0.5 * self.problem.statistics.yy
        self.limit = min(self.limit, (1.0 + self.tolerance) * min(self.losses.values()) + slack)
        self._forget()
        return True

    def _forget(self) -> None:
        """Leave out what is no longer wanted: outside the tolerance, or after the last place."""
        kept = sorted((loss, key) for key, loss in self.losses.items() if loss <= self.limit)
        if len(kept) > self.most:
            self.is_full = True
            self.limit = kept[self.most - 1][0]
            kept = kept[: self.most]
        self.losses = {key: loss for loss, key in kept}

    def add_smaller(self) -> None:
        """Add selections of fewer rules: each is one of the list less a rule."""
        fixed, largest = set(self.problem.fixed_in), list(self.losses)
        while largest:
            smaller = {
                key[:at] + key[at + 1 :] for key in largest for at in range(len(key))
                if key[at] not in fixed
            }  # fmt: skip
            feasible = [np.array(key, dtype=np.int64) for key in smaller]
            self.add(each for each in feasible if self.problem.is_feasible(each))
            largest = [key for key in smaller if key in self.losses]

    def pool(self, limit: float, status: Status, nodes: int, seconds: float) -> SolutionPool:
        """Return what is in the list."""
        if self.is_full and status is Status.OPTIMAL:
            status = Status.SOLUTION_LIMIT
        supports = tuple(np.array(key, dtype=np.int64) for key in self.losses)
        return SolutionPool(
            supports=supports,
            losses=np.array(list(self.losses.values())),
            stabilities=np.array([self.problem.stability(each) for each in supports], np.int64),
            tolerance=self.tolerance,
            limit=limit,
            status=status,
            n_rules=self.problem.m,
            nodes=nodes,
            seconds=seconds,
        )


# --- the search ---------------------------------------------------------------------------------


class _Listing:
    """A search for all selections of full size with a loss below the limit of the list."""

    def __init__(self, problem: Problem, found: _Found, options: Options, clock: Clock) -> None:
        self.found, self.options, self.clock = found, options, clock
        self.slack = max(ROUNDING * problem.statistics.yy, TINY)
        self.nodes = 0
        instance = Instance.of(problem)
        first = first_selection(instance, None)
        found.add([first.support])
        # Relaxed and rounded as if the limit were the best loss so far.
        first.loss = self.limit
        root = Root.of(instance, first, replace(options, gap=0.0), None)
        found.add([root.best.support])
        self.tree = self._plant(root)

    @property
    def limit(self) -> float:
        """The loss from which selections are not listed; rounding must not lose one at the end."""
        return self.found.limit + self.slack

    def _plant(self, root: Root) -> Tree | None:
        """Return a tree with the root to expand; None when nothing is left to choose."""
        instance = root.reduced(self.limit)
        if instance is None:
            return None
        if instance.rules_left == 0.0:
            self.found.add([instance.rules[instance.decision == IN]])
            return None
        problem, m = instance.problem, len(instance.rules)
        self.instance = instance
        self.search = make_search(
            problem.size, problem.min_stability, instance.without_duplicates(), list_capacity=ROOM
        )
        tree = make_tree(FIRST_SLOTS, m)
        kept = np.isin(root.instance.rules, instance.rules)
        start = Node(instance.decision, root.node.w[kept], root.node.r[kept], root.node.multipliers)
        push(tree, root.bound, root.proven, start)
        return tree

    def run(self) -> Status:
        """List until no open node is below the limit, or the search has to end before."""
        try:
            while self.tree is not None and self.tree.sizes[0]:
                if self.clock.left() <= 0.0:
                    return Status.TIME_LIMIT
                if self._out_of_nodes(int(self.tree.sizes[0])):
                    return Status.NODE_LIMIT
                end = self._slice(self.tree)
                if end == DONE:
                    break
                if end == OUT_OF_SLOTS:
                    self.tree = grow_tree(self.tree)
                if self.options.progress is not None:
                    self.options.progress(self._snapshot())
        except KeyboardInterrupt:
            return Status.INTERRUPTED
        return Status.OPTIMAL

    def _out_of_nodes(self, n_open: int) -> bool:
        limit = self.options.node_limit
        return n_open > self.options.open_nodes or (limit is not None and self.nodes >= limit)

    def _slice(self, tree: Tree) -> int:
        search = self.search
        search.bounds.loss = self.limit
        end = int(run(self.instance.data, search, tree, self.instance.decision, SLICE))
        self.found.add(self.instance.rules[search.selections.listed[: search.counters.listed]])
        search.counters.listed = 0
        self.nodes = int(search.counters.nodes)
        return end

    @property
    def bound(self) -> float:
        """Selections with a smaller loss than this are listed, if they are below the limit."""
        if self.tree is None or self.tree.sizes[0] == 0:
            return math.inf
        return float(self.tree.bound[self.tree.heap[0]])

    def _snapshot(self) -> Snapshot:
        best = min(self.found.losses.values())
        return Snapshot(self.clock.elapsed(), self.nodes, best, min(best, self.bound))
