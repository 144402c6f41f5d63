"""Effects with honest intervals: rules from one part of the rows, effects from the other.

Rules that were chosen because they fit some rows fit these rows too well, so intervals of their
effects on the same rows are too narrow and too far from 0. Rows that had no part in the choice owe
it nothing: there, rules are columns of a regression like any others (Cox 1975; Rinaldo, Wasserman
and G'Sell 2019).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit

from mossrules._refusals import names_input
from mossrules._typing import BoolArray, FloatArray, IntArray
from mossrules.data.labels import python_label
from mossrules.evaluation.effects import INTERCEPT, RuleEffect, SplitEffects
from mossrules.evaluation.parts import Parts, check_confidence
from mossrules.evaluation.results import NAN
from mossrules.evaluation.rule_rows import tells_single
from mossrules.evaluation.sandwich import (
    Coefficients,
    independent_columns,
    least_squares,
    logistic,
    separating_columns,
)
from mossrules.exceptions import InvalidTarget, UnsupportedType
from mossrules.model.calibration import Calibration
from mossrules.model.ruleset import RuleSet
from mossrules.model.rulesets import RuleSets

__all__ = ["split_effects"]

# Why a rule has no effect, or no interval.
NOWHERE = "holds on no row of the second part"
EVERYWHERE = "holds on all rows of the second part, as the intercept does"
DEPENDENT = "is determined by the rules above it on the second part"
SEPARATES = "separates the classes on the second part: no finite effect fits best"
ALONE = "rests on a single row or group of the second part: no interval"


@names_input("X")
def split_effects(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    share: float = 0.5,
    groups: Any = None,
    sample_weight: Any = None,
    confidence: float = 0.95,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> SplitEffects:
    """Find rules in one part of the rows, and estimate their effects on the other.

    On the second part, effects are those of ordinary least squares, of classes of a logistic
    regression by maximum likelihood, without ridge or signs. Standard errors are those of leaving
    out each row (the sandwich HC3), with groups each group (CV3), and intervals are of the t
    distribution: n - p degrees of freedom, with G groups G - 1. They are honest for the rules that
    the first part has chosen: effects in the regression on just these rules. Which rules another
    sample would choose, they do not say.

    Rules that hold on no row of the second part, or on all, or that others determine there, or that
    separate classes, have no effect there: the table says so, and `rules` leaves them out.

    Parameters
    ----------
    estimator : MossRegressor, MossClassifier or a method of `mossrules.baselines`
        It is not fitted itself.
    X, y, sample_weight : as in `MossRegressor.fit`
        Also files, which are read into memory. Whole weights are repetitions of rows, as in `fit`;
        to weigh rows by whole numbers and count each once, pass groups with one row each.
    share : float, default=0.5
        Of the rows, or of the groups, for the first part. The parts of a classifier have equal
        shares of each class, unless there are groups.
    groups
        One label per row, or the name of a column of X, which is then no feature. Rows of a group
        come to the same part, and may depend on each other.
    confidence : float, default=0.95
        Of the intervals.
    random_state : int, NumPy generator or None, default=0
        Which rows are in the first part. Decide on one before you look at results.
    n_jobs : int or None, default=None
        Threads; None uses all cores.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> X = {"dose": [1, 2, 3, 4] * 20, "smoker": [False, True] * 40}
    >>> y = [2.0 * (d > 2) + (i % 3) for i, d in enumerate(X["dose"])]
    >>> effects = split_effects(MossRegressor(1, max_depth=1, n_trees=20), X, y)
    >>> effects.effects[1].rule, effects.effects[1].n
    ('dose > 2', 21)
    >>> effects.rules.predict({"dose": [4], "smoker": [True]}).round()
    array([3.])
    """
    confidence = check_confidence(confidence)
    how = {"groups": groups, "sample_weight": sample_weight, "n_jobs": n_jobs}
    parts = Parts.read(estimator, X, y, **how)
    first, second = parts.two(share, random_state)
    model = parts.fit(first)
    found = getattr(model, "rules_", None)
    if not isinstance(found, RuleSet | RuleSets):
        raise UnsupportedType(
            f"estimator is a {type(estimator).__name__}, which finds no rules; pass MossRegressor, "
            "MossClassifier or a method of mossrules.baselines."
        )
    sets = [found] if isinstance(found, RuleSet) else [*found.values()]
    judged = [_on_second_part(parts, second, rules, confidence) for rules in sets]
    rules: RuleSet | RuleSets = judged[0][1]
    if isinstance(found, RuleSets):
        rules = RuleSets(dict(zip(found, (each for _, each in judged), strict=True)))
    return SplitEffects(
        effects=tuple(effect for effects, _ in judged for effect in effects),
        rules=rules,
        confidence=confidence,
        n_first=len(first),
        n_second=len(second),
        target=parts.source.target,
        groups=None
        if parts.groups is None
        else (len(np.unique(parts.groups[first])), len(np.unique(parts.groups[second]))),
    )


@dataclass(frozen=True)
class _Second:
    """The second part, as one outcome sees it."""

    rules: RuleSet
    M: FloatArray  # ones, and which rules hold: (rows, 1 + rules)
    y: FloatArray  # numbers, or 1 where the outcome is and 0 elsewhere
    weights: FloatArray
    groups: IntArray | None

    @classmethod
    def of(cls, parts: Parts, second: IntArray, rules: RuleSet) -> _Second:
        """Return some rows, and which of the rules hold there."""
        M = np.ones((len(second), 1 + len(rules)))
        M[:, 1:] = rules.holds(parts.table(second))
        weights = parts.weights_of(second)
        return cls(
            replace(rules, target=parts.source.target),  # a fit sees the target without its name
            M,
            _outcome(parts, second, rules),
            np.ones(len(second)) if weights is None else weights,
            parts.groups_of(second),
        )

    @property
    def of_classes(self) -> bool:
        """Whether effects are log-odds."""
        return self.rules.link == "logit"


def _outcome(parts: Parts, second: IntArray, rules: RuleSet) -> FloatArray:
    if rules.link != "logit":
        return parts.rows.target[second]
    labels = [python_label(label) for label in parts.labels(second)]
    y = np.array([label == rules.outcome for label in labels], dtype=np.float64)
    if y.min() == y.max():
        some = "only" if y[0] else "no"
        raise InvalidTarget(
            f"The second part has {some} rows of class {rules.outcome!r}; add rows, or choose "
            "another share or random_state."
        )
    return y


def _on_second_part(
    parts: Parts, second: IntArray, rules: RuleSet, confidence: float
) -> tuple[list[RuleEffect], RuleSet]:
    """Return the effects of one outcome, and the rule set that has them."""
    part = _Second.of(parts, second, rules)
    notes = _undetermined(part)
    kept = np.array([note is None for note in notes])
    regress = logistic if part.of_classes else least_squares
    estimated = regress(part.M[:, kept], part.y, part.weights, part.groups)
    described = _describe(part, notes, estimated, confidence)
    return described, _with_effects(part, kept[1:], estimated.values)


def _undetermined(part: _Second) -> list[str | None]:
    """Return for each column why the data do not determine its effect, or None if they do.

    Columns are left out one after the other: those of a single value, those that the ones before
    determine, and, while classes can be separated, of the separating ones the rarest rule.
    """
    M = part.M
    n = M.sum(axis=0)
    notes: list[str | None] = [
        None if column == 0 or 0 < n[column] < len(M) else EVERYWHERE if n[column] else NOWHERE
        for column in range(M.shape[1])
    ]
    left = np.array([column for column, note in enumerate(notes) if note is None])
    for column in left[~independent_columns(M[:, left])]:
        notes[column] = DEPENDENT
    while part.of_classes:
        left = np.array([column for column, note in enumerate(notes) if note is None])
        infinite = left[separating_columns(M[:, left], part.y)]
        infinite = infinite[infinite > 0]
        if not len(infinite):
            break
        notes[infinite[np.argmin(n[infinite])]] = SEPARATES
    return notes


def _describe(
    part: _Second, notes: list[str | None], estimated: Coefficients, confidence: float
) -> list[RuleEffect]:
    """Return all that is told of the intercept and of each rule."""
    rules, y, w = part.rules, part.y, part.weights
    kept = np.array([note is None for note in notes])
    figures = np.full((5, len(kept)), NAN)
    lower, upper = estimated.interval(confidence)
    figures[:, kept] = (estimated.values, estimated.errors, lower, upper, estimated.p_values)
    described = []
    texts = [INTERCEPT, *rules.texts]
    names = ("effect", "standard_error", "lower", "upper", "p_value")
    for column, before in enumerate([rules.intercept, *rules.weights.tolist()]):
        holds = part.M[:, column] > 0
        n = int(np.count_nonzero(holds))
        few = tells_single(n, len(y))
        alone = notes[column] is None and np.isnan(figures[1, column])
        described.append(
            RuleEffect(
                rule=texts[column],
                outcome=rules.outcome if part.of_classes else None,
                **dict(zip(names, figures[:, column].tolist(), strict=True)),
                degrees=estimated.degrees,
                n=n,
                coverage=float(w[holds].sum() / w.sum()),
                observed=NAN if few else float(np.average(y[holds], weights=w[holds])),
                events=int(y[holds].sum()) if part.of_classes and not few else None,
                first_effect=float(before),
                note=ALONE if alone else notes[column],
            )
        )
    return described


def _with_effects(part: _Second, kept: BoolArray, values: FloatArray) -> RuleSet:
    """Return the rules that have an effect, with it and their coverage of the second part."""
    places, rules = np.flatnonzero(kept), part.rules
    M = part.M[:, 1 + places]
    calibration = None
    if part.of_classes:
        calibration = Calibration.of(expit(values[0] + M @ values[1:]), part.y, part.weights)
    return RuleSet(
        rules=tuple(rules.rules[place] for place in places),
        weights=values[1:],
        intercept=float(values[0]),
        binning=rules.binning,
        columns=rules.columns,
        support=part.weights @ M / part.weights.sum(),
        proportion=rules.proportion[places],
        target=rules.target,
        link=rules.link,
        outcome=rules.outcome,
        calibration=calibration,
    )
