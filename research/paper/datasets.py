"""The paper's thirty tables: from a folder of files, or from OpenML."""

from __future__ import annotations

import csv
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mossrules._typing import FloatArray
from mossrules.data.columns import Kind
from mossrules.data.files import read_file
from mossrules.data.table import did_you_mean, split_target
from mossrules.exceptions import (
    InvalidFile,
    InvalidParameter,
    MissingDependency,
    MixedColumnWarning,
)

__all__ = ["NOMINAL", "NUMBERS_OF", "Dataset", "load_dataset"]

# Names as in the paper's table of datasets, and their numbers at OpenML.
NUMBERS_OF = {
    "Ailerons": 296,
    "ESL": 1027,
    "Mercedes_Benz": 42570,
    "Moneyball": 41021,
    "abalone": 183,
    "autoMpg": 196,
    "auto_price": 195,
    "bank32nh": 558,
    "bodyfat": 560,
    "cpu_small": 227,
    "elevators": 216,
    "house_16H": 574,
    "houses": 537,
    "kin8nm": 189,
    "mtp": 405,
    "mv": 344,
    "no2": 547,
    "pol": 201,
    "pollen": 529,
    "puma32H": 308,
    "satellite_image": 294,
    "socmob": 541,
    "space_ga": 507,
    "stock": 223,
    "tecator": 505,
    "us_crime": 315,
    "vinnie": 519,
    "visualizing_galaxy": 690,
    "wind": 503,
    "wine_quality": 287,
}
# Columns that OpenML has as categories, though their levels look like numbers.
NOMINAL = {"autoMpg": ("cylinders", "model", "origin")}
INDEX = "INDEX.csv"
TARGET = "target"
MATCH = "matches_paper"


@dataclass(frozen=True)
class Dataset:
    """A table and its target."""

    name: str
    X: Any
    y: FloatArray
    substitute: bool = False  # other rows than the paper's, as the index of the folder says


def load_dataset(name: str, folder: Path | None = None) -> Dataset:
    """Return one of the paper's tables.

    Parameters
    ----------
    name : as in `NUMBERS_OF`
    folder
        Has INDEX.csv, with the columns `id` (the number at OpenML) and `name`, and for each table a
        file ID_NAME.csv.gz or ID_NAME.csv whose target is the column "target". If the index has a
        column `matches_paper`, "no" at its beginning marks a table that stands in for the paper's.
        Without a folder, scikit-learn fetches tables from OpenML.
    """
    if name not in NUMBERS_OF:
        raise InvalidParameter(
            f"There is no dataset {name!r}; choose from {', '.join(NUMBERS_OF)}."
            f"{did_you_mean(name, list(NUMBERS_OF))}"
        )
    if folder is None:
        return Dataset(name, *_fetch(name))
    path, substitute = _find(name, folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MixedColumnWarning)  # codes with letters are categories
        kinds = {TARGET: Kind.NUMERIC, **dict.fromkeys(NOMINAL.get(name, ()), Kind.CATEGORICAL)}
        columns = read_file(path, required=[TARGET], kinds=kinds)
    y = split_target(columns, TARGET)[1]
    X = {key: column for key, column in columns.items() if key != TARGET}
    return Dataset(name, X, y, substitute)


def _find(name: str, folder: Path) -> tuple[Path, bool]:
    """Return the file of a table, by its number at OpenML, and whether it is a substitute."""
    try:
        with (folder / INDEX).open(encoding="utf-8", newline="") as file:
            known = {row["id"]: (row["name"], row.get(MATCH)) for row in csv.DictReader(file)}
    except (OSError, KeyError, csv.Error, UnicodeDecodeError) as reason:
        raise InvalidFile(
            f"{folder / INDEX} cannot be read; pass as --data a folder with an {INDEX} of the "
            "columns id and name."
        ) from reason
    number = str(NUMBERS_OF[name])
    if number not in known:
        raise InvalidFile(f"{folder / INDEX} has no id {number}, which is {name}; add it.")
    title, match = known[number]
    paths = [folder / f"{number}_{title}{suffix}" for suffix in (".csv.gz", ".csv")]
    for path in paths:
        if path.is_file():
            return path, (match or "").lower().startswith("no")
    raise InvalidFile(f"{paths[0]} is not there, though {INDEX} names it; put it in the folder.")


def _fetch(name: str) -> tuple[Any, FloatArray]:
    """Return the features and the target of a table at OpenML."""
    from sklearn.datasets import fetch_openml  # noqa: PLC0415  only this needs it

    try:
        found = fetch_openml(data_id=NUMBERS_OF[name], as_frame=True, parser="auto")
    except ImportError as reason:
        raise MissingDependency(
            f"Tables from OpenML need pandas, which could not be loaded ({reason}); run pip "
            "install pandas, or pass a folder of files as --data."
        ) from reason
    except (OSError, ValueError) as reason:  # no network, or an answer that is none
        raise InvalidFile(
            f"{name} could not be fetched from OpenML ({reason}); pass a folder of files as --data."
        ) from reason
    return found.data, np.asarray(found.target, dtype=np.float64)
