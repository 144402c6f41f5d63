"""The record of a run: what each task has found, kept so that a run can be stopped and go on."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from mossrules.checkpoint import CheckpointFile
from mossrules.exceptions import InvalidFile
from research.paper.framework import Row

__all__ = ["RECORD", "ROWS", "Record", "as_csv"]

RECORD, ROWS = "record.json", "rows.csv"
FORMAT, VERSION = "mossrules experiment", 1
REMEDY = "move it, or choose another --out"


@dataclass
class Record:
    """Rows by task, in a folder; each task is written when it is finished, whole or not at all."""

    folder: Path
    settings: Mapping[str, Any]  # plain values
    tasks: dict[str, list[Row]] = field(default_factory=dict)

    @classmethod
    def open(cls, folder: Path, settings: Mapping[str, Any]) -> Record:
        """Return the record of a folder, or a new one; refuse one of other settings."""
        file = _file(folder)
        settings = json.loads(json.dumps(settings))  # as they will be read: tuples are lists
        if not file.path.exists():
            return cls(folder, settings)
        record = cls.read(folder)
        known = record.settings
        differing = [name for name in settings if known.get(name) != settings[name]]
        if differing or len(known) != len(settings):
            raise InvalidFile(
                f"{file} is of a run with other settings ({', '.join(differing) or 'more'}); "
                f"{REMEDY}."
            )
        return record

    @classmethod
    def read(cls, folder: Path) -> Record:
        """Return the record of a folder, whatever its settings."""
        file = _file(folder)
        content = file.read()
        with file.refuse_damage():
            settings, tasks = content["settings"], content["tasks"]
            if not isinstance(settings, dict) or not all(map(_are_rows, tasks.values())):
                raise TypeError("settings or rows are something else")
        return cls(folder, settings, tasks)

    def keep(self, settled: Callable[[Sequence[Row]], bool]) -> None:
        """Forget tasks that are to be tried again."""
        self.tasks = {task: rows for task, rows in self.tasks.items() if settled(rows)}

    def add(self, task: str, rows: Sequence[Row]) -> None:
        """Keep what a task has found."""
        self.tasks[task] = list(rows)
        # In lines, for people to look into, and with NaN as Python writes it.
        content = {"settings": self.settings, "tasks": self.tasks}
        _file(self.folder).write(content, partial(json.dumps, indent=1))

    def rows(self, tasks: Sequence[str]) -> list[Row]:
        """Return what is known of tasks, in their order."""
        return [row for task in tasks for row in self.tasks.get(task, [])]


def _file(folder: Path) -> CheckpointFile:
    return CheckpointFile(folder / RECORD, FORMAT, VERSION, REMEDY)


def _are_rows(rows: Any) -> bool:
    return isinstance(rows, list) and all(isinstance(row, dict) for row in rows)


def as_csv(rows: Sequence[Row]) -> str:
    """Return rows as the text of a CSV file; a column that a row does not have is empty."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
