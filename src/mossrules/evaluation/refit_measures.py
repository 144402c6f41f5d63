"""What refits say of a rule set: of its rules, of the whole, and of people's predictions.

Notation
    m, n       rows of a refit, rows in all
    theta_b    what refit b says of a number theta, which the model has as theta_0
    s          sqrt(m / (n - m)) of `spread_factor`, 1 of bootstraps: theta_0 + s (theta_b - mean)
               varies as estimates from samples of n rows do
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm

from mossrules._typing import BoolArray, FloatArray, IntArray
from mossrules.candidates.cuts import Binning
from mossrules.candidates.rules import Levels, Rule
from mossrules.data.rows import Rows
from mossrules.data.table import Table
from mossrules.evaluation.agreement import SAME_ROWS, key_of_each
from mossrules.evaluation.left_out import LeftOut, effect_errors, half_widths
from mossrules.evaluation.refits import Scheme
from mossrules.evaluation.rule_pairs import form_of
from mossrules.evaluation.rule_rows import RuleRows, rows_of_outcome
from mossrules.evaluation.trust import PERCENTILES_FROM, shared_importance
from mossrules.model.importance import rule_importances
from mossrules.model.ruleset import RuleSet
from mossrules.model.shares import normal_quantile, wilson_ends
from mossrules.model.track_record import (
    Interval,
    Measured,
    PeopleRanges,
    PeopleSummary,
    RuleRecord,
    TrackRecord,
)

__all__ = ["Asked", "OutcomeRefits", "People"]

MOST_PEOPLE = 10_000  # rows whose predictions, and on which rules' rows, are compared
UNDECIDED = 0.1  # of the refits
NAN = float("nan")
NO_INTERVAL = Interval(NAN, NAN)


@dataclass(frozen=True)
class Asked:
    """How refits were made, and what is asked of them."""

    scheme: Scheme
    confidence: float
    threshold: float | None
    seed: int
    n_groups: int | None


@dataclass(frozen=True, eq=False)
class People:
    """Rows whose predictions are compared: all, or of many some at equal distances."""

    table: Table
    offsets: IntArray  # in the table, as it was given
    weights: FloatArray  # of each; a row that is repeated counts as often
    numbers: IntArray  # of the rows, repetitions counted
    which: IntArray  # of the people each of these is

    @classmethod
    def of(cls, rows: Rows) -> People:
        """Return some of the rows by number, so that these do not depend on their order."""
        numbers = np.arange(len(rows.origin))
        if len(numbers) > MOST_PEOPLE:
            numbers = np.linspace(0, len(numbers) - 1, MOST_PEOPLE).astype(np.int64)
        offsets, which = np.unique(rows.origin[numbers], return_inverse=True)
        counted = None if rows.weights is None else rows.weights[numbers]
        weights = np.bincount(which, counted).astype(np.float64)
        return cls(rows.features_of(offsets), offsets, weights, numbers, which)

    def left_out(self, rows: Rows, place: int | None, without: Sequence[IntArray]) -> LeftOut:
        """Return these rows, with the refits that were made `without` each.

        `place` is that of the outcome among the classes; None where the target is a number.
        """
        taken, groups = self.numbers, rows.group_numbers
        target, weights = rows.target[taken], np.ones(len(taken))
        one = rows_of_outcome(rows, place)  # which may be numbered in another way
        if one.weights is not None:
            of_given = np.zeros(rows.features.n_rows)
            of_given[one.origin] = one.weights
            weights = of_given[rows.origin[taken]]
        return LeftOut(
            self.which,
            target if place is None else (target == place).astype(np.float64),
            weights,
            None if groups is None else np.unique(groups[taken], return_inverse=True)[1],
            [np.isin(taken, each) for each in without],
            len(taken) / len(rows.target),
        )

    def mean(self, values: FloatArray | BoolArray) -> float:
        """Return the mean over people."""
        return float(np.average(values, weights=self.weights))


@dataclass(frozen=True, eq=False)
class OutcomeRefits:
    """A rule set, and what refits have in its place."""

    rules: RuleSet
    refits: Sequence[RuleSet]
    rows: LeftOut
    stretch: float
    settings: Asked

    def record(self, people: People, base: RuleRows) -> TrackRecord:
        """Return the track record, but for what is the same for all outcomes."""
        settings = self.settings
        predictions = [each.predict(people.table) for each in self.refits]
        held_fixed = self._held_fixed(people, predictions)
        ranges, summary = self._people(people, predictions, base.deviation)
        return TrackRecord(
            rules=tuple(self._rules(people, base, held_fixed[1:])),
            intercept=held_fixed[0],
            refits=len(self.refits),
            failed=0,
            failure=None,
            scheme=settings.scheme,
            share=NAN,
            confidence=settings.confidence,
            seed=settings.seed,
            rows=0,
            groups=settings.n_groups,
            recurrence=self._recurrence(),
            overlap=self._overlap(),
            n_rules=float(np.mean([len(each) for each in self.refits])),
            people_summary=summary,
            outcome=None if self.rules.outcome is None else str(self.rules.outcome),
            people_ranges=ranges,
        )

    # --- rules ----------------------------------------------------------------------------------

    def _rules(
        self, people: People, base: RuleRows, held_fixed: Sequence[Interval]
    ) -> list[RuleRecord]:
        found = [_effects(each) for each in self.refits]
        near = self._near(people)
        records, z = [], normal_quantile(self.settings.confidence)
        for i, (key, text) in enumerate(zip(_keys(self.rules), self.rules.texts, strict=True)):
            effects = np.array([each[key] for each in found if key in each])
            own = float(self.rules.weights[i])
            records.append(
                RuleRecord(
                    rule=text,
                    found=len(effects),
                    near=int(near[:, i].sum()),
                    found_interval=Interval(*wilson_ends(len(effects) / len(found), len(found), z)),
                    effect=own,
                    held_fixed=held_fixed[i],
                    whole_analysis=self._interval(effects),
                    same_sign=_mean(np.sign(effects) == np.sign(own)),
                    coverage=float(base.coverage[i]),
                    n=int(base.n[i]),
                    observed=float(base.means[i]),
                    events=base.events[i],
                    approved=bool(base.approved[i]),
                )
            )
        return records

    def _held_fixed(self, people: People, predictions: Sequence[FloatArray]) -> list[Interval]:
        """Return the intervals of the intercept and of the effects, if one keeps to these rules."""
        errors, degrees = effect_errors(
            self.rows,
            self.rules.holds(people.table),
            self.rules.predict(people.table),
            predictions,
            of_classes=self.rules.link == "logit",
        )
        own = [self.rules.intercept, *self.rules.weights.tolist()]
        half = half_widths(errors, degrees, self.settings.confidence).tolist()
        return [Interval(a - b, a + b) for a, b in zip(own, half, strict=True)]

    def _near(self, people: People) -> BoolArray:
        """Return for each refit and rule whether it has the rule, or one near it.

        Near is a rule on the same columns with comparisons in the same directions, of levels one
        that names some of the same, or one that holds on nearly the same rows, or on nearly all
        others; but none that the rule set has too.
        """
        own, keys = set(_keys(self.rules)), _keys(self.rules)
        holds = self.rules.holds(people.table).T
        near = np.zeros((len(self.refits), len(self.rules)), dtype=bool)
        for b, refit in enumerate(self.refits):
            theirs = _keys(refit)
            near[b] = [key in theirs for key in keys]
            left = [j for j, key in enumerate(theirs) if key not in own]
            if not left:
                continue
            other = refit.holds(people.table).T[left]
            alike = _same_rows(holds, other, people.weights)
            rules = [refit.rules[j] for j in left]
            of_shape = [
                [_differ_in_cuts(ours, self.rules.binning, rule, refit.binning) for rule in rules]
                for ours in self.rules
            ]
            near[b] |= (alike | np.reshape(of_shape, alike.shape)).any(axis=1)
        return near

    def _interval(self, values: FloatArray) -> Interval:
        """Return the interval of what refits say, NaN where they say nothing."""
        known = values[~np.isnan(values)]
        if len(known) < 2:
            return NO_INTERVAL
        mean, ends = self._spread(known)
        low, high = mean + ends
        return Interval(float(low), float(high))

    def _spread(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return means over the last axis, of two values or more, and how far ends are from them.

        Ends are percentiles, or of few values the range of a normal.
        """
        ends = (1.0 - self.settings.confidence) / 2.0
        mean = values.mean(axis=-1)
        if values.shape[-1] >= PERCENTILES_FROM:
            # Blom's positions: the usual ones of 40 values are a tenth too narrow for a normal.
            places = [ends, 1.0 - ends]
            spread = np.quantile(values, places, axis=-1, method="normal_unbiased") - mean
        else:
            half = norm.ppf(1.0 - ends) * values.std(axis=-1, ddof=1)
            spread = np.stack([-half, half])
        return mean, self.stretch * spread

    # --- the whole ------------------------------------------------------------------------------

    def _recurrence(self) -> Measured:
        """Return Dice of the rule set and a refit's, as printed."""
        own = set(_keys(self.rules))
        theirs = [set(_keys(each)) for each in self.refits]
        return self._measured([_dice(own, keys) for keys in theirs])

    def _overlap(self) -> Measured:
        """Return the same weighted by importance."""
        own = _importance(self.rules)
        return self._measured([shared_importance(own, _importance(each)) for each in self.refits])

    def _measured(self, values: Sequence[float]) -> Measured:
        """Return the mean over refits, and the range of refits."""
        ends = (1.0 - self.settings.confidence) / 2.0
        lower, upper = np.quantile(values, [ends, 1.0 - ends]).tolist()
        return Measured(float(np.mean(values)), lower, upper)

    def _people(
        self, people: People, predictions: Sequence[FloatArray], deviation: float
    ) -> tuple[PeopleRanges, PeopleSummary]:
        """Return how far predictions of people vary over refits."""
        threshold = self.settings.threshold
        prediction = self.rules.predict(people.table)
        predicted = np.stack(predictions)
        lower = upper = np.full(len(prediction), NAN)
        if len(predicted) > 1:
            # Spread about the prediction itself: refits to few rows shrink effects more, and all
            # of them may lie on one side. A row for each person, so that sums are those of one
            # alone, to the last bit.
            _, ends = self._spread(np.ascontiguousarray(predicted.T))
            lower, upper = prediction + ends
        if self.rules.link == "logit":
            lower, upper = np.clip(lower, 0.0, 1.0), np.clip(upper, 0.0, 1.0)
        other_side = np.full(len(prediction), NAN)
        if threshold is not None:
            moved = prediction + self.stretch * (predicted - predicted.mean(axis=0))
            other_side = ((moved >= threshold) != (prediction >= threshold)).mean(axis=0)
        width = people.mean(upper - lower)
        return PeopleRanges(people.offsets, prediction, lower, upper, other_side), PeopleSummary(
            n=len(people.numbers),
            mean_range=width,
            relative_range=width / deviation if deviation > 0 else NAN,
            threshold=threshold,
            other_side=people.mean(other_side),
            undecided=NAN if threshold is None else people.mean(other_side >= UNDECIDED),
        )


def _keys(rules: RuleSet) -> tuple[Hashable, ...]:
    return key_of_each(rules, "thresholds")


def _effects(rules: RuleSet) -> dict[Hashable, float]:
    return dict(zip(_keys(rules), rules.weights.tolist(), strict=True))


def _importance(rules: RuleSet) -> dict[Hashable, float]:
    """Return the share of importance of each rule, as printed."""
    keys = _keys(rules)
    return {keys[each.position]: each.share for each in rule_importances(rules)}


def _dice(one: set[Hashable], other: set[Hashable]) -> float:
    """Return the share of rules in common; two without rules agree."""
    return 2.0 * len(one & other) / (len(one) + len(other)) if one or other else 1.0


def _differ_in_cuts(one: Rule, ours: Binning, other: Rule, theirs: Binning) -> bool:
    """Tell whether two rules have the same form, and of each column some levels in common.

    "south" is no cut point that "north" has moved to.
    """
    return form_of(one, ours) == form_of(other, theirs) and all(
        not a.levels.isdisjoint(b.levels)
        for a, b in zip(one.conditions, other.conditions, strict=True)
        if isinstance(a, Levels) and isinstance(b, Levels)
    )


def _same_rows(own: BoolArray, other: BoolArray, weights: FloatArray) -> BoolArray:
    """Return which rules hold on nearly the same rows, or nearly where the other does not."""
    a, b, n = own * weights, other.astype(np.float64), weights.sum()
    both = a @ b.T
    size_a, size_b = a.sum(axis=1)[:, None], (b @ weights)[None, :]
    either = size_a + size_b - both
    only_a, neither_b = size_a - both, n - size_b
    with_complement = size_a + neither_b - only_a
    tolerance = 1.0 - 1e-12
    same = both >= SAME_ROWS * either * tolerance
    opposite = only_a >= SAME_ROWS * with_complement * tolerance
    return np.asarray((same & (either > 0)) | (opposite & (with_complement > 0)))


def _mean(values: Any) -> float:
    values = np.asarray(values, dtype=np.float64)
    return float(values.mean()) if len(values) else NAN
