import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from research.harness import processes
from research.harness.clone import environment
from research.harness.processes import ask, clean_environment, in_fresh_process, run_python

ECHO = """
from answering import answer

def twice(job):
    print("noise on the way out")
    for number in job["numbers"]:
        yield {"twice": 2 * number}

answer(twice)
"""


@pytest.fixture
def children(tmp_path, monkeypatch):
    """Put a script of our own beside the helper of all scripts."""
    helper = processes.CHILDREN / "answering.py"
    (tmp_path / helper.name).write_text(helper.read_text())
    (tmp_path / "echo.py").write_text(ECHO)
    monkeypatch.setattr(processes, "CHILDREN", tmp_path)


@pytest.mark.usefixtures("children")
def test_a_child_gets_arrays_and_answers_line_by_line():
    """What it prints is no answer, and what comes before a crash is kept."""
    found = ask(sys.executable, "echo.py", {"numbers": np.arange(3)}, 60.0)
    assert found.results == [{"twice": 0}, {"twice": 2}, {"twice": 4}]
    assert found.failure is None
    crashed = ask(sys.executable, "echo.py", {"numbers": [1, None]}, 60.0)
    assert crashed.results == [{"twice": 2}]
    assert crashed.failure.startswith("Exit 1: TypeError")


@pytest.mark.parametrize("script", ["l0bnb_problems.py", "okridge_problems.py", "ebm_folds.py"])
def test_a_child_that_fails_is_reported(script):
    """A package that is not there is an outcome, with the last line of its message."""
    found = ask(sys.executable, script, {"nothing": 1}, 60.0)
    assert found.results == []
    assert "Error" in found.failure


def test_a_child_that_takes_too_long_is_said_to(monkeypatch):
    """What came before the limit is kept, a line cut short is not."""

    def stopped(command, timeout, **_given):
        Path(command[-1]).write_text('{"a": 1}\n{"b')
        raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(subprocess, "run", stopped)
    answers = ask("python", "any.py", {}, 5.0)
    assert answers.results == [{"a": 1}]
    assert answers.failure == "No answer after 5 s."


def test_a_fresh_process_returns_its_result():
    """A child process runs a subject's function and hands back its value."""
    found = in_fresh_process("research.harness.clone:environment")
    assert found["packages"] == environment()["packages"]


def test_a_child_of_ours_that_fails_is_an_error():
    """With what it said, unless the caller wants to look at it himself."""
    with pytest.raises(RuntimeError, match="nothing here"):
        run_python("-c", "raise SystemExit('nothing here')")
    assert run_python("-c", "raise SystemExit(3)", check=False).returncode == 3
    shown = run_python("-c", "import os; print(os.environ['COLOUR'])", COLOUR="blue").stdout
    assert shown == "blue\n"


def test_children_find_no_modules_of_ours(monkeypatch):
    """Neither through PYTHONPATH, nor kernels that were compiled here."""
    monkeypatch.setenv("PYTHONPATH", "src")
    assert "PYTHONPATH" not in clean_environment()
    assert clean_environment(NUMBA_CACHE_DIR="elsewhere")["NUMBA_CACHE_DIR"] == "elsewhere"
