"""Frontiers as JSON: to keep one, and to go on with a run that was cut short.

Numbers survive the round trip bit for bit. Whatever is wrong with a file, reading it raises
`InvalidFile` and nothing else.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from mossrules._typing import FloatArray, IntArray
from mossrules.exceptions import InvalidFile
from mossrules.frontier.result import Frontier, FrontierPoint
from mossrules.solver.cutting_plane import Cut, CutPool
from mossrules.solver.problem import Problem
from mossrules.solver.result import Report, Solution, Status
from mossrules.solver.verification import DualPoint

__all__ = ["Checkpoint", "frontier_from_json", "frontier_to_json"]

FORMAT, VERSION = "mossrules frontier", 1
Point = tuple[IntArray, FloatArray]  # of [0, 1]^m: the rules that are not at 0, and where they are
SCALARS = ("largest_stability", "null_loss", "max_rules", "gamma", "complete", "seconds")


def frontier_to_json(frontier: Frontier) -> str:
    """Return a frontier as text."""
    content: dict[str, Any] = {"format": FORMAT, "version": VERSION}
    content |= {name: getattr(frontier, name) for name in SCALARS}
    content["entries"] = [_entry_to_dict(entry) for entry in frontier.entries]
    return json.dumps(_strict(content), allow_nan=False)


def frontier_from_json(text: str) -> Frontier:
    """Return the frontier of a text, or say what is wrong with it."""
    content = _parse(text)
    with _damage_is("The frontier cannot be read", "write it again with Frontier.to_json"):
        entries = tuple(_entry_from_dict(entry) for entry in content["entries"])
        return Frontier(
            entries=entries,
            largest_stability=int(content["largest_stability"]),
            null_loss=float(content["null_loss"]),
            max_rules=int(content["max_rules"]),
            gamma=float(content["gamma"]),
            complete=bool(content["complete"]),
            seconds=float(content["seconds"]),
        )


def _parse(text: str) -> Mapping[str, Any]:
    try:
        content = json.loads(text)
    except (TypeError, ValueError, RecursionError) as reason:
        raise InvalidFile("The text is not JSON; pass what Frontier.to_json returned.") from reason
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InvalidFile(
            "The JSON is not a mossrules frontier; pass what Frontier.to_json returned."
        )
    if content.get("version") != VERSION:
        raise InvalidFile(
            f"The frontier has format version {content.get('version')!r} and this release reads "
            f"version {VERSION}; use the release that wrote it."
        )
    return content


@contextmanager
def _damage_is(what: str, remedy: str) -> Iterator[None]:
    """Turn what goes wrong with fields that are missing or of another kind into one sentence."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as reason:
        brief = f"{type(reason).__name__}: {str(reason)[:100]}"
        raise InvalidFile(f"{what} ({brief}); {remedy}.") from reason


# --- solutions ----------------------------------------------------------------------------------


def _entry_to_dict(entry: FrontierPoint) -> dict[str, Any]:
    solution, dual = entry.solution, entry.solution.dual
    return {
        "floor": int(entry.floor),
        "reused": entry.reused,
        "support": solution.support.tolist(),
        "weights": solution.weights.tolist(),
        "loss": solution.loss,
        "stability": int(solution.stability),
        "bound": solution.bound,
        "status": solution.status.name,
        "report": {**asdict(solution.report), "figures": dict(solution.report.figures)},
        "dual": None if dual is None else {
            "rules": dual.rules.tolist(),
            "weights": dual.weights.tolist(),
            "lam": dual.lam,
            "mu": dual.mu,
            "bound": dual.bound,
            "fixed_in": dual.fixed_in.tolist(),
            "fixed_out": dual.fixed_out.tolist(),
        },
    }  # fmt: skip


def _entry_from_dict(content: Mapping[str, Any]) -> FrontierPoint:
    report, dual = content["report"], content["dual"]
    solution = Solution(
        support=_integers(content["support"]),
        weights=_floats(content["weights"]),
        loss=float(content["loss"]),
        stability=int(content["stability"]),
        bound=float(content["bound"]),
        status=Status[content["status"]],
        report=Report(
            method=str(report["method"]),
            reason=str(report["reason"]),
            seconds=float(report["seconds"]),
            asked_gap=float(report["asked_gap"]),
            figures={str(name): _number(value) for name, value in report["figures"].items()},
        ),
        dual=None if dual is None else DualPoint(
            rules=_integers(dual["rules"]),
            weights=_floats(dual["weights"]),
            lam=float(dual["lam"]),
            mu=float(dual["mu"]),
            bound=float(dual["bound"]),
            fixed_in=_integers(dual["fixed_in"]),
            fixed_out=_integers(dual["fixed_out"]),
        ),
    )  # fmt: skip
    if len(solution.support) != len(solution.weights):
        raise ValueError("a solution has another number of weights than rules")
    return FrontierPoint(int(content["floor"]), solution, bool(content["reused"]))


def _point_of_cut(content: Mapping[str, Any], m: int) -> Point:
    rules, z = _integers(content["rules"]), _floats(content["z"])
    if len(rules) != len(z) or rules.max(initial=0) >= m:
        raise ValueError("a cut is not at a point of the problem")
    return rules, z


def _strict(content: Any) -> Any:
    """Return content with text in place of NaN and infinities, which are no JSON."""
    if isinstance(content, dict):
        return {name: _strict(value) for name, value in content.items()}
    if isinstance(content, list):
        return [_strict(value) for value in content]
    return str(content) if isinstance(content, float) and not math.isfinite(content) else content


def _number(value: Any) -> float:
    if value in ("nan", "inf", "-inf"):
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("a figure is not a number")
    return value


def _integers(values: Any) -> Any:
    found = np.array(values or [], dtype=np.float64)
    if found.ndim != 1 or (found != np.floor(found)).any() or (found < 0).any():
        raise ValueError("positions must be integers that are not negative")
    return found.astype(np.int64)


def _floats(values: Any) -> Any:
    found = np.array(values or [], dtype=np.float64)
    if found.ndim != 1:
        raise ValueError("weights must be a list of numbers")
    return found


# --- checkpoints --------------------------------------------------------------------------------


@dataclass
class Checkpoint:
    """A file that holds what a run has finished; it belongs to one problem and one way to solve."""

    path: Path
    problem: Problem
    settings: str
    entries: dict[int, FrontierPoint] = field(default_factory=dict)  # by floor
    cuts: dict[int, list[Point]] = field(default_factory=dict)  # where they were made, by floor
    lock: Lock = field(default_factory=Lock)

    @classmethod
    def open(cls, path: str | os.PathLike[str], problem: Problem, settings: str) -> Checkpoint:
        """Return the checkpoint at a path, with what an earlier run has put there."""
        found = cls(Path(path), problem, settings)
        if found.path.exists():
            found._read()
        return found

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the numbers that a frontier depends on."""
        s, p = self.problem.statistics, self.problem
        digest = hashlib.sha256()
        for array in (s.G, s.q, s.counts):
            digest.update(np.ascontiguousarray(array).tobytes())
        scalars = (s.yy, p.max_rules, p.gamma, p.fixed_in, p.fixed_out, self.settings)
        digest.update(repr(scalars).encode())
        if p.constraints is not None:
            digest.update(np.ascontiguousarray(p.constraints.A).tobytes())
            digest.update(np.ascontiguousarray(p.constraints.b).tobytes())
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
            "entries": [_entry_to_dict(each) for each in self.entries.values()],
            "cuts": [
                [{"rules": rules.tolist(), "z": z.tolist()} for rules, z in self.cuts[floor]]
                for floor in self.entries
            ],
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # Always the same name: what a killed process leaves behind, the next one writes over.
        temporary = self.path.with_name(f"{self.path.name}.tmp")
        try:
            with temporary.open("w", encoding="utf-8") as file:
                json.dump(_strict(content), file, allow_nan=False)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self.path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise

    def _read(self) -> None:
        try:
            text = self.path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as reason:
            raise InvalidFile(f"The checkpoint {self.path} cannot be read: {reason}.") from reason
        content = _parse(text)
        if content.get("fingerprint") != self.fingerprint:
            raise InvalidFile(
                f"The checkpoint {self.path} belongs to another problem or other settings; remove "
                "it or choose another path."
            )
        with _damage_is(f"The checkpoint {self.path} is damaged", "remove it to start again"):
            entries = [_entry_from_dict(entry) for entry in content["entries"]]
            self.entries = {entry.floor: entry for entry in entries}
            made = [
                [_point_of_cut(cut, self.problem.m) for cut in each] for each in content["cuts"]
            ]
            self.cuts = dict(zip(self.entries, made, strict=True))
