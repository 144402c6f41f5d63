"""The paper's Algorithm 1: tangents of the loss below an integer program.

H2 is convex in z, so its tangent at any point lies below it everywhere:

    H2(z) >= H2(z_j) + g_j'(z - z_j),   g_j = dH2/dz at z_j                       (a cut)

The master minimises the largest of the cuts over all selections that are allowed. What it proves
is a lower bound on H2; the selection that it returns is cut in turn, until loss and bound meet. A
cut knows nothing of k, the floor or the limits, so it serves any problem of the same statistics
and the same gamma.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from mossrules._typing import FloatArray, IntArray
from mossrules.exceptions import InvalidParameter, MossError, NothingFound
from mossrules.solver.bounds.duality import Cut
from mossrules.solver.cutting_plane.gurobi import GurobiMaster
from mossrules.solver.cutting_plane.highs import HighsMaster
from mossrules.solver.cutting_plane.master import Master, MasterResult, MasterStatus
from mossrules.solver.cutting_plane.scip import ScipMaster
from mossrules.solver.options import MASTER_ROUNDING, Clock, Options, relative_gap
from mossrules.solver.problems.selection import SelectionProblem
from mossrules.solver.result import Outcome, Status
from mossrules.solver.search.state import Floor, SearchState

__all__ = ["CutPool", "make_master", "solve_by_cutting_plane"]

# Of z: so small a part of a rule is rounding, and would make the equations of a tangent larger.
NEGLIGIBLE = 1e-6

# Each loads the package behind it only when a master is made.
MASTERS: dict[str, type[Master]] = {
    "highs": HighsMaster,
    "scip": ScipMaster,
    "gurobi": GurobiMaster,
}


def make_master(problem: SelectionProblem, options: Options, *, scale: float = 1.0) -> Master:
    """Return the master that the options name; `scale` is the size of the losses to expect."""
    return MASTERS[options.master](problem, options, scale=scale)


# --- cuts ---------------------------------------------------------------------------------------


@dataclass(eq=False)
class CutPool:
    """Cuts of one pair of statistics and gamma, to be used again at another floor or size."""

    _cuts: list[Cut] = field(default_factory=list)
    _selections: dict[bytes, IntArray] = field(default_factory=dict)
    _made_for: SelectionProblem | None = None

    def claim(self, problem: SelectionProblem) -> None:
        """Make sure that the cuts hold for a problem."""
        made_for = self._made_for or problem
        if not made_for.has_same_loss(problem):
            raise InvalidParameter(
                "The cuts were made with other statistics, signs or another gamma and do not hold "
                "here; start a new CutPool."
            )
        self._made_for = made_for

    def add(self, cut: Cut) -> None:
        """Append a cut."""
        self._cuts.append(cut)
        if np.isin(cut.z, (0.0, 1.0)).all():
            self._selections[_key(cut.z)] = np.flatnonzero(cut.z)

    def has_selection(self, support: IntArray) -> bool:
        """Tell whether there is a cut at this very selection."""
        if not self._cuts:
            return False
        z = np.zeros_like(self._cuts[0].z)
        z[support] = 1.0
        return _key(z) in self._selections

    def selections(self) -> list[IntArray]:
        """Return the selections at which there is a cut, oldest first."""
        return list(self._selections.values())

    def __len__(self) -> int:
        return len(self._cuts)

    def __iter__(self) -> Iterator[Cut]:
        return iter(self._cuts)

    def __repr__(self) -> str:
        return f"CutPool({len(self)} cuts, {len(self._selections)} of them at selections)"


def _key(z: FloatArray) -> bytes:
    return np.packbits(z > 0.5).tobytes()


# --- the algorithm ------------------------------------------------------------------------------


def solve_by_cutting_plane(
    problem: SelectionProblem,
    options: Options,
    *,
    clock: Clock,
    start: IntArray | None = None,
    cuts: CutPool | None = None,
) -> Outcome:
    """Minimise H2 by Algorithm 1.

    Parameters
    ----------
    problem, options, clock
        What to solve, how, and in what time.
    start
        The selection z_0; by default the rules of the largest counts.
    cuts
        Cuts to begin with. New ones are added to it.

    Order of steps: tangent at z_0 -> cuts at the root, if asked for -> repeat (relaxed master, if
    that is not proof enough the master -> tangent at its selection) until the gap is closed or a
    limit is met.
    """
    cuts = CutPool() if cuts is None else cuts
    cuts.claim(problem)
    # Of one floor, and with no margin: masters know losses no better than MASTER_ROUNDING anyway.
    state = SearchState(options, 0.0, [Floor(problem.min_stability)], clock=clock)
    run = _Run(problem, state, cuts)
    try:
        status = run.run(problem.most_stable if start is None else np.sort(start))
    except KeyboardInterrupt:
        if run.best is None:
            raise
        status = Status.INTERRUPTED
    return run.outcome(status)


@dataclass(eq=False)
class _Run:
    """A run of Algorithm 1: where it stands is in `state`, and what it rests on in `cuts`."""

    problem: SelectionProblem
    state: SearchState
    cuts: CutPool
    root_bound: float = 0.0
    masters: int = 0
    relaxations: int = 0
    seconds: float = 0.0

    def run(self, start: IntArray) -> Status:
        """Go through the steps; return how they ended."""
        # Selections of other floors may be feasible here, and then start the search for nothing.
        for selection in self.cuts.selections():
            self._compare(selection)
        if not self.cuts.has_selection(start):
            self._cut(Cut.at_support(self.problem, start), None)
            self._compare(start)
        if self._is_proven():
            return Status.OPTIMAL
        # Units in which nu is about 1. Small losses are left small: coefficients of the cuts must
        # not grow without limit.
        null_loss = self.problem.null_loss
        scale = max(min(self.loss, null_loss), 1e-3 * null_loss) or 1.0
        master = make_master(self.problem, self.state.options, scale=scale)
        for cut in self.cuts:
            master.add_cut(cut.constant, cut.slopes)
        if not self._cut_root(master):
            return Status.INFEASIBLE
        self.root_bound = self.bound
        return self._iterate(master)

    def _iterate(self, master: Master) -> Status:
        """Repeat: master, tangent at its selection."""
        while not self._is_proven():
            limit = self.state.limit_reached(0, self.masters)
            if limit is not None:
                return limit
            result = self._solve(master)
            if result.status is MasterStatus.INFEASIBLE:
                return self._infeasible()
            self._raise_bound(result.bound)
            repeated = self._take(result, master)
            if self.best is not None:
                self.state.tell(self.masters, self.bound, quiet_seconds=0.0)
            if result.status is MasterStatus.INTERRUPTED:
                raise KeyboardInterrupt
            if self._is_proven():
                break
            if result.status is MasterStatus.TIME_LIMIT:
                return Status.TIME_LIMIT
            if repeated:
                return self._repeated()
        return Status.OPTIMAL

    def _take(self, result: MasterResult, master: Master) -> bool:
        """Cut at a master's selection, and compare it; tell whether it was cut before."""
        if result.support is None:
            return False
        if self.cuts.has_selection(result.support):
            return True
        self._check(result.support)
        self._cut(Cut.at_support(self.problem, result.support), master)
        self._compare(result.support)
        return False

    def _solve(self, master: Master) -> MasterResult:
        """Solve the master, or only its relaxation where that is proof enough.

        With cuts from other floors it often is, in a small part of the time. The master itself need
        not prove more than the gap either. It stops there with the selection that it has, whose cut
        lets the relaxation prove the floors to come.
        """
        target, gap = np.inf, self.state.options.gap
        if self.best is not None:
            relaxed = self._relax(master)
            if self._is_proven():
                return replace(relaxed, z=None)
            target = (1.0 - gap) * self.loss
        began = time.perf_counter()
        result = master.solve(
            seconds=self.state.clock.left(),
            gap=gap / 10,  # a tenth of it for the master leaves the rest for the cuts
            start=self.best,
            target=target,
        )
        self.seconds += time.perf_counter() - began
        self.masters += 1
        return result

    def _relax(self, master: Master) -> MasterResult:
        """Solve the relaxation and take over what it proves."""
        began = time.perf_counter()
        result = master.solve_relaxed(seconds=self.state.clock.left())
        self.seconds += time.perf_counter() - began
        self.relaxations += 1
        if result.status is MasterStatus.INTERRUPTED:
            raise KeyboardInterrupt
        if result.status is MasterStatus.INFEASIBLE:
            self._infeasible()
        else:
            self._raise_bound(result.bound)
        return result

    def _cut_root(self, master: Master) -> bool:
        """Cut at fractional points; return False where not even those are feasible.

        The linear program's own solutions jump from corner to corner, so the cut is made half-way
        between them and the best point so far (in-out separation, Ben-Ameur and Neto, 2007).
        Either it cuts the corner off or the half-way point is better than the best.
        """
        inner = None if self.best is None else Cut.at_support(self.problem, self.best)
        for _ in range(self.state.options.root_cuts):
            result = self._relax(master)
            if result.status is MasterStatus.INFEASIBLE:
                return False
            if result.status is MasterStatus.TIME_LIMIT or result.z is None:
                break
            if inner is not None and relative_gap(inner.value, self._proven) <= MASTER_ROUNDING:
                break
            point = result.z if inner is None else (result.z + inner.z) / 2
            cut = Cut.at_point(self.problem, np.where(point < NEGLIGIBLE, 0.0, point))
            self._cut(cut, master)
            inner = cut if inner is None or cut.value < inner.value else inner
        return True

    # --- where it stands ------------------------------------------------------------------------

    @property
    def best(self) -> IntArray | None:
        """The best selection so far, if there is any."""
        return self.state.best.support if np.isfinite(self.loss) else None

    @property
    def loss(self) -> float:
        """The loss of the best selection; infinity where there is none."""
        return self.state.best.loss

    @property
    def _proven(self) -> float:
        """What masters have proven, which may be a rounding error above the loss."""
        return self.state.known

    @property
    def bound(self) -> float:
        """No selection has a smaller loss than this."""
        return self.state.bound(0.0)  # of what no master has looked at: H2 is never negative

    def _is_proven(self) -> bool:
        if self.best is None:
            return False
        return relative_gap(self.loss, self._proven) <= self.state.options.gap

    # --- one step -------------------------------------------------------------------------------

    def _cut(self, cut: Cut, master: Master | None) -> None:
        self.cuts.add(cut)
        if master is not None:
            master.add_cut(cut.constant, cut.slopes)

    def _compare(self, support: IntArray) -> None:
        """Keep a selection if it is feasible and the best so far."""
        if self.problem.is_feasible(support):
            self.state.offer(support, self.problem.loss(support))

    def _raise_bound(self, bound: float) -> None:
        """Take over what a master proved, unless a known selection refutes it."""
        if bound > self.loss * (1.0 + MASTER_ROUNDING):
            raise self._failed(f"no selection has a loss below {bound:.9g}")
        self.state.known = max(self.state.known, bound)

    # --- what ends it ---------------------------------------------------------------------------

    def _repeated(self) -> Status:
        """End the search at a selection already cut: there nu = H2, so loss and bound have met."""
        if relative_gap(self.loss, self._proven) > self.state.options.gap + MASTER_ROUNDING:
            raise self._failed(f"its optimum is at a loss of {self._proven:.9g}")
        return Status.OPTIMAL

    def _infeasible(self) -> Status:
        if self.best is not None:
            raise self._failed("nothing is feasible")
        return Status.INFEASIBLE

    def _check(self, support: IntArray) -> None:
        if not self.problem.is_feasible(support):
            raise MossError(
                f"The master {self.state.options.master} returned a selection that breaks a limit "
                "by more than rounding; scale the rows of A z <= b to entries near 1, or choose "
                "another master."
            )

    def _failed(self, claim: str) -> MossError:
        return MossError(
            f"The master {self.state.options.master} says that {claim}, but a selection with a "
            f"loss of {self.loss:.9g} is known: its arithmetic failed, so choose another master or "
            "a smaller gamma."
        )

    def outcome(self, status: Status) -> Outcome:
        """Return the best selection, and what is proven."""
        if self.best is None and status is not Status.INFEASIBLE:
            raise NothingFound(
                f"The {status.value} came before any selection that keeps all limits A z <= b was "
                "found; allow more time, or start from a selection that keeps them."
            )
        counters = {
            "masters": float(self.masters),
            "relaxations": float(self.relaxations),
            "cuts": float(len(self.cuts)),
            "master_seconds": self.seconds,
            "root_bound": min(self.root_bound, self.loss),
        }
        bound = np.inf if status is Status.INFEASIBLE else self.bound
        return Outcome(self.best, bound, status, counters)
