"""Commands that a signal stops at some moment, and what must hold afterwards.

A `Command` is the real program in a folder of its own. `stop` starts it, sends a signal, and
returns how it ended; whatever ought not to be is a `Defect`.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import mossrules
from mossrules import Frontier, MossRegressor, RuleSet
from support.experiment_cases import write_tables

__all__ = [
    "BEFORE",
    "COMMANDS",
    "Command",
    "Defect",
    "Moment",
    "finish",
    "input_files",
    "stop",
]

SOURCE = str(Path(mossrules.__file__).parents[1])
OLD = b"of an earlier run"
LONG = 120.0  # seconds within which a stopped command has to end
Written = dict[str, int]  # when, by name
TAKES_TIME = re.compile("second|time|_se$")
# What the interpreter says when a signal comes before our first line, or in `site`.
BEFORE = "while Python starts"


class Defect(AssertionError):
    """Something that a stopped command must not do or leave."""


# --- what is read back ----------------------------------------------------------------------------


def read_model(path: Path) -> str:
    """Return a rule set as it would be written again."""
    return RuleSet.from_json(path.read_bytes()).to_json()


def read_frontier(path: Path) -> list[Any]:
    """Return the points of a frontier, without how long they took."""
    found = Frontier.from_json(path.read_text("utf-8"))
    return [
        (each.floor, tuple(each.solution.support.tolist()), each.solution.loss)
        for each in found.entries
    ]


def read_csv(path: Path) -> list[dict[str, str]]:
    """Return rows, without how long they took."""
    text = path.read_text("utf-8")
    assert text.endswith("\n")
    rows = list(csv.DictReader(io.StringIO(text)))
    return [
        {name: value for name, value in row.items() if not TAKES_TIME.search(name)} for row in rows
    ]


def read_page(path: Path) -> str:
    """Return what is at the end of a page of HTML; figures in it are times."""
    end = path.read_text("utf-8").rstrip()[-7:]
    assert end == "</html>"
    return end


def read_markdown(path: Path) -> str:
    """Return the first line of a page."""
    return path.read_text("utf-8").splitlines()[0]


def read_png(path: Path) -> bytes:
    """Return the end of an image, which is the same in all that are whole."""
    end = path.read_bytes()[-8:]
    assert end == b"IEND\xaeB`\x82"
    return end


# --- commands -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Command:
    """A command, the files it writes with how they are read, and those from which it goes on."""

    name: str
    arguments: Sequence[str]
    outputs: Mapping[str, Callable[[Path], Any]]
    records: Sequence[str] = ()

    def start(self, folder: Path) -> subprocess.Popen[bytes]:
        """Start it in a group of processes of its own, as a shell does."""
        # A shell that starts us in the background may have it ignored, and children inherit that.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        temporary = folder.with_name(f"{folder.name} temporary")
        temporary.mkdir(exist_ok=True)
        environment = {**os.environ, "PYTHONPATH": SOURCE, "TMPDIR": str(temporary)}
        with (
            temporary.with_suffix(".out").open("wb") as out,
            temporary.with_suffix(".err").open("wb") as errors,
        ):
            return subprocess.Popen(
                [sys.executable, "-m", "mossrules", *self.arguments],
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=errors,
                start_new_session=True,
            )

    def read(self, folder: Path) -> dict[str, Any]:
        """Return what the outputs that are there say; one that is not whole is a defect."""
        found = {}
        for pattern, read in self.outputs.items():
            for path in sorted(folder.glob(pattern)):
                if path.read_bytes() == OLD:
                    continue
                try:
                    found[str(path.relative_to(folder))] = read(path)
                except Exception as reason:
                    raise Defect(f"{path.name} is not whole: {reason!r}") from reason
        return found


FIT = ("--n-trees", "200", "--max-rules", "8", "--jobs", "2")
REPRODUCED = "reproduced/sliding-window-paper-quick"

COMMANDS = {
    command.name: command
    for command in [
        Command("report", ("report", "rows.csv", "--target", "y", "-o", "page.html", *FIT),
                {"page.html": read_page}),
        Command("reproduce", ("reproduce", "sliding-window", "--quick", "--data", "tables",
                "--jobs", "2"),
                {f"{REPRODUCED}/rows.csv": read_csv, f"{REPRODUCED}/results.md": read_markdown,
                 f"{REPRODUCED}/*.png": read_png}, (f"{REPRODUCED}/record.json",)),
        Command("demo", ("demo", "--trees", "100", "--report", "page.html"),
                {"page.html": read_page}),
        Command("predict", ("predict", "fitted.json", "many.csv", "-o", "predicted.csv"),
                {"predicted.csv": read_csv}),
        Command("fit, numbers", ("fit", "rows.csv", "--target", "y", "-o", "model.json", *FIT),
                {"model.json": read_model}),
        Command("fit, classes", ("fit", "classes.csv", "--target", "c", "-o", "model.json", *FIT),
                {"model.json": read_model}),
        Command("fit, Parquet files", ("fit", "part*.parquet", "--target", "y", "-o", "model.json",
                *FIT), {"model.json": read_model}),
        Command("fit, Dask", ("fit", "part*.parquet", "--target", "y", "-o", "model.json",
                "--engine", "dask", *FIT), {"model.json": read_model}),
        Command("frontier", ("frontier", "rows.csv", "--target", "y", "--points", "60", "--gap",
                "0", "-o", "frontier.json", "--checkpoint", "record.json", *FIT),
                {"frontier.json": read_frontier}, ("record.json",)),
        Command("compare", ("compare", "rows.csv", "--target", "y", "--folds", "3", "-o",
                "folds.csv", "--checkpoint", "record.json", *FIT),
                {"folds.csv": read_csv}, ("record.json",)),
    ]
}  # fmt: skip


def input_files(folder: Path, n_rows: int = 400) -> None:
    """Write the files that the commands read."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"x{i}": rng.normal(size=n_rows).round(3) for i in range(7)})
    frame["kind"] = rng.choice(["a", "b", "c"], n_rows)
    noise = rng.normal(size=n_rows)
    frame["y"] = (2 * (frame["x0"] > 0) + (frame["x1"] > 0.5) * (frame["x2"] < 0.3) + noise).round(
        4
    )
    frame.to_csv(folder / "rows.csv", index=False)
    frame.loc[np.tile(frame.index, 40)].to_csv(folder / "many.csv", index=False)
    fitted = MossRegressor(4, n_trees=20, random_state=0).fit(frame.drop(columns="y"), frame["y"])
    (folder / "fitted.json").write_text(fitted.rules_.to_json(), "utf-8")
    classes = np.where(frame["y"] > 1, "high", "low")
    frame.drop(columns="y").assign(c=classes).to_csv(folder / "classes.csv", index=False)
    for part, rows in enumerate(np.array_split(np.arange(n_rows), 2)):
        frame.iloc[rows].to_parquet(folder / f"part{part}.parquet", row_group_size=50)
    (folder / "tables").mkdir()
    write_tables(folder / "tables", "auto_price", "ESL", "visualizing_galaxy", n_rows=60)


# --- a trial --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Moment:
    """When a signal is sent: after so many seconds, or when the first file is written."""

    seconds: float
    number: int = signal.SIGINT
    at_file: bool = False
    again: float | None = None  # a second time, so many seconds later


@dataclass
class Ended:
    """How a stopped command ended."""

    status: int
    where: str
    errors: str
    outputs: dict[str, Any] = field(default_factory=dict)


def finish(command: Command, folder: Path) -> tuple[float, dict[str, Any]]:
    """Let a command run to its end; return its seconds and what its outputs say."""
    begun = time.monotonic()
    process = command.start(folder)
    status = process.wait(10 * LONG)
    if status != 0:
        raise Defect(f"status {status}, undisturbed: {_errors(folder)}")
    for pattern in command.outputs:
        if not list(folder.glob(pattern)):
            raise Defect(f"no {pattern}, undisturbed")
    found = command.read(folder)
    return time.monotonic() - begun, found


def stop(command: Command, folder: Path, moment: Moment, expected: Mapping[str, Any]) -> Ended:
    """Stop a command, whose folder has its inputs, and look at what is left."""
    for name in command.outputs:
        if moment.again is None and "*" not in name and "/" not in name:
            (folder / name).write_bytes(OLD)
    before = _files(folder)
    process = command.start(folder)
    _send(process, folder, moment, before)
    try:
        status = process.wait(LONG)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise Defect(f"had not ended {LONG:g} seconds after the signal") from None
    _check_processes(process.pid)
    ended = Ended(status, "", _errors(folder), command.read(folder))
    killed = moment.number == signal.SIGKILL
    _check_files(command, folder, before, killed=killed)
    ended.where = _where(ended, moment, expected)
    shutil.rmtree(folder.with_name(f"{folder.name} temporary"))
    return ended


def _send(process: subprocess.Popen[bytes], folder: Path, moment: Moment, before: Written) -> None:
    """Send a signal as a terminal does, to the whole group, or to the process alone."""
    end = time.monotonic() + moment.seconds
    while time.monotonic() < end or moment.at_file:
        if process.poll() is not None or (moment.at_file and _files(folder) != before):
            break
        time.sleep(0.001 if moment.at_file else min(0.01, max(0.0, end - time.monotonic())))
    send = os.killpg if moment.number == signal.SIGINT else os.kill
    for pause in (None, moment.again):
        if pause is not None:
            time.sleep(pause)
        if process.poll() is None:
            send(process.pid, moment.number)
        if moment.again is None:
            break


def _where(ended: Ended, moment: Moment, expected: Mapping[str, Any]) -> str:
    """Return where a command was when it ended; a wrong status or message is a defect."""
    if ended.status == 0:
        if ended.outputs != expected:
            raise Defect(f"status 0 without the whole result: {sorted(ended.outputs)}")
        return "had finished"
    if moment.number == signal.SIGKILL and ended.status == -signal.SIGKILL:
        return "killed"
    if _before_our_first_line(ended):
        return BEFORE
    unusual = re.search("Traceback|Exception ignored|Error|Fatal", ended.errors)
    # Where the interrupt came within `exec`, Python ends by SIGINT instead: to shells that is 130.
    if unusual or ended.status not in (128 + moment.number, -signal.SIGINT):
        raise Defect(f"status {ended.status}: {ended.errors}")
    said = [line for line in ended.errors.splitlines() if re.search("nterrupted|topped", line)]
    if not 1 <= len(said) <= (1 if moment.again is None else 2):
        raise Defect(f"{len(said)} sentences: {ended.errors}")
    if not ended.outputs:
        return "without a result"
    return "whole result" if ended.outputs == expected else "result so far"


def _before_our_first_line(ended: Ended) -> bool:
    """Tell whether the interpreter itself was stopped: what it says then is not ours."""
    words = r"^error: |topped|Interrupted|mossrules.(?!__main__|__init__|_version|_signals)"
    ours = re.search(words, ended.errors, re.MULTILINE)
    if ended.outputs or ours:
        return False
    # With status 1 it says what stopped it; another exception is of a program that went wrong.
    failed = ended.status == 1 and "KeyboardInterrupt" in ended.errors
    return failed or ended.status in (-signal.SIGINT, -signal.SIGTERM)


def _errors(folder: Path) -> str:
    return folder.with_name(f"{folder.name} temporary.err").read_text("utf-8", "replace")


def _files(folder: Path) -> Written:
    """Return the files of a folder with the times at which they were written."""
    found = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            path = Path(parent, name)
            try:
                found[str(path.relative_to(folder))] = path.stat().st_mtime_ns
            except FileNotFoundError:  # it was there for a moment
                continue
    return found


def _check_processes(group: int) -> None:
    """Look for processes of a group, which have a moment to go."""
    for _ in range(50):
        left = [entry for entry in Path("/proc").iterdir() if _group(entry) == group]
        if not left:
            return
        time.sleep(0.1)
    os.killpg(group, signal.SIGKILL)
    raise Defect(f"{len(left)} processes are left")


def _group(entry: Path) -> int | None:
    if not entry.name.isdecimal():
        return None
    try:
        fields = (entry / "stat").read_text().rpartition(")")[2].split()
    except OSError:  # it has gone
        return None
    return None if fields[0] == "Z" else int(fields[2])


def _check_files(command: Command, folder: Path, before: Written, *, killed: bool) -> None:
    """Look for files that are neither whole outputs nor records to go on from."""
    patterns = [*command.outputs, *command.records]
    for name in sorted(_files(folder).keys() - before.keys()):
        path = Path(name)
        if killed and path.match(".mossrules-*.tmp"):  # which the next one to write there removes
            known = any(path.parent == Path(pattern).parent for pattern in patterns)
        else:
            known = any(path.match(pattern) for pattern in patterns)
        if not known:
            raise Defect(f"{name} is left")
    for record in command.records:
        if (folder / record).exists():
            json.loads((folder / record).read_bytes())
    temporary = folder.with_name(f"{folder.name} temporary")
    # Dask leaves its folder, with nothing but locks in it, after any run.
    left = [path.name for path in temporary.rglob("*") if path.is_file() and path.suffix != ".lock"]
    if left and not killed:
        raise Defect(f"{left} are left among temporary files")
