"""CSV, Excel and Parquet files -> columns by name.

A format is a module of its own, which reads a file whole or in parts; a new one is chosen here. All
parts of a table must agree in names and kinds, and errors name the file and the line.
"""

from __future__ import annotations

import glob
import importlib.util
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, Unpack

from mossrules._files import refuse_pipe
from mossrules._refusals import names_input
from mossrules.data.columns import Kind
from mossrules.data.files.date_columns import dates_in_columns, dates_in_table
from mossrules.data.files.delimited import read_csv, scan_csv
from mossrules.data.files.excel import EXCEL
from mossrules.data.files.parquet import read_parquet, scan_parquet
from mossrules.data.reading import MISSING, Reading, Said
from mossrules.data.table import Columns, ColumnSelection, FileColumns, Table, names_files
from mossrules.exceptions import (
    InvalidFile,
    InvalidParameter,
    MissingDependency,
    UnsupportedType,
)

__all__ = [
    "MISSING",
    "Columns",
    "field_kinds",
    "find_files",
    "read_file",
    "scan_files",
    "scan_if_path",
]

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

SHOWN = 300  # characters of a path
TEXT = (".csv", ".tsv")
PARQUET = (".parquet", ".pq")
# What can be said of files of each format; types, dates and words for missing of all.
NOT_OF = {
    "CSV": ("sheet",),
    "Excel": ("encoding", "delimiter"),
    "Parquet": ("decimal", "thousands", "encoding", "delimiter", "date_order", "sheet"),
}


@names_input("path")
def read_file(
    path: str | os.PathLike[str],
    *,
    only: Collection[str] | None = None,
    drop: Collection[str] = (),
    required: Collection[str] = (),
    kinds: Mapping[str, Kind] | None = None,
    reading: Reading | None = None,
    **said: Unpack[Said],
) -> Columns:
    r"""Return the columns of a CSV file (also .csv.gz, .tsv), Excel or Parquet file, read whole.

    Parameters
    ----------
    path
        Its name tells the format.
    only
        Columns to read, as far as they are there; by default all.
    drop
        Columns to leave out, which must be there.
    required
        More columns that must be there.
    kinds
        What columns hold, where that is known: numbers are then required to be such, and categories
        stay text though they may look like numbers.
    reading
        How the training file of a model was read, as its `reading` says; what is said beside it
        is different.
    **said
        delimiter
            Between the fields of a CSV file; by default the comma, semicolon, tab or bar that fits
            its first lines.
        decimal, thousands
            The decimal sign of numbers, and what stands between groups of three digits; by default
            a point, and nothing.
        na
            Words for a missing value, beside an empty field, NA, N/A, NaN, nan, null and NULL. One
            that is a number, such as "-999", stands for that number however it is written.
        encoding
            Of a CSV file; by default what its first bytes say, else UTF-8.
        types
            "category" or "number" for columns whose values do not tell.
        dates
            What columns of dates become: one or more of "year", "month", "weekday" (Monday is 1),
            "days" (since 1970-01-01) and "age" (in complete years). `{"visit": "month"}` makes a
            column visit_month and leaves out visit. Days and ages may be counted from a day or
            another column: "days@2020-01-01", "age@visit".
        date_order
            "dmy" or "mdy" for dates such as 03/04/2025.
        sheet
            Name of the sheet of an Excel file with several.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "patients.csv")
    ...     _ = path.write_text("id;born;dose\n1;31.12.1990;0,5\n2;1.1.2000;-9\n")
    ...     read_file(path, drop=["id"], decimal=",", na="-9", dates={"born": "age@2025-01-01"})
    {'born_age': array([34., 25.]), 'dose': array([0.5, nan])}
    """
    path = Path(path)
    suffix = _suffix(path)
    whole = _reading_for([path], suffix, reading, said)
    selection = ColumnSelection(path, only, drop, required, {**whole.kinds, **(kinds or {})}, whole)
    columns = read_parquet(selection) if suffix in PARQUET else read_csv(selection)
    return FileColumns(dates_in_columns(columns, whole, only), whole)


@names_input("paths")
def scan_files(
    paths: Paths,
    *,
    only: Collection[str] | None = None,
    drop: Collection[str] = (),
    required: Collection[str] = (),
    kinds: Mapping[str, Kind] | None = None,
    reading: Reading | None = None,
    engine: Literal["threads", "dask"] = "threads",
    **said: Unpack[Said],
) -> Table:
    r"""Return a table of CSV, Excel or Parquet files whose rows stay there until they are read.

    Memory does not grow with the rows: Parquet is read by row groups, a column at a time (by
    pyarrow; without it a file is read whole), CSV and Excel once into a temporary folder.

    Parameters
    ----------
    paths : a path, a pattern, or a list of them
        The files of a pattern, such as `data/*.parquet`, come in the order of their names.
    only, drop, required, kinds, reading, **said
        As in `read_file`.
    engine
        "threads" of this process read the files, or the workers of the current Dask client, who
        must see the same Parquet files under the same names.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from mossrules import MossRegressor
    >>> with TemporaryDirectory() as folder:
    ...     for part in (1, 2):
    ...         text = "id;age;y\n1;30,5;2\n2;40;3\n3;50;9\n4;-9;8\n"
    ...         _ = Path(folder, f"part{part}.csv").write_text(text)
    ...     table = scan_files(f"{folder}/*.csv", drop=["id"], decimal=",", na="-9")
    ...     len(MossRegressor(1, n_trees=20).fit(table, "y").rules_)
    1
    """
    files = find_files(paths)
    suffixes = [_suffix(path) for path in files]
    # They could be read, but not with one meaning: text has no types, and Parquet does.
    if len({suffix in PARQUET for suffix in suffixes}) > 1:
        raise InvalidFile("Some of the files are CSV and some are Parquet; pass one of the two.")
    whole = _reading_for(files, suffixes[0], reading, said)
    selection = [
        ColumnSelection(path, only, drop, required, {**whole.kinds, **(kinds or {})}, whole)
        for path in files
    ]
    table = dates_in_table(_scan(selection, suffixes[0] in PARQUET, engine), whole, only)
    return replace(table, reading=whole)


def _scan(selection: list[ColumnSelection], is_parquet: bool, engine: str) -> Table:
    if engine == "dask":
        if not is_parquet:
            raise InvalidFile(
                f"{selection[0].path} is CSV, or Excel, and a cluster reads Parquet only; "
                "convert it."
            )
        absolute = [replace(each, path=each.path.absolute()) for each in selection]
        return replace(scan_parquet(absolute), on_cluster=True)
    if not is_parquet:
        return scan_csv(selection)
    if importlib.util.find_spec("pyarrow") is not None:
        return scan_parquet(selection)
    if len(selection) == 1:
        return Table.from_any(read_parquet(selection[0]))
    raise MissingDependency(
        "Reading many Parquet files needs pyarrow, which is not installed; "
        'run pip install "mossrules[parquet]".'
    )


def scan_if_path(
    X: Any,
    only: Collection[str] | None = None,
    kinds: Mapping[str, Kind] | None = None,
    reading: Reading | None = None,
) -> Any:
    """Return a table of files where X is the path, a pattern or paths of them; else X itself.

    `kinds` are those that columns have in a model, and `reading` how its file was read.
    """
    if not names_files(X):
        return X
    return scan_files(X, only=only, kinds=field_kinds(X, kinds or {}), reading=reading)


def field_kinds(paths: Paths, kinds: Mapping[str, Kind]) -> Mapping[str, Kind]:
    """Return as what to read the columns of files, given what they are in a model.

    Fields of CSV have no types, so that the model's say what they are. Parquet has types, which
    are kept: what they mean to the model is decided where values are known.
    """
    return {} if _suffix(find_files(paths)[0]) in PARQUET else kinds


# --- what is said of files ------------------------------------------------------------------------


def _reading_for(
    files: Sequence[Path], suffix: str, known: Reading | None, options: Said
) -> Reading:
    """Return how to read files: as said, and otherwise as the files of a model were read."""
    said = Reading.of(**options)
    kind = "Parquet" if suffix in PARQUET else "Excel" if suffix in EXCEL else "CSV"
    usual = Reading()
    for name in NOT_OF[kind]:
        if getattr(said, name) != getattr(usual, name):
            raise InvalidParameter(
                f"{files[0]} is {kind}, of which nothing is to be said by {name}; leave it out."
            )
    if known is None:
        return said
    for name, texts in said.dates.items():
        if name in known.dates and set(texts) != set(known.dates[name]):
            raise InvalidParameter(
                f"The date {name!r} was {' and '.join(known.dates[name])} in training, and is to "
                f"be {' and '.join(texts)} now; leave it out, as the model knows it."
            )
    return replace(said, dates={}).over(replace(known, types={}))


def find_files(paths: Paths) -> list[Path]:
    """Return the files of a path, a pattern, or a list of them."""
    found: list[Path] = []
    for each in [paths] if isinstance(paths, str | os.PathLike) else paths:
        if not isinstance(each, str | os.PathLike):
            kind = type(each).__name__
            raise UnsupportedType(f"One of the paths is of type {kind}; pass text, or a Path.")
        path = os.fspath(each)
        is_pattern = any(sign in path for sign in "*?") and not Path(path).exists()
        # Unlike that of Path, it takes patterns of any kind, from any place on.
        matches = sorted(glob.glob(path, recursive=True)) if is_pattern else [path]  # noqa: PTH207
        if not matches:
            raise InvalidFile(f"No file matches {path}; check the pattern.")
        found += map(Path, matches)
    if not found:
        raise InvalidFile("The list of files is empty; name one at least.")
    return found


def _suffix(path: Path) -> str:
    """Return the suffix of a file that is there, which tells its format."""
    try:
        is_there = path.exists()
    except OSError as reason:  # a name that is too long, say
        raise InvalidFile(
            f"{str(path)[:SHOWN]} cannot be read ({reason.strerror}); check the path."
        ) from reason
    if not is_there:
        raise InvalidFile(f"{path} does not exist; check the path.")
    if path.is_dir():
        raise InvalidFile(f"{path} is a folder; name a file.")
    refuse_pipe(path)
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    if suffix == ".xls":
        raise InvalidFile(f"{path} is an old Excel file; save it as .xlsx, or as CSV.")
    if suffix not in (*TEXT, *EXCEL, *PARQUET) or (suffix in EXCEL and path.suffix == ".gz"):
        raise InvalidFile(
            f"{path} is neither CSV, Excel nor Parquet by its name; "
            "rename it to end in .csv, .csv.gz, .tsv, .xlsx or .parquet."
        )
    return suffix
