"""One search, the same for every loss: where it stands, when it ends, and what it returns.

A search takes open nodes until none is below the cutoff, a limit is reached, or the user
interrupts. What a node is and how it is relaxed is the business of a subclass of `SearchLoop`:
compiled for the squared loss, with `NodeRelaxer` for the logistic one, over groups under
constraints. Time, nodes, progress and bounds are looked after here and nowhere else.

One tree can serve several floors, from the lowest up: what a node proves is affine in the floor, so
most of the work at one floor is of use at the next.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from mossrules._typing import FloatArray, IntArray
from mossrules.solver.bounds.duality import DualPoint
from mossrules.solver.kernels.state import Bounds
from mossrules.solver.options import Clock, Options, Snapshot
from mossrules.solver.result import Outcome, Status

__all__ = [
    "Floor",
    "Incumbent",
    "SearchLoop",
    "SearchState",
    "TreeSearch",
]

NO_FLOORS = np.zeros((0, 2))
# A tree made for lower floors is given up when a floor costs so many times the nodes of the first.
REPLANT, FEWEST = 2, 1500


# --- where it stands ----------------------------------------------------------------------------


@dataclass(eq=False)
class Incumbent:
    """The best selection so far, as positions in the problem."""

    support: IntArray
    loss: float

    def offer(self, support: IntArray, loss: float) -> None:
        """Take a selection if it is better."""
        if loss < self.loss:
            self.support, self.loss = np.sort(support), loss


@dataclass(eq=False)
class Floor:
    """A floor that a search serves, the best selection that reaches it, and what is proven there.

    Nothing has been found where the loss of the best is infinite.
    """

    min_stability: int
    best: Incumbent = field(default_factory=lambda: Incumbent(np.empty(0, dtype=np.int64), np.inf))
    known: float = 0.0  # a bound that holds, whatever the search does


@dataclass(eq=False)
class SearchState:
    """What a search has found and proven, what it may use, and whom it tells.

    `margin` is the distance at which losses count as equal, that of the problem. A node is
    dropped when its bound is as near to the best loss as that; without it, a search for the optimum
    itself (gap 0) would branch on to tell selections apart that differ by rounding alone. The
    floors are ascending; `at` is the place of the one that is searched for.
    """

    options: Options
    margin: float
    floors: Sequence[Floor]
    clock: Clock = field(default_factory=lambda: Clock(None))
    at: int = 0
    known: float = field(init=False)  # at this floor
    dropped: float = np.inf  # the least bound of anything dropped at this floor
    told: float = -np.inf  # when progress was told of
    lift: float = 0.0  # of the cutoff: a proof claims so much less than the search has proven

    lists_all = False  # whether every selection below the cutoff is wanted, not only the best

    def __post_init__(self) -> None:
        self.known = self.floor.known

    @property
    def floor(self) -> Floor:
        """The floor that is searched for."""
        return self.floors[self.at]

    @property
    def best(self) -> Incumbent:
        """The best selection known at this floor."""
        return self.floor.best

    @property
    def above(self) -> FloatArray:
        """The higher floors: by how much, and the least loss known there."""
        if self.at + 1 == len(self.floors):  # asked for at each node, and mostly there is none
            return NO_FLOORS
        rows = [
            (higher.min_stability - self.floor.min_stability, higher.best.loss)
            for higher in self.floors[self.at + 1 :]
        ]
        return np.array(rows, dtype=np.float64).reshape(-1, 2)

    def cutoff_at(self, loss: float) -> float:
        """Return the bound from which a node is of no use where a selection of a loss is known.

        `kernels.incumbents.cutoff_at` is the same, compiled.
        """
        return loss - max(self.options.gap * loss - self.lift, self.margin)

    @property
    def cutoff(self) -> float:
        """The bound from which a node is of no use at this floor."""
        return self.cutoff_at(self.best.loss)

    def bound(self, least_open: float) -> float:
        """Return what is proven: no selection that meets the floor has a smaller loss."""
        return min(self.best.loss, max(self.known, min(self.dropped, least_open)))

    def tell_kernels(self, bounds: Bounds) -> None:
        """Bring the bounds that kernels compute cutoffs of up to date."""
        bounds.loss, bounds.gap, bounds.margin = self.best.loss, self.options.gap, self.margin
        bounds.lift = self.lift

    # --- what changes it ------------------------------------------------------------------------

    def offer(self, support: IntArray, loss: float, stability: int | None = None) -> None:
        """Take a selection if it is better: here, and by its stability at higher floors."""
        self.best.offer(support, loss)
        if stability is not None:
            for higher in self.floors[self.at + 1 :]:
                if stability >= higher.min_stability:
                    higher.best.offer(support, loss)

    def offer_all(self, supports: Iterable[IntArray]) -> None:
        """Take over selections for a list, which only the state of such a search does."""
        raise AssertionError(f"There is no list for {len(list(supports))} selections.")

    def drop(self, bound: float) -> None:
        """Remember the least bound of what is left out."""
        self.dropped = min(self.dropped, bound)

    def limit_reached(self, n_open: int, nodes: int) -> Status | None:
        """Return the limit at which the search has to end, if there is one."""
        if self.clock.left() <= 0.0:
            return Status.TIME_LIMIT
        limit = self.options.node_limit
        if n_open > self.options.open_nodes or (limit is not None and nodes >= limit):
            return Status.NODE_LIMIT
        return None

    def tell(self, nodes: int, bound: float, quiet_seconds: float) -> None:
        """Tell of progress, unless that was done within so many seconds."""
        now = time.perf_counter()
        if self.options.progress is not None and now - self.told >= quiet_seconds:
            self.told = now
            self.options.progress(self.snapshot(nodes, bound))

    def snapshot(self, nodes: int, bound: float) -> Snapshot:
        """Return where the search stands, for whoever watches it."""
        return Snapshot(self.clock.elapsed(), nodes, self.best.loss, bound)


# --- the loop -----------------------------------------------------------------------------------


class SearchLoop(ABC):
    """Takes open nodes until the gap is proven, a limit is reached or the user interrupts."""

    state: SearchState
    quiet_seconds = 0.0  # between two reports; each step is told of where steps take milliseconds

    def run(self, clock: Clock) -> Outcome:
        """Return the best selection, what is proven of it, and how the search ended."""
        self.state.clock = clock
        try:
            status = self._begin() or self._loop()
        except KeyboardInterrupt:
            if not np.isfinite(self.state.best.loss):
                raise
            status = Status.INTERRUPTED
            self._take_over()  # what was found and dropped in the step that the interrupt came in
        support = self.state.best.support
        return Outcome(support, self.bound, status, self._counters(), self._root_dual())

    def _begin(self) -> Status | None:
        """Do what is to be done before the first node; return how the search ends, if it does."""
        return None

    def _loop(self) -> Status:
        while self._has_work():
            status = self.state.limit_reached(self._n_open, self.nodes) or self._step()
            if status is not None:
                return status
            self.state.tell(self.nodes, self.bound, self.quiet_seconds)
        return Status.OPTIMAL

    @property
    def bound(self) -> float:
        """No selection has a smaller loss than this."""
        return self.state.bound(self._least_open)

    @abstractmethod
    def _has_work(self) -> bool:
        """Tell whether any open node may be of use."""

    @abstractmethod
    def _step(self) -> Status | None:
        """Take one or some of the open nodes; return how the search ends, if it does."""

    def _take_over(self) -> None:  # noqa: B027  most searches have no workers
        """Take over what workers have found and dropped."""

    @property
    @abstractmethod
    def _n_open(self) -> int:
        """Open nodes in memory."""

    @property
    @abstractmethod
    def _least_open(self) -> float:
        """The least bound of an open node; infinity when there is none."""

    @property
    @abstractmethod
    def nodes(self) -> int:
        """Nodes relaxed so far at this floor."""

    @abstractmethod
    def _root_dual(self) -> DualPoint | None:
        """Return what proves the bound of the root, for anyone to check."""

    @abstractmethod
    def _counters(self) -> dict[str, float]:
        """Return counts of what was done."""

    def _root_gap(self, root_bound: float) -> float:
        """Return how far below the best loss the bound of the root is, as a share of the loss."""
        loss = self.state.best.loss
        return (loss - min(loss, root_bound)) / loss if loss > 0 else 0.0


class TreeSearch(SearchLoop):
    """A tree over rules, below the root of the lowest floor; it is taken along to higher ones.

    Nodes are dropped, and rules fixed, only where no floor needs them. A tree that serves a higher
    floor badly is planted anew there.
    """

    planted_at = 0  # place of the floor that the tree was made for
    given_up = 0  # nodes at this floor of a tree that is no more
    _nodes_at_planting = 0  # nodes of the floor that the tree was made for

    def next_floor(self) -> bool:
        """Go on to the next floor with all nodes that are of use there; False when none is left.

        A bound proven at one floor holds at every higher one.
        """
        state = self.state
        if state.at + 1 == len(state.floors):
            return False
        state.known = max(self.bound, state.floors[state.at + 1].known)
        if state.at == self.planted_at:
            self._nodes_at_planting = self.nodes
        before = state.floor.min_stability
        state.at += 1
        self.given_up = 0
        if self._is_planted:
            state.dropped = state.cutoff  # for this floor too, whatever the incumbent was then
            self._raise_floor(float(state.floor.min_stability - before))
        else:
            self._plant()
        return True

    def _plant_anew(self) -> None:
        """Give the tree up for one that is made for this floor."""
        self.state.known, self.given_up = self.bound, self.nodes
        self._plant()

    @property
    def _is_outgrown(self) -> bool:
        """Whether the tree, made for lower floors, serves this one badly."""
        carried = self.state.at > self.planted_at
        return carried and self.nodes > REPLANT * max(FEWEST, self._nodes_at_planting)

    def _has_work(self) -> bool:
        return self._n_open > 0 and self.state.known < self.state.cutoff

    @property
    @abstractmethod
    def _is_planted(self) -> bool:
        """Whether there is a tree; there is none where the root decides its floor."""

    @abstractmethod
    def _plant(self) -> None:
        """Make a tree for this floor and those above it."""

    @abstractmethod
    def _raise_floor(self, by: float) -> None:
        """Take all open nodes along to a floor that is higher by so much."""
