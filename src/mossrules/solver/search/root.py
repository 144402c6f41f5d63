"""The root of branch and bound: relaxed once, rounded, and used to fix what it decides."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mossrules._typing import FloatArray, IntArray
from mossrules.solver.bounds.duality import DualPoint
from mossrules.solver.kernels.fixing import fix_by_bound
from mossrules.solver.kernels.incumbents import cutoff_of, relaxed_selection, try_rounding
from mossrules.solver.kernels.limits import fix_by_conditions
from mossrules.solver.kernels.relaxation import ascend, lower_and_upper, residual_of
from mossrules.solver.kernels.root import first_multipliers
from mossrules.solver.kernels.state import GAP, IMPROVED, IN, LOSS, MARGIN, Search, make_search
from mossrules.solver.kernels.swaps import explained_by
from mossrules.solver.options import Options
from mossrules.solver.search.heuristics import Incumbent
from mossrules.solver.search.instance import Instance, no_twins

__all__ = ["Root", "start_search"]

ROOT_STEPS = 40
ROUNDING = 1e-12  # of yy/2: losses closer than this count as equal


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
        search = start_search(instance, no_twins(len(instance.rules)), best, options)
        search.chosen[:] = np.searchsorted(instance.rules, best.support)
        if dual is not None:
            everywhere = np.zeros(instance.problem.m)
            everywhere[dual.rules] = dual.weights
            search.w[:] = instance.flip * everywhere[instance.rules]
            search.multipliers[:] = dual.lam, dual.mu
        bound, steps = _relax(search, instance, warm=dual is not None)
        if search.tally[IMPROVED]:
            best.offer(instance.rules[search.incumbent], float(search.numbers[LOSS]))
        return cls(instance, best, bound, search.w, search.r, search.multipliers, steps)

    def without_matrix(self) -> Root:
        """Return the root without its copy of G, which is large and of no more use to it."""
        data = self.instance.data._replace(G=np.empty((0, 0)))
        return replace(self, instance=replace(self.instance, data=data))

    def cutoff(self, gap: float) -> float:
        """Return the bound from which a node is of no use; `cutoff_at` is the same, compiled."""
        return self.cutoff_at(self.best.loss, gap, self.instance.data.half)

    @staticmethod
    def cutoff_at(loss: float, gap: float, half: float) -> float:
        """Return the bound from which a node is of no use where a selection of that loss is known.

        `half` is yy/2.
        """
        return loss - max(gap * loss, ROUNDING * half)

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
            weights=here.flip[used] * self.w[used],
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
            possible, room, floor = fix_by_conditions(
                here.data, here.order, fate, *twins, room, floor
            )
        return here.without(fate) if possible else None


def _relax(search: Search, instance: Instance, *, warm: bool) -> tuple[float, int]:
    """Relax the root, and round it if that is still of use; return its bound and the steps taken.

    The start is the selection in `search.chosen`, or, when warm, the weights and multipliers that
    the search has.
    """
    data, fate, room, floor = instance.data, instance.fate, instance.room, instance.floor
    if not warm:
        explained_by(data, search.chosen, search.k, search.factor, search.room_for_w)
        search.w[search.chosen] = search.room_for_w
    residual_of(data, search.w, search.r)
    if room == 0.0:  # the fixings leave one selection
        return float(search.numbers[LOSS]), 0
    if not warm:
        search.multipliers[:] = first_multipliers(data, fate, room, floor, search.r)
    bound, steps = ascend(
        data, fate, room, floor, search.w, search.r, search.multipliers,
        cutoff_of(search.numbers), ROOT_STEPS, search.small,
    )  # fmt: skip
    if bound < cutoff_of(search.numbers):
        relaxed_selection(data, fate, search.multipliers, search.w, search.z)
        try_rounding(data, search, fate, fate, True)
    return bound, steps


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
