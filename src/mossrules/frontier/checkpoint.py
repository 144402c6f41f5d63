"""A record of a run on disk, to go on from when the run is cut short."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from mossrules._cached import cached_property
from mossrules._typing import FloatArray, IntArray
from mossrules.exceptions import InvalidFile
from mossrules.frontier.result import FrontierPoint
from mossrules.frontier.storage import (
    FORMAT,
    VERSION,
    damage_is,
    entry_from_dict,
    entry_to_dict,
    parse,
    read_checkpoint,
    read_numbers,
    read_positions,
    write_checkpoint,
)
from mossrules.solver.cutting_plane.loop import Cut, CutPool
from mossrules.solver.problems.selection import SelectionProblem

__all__ = ["Checkpoint"]

Point = tuple[IntArray, FloatArray]  # of [0, 1]^m: the rules that are not at 0, and where they are


@dataclass
class Checkpoint:
    """A file that holds what a run has finished; it belongs to one problem and one way to solve."""

    path: Path
    problem: SelectionProblem
    settings: str
    entries: dict[int, FrontierPoint] = field(default_factory=dict)  # by floor
    cuts: dict[int, list[Point]] = field(default_factory=dict)  # where they were made, by floor
    lock: Lock = field(default_factory=Lock)

    @classmethod
    def open(
        cls, path: str | os.PathLike[str], problem: SelectionProblem, settings: str
    ) -> Checkpoint:
        """Return the checkpoint at a path, with what an earlier run has put there."""
        found = cls(Path(path), problem, settings)
        if found.path.exists():
            found._read()
        else:
            found._write()  # if that cannot be done, better to know it now
        return found

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the numbers that a frontier depends on."""
        p = self.problem
        digest = hashlib.sha256()
        for part in p.data_parts():
            digest.update(part)
        scalars = (p.max_rules, p.gamma, p.fixed_in, p.fixed_out, self.settings)
        digest.update(repr(scalars).encode())
        if p.constraints is not None:
            digest.update(np.ascontiguousarray(p.constraints.A).tobytes())
            digest.update(np.ascontiguousarray(p.constraints.b).tobytes())
            digest.update(np.ascontiguousarray(p.constraints.groups).tobytes())
        if p.signs is not None:
            digest.update(np.asarray(p.signs).tobytes())
        return digest.hexdigest()

    def add(self, entry: FrontierPoint, cuts: Iterable[Cut] = ()) -> None:
        """Store one more point, and the cuts made at its floor; a reader never sees half a file."""
        if entry.floor in self.entries:  # a ladder that is climbed again
            return
        with self.lock:
            self.entries[entry.floor] = entry
            self.cuts[entry.floor] = [(np.flatnonzero(cut.z), cut.z[cut.z != 0.0]) for cut in cuts]
            self._write()

    def restore_cuts(self, floor: int, cuts: CutPool) -> None:
        """Add the cuts made at a floor to a pool, each the very same tangent as before."""
        for rules, z in self.cuts.get(floor, ()):
            if (z == 1.0).all():
                cuts.add(Cut.at_support(self.problem, rules))
            else:
                point = np.zeros(self.problem.m)
                point[rules] = z
                cuts.add(Cut.at_point(self.problem, point))

    def _write(self) -> None:
        content = {
            "format": FORMAT,
            "version": VERSION,
            "fingerprint": self.fingerprint,
            "entries": [entry_to_dict(each) for each in self.entries.values()],
            "cuts": [
                [{"rules": rules.tolist(), "z": z.tolist()} for rules, z in self.cuts[floor]]
                for floor in self.entries
            ],
        }
        write_checkpoint(self.path, content)

    def _read(self) -> None:
        text = read_checkpoint(self.path)
        content = parse(text, f"The checkpoint {self.path}", "remove it to start again")
        if content.get("fingerprint") != self.fingerprint:
            raise InvalidFile(
                f"The checkpoint {self.path} belongs to another problem or other settings; remove "
                "it or choose another path."
            )
        with damage_is(f"The checkpoint {self.path} is damaged", "remove it to start again"):
            entries = [self._checked(entry_from_dict(entry)) for entry in content["entries"]]
            self.entries = {entry.floor: entry for entry in entries}
            made = [
                [_point_of_cut(cut, self.problem.m) for cut in each] for each in content["cuts"]
            ]
            self.cuts = dict(zip(self.entries, made, strict=True))

    def _checked(self, entry: FrontierPoint) -> FrontierPoint:
        """Refuse a point that the problem contradicts: a run that believed it would go astray."""
        problem, told = self.problem.at(entry.floor), entry.solution
        # Without limits there is a selection at any floor.
        missing = not told.has_selection and problem.constraints is None
        if missing or not told.verify(problem, quick=True).passed:
            raise ValueError(f"the point at floor {entry.floor} is none of the problem")
        return entry


def _point_of_cut(content: Mapping[str, Any], m: int) -> Point:
    rules, z = read_positions(content["rules"]), read_numbers(content["z"])
    inside = len(rules) == len(z) and rules.max(initial=0) < m
    if not inside or not ((z > 0.0) & (z <= 1.0)).all():
        raise ValueError("a cut is not at a point of the problem")
    return rules, z
