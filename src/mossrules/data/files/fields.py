"""Fields of a column, which are text, and what they are as numbers, truth values, labels or days.

There are two makes: `TextFields` has the text itself, and says what everything means; `ArrowFields`
has it as pyarrow's array, for speed. The second hands every field that it is not certain of to the
first, so that values are the same in every bit whichever has read them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from mossrules._common import cached_property
from mossrules._typing import AnyArray, FloatArray, IntArray
from mossrules.data.columns import Label
from mossrules.data.dates import day_of
from mossrules.data.reading import Reading
from mossrules.data.values import TRUTH

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["ArrowFields", "Coded", "Fields", "TextFields", "is_code"]

CODE = "^0[0-9]+$"


class Coded(NamedTuple):
    """Labels as positions in a list of the distinct ones, the first of them None, for missing."""

    positions: IntArray
    labels: list[Label | None]

    def whole(self) -> AnyArray:
        """Return a label for each row."""
        labels = np.empty(len(self.labels), dtype=object)
        labels[:] = self.labels
        found: AnyArray = labels[self.positions]
        return found


class Fields(Protocol):
    """Some fields of a column."""

    def __len__(self) -> int: ...

    def texts(self) -> Sequence[str]:
        """Return the text of each field, as far as it is not missing."""

    def all_missing(self) -> bool:
        """Whether no field has a value."""

    def numbers(self, *, codes: bool) -> FloatArray | None:
        """Return numbers, or None if some field is none; codes such as 007 only if asked for."""

    def truths(self) -> Coded | None:
        """Return truth values, or None if some field is none."""

    def labels(self) -> Coded:
        """Return the text of each field, None for missing."""

    def days(self) -> FloatArray | None:
        """Return days from 1970-01-01 on, or None if some field is no date for certain."""


def is_code(text: str) -> bool:
    """Tell whether digits begin with a zero, as those of a code do and of a number do not."""
    return len(text) > 1 and text[0] == "0" and text.isdecimal() and text.isascii()


class TextFields:
    """Fields as they stand in the file."""

    def __init__(self, fields: Sequence[str], reading: Reading) -> None:
        self.fields, self.reading = fields, reading

    def __len__(self) -> int:
        return len(self.fields)

    def texts(self) -> Sequence[str]:
        """Return the text of each field."""
        return self.fields

    def _is_missing(self, text: str) -> bool:
        words = self.reading.words
        return text in words or text.strip() in words

    def all_missing(self) -> bool:
        """Whether no field has a value."""
        return all(map(self._is_missing, self.fields))

    def numbers(self, *, codes: bool) -> FloatArray | None:
        """Return numbers, or None if some field is none."""
        fields = self.fields
        if "_" in "".join(fields):  # 1_000 is a number to Python and nobody else
            return None
        if not codes and any(text[:1] == "0" and is_code(text) for text in fields):
            return None
        # Python's own float is exact to the last bit.
        plain, is_missing = self.reading.plain, self._is_missing
        if self.reading.is_plain:
            try:
                return self._without_words(np.array(list(map(float, fields)), dtype=np.float64))
            except ValueError:
                pass  # at a missing value, perhaps, which most blocks are free of
        try:
            numbers = [np.nan if is_missing(text) else float(plain(text)) for text in fields]
        except ValueError:
            return None
        return self._without_words(np.array(numbers, dtype=np.float64))

    def _without_words(self, numbers: FloatArray) -> FloatArray:
        return without_numbers(numbers, self.reading)

    def truths(self) -> Coded | None:
        """Return truth values, or None if some field is none."""
        return _as_truths(self._coded)

    def labels(self) -> Coded:
        """Return the text of each field, None for missing."""
        return self._coded

    @cached_property
    def _coded(self) -> Coded:
        places: dict[str | None, int] = {None: 0}
        positions = [
            places.setdefault(None if self._is_missing(text) else text, len(places))
            for text in self.fields
        ]
        return Coded(np.array(positions, dtype=np.int32), list(places))

    def days(self) -> FloatArray | None:
        """Return days from 1970-01-01 on, or None if some field is no date for certain."""
        return _as_days(self._coded, self.reading)


class ArrowFields:
    """Fields that pyarrow has read as text, in which words for missing are missing already."""

    def __init__(self, array: pa.Array, reading: Reading) -> None:
        self.array, self.reading = array, reading

    def __len__(self) -> int:
        return len(self.array)

    def texts(self) -> Sequence[str]:
        """Return the text of each field; of missing ones, nothing."""
        return ["" if text is None else text for text in self.array.to_pylist()]

    def all_missing(self) -> bool:
        """Whether no field has a value."""
        if self._first is not None and self._first.strip() not in self.reading.words:
            return False
        return self._first is None or len(self._coded.labels) == 1

    @cached_property
    def _first(self) -> str | None:
        """The first field that is there, by which a column of numbers is known at once."""
        present = self.array.drop_null()
        return present[0].as_py() if len(present) else None

    def numbers(self, *, codes: bool) -> FloatArray | None:
        """Return numbers, or None if some field is none."""
        if not codes and self._has_codes():
            return None
        found = self._quickly()
        if found is None:
            return TextFields(self.texts(), self.reading).numbers(codes=codes)
        return without_numbers(found, self.reading)

    def _has_codes(self) -> bool:
        import pyarrow.compute as pc  # noqa: PLC0415  optional

        begin = pc.starts_with(self.array, "0")
        if not pc.any(begin).as_py():
            return False
        some = self.array.filter(begin)
        return bool(pc.any(pc.match_substring_regex(some, CODE)).as_py())

    def _quickly(self) -> FloatArray | None:
        """Return numbers as pyarrow reads them where all of them mean the same to Python."""
        import pyarrow as pa  # noqa: PLC0415  optional
        import pyarrow.compute as pc  # noqa: PLC0415  optional

        texts = self.array
        if not self.reading.is_plain:
            texts = pc.ascii_trim_whitespace(texts)
            if pc.all(pc.match_substring_regex(texts, self.reading.pattern)).as_py() is False:
                return None
            if self.reading.separator:
                texts = pc.replace_substring(texts, self.reading.separator, "")
            texts = pc.replace_substring(texts, self.reading.point, ".")
        for prepare in (None, pc.ascii_trim_whitespace):
            try:
                found = pc.cast(texts if prepare is None else prepare(texts), pa.float64())
            except pa.ArrowInvalid:
                continue  # spaces around numbers, perhaps
            numbers: FloatArray = found.to_numpy(zero_copy_only=False)
            # It takes other words for NaN than Python does.
            return numbers if np.count_nonzero(np.isnan(numbers)) == found.null_count else None
        return None

    def truths(self) -> Coded | None:
        """Return truth values, or None if some field is none."""
        words = self.reading.words
        if (
            self._first is not None
            and self._first not in TRUTH
            and self._first.strip() not in words
        ):
            return None
        return _as_truths(self._coded)

    def labels(self) -> Coded:
        """Return the text of each field, None for missing."""
        return self._coded

    @cached_property
    def _coded(self) -> Coded:
        coded = self.array.dictionary_encode()
        positions = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False) + np.int32(1)
        words = self.reading.words
        labels = coded.dictionary.to_pylist()
        if any(text.strip() in words for text in labels):  # " NA", which pyarrow takes for a label
            return TextFields(self.texts(), self.reading).labels()
        return Coded(positions, [None, *labels])

    def days(self) -> FloatArray | None:
        """Return days from 1970-01-01 on, or None if some field is no date for certain."""
        return _as_days(self._coded, self.reading)


def without_numbers(numbers: FloatArray, reading: Reading) -> FloatArray:
    """Return numbers in which those that stand for a missing value are missing."""
    if not reading.missing_numbers:
        return numbers
    return np.where(np.isin(numbers, reading.missing_numbers), np.nan, numbers)


def _as_truths(coded: Coded) -> Coded | None:
    if not TRUTH.keys() >= set(coded.labels[1:]):
        return None
    truths: list[Any] = [None, *(TRUTH[str(label)] for label in coded.labels[1:])]
    return Coded(coded.positions, truths)


def _as_days(coded: Coded, reading: Reading) -> FloatArray | None:
    days = [day_of(str(label), reading.date_order) for label in coded.labels[1:]]
    if None in days:
        return None
    found: FloatArray = np.array([np.nan, *days], dtype=np.float64)[coded.positions]
    return found
