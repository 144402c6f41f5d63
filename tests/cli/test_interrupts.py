"""Ctrl-C at any moment of a command, threads and processes: nothing is left, nothing differs."""

import gc
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from typer.testing import CliRunner

import mossrules
from mossrules import Frontier, MossClassifier, MossRegressor, RuleSet, _signals, cli
from mossrules.data.files import kept, read_file
from mossrules.display.report import collect
from mossrules.exceptions import SolveLimitWarning
from mossrules.frontier import solve_frontier
from mossrules.solver import Options, Status, solve
from support import stopping
from support.cases import hard_problem
from support.model_cases import wild_table
from support.stopping import COMMANDS, Moment, input_files, stop

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


REFITS_INTERRUPTED = """
import os, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from mossrules import MossRegressor
from mossrules.__main__ import main
from mossrules.evaluation import track_record

def stop(state):
    if state.done == 1:  # a second one would end the command without a result
        os.kill(os.getpid(), signal.SIGINT)

def interrupted(model, X, y, *, progress, **how):
    return track_record(model, X, y, progress=stop, **how)

MossRegressor.track_record = interrupted
main()
"""
CHOICE_INTERRUPTED = """
import os, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from mossrules import MossRegressor
from mossrules.__main__ import main

fit_candidates = MossRegressor.fit_candidates

def interrupted(self, *rest, **how):
    model = fit_candidates(self, *rest, **how)
    try:  # as a search does, which then returns what it has
        os.kill(os.getpid(), signal.SIGINT)
    except KeyboardInterrupt:
        return model

MossRegressor.fit_candidates = interrupted
MossRegressor.track_record = None
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")
@pytest.mark.parametrize("code", [REFITS_INTERRUPTED, CHOICE_INTERRUPTED])
def test_a_model_is_there_although_its_refits_were_interrupted(code, tmp_path):
    """It is shown and written without a record; after an interrupted choice no refit begins."""
    X, y = wild_table(1, n=60)
    X.assign(y=y).to_csv(tmp_path / "rows.csv", index=False)
    out = tmp_path / "model.json"
    words = ["fit", tmp_path / "rows.csv", "--target", "y", "-o", out, "--n-trees", 20]
    done = run(code, *words)
    assert done.returncode == 130, done.stderr
    *warned, stopped = done.stderr.splitlines()
    assert stopped == "stopped: interrupted; this is the result so far."
    assert all(line.startswith("warning: Rules name levels that fewer than") for line in warned)
    assert len(warned) <= 1
    assert "tree frequency" in done.stdout
    assert RuleSet.from_json(out.read_text()).track_record is None


@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")
@pytest.mark.parametrize(
    ("name", "moment", "ends"),
    [
        ("frontier", Moment(0.0, at_file=True), {"without a result", "result so far"}),
        ("fit, classes", Moment(0.6, signal.SIGTERM), {"without a result"}),
    ],
)
def test_a_stopped_command_ends_in_order(name, moment, ends, tmp_path):
    """With the status of its signal, one sentence, and files that are whole."""
    (tmp_path / "work").mkdir()
    input_files(tmp_path / "work")
    assert stop(COMMANDS[name], tmp_path / "work", moment, {}).where in ends


@pytest.mark.parametrize(
    ("status", "said", "before"),
    [
        (1, "Fatal Python error: init_import_site\n  ...\nKeyboardInterrupt\n", True),
        (-signal.SIGINT, "", True),
        (1, "error: rows.csv does not exist; check the path.\n", False),
        (1, "Traceback (most recent call last):\nOSError: [Errno 28] No space left\n", False),
        (1, "", False),
        (-signal.SIGINT, '  File "mossrules/solver/root.py"\nKeyboardInterrupt\n', False),
    ],
)
def test_only_the_interpreter_may_end_in_its_own_words(status, said, before):
    """So that no failure of ours passes for a signal that came before our first line."""
    assert stopping._before_our_first_line(stopping.Ended(status, "", said)) is before


@pytest.fixture
def signals(monkeypatch):
    """Let a test change what signals do."""
    before = {each: signal.getsignal(each) for each in _signals.SIGNALS}
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    yield
    _signals._received.clear()
    for number, handler in before.items():
        signal.signal(number, handler)


class Destroyed:
    """Calls a function in its destructor, where Python shows an exception and goes on."""

    def __init__(self, function):
        self.function = function

    def __del__(self):
        self.function()


def interrupt():
    """Be interrupted."""
    raise KeyboardInterrupt


@pytest.mark.usefixtures("signals")
def test_a_signal_is_an_interrupt_that_is_noted():
    """Also where Python would show it and go on; what was ignored before stays so."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _signals.install_handlers()
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGTERM)
    assert _signals.stopped_status() == 143
    signal.signal(signal.SIGINT, signal.default_int_handler)
    _signals.install_handlers()
    _signals.check_interrupted()  # all is forgotten
    lost = [Destroyed(interrupt)]
    with pytest.raises(KeyboardInterrupt):
        lost.clear() or time.sleep(5.0)  # until it is raised again, out of the destructor
    with pytest.raises(KeyboardInterrupt):
        _signals.check_interrupted()
    _signals.ignore_signals()
    signal.raise_signal(signal.SIGINT)
    assert _signals.interrupted_by() == signal.SIGINT


@pytest.mark.usefixtures("signals")
def test_a_signal_in_a_destructor_is_not_lost_where_the_other_is_ignored():
    """As in a shell's background, where SIGTERM is what is left."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _signals.install_handlers()
    lost = [Destroyed(lambda: signal.raise_signal(signal.SIGTERM))]
    with pytest.raises(KeyboardInterrupt):
        lost.clear() or time.sleep(5.0)
    assert _signals.stopped_status() == 143


@pytest.mark.usefixtures("signals")
def test_an_interrupt_while_a_temporary_folder_is_made_leaves_none(tmp_path, monkeypatch):
    """It waits until there is someone to remove it."""
    _signals.install_handlers()

    def interrupted(**_):
        (tmp_path / "folder").mkdir()
        signal.raise_signal(signal.SIGINT)
        return str(tmp_path / "folder")

    monkeypatch.setattr(kept, "mkdtemp", interrupted)
    with pytest.raises(KeyboardInterrupt):
        kept.Folder()
    gc.collect()
    assert not (tmp_path / "folder").exists()


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError("Unable to allocate\n9 TiB"), "Unable to allocate 9 TiB"),
        (MemoryError(), "an allocation failed"),
        (RuntimeError("can't start new thread"), "can't start new thread"),
    ],
)
def test_too_little_memory_is_a_sentence(error, said, monkeypatch):
    """As anything else that a user can mend."""

    def exhausted(*_):
        raise error

    monkeypatch.setattr(sys.modules["mossrules.cli.fit"], "scan_for_task", exhausted)
    monkeypatch.setattr(sys, "argv", ["mossrules", "fit", "rows.csv"])
    result = CliRunner().invoke(cli.app, ["fit", "rows.csv", "--target", "y"])
    assert result.exit_code == 1
    assert (
        result.stderr == f"error: There is not enough memory for mossrules fit rows.csv ({said}).\n"
    )


def test_a_sound_file_is_not_blamed_for_too_little_memory(tmp_path, monkeypatch):
    """Where pyarrow lacks memory, its error is one of its own, as for damaged files."""
    pd.DataFrame({"x": [1.0, 2.0]}).to_parquet(tmp_path / "rows.parquet")

    def exhausted(*_, **__):
        raise pa.ArrowMemoryError("malloc of size 9 failed")

    monkeypatch.setattr(parquet.ParquetFile, "read", exhausted)
    with pytest.raises(MemoryError, match="malloc"):
        read_file(tmp_path / "rows.parquet")


def interrupt_after(count):
    """Return a listener that interrupts at the nth point."""
    seen = []

    def listen(state):
        seen.append(state)
        if len(seen) == count:
            raise KeyboardInterrupt

    return listen


def test_an_interrupted_frontier_says_so():
    """It has what there was, in its file too."""
    problem = hard_problem(m=20, k=4, seed=1)
    whole = solve_frontier(problem, [0, 20, 40, 60])
    assert not whole.interrupted
    part = solve_frontier(problem, [0, 20, 40, 60], progress=interrupt_after(2))
    assert part.interrupted
    assert "interrupted" in repr(part)
    assert 0 < len(part.entries) < len(whole.entries)
    assert Frontier.from_json(part.to_json()).interrupted
    earlier = json.loads(whole.to_json())
    del earlier["interrupted"]
    assert not Frontier.from_json(json.dumps(earlier)).interrupted


def test_an_interrupted_frontier_is_not_kept_for_the_next_call(monkeypatch):
    """The same call then finds all of it, and no report is made of a part."""
    X, y = wild_table(1, n=60)
    # One thread: another could have solved the last floors before it hears of the interrupt.
    model = MossRegressor(3, n_trees=20, random_state=0, n_jobs=1).fit(X, y)
    part = model.frontier(6, progress=interrupt_after(1))
    assert part.interrupted
    assert len(part.entries) < len(model.frontier(6).entries)
    monkeypatch.setattr("mossrules.learning.fit.solve_frontier", lambda *_, **__: part)
    with pytest.raises(KeyboardInterrupt):
        collect(model, cv=None)


def test_an_interrupt_ends_the_search_for_all_classes(monkeypatch):
    """With one class of several there is no model; of two there is."""
    found = []

    def interrupted(*arguments):
        found.append(solve(*arguments))
        return replace(found[-1], status=Status.INTERRUPTED)

    monkeypatch.setattr("mossrules.learning.fit.solve", interrupted)
    X, y = wild_table(1, n=60)
    model = MossClassifier(3, n_trees=10, random_state=0)
    with pytest.warns(SolveLimitWarning), pytest.raises(KeyboardInterrupt):
        model.fit(X, np.digitize(y, np.quantile(y, [0.3, 0.6])))
    assert len(found) == 1
    with pytest.warns(SolveLimitWarning):
        assert model.fit(X, y > np.median(y)).solution_.status is Status.INTERRUPTED


CALLS = {
    "fit": lambda: MossRegressor(6, n_trees=400_000, n_jobs=2).fit(*wild_table(1, n=400)),
    "solve": lambda: solve(hard_problem(m=100, k=10), options=LONG),
    "cutting plane": lambda: solve(hard_problem(m=100, k=10), "cutting-plane", LONG),
    "frontier": lambda: solve_frontier(hard_problem(m=100, k=10), options=LONG, n_jobs=2),
}
LONG = Options(gap=0.0, time_limit=60.0)


@pytest.mark.skipif(sys.platform == "win32", reason="signals are those of POSIX")
@pytest.mark.filterwarnings("ignore::mossrules.exceptions.SolveLimitWarning")
@pytest.mark.parametrize("name", CALLS)
def test_an_interrupted_call_leaves_no_thread(name):
    """In a process that goes on, threads are those of before."""
    before = threading.enumerate()
    timer = threading.Timer(0.3, signal.pthread_kill, [threading.get_ident(), signal.SIGINT])
    try:
        try:
            timer.start()
            found = CALLS[name]()
        finally:
            timer.cancel()
            timer.join()
    except KeyboardInterrupt:
        found = None
    assert (
        found is None
        or getattr(found, "interrupted", False)
        or (getattr(found, "status", None) is Status.INTERRUPTED)
    )
    for each in set(threading.enumerate()) - set(before):
        each.join(10.0)  # those that end have a moment to
        assert not each.is_alive(), each.name


# --- threads and processes ------------------------------------------------------------------------

FIT = """
import numpy as np
from mossrules import MossRegressor
rng = np.random.default_rng(0)
X = {"a": rng.normal(size=80), "b": rng.choice(["x", "y", "z"], 80)}
y = X["a"] + (X["b"] == "x") + rng.normal(size=80)
"""
PRINT = FIT + "print(MossRegressor(4, n_trees=30, n_jobs=2).fit(X, y).rules_.to_json())"


def numbers(seed, **settings):
    """Return a regressor's model as text."""
    X, y = wild_table(seed, n=60)
    model = MossRegressor(3, n_trees=10, random_state=seed, n_jobs=2, **settings).fit(X, y)
    return model.rules_.to_json()


def classes(seed):
    """Return the models of three classes as text."""
    X, y = wild_table(seed, n=60)
    model = MossClassifier(3, n_trees=10, random_state=seed, n_jobs=2)
    return model.fit(X, np.digitize(y, np.quantile(y, [0.3, 0.6]))).rules_.to_json()


def frontier(seed):
    """Return the points of a frontier as text."""
    X, y = wild_table(seed, n=60)
    found = MossRegressor(3, n_trees=10, random_state=seed, n_jobs=2).fit(X, y).frontier(5)
    points = [(each.floor, each.solution.loss) for each in found.entries]
    return json.dumps(points)


TASKS = [
    numbers,
    partial(numbers, solver="cutting-plane", gap=0.05),
    partial(numbers, solver="coordinate-descent"),
    classes,
    frontier,
]


def do(job):
    """Return what a task finds with a seed."""
    task, seed = job
    return task(seed)


def test_threads_find_what_one_alone_finds():
    """Fits of all kinds at the same time, each on threads of its own."""
    jobs = [(task, seed) for seed in (1, 2) for task in TASKS]
    alone = [do(job) for job in jobs]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(do, jobs)) == alone


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a fork is of POSIX")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")  # which is what is tried
@pytest.mark.parametrize("busy", [False, True], ids=["quiet", "busy"])
def test_forks_find_what_one_alone_finds(busy):
    """Also where other threads fit meanwhile, and hold whatever they hold when it is forked."""
    alone = [task(1) for task in TASKS]
    stop = threading.Event()

    def fit_on():
        while not stop.is_set():
            for task in TASKS:
                task(2)

    others = [threading.Thread(target=fit_on) for _ in range(2 * busy)]
    for each in others:
        each.start()
    try:
        for task, expected in zip(TASKS, alone, strict=True):
            assert forked(task, 1) == expected
    finally:
        stop.set()
        for each in others:
            each.join()


def forked(function, argument):
    """Return what a function gives in a fork of this process, which has a minute for it."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(read)
            with os.fdopen(write, "w") as pipe:
                pipe.write(function(argument))
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        in_time = select.select([pipe], [], [], 60.0)[0]
        if not in_time:
            os.kill(child, signal.SIGKILL)
        text = pipe.read()
    os.waitpid(child, 0)
    assert in_time, "the fork hangs"
    return text


def test_hash_seeds_and_kernels_of_blas_do_not_matter():
    """Sets and dicts have another order in each process, BLAS sums in another; models do not."""
    there = run(PRINT, PYTHONHASHSEED="1", OPENBLAS_CORETYPE="Prescott").stdout
    names = {}
    exec(FIT, names)  # noqa: S102  the same rows
    here = MossRegressor(4, n_trees=30, n_jobs=1).fit(names["X"], names["y"]).rules_.to_json()
    assert there.rstrip("\n") == here
