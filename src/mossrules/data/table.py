"""Any frame, dict or array -> named columns of equal length, copied only when they are read."""

from __future__ import annotations

import difflib
import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from mossrules._typing import AnyArray, FloatArray, IntArray
from mossrules.data.chunks import RowRange, row_ranges
from mossrules.data.columns import NUMBERS, Column, Kind, Vector, as_vector, make_column, unmasked
from mossrules.data.reading import Reading
from mossrules.exceptions import (
    InvalidFile,
    InvalidTable,
    InvalidTarget,
    MissingColumns,
    MossError,
    UnsupportedType,
)

Columns = dict[str, Any]  # arrays, or series of a frame library

READABLE = (
    "pass a pandas or polars DataFrame, a pyarrow Table, a dict of columns or a "
    "two-dimensional array"
)

MAX_WEIGHT = 1e100  # of a row, and 1 over it the least: products of a few still are numbers


@dataclass(frozen=True)
class Table:
    """Columns of equal length, addressed by name."""

    columns: tuple[Column, ...]
    n_rows: int
    named: bool = True  # False when the names were made up for an array
    parts: tuple[RowRange, ...] = ()  # rows that are best read together, where they are in files
    on_cluster: bool = False  # whether parts are read by the workers of a cluster
    has_text_names: bool = True  # False where names were numbers or the like, which are made text
    reading: Reading = field(default_factory=Reading)  # how the values of files were read

    @classmethod
    def from_any(cls, X: Any) -> Table:
        """Read a pandas, polars or pyarrow table, a dict of columns, or a two-dimensional array."""
        if isinstance(X, Table):
            return X
        if X is None:
            raise UnsupportedType(f"X is None; {READABLE}.")
        if isinstance(X, str | bytes | os.PathLike):
            raise UnsupportedType(
                f"X is the path or text {X!r}, and files are read by fit, predict and score only; "
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
        return replace(self, columns=tuple(by_name[name] for name in names))

    def without(self, *names: str) -> Table:
        """Return the table less some columns, as far as they are there."""
        return replace(self, columns=tuple(each for each in self.columns if each.name not in names))

    def loaded(self) -> Table:
        """Return the table in memory: each column is read once, and slices of it are views.

        Values that a frame has as floats, side by side, are not copied.
        """
        columns = tuple(each.with_values(each.read(0, self.n_rows)) for each in self.columns)
        return replace(self, columns=columns, parts=(), on_cluster=False)

    def ranges(self, *, n_jobs: int = 1, chunk_rows: int | None = None) -> Sequence[RowRange]:
        """Return the rows in chunks, as they are best read."""
        return self.parts or row_ranges(self.n_rows, n_jobs=n_jobs, chunk_rows=chunk_rows)


def take_rows(table: Table, positions: IntArray) -> Table:
    """Return some rows of a table, in the order of their positions."""
    columns = tuple(
        Column(
            each.name, each.kind, partial(_pick, each.read(0, table.n_rows), positions), each.levels
        )
        for each in table.columns
    )
    return Table(columns, len(positions), table.named, reading=table.reading)


def _pick(values: AnyArray, positions: IntArray, start: int, stop: int) -> AnyArray:
    return values[positions[start:stop]]


def names_files(X: Any) -> bool:
    """Tell whether X is a path or a pattern, or a list of these."""
    is_list = isinstance(X, list | tuple) and len(X) > 0
    return all(isinstance(each, str | os.PathLike) for each in (X if is_list else [X]))


def is_dask(X: Any) -> bool:
    """Tell whether X is a Dask frame or array, without loading Dask."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr")


# --- targets and weights --------------------------------------------------------------------------


def split_target(X: Any, y: Any) -> tuple[Table, FloatArray]:
    """Return the table of features and the target as finite float64.

    `y` is the values, or the name of the column of `X` that holds them.
    """
    table, column = split_column(X, y)
    return table, finite_numbers(column, 0, table.n_rows)


def split_column(X: Any, y: Any) -> tuple[Table, Column]:
    """Return the table of features, and the target as a column of any kind."""
    table = Table.from_any(X)
    if isinstance(y, str):
        column = target_column(table, y)
        table = table.without(y)
    else:
        column = vector_column(y, "y", table.n_rows)
    if not table.columns:
        raise InvalidTable("The table has no columns besides the target; add features.")
    return table, column


def read_vector(values: Any, name: str, n_rows: int) -> FloatArray:
    """Return `values` as n_rows finite float64 numbers (the target, or sample weights)."""
    return finite_numbers(vector_column(values, name, n_rows), 0, n_rows)


def read_weights(sample_weight: Any, n_rows: int) -> FloatArray | None:
    """Return non-negative weights, or None when all rows count alike."""
    if sample_weight is None:
        return None
    return check_weights(read_vector(sample_weight, "sample_weight", n_rows), "sample_weight")


def check_weights(weights: FloatArray, name: str) -> FloatArray:
    """Return finite weights if they can be such."""
    if weights.min() < 0:
        raise InvalidTarget(f"{name} has negative values; weights must be zero or more.")
    largest = float(weights.max())
    if largest > MAX_WEIGHT or 0 < largest < 1 / MAX_WEIGHT:
        raise InvalidTarget(
            f"The largest of {name} is {largest:g}; rescale them to between "
            f"{1 / MAX_WEIGHT:g} and {MAX_WEIGHT:g}."
        )
    if not weights.any():
        raise InvalidTarget(f"{name} is zero on all rows; let some of them count.")
    if np.count_nonzero(weights) < 2:
        raise InvalidTarget(
            f"{name} leaves fewer than two rows with positive weight; a rule needs more."
        )
    return weights


def vector_column(values: Any, name: str, n_rows: int) -> Column:
    """Return values, of which there is one for each row, as a column."""
    return make_column(name, _one_per_row(values, name, n_rows))


def _one_per_row(values: Any, name: str, n_rows: int) -> Vector:
    if values is None:
        raise InvalidTarget(
            f"The target {name} is None: this requires y to be passed, but the target y is None; "
            "pass one number per row."
        )
    vector = as_vector(values)
    # scikit-learn takes a target of one column too, with a warning that estimators give.
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
    return vector


def target_column(table: Table, name: str) -> Column:
    """Return the column of a table that has the target's name."""
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
        + did_you_mean(name, table.names)
    )


def finite_numbers(column: Column, start: int, stop: int) -> FloatArray:
    """Return some values of a column that has to hold numbers, none of them missing."""
    try:
        numbers = column.read(start, stop)
    except MossError as error:
        raise InvalidTarget(f"{column.name} must hold numbers. {error}") from error
    if column.kind not in NUMBERS:
        raise InvalidTarget(
            f"{column.name} is {column.kind.value}; it must be numeric: convert it to numbers."
        )
    # A missing target cannot be filled in: the row says nothing, and dropping it in silence would
    # change what was asked for.
    bad = int(np.count_nonzero(~np.isfinite(numbers)))
    if bad:
        raise InvalidTarget(
            f"{column.name} has {bad} missing or infinite value{'s' if bad > 1 else ''} "
            "(NaN or inf); remove or fill these rows first."
        )
    return numbers


def target_name(y: Any) -> str | None:
    """Return the name of the target if it has one: that of its column, or of a series."""
    if is_dask(y) and not hasattr(y, "divisions"):
        return None  # an array, whose name is not for people
    name = y if isinstance(y, str) else getattr(y, "name", None)
    return name if isinstance(name, str) and name else None


def without(X: Any, *names: str) -> Any:
    """Return a frame or a dict of columns less some of them, as far as they are there."""
    if isinstance(X, Table):
        return X.without(*names)
    if isinstance(X, Mapping):
        left = {key: values for key, values in X.items() if key not in names}
        return FileColumns(left, X.reading) if isinstance(X, FileColumns) else left
    if not names or not nw.dependencies.is_into_dataframe(X):
        return X
    return nw.from_native(X).drop(names, strict=False).to_native()


# --- frames, dicts and arrays -----------------------------------------------------------------


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
    columns = map(make_column, _unique_names(frame.columns), frame.iter_columns())
    table = Table(tuple(columns), len(frame), has_text_names=_are_text(frame.columns))
    return _checked(table)


def _table_from_mapping(X: Mapping[Any, Any]) -> Table:
    names = _unique_names(list(X))
    vectors = [as_vector(values) for values in X.values()]
    for name, vector in zip(names, vectors, strict=True):
        if len(vector.shape) != 1:
            raise InvalidTable(f"Column {name!r} has shape {vector.shape}; pass one value per row.")
        if len(vector) != len(vectors[0]):
            raise InvalidTable(
                f"Column {name!r} has {len(vector)} values but column {names[0]!r} has "
                f"{len(vectors[0])}; pass columns of equal length."
            )
    columns = tuple(map(make_column, names, vectors))
    n_rows = len(vectors[0]) if vectors else 0
    reading = X.reading if isinstance(X, FileColumns) else Reading()
    return _checked(Table(columns, n_rows, has_text_names=_are_text(X), reading=reading))


def _table_from_array(X: Any) -> Table:
    try:
        array = unmasked(X)
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
        make_column(f"x{position}", array[:, position]) for position in range(array.shape[1])
    )
    return _checked(Table(columns, array.shape[0], named=False))


# --- checks -----------------------------------------------------------------------------------


def _unique_names(names: Sequence[object]) -> list[str]:
    """Return the names as strings, each once (integers and tuples become text)."""
    texts = [str(name) for name in names]
    if len(set(texts)) < len(texts):
        raise _repeated_names(texts)
    return texts


def _are_text(names: Iterable[object]) -> bool:
    return all(isinstance(name, str) for name in names)


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
    return f"The table lacks {_listed(missing)}, {remedy}" + did_you_mean(missing[0], available)


def did_you_mean(name: str, available: Sequence[str]) -> str:
    """Return a question that names the closest of the names there are, or nothing."""
    # One name, the closest: a list of candidates is longer than the look at one's own columns.
    close = difflib.get_close_matches(name, available, n=1)
    return f" Did you mean {_quoted(close[0])}?" if close else ""


def _quoted(name: str, maximum: int = 100) -> str:
    return repr(name) if len(name) <= maximum else f"{name[:maximum]!r}..."


def _listed(names: Sequence[str], maximum: int = 10) -> str:
    shown = ", ".join(_quoted(name) for name in names[:maximum])
    more = f" and {len(names) - maximum} more" if len(names) > maximum else ""
    return f"column{'s' if len(names) > 1 else ''} {shown}{more}"


# --- columns of files -----------------------------------------------------------------------------


__all__ = ["ColumnSelection", "Columns", "FileColumns", "check_same"]


class FileColumns(dict[str, Any]):
    """The columns of a file by name, which remember how they were read."""

    def __init__(self, columns: Mapping[str, Any], reading: Reading) -> None:
        super().__init__(columns)
        self.reading = reading


@dataclass(frozen=True)
class ColumnSelection:
    """Which columns of a file to read, and what is known of them."""

    path: Path
    only: Collection[str] | None
    drop: Collection[str]
    required: Collection[str]
    kinds: Mapping[str, Kind]
    reading: Reading = field(default_factory=Reading)

    def choose(self, names: list[str]) -> list[str]:
        """Return the columns to read, or say which ones are not there."""
        parts = {part.name: part for part in self.reading.parts}
        wanted = None if self.only is None else set(self.only)
        dates = [
            source
            for part in parts.values()
            if wanted is None or part.name in wanted
            for source in part.sources
        ]
        said = [*self.reading.types, *dates] if self.only is None else dates
        for name in (*self.drop, *self.required, *said):
            if name not in names and name not in parts:
                raise MissingColumns(
                    f"{self.path} has no column {name!r}; check the names of its columns."
                    + did_you_mean(name, names)
                )
        for part in parts.values():
            if part.name in names and part.source in dates:
                raise InvalidFile(
                    f"{self.path} has a column {part.name!r} already, which the date "
                    f"{part.source!r} would become; rename it."
                )
        return [
            name
            for name in names
            if name in dates or (name not in self.drop and (wanted is None or name in wanted))
        ]


def check_same(path: Path, names: Collection[str], expected: Collection[str]) -> None:
    """Refuse a file whose columns are not those of the files before it."""
    for name in set(names) ^ set(expected):
        lacks = "lacks" if name in expected else "has"
        raise MissingColumns(
            f"{path} {lacks} the column {name!r}, unlike the files before it; files that are read "
            "as one table need the same columns."
        )
