"""Which rules say something that the rules before them do not.

A rule is redundant if its column of 0 and 1 is a linear combination of a constant and the columns
of the rules kept so far, whatever the rows: as functions on all combinations of codes that the
columns of the table can have. It does not count that two rules happen to hold on the same rows.

Notation (shapes in brackets)
    D_f       codes that column f can have
    <a, b>    share of all combinations on which rules a and b both hold: a product over columns,
              of |a_f and b_f| / |D_f|, as a rule is a set of codes for each column
    cos       <a, b> / sqrt(<a, a> <b, b>)
    K = LL'   cosines of a constant and the rules kept so far, with each other
    k         their cosines with rule b

Rule b depends on them exactly if its squared distance from their span, as a share of its square,
is zero: 1 - k'K^-1 k = 1 - z'z with L z = k. If not, (z, sqrt(1 - z'z)) is the next row of L.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod

import numpy as np
from scipy.linalg import solve_triangular

from mossrules._typing import BoolArray, IntArray
from mossrules.candidates.cuts import MISSING, Binning
from mossrules.candidates.rules import OPEN, Condition, Range, Rule

__all__ = ["independent_rules"]

TOLERANCE = 1e-9  # for rounding; squared distances that are not zero are larger by far

Sets = Mapping[str, BoolArray]  # the codes of D_f that a rule accepts, for each column it looks at


def independent_rules(rules: Sequence[Rule], binning: Binning, most: int) -> IntArray:
    """Return the positions of the first `most` rules that do not depend on those kept before."""
    kept: list[int] = []
    sets: list[Sets] = [{}]  # the constant: it holds everywhere
    sizes = [1.0]
    L = np.ones((1, 1))
    for position, candidate in enumerate(_sets_of_codes(rules, binning)):
        if len(kept) == most:
            break
        size = _share(candidate, candidate)
        overlaps = np.array([_share(candidate, other) for other in sets])
        z = solve_triangular(L, overlaps / np.sqrt(size * np.array(sizes)), lower=True)
        distance = 1.0 - float(z @ z)
        if distance > TOLERANCE:
            kept.append(position)
            sets.append(candidate)
            sizes.append(size)
            L = np.pad(L, (0, 1))
            L[-1] = [*z, np.sqrt(distance)]
    return np.array(kept, dtype=np.int64)


def _sets_of_codes(rules: Sequence[Rule], binning: Binning) -> Iterator[Sets]:
    """Yield for each rule and each column it looks at which of the column's codes it accepts."""
    conditions = [condition for rule in rules for condition in rule.conditions]
    missing = _columns_with_missing(conditions)
    domains = {
        name: np.arange(MISSING if name in missing else 1, binning[name].n_values + 1)
        for name in {condition.feature for condition in conditions}
    }
    for rule in rules:
        yield {
            each.feature: each.accepts(binning[each.feature])[domains[each.feature]]
            for each in rule.conditions
        }


def _columns_with_missing(conditions: Iterable[Condition]) -> set[str]:
    """Return the columns that had missing values in training, as far as rules speak of them."""
    return {
        each.feature
        for each in conditions
        if (
            each.missing or (each.low, each.high) == (1, OPEN)
            if isinstance(each, Range)
            else None in each.levels
        )
    }


def _share(a: Sets, b: Sets) -> float:
    """Return the share of all combinations of codes on which both rules hold."""
    both = (a[name] & b[name] if name in a and name in b else {**a, **b}[name] for name in {*a, *b})
    return prod(float(accepted.mean()) for accepted in both)
