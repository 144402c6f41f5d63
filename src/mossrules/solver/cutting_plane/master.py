"""What all masters share: the integer program, its units, and how its solver is run.

    min nu   s.t.   nu >= d_j + g_j'z for every cut j,   A z <= b,   l <= z <= u,   z binary

`A z <= b` holds the size, the stability floor and the user's own limits; the bounds l and u hold
the rules fixed in and out. Losses grow with the number of rows, so the program is written in units
of `scale`, in which nu is about 1, and the solvers' absolute tolerances are relative ones.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from importlib import import_module
from types import ModuleType

import numpy as np

from mossrules._typing import FloatArray, IntArray
from mossrules.exceptions import MissingDependency, MossError
from mossrules.solver.options import Options
from mossrules.solver.problems.selection import SelectionProblem

TOLERANCE = 1e-9  # asked of every solver, for feasibility and integrality; Gurobi's tightest
NEGLIGIBLE = 1e-10  # coefficients below this are left out: solvers take them for zeros anyway


class MasterStatus(Enum):
    """How a master ended."""

    OPTIMAL = "optimal"  # to within the gap asked for, or as far as the target
    TIME_LIMIT = "time limit"
    INFEASIBLE = "infeasible"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class MasterResult:
    """What a master found.

    `bound` is the solver's own proof, less its tolerance, and never its objective. `z` is None
    where no point was found; of an integer master it is rounded.
    """

    status: MasterStatus
    z: FloatArray | None
    bound: float
    objective: float

    @property
    def support(self) -> IntArray | None:
        """Positions of the rules at 1."""
        return None if self.z is None else np.flatnonzero(self.z > 0.5)


@dataclass(frozen=True)
class Start:
    """A feasible point of the integer program to begin from."""

    z: FloatArray
    nu: float


class Master(ABC):
    """An integer program that grows by cuts; a subclass is one solver behind it.

    A subclass passes the program on in `__init__`, adds rows in `_add_row` and solves in `_solve`,
    all three in units of `scale`.
    """

    def __init__(self, problem: SelectionProblem, options: Options, *, scale: float) -> None:
        self.options = options
        self.scale = scale
        self.A, self.b = linear_limits(problem)
        # After the rules come the groups of the limits, in [0, 1] and not integer: see
        # `LinearConstraints.with_linked_groups`.
        self.m, self._groups = problem.m, np.empty((0, problem.m), dtype=bool)
        if problem.constraints is not None:
            self._groups = problem.constraints.groups
        self.n_columns = self.A.shape[1]
        self.lower, self.upper = np.zeros(self.n_columns), np.ones(self.n_columns)
        self.lower[list(problem.fixed_in)] = 1.0
        self.upper[list(problem.fixed_out)] = 0.0
        self._max_rules = problem.max_rules
        self._rows: list[tuple[float, FloatArray]] = []
        self._interrupted = False

    def add_cut(self, constant: float, gradient: FloatArray) -> None:
        """Demand nu >= constant + gradient'z."""
        gradient = gradient / self.scale
        tiny = np.abs(gradient) < NEGLIGIBLE
        # No more than k of the coefficients left out count at once: the cut stays valid when its
        # constant pays for the k most negative.
        lost = np.sort(gradient[tiny])[: self._max_rules].clip(max=0.0).sum()
        row = np.zeros(self.n_columns)
        row[: self.m] = np.where(tiny, 0.0, gradient)
        constant = constant / self.scale + float(lost)
        self._rows.append((constant, row))
        self._add_row(constant, row)

    def solve(
        self,
        *,
        seconds: float,
        gap: float,
        start: IntArray | None = None,
        target: float = np.inf,
    ) -> MasterResult:
        """Solve the integer program to a relative gap, or until its bound is at the target.

        `start` is a feasible selection. A master that stops at the target is OPTIMAL, and returns
        the best selection that it has by then, if it has any.
        """
        # What is proven is the solver's bound less a tolerance: a little more must be asked for.
        result = self._solve(
            seconds=seconds,
            gap=gap,
            start=self._start(start),
            target=target / self.scale + 10 * TOLERANCE,
            relaxed=False,
        )
        # Integers of a solver are so up to its tolerance: rounded, never truncated.
        z = None if result.z is None else (result.z[: self.m] > 0.5).astype(np.float64)
        return self._in_units_of_loss(result, z)

    def solve_relaxed(self, *, seconds: float) -> MasterResult:
        """Solve with every z anywhere between its bounds."""
        result = self._solve(seconds=seconds, gap=0.0, start=None, target=np.inf, relaxed=True)
        z = None if result.z is None else result.z[: self.m].clip(0.0, 1.0)
        return self._in_units_of_loss(result, z)

    @abstractmethod
    def _add_row(self, constant: float, gradient: FloatArray) -> None:
        """Add the row nu - gradient'z >= constant."""

    @abstractmethod
    def _solve(
        self, *, seconds: float, gap: float, start: Start | None, target: float, relaxed: bool
    ) -> MasterResult:
        """Solve, read the solver's status, and return what it proved."""

    def _run(self, run: Callable[[], object], cancel: Callable[[], object]) -> None:
        """Run the solver; Ctrl-C calls `cancel`."""
        self._interrupted = run_interruptibly(run, cancel)

    def _start(self, support: IntArray | None) -> Start | None:
        if support is None or not self._rows:
            return None
        z = np.zeros(self.n_columns)
        z[support] = 1.0
        z[self.m :] = self._groups[:, support].any(axis=1)
        return Start(z, max(0.0, *(constant + float(g @ z) for constant, g in self._rows)))

    def _in_units_of_loss(self, result: MasterResult, z: FloatArray | None) -> MasterResult:
        if result.status is MasterStatus.INFEASIBLE:
            return MasterResult(result.status, None, np.inf, np.inf)
        # A solver may come to its end just as it is told to stop: told it was, all the same.
        status = MasterStatus.INTERRUPTED if self._interrupted else result.status
        # A solver stopped before its first bound may call it infinite; H2 is never negative.
        bound = self.scale * (result.bound - TOLERANCE) if np.isfinite(result.bound) else 0.0
        return MasterResult(status, z, max(0.0, bound), self.scale * result.objective)


def linear_limits(problem: SelectionProblem) -> tuple[FloatArray, FloatArray]:
    """Return A and b of all limits on rules and groups: size, stability, and the user's own."""
    rows = [np.ones(problem.m)]
    limits = [float(problem.max_rules)]
    if problem.min_stability > 0:
        # In units of the largest common divisor, so that no tolerance lets a count too few pass.
        unit = max(1, int(np.gcd.reduce(problem.counts)))
        rows.append(-(problem.counts // unit).astype(np.float64))
        limits.append(-float(-(-problem.min_stability // unit)))
    A, b = np.array(rows), np.array(limits)
    if problem.constraints is not None:
        own, own_b = problem.constraints.with_linked_groups()
        A = np.vstack([np.pad(A, ((0, 0), (0, own.shape[1] - problem.m))), own])
        b = np.concatenate([b, own_b])
    return A, b


def load(package: str, master: str, remedy: str) -> ModuleType:
    """Return the package behind a master, loaded on first use, or say how to get it."""
    try:
        return import_module(package)
    except ImportError as failure:
        raise MissingDependency(
            f"The master {master!r} needs {package}, which could not be loaded ({failure}); "
            f"{remedy}."
        ) from failure


def unexpected(solver: str, status: object) -> MossError:
    """Return the error for a status that leaves the search without an answer."""
    return MossError(
        f"The master {solver} ended with its status {status!s} and proved nothing; choose another "
        "master or another method."
    )


def run_interruptibly(run: Callable[[], object], cancel: Callable[[], object]) -> bool:
    """Run a solver so that Ctrl-C makes it stop and report; return whether that happened.

    Compiled code does not see the signal: it runs in a thread of its own while this one waits. A
    second Ctrl-C no longer waits.
    """
    failures: list[BaseException] = []
    interrupted = False
    done = threading.Event()

    def target() -> None:
        try:
            run()
        except BaseException as failure:  # noqa: BLE001  # raised again in the caller's thread
            failures.append(failure)
        finally:
            done.set()

    thread = threading.Thread(target=target, daemon=True)
    # Waiting on the thread itself will not do: an interrupted Thread.join takes it for finished
    # (bpo-45274), and on Windows a wait without a time-out cannot be interrupted.
    try:
        thread.start()
        while not done.wait(0.1):
            pass
    except KeyboardInterrupt:
        interrupted = True
        cancel()
        while not done.wait(0.1):
            if thread.ident is None:  # it never began
                raise
            cancel()  # a solver still on its way in may have refused
    if failures:
        raise failures[0]
    return interrupted
