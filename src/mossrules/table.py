"""Any frame or array -> named columns with kinds. The one place that knows frame libraries.

A `Table` copies nothing: each column knows how to read a slice of its rows as a NumPy array,
float64 with NaN for missing (numbers, and booleans as 0 and 1), or an object array of labels with
None for missing (categories, ordered or not).
Strings that look like numbers stay strings: types are never guessed.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from numbers import Number
from typing import Any

import narwhals as nw
import numpy as np

from mossrules._typing import AnyArray, FloatArray
from mossrules.exceptions import (
    InvalidColumn,
    InvalidTable,
    InvalidTarget,
    MissingColumns,
    UnsupportedType,
)

Label = str | int | float | bool


class Kind(StrEnum):
    """What the values of a column are."""

    NUMERIC = "numeric"
    BOOLEAN = "boolean"
    CATEGORICAL = "categorical"
    ORDERED = "ordered"


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
        if hasattr(X, "toarray"):
            raise UnsupportedType(
                "X is a sparse matrix, which mossrules does not read; pass X.toarray() instead."
            )
        if isinstance(X, Mapping):
            return _table_from_mapping(X)
        if _looks_like_frame(X):
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
                    f"X has {len(self.columns)} features, but {len(names)} features were there in "
                    "training; pass an array with the same columns in the same order."
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
    name = "y"
    if isinstance(y, str):
        column = table.select([y]).columns[0] if table.named else None
        if column is None:
            raise InvalidTarget(
                f"The target is given by the name {y!r}, but the columns of an array have no "
                "names; pass the target's values instead."
            )
        table, name = table.without(y), y
        if column.kind not in (Kind.NUMERIC, Kind.BOOLEAN):
            raise InvalidTarget(
                f"The target {name!r} is {column.kind.value}; a regression target must be numeric."
            )
        y = column.read(0, table.n_rows)
    target = read_vector(y, name, table.n_rows)
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
    try:
        vector = nw.from_native(values, series_only=True).cast(nw.Float64).to_numpy()
    except (TypeError, ValueError, nw.exceptions.NarwhalsError):
        vector = _numbers_from_array(values, name)
    if vector.ndim != 1:
        raise InvalidTarget(
            f"{name} has shape {vector.shape}; pass a one-dimensional array, one number per row."
        )
    if len(vector) != n_rows:
        raise InvalidTarget(
            f"{name} has {len(vector)} values but the table has {n_rows} rows; "
            "pass one value per row."
        )
    bad = int(np.count_nonzero(~np.isfinite(vector)))
    if bad:
        raise InvalidTarget(
            f"{name} has {bad} missing or infinite values (NaN or inf); "
            "remove or fill these rows first."
        )
    return np.ascontiguousarray(vector, dtype=np.float64)


def _numbers_from_array(values: Any, name: str) -> FloatArray:
    array = np.asarray(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.dtype.kind not in "biufO":
        raise InvalidTarget(f"{name} is of type {array.dtype}; it must be numeric.")
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidTarget(f"{name} holds values that are not numbers; convert them.") from error


# --- frames -----------------------------------------------------------------------------------


def _looks_like_frame(X: Any) -> bool:
    return hasattr(X, "columns") and (hasattr(X, "schema") or hasattr(X, "dtypes"))


def _table_from_frame(X: Any) -> Table:
    names = _unique_names(getattr(X, "column_names", None) or list(X.columns))
    try:
        frame = nw.from_native(X, eager_only=True)
    except TypeError as error:
        raise UnsupportedType(
            f"X is a {type(X).__module__.split('.')[0]} {type(X).__name__}, which mossrules does "
            "not read; pass a pandas or polars DataFrame, a pyarrow Table or a NumPy array."
        ) from error
    columns = tuple(
        _column_from_series(name, series)
        for name, series in zip(names, frame.iter_columns(), strict=True)
    )
    return _checked(Table(columns, len(frame)))


def _column_from_series(name: str, series: nw.Series[Any]) -> Column:
    dtype = series.dtype
    if dtype.is_numeric() or (dtype == nw.Unknown and bool(series.is_null().all())):
        return Column(name, Kind.NUMERIC, _read_floats(series))
    if dtype == nw.Boolean:
        return Column(name, Kind.BOOLEAN, _read_floats(series))
    if isinstance(dtype, nw.Enum):
        levels = tuple(dtype.categories)
        return Column(name, Kind.ORDERED, _read_labels(series), levels)
    if dtype in (nw.String, nw.Categorical):
        return Column(name, Kind.CATEGORICAL, _read_labels(series))
    if dtype == nw.Object:
        values = np.empty(len(series), dtype=object)
        values[:] = series.to_list()
        return _column_from_objects(name, values)
    raise UnsupportedType(
        f"Column {name!r} is of type {dtype}, which has no rules of its own; "
        "convert it to numbers (days since a date, say) or to strings, or drop it."
    )


def _read_floats(series: nw.Series[Any]) -> Callable[[int, int], AnyArray]:
    def read(start: int, stop: int) -> AnyArray:
        return np.asarray(series[start:stop].cast(nw.Float64).to_numpy(), dtype=np.float64)

    return read


def _read_labels(series: nw.Series[Any]) -> Callable[[int, int], AnyArray]:
    def read(start: int, stop: int) -> AnyArray:
        part = series[start:stop]
        labels = np.empty(len(part), dtype=object)
        labels[:] = part.to_list()
        labels[part.is_null().to_numpy()] = None
        return labels

    return read


def _table_from_mapping(X: Mapping[Any, Any]) -> Table:
    names = _unique_names(list(X))
    arrays = [np.asarray(values) for values in X.values()]
    shapes = {array.shape for array in arrays}
    if len(shapes) > 1 or any(array.ndim != 1 for array in arrays):
        raise InvalidTable(
            f"The columns of X have shapes {', '.join(sorted(map(str, shapes)))}; "
            "pass one-dimensional columns of equal length."
        )
    columns = tuple(map(_column_from_values, names, arrays))
    return _checked(Table(columns, len(arrays[0]) if arrays else 0))


# --- arrays -----------------------------------------------------------------------------------


def _table_from_array(X: Any) -> Table:
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise InvalidTable("X has rows of different lengths; pass a rectangular table.") from error
    if array.ndim != 2:
        raise InvalidTable(
            f"Expected a 2D array, got an array of shape {array.shape}; "
            "use X.reshape(-1, 1) for one feature or X.reshape(1, -1) for one row."
        )
    columns = tuple(
        _column_from_values(f"x{position}", array[:, position])
        for position in range(array.shape[1])
    )
    return _checked(Table(columns, array.shape[0], named=False))


def _column_from_values(name: str, values: AnyArray) -> Column:
    match values.dtype.kind:
        case "i" | "u" | "f":
            return Column(name, Kind.NUMERIC, _read_array(values, np.float64))
        case "b":
            return Column(name, Kind.BOOLEAN, _read_array(values, np.float64))
        case "U" | "T":
            return Column(name, Kind.CATEGORICAL, _read_array(values, np.object_))
        case "O":
            return _column_from_objects(name, values)
    raise UnsupportedType(
        f"Column {name!r} is of type {values.dtype}, which mossrules does not read "
        "(complex data not supported); convert it to numbers or to strings."
    )


def _read_array(values: AnyArray, dtype: type) -> Callable[[int, int], AnyArray]:
    def read(start: int, stop: int) -> AnyArray:
        return np.ascontiguousarray(values[start:stop], dtype=dtype)

    return read


def _column_from_objects(name: str, values: AnyArray) -> Column:
    """Find the one kind that all values of an object column share."""
    missing = np.fromiter((_is_missing(value) for value in values), dtype=bool, count=len(values))
    types = Counter(_family(value) for value in values[~missing])
    if len(types) > 1:
        found = " and ".join(f"{count} {family}" for family, count in sorted(types.items()))
        raise InvalidColumn(
            f"Column {name!r} mixes types ({found} values); convert it to one type."
        )
    family = next(iter(types), "number")
    if family in ("number", "boolean"):
        numbers = np.full(len(values), np.nan)
        numbers[~missing] = values[~missing].astype(np.float64)
        kind = Kind.NUMERIC if family == "number" else Kind.BOOLEAN
        return Column(name, kind, _read_array(numbers, np.float64))
    if family == "string":
        labels = values.copy()
        labels[missing] = None
        return Column(name, Kind.CATEGORICAL, _read_array(labels, np.object_))
    raise UnsupportedType(
        f"Column {name!r} holds values of type {family}, and each argument must be a number, "
        "a boolean or a string; convert the column."
    )


def _family(value: object) -> str:
    if isinstance(value, bool | np.bool_):
        return "boolean"
    if isinstance(value, Number) and not isinstance(value, complex):
        return "number"
    if isinstance(value, str):
        return "string"
    return type(value).__name__


def _is_missing(value: object) -> bool:
    # pandas' own missing values are known by name, so that pandas need not be installed.
    return (
        value is None
        or (isinstance(value, float) and value != value)  # noqa: PLR0124  NaN
        or type(value).__name__ in ("NAType", "NaTType")
    )


# --- checks -----------------------------------------------------------------------------------


def _unique_names(names: Sequence[object]) -> list[str]:
    """Return the names as strings, each once (integers and tuples become text)."""
    texts = [str(name) for name in names]
    repeated = [name for name, count in Counter(texts).items() if count > 1]
    if repeated:
        raise InvalidTable(
            f"Column names must be unique, but {_listed(repeated)} "
            f"appear{'s' if len(repeated) == 1 else ''} more than once; rename them."
        )
    return texts


def _checked(table: Table) -> Table:
    if not table.columns:
        raise InvalidTable(
            f"The table has no columns: 0 feature(s) (shape=({table.n_rows}, 0)) while a minimum "
            "of 1 is required; pass at least one feature."
        )
    return table


def _missing_columns_message(missing: list[str], available: list[str]) -> str:
    message = f"The table lacks {_listed(missing)}, known from training; add "
    message += "it." if len(missing) == 1 else "them."
    close = difflib.get_close_matches(missing[0], available, n=1)
    return f"{message} Did you mean {close[0]!r}?" if close else message


def _listed(names: Sequence[str], most: int = 10) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"column{'s' if len(names) > 1 else ''} {shown}{more}"
