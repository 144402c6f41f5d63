"""A record of an evaluation on disk, to go on from when it is cut short."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b, sha256
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from mossrules.data.canonical_order import Rows
from mossrules.data.columns import NUMBERS
from mossrules.estimators.folds import Split
from mossrules.evaluation.learners import Learner
from mossrules.evaluation.metrics import METRICS
from mossrules.evaluation.results import LearnerFold
from mossrules.exceptions import InvalidFile
from mossrules.frontier.storage import (
    damage_is,
    parse,
    read_checkpoint,
    read_count,
    read_number,
    write_checkpoint,
)
from mossrules.model import RuleSet

__all__ = ["Record"]

FORMAT, VERSION = "mossrules evaluation", 1
FIGURES = ("seconds", "search_seconds")
REMEDY = "remove it to start again"


@dataclass
class Record:
    """A file with what learners have made of folds; it belongs to one table, cut in one way.

    It has a hash of the table and its folds, and one of each learner. Learners may join later, but
    one that is in it has to be the same.
    """

    path: Path
    data: str
    learners: dict[str, str]
    results: dict[tuple[str, int], LearnerFold] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        rows: Rows,
        splits: Sequence[Split],
        learners: Sequence[Learner],
    ) -> Record:
        """Return the record at a path, with what an earlier run has put there."""
        wanted = {each.name: each.fingerprint for each in learners}
        found = cls(Path(path), _fingerprint(rows, splits), wanted)
        if found.path.exists():
            found._read()
        else:
            found._write()  # if that cannot be done, better to know it now
        return found

    def find(self, learner: str, fold: int) -> LearnerFold | None:
        """Return what is known; a learner that failed may try again."""
        known = self.results.get((learner, fold))
        return None if known is None or known.failed else known

    def add(self, result: LearnerFold) -> None:
        """Store one more result; a reader never sees half a file."""
        with self.lock:
            self.results[result.learner, result.fold] = result
            self._write()

    def _write(self) -> None:
        pools: dict[str, list[str]] = {}
        content = {
            "format": FORMAT,
            "version": VERSION,
            "data": self.data,
            "learners": self.learners,
            "results": [_to_dict(each, pools) for each in self.results.values()],
            "candidates": pools,
        }
        write_checkpoint(self.path, content)

    def _read(self) -> None:
        what = f"The checkpoint {self.path}"
        content = parse(read_checkpoint(self.path), what, REMEDY, form=FORMAT, version=VERSION)
        if content.get("data") != self.data:
            raise InvalidFile(
                f"{what} belongs to other data or other folds; remove it or choose another path."
            )
        with damage_is(f"{what} is damaged", REMEDY):
            kept = {str(name): str(value) for name, value in content["learners"].items()}
            pools = {key: frozenset(map(str, each)) for key, each in content["candidates"].items()}
            results = [_from_dict(each, pools) for each in content["results"]]
        for name, value in self.learners.items():
            if kept.get(name, value) != value:
                raise InvalidFile(
                    f"{what} has the learner {name!r} with other settings; rename the learner, or "
                    "choose another path."
                )
        self.learners = {**kept, **self.learners}
        self.results = {(each.learner, each.fold): each for each in results}


def _to_dict(result: LearnerFold, pools: dict[str, list[str]]) -> dict[str, Any]:
    """Return a result as content of the file; candidates that several share are there once."""
    key = None
    if result.candidates is not None:
        names = sorted(result.candidates)
        key = blake2b("".join(names).encode(), digest_size=8).hexdigest()
        pools[key] = names
    return {
        "learner": result.learner,
        "fold": result.fold,
        "status": result.status,
        "failure": result.failure,
        "seed": result.seed,
        **result.scores,
        **{name: getattr(result, name) for name in FIGURES},
        "rules": None if result.rules is None else json.loads(result.rules.to_json()),
        "candidates": key,
    }


def _from_dict(content: Mapping[str, Any], pools: Mapping[str, frozenset[str]]) -> LearnerFold:
    rules, key, failure = content["rules"], content["candidates"], content["failure"]
    return LearnerFold(
        learner=str(content["learner"]),
        fold=read_count(content["fold"]),
        status=str(content["status"]),
        failure=None if failure is None else str(failure),
        seed=None if content["seed"] is None else read_count(content["seed"]),
        scores={} if failure is not None else _scores(content),
        **{name: float(read_number(content[name])) for name in FIGURES},
        rules=None if rules is None else RuleSet.from_json(json.dumps(rules)),
        candidates=None if key is None else pools[key],
    )


def _scores(content: Mapping[str, Any]) -> dict[str, float]:
    """Return the metrics of a model: those of classifiers, if there is any of them."""
    of_classes = METRICS["classification"]
    names = of_classes if of_classes[0] in content else METRICS["regression"]
    return {name: float(read_number(content[name])) for name in names}


def _fingerprint(rows: Rows, splits: Sequence[Split]) -> str:
    """Return a hash of a table, its target, its weights and its folds, in any order of the rows."""
    digest = sha256(repr((len(rows.target), rows.table.named)).encode())
    for column in rows.table.columns:
        digest.update(repr((column.name, column.kind.value, column.levels)).encode())
        values = column.read(0, rows.table.n_rows)
        if column.kind in NUMBERS:
            digest.update(np.ascontiguousarray(values, dtype=np.float64).tobytes())
        else:
            digest.update(repr(values.tolist()).encode())
    for numbers in (rows.target, rows.weights):
        digest.update(b"none" if numbers is None else np.ascontiguousarray(numbers).tobytes())
    for part in (each for split in splits for each in split):
        digest.update(repr(len(part)).encode() + np.ascontiguousarray(part, np.int64).tobytes())
    return digest.hexdigest()
