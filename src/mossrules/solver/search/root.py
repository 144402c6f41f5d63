"""The root of branch and bound: relaxed once, rounded, and used to fix what it decides."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mossrules.solver.bounds.duality import DualPoint
from mossrules.solver.kernels.fixing import fix_by_bound, fix_by_conditions
from mossrules.solver.kernels.incumbents import cutoff_of, relaxed_selection, try_rounding
from mossrules.solver.kernels.relaxation import (
    ascend,
    first_multipliers,
    lower_and_upper,
    residual_of,
)
from mossrules.solver.kernels.state import IN, Node, Precedence, Search, make_search
from mossrules.solver.kernels.swaps import explained_by
from mossrules.solver.options import Options
from mossrules.solver.search.heuristics import Incumbent
from mossrules.solver.search.instance import Instance

__all__ = ["Root", "start_search"]

ROOT_STEPS = 40
ROUNDING = 1e-12  # of yy/2: losses closer than this count as equal


@dataclass(eq=False)
class Root:
    """The relaxed root: its bound, the point that proves it, and the incumbent."""

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
        search = start_search(instance, instance.without_duplicates(), best, options)
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

    def cutoff(self, gap: float) -> float:
        """Return the bound from which a node is of no use; `cutoff_at` is the same, compiled."""
        return self.cutoff_at(self.best.loss, gap, self.instance.data.half_yy)

    @staticmethod
    def cutoff_at(loss: float, gap: float, half_yy: float) -> float:
        """Return the bound from which a node is of no use where a selection of that loss is known.

        `half_yy` is yy/2.
        """
        return loss - max(gap * loss, ROUNDING * half_yy)

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
        return DualPoint(
            rules=here.rules[used],
            weights=here.flip[used] * self.node.w[used],
            lam=float(lam),
            mu=float(mu),
            bound=self.proven,
            fixed_in=inside,
            fixed_out=np.flatnonzero(decided),
        )

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
    cutoff = cutoff_of(search.bounds)
    bound, steps = ascend(data, node, K, E, cutoff, ROOT_STEPS, s.node)
    if bound < cutoff_of(search.bounds):
        relaxed_selection(data, node, s.z)
        try_rounding(data, search, decision, decision, True)
    return bound, steps


def start_search(
    instance: Instance, precedence: Precedence, best: Incumbent, options: Options
) -> Search:
    """Return a search that knows the incumbent's loss."""
    problem = instance.problem
    search = make_search(problem.size, problem.min_stability, precedence)
    search.bounds.loss = best.loss
    search.bounds.gap = options.gap
    search.bounds.margin = ROUNDING * instance.data.half_yy
    return search
