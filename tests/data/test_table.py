import datetime as dt
import decimal
import os
import pathlib

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

from mossrules.data.columns import Kind
from mossrules.data.table import Table, read_vector, split_target
from mossrules.exceptions import (
    InvalidTable,
    InvalidTarget,
    MissingColumns,
    MossError,
    UnsupportedType,
)

DATE = dt.date(2020, 1, 1)


# --- names ------------------------------------------------------------------------------------


def test_names_that_are_not_strings_become_text():
    """Integers and tuples (the columns of a MultiIndex) are known by their text."""
    assert Table.from_any(pd.DataFrame([[1, 2]])).names == ("0", "1")
    pairs = pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")])
    names = Table.from_any(pd.DataFrame([[1, 2]], columns=pairs)).names
    assert names == ("('a', 'x')", "('a', 'y')")
    assert Table.from_any({1: [1.0], (2, 3): [1.0]}).names == ("1", "(2, 3)")


@pytest.mark.parametrize(
    ("X", "name"),
    [
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "a"),
        (pd.DataFrame([[1, 2]], columns=[1, "1"]), "1"),
        (pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["b", "b"]), "b"),
        ({1: [1.0], "1": [1.0]}, "1"),
    ],
    ids=["pandas", "pandas as text", "pyarrow", "dict as text"],
)
def test_repeated_names_are_refused(X, name):
    """Columns whose names are the same, or the same as text, are named in the error."""
    with pytest.raises(InvalidTable, match=f"unique as text, but column '{name}' appears more"):
        Table.from_any(X)


def test_column_names_are_never_taken_for_methods():
    """Columns named like the attributes of frames and matrices are columns all the same."""
    names = ["columns", "schema", "dtypes", "column_names", "toarray", "shape"]
    for make in (pd.DataFrame, pl.DataFrame, pa.table):
        assert list(Table.from_any(make({name: [1.0] for name in names})).names) == names


def test_the_columns_of_an_array_are_numbered():
    """Arrays and nested lists get made-up names, and say so."""
    table = Table.from_any(np.zeros((2, 3)))
    assert table.names == ("x0", "x1", "x2")
    assert not table.named
    assert Table.from_any({"x0": [1.0]}).named


def test_a_table_is_read_once():
    """A Table given for X is used as it is."""
    table = Table.from_any({"a": [1.0]})
    assert Table.from_any(table) is table


# --- select and without -----------------------------------------------------------------------


def test_columns_are_selected_by_name_in_the_order_asked_for():
    """Reordered and extra columns do not matter when columns have names."""
    table = Table.from_any({"extra": ["x"], "b": [2.0], "a": [1.0]}).select(["a", "b"])
    assert table.names == ("a", "b")
    assert [column.read(0, 1).tolist() for column in table.columns] == [[1.0], [2.0]]


def test_lacking_columns_are_listed_with_a_guess():
    """The error names all lacking columns and the nearest name there is."""
    table = Table.from_any({"income": [1.0], "b": [2.0]})
    with pytest.raises(MissingColumns, match=r"'incom', 'age'.*add them.*mean 'income'\?"):
        table.select(["incom", "age"])


def test_a_long_list_of_lacking_columns_is_cut_short():
    """Ten names are enough to see what is wrong."""
    table = Table.from_any({"a": [1.0]})
    with pytest.raises(MissingColumns, match="'z9' and 90 more"):
        table.select([f"z{number}" for number in range(100)])


def test_the_columns_of_an_array_are_taken_by_position():
    """An array of as many columns stands for the training columns; another number does not."""
    table = Table.from_any(np.zeros((2, 3)))
    assert table.select(["a", "b", "c"]) is table
    with pytest.raises(MissingColumns, match=r"X has 3 features, but .* expecting 2 features"):
        table.select(["a", "b"])


def test_without_leaves_the_other_columns():
    """Dropping a column keeps the others, in order."""
    assert Table.from_any({"a": [1.0], "b": [2.0], "c": [3.0]}).without("b").names == ("a", "c")


# --- tables that cannot be read ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "error", "words"),
    [
        (None, UnsupportedType, "X is None; pass a pandas"),
        (
            "data.csv",
            UnsupportedType,
            "'data.csv'.* files are read by fit",
        ),
        (pathlib.Path("data.csv"), UnsupportedType, "files are read by fit"),
        (3.5, UnsupportedType, "X is a float.*; pass a pandas"),
        ({1, 2}, UnsupportedType, "X is a set"),
        (iter([1, 2]), UnsupportedType, "X is a list_iterator"),
        (np.zeros(3), InvalidTable, r"2D array, .* \(3,\). Reshape your data"),
        (np.zeros((2, 2, 2)), InvalidTable, r"2D array, .* \(2, 2, 2\)"),
        ([1.0, 2.0], InvalidTable, r"2D array, .* \(2,\)"),
        ([], InvalidTable, r"2D array, .* \(0,\)"),
        (pd.Series([1.0, 2.0]), InvalidTable, r"2D array, .* \(2,\)"),
        (pl.Series([1.0, 2.0]), InvalidTable, r"2D array, .* \(2,\)"),
        (pa.array([1.0, 2.0]), InvalidTable, r"2D array, .* \(2,\)"),
        ([[1.0, 2.0], [3.0]], InvalidTable, "rows of different lengths; pass a rectangular"),
        (np.zeros((3, 0)), InvalidTable, r"no columns: .*shape=\(3, 0\)"),
        (pd.DataFrame(index=[0, 1]), InvalidTable, "no columns"),
        (pl.DataFrame(), InvalidTable, "no columns"),
        (pa.table({}), InvalidTable, "no columns"),
        ({}, InvalidTable, "no columns"),
        ([[], []], InvalidTable, "no columns"),
        (pl.DataFrame({"a": [1]}).lazy(), UnsupportedType, "polars LazyFrame.*collect"),
        (pa.record_batch({"a": [1]}), UnsupportedType, "pyarrow RecordBatch"),
        (scipy.sparse.csr_matrix(np.eye(2)), UnsupportedType, r"sparse matrix.*X.toarray\(\)"),
        (scipy.sparse.coo_array(np.eye(2)), UnsupportedType, r"sparse matrix.*X.toarray\(\)"),
        ({"a": [1.0, 2.0], "b": [1.0]}, InvalidTable, "'b' has 1 values but column 'a' has 2"),
        ({"a": 1.0}, InvalidTable, r"'a' has shape \(\); pass one value per row"),
        ({"a": "abc"}, InvalidTable, r"'a' has shape \(\)"),
        ({"a": np.zeros((2, 2))}, InvalidTable, r"'a' has shape \(2, 2\)"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_not_a_table_is_refused_in_words(X, error, words):
    """Each thing that is not a table has an error that says what it is and what to pass."""
    with pytest.raises(error, match=words) as caught:
        Table.from_any(X)
    assert isinstance(caught.value, MossError)
    assert isinstance(caught.value, ValueError | TypeError)


def test_a_column_nobody_reads_does_no_harm():
    """Extra columns of any type may stand in a table of which others are selected."""
    X = pd.DataFrame({"a": [1.0], "date": pd.to_datetime([DATE]), "mixed": [object()]})
    (column,) = Table.from_any(X).select(["a"]).columns
    assert column.kind is Kind.NUMERIC
    assert column.read(0, 1).tolist() == [1.0]


@pytest.mark.parametrize(
    "X",
    [
        np.zeros((0, 2)),
        pd.DataFrame({"a": [], "b": []}),
        pl.DataFrame({"a": [], "b": []}),
        pa.table({"a": pa.array([], pa.int64()), "b": pa.array([], pa.string())}),
        {"a": [], "b": []},
    ],
    ids=["numpy", "pandas", "polars", "pyarrow", "dict"],
)
def test_a_table_may_have_no_rows(X):
    """No rows is a table of length zero; whether that is enough is for its users to say."""
    table = Table.from_any(X)
    assert table.n_rows == 0
    assert all(len(column.read(0, 0)) == 0 for column in table.columns)


def test_ten_thousand_columns_are_read():
    """Wide frames can be read and put in another order."""
    table = Table.from_any(pd.DataFrame(np.zeros((3, 10_000))))
    assert len(table.select(table.names[::-1]).columns) == 10_000


# --- the target -------------------------------------------------------------------------------

TARGETS = {
    "list": [1, 2, 3],
    "tuple": (1.0, 2.0, 3.0),
    "range": range(1, 4),
    "numpy": np.array([1, 2, 3], dtype=np.int8),
    "column": np.array([[1.0], [2.0], [3.0]]),
    "objects": np.array([1, 2.0, decimal.Decimal(3)], dtype=object),
    "pandas": pd.Series([1, 2, 3], index=[5, 5, 1]),
    "pandas nullable": pd.Series([1, 2, 3], dtype="Int64"),
    "pandas array": pd.array([1, 2, 3]),
    "pandas index": pd.Index([1, 2, 3]),
    "pandas frame": pd.DataFrame({"y": [1.0, 2.0, 3.0]}),
    "polars": pl.Series([1, 2, 3]),
    "polars frame": pl.DataFrame({"y": [1.0, 2.0, 3.0]}),
    "pyarrow": pa.array([1, 2, 3]),
    "pyarrow chunks": pa.chunked_array([[1], [2, 3]]),
}


@pytest.mark.parametrize("y", TARGETS.values(), ids=TARGETS.keys())
def test_a_target_is_read_from_any_source(y):
    """One number per row, from any library, becomes contiguous float64."""
    _, target = split_target(np.zeros((3, 1)), y)
    assert target.dtype == np.float64
    assert target.flags.c_contiguous
    assert target.tolist() == [1.0, 2.0, 3.0]


def test_a_target_of_truth_values_is_zero_and_one():
    """Booleans are numbers for a regression."""
    for y in ([True, False], np.array([True, False]), pl.Series([True, False])):
        assert read_vector(y, "y", 2).tolist() == [1.0, 0.0]


BAD_TARGETS = {
    "none": (None, "requires y to be passed, but the target y is None"),
    "strings": (["1", "2", "3"], "y is categorical; it must be numeric"),
    "numpy strings": (np.array(["1", "2", "3"]), "y is categorical"),
    "object strings": (np.array(["1", "2", "3"], dtype=object), "y is categorical"),
    "pandas strings": (pd.Series(["1", "2", "3"]), "y is categorical"),
    "polars strings": (pl.Series(["1", "2", "3"]), "y is categorical"),
    "ordered": (pd.Series(pd.Categorical([1, 2, 3], ordered=True)), "y is ordered"),
    "dates": (pl.Series([DATE] * 3), "y must hold numbers.*Date"),
    "numpy dates": (np.array(["2020-01-01"] * 3, dtype="M8[D]"), "y must hold numbers"),
    "spans": (pl.Series([dt.timedelta(1)] * 3), "y must hold numbers"),
    "complex": (np.array([1j, 2, 3]), "Complex data not supported"),
    "mixed": ([1, 2, "x"], "y must hold numbers.*mixes types"),
    "ragged": ([[1], [2, 3], [4]], "y must hold numbers"),
    "huge": ([1, 2, 10**400], "y must hold numbers.*too large"),
    "two columns": (np.zeros((3, 2)), r"y has shape \(3, 2\); pass a one-dimensional"),
    "three dimensions": (np.zeros((3, 1, 1)), r"y has shape \(3, 1, 1\)"),
    "scalar": (3.0, r"y has shape \(\)"),
    "set": ({1, 2, 3}, r"y has shape \(\)"),
    "short": ([1.0, 2.0], "y has 2 values but the table has 3 rows; pass one value per row"),
    "long": ([1.0] * 4, "y has 4 values"),
    "empty": ([], "y has 0 values"),
    "NaN": ([1.0, np.nan, 3.0], r"y has 1 missing or infinite value \(NaN or inf\); remove"),
    "None": ([1.0, None, None], "y has 2 missing"),
    "NA": ([1.0, pd.NA, 3.0], "y has 1 missing"),
    "polars null": (pl.Series([1, None, 3]), "y has 1 missing"),
    "pandas NA": (pd.Series([1, None, 3], dtype="Int64"), "y has 1 missing"),
    "masked": (np.ma.masked_array([1, 2, 3], mask=[0, 1, 0]), "y has 1 missing"),
    "infinite": ([1.0, -np.inf, 3.0], "y has 1 missing or infinite"),
}


@pytest.mark.parametrize(("y", "words"), BAD_TARGETS.values(), ids=BAD_TARGETS.keys())
def test_what_is_not_a_target_is_refused_in_words(y, words):
    """A target that is not one finite number per row is refused with the reason."""
    with pytest.raises(InvalidTarget, match=words):
        split_target(np.zeros((3, 1)), y)


def test_a_target_may_be_named():
    """The named column is the target and no longer a feature."""
    for make in (dict, pd.DataFrame, pl.DataFrame, pa.table):
        table, target = split_target(make({"a": [1.0, 2.0], "price": [3, 4], "b": [5, 6]}), "price")
        assert table.names == ("a", "b")
        assert target.tolist() == [3.0, 4.0]


@pytest.mark.parametrize(
    ("X", "name", "words"),
    [
        ({"a": [1.0], "price": [1.0]}, "pirce", "'pirce' is not a column.*mean 'price'"),
        (np.zeros((1, 2)), "price", "'price', but the columns of an array have no names"),
        ({"a": [1.0], "word": ["x"]}, "word", "word is categorical"),
        ({"a": [1.0], "day": [DATE]}, "day", "day must hold numbers"),
        ({"a": [1.0], "price": [None]}, "price", "price has 1 missing"),
    ],
    ids=["absent", "array", "strings", "dates", "missing"],
)
def test_a_named_target_that_cannot_be_used_is_named_in_the_error(X, name, words):
    """The error names the column, whether it is absent or not a column of numbers."""
    with pytest.raises(InvalidTarget, match=words):
        split_target(X, name)


def test_a_table_of_the_target_alone_has_no_features():
    """Something has to be left to explain the target with."""
    with pytest.raises(InvalidTable, match="no columns besides the target; add features"):
        split_target({"price": [1.0, 2.0]}, "price")


def test_the_name_of_a_vector_is_in_its_errors():
    """Sample weights are read like a target and are called by their own name."""
    with pytest.raises(InvalidTarget, match=r"^sample_weight has 1 values but the table has 2"):
        read_vector([1.0], "sample_weight", 2)


def test_paths_of_any_type_are_recognised():
    """Whatever Python takes for a path is one."""

    class Path(os.PathLike):
        def __fspath__(self):
            return "x.parquet"

    with pytest.raises(UnsupportedType, match="files are read by fit"):
        Table.from_any(Path())
