"""What `cuts` may be: a rule for all columns, cut points of one's own, or an earlier analysis.

`read_cuts` takes what a user passes and refuses what cannot be, before any row is read. Whether the
cut points fit the columns is known later: `CutPoints.check_columns` is for their names and kinds,
and `CutPoints.of` for their values.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from itertools import pairwise
from numbers import Real
from typing import Any, Literal, TypeAlias

from mossrules import defaults
from mossrules.candidates.cuts import MAX_BINS, BinnedColumn, Binning
from mossrules.candidates.thresholds import cut_below, format_number
from mossrules.data.columns import NUMBERS, Column, Kind, Label
from mossrules.data.table import did_you_mean
from mossrules.exceptions import InvalidParameter

__all__ = ["RULES", "CutPoints", "Cuts", "for_parts", "read_cuts"]

# Or a fitted model, a rule set, rule sets by class, or a binning.
Cuts: TypeAlias = Literal["round", "quantile"] | Mapping[str, Sequence[Any]] | Any

RULES = ("round", "quantile")
REMEDY = (
    "pass 'round', 'quantile', a dict such as {'age': [18, 40, 65]}, an earlier model or rule set, "
    "or the path of one as .json"
)
TEXT = re.compile(r"\s*(<=|>=|<|>|)\s*(.*?)\s*", re.DOTALL)


@dataclass(frozen=True)
class CutPoints:
    """Where to cut: columns by name, and a rule for all others."""

    rule: str  # of RULES
    given: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)  # as a user wrote them
    earlier: Mapping[str, BinnedColumn] = field(default_factory=dict)  # of an earlier analysis
    of_part: bool = False  # whether rows may be missing that a cut point sets apart

    def check_columns(self, columns: Sequence[Column]) -> None:
        """Refuse cut points of columns that are not there, or that have no order."""
        by_name = {column.name: column for column in columns}
        for name in self.given:
            if name not in by_name:
                hint = did_you_mean(name, list(by_name)) or f" There are {len(by_name)} columns."
                raise InvalidParameter(f"cuts names {name!r}, which is not a column.{hint}")
            kind = by_name[name].kind
            if kind not in (Kind.NUMERIC, Kind.ORDERED):
                raise InvalidParameter(
                    f"cuts names {name!r}, which is {kind.value} and has nothing to cut between; "
                    "leave it out, or make it a number or an ordered category."
                )
        if self.earlier and not self.earlier.keys() & by_name.keys():
            raise InvalidParameter(
                "cuts is an analysis of other columns, none of which is in this table; pass one "
                "of the same columns."
            )
        for name, before in self.earlier.items():
            if name in by_name:
                _check_kind(before, by_name[name])

    def of(self, column: Column, low: float, high: float, *, checked: bool) -> list[float] | None:
        """Return the cuts of a column, None where the rule has to find them.

        `low` and `high` are its smallest and largest value; of ordered levels, their ranks. Cut
        points of a user's own have to lie between them where that is `checked`.
        """
        if column.name in self.given:
            cuts = _cuts_of(column, self.given[column.name])
            if checked and not self.of_part:
                _check_range(column, self.given[column.name], cuts, low, high)
            return cuts
        before = self.earlier.get(column.name)
        if before is None or not before.cuts or column.kind is Kind.BOOLEAN:
            return None
        if column.kind is Kind.ORDERED:
            return _translated(before, column)
        return list(before.cuts) if column.kind in NUMBERS else None


def read_cuts(cuts: Cuts) -> CutPoints:
    """Return the cut points that a user's `cuts` stands for."""
    if isinstance(cuts, str) and cuts in RULES:
        return CutPoints(cuts)
    if isinstance(cuts, CutPoints):
        return cuts
    binnings = _binnings(cuts)
    if binnings:
        return CutPoints(defaults.CUTS, earlier=_merged(binnings))
    if isinstance(cuts, Mapping):
        return CutPoints(
            defaults.CUTS, {str(name): _read_list(str(name), each) for name, each in cuts.items()}
        )
    if hasattr(cuts, "fit"):
        raise InvalidParameter(
            f"cuts is a {type(cuts).__name__} that is not fitted, or was emptied by a clone; pass "
            "the rules_ of a fitted one."
        )
    raise InvalidParameter(f"cuts is {cuts!r}; {REMEDY}.")


def for_parts(cuts: Cuts) -> Cuts:
    """Return `cuts` for parts of the rows, which may lack the few that a cut point sets apart."""
    if not isinstance(cuts, Mapping) or _binnings(cuts):
        return cuts  # nothing of a user's own
    return replace(read_cuts(cuts), of_part=True)


# --- cut points of one's own ----------------------------------------------------------------------


def _read_list(name: str, values: Any) -> tuple[Any, ...]:
    """Return the cut points of a column; numbers are checked here, levels when they are known."""
    if isinstance(values, str | bytes | Mapping | AbstractSet) or not isinstance(values, Iterable):
        raise InvalidParameter(
            f"cuts has {values!r} for {name!r}; pass a list, such as [18, 40, 65]."
        )
    found = tuple(values)
    if not 1 <= len(found) < MAX_BINS:
        raise InvalidParameter(
            f"cuts has {len(found)} cut points for {name!r}; pass 1 to {MAX_BINS - 1}, or leave "
            "the column out."
        )
    numbers = [_read_number(each) for each in found]
    for value, number in zip(found, numbers, strict=True):
        if number is None and not isinstance(value, str):
            raise _not_a_number(name, value)
    known = [number for number in numbers if number is not None]
    if len(known) == len(numbers):
        _check_increasing(name, found, known)
    return found


def _read_number(value: Any) -> float | None:
    """Return the cut that a number or a text such as "<65" means; None if it is neither.

    `x <= 65` and `x > 65` are two sides of one cut, and so are `x < 65` and `x >= 65`.
    """
    if isinstance(value, bool):
        return None
    sign = ""
    if isinstance(value, str):
        sign, value = TEXT.fullmatch(value).groups()  # type: ignore[union-attr]  # it always does
    elif not (isinstance(value, Real) or hasattr(value, "as_integer_ratio")):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    cut = cut_below(number) if sign in ("<", ">=") else number
    return cut + 0.0 if math.isfinite(cut) else None  # -0.0 is 0.0


def _cuts_of(column: Column, values: Sequence[Any]) -> list[float]:
    if column.kind is Kind.NUMERIC:
        cuts = [_read_number(value) for value in values]
        for value, cut in zip(values, cuts, strict=True):
            if cut is None:
                raise _not_a_number(column.name, value)
        return [cut for cut in cuts if cut is not None]
    ranks = [float(_rank(column, value)) for value in values]
    _check_increasing(column.name, values, ranks)
    return ranks


def _rank(column: Column, value: Any) -> int:
    """Return the rank of a level; a text will do for levels that are numbers."""
    levels: Sequence[Label] = column.levels
    if value in levels:
        return levels.index(value)
    texts = [format_number(level) if isinstance(level, float) else str(level) for level in levels]
    if isinstance(value, str) and value in texts:
        return texts.index(value)
    hint = did_you_mean(str(value), texts) or f" They are {', '.join(texts[:20])}."
    raise InvalidParameter(
        f"cuts has {value!r} for {column.name!r}, which is none of its levels.{hint}"
    )


def _not_a_number(name: str, value: Any) -> InvalidParameter:
    return InvalidParameter(
        f"cuts has {value!r} for {name!r}, which is no cut point; pass finite numbers such as 65 "
        "(age <= 65 or age > 65), or texts such as '<65' (age < 65 or age >= 65)."
    )


def _check_increasing(name: str, values: Sequence[Any], cuts: Sequence[float]) -> None:
    for position, (low, high) in enumerate(pairwise(cuts)):
        if low >= high:
            raise InvalidParameter(
                f"cuts has {values[position]!r} before {values[position + 1]!r} for {name!r}; cut "
                "points have to increase."
            )


def _check_range(
    column: Column, values: Sequence[Any], cuts: Sequence[float], low: float, high: float
) -> None:
    """Refuse a cut that has no row on one of its sides."""
    for value, cut in zip(values, cuts, strict=True):
        if low <= cut < high:
            continue
        if low > high:
            raise InvalidParameter(
                f"cuts names {column.name!r}, which has no values here; leave it out."
            )
        ends = [column.levels[int(end)] if column.levels else end for end in (low, high)]
        least, most = (format_number(end) if isinstance(end, float) else end for end in ends)
        raise InvalidParameter(
            f"cuts has {value!r} for {column.name!r}, which separates no rows, as its values are "
            f"{least} to {most}; leave that cut point out."
        )


# --- an earlier analysis --------------------------------------------------------------------------


def _binnings(cuts: Any) -> list[Binning]:
    """Return the binnings of a fitted model, a rule set, or rule sets by class; none if neither."""
    if isinstance(cuts, Binning):
        return [cuts]
    if hasattr(cuts, "rules_"):
        # The rules know the columns that they use; the candidates know all.
        return _binnings(getattr(cuts, "candidates_", None)) or _binnings(cuts.rules_)
    if isinstance(cuts, Mapping):
        found = [getattr(each, "binning", None) for each in cuts.values()]
        return [each for each in found if isinstance(each, Binning)]
    binning = getattr(cuts, "binning", None)
    return [binning] if isinstance(binning, Binning) else []


def _merged(binnings: Sequence[Binning]) -> dict[str, BinnedColumn]:
    """Return the columns of several binnings that have the same cuts."""
    merged: dict[str, BinnedColumn] = {}
    for binning in binnings:
        for column in binning.columns:
            if merged.setdefault(column.name, column).cuts != column.cuts:
                raise InvalidParameter(
                    f"cuts has different cut points of {column.name!r} for different classes; "
                    "pass the rule set of one class."
                )
    if not any(column.cuts for column in merged.values()):
        raise InvalidParameter("cuts is an analysis without any cut points; pass another.")
    return merged


def _check_kind(before: BinnedColumn, column: Column) -> None:
    """Refuse a column that had other values in the earlier analysis."""
    now_ordered, was_ordered = column.kind is Kind.ORDERED, before.kind is Kind.ORDERED
    now_number, was_number = column.kind in NUMBERS, before.kind in NUMBERS
    if before.cuts and (now_ordered, now_number) != (was_ordered, was_number):
        raise InvalidParameter(
            f"Column {before.name!r} was {before.kind.value} in the analysis that cuts is from, "
            f"and is {column.kind.value} here; convert it to the type it had."
        )


def _translated(before: BinnedColumn, column: Column) -> list[float]:
    """Return cuts between ordered levels as ranks among those that the column has now."""
    ranks = {level: rank for rank, level in enumerate(column.levels)}
    shared = [ranks[level] for level in before.levels if level in ranks]
    if shared != sorted(shared):
        raise InvalidParameter(
            f"The levels of {before.name!r} have another order than in the analysis that cuts is "
            "from; give them the order they had."
        )
    below = (
        [ranks[level] for level in before.levels[: int(cut) + 1] if level in ranks]
        for cut in before.cuts
    )
    return sorted({float(levels[-1]) for levels in below if levels})
