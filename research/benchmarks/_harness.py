"""What all subjects share: timing, fresh processes, peak memory, figures and where they go."""

from __future__ import annotations

import ctypes
import gc
import json
import math
import operator
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal, Self

ROOT = Path(__file__).resolve().parents[2]
THREADS = 2
REST_SECONDS = 0.3
QUIET_CORES = 0.1  # that other processes may use before the figures carry a warning
PACKAGES = (
    "mossrules",
    "numpy",
    "scipy",
    "scikit-learn",
    "numba",
    "pandas",
    "threadpoolctl",
    "gurobipy",
)
COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "<": operator.lt,
}

Task = Callable[[], object]
Row = dict[str, Any]


class Skipped(Exception):
    """A subject cannot be measured here; the message says why."""


@dataclass(frozen=True)
class Bound:
    """What was asked of a figure."""

    relation: Literal[">=", "<=", "<"]
    value: float

    def __str__(self) -> str:
        return f"{self.relation} {self.value:g}"


@dataclass(frozen=True)
class Figure:
    """One measured number, what was asked of it, and the numbers it was made from."""

    name: str
    measured: float
    unit: str = ""
    asked: Bound | None = None
    parts: Row = field(default_factory=dict)

    @property
    def met(self) -> bool | None:
        """Whether the figure is as asked; None when nothing was."""
        if self.asked is None:
            return None
        return COMPARE[self.asked.relation](self.measured, self.asked.value)


@dataclass
class Report:
    """The outcome of one subject: figures, tables of detail, and notes on how it was measured."""

    subject: str
    figures: list[Figure] = field(default_factory=list)
    tables: dict[str, list[Row]] = field(default_factory=dict)
    settings: Row = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    skipped: str | None = None
    busy_cores: float | None = None  # used by other processes meanwhile


# --- time ---------------------------------------------------------------------------------------


def seconds(task: Task) -> float:
    """Return how long one call takes."""
    started = time.perf_counter()
    task()
    return time.perf_counter() - started


def interleave(tasks: Mapping[str, Task], repeats: int) -> dict[str, float]:
    """Return the best time of each task, run in turns so that a busy spell hits all of them.

    Between tasks the process comes to rest: threads of BLAS go on spinning for a while after their
    work, and garbage of one task would be collected in the time of the next.
    """
    best = dict.fromkeys(tasks, math.inf)
    for _ in range(repeats):
        for name, task in tasks.items():
            gc.collect()
            time.sleep(REST_SECONDS)
            best[name] = min(best[name], seconds(task))
    return best


class Contention:
    """Cores that other processes kept busy, on average, while the block ran (NaN if unknown).

    With two threads on two cores, one busy neighbour slows a product by BLAS ten times (its threads
    spin while they wait for each other) and most other work not even twice: such ratios mean
    nothing.
    """

    cores: float = math.nan

    def __enter__(self) -> Self:
        self._started, self._others = time.perf_counter(), _seconds_of_others()
        return self

    def __exit__(self, *_: object) -> None:
        taken = time.perf_counter() - self._started
        self.cores = max(0.0, _seconds_of_others() - self._others) / taken


def _seconds_of_others() -> float:
    """Return the processor time spent by all but this process and its finished children."""
    try:
        text = Path("/proc/stat").read_text(encoding="ascii")
    except OSError:
        return math.nan
    user, nice, system, _idle, _wait, *interrupts_and_stolen = map(int, text.split()[1:9])
    ticks = user + nice + system + sum(interrupts_and_stolen)
    return ticks / os.sysconf("SC_CLK_TCK") - sum(os.times()[:4])


# --- fresh processes and their memory -----------------------------------------------------------


def run_python(
    arguments: Sequence[str], environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run this interpreter from the repository root; an error there is an error here."""
    finished = subprocess.run(  # noqa: S603  our own interpreter and our own arguments
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    if finished.returncode:
        raise RuntimeError(f"A child process failed:\n{finished.stderr}")
    return finished


def in_fresh_process(function: str, **arguments: Any) -> Any:
    """Return what `function` ("package.module:name") returns when a new process calls it."""
    finished = run_python(["-m", "research.benchmarks._child", function, json.dumps(arguments)])
    return json.loads(finished.stdout.splitlines()[-1])


class PeakMemory:
    """Peak growth in MB of this process's resident memory while the block runs (Linux only).

    The kernel's high-water mark is set back first: `ru_maxrss` cannot be, and a child inherits
    that of the process that started it.
    """

    grown: float = math.nan
    highest: float = math.nan  # of the whole process

    @staticmethod
    def require() -> None:
        """Skip the subject where peak memory cannot be read."""
        if not Path("/proc/self/clear_refs").exists():
            raise Skipped("peak memory is read from /proc, which only Linux has")

    def __enter__(self) -> Self:
        self.require()
        gc.collect()
        with suppress(AttributeError, OSError):
            ctypes.CDLL(None).malloc_trim(0)  # free memory still held would hide later growth
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        self._before = _status_megabytes("VmRSS")
        return self

    def __exit__(self, *_: object) -> None:
        self.highest = _status_megabytes("VmHWM")
        self.grown = self.highest - self._before


def _status_megabytes(key: str) -> float:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(f"{key}:"):
            return int(line.split()[1]) * 1024 / 1e6
    raise Skipped(f"/proc/self/status has no {key}")


def available_gigabytes() -> float:
    """Return the memory that can be had without swapping; infinity where it is not known."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return math.inf
    found = [int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")]
    return found[0] * 1024 / 1e9 if found else math.inf


# --- results ------------------------------------------------------------------------------------


def environment() -> Row:
    """Return the versions and the machine that figures belong to."""
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpus": os.cpu_count(),
        "load_average": list(os.getloadavg()) if hasattr(os, "getloadavg") else None,
        "packages": {name: _version(name) for name in PACKAGES},
        "commit": _git("rev-parse", "HEAD"),
        "uncommitted_changes": bool(_git("status", "--porcelain", "--", "src", "research")),
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:  # run from a source tree that is not installed
        return None


def _git(*arguments: str) -> str | None:
    git = shutil.which("git")
    if git is None:
        return None
    finished = subprocess.run(  # noqa: S603  fixed arguments
        [git, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return finished.stdout.strip() if finished.returncode == 0 else None


def write_report(report: Report, folder: Path, *, quick: bool, taken: float) -> Path:
    """Write the report as JSON."""
    content = {
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(taken, 1),
        "quick": quick,
        "environment": environment(),
        **asdict(report),
        "figures": [{**asdict(figure), "met": figure.met} for figure in report.figures],
    }
    path = folder / f"{report.subject}{'-quick' if quick else ''}.json"
    write_json(path, content)
    return path


def write_json(path: Path, content: Any) -> None:
    """Write to a temporary file first, so that no reader sees half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(content, file, indent=1)
    Path(temporary).replace(path)


def show(report: Report, *, quick: bool) -> str:
    """Return the report as text: figures against what was asked, then tables and notes."""
    lines = [f"== {report.subject} =="]
    if report.skipped is not None:
        return f"{lines[0]}\nskipped: {report.skipped}\n"
    rows = [
        {
            "figure": figure.name,
            "asked": "" if figure.asked is None else str(figure.asked),
            "measured": f"{_number(figure.measured)} {figure.unit}".rstrip(),
            "": _verdict(figure, quick=quick),
        }
        for figure in report.figures
    ]
    lines += _table(rows)
    for title, table in report.tables.items():
        lines += ["", f"{title}:", *_table(table)]
    lines += ["", *(f"- {note}" for note in report.notes)]
    if report.busy_cores is not None and report.busy_cores > QUIET_CORES:
        lines.append(
            f"WARNING: other processes kept {report.busy_cores:.2f} cores busy; "
            "measure again on a quiet machine before trusting ratios of times."
        )
    return "\n".join(lines) + "\n"


def _verdict(figure: Figure, *, quick: bool) -> str:
    if figure.met is None:
        return ""
    if quick:
        return "(asked of full size)"
    return "met" if figure.met else "MISSED"


def _table(rows: Sequence[Row]) -> list[str]:
    if not rows:
        return []
    cells = [list(rows[0]), *([_number(row[key]) for key in rows[0]] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    ]


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
