"""The checkpoint of a track record: the refits that are done, in a file."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from mossrules.checkpoint import CheckpointFile
from mossrules.evaluation.refitting import RefitPlan, RuleModel
from mossrules.exceptions import MossError
from mossrules.model.ruleset import RuleSet
from mossrules.model.rulesets import RuleSets

__all__ = ["RefitFile"]

FORMAT, VERSION = "mossrules refits", 2


@dataclass
class RefitFile:
    """Refits that are done, in memory and on disk."""

    file: CheckpointFile
    work: RefitPlan
    done: dict[int, RuleModel] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    @classmethod
    def open(cls, path: str | os.PathLike[str], work: RefitPlan) -> RefitFile:
        """Return the record at a path, with what an earlier run has put there."""
        record = cls(CheckpointFile(Path(path), FORMAT, VERSION), work)
        if record.file.path.exists():
            content = record.file.read_own(
                "data", work.fingerprint, "other data, refits or settings"
            )
            with record.file.refuse_damage():
                known = content["refits"].items()
                record.done = {int(number): _read(each, work) for number, each in known}
        else:
            record.write()
        return record

    def find(self, number: int) -> RuleModel | None:
        """Return a refit if it is known; those that failed are tried again."""
        return self.done.get(number)

    def add(self, number: int, refit: RuleModel | str) -> None:
        """Store one more refit."""
        if not isinstance(refit, str):
            with self.lock:
                self.done[number] = refit
                self.write()

    def write(self) -> None:
        """Put all that is known into the file."""
        done = {str(number): each.to_json() for number, each in sorted(self.done.items())}
        self.file.write({"data": self.work.fingerprint, "refits": done})


def _read(text: str, work: RefitPlan) -> RuleModel:
    try:
        return (RuleSet if None in work.fitted else RuleSets).from_json(text)
    except MossError as reason:
        raise ValueError(str(reason)) from reason
