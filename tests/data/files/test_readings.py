"""What is said of files, and what is found in them: signs, words, encodings, delimiters, dates."""

import datetime as dt
import gzip
import zipfile

import numpy as np
import openpyxl
import pandas as pd
import polars as pl
import pytest

from mossrules import MossClassifier, MossRegressor, RuleSet
from mossrules.data import read_file, scan_files
from mossrules.data.columns import Kind
from mossrules.data.files import excel
from mossrules.data.files.excel import to_excel
from mossrules.data.reading import Reading
from mossrules.data.table import Table
from mossrules.exceptions import (
    ColumnNameWarning,
    InvalidFile,
    InvalidParameter,
    MissingColumns,
    MissingDependency,
    MixedColumnWarning,
)


def write(folder, text, name="data.csv"):
    """Write a text to a file and return its path."""
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def listed(columns):
    """Return columns as lists, with None for what is missing."""
    return {
        name: [None if pd.isna(value) else value for value in np.asarray(values).tolist()]
        for name, values in columns.items()
    }


# --- numbers and words ----------------------------------------------------------------------------


def test_numbers_have_the_signs_that_were_said(tmp_path):
    """Decimal commas and points between thousands; what has them in other places is text."""
    path = write(tmp_path, "a;b\n1.234,5;1,5\n-2;1.5\n,5;2\n")
    with pytest.warns(MixedColumnWarning, match="column 'b' is '1.5' among numbers"):
        columns = read_file(path, decimal=",", thousands=".")
    assert listed(columns) == {"a": [1234.5, -2.0, 0.5], "b": ["1,5", "1.5", "2"]}
    words = "line 3: column 'b' is '1.5', which is not a number with ',' as the decimal sign"
    with pytest.raises(InvalidFile, match=words):
        read_file(path, decimal=",", thousands=".", types={"b": "number"})


def test_words_for_missing_can_be_added(tmp_path):
    """A number among them is meant however it is written, a word as it stands, also in Parquet."""
    text = "n,t\n-999,.\n-999.00,a\n-9,n/k\n 5 , . \n"
    columns = read_file(write(tmp_path, text), na=["-999", ".", "n/k"])
    assert listed(columns) == {"n": [None, None, -9.0, 5.0], "t": [None, "a", None, None]}
    path = tmp_path / "data.parquet"
    pl.DataFrame({"n": [-999, 1, None], "t": ["a", "n/k", None]}).write_parquet(path)
    expected = {"n": [None, 1.0, None], "t": ["a", None, None]}
    assert listed(read_file(path, na=["-999", "n/k"])) == expected
    table = scan_files(path, na=["-999", "n/k"])
    assert listed({each.name: each.read(0, 3) for each in table.columns}) == expected


def test_leading_zeros_keep_a_column_text(tmp_path):
    """Codes stay what they are, with a notice; one who says that they are numbers gets numbers."""
    path = write(tmp_path, "zip,share\n90210,0.5\n01234,00.5\n")
    with pytest.warns(MixedColumnWarning, match="line 3: column 'zip' is '01234', a number with"):
        columns = read_file(path)
    assert listed(columns) == {"zip": ["90210", "01234"], "share": [0.5, 0.5]}
    assert listed(read_file(path, types={"zip": "number"}))["zip"] == [90210.0, 1234.0]
    assert listed(read_file(path, types={"zip": "category"}))["zip"] == ["90210", "01234"]


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"decimal": "x"}, "decimal has 'x'; choose from '.', ','"),
        ({"decimal": ",", "thousands": ","}, "is the decimal sign and stands between thousands"),
        ({"thousands": "."}, "is the decimal sign and stands between thousands"),
        ({"types": {"a": "text"}}, "types has 'text'; choose from 'category', 'number'"),
        ({"encoding": "utf-7000"}, "encoding 'utf-7000' is not known"),
        ({"encoding": "base64"}, "encoding 'base64' is not known"),
        ({"delimiter": '"'}, "delimiter is '\"'; pass one character"),
        ({"sheet": "x"}, "is CSV, of which nothing is to be said by sheet"),
        (
            {"dates": {"a": ["days", "days@2020-01-01"]}},
            "Two dates would become the column 'a_days'",
        ),
    ],
)
def test_what_cannot_be_said_is_a_sentence(tmp_path, how, words):
    """Before anything is read."""
    with pytest.raises(InvalidParameter, match=words):
        read_file(write(tmp_path, "a\n1\n"), **how)


# --- text -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
@pytest.mark.parametrize("name", ["data.csv", "data.csv.gz"])
def test_encodings_that_are_certain_are_found(tmp_path, encoding, name):
    """By a mark at the start, and UTF-16 by its zeros."""
    data = "name;n\nJürgen;1\nŁukasz;2\n".encode(encoding)
    path = write(tmp_path, gzip.compress(data) if name.endswith("gz") else data, name)
    assert listed(read_file(path)) == {"name": ["Jürgen", "Łukasz"], "n": [1.0, 2.0]}


def test_an_encoding_that_is_not_certain_is_asked_for(tmp_path):
    """With the line and the byte; what is said against a mark is refused."""
    path = write(tmp_path, "a,b\n1,x\n2,é\n".encode("cp1252"))
    with pytest.raises(InvalidFile, match=r"line 3: not text in UTF-8 \(byte 0xe9\); name the enc"):
        read_file(path)
    assert read_file(path, encoding="cp1252")["b"].tolist() == ["x", "é"]
    path = write(tmp_path, "a\né\n".encode("utf-8-sig"))
    with pytest.raises(InvalidFile, match="begins with the mark of UTF-8"):
        read_file(path, encoding="cp1252")
    with pytest.raises(InvalidFile, match=r"line 1: not text in ascii \(byte 0xc3\); .* another"):
        read_file(write(tmp_path, "é\n1\n"), encoding="ascii")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a;b\n1,5;2\n", ["a", "b"]),
        ("a\tb, c\n1\t2\n", ["a", "b, c"]),
        ("a|b|c,d\n1|2|x,y\n", ["a", "b", "c,d"]),
        ('"a;x",b\n1,2\n', ["a;x", "b"]),
        ("a;b;c\n1,2;3;4,5\n1;2;3\n", ["a", "b", "c"]),
        ("alone\n1\n", ["alone"]),
    ],
)
def test_the_delimiter_is_the_one_that_fits_all_lines(tmp_path, text, names):
    """With most columns, of comma, semicolon, tab and bar; the name of the file says nothing."""
    for name in ("data.csv", "data.tsv"):
        assert list(read_file(write(tmp_path, text, name))) == names
    with pytest.raises(InvalidFile, match="line 3: 1 fields where the header has 2, separated by"):
        read_file(write(tmp_path, "a;b\n1;2\n3\n"))


def test_names_are_trimmed_with_a_notice(tmp_path):
    """Spaces around a name are nobody's intention; two names that are then the same are refused."""
    path = write(tmp_path, "age , dose,\u00a0y\n1,2,3\n")
    with pytest.warns(ColumnNameWarning, match=r"line 1: names .* left out: 'age', 'dose', 'y'"):
        assert list(read_file(path)) == ["age", "dose", "y"]
    with pytest.raises(InvalidFile, match=r"line 1: more than one column 'a' \(columns 1, 3\)"):
        read_file(write(tmp_path, "a,b, a\n1,2,3\n"))
    with pytest.raises(InvalidFile, match="line 1: no name for columns 2 and 3; name them"):
        read_file(write(tmp_path, "a,,\n1,2,3\n"))


def test_a_field_that_is_too_long_is_a_sentence(tmp_path):
    """It is a quote that was not closed, most of the time."""
    with pytest.raises(InvalidFile, match="line 2: a field has more than 131,072 characters"):
        read_file(write(tmp_path, f"a,b\n{'x' * 131_073},2\n"))


# --- dates ----------------------------------------------------------------------------------------

VISITS = {"born": ["1990-12-31", None, "2000-02-29"], "visit": ["2024-12-30", "2024-01-01", None]}
BECOME = {"born": "age@visit", "visit": ["month", "weekday"]}
EXPECTED = {
    "born_age": [33.0, None, None],
    "visit_month": [12.0, 1.0, None],
    "visit_weekday": [1.0, 1.0, None],
}


@pytest.mark.parametrize("name", ["text.csv", "text.parquet", "dates.parquet", "dates.xlsx"])
def test_dates_become_numbers_in_every_format(tmp_path, name):
    """Text and dates of any make, read whole and in parts, without the dates themselves."""
    path, frame = tmp_path / name, pd.DataFrame(VISITS)
    if name.startswith("dates"):
        frame = frame.apply(pd.to_datetime)
    if name.endswith("csv"):
        frame.to_csv(path, index=False)
    elif name.endswith("parquet"):
        frame.to_parquet(path)
    else:
        frame.to_excel(path, index=False)
    assert listed(read_file(path, dates=BECOME)) == EXPECTED
    table = scan_files(path, dates=BECOME)
    assert listed({each.name: each.read(0, 3) for each in table.columns}) == EXPECTED
    assert table.columns[0].read(1, 2).tolist() != [33.0]
    assert list(read_file(path, dates=BECOME, only=["visit_month"])) == ["visit_month"]
    assert list(read_file(path, dates=BECOME, drop=["visit"])) == list(EXPECTED)


def test_dates_that_are_not_certain_are_refused(tmp_path):
    """With the line, and what to say; as is a column that is not there, or is there already."""
    path = write(tmp_path, "d,d_year\n2025-01-01,1\n03/04/2025,2\n")
    with pytest.raises(InvalidFile, match=r"line 3: .*'03/04/2025', which does not tell the day"):
        read_file(path, dates={"d": "month"})
    assert read_file(path, dates={"d": "month"}, date_order="mdy")["d_month"].tolist() == [1, 3]
    with pytest.raises(InvalidFile, match="has a column 'd_year' already"):
        read_file(path, dates={"d": "year"}, date_order="mdy")
    with pytest.raises(MissingColumns, match="no column 'day'"):
        read_file(path, dates={"day": "year"})
    with pytest.raises(InvalidFile, match=r"line 2: .*'soon', which is not a date; write it as"):
        read_file(write(tmp_path, "d\nsoon\n"), dates={"d": "year"})


# --- Excel ----------------------------------------------------------------------------------------


def sheet_file(folder, rows, name="data.xlsx", **others):
    """Write rows to a sheet, and others to sheets of their names."""
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for title, content in others.items():
        sheet = book.create_sheet(title)
        for row in content:
            sheet.append(row)
    book.save(folder / name)
    return folder / name


def test_a_sheet_is_read_as_its_csv_file_would_be(tmp_path):
    """Numbers in every bit, truth values, codes, missing values, and blank rows and columns."""
    third = 1 / 3
    path = sheet_file(
        tmp_path,
        [[" n", "code", "flag", "t", None], [third, "01", True, "a"], [None] * 4,
         ["#N/A", "02", None, "é"], [2, "03", False, None]],
    )  # fmt: skip
    with pytest.warns(ColumnNameWarning):
        columns = read_file(path, kinds={"code": Kind.CATEGORICAL})
    assert listed(columns) == {
        "n": [third, None, 2.0],
        "code": ["01", "02", "03"],
        "flag": [True, None, False],
        "t": ["a", "é", None],
    }


def test_sheets_are_taken_by_name(tmp_path):
    """One of several has to be named."""
    path = sheet_file(tmp_path, [["a"], [1]], second=[["b"], [2]])
    assert listed(read_file(path, sheet="second")) == {"b": [2.0]}
    with pytest.raises(InvalidFile, match=r"has 2 sheets \('Sheet', 'second'\); name one"):
        read_file(path)
    with pytest.raises(InvalidFile, match="has no sheet 'third'; it has 'Sheet', 'second'"):
        read_file(path, sheet="third")


def test_what_is_wrong_with_a_sheet_is_a_sentence_with_its_row(tmp_path):
    """Formulas without a result, errors of formulas, text in a column of numbers, a header only."""
    path = sheet_file(tmp_path, [["a"], ["=1+1"]])
    with pytest.raises(InvalidFile, match=r"row 2: the formula '=1\+1' has no result"):
        read_file(path)
    path = sheet_file(tmp_path, [["a"], [1], ["#DIV/0!"]])
    with pytest.raises(InvalidFile, match="row 3: a cell is #DIV/0!"):
        read_file(path)
    path = sheet_file(tmp_path, [["a"], [1], ["two"]])
    with pytest.raises(InvalidFile, match="line 3: column 'a' is 'two', which is not a number"):
        read_file(path, types={"a": "number"})
    with pytest.raises(InvalidFile, match="contains no data rows, only a header"):
        read_file(sheet_file(tmp_path, [["a", "b"]]))
    with pytest.raises(InvalidParameter, match="is Excel, of which nothing is to be said by enc"):
        read_file(path, encoding="utf-8")


def test_what_is_written_for_excel_is_data_and_never_a_formula(tmp_path):
    """Text that begins with an equals sign comes back as that text."""
    columns = {"=name": ["=1+1", "a\x07b", None], "n": [0.1, None, 3]}
    (tmp_path / "out.xlsx").write_bytes(to_excel(columns))
    sheet = openpyxl.load_workbook(tmp_path / "out.xlsx").active
    assert [[cell.value for cell in row] for row in sheet] == [
        ["=name", "n"], ["=1+1", 0.1], ["a\ufffdb", None], [None, 3],
    ]  # fmt: skip
    assert {cell.data_type for row in sheet for cell in row} == {"s", "n"}


def test_sizes_that_a_sheet_states_are_not_believed(tmp_path, monkeypatch):
    """Neither that of cells with a format only, nor a row whose number is beyond any sheet."""
    monkeypatch.setattr(excel, "MOST_ROWS", 10)
    path = sheet_file(tmp_path, [["a", "b"], [1, 2], [3, None]])
    with zipfile.ZipFile(path) as book:
        parts = {name: book.read(name) for name in book.namelist()}
    name = "xl/worksheets/sheet1.xml"
    for old, new in ((b"A1:B3", b"A1:XFD1048576"), (b'<row r="3"', b'<row r="20"')):
        assert old in parts[name]
        parts[name] = parts[name].replace(old, new)
        with zipfile.ZipFile(path, "w") as book:
            for part, content in parts.items():
                book.writestr(part, content)
        if new.startswith(b"A1"):
            assert listed(read_file(path)) == {"a": [1.0, 3.0], "b": [2.0, None]}
    with pytest.raises(InvalidFile, match="has rows beyond the 10 of a sheet"):
        read_file(path)


def test_without_openpyxl_the_extra_is_named(tmp_path, monkeypatch):
    """For reading and for writing."""
    path = sheet_file(tmp_path, [["a"], [1]])
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    for use in (lambda: read_file(path), lambda: to_excel({"a": [1]})):
        with pytest.raises(MissingDependency, match=r'pip install "mossrules\[excel\]"'):
            use()


# --- what a model keeps ---------------------------------------------------------------------------

HOW = {"decimal": ",", "na": "-9", "dates": {"visit": ["month", "year"]}}


def visits(folder):
    """Write a file of visits, with decimal commas, sentinels and dates."""
    rng = np.random.default_rng(0)
    lines = ["dose;visit;kind;y"]
    for row in range(80):
        day = dt.date(2024, 1, 1) + dt.timedelta(days=int(rng.integers(360)))
        dose = "-9" if row % 9 == 0 else f"{rng.normal(5, 2):.1f}".replace(".", ",")
        y = f"{day.month * 1.5 + (row % 9 == 0) * 20:.1f}".replace(".", ",")
        lines.append(f"{dose};{day:%d.%m.%Y};{'ab'[day.month > 6]};{y}")
    return write(folder, "\n".join(lines))


def test_files_to_predict_for_are_read_as_that_of_training_was(tmp_path):
    """By the estimator, by its rules, and by rules that were kept as JSON."""
    path = visits(tmp_path)
    table = scan_files(path, **HOW, drop=["kind"])
    model = MossRegressor(6, n_trees=40, random_state=0).fit(table, "y")
    assert {"visit_month", "dose"} <= set(model.rules_.features)
    expected = model.predict(table)
    frame = {name: np.asarray(values) for name, values in read_file(path, **HOW).items()}
    np.testing.assert_array_equal(model.rules_.predict(frame), expected)
    back = RuleSet.from_json(model.rules_.to_json())
    assert back.reading == Reading(decimal=",", na=("-9",), dates={"visit": ("month",)})
    for predict in (model.predict, model.rules_.predict, back.predict):
        np.testing.assert_array_equal(predict(path), expected)
    assert model.score(path, "y") == model.score(table, "y")
    # What one file needs beside is said of that file; what the model means is not said anew.
    other = read_file(path, only=back.features, reading=back.reading, delimiter=";")
    np.testing.assert_array_equal(back.predict(other), expected)
    with pytest.raises(InvalidParameter, match="'visit' was month in training"):
        read_file(path, only=back.features, reading=back.reading, dates={"visit": "year"})


def test_models_of_several_classes_keep_it_too(tmp_path):
    """And what two models read differently is not read for both."""
    text = "\n".join(["a;y", *(f"{i % 7},5;{'xyz'[i % 7 // 3]}" for i in range(60))])
    path = write(tmp_path, text)
    model = MossClassifier(2, n_trees=20).fit(scan_files(path, decimal=","), "y")
    assert model.rules_.reading == Reading(decimal=",")
    assert model.score(path, "y") > 0.9
    with pytest.raises(InvalidParameter, match="read in two ways"):
        Reading.common([Reading(decimal=","), Reading()])


def test_a_reading_without_anything_said_is_not_kept(tmp_path):
    """Models of usual files are the ones they were."""
    path = write(tmp_path, "a,y\n" + "".join(f"{i % 5},{i % 5}\n" for i in range(30)))
    model = MossRegressor(1, n_trees=20).fit(path, "y")
    assert '"reading"' not in model.rules_.to_json()
    damaged = model.rules_.to_json().replace('"named"', '"reading": {"thousands": "x"}, "named"')
    with pytest.raises(InvalidFile, match="reading of the rule set is damaged"):
        RuleSet.from_json(damaged)
    assert Table.from_any(read_file(path)).reading == Reading()
