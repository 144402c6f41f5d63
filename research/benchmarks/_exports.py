"""Whether exports of a rule set predict what it does, under names that break careless code."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import Any

import duckdb
import numpy as np
import pandas as pd

from mossrules import MossRegressor, RuleSet
from research.benchmarks._data import Floats, read_mixed
from research.harness.reports import Row

DATASETS = (
    "690_visualizing_galaxy",
    "41021_Moneyball",  # texts, and 3,600 missing values
    "183_abalone",
    "541_socmob",
    "42225_diamonds",
    "196_autoMpg",
    "547_no2",
    "560_bodyfat",
    "195_auto_price",
    "42570_Mercedes_Benz_Greener_Manufacturing",  # 376 columns
)
MOST_ROWS = 5_000  # that functions are called on, one by one
TABLE = 'the "table"; --'
HOSTILE = (
    'quo"te', "apo'strophe", "with space", " lead", "trail ", "back`tick", "back\\slash", "a;b--c",
    "select", "from", "ORDER BY", "class", "def", "lambda", "None", "total", "row", "value",
    "prediction", "nombre accentué", "数量", "עברית", "مرحبا", "\u202eturned", "🌲", "👩\u200d🔬",
    "new\nline", "tab\t", "'''", '"""', "{x}", "%s", "?1", ":bind", "$1", "[0]", "100%", "<b>",
    "/* c */", "-1", "1st", "a.b",
)  # fmt: skip


def check_dataset(name: str, n_trees: int) -> Row:
    """Return the largest differences between the predictions of a model and of its exports."""
    table, y = read_mixed(name)
    table, y = table[:MOST_ROWS], y[:MOST_ROWS]
    start = 4 * DATASETS.index(name)  # small tables have few columns: each has other names
    return {"dataset": name, **compare_exports(with_hostile_names(table, start), y, n_trees)}


def with_hostile_names(table: pd.DataFrame, start: int = 0) -> pd.DataFrame:
    """Return the table with other names; once all are used, they come again with a number."""
    names = [
        HOSTILE[(start + i) % len(HOSTILE)] + (f" {i}" if i >= len(HOSTILE) else "")
        for i in range(table.shape[1])
    ]
    return table.set_axis(names, axis="columns")


def compare_exports(table: pd.DataFrame, y: Floats, n_trees: int) -> Row:
    """Fit a model, run each of its exports on the same rows, and compare."""
    model = MossRegressor(n_trees=n_trees, random_state=0).fit(table, y)
    rules, expected = model.rules_, model.predict(table)
    runs: dict[str, Callable[[], Floats]] = {
        "JSON": lambda: RuleSet.from_json(rules.to_json()).predict(table),
        "Python": lambda: run_function(rules.to_python("apply"), table),
        "SQLite": lambda: run_sqlite(rules.to_sql(TABLE, "sqlite"), table),
        "SQLite, ansi": lambda: run_sqlite(rules.to_sql(TABLE), table),
        "DuckDB": lambda: run_duckdb(rules.to_sql(TABLE, "duckdb"), table),
        "DuckDB, ansi": lambda: run_duckdb(rules.to_sql(TABLE), table),
    }
    differences = {name: float(np.abs(run() - expected).max()) for name, run in runs.items()}
    return {
        "rows": len(y),
        "columns": table.shape[1],
        "rules": len(rules),
        "largest prediction": float(np.abs(expected).max()),
        **differences,
    }


def run_function(source: str, table: pd.DataFrame) -> Floats:
    """Return what the exported function says of each row."""
    names: dict[str, Any] = {}
    exec(source, names)  # noqa: S102  our own export
    return np.array([names["apply"](row) for row in table.to_dict("records")])


def run_sqlite(sql: str, table: pd.DataFrame) -> Floats:
    """Return what a SELECT gives in SQLite, where missing is NULL."""
    columns = ", ".join(map(identifier, table.columns))
    marks = ", ".join("?" * table.shape[1])
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"CREATE TABLE {identifier(TABLE)} ({columns})")
        connection.executemany(
            f"INSERT INTO {identifier(TABLE)} VALUES ({marks})",  # noqa: S608  our own names
            ([plain(value) for value in row] for row in table.itertuples(index=False, name=None)),
        )
        return np.array([row[-1] for row in connection.execute(sql)])


def run_duckdb(sql: str, table: pd.DataFrame) -> Floats:
    """Return what a SELECT gives in DuckDB."""
    with closing(duckdb.connect()) as connection:
        connection.execute("SET preserve_insertion_order = true")
        connection.register("given", table)
        connection.execute(f"CREATE TABLE {identifier(TABLE)} AS SELECT * FROM given")  # noqa: S608
        return np.array([row[-1] for row in connection.execute(sql).fetchall()])


def identifier(name: str) -> str:
    """Return a name as SQL quotes it."""
    return '"' + name.replace('"', '""') + '"'


def plain(value: Any) -> Any:
    """Return a value as SQLite takes it."""
    return None if isinstance(value, float) and math.isnan(value) else value
