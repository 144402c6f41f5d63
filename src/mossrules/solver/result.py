"""What a solve returns: a rule set, what is proven about it, and how it was found.

Status is apart from value: a rule set with a small gap that ran out of time has status TIME_LIMIT.
`Solution.verify` lets someone else check a solution: what can be recomputed from the problem by the
plain definitions is, and what rests on the search alone is named.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

import numpy as np

from mossrules._deprecated import Renamed
from mossrules._typing import FloatArray, IntArray
from mossrules.exceptions import InvalidParameter
from mossrules.solver.bounds.duality import DualPoint
from mossrules.solver.bounds.verification import Verification, verify_claim
from mossrules.solver.options import relative_gap
from mossrules.solver.problems.selection import SelectionProblem

# What writes the proof of a solution to a file, with the texts of all rules.
Prover = Callable[["Solution", Path, Sequence[str] | None], "Solution"]

__all__ = ["Outcome", "Report", "Solution", "Status"]


class Status(Enum):
    """How a solve ended; only OPTIMAL says that the gap asked for is proven.

    See Also
    --------
    mossrules.solver.Solution : Has one, as `status`.
    """

    OPTIMAL = "optimal"  #: to within the gap asked for
    TIME_LIMIT = "time limit"
    NODE_LIMIT = "node limit"
    SOLUTION_LIMIT = "solution limit"  #: of a list of near-optimal rule sets: there are more
    INTERRUPTED = "interrupted"
    INFEASIBLE = "infeasible"
    HEURISTIC = "heuristic"  #: the method does not look for a proof


@dataclass(frozen=True)
class Outcome:
    """What a method found, not yet recomputed by the plain definitions.

    `support` is None when nothing is feasible.
    """

    support: IntArray | None
    bound: float
    status: Status
    counters: Mapping[str, float] = field(default_factory=dict)
    dual: DualPoint | None = None


@dataclass(frozen=True)
class Report:
    """How a solution was found.

    `counters` are the method's own: nodes, cuts, seconds of its parts.

    See Also
    --------
    mossrules.solver.Solution : Has one, as `report`.
    """

    method: str  #: that solved it
    reason: str  #: why this method was taken
    seconds: float  #: that it took
    asked_gap: float  #: the gap that was to be proven
    counters: Mapping[str, float] = field(default_factory=dict)

    figures = Renamed("counters")


@dataclass(frozen=True, eq=False)
class Solution:
    """A rule set with its certificate.

    `bound` is never above `loss`: no rule set that meets the problem's conditions has a loss below
    it. `weights` belong to `support`, which is ascending.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> model = MossRegressor(2, n_trees=20).fit({"age": [30, 40, 50, 60]}, [2.0, 3.0, 9.0, 8.0])
    >>> solution = model.solution_
    >>> solution
    Solution(2 rules, loss=0.0339236, stability=11, optimal, gap=...)
    >>> solution.support, solution.report.method
    (array([0, 2]), 'branch-and-bound')
    >>> solution.verify(model.problem_).passed
    True
    """

    support: IntArray  #: positions of the chosen rules
    weights: FloatArray  #: of the chosen rules, for the scaled target
    loss: float  #: H2, recomputed by its definition
    stability: int  #: H1: trees that contain each rule, added up; or those of the least frequent
    bound: float  #: proven: no allowed rule set has a smaller loss
    status: Status  #: how the solve ended
    report: Report  #: how it was found
    dual: DualPoint | None = None  #: proves a bound that anyone can recompute
    intercept: float = 0.0  #: of the logistic loss; a centred target has none
    prover: Prover | None = field(default=None, repr=False)  #: what `proof` calls, if it can be

    @classmethod
    def of(
        cls,
        problem: SelectionProblem,
        support: IntArray,
        bound: float,
        status: Status,
        report: Report,
        *,
        dual: DualPoint | None = None,
        known: float = 0.0,
        prover: Prover | None = None,
    ) -> Solution:
        """Return a feasible selection as a solution, all numbers by the plain definitions.

        `bound` is as computed, and made safe here; `known` is one that holds as it is, such as that
        of another solution.
        """
        support = np.sort(np.asarray(support, dtype=np.int64))
        if not problem.is_feasible(support):
            raise AssertionError(f"{report.method} returned a selection that is not feasible.")
        weights, intercept, loss = problem.fit(support)
        return cls(
            support=support,
            weights=weights,
            loss=loss,
            stability=problem.stability(support),
            # Recomputed, the loss may be a rounding error below what the search has proven, which
            # must not look like a contradiction. 0 in place of NaN too: no loss is negative.
            bound=min(max(0.0, known, problem.safe_bound(bound)), loss),
            status=status,
            report=report,
            dual=dual,
            intercept=intercept,
            prover=prover,
        )

    @classmethod
    def infeasible(cls, report: Report) -> Solution:
        """Return the answer that no selection meets the conditions."""
        return cls.without_selection(report, np.inf, Status.INFEASIBLE)

    @classmethod
    def without_selection(cls, report: Report, bound: float, status: Status) -> Solution:
        """Return the answer that no selection was found; whether there is one, the status says."""
        return cls(
            support=np.empty(0, dtype=np.int64),
            weights=np.empty(0),
            loss=np.inf,
            stability=0,
            bound=bound,
            status=status,
            report=report,
        )

    def __post_init__(self) -> None:
        # A certificate is of these very arrays: a later change by the caller must not reach them.
        for name in ("support", "weights"):
            own = np.array(getattr(self, name))
            own.flags.writeable = False
            object.__setattr__(self, name, own)

    @property
    def has_selection(self) -> bool:
        """Whether there is a rule set at all; that of no rules is one, and its loss is finite."""
        return self.loss != np.inf

    @property
    def gap(self) -> float:
        """Relative distance between loss and bound; NaN when nothing is feasible."""
        return relative_gap(self.loss, self.bound) if self.has_selection else np.nan

    def proof(self, path: str | Path, names: Sequence[str] | None = None) -> Solution:
        """Write a complete proof of the bound, which `check_proof` checks without the solver.

        The problem is solved again from here, and what the search does is recorded;
        `Options(proof=path)` writes the proof of a solve at once.

        Parameters
        ----------
        path
            The file to write.
        names
            Texts of all rules, for readers of the file.

        Returns
        -------
        Solution
            That of the proof. Its bound is lower than this one by next to nothing.
        """
        if self.prover is None or not self.has_selection:
            raise InvalidParameter(
                "A proof can be written of what `solve` or a model's fit returned; solve again."
            )
        return self.prover(self, Path(path), names)

    def verify(self, problem: SelectionProblem, *, quick: bool = False) -> Verification:
        """Recompute from the problem all that can be, and say what rests on the search alone.

        If `quick`, all numbers are recomputed, but neither is the problem itself examined nor a
        rule set looked for that refutes the bound.

        Raises nothing when a check fails: `Verification.passed` tells, and printing it shows each.
        """
        if not self.has_selection:
            return Verification(
                (), (f"that nothing is feasible rests on the {self.report.method} method",)
            )
        return verify_claim(
            problem,
            support=self.support,
            weights=self.weights,
            loss=self.loss,
            stability=self.stability,
            bound=self.bound,
            proven_gap=self.report.asked_gap if self.status is Status.OPTIMAL else None,
            dual=self.dual,
            search=f"{self.report.method} ({self.status.value})",
            quick=quick,
        )

    def __repr__(self) -> str:
        if not self.has_selection:
            nothing = "" if self.status is Status.INFEASIBLE else "nothing found, "
            return f"Solution({nothing}{self.status.value}, {self.report.method})"
        return (
            f"Solution({len(self.support)} rules, loss={self.loss:.6g}, "
            f"stability={self.stability}, {self.status.value}, gap={self.gap:.2g})"
        )
