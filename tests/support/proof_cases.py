"""Proofs as lists of parts that tests can damage, and problems to prove something of."""

import gzip
import hashlib
import json
import struct
from dataclasses import replace

import numpy as np

from mossrules.solver import Options, Problem, solve
from mossrules.solver.proofs.checking import BRANCH, GROUP, LEAF, PRICES, STEP
from mossrules.solver.proofs.reading import MAGIC
from support.each_floor_cases import squared_each
from support.oracles import random_problem

ARRAYS = ("counts", "kept", "A", "b", "in_group", "signs", "q", "shift", "G")
SIZES = {"counts": 8, "kept": 4, "A": 8, "b": 8, "in_group": 1, "signs": 1, "q": 8, "shift": 8}


def provable(seed: int) -> Problem:
    """Return a small random problem: either floor, with signs or without, some columns equal."""
    rng = np.random.default_rng(seed)
    if seed % 3 == 0:
        return squared_each(seed, limited=False)
    problem = random_problem(seed)
    m = problem.m
    if seed % 3 == 1 and m > 2:  # the same column twice, and counts that differ
        data, twice = problem.statistics, np.arange(m)
        twice[m - 1] = 0
        same = replace(data, G=data.G[np.ix_(twice, twice)], q=data.q[twice])
        problem = replace(problem, statistics=same, fixed_in=(), fixed_out=(), min_stability=0)
        problem = problem.at(int(rng.uniform(0, 1) * problem.max_stability))
    signs = rng.integers(-1, 2, m) if seed % 2 else None
    return replace(problem, signs=signs)


def write(problem, path, gap=0.0, **options):
    """Return the solution whose proof is written."""
    return solve(problem, "branch-and-bound", Options(gap=gap, proof=path, **options))


class Parts:
    """A file taken apart: its header, arrays, one claim and the records of its tree."""

    def __init__(self, path):
        self.data, self.at = gzip.decompress(path.read_bytes()), len(MAGIC)
        self.header = self.text()
        n, r, g = (self.header[name] for name in ("kept", "limits", "groups"))
        lengths = {
            "counts": self.header["rules"], "A": r * (n + g), "b": r, "in_group": g * n,
            "G": n * (n + 1) // 2,
        }  # fmt: skip
        self.arrays = {
            name: self.take(lengths.get(name, n) * SIZES.get(name, 8)) for name in ARRAYS
        }
        assert self.take(1) == b"P"
        self.claim = self.text()
        self.records = []
        while self.data[self.at : self.at + 1] != b"E":
            self.records.append(self.record())

    def take(self, size):
        """Return the next bytes."""
        self.at += size
        return self.data[self.at - size : self.at]

    def text(self):
        """Return the next JSON object."""
        return json.loads(self.take(struct.unpack("<I", self.take(4))[0]))

    def record(self):
        """Return the next record, whole."""
        kind = self.take(1)
        if kind[0] in (LEAF, STEP):
            head = self.take(20)
            return kind + head + self.take(12 * struct.unpack("<I", head[16:])[0])
        if kind[0] in (BRANCH, GROUP):
            return kind + self.take(4)
        return kind + (self.take(8 * self.header["limits"]) if kind[0] == PRICES else b"")

    def write(self, path, *, hashes=True, seal=True, records=None):
        """Write the parts as a file again, with hashes that are right unless told otherwise."""
        if hashes:
            self.header["hashes"] = {
                name: hashlib.sha256(data).hexdigest() for name, data in self.arrays.items()
            }
        texts = [json.dumps(each).encode() for each in (self.header, self.claim)]
        head, claim = (struct.pack("<I", len(text)) + text for text in texts)
        n = len(self.records) if records is None else records
        body = [MAGIC, head, *self.arrays.values(), b"P", claim, *self.records]
        whole = b"".join([*body, b"E", struct.pack("<Q", n)])
        end = hashlib.sha256(whole).digest() if seal else self.data[-32:]
        path.write_bytes(gzip.compress(whole + end, 1))
        return path
