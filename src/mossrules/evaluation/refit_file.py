"""The checkpoint of a track record: the refits that are done, in a file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from mossrules.checkpoint import CheckpointFile, read_number
from mossrules.evaluation.refitting import Refit, RefitPlan
from mossrules.exceptions import MossError
from mossrules.model.ruleset import RuleSet
from mossrules.model.rulesets import RuleSets

__all__ = ["RefitFile"]

FORMAT, VERSION = "mossrules refits", 1


@dataclass
class RefitFile:
    """Refits that are done, in memory and on disk."""

    file: CheckpointFile
    work: RefitPlan
    done: dict[int, Refit] = field(default_factory=dict)
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

    def find(self, number: int) -> Refit | None:
        """Return a refit if it is known; those that failed are tried again."""
        return self.done.get(number)

    def add(self, number: int, refit: Refit | str) -> None:
        """Store one more refit."""
        if isinstance(refit, Refit):
            with self.lock:
                self.done[number] = refit
                self.write()

    def write(self) -> None:
        """Put all that is known into the file."""
        done = {str(number): _written(each) for number, each in sorted(self.done.items())}
        self.file.write({"data": self.work.fingerprint, "refits": done})


def _written(refit: Refit) -> dict[str, Any]:
    held = [values.tolist() for values in refit.held.values()]
    return {"rules": refit.rules.to_json(), "held": held}


def _read(content: Mapping[str, Any], work: RefitPlan) -> Refit:
    several = None not in work.fitted
    try:
        rules = (RuleSets if several else RuleSet).from_json(content["rules"])
    except MossError as reason:
        raise ValueError(str(reason)) from reason
    held = [np.array(list(map(read_number, values))) for values in content["held"]]
    for values, fitted in zip(held, work.fitted.values(), strict=True):
        if len(values) != 1 + len(fitted.rules):
            raise ValueError("a refit has effects of other rules")
    return Refit(rules, dict(zip(work.fitted, held, strict=True)))
