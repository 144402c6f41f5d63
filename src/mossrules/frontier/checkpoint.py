"""The checkpoint of a run over many floors: its points, and the cuts made on the way.

It belongs to one problem, one method and one list of floors: a run that goes on from it ends with
what one that was never stopped finds, bit for bit. So cuts are kept too, as what the cutting plane
finds within a gap depends on the cuts that there are.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from mossrules._common import cached_property
from mossrules._typing import FloatArray, IntArray
from mossrules.checkpoint import CheckpointFile
from mossrules.frontier.points import (
    FORMAT,
    VERSION,
    FrontierPoint,
    point_from_dict,
    point_to_dict,
    read_numbers,
    read_positions,
)
from mossrules.solver.bounds.duality import Cut
from mossrules.solver.cutting_plane.loop import CutPool
from mossrules.solver.problems.selection import SelectionProblem

__all__ = ["Checkpoint"]

Point = tuple[IntArray, FloatArray]  # of [0, 1]^m: the rules that are not at 0, and where they are


@dataclass
class Checkpoint:
    """What a run has finished so far, in memory and on disk."""

    file: CheckpointFile
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
        checkpoint = cls(CheckpointFile(Path(path), FORMAT, VERSION), problem, settings)
        if checkpoint.file.path.exists():
            checkpoint._read()
        else:
            checkpoint._write()  # if that cannot be done, better to know it now
        return checkpoint

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all that a frontier depends on; limits on time only decide how far it gets."""
        p = self.problem
        # Not `min_stability`: each floor of the run takes its place.
        digest = hashlib.sha256()
        for part in p.data_parts():
            digest.update(part)
        scalars = (p.max_rules, p.gamma, p.fixed_in, p.fixed_out, self.settings)
        digest.update(repr(scalars).encode())
        if p.constraints is not None:
            digest.update(np.ascontiguousarray(p.constraints.A).tobytes())
            digest.update(np.ascontiguousarray(p.constraints.b).tobytes())
            digest.update(np.ascontiguousarray(p.constraints.groups).tobytes())
        if p.floor != "sum":  # of older checkpoints it is
            digest.update(p.floor.encode())
        if p.approved:
            digest.update(repr((p.approved, p.min_approved)).encode())
        if p.signs is not None:
            digest.update(np.asarray(p.signs).tobytes())
        return digest.hexdigest()

    def add(self, entry: FrontierPoint, cuts: Iterable[Cut] = ()) -> None:
        """Store one more point, and the cuts made at its floor; a reader never sees half a file."""
        if entry.floor in self.entries:  # a group of floors that is solved again as a whole
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
        self.file.write({
            "fingerprint": self.fingerprint,
            "entries": [point_to_dict(entry) for entry in self.entries.values()],
            "cuts": [
                [{"rules": rules.tolist(), "z": z.tolist()} for rules, z in self.cuts[floor]]
                for floor in self.entries
            ],
        })  # fmt: skip

    def _read(self) -> None:
        other = "another problem or other settings"
        content = self.file.read_own("fingerprint", self.fingerprint, other)
        with self.file.refuse_damage():
            entries = [self._checked(point_from_dict(entry)) for entry in content["entries"]]
            self.entries = {entry.floor: entry for entry in entries}
            cuts = [[_read_cut(cut, self.problem.m) for cut in made] for made in content["cuts"]]
            self.cuts = dict(zip(self.entries, cuts, strict=True))

    def _checked(self, entry: FrontierPoint) -> FrontierPoint:
        """Refuse a point that the problem contradicts: a run that believed it would go astray."""
        problem, solution = self.problem.at(entry.floor), entry.solution
        # Without limits there is a selection at any floor.
        missing = not solution.has_selection and problem.constraints is None
        if missing or not solution.verify(problem, quick=True).passed:
            raise ValueError(f"the point at floor {entry.floor} is not of this problem")
        return entry


def _read_cut(content: Mapping[str, Any], m: int) -> Point:
    rules, z = read_positions(content["rules"]), read_numbers(content["z"])
    inside = len(rules) == len(z) and rules.max(initial=0) < m
    if not inside or not ((z > 0.0) & (z <= 1.0)).all():
        raise ValueError("a cut is not at a point of the problem")
    return rules, z
