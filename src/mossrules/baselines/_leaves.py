"""The leaves of each tree, from left to right, as found in a pool of distinct rules.

A pool knows in which trees a rule appears, so the rules of one tree are its leaves. What lies next
to what follows from the rules themselves: the tree's first split is on a column that separates its
leaves into two groups, and so on within each group.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mossrules._typing import AnyArray, BoolArray
from mossrules.baselines._descent import Blocks
from mossrules.candidates.cuts import Binning
from mossrules.candidates.pool import CandidatePool
from mossrules.candidates.rules import Rule

__all__ = ["leaf_blocks", "left_to_right"]


def leaf_blocks(pool: CandidatePool, binning: Binning) -> Blocks:
    """Return the leaves of each tree as a block, in order; the same leaf may be in many."""
    leaves: list[list[int]] = [[] for _ in range(pool.n_trees)]
    for position, trees in enumerate(pool.trees):
        for tree in trees:
            leaves[tree].append(position)
    blocks = []
    known: dict[tuple[int, ...], list[int]] = {}  # many trees are alike
    for members in leaves:
        if members:
            key = tuple(members)
            if key not in known:
                order = left_to_right([pool.rules[i] for i in members], binning)
                known[key] = [members[i] for i in order]
            blocks.append(known[key])
    return Blocks(
        np.array([position for block in blocks for position in block], dtype=np.int64),
        np.cumsum([0, *map(len, blocks)], dtype=np.int64),
    )


def left_to_right(rules: Sequence[Rule], binning: Binning) -> list[int]:
    """Return the positions of rules in the order in which a tree has them as leaves.

    Where two columns could both be the first split (a chessboard), the first of them is taken.
    Of the two sides of a split the one with the lower code comes first. Rules that no split
    separates, which do not come from one tree, stay in their order.
    """
    accepted = [
        {each.feature: each.accepts(binning[each.feature]) for each in rule.conditions}
        for rule in rules
    ]
    return _ordered(list(range(len(rules))), accepted, binning)


def _ordered(
    members: list[int], accepted: list[dict[str, BoolArray]], binning: Binning
) -> list[int]:
    if len(members) > 1:
        shared = set(accepted[members[0]]).intersection(*(accepted[i] for i in members[1:]))
        for feature in sorted(shared, key=binning.index):
            n_codes = binning[feature].n_codes
            groups = _separate(members, [accepted[i][feature][:n_codes] for i in members])
            if len(groups) > 1:
                return [i for group in groups for i in _ordered(group, accepted, binning)]
    return members


def _separate(members: list[int], codes: list[AnyArray]) -> list[list[int]]:
    """Group members whose codes overlap, directly or by way of others, by lowest code."""
    groups: list[tuple[AnyArray, list[int]]] = []
    for member, accepts in zip(members, codes, strict=True):
        merged, joined = accepts, [member]
        apart = []
        for other, inside in groups:
            if (other & merged).any():
                merged, joined = other | merged, inside + joined
            else:
                apart.append((other, inside))
        groups = [*apart, (merged, joined)]
    return [sorted(inside) for _, inside in sorted(groups, key=_first_code)]


def _first_code(group: tuple[AnyArray, list[int]]) -> int:
    """Return the lowest code of a group; that of missing values only where there is no other."""
    present = group[0][1:]
    return int(present.argmax()) + 1 if present.any() else 0
