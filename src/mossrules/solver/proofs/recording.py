"""What a search leaves behind for a proof: points, branches and logs of trees, as they come.

A proof is of a problem in slightly other numbers: G with a little more on its diagonal, so that it
is positive semidefinite beyond doubt, and a ridge that is less by as much. Every loss stays what it
is, as w'Gw + |w|^2 / gamma = w'(G + s I) w + (1/gamma - s) |w|^2. The search works on these.

What is recorded is a tree of `Branching`s, with the logs of compiled searches as leaves. Nothing is
judged here: `writing` turns the record into a proof once the bound is known that it is to prove.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from mossrules._typing import FloatArray, IntArray
from mossrules.exceptions import InvalidParameter
from mossrules.solver.kernels.log import HEAD
from mossrules.solver.problems.selection import SelectionProblem
from mossrules.solver.problems.squared import Problem
from mossrules.solver.proofs.losses import EPS
from mossrules.solver.proofs.reading import MOST_RULES

__all__ = ["Branching", "Point", "Recorder", "TreeLog", "log_size"]

LOG_SIZE = 1 << 16  # numbers that a worker logs between two looks at it, at least
LARGEST_SHIFT = 1e-3  # of the ridge: more would cost the bound too much
# What a claim is below the bound of the search, as a share of the loss of no rule: checkers
# subtract rounding errors, and search and checker must agree on which rules a bound decides.
SLACK, ROUNDINGS = 1e-10, 30.0


class Point(NamedTuple):
    """A dual point, in positions of the problem, and the bound that the search has for it."""

    lam: float
    mu: float
    rules: IntArray
    weights: FloatArray
    bound: float


@dataclass(eq=False)
class TreeLog:
    """The log of a compiled search, whose positions are among `rules`."""

    rules: IntArray
    flip: FloatArray
    parts: list[FloatArray] = field(default_factory=list)


@dataclass(eq=False)
class Branching:
    """A node: points that were found there, one after the other, and what became of it."""

    points: list[Point] = field(default_factory=list)
    only: Point | None = None  # the weights of the only selection that is left
    log: TreeLog | None = None


@dataclass(eq=False)
class Recorder:
    """Records the search for one solution."""

    problem: Problem  # as a sum
    kept: IntArray  # rules that the file has
    classes: IntArray  # the same number for rules with the same column
    shift: float
    slack: float
    root: Branching = field(default_factory=Branching)

    @property
    def node(self) -> Branching:
        """The node below which a search over rules is recorded."""
        return self.root

    @classmethod
    def of(cls, asked: SelectionProblem, kept: IntArray | None = None) -> Recorder:
        """Prepare a problem for a proof, or say why there can be none.

        `kept` are the rules of the file where it has several floors: all have the same shift.
        """
        problem = asked.as_sum()
        if not isinstance(problem, Problem):
            raise InvalidParameter("A proof can be written for the squared loss only.")
        if problem.constraints is not None:
            raise InvalidParameter("A proof can be written for problems without limits only.")
        kept = kept_rules(problem) if kept is None else kept
        if len(kept) > MOST_RULES:
            raise InvalidParameter(
                f"A proof can be of {MOST_RULES:,} rules at most, and these are {len(kept):,}; "
                "raise the floor or pass fewer candidates."
            )
        G = problem.statistics.G[np.ix_(kept, kept)]
        G = 0.5 * (G + G.T)
        lost = EPS * problem.size * problem.gamma * problem.largest_curvature
        return cls(
            problem,
            kept,
            _classes(problem, G, kept),
            _shift(G, problem.gamma),
            max(SLACK, ROUNDINGS * lost) * problem.null_loss,
        )

    def record_nothing(self) -> None:
        """Record that no rule may be chosen: the loss without rules is what there is."""
        nothing = np.empty(0, dtype=np.int64)
        self.node.only = Point(0.0, 0.0, nothing, np.empty(0), self.problem.null_loss)

    def claim(self, bound: float) -> float:
        """Return what a proof can claim where the search has proven a bound."""
        return max(0.0, bound - self.slack)


def log_size(m: int) -> int:
    """Return how many numbers a worker has room for in its log, with m rules."""
    return LOG_SIZE + 8 * (HEAD + 2 * m)


def kept_rules(problem: SelectionProblem) -> IntArray:
    """Return the rules that a file must have: those that a floor on the sum does not keep out."""
    free = problem.free
    inside = np.array(problem.fixed_in, dtype=np.int64)
    rules_left = problem.size - len(inside)
    missing = problem.min_stability - int(problem.counts[inside].sum())
    best = np.sort(problem.counts[free])[::-1][: max(0, rules_left - 1)].sum()
    return np.union1d(inside, free[problem.counts[free] + best >= missing])


def _shift(G: FloatArray, gamma: float) -> float:
    """Return what makes G positive semidefinite beyond rounding, or say that it costs too much."""
    unit = (len(G) + 16) * EPS * float(np.diagonal(G).sum())
    shift = 4.0 * unit
    while shift * gamma <= LARGEST_SHIFT:
        try:
            # With twice the margin that a checker wants: its factorisation may round otherwise.
            np.linalg.cholesky(G + (shift - 2.0 * unit) * np.eye(len(G)))
        except np.linalg.LinAlgError:
            shift *= 4.0
        else:
            return shift
    raise InvalidParameter(
        f"A proof can be written only where rounding leaves the ridge in place, and gamma is "
        f"{gamma:g}; choose a smaller one."
    )


def _classes(problem: Problem, G: FloatArray, kept: IntArray) -> IntArray:
    """Return a number for each rule, the same for those with exactly the same column and sign."""
    signs = np.zeros(problem.m) if problem.signs is None else problem.signs
    rows = np.column_stack([problem.statistics.q[kept], signs[kept], G])
    classes, first = np.arange(problem.m), dict[bytes, int]()
    for i, row in zip(kept.tolist(), rows + 0.0, strict=True):  # which makes one 0 of both
        classes[i] = first.setdefault(row.tobytes(), i)
    return classes
