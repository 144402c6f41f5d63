"""What makes a rule set one that can be signed: the measures of the trust table, from arrays alone.

A fit is what a method made of some rows: predictions for all rows of the table, and for each
outcome the rules it found. Numbers and two classes have one outcome; of more classes each is one,
and measures of rules are means over them. What the measures need of a rule is where it holds, what
it adds, and what stands for it as printed; nothing here knows a rule from the inside, so that rules
of other packages can be measured too.

Notation (of one fit and one outcome, on its training rows)
    p       share of the rows where a rule holds; the sd of its column is sqrt(p (1 - p))
    I       importance of a rule: |effect| sd
    s       its share: I over the sum of I; equal shares where no rule has any importance
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from mossrules._typing import BoolArray, FloatArray, IntArray
from mossrules.data.table import Table
from mossrules.evaluation.agreement import SAME_ROWS, Agreement, key_of_each, matches, pairwise
from mossrules.model.ruleset import RuleSet

__all__ = ["IDLE", "PERCENTILES_FROM", "Fit", "FoundRules", "Outcomes", "importance_shares",
           "measure_trust", "shared_importance"]  # fmt: skip

IDLE = 0.01  # of the largest importance: rules under it do next to nothing
NORMAL = 1.959963984540054  # standard deviations on either side that 95 % of a normal lie within
# From so many refits on, 2.5 % of them are one or more, and percentiles are read off. Below, those
# of the few would lie inside the range, and the range of a normal with their sd is taken.
PERCENTILES_FROM = 40
SMALLEST = float(np.finfo(np.float64).eps)  # a probability in a logarithm, as in scikit-learn
ROUNDING = 1e-12  # of the target's sd: a smaller mean is none
NAN = float("nan")


@dataclass(frozen=True, eq=False)
class FoundRules:
    """The rules of one outcome in one fit."""

    keys: tuple[Hashable, ...]  # what stands for each as printed
    holds: BoolArray  # (rows of the table, rules)
    effects: FloatArray | None = None  # None where they are not known

    @classmethod
    def of(cls, rules: RuleSet, table: Table) -> FoundRules:
        """Return the rules of a rule set, with the rows of a table on which they hold."""
        return cls(key_of_each(rules, "thresholds"), rules.holds(table), np.array(rules.weights))

    def times(self, sign: float) -> FoundRules:
        """Return the same rules for the other of two classes, or for the same one."""
        if self.effects is None:
            return self
        return FoundRules(self.keys, self.holds, sign * self.effects)


@dataclass(frozen=True, eq=False)
class Fit:
    """What a method made of some of the rows."""

    train: IntArray  # positions among all rows, repeated as they were drawn
    test: IntArray  # those left out
    predicted: FloatArray  # of all rows: (rows, outcomes)
    rules: tuple[FoundRules | None, ...] | None  # by outcome; None of a method without rules
    seconds: float
    auc: float = NAN  # of classes, on the rows left out


@dataclass(frozen=True, eq=False)
class Outcomes:
    """The target as a matrix: numbers, or whether a row is of a class; and weights of rows."""

    values: FloatArray  # (rows, outcomes)
    weights: FloatArray
    of_classes: bool

    @classmethod
    def of(cls, target: FloatArray, weights: FloatArray | None, n_classes: int | None) -> Outcomes:
        """Return the target of some rows; of two classes, whether it is the second."""
        weights = np.ones(len(target)) if weights is None else weights
        if n_classes is None:
            return cls(target[:, None], weights, of_classes=False)
        classes = [1] if n_classes == 2 else range(n_classes)
        values = np.column_stack([target == code for code in classes]).astype(np.float64)
        return cls(values, weights, of_classes=True)

    def mean(self, positions: IntArray) -> FloatArray:
        """Return the mean of each outcome on some rows."""
        means: FloatArray = np.average(
            self.values[positions], axis=0, weights=self.weights[positions]
        )
        return means


def measure_trust(
    refits: Sequence[Fit],
    reseeded: Sequence[Sequence[FoundRules | None]],
    outcomes: Outcomes,
) -> dict[str, float]:
    """Return the measures of a method; NaN where one is not defined.

    Parameters
    ----------
    refits
        Of parts of the rows, each with its own seed.
    reseeded
        The rules, by outcome, of fits to all rows with several seeds.
    outcomes
        What was to be predicted.
    """
    found = {
        **_accuracy(refits, outcomes),
        "instability": instability([fit.predicted for fit in refits], outcomes),
        "seconds": float(np.median([fit.seconds for fit in refits])) if refits else NAN,
    }
    with_rules = [fit for fit in refits if fit.rules is not None]
    of_each = [
        _of_rules(
            [(fit, fit.rules[i]) for fit in with_rules if fit.rules is not None],
            [rules[i] for rules in reseeded],
            outcomes,
            i,
        )
        for i in range(outcomes.values.shape[1] if with_rules else 0)
    ]
    names = RULE_MEASURES
    return {**found, **{name: _mean([each[name] for each in of_each]) for name in names}}


RULE_MEASURES = (
    "dice", "dice_rows", "weighted_overlap", "same_sign", "opposing", "idle", "dependent",
    "in_all", "dice_seeds", "n_rules",
)  # fmt: skip


# --- accuracy -------------------------------------------------------------------------------------


def _accuracy(refits: Sequence[Fit], outcomes: Outcomes) -> dict[str, float]:
    """Return R2, or log-loss skill and AUC, on the rows left out."""
    if not outcomes.of_classes:
        return {"r2": _explained(refits, outcomes, _squares)}
    skill = _explained(refits, outcomes, _log_losses)
    return {"skill": skill, "auc": _mean([fit.auc for fit in refits])}


def _explained(
    refits: Sequence[Fit], outcomes: Outcomes, loss: Callable[[FloatArray, FloatArray], FloatArray]
) -> float:
    """Return 1 - loss / loss of the training mean, both added up over the rows left out."""
    own = known = 0.0
    for fit in refits:
        truth, weights = outcomes.values[fit.test], outcomes.weights[fit.test]
        own += float(weights @ loss(truth, fit.predicted[fit.test]))
        constant = np.broadcast_to(outcomes.mean(fit.train), truth.shape)
        known += float(weights @ loss(truth, constant))
    return 1.0 - own / known if known > 0 else NAN


def _squares(truth: FloatArray, predicted: FloatArray) -> FloatArray:
    squares: FloatArray = ((truth - predicted) ** 2).sum(axis=1)
    return squares


def _log_losses(truth: FloatArray, predicted: FloatArray) -> FloatArray:
    """Return minus the logarithm of the probability of what happened."""
    if truth.shape[1] == 1:
        chance = np.where(truth[:, 0] == 1, predicted[:, 0], 1.0 - predicted[:, 0])
    else:
        chance = (truth * predicted).sum(axis=1)
    return np.asarray(-np.log(np.clip(chance, SMALLEST, 1.0)))


def instability(predicted: Sequence[FloatArray], outcomes: Outcomes) -> float:
    """Return the mean over people of the 95 % range of their prediction, over sds of the target.

    A person's range is over the refits: from the 2.5th to the 97.5th percentile, or with fewer than
    40 refits twice 1.96 standard deviations. Of several classes it is the mean over them.
    """
    if len(predicted) < 2:
        return NAN
    stacked = np.stack(predicted)
    if len(predicted) >= PERCENTILES_FROM:
        low, high = np.percentile(stacked, [2.5, 97.5], axis=0)
        ranges = high - low
    else:
        ranges = 2.0 * NORMAL * stacked.std(axis=0, ddof=1)
    weights = outcomes.weights
    mean = np.average(outcomes.values, axis=0, weights=weights)
    spread = np.sqrt(np.average((outcomes.values - mean) ** 2, axis=0, weights=weights))
    of_each = np.average(ranges, axis=0, weights=weights)
    return _mean([float(a / b) if b > 0 else NAN for a, b in zip(of_each, spread, strict=True)])


# --- rules ----------------------------------------------------------------------------------------


def _of_rules(
    fits: Sequence[tuple[Fit, FoundRules | None]],
    reseeded: Sequence[FoundRules | None],
    outcomes: Outcomes,
    outcome: int,
) -> dict[str, float]:
    """Return the measures of the rules of one outcome; a fit may lack one, if it lacked a class."""
    there = [(fit, rules) for fit, rules in fits if rules is not None]
    sets = [rules for _, rules in there]
    judged = [
        JudgedRules.of(rules, fit.train, outcomes.values[:, outcome], outcomes.weights)
        for fit, rules in there
    ]
    known = [each for each in judged if each.effects is not None]
    n_rules = sum(len(each.keys) for each in known)
    pairs = list(combinations(known, 2))
    signs = [same for one, other in pairs for same in _same_signs(one, other)]
    return {
        "dice": dice_as_printed(sets),
        "dice_rows": dice_by_rows(sets),
        "weighted_overlap": _mean([overlap(one, other) for one, other in pairs]),
        "same_sign": _mean(signs),
        "opposing": _share([each.opposing for each in known], n_rules),
        "idle": _share([each.idle for each in known], n_rules),
        "dependent": _mean([each.is_dependent for each in judged]),
        "in_all": float(len(frozenset.intersection(*map(_keys, sets)))) if sets else NAN,
        "dice_seeds": dice_as_printed([rules for rules in reseeded if rules is not None]),
        "n_rules": _mean([len(rules.keys) for rules in sets]),
    }


@dataclass(frozen=True, eq=False)
class JudgedRules:
    """The rules of a fit on the rows it was fitted to."""

    keys: tuple[Hashable, ...]
    effects: FloatArray | None
    importances: FloatArray
    opposing: BoolArray  # effects against the mean of the rule's own rows
    is_dependent: bool  # the columns of the rules and the intercept

    @classmethod
    def of(
        cls, rules: FoundRules, train: IntArray, target: FloatArray, weights: FloatArray
    ) -> JudgedRules:
        """Return how the rules of a fit do on its training rows."""
        M, y, w = rules.holds[train].astype(np.float64), target[train], weights[train]
        p = w @ M / w.sum()
        sd = np.sqrt(p * (1.0 - p))
        effects = np.zeros(len(rules.keys)) if rules.effects is None else rules.effects
        mean = np.average(y, weights=w)
        # Weight times the distance of a rule's own mean from the mean: its sign is what matters.
        lifts = (w * (y - mean)) @ M / w.sum()
        lifts[np.abs(lifts) <= ROUNDING * np.sqrt(np.average((y - mean) ** 2, weights=w))] = 0.0
        return cls(
            rules.keys,
            rules.effects,
            np.abs(effects) * sd,
            effects * lifts < 0,
            _is_dependent(M[w > 0]),
        )

    @property
    def idle(self) -> BoolArray:
        """The rules under 1 % of the largest importance; all, if none has any."""
        largest = self.importances.max(initial=0.0)
        return np.asarray((self.importances < IDLE * largest) | (largest == 0.0))

    @property
    def shares(self) -> dict[Hashable, float]:
        """Share of the importance of each rule as printed."""
        return importance_shares(self.keys, self.importances)


def importance_shares(keys: Sequence[Hashable], importances: FloatArray) -> dict[Hashable, float]:
    """Return the share of importance of each rule as printed: s of the notation."""
    total = importances.sum()
    even = np.full(len(keys), 1.0 / max(len(keys), 1))
    shares: dict[Hashable, float] = {}
    for key, share in zip(keys, importances / total if total > 0 else even, strict=True):
        shares[key] = shares.get(key, 0.0) + float(share)
    return shares


def _is_dependent(M: FloatArray) -> bool:
    """Tell whether columns and a constant are linearly dependent."""
    # Rows that are alike add nothing to the rank.
    distinct = np.unique(M, axis=0)
    with_constant = np.column_stack([np.ones(len(distinct)), distinct])
    return bool(np.linalg.matrix_rank(with_constant) < with_constant.shape[1])


def dice_as_printed(sets: Sequence[FoundRules]) -> float:
    """Return the mean Dice over pairs of fits, of rules that read the same."""
    return _mean_dice(pairwise(list(map(_keys, sets)), lambda a, b: len(a & b)))


def dice_by_rows(sets: Sequence[FoundRules]) -> float:
    """Return the mean Dice over pairs of fits, of rules that hold on nearly the same rows."""
    bits = [np.packbits(rules.holds.T, axis=1) for rules in sets]
    return _mean_dice(pairwise(bits, lambda a, b: matches(a, b, SAME_ROWS)))


def overlap(one: JudgedRules, other: JudgedRules) -> float:
    """Return what two fits have in common, weighted by importance; two without rules agree."""
    return shared_importance(one.shares, other.shares)


def shared_importance(first: Mapping[Hashable, float], second: Mapping[Hashable, float]) -> float:
    """Return the smaller of two shares of importance, summed over the rules in common."""
    if not first and not second:
        return 1.0
    return sum(min(share, second[key]) for key, share in first.items() if key in second)


def _same_signs(one: JudgedRules, other: JudgedRules) -> Iterator[bool]:
    """Yield whether effects have the same sign, for each rule that two fits have in common."""
    first, second = _signs(one), _signs(other)
    for key in first.keys() & second.keys():
        yield first[key] == second[key]


def _signs(rules: JudgedRules) -> dict[Hashable, float]:
    effects = np.zeros(len(rules.keys)) if rules.effects is None else rules.effects
    return dict(zip(rules.keys, np.sign(effects).tolist(), strict=True))


def _keys(rules: FoundRules) -> frozenset[Hashable]:
    return frozenset(rules.keys)


def _mean_dice(shared: IntArray) -> float:
    if len(shared) < 2:
        return NAN
    agreement = Agreement(shared, int(shared.max()))
    return float(agreement.similarity("dice")[np.triu_indices(len(shared), 1)].mean())


def _mean(values: Sequence[float]) -> float:
    """Return the mean of the values that are defined."""
    known = [value for value in values if not np.isnan(value)]
    return float(np.mean(known)) if known else NAN


def _share(marked: Sequence[BoolArray], n_rules: int) -> float:
    return sum(int(each.sum()) for each in marked) / n_rules if n_rules else NAN
