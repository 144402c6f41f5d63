import csv
import json
import re
import shutil
import subprocess
import sys
import urllib.error
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

from mossrules.cli import app
from mossrules.data.columns import Kind
from mossrules.data.table import Table
from mossrules.exceptions import InvalidFile, InvalidParameter, MissingDependency
from mossrules.solver import Problem
from research.harness.records import RECORD, Record, as_csv
from research.paper import registry
from research.paper.collecting import collect
from research.paper.datasets import NUMBERS_OF, load_dataset
from research.paper.framework import Experiment, Presentation, TableOf
from research.paper.markdown import table
from research.paper.published import published_results, published_sensitivity
from research.paper.running import reproduce
from research.paper.sliding_window import windows
from support.experiment_cases import write_tables

# --- a made-up experiment -------------------------------------------------------------------------


@dataclass(frozen=True)
class Settings:
    """Numbers to square."""

    numbers: tuple[int, ...] = (1, 2, 3)
    seed: int = 7


@pytest.fixture
def squares(monkeypatch):
    """Put an experiment in the registry that notes which tasks were run."""
    ran = []

    def run(_settings, task, _lab):
        if int(task) in stops:
            raise KeyboardInterrupt
        ran.append(task)
        return [{"number": int(task), "square": int(task) ** 2}]

    def present(_settings, rows):
        return Presentation([TableOf("Squares", [{"n": row["number"]} for row in rows], ["Seen."])])

    stops = []
    experiment = Experiment(
        "squares",
        "What squares are",
        "Numbers, squared.",
        Settings(),
        Settings((1,)),
        lambda settings: [str(number) for number in settings.numbers],
        run,
        present,
    )
    monkeypatch.setattr(registry, "MODULES", {"squares": "squares"})
    module = SimpleNamespace(EXPERIMENT=experiment)
    monkeypatch.setattr(registry, "import_module", lambda _name: module)
    return ran, stops


def test_rows_carry_settings_seed_versions_and_times(squares, tmp_path):
    """Each row of the CSV file says what made it."""
    found = reproduce("squares", out=tmp_path)
    with (tmp_path / "squares-paper" / "rows.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["square"] for row in rows] == ["1", "4", "9"]
    assert [row["task"] for row in rows] == squares[0]
    for row, kept in zip(rows, found.rows, strict=True):
        assert row["experiment"] == "squares"
        assert row["protocol"] == "paper"
        assert row["seed"] == "7"
        assert json.loads(row["settings"]) == {"numbers": [1, 2, 3], "seed": 7}
        assert row["mossrules"]
        assert float(row["task_seconds"]) == kept["task_seconds"]
        assert set(row) >= {"python", "numpy", "scikit-learn", "numba", "commit"}


def test_a_stopped_run_goes_on_where_it_was(squares, tmp_path):
    """An interrupt keeps finished tasks, and the next run does the others only."""
    ran, stops = squares
    stops.append(3)
    with pytest.raises(KeyboardInterrupt):
        reproduce("squares", out=tmp_path)
    assert ran == ["1", "2"]
    stops.clear()
    steps = []
    found = reproduce("squares", out=tmp_path, listen=steps.append)
    assert ran == ["1", "2", "3"]
    assert found.reused == 2
    assert [(step.task, step.done, step.total) for step in steps] == [("3", 2, 3), ("3", 3, 3)]
    assert reproduce("squares", out=tmp_path).rows == found.rows
    assert ran == ["1", "2", "3"]


def test_a_record_of_other_settings_is_refused(squares, tmp_path):
    """A record is only gone on with if its settings are the same; else a sentence names them."""
    reproduce("squares", out=tmp_path)
    (tmp_path / "squares-paper").rename(tmp_path / "squares-paper-quick")
    with pytest.raises(InvalidFile, match=r"other settings \(quick, numbers\)") as caught:
        reproduce("squares", out=tmp_path, quick=True)
    assert "choose another --out" in str(caught.value)
    assert squares[0] == ["1", "2", "3"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "[" * 5000,
        '{"format": "other", "version": 1, "settings": {}, "tasks": {}}',
        '{"format": "mossrules experiment", "version": 1, "settings": [], "tasks": {}}',
        '{"format": "mossrules experiment", "version": 1, "settings": {}, "tasks": {"a": {}}}',
    ],
)
def test_a_file_that_is_no_record_is_refused(tmp_path, text):
    """Whatever is wrong with a record, a sentence says so."""
    (tmp_path / RECORD).write_text(text)
    with pytest.raises(InvalidFile, match="move it, or choose another --out"):
        Record.open(tmp_path / RECORD, {"seed": 0})


def test_quick_and_protocol_have_folders_of_their_own(squares, tmp_path):
    """Runs that are not the same experiment do not meet."""
    assert len(reproduce("squares", out=tmp_path, quick=True).rows) == 1
    reproduce("squares", out=tmp_path, protocol="ours")
    assert {path.name for path in tmp_path.iterdir()} == {"squares-paper-quick", "squares-ours"}
    page = (tmp_path / "squares-paper-quick" / "results.md").read_text()
    assert "not to be quoted" in page
    assert "Seen." in page
    assert squares[0] == ["1", "1", "2", "3"]


def test_unknown_experiments_are_refused_by_name():
    """A name that is not there gets those that are, and the closest."""
    with pytest.raises(InvalidParameter, match="Did you mean 'sliding-window'"):
        reproduce("sliding-windows", out=None)


def test_every_experiment_is_named_after_its_module():
    """All names of the registry lead to an experiment of that name, with a sentence."""
    for name in registry.experiment_names():
        found = registry.find_experiment(name)
        assert found.name == name
        assert found.title.endswith(".")
        assert found.full != found.quick
        assert found.tasks(found.quick)
        assert len(set(found.tasks(found.full))) == len(found.tasks(found.full))


# --- tables ---------------------------------------------------------------------------------------


def test_missing_cells_stay_empty():
    """Rows may have other columns than each other; figures that are not there are blank."""
    rows = [{"a": 1, "b": 0.25}, {"a": 2, "c": "x|y"}, {"b": float("nan")}]
    lines = table(TableOf("", rows)).splitlines()
    assert lines[0] == "| a | b | c |"
    assert lines[1] == "| ---: | ---: | --- |"
    assert lines[2:] == ["| 1 | 0.250 |  |", "| 2 |  | x\\|y |", "|  |  |  |"]
    assert as_csv([{"a": 1}, {"b": 2}]) == "a,b\n1,\n,2\n"


def test_the_papers_tables_are_complete():
    """All thirty datasets are found in every table, under one name each."""
    for name in ("r2_mean", "r2_se", "dsc_mean", "dsc_se", "jaccard_mean", "pog_mean"):
        assert {dataset for dataset, _ in published_results(name)} == set(NUMBERS_OF)
    for parameter in ("gamma", "k"):
        found = published_sensitivity(parameter)
        assert {dataset for dataset, _ in found} == set(NUMBERS_OF)
    means = np.mean([published_results("r2_mean")[name, "MOSS-H"] for name in NUMBERS_OF])
    assert round(float(means), 3) == 0.643  # as the paper's text has it


# --- data -----------------------------------------------------------------------------------------


def test_tables_are_read_from_a_folder(tmp_path):
    """The index leads from OpenML's number to a file whose column "target" is the target."""
    write_tables(tmp_path, "ESL", missing=["ESL"])
    found = load_dataset("ESL", tmp_path)
    assert list(found.X) == ["size", "age", "height", "place"]
    assert np.isnan(found.X["size"]).sum() == 14
    assert found.y.shape == (120,)


def test_levels_that_look_like_numbers_are_categories(tmp_path):
    """Columns that OpenML has as categories are read as such, though their file has numbers."""
    (tmp_path / "INDEX.csv").write_text("id,name\n196,autoMpg\n")
    text = "cylinders,weight,model,origin,target\n8,3504,70,1,18\n4,2372,71,3,24\n"
    (tmp_path / "196_autoMpg.csv").write_text(text)
    found = load_dataset("autoMpg", tmp_path).X
    kinds = {column.name: column.kind for column in Table.from_any(found).columns}
    assert kinds.pop("weight") is Kind.NUMERIC
    assert set(kinds.values()) == {Kind.CATEGORICAL}


def test_what_is_wrong_with_a_folder_is_said(tmp_path):
    """No index, no such table in it, no file: each has its sentence."""
    with pytest.raises(InvalidFile, match="pass as --data a folder"):
        load_dataset("ESL", tmp_path)
    write_tables(tmp_path, "ESL")
    with pytest.raises(InvalidFile, match="has no id 503, which is wind"):
        load_dataset("wind", tmp_path)
    (tmp_path / "1027_ESL_here.csv.gz").unlink()
    with pytest.raises(InvalidFile, match="is not there, though"):
        load_dataset("ESL", tmp_path)
    with pytest.raises(InvalidParameter, match="Did you mean 'ESL'"):
        load_dataset("ESLL", tmp_path)


@pytest.mark.parametrize(
    ("failure", "error"),
    [(urllib.error.URLError("no route"), InvalidFile), (ImportError("pandas"), MissingDependency)],
)
def test_a_table_that_cannot_be_fetched_leads_to_data(monkeypatch, failure, error):
    """Without a network or pandas, the error names --data."""

    def fail(**_parameters):
        raise failure

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fail)
    with pytest.raises(error, match="--data"):
        load_dataset("ESL")


# --- sliding windows ------------------------------------------------------------------------------


def test_windows_slide_down_the_sorted_counts():
    """A window has k rules that follow each other by count; each is less stable than the last."""
    rng = np.random.default_rng(1)
    counts = np.array([3, 9, 9, 1, 5, 5, 5, 2])
    problem = Problem.from_matrix(
        rng.normal(size=(30, 8)), rng.normal(size=30), counts, max_rules=3
    )
    found = [problem.stability(each) for each in windows(problem, 99)]
    ordered = sorted(counts, reverse=True)
    sums = [sum(ordered[first : first + 3]) for first in range(6)]
    assert found == sorted(set(sums), reverse=True)
    assert len(windows(problem, 2)) == 2


def test_no_window_is_below_the_frontier(tmp_path):
    """The least loss at a stability is no more than that of the window that has it."""
    write_tables(tmp_path, "ESL")
    found = reproduce("sliding-window", out=tmp_path, data=tmp_path, quick=True, jobs=1)
    for row in found.tables[0].rows:
        assert row["least loss"] <= row["loss of the window"] * (1 + 1e-12)
    assert found.rows[0]["complete"]
    assert (tmp_path / "sliding-window-paper-quick" / "sliding-window.png").stat().st_size > 10_000


# --- the command ----------------------------------------------------------------------------------


@pytest.mark.usefixtures("research_commands")
def test_the_command_lists_experiments():
    """--list has a line for each."""
    result = CliRunner().invoke(app, ["reproduce", "--list"])
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) == len(registry.experiment_names())


@pytest.mark.usefixtures("research_commands")
def test_the_command_runs_and_names_its_files(squares, tmp_path):
    """Tables are printed, and so are the paths of the files."""
    result = CliRunner().invoke(app, ["reproduce", "squares", "--out", str(tmp_path)])
    assert result.exit_code == 0
    assert "| n |" in result.stdout
    assert "results.md" in result.stdout
    assert "3 of 3: 3" in result.stderr
    assert len(squares[0]) == 3


@pytest.mark.usefixtures("research_commands")
def test_an_interrupted_command_says_how_to_go_on(squares, tmp_path):
    """Ctrl-C ends with the usual exit and a sentence."""
    squares[1].append(2)
    result = CliRunner().invoke(app, ["reproduce", "squares", "--out", str(tmp_path)])
    assert result.exit_code == 130
    assert "the same command goes on" in result.stderr


@pytest.mark.usefixtures("research_commands")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [([], "--list"), (["sliding-window", "--data", "nowhere"], "no folder")],
)
def test_the_command_refuses_what_it_cannot_run(arguments, words):
    """An experiment has to be named, and a folder has to be one."""
    result = CliRunner().invoke(app, ["reproduce", *arguments])
    assert result.exit_code == 1
    assert words in result.stderr


@pytest.mark.usefixtures("research_commands")
def test_help_names_the_command_where_it_is_installed():
    """And gives its options."""
    assert "reproduce" in CliRunner().invoke(app, ["--help"]).stdout
    assert "--quick" in CliRunner().invoke(app, ["reproduce", "--help"]).stdout


def test_without_research_a_sentence_says_where_the_command_comes_from(monkeypatch):
    """Other names that are not there are an error of use, as ever."""
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: ())
    result = CliRunner().invoke(app, ["reproduce", "--list"])
    assert result.exit_code == 1
    assert "pip install ./research" in result.stderr
    assert "reproduce" not in CliRunner().invoke(app, ["--help"]).stdout
    assert CliRunner().invoke(app, ["nosuch"]).exit_code == 2


def test_importing_the_package_loads_no_research():
    """Neither the library nor the command line loads research before it is asked for."""
    code = (
        "import sys, mossrules, mossrules.cli\n"
        "print([name for name in sys.modules if name.startswith('research')])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"


# --- one page of all runs -------------------------------------------------------------------------


@pytest.mark.usefixtures("research_commands")
def test_a_page_has_all_runs_and_leads_to_their_rows(squares, tmp_path):
    """Full runs, finished or not, have their tables on one page; quick ones only in their place."""
    out, page = tmp_path / "out", tmp_path / "docs" / "page.md"
    page.parent.mkdir()
    for protocol in ("ours", "paper"):
        reproduce("squares", out=out, protocol=protocol)
    reproduce("squares", out=out, quick=True)
    record = json.loads((out / "squares-ours" / RECORD).read_text())
    del record["tasks"]["2"]
    record["tasks"]["3"][0]["root"] = 3**0.5
    (out / "squares-ours" / RECORD).write_text(json.dumps(record))
    shutil.rmtree(out / "squares-paper")
    result = CliRunner().invoke(
        app, ["reproduce", "--page", str(page), "--out", str(out), "--note", "By night."]
    )
    assert result.exit_code == 0, result.stderr
    text = page.read_text()
    assert text.index("protocol `paper`") < text.index("protocol `ours`")
    assert text.index("By night.") < text.index("protocol `paper`")
    assert "\n## What squares are (squares, protocol `ours`)\n" in text
    assert text.count("not to be quoted") == 1
    assert text.count("2 of 3 tasks") == 1
    for target in re.findall(r"\]\((page/[^)]+)", text):
        assert (page.parent / target).is_file()
    rows = (page.parent / "page" / "squares-ours" / "rows.csv").read_text().splitlines()
    assert rows[0].startswith("task,number,square")
    assert "settings" not in rows[0]
    assert "1.73205" in rows[2].split(",")
    assert len(rows) == 3
    assert len(squares[0]) == 3 + 3 + 1  # and none for the page


def test_a_page_of_nothing_is_refused(squares, tmp_path):
    """Where there is no run, or one of settings that are not known, a sentence says so."""
    with pytest.raises(InvalidFile, match=r"no folder with a record\.json"):
        collect(tmp_path, tmp_path / "page.md")
    reproduce("squares", out=tmp_path, quick=True)
    path = tmp_path / "squares-paper-quick" / RECORD
    known = path.read_text()
    path.write_text(known.replace('"numbers": [', '"digits": ['))
    with pytest.raises(InvalidFile, match="does not know"):
        collect(tmp_path, tmp_path / "page.md")
    path.write_text(known.replace('"1": [', '"9": ['))
    with pytest.raises(InvalidFile, match="no finished task"):
        collect(tmp_path, tmp_path / "page.md")
    assert not (tmp_path / "page.md").exists()
    assert squares[0] == ["1"]
