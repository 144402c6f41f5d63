"""A model gives the same predictions wherever it was trained and whatever it predicts from.

Every kind of column is trained from each source of tables and predicted from each, complete and
with gaps. The target follows from the column's value, so that a model which takes a label for
another one is off by 10: nothing here rests on what the package takes for right.
"""

import datetime
import warnings
from functools import cache

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
DAYS = [datetime.date(2020, 1, day) for day in (1, 2, 3)]
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
    "large category": ([2**53, 2**53 + 1, 2**53 + 2], "category"),
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
            return model.rules_.predict(read_features(table, model.rules_, None))
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
    if kind in ("digits", "postcode"):  # numbers to CSV where no model says otherwise
        return trained == "csv" and given != "csv"
    return False


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
                if now > gaps:  # a gap that training never saw holds as nothing else does
                    expected = expected[[row for row in range(N) if row % 4 != 1]]
                try:
                    found = predicted(model, kind, given, table_from, gaps=now)
                except MossError as refusal:
                    assert is_refused(kind, trained, given), (given, now, refusal)
                    assert_sentence(refusal)
                    continue
                assert not is_refused(kind, trained, given), (given, now)
                if now > gaps:
                    found = found[[row for row in range(N) if row % 4 != 1]]
                np.testing.assert_allclose(found, expected, atol=0.1, err_msg=f"{given} {now}")


def assert_sentence(refusal):
    """Hold that a refusal is one that names the column and the remedy."""
    assert isinstance(refusal, MossError)
    assert "'a'" in str(refusal)
    assert any(word in str(refusal) for word in ("convert", "save")), refusal
    assert "\n" not in str(refusal)
