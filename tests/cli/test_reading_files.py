"""Options that say how a file is read, which every command that reads one has."""

import json

import openpyxl
import pytest
import typer

from mossrules import cli
from support.commands import run

FLAGS = {
    "--delimiter", "--decimal", "--thousands", "--na", "--encoding", "--types", "--date",
    "--date-order", "--sheet",
}  # fmt: skip
SAID = ["--decimal", ",", "--thousands", ".", "--na", "-999", "--encoding", "cp1252"]
SAID += ["--date", "visit=month", "--types", "code=category"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a file as German programs write it, and a model of it."""
    folder = tmp_path_factory.mktemp("german")
    lines = [" Größe ;visit;code;y"]
    for row in range(60):
        size = "-999" if row % 11 == 0 else f"1.{row % 10}00,5"
        lines.append(f"{size};0{row % 9 + 1}.0{row % 7 + 1}.2024;{row % 3};{row % 7},{row % 3}")
    path = folder / "data.csv"
    path.write_bytes("\n".join(lines).encode("cp1252"))
    common = ["--target", "y", "--refits", "0", "--trees", "40", "-o", folder / "model.json"]
    result = run("fit", path, *common, *SAID)
    assert result.exit_code == 0, result.output
    # The file is read twice, to see what the target is, and the notice is given once.
    assert result.stderr.count("spaces around them, which are left out: 'Größe'") == 1
    return folder


def test_every_command_that_reads_data_has_the_same_options():
    """By one definition: those that have one of them have all."""
    commands = typer.main.get_command(cli.app).commands
    having = {}
    for name, command in commands.items():
        flags = {flag for parameter in command.params for flag in parameter.opts}
        having[name] = flags & FLAGS
    assert {name for name, flags in having.items() if flags == FLAGS} >= {
        "fit", "predict", "frontier", "report", "stability", "compare", "performance", "diff",
    }  # fmt: skip
    assert all(flags in (set(), FLAGS) for flags in having.values()), having


def test_files_are_read_as_that_of_training_was(folder):
    """What belongs to the file is said again; what values mean, the model knows and says."""
    model = json.loads((folder / "model.json").read_text())
    assert model["reading"]["decimal"] == ","
    assert model["reading"]["na"] == ["-999"]
    result = run("predict", folder / "model.json", folder / "data.csv")
    assert result.exit_code == 1
    assert "line 1: not text in UTF-8 (byte 0xf6); name the encoding" in result.stderr
    how = ["--encoding", "cp1252", "--keep", "visit", "--keep", "code"]
    result = run("predict", folder / "model.json", folder / "data.csv", *how)
    assert result.stdout.splitlines()[0] == "visit,code,prediction"
    assert result.stdout.splitlines()[1].startswith("01.01.2024,0,")
    assert "is read as that of training was: ',' as the decimal sign" in result.stderr
    assert "month of 'visit' as 'visit_month'" in result.stderr
    other = run("predict", folder / "model.json", folder / "data.csv", *how, *SAID)
    assert other.stdout == result.stdout
    wrong = run("predict", folder / "model.json", folder / "data.csv", *how, "--date", "visit=year")
    assert "'visit' was month in training" in wrong.stderr


def test_predictions_are_written_for_excel(folder):
    """Where the name says so, with the numbers that a CSV file has."""
    how = ["--encoding", "cp1252", "--keep", "code"]
    printed = run("predict", folder / "model.json", folder / "data.csv", *how).stdout
    path = folder / "out.xlsx"
    run("predict", folder / "model.json", folder / "data.csv", *how, "-o", path)
    rows = [[cell.value for cell in row] for row in openpyxl.load_workbook(path).active]
    lines = [line.split(",") for line in printed.splitlines()]
    assert rows == [lines[0], *([code, float(number)] for code, number in lines[1:])]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (["--types", "code"], "--types is 'code'; write it as zip=category,age=number."),
        (["--types", "code=category,code=number"], "--types has 'code' twice"),
        (["--date", "visit"], "--date is 'visit'; write it as visit=month."),
        (["--date", "visit=decade"], "cannot become 'decade'; choose from year, month"),
        (["--types", "y=category"], "a number and cannot be categorical"),
        (["--categorical", "code", "--types", "code=number"], "say different things of 'code'"),
        (["--sheet", "one"], "of which nothing is to be said by sheet"),
    ],
)
def test_what_cannot_be_said_is_one_sentence(folder, said, words):
    """With how it is written."""
    result = run("fit", folder / "data.csv", "--target", "y", "--encoding", "cp1252", *said)
    assert result.exit_code == 1
    assert words in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
