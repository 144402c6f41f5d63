# ruff: noqa: S608  queries are what is tested
import math
import sqlite3
from contextlib import closing

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from mossrules import RuleSet, find_candidates
from mossrules.candidates.cuts import BinnedColumn, Binning
from mossrules.candidates.rules import OPEN, Levels, Range, Rule
from mossrules.data.columns import Kind
from mossrules.exceptions import InvalidParameter
from mossrules.model.export_sql import cut_literal, weight_literal
from support.model_cases import HOSTILE, MAKERS, _measured, plain_values, records, wild_ruleset
from support.oracles import SHARED_DATA
from support.sql_engines import ENGINES, TABLE, duck, identifier, run, run_sqlite


def one_rule(column, condition, weight=1.0, intercept=0.0):
    """Return the rule set of one rule with one condition."""
    return RuleSet(
        (Rule.of([condition]),),
        [weight],
        intercept,
        Binning((column,)),
        (column.name,),
        [0.5],
        [0.5],
    )


@pytest.mark.parametrize(("engine", "dialect"), ENGINES)
@pytest.mark.parametrize("seed", range(12))
def test_databases_compute_what_predict_does(engine, dialect, seed):
    """Rules of tables of all kinds, run in a database on awkward rows, give the same bits."""
    ruleset, later = wild_ruleset(seed)
    rng = np.random.default_rng(seed)
    columns = {name: plain_values(later[name], rng) for name in later}
    if engine == "duckdb":  # types that Python's values do not have
        columns |= {
            name: pa.array(columns[name], pa.float32())
            for name in later
            if later[name].dtype == np.float32
        }
    found = run(engine, columns, ruleset.to_sql(TABLE, dialect, keep=["the_key"]))
    np.testing.assert_array_equal(found, ruleset.predict(later))


DATASETS = [
    "183_abalone", "195_auto_price", "196_autoMpg", "223_stock", "41021_Moneyball", "503_wind",
    "541_socmob", "547_no2", "560_bodyfat", "690_visualizing_galaxy",
]  # fmt: skip


@pytest.mark.parametrize("dataset", DATASETS)
def test_exports_agree_on_real_data(dataset):
    """Ten of the paper's datasets under hostile names, with the fifteen most frequent rules."""
    path = SHARED_DATA / "openml" / f"{dataset}.csv.gz"
    if not path.exists():
        pytest.skip(f"needs the paper's dataset {dataset}, which is not part of the repository")
    X = pd.read_csv(path).iloc[:1500]
    y = X.pop(X.columns[-1])
    X.columns = HOSTILE[: X.shape[1]]
    candidates = find_candidates(X, y, n_trees=100)
    weights = np.random.default_rng(0).normal(size=15) * y.std()
    ruleset = RuleSet.from_candidates(candidates, range(15), weights, y.mean())
    expected = ruleset.predict(X)
    columns = {name: plain_values(X[name]) for name in X}
    for engine, dialect in ENGINES:
        found = run(engine, columns, ruleset.to_sql(TABLE, dialect, keep=["the_key"]))
        np.testing.assert_array_equal(found, expected)
    names = {}
    exec(ruleset.to_python(), names)  # noqa: S102  our own export
    np.testing.assert_array_equal([names["predict"](row) for row in records(X)], expected)
    np.testing.assert_array_equal(RuleSet.from_json(ruleset.to_json()).predict(X), expected)


def test_the_tables_above_have_all_that_is_hard():
    """Among the rule sets run in databases are all kinds of columns, conditions and values."""
    seen, rows = set(), []
    for seed in range(12):
        ruleset, later = wild_ruleset(seed)
        rows += records(later, np.random.default_rng(seed))
        for rule in ruleset:
            for each in rule.conditions:
                kind = ruleset.binning[each.feature].kind
                missing = each.missing if isinstance(each, Range) else None in each.levels
                seen.add((kind, missing, isinstance(each, Levels) and not each.inside))
    values = [value for row in rows for value in row.values()]
    assert {kind for kind, _, _ in seen} == set(Kind) - {Kind.UNSUPPORTED}
    assert {(Kind.NUMERIC, True, False), (Kind.ORDERED, True, False)} <= seen
    assert {(Kind.CATEGORICAL, False, True), (Kind.CATEGORICAL, True, False)} <= seen
    assert "never seen" in values
    assert any(isinstance(value, float) and math.isnan(value) for value in values)
    assert any(isinstance(value, int) and value > 1 << 53 for value in values)


@pytest.mark.parametrize(("engine", "dialect"), ENGINES)
def test_every_name_survives(engine, dialect):
    """A table whose columns have all the hostile names at once; each is found by its own."""
    names = [name for name in HOSTILE if name != "the_key"]
    columns = {name: [float(i == j) for i in range(len(names))] for j, name in enumerate(names)}
    binning = Binning(tuple(BinnedColumn(name, Kind.NUMERIC, (0.5,)) for name in names))
    rules = tuple(Rule.of([Range(name, low=2)]) for name in names)
    halves = np.full(len(names), 0.5)
    weights = np.arange(1.0, len(names) + 1)
    ruleset = RuleSet(rules, weights, 0.0, binning, tuple(names), halves, halves)
    found = run(engine, columns, ruleset.to_sql(TABLE, dialect, keep=["the_key"]))
    np.testing.assert_array_equal(found, weights)


@pytest.mark.parametrize(("engine", "dialect"), ENGINES)
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize(("low", "high"), [(1, 1), (2, 2), (2, OPEN), (1, OPEN), (1, 0)])
def test_missing_is_null_or_nan(engine, dialect, low, high, missing):
    """NULL passes exactly where missing values do, and so does NaN where a database has it."""
    missing = missing if low <= high else True
    if (low, high, missing) == (1, OPEN, True):
        return
    column = BinnedColumn("x", Kind.NUMERIC, (-1.0, 2.0))
    ruleset = one_rule(column, Range("x", low, high, missing))
    values = [-1.0, 0.0, 2.0, 3.0, None, math.nan, 1.7e308, -1.7e308]
    found = run(engine, {"x": values}, ruleset.to_sql(TABLE, dialect, keep=["the_key"]))
    expected = ruleset.predict({"x": values})
    assert expected[4] == expected[5] == float(missing)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(("engine", "dialect"), ENGINES)
def test_booleans_may_be_stored_as_numbers(engine, dialect):
    """True and false, 1 and 0, or 1.0, 0.0 and NaN: all the same."""
    column = BinnedColumn("b", Kind.BOOLEAN, (0.0,))
    for values in ([True, False, None], [1, 0, None], [1.0, 0.0, None, math.nan]):
        for condition in (
            Range("b", high=1), Range("b", low=2), Range("b", 1, 0, missing=True), Range("b"),
            Range("b", high=1, missing=True), Range("b", low=2, missing=True),
        ):  # fmt: skip
            ruleset = one_rule(column, condition)
            found = run(engine, {"b": values}, ruleset.to_sql(TABLE, dialect, keep=["the_key"]))
            np.testing.assert_array_equal(found, ruleset.predict({"b": values}))


def test_columns_of_other_types_are_compared_as_doubles():
    """32-bit floats, decimals, short and unsigned integers and enumerations in DuckDB."""
    column = BinnedColumn("x", Kind.NUMERIC, (0.1, 15.527698, 9007199254740992.0))
    for values in (
        pa.array([0.1, 15.527698, 1.0], pa.float32()),
        pa.array(["0.1", "15.527698", "15.527699"]).cast(pa.decimal128(18, 6)),
        pa.array([0, 15, 16], pa.int8()),
        pa.array([(1 << 53) + 1, (1 << 53) + 2, (1 << 64) - 1], pa.uint64()),
    ):
        for condition in (Range("x", high=1), Range("x", low=2, high=2), Range("x", low=4)):
            ruleset = one_rule(column, condition)
            for dialect in ("ansi", "duckdb"):
                sql = ruleset.to_sql(TABLE, dialect, keep=["the_key"])
                found = run("duckdb", {"x": values}, sql)
                np.testing.assert_array_equal(found, ruleset.predict(pa.table({"x": values})))
    # A whole number that 32 bits round up, between two that they have.
    column = BinnedColumn("x", Kind.NUMERIC, (16777219.0,))
    values = pa.array([16777218.0, 16777220.0], pa.float32())
    ruleset = one_rule(column, Range("x", low=2))
    found = run("duckdb", {"x": values}, ruleset.to_sql(TABLE, keep=["the_key"]))
    np.testing.assert_array_equal(found, [0.0, 1.0])
    words = pa.array(["a", "b", None]).dictionary_encode()
    levels = BinnedColumn("x", Kind.CATEGORICAL, levels=("a", "gone"))
    ruleset = one_rule(levels, Levels("x", frozenset(["a", "gone"])))
    found = run("duckdb", {"x": words}, ruleset.to_sql(TABLE, keep=["the_key"]))
    np.testing.assert_array_equal(found, [1.0, 0.0, 0.0])


# --- literals -------------------------------------------------------------------------------------


def doubles_by(seed):
    """Return numbers of few digits and of all, of all magnitudes, and some on edges."""
    rng = np.random.default_rng(seed)
    usual = rng.normal(size=300) * 10.0 ** rng.integers(-12, 12, 300)
    short = [
        round(value, int(digits))
        for value, digits in zip(usual, rng.integers(0, 9, 300), strict=True)
    ]
    tiny_to_huge = rng.normal(size=300) * 2.0 ** rng.integers(-1060, 1020, 300)
    edges = [
        2.0**power + step
        for power in (23, 24, 50, 51, 52, 53, 54, 62, 63, 64)
        for step in (-0.5, 0, 0.5, 1)
    ]
    edges += [5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 6.62607015e-34, 1e22, 1e23]
    return [float(value) for value in (*usual, *short, *tiny_to_huge, *edges)]


def read_by(connection, literals):
    """Return the doubles that a database makes of literals."""
    columns = ", ".join(f"CAST({literal} AS DOUBLE PRECISION)" for literal in literals)
    (row,) = connection.execute(f"SELECT {columns}").fetchall()
    return list(row)


@pytest.mark.parametrize("seed", range(10))
def test_databases_read_cuts_to_the_last_bit(seed):
    """SQLite, whose reading of long literals is off by a bit now and then, too."""
    values = doubles_by(seed)
    literals = [cut_literal(value) for value in values]
    with closing(sqlite3.connect(":memory:")) as sqlite:
        assert read_by(sqlite, literals) == values
    assert read_by(duck(), literals) == values


@pytest.mark.parametrize("seed", range(10))
def test_databases_read_weights_well(seed):
    """To the last bit in DuckDB, and in SQLite for numbers that are not astronomical."""
    values = doubles_by(seed)
    literals = [weight_literal(value) for value in values]
    assert read_by(duck(), literals) == values
    with closing(sqlite3.connect(":memory:")) as sqlite:
        for found, value in zip(read_by(sqlite, literals), values, strict=True):
            exact = 1e-15 < abs(value) < 1e15
            assert found == (value if exact else pytest.approx(value, rel=1e-15, abs=5e-324))


def test_short_numbers_are_written_as_they_are():
    """Nobody needs to divide to read 26.9."""
    assert cut_literal(26.9) == "26.9e0"
    assert cut_literal(-3.0) == "-3"
    assert cut_literal(0.0001) == "0.0001e0"
    assert cut_literal(15.527698) == "(15527698e0 / 1e6)"
    assert weight_literal(-0.25) == "-0.25e0"


# --- statements -----------------------------------------------------------------------------------


def test_an_expression_can_stand_anywhere():
    """In arithmetic, in a condition, in a query of the user's own."""
    ruleset = one_rule(BinnedColumn("x", Kind.NUMERIC, (2.0,)), Range("x", low=2), 3.0, 1.0)
    expression = ruleset.to_sql()
    sql = f"SELECT the_key, 2 * {expression} FROM {identifier(TABLE)} WHERE {expression} > 2"
    for engine in ("sqlite", "duckdb"):
        assert run(engine, {"x": [1.0, 3.0, 4.0]}, sql).tolist() == [8.0, 8.0]


def test_a_select_gives_the_prediction_alone_unless_asked_for_more():
    """Its column is called prediction; tables may be in a schema; kept columns come first."""
    ruleset = one_rule(BinnedColumn("x", Kind.NUMERIC, (2.0,)), Range("x", low=2))
    with duckdb.connect() as connection:
        connection.execute("CREATE SCHEMA s; CREATE TABLE s.t AS SELECT 7 AS k, 3.0 AS x")
        cursor = connection.execute(ruleset.to_sql(("s", "t")))
        assert [column[0] for column in cursor.description] == ["prediction"]
        assert cursor.fetchall() == [(1.0,)]
        assert connection.execute(ruleset.to_sql(("s", "t"), keep=["k"])).fetchall() == [(7, 1.0)]


def test_no_rules_predict_the_intercept():
    """A rule set without rules is a constant."""
    ruleset = RuleSet((), [], 1.5, Binning(()), ("x",), [], [])
    for engine, dialect in ENGINES:
        sql = ruleset.to_sql(TABLE, dialect, keep=["the_key"])
        assert run(engine, {"x": [1, 2]}, sql).tolist() == [1.5, 1.5]


def test_a_missing_column_is_an_error_in_sqlite_not_a_string():
    """SQLite takes a name in double quotes that is no column for text; one in backticks not."""
    ruleset = one_rule(BinnedColumn("gone", Kind.NUMERIC, (2.0,)), Range("gone", low=2))
    with pytest.raises(sqlite3.OperationalError, match="no such column: gone"):
        run_sqlite({"x": [1.0]}, ruleset.to_sql(TABLE, "sqlite"))


def test_levels_may_be_numbers():
    """Categories of floats, which are compared as exactly as cuts; infinity has no literal."""
    for seed in range(5):
        ruleset, later = wild_ruleset(seed, makers=(_measured, *MAKERS[:2]))
        columns = {name: plain_values(later[name]) for name in later}
        levels = [level for column in ruleset.binning.columns for level in column.levels]
        named = {
            level
            for rule in ruleset
            for each in rule.conditions
            if isinstance(each, Levels)
            for level in each.levels
        }
        if math.inf in named:
            with pytest.raises(InvalidParameter, match=r"Level inf of column .* no SQL literal"):
                ruleset.to_sql()
        elif levels:
            for engine, dialect in ENGINES:
                found = run(engine, columns, ruleset.to_sql(TABLE, dialect, keep=["the_key"]))
                np.testing.assert_array_equal(found, ruleset.predict(later))


def test_what_cannot_be_written_in_sql_is_refused():
    """Unknown dialects, columns to keep without a table, characters that SQL has not."""
    ruleset = one_rule(BinnedColumn("a\0b", Kind.NUMERIC, (2.0,)), Range("a\0b", low=2))
    with pytest.raises(InvalidParameter, match="NUL"):
        ruleset.to_sql()
    fine = one_rule(
        BinnedColumn("x", Kind.CATEGORICAL, levels=("\ud800", "b")), Levels("x", frozenset("b"))
    )
    assert "'b'" in fine.to_sql()
    with pytest.raises(InvalidParameter, match="surrogate"):
        one_rule(fine.binning["x"], Levels("x", frozenset(["\ud800"]))).to_sql()
    with pytest.raises(InvalidParameter, match="choose one of ansi, duckdb, sqlite"):
        fine.to_sql(dialect="oracle")
    with pytest.raises(InvalidParameter, match="pass the table"):
        fine.to_sql(keep=["k"])


def test_pandas_frames_can_be_queried_as_they_are():
    """DuckDB reads a pandas frame by name; categories and missing values included."""
    frame = pd.DataFrame({"x": [1.0, np.nan, 5.0], "c": pd.Categorical(["a", None, "b"])})
    binning = Binning(
        (
            BinnedColumn("x", Kind.NUMERIC, (2.0,)),
            BinnedColumn("c", Kind.CATEGORICAL, levels=("a", "b")),
        )
    )
    rules = (
        Rule.of([Range("x", low=2, missing=True)]),
        Rule.of([Levels("c", frozenset("a"), False)]),
    )
    ruleset = RuleSet(rules, [1.0, 10.0], 0.0, binning, ("x", "c"), [0.5, 0.5], [0.5, 0.5])
    found = duckdb.execute(f"SELECT {ruleset.to_sql()} FROM frame").fetchall()
    assert [value for (value,) in found] == ruleset.predict(frame).tolist() == [0.0, 11.0, 11.0]
