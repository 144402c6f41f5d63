import csv
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from docs.cli_reference import PAGE, commands, entries, reference
from typer.testing import CliRunner

from mossrules import RuleSet, cli

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
runner = CliRunner(env={"COLUMNS": "300"})


def shell_commands(page):
    """Return the mossrules commands of a page, as lists of words."""
    blocks = re.findall(r"^```sh\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)
    lines = [shlex.split(line, comments=True) for block in blocks for line in block.splitlines()]
    return [words for words in lines if words[:1] == ["mossrules"]]


def names(command):
    """Return the names of the options of a command."""
    return {part for each in entries(command) for name in each.names for part in name.split("/")}


def run_quickly(words):
    """Run a command with few trees and folds, and keep what it prints where it says."""
    words, file = (words[:-2], words[-1]) if words[-2:-1] == [">"] else (words, None)
    if words[1] in ("fit", "frontier", "report", "stability", "compare"):
        words = [*words, "--n-trees", "30"]
    if words[1] in ("report", "stability", "compare"):
        words = [*words, "--folds", "2"]
    result = runner.invoke(cli.app, words[1:])
    assert result.exit_code == 0, (words, result.output)
    if file is not None:
        Path(file).write_text(result.stdout)


def test_the_page_of_all_options_is_what_the_program_writes():
    """After a change of the command line, `python -m docs.cli_reference` has been run."""
    assert PAGE.read_text(encoding="utf-8") == reference()


@pytest.mark.parametrize("command", commands(), ids=lambda command: command.__name__)
def test_the_page_has_the_options_that_help_prints(command):
    """The reference and `--help` name the same options."""
    told = runner.invoke(cli.app, [command.__name__, "--help"]).output
    told = re.sub(r"\x1b\[[0-9;]*m", "", told)  # colours, which some machines force
    told_of = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", told)) - {"--help"}
    assert {name for name in names(command) if name.startswith("--")} == told_of


def test_commands_in_pages_have_options_that_exist():
    """No page tells of an option that is not there."""
    known = {command.__name__: names(command) for command in commands()}
    for page in PAGES:
        for words in shell_commands(page):
            for option in (word for word in words[2:] if word.startswith("-")):
                assert option in known[words[1]], (page.name, words)


def test_a_newcomer_comes_from_the_readme_to_a_model(tmp_path, monkeypatch):
    """The README's commands, fewer than ten, end with a chosen model that is exported and used."""
    monkeypatch.chdir(tmp_path)
    path = shell_commands(ROOT / "README.md")
    assert len(path) < 10
    for words in path:
        run_quickly(words)

    rules = RuleSet.from_json(Path("model.json").read_text())
    assert 1 <= len(rules) <= 6
    with Path("patients.csv").open() as table, Path("predictions.csv").open() as predictions:
        patients, predicted = list(csv.DictReader(table)), list(csv.DictReader(predictions))
    assert [row["id"] for row in predicted] == [row["id"] for row in patients]
    columns = {name: np.array([float(row[name]) for row in patients]) for name in rules.features}
    found = [float(row["prediction"]) for row in predicted]
    np.testing.assert_array_equal(found, rules.predict(columns))
    assert all(f'"{name}"' in Path("model.sql").read_text() for name in rules.features)
    assert "<html" in Path("report.html").read_text()
    assert "<svg" in Path("frontier.svg").read_text()


def test_the_commands_of_the_page_about_them_run(tmp_path, monkeypatch):
    """What the page on the command line begins with can be typed, line by line."""
    monkeypatch.chdir(tmp_path)
    for words in shell_commands(ROOT / "docs" / "commandline.md"):
        run_quickly(words)
    assert Path("folds.csv").exists()
