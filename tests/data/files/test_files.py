import gc
import gzip
import importlib.util
import math
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from mossrules import MossRegressor, _files
from mossrules._files import check_place, write_file
from mossrules.data.columns import Kind
from mossrules.data.files import MISSING, delimited, kept, read_file, scan_files
from mossrules.data.files import parquet as parquet_files
from mossrules.data.files import text as text_files
from mossrules.data.table import Table
from mossrules.exceptions import (
    InvalidColumn,
    InvalidFile,
    InvalidParameter,
    MissingColumns,
    MissingDependency,
    MixedColumnWarning,
)


def write(folder, text, name="data.csv"):
    """Write a text to a file and return its path."""
    path = folder / name
    data = text if isinstance(text, bytes) else text.encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def kinds_of(columns):
    """Return the kinds that the library sees."""
    return [column.kind for column in Table.from_any(columns).columns]


def listed(columns):
    """Return columns as lists, with None for what is missing."""
    return {
        name: [None if pd.isna(value) else value for value in np.asarray(values).tolist()]
        for name, values in columns.items()
    }


# --- types ----------------------------------------------------------------------------------------


def test_types_are_those_of_all_fields(tmp_path):
    """Numbers, truth values and text are told apart, with missing values among any of them."""
    text = "n,b,t,m\n1,true,red,\n NA,,7,NA\n-2.5e3,FALSE,NA,null\n".replace(" NA", "NA")
    columns = read_file(write(tmp_path, text))
    assert listed(columns) == {
        "n": [1.0, None, -2500.0],
        "b": [True, None, False],
        "t": ["red", "7", None],
        "m": [None, None, None],
    }
    assert kinds_of(columns) == [Kind.NUMERIC, Kind.BOOLEAN, Kind.CATEGORICAL, Kind.NUMERIC]


@pytest.mark.parametrize("field", ["1_000", "0x1F", "1,5", "12a", "true", "--", "1 2"])
def test_what_is_no_number_makes_text(tmp_path, field):
    """One field that no other program would take for a number makes the column text."""
    columns = read_file(write(tmp_path, f'a,b\n1,"{field}"\n2,3\n'))
    assert columns["b"].tolist() == [field, "3"]


@pytest.mark.parametrize("word", sorted(MISSING))
def test_words_for_missing_are_missing_everywhere(tmp_path, word):
    """Each word is missing among numbers and among labels."""
    columns = read_file(write(tmp_path, f"n,t\n1,a\n{word},{word}\n"))
    assert listed(columns) == {"n": [1.0, None], "t": ["a", None]}


@pytest.mark.filterwarnings("ignore::mossrules.exceptions.MixedColumnWarning")
@pytest.mark.parametrize("rows", [1, 2, 3, 5, 100])
def test_the_length_of_blocks_does_not_matter(tmp_path, monkeypatch, rows):
    """Types that show late, and all kinds of beginnings, give the same columns."""
    text = (
        "late,missing,truth,mixed,number\n"
        "1,,true,true,1\n2,,,1,\n3,NA,false,2,3\n,x,,3,4\nx,y,true,false,5\n6,,true,1,6.5\n"
    )
    path = write(tmp_path, text)
    monkeypatch.setattr(delimited, "BLOCK_ROWS", rows)
    assert listed(read_file(path)) == {
        "late": ["1", "2", "3", None, "x", "6"],
        "missing": [None, None, None, "x", "y", None],
        "truth": [True, None, False, None, True, True],
        "mixed": ["true", "1", "2", "3", "false", "1"],
        "number": [1.0, None, 3.0, 4.0, 5.0, 6.5],
    }


@pytest.mark.parametrize("rows", [2, 100])
def test_a_word_among_numbers_is_told_with_its_line(tmp_path, monkeypatch, rows):
    """A column of numbers does not become text for the sake of one word unnoticed."""
    monkeypatch.setattr(delimited, "BLOCK_ROWS", rows)
    path = write(tmp_path, "a,b\n1,x\n2,y\n,\nnone,3\n5,NA\n")
    with pytest.warns(MixedColumnWarning, match="line 5: column 'a' is 'none' among numbers"):
        columns = read_file(path)
    assert columns["a"].tolist() == ["1", "2", None, "none", "5"]
    assert list(read_file(path, kinds={"a": Kind.CATEGORICAL})) == ["a", "b"]


def test_known_kinds_are_kept(tmp_path):
    """Codes that look like numbers stay text, and truth values count as numbers, when asked."""
    path = write(tmp_path, "zip,flag\n01,true\n02,0\n,NA\n")
    columns = read_file(path, kinds={"zip": Kind.CATEGORICAL, "flag": Kind.BOOLEAN})
    assert listed(columns) == {"zip": ["01", "02", None], "flag": [1.0, 0.0, None]}


@settings(deadline=None, max_examples=50)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_numbers_survive_in_every_bit(tmp_path_factory, numbers):
    """A float that Python writes is the float that is read."""
    path = tmp_path_factory.mktemp("numbers") / "data.csv"
    pd.DataFrame({"x": numbers, "y": 1}).to_csv(path, index=False)
    np.testing.assert_array_equal(read_file(path)["x"], numbers)


NAMES = ['quo"te', "com,ma", "line\nbreak", "naïve ☃", " space ", "[bold]", "SELECT", "עברית"]


@pytest.mark.filterwarnings("ignore::mossrules.exceptions.ColumnNameWarning")
@pytest.mark.parametrize("name", ["data.csv", "data.csv.gz", "data.tsv", "data.parquet"])
def test_hostile_names_and_labels_survive(tmp_path, name):
    """Quotes, commas, line breaks and any script come back from every format."""
    frame = pd.DataFrame({each: [f"{each}1", f"{each}2"] for each in NAMES})
    path = tmp_path / name
    if name.endswith("parquet"):
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if name.endswith("tsv") else ",")
    columns = read_file(path)
    is_parquet = name.endswith("parquet")
    assert list(columns) == (NAMES if is_parquet else [each.strip() for each in NAMES])
    assert [list(map(str, values)) for values in columns.values()] == frame.T.to_numpy().tolist()


def test_blank_lines_marks_and_line_ends_do_not_matter(tmp_path):
    """A mark at the start, Windows' line ends and blank lines are read over."""
    path = write(tmp_path, b"\xef\xbb\xbfa,b\r\n1,2\r\n\r\n3,4\r\n\r\n")
    assert listed(read_file(path)) == {"a": [1.0, 3.0], "b": [2.0, 4.0]}


# --- which columns --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["data.csv", "data.parquet"])
def test_columns_are_chosen_by_name(tmp_path, name):
    """Some can be left out or asked for; one that has to be there and is not is named."""
    frame = pd.DataFrame({"id": [1, 2], "bmi": [20.5, 30.0], "age": [40, 50]})
    path = tmp_path / name
    frame.to_csv(path, index=False) if name.endswith("csv") else frame.to_parquet(path)
    assert list(read_file(path, drop=["id"])) == ["bmi", "age"]
    assert list(read_file(path, only=["age", "height"])) == ["age"]
    with pytest.raises(MissingColumns, match=r"no column 'bmo'.* Did you mean 'bmi'\?"):
        read_file(path, required=["bmo"])
    with pytest.raises(MissingColumns, match="no column 'key'"):
        read_file(path, drop=["key"])


def test_a_column_without_a_name_can_be_dropped(tmp_path):
    """The index that pandas writes has no name: it is refused, or dropped by its empty name."""
    path = tmp_path / "data.csv"
    pd.DataFrame({"a": [1.0, 2.0]}).to_csv(path)
    with pytest.raises(InvalidFile, match="no name for column 1; name it"):
        read_file(path)
    assert list(read_file(path, drop=[""])) == ["a"]
    assert list(read_file(path, only=["a"])) == ["a"]


# --- what is wrong with a file --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("data.csv", "", "is empty"),
        ("data.csv", "\n\n", "is empty"),
        ("data.csv", "a,b\n", "no data rows"),
        ("data.csv", "a,b\n1,2\n3\n", "line 3: 1 fields where the header has 2"),
        ("data.csv", "a,b\n1,2\n\n3,4,5\n", "line 4: 3 fields where the header has 2"),
        ("data.csv", "a,a\n1,2\n", "more than one column 'a'"),
        ("data.csv", "a,b;c\n1,2;3\n", "as many columns between commas as between semicolons"),
        ("data.csv", 'a,b\n1,2\n3,"4\n5,6\n', "line 3: a quote is opened here"),
        ("data.csv", 'a,b\n1,"2"x\n', "line 2: .*check its quotes"),
        ("data.csv", b"a,b\n1,\xe9t\xe9\n", "line 2: not text in UTF-8 .byte 0xe9"),
        ("data.txt", "a,b\n1,2\n", "neither CSV, Excel nor Parquet by its name"),
        ("data.xls", "a,b\n1,2\n", "an old Excel file; save it as .xlsx"),
        ("data.xlsx", "a,b\n1,2\n", "cannot be read as an Excel file"),
        ("data.parquet", "a,b\n1,2\n", "cannot be read as Parquet"),
        ("data.csv", "a,y\n1,2\n2,ten\n", "line 3: column 'y' is 'ten', which is not a number"),
        ("data.csv", "a,y\n1,2\n2,1_0\n", "line 3: column 'y' is '1_0', which is not"),
    ],
)
def test_what_is_wrong_is_one_sentence_with_the_line(tmp_path, name, text, words):
    """Each thing that can be wrong is named, with its line where there is one."""
    path = write(tmp_path, text, name)
    with pytest.raises(InvalidFile, match=words) as caught:
        read_file(path, kinds={"y": Kind.NUMERIC})
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_a_line_is_the_line_of_the_file(tmp_path):
    """Blank lines and fields of several lines are counted."""
    path = write(tmp_path, 't,y\n"two\nlines",1\n\nb,x\n')
    with pytest.raises(InvalidFile, match="line 5: column 'y'"):
        read_file(path, kinds={"y": Kind.NUMERIC})


def test_places_without_a_file_are_named(tmp_path):
    """A file that is not there, a folder, and half a gzip file are told apart."""
    with pytest.raises(InvalidFile, match="does not exist"):
        read_file(tmp_path / "none.csv")
    with pytest.raises(InvalidFile, match="is a folder"):
        read_file(tmp_path)
    whole = gzip.compress(b"a,b\n" + b"1,2\n" * 1000)
    (tmp_path / "half.csv.gz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "none.csv.gz").write_bytes(b"a,b\n1,2\n")
    for name in ("half.csv.gz", "none.csv.gz"):
        with pytest.raises(InvalidFile, match="not a whole gzip file"):
            read_file(tmp_path / name)
    with pytest.raises(InvalidParameter, match="one character"):
        read_file(write(tmp_path, "a,b\n1,2\n"), delimiter="::")


# --- Parquet --------------------------------------------------------------------------------------


def test_parquet_keeps_its_types(tmp_path):
    """Categories, booleans and nulls are what they were; whole numbers become text if asked."""
    frame = pl.DataFrame(
        {"n": [1.5, None], "b": [True, None], "c": ["x", None], "code": [3, 4]},
        schema_overrides={"c": pl.Categorical},
    )
    path = tmp_path / "data.parquet"
    frame.write_parquet(path)
    columns = read_file(path, kinds={"code": Kind.CATEGORICAL, "n": Kind.CATEGORICAL})
    assert kinds_of(columns) == [Kind.NUMERIC, Kind.BOOLEAN, *[Kind.CATEGORICAL] * 2]
    table = Table.from_any(columns)
    assert table.columns[3].read(0, 2).tolist() == ["3", "4"]
    assert math.isnan(table.columns[0].read(0, 2)[1])
    frame.clear().write_parquet(path)
    with pytest.raises(InvalidFile, match="no data rows"):
        read_file(path)


def test_parquet_is_read_by_whichever_library_is_there(tmp_path, monkeypatch):
    """Without pyarrow polars reads it, and without both the error names what to install."""
    path = tmp_path / "data.parquet"
    pl.DataFrame({"a": [1, 2], "b": ["x", "y"]}).write_parquet(path)
    find = importlib.util.find_spec
    hidden = {"pyarrow"}
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name in hidden else find(name)
    )
    columns = read_file(path, only=["b"])
    assert isinstance(columns["b"], pl.Series)
    (tmp_path / "bad.parquet").write_text("no")
    with pytest.raises(InvalidFile, match="cannot be read as Parquet"):
        read_file(tmp_path / "bad.parquet")
    hidden.add("polars")
    with pytest.raises(MissingDependency, match=r"pip install \"mossrules\[parquet\]\""):
        read_file(path)


def test_the_index_that_pandas_keeps_is_no_column(tmp_path, monkeypatch):
    """Rows that were drawn keep their numbers in the file: no feature, unless they are named."""
    path = tmp_path / "data.parquet"
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": ["x", "y", "x"]})
    frame.iloc[[0, 2, 1]].to_parquet(path)
    assert "__index_level_0__" in pl.read_parquet_schema(path)
    assert scan_files(path).names == ("a", "b")
    index = ["__index_level_0__"]
    assert scan_files(path, required=index).names == ("a", "b", *index)
    assert scan_files(path, drop=index).names == ("a", "b")
    found = importlib.util.find_spec
    for hidden in (None, "pyarrow"):
        monkeypatch.setattr(
            importlib.util,
            "find_spec",
            lambda name, hidden=hidden: None if name == hidden else found(name),
        )
        assert list(read_file(path)) == ["a", "b"]
        assert list(read_file(path, drop=index)) == ["a", "b"]
        kept = read_file(path, only=index, required=index)[index[0]]
        assert np.asarray(kept).tolist() == [0, 2, 1]


def test_csv_needs_no_frame_library(tmp_path):
    """The core install reads CSV files."""
    path = write(tmp_path, "a,b\n1,x\n2,y\n")
    code = (
        "import sys, pathlib\n"
        "for name in ('pandas', 'polars', 'pyarrow'): sys.modules[name] = None\n"
        "from mossrules.data.files import read_file\n"
        f"print(read_file(pathlib.Path({str(path)!r}))['b'].tolist())\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "['x', 'y']"


def test_arrow_dictionaries_can_be_sliced(tmp_path):
    """Columns of a Parquet file behave like those of a table."""
    path = tmp_path / "data.parquet"
    pd.DataFrame({"a": pd.Categorical(["x", "y"])}).to_parquet(path)
    column = read_file(path)["a"]
    assert isinstance(column, pa.ChunkedArray)
    assert Table.from_any({"a": column[1:2]}).columns[0].read(0, 1).tolist() == ["y"]


# --- scanning -------------------------------------------------------------------------------------


def values_of(table, *spans):
    """Return the values of all columns at some spans of rows, NaN and None alike."""
    return {
        column.name: [pd.Series(column.read(*span)).tolist() for span in spans]
        for column in table.columns
    }


def many_kinds(n=250):
    """Return a frame with columns of all kinds, the first rows of some all missing."""
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(
        {
            "number": np.where(np.arange(n) < 120, np.nan, rng.normal(size=n)),
            "whole": rng.integers(-3, 3, n),
            "flag": rng.random(n) < 0.5,
            "word": np.where(np.arange(n) < 150, None, rng.choice(["a", "b"], n)),
        }
    )
    frame["late"] = [str(i) for i in range(n - 1)] + ["x"]
    return frame


@pytest.mark.parametrize("rows", [1, 40, 1000])
def test_scanned_parquet_has_the_values_of_the_frame(tmp_path, monkeypatch, rows):
    """Whatever the row groups, any span of rows reads as it does in memory."""
    monkeypatch.setattr(parquet_files, "PART_ROWS", 64)
    frame = many_kinds().assign(
        size=pd.Categorical(["s", "m", "l", None, "m"] * 50, ["s", "m", "l"], ordered=True)
    )
    frame.to_parquet(tmp_path / "data.parquet", row_group_size=rows)
    table, expected = scan_files(tmp_path / "data.parquet"), Table.from_any(frame)
    spans = [(0, 250), (10, 11), (60, 199), *((part.start, part.stop) for part in table.parts)]
    assert repr(values_of(table, *spans)) == repr(values_of(expected, *spans))
    assert [(each.kind, each.levels) for each in table.columns] == [
        (each.kind, each.levels) for each in expected.columns
    ]
    assert max(len(part) for part in table.parts) <= max(64, min(rows, 250))


@pytest.mark.parametrize("rows", [7, 100, 65536])
def test_scanned_csv_has_the_values_of_the_file_read_whole(tmp_path, monkeypatch, rows):
    """Kinds are those of all fields of all files, whenever they show, and values come back."""
    monkeypatch.setattr(kept, "MAX_CHUNK_ROWS", rows)
    monkeypatch.setattr(delimited, "BLOCK_ROWS", 11)
    frame = many_kinds()
    frame.to_csv(tmp_path / "all.csv", index=False)
    frame.iloc[:100].to_csv(tmp_path / "part1.csv", index=False)
    frame.iloc[100:].to_csv(tmp_path / "part2.csv", index=False)
    with pytest.warns(MixedColumnWarning, match="'x' among numbers"):
        table = scan_files(str(tmp_path / "part?.csv"))
    with pytest.warns(MixedColumnWarning):
        expected = Table.from_any(read_file(tmp_path / "all.csv"))
    spans = [(0, 250), (95, 105), (249, 250)]
    assert repr(values_of(table, *spans)) == repr(values_of(expected, *spans))
    assert [each.kind for each in table.columns] == [each.kind for each in expected.columns]


def test_the_temporary_copy_of_text_goes_with_its_table(tmp_path, monkeypatch):
    """Nothing is left of a scanned CSV file when nobody holds it any more."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    table = scan_files(write(tmp_path, "a,b\n1,x\n2,y\n"))
    assert len(list(tmp_path.glob("mossrules-*"))) == 1
    assert table.columns[1].read(0, 2).tolist() == ["x", "y"]
    del table
    gc.collect()
    assert not list(tmp_path.glob("mossrules-*"))


def test_no_room_for_temporary_files_is_a_sentence(tmp_path, monkeypatch):
    """It says which variable names another place."""
    path = write(tmp_path, "x\n1\n")
    monkeypatch.setattr(kept, "mkdtemp", lambda **_: str(tmp_path / "gone"))
    with pytest.raises(InvalidFile, match=r"Temporary files cannot be written .*set TMPDIR"):
        scan_files(path)


def test_files_of_one_table_have_to_agree(tmp_path):
    """Other columns, kinds or formats are told; parts of missing values fit anywhere."""
    frames = {
        "a": pd.DataFrame({"x": [1.0, 2.0], "w": ["p", "q"]}),
        "b": pd.DataFrame({"x": [None, None], "w": [None, None]}),
        "c": pd.DataFrame({"x": ["1", "2"], "w": ["p", "q"]}),
        "d": pd.DataFrame({"x": [1.0, 2.0]}),
    }
    paths = {name: tmp_path / f"{name}.parquet" for name in frames}
    for name, frame in frames.items():
        frame.to_parquet(paths[name])
    table = scan_files([paths["a"], paths["b"]])
    assert table.columns[1].read(1, 3).tolist() == ["q", None]
    with pytest.raises(InvalidColumn, match=r"'x' is categorical in one part of .*numeric in"):
        scan_files([paths["a"], paths["c"]]).columns[0].read(0, 4)
    with pytest.raises(MissingColumns, match=r"d\.parquet lacks the column 'w'"):
        scan_files([paths["a"], paths["d"]])
    with pytest.raises(InvalidFile, match="some are Parquet"):
        scan_files([paths["a"], write(tmp_path, "x,w\n1,p\n")])
    with pytest.raises(InvalidFile, match="list of files is empty"):
        scan_files([])
    frames["a"].head(0).to_parquet(paths["a"])
    with pytest.raises(InvalidFile, match="no data rows"):
        scan_files(paths["a"])


# --- writing --------------------------------------------------------------------------------------


def test_files_are_written_whole(tmp_path):
    """The new content takes the place of the old, and nothing else is left behind."""
    path = tmp_path / "out.txt"
    write_file(path, "old")
    write_file(path, "néw")
    assert path.read_text(encoding="utf-8") == "néw"
    write_file(path, b"\x00")
    assert path.read_bytes() == b"\x00"
    assert [each.name for each in tmp_path.iterdir()] == ["out.txt"]


def test_places_that_cannot_be_written_are_named(tmp_path, monkeypatch):
    """A folder, a folder that is missing, and a full disc are one sentence each."""
    with pytest.raises(InvalidFile, match="is a folder; name a file"):
        check_place(tmp_path)
    with pytest.raises(InvalidFile, match="folder does not exist"):
        write_file(tmp_path / "none" / "out.txt", "x")

    def full(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("mossrules._files.os.fsync", full)
    with pytest.raises(InvalidFile, match="No space left on device"):
        write_file(tmp_path / "out.txt", "x")
    assert list(tmp_path.iterdir()) == []


def test_a_place_without_permission_is_named_before_the_work(tmp_path, monkeypatch):
    """Also to root, to whom all is permitted but on a disc that is only to be read."""
    monkeypatch.setattr("mossrules._files.os.access", lambda *_: False)
    with pytest.raises(InvalidFile, match="not permitted there; choose another path"):
        check_place(tmp_path / "out.txt")


@pytest.mark.skipif(sys.platform == "win32", reason="lengths are those of POSIX")
def test_a_name_that_is_too_long_is_named(tmp_path):
    """One that is as long as names can be is written."""
    with pytest.raises(InvalidFile, match=r"cannot be written .*too long"):
        check_place(tmp_path / ("a" * 300))
    path = tmp_path / ("a" * 255)
    write_file(path, "x")
    assert path.read_text() == "x"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are those of POSIX")
def test_what_is_no_file_is_written_to_and_stays(tmp_path):
    """A pipe, for one: whoever reads it gets the content."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        got = pool.submit(pipe.read_text)
        write_file(pipe, "content")
        assert got.result(60) == "content"
    assert pipe.is_fifo()


@pytest.mark.skipif(sys.platform == "win32", reason="links and modes are those of POSIX")
def test_links_modes_and_other_files_stay(tmp_path):
    """The file that a link names is written, with its mode, and no name of the user's is used."""
    (tmp_path / "folder").mkdir()
    place, link, own = tmp_path / "folder" / "out", tmp_path / "out.csv", tmp_path / "out.csv.tmp"
    place.write_text("old")
    place.chmod(0o640)
    link.symlink_to(place)
    own.write_text("the user's")
    write_file(link, "new")
    assert link.is_symlink()
    assert place.read_text() == "new"
    assert place.stat().st_mode & 0o777 == 0o640
    assert own.read_text() == "the user's"
    before = os.umask(0o027)
    try:
        write_file(tmp_path / "fresh", "new")
    finally:
        os.umask(before)
    assert (tmp_path / "fresh").stat().st_mode & 0o777 == 0o640


def test_writers_of_one_path_do_not_disturb_each_other(tmp_path):
    """At any time the file is that of one of them, whole."""
    path, contents = tmp_path / "shared", [letter * 100_000 for letter in "abc"]
    write_file(path, contents[0])

    def write_often(content):
        for _ in range(10):
            write_file(path, content)
            assert path.read_text() in contents

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(write_often, contents))
    assert [each.name for each in tmp_path.iterdir()] == ["shared"]


@pytest.mark.skipif(sys.platform == "win32", reason="there, files that are open are kept")
def test_only_what_the_dead_have_left_is_removed(tmp_path):
    """Those who write to the same folder meanwhile, here or on other machines, keep their files."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    here, names = _files._host(), {}
    for what, host, process in (
        ("dead", here, ended.pid), ("alive", here, os.getpid()), ("elsewhere", "other", ended.pid),
        ("long ago", "other", ended.pid),
    ):  # fmt: skip
        names[what] = tmp_path / f".mossrules-{host}-{process}-{len(names)}.tmp"
        names[what].write_text("half of")
    os.utime(names["long ago"], (0, 0))
    write_file(tmp_path / "out", "new")
    assert [what for what, path in names.items() if path.exists()] == ["alive", "elsewhere"]


def test_a_line_that_would_fill_the_memory_is_refused(tmp_path, monkeypatch):
    """A small file of gzip may hold a line of gigabytes; lines up to the limit are read."""
    monkeypatch.setattr(text_files, "LONGEST_LINE", 40)
    for text in ("a,b\n" + "1" * 39 + ",2\n", "a" * 100, 'a,b\n1,"' + "x" * 100):
        with pytest.raises(InvalidFile, match="line of more than 40 characters"):
            read_file(write(tmp_path, text, "data.csv.gz"))
    for end in ("\n", "\r\n", ""):
        read = read_file(write(tmp_path, f"a,b\n{'1' * 36},22{end}", "data.csv"))
        assert read["b"].tolist() == [22.0]


def test_parquet_whose_footer_lies_about_its_rows_is_refused(tmp_path):
    """Values of a chunk are as many as its rows, or the file is not read."""
    path, refused = tmp_path / "data.parquet", []
    pd.DataFrame({"x": np.arange(50.0)}).to_parquet(path, compression=None, row_group_size=25)
    sound = path.read_bytes()
    for place, byte in enumerate(sound):
        if byte != 2 * 25:  # as the format writes 25
            continue
        path.write_bytes(sound[:place] + bytes([2 * 24]) + sound[place + 1 :])
        try:
            table = scan_files(path)
            assert len(table.columns[0].read(0, table.n_rows)) == table.n_rows
        except InvalidFile as error:
            refused.append(str(error))
    assert any("rows where it says that there are" in each for each in refused)


def test_parquet_whose_texts_are_not_utf_8_is_refused(tmp_path):
    """Before any value is used, whole or scanned."""
    path = tmp_path / "data.parquet"
    colour = pa.array([b"red", b"\xba"]).view(pa.string())
    parquet.write_table(pa.table({"colour": colour, "y": [1.0, 2.0]}), path)
    with pytest.raises(InvalidFile, match="cannot be read as Parquet"):
        read_file(path)
    found = scan_files(path)
    with pytest.raises(InvalidFile, match="cannot be read as Parquet"):
        found.columns[0].read(0, 2)


def test_what_cannot_be_scanned_is_said(tmp_path):
    """A choice of no column at all, and a name that no file can have."""
    path = write(tmp_path, "a,b\n1,2\n")
    for nothing in ({"only": ["c"]}, {"drop": ["a", "b"]}):
        with pytest.raises(InvalidFile, match="none of the columns asked for"):
            scan_files(path, **nothing)
    with pytest.raises(InvalidFile, match="check the path"):
        scan_files("a" * 5000 + ".csv")


# --- the order of files ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["text", "number", "truth", "category"])
@pytest.mark.parametrize("empty", ["none", "nan"])
@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_a_column_without_values_in_a_file_has_the_kind_of_the_others(tmp_path, kind, empty, form):
    """Whichever file comes first: what is stored of no value is of any type."""
    draw = np.random.default_rng(0)
    values = {
        "text": draw.choice(["a", "b"], 30),
        "number": draw.random(30),
        "truth": draw.random(30) < 0.5,
        "category": pd.Categorical(draw.choice(["a", "b"], 30)),
    }
    nothing = pd.Series([None] * 30, dtype=object if empty == "none" else float)
    x, y = draw.random(30), draw.random(30)
    models = []
    for order in ((values[kind], nothing), (nothing, values[kind])):
        folder = tmp_path / str(len(models))
        folder.mkdir()
        for number, column in enumerate(order):
            frame = pd.DataFrame({"x": x, "y": y, "c": column})
            write = frame.to_parquet if form == "parquet" else frame.to_csv
            write(folder / f"{number}.{form}", index=False)
        table = scan_files(f"{folder}/*.{form}")
        kinds = {"text": "categorical", "category": "categorical", "truth": "boolean"}
        assert table.columns[2].kind.value == kinds.get(kind, "numeric")
        model = MossRegressor(2, n_trees=20, solver="coordinate-descent").fit(table, "y")
        models.append(model.rules_.to_json())
    assert models[0] == models[1]
