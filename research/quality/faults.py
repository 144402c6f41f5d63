"""Commands and calls in which one read, write, allocation or other call of the system fails.

Each task is done once undisturbed, and every kind of call is counted. Then it is done again and
again, each time with another of these calls failing, once or from then on: an open for want of
descriptors, a write for want of room, an allocation, ... . What must hold then is in
tests/support/faults.py.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

from research.quality._record import Record
from support.faults import KINDS, TASKS, Fault, Server, Task, Trial, is_possible, prepare, trial
from support.stopping import Defect

__all__ = ["arguments", "faults", "run"]

ENDS = ("whole", "refused", "unforeseen", "ended by a C library")
LAST = 0.3  # share of faults that last, as a full disc does
ONCE = ("allocate", "read in part", "write in part")


def faults(counts: dict[str, int], count: int, rng: Random) -> Iterator[Fault]:
    """Yield faults of each kind there is, at calls spread over a whole run."""
    for kind, codes in KINDS.items():
        there, some = counts.get(kind, 0), count * (3 if kind == "allocate" else 1)
        for number in range(min(some, there)):
            nth = 1 + int((number + rng.random()) / min(some, there) * there)
            lasts = kind not in ONCE and rng.random() < LAST
            yield Fault(kind, nth, rng.choice(codes), lasts)


class Trials:
    """Trials of one task, and what was seen."""

    def __init__(self, server: Server, task: Task, folder: Path) -> None:
        self.server, self.task, self.folder = server, task, folder
        self.seen: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
        server.warm_up(task, self._fresh())
        self.expected = self._undisturbed()
        if self._undisturbed().out != self.expected.out:  # it tells of durations
            self.expected.out = ""

    def _fresh(self) -> Path:
        folder = self.folder / "task"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(folder.with_name("task temporary"), ignore_errors=True)
        return Path(shutil.copytree(self.folder / "inputs", folder))

    def _undisturbed(self) -> Trial:
        done = self.server.run(self.task, self._fresh())
        if done.status != 0 or "value" not in (done.result or {"value": None}):
            raise Defect(f"undisturbed: {done}")
        return done

    def run(self, count: int, rng: Random) -> None:
        """Let calls fail, so many of each kind."""
        for fault in faults(self.expected.counts, count, rng):
            try:
                ended = trial(self.server, self.task, self._fresh(), fault, self.expected)
            except Defect as defect:
                ended = "defects"
                print(f"DEFECT {self.task.name}, {fault}:\n{defect}", flush=True)
            self.seen[fault.kind][ended] += 1


def run(count: int, seed: int, only: str | None) -> Record:
    """Let so many calls of each kind fail in each task, or in one."""
    if not is_possible():
        raise SystemExit("Faults are made on Linux, with gcc; install it.")
    seen: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    calls, tasks = Counter[str](), [TASKS[only]] if only else list(TASKS.values())
    begun, done = time.monotonic(), 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "inputs").mkdir()
        prepare(folder / "inputs")
        # Ctrl-C ends the run after what was tried so far, which the record says.
        with contextlib.suppress(KeyboardInterrupt), Server(folder) as server:
            for task in tasks:
                trials = Trials(server, task, folder)
                trials.run(count, Random(f"{task.name} {seed}"))  # noqa: S311  no secrets
                calls.update(trials.expected.counts)
                done += 1
                for kind, ends in trials.seen.items():
                    seen[kind] += ends
                total = sum(trials.seen.values(), Counter[str]())
                print(f"{time.monotonic() - begun:.0f} s, {task.name}: {dict(total)}", flush=True)
    return _record(seen, calls, done, f"{count} --seed {seed}")


def _record(
    seen: dict[str, Counter[str]], calls: Counter[str], tasks: int, arguments: str
) -> Record:
    total = sum(seen.values(), Counter[str]())
    return Record(
        title="Faults of the system",
        asked=(
            "Where an open, read, write, allocation or any other call of the system fails, a "
            "command ends with one sentence that names its input and with status 1, and a call of "
            "the library raises a `MossError`; or the result is the whole one. Outputs are the old "
            "or the new ones, no temporary file is left, and from a checkpoint the next run ends "
            "as if nothing had failed."
        ),
        seen=(
            f"{total.total():,} faults in {tasks} of {len(TASKS)} commands and calls, "
            f"{total['defects']:,} defects"
        ),
        passed=not total["defects"],
        command=f"python -m research.quality faults {arguments}",
        table=[
            {
                "Call": kind,
                "calls there are": calls[kind],
                "failed": ends.total(),
                **{end: ends[end] for end in ENDS},
                "defects": ends["defects"],
            }
            for kind, ends in seen.items()
        ],
        notes=[
            (
                "Calls are those of the C library, by Python, NumPy, pyarrow, openpyxl and all "
                "others, on files below the folder of the task or on standard output; allocations "
                "are those of 4 kB or more. A third of the faults last, as a full disc does."
            ),
            (
                "'whole': the same result, bit for bit, as where nothing fails. 'in part': the "
                "call does half of what was asked for, which is allowed, and nothing may differ."
            ),
            (
                "'unforeseen': the sentence of a command for errors that are none of ours, which "
                "says how to report it. 'ended by a C library': aborted within HiGHS, LLVM or the "
                "C++ library for want of memory, with outputs and checkpoints as asked."
            ),
        ],
    )


def arguments(parser: argparse.ArgumentParser) -> None:
    """Say what may be asked for."""
    parser.add_argument("count", type=int, nargs="?", default=6, help="faults of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=TASKS, help="one command or call")
