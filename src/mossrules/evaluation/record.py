"""The checkpoint of an evaluation: what methods have made of folds, in a file.

It belongs to one table, dealt out to folds in one way. It has a hash of both, and one of each
method: methods may join later, but one that is in it has to be the same.

Keys of the file are of its format, not of the code: methods are called "learner" in it, so that
files of earlier releases still load. To change a key, raise `VERSION`.
"""

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

from mossrules.checkpoint import CheckpointFile, read_count, read_number
from mossrules.data.columns import NUMBERS
from mossrules.data.rows import Rows
from mossrules.evaluation.folds import Split
from mossrules.evaluation.methods import Method
from mossrules.evaluation.results import METRICS, MethodFold
from mossrules.exceptions import InvalidFile
from mossrules.model.ruleset import RuleSet

__all__ = ["Record", "fingerprint"]

FORMAT, VERSION = "mossrules evaluation", 1
TIMES = ("seconds", "search_seconds")


@dataclass
class Record:
    """What is known of methods and folds, in memory and on disk."""

    file: CheckpointFile
    data: str  # hash of the table and its folds
    methods: dict[str, str]  # hash of each, by name
    results: dict[tuple[str, int], MethodFold] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        rows: Rows,
        splits: Sequence[Split],
        methods: Sequence[Method],
    ) -> Record:
        """Return the record at a path, with what an earlier run has put there."""
        fingerprints = {method.name: method.fingerprint for method in methods}
        file = CheckpointFile(Path(path), FORMAT, VERSION)
        record = cls(file, fingerprint(rows, splits), fingerprints)
        if file.path.exists():
            record._read()
        else:
            record._write()  # a path that cannot be written to is refused before any work
        return record

    def find(self, method: str, fold: int) -> MethodFold | None:
        """Return what is known; a method that failed is tried again."""
        known = self.results.get((method, fold))
        return None if known is None or known.failed else known

    def add(self, result: MethodFold) -> None:
        """Store one more result; a reader never sees half a file."""
        with self.lock:
            self.results[result.method, result.fold] = result
            self._write()

    def _write(self) -> None:
        # Methods with the same search share their candidates, some hundred names for each fold:
        # they are in the file once, under a hash.
        pools: dict[str, list[str]] = {}
        self.file.write({
            "data": self.data,
            "learners": self.methods,
            "results": [_to_dict(result, pools) for result in self.results.values()],
            "candidates": pools,
        })  # fmt: skip

    def _read(self) -> None:
        content = self.file.read_own("data", self.data, "other data or other folds")
        with self.file.refuse_damage():
            known = {str(name): str(value) for name, value in content["learners"].items()}
            pools = {
                key: frozenset(map(str, names)) for key, names in content["candidates"].items()
            }
            results = [_from_dict(result, pools) for result in content["results"]]
        for name, value in self.methods.items():
            if known.get(name, value) != value:
                raise InvalidFile(
                    f"{self.file} has the method {name!r} with other settings; rename the "
                    "method, or choose another path."
                )
        self.methods = {**known, **self.methods}
        self.results = {(result.method, result.fold): result for result in results}


def _to_dict(result: MethodFold, pools: dict[str, list[str]]) -> dict[str, Any]:
    """Return a result as content of the file; candidates go into `pools`, by their hash."""
    key = None
    if result.candidates is not None:
        names = sorted(result.candidates)
        key = blake2b("".join(names).encode(), digest_size=8).hexdigest()
        pools[key] = names
    return {
        "learner": result.method,
        "fold": result.fold,
        "status": result.status,
        "failure": result.failure,
        "seed": result.seed,
        **result.scores,
        **{name: getattr(result, name) for name in TIMES},
        "rules": None if result.rules is None else json.loads(result.rules.to_json()),
        "candidates": key,
    }


def _from_dict(content: Mapping[str, Any], pools: Mapping[str, frozenset[str]]) -> MethodFold:
    rules, key, failure = content["rules"], content["candidates"], content["failure"]
    return MethodFold(
        method=str(content["learner"]),
        fold=read_count(content["fold"]),
        status=str(content["status"]),
        failure=None if failure is None else str(failure),
        seed=None if content["seed"] is None else read_count(content["seed"]),
        scores={} if failure is not None else _scores(content),
        **{name: float(read_number(content[name])) for name in TIMES},
        rules=None if rules is None else RuleSet.from_json(json.dumps(rules)),
        candidates=None if key is None else pools[key],
    )


def _scores(content: Mapping[str, Any]) -> dict[str, float]:
    """Return the metrics of a model: those of classifiers, if there is any of them."""
    of_classes = METRICS["classification"]
    names = of_classes if of_classes[0] in content else METRICS["regression"]
    return {name: float(read_number(content[name])) for name in names}


def fingerprint(rows: Rows, splits: Sequence[Split]) -> str:
    """Return a hash of a table, its target, its weights and its folds, in any order of the rows."""
    # Not of the file or the frame: values decide, in canonical order, so that a table read again,
    # sorted otherwise or from another library, resumes the same run.
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
    if rows.group_numbers is not None:  # fits within folds depend on groups too
        digest.update(b"groups" + rows.group_numbers.tobytes())
    for part in (rows_of for split in splits for rows_of in split):
        digest.update(repr(len(part)).encode() + np.ascontiguousarray(part, np.int64).tobytes())
    return digest.hexdigest()
