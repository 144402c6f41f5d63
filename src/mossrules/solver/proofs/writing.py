"""Turn what searches have recorded into a file that `checking` can check; see docs/proofs.md.

A tree is written from the top down, a node's child with the rule in before that with it out, so
that a checker needs no more memory than the depth of the tree. The record has nodes in the order in
which the search made them. Those below a node that alone proves the claim are left out.
"""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from mossrules._typing import AnyArray, FloatArray, IntArray
from mossrules.exceptions import InvalidParameter
from mossrules.solver.kernels.log import EMPTY, HEAD, POINT, SELECTION
from mossrules.solver.kernels.state import NOBODY
from mossrules.solver.problems.selection import SelectionProblem
from mossrules.solver.problems.squared import Problem
from mossrules.solver.proofs import checking
from mossrules.solver.proofs.reading import MAGIC
from mossrules.solver.proofs.recording import Branching, Point, Recorder, TreeLog

__all__ = ["Proven", "problem_arrays", "problem_header", "proof_bytes", "refuse_unprovable"]

NOTHING = bytes([checking.EMPTY])
BLOCK = 1 << 16  # bytes that are compressed at once


class Proven(NamedTuple):
    """A claim with the record that proves it."""

    problem: SelectionProblem  # as it was asked for
    recorder: Recorder
    bound: float
    support: IntArray
    weights: FloatArray


def proof_bytes(claims: Sequence[Proven], names: Sequence[str] | None = None) -> bytes:
    """Return the file that proves claims about one problem at one or more floors."""
    out = _Gzip()
    kept = np.unique(np.concatenate([claim.recorder.kept for claim in claims]))
    out.write(MAGIC)
    _write_problem(out, claims[0], kept, names)
    records = 0
    for claim in claims:
        out.write(b"P")
        out.text(
            {
                "min_stability": claim.problem.min_stability,
                "bound": claim.bound,
                "support": claim.support.tolist(),
                "weights": claim.weights.tolist(),
                "duplicates": _duplicates(claim.recorder, kept),
            }
        )
        for record in _records(claim.recorder, claim.bound, kept):
            out.write(record)
            records += 1
    out.write(b"E" + struct.pack("<Q", records))
    return out.finish()


class _Gzip:
    """A gzip file that is made in memory, without a time in it."""

    def __init__(self) -> None:
        # Weights are random digits, of which more effort makes next to nothing.
        self.seal = hashlib.sha256()
        self.compressor = zlib.compressobj(1, zlib.DEFLATED, 31, 9, zlib.Z_RLE)
        self.parts: list[bytes] = []
        self.waiting: list[bytes] = []
        self.size = 0

    def write(self, data: bytes) -> None:
        self.waiting.append(data)
        self.size += len(data)
        if self.size > BLOCK:
            self._compress()

    def _compress(self) -> None:
        data = b"".join(self.waiting)
        self.seal.update(data)
        self.parts.append(self.compressor.compress(data))
        self.waiting, self.size = [], 0

    def text(self, value: Any) -> None:
        data = json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
        self.write(struct.pack("<I", len(data)) + data)

    def finish(self) -> bytes:
        self._compress()
        self.write(self.seal.digest())
        self._compress()
        return b"".join([*self.parts, self.compressor.flush()])


# --- the problem --------------------------------------------------------------------------------


def _write_problem(out: _Gzip, claim: Proven, kept: IntArray, names: Sequence[str] | None) -> None:
    asked = claim.problem
    arrays = problem_arrays(asked, kept) | {
        "shift": np.full(len(kept), claim.recorder.shift).astype("<f8")
    }
    order = ("counts", "kept", "A", "b", "in_group", "signs", "q", "shift", "G")
    data = {name: np.ascontiguousarray(arrays[name]).tobytes() for name in order}
    header = problem_header(asked, kept)
    header["hashes"] = {name: hashlib.sha256(data[name]).hexdigest() for name in order}
    if names is not None:
        header["names"] = [names[i] for i in kept]
    out.text(header)
    for name in order:
        out.write(data[name])


def refuse_unprovable(problem: SelectionProblem) -> None:
    """Say that there are no proofs of a problem."""
    if not isinstance(problem, Problem):
        raise InvalidParameter("A proof can be of the squared loss only.")


def problem_header(asked: SelectionProblem, kept: IntArray) -> dict[str, Any]:
    """Return what a file says of a problem beside its arrays, floors and hashes."""
    assert isinstance(asked, Problem)  # noqa: S101  tells mypy what recorders are of
    limits = asked.constraints
    return {
        "loss": "squared",
        "rules": asked.m,
        "kept": len(kept),
        "max_rules": asked.max_rules,
        "gamma": float(asked.gamma),
        "yy": float(asked.statistics.yy),
        "floor": asked.floor,
        "fixed_in": list(asked.fixed_in),
        "fixed_out": list(asked.fixed_out),
        "approved": list(asked.approved),
        "min_approved": asked.min_approved,
        "limits": 0 if limits is None else len(limits.b),
        "groups": 0 if limits is None else len(limits.groups),
    }


def problem_arrays(asked: SelectionProblem, kept: IntArray) -> dict[str, AnyArray]:
    """Return the arrays of a file that are the problem's own."""
    assert isinstance(asked, Problem)  # noqa: S101  tells mypy what recorders are of
    data, limits, n = asked.statistics, asked.constraints, len(kept)
    signs = np.zeros(asked.m) if asked.signs is None else asked.signs
    G = data.G[np.ix_(kept, kept)]
    A, b, groups = np.zeros((0, n)), np.zeros(0), np.zeros((0, n), dtype=bool)
    if limits is not None:
        A = np.hstack([limits.of_rules[:, kept], limits.of_groups])
        b, groups = limits.maximum, limits.groups[:, kept]
    return {
        "counts": asked.counts.astype("<i8"),
        "kept": kept.astype("<u4"),
        "A": A.astype("<f8"),
        "b": b.astype("<f8"),
        "in_group": groups.astype("u1"),
        "signs": signs[kept].astype("i1"),
        "q": data.q[kept].astype("<f8"),
        "G": (0.5 * (G + G.T))[np.triu_indices(n)].astype("<f8"),
    }


def _duplicates(recorder: Recorder, kept: IntArray) -> list[list[int]]:
    """Return each rule with the next one of the same column, the more frequent first."""
    problem, pairs = recorder.problem, list[list[int]]()
    counts, decided = problem.counts[kept], {*problem.fixed_in, *problem.fixed_out}
    last: dict[int, int] = {}
    for place in np.argsort(-counts, kind="stable").tolist():
        rule = int(kept[place])
        if rule in decided:
            continue
        own = int(recorder.classes[rule])
        if own in last:
            pairs.append([last[own], place])
        last[own] = place
    return pairs


# --- a tree -------------------------------------------------------------------------------------


def _records(recorder: Recorder, bound: float, kept: IntArray) -> Iterator[bytes]:
    """Yield the records of the tree that proves a bound."""
    enough = bound + 0.5 * recorder.slack  # the rest is for the rounding of the checker
    yield from _node(recorder.root, enough, kept)


def _node(node: Branching, enough: float, kept: IntArray) -> Iterator[bytes]:
    """Yield the records of a node and all below it."""
    for point in node.points:
        if point.bound >= enough:
            yield _point(checking.LEAF, point, kept)
            return
        yield _point(checking.STEP, point, kept)
    if node.only is not None:
        yield _point(checking.LEAF, node.only, kept)
    elif node.log is None or not node.log.parts:
        yield NOTHING
    else:
        yield from _Log(node.log, kept).records(enough)


def _point(kind: int, point: Point, kept: IntArray) -> bytes:
    # Rounding may leave prices just below 0.
    prices = max(0.0, point.lam), max(0.0, point.mu)
    own = np.flatnonzero(np.isin(point.rules, kept))
    order = own[np.argsort(point.rules[own], kind="stable")]
    return _pack(kind, *prices, np.searchsorted(kept, point.rules[order]), point.weights[order])


def _pack(kind: int, lam: float, mu: float, places: AnyArray, weights: AnyArray) -> bytes:
    head = struct.pack("<BddI", kind, lam, mu, len(places))
    return head + places.astype("<u4").tobytes() + weights.astype("<f8").tobytes()


class _Log:
    """The log of a search, entry by entry, and who goes on from whom."""

    def __init__(self, log: TreeLog, kept: IntArray) -> None:
        numbers = np.concatenate(log.parts)
        starts, at, size = list[int](), 0, len(numbers)
        lengths = numbers[HEAD - 1 :]
        while at < size:
            starts.append(at)
            at += HEAD + 2 * int(lengths[at])
        heads = np.array(starts)
        n = lengths[heads].astype(np.int64)
        ends = np.cumsum(n)
        # All rules and weights at once: by entry, NumPy would take most of the time of a proof.
        at_rule = np.arange(int(ends[-1])) + np.repeat(heads + HEAD - ends + n, n)
        rules = numbers[at_rule].astype(np.int64)
        weights = numbers[at_rule + np.repeat(n, n)] * log.flip[rules]
        places, in_file = np.searchsorted(kept, log.rules), np.isin(log.rules, kept)
        if not in_file.all():  # blanks are in no file: nothing depends on their weights
            own = in_file[rules]
            rules, weights = rules[own], weights[own]
            ends = np.append(0, np.cumsum(own))[ends]
        self.ends: list[int] = np.append(0, ends).tolist()
        self.places = places.tolist()
        self.rules: bytes = places[rules].astype("<u4").tobytes()
        self.weights: bytes = weights.astype("<f8").tobytes()
        self.labels, parents, self.rule, self.side, self.kind = (
            numbers[heads + place].astype(np.int64).tolist() for place in range(5)
        )
        self.bound, lam, mu = (numbers[heads + place].tolist() for place in (5, 6, 7))
        self.prices = list(zip(lam, mu, strict=True))
        self.below: dict[int, list[int]] = {}  # entries by the label of their parent
        for entry, parent in enumerate(parents):
            self.below.setdefault(parent, []).append(entry)

    def records(self, enough: float) -> Iterator[bytes]:
        """Yield the records of all that is below the node with the label 0."""
        waiting = [-1]  # entries, the next one last; -1 is for the beginning
        while waiting:
            entry, label = waiting.pop(), 0
            if entry >= 0:
                label, kind = self.labels[entry], self.kind[entry]
                if kind == EMPTY:
                    yield NOTHING
                    continue
                closes = kind == SELECTION or self.bound[entry] >= enough
                yield self._point(entry, checking.LEAF if closes else checking.STEP)
                if closes:
                    continue
            below = self.below.get(label)
            if below is None:
                yield NOTHING
            elif self.rule[below[0]] == NOBODY:
                waiting.append(below[0])
            else:
                into, out = below if self.side[below[0]] else below[::-1]
                yield struct.pack("<BI", checking.BRANCH, self.places[self.rule[into]])
                waiting += [out, into]

    def _point(self, entry: int, kind: int) -> bytes:
        # With all rules decided, prices are of no use.
        lam, mu = self.prices[entry] if self.kind[entry] == POINT else (0.0, 0.0)
        start, end = self.ends[entry], self.ends[entry + 1]
        head = struct.pack("<BddI", kind, max(0.0, lam), max(0.0, mu), end - start)
        return head + self.rules[4 * start : 4 * end] + self.weights[8 * start : 8 * end]
