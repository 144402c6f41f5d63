import argparse
import csv
import re
import shlex
import tomllib
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from docs.blocks import PAGES, prose, shell_lines
from docs.cli_reference import PAGE, commands, entries, reference
from mossrules import RuleSet, cli
from research.benchmarks.__main__ import SUBJECTS
from research.quality.__main__ import PARTS

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
LINES = {page: list(shell_lines(page)) for page in PAGES}
runner = CliRunner(env={"COLUMNS": "300"})


def names(command):
    """Return the names of the options of a command."""
    return {part for each in entries(command) for name in each.names for part in name.split("/")}


def run_quickly(words):
    """Run a command with few trees and folds, and keep what it prints where it says."""
    words, file = (words[:-2], words[-1]) if words[-2:-1] == [">"] else (words, None)
    if words[1] in ("fit", "frontier", "report", "stability", "compare", "performance"):
        words = [*words, "--n-trees", "30"]
    if words[1] in ("report", "stability", "compare", "performance"):
        words = [*words, "--folds", "2"]
    result = runner.invoke(cli.app, words[1:])
    assert result.exit_code == 0, (words, result.output)
    if file is not None:
        Path(file).write_text(result.stdout)


def test_the_page_of_all_options_is_what_the_program_writes():
    """After a change of the command line, `python -m docs.cli_reference` has been run."""
    assert PAGE.read_text(encoding="utf-8") == reference()


@pytest.mark.usefixtures("research_commands")
@pytest.mark.parametrize("command", commands(), ids=lambda command: command.__name__)
def test_the_page_has_the_options_that_help_prints(command):
    """The reference and `--help` name the same options."""
    told = runner.invoke(cli.app, [command.__name__, "--help"]).output
    told = re.sub(r"\x1b\[[0-9;]*m", "", told)  # colours, which some machines force
    told_of = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", told)) - {"--help"}
    assert {name for name in names(command) if name.startswith("--")} == told_of


# --- lines for the shell --------------------------------------------------------------------------


def mentioned(page):
    """Return the commands in the prose of a page, as lists of words."""
    spans = re.findall(r"`((?:mossrules|make|python -m|pip) [^`]+)`", prose(page))
    return [shlex.split(span) for span in spans if "..." not in span]


def check_command(words):
    """Hold a command to what its program takes."""
    while re.match(r"[A-Z_]+=", words[0]):  # a variable of the environment
        words = words[1:]
    program, *rest = words
    if program == "mossrules":
        check_own(rest)
    elif program == "make":
        makefile = (ROOT / "Makefile").read_text()
        phony = re.search(r"^\.PHONY: (.*)", makefile, re.MULTILINE)[1].split()
        settings = re.findall(r"^(\w+) \?=", makefile, re.MULTILINE)
        for word in rest:
            name, given, _ = word.partition("=")
            assert name in (settings if given else phony), words
    elif words[:2] == ["python", "-m"]:
        assert find_spec(rest[1]), words
        check_module(rest[1], rest[2:])
    else:
        assert program.endswith("pip"), words
        assert rest[0] == "install", words
        project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        for name, extras in re.findall(r"(\S+)\[([\w,]*)\]", " ".join(rest)):
            assert name in {".", project["name"]}, words
            assert {*extras.split(",")} <= {*project["optional-dependencies"]}, words


def check_own(words):
    """Hold the words after `mossrules` to its commands and their options; COMMAND is any."""
    known = {command.__name__: names(command) | {"--help"} for command in commands()}
    options = {word.partition("=")[0] for word in words if re.match("--?[a-z]", word)}
    if words[0] == "COMMAND":
        assert options <= set.intersection(*known.values()), words
    elif words[0] in known:
        assert options <= known[words[0]], words
    else:
        assert words in (["--version"], ["--help"]), words


class Parser(argparse.ArgumentParser):
    """One whose errors are those of a test."""

    def error(self, message):
        """Fail."""
        raise AssertionError(message)


def check_module(module, words):
    """Hold the words after `python -m module` to the parts and options of ours that have any."""
    if module == "research.benchmarks":
        assert {*words} - {"--quick", "--out", "results"} <= {*SUBJECTS}, words
    elif module == "research.quality":
        part, *rest = words
        assert part in {*PARTS, "page"}, words
        parser = Parser()
        module = import_module(f"research.quality.{part}") if part != "page" else None
        if hasattr(module, "arguments"):
            module.arguments(parser)
        parser.parse_args(rest)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: "-".join(page.relative_to(ROOT).parts))
def test_commands_in_pages_are_those_of_the_programs(page):
    """No page tells of a command, an option, a target or an extra that is not there."""
    for words in [*(list(line.words) for line in LINES[page]), *mentioned(page)]:
        check_command(words)


@pytest.mark.parametrize(
    "line",
    [
        "mossrules nosuch data.csv",
        "mossrules fit data.csv --nosuch 3",
        "mossrules fit data.csv --nosuch=3",
        "mossrules --nosuch",
        "mossrules NOSUCH data.csv",
        "mossrules COMMAND --nosuch",
        "make nosuch",
        "make soak NOSUCH=60",
        "make MINUTES",
        "python -m nosuch",
        "python -m research.quality nosuch",
        "python -m research.quality fuzz --nosuch 3",
        "python -m research.quality page 3",
        "python -m research.benchmarks nosuch",
        "pip install mossrules[nosuch]",
        "pip install mossrules[plot,nosuch]",
        "pip install nosuch[plot]",
        "pip nosuch mossrules",
        "nosuch fit data.csv",
    ],
)
def test_commands_that_are_not_there_are_told_of(line):
    """A command with a word that its program does not know fails the test above."""
    with pytest.raises(AssertionError):
        check_command(shlex.split(line))


def test_commands_in_prose_are_found(tmp_path):
    """Commands between backticks count, those with capitals and quotes too."""
    page = tmp_path / "page.md"
    page.write_text('`make soak MINUTES=60`, `pip install "mossrules[plot]"`, `mossrules ...`')
    soak, install = mentioned(page)
    assert soak == ["make", "soak", "MINUTES=60"]
    assert install == ["pip", "install", "mossrules[plot]"]


RUN = [page for page in PAGES if any(not line.needs for line in LINES[page])]


@pytest.mark.usefixtures("research_commands")
@pytest.mark.parametrize(
    "page", [page for page in RUN if page != README], ids=lambda page: page.stem
)
def test_lines_for_the_shell_run_one_after_the_other(page, tmp_path, monkeypatch):
    """Lines of a page can be typed in an empty folder, but for those that say what they need."""
    monkeypatch.chdir(tmp_path)
    for line in LINES[page]:
        if not line.needs:
            assert line.words[0] == "mossrules", line
            run_quickly(list(line.words))


def test_a_newcomer_comes_from_the_readme_to_a_model(tmp_path, monkeypatch):
    """The README's commands, fewer than ten, end with a chosen model that is exported and used.

    They run as written but for `run_quickly`: with 30 trees in place of 2000, and 2 folds.
    """
    monkeypatch.chdir(tmp_path)
    path = [list(line.words) for line in LINES[README] if not line.needs]
    assert len(path) + 1 < 10  # and one to install
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
