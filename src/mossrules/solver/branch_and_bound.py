"""Branch and bound on the dual bound of the relaxation: from a problem to a proven selection.

The tree is searched by compiled kernels, in slices of some milliseconds. Between slices this module
looks at the clock, tells of progress, makes room and shares work among threads. Ctrl-C ends the
search with what has been found.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache

import numpy as np

from mossrules._typing import FloatArray, IntArray
from mossrules.exceptions import InvalidParameter
from mossrules.solver._kernels.fixing import fix_by_bound, fix_by_floor
from mossrules.solver._kernels.relaxation import lower_and_upper
from mossrules.solver._kernels.root import relax_root
from mossrules.solver._kernels.search import DONE, OUT_OF_SLOTS, run
from mossrules.solver._kernels.state import (
    GAP,
    IMPROVED,
    IN,
    LEAST_DROPPED,
    LOSS,
    MARGIN,
    NODES,
    STEPS,
    TRIALS,
    Search,
    make_search,
)
from mossrules.solver._kernels.tree import Tree, grow_tree, make_tree, push, share
from mossrules.solver.heuristics import Incumbent, first_selection
from mossrules.solver.instance import Instance, find_twins, no_twins
from mossrules.solver.options import Clock, Options, Snapshot
from mossrules.solver.problem import Problem
from mossrules.solver.result import Outcome, Status
from mossrules.solver.verification import DualPoint
from mossrules.statistics import Statistics

__all__ = ["compile_kernels", "solve_by_branch_and_bound"]

ROOT_STEPS = 40
SLICE = 64  # nodes between two looks at the clock
FIRST_SLOTS = 1024
ROUNDING = 1e-12  # of yy/2: losses closer than this count as equal


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
    if problem.constraints is not None:
        raise InvalidParameter(
            "Branch and bound does not take constraints A z <= b; use method='cutting-plane'."
        )
    instance = Instance.of(problem)
    best = first_selection(instance, start)
    root = Root.of(instance, best, options, dual)
    search = TreeSearch(root, options, clock, bound)
    return search.run()


# --- the root -----------------------------------------------------------------------------------


@cache
def compile_kernels() -> None:
    """Compile what a search needs, or load it if that was done before, on a problem of no size.

    Compiling takes half a minute once after installation and must not use up a time limit.
    """
    rules = Statistics.from_matrix(np.eye(3), np.arange(3.0), np.ones(3, dtype=np.int64))
    instance = Instance.of(Problem(rules, max_rules=2, gamma=1.0))
    root = Root.of(instance, first_selection(instance, None), Options(), None)
    search = start_search(instance, find_twins(instance), root.best, Options())
    tree = make_tree(2, len(instance.rules))
    push(tree, np.inf, instance.fate, root.multipliers, root.w)
    root.reduced(root.bound + 1.0)
    run(instance.data, search, tree, instance.fate, 1)


@dataclass(eq=False)
class Root:
    """The relaxed root: its bound, the w and multipliers that prove it, and the incumbent."""

    instance: Instance
    best: Incumbent
    bound: float
    w: FloatArray
    r: FloatArray
    multipliers: FloatArray
    steps: int

    @classmethod
    def of(
        cls, instance: Instance, best: Incumbent, options: Options, dual: DualPoint | None
    ) -> Root:
        """Relax the root, from the incumbent or a dual point on, and round what comes out."""
        data, room, floor = instance.data, instance.room, instance.floor
        search = start_search(instance, no_twins(len(instance.rules)), best, options)
        search.chosen[:] = np.searchsorted(instance.rules, best.support)
        if dual is not None:
            everywhere = np.zeros(instance.problem.m)
            everywhere[dual.rules] = dual.weights
            search.w[:] = everywhere[instance.rules]
            search.multipliers[:] = dual.lam, dual.mu
        bound, steps = relax_root(
            data, search, instance.fate, room, floor, ROOT_STEPS, dual is not None
        )
        if search.tally[IMPROVED]:
            best.offer(instance.rules[search.incumbent], float(search.numbers[LOSS]))
        return cls(instance, best, bound, search.w, search.r, search.multipliers, steps)

    @property
    def proven(self) -> float:
        """What the last w and the best multipliers prove; `bound` may be that of an older w."""
        here, room = self.instance, self.instance.room
        if room == 0.0:
            return self.bound
        lam, mu = self.multipliers
        centre = here.floor / room
        lower, _ = lower_and_upper(
            here.data, here.fate, room, centre, lam - mu * centre, mu, self.w, self.r
        )
        return float(lower)

    def dual(self) -> DualPoint:
        """Return what proves the root bound, in the positions of the problem."""
        here, problem = self.instance, self.instance.problem
        used = np.flatnonzero(self.w)
        decided = np.zeros(problem.m, dtype=bool)  # by the floor, not by the problem's fixings
        decided[problem.free] = True
        inside = here.rules[(here.fate == IN) & decided[here.rules]]
        decided[here.rules] = False
        lam, mu = np.maximum(0.0, self.multipliers)  # rounding may leave them just below 0
        return DualPoint(
            rules=here.rules[used],
            weights=self.w[used],
            lam=float(lam),
            mu=float(mu),
            bound=self.proven,
            fixed_in=inside,
            fixed_out=np.flatnonzero(decided),
        )

    def reduced(self, cutoff: float) -> Instance | None:
        """Fix what the bound decides; None when nothing can be better than the cutoff."""
        twins = no_twins(len(self.w))
        here, room, floor = self.instance, self.instance.room, self.instance.floor
        if room == 0.0 or self.bound >= cutoff:
            return None
        lam, mu = self.multipliers
        fate = here.fate.copy()
        possible, room, floor, _ = fix_by_bound(
            here.data, fate, *twins, room, floor, lam, mu, self.r, cutoff - self.proven
        )
        if possible:
            possible, room, floor = fix_by_floor(
                here.data.counts, here.order, fate, *twins, room, floor
            )
        return here.without(fate) if possible else None


def start_search(
    instance: Instance, twins: tuple[IntArray, IntArray], best: Incumbent, options: Options
) -> Search:
    """Return a search that knows the incumbent's loss."""
    problem = instance.problem
    search = make_search(problem.size, problem.min_stability, instance.order, *twins)
    search.numbers[LOSS] = best.loss
    search.numbers[GAP] = options.gap
    search.numbers[MARGIN] = ROUNDING * instance.data.half
    return search


# --- the tree -----------------------------------------------------------------------------------


class TreeSearch:
    """The tree below a root, searched in slices by one or more threads."""

    def __init__(self, root: Root, options: Options, clock: Clock, known: float) -> None:
        self.root, self.options, self.clock, self.known = root, options, clock, known
        self.best = root.best
        self.searches: list[Search] = []
        self.trees: list[Tree] = []
        self.dropped = np.inf  # least bound of anything dropped so far
        self.instance = self._plant()

    def _plant(self) -> Instance:
        """Set up the workers, the first of which has the root to expand."""
        root = self.root
        cutoff = self.cutoff
        instance = root.reduced(cutoff)
        if instance is None:
            self.dropped = max(root.bound, cutoff)
            return root.instance
        if len(instance.rules) < len(root.instance.rules) or instance.room < root.instance.room:
            self.dropped = cutoff
        twins = find_twins(instance)
        for _ in range(self.options.threads):
            self.searches.append(start_search(instance, twins, self.best, self.options))
            self.trees.append(make_tree(FIRST_SLOTS, len(instance.rules)))
        if instance.room == 0.0:
            only = instance.rules[instance.fate == IN]
            self.best.offer(only, instance.problem.loss(only))
            return instance
        kept = np.isin(root.instance.rules, instance.rules)
        push(self.trees[0], root.bound, instance.fate, root.multipliers, root.w[kept])
        return instance

    def run(self) -> Outcome:
        """Search until the gap is proven, a limit is reached or the user interrupts."""
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
            if not self._slice(pool):
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
        """Take over what the workers have found and dropped, and tell all of the best loss."""
        for search in self.searches:
            if search.tally[IMPROVED]:
                search.tally[IMPROVED] = 0
                self.best.offer(self.instance.rules[search.incumbent], float(search.numbers[LOSS]))
            self.dropped = min(self.dropped, float(search.numbers[LEAST_DROPPED]))
        for search in self.searches:
            search.numbers[LOSS] = self.best.loss

    def _work(self, n: int) -> int:
        limit = self.options.node_limit
        nodes = SLICE if limit is None else min(SLICE, max(1, limit - self.nodes))
        return int(
            run(self.instance.data, self.searches[n], self.trees[n], self.instance.fate, nodes)
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
        return int(sum(search.tally[NODES] for search in self.searches))

    @property
    def cutoff(self) -> float:
        """The bound from which a node is of no use; the kernels have the same (`cutoff_of`)."""
        loss, half = self.best.loss, self.root.instance.data.half
        return loss - max(self.options.gap * loss, ROUNDING * half)

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
        steps = self.root.steps + sum(int(search.tally[STEPS]) for search in self.searches)
        loss = self.best.loss
        return {
            "nodes": self.nodes,
            "trials": sum(int(search.tally[TRIALS]) for search in self.searches),
            "relaxation_steps": steps,
            "open_nodes": int(sum(tree.sizes[0] for tree in self.trees)),
            "root_bound": self.root.bound,
            "root_gap": (loss - min(loss, self.root.bound)) / loss if loss > 0 else 0.0,
            "rules_left_by_floor": len(self.root.instance.rules),
            "rules_left_by_root": len(self.instance.rules),
        }
