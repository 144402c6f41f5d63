"""When two rules count as the same, and how many of them two rule sets then share."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Literal

import numpy as np
from scipy.optimize import linear_sum_assignment

from mossrules._typing import AnyArray, IntArray
from mossrules.data.table import Table
from mossrules.exceptions import InvalidParameter, UnsupportedType
from mossrules.model import RuleSet

__all__ = [
    "SAME_ROWS",
    "Identity",
    "Rules",
    "key_of_each",
    "keys",
    "matches",
    "packed_rows",
    "pairwise",
    "read_runs",
]

Identity = Literal["codes", "thresholds", "rows"]
Rules = RuleSet | Iterable[Hashable]

SAME_ROWS = 0.9  # rules match if they share this part of the rows on which either holds


def pairwise(items: Sequence[Any], count: Callable[[Any, Any], int]) -> IntArray:
    """Return the counts of all pairs, each counted once."""
    shared = np.zeros((len(items), len(items)), dtype=np.int64)
    for i, one in enumerate(items):
        for j, other in enumerate(items[: i + 1]):
            shared[i, j] = shared[j, i] = count(one, other)
    return shared


def keys(rules: Rules, identity: str) -> frozenset[Hashable]:
    """Return what stands for the rules: the rules themselves, or their texts."""
    return frozenset(key_of_each(rules, identity))


def key_of_each(rules: Rules, identity: str) -> tuple[Hashable, ...]:
    """Return what stands for each rule, in their order."""
    if identity == "codes":
        return tuple(rules)
    return tuple(_as_rule_set(rules, identity).texts)


def packed_rows(rules: Rules, table: Table) -> AnyArray:
    """Return the rows on which each rule holds, eight to a byte: (rules, rows / 8)."""
    return np.packbits(_as_rule_set(rules, "rows").holds(table).T, axis=1)


def matches(a: AnyArray, b: AnyArray, overlap: float) -> int:
    """Return the most pairs of a rule of `a` and one of `b` that hold on nearly the same rows."""
    if len(a) == 0 or len(b) == 0:
        return 0
    both = np.stack([np.bitwise_count(one & b).sum(axis=1, dtype=np.int64) for one in a])
    either = np.stack([np.bitwise_count(one | b).sum(axis=1, dtype=np.int64) for one in a])
    same = both >= overlap * either * (1.0 - 1e-12)
    return int(same[linear_sum_assignment(same, maximize=True)].sum())


def read_runs(rule_sets: Iterable[Rules], *, least: int) -> list[Rules]:
    """Return the rule sets of at least so many runs."""
    if isinstance(rule_sets, RuleSet | str) or not isinstance(rule_sets, Iterable):
        raise UnsupportedType(
            f"rule_sets is a {type(rule_sets).__name__}; pass a list of rule sets, one from each "
            "run."
        )
    runs = list(rule_sets)
    for run in runs:
        if isinstance(run, str) or not isinstance(run, Iterable):
            raise UnsupportedType(
                f"rule_sets has a {type(run).__name__} in it; pass a RuleSet or a collection of "
                "rules for each run."
            )
    if len(runs) < least:
        raise InvalidParameter(f"rule_sets has {len(runs)} of them; pass at least {least}.")
    return runs


def _as_rule_set(rules: Rules, identity: str) -> RuleSet:
    if not isinstance(rules, RuleSet):
        raise UnsupportedType(
            f"identity is {identity!r}, which needs rules with their thresholds, and there is a "
            f"{type(rules).__name__}; pass RuleSets."
        )
    return rules
