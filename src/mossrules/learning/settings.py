"""What is asked of a fit, checked before any work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self, get_args

from mossrules import defaults
from mossrules._checks import check_choice, check_integer
from mossrules.exceptions import InvalidParameter
from mossrules.learning.constraints import check_constraints
from mossrules.learning.objective import Objective
from mossrules.learning.stability_levels import Stability, Ties, check_stability
from mossrules.solver import Options
from mossrules.solver.options import Method

__all__ = ["Settings"]


@dataclass(frozen=True)
class Settings:
    """All parameters of a fit; those of `MossRegressor` have the same names and meanings.

    `search` are the parameters of the search for candidates, as `find_candidates` has them.
    """

    objective: Objective
    max_rules: int = defaults.MAX_RULES
    stability: Stability = defaults.STABILITY
    ties: Ties = "keep"
    gamma: float | Literal["auto"] = "auto"
    solver: Method = "auto"
    gap: float = defaults.GAP
    time_limit: float | None = defaults.TIME_LIMIT
    refit: bool = True
    constraints: Any = None
    search: Mapping[str, Any] = field(default_factory=dict)
    target: str | None = None  # name of the target's column, for people to read
    n_jobs: int | None = None

    def check(self) -> None:
        """Refuse settings that cannot be."""
        check_integer("max_rules", self.max_rules)
        check_stability(self.stability)
        check_choice("ties", self.ties, get_args(Ties))
        check_choice("solver", self.solver, get_args(Method))
        if isinstance(self.gamma, str) and self.gamma != "auto":
            raise InvalidParameter(f"gamma is {self.gamma!r}; pass a positive number or 'auto'.")
        check_constraints(self.constraints)
        self.options()

    def options(self, gap: float | None = None, progress: Any = None) -> Options:
        """Return the options of a solve, with another gap where one is given."""
        gap = self.gap if gap is None else gap
        return Options(gap=gap, time_limit=self.time_limit, progress=progress)

    def but(self, **changes: Any) -> Self:
        """Return the settings with some of them changed."""
        return replace(self, **changes)
