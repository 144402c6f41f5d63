"""Which rule of one rule set stands for which of another: the same, moved, or on the same rows.

Rules that read the same are the same rule. Of the others, two may be paired if they have the same
form: conditions on the same columns, in the same directions. Among all ways to pair as many of them
as can be, the one of least total distance is taken. The distance of two rules of one form is the
sum over their conditions of

    numbers          for each bound, the share of the column's cut points that lie between the two:
                     (difference of their ranks among the cut points of both rule sets) / (number
                     of these cut points - 1)
    levels           the share of the levels named by either that only one of the two names
    missing values   1 if only one of two conditions on numbers, or on an order, admits them

Ranks, and not differences of the numbers, since cut points follow the data: a rank means about as
many rows whether a column has long tails or not, and in any unit.

All three are metrics. So to take rules that read the same out first never makes the total larger:
of a pair that one of them would break up, the triangle inequality joins the two other ends.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence

import numpy as np
from scipy.optimize import linear_sum_assignment

from mossrules._typing import FloatArray
from mossrules.candidates.cuts import BinnedColumn, Binning
from mossrules.candidates.rules import OPEN, Condition, Levels, Range, Rule, level_words
from mossrules.data.columns import Kind
from mossrules.model.ruleset import RuleSet

__all__ = ["Pairs", "form_of", "pair_by_form", "pair_by_rows", "pair_by_text", "rule_distance"]

Pairs = list[tuple[int, int]]  # positions of rules of the old and of the new rule set
Some = tuple[RuleSet, Sequence[int]]  # some of the rules of a rule set, by position

# Moves of many rules on one column often have equal totals: 1 -> 3 and 2 -> 4, or 1 -> 4 and
# 2 -> 3. Least squares decide between them, for the first. Distances are fractions of small whole
# numbers, so that totals which differ do so by more than this.
TIE = 1e-9


# --- the same text --------------------------------------------------------------------------------


def pair_by_text(old: RuleSet, new: RuleSet) -> Pairs:
    """Return the pairs of rules that read the same."""
    places: dict[Hashable, list[int]] = defaultdict(list)
    for j, rule in enumerate(new.rules):
        places[rule.printed(new.binning)].append(j)
    found: Pairs = []
    for i, rule in enumerate(old.rules):
        # A list, as the levels 1 and "1" read the same: a text may be there twice.
        if same := places[rule.printed(old.binning)]:
            found.append((i, same.pop(0)))
    return found


# --- the same form --------------------------------------------------------------------------------


def pair_by_form(old: Some, new: Some) -> list[tuple[int, int, float]]:
    """Return the pairs of least total distance among some rules of each set, with the distances."""
    groups: dict[Hashable, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for side, (ruleset, positions) in enumerate((old, new)):
        for place in positions:
            groups[form_of(ruleset.rules[place], ruleset.binning)][side].append(place)
    found = []
    for ours, theirs in groups.values():
        D = _distances((old[0], ours), (new[0], theirs))
        pairs = _assign(D + TIE * D**2, _texts(old[0], ours), _texts(new[0], theirs))
        found += [(ours[a], theirs[b], float(D[a, b])) for a, b in pairs]
    return sorted(found)


def _distances(old: Some, new: Some) -> FloatArray:
    """Return how far apart rules of the same form are: (old, new)."""
    (one, ours), (other, theirs) = old, new
    D = np.empty((len(ours), len(theirs)))
    for a, i in enumerate(ours):
        for b, j in enumerate(theirs):
            D[a, b] = rule_distance(one.rules[i], one.binning, other.rules[j], other.binning)
    return D


def _texts(ruleset: RuleSet, positions: Sequence[int]) -> list[str]:
    return [ruleset.rules[place].text(ruleset.binning) for place in positions]


def form_of(rule: Rule, binning: Binning) -> Hashable:
    """Return the columns of a rule and the directions of its conditions, without cut points."""
    return tuple(_form(condition, binning[condition.feature]) for condition in rule.conditions)


def _form(condition: Condition, column: BinnedColumn) -> Hashable:
    if isinstance(condition, Levels):
        return condition.feature, column.kind, condition.inside
    if condition.low > condition.high:
        return condition.feature, "missing"
    if condition.low == 1 and condition.high == OPEN:
        return condition.feature, "present"
    return condition.feature, column.kind, condition.low > 1, condition.high < OPEN


def rule_distance(one: Rule, ours: Binning, other: Rule, theirs: Binning) -> float:
    """Return how far apart two rules of the same form are."""
    return sum(
        _distance(a, ours[a.feature], b, theirs[b.feature])
        for a, b in zip(one.conditions, other.conditions, strict=True)
    )


def _distance(a: Condition, ours: BinnedColumn, b: Condition, theirs: BinnedColumn) -> float:
    if isinstance(a, Levels) and isinstance(b, Levels):
        return _share_apart(a.levels, b.levels)
    if not (isinstance(a, Range) and isinstance(b, Range)) or a.low > a.high:
        return 0.0  # missing values alone
    apart = float(a.missing != b.missing)
    if ours.kind is Kind.ORDERED:
        return apart + _share_apart(_admitted(a, ours), _admitted(b, theirs))
    cuts = sorted({*ours.cuts, *theirs.cuts})
    rank = {cut: place for place, cut in enumerate(cuts)}
    bounds = zip(_bounds(a, ours), _bounds(b, theirs), strict=True)
    between = sum(abs(rank[one] - rank[other]) for one, other in bounds)
    return apart + between / max(1, len(cuts) - 1)


def _bounds(condition: Range, column: BinnedColumn) -> list[float]:
    """Return the cut points of a condition."""
    lower = [column.cuts[condition.low - 2]] if condition.low > 1 else []
    upper = [column.cuts[condition.high - 1]] if condition.high < OPEN else []
    return lower + upper


def _admitted(condition: Range, column: BinnedColumn) -> frozenset[Hashable]:
    """Return the levels of an order that a condition admits."""
    accepted = condition.accepts(column)
    return frozenset(level for level in column.levels if accepted[column.code_of_level[level]])


def _share_apart(one: frozenset[object], other: frozenset[object]) -> float:
    """Return the Jaccard distance of two sets of levels, by their words."""
    ours, theirs = (frozenset(level_words(each) for each in levels) for levels in (one, other))  # type: ignore[arg-type]
    either = len(ours | theirs)
    return len(ours ^ theirs) / either if either else 0.0


# --- the same rows --------------------------------------------------------------------------------


def pair_by_rows(jaccard: FloatArray, old: Some, new: Some, least: float) -> Pairs:
    """Return as many pairs as can be, of some rules of each set, that hold on nearly the same rows.

    `jaccard` is the share of the rows on which either rule holds where both do; NaN of rules that
    hold nowhere, which are not the same for that.
    """
    ours, theirs = old[1], new[1]
    likeness = np.nan_to_num(jaccard[np.ix_(ours, theirs)], nan=-1.0)
    near = likeness >= least
    # One pair more outweighs any gain in likeness.
    worth = np.where(near, min(likeness.shape) + 1.0 + likeness, 0.0)
    pairs = _assign(-worth, _texts(*old), _texts(*new))
    return [(ours[a], theirs[b]) for a, b in pairs if near[a, b]]


def _assign(costs: FloatArray, ours: Sequence[str], theirs: Sequence[str]) -> Pairs:
    """Return the pairs of least total cost, the same whichever of the two sides comes first."""
    # Where totals tie, what is found depends on the order; a fixed one makes it that of the texts.
    rows = sorted(range(len(ours)), key=ours.__getitem__)
    columns = sorted(range(len(theirs)), key=theirs.__getitem__)
    ordered = costs[np.ix_(rows, columns)]
    if sorted(ours) <= sorted(theirs):
        first, second = linear_sum_assignment(ordered)
    else:
        second, first = linear_sum_assignment(ordered.T)
    return sorted((rows[i], columns[j]) for i, j in zip(first, second, strict=True))
