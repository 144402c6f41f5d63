import importlib.util
import warnings
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mossrules.data.columns import Kind
from mossrules.data.files import fast_blocks, read_file, scan_files
from mossrules.data.reading import Reading
from mossrules.data.table import Table
from mossrules.exceptions import MossError

PIECES = [
    ",", ",", ",", "\n", "\n", "\r\n", '"', '""', '","', '"\n', ' "', "a", "é", "1", "2.5", "007",
    "0", "-3e2", " 4", "+1", "nan", "NaN(x)", "NA", " NA", "", "inf", "1e999", "1_0", "true", "-9",
    "1,5", "1.234", ";", "\t", "\x00", "\r", "0x1", "9007199254740993", "0.1", "\u0661", "false",
]  # fmt: skip
READINGS = [{}, {"na": ("-9", "a")}, {"decimal": ",", "thousands": "."}, {"thousands": ","}]


def outcome(path, how, kinds):
    """Return what is read of a file, in every bit, or the sentence that says why not."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            columns = read_file(path, kinds=kinds, reading=Reading(**how))
        except MossError as error:
            return str(error)
    found = {
        name: values.tobytes() if values.dtype != object else values.tolist()
        for name, values in columns.items()
    }
    return found, [str(each.message) for each in told]


def by_pyarrow(block):
    """Have files of any size read by pyarrow, in blocks of some bytes."""
    return mock.patch.multiple(fast_blocks, LEAST=0, BLOCK=block)


@settings(deadline=None, max_examples=300)
@given(
    st.lists(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), max_size=12),
    st.sampled_from(READINGS),
    st.sampled_from([None, Kind.NUMERIC, Kind.CATEGORICAL]),
    st.integers(1, 60),
)
@example(['"x""y",1', '"two\nlines",2'], {}, None, 7)
@example(['"a"b,1'], {}, None, 5)
@example(['1,"a,"b'], {}, None, 5)
@example(['5",2', '"6""",3'], {}, None, 5)
@example(["1,2"] * 40 + ['"3,4'], {}, None, 16)
def test_both_readers_say_the_same(tmp_path_factory, lines, how, kind, block):
    """Whatever the text and the blocks, values and warnings are those of Python's reader."""
    path = tmp_path_factory.mktemp("same") / "data.csv"
    path.write_bytes("\n".join(["a,b", *lines]).encode("utf-8", "surrogatepass"))
    kinds = {} if kind is None else {"b": kind}
    expected = outcome(path, {**how, "delimiter": ","}, kinds)
    with by_pyarrow(block):
        found = outcome(path, {**how, "delimiter": ","}, kinds)
    # Of two things that are wrong, the one that is met first is told, and blocks are of other rows.
    assert isinstance(found, str) == isinstance(expected, str)
    assert isinstance(found, str) or found[0] == expected[0]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.floats(), min_size=1, max_size=60), st.integers(0, 40))
def test_numbers_are_those_of_python_in_every_bit(tmp_path_factory, numbers, block):
    """The shortest text of a double reads as that double, and so do shorter ones."""
    path = tmp_path_factory.mktemp("bits") / "data.csv"
    texts = [f"{number!r},{number:.3g}" for number in numbers]
    path.write_text("\n".join(["a,b", *texts]))
    expected = {
        "a": np.array([float(text.split(",")[0]) for text in texts]),
        "b": np.array([float(text.split(",")[1]) for text in texts]),
    }
    with by_pyarrow(block + 1):
        columns = read_file(path)
    for name, values in expected.items():
        np.testing.assert_array_equal(columns[name], values)


def test_pyarrow_reads_sound_files_to_their_end(tmp_path):
    """Quotes, empty fields and late text included, it is not Python's reader that reads them."""
    frame = pd.DataFrame({
        "n": np.arange(5000) / 7,
        "t": ['say "hi",\nor not', "b", None, "ünlü", "d"] * 1000,
        "late": ["1"] * 4999 + ["x"],
        "flag": [True, False, None, True, True] * 1000,
    })  # fmt: skip
    frame.to_csv(tmp_path / "data.csv", index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = outcome(tmp_path / "data.csv", {}, {})[0]
        rows = mock.patch(
            "mossrules.data.files.delimited._check_lengths", side_effect=AssertionError
        )
        with by_pyarrow(1 << 12), rows:
            assert outcome(tmp_path / "data.csv", {}, {})[0] == expected
            table = scan_files(tmp_path / "data.csv")
    np.testing.assert_array_equal(table.columns[0].read(0, 5000), frame["n"])
    texts = [None if pd.isna(each) else each for each in frame["t"]]
    assert table.columns[1].read(0, 5000).tolist() == texts
    assert [column.kind for column in table.columns] == [
        Kind.NUMERIC, Kind.CATEGORICAL, Kind.CATEGORICAL, Kind.BOOLEAN,
    ]  # fmt: skip


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_other_encodings_are_read_by_pyarrow_too(tmp_path, encoding):
    """They are turned into UTF-8 first."""
    path = tmp_path / "data.csv"
    text = "".join(f"{i},é{i % 3}\n" for i in range(3000))
    path.write_bytes(f"n,tür\n{text}".encode(encoding))
    said = {"encoding": "cp1252"} if encoding == "cp1252" else {}
    expected = outcome(path, said, {})
    with by_pyarrow(1 << 10):
        assert outcome(path, said, {}) == expected
    assert expected[0]["tür"][:3] == ["é0", "é1", "é2"]


def test_without_pyarrow_large_files_are_read_too(tmp_path, monkeypatch):
    """By Python's reader, with the same values."""
    path = tmp_path / "data.csv"
    path.write_text("a,b\n" + "1.5,x\n" * 100)
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "pyarrow" else find(name)
    )
    with (
        by_pyarrow(64),
        mock.patch.object(fast_blocks.SoundBlocks, "read", side_effect=AssertionError),
    ):
        table = Table.from_any(read_file(path))
    assert table.n_rows == 100
