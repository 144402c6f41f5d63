"""What estimators share whose model is a rule set: tables in, candidates, predictions out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from mossrules._typing import FloatArray
from mossrules.candidates import Candidates
from mossrules.estimators.finding import find_in_rows, generation
from mossrules.estimators.inputs import read_features, read_training, take_names, target_name
from mossrules.estimators.order import Rows
from mossrules.model import RuleSet
from mossrules.model.importance import column_shares
from mossrules.pool import CandidatePool
from mossrules.table import split_target

__all__ = ["RuleRegressor"]


class RuleRegressor(RegressorMixin, BaseEstimator, ABC):  # type: ignore[misc]  # sklearn has no types
    """A scikit-learn regressor that chooses some of many candidate rules.

    A learner has the parameters of the search (see `generation`) and `n_jobs`, and says how its
    parameters are checked and how it learns from candidates. It may look for others.
    """

    rules_: RuleSet
    candidates_: Candidates
    pool_: CandidatePool
    n_jobs: int | None

    @abstractmethod
    def _check_parameters(self) -> None:
        """Refuse parameters that cannot be, before any work."""

    @abstractmethod
    def _learn(self, rows: Rows | None) -> None:
        """Set `rules_` from `candidates_`, of which there may be none.

        `rows` are those to learn from, or None where only candidates were given.
        """

    @property
    def _finds_alone(self) -> bool:
        """Whether the search is this learner's own, so that others cannot share its candidates."""
        return False

    def _find(self, rows: Rows) -> Candidates:
        """Return the candidates to choose from."""
        return find_in_rows(rows, **generation(self))

    # --- fitting --------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find rules and choose among them.

        Parameters
        ----------
        X : pandas, polars or pyarrow table, dict of columns, or two-dimensional array
        y : one number per row, or the name of the target's column in X
        sample_weight : one non-negative number per row
            Whole numbers are repetitions of rows, exactly, unless they add up to more than ten
            times the rows; others multiply the rows' part in the forest and in the loss.
        """
        self._check_parameters()
        rows = read_training(self, X, y, sample_weight)
        self._target = y if isinstance(y, str) else None
        self._target_name = target_name(y)
        self._take(self._find(rows))
        self._learn(rows)
        return self

    def fit_candidates(self, candidates: Candidates, *, target: str | None = None) -> Self:
        """Choose among rules that were found before; rows are not needed for that.

        Where several models learn from the same rows, the search for rules, which takes most of
        the time, is done once: by `mossrules.estimators.candidates_for`, which finds those that
        `fit` would find, or by `find_candidates`. Parameters of the search play no part here.

        Parameters
        ----------
        candidates : Candidates
        target : name of the target, if it has one; `predict` ignores a column of that name
        """
        self._take_found(candidates, target)
        self._learn(None)
        return self

    def _take_found(self, candidates: Candidates, target: str | None) -> None:
        """Make ready to learn from candidates that were found before."""
        self._check_parameters()
        take_names(self, candidates)
        self._target = None if target in candidates.binning.names else target
        self._target_name = target
        self._take(candidates)

    def _take(self, candidates: Candidates) -> None:
        self.candidates_ = candidates
        self.pool_ = candidates.pool

    # --- using ----------------------------------------------------------------------------------

    def predict(self, X: Any) -> FloatArray:
        """Return the prediction for each row; bit for bit that of `rules_`."""
        check_is_fitted(self)
        return self.rules_.predict(read_features(self, X, self._target))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R2 of the predictions; `y` may be the name of a column of X, as in `fit`."""
        values = split_target(X, y)[1] if isinstance(y, str) else y
        return float(super().score(X, values, sample_weight))

    @property
    def feature_importances_(self) -> FloatArray:
        """Share of each column of X in what the rules move; all 0 where they move nothing."""
        check_is_fitted(self)
        return column_shares(self.rules_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags
