"""`compare_rule_sets`: two analyses side by side, rule by rule."""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

from mossrules._common import check_number
from mossrules._refusals import names_input
from mossrules._typing import FloatArray
from mossrules.data.columns import Label
from mossrules.evaluation.agreement import SAME_ROWS, Agreement, key_of_each
from mossrules.evaluation.differences import (
    ConditionChange,
    OneRule,
    OutcomeComparison,
    Pairing,
    PredictionAgreement,
    RulePair,
    RuleSetComparison,
)
from mossrules.evaluation.rule_pairs import pair_by_form, pair_by_rows, pair_by_text
from mossrules.evaluation.side_by_side import Side, Tally, compare_on_rows
from mossrules.evaluation.trust import importance_shares, shared_importance
from mossrules.exceptions import InvalidParameter, UnsupportedType
from mossrules.model.export_text import one_line
from mossrules.model.importance import importances_of
from mossrules.model.ruleset import RuleSet
from mossrules.model.rulesets import RuleSets, read_model

__all__ = ["EFFECT_CHANGE", "compare_rule_sets"]

EFFECT_CHANGE = 0.2  # of the old effect: a larger change is told
ROUNDING = 1e-12


@names_input("old")
def compare_rule_sets(
    old: Any,
    new: Any,
    X: Any = None,
    *,
    sample_weight: Any = None,
    effect_change: float = EFFECT_CHANGE,
    same_rows: float = SAME_ROWS,
) -> RuleSetComparison:
    """Return what two analyses have in common, and what differs, rule by rule.

    A rule of the old rule set is kept if the new one has a rule that reads the same. It has moved
    if the new one has a rule of the same columns and directions with other cut points or levels;
    the pairs are those of least total distance. With X, other rules are paired if they hold on
    nearly the same rows. All others are gone, or new.

    Parameters
    ----------
    old, new : RuleSet, RuleSets, fitted model, or path of a rule set as JSON
        Both of numbers, or both of classes with one class in common at least. A model stands for
        its `rules_`.
    X : table, path or Dask collection, optional
        Rows on which to compare coverage, rules and predictions. Files may be larger than memory.
    sample_weight : array of shape (n_rows,) or str, optional
        Weights of the rows of X, or the name of a column of X that has them.
    effect_change : float, default=0.2
        Told is a change of an effect by more than this share of the old effect.
    same_rows : float in (0, 1], default=0.9
        Two rules hold on nearly the same rows if both hold on at least this share of the rows where
        either does.

    Returns
    -------
    RuleSetComparison
        A value that prints as text; also a frame, JSON, Markdown and a page.

    Examples
    --------
    >>> from mossrules import MossRegressor
    >>> X = {"age": list(range(20, 60)), "smoker": [False, True] * 20}
    >>> y = [1.0, 5.0] * 10 + [3.0, 9.0] * 10
    >>> old = MossRegressor(2, n_trees=20, cuts={"age": [40]}).fit(X, y)
    >>> new = MossRegressor(2, n_trees=20, cuts={"age": [45]}).fit(X, y)
    >>> found = compare_rule_sets(old, new, X)
    >>> [(pair.old.text, pair.new.text, pair.differ) for pair in found.outcomes[0].moved]
    [('age > 40', 'age > 45', 0.125)]
    """
    check_number("effect_change", effect_change, minimum=0.0)
    if check_number("same_rows", same_rows) > 1:
        raise InvalidParameter(f"same_rows is {same_rows!r}; pass a share of rows in (0, 1].")
    if X is None and sample_weight is not None:
        raise InvalidParameter("sample_weight is of the rows of X, and X is missing; pass both.")
    one, other = _sides(old, new)
    tallies = None if X is None else compare_on_rows(one, other, X, sample_weight)
    outcomes = tuple(
        _outcome(
            one.sets.get(key),
            other.sets.get(key),
            None if tallies is None else tallies.by_outcome.get(key),
            effect_change,
            same_rows,
        )
        for key in dict.fromkeys([*one.sets, *other.sets])
    )
    several = isinstance(one.model, RuleSets) and isinstance(other.model, RuleSets)
    return RuleSetComparison(
        names=(one.name, other.name),
        targets=(one.first.target, other.first.target),
        link=one.first.link,
        outcomes=outcomes,
        notes=tuple(_notes(one, other)),
        effect_change=float(effect_change),
        same_rows=float(same_rows),
        rows=None if tallies is None else tallies.rows,
        likeliest_differs=tallies.likeliest / tallies.weight if tallies and several else None,
    )


# --- the two sides --------------------------------------------------------------------------------


def _sides(old: Any, new: Any) -> tuple[Side, Side]:
    """Return both models, or say why they cannot be compared."""
    one, other = Side.of(*_read("old", old)), Side.of(*_read("new", new))
    if one.name == other.name:
        one, other = _renamed(one, "old"), _renamed(other, "new")
    if one.first.link != other.first.link:
        number, probability = (one, other) if one.first.link == "identity" else (other, one)
        raise InvalidParameter(
            f"{number.name} predicts a number and {probability.name} the probability of a class; "
            "compare rule sets of one kind of target."
        )
    # A rule set need not name its class. Where just one does, the two are taken to mean the same.
    if [*one.sets] == [None] and len(other.sets) == 1:
        one = Side(one.name, one.model, dict.fromkeys(other.sets, one.first))
    elif [*other.sets] == [None] and len(one.sets) == 1:
        other = Side(other.name, other.model, dict.fromkeys(one.sets, other.first))
    if not one.sets.keys() & other.sets.keys():
        raise InvalidParameter(
            f"{one.name} has rules for {_classes(one)} and {other.name} for {_classes(other)}; "
            "compare rule sets that have a class in common, of two classes by the same outcome."
        )
    return one, other


def _read(side: str, source: Any) -> tuple[str, RuleSet | RuleSets]:
    """Return the name and the rules of a rule set, a fitted model or a file."""
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        return one_line(path.name), read_model(path)
    rules = source if isinstance(source, RuleSet | RuleSets) else getattr(source, "rules_", None)
    if isinstance(rules, RuleSet | RuleSets):
        return side, rules
    name = type(source).__name__
    if hasattr(source, "fit"):
        reason = "which has no rules yet: fit it first" if rules is None else "of other rules"
        raise UnsupportedType(f"{side} is a {name}, {reason}; pass a fitted model of mossrules.")
    raise UnsupportedType(
        f"{side} is a {name}; pass a RuleSet, RuleSets, a fitted model, or the path of its JSON."
    )


def _renamed(side: Side, word: str) -> Side:
    return Side(f"{side.name} ({word})", side.model, side.sets)


def _classes(side: Side) -> str:
    if [*side.sets] == [None]:
        return "a class without a name"
    return "the class " * (len(side.sets) == 1) + ", ".join(one_line(str(key)) for key in side.sets)


def _notes(one: Side, other: Side) -> list[str]:
    """Return sentences on what differs besides rules and effects."""
    notes = []
    targets = one.first.target, other.first.target
    if None not in targets and targets[0] != targets[1]:
        ours, theirs = (one_line(str(target)) for target in targets)
        notes.append(f"The targets have other names: {ours} in {one.name}, {theirs} in "
                     f"{other.name}.")  # fmt: skip
    for side, rest in ((one, other), (other, one)):
        if alone := [_shown(key) for key in side.sets if key not in rest.sets]:
            notes.append(f"Only {side.name} has rules for {_list('class', alone)}.")
    named = one.first.binning.named, other.first.binning.named
    if named[0] != named[1]:
        array, table = (other, one) if named[0] else (one, other)
        notes.append(
            f"{array.name} was learned from an array, whose columns have no names, and "
            f"{table.name} from a table: their columns cannot be told to be the same."
        )
    for side, rest in ((one, other), (other, one)):
        known = set(rest.first.columns)
        if alone := [one_line(name) for name in side.first.columns if name not in known]:
            notes.append(f"Only {side.name} was offered {_list('column', alone)}.")
    kinds, others = _kinds(one), _kinds(other)
    return notes + [
        f"Column {one_line(column)} is {kinds[column]} in {one.name} and {others[column]} in "
        f"{other.name}, so rules on it are not paired."
        for column in kinds
        if kinds[column] != others.get(column, kinds[column])
    ]


def _kinds(side: Side) -> dict[str, str]:
    """Return the kinds of the columns that rules use."""
    columns = (column for each in side.sets.values() for column in each.binning.columns)
    return {column.name: column.kind.value for column in columns}


def _shown(key: Hashable) -> str:
    return one_line(str(key))


def _list(noun: str, names: Sequence[str], most: int = 10) -> str:
    plural = "es" if noun.endswith("s") else "s"
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"the {noun}{plural * (len(names) > 1)} {', '.join(names[:most])}{more}"


# --- one outcome ----------------------------------------------------------------------------------


def _outcome(
    old: RuleSet | None,
    new: RuleSet | None,
    tally: Tally | None,
    effect_change: float,
    same_rows: float,
) -> OutcomeComparison:
    """Return the comparison of two rule sets, one of which may be missing."""
    if old is None or new is None:
        return OutcomeComparison(
            outcome=_label(old, new),
            pairs=(),
            gone=() if old is None else _rules(old, None),
            new=() if new is None else _rules(new, None),
            intercepts=(_intercept(old), _intercept(new)),
            dice=None,
            weighted_overlap=None,
        )
    kept = pair_by_text(old, new)
    gone, came = _rest(range(len(old)), kept, 0), _rest(range(len(new)), kept, 1)
    moved = pair_by_form((old, gone), (new, came))
    gone, came = _rest(gone, moved, 0), _rest(came, moved, 1)
    same: list[tuple[int, int]] = []
    if tally is not None:
        same = pair_by_rows(tally.jaccard, (old, gone), (new, came), same_rows)
        gone, came = _rest(gone, same, 0), _rest(came, same, 1)
    ours = _rules(old, None if tally is None else tally.old / tally.weight)
    theirs = _rules(new, None if tally is None else tally.new / tally.weight)
    distances = {(i, j): distance for i, j, distance in moved}

    def pair(pairing: Pairing, i: int, j: int) -> RulePair:
        return RulePair(
            pairing,
            ours[i],
            theirs[j],
            conditions=() if pairing == "same rows" else _conditions(old, i, new, j),
            distance=distances.get((i, j)),
            differ=None if tally is None else float(tally.differ[i, j]),
            jaccard=None if tally is None else float(tally.jaccard[i, j]),
            effect_changed=_is_changed(ours[i].effect, theirs[j].effect, effect_change),
        )

    return OutcomeComparison(
        outcome=_label(old, new),
        pairs=(
            *(pair("kept", i, j) for i, j in kept),
            *(pair("moved", i, j) for i, j in distances),
            *(pair("same rows", i, j) for i, j in same),
        ),
        gone=tuple(ours[i] for i in gone),
        new=tuple(theirs[j] for j in came),
        intercepts=(old.intercept, new.intercept),
        dice=float(Agreement.of([old, new], identity="thresholds").similarity("dice")[0, 1]),
        weighted_overlap=_weighted_overlap(old, new),
        predictions=None if tally is None else _predictions(tally, old.link),
    )


def _label(*sides: RuleSet | None) -> Label | None:
    return next((each.outcome for each in sides if each and each.outcome is not None), None)


def _intercept(ruleset: RuleSet | None) -> float | None:
    return None if ruleset is None else ruleset.intercept


def _rest(
    positions: Sequence[int], pairs: Sequence[tuple[int, int] | tuple[int, int, float]], side: int
) -> list[int]:
    """Return the positions that are in no pair, in their order."""
    taken = {pair[side] for pair in pairs}
    return [place for place in positions if place not in taken]


def _rules(ruleset: RuleSet, coverage: FloatArray | None) -> tuple[OneRule, ...]:
    """Return all rules of a rule set; `coverage` is that in the rows of X."""
    here = [None] * len(ruleset) if coverage is None else coverage.tolist()
    record = ruleset.track_record
    found = [None] * len(ruleset) if record is None else [each.found for each in record.rules]
    columns = zip(
        ruleset.texts, ruleset.weights.tolist(), ruleset.support.tolist(), here, found, strict=True
    )
    refits = None if record is None else record.refits
    return tuple(OneRule(place, *each, refits) for place, each in enumerate(columns))


def _conditions(old: RuleSet, i: int, new: RuleSet, j: int) -> tuple[ConditionChange, ...]:
    """Return the conditions of two rules of the same form, side by side."""
    pairs = zip(old.rules[i].conditions, new.rules[j].conditions, strict=True)
    return tuple(
        ConditionChange(a.feature, a.text(old.binning[a.feature]), b.text(new.binning[b.feature]))
        for a, b in pairs
    )


def _is_changed(old: float, new: float, tolerance: float) -> bool:
    """Tell whether an effect changed by more than a share of the old one."""
    # Rounding must not tell of a change by exactly that share.
    return abs(new - old) > tolerance * abs(old) * (1.0 + ROUNDING)


def _weighted_overlap(old: RuleSet, new: RuleSet) -> float:
    """Return the smaller shares of importance on the training rows, summed over common rules."""
    ours, theirs = (
        importance_shares(key_of_each(each, "thresholds"), importances_of(each))
        for each in (old, new)
    )
    return shared_importance(ours, theirs)


def _predictions(tally: Tally, link: str) -> PredictionAgreement:
    return PredictionAgreement(
        correlation=tally.correlation,
        mean_difference=tally.apart / tally.weight,
        largest_difference=tally.largest,
        other_side=tally.other_side / tally.weight if link == "logit" else None,
    )
