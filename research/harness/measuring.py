"""Clocks and memory: times in turns, cores that others keep busy, and peaks."""

from __future__ import annotations

import ctypes
import gc
import math
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Self

from research.harness.reports import Skipped

__all__ = [
    "THREADS",
    "Contention",
    "PeakMemory",
    "Task",
    "available_gigabytes",
    "interleave",
    "seconds",
]

THREADS = 2
REST_SECONDS = 0.3

Task = Callable[[], object]


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
