"""What the rows of a fit say of its rules, and whether rows are those of the fit at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NoReturn

import numpy as np

from mossrules._typing import BoolArray, FloatArray, IntArray
from mossrules.candidates.search import count_again
from mossrules.data.labels import python_label
from mossrules.data.rows import Rows
from mossrules.defaults import MIN_ROWS_OF_MEAN
from mossrules.exceptions import InvalidParameter
from mossrules.learning.fit import FittedRules
from mossrules.statistics import Statistics

__all__ = ["RuleRows", "check_classes", "places_of", "rows_of_outcome", "tells_single"]


def tells_single(n: int, n_rows: int) -> bool:
    """Tell whether a mean of n rows gives away a few, or with that of all rows the few others."""
    return n < MIN_ROWS_OF_MEAN or 0 < n_rows - n < MIN_ROWS_OF_MEAN


@dataclass(frozen=True, eq=False)
class RuleRows:
    """What the rows themselves say of the model's rules."""

    coverage: FloatArray
    n: IntArray
    means: FloatArray  # NaN where they would tell of a few
    events: Sequence[int | None]  # of classes, rows that have the outcome; None likewise
    deviation: float  # of the target
    approved: BoolArray  # rules that the model was asked to stay near

    @classmethod
    def of(cls, fitted: FittedRules, given: Rows, place: int | None, n_jobs: int) -> RuleRows:
        """Count the rows of each rule, and what is observed on them.

        `place` is that of the outcome among the classes; None where the target is a number.
        """
        rows, known = rows_of_outcome(given, place), fitted.candidates.statistics
        _check_size(fitted, rows)
        if len(fitted.rules) == 0:
            nothing = np.empty(0, np.int64)
            return cls(np.empty(0), nothing, np.empty(0), (), known.target_scale, nothing > 0)
        count = partial(count_again, fitted.candidates, places_of(fitted), n_jobs=n_jobs)
        statistics = seen = counted = count(rows).statistics
        _check_rules(fitted, statistics)
        if given.class_weight is not None:
            # What is observed does not depend on how much a class counts in the fit.
            rows = rows_of_outcome(replace(given, class_weight=None), place)
            seen = counted = count(rows).statistics
        if rows.is_weighted:  # numbers of rows, beside shares and means of their weight
            there = None if rows.sample_weight is None else (rows.sample_weight > 0).astype(float)
            counted = count(replace(rows, sample_weight=there)).statistics
        n = np.rint(counted.support).astype(np.int64)
        means, events = _means(seen), np.rint(counted.support * _means(counted)).astype(np.int64)
        if given.classes is not None:
            # Sums about a mean leave a rounding error, and a share of no rows is 0 without one.
            means = np.where(events == 0, 0.0, np.where(events == n, 1.0, means))
        withheld = [tells_single(each, len(rows.target)) for each in n.tolist()]
        near = fitted.settings.near
        approved = () if near is None else near.on(fitted.candidates.binning)
        return cls(
            statistics.support / statistics.n,
            n,
            np.where(withheld, np.nan, means),
            tuple(
                None if few or given.classes is None else each
                for few, each in zip(withheld, events.tolist(), strict=True)
            ),
            known.target_scale,
            np.array([rule in approved for rule in fitted.rules]),
        )


def _check_size(fitted: FittedRules, rows: Rows) -> None:
    """Refuse rows of another table than that of the fit, or without the groups it had."""
    known, n_columns = fitted.candidates.statistics, len(fitted.candidates.binning.columns)
    if len(rows.columns) != n_columns:
        raise InvalidParameter(
            f"X has {len(rows.columns)} columns and the model was fitted to {n_columns}; pass the "
            "table of the fit, and its sample_weight and groups."
        )
    groups = fitted.candidates.n_groups
    if groups is None and rows.n_groups is not None:
        raise InvalidParameter(
            f"The model was fitted without groups, and here there are {rows.n_groups}, so refits "
            "would not repeat its analysis; fit it with these groups, or leave them out."
        )
    if groups != rows.n_groups:
        given = "none" if rows.n_groups is None else f"{rows.n_groups} groups"
        raise InvalidParameter(
            f"The model was fitted to rows in {groups} groups, and here there are {given}; pass "
            "the groups of the fit."
        )
    weight = len(rows.target) if rows.weights is None else float(rows.weights.sum())
    same = np.isclose(weight, known.n, rtol=1e-6)
    if not (same and np.isclose(rows.mean, known.target_mean, rtol=1e-6, atol=1e-9)):
        _refuse_other_rows(
            f"{weight:g} rows with the mean {rows.mean:g} in place of {known.n:g} with "
            f"{known.target_mean:g}"
        )


def check_classes(model: Any, rows: Rows) -> None:
    """Refuse classes that are called otherwise than those of the fit."""
    known, given = (
        [python_label(each) for each in labels] for labels in (model.classes_, rows.classes)
    )
    if known != given:
        names = (", ".join(map(repr, labels[:5])) for labels in (given, known))
        _refuse_other_rows("their classes are {} in place of {}".format(*names))


def _check_rules(fitted: FittedRules, statistics: Statistics) -> None:
    """Refuse rows that differ from those of the fit in what the chosen rules see of them."""
    known, places = fitted.candidates.statistics, places_of(fitted)
    shares, before = statistics.support / statistics.n, known.support[places] / known.n
    for text, share, fit_share in zip(fitted.rules.texts, shares, before, strict=True):
        if not np.isclose(share, fit_share, rtol=1e-6, atol=1e-9):
            _refuse_other_rows(f"{text} holds on {share:.1%} of them, and did on {fit_share:.1%}")
    if not np.allclose(statistics.values, known.values[places], rtol=1e-6, atol=1e-6):
        _refuse_other_rows("the rules hold on rows with other values of y")


def _refuse_other_rows(why: str) -> NoReturn:
    raise InvalidParameter(
        f"X and y are not those of the fit ({why}); pass the rows, and weights, that the model was "
        "fitted to."
    )


def _means(statistics: Statistics) -> FloatArray:
    """Return the mean target of the rows of each rule."""
    return statistics.target_mean + statistics.target_scale * statistics.values


def rows_of_outcome(rows: Rows, place: int | None) -> Rows:
    """Return rows with the target of the class of a position; None where it is a number."""
    return rows if place is None else rows.one_vs_rest(place)


def places_of(fitted: FittedRules) -> list[int]:
    """Return the position of each chosen rule among the candidates."""
    places = {rule: place for place, rule in enumerate(fitted.candidates.pool.rules)}
    return [places[rule] for rule in fitted.rules]
