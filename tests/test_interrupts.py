"""Ctrl-C at any moment of a command, threads and processes: nothing is left, nothing differs."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import mossrules
from model_cases import wild_table
from mossrules import MossRegressor, RuleSet

SOURCE = str(Path(mossrules.__file__).parents[1])

# Runs a command and interrupts itself at the nth call of a function of the package.
INTERRUPTED_AT = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
left = int(sys.argv[1])

def look(frame, event, argument):
    global left
    if event == "call" and "mossrules" in frame.f_code.co_filename:
        left -= 1
        if left == 0:
            sys.setprofile(None)
            os.kill(os.getpid(), signal.SIGINT)

from mossrules.__main__ import main
sys.setprofile(look)
sys.argv = ["mossrules", *sys.argv[2:]]
main()
"""


def run(code, *arguments, **variables):
    """Run code in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": SOURCE, **variables}
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")
@pytest.mark.parametrize("calls", [3, 40, 400, 6000])
def test_an_interrupted_command_leaves_nothing(calls, tmp_path):
    """One sentence and status 130, or a whole model; no trace, no temporary file."""
    X, y = wild_table(1, n=60)
    X.assign(y=y).to_csv(tmp_path / "rows.csv", index=False)
    (tmp_path / "temporary").mkdir()
    out = tmp_path / "model.json"
    command = ["fit", tmp_path / "rows.csv", "--target", "y", "-o", out, "--n-trees", 20]
    done = run(INTERRUPTED_AT, calls, *command, TMPDIR=str(tmp_path / "temporary"))
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.glob("*.tmp"))
    assert not list((tmp_path / "temporary").iterdir())
    if out.exists():
        RuleSet.from_json(out.read_text())
    else:
        assert done.returncode == 130, done.stderr
        assert "nterrupted" in done.stderr
        assert len(done.stderr.splitlines()) == 1


# --- threads and processes ------------------------------------------------------------------------

FIT = """
import numpy as np
from mossrules import MossRegressor
rng = np.random.default_rng(0)
X = {"a": rng.normal(size=80), "b": rng.choice(["x", "y", "z"], 80)}
y = X["a"] + (X["b"] == "x") + rng.normal(size=80)
"""
PRINT = FIT + "print(MossRegressor(4, n_trees=30, n_jobs=2).fit(X, y).rules_.to_json())"


def fitted(seed):
    """Return the model of a table as text."""
    X, y = wild_table(seed, n=60)
    return MossRegressor(4, n_trees=25, random_state=seed, n_jobs=1).fit(X, y).rules_.to_json()


def test_threads_and_processes_find_what_one_alone_finds():
    """Fits at the same time in two threads, and one in a process that is forked."""
    alone = [fitted(seed) for seed in (1, 2)]
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(fitted, (1, 2))) == alone
    if hasattr(os, "fork"):
        assert forked(fitted, 2) == alone[1]


def forked(function, argument):
    """Return what a function gives in a fork of this process."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, json.dumps(function(argument)).encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return json.loads(text)


def test_hash_seeds_do_not_matter():
    """Sets and dicts have another order in each process, and models have not."""
    there = run(PRINT, PYTHONHASHSEED="1").stdout
    names = {}
    exec(FIT, names)  # noqa: S102  the same rows
    here = MossRegressor(4, n_trees=30, n_jobs=1).fit(names["X"], names["y"]).rules_.to_json()
    assert there.rstrip("\n") == here
