"""How tables are prepared and learners set up: as the paper's authors do it, or as we would.

"paper" follows the authors' notebooks: a column for each level of a category, missing values filled
with the median of the training rows, ten bins, their gammas, and no rule that ties with the next
one at the end of the list. Two things differ, on purpose:

* Bins are cut on training rows only, and test rows are read with these cuts. Most of the notebooks
  rank the rows of a test fold among themselves, so that the bin of a row depends on others.
* Choices are exact to 1 %; the notebooks stop at 5 %, or when their time is over.

The target is centred and scaled to variance 1 by every learner itself, so that gamma means the
same. "ours" takes tables as they are, missing values and categories included, and has our defaults;
MOSS at a stability that the paper has a word for still finds and chooses rules as the paper does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from mossrules._typing import AnyArray, FloatArray
from mossrules.baselines.registry import BASELINES, METHODS, MOSS
from mossrules.data.columns import NUMBERS
from mossrules.data.table import Table
from mossrules.defaults import PAPER, PAPER_WAY
from mossrules.estimators import MossRegressor
from mossrules.exceptions import InvalidParameter
from mossrules.learning.stability_levels import Stability
from mossrules.model import RuleSet

__all__ = [
    "DEFAULT",
    "MedianFilled",
    "MedianFiller",
    "Protocol",
    "Way",
    "has_missing",
    "one_hot",
    "protocol_for",
]

Way = Literal["paper", "ours"]

DEFAULT = "MOSS"  # at the stability that it has by default

FEW_ROWS = 1000
GAMMAS = {"high": (0.05, 0.01), "medium": (0.01, 0.001)}  # of the authors: for few rows, for many
# Their approximate algorithm has no ridge at all; ours needs one, and weights are fitted anew.
GAMMAS["low"] = GAMMAS["high"]
GAP = 0.01
# What the search of all learners shares.
FOREST: dict[str, Any] = {
    name: PAPER[name] for name in ("n_trees", "max_depth", "n_bins", "max_features", "generator")
}
OWN: dict[str, dict[str, Any]] = {
    "GLRM": {"source": "own"},  # makes its rules from scratch, in the paper too
    "RuleFit": {"means": "first"},  # as the authors do; see docs/baselines.md
}
NO_BOOTSTRAP: dict[str, dict[str, Any]] = {
    **OWN,
    "RuleFit": {"means": "all"},  # other sources of rules have no sample to take means over
}


@dataclass(frozen=True)
class Protocol:
    """One of the two ways; make it with `protocol_for`."""

    way: Way

    @property
    def is_paper(self) -> bool:
        """Whether it is the authors' way."""
        return self.way == "paper"

    def prepare(self, X: Any) -> Any:
        """Return a table as learners are to see it, but for medians, which depend on the fold."""
        return one_hot(Table.from_any(X)) if self.is_paper else X

    def moss(
        self,
        stability: Stability | None,
        X: Any,
        *,
        max_rules: int = 15,
        seed: int = 0,
        jobs: int | None = None,
        n_trees: int | None = None,
        **others: Any,
    ) -> Any:
        """Return MOSS at a stability, or our default, for a prepared table; `others` are its own.

        Without `n_trees` there are as many trees as the protocol has. The authors' gamma depends on
        how many rows there are. They have none for stabilities but the three of the paper: those
        have that of "high".
        """
        model = MossRegressor(max_rules, random_state=seed, n_jobs=jobs)
        if self.is_paper:
            few, many = GAMMAS.get(str(stability), GAMMAS["high"])
            gamma = few if Table.from_any(X).n_rows <= FEW_ROWS else many
            model.set_params(**PAPER, gamma=gamma, gap=GAP, refit=True)
        elif stability in MOSS.values():  # words of the paper's floors: its methods
            model.set_params(**PAPER_WAY)
        model.set_params(stability=stability)
        if n_trees is not None:
            model.set_params(n_trees=n_trees)
        return self._filled(model.set_params(**others), X)

    def learners(
        self,
        X: Any,
        *,
        names: tuple[str, ...] = METHODS,
        max_rules: int = 15,
        seed: int = 0,
        jobs: int | None = None,
        n_trees: int | None = None,
        **others: Any,
    ) -> dict[str, Any]:
        """Return learners by name for a prepared table; `others` are parameters that all have."""
        shared: dict[str, Any] = {"max_rules": max_rules, "seed": seed, "jobs": jobs}
        if n_trees is not None:
            others["n_trees"] = n_trees
        found = {}
        for name in names:
            if name in (DEFAULT, *MOSS):
                stability = MOSS.get(name)  # None is the default
                found[name] = self.moss(stability, X, **shared, **others)
            elif name in BASELINES:
                given = {**FOREST, **others} if self.is_paper else others
                model = BASELINES[name].regressor(
                    max_rules, random_state=seed, n_jobs=jobs, **given
                )
                if self.is_paper:
                    own = OWN if model.generator in ("forest", "paper-forest") else NO_BOOTSTRAP
                    model.set_params(variant="paper", **own.get(name, {}))
                found[name] = self._filled(model, X)
            else:
                known = (DEFAULT, *METHODS)
                raise InvalidParameter(f"There is no learner {name!r}; choose from {known}.")
        return found

    def _filled(self, model: Any, X: Any) -> Any:
        """Return a learner that fills in medians, where there is something to fill."""
        return MedianFilled(model) if self.is_paper and has_missing(X) else model


def protocol_for(way: Way) -> Protocol:
    """Return the protocol of a name."""
    if way not in get_args(Way):
        raise InvalidParameter(f"The protocol is {way!r}; choose 'paper' or 'ours'.")
    return Protocol(way)


# --- the authors' columns -------------------------------------------------------------------------


def one_hot(table: Table) -> dict[str, AnyArray]:
    """Return numbers as they are, and a column of 0 and 1 for each level of a category.

    A missing level is 0 in all of them. As in the notebooks, the levels are those of all rows; one
    that no training row has makes a constant column there, and no rule.
    """
    columns: dict[str, AnyArray] = {}
    for column in table.columns:
        values = column.read(0, table.n_rows)
        if column.kind in NUMBERS:
            columns[column.name] = values
            continue
        levels = {value for value in values.tolist() if value is not None}
        for level in sorted(levels, key=str):
            columns[f"{column.name}={level}"] = (values == level).astype(np.float64)
    return columns


def has_missing(X: Any) -> bool:
    """Tell whether a number of a table is missing."""
    table = Table.from_any(X)
    numbers = (column for column in table.columns if column.kind in NUMBERS)
    return any(np.isnan(column.read(0, table.n_rows)).any() for column in numbers)


class MedianFiller(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # sklearn has no types
    """For a missing number, the median of the column's training rows.

    A column without any number is 0 throughout.
    """

    def fit(self, X: Any, _y: Any = None) -> Self:
        """Find the medians."""
        table = Table.from_any(X)
        values = {column.name: column.read(0, table.n_rows) for column in table.columns}
        self.medians_ = {name: _median(each) for name, each in values.items()}
        return self

    def transform(self, X: Any) -> dict[str, FloatArray]:
        """Return the columns of a table without gaps."""
        check_is_fitted(self)
        table = Table.from_any(X)
        values = {column.name: column.read(0, table.n_rows) for column in table.columns}
        return {
            name: np.where(np.isnan(each), self.medians_[name], each)
            for name, each in values.items()
        }


class MedianFilled(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # sklearn has no types
    """A learner that sees tables as `MedianFiller` fills them."""

    rules_: RuleSet

    def __init__(self, learner: Any) -> None:
        self.learner = learner

    def fit(self, X: Any, y: Any) -> Self:
        """Find the medians, and fit the learner to the table without gaps."""
        self.filler_ = MedianFiller().fit(X)
        self.learner_ = clone(self.learner).fit(self.filler_.transform(X), y)
        for name in ("rules_", "pool_", "solution_"):  # what an evaluation asks for
            if hasattr(self.learner_, name):
                setattr(self, name, getattr(self.learner_, name))
        return self

    def predict(self, X: Any) -> FloatArray:
        """Return the learner's predictions of the table without gaps."""
        check_is_fitted(self)
        found: FloatArray = self.learner_.predict(self.filler_.transform(X))
        return found


def _median(values: AnyArray) -> float:
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else 0.0
