"""What a loss means for a fit: the problem it builds, the model it makes of a solution, its score.

Everything else in this room is the same for all losses. A new one is an `Objective` here, and a
problem in `solver/problems` that has its set function, dual bound and gradient.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from mossrules._common import check_choice, check_number
from mossrules._typing import FloatArray, IntArray
from mossrules.constraints.kinds import Constraint, OwnDirection
from mossrules.exceptions import InvalidParameter
from mossrules.solver.result import Report, Solution, Status

if TYPE_CHECKING:
    from mossrules.candidates.search import Candidates
    from mossrules.model.ruleset import RuleSet
    from mossrules.solver.problems.selection import SelectionProblem

__all__ = ["Directions", "Intercept", "Objective", "Score", "Shrinkage", "no_rules"]

# A mean of the rows of a rule, in standard deviations of the target, that is none: sums over rows
# are exact up to about 1e-12 of it.
LEVEL = 1e-9

Directions = Literal["own", "free"]
Intercept = Literal["chosen", "refitted"]
Shrinkage = Literal["frequency", "equal"]


class Score(NamedTuple):
    """How well predictions fit rows."""

    explained: float  # 1 - loss / (loss without rules), at most 1: R2 of numbers
    loss: float  # mean over the rows; smaller is better


@dataclass(frozen=True, kw_only=True)
class Objective(ABC):
    """One loss, and how weights are treated by it. Objectives are values: they hold no data.

    The defaults are those of the paper; `MossRegressor` says what each parameter means.
    """

    directions: Directions = "free"
    shrinkage: Shrinkage = "equal"
    intercept: Intercept = "refitted"
    min_importance: float = 0.0
    refit_ridge: float | Literal["auto"] | None = None  # None: a small one, against ties alone

    # Whether it needs the counts of patterns of rules, which squared error, a function of G and q
    # alone, is spared.
    needs_patterns = False

    def check(self) -> None:
        """Refuse what cannot be."""
        check_choice("directions", self.directions, get_args(Directions))
        check_choice("shrinkage", self.shrinkage, get_args(Shrinkage))
        check_choice("intercept", self.intercept, get_args(Intercept))
        if check_number("min_importance", self.min_importance, minimum=0) >= 1:
            raise InvalidParameter(
                f"min_importance is {self.min_importance!r}; pass a share of the largest "
                "importance below 1."
            )
        if self.refit_ridge is not None and self.refit_ridge != "auto":
            check_number("refit_ridge", self.refit_ridge)

    def all_constraints(self, constraints: tuple[Constraint, ...]) -> tuple[Constraint, ...]:
        """Return constraints with what follows from `directions`."""
        if self.directions == "free" or any(isinstance(c, OwnDirection) for c in constraints):
            return constraints
        return (*constraints, OwnDirection())

    def with_direction(self, values: FloatArray, support: IntArray) -> IntArray:
        """Return the chosen rules that have a direction, where each must keep to its own.

        The mean of the rows of others is that of all rows, up to rounding.
        """
        return support if self.directions == "free" else support[np.abs(values[support]) > LEVEL]

    def factors(self, counts: IntArray) -> FloatArray | None:
        """Return what the rules' columns are multiplied by in the choice; None for 1.

        With f_i^2 = c_i / max c, the ridge w_i^2 / gamma is one of w_i^2 / (gamma f_i^2) on the
        columns as they are: what a rule may add beforehand is in proportion to its tree frequency,
        so that a rule which few trees have found must fit the better to be chosen.
        """
        if self.shrinkage == "equal" or len(counts) == 0:
            return None
        # A rule that is asked for, and in no tree, is as one that is in a single tree.
        found = np.maximum(counts, 1)
        return np.asarray(np.sqrt(found / found.max()))

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
    def training_fit(self, candidates: Candidates, rules: RuleSet) -> float:
        """Return how well a rule set of candidates fits the training rows, at most 1."""

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
