"""Any frame or array -> named columns with kinds. The one place that knows frame libraries.

A `Table` copies nothing: each column knows how to read a slice of its rows as a NumPy array,
float64 with NaN for missing (numbers, and booleans as 0 and 1), or an object array of labels with
None for missing (categories, ordered or not).
Strings that look like numbers stay strings: types are never guessed.

A column that cannot be used says so when it is read, not before: a table may carry dates or notes
that nobody asks for, as the table given for prediction often does.
"""

from __future__ import annotations

import difflib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from functools import partial
from numbers import Real
from typing import Any, NoReturn

import narwhals as nw
import numpy as np

from mossrules._typing import AnyArray, FloatArray
from mossrules.exceptions import (
    InvalidColumn,
    InvalidTable,
    InvalidTarget,
    MissingColumns,
    MossError,
    UnsupportedType,
)

Label = str | int | float | bool
Vector = nw.Series[Any] | AnyArray

READABLE = (
    "pass a pandas or polars DataFrame, a pyarrow Table, a dict of columns or a "
    "two-dimensional array"
)


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
    """

    name: str
    kind: Kind
    read: Callable[[int, int], AnyArray]
    levels: tuple[Label, ...] = ()


@dataclass(frozen=True)
class Table:
    """Columns of equal length, addressed by name."""

    columns: tuple[Column, ...]
    n_rows: int
    named: bool = True  # False when the names were made up for an array

    @classmethod
    def from_any(cls, X: Any) -> Table:
        """Read a pandas, polars or pyarrow table, a dict of columns, or a two-dimensional array."""
        if isinstance(X, Table):
            return X
        if X is None:
            raise UnsupportedType(f"X is None; {READABLE}.")
        if isinstance(X, str | bytes | os.PathLike):
            raise UnsupportedType(
                f"X is the path or text {X!r}, and mossrules does not read files yet; "
                "read the file first, with pandas or polars, and pass the table."
            )
        # Attributes are looked up on the type: those of a pandas frame may be its columns.
        if hasattr(type(X), "toarray"):
            raise UnsupportedType(
                "X is a sparse matrix, which mossrules does not read; pass X.toarray() instead."
            )
        if isinstance(X, Mapping):
            return _table_from_mapping(X)
        if hasattr(type(X), "columns"):
            return _table_from_frame(X)
        return _table_from_array(X)

    @property
    def names(self) -> tuple[str, ...]:
        """Column names, in order."""
        return tuple(column.name for column in self.columns)

    def select(self, names: Sequence[str]) -> Table:
        """Return the columns `names`, in that order.

        The columns of an array have no names of their own and are taken by position.
        """
        if not self.named:
            if len(self.columns) != len(names):
                raise MissingColumns(
                    f"X has {len(self.columns)} features, but mossrules is expecting {len(names)} "
                    "features as input; pass the columns of training in the same order."
                )
            return self
        by_name = {column.name: column for column in self.columns}
        missing = [name for name in names if name not in by_name]
        if missing:
            raise MissingColumns(_missing_columns_message(missing, list(by_name)))
        return Table(tuple(by_name[name] for name in names), self.n_rows)

    def without(self, name: str) -> Table:
        """Return the table less the column `name`."""
        rest = tuple(column for column in self.columns if column.name != name)
        return Table(rest, self.n_rows, self.named)


def split_target(X: Any, y: Any) -> tuple[Table, FloatArray]:
    """Return the table of features and the target as finite float64.

    `y` is the values, or the name of the column of `X` that holds them.
    """
    table = Table.from_any(X)
    if isinstance(y, str):
        column = _target_column(table, y)
        table = table.without(y)
        target = _finite_numbers(column, table.n_rows)
    else:
        target = read_vector(y, "y", table.n_rows)
    if not table.columns:
        raise InvalidTable("The table has no columns besides the target; add features.")
    return table, target


def read_vector(values: Any, name: str, n_rows: int) -> FloatArray:
    """Return `values` as n_rows finite float64 numbers (the target, or sample weights)."""
    if values is None:
        raise InvalidTarget(
            f"The target {name} is None: this requires y to be passed, but the target y is None; "
            "pass one number per row."
        )
    vector = _vector(values)
    if isinstance(vector, np.ndarray) and vector.ndim == 2 and vector.shape[1] == 1:
        vector = vector[:, 0]
    if len(vector.shape) != 1:
        raise InvalidTarget(
            f"{name} has shape {vector.shape}; pass a one-dimensional array, one number per row."
        )
    if len(vector) != n_rows:
        raise InvalidTarget(
            f"{name} has {len(vector)} values but the table has {n_rows} rows; "
            "pass one value per row."
        )
    return _finite_numbers(_column(name, vector), n_rows)


def _target_column(table: Table, name: str) -> Column:
    if not table.named:
        raise InvalidTarget(
            f"The target is given by the name {name!r}, but the columns of an array have no "
            "names; pass the target's values instead."
        )
    for column in table.columns:
        if column.name == name:
            return column
    raise InvalidTarget(
        f"The target {name!r} is not a column of the table; pass the name of one, or the values."
        + _did_you_mean(name, table.names)
    )


def _finite_numbers(column: Column, n_rows: int) -> FloatArray:
    try:
        numbers = column.read(0, n_rows)
    except MossError as error:
        raise InvalidTarget(f"{column.name} must hold numbers. {error}") from error
    if column.kind not in NUMBERS:
        raise InvalidTarget(
            f"{column.name} is {column.kind.value}; it must be numeric: convert it to numbers."
        )
    bad = int(np.count_nonzero(~np.isfinite(numbers)))
    if bad:
        raise InvalidTarget(
            f"{column.name} has {bad} missing or infinite values (NaN or inf); "
            "remove or fill these rows first."
        )
    return numbers


# --- columns ----------------------------------------------------------------------------------


def _vector(values: Any) -> Vector:
    """Return a series or an array, without the blurring of `np.asarray`.

    It would read under masks, turn numbers beside strings into strings, and forget an order.
    """
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
    return _unmasked(values)


def _unmasked(values: Any) -> AnyArray:
    if isinstance(values, np.ma.MaskedArray):
        objects: AnyArray = values.data.astype(object)
        objects[np.ma.getmaskarray(values)] = None
        return objects
    return np.asarray(values)


def _column(name: str, vector: Vector) -> Column:
    try:
        if isinstance(vector, nw.Series):
            return _column_from_series(name, vector)
        return _column_from_values(name, vector)
    except (InvalidColumn, UnsupportedType) as error:
        return Column(name, Kind.UNSUPPORTED, partial(_refuse, error))


def _refuse(error: MossError, _start: int, _stop: int) -> NoReturn:
    raise error


# --- frames -----------------------------------------------------------------------------------


def _table_from_frame(X: Any) -> Table:
    try:
        frame = nw.from_native(X, eager_only=True)
    except TypeError as error:
        raise UnsupportedType(
            f"X is a {type(X).__module__.split('.')[0]} {type(X).__name__}, which mossrules does "
            f"not read; {READABLE} (collect or compute a lazy frame first)."
        ) from error
    except nw.exceptions.DuplicateError:
        names = X.column_names if hasattr(type(X), "column_names") else X.columns
        raise _repeated_names(map(str, names)) from None
    columns = map(_column, _unique_names(frame.columns), frame.iter_columns())
    return _checked(Table(tuple(columns), len(frame)))


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
        return Column(name, Kind.NUMERIC, _read_floats(series))
    if isinstance(dtype, nw.String | nw.Categorical | nw.Enum):
        series = _with_label_categories(series)
        levels = _ordered_levels(series)
        kind = Kind.ORDERED if levels else Kind.CATEGORICAL
        return Column(name, kind, _read_labels(series), levels)
    found = dtype if dtype != nw.Unknown else getattr(native, "dtype", None) or native.type
    raise UnsupportedType(
        f"Column {name!r} is of type {found}, which has no rules of its own; "
        "convert it to numbers (days since a date, say) or to strings, or drop it."
    )


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
        return _labels(chunks[0].dictionary.to_pylist()) if chunks else ()
    return ()


def _labels(values: Iterable[object]) -> tuple[Label, ...]:
    """Return levels as labels: those of other types (intervals, dates) become text."""
    return tuple(value if isinstance(value, Label) else str(value) for value in values)


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
        labels[:] = part.to_list() if part.dtype == nw.String else _labels(part.to_list())
        labels[part.is_null().to_numpy()] = None
        return labels

    return read


# --- dicts and arrays -------------------------------------------------------------------------


def _table_from_mapping(X: Mapping[Any, Any]) -> Table:
    names = _unique_names(list(X))
    vectors = [_vector(values) for values in X.values()]
    for name, vector in zip(names, vectors, strict=True):
        if len(vector.shape) != 1:
            raise InvalidTable(f"Column {name!r} has shape {vector.shape}; pass one value per row.")
        if len(vector) != len(vectors[0]):
            raise InvalidTable(
                f"Column {name!r} has {len(vector)} values but column {names[0]!r} has "
                f"{len(vectors[0])}; pass columns of equal length."
            )
    columns = tuple(map(_column, names, vectors))
    return _checked(Table(columns, len(vectors[0]) if vectors else 0))


def _table_from_array(X: Any) -> Table:
    try:
        array = _unmasked(X)
    except ValueError as error:
        raise InvalidTable("X has rows of different lengths; pass a rectangular table.") from error
    if array.ndim == 0:
        raise UnsupportedType(
            f"X is a {type(X).__name__}, which mossrules does not read; {READABLE}."
        )
    if array.ndim != 2:
        raise InvalidTable(
            f"Expected a 2D array, got an array of shape {array.shape}. Reshape your data: "
            "X.reshape(-1, 1) is one feature, X.reshape(1, -1) is one row."
        )
    if isinstance(X, list | tuple):
        array = np.asarray(X, dtype=object)  # each column has a type of its own
    columns = tuple(
        _column(f"x{position}", array[:, position]) for position in range(array.shape[1])
    )
    return _checked(Table(columns, array.shape[0], named=False))


def _column_from_values(name: str, values: AnyArray) -> Column:
    match values.dtype.kind:
        case "i" | "u" | "f":
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
    if "string" in families:
        labels = np.full(len(values), None, dtype=object)
        labels[~missing] = [str.__str__(label) for label in present]  # not a subclass of str
        return Column(name, Kind.CATEGORICAL, _read_array(labels, np.object_))
    numbers = np.full(len(values), np.nan)
    try:
        numbers[~missing] = present.astype(np.float64)
    except OverflowError as error:
        raise InvalidColumn(
            f"Column {name!r} holds an integer too large for a float; rescale it."
        ) from error
    kind = Kind.BOOLEAN if "boolean" in families else Kind.NUMERIC
    return Column(name, kind, _read_array(numbers, np.float64))


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


# --- checks -----------------------------------------------------------------------------------


def _unique_names(names: Sequence[object]) -> list[str]:
    """Return the names as strings, each once (integers and tuples become text)."""
    texts = [str(name) for name in names]
    if len(set(texts)) < len(texts):
        raise _repeated_names(texts)
    return texts


def _repeated_names(names: Iterable[str]) -> InvalidTable:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    return InvalidTable(
        f"Column names must be unique as text, but {_listed(repeated)} "
        f"appear{'s' if len(repeated) == 1 else ''} more than once; rename them."
    )


def _checked(table: Table) -> Table:
    if not table.columns:
        raise InvalidTable(
            f"The table has no columns: 0 feature(s) (shape=({table.n_rows}, 0)) while a minimum "
            "of 1 is required; pass at least one feature."
        )
    return table


def _missing_columns_message(missing: list[str], available: list[str]) -> str:
    remedy = f"known from training; add {'it' if len(missing) == 1 else 'them'}."
    return f"The table lacks {_listed(missing)}, {remedy}" + _did_you_mean(missing[0], available)


def _did_you_mean(name: str, available: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, available, n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


def _listed(names: Sequence[str], most: int = 10) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"column{'s' if len(names) > 1 else ''} {shown}{more}"
