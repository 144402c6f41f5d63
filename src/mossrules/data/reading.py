"""How the values of a file are meant: decimal signs, words for missing, types, and dates.

A `Reading` is what a user says of a file where the file does not say it itself. Part of it belongs
to one file: its encoding, delimiter and sheet, and types, which a model knows already. The rest
says what values mean. It is kept with the model, and later files are read for it in the same way.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import Any, Self, TypedDict, Unpack

from mossrules._common import cached_property
from mossrules.data.columns import Kind
from mossrules.data.dates import ORDERS, DatePart, check_parts, parse_part
from mossrules.exceptions import InvalidParameter

__all__ = ["MISSING", "TYPES", "Reading", "Said"]

MISSING = frozenset(["", "NA", "N/A", "NaN", "nan", "null", "NULL"])  # the words for it
TYPES = {"category": Kind.CATEGORICAL, "number": Kind.NUMERIC}
DECIMALS = (".", ",")
THOUSANDS = (".", ",", " ", "'", "\N{RIGHT SINGLE QUOTATION MARK}", "\u00a0", "\u202f")
KEPT = ("decimal", "thousands", "na", "dates", "date_order")  # with the model


class Said(TypedDict, total=False):
    """What can be said of files, as arguments: `read_file` describes each."""

    delimiter: str | None
    decimal: str | None
    thousands: str | None
    na: str | Iterable[str]
    encoding: str | None
    types: Mapping[str, str] | None
    dates: Mapping[str, str | Iterable[str]] | None
    date_order: str | None
    sheet: str | None


@dataclass(frozen=True)
class Reading:
    """What a user says of a file; None or nothing where nothing is said.

    `decimal` and `thousands` are the signs in numbers, a point and none unless said; "" for
    thousands says that there are none. `na` are words for a missing value, beside those that always
    are; one that is a number, such as -999, stands for that number however it is written.
    `types` are "category" or "number" by column. `dates` are what columns of dates become (see
    `dates.py`), and `date_order` is "dmy", "mdy" or "ymd". `encoding` and `delimiter` are of a text
    file, `sheet` of an Excel file.
    """

    decimal: str | None = None
    thousands: str | None = None
    na: tuple[str, ...] = ()
    encoding: str | None = None
    delimiter: str | None = None
    types: Mapping[str, str] = field(default_factory=dict)
    dates: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    date_order: str | None = None
    sheet: str | None = None

    def __post_init__(self) -> None:
        texts = {"na": _listed(self.na), "types": dict(self.types)}
        texts["dates"] = {name: _listed(parts) for name, parts in self.dates.items()}
        for word in texts["na"]:
            if not isinstance(word, str):
                raise InvalidParameter(f"na has {word!r}; pass words, in quotes.")
        for name, value in texts.items():
            object.__setattr__(self, name, value)
        _check_choice("decimal", self.decimal, DECIMALS)
        _check_choice("thousands", self.thousands or None, THOUSANDS)
        _check_choice("date_order", self.date_order, ORDERS)
        for word in self.types.values():
            _check_choice("types", word, TYPES)
        if self.separator == self.point:
            raise InvalidParameter(
                f"{self.point!r} is the decimal sign and stands between thousands; say both, and "
                "another for one of them."
            )
        is_one = isinstance(self.delimiter, str) and len(self.delimiter) == 1
        if self.delimiter is not None and (not is_one or self.delimiter in '"\r\n'):
            raise InvalidParameter(f"The delimiter is {self.delimiter!r}; pass one character.")
        _check_encoding(self.encoding)
        check_parts(self.parts)

    def __hash__(self) -> int:
        return hash((self.decimal, self.thousands, self.na, tuple(self.dates)))

    @classmethod
    def of(cls, **said: Unpack[Said]) -> Self:
        """Return what is said by arguments, of which None says nothing, and one word is a list."""
        return cls(**{name: value for name, value in said.items() if value is not None})  # type: ignore[arg-type]

    # --- numbers and words ------------------------------------------------------------------------

    @property
    def point(self) -> str:
        """The decimal sign."""
        return self.decimal or "."

    @property
    def separator(self) -> str:
        """What stands between thousands; empty where nothing does."""
        return self.thousands or ""

    @property
    def is_plain(self) -> bool:
        """Whether numbers are written as programs write them."""
        return self.point == "." and not self.separator

    @cached_property
    def pattern(self) -> str:
        """What numbers look like where they have signs of their own, as a regular expression."""
        point, digits = re.escape(self.point), "[0-9]+"
        if self.separator:
            digits = rf"(?:[0-9]{{1,3}}(?:{re.escape(self.separator)}[0-9]{{3}})+|[0-9]+)"
        return rf"^[+-]?(?:{digits}(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE][+-]?[0-9]+)?$"

    def plain(self, text: str) -> str:
        """Return a number as Python writes it; what is none in these signs becomes empty."""
        if self.is_plain:
            return text
        text = text.strip()
        if not _compiled(self.pattern).match(text):
            return ""
        return text.replace(self.separator, "").replace(self.point, ".")

    @cached_property
    def words(self) -> frozenset[str]:
        """All words for a missing value."""
        return MISSING.union(self.na)

    @cached_property
    def missing_numbers(self) -> tuple[float, ...]:
        """The words for a missing value that are numbers."""
        found = []
        for word in self.na:
            try:
                found.append(float(self.plain(word)))
            except ValueError:
                continue  # a word
        return tuple(found)

    # --- columns ----------------------------------------------------------------------------------

    @property
    def kinds(self) -> dict[str, Kind]:
        """The kinds of the columns whose type was said."""
        return {name: TYPES[word] for name, word in self.types.items()}

    @cached_property
    def parts(self) -> tuple[DatePart, ...]:
        """The columns that are made of dates."""
        return tuple(parse_part(name, text) for name, texts in self.dates.items() for text in texts)

    @cached_property
    def date_columns(self) -> frozenset[str]:
        """The columns that hold dates, those that others are counted from among them."""
        return frozenset(name for part in self.parts for name in part.sources)

    # --- what a model keeps -----------------------------------------------------------------------

    def kept(self, features: Collection[str]) -> Reading:
        """Return what says how values are meant, with the dates of some columns."""
        dates: dict[str, tuple[str, ...]] = {}
        for part in self.parts:
            if part.name in features:
                dates[part.source] = (*dates.get(part.source, ()), part.text)
        said = {name: getattr(self, name) for name in KEPT}
        return Reading(**{**said, "dates": dates, "date_order": self.date_order if dates else None})

    @classmethod
    def common(cls, readings: Iterable[Reading]) -> Reading:
        """Return how to read one file for several models, or say that they disagree."""
        found: Reading | None = None
        for other in readings:
            if found is None:
                found = other
                continue
            for name in ("point", "separator", "na"):
                if getattr(found, name) != getattr(other, name):
                    raise InvalidParameter(
                        f"The rule sets were trained on files that were read in two ways "
                        f"({found.describe() or 'as usual'}; {other.describe() or 'as usual'}); "
                        "read the file first, and pass the table."
                    )
            orders = [each.date_order for each in (found, other) if each.date_order is not None]
            dates = {
                name: (*found.dates.get(name, ()), *other.dates.get(name, ()))
                for name in {**found.dates, **other.dates}
            }
            if len(set(orders)) > 1:
                raise InvalidParameter(
                    "The rule sets were trained on dates in two orders; read the file first, and "
                    "pass the table."
                )
            found = replace(found, dates=dates, date_order=next(iter(orders), None))
        return cls() if found is None else found

    def over(self, other: Reading) -> Reading:
        """Return this reading where it says something, and the other where it does not."""
        return replace(other, **self._said())

    def _said(self) -> dict[str, Any]:
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {
            name: value
            for name, value in values.items()
            if value is not None and value not in ((), {})
        }

    def to_dict(self) -> dict[str, Any]:
        """Return what is said, as JSON has it."""
        content = self._said()
        if self.na:
            content["na"] = list(self.na)
        if self.dates:
            content["dates"] = [[part.source, part.text] for part in self.parts]
        return content

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Reading:
        """Return what `to_dict` has written."""
        dates: dict[str, tuple[str, ...]] = {}
        for source, text in content.get("dates", ()):
            dates[source] = (*dates.get(source, ()), text)
        return cls(**{**content, "dates": dates, "na": tuple(content.get("na", ()))})

    def describe(self) -> str:
        """Return what is said of values, in words; empty where nothing is."""
        said = [f"{self.decimal!r} as the decimal sign"] if self.decimal else []
        said += [f"{self.thousands!r} between thousands"] if self.thousands else []
        said += [f"{', '.join(map(repr, self.na))} as missing"] if self.na else []
        said += [f"{part.text} of {part.source!r} as {part.name!r}" for part in self.parts]
        said += [f"dates in the order {self.date_order}"] if self.date_order else []
        return ", ".join(said)


def _listed(words: str | Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((words,) if isinstance(words, str) else words))


def _check_choice(name: str, value: str | None, choices: Iterable[str]) -> None:
    if value is not None and not (isinstance(value, str) and value in choices):
        listed = ", ".join(map(repr, choices))
        raise InvalidParameter(f"{name} has {value!r}; choose from {listed}.")


def _check_encoding(encoding: str | None) -> None:
    if encoding is None:
        return
    try:
        "".encode(encoding)  # which refuses base64 and the like
        codecs.getincrementaldecoder(encoding)
    except (LookupError, TypeError) as reason:
        raise InvalidParameter(
            f"The encoding {encoding!r} is not known; name one such as utf-8, cp1252 or latin-1."
        ) from reason


@lru_cache(maxsize=32)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
