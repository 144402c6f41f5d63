"""Records of runs: what each task has found, kept so that a run can be interrupted and resume.

A record belongs to the settings it was begun with. Where others are given, a run of the paper's
experiments is refused, as its rows may be hours of work; a benchmark begins afresh, as what it
measured was of other code.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from mossrules.checkpoint import CheckpointFile
from mossrules.exceptions import InvalidFile
from research.harness.clone import ROOT, environment
from research.harness.reports import Row, say

__all__ = ["RECORD", "ROWS", "Record", "as_csv", "resume"]

RECORD, ROWS = "record.json", "rows.csv"
FORMAT, VERSION = "mossrules experiment", 1
REMEDY = "move it, or choose another --out"


@dataclass
class Record:
    """Rows by task, in a file; each task is written when it is finished, whole or not at all."""

    path: Path
    settings: Mapping[str, Any]  # plain values
    tasks: dict[str, list[Row]] = field(default_factory=dict)

    @classmethod
    def open(cls, path: Path, settings: Mapping[str, Any]) -> Record:
        """Return the record of a path, or a new one; refuse one of other settings."""
        settings = json.loads(json.dumps(settings))  # as they will be read: tuples are lists
        if not path.exists():
            return cls(path, settings)
        record = cls.read(path)
        known = record.settings
        differing = [name for name in settings if known.get(name) != settings[name]]
        if differing or len(known) != len(settings):
            raise InvalidFile(
                f"{_file(path)} is of a run with other settings "
                f"({', '.join(differing) or 'more'}); {REMEDY}."
            )
        return record

    @classmethod
    def read(cls, path: Path) -> Record:
        """Return the record of a path, whatever its settings."""
        file = _file(path)
        content = file.read()
        with file.refuse_damage():
            settings, tasks = content["settings"], content["tasks"]
            if not isinstance(settings, dict) or not all(map(_are_rows, tasks.values())):
                raise TypeError("settings or rows are something else")
        return cls(path, settings, tasks)

    def keep(self, settled: Callable[[Sequence[Row]], bool]) -> None:
        """Forget tasks that are to be tried again."""
        self.tasks = {task: rows for task, rows in self.tasks.items() if settled(rows)}

    def add(self, task: str, rows: Sequence[Row]) -> None:
        """Keep what a task has found."""
        self.tasks[task] = list(rows)
        # In lines, for people to look into, and with NaN as Python writes it.
        content = {"settings": self.settings, "tasks": self.tasks}
        _file(self.path).write(content, partial(json.dumps, indent=1))

    def once(self, task: str, run: Callable[[], Sequence[Row]]) -> list[Row]:
        """Return the rows of a task, which is run if it was not finished before."""
        if task not in self.tasks:
            self.add(task, run())
        return self.tasks[task]

    def rows(self, tasks: Sequence[str]) -> list[Row]:
        """Return what is known of tasks, in their order."""
        return [row for task in tasks for row in self.tasks.get(task, [])]

    def delete(self) -> None:
        """Remove the file: the run is complete, and its results are elsewhere."""
        self.path.unlink(missing_ok=True)


def _file(path: Path) -> CheckpointFile:
    return CheckpointFile(path, FORMAT, VERSION, REMEDY)


def _are_rows(rows: Any) -> bool:
    return isinstance(rows, list) and all(isinstance(row, dict) for row in rows)


def resume(folder: Path, subject: str, settings: Row, *, quick: bool) -> Record:
    """Return the record of a benchmark; one of other settings, code or releases is not taken up."""
    made_with = environment()
    stamp = {
        "settings": settings,
        "sources": _digest_of_sources(),
        **{key: made_with[key] for key in ("commit", "python", "packages", "cpus")},
    }
    path = folder / f"{subject}{'-quick' if quick else ''}-partial.json"
    try:
        return Record.open(path, stamp)
    except InvalidFile:
        say(f"{path.name} is of other code or settings; starting afresh")
        path.unlink()
        return Record.open(path, stamp)


def _digest_of_sources() -> str:
    """Return a digest of the package and of research as they are on disk."""
    digest = hashlib.sha256()
    for folder in (ROOT / "src", ROOT / "research"):
        for path in sorted(folder.rglob("*.py")):
            digest.update(str(path.relative_to(ROOT)).encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def as_csv(rows: Sequence[Row]) -> str:
    """Return rows as the text of a CSV file; a column that a row does not have is empty."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
