"""Vectors of any library -> columns that know their kind. With `table`, all that knows frames.

Each column knows how to read a slice of its rows as a NumPy array: float64 with NaN for missing
(numbers, and booleans as 0 and 1), or an object array of labels with None for missing (categories,
ordered or not). Strings that look like numbers stay strings: types are never guessed. Whole numbers
that label something are read as labels too, exactly, as float64 would mix up large ones.

A column that cannot be used says so when it is read, not before: a table may carry dates or notes
that nobody asks for, as the table given for prediction often does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from functools import partial
from numbers import Integral, Real
from typing import Any, NoReturn

import narwhals as nw
import numpy as np

from mossrules._common import cached_property
from mossrules._typing import AnyArray
from mossrules.data.values import Label, as_numbers, float_labels
from mossrules.exceptions import InvalidColumn, MossError, UnsupportedType

__all__ = [
    "NUMBERS",
    "Column",
    "Kind",
    "Label",
    "Vector",
    "as_vector",
    "labels_as",
    "labels_of",
    "make_column",
    "read_as",
    "unmasked",
    "unreadable_column",
    "values_as",
]

Vector = nw.Series[Any] | AnyArray


class Kind(StrEnum):
    """What the values of a column are."""

    NUMERIC = "numeric"
    BOOLEAN = "boolean"
    CATEGORICAL = "categorical"
    ORDERED = "ordered"
    UNSUPPORTED = "unsupported"  # reading it raises the error that says why


NUMBERS = (Kind.NUMERIC, Kind.BOOLEAN)


@dataclass(frozen=True)
class Column:
    """A named column, its kind, and how to read a slice of it.

    `levels` are the labels of an ordered column from lowest to highest; empty for other kinds.
    `read_labels` reads whole numbers exactly, where `read` would round large ones.
    """

    name: str
    kind: Kind
    read: Callable[[int, int], AnyArray]
    levels: tuple[Label, ...] = ()
    read_labels: Callable[[int, int], AnyArray] | None = None

    def labels(self, start: int, stop: int) -> AnyArray:
        """Return the values of some rows as labels of their own type, None for missing."""
        if self.read_labels is not None:
            return self.read_labels(start, stop)
        return labels_of(self, self.read(start, stop))

    def with_values(self, values: AnyArray) -> Column:
        """Return the same column with these values, which are in memory."""
        return Column(self.name, self.kind, partial(_slice, values), self.levels)


def labels_of(column: Column, values: AnyArray) -> AnyArray:
    """Return values that were read of a column as labels of their own type, None for missing."""
    if column.kind not in NUMBERS:
        return values
    return float_labels(column.name, values, truth=column.kind is Kind.BOOLEAN)


def _slice(values: AnyArray, start: int, stop: int) -> AnyArray:
    return values[start:stop]


def as_vector(values: Any) -> Vector:
    """Return a series or an array, without the blurring of `np.asarray`.

    It would read under masks, turn numbers beside strings into strings, and forget an order.
    """
    # Only if they are loaded already: a value of theirs cannot be here otherwise.
    pandas, pyarrow = nw.dependencies.get_pandas(), nw.dependencies.get_pyarrow()
    if pandas is not None and isinstance(values, pandas.api.extensions.ExtensionArray):
        values = pandas.Series(values)
    if pyarrow is not None and isinstance(values, pyarrow.Array):
        values = pyarrow.chunked_array([values])
    values = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(values, nw.Series):
        return values
    if isinstance(values, list | tuple):
        objects = np.empty(len(values), dtype=object)
        objects[:] = values
        return objects
    return unmasked(values)


def unmasked(values: Any) -> AnyArray:
    """Return an array in which values under a mask are missing."""
    if isinstance(values, np.ma.MaskedArray):
        objects: AnyArray = values.data.astype(object)
        objects[np.ma.getmaskarray(values)] = None
        return objects
    return np.asarray(values)


def make_column(name: str, vector: Vector) -> Column:
    """Return the column of a vector; one that cannot be used refuses to be read.

    The vector is looked at when the column is first used: to know objects, all must be seen.
    """
    return _LazyColumn(name, vector)


class _LazyColumn(Column):
    """A column that finds out what it is when it is asked."""

    def __init__(self, name: str, vector: Vector) -> None:
        vars(self).update(name=name, vector=vector)

    @cached_property
    def found(self) -> Column:
        vector: Vector = vars(self)["vector"]
        try:
            if isinstance(vector, nw.Series):
                return _column_from_series(self.name, vector)
            return _column_from_values(self.name, vector)
        except (InvalidColumn, UnsupportedType) as error:
            return unreadable_column(self.name, error)

    @property
    def kind(self) -> Kind:
        return self.found.kind

    @property
    def read(self) -> Callable[[int, int], AnyArray]:
        return self.found.read

    @property
    def levels(self) -> tuple[Label, ...]:
        return self.found.levels

    @property
    def read_labels(self) -> Callable[[int, int], AnyArray] | None:
        return self.found.read_labels


def unreadable_column(name: str, error: MossError) -> Column:
    """Return a column that raises an error when it is read."""
    return Column(name, Kind.UNSUPPORTED, partial(_refuse, error))


def _refuse(error: MossError, _start: int, _stop: int) -> NoReturn:
    raise error


def values_as(expected: Column, found: Column, values: AnyArray) -> AnyArray:
    """Return values of one part of a column as those of the whole, or say how they differ.

    A part of nothing but missing values may be of any kind.
    """
    if expected.kind in NUMBERS and found.kind in NUMBERS:
        truth = expected.kind is Kind.BOOLEAN
        return as_numbers(expected.name, values, truth=truth, when="in another part of the table")
    if (expected.kind in NUMBERS) == (found.kind in NUMBERS):
        strange = set(found.levels).difference(expected.levels) if expected.levels else set()
        if strange or (found.kind is Kind.ORDERED) != (expected.kind is Kind.ORDERED):
            raise InvalidColumn(
                f"Column {expected.name!r} has other levels, or another order of them, in some "
                "parts of the table than in the first; give all parts the same categories."
            )
        return values
    missing = np.isnan(values) if found.kind in NUMBERS else [each is None for each in values]
    if not np.all(missing):
        raise InvalidColumn(
            f"Column {expected.name!r} is {found.kind.value} in one part of the table and "
            f"{expected.kind.value} in another; convert it to one type."
        )
    if expected.kind in NUMBERS:
        return np.full(len(values), np.nan)
    return np.full(len(values), None, dtype=object)


def read_as(expected: Column, found: Column, start: int, stop: int) -> AnyArray:
    """Return values of some rows of one part of a column as those of the whole."""
    return values_as(expected, found, found.read(start, stop))


def labels_as(expected: Column, found: Column, start: int, stop: int) -> AnyArray:
    """Return the labels of one part of a column as those of the whole, or say how they differ."""
    values = read_as(expected, found, start, stop)
    if expected.kind is found.kind is Kind.NUMERIC:
        return found.labels(start, stop)
    return labels_of(expected, values)


# --- series of frame libraries ------------------------------------------------------------------


def _column_from_series(name: str, series: nw.Series[Any]) -> Column:
    dtype, native = series.dtype, series.to_native()
    # narwhals names the type of pandas objects by the first hundred: look at all of them instead.
    if dtype == nw.Object or (series.implementation.is_pandas_like() and native.dtype == object):
        values = np.empty(len(series), dtype=object)
        values[:] = series.to_list()
        return _column_from_objects(name, values)
    if isinstance(getattr(native, "dtype", None), np.dtype) and native.dtype.kind in "biuf":
        return _column_from_values(name, native.to_numpy())  # no need to ask narwhals every time
    if dtype == nw.Boolean:
        return Column(name, Kind.BOOLEAN, _read_floats(series))
    if dtype.is_numeric() or (dtype == nw.Unknown and bool(series.is_null().all())):
        exact = _read_labels(series) if dtype.is_integer() or dtype.is_decimal() else None
        return Column(name, Kind.NUMERIC, _read_floats(series), read_labels=exact)
    if isinstance(dtype, nw.String | nw.Categorical | nw.Enum):
        _refuse_dates(name, series)
        series = _with_label_categories(series)
        levels = _ordered_levels(series)
        kind = Kind.ORDERED if levels else Kind.CATEGORICAL
        return Column(name, kind, _read_labels(series), levels)
    found = dtype if dtype != nw.Unknown else getattr(native, "dtype", None) or native.type
    raise _no_rules(name, f"of type {found}")


def _no_rules(name: str, what: str) -> UnsupportedType:
    return UnsupportedType(
        f"Column {name!r} is {what}, which has no rules of its own; "
        "convert it to numbers (days since a date, say) or to strings, or drop it."
    )


def _refuse_dates(name: str, series: nw.Series[Any]) -> None:
    """Refuse categories that are dates: each library, and each file, writes them its own way."""
    native = series.to_native()
    if series.implementation.is_pandas_like() and hasattr(native.dtype, "categories"):
        values = nw.from_native(native.dtype.categories.to_series(), series_only=True).dtype
        if values.is_temporal():
            raise _no_rules(name, f"a category of type {values}")
    if series.implementation.is_pyarrow() and hasattr(native.type, "value_type"):
        kind = str(native.type.value_type)
        if kind.startswith(("date", "time", "duration")):
            raise _no_rules(name, f"a category of type {kind}")


def _with_label_categories(series: nw.Series[Any]) -> nw.Series[Any]:
    """Rename pandas' categories once: beside a missing value, (0, 1] would read as (0.0, 1.0]."""
    native = series.to_native()
    if not (series.implementation.is_pandas_like() and hasattr(native.dtype, "categories")):
        return series
    labels = _labels(native.dtype.categories.to_list())
    return nw.from_native(native.cat.rename_categories(labels), series_only=True)


def _ordered_levels(series: nw.Series[Any]) -> tuple[Label, ...]:
    """Return the levels from lowest to highest, or none if they have no order."""
    if isinstance(series.dtype, nw.Enum):
        return _labels(series.dtype.categories)
    native = series.to_native()
    if series.implementation.is_pyarrow() and getattr(native.type, "ordered", False):
        chunks = native.unify_dictionaries().chunks
        levels = chunks[0].dictionary.to_pylist() if chunks else ()
        return _labels(level for level in levels if not _is_missing(level))
    return ()


def _labels(values: Iterable[object]) -> tuple[Label, ...]:
    """Return levels as labels: those of other types (intervals, dates) become text."""
    return tuple(map(_label, values))


def _label(value: object) -> Label:
    """Return a value as Python's own text, truth value or number, whole ones exactly."""
    if isinstance(value, str):
        return str.__str__(value)  # not a subclass
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return float(value) if isinstance(value, Real) else str(value)


def _read_floats(series: nw.Series[Any]) -> Callable[[int, int], AnyArray]:
    def read(start: int, stop: int) -> AnyArray:
        part = series[start:stop]
        try:
            floats = part.cast(nw.Float64).to_numpy()
        except ValueError:  # pyarrow does not cast an integer above 2^53, which a float rounds
            floats = part.to_numpy()
        return np.asarray(floats, dtype=np.float64)

    return read


def _read_labels(series: nw.Series[Any]) -> Callable[[int, int], AnyArray]:
    def read(start: int, stop: int) -> AnyArray:
        part = series[start:stop]
        labels = np.empty(len(part), dtype=object)
        labels[:] = part.to_list()
        if part.dtype != nw.String:
            # pyarrow's dictionaries may hold a missing value as an entry like any other.
            labels[:] = [None if _is_missing(label) else _label(label) for label in labels]
        labels[part.is_null().to_numpy()] = None
        return labels

    return read


# --- arrays -------------------------------------------------------------------------------------


def _column_from_values(name: str, values: AnyArray) -> Column:
    match values.dtype.kind:
        case "i" | "u":
            exact = _read_array(values, np.object_)
            read = _read_array(values, np.float64)
            return Column(name, Kind.NUMERIC, read, read_labels=exact)
        case "f":
            return Column(name, Kind.NUMERIC, _read_array(values, np.float64))
        case "b":
            return Column(name, Kind.BOOLEAN, _read_array(values, np.float64))
        case "U":
            return Column(name, Kind.CATEGORICAL, _read_array(values, np.object_))
        case "O" | "T":
            return _column_from_objects(name, values.astype(object))
        case "c":
            raise InvalidColumn(
                f"Complex data not supported: column {name!r} is of type {values.dtype}; "
                "pass its real and imaginary parts as two columns."
            )
    raise UnsupportedType(
        f"Column {name!r} is of type {values.dtype}, which mossrules does not read; "
        "convert it to numbers or to strings, or drop it."
    )


def _read_array(values: AnyArray, dtype: type) -> Callable[[int, int], AnyArray]:
    def read(start: int, stop: int) -> AnyArray:
        with np.errstate(over="ignore"):  # a long double may become infinite, which is seen later
            return np.ascontiguousarray(values[start:stop], dtype=dtype)

    return read


def _column_from_objects(name: str, values: AnyArray) -> Column:
    """Find the one kind that all values of an object column share."""
    missing = np.fromiter(map(_is_missing, values), dtype=bool, count=len(values))
    present = values[~missing]
    families = Counter(map(_family, present))
    unreadable = sorted(families.keys() - {"number", "boolean", "string"})
    if unreadable:
        raise UnsupportedType(
            f"Column {name!r} holds values of type {' and '.join(unreadable)}, and each argument "
            "must be a string, a boolean or a number; convert the column or drop it."
        )
    if len(families) > 1:
        found = " and ".join(f"{count} {family}" for family, count in sorted(families.items()))
        raise InvalidColumn(
            f"Column {name!r} mixes types ({found} values); convert it to one type."
        )
    # A column of strings may have missing values of several makes: None, NaN, pandas' NA.
    if "string" in families:
        labels = np.full(len(values), None, dtype=object)
        labels[~missing] = [str.__str__(label) for label in present]  # not a subclass of str
        return Column(name, Kind.CATEGORICAL, _read_array(labels, np.object_))
    # Decimals and Python's integers of any size become floats, or say that they cannot.
    numbers = np.full(len(values), np.nan)
    try:
        numbers[~missing] = present.astype(np.float64)
    except OverflowError as error:
        raise InvalidColumn(
            f"Column {name!r} holds an integer too large for a float; rescale it."
        ) from error
    if "boolean" in families:
        return Column(name, Kind.BOOLEAN, _read_array(numbers, np.float64))
    exact = partial(_exact_objects, values, missing)
    return Column(name, Kind.NUMERIC, _read_array(numbers, np.float64), read_labels=exact)


def _exact_objects(values: AnyArray, missing: AnyArray, start: int, stop: int) -> AnyArray:
    """Return numbers of any make as Python's own, None for missing."""
    labels = np.full(stop - start, None, dtype=object)
    present = ~missing[start:stop]
    labels[present] = _labels(values[start:stop][present])
    return labels


def _family(value: object) -> str:
    if isinstance(value, str):
        return "string"
    if isinstance(value, bool | np.bool_):
        return "boolean"
    if isinstance(value, Real | Decimal) and not isinstance(value, np.timedelta64):
        return "number"
    return type(value).__name__


def _is_missing(value: object) -> bool:
    if isinstance(value, Decimal):
        return value.is_nan()
    # pandas' own missing values are known by name, so that pandas need not be installed.
    return (
        value is None
        or (isinstance(value, float | np.floating | np.datetime64) and value != value)  # noqa: PLR0124  NaN, NaT
        or type(value).__name__ in ("NAType", "NaTType")
    )
