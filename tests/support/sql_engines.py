"""SQL engines that exports of rule sets are run in."""

# ruff: noqa: S608  queries are what is tested
import sqlite3
from functools import cache

import duckdb
import numpy as np
import pyarrow as pa

TABLE = 'a "table" `of` rows'
ENGINES = [("sqlite", "sqlite"), ("sqlite", "ansi"), ("duckdb", "duckdb"), ("duckdb", "ansi")]


def identifier(name):
    """Quote a name as both databases understand it."""
    return '"' + name.replace('"', '""') + '"'


def run_sqlite(columns, sql):
    """Run a query on a table of plain values in SQLite."""
    connection = sqlite3.connect(":memory:")
    listed = ", ".join(map(identifier, columns))
    connection.execute(f"CREATE TABLE {identifier(TABLE)} (the_key, {listed})")
    rows = [[key, *row] for key, row in enumerate(zip(*columns.values(), strict=True))]
    marks = ", ".join("?" * (1 + len(columns)))
    connection.executemany(f"INSERT INTO {identifier(TABLE)} VALUES ({marks})", rows)
    found = connection.execute(sql).fetchall()
    connection.close()
    return found


@cache
def duck():
    """Return one connection for all queries: opening it takes longer than they do."""
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    return connection


def run_duckdb(columns, sql):
    """Run a query on a table of plain values, or of Arrow arrays, in DuckDB."""
    n_rows = len(next(iter(columns.values())))
    arrays = [pa.array(range(n_rows)), *map(pa.array, columns.values())]
    duck().register("given", pa.table(arrays, names=["the_key", *columns]))
    duck().execute(f"CREATE OR REPLACE TABLE {identifier(TABLE)} AS SELECT * FROM given")
    return duck().execute(sql).fetchall()


def run(engine, columns, sql, column=1):
    """Return the predictions that a SELECT with its key gives, by key."""
    rows = {"sqlite": run_sqlite, "duckdb": run_duckdb}[engine](columns, sql)
    assert len({row[0] for row in rows}) == len(rows)
    return np.array([row[column] for row in sorted(rows)])
