"""Groups of rows, such as the visits of a patient, and columns that hold groups or weights.

Rows of a group are alike in ways that no column tells, so draws and folds take them together. A
group is known by a code here; how it is numbered for draws stands in `rows.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mossrules._typing import FloatArray, IntArray
from mossrules.data.columns import NUMBERS, Column, as_vector, make_column
from mossrules.data.table import Table, check_weights, did_you_mean, finite_numbers, without
from mossrules.data.values import EXACT
from mossrules.exceptions import InvalidParameter

__all__ = [
    "GroupPart",
    "check_several",
    "column_beside",
    "count_groups",
    "group_part",
    "join_parts",
    "names_beside",
    "read_groups",
    "split_beside",
]

GroupPart = tuple[list[Any], IntArray]  # labels of some rows, each once, and which each row has

MISSING = -1  # the place of a label that is not there


def read_groups(groups: Any, n_rows: int) -> IntArray | None:
    """Return a code of each row's group, in the order given.

    `groups` is one label for each row: numbers, texts or truth values, none of them missing.
    """
    if groups is None:
        return None
    vector = as_vector(groups)
    if tuple(vector.shape) != (n_rows,):
        raise InvalidParameter(
            f"groups has the shape {tuple(vector.shape)}; pass one label for each of the {n_rows} "
            "rows, or the name of a column."
        )
    return join_parts("groups", [group_part(make_column("groups", vector), 0, n_rows)])


def group_part(column: Column, start: int, stop: int) -> GroupPart:
    """Return the labels of some rows, and which of them each row has."""
    values = column.read(start, stop)
    if column.kind in NUMBERS:
        finite = np.isfinite(values)
        if (np.abs(values[finite]) >= EXACT).any():  # read as floats, neighbours would be mixed up
            exact = column.labels(start, stop).tolist()
            return _places([label if ok else None for label, ok in zip(exact, finite, strict=True)])
        labels, places = np.unique(values, return_inverse=True)  # NaN comes last, as one
        places = np.where(finite, places, MISSING)
        return labels.tolist(), places.astype(np.int64)
    return _places(values.tolist())


def _places(labels: Sequence[Any]) -> GroupPart:
    known: dict[Any, int] = {None: MISSING}
    places = np.fromiter(
        (known.setdefault(label, len(known) - 1) for label in labels), np.int64, count=len(labels)
    )
    return [label for label in known if label is not None], places


def join_parts(name: str, parts: Sequence[GroupPart]) -> IntArray:
    """Return a code of the group of each row of all parts."""
    missing = sum(int(np.count_nonzero(places == MISSING)) for _, places in parts)
    if missing:
        raise InvalidParameter(
            f"{name} is missing on {missing} row{'s' if missing > 1 else ''} (None or NaN); give "
            "each row the label of its group, or one of its own."
        )
    known: dict[Any, int] = {}
    found = []
    for labels, places in parts:
        codes = [known.setdefault(label, len(known)) for label in labels]
        found.append(np.array(codes, dtype=np.int64)[places])
    return np.concatenate(found)


def number_of(groups: Any, n_rows: int) -> int:
    """Return how many groups there are; `groups` is as in `read_groups`, and not None."""
    codes = read_groups(groups, n_rows)
    return 0 if codes is None else len(np.unique(codes))


def count_groups(table: Table, name: str) -> int:
    """Return how many groups a column of a table has, read part by part."""
    column = column_beside(table, "groups", name)
    parts = [group_part(column, part.start, part.stop) for part in table.ranges()]
    return int(join_parts(name, parts).max()) + 1


def check_several(
    groups: IntArray | None, weights: FloatArray | None, name: str = "groups"
) -> None:
    """Refuse groups if only one of them has rows that count."""
    if groups is None:
        return
    used = groups if weights is None else groups[weights > 0]
    if (used == used[0]).all():
        raise InvalidParameter(
            f"{name} has a single group, so that draws and folds would take all rows or none; "
            "leave groups out, or pass labels that differ."
        )


# --- columns of the table ------------------------------------------------------------------------


def names_beside(y: Any, sample_weight: Any, groups: Any) -> tuple[str, ...]:
    """Return the names of the columns that hold weights and groups, if they are given by name."""
    named = {"y": y, "sample_weight": sample_weight, "groups": groups}
    roles: dict[str, str] = {}
    for role, name in named.items():
        if not isinstance(name, str):
            continue
        if name in roles:
            raise InvalidParameter(
                f"{role} and {roles[name]} are both the column {name!r}; name another for one of "
                "them."
            )
        roles[name] = role
    return tuple(name for name, role in roles.items() if role != "y")


def column_beside(table: Table, role: str, name: str) -> Column:
    """Return the column that `sample_weight` or `groups` names."""
    if not table.named:
        raise InvalidParameter(
            f"{role} is the name {name!r}, and the columns of an array have no names; pass one "
            "value for each row."
        )
    for column in table.columns:
        if column.name == name:
            return column
    raise InvalidParameter(
        f"{role} is {name!r}, which is not a column of X; name one, or pass one value for each row."
        + did_you_mean(name, table.names)
    )


def split_beside(X: Any, y: Any, sample_weight: Any, groups: Any) -> tuple[Any, Any, Any]:
    """Return a table in memory less the columns that hold weights and groups, and their values.

    Weights and groups that are not given by name stay as they are.
    """
    names = names_beside(y, sample_weight, groups)
    if not names:
        return X, sample_weight, groups
    table = Table.from_any(X)
    if isinstance(sample_weight, str):
        column = column_beside(table, "sample_weight", sample_weight)
        sample_weight = check_weights(finite_numbers(column, 0, table.n_rows), sample_weight)
    if isinstance(groups, str):
        column = column_beside(table, "groups", groups)
        codes = join_parts(groups, [group_part(column, 0, table.n_rows)])
        check_several(codes, None, groups)
        groups = codes
    return without(X, *names), sample_weight, groups
