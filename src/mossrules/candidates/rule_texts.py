"""From the text of a rule back to the rule: what is printed may be asked for.

Text is never taken apart by a grammar: names of columns and categories may hold any words, also
" and " or ">". Each piece is compared with what the bins of a column can print, so that a text
means what is printed like it, or nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from mossrules.candidates.cuts import BinnedColumn, Binning
from mossrules.candidates.rules import OPEN, Condition, Levels, Range, Rule, level_words
from mossrules.data.columns import Kind
from mossrules.exceptions import InvalidParameter

__all__ = ["read_rule"]

NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.])")


def read_rule(text: str, binning: Binning, others: Sequence[str] = ()) -> Rule:
    """Return the rule that prints a text, its conditions in any order, or name the nearest text.

    Parameters
    ----------
    text
        A rule as it is printed.
    binning
        The columns, with their cut points and categories.
    others
        More texts that may be the nearest.
    """
    conditions = _read_conjunction(text.strip().split(" and "), binning)
    if conditions is not None:
        return Rule.of(conditions)
    near = _nearest(text, [*_one_sided(text, binning), *others])
    hint = f"; the nearest is {near!r}" if near is not None else ""
    raise InvalidParameter(
        f"The rule {text!r} must be in, but no column prints it by its cut points or categories"
        f"{hint}."
    )


def _read_conjunction(pieces: Sequence[str], binning: Binning) -> list[Condition] | None:
    """Return conditions that print some pieces; a name may hold the word that joins them."""
    if not pieces:
        return []
    for n in range(1, len(pieces) + 1):
        first = _read_condition(" and ".join(pieces[:n]), binning)
        if first is None:
            continue
        rest = _read_conjunction(pieces[n:], binning)
        if rest is not None:
            return [first, *rest]
    return None


def _read_condition(text: str, binning: Binning) -> Condition | None:
    for column in binning.columns:
        if column.name in text:
            for condition in _possible(text, column):
                if condition.text(column) == text:
                    return condition
    return None


def _possible(text: str, column: BinnedColumn) -> Iterator[Condition]:
    """Yield the conditions on a column that a text may be of."""
    name = column.name
    if column.kind is Kind.CATEGORICAL:
        for start, inside in ((f"{name} is not ", False), (f"{name} is ", True)):
            words = text.removeprefix(start).split(" or ") if text.startswith(start) else []
            known = {level_words(level): level for level in (*column.levels, None)}
            if words and all(word in known for word in words):
                yield Levels(name, frozenset(known[word] for word in words), inside)
        # A category that holds " or " itself, alone.
        for level in column.levels:
            yield from (Levels(name, frozenset([level]), inside) for inside in (True, False))
        return
    yield Range(name, 1, 0, missing=True)
    yield Range(name, 1, OPEN)
    # Only cut points whose number is in the text: there may be hundreds, and pairs of them.
    named = [cut for cut in range(1, len(column.cuts) + 1) if _end(column, cut) in text]
    for missing in (False, True):
        for cut in named:
            yield Range(name, 1, cut, missing=missing)
            yield Range(name, cut + 1, OPEN, missing=missing)
            yield from (Range(name, cut + 1, end, missing=missing) for end in named if end > cut)


def _end(column: BinnedColumn, cut: int) -> str:
    """Return what is printed of a cut point."""
    if column.kind is Kind.BOOLEAN:
        return ""
    words = Range(column.name, 1, cut).text(column)
    return words.removeprefix(f"{column.name} <").lstrip("= ")


# --- what was meant -------------------------------------------------------------------------------


def _one_sided(text: str, binning: Binning) -> Iterator[str]:
    """Yield the texts of rules that cut a column which is named once."""
    for column in binning.columns:
        if column.name in text and column.kind is not Kind.CATEGORICAL:
            for cut in range(1, len(column.cuts) + 1):
                yield Range(column.name, 1, cut).text(column)
                yield Range(column.name, cut + 1, OPEN).text(column)


def _nearest(text: str, others: Sequence[str]) -> str | None:
    """Return the text with the same words and the nearest numbers, or else one that looks alike."""
    shape, numbers = NUMBER.sub("#", text), list(map(float, NUMBER.findall(text)))
    alike = [other for other in others if NUMBER.sub("#", other) == shape]
    if numbers and alike:

        def distance(other: str) -> float:
            pairs = zip(map(float, NUMBER.findall(other)), numbers, strict=True)
            return sum(abs(theirs - ours) for theirs, ours in pairs)

        return min(alike, key=distance)
    return next(iter(get_close_matches(text, others, 1)), None)
