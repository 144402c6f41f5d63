"""One model of values for tables, files, engines and exports: types, and what stands for what.

A value is a number, a truth value or text (a `Family`), and keeps its type from where it is read to
where it is written. Where a column arrives in another type than a model has, it is converted if
only one meaning is possible, and refused in a sentence if not. `docs/data.md` has the table of it:
`as_numbers` is its rows for numbers and truth values, `as_levels` those for categories.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum
from typing import Any

import numpy as np

from mossrules._typing import AnyArray, FloatArray
from mossrules.exceptions import InvalidColumn

__all__ = [
    "EXACT",
    "TRUTH",
    "Family",
    "Label",
    "as_levels",
    "as_numbers",
    "families_of",
    "float_labels",
    "number_in",
    "written",
]

Label = str | int | float | bool

EXACT = 2.0**53  # from here on a float64 does not tell whole numbers apart
TRUTH = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}


class Family(StrEnum):
    """What a value is, whatever column it is in; with its plural for people."""

    NUMBER = "numbers"
    TRUTH = "truth values"
    TEXT = "text"


_FAMILIES: dict[type, Family] = {str: Family.TEXT, bool: Family.TRUTH}


def families_of(labels: Iterable[Any]) -> set[Family]:
    """Return which families labels are of; None is of none."""
    types = set(map(type, labels)) - {type(None)}
    return {_FAMILIES.get(each, Family.NUMBER) for each in types}


# --- numbers and their text -----------------------------------------------------------------------


def written(number: float) -> str:
    """Return the text of a number without a needless sign, zero or point: 2, 2.5."""
    return str(int(number)) if _is_whole(number) else repr(float(number))


def number_in(text: str) -> int | float | None:
    """Return the number that a text is, whole ones exactly; None if it is none."""
    if "_" in text:  # 1_000 is a number to Python and nobody else
        return None
    try:
        return int(text)
    except ValueError:
        pass
    try:
        number = float(text)
    except ValueError:
        return None
    return None if number != number else number  # noqa: PLR0124  "nan" is a word for missing


def _is_whole(number: float) -> bool:
    return isinstance(number, int) or number.is_integer()


def float_labels(name: str, values: FloatArray, *, truth: bool = False) -> AnyArray:
    """Return numbers, or truth values, that were read as floats as labels, None for missing.

    Whole numbers that a float may have rounded are refused: they would be mixed up.
    """
    missing = np.isnan(values)
    large = values[~missing & (np.abs(values) >= EXACT) & np.isfinite(values)]
    if len(large):
        raise InvalidColumn(
            f"Column {name!r} has labels such as {large[0]:.17g}, and from 2^53 on numbers are "
            "read as floats, which mix neighbours up; convert it to text."
        )
    labels = (values > 0).astype(object) if truth else values.astype(object)
    labels[missing] = None
    return labels


# --- a column of numbers or of truth values ------------------------------------------------------


def as_numbers(
    name: str, values: AnyArray, *, truth: bool = False, when: str = "in training"
) -> FloatArray:
    """Return values for a column that was of numbers or, if `truth`, of truth values as 0 and 1.

    Truth values are the numbers 0 and 1, and other numbers are no truth values. Text is no number,
    as there are many ways to write one; true and false there is one way to mean.
    """
    what = "boolean" if truth else "numeric"
    if values.dtype == object:
        labels = values.tolist()
        if truth:
            labels = [TRUTH.get(each, each) if isinstance(each, str) else each for each in labels]
        if Family.TEXT in families_of(labels):
            text = next(label for label in labels if isinstance(label, str))
            remedy = "true and false" if truth else "numbers"
            raise InvalidColumn(
                f"Column {name!r} was {what} {when} and is text now, such as {_shown(text)}; "
                f"convert it to {remedy}."
            )
        values = _floats(name, labels)
    if truth:
        strange = values[~((values == 0) | (values == 1) | np.isnan(values))]
        if len(strange):
            raise InvalidColumn(
                f"Column {name!r} was {what} {when} and is {strange[0]:g} on some row now; "
                "convert it to true and false, or to 1 and 0."
            )
    return values


def _floats(name: str, labels: Sequence[Any]) -> FloatArray:
    try:
        return np.array([np.nan if label is None else float(label) for label in labels])
    except OverflowError as error:
        raise InvalidColumn(
            f"Column {name!r} holds an integer too large for a float; rescale it."
        ) from error


# --- a column of categories -----------------------------------------------------------------------


def as_levels(
    name: str, levels: Sequence[Label], labels: AnyArray, families: Collection[Family] = ()
) -> AnyArray:
    """Return labels as those of a column that had some levels in training, in their type.

    A label that is no level stays one that was never seen, if it could have been one. `families`
    are those of levels that training had and that are not kept.
    """
    known, found = families_of(levels).union(families), families_of(labels.tolist())
    if not known or not found or (len(known) == 1 and found == known):  # nearly always
        return labels
    translate = _Translation(name, tuple(levels), known, found)
    kept: dict[tuple[type, Any], Any] = {}
    translated = np.empty(len(labels), dtype=object)
    for place, label in enumerate(labels.tolist()):
        if label is None:
            continue
        key = type(label), label  # True and 1 are equal
        if key not in kept:
            kept[key] = translate(label)
        translated[place] = kept[key]
    return translated


class _Translation:
    """From labels of any family to the levels of a column, or to the sentence that refuses them."""

    def __init__(
        self, name: str, levels: tuple[Label, ...], known: set[Family], found: set[Family]
    ) -> None:
        self.name, self.levels, self.known = name, levels, known
        self.exact = {(*families_of([level]), level) for level in levels}
        self.by_text = {_text_of(level): level for level in levels}
        # Of levels such as 1 and "1", only a column that has both types says which one is meant.
        self.is_unclear = len(self.by_text) < len(levels) and len(known) > 1 and found < known
        self.numbers = {
            number: text
            for text in levels
            if isinstance(text, str) and (number := number_in(text)) is not None
        }
        self.truths = {TRUTH[each]: each for each in levels if each in TRUTH}

    def __call__(self, label: Label) -> Label:
        family = next(iter(families_of([label])))
        if self.is_unclear or (len(self.known) > 1 and family not in self.known):
            raise self.refusal(label)
        if len(self.known) > 1:  # of several types: each is what it is, or else goes by its text
            is_other = family is Family.TEXT and (family, label) not in self.exact
            return self.by_text.get(_text_of(label), label) if is_other else label
        level = label if family in self.known else self.other(label, family)
        if level is None:
            raise self.refusal(label)
        return level

    def other(self, label: Any, family: Family) -> Label | None:
        """Return what stands for a label of another family; None if that is not certain."""
        match next(iter(self.known)), family:
            case Family.NUMBER, Family.TEXT:
                return number_in(label)
            case Family.NUMBER, _:
                return int(label) if set(self.levels) <= {0, 1} else None
            case Family.TRUTH, Family.TEXT:
                return TRUTH.get(label)
            case Family.TRUTH, _:
                return bool(label) if label in {0, 1} else None
            case _, Family.NUMBER:
                return self.text_of_number(label)
        return self.text_of_truth(label)

    def text_of_number(self, number: Any) -> str | None:
        """Return the text that stands for a number, if the levels that are numbers are all plain.

        Where they have zeros in front, say, a number has lost what tells them apart.
        """
        plain = all(text == written(each) for each, text in self.numbers.items())
        written_once = len(self.numbers) == sum(number_in(each) is not None for each in self.texts)
        return written(number) if self.numbers and plain and written_once else None

    def text_of_truth(self, truth: Any) -> str | None:
        """Return the word that stands for a truth value, if there is one word for each."""
        words = [each for each in self.texts if each in TRUTH]
        if not words or len(words) > len(self.truths):
            return None
        return self.truths.get(truth, str(truth).lower())

    @property
    def texts(self) -> list[str]:
        return [each for each in self.levels if isinstance(each, str)]

    def refusal(self, label: Label) -> InvalidColumn:
        """Return the sentence: what was expected, what came, and what to do."""
        expected = " and ".join(sorted(self.known))
        as_then = ", written as it was then" if Family.TEXT in self.known else ""
        example = next(iter([*self.numbers.values(), *self.levels]), None)
        such = "" if example is None else f" such as {_shown(example)},"
        return InvalidColumn(
            f"Column {self.name!r} had {expected} for categories in training,{such} and is "
            f"{_shown(label)} on some row now; convert it to {expected}{as_then}."
        )


def _text_of(label: Label) -> str:
    if isinstance(label, str | bool):
        return str(label)
    return written(label)


def _shown(label: Label) -> str:
    text = repr(label)
    return text if len(text) <= 50 else f"{text[:50]}..."
