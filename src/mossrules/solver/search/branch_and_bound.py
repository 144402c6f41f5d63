"""Branch and bound on the dual bound of the relaxation, for the squared loss.

The tree is searched by compiled kernels, in slices of some milliseconds. Between slices this module
makes room and shares work among threads, and the search is told of what they found.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from mossrules._typing import IntArray
from mossrules.exceptions import InvalidParameter
from mossrules.solver.bounds.duality import DualPoint
from mossrules.solver.kernels.fixing import fix_by_bound, fix_by_conditions
from mossrules.solver.kernels.incumbents import cutoff_of, relaxed_selection, try_rounding
from mossrules.solver.kernels.relaxation import (
    ascend,
    first_multipliers,
    lower_and_upper,
    residual_of,
)
from mossrules.solver.kernels.search import DONE, OUT_OF_SLOTS, raise_floor, run
from mossrules.solver.kernels.state import IN, Node, Search, make_counters, make_search
from mossrules.solver.kernels.swaps import explained_by
from mossrules.solver.kernels.tree import Tree, grow_tree, make_tree, push, share
from mossrules.solver.options import Clock, Options
from mossrules.solver.problems.selection import SelectionProblem
from mossrules.solver.problems.squared import Problem
from mossrules.solver.proofs.recording import Point, Recorder, TreeLog, log_size
from mossrules.solver.result import Outcome, Status
from mossrules.solver.search.instance import Instance, first_selection
from mossrules.solver.search.state import Floor, Incumbent, SearchState, TreeSearch
from mossrules.statistics import Statistics

__all__ = [
    "Root",
    "SquaredTree",
    "compile_kernels",
    "refuse_constraints",
    "solve_by_branch_and_bound",
]

SLICE = 64  # nodes between two looks at the clock
PER_NODE = 32  # selections that a node lists at most: its children, and those it tries
FIRST_SLOTS = 1024
ROOT_STEPS = 40
LABELS = 1 << 44  # labels of nodes that a thread may give, of the 2^53 that a float tells apart


def solve_by_branch_and_bound(
    problem: Problem,
    options: Options,
    *,
    clock: Clock,
    start: IntArray | None = None,
    dual: DualPoint | None = None,
    bound: float = 0.0,
    recorder: Recorder | None = None,
) -> Outcome:
    """Return the best selection found and the bound that the search has proven.

    `start`, `dual` and `bound` come from a neighbouring problem: a selection and a dual point to
    begin with, and a lower bound that is known to hold here. A recorder is for a proof.
    """
    refuse_constraints(problem)
    instance = Instance.of(problem, shift=0.0 if recorder is None else recorder.shift)
    root = Root.of(instance, first_selection(instance, start), options, dual)
    return SquaredTree.of([root], options, [bound], recorder).run(clock)


def refuse_constraints(problem: SelectionProblem) -> None:
    """Say that limits A z <= b have no place here."""
    if problem.constraints is not None:
        raise InvalidParameter("There are limits A z <= b, which only `solve` takes; use that.")


@cache
def compile_kernels() -> None:
    """Compile what a search needs, or load it if that was done before, on a problem of no size.

    Compiling takes half a minute once after installation and must not use up a time limit.
    """
    rules = Statistics.from_matrix(np.eye(3), np.arange(3.0), np.ones(3, dtype=np.int64))
    instance = Instance.of(Problem(rules, max_rules=2, gamma=1.0))
    root = Root.of(instance, first_selection(instance, None), Options(), None)
    state = _state([root], Options(), [0.0])
    search = _start_search(instance, state, None)
    tree = make_tree(2, len(instance.rules))
    push(tree, np.inf, np.inf, root.node, 0)
    root.reduced(root.bound + 1.0)
    raise_floor(search, tree, 0.0)
    run(instance.data, search, tree, instance.decision, 1)


# --- the root -----------------------------------------------------------------------------------


@dataclass(eq=False)
class Root:
    """The root, relaxed once and rounded: its bound, the point that proves it, the incumbent."""

    instance: Instance
    best: Incumbent
    bound: float
    node: Node
    steps: int

    @classmethod
    def of(
        cls, instance: Instance, best: Incumbent, options: Options, dual: DualPoint | None
    ) -> Root:
        """Relax the root, from the incumbent or a dual point on, and round what comes out."""
        floor = Floor(instance.problem.min_stability, best)
        state = SearchState(options, instance.problem.margin, [floor])
        search = _start_search(instance, state, None, once=True)
        search.workspace.chosen[:] = np.searchsorted(instance.rules, best.support)
        if dual is not None:
            everywhere = np.zeros(instance.problem.m)
            everywhere[dual.rules] = dual.weights
            search.node.w[:] = instance.flip * everywhere[instance.rules]
            search.node.multipliers[:] = dual.lam, dual.mu
        bound, steps = _relax(search, instance, warm=dual is not None)
        if search.counters.improved:
            best.offer(instance.rules[search.selections.best], float(search.bounds.loss))
        return cls(instance, best, bound, search.node, steps)

    def without_matrix(self) -> Root:
        """Return the root without its copy of G, which is large and of no more use to it."""
        data = self.instance.data._replace(G=np.empty((0, 0)))
        return replace(self, instance=replace(self.instance, data=data))

    @property
    def proven(self) -> float:
        """What the last w and the best multipliers prove; `bound` may be that of an older w."""
        here, rules_left = self.instance, self.instance.rules_left
        if rules_left == 0.0:
            return self.bound
        lam, mu = self.node.multipliers
        centre = here.stability_left / rules_left
        lower, _ = lower_and_upper(here.data, self.node, rules_left, centre, lam - mu * centre, mu)
        return float(lower)

    def dual(self) -> DualPoint:
        """Return what proves the root bound, in the positions of the problem."""
        here, problem = self.instance, self.instance.problem
        used = np.flatnonzero(self.node.w)
        decided = np.zeros(problem.m, dtype=bool)  # by the floor, not by the problem's fixings
        decided[problem.free] = True
        inside = here.rules[(here.decision == IN) & decided[here.rules]]
        decided[here.rules] = False
        lam, mu = np.maximum(0.0, self.node.multipliers)  # rounding may leave them just below 0
        w = np.zeros(problem.m)
        w[here.rules[used]] = here.flip[used] * self.node.w[used]
        # Its bound by the plain formula: multipliers of large counts have lost digits, and what
        # they prove now is not what they proved in the search.
        outside = np.flatnonzero(decided)
        return DualPoint.at(problem, w, float(lam), float(mu), fixed_in=inside, fixed_out=outside)

    def reduced(self, cutoff: float) -> Instance | None:
        """Fix what the bound decides; None when nothing can be better than the cutoff."""
        here = self.instance
        K, E = here.rules_left, here.stability_left
        if K == 0.0 or self.bound >= cutoff:
            return None
        everyone = here.without_duplicates()
        node = self.node._replace(decision=here.decision.copy())
        possible, K, E, _ = fix_by_bound(here.data, everyone, node, K, E, cutoff - self.proven)
        if possible:
            possible, K, E = fix_by_conditions(here.data, everyone, node.decision, K, E)
        return here.without(node.decision) if possible else None


def _relax(search: Search, instance: Instance, *, warm: bool) -> tuple[float, int]:
    """Relax the root, and round it if that is still of use; return its bound and the steps taken.

    The start is the selection in `chosen`, or, when warm, the weights and multipliers that the node
    of the search has.
    """
    data, decision, node, s = instance.data, instance.decision, search.node, search.workspace
    K, E = instance.rules_left, instance.stability_left
    node.decision[:] = decision
    if not warm:
        explained_by(data, s.chosen, search.k, s.factor, s.weights)
        node.w[s.chosen] = s.weights
    residual_of(data, node.w, node.r)
    if K == 0.0:  # the fixings leave one selection
        return float(search.bounds.loss), 0
    if not warm:
        node.multipliers[:] = first_multipliers(data, node, K, E)
    # More steps than at a node: the root is relaxed once, and every node begins at its bound.
    cutoff = cutoff_of(search.bounds)
    bound, steps = ascend(data, node, K, E, cutoff, ROOT_STEPS, s.node)
    if bound < cutoff_of(search.bounds):
        relaxed_selection(data, node, s.z)
        try_rounding(data, search, decision, decision, True)
    return bound, steps


def _state(roots: Sequence[Root], options: Options, known: Sequence[float]) -> SearchState:
    """Return the state of a search with a root for each of its floors, the lowest first."""
    floors = [
        Floor(root.instance.problem.min_stability, root.best, bound)
        for root, bound in zip(roots, known, strict=True)
    ]
    return SearchState(options, roots[0].instance.problem.margin, floors)


def _start_search(
    instance: Instance, state: SearchState, recorder: Recorder | None, *, once: bool = False
) -> Search:
    """Return a worker's search that knows what the state does.

    Duplicates are chained except in a root, which is relaxed `once` and would gain nothing by it,
    and in a list, which has all selections that differ by duplicates alone.
    """
    problem = instance.problem
    if once or state.lists_all:
        precedence = instance.without_duplicates()
    elif recorder is None:
        precedence = instance.with_duplicates()
    else:  # those that are so to the last digit
        precedence = instance.with_classes(recorder.classes)
    search = make_search(
        problem.size,
        problem.min_stability,
        precedence,
        list_capacity=PER_NODE * SLICE if state.lists_all else 0,
        log_size=0 if recorder is None else log_size(len(instance.rules)),
    )
    state.tell_kernels(search.bounds)
    return search


# --- the tree -----------------------------------------------------------------------------------


class SquaredTree(TreeSearch):
    """The tree below a root, searched in slices by one or more threads; a root for each floor."""

    def __init__(
        self, roots: Sequence[Root], state: SearchState, recorder: Recorder | None = None
    ) -> None:
        self.roots, self.state, self.recorder = roots, state, recorder
        if recorder is not None:
            state.lift = recorder.slack
            self._record_root(recorder)
        self._plant()

    @classmethod
    def of(
        cls,
        roots: Sequence[Root],
        options: Options,
        known: Sequence[float],
        recorder: Recorder | None = None,
    ) -> SquaredTree:
        """Return the tree for floors at which some bounds are known to hold."""
        return cls(roots, _state(roots, options, known), recorder)

    @property
    def root(self) -> Root:
        """The root at the floor being searched."""
        return self.roots[self.state.at]

    # --- planting -------------------------------------------------------------------------------

    @property
    def _is_planted(self) -> bool:
        return bool(self.trees)

    def _plant(self) -> None:
        """Set up the workers, the first of which has the root to expand."""
        root, state = self.root, self.state
        self.planted_at, self._nodes_at_planting = state.at, 0
        self.searches: list[Search] = []
        self.trees: list[Tree] = []
        self.instance = root.instance
        state.dropped = np.inf
        own = root.reduced(state.cutoff)
        if own is None:
            state.dropped = max(root.bound, state.cutoff)
            return
        # Rules that no floor needs are left out: the roots of higher floors, relaxed at theirs,
        # leave out more than that of the lowest could for them.
        higher = [each.reduced(state.cutoff_at(each.best.loss)) for each in self._roots_above]
        instance = Instance.covering([own, *(each for each in higher if each is not None)])
        fewer = len(instance.rules) < len(root.instance.rules)
        if fewer or instance.rules_left < root.instance.rules_left:
            state.dropped = state.cutoff
        self.instance = instance
        if instance.rules_left == 0.0:
            only = instance.rules[instance.decision == IN]
            state.offer(only, instance.problem.loss(only))
            if self.recorder is not None:
                self.recorder.node.only = self._weights_of(only)
            return
        if self.recorder is not None:
            self.recorder.node.log = TreeLog(instance.rules, instance.flip)
        for n in range(state.options.threads):
            search = self._look_up(_start_search(instance, state, self.recorder))
            search.counters.labels = n * LABELS
            self.searches.append(search)
            self.trees.append(make_tree(FIRST_SLOTS, len(instance.rules)))
        # The root's own bound still holds: with fewer rules the least loss can only be larger.
        kept = np.isin(root.instance.rules, instance.rules)
        start = Node(instance.decision, root.node.w[kept], root.node.r[kept], root.node.multipliers)
        push(self.trees[0], root.bound, root.proven, start, 0)

    @property
    def _roots_above(self) -> Sequence[Root]:
        return self.roots[self.state.at + 1 :]

    def _raise_floor(self, by: float) -> None:
        eps = float(self.state.floor.min_stability)
        self.searches = [
            self._look_up(search._replace(eps=eps, counters=make_counters()))
            for search in self.searches
        ]
        for search, tree in zip(self.searches, self.trees, strict=True):
            search.bounds.loss, search.bounds.least_dropped = self.state.best.loss, np.inf
            raise_floor(search, tree, by)

    def _look_up(self, search: Search) -> Search:
        """Return the search with what is known of the floors above its own."""
        above = self.state.above
        best = np.zeros((len(above), search.k), np.int64)
        return search._replace(selections=search.selections._replace(above=above, best_above=best))

    # --- recording ------------------------------------------------------------------------------

    def _record_root(self, recorder: Recorder) -> None:
        """Record the point at which the root was relaxed, or all of the only selection there is."""
        root = self.root
        here, node = root.instance, root.node
        if here.rules_left == 0.0:
            recorder.node.only = self._weights_of(here.rules[here.decision == IN])
            return
        used = np.flatnonzero(node.w)
        lam, mu = node.multipliers
        weights = here.flip[used] * node.w[used]
        point = Point(float(lam), float(mu), here.rules[used], weights, root.proven)
        recorder.node.points.append(point)

    def _weights_of(self, support: IntArray) -> Point:
        problem = self.root.instance.problem
        return Point(0.0, 0.0, support, problem.weights(support), problem.loss(support))

    def _record(self, search: Search) -> None:
        """Take over what a worker has logged."""
        if search.counters.logged and self.recorder is not None and self.recorder.node.log:
            self.recorder.node.log.parts.append(search.log[: search.counters.logged].copy())
            search.counters.logged = 0

    # --- searching ------------------------------------------------------------------------------

    def _loop(self) -> Status:
        if not self.trees:  # the root decides most small problems: no thread is worth starting
            return Status.OPTIMAL
        with ThreadPoolExecutor(len(self.trees)) as self._pool:
            return super()._loop()

    def _step(self) -> Status | None:
        """Let every worker that has nodes take some; the search is done if none is left to take."""
        if self._is_outgrown:
            self._plant_anew()
            return None
        # Workers have trees of their own: one heap for all would have to be locked at each node.
        busy = [n for n, tree in enumerate(self.trees) if tree.sizes[0]]
        if len(busy) < len(self.trees):
            self._share(busy)
            busy = [n for n, tree in enumerate(self.trees) if tree.sizes[0]]
        several = len(busy) > 1
        ends = list(self._pool.map(self._work, busy)) if several else [self._work(busy[0])]
        self._take_over()
        for n, end in zip(busy, ends, strict=True):
            if end == OUT_OF_SLOTS:
                self.trees[n] = grow_tree(self.trees[n])
        return None if any(end != DONE for end in ends) else Status.OPTIMAL

    def _take_over(self) -> None:
        """Take over what the workers have found and dropped, and tell all of the best losses."""
        state, rules = self.state, self.instance.rules
        for search in self.searches:
            own, counters = search.selections, search.counters
            self._record(search)
            if counters.listed:
                state.offer_all(rules[own.listed[: counters.listed]])
                counters.listed = 0
            if counters.improved:
                counters.improved = 0
                state.offer(rules[own.best], float(search.bounds.loss))
                for root, (_, loss), best in zip(
                    self._roots_above, own.above, own.best_above, strict=True
                ):
                    root.best.offer(rules[best], float(loss))
            state.drop(float(search.bounds.least_dropped))
        for search in self.searches:
            state.tell_kernels(search.bounds)
            search.selections.above[:] = state.above

    def _work(self, n: int) -> int:
        limit = self.state.options.node_limit
        # A list has always been made in whole slices, and ends where it did.
        whole = limit is None or self.state.lists_all
        nodes = SLICE if whole or limit is None else min(SLICE, max(1, limit - self.nodes))
        search, tree = self.searches[n], self.trees[n]
        return int(run(self.instance.data, search, tree, self.instance.decision, nodes))

    def _share(self, busy: list[int]) -> None:
        """Give workers without nodes every second node of the one that has most."""
        for n in range(len(self.trees)):
            giver = max(busy, key=lambda other: self.trees[other].sizes[0])
            if self.trees[n].sizes[0] == 0 and self.trees[giver].sizes[0] >= 2:
                while len(self.trees[n].bound) < len(self.trees[giver].bound):
                    self.trees[n] = grow_tree(self.trees[n])
                share(self.trees[giver], self.trees[n])

    # --- where it stands ------------------------------------------------------------------------

    @property
    def _n_open(self) -> int:
        return int(sum(tree.sizes[0] for tree in self.trees))

    @property
    def _least_open(self) -> float:
        bounds = [float(tree.bound[tree.heap[0]]) for tree in self.trees if tree.sizes[0]]
        return min(bounds, default=np.inf)

    @property
    def nodes(self) -> int:
        """Nodes relaxed so far at this floor."""
        return self.given_up + int(sum(search.counters.nodes for search in self.searches))

    def _root_dual(self) -> DualPoint:
        return self.root.dual()

    def _counters(self) -> dict[str, float]:
        steps = self.root.steps + sum(int(search.counters.steps) for search in self.searches)
        return {
            "nodes": self.nodes,
            "trials": sum(int(search.counters.trials) for search in self.searches),
            "relaxation_steps": steps,
            "open_nodes": self._n_open,
            "root_bound": self.root.bound,
            "root_gap": self._root_gap(self.root.bound),
            "rules_left_by_floor": len(self.root.instance.rules),
            "rules_left_by_root": len(self.instance.rules),
        }
