"""Branch and bound on the dual bound of the relaxation: from a problem to a proven selection.

The tree is searched by compiled kernels, in slices of some milliseconds. Between slices this module
looks at the clock, tells of progress, makes room and shares work among threads. Ctrl-C ends the
search with what has been found.

One tree can serve several floors, a ladder, climbed from the lowest up: what a node proves is
affine in the floor, so most of the work at one floor is of use at the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np

from mossrules._typing import IntArray
from mossrules.exceptions import InvalidParameter
from mossrules.solver.bounds.duality import DualPoint
from mossrules.solver.kernels.search import DONE, OUT_OF_SLOTS, raise_floor, run
from mossrules.solver.kernels.state import IN, Node, Search, make_counters
from mossrules.solver.kernels.tree import Tree, grow_tree, make_tree, push, share
from mossrules.solver.options import Clock, Options, Snapshot
from mossrules.solver.problems.squared import Problem
from mossrules.solver.result import Outcome, Status
from mossrules.solver.search.heuristics import Incumbent, first_selection
from mossrules.solver.search.instance import Instance
from mossrules.solver.search.root import Root, start_search
from mossrules.statistics import Statistics

__all__ = ["TreeSearch", "compile_kernels", "refuse_constraints", "solve_by_branch_and_bound"]

SLICE = 64  # nodes between two looks at the clock
FIRST_SLOTS = 1024
# A tree made for lower floors is given up when a floor costs so many times the nodes of the first.
REPLANT, FEWEST = 2, 1500


def solve_by_branch_and_bound(
    problem: Problem,
    options: Options,
    *,
    clock: Clock,
    start: IntArray | None = None,
    dual: DualPoint | None = None,
    bound: float = 0.0,
) -> Outcome:
    """Return the best selection found and the bound that the search has proven.

    `start`, `dual` and `bound` come from a neighbouring problem: a selection and a dual point to
    begin with, and a lower bound that is known to hold here.
    """
    refuse_constraints(problem)
    instance = Instance.of(problem)
    root = Root.of(instance, first_selection(instance, start), options, dual)
    return TreeSearch([root], options, [bound]).run(clock)


def refuse_constraints(problem: Problem) -> None:
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
    search = start_search(instance, instance.with_duplicates(), root.best, Options())
    tree = make_tree(2, len(instance.rules))
    push(tree, np.inf, np.inf, root.node)
    root.reduced(root.bound + 1.0)
    raise_floor(search, tree, 0.0)
    run(instance.data, search, tree, instance.decision, 1)


class TreeSearch:
    """The tree below a root, searched in slices by one or more threads.

    The first root is that of the lowest floor; `climb` goes on to the next.
    """

    def __init__(self, roots: Sequence[Root], options: Options, known: Sequence[float]) -> None:
        self.roots, self.options, self.known_bounds = roots, options, known
        self.known = known[0]  # a bound that holds, whatever the tree
        self.at = 0  # the floor being searched, by its place among the roots
        self.clock = Clock(None)
        self.given_up = 0  # nodes at this floor of a tree that is no more
        self._plant()

    @property
    def root(self) -> Root:
        """The root at the floor being searched."""
        return self.roots[self.at]

    @property
    def best(self) -> Incumbent:
        """The best selection found at this floor."""
        return self.root.best

    # --- planting and climbing ------------------------------------------------------------------

    def _plant(self) -> None:
        """Set up the workers, the first of which has the root to expand."""
        root, cutoff = self.root, self.cutoff
        self.planted_at, self.fresh_nodes = self.at, 0
        self.searches: list[Search] = []
        self.trees: list[Tree] = []
        self.instance = root.instance
        self.dropped = np.inf  # least bound of anything dropped so far
        own = root.reduced(cutoff)
        if own is None:
            self.dropped = max(root.bound, cutoff)
            return
        above = [each.reduced(each.cutoff(self.options.gap)) for each in self.roots[self.at + 1 :]]
        instance = Instance.covering([own, *(each for each in above if each is not None)])
        if (
            len(instance.rules) < len(root.instance.rules)
            or instance.rules_left < root.instance.rules_left
        ):
            self.dropped = cutoff
        self.instance = instance
        if instance.rules_left == 0.0:
            only = instance.rules[instance.decision == IN]
            self.best.offer(only, instance.problem.loss(only))
            return
        precedence = instance.with_duplicates()
        for _ in range(self.options.threads):
            search = start_search(instance, precedence, self.best, self.options)
            self.searches.append(self._look_up(search))
            self.trees.append(make_tree(FIRST_SLOTS, len(instance.rules)))
        kept = np.isin(root.instance.rules, instance.rules)
        start = Node(instance.decision, root.node.w[kept], root.node.r[kept], root.node.multipliers)
        push(self.trees[0], root.bound, root.proven, start)

    def climb(self) -> bool:
        """Go on to the next floor, with all nodes that are of use there; False when none is left.

        A bound proven at one floor holds at every higher one.
        """
        if self.at + 1 == len(self.roots):
            return False
        self.known = max(self.bound, self.known_bounds[self.at + 1])
        if self.at == self.planted_at:
            self.fresh_nodes = self.nodes
        before = self.root.instance.problem.min_stability
        self.at += 1
        self.given_up = 0
        if not self.trees:
            self._plant()
            return True
        eps = self.root.instance.problem.min_stability
        self.dropped = self.cutoff  # nodes were dropped, and rules fixed, for this floor too
        self.searches = [
            self._look_up(search._replace(eps=float(eps), counters=make_counters()))
            for search in self.searches
        ]
        for search, tree in zip(self.searches, self.trees, strict=True):
            search.bounds.loss, search.bounds.least_dropped = self.best.loss, np.inf
            raise_floor(search, tree, float(eps - before))
        return True

    def _look_up(self, search: Search) -> Search:
        """Return the search with what is known of the floors above its own."""
        eps = self.root.instance.problem.min_stability
        above = [
            (root.instance.problem.min_stability - eps, root.best.loss)
            for root in self.roots[self.at + 1 :]
        ]
        selections = search.selections._replace(
            above=np.array(above, dtype=np.float64).reshape(-1, 2),
            best_above=np.zeros((len(above), search.k), np.int64),
        )
        return search._replace(selections=selections)

    @property
    def _outgrown(self) -> bool:
        """Whether the tree, made for lower floors, serves this one badly."""
        carried = self.at > self.planted_at
        return carried and self.nodes > REPLANT * max(FEWEST, self.fresh_nodes)

    # --- searching ------------------------------------------------------------------------------

    def run(self, clock: Clock) -> Outcome:
        """Search until the gap is proven, a limit is reached or the user interrupts."""
        self.clock = clock
        status = Status.OPTIMAL
        if self.trees:
            try:
                with ThreadPoolExecutor(len(self.trees)) as pool:
                    status = self._search(pool)
            except KeyboardInterrupt:
                status = Status.INTERRUPTED
                self._collect()  # the slice that it came in has dropped and found things
        return Outcome(self.best.support, self.bound, status, self.figures(), self.root.dual())

    def _search(self, pool: ThreadPoolExecutor) -> Status:
        while any(tree.sizes[0] for tree in self.trees) and self.known < self.cutoff:
            if self.clock.left() <= 0.0:
                return Status.TIME_LIMIT
            if self._out_of_nodes():
                return Status.NODE_LIMIT
            if self._outgrown:
                self.known, self.given_up = self.bound, self.nodes
                self._plant()
            elif not self._slice(pool):
                break
            if self.options.progress is not None:
                self.options.progress(self.snapshot())
        return Status.OPTIMAL

    def _out_of_nodes(self) -> bool:
        limit = self.options.node_limit
        n_open = sum(int(tree.sizes[0]) for tree in self.trees)
        return n_open > self.options.open_nodes or (limit is not None and self.nodes >= limit)

    def _slice(self, pool: ThreadPoolExecutor) -> bool:
        """Let every worker that has nodes take some; tell whether any is left to be taken."""
        busy = [n for n, tree in enumerate(self.trees) if tree.sizes[0]]
        if len(busy) < len(self.trees):
            self._share(busy)
            busy = [n for n, tree in enumerate(self.trees) if tree.sizes[0]]
        ends = list(pool.map(self._work, busy)) if len(busy) > 1 else [self._work(busy[0])]
        self._collect()
        for n, end in zip(busy, ends, strict=True):
            if end == OUT_OF_SLOTS:
                self.trees[n] = grow_tree(self.trees[n])
        return any(end != DONE for end in ends)

    def _collect(self) -> None:
        """Take over what the workers have found and dropped, and tell all of the best losses."""
        rules, above = self.instance.rules, self.roots[self.at + 1 :]
        for search in self.searches:
            own = search.selections
            if search.counters.improved:
                search.counters.improved = 0
                self.best.offer(rules[own.best], float(search.bounds.loss))
                for root, (_, loss), best in zip(above, own.above, own.best_above, strict=True):
                    root.best.offer(rules[best], float(loss))
            self.dropped = min(self.dropped, float(search.bounds.least_dropped))
        for search in self.searches:
            search.bounds.loss = self.best.loss
            search.selections.above[:, 1] = [root.best.loss for root in above]

    def _work(self, n: int) -> int:
        limit = self.options.node_limit
        nodes = SLICE if limit is None else min(SLICE, max(1, limit - self.nodes))
        return int(
            run(self.instance.data, self.searches[n], self.trees[n], self.instance.decision, nodes)
        )

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
    def nodes(self) -> int:
        """Nodes relaxed so far."""
        return self.given_up + int(sum(search.counters.nodes for search in self.searches))

    @property
    def cutoff(self) -> float:
        """The bound from which a node is of no use at this floor."""
        return self.root.cutoff(self.options.gap)

    @property
    def bound(self) -> float:
        """No selection has a smaller loss than this."""
        bounds = [float(tree.bound[tree.heap[0]]) for tree in self.trees if tree.sizes[0]]
        return min(self.best.loss, max(self.known, min([self.dropped, *bounds])))

    def snapshot(self) -> Snapshot:
        """Return where the search stands."""
        return Snapshot(self.clock.elapsed(), self.nodes, self.best.loss, self.bound)

    def figures(self) -> dict[str, float]:
        """Return counts of what was done."""
        steps = self.root.steps + sum(int(search.counters.steps) for search in self.searches)
        loss = self.best.loss
        return {
            "nodes": self.nodes,
            "trials": sum(int(search.counters.trials) for search in self.searches),
            "relaxation_steps": steps,
            "open_nodes": int(sum(tree.sizes[0] for tree in self.trees)),
            "root_bound": self.root.bound,
            "root_gap": (loss - min(loss, self.root.bound)) / loss if loss > 0 else 0.0,
            "rules_left_by_floor": len(self.root.instance.rules),
            "rules_left_by_root": len(self.instance.rules),
        }
