"""The library's commands without a network: nothing is asked for, and nothing differs."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from research.harness.clone import ROOT
from research.harness.processes import run_python
from research.quality import _offline
from research.quality._offline import COMMANDS
from research.quality._record import Cell, Record

__all__ = ["Attempts", "differences", "run", "run_offline", "without_times"]

BUILD = ROOT / "build" / "network"
NO_INTERFACES = ("unshare", "--map-root-user", "--net")  # Linux: a network of its own, with nothing
TIMES = (  # how files and output give moments and durations, which no two runs share
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?", "(moment)"),
    (r'("\w*seconds": ?)[-+\d.e]+', r"\1(seconds)"),
    (r"[-+\d.e]+ s\b", "(seconds) s"),
    (r"(<dt>(?:Time in s|S)econds</dt>\s*<dd[^>]*>)[^<]*", r"\1(seconds)"),
)
Attempts = list[str]


def run_offline(
    folder: Path,
    commands: Mapping[str, Sequence[str]] = COMMANDS,
    *,
    watched: bool = True,
    before: Sequence[str] = (),
) -> Attempts:
    """Run commands in a folder and return what they tried, if watched; they must succeed."""
    folder.mkdir(parents=True)
    log = folder / "attempts.log"
    words = (_offline.__file__, str(log) if watched else "-", json.dumps(commands))
    run_python(*words, folder=folder, before=before)
    return log.read_text("utf-8").splitlines() if watched else []


def differences(one: Path, other: Path) -> list[str]:
    """Return the files of two runs that differ by more than when and how fast they were made."""
    names = {path.name for folder in (one, other) for path in folder.iterdir()}
    names.discard("attempts.log")

    def text(path: Path) -> str:
        return without_times(path.read_text("utf-8")) if path.exists() else "(no file)"

    return sorted(name for name in names if text(one / name) != text(other / name))


def without_times(text: str) -> str:
    """Return a text without moments and durations."""
    for pattern, instead in TIMES:
        text = re.sub(pattern, instead, text)
    return text


def run() -> Record:
    """Run all commands freely, watched, and in a network without interfaces; compare files."""
    shutil.rmtree(BUILD, ignore_errors=True)
    run_offline(BUILD / "free", watched=False)
    attempts = run_offline(BUILD / "watched")
    ways = {"watched": "connections and names refused by an audit hook of Python"}
    has_namespaces = _works(*NO_INTERFACES, "true")
    if has_namespaces:
        run_offline(BUILD / "alone", watched=False, before=NO_INTERFACES)
        ways["alone"] = "a network namespace without interfaces, for compiled code too"
    differ = {way: differences(BUILD / "free", BUILD / way) for way in ways}
    refused = [each for each in attempts if each.startswith("refused")]
    files = len(list((BUILD / "free").iterdir()))
    return Record(
        title="No network",
        asked=(
            "While it runs, the library asks no other machine for anything: without a network "
            "commands give what they give with one. Only `reproduce`, which fetches, is left out."
        ),
        seen=(
            f"{len(COMMANDS)} runs of {len({words[0] for words in COMMANDS.values()})} commands, "
            f"{len(refused)} attempts to reach another machine, "
            f"{len(attempts) - len(refused)} on this one, {files} files, "
            f"{sum(map(len, differ.values()))} different"
        ),
        passed=not refused and not any(differ.values()),
        command="python -m research.quality network",
        table=_table(ways, differ),
        notes=[
            *([] if has_namespaces else ["This machine has no network namespaces to try it in."]),
            *(f"Attempted: {each}" for each in refused[:20]),
            f"The runs: {', '.join(COMMANDS)}.",
            "Files that differ in moments and durations only are not different.",
        ],
    )


def _table(ways: Mapping[str, str], differ: Mapping[str, Sequence[str]]) -> list[dict[str, Cell]]:
    return [
        {"Without a network by": how, "files that differ": ", ".join(differ[way]) or "none"}
        for way, how in ways.items()
    ]


def _works(*command: str) -> bool:
    if shutil.which(command[0]) is None:
        return False
    done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603  of fixed words
    return done.returncode == 0
