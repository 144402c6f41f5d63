import datetime as dt
import decimal
import fractions

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mossrules.data import columns
from mossrules.data.columns import Kind
from mossrules.data.table import Table
from mossrules.exceptions import (
    InvalidColumn,
    MossError,
    UnsupportedType,
)

VALUES = {
    "number": [1.5, None, -3.0, 0.0],
    "count": [1, 2, None, 40],
    "flag": [True, None, False, True],
    "word": ["b", "a", None, "nan"],
    "digits": ["1", "2", "10", None],
}
KINDS = {
    "number": Kind.NUMERIC,
    "count": Kind.NUMERIC,
    "flag": Kind.BOOLEAN,
    "word": Kind.CATEGORICAL,
    "digits": Kind.CATEGORICAL,
}
SOURCES = {
    "dict of lists": lambda values: values,
    "dict of tuples": lambda values: {name: tuple(each) for name, each in values.items()},
    "dict of object arrays": lambda values: {
        name: np.array(each, dtype=object) for name, each in values.items()
    },
    "dict of masked arrays": lambda values: {name: masked(each) for name, each in values.items()},
    "dict of polars series": lambda values: {
        name: pl.Series(each) for name, each in values.items()
    },
    "dict of pandas arrays": lambda values: {name: pd.array(each) for name, each in values.items()},
    "dict of pyarrow arrays": lambda values: {
        name: pa.array(each) for name, each in values.items()
    },
    "pandas": pd.DataFrame,
    "pandas objects": lambda values: pd.DataFrame(values, dtype=object),
    "pandas nullable": lambda values: pd.DataFrame(values).convert_dtypes(),
    "pandas on pyarrow": lambda values: pd.DataFrame(values).convert_dtypes(
        dtype_backend="pyarrow"
    ),
    "pandas with odd index": lambda values: pd.DataFrame(values, index=[7, 7, -1, 0]),
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "pyarrow in chunks": lambda values: pa.concat_tables(
        [pa.table(values).slice(0, 1), pa.table(values).slice(1)]
    ),
}


def masked(values):
    """Return a masked array with anything at all under the mask."""
    filler = next(value for value in values if value is not None)
    data = np.array([filler if value is None else value for value in values])
    return np.ma.masked_array(data, mask=[value is None for value in values])


def contents(table):
    """Return names, kinds and values as plain Python, with None for missing."""
    return {
        column.name: (column.kind, plain(column.read(0, table.n_rows))) for column in table.columns
    }


def plain(values):
    """Return a list with None in place of NaN."""
    return [None if value != value else value for value in values.tolist()]  # noqa: PLR0124


def only_column(X):
    """Read a table of one column."""
    (column,) = Table.from_any(X).columns
    return column


def read_all(X):
    """Read every value of a table."""
    table = Table.from_any(X)
    return [column.read(0, table.n_rows) for column in table.columns]


# --- the same data from every library ---------------------------------------------------------


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES.keys())
def test_every_source_gives_the_same_names_kinds_and_values(source):
    """Names, kinds, values and missing values do not depend on the library that holds them."""
    expected = {
        name: (
            KINDS[name],
            [float(value) if isinstance(value, int) else value for value in VALUES[name]],
        )
        for name in VALUES
    }
    assert contents(Table.from_any(source(VALUES))) == expected


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES.keys())
@pytest.mark.parametrize(("start", "stop"), [(0, 0), (0, 2), (1, 3), (3, 4), (2, 9)])
def test_a_slice_of_a_column_is_the_slice_of_its_values(source, start, stop):
    """Reading rows start to stop gives just those rows, counted from the top of the table."""
    for column in Table.from_any(source(VALUES)).columns:
        whole = plain(column.read(0, 4))
        assert plain(column.read(start, stop)) == whole[start:stop]


@pytest.mark.parametrize(
    "missing",
    [None, float("nan"), np.float32("nan"), pd.NA, pd.NaT, np.datetime64("NaT", "s"), np.nan],
    ids=repr,
)
def test_every_sign_for_missing_is_missing(missing):
    """A missing value is missing beside strings, numbers and booleans, whatever its own type."""
    for present, kind in [
        ("x", Kind.CATEGORICAL),
        (2.0, Kind.NUMERIC),
        (True, Kind.BOOLEAN),
        (decimal.Decimal("1.5"), Kind.NUMERIC),
    ]:
        for make in (dict, pd.DataFrame):
            values = np.array([present, missing], dtype=object)
            column = only_column(make({"a": values}))
            assert column.kind is kind
            assert plain(column.read(0, 2))[1] is None


@pytest.mark.parametrize("nan", ["NaN", "sNaN"])
def test_a_decimal_that_is_not_a_number_is_missing(nan):
    """Decimal NaNs, even signalling ones, are missing."""
    column = only_column({"a": [decimal.Decimal(nan), decimal.Decimal("2.5")]})
    assert plain(column.read(0, 2)) == [None, 2.5]


def test_words_for_missing_are_words():
    """The strings "None", "nan" and "" are categories like any others."""
    words = ["None", "nan", "", "NA", None]
    for source in (dict, pd.DataFrame, pl.DataFrame, pa.table):
        assert only_column(source({"a": words})).read(0, 5).tolist() == words


def test_an_array_keeps_its_columns_apart():
    """The columns of an object array and of nested lists each have a kind of their own."""
    rows = [[1, "a", True, None], [2.5, "b", None, "x"], [None, None, False, "y"]]
    for X in (rows, [tuple(row) for row in rows], np.array(rows, dtype=object)):
        assert contents(Table.from_any(X)) == {
            "x0": (Kind.NUMERIC, [1.0, 2.5, None]),
            "x1": (Kind.CATEGORICAL, ["a", "b", None]),
            "x2": (Kind.BOOLEAN, [1.0, None, 0.0]),
            "x3": (Kind.CATEGORICAL, [None, "x", "y"]),
        }


@pytest.mark.parametrize(
    ("dtype", "kind"),
    [
        ("float16", Kind.NUMERIC),
        ("float32", Kind.NUMERIC),
        ("int8", Kind.NUMERIC),
        ("uint64", Kind.NUMERIC),
        ("longdouble", Kind.NUMERIC),
        ("bool", Kind.BOOLEAN),
        ("U3", Kind.CATEGORICAL),
    ],
)
def test_numpy_types_are_read_by_what_they_hold(dtype, kind):
    """Numbers of any width are numeric, truth values boolean and text categorical."""
    values = np.array([[0], [1], [1]]).astype(dtype)
    column = only_column(values)
    assert column.kind is kind
    expected = values[:, 0].tolist() if kind is Kind.CATEGORICAL else [0.0, 1.0, 1.0]
    assert column.read(0, 3).tolist() == expected


def test_float32_is_widened_without_change():
    """A single-precision number becomes the double of the same value."""
    values = np.array([0.1, 1 / 3], dtype=np.float32)
    assert only_column(pd.DataFrame({"a": values})).read(0, 2).tolist() == values.tolist()


def test_masked_values_are_missing():
    """What lies under the mask of an array is never read."""
    X = np.ma.masked_array([[1.0, 2.0], [3.0, 4.0]], mask=[[False, True], [False, False]])
    assert contents(Table.from_any(X)) == {
        "x0": (Kind.NUMERIC, [1.0, 3.0]),
        "x1": (Kind.NUMERIC, [None, 4.0]),
    }


def test_numpy_strings_of_variable_width_keep_their_missing_values():
    """NumPy's StringDType is categorical, and its NaN is missing."""
    X = np.array([["a"], [np.nan]], dtype=np.dtypes.StringDType(na_object=np.nan))
    assert only_column(X).read(0, 2).tolist() == ["a", None]


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"a": [2**53 + 1, 2**62, 1]}),
        pd.DataFrame({"a": pd.array([2**53 + 1, 2**62, None], dtype="Int64")}),
        pd.DataFrame({"a": pd.array([2**53 + 1, 2**62, None], dtype="int64[pyarrow]")}),
        pl.DataFrame({"a": [2**53 + 1, 2**62, None]}),
        pl.DataFrame({"a": pl.Series([2**53 + 1, 2**62, None], dtype=pl.Int128)}),
        pa.table({"a": [2**53 + 1, 2**62, None]}),
        pa.table({"a": pa.array([2**53 + 1, 2**62, 2**64 - 1], type=pa.uint64())}),
        {"a": [2**53 + 1, 2**62, 2**70]},
    ],
    ids=lambda X: type(X).__module__,
)
def test_integers_above_2_to_the_53_are_rounded_to_floats(X):
    """Integers that a float cannot hold become the nearest float in every library."""
    assert only_column(X).read(0, 2).tolist() == [float(2**53 + 1), float(2**62)]


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"a": [decimal.Decimal("1.25"), None]}),
        pd.DataFrame(
            {"a": pd.array([decimal.Decimal("1.25"), None], pd.ArrowDtype(pa.decimal128(5, 2)))}
        ),
        pl.DataFrame({"a": [decimal.Decimal("1.25"), None]}),
        pa.table({"a": [decimal.Decimal("1.25"), None]}),
        {"a": [fractions.Fraction(5, 4), None]},
    ],
    ids=["pandas", "pandas on pyarrow", "polars", "pyarrow", "fraction"],
)
def test_decimals_and_fractions_are_numbers(X):
    """Exact number types are numeric."""
    column = only_column(X)
    assert column.kind is Kind.NUMERIC
    assert plain(column.read(0, 2)) == [1.25, None]


# --- categories -------------------------------------------------------------------------------

SIZES = pa.DictionaryArray.from_arrays(
    pa.array([2, None, 0]), pa.array(["lo", "mid", "hi"]), ordered=True
)


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"a": pd.Categorical(["hi", None, "lo"], ["lo", "mid", "hi"], ordered=True)}),
        {"a": pd.Categorical(["hi", None, "lo"], ["lo", "mid", "hi"], ordered=True)},
        pl.DataFrame({"a": pl.Series(["hi", None, "lo"], dtype=pl.Enum(["lo", "mid", "hi"]))}),
        {"a": pl.Series(["hi", None, "lo"], dtype=pl.Enum(["lo", "mid", "hi"]))},
        pa.table({"a": SIZES}),
        {"a": SIZES},
    ],
    ids=["pandas", "pandas in dict", "polars", "polars in dict", "pyarrow", "pyarrow in dict"],
)
def test_an_order_of_categories_is_kept(X):
    """Ordered categories of every library are ordered, with all their levels from low to high."""
    column = only_column(X)
    assert column.kind is Kind.ORDERED
    assert column.levels == ("lo", "mid", "hi")
    assert column.read(0, 3).tolist() == ["hi", None, "lo"]


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"a": pd.Categorical(["b", None, "a"])}),
        pl.DataFrame({"a": pl.Series(["b", None, "a"], dtype=pl.Categorical)}),
        pa.table({"a": pa.array(["b", None, "a"]).dictionary_encode()}),
    ],
    ids=["pandas", "polars", "pyarrow"],
)
def test_categories_without_an_order_have_none(X):
    """Unordered categories are categorical and have no levels of their own."""
    column = only_column(X)
    assert (column.kind, column.levels) == (Kind.CATEGORICAL, ())
    assert column.read(0, 3).tolist() == ["b", None, "a"]


@pytest.mark.parametrize("labels", [[3, 1, None], [1.5, 0.5, None], [True, False, None]], ids=str)
def test_category_labels_keep_their_type(labels):
    """Labels that are numbers or truth values are not turned into text or numbers."""
    column = only_column(pd.DataFrame({"a": pd.Categorical(labels)}))
    assert column.kind is Kind.CATEGORICAL
    read = column.read(0, 3).tolist()
    assert read == labels
    assert [type(each) for each in read] == [type(each) for each in labels]


@pytest.mark.parametrize("ordered", [False, True])
def test_missing_entries_of_a_dictionary_are_missing(ordered):
    """NaN and null that pyarrow keeps among the labels are no levels."""
    values = pa.array([1.5, float("nan"), None, 0.5])
    codes = pa.array([0, 1, 2, None, 3, 0])
    column = only_column(
        pa.table({"a": pa.DictionaryArray.from_arrays(codes, values, ordered=ordered)})
    )
    assert column.read(0, 6).tolist() == [1.5, None, None, None, 0.5, 1.5]
    assert column.levels == ((1.5, 0.5) if ordered else ())


def test_columns_that_nobody_uses_are_not_looked_at(monkeypatch):
    """The kind of objects is known after a look at all of them, taken when a column is used."""
    X = pd.DataFrame({"used": [1.0, 2.0], "notes": ["a", "b"]}).astype({"notes": object})
    table = Table.from_any(X)
    monkeypatch.setattr(columns, "_column_from_objects", None)
    assert table.select(["used"]).columns[0].kind is Kind.NUMERIC
    with pytest.raises(TypeError, match="NoneType"):
        _ = table.columns[1].kind


def test_category_labels_may_be_of_several_types():
    """Integers and strings may be labels of the same categorical column."""
    column = only_column(pd.DataFrame({"a": pd.Categorical([1, "1", None])}))
    assert column.read(0, 3).tolist() == [1, "1", None]


def test_category_labels_of_other_types_become_text():
    """Intervals, as pandas.cut makes them, are ordered levels known by their text."""
    column = only_column(pd.DataFrame({"a": pd.cut([1.0, 5.0, np.nan], [0, 2, 6])}))
    assert column.kind is Kind.ORDERED
    assert column.levels == ("(0, 2]", "(2, 6]")
    assert column.read(0, 3).tolist() == ["(0, 2]", "(2, 6]", None]


def test_labels_are_plain_strings():
    """NumPy's strings among objects become Python's, so that labels sort and compare alike."""
    values = np.array([np.str_("b"), "a"], dtype=object)
    labels = only_column({"a": values}).read(0, 2).tolist()
    assert [type(label) for label in labels] == [str, str]


# --- kinds depend on all rows -----------------------------------------------------------------


def test_a_kind_is_found_from_all_rows_not_the_first_hundred():
    """An object column that starts with missing values is what its later values are."""
    values = pd.Series([None] * 150 + [1.5], dtype=object)
    column = only_column(pd.DataFrame({"a": values}))
    assert column.kind is Kind.NUMERIC
    assert column.read(150, 151).tolist() == [1.5]


def test_a_late_number_among_strings_is_noticed():
    """A number after a hundred strings makes a column of mixed types."""
    X = pd.DataFrame({"a": pd.Series(["x"] * 150 + [1], dtype=object)})
    with pytest.raises(InvalidColumn, match=r"'a' mixes types \(1 number and 150 string"):
        read_all(X)


@pytest.mark.parametrize(
    "X",
    [
        {"a": [None, None]},
        pd.DataFrame({"a": [None, None]}),
        pd.DataFrame({"a": [pd.NA, pd.NA]}),
        pl.DataFrame({"a": [None, None]}),
        pa.table({"a": pa.nulls(2)}),
        np.array([[None], [None]], dtype=object),
    ],
    ids=["dict", "pandas None", "pandas NA", "polars", "pyarrow", "numpy"],
)
def test_a_column_of_nothing_is_numeric_and_missing(X):
    """A column without any value and without a type is read as missing numbers everywhere."""
    column = only_column(X)
    assert column.kind is Kind.NUMERIC
    assert np.isnan(column.read(0, 2)).all()


@given(
    st.lists(
        st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False), st.integers()),
        min_size=1,
        max_size=20,
    )
)
@settings(deadline=None, max_examples=60)
def test_numbers_come_through_lists_and_frames_alike(values):
    """A list of numbers reads like Python's float of each, with None for missing."""
    expected = [None if value is None else float(value) for value in values]
    sources = [{"a": values}, pd.DataFrame({"a": pd.Series(values, dtype=object)})]
    for X in sources:
        assert plain(only_column(X).read(0, len(values))) == expected


@given(st.lists(st.one_of(st.none(), st.text(max_size=4)), min_size=1, max_size=20))
@settings(deadline=None, max_examples=60)
def test_strings_come_through_unchanged(values):
    """Strings of any characters are labels as they are, in lists, objects and polars."""
    sources = [
        {"a": values},
        pd.DataFrame({"a": pd.Series(values, dtype=object)}),
        pl.DataFrame({"a": pl.Series(values, dtype=pl.String)}),
    ]
    for X in sources if any(value is not None for value in values) else sources[2:]:
        assert only_column(X).read(0, len(values)).tolist() == values


# --- columns that cannot be read --------------------------------------------------------------

DATE = dt.date(2020, 1, 1)
UNREADABLE = {
    "numpy complex": (np.array([[1j]]), InvalidColumn, "Complex data not supported: column 'x0'"),
    "numpy bytes": (np.array([[b"a"]]), UnsupportedType, "'x0'"),
    "numpy dates": (np.array([["2020-01-01"]], dtype="M8[D]"), UnsupportedType, "'x0'.*datetime64"),
    "numpy spans": (np.array([[1]], dtype="m8[D]"), UnsupportedType, "'x0'.*timedelta64"),
    "numpy records": (np.zeros((1, 1), dtype=[("f", "f8")]), UnsupportedType, "'x0'"),
    "mixed": ({"a": [1, "x"]}, InvalidColumn, "'a' mixes types .1 number and 1 string"),
    "mixed truth": ({"a": [True, 2.5]}, InvalidColumn, "'a' mixes types .1 boolean and 1 number"),
    "mixed in lists": ([[1], ["x"]], InvalidColumn, "'x0' mixes types"),
    "huge": ({"a": [10**400]}, InvalidColumn, "'a' holds an integer too large for a float"),
    "dates": ({"a": [DATE, None]}, UnsupportedType, "'a' holds values of type date"),
    "bytes": ({"a": [b"x"]}, UnsupportedType, "'a' holds values of type bytes"),
    "lists": ({"a": [[1, 2], [3, 4]]}, UnsupportedType, "'a' holds values of type list"),
    "ragged lists": ({"a": [[1], [2, 3]]}, UnsupportedType, "'a' holds values of type list"),
    "complex objects": ({"a": [1j, None]}, UnsupportedType, "'a' holds values of type complex"),
    "spans as objects": (
        {"a": np.array([np.timedelta64(1, "D")], dtype=object)},
        UnsupportedType,
        "'a' holds values of type timedelta64",
    ),
    "numpy complex objects": (
        {"a": np.array([np.complex64(1), None], dtype=object)},
        UnsupportedType,
        "'a' holds values of type complex64",
    ),
    "a dict among numbers": ({"a": [1.0, {}]}, UnsupportedType, "argument must be a string.* num"),
    "pandas dates": (pd.DataFrame({"a": pd.to_datetime([DATE])}), UnsupportedType, "'a'.*Datetime"),
    "pandas periods": (
        pd.DataFrame({"a": pd.period_range("2020", periods=1, freq="Y")}),
        UnsupportedType,
        "'a' is of type period",
    ),
    "pandas complex": (pd.DataFrame({"a": [1j]}), UnsupportedType, "'a' is of type complex128"),
    "pandas sparse": (
        pd.DataFrame({"a": pd.arrays.SparseArray([0.0, 1.0])}),
        UnsupportedType,
        "'a' is of type Sparse",
    ),
    "pandas lists": (pd.DataFrame({"a": [[1, 2], [3]]}), UnsupportedType, "'a'.*list"),
    "polars dates": (pl.DataFrame({"a": [DATE]}), UnsupportedType, "'a' is of type Date"),
    "polars lists": (pl.DataFrame({"a": [[1]]}), UnsupportedType, "'a' is of type List"),
    "polars structs": (pl.DataFrame({"a": [{"f": 1}]}), UnsupportedType, "'a' is of type Struct"),
    "polars bytes": (pl.DataFrame({"a": [b"x"]}), UnsupportedType, "'a' is of type Binary"),
    "polars objects": (
        pl.DataFrame({"a": pl.Series([object()], dtype=pl.Object)}),
        UnsupportedType,
        "'a' holds values of type object",
    ),
    "pyarrow dates": (pa.table({"a": [DATE]}), UnsupportedType, "'a' is of type Date"),
    "pyarrow structs": (pa.table({"a": [{"f": 1}]}), UnsupportedType, "'a' is of type Struct"),
    "pyarrow wide decimals": (
        pa.table({"a": pa.array([decimal.Decimal(1)], type=pa.decimal256(50, 2))}),
        UnsupportedType,
        "'a' is of type decimal256",
    ),
}


@pytest.mark.parametrize(("X", "error", "words"), UNREADABLE.values(), ids=UNREADABLE.keys())
def test_what_is_not_a_column_is_refused_by_name(X, error, words):
    """A column without a usable type says so when it is read, by name and with a remedy."""
    column = only_column(X)
    assert column.kind is Kind.UNSUPPORTED
    with pytest.raises(error, match=words) as caught:
        column.read(0, 1)
    assert isinstance(caught.value, MossError)
    assert any(word in str(caught.value) for word in ("convert", "rescale", "pass"))


def test_infinite_long_doubles_become_infinite_floats():
    """A number beyond float64 is read as infinite, without a warning, and refused by binning."""
    if np.finfo(np.longdouble).max == np.finfo(np.float64).max:
        pytest.skip("long doubles are doubles on this machine")
    X = np.array([[np.finfo(np.longdouble).max]])
    assert only_column(X).read(0, 1).tolist() == [np.inf]
