"""A model gives the same predictions wherever it was trained and whatever it predicts from.

Every kind of column is trained from each source of tables and predicted from each, complete and
with gaps. The target follows from the column's value, so that a model which takes a label for
another one is off by 10: nothing here rests on what the package takes for right.
"""

import datetime as dt
from functools import cache
from pathlib import Path

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from mossrules import MossRegressor
from mossrules.cli.predict import read_features
from mossrules.data import scan_files
from mossrules.exceptions import MossError
from mossrules.model.ruleset import RuleSet
from support.sql_engines import ENGINES, TABLE, run

N = 48
DAYS = [dt.date(2020, 1, day) for day in (1, 2, 3)]
# Of each kind its values, of which the second one has the high target, and how it is made.
KINDS = {
    "number": ([0.5, 1.5, 2.5], "plain"),
    "integer": ([1, 2, 3], "plain"),
    "truth": ([False, True], "plain"),
    "text": (["red", "green", "blue"], "plain"),
    "digits": (["1", "2", "3"], "plain"),
    "postcode": (["01", "02", "03"], "plain"),
    "text category": (["red", "green", "blue"], "category"),
    "integer category": ([1, 2, 3], "category"),
    "float category": ([0.5, 1.0, 2.0], "category"),
    "truth category": ([False, True], "category"),
    "ordered": (["s", "m", "l"], "ordered"),
    "ordered integer": ([1, 2, 3], "ordered"),
    "date": (DAYS, "plain"),
}
SOURCES = ["pandas", "polars", "pyarrow", "dict", "csv", "parquet", "dask"]
ENGINES_OF_FILES = ["csv by the command", "parquet by the command", "parquet on workers"]


def values_of(kind, *, gaps):
    """Return the column as a list, with the target: 10 at its second value."""
    levels, _ = KINDS[kind]
    values = [levels[row % len(levels)] for row in range(N)]
    target = np.array([10.0 if value == levels[1] else 0.0 for value in values])
    if gaps:
        values[1::4] = [None] * len(values[1::4])
        target[1::4] = 0.0
    return values, target


def as_pandas(kind, values):
    """Return a frame as pandas users have it: integers beside gaps are floats."""
    levels, how = KINDS[kind]
    if how == "plain":
        column = pd.to_datetime(values) if kind == "date" else pd.Series(values)
        return pd.DataFrame({"a": column})
    return pd.DataFrame({"a": pd.Categorical(values, levels, ordered=how == "ordered")})


def as_polars(kind, values):
    """Return a frame of polars, whose categories are text."""
    levels, how = KINDS[kind]
    of_text = how != "plain" and isinstance(levels[0], str)
    dtype = (pl.Enum(levels) if how == "ordered" else pl.Categorical) if of_text else None
    return pl.DataFrame({"a": pl.Series(values, dtype=dtype)})


def as_pyarrow(kind, values):
    """Return a table whose categories of any type are dictionaries."""
    levels, how = KINDS[kind]
    if how == "plain":
        return pa.table({"a": pa.array(values)})
    codes = pa.array([None if each is None else levels.index(each) for each in values])
    column = pa.DictionaryArray.from_arrays(codes, pa.array(levels), ordered=how == "ordered")
    return pa.table({"a": column})


def as_dict(_kind, values):
    """Return an array of NumPy; one with gaps holds objects."""
    return {"a": np.array(values, dtype=object if None in values else None)}


@pytest.fixture(scope="module")
def table_from(tmp_path_factory):
    """Return a function that gives a kind of column as a source has it, made once."""
    folder = tmp_path_factory.mktemp("tables")
    memory = {"pandas": as_pandas, "polars": as_polars, "pyarrow": as_pyarrow, "dict": as_dict}

    @cache
    def table(kind, source, gaps):
        values, _ = values_of(kind, gaps=gaps)
        if source in memory:
            return memory[source](kind, values)
        frame = as_pandas(kind, values)
        if source == "dask":
            return dd.from_pandas(frame, npartitions=2)
        path = folder / f"{kind}{gaps}.{source}"
        getattr(frame, f"to_{source}")(path, index=False)
        return str(path)

    return table


@pytest.fixture(scope="module")
def model_from(table_from):
    """Return a function that gives the model of a kind of column from a source, or its refusal."""

    @cache
    def model(kind, source, gaps):
        _, target = values_of(kind, gaps=gaps)
        table = table_from(kind, source, gaps)
        if source == "dask":
            target = dd.from_pandas(pd.Series(target), npartitions=2)
        try:
            with dask.config.set(scheduler="synchronous"):
                return MossRegressor(2, n_trees=4, time_limit=5).fit(table, target)
        except MossError as refusal:
            return refusal

    return model


def predicted(model, kind, source, table_from, *, gaps):
    """Return what a model predicts from a source, also as commands and workers read it."""
    origin, _, by = source.partition(" ")
    table = table_from(kind, origin, gaps)
    with dask.config.set(scheduler="synchronous"):
        if by == "by the command":
            return model.rules_.predict(read_features(Path(table), model.rules_, {}))
        if by == "on workers":
            return model.rules_.predict(scan_files(table, engine="dask"))
        found = model.predict(table)
        return found.compute().to_numpy() if origin == "dask" else found


def is_refused(kind, trained, given):
    """Tell which cells have to be refused, as one meaning is not certain there."""
    trained, given = trained.split()[0], given.split()[0]
    if kind == "date":  # text in CSV
        return not trained == given == "csv"
    if kind == "ordered integer":  # whose order Parquet does not keep
        return "parquet" in (trained, given)
    if kind == "digits":  # numbers to CSV where no model says otherwise
        return trained == "csv" and given != "csv"
    return False


@pytest.mark.filterwarnings("ignore:.*leading zeros")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("trained", SOURCES)
def test_predictions_are_those_of_memory_or_refused(kind, trained, model_from, table_from):
    """Off by nothing, or one sentence that names the column: in every cell of all of them."""
    for gaps in (False, True):
        model = model_from(kind, trained, gaps)
        if is_refused(kind, trained, trained):
            assert_sentence(model)
            continue
        assert not isinstance(model, MossError), model
        for given in SOURCES + ENGINES_OF_FILES:
            for now in {gaps, True}:
                expected = values_of(kind, gaps=now)[1]
                if is_refused(kind, trained, given):
                    with pytest.raises(MossError) as refusal:
                        predicted(model, kind, given, table_from, gaps=now)
                    assert_sentence(refusal.value)
                    continue
                found = predicted(model, kind, given, table_from, gaps=now)
                # Of a gap that training never saw, a rule may say anything.
                known = [row for row in range(N) if row % 4 != 1 or now == gaps]
                np.testing.assert_allclose(
                    found[known], expected[known], atol=0.1, err_msg=f"{given} {now}"
                )


def assert_sentence(refusal):
    """Hold that a refusal is one that names the column and the remedy."""
    assert isinstance(refusal, MossError)
    assert "'a'" in str(refusal)
    assert any(word in str(refusal) for word in ("convert", "save")), refusal
    assert "\n" not in str(refusal)


# --- exports --------------------------------------------------------------------------------------

IN_MEMORY = [kind for kind in KINDS if kind != "date"]


@pytest.mark.parametrize("kind", IN_MEMORY)
def test_exports_keep_the_type_of_labels(kind, model_from):
    """JSON, SQL in two databases and Python give the predictions of the model."""
    rules = model_from(kind, "pandas", True).rules_
    values, expected = values_of(kind, gaps=True)
    read = RuleSet.from_json(rules.to_json())
    assert read.to_json() == rules.to_json()
    assert [list(map(type, each.levels)) for each in read.binning.columns] == [
        list(map(type, each.levels)) for each in rules.binning.columns
    ]
    np.testing.assert_allclose(read.predict({"a": values}), expected, atol=0.1)
    for engine, dialect in ENGINES:
        found = run(engine, {"a": values}, rules.to_sql(TABLE, dialect, keep=["the_key"]))
        np.testing.assert_allclose(found, expected, atol=0.1, err_msg=engine)
    names: dict = {}
    exec(rules.to_python(), names)  # noqa: S102  what is tested
    found = [names["predict"]({"a": value}) for value in values]
    np.testing.assert_allclose(found, expected, atol=0.1)


def test_python_exports_refuse_what_the_model_refuses(model_from):
    """A label of another type is no other label, but a mistake."""
    for kind, strange, what in [
        ("integer category", "2", "was numbers in training and is text now"),
        ("integer category", True, "was numbers in training and is truth values now"),
        ("truth category", 7, "was truth values in training and is numbers now"),
        ("text", 2, "was text in training and is numbers now"),
        ("truth", 7, "was boolean in training and is 7.0 now"),
        ("number", "2", "was numeric in training and is text now"),
    ]:
        names: dict = {}
        exec(model_from(kind, "pandas", True).rules_.to_python(), names)  # noqa: S102
        with pytest.raises((TypeError, ValueError), match=what):
            names["predict"]({"a": strange})


# --- large whole numbers --------------------------------------------------------------------------

LARGE = [2**53, 2**53 + 1, 2**62]


def test_large_categories_are_not_rounded(tmp_path):
    """Categories of neighbours above 2^53 stay two, also in Parquet; CSV says that it cannot."""
    values = [LARGE[row % 3] for row in range(N)]
    target = np.array([10.0 * (value == LARGE[1]) for value in values])
    frame = pd.DataFrame({"a": pd.Categorical(values)})
    frame.to_parquet(tmp_path / "a.parquet")
    for table in (frame, pa.table({"a": pa.array(values).dictionary_encode()}), "a.parquet"):
        table = str(tmp_path / table) if isinstance(table, str) else table  # noqa: PLW2901
        model = MossRegressor(2, n_trees=4).fit(table, target)
        for given in (frame, {"a": values}, pl.DataFrame({"a": values}), tmp_path / "a.parquet"):
            np.testing.assert_allclose(model.predict(given), target, atol=0.1)
        read = RuleSet.from_json(model.rules_.to_json())
        np.testing.assert_allclose(read.predict(frame), target, atol=0.1)
    frame.to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(MossError, match=r"'a' has labels such as .* from 2\^53 on"):
        model.predict(tmp_path / "a.csv")
