"""Commands stopped by signals at random moments, and calls by Ctrl-C within one process.

For each command that works long, the real program is started in a folder of its own and stopped:
by Ctrl-C, by Ctrl-C twice, by SIGTERM and by SIGKILL, at moments spread over its whole run, and
just when a file is written. What must hold afterwards, tests/support/stopping.py says.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random

from research.harness.processes import run_python
from research.quality._record import Record
from support.stopping import BEFORE, COMMANDS, Command, Defect, Moment, finish, input_files, stop

__all__ = ["arguments", "moments", "run"]

STOPPED = ("whole result", "result so far", "without a result", "killed", BEFORE)
COUNTED = ("had finished", *STOPPED, "went on", "defects")
CALLS = "research.quality._calls"
WITHIN = 12  # calls of each kind in a process that goes on


def moments(rng: Random, count: int, seconds: float) -> Sequence[Moment]:
    """Return moments of so long a run, in order, each with a signal of any kind.

    Half of them are Ctrl-C, the rest Ctrl-C twice, SIGTERM and SIGKILL. Which comes when is drawn,
    as else each kind would always meet the same part of the run.
    """
    kinds = [number % 6 for number in range(count)]
    rng.shuffle(kinds)
    found = []
    for number, kind in enumerate(kinds):
        at = (number + rng.random()) / count * seconds
        found.append(
            (
                Moment(at),
                Moment(at, signal.SIGTERM),
                Moment(at, at_file=True),
                Moment(at, again=rng.uniform(0.0, 0.5)),
                Moment(at),
                Moment(at, signal.SIGKILL, at_file=rng.random() < 0.25),
            )[kind]
        )
    return found


def kind_of(moment: Moment) -> str:
    """Return by what a command is stopped, in words."""
    if moment.again is not None:
        return "Ctrl-C twice"
    return "Ctrl-C" if moment.number == signal.SIGINT else signal.Signals(moment.number).name


class Trials:
    """Trials of one command, each in a new folder, and what was seen."""

    def __init__(self, command: Command, folder: Path) -> None:
        self.command, self.folder = command, folder
        self.seen: Counter[str] = Counter()
        self.again: Counter[str] = Counter()  # runs to the end, by what had stopped the one before
        self.shortest, self.expected = finish(command, self._fresh("undisturbed"))

    def _fresh(self, name: str) -> Path:
        shutil.rmtree(self.folder / name, ignore_errors=True)
        return Path(shutil.copytree(self.folder / "inputs", self.folder / name))

    def run(self, rng: Random, count: int) -> None:
        """Stop the command so many times; after a third of the trials let it go on to its end."""
        goes_on = set(rng.sample(range(count), round(count / 3)))
        for number, moment in enumerate(moments(rng, count, self.shortest)):
            folder = self._fresh("stopped")
            try:
                self.seen[stop(self.command, folder, moment, self.expected).where] += 1
                if number in goes_on:
                    self._go_on(folder)
                    self.again[kind_of(moment)] += 1
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
    done = run_python("-m", CALLS, str(seed), str(WITHIN), check=False)
    seen = Counter(line for line in done.stdout.splitlines() if not line.startswith("DEFECT"))
    found = [line for line in done.stdout.splitlines() if line.startswith("DEFECT")]
    if done.returncode:
        found.append(f"DEFECT status {done.returncode}: {done.stderr}")
    print("\n".join(found), end="\n" if found else "", flush=True)
    seen["defects"] = len(found)
    return seen


def run(count: int, seed: int, only: str | None) -> Record:
    """Stop each command so many times, or one of them."""
    begun, seen, again = time.monotonic(), {}, Counter[str]()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "inputs").mkdir()
        input_files(folder / "inputs")
        for command in [COMMANDS[only]] if only else COMMANDS.values():
            trials = Trials(command, folder)
            trials.run(Random(f"{command.name} {seed}"), count)  # noqa: S311  no secrets
            seen[command.name] = trials.seen
            again += trials.again
            spent = time.monotonic() - begun
            print(f"{spent:.0f} s, {command.name}: {dict(trials.seen)}", flush=True)
    within = within_a_process(seed)
    defects = sum(each["defects"] for each in (*seen.values(), within))
    stopped = sum(each[end] for each in seen.values() for end in STOPPED)
    return Record(
        title="Stopped at any moment",
        asked=(
            "A command that Ctrl-C or SIGTERM stops says so in one sentence and has the status 130 "
            "or 143. It leaves no process, no temporary file and no half-written output; the same "
            "command, run again, ends as if it had never been stopped. After SIGKILL outputs are "
            "the old or the new ones."
        ),
        seen=(
            f"{count * len(seen):,} trials of {len(seen)} commands, of which {stopped:,} were "
            f"stopped before their end, and {within['stopped']:,} of {within['calls']:,} calls in "
            f"a process that goes on; {defects:,} defects; {again.total():,} commands run again"
        ),
        passed=not defects,
        command=f"python -m research.quality interrupts {count} --seed {seed}",
        table=[
            {"Command": name, **{end: each[end] for end in COUNTED}} for name, each in seen.items()
        ],
        notes=[
            (
                "By what those had been stopped that were run again: "
                f"{', '.join(f'{kind} {n}' for kind, n in sorted(again.items())) or 'none were'}."
            ),
            (
                "Calls in one process are fits, searches, frontiers and evaluations, on two "
                "threads. Within five seconds threads and child processes are as before, and the "
                "next fit finds the same model."
            ),
            (
                f"'{BEFORE}': the signal came before the first line of ours, so that what is said "
                "is the interpreter's."
            ),
        ],
    )


def arguments(parser: argparse.ArgumentParser) -> None:
    """Say what may be asked for."""
    parser.add_argument("count", type=int, nargs="?", default=12, help="trials of each command")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=COMMANDS, help="one command")
