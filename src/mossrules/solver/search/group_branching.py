"""Branch and bound under limits `A z <= b`: first on groups of rules, then on rules.

A limit on groups ("at most three features") hardly moves the relaxation: u_g, whether a group is
used, need be no larger than the largest z_i in it. So groups are decided first. A group is left
out, with all its rules, or let in, and once no limit forbids to let in all that are left, limits
on groups are kept whatever rules are chosen. What then remains is a problem with limits on rules
at most, for one tree, in which prices make the bounds heed them.
"""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from mossrules._typing import FloatArray, IntArray
from mossrules.exceptions import InfeasibleProblem, InvalidParameter
from mossrules.solver.bounds.constraint_duals import constraint_multipliers
from mossrules.solver.bounds.duality import Cut, DualPoint
from mossrules.solver.options import Clock, Options, Snapshot
from mossrules.solver.problems.linear_constraints import LinearConstraints
from mossrules.solver.problems.selection import SelectionProblem
from mossrules.solver.problems.squared import Problem
from mossrules.solver.result import Outcome, Status
from mossrules.solver.search.branch_and_bound import TreeSearch
from mossrules.solver.search.heuristics import Incumbent, first_selection
from mossrules.solver.search.instance import Instance, has_selection
from mossrules.solver.search.root import Root

__all__ = ["LimitedSearch", "Relaxation", "run_limited", "solve_limited"]


def solve_limited(
    problem: Problem,
    options: Options,
    *,
    clock: Clock,
    start: IntArray | None = None,
    bound: float = 0.0,
) -> Outcome:
    """Return the best selection found that keeps the limits, and the bound that is proven.

    `start` is a selection to begin with, and `bound` a lower bound that is known to hold.
    """
    return run_limited(_SquaredSearch, problem, options, clock=clock, start=start, bound=bound)


def run_limited(
    kind: type[LimitedSearch],
    problem: SelectionProblem,
    options: Options,
    *,
    clock: Clock,
    start: IntArray | None,
    bound: float,
) -> Outcome:
    """Return what a search for one kind of loss finds and proves."""
    if problem.constraints is None:
        raise AssertionError("There are no limits.")
    if problem.constraints.is_mixed:
        raise InvalidParameter(
            "Branch and bound takes no limit that counts rules and groups at once; use "
            "method='cutting-plane'."
        )
    if not has_selection(problem):
        nothing = {"nodes": 0.0, "choices_of_groups": 0.0}
        return Outcome(None, np.inf, Status.INFEASIBLE, nothing)
    search = kind(problem, problem.constraints, options, clock, bound)
    assert problem.most_stable_feasible is not None  # noqa: S101  tells mypy what was just seen
    for selection in (problem.most_stable_feasible, start):
        if selection is not None and problem.is_feasible(selection):
            search.best.offer(selection, problem.loss(selection))
    try:
        status = search.run()
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    return Outcome(search.best.support, search.bound, status, search.figures(), search.dual)


@dataclass(order=True)
class _Node:
    """Groups that are let in and left out; least bound first, then the most decided."""

    bound: float
    undecided: int
    inside: frozenset[int] = field(compare=False)
    outside: frozenset[int] = field(compare=False)


class Relaxation(NamedTuple):
    """The bound of a relaxed root, and how much the relaxed weights of rules matter (m,)."""

    bound: float
    worth: FloatArray


@dataclass(eq=False)
class LimitedSearch(ABC):
    """A search over groups, with a tree over rules at each of its leaves.

    A subclass is for one loss: it relaxes problems with limits on rules at most, and searches them.
    """

    problem: SelectionProblem
    limits: LinearConstraints
    options: Options
    clock: Clock
    known: float  # a bound that holds
    best: Incumbent = field(default_factory=lambda: Incumbent(np.empty(0, dtype=np.int64), np.inf))
    open: list[_Node] = field(default_factory=list)
    finished: float = np.inf  # least bound of what was dropped or searched to its end
    dual: DualPoint | None = None  # of the first root
    nodes: int = 0  # of trees over rules
    choices: int = 0  # of groups
    cuts: list[Cut] = field(default_factory=list)
    tried: set[frozenset[int]] = field(default_factory=set)

    def run(self) -> Status:
        """Take the node of the least bound until none is below the cutoff, or time is over."""
        heapq.heappush(self.open, self._node(0.0, frozenset(), frozenset()))
        while self.open and self.open[0].bound < self.cutoff:
            if self.clock.left() <= 0.0:
                return Status.TIME_LIMIT
            if self.options.node_limit is not None and self.nodes >= self.options.node_limit:
                return Status.NODE_LIMIT
            node = heapq.heappop(self.open)
            status = self._expand(node)
            if status is not Status.OPTIMAL:
                return status
            if self.options.progress is not None:
                self.options.progress(
                    Snapshot(self.clock.elapsed(), self.nodes, self.best.loss, self.bound)
                )
        return Status.OPTIMAL

    # --- where it stands ------------------------------------------------------------------------

    @property
    def cutoff(self) -> float:
        """The bound from which a node is of no use."""
        return Root.cutoff_at(self.best.loss, self.options.gap, self.problem.null_loss)

    @property
    def bound(self) -> float:
        """No selection that keeps the limits has a smaller loss than this."""
        least = min([self.finished, *(node.bound for node in self.open)])
        return min(self.best.loss, max(self.known, least))

    def figures(self) -> dict[str, float]:
        """Return counts of what was done."""
        return {"nodes": float(self.nodes), "choices_of_groups": float(self.choices)}

    # --- groups ---------------------------------------------------------------------------------

    def _node(self, bound: float, inside: frozenset[int], outside: frozenset[int]) -> _Node:
        """Return a node with the groups left out that there is no room for beside those inside."""
        u = np.zeros(len(self.limits.groups))
        u[list(inside)] = 1.0
        used, most = self.limits.of_groups @ u, self._most_of_groups
        full = np.any(used[:, None] + self.limits.of_groups > most[:, None], axis=0)
        left = set(range(len(u))) - inside
        outside |= {g for g in left if full[g]}
        return _Node(bound, len(left - outside), inside, outside)

    @property
    def _most_of_groups(self) -> FloatArray:
        counts_groups = self.limits.of_groups.any(axis=1)
        return np.where(counts_groups, self.limits.most, np.inf)

    def _is_leaf(self, node: _Node) -> bool:
        """Tell whether all groups that are not left out may be used together."""
        u = np.ones(len(self.limits.groups))
        u[list(node.outside)] = 0.0
        return bool((self.limits.of_groups @ u <= self._most_of_groups).all())

    def _restricted(self, outside: frozenset[int]) -> SelectionProblem:
        """Return the problem without the rules of some groups, and without limits on groups."""
        out = self.limits.groups[list(outside)].any(axis=0)
        return self.problem.restricted(np.flatnonzero(out), self.limits.on_rules)

    def _expand(self, node: _Node) -> Status:
        """Search a leaf to its end, or relax a node and decide on one more group."""
        try:
            problem = self._restricted(node.outside)
            if self._is_leaf(node):
                return self._search_leaf(problem)
            root = self._relax(problem, self._first_prices(problem))
        except InfeasibleProblem:
            return Status.OPTIMAL  # there is nothing in it
        bound = max(node.bound, root.bound)
        if bound >= self.cutoff:
            self.finished = min(self.finished, bound)
            return Status.OPTIMAL
        self.choices += 1
        worth = self.limits.groups @ root.worth
        self._try_groups(node, worth)
        undecided = [g for g in np.argsort(-worth, kind="stable").tolist()
                     if g not in node.inside and g not in node.outside]  # fmt: skip
        group = undecided[0]
        for child in (
            self._node(bound, node.inside | {group}, node.outside),
            self._node(bound, node.inside, node.outside | {group}),
        ):
            heapq.heappush(self.open, child)
        return Status.OPTIMAL

    def _try_groups(self, node: _Node, worth: FloatArray) -> None:
        """Look for a selection among the groups let in and the worthiest that go with them."""
        inside, outside = node.inside, node.outside
        for g in np.argsort(-worth, kind="stable").tolist():
            if g not in inside and g not in outside:
                full = self._node(0.0, inside | {g}, outside)
                inside, outside = full.inside, full.outside
        if outside in self.tried:
            return
        self.tried.add(outside)
        try:
            problem = self._restricted(outside)
            if not has_selection(problem):
                return
            found = self._first_selection(problem)
        except InfeasibleProblem:
            return
        self._offer(found)

    def _offer(self, support: IntArray) -> None:
        """Take over a selection, less its blanks, if it keeps the limits and is better."""
        support = support[support < self.problem.m]
        if self.problem.is_feasible(support):
            self.best.offer(support, self.problem.loss(support))

    # --- rules ----------------------------------------------------------------------------------

    @abstractmethod
    def _first_selection(self, problem: SelectionProblem) -> IntArray:
        """Return a good selection of a problem that has one, maybe with blanks."""

    @abstractmethod
    def _relax(self, problem: SelectionProblem, dual: DualPoint | None) -> Relaxation:
        """Relax the root of a problem with limits on rules at most, from a dual point on."""

    @abstractmethod
    def _search_leaf(self, problem: SelectionProblem) -> Status:
        """Search the tree over rules, for what is better than the best so far."""

    def _first_prices(self, problem: SelectionProblem) -> DualPoint | None:
        """Return the prices of limits on rules with no group left out, found once for all nodes."""
        if problem.constraints is None or self.dual is None:
            return self._prices(problem)
        return self.dual

    def _prices(self, problem: SelectionProblem) -> DualPoint | None:
        """Return the prices of limits on rules, if there are any."""
        if problem.constraints is None or problem.most_stable_feasible is None:
            return None
        own = self.best.support
        start = own if problem.is_feasible(own) else problem.most_stable_feasible
        dual = constraint_multipliers(problem, start, self.cuts)
        if dual is not None:
            self._round(problem, problem.constraints, dual)
        return dual

    def _round(self, problem: SelectionProblem, limits: LinearConstraints, dual: DualPoint) -> None:
        """Look at the selection that is the best by the gradient at relaxed weights.

        Under tight limits, exchanging single rules does not lead far from the most stable.
        """
        w = np.zeros(problem.m)
        w[dual.rules] = dual.weights
        rounded = limits.cheapest(
            -problem.dual_parts(w)[1],
            problem.max_rules,
            problem.fixed_in,
            problem.fixed_out,
            (problem.counts, problem.min_stability),
        )
        if rounded is not None:
            self._offer(rounded)


class _SquaredSearch(LimitedSearch):
    """The search for the squared loss."""

    def _first_selection(self, problem: SelectionProblem) -> IntArray:
        return first_selection(Instance.of(_squared(problem).padded()), None).support

    def _relax(self, problem: SelectionProblem, dual: DualPoint | None) -> Relaxation:
        root = self._root(_squared(problem), dual)
        worth = np.zeros(root.instance.problem.m)
        worth[root.instance.rules] = np.abs(root.node.w) * np.sqrt(
            np.diagonal(root.instance.data.G)
        )
        return Relaxation(root.bound, worth[: self.problem.m])

    def _root(self, problem: Problem, dual: DualPoint | None) -> Root:
        """Return the relaxed root of a problem with limits on rules at most, from a dual point."""
        if not has_selection(problem):
            raise InfeasibleProblem("There is no selection without the groups left out.")
        instance = Instance.of(problem.padded(), None if dual is None else dual.prices)
        best = first_selection(instance, self.best.support)
        root = Root.of(instance, best, self.options, dual)
        self._offer(root.best.support)
        if self.dual is None:
            self.dual = self._dual_of(root, dual)
        return root

    def _dual_of(self, root: Root, priced: DualPoint | None) -> DualPoint:
        """Return what proves the bound of the first root, in the positions of the problem."""
        found, w = root.dual(), np.zeros(self.problem.m)
        w[found.rules] = found.weights
        prices = None if priced is None else priced.prices
        return DualPoint.at(self.problem, w, found.lam, found.mu, prices=prices)

    def _search_leaf(self, problem: SelectionProblem) -> Status:
        problem = _squared(problem)
        root = self._root(problem, self._first_prices(problem))
        fresh = self.choices == 0  # with no group decided, the first prices are those of this leaf
        if problem.constraints is not None and root.bound < self.cutoff and not fresh:
            better = self._root(problem, self._prices(problem))
            root = better if better.bound > root.bound else root
        root.best = Incumbent(self.best.support, self.best.loss)
        tree = TreeSearch([root], self.options, [0.0])
        outcome = tree.run(self.clock)
        self.nodes += tree.nodes
        self._offer(tree.best.support)
        self.finished = min(self.finished, outcome.bound)
        return outcome.status


def _squared(problem: SelectionProblem) -> Problem:
    """Return a problem as the one of the squared loss that it is."""
    assert isinstance(problem, Problem)  # noqa: S101  tells mypy what `solve_limited` asks for
    return problem
