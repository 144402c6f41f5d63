"""Branch and bound under limits `A z <= b`: first on groups of rules, then on rules.

A limit on groups ("at most three features") hardly moves the relaxation: u_g, whether a group is
used, need be no larger than the largest z_i in it. So groups are decided first. A group is left
out, with all its rules, or let in, and once no limit forbids to let in all that are left, limits
on groups are kept whatever rules are chosen. What then remains is a problem with limits on rules
at most, for one tree, in which prices make the bounds heed them.
"""

from __future__ import annotations

import heapq
from abc import abstractmethod
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from mossrules._typing import FloatArray, IntArray
from mossrules.exceptions import InfeasibleProblem, InvalidParameter
from mossrules.solver.bounds.constraint_duals import constraint_multipliers
from mossrules.solver.bounds.duality import Cut, DualPoint
from mossrules.solver.options import Clock, Options
from mossrules.solver.problems.linear_constraints import LinearConstraints
from mossrules.solver.problems.logistic import LogisticProblem
from mossrules.solver.problems.selection import SelectionProblem
from mossrules.solver.problems.squared import Problem
from mossrules.solver.result import Outcome, Status
from mossrules.solver.search.branch_and_bound import Root, SquaredTree
from mossrules.solver.search.instance import Instance, first_selection, has_selection
from mossrules.solver.search.logistic import LogisticTree
from mossrules.solver.search.state import (
    Floor,
    Incumbent,
    SearchLoop,
    SearchState,
    TreeSearch,
)

__all__ = ["GroupSearch", "Relaxation", "solve_constrained"]


def solve_constrained(
    problem: SelectionProblem,
    options: Options,
    *,
    clock: Clock,
    start: IntArray | None = None,
    bound: float = 0.0,
) -> Outcome:
    """Return the best selection found that keeps the constraints, and the bound that is proven.

    `start` is a selection to begin with, and `bound` a lower bound that is known to hold.
    """
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
    kind = _LogisticGroups if isinstance(problem, LogisticProblem) else _SquaredGroups
    search = kind(problem, problem.constraints, options, bound)
    for selection in (problem.most_stable_feasible, start):
        if selection is not None and problem.is_feasible(selection):
            search.state.offer(selection, problem.loss(selection))
    return search.run(clock)


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


class GroupSearch(SearchLoop):
    """A search over groups, with a tree over rules at each of its leaves.

    A subclass is for one loss: it relaxes problems with constraints on rules at most, and searches
    them.
    """

    def __init__(
        self,
        problem: SelectionProblem,
        constraints: LinearConstraints,
        options: Options,
        known: float,
    ) -> None:
        floor = Floor(problem.min_stability, known=known)
        self.problem, self.constraints = problem, constraints
        self.state = SearchState(options, problem.margin, [floor])
        self.open = [self._node(0.0, frozenset(), frozenset())]
        self.current = np.inf  # bound of the node at hand
        self.choices = 0  # of groups
        self.cuts: list[Cut] = []
        self.tried: set[frozenset[int]] = set()
        self.dual: DualPoint | None = None  # of the first root
        self._nodes = 0  # of trees over rules

    def _has_work(self) -> bool:
        return bool(self.open) and self.open[0].bound < self.state.cutoff

    def _step(self) -> Status | None:
        node = heapq.heappop(self.open)
        self.current = node.bound
        status = self._expand(node)
        self.current = np.inf
        return None if status is Status.OPTIMAL else status

    # --- where it stands ------------------------------------------------------------------------

    @property
    def _n_open(self) -> int:
        return 0  # memory is for nodes of trees over rules: each of those watches its own

    @property
    def _least_open(self) -> float:
        return min([self.current, *(node.bound for node in self.open[:1])])

    @property
    def nodes(self) -> int:
        """Nodes of all trees over rules."""
        return self._nodes

    def _root_dual(self) -> DualPoint | None:
        return self.dual

    def _counters(self) -> dict[str, float]:
        return {"nodes": float(self.nodes), "choices_of_groups": float(self.choices)}

    # --- groups ---------------------------------------------------------------------------------

    def _node(self, bound: float, inside: frozenset[int], outside: frozenset[int]) -> _Node:
        """Return a node with the groups left out that there is no room for beside those inside."""
        u = np.zeros(len(self.constraints.groups))
        u[list(inside)] = 1.0
        used, maximum = self.constraints.of_groups @ u, self._most_of_groups
        full = np.any(used[:, None] + self.constraints.of_groups > maximum[:, None], axis=0)
        left = set(range(len(u))) - inside
        outside |= {g for g in left if full[g]}
        return _Node(bound, len(left - outside), inside, outside)

    @property
    def _most_of_groups(self) -> FloatArray:
        counts_groups = self.constraints.of_groups.any(axis=1)
        return np.where(counts_groups, self.constraints.maximum, np.inf)

    def _is_leaf(self, node: _Node) -> bool:
        """Tell whether all groups that are not left out may be used together."""
        u = np.ones(len(self.constraints.groups))
        u[list(node.outside)] = 0.0
        return bool((self.constraints.of_groups @ u <= self._most_of_groups).all())

    def _restricted(self, outside: frozenset[int]) -> SelectionProblem:
        """Return the problem without the rules of some groups, and without limits on groups."""
        out = self.constraints.groups[list(outside)].any(axis=0)
        return self.problem.restricted(np.flatnonzero(out), self.constraints.on_rules)

    def _expand(self, node: _Node) -> Status:
        """Search a leaf to its end, or relax a node and decide on one more group."""
        try:
            problem = self._restricted(node.outside)
            if problem.size == 0:
                self._offer(np.empty(0, dtype=np.int64))  # all that there is in it
                return Status.OPTIMAL
            if self._is_leaf(node):
                return self._search_leaf(problem)
            root = self._relax(problem, self._first_prices(problem))
        except InfeasibleProblem:
            return Status.OPTIMAL  # there is nothing in it
        bound = max(node.bound, root.bound)
        if bound >= self.state.cutoff:
            self.state.drop(bound)
            return Status.OPTIMAL
        self.choices += 1
        worth = self.constraints.groups @ root.worth
        self._try_groups(node, worth)
        # The worthiest group first: without it the bound rises most, and with it little is lost.
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
        # Nodes on one path often complete to the same groups, whose selection is found already.
        if outside in self.tried:
            return
        self.tried.add(outside)
        try:
            problem = self._restricted(outside)
            if problem.size == 0 or not has_selection(problem):
                return
            selection = self._first_selection(problem)
        except InfeasibleProblem:
            return
        self._offer(selection)

    def _offer(self, support: IntArray) -> None:
        """Take over a selection, less its blanks, if it keeps the limits and is better."""
        support = support[support < self.problem.m]
        if self.problem.is_feasible(support):
            self.state.offer(support, self.problem.loss(support))

    def _search_to_end(self, tree: TreeSearch) -> Status:
        """Search a tree over rules for what is better than the best so far."""
        outcome = tree.run(self.state.clock)
        self._nodes += tree.nodes
        self._offer(tree.state.best.support)
        self.state.drop(outcome.bound)
        return outcome.status

    def _keep_dual(self, dual: DualPoint | None, prices: FloatArray | None) -> None:
        """Keep what proves the bound of the first root, in the positions of the problem.

        Blanks come after all rules, and have no weights.
        """
        if self.dual is None and dual is not None:
            w = np.zeros(self.problem.m)
            w[dual.rules] = dual.weights
            self.dual = DualPoint.at(self.problem, w, dual.lam, dual.mu, prices=prices)

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
        # The first root may have been of a program without an answer, and so have none.
        if problem.constraints is None or self.dual is None or len(self.dual.prices) == 0:
            return self._prices(problem)
        return self.dual

    def _prices(self, problem: SelectionProblem) -> DualPoint | None:
        """Return the prices of limits on rules, if there are any."""
        if problem.constraints is None or problem.most_stable_feasible is None:
            return None
        own = self.state.best.support
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


class _SquaredGroups(GroupSearch):
    """The search for the squared loss."""

    def _first_selection(self, problem: SelectionProblem) -> IntArray:
        return first_selection(Instance.of(_squared(problem).padded()), None).support

    def _relax(self, problem: SelectionProblem, dual: DualPoint | None) -> Relaxation:
        root = self._root(_squared(problem), dual)
        here = root.instance
        worth = np.zeros(here.problem.m)
        worth[here.rules] = np.abs(root.node.w) * np.sqrt(np.diagonal(here.data.G))
        return Relaxation(root.bound, worth[: self.problem.m])

    def _root(self, problem: Problem, dual: DualPoint | None) -> Root:
        """Return the relaxed root of a problem with constraints on rules at most, from a dual."""
        if not has_selection(problem):
            raise InfeasibleProblem("There is no selection without the groups left out.")
        prices = None if dual is None else dual.prices
        instance = Instance.of(problem.padded(), prices)
        best = first_selection(instance, self.state.best.support)
        root = Root.of(instance, best, self.state.options, dual)
        self._offer(root.best.support)
        self._keep_dual(root.dual(), prices)
        return root

    def _search_leaf(self, problem: SelectionProblem) -> Status:
        problem, state = _squared(problem), self.state
        root = self._root(problem, self._first_prices(problem))
        fresh = self.choices == 0  # with no group decided, the first prices are those of this leaf
        if problem.constraints is not None and root.bound < state.cutoff and not fresh:
            better = self._root(problem, self._prices(problem))
            root = better if better.bound > root.bound else root
        # The best of all groups is the one to beat, though it may not be among these rules.
        root.best = Incumbent(state.best.support, state.best.loss)
        return self._search_to_end(SquaredTree.of([root], state.options, [0.0]))


class _LogisticGroups(GroupSearch):
    """The search for the logistic loss."""

    def _tree(self, problem: SelectionProblem, dual: DualPoint | None) -> LogisticTree:
        """Return the tree over the rules of a problem, its root ready to be relaxed."""
        assert isinstance(problem, LogisticProblem)  # noqa: S101  tells mypy what is searched
        if not has_selection(problem):
            raise InfeasibleProblem("There is no selection without the groups left out.")
        padded, own = problem.padded(), self.state.best.support
        start = own if problem.constraints is None else padded.filled(own)
        tree = LogisticTree.of(
            [padded],
            self.state.options,
            [Floor(problem.min_stability)],
            start if padded.is_feasible(start) else None,
            None if dual is None else dual.prices,
        )
        tree.state.clock = self.state.clock
        tree.prepare()
        self._offer(tree.state.best.support)
        return tree

    def _first_selection(self, problem: SelectionProblem) -> IntArray:
        return self._tree(problem, None).state.best.support

    def _relax(self, problem: SelectionProblem, dual: DualPoint | None) -> Relaxation:
        tree = self._tree(problem, dual)
        relaxer, worth = tree.prepared, np.zeros(tree.problem.m)
        if relaxer.left(relaxer.decision)[0] == 0.0:
            return Relaxation(tree.state.best.loss, worth[: self.problem.m])
        relaxed = tree.relax_root()
        self._offer(tree.state.best.support)
        self._keep_dual(tree.dual, tree.prices)
        length = np.sqrt(np.diagonal(relaxer.data.G))
        worth[relaxer.rules] = (np.abs(relaxed.node.w) * length)[:-1]
        return Relaxation(relaxed.lower, worth[: self.problem.m])

    def _search_leaf(self, problem: SelectionProblem) -> Status:
        fresh = problem.constraints is None or self.choices > 0
        tree = self._tree(problem, self._prices(problem) if fresh else self._first_prices(problem))
        best = tree.state.best
        best.loss = min(best.loss, self.state.best.loss)  # what is not better is of no use
        status = self._search_to_end(tree)
        self._keep_dual(tree.dual, tree.prices)
        return status


def _squared(problem: SelectionProblem) -> Problem:
    """Return a problem as the one of the squared loss that it is."""
    assert isinstance(problem, Problem)  # noqa: S101  tells mypy that there are two losses
    return problem
