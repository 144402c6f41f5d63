"""Commands stopped by signals at random moments, and calls by Ctrl-C within one process.

For each command that works long, the real program is started in a folder of its own and stopped:
by Ctrl-C, by Ctrl-C twice, by SIGTERM and by SIGKILL, at moments spread over its whole run, and
just when a file is written. What must hold afterwards, tests/stopping.py says.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))  # for the commands

from quality._record import Record
from stopping import BEFORE, COMMANDS, Command, Defect, Moment, finish, input_files, stop

__all__ = ["arguments", "moments", "run"]

ENDS = ("had finished", "whole result", "result so far", "without a result", "killed", BEFORE)
CALLS = str(Path(__file__).with_name("_calls.py"))
WITHIN = 12  # calls of each kind in a process that goes on


def moments(rng: Random, count: int, seconds: float) -> Sequence[Moment]:
    """Return moments of so long a run: half of them Ctrl-C, the rest twice, SIGTERM and SIGKILL."""
    found = []
    for number in range(count):
        at = (number + rng.random()) / count * seconds
        found.append(
            (
                Moment(at),
                Moment(at, signal.SIGTERM),
                Moment(at, at_file=True),
                Moment(at, again=rng.uniform(0.0, 0.5)),
                Moment(at),
                Moment(at, signal.SIGKILL, at_file=number % 16 == 5),
            )[number % 6]
        )
    return found


class Trials:
    """Trials of one command, each in a new folder, and what was seen."""

    def __init__(self, command: Command, folder: Path) -> None:
        self.command, self.folder = command, folder
        self.seen: Counter[str] = Counter()
        self.shortest, self.expected = finish(command, self._fresh("undisturbed"))

    def _fresh(self, name: str) -> Path:
        shutil.rmtree(self.folder / name, ignore_errors=True)
        return Path(shutil.copytree(self.folder / "inputs", self.folder / name))

    def run(self, rng: Random, count: int) -> None:
        """Stop the command so many times; after every third trial let it go on to its end."""
        for number, moment in enumerate(moments(rng, count, self.shortest)):
            folder = self._fresh("stopped")
            try:
                self.seen[stop(self.command, folder, moment, self.expected).where] += 1
                if number % 3 == 2:
                    self._go_on(folder)
            except Defect as defect:
                self.seen["defects"] += 1
                print(f"DEFECT {self.command.name}, {moment}:\n{defect}", flush=True)

    def _go_on(self, folder: Path) -> None:
        """Run the same command to its end; it finds what one that was never stopped finds."""
        seconds, found = finish(self.command, folder)
        self.seen["went on"] += 1
        self.shortest = min(self.shortest, seconds)
        if found != self.expected:
            raise Defect("after the stop it does not find what it finds undisturbed")
        if list(folder.rglob("*.tmp")):
            raise Defect("a temporary file of the killed run is left by the next one")


def within_a_process(seed: int) -> Counter[str]:
    """Interrupt calls in a process that goes on; what its script prints is counted."""
    done = subprocess.run(  # noqa: S603  our own script
        [sys.executable, CALLS, str(seed), str(WITHIN)],
        capture_output=True,
        text=True,
        check=False,
    )
    seen = Counter(line for line in done.stdout.splitlines() if not line.startswith("DEFECT"))
    found = [line for line in done.stdout.splitlines() if line.startswith("DEFECT")]
    if done.returncode:
        found.append(f"DEFECT status {done.returncode}: {done.stderr}")
    print("\n".join(found), end="\n" if found else "", flush=True)
    seen["defects"] = len(found)
    return seen


def run(count: int, seed: int, only: str | None) -> Record:
    """Stop each command so many times, or one of them."""
    begun, seen = time.monotonic(), {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "inputs").mkdir()
        input_files(folder / "inputs")
        for command in [COMMANDS[only]] if only else COMMANDS.values():
            trials = Trials(command, folder)
            trials.run(Random(f"{command.name} {seed}"), count)  # noqa: S311  no secrets
            seen[command.name] = trials.seen
            spent = time.monotonic() - begun
            print(f"{spent:.0f} s, {command.name}: {dict(trials.seen)}", flush=True)
    within = within_a_process(seed)
    defects = sum(each["defects"] for each in (*seen.values(), within))
    went_on = sum(each["went on"] for each in seen.values())
    return Record(
        title="Stopped at any moment",
        asked=(
            "A command that Ctrl-C or SIGTERM stops says so in one sentence and has the status 130 "
            "or 143. It leaves no process, no temporary file and no half-written output; the same "
            "command, run again, ends as if it had never been stopped. After SIGKILL outputs are "
            "the old or the new ones."
        ),
        seen=(
            f"{count * len(seen):,} stops of {len(seen)} commands and {within['calls']:,} of calls "
            f"in a process that goes on, {defects:,} defects; {went_on:,} commands run again"
        ),
        passed=not defects,
        command=f"python -m quality interrupts {count} --seed {seed}",
        table=[
            {"Command": name, **{end: each[end] for end in (*ENDS, "went on", "defects")}}
            for name, each in seen.items()
        ],
        notes=[
            (
                f"{within['stopped']:,} of the calls in one process were stopped, the others had "
                "ended before: fits, searches, frontiers and evaluations, on two threads. "
                "Afterwards threads and child processes are as before, and the next fit finds the "
                "same model."
            ),
            (
                f"'{BEFORE}': the signal came before the first line of ours, so that what is said "
                "is the interpreter's."
            ),
        ],
    )


def arguments(parser: argparse.ArgumentParser) -> None:
    """Say what may be asked for."""
    parser.add_argument("count", type=int, nargs="?", default=12, help="stops of each command")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=COMMANDS, help="one command")
