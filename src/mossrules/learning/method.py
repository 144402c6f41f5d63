"""What a method that learns rules answers to: all that evaluation and report may ask of one.

Estimators stand in a room above those that compare them. An interface here lets evaluation share
candidates among methods without importing one, and without asking for private attributes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from mossrules.candidates.search import Candidates
    from mossrules.data.rows import Rows
    from mossrules.learning.fit import Settings

__all__ = ["RuleMethod"]


class RuleMethod(ABC):
    """A method that chooses among candidate rules, and may share the search for them with others.

    Estimators and baselines are methods; rooms before theirs know them by these names only.
    """

    @abstractmethod
    def check_parameters(self) -> None:
        """Refuse parameters that cannot be, before any work."""

    @property
    def has_own_candidates(self) -> bool:
        """Whether its candidates are its own, so that others cannot share them."""
        return False

    @abstractmethod
    def search_parameters(self) -> dict[str, Any]:
        """Return the parameters of its search: methods with the same ones find the same rules."""

    @abstractmethod
    def find_candidates(self, rows: Rows) -> Candidates:
        """Return the candidates that it finds in rows."""

    @abstractmethod
    def fit_candidates(
        self,
        candidates: Candidates,
        *,
        target: str | None = None,
        rows: Rows | None = None,
    ) -> Self:
        """Choose among candidates that were found before; some methods look at the rows too."""

    def settings(self) -> Settings:
        """Return what it asks of a fit; for methods that choose as `learning.fit` does."""
        raise NotImplementedError
