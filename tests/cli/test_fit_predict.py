import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mossrules import MossRegressor, __version__, cli

runner = CliRunner()


def test_the_demo_prints_rules_with_their_figures_and_writes_a_page(tmp_path):
    """A person sees rules in plain words, how often they were found, and where the page is."""
    page = tmp_path / "demo.html"
    result = runner.invoke(
        cli.app, ["demo", "--rules", "5", "--trees", "50", "--report", str(page)]
    )
    assert result.exit_code == 0
    assert "442 patients" in result.output
    assert result.output.count("bmi") + result.output.count("s5") >= 5
    assert "from 50 trees on 442 rows" in result.output
    assert "(intercept)" in result.output
    assert "found by coordinate-descent" in result.output
    assert "demo.html" in result.output.replace("\n", "")
    assert "Disease progression after a year" in page.read_text()


def test_the_demo_is_the_same_every_time(tmp_path):
    """Two runs print the same table."""
    outputs = [
        [line for line in runner.invoke(cli.app, arguments).output.splitlines() if "│" in line]
        for arguments in [["demo", "--trees", "20", "--report", str(tmp_path / "a.html")]] * 2
    ]
    assert outputs[0] == outputs[1]
    assert len(outputs[0]) == 12 + 7  # candidates; six rules and an intercept


def test_the_version_is_printed():
    """--version prints the version and stops."""
    result = runner.invoke(cli.app, ["--version"])
    assert result.exit_code == 0
    assert __version__ in result.output


def test_every_command_has_help():
    """No command is without a sentence."""
    for command in cli.app.registered_commands:
        result = runner.invoke(cli.app, [command.callback.__name__, "--help"])
        assert result.exit_code == 0
        assert command.callback.__doc__.splitlines()[0][:40] in result.output


def test_an_error_of_ours_is_one_sentence_and_a_failing_exit(monkeypatch, capsys, tmp_path):
    """No traceback reaches a person at the terminal, and brackets in names are no markup."""
    missing = str(tmp_path / "[/b].csv")
    monkeypatch.setattr(sys, "argv", ["mossrules", "fit", missing, "--target", "y"])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert stop.value.code == 1
    assert capsys.readouterr().err == f"error: {missing} does not exist; check the path.\n"


def test_the_installed_command_runs():
    """`python -m mossrules` is the command line."""
    result = subprocess.run(
        [sys.executable, "-m", "mossrules", "--version"], capture_output=True, text=True, check=True
    )
    assert __version__ in result.stdout


def with_output(redirection, *arguments, **variables):
    """Run the program with its standard output as a shell redirects it."""
    command = shlex.join([sys.executable, "-m", "mossrules", *arguments])
    return subprocess.run(
        ["/bin/sh", "-c", f"{command} {redirection}"],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("option", ["--version", "--help"])
def test_output_that_cannot_be_written_is_one_sentence(option, unbuffered):
    """Whether that shows at once or when the program ends, and the exit fails."""
    result = with_output(">/dev/full", option, PYTHONUNBUFFERED=unbuffered)
    assert result.returncode == 1
    assert result.stderr == (
        f"error: mossrules {option} failed (No space left on device); check that it is permitted "
        "and that there is room.\n"
    )


@pytest.mark.skipif(sys.platform == "win32", reason="shells are those of POSIX")
def test_output_that_no_one_reads_needs_no_words(tmp_path):
    """A pipe whose reader has gone is a failing exit, a stream that was closed is as /dev/null."""
    result = with_output("| true; echo done", "--version")
    assert (result.stdout, result.stderr) == ("done\n", "")
    (tmp_path / "rows.csv").write_text("x\n1\n")
    model = MossRegressor(1, n_trees=2).fit({"x": [1.0, 2.0]}, [2.0, 2.0])
    (tmp_path / "model.json").write_text(model.rules_.to_json())
    paths = [str(tmp_path / name) for name in ("model.json", "rows.csv")]
    assert with_output("", "predict", *paths).stdout == "prediction\n2.0\n"
    result = with_output(">&-", "predict", *paths)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("error", [ZeroDivisionError("by\nzero"), AssertionError(), KeyError("x")])
def test_what_nobody_foresaw_is_one_sentence_with_all_that_a_report_needs(
    error, monkeypatch, capsys
):
    """The command, the error and its place, and where to send it; a variable shows the rest."""

    def failing(*_):
        raise error

    monkeypatch.setattr(sys.modules["mossrules.cli.fit"], "scan_for_task", failing)
    monkeypatch.setattr(sys, "argv", ["mossrules", "fit", "my rows.csv", "--target", "y"])
    monkeypatch.delenv("MOSSRULES_TRACEBACK", raising=False)
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert stop.value.code == 1
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1
    assert said.startswith(
        "error: mossrules fit 'my rows.csv' --target y failed in a way that nobody foresaw "
        f"({type(error).__name__}: "
    )
    assert re.search(r", in cli/test_fit_predict.py, line \d+\)", said)
    assert "Issues tab" in said
    monkeypatch.setenv("MOSSRULES_TRACEBACK", "1")
    with pytest.raises(type(error)):
        cli.main()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_unbuffered_output_is_written_whole_or_refused(tmp_path):
    """Python's own stream drops what the system does not take at once, as a full disc does."""
    code = (
        "import os, sys; from mossrules.__main__ import _complete\n"
        "sys.stdout = _complete(sys.stdout)\n"
        "real = os.write\n"
        "sys.stdout.write('x' * 300_000 + '\\n')"
    )
    reader, writer = os.pipe()
    os.set_blocking(writer, False)  # so that it takes 64 kB and no more
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", code], stdout=writer, stderr=subprocess.PIPE, cwd=tmp_path
    )
    os.close(writer)
    errors = process.communicate()[1]
    os.close(reader)
    assert process.returncode != 0
    assert b"BlockingIOError" in errors
