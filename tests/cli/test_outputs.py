"""What is written never takes the place of what is read, whatever the option and the link."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from mossrules import MossRegressor
from mossrules.exceptions import InvalidParameter
from support.commands import run

FILE = ["data.csv", "--target", "y"]
# Every option that names a file to write, of every command that reads one.
WRITES = [
    ("fit", FILE, "--output", ".csv"),
    ("report", FILE, "--output", ".csv"),
    ("predict", ["model.json", "data.csv"], "--output", ".csv"),
    ("predict", ["model.json", "data.csv"], "--output", ".json"),
    ("diff", ["model.json", "other.json", "data.csv"], "--html", ".csv"),
    ("diff", ["model.json", "other.json"], "--html", ".json"),
    ("frontier", FILE, "--output", ".csv"),
    ("frontier", FILE, "--plot", ".csv"),
    ("frontier", FILE, "--checkpoint", ".csv"),
    ("compare", FILE, "--output", ".csv"),
    ("compare", FILE, "--plot", ".csv"),
    ("compare", FILE, "--checkpoint", ".csv"),
    ("performance", FILE, "--output", ".csv"),
    ("performance", FILE, "--plot", ".csv"),
    ("performance", [*FILE, "--model", "model.json"], "--output", ".json"),
    ("stability", FILE, "--checkpoint", ".csv"),
    ("fit", [*FILE, "--cuts-from", "model.json"], "--output", ".json"),
    ("fit", [*FILE, "--near", "model.json"], "--output", ".json"),
    ("fit", ["da*.csv", "--target", "y"], "--output", ".csv"),
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the current folder: with data, two models, and other names for them."""
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{x},{x % 3}\n" for x in range(30))
    Path("data.csv").write_text(f"x,y\n{rows}")
    for name in ("model.json", "other.json"):
        Path(name).write_text("what a model was")
    for suffix, path in ((".csv", "data.csv"), (".json", "model.json")):
        Path("soft" + suffix).symlink_to(path)
        os.link(path, "hard" + suffix)
    return tmp_path


@pytest.mark.skipif(sys.platform == "win32", reason="links are those of POSIX")
@pytest.mark.parametrize("name", ["plain", "soft", "hard"])
@pytest.mark.parametrize("writes", WRITES, ids=lambda writes: f"{writes[0]}{writes[2]}{writes[3]}")
def test_no_option_overwrites_what_is_read(folder, name, writes):
    """Nothing is done, the file is as it was, and one sentence names the option and the file."""
    command, arguments, option, suffix = writes
    before = {path: path.read_bytes() for path in folder.iterdir()}
    source = {".csv": "data.csv", ".json": "model.json"}[suffix]
    output = source if name == "plain" else f"./{name}{suffix}"
    result = run(command, *arguments, option, output)
    assert result.exit_code == 1
    path = Path(output)
    same = "" if name == "plain" else f"the same file as {source}, "
    assert result.stderr == (
        f"error: {option} is {path}, {same}which is read; choose another path, or what it holds "
        "would be lost.\n"
    )
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("command", ["frontier", "compare", "performance"])
def test_two_options_do_not_write_one_file(folder, command):
    """Neither where the file is there, nor where both would make it."""
    for name in ("data2.svg", "there.svg"):
        if name == "there.svg":
            (folder / name).write_text("x")
        result = run(command, *FILE, "--output", name, "--plot", folder / name)
        assert result.exit_code == 1
        assert f"--plot and --output are both {folder / name}; choose another path" in result.stderr


def test_a_report_does_not_overwrite_its_rows(tmp_path):
    """Of the library too, where rows are files; the page may take the place of an older one."""
    x = np.arange(40.0)
    path = tmp_path / "rows.csv"
    text = "x,y\n" + "".join(f"{a},{a > 20:d}\n" for a in x)
    path.write_text(text)
    model = MossRegressor(2, n_trees=20, solver="coordinate-descent").fit(path, "y")
    for rows in (path, str(tmp_path / "r*.csv"), [path]):
        with pytest.raises(InvalidParameter, match=r"path is .*, which is read; choose another"):
            model.report(path, rows, "y")
    assert path.read_text() == text


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are those of POSIX")
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("fit", ["pipe.csv", "--target", "y"]),
        ("report", ["pipe.csv", "--target", "y"]),
        ("predict", ["pipe.csv", "data.csv"]),
        ("fit", [*FILE, "--near", "pipe.csv"]),
        ("fit", [*FILE, "--cuts-from", "pipe.csv"]),
        ("stability", [*FILE, "--checkpoint", "pipe.csv"]),
        ("compare", [*FILE, "--method", "linear", "--checkpoint", "pipe.csv"]),
    ],
)
def test_a_pipe_is_refused_and_not_waited_for(command, arguments):
    """Reading one waits for a writer, maybe for ever, and every file is read more than once."""
    os.mkfifo("pipe.csv")
    result = run(command, *arguments)
    assert result.exit_code == 1
    assert result.stderr.endswith(
        "pipe.csv is a pipe or a device, which cannot be read again; write its content to a file "
        "and name that.\n"
    )
