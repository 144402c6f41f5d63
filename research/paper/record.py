"""The record of a run: what each task has found, kept so that a run can be stopped and go on."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mossrules._files import replace_file
from mossrules.exceptions import InvalidFile
from research.paper.framework import Row

__all__ = ["RECORD", "ROWS", "Record", "as_csv"]

RECORD, ROWS = "record.json", "rows.csv"
FORMAT, VERSION = "mossrules experiment", 1


@dataclass
class Record:
    """Rows by task, in a folder; each task is written when it is finished, whole or not at all."""

    folder: Path
    settings: Mapping[str, Any]  # plain values
    tasks: dict[str, list[Row]] = field(default_factory=dict)

    @classmethod
    def open(cls, folder: Path, settings: Mapping[str, Any]) -> Record:
        """Return the record of a folder, or a new one; refuse one of other settings."""
        path = folder / RECORD
        settings = json.loads(json.dumps(settings))  # as they will be read: tuples are lists
        if not path.exists():
            return cls(folder, settings)
        found = cls.read(folder)
        known = found.settings
        differing = [name for name in settings if known.get(name) != settings[name]]
        if differing or len(known) != len(settings):
            raise InvalidFile(
                f"{path} is of a run with other settings ({', '.join(differing) or 'more'}); "
                "move it, or choose another --out."
            )
        return found

    @classmethod
    def read(cls, folder: Path) -> Record:
        """Return the record of a folder, whatever its settings."""
        path = folder / RECORD
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            known, tasks = content["settings"], content["tasks"]
            sound = (content["format"], content["version"]) == (FORMAT, VERSION)
            sound = sound and isinstance(known, dict) and isinstance(tasks, dict)
            sound = sound and all(isinstance(rows, list) for rows in tasks.values())
            sound = sound and all(isinstance(row, dict) for rows in tasks.values() for row in rows)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as reason:
            raise InvalidFile(
                f"{path} is no record of an experiment; move it, or choose another --out."
            ) from reason
        if not sound:
            raise InvalidFile(
                f"{path} is no record that this release reads; move it, or choose another --out."
            )
        return cls(folder, known, tasks)

    def keep(self, settled: Callable[[Sequence[Row]], bool]) -> None:
        """Forget tasks that are to be tried again."""
        self.tasks = {task: rows for task, rows in self.tasks.items() if settled(rows)}

    def add(self, task: str, rows: Sequence[Row]) -> None:
        """Keep what a task has found."""
        self.tasks[task] = list(rows)
        self.folder.mkdir(parents=True, exist_ok=True)
        content = {
            "format": FORMAT,
            "version": VERSION,
            "settings": self.settings,
            "tasks": self.tasks,
        }
        replace_file(self.folder / RECORD, json.dumps(content, indent=1))

    def rows(self, tasks: Sequence[str]) -> list[Row]:
        """Return what is known of tasks, in their order."""
        return [row for task in tasks for row in self.tasks.get(task, [])]


def as_csv(rows: Sequence[Row]) -> str:
    """Return rows as the text of a CSV file; a column that a row does not have is empty."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
