"""Commands and calls in which one call of the system fails, and what must hold afterwards.

A library in front of the C library (faults.c) makes the nth open, read, write, ... of files below
the task's folder fail, or the nth large allocation: what Python, NumPy, pyarrow and the rest do
with files goes through it. Children of one process that has loaded everything (fault_server.py) do
the tasks. Whatever ought not to be is a `Defect`.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import pandas as pd

import mossrules
from support.stopping import (
    OLD,
    Defect,
    input_files,
    read_csv,
    read_frontier,
    read_model,
    read_page,
    read_png,
)

__all__ = ["KINDS", "TASKS", "Fault", "Server", "Task", "Trial", "is_possible", "prepare", "trial"]

HERE = Path(__file__).parent
# Calls that fail, in the order of faults.c, with the errors that they fail with.
KINDS: Mapping[str, Sequence[int]] = {
    "open": (errno.EMFILE, errno.EACCES, errno.ENOSPC),
    "read": (errno.EIO,),
    "write": (errno.ENOSPC, errno.EIO, errno.EFBIG),
    "fsync": (errno.EIO,),
    "replace": (errno.EACCES, errno.ENOSPC),
    "mkdir": (errno.ENOSPC, errno.EACCES),
    "stat": (errno.EIO, errno.EACCES),
    "unlink": (errno.EIO,),
    "list a folder": (errno.EMFILE, errno.EACCES),
    "chmod": (errno.EPERM,),
    "allocate": (errno.ENOMEM,),
    "read in part": (0,),
    "write in part": (0,),
}
HARMLESS = ("read in part", "write in part")  # as POSIX allows: nothing may differ
LEAST = 4096  # bytes of an allocation that may fail
TAKES = re.compile(r"\d[\d.,e-]* ?(s|seconds?|minutes?)\b")
NOTICES = ("warning: ", "The file is read", "The target ")


# --- tasks ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Task:
    """A command or a call, the files it reads and writes, and those from which it goes on."""

    name: str
    command: Sequence[str] = ()
    call: Sequence[str] = ()
    outputs: Mapping[str, Callable[[Path], Any]] = field(default_factory=dict)
    records: Sequence[str] = ()

    @property
    def what(self) -> dict[str, Any]:
        """Return it for the server."""
        return {"command": list(self.command)} if self.command else {"call": list(self.call)}


def read_excel(path: Path) -> list[Any]:
    """Return the rows of a sheet."""
    rows: list[Any] = pd.read_excel(path).to_numpy().tolist()
    return rows


FIT = ("--n-trees", "20", "--max-rules", "3", "--jobs", "2", "--refits", "0")
MANY = ("--n-trees", "20", "--max-rules", "3", "--jobs", "2")
ROWS = ("rows.csv", "--target", "y")

TASKS = {
    task.name: task
    for task in [
        Task("fit, CSV", ("fit", *ROWS, "-o", "model.json", *FIT),
             outputs={"model.json": read_model}),
        Task("fit, refits", ("fit", *ROWS, "-o", "model.json", *MANY, "--refits", "2"),
             outputs={"model.json": read_model}),
        Task("fit, classes", ("fit", "classes.csv", "--target", "c", "-o", "model.json", *FIT),
             outputs={"model.json": read_model}),
        Task("fit, Excel", ("fit", "rows.xlsx", "--target", "y", "-o", "model.json", *FIT),
             outputs={"model.json": read_model}),
        Task("fit, Parquet", ("fit", "part*.parquet", "--target", "y", "-o", "model.json", *FIT),
             outputs={"model.json": read_model}),
        Task("fit, export", ("fit", *ROWS, "--export", "sql", *FIT)),
        Task("predict, CSV", ("predict", "fitted.json", "rows.csv", "-o", "predicted.csv"),
             outputs={"predicted.csv": read_csv}),
        Task("predict, Excel", ("predict", "fitted.json", "rows.xlsx", "-o", "predicted.xlsx"),
             outputs={"predicted.xlsx": read_excel}),
        Task("predict, Parquet", ("predict", "fitted.json", "part0.parquet", "--json")),
        Task("check", ("check", *ROWS)),
        Task("report", ("report", *ROWS, "-o", "page.html", "--folds", "2", "--points", "3", *FIT),
             outputs={"page.html": read_page}),
        Task("frontier", ("frontier", *ROWS, "--points", "4", "-o", "frontier.json", "--checkpoint",
              "record.json", "--plot", "plot.png", *MANY),
             outputs={"frontier.json": read_frontier, "plot.png": read_png},
             records=("record.json",)),
        Task("compare", ("compare", *ROWS, "--folds", "2", "-o", "folds.csv", "--checkpoint",
              "record.json", *MANY), outputs={"folds.csv": read_csv}, records=("record.json",)),
        Task("stability", ("stability", *ROWS, "--folds", "2", "--checkpoint", "record.json",
              *MANY), records=("record.json",)),
        Task("performance", ("performance", *ROWS, "--folds", "2", "-o", "measures.csv", *MANY),
             outputs={"measures.csv": read_csv}),
        Task("diff", ("diff", "fitted.json", "other.json", "rows.csv", "--html", "page.html"),
             outputs={"page.html": read_page}),
        *(Task(f"{call}({name!r})", call=(call, name), outputs=outputs, records=records)
          for call, name, outputs, records in [
              ("read", "rows.csv", {}, ()),
              ("read", "rows.xlsx", {}, ()),
              ("read", "part0.parquet", {}, ()),
              ("fit", "rows.csv", {}, ()),
              ("fit", "rows.xlsx", {}, ()),
              ("fit", "part*.parquet", {}, ()),
              ("predict", "rows.csv", {}, ()),
              ("predict", "part0.parquet", {}, ()),
              ("check", "rows.csv", {}, ()),
              ("track_record", "record.json", {}, ("record.json",)),
              ("frontier", "record.json", {}, ("record.json",)),
              ("evaluate", "record.json", {}, ("record.json",)),
              ("trade_off", "rows.csv", {}, ()),
              ("performance", "rows.csv", {}, ()),
              ("report", "page.html", {"page.html": read_page}, ()),
              ("exports", "fitted.json", {}, ()),
              ("excel", "", {}, ()),
          ]),
    ]
}  # fmt: skip


def prepare(folder: Path) -> None:
    """Write the files that tasks read."""
    input_files(folder, n_rows=60)
    shutil.rmtree(folder / "tables")
    (folder / "many.csv").unlink()
    rows = pd.read_csv(folder / "rows.csv")
    rows.to_excel(folder / "rows.xlsx", index=False)
    other = mossrules.MossRegressor(2, n_trees=10, random_state=1).fit(rows, "y")
    (folder / "other.json").write_text(other.rules_.to_json(), "utf-8")


# --- the process ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fault:
    """The nth call of a kind fails, or the nth and all that follow."""

    kind: str
    nth: int
    code: int
    lasts: bool = False

    def __str__(self) -> str:
        name = errno.errorcode.get(self.code, "")
        return f"{self.kind} {self.nth}{' and later' if self.lasts else ''} {name}".strip()


NEVER = Fault("open", 1 << 40, 0)


@dataclass
class Trial:
    """How a task ended."""

    status: int | None
    signal: int
    counts: dict[str, int]
    hits: int
    result: Any
    out: str
    errors: str
    outputs: dict[str, Any]


def is_possible() -> bool:
    """Tell whether this machine can make calls fail: Linux, with a C compiler."""
    return sys.platform == "linux" and shutil.which("gcc") is not None


class Server:
    """The process that forks; a context, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        library = folder / "faults.so"
        subprocess.run(
            ["gcc", "-shared", "-fPIC", "-O1", "-o", library, HERE / "faults.c", "-ldl"],  # noqa: S607
            check=True,
        )
        source = [str(Path(mossrules.__file__).parents[1]), str(HERE.parents[1]), str(HERE.parent)]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(source),
            "LD_PRELOAD": str(library),
            "ARROW_DEFAULT_MEMORY_POOL": "system",  # whose allocations are seen
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "support.fault_server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()

    def ask(self, task: Mapping[str, Any]) -> dict[str, Any]:
        """Have a task done."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(task) + "\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def warm_up(self, task: Task, folder: Path) -> None:
        """Have a task done in the process itself, for what it loads and compiles."""
        self.ask({**task.what, "folder": str(folder), "warm": True})

    def run(self, task: Task, folder: Path, fault: Fault = NEVER) -> Trial:
        """Have a task done in a child, in a folder that has its inputs."""
        temporary = folder.with_name(f"{folder.name} temporary")
        temporary.mkdir(exist_ok=True)
        out, errors = (folder.with_name(f"{folder.name} {name}") for name in ("out", "err"))
        said = self.ask(
            {
                **task.what,
                "folder": str(folder),
                "root": str(folder),
                "temporary": str(temporary),
                "out": str(out),
                "err": str(errors),
                "fault": {
                    "kind": list(KINDS).index(fault.kind),
                    "nth": fault.nth,
                    "code": fault.code,
                    "lasts": int(fault.lasts),
                    "least": LEAST,
                },
            }
        )
        outputs = {}
        for name, read in task.outputs.items():
            path = folder / name
            if path.exists() and path.read_bytes() != OLD:
                try:
                    outputs[name] = read(path)
                except Exception as reason:
                    raise Defect(f"{name} is not whole: {reason!r}") from reason
        return Trial(
            status=said.get("status"),
            signal=os.WTERMSIG(said["ended"]) if os.WIFSIGNALED(said["ended"]) else 0,
            counts=dict(zip(KINDS, said.get("counts", ()), strict=False)),
            hits=said.get("hits", 0),
            result=said.get("result"),
            out=TAKES.sub("", out.read_text("utf-8", "replace")),
            errors=errors.read_text("utf-8", "replace"),
            outputs=outputs,
        )


# --- a trial --------------------------------------------------------------------------------------


def trial(server: Server, task: Task, folder: Path, fault: Fault, expected: Trial) -> str:
    """Do a task with a fault, look at what is left, and go on; return how it ended."""
    for name in task.outputs:
        (folder / name).write_bytes(OLD)
    before = {path.name for path in folder.iterdir()}
    done = server.run(task, folder, fault)
    if done.signal == signal.SIGABRT and fault.kind == "allocate":
        ended = "ended by a C library"  # which no program can prevent
    else:
        ended = _ended(done, fault, expected)
    _look_for_files(task, folder, before, fault)
    for record in task.records:
        if (folder / record).exists():
            json.loads((folder / record).read_bytes())
    if ended != "whole" and task.records:
        _go_on(server, task, folder, expected)
    return ended


def _ended(done: Trial, fault: Fault, expected: Trial) -> str:
    if done.signal:
        raise Defect(f"killed by {signal.Signals(done.signal).name}: {done.errors[-2000:]}")
    if "Traceback" in done.errors or done.status not in (0, 1):
        raise Defect(f"status {done.status}: {done.errors[-3000:]}")
    result = done.result or {}
    if "raw" in result:
        raise Defect(f"raw: {result['raw'][-3000:]}")
    if done.status == 0 and "ours" not in result:
        same = (done.outputs, done.result, done.out) == (
            *(expected.outputs, expected.result),
            *(expected.out,),
        )
        if not same:
            raise Defect(f"without a word, another result: {_difference(done, expected)}")
        return "whole"
    if fault.kind in HARMLESS:
        raise Defect(f"refused, though nothing is wrong: {done.errors or result}")
    sentence = _sentence(done, result)
    if any(each != expected.outputs[name] for name, each in done.outputs.items()):
        raise Defect("an output is neither the old one nor the new one")
    return "unforeseen" if "nobody foresaw" in sentence else "refused"


def _difference(done: Trial, expected: Trial) -> str:
    for one, other in ((done.outputs, expected.outputs), (done.result, expected.result)):
        if one != other:
            return f"{str(one)[:700]} instead of {str(other)[:700]}"
    return f"{done.out[-700:]} instead of {expected.out[-700:]}"


def _sentence(done: Trial, result: Mapping[str, str]) -> str:
    """Return what was said, which is one sentence that names an input."""
    if "ours" in result:
        sentence = result["ours"]
    else:
        lines = [line for line in done.errors.splitlines() if not line.startswith(NOTICES)]
        if len(lines) != 1 or not lines[0].startswith("error: "):
            raise Defect(f"{len(lines)} lines: {done.errors[-2000:]}")
        sentence = lines[0]
    if len(sentence.splitlines()) != 1:
        raise Defect(f"several lines: {sentence}")
    if not re.search(r"\.(csv|json|xlsx|parquet|html|png)|mossrules |table of|emporary", sentence):
        raise Defect(f"no input is named: {sentence}")
    return sentence


def _look_for_files(task: Task, folder: Path, before: set[str], fault: Fault) -> None:
    if fault.kind == "unlink" or (fault.lasts and fault.kind in ("open", "stat", "list a folder")):
        return  # what cannot be removed, or not be seen, is left; the next one removes it
    known = {*before, *task.outputs, *task.records}
    left = [path.name for path in folder.iterdir() if path.name not in known]
    left += [path.name for path in folder.with_name(f"{folder.name} temporary").rglob("*")]
    if left:
        raise Defect(f"{sorted(left)} are left")


def _go_on(server: Server, task: Task, folder: Path, expected: Trial) -> None:
    """Do the same without a fault: it finds what one finds that never failed."""
    again = server.run(task, folder)
    if (again.status, again.outputs, again.result) != (0, expected.outputs, expected.result):
        raise Defect(f"the next run fails, or finds something else: {again.errors[-2000:]}")
