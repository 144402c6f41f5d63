"""CSV and Parquet files -> columns by name.

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
from typing import Any, Literal

from mossrules._files import refuse_pipe
from mossrules.data.columns import Kind
from mossrules.data.files.delimited import MISSING, read_csv, scan_csv
from mossrules.data.files.parquet import read_parquet, scan_parquet
from mossrules.data.table import Columns, ColumnSelection, Table, names_files
from mossrules.exceptions import InvalidFile, MissingDependency

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

DELIMITERS = {".csv": ",", ".tsv": "\t"}
PARQUET = (".parquet", ".pq")


def read_file(
    path: Path,
    *,
    only: Collection[str] | None = None,
    drop: Collection[str] = (),
    required: Collection[str] = (),
    kinds: Mapping[str, Kind] | None = None,
    delimiter: str | None = None,
) -> Columns:
    r"""Return the columns of a CSV file (also .csv.gz, .tsv) or a Parquet file, read whole.

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
    delimiter
        Between the fields of a CSV file; by default a comma, or a tab in .tsv.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "patients.csv")
    ...     _ = path.write_text("id,age,smoker\n1,30,true\n2,,false\n")
    ...     read_file(path, drop=["id"])["age"]
    array([30., nan])
    """
    selection = ColumnSelection(path, only, drop, required, kinds or {})
    suffix = _suffix(path)
    if suffix in PARQUET:
        return read_parquet(selection)
    return read_csv(selection, DELIMITERS[suffix] if delimiter is None else delimiter)


def scan_files(
    paths: Paths,
    *,
    only: Collection[str] | None = None,
    drop: Collection[str] = (),
    required: Collection[str] = (),
    kinds: Mapping[str, Kind] | None = None,
    delimiter: str | None = None,
    engine: Literal["threads", "dask"] = "threads",
) -> Table:
    r"""Return a table of CSV or Parquet files whose rows stay there until they are read.

    Memory does not grow with the rows: Parquet is read by row groups, a column at a time (by
    pyarrow; without it a file is read whole), CSV once into a temporary folder.

    Parameters
    ----------
    paths : a path, a pattern, or a list of them
        The files of a pattern, such as `data/*.parquet`, come in the order of their names.
    only, drop, required, kinds, delimiter
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
    ...         text = "id,age,y\n1,30,2\n2,40,3\n3,50,9\n4,60,8\n"
    ...         _ = Path(folder, f"part{part}.csv").write_text(text)
    ...     table = scan_files(f"{folder}/*.csv", drop=["id"])
    ...     len(MossRegressor(1, n_trees=20).fit(table, "y").rules_)
    1
    """
    files = find_files(paths)
    suffixes = [_suffix(path) for path in files]
    # They could be read, but not with one meaning: text has no types, and Parquet does.
    if len({suffix in PARQUET for suffix in suffixes}) > 1:
        raise InvalidFile("Some of the files are CSV and some are Parquet; pass one of the two.")
    selection = [ColumnSelection(path, only, drop, required, kinds or {}) for path in files]
    if engine == "dask":
        if suffixes[0] not in PARQUET:
            raise InvalidFile(f"{files[0]} is CSV, and a cluster reads Parquet only; convert it.")
        selection = [replace(each, path=each.path.absolute()) for each in selection]
        return replace(scan_parquet(selection), on_cluster=True)
    if suffixes[0] not in PARQUET:
        return scan_csv(selection, DELIMITERS[suffixes[0]] if delimiter is None else delimiter)
    if importlib.util.find_spec("pyarrow") is not None:
        return scan_parquet(selection)
    if len(files) == 1:
        return Table.from_any(read_parquet(selection[0]))
    raise MissingDependency(
        "Reading many Parquet files needs pyarrow, which is not installed; "
        'run pip install "mossrules[parquet]".'
    )


def scan_if_path(
    X: Any, only: Collection[str] | None = None, kinds: Mapping[str, Kind] | None = None
) -> Any:
    """Return a table of files where X is the path, a pattern or paths of them; else X itself.

    `kinds` are those that columns have in a model.
    """
    return scan_files(X, only=only, kinds=field_kinds(X, kinds or {})) if names_files(X) else X


def field_kinds(paths: Paths, kinds: Mapping[str, Kind]) -> Mapping[str, Kind]:
    """Return as what to read the columns of files, given what they are in a model.

    Fields of CSV have no types, so that the model's say what they are. Parquet has types, which
    are kept: what they mean to the model is decided where values are known.
    """
    return {} if _suffix(find_files(paths)[0]) in PARQUET else kinds


def find_files(paths: Paths) -> list[Path]:
    """Return the files of a path, a pattern, or a list of them."""
    found: list[Path] = []
    for each in [paths] if isinstance(paths, str | os.PathLike) else paths:
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
        raise InvalidFile(f"There is no such file ({reason.strerror}); check the path.") from reason
    if not is_there:
        raise InvalidFile(f"{path} does not exist; check the path.")
    if path.is_dir():
        raise InvalidFile(f"{path} is a folder; name a file.")
    refuse_pipe(path)
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    if suffix not in DELIMITERS and suffix not in PARQUET:
        raise InvalidFile(
            f"{path} is neither CSV nor Parquet by its name; "
            "rename it to end in .csv, .csv.gz, .tsv or .parquet."
        )
    return suffix
