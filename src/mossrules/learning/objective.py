"""What a loss means for a fit: the problem it builds, the model it makes of a solution, its score.

Everything else in this room is the same for all losses. A new one is an `Objective` here, and a
problem in `solver/problems` that has its set function, dual bound and gradient.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from mossrules._typing import FloatArray
from mossrules.solver.result import Report, Solution, Status

if TYPE_CHECKING:
    from mossrules.candidates.search import Candidates
    from mossrules.model.ruleset import RuleSet
    from mossrules.solver.problems.selection import SelectionProblem

__all__ = ["Objective", "Score", "no_rules"]


class Score(NamedTuple):
    """How well predictions fit rows."""

    explained: float  # 1 - loss / (loss without rules), at most 1: R2 of numbers
    loss: float  # mean over the rows; smaller is better


class Objective(ABC):
    """One loss. Objectives are values: they hold no data."""

    # Whether it needs the counts of patterns of rules, which squared error, a function of G and q
    # alone, is spared.
    needs_patterns = False

    @abstractmethod
    def build_problem(
        self,
        candidates: Candidates,
        *,
        max_rules: int,
        gamma: float | Literal["auto"],
        constraints: Any = None,
    ) -> SelectionProblem:
        """Return the problem of choosing among candidates, with no floor yet."""

    @abstractmethod
    def null_solution(self, candidates: Candidates) -> Solution:
        """Return the only solution where there are no candidates: no rule."""

    @abstractmethod
    def rule_set(
        self,
        candidates: Candidates,
        solution: Solution,
        problem: SelectionProblem | None,
        *,
        refit: bool,
        target: str | None,
    ) -> RuleSet:
        """Return the chosen rules with the effect of each, in the units people read."""

    @abstractmethod
    def score(
        self,
        candidates: Candidates,
        target: FloatArray,
        predicted: FloatArray,
        weights: FloatArray | None,
    ) -> Score:
        """Return how well predictions fit rows that the candidates were not found in."""


def no_rules(loss: float) -> Solution:
    """Return the solution without rules, of this loss."""
    return Solution(
        support=np.empty(0, dtype=np.int64),
        weights=np.empty(0),
        loss=loss,
        stability=0,
        bound=loss,
        status=Status.OPTIMAL,
        report=Report("none", "there are no candidate rules", 0.0, 0.0),
    )
