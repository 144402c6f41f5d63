"""What proofs in files cost, and what damage does to them: `python -m research.studies.proofs`.

For each of the paper's thirty tables (at most `--rows` of their rows) the default fit is solved
without and with a proof, and the proof is checked: in floats, by the second checker where node is
installed, and in rational numbers where the tree is small enough. Ten of the tables get frontiers
of both kinds of floor. Then proofs are damaged at random, `--mutations` times.

A damaged proof that is refused does no harm, and neither does one that is accepted with a claim of
no more than the loss of a rule set that is known and the claim that was there before: that is
proven already. One that claims more than a known loss is wrong for certain. What lies in between
is checked again in rational numbers, which stands on its own.

Seconds are those of the processor. The page is docs/results/proofs/results.md.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import shutil
import struct
import subprocess
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from mossrules import MossRegressor
from mossrules.frontier import solve_frontier
from mossrules.solver import Options, Problem, ProofRefused, check_proof, solve
from mossrules.solver.proofs.checking import BRANCH, EMPTY, GROUP, LEAF, PRICES, STEP
from mossrules.solver.proofs.reading import MAGIC
from research.harness.clone import DATA
from research.trust.tables import NUMBERS, load

ROOT = Path(__file__).parents[2]
CHECKER = ROOT / "tests" / "support" / "proof_checker.js"
PAGE = ROOT / "docs" / "results" / "proofs" / "results.md"
REPEATS = 3  # of which the fastest counts
MOST_EXACT = 300  # records that are checked in rational numbers
FRONTIERS = 10  # tables with a frontier of each kind of floor
SMALL = 40  # records of proofs that are damaged
EVERY = 10  # of the damaged proofs that the second checker sees
SHARES = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5)
ARRAYS = ("counts", "kept", "A", "b", "in_group", "signs", "q", "shift", "G")


def seconds_of(work: Callable[[], Any], repeats: int = 1) -> tuple[Any, float]:
    """Return what some work gives, and the processor's seconds of the fastest run."""
    least, result = np.inf, None
    for _ in range(repeats):
        start = time.process_time()
        result = work()
        least = min(least, time.process_time() - start)
    return result, least


# --- default fits -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A table's problem, its proof, and what both cost."""

    name: str
    problem: Problem
    path: Path
    nodes: int
    records: int
    fit: float
    plain: float
    proven: float
    check: float
    exact: float | None
    other: bool | None  # whether the second checker agrees
    gap: float


def default_fit(name: str, rows: int, data: Path, folder: Path) -> Case:
    """Return what the proof of a table's default fit costs."""
    table = load(name, rows, data)
    model, fit = seconds_of(lambda: MossRegressor(n_jobs=1).fit(table.X, table.y))
    problem, path = model.problem_, folder / f"{name}.gz"
    plain, without = seconds_of(lambda: solve(problem), REPEATS)
    proven, seconds = seconds_of(lambda: solve(problem, options=Options(proof=path)), REPEATS)
    proof, check = seconds_of(lambda: check_proof(path, problem))
    records = proof.claims[0].records
    exact = None
    if records <= MOST_EXACT:
        exact = seconds_of(lambda: check_proof(path, problem, exact=True))[1]
    said = second_opinion([path])
    return Case(
        name=name,
        problem=problem,
        path=path,
        nodes=int(plain.report.counters["nodes"]),
        records=records,
        fit=fit,
        plain=without,
        proven=seconds,
        check=check,
        exact=exact,
        other=None if said is None else said == [[proven.bound]],
        gap=proven.gap,
    )


def second_opinion(paths: Sequence[Path]) -> list[Any] | None:
    """Return the bounds that the second checker says are proven, None where it refuses."""
    node = shutil.which("node")
    if node is None:
        return None
    said = subprocess.run(  # noqa: S603  our own program
        [node, CHECKER, *paths], check=True, capture_output=True, text=True
    )
    return [json.loads(line).get("bounds") for line in said.stdout.splitlines()]


def fit_lines(cases: Sequence[Case]) -> Iterator[str]:
    """Yield the table of default fits."""
    yield (
        "| table | rules | nodes | records | kB | fit | solve | with proof | more | check "
        "| in rationals | second checker |"
    )
    yield "|---" * 12 + "|"
    for case in cases:
        rules = check_header(case.path)["kept"]
        more = case.proven - case.plain
        yield (
            f"| {case.name} | {rules} | {case.nodes} | {case.records} "
            f"| {case.path.stat().st_size / 1e3:.0f} | {case.fit:.2f} | {case.plain:.4f} "
            f"| {case.proven:.4f} | {more:.4f} | {case.check:.3f} "
            f"| {'' if case.exact is None else f'{case.exact:.2f}'} "
            f"| {'' if case.other is None else 'agrees' if case.other else 'DISAGREES'} |"
        )
    plain, proven = (sum(getattr(case, name) for case in cases) for name in ("plain", "proven"))
    size = sum(case.path.stat().st_size for case in cases) / 1e6
    exact = [case for case in cases if case.exact is not None]
    yield ""
    yield (
        f"All {len(cases)} together: {sum(case.records for case in cases):,} records, {size:.1f} "
        f"MB; solving takes {plain:.2f} s without proofs and {proven:.2f} s with them "
        f"({proven / plain - 1:.0%} more; {(proven - plain) / sum(c.fit for c in cases):.1%} of "
        f"the fits), checking {sum(case.check for case in cases):.2f} s. {len(exact)} were checked "
        f"in rational numbers too, in {sum(case.exact or 0.0 for case in exact):.1f} s."
    )


def check_header(path: Path) -> dict[str, Any]:
    """Return the header of a proof."""
    return Parts(path).header


# --- frontiers ----------------------------------------------------------------------------------


def frontier_lines(cases: Sequence[Case], folder: Path) -> Iterator[str]:
    """Yield the table of frontiers, of each kind of floor."""
    yield "| table | floor | points | solve | proof | records | kB | check | second checker |"
    yield "|---" * 9 + "|"
    for case in cases[:FRONTIERS]:
        for floor in ("each", "sum"):
            problem = case.problem.with_floor("each" if floor == "each" else "sum")
            floors = sorted({int(share * problem.max_stability) for share in SHARES}, reverse=True)
            options, path = Options(gap=0.01, time_limit=5.0), folder / "frontier.gz"
            frontier, plain = seconds_of(
                lambda: solve_frontier(problem, floors, options=options)  # noqa: B023
            )
            proven, more = seconds_of(lambda: frontier.proof(path, problem))  # noqa: B023
            proof, check = seconds_of(lambda: check_proof(path, problem))  # noqa: B023
            bounds = [entry.solution.bound for entry in proven.entries]
            assert [claim.bound for claim in proof.claims] == bounds  # noqa: S101
            said = second_opinion([path])
            other = "" if said is None else "agrees" if said == [bounds] else "DISAGREES"
            yield (
                f"| {case.name} | {floor} | {len(bounds)} | {plain:.3f} | {more:.3f} "
                f"| {sum(claim.records for claim in proof.claims)} "
                f"| {path.stat().st_size / 1e3:.0f} | {check:.3f} | {other} |"
            )


# --- damage -------------------------------------------------------------------------------------


class Parts:
    """A file taken apart: header, arrays, one claim and the records of its tree."""

    def __init__(self, path: Path) -> None:
        self.data, self.at = gzip.decompress(path.read_bytes()), len(MAGIC)
        self.header = self.text()
        n, r, g = (self.header[name] for name in ("kept", "limits", "groups"))
        lengths = {"counts": self.header["rules"], "A": r * (n + g), "b": r, "in_group": g * n,
                   "G": n * (n + 1) // 2}  # fmt: skip
        widths = {"kept": 4, "in_group": 1, "signs": 1}
        self.arrays = {
            name: self.take(lengths.get(name, n) * widths.get(name, 8)) for name in ARRAYS
        }
        self.take(1)
        self.claim = self.text()
        self.records: list[bytes] = []
        while self.data[self.at : self.at + 1] != b"E":
            self.records.append(self.record())

    def take(self, size: int) -> bytes:
        """Return the next bytes."""
        self.at += size
        return self.data[self.at - size : self.at]

    def text(self) -> Any:
        """Return the next JSON object."""
        return json.loads(self.take(struct.unpack("<I", self.take(4))[0]))

    def record(self) -> bytes:
        """Return the next record."""
        kind = self.take(1)
        if kind[0] in (LEAF, STEP):
            head = self.take(20)
            return kind + head + self.take(12 * struct.unpack("<I", head[16:])[0])
        if kind[0] in (BRANCH, GROUP):
            return kind + self.take(4)
        return kind + (self.take(8 * self.header["limits"]) if kind[0] == PRICES else b"")

    def write(self, path: Path) -> Path:
        """Write the file again, with hashes and seal made anew."""
        hashes = {name: hashlib.sha256(data).hexdigest() for name, data in self.arrays.items()}
        texts = [
            json.dumps(each).encode() for each in ({**self.header, "hashes": hashes}, self.claim)
        ]
        head, claim = (struct.pack("<I", len(text)) + text for text in texts)
        body = [MAGIC, head, *self.arrays.values(), b"P", claim, *self.records, b"E"]
        whole = b"".join([*body, struct.pack("<Q", len(self.records))])
        path.write_bytes(gzip.compress(whole + hashlib.sha256(whole).digest(), 1))
        return path


def damage(parts: Parts, rng: np.random.Generator) -> str:
    """Change one thing of a proof, and return what."""
    kind = str(rng.choice([*OF_TREES, *OF_POINTS, *OF_PROBLEMS]))
    change = _tree if kind in OF_TREES else _point if kind in OF_POINTS else _problem
    change(parts, kind, rng)
    return kind


OF_TREES = (
    "record removed", "record repeated", "records exchanged", "record emptied", "branch changed",
    "bit flipped",
)  # fmt: skip
OF_POINTS = ("prices changed", "weights scaled", "weight changed")
OF_PROBLEMS = (
    "claim raised", "count changed", "G changed", "q changed", "header changed", "floor changed",
)  # fmt: skip


def _tree(parts: Parts, kind: str, rng: np.random.Generator) -> None:
    records = parts.records
    i, j = rng.integers(len(records), size=2)
    if kind == "record removed":
        del records[i]
    elif kind == "record repeated":
        records.insert(i, records[j])
    elif kind == "records exchanged":
        records[i], records[j] = records[j], records[i]
    elif kind == "record emptied":
        records[i] = bytes([EMPTY])
    elif kind == "branch changed":
        branches = [n for n, record in enumerate(records) if record[0] == BRANCH] or [int(i)]
        place = int(rng.integers(parts.header["kept"]))
        records[branches[rng.integers(len(branches))]] = struct.pack("<BI", BRANCH, place)
    else:
        record = bytearray(records[i])
        record[rng.integers(len(record))] ^= 1 << rng.integers(8)
        records[i] = bytes(record)


def _point(parts: Parts, kind: str, rng: np.random.Generator) -> None:
    points = [n for n, record in enumerate(parts.records) if record[0] in (LEAF, STEP)]
    at = points[rng.integers(len(points))]
    record = parts.records[at]
    n = struct.unpack("<I", record[17:21])[0]
    prices = np.frombuffer(record[1:17], "<f8")
    weights = np.frombuffer(record[21 + 4 * n :], "<f8").copy()
    if kind == "prices changed":
        prices = prices * 10.0 ** rng.uniform(-2, 2, 2)
    elif n:
        which = slice(None) if kind == "weights scaled" else rng.integers(n)
        weights[which] *= rng.choice([-1.0, 0.0, 1e300, np.nan, rng.lognormal()])
    middle = record[17 : 21 + 4 * n]
    parts.records[at] = record[:1] + prices.tobytes() + middle + weights.tobytes()


def _problem(parts: Parts, kind: str, rng: np.random.Generator) -> None:
    if kind == "claim raised":
        parts.claim["bound"] *= 1.0 + 10.0 ** rng.uniform(-12, 0)
    elif kind == "floor changed":
        parts.claim["min_stability"] += int(rng.integers(-20, 40))
    elif kind == "header changed":
        name = str(rng.choice(["max_rules", "gamma", "yy", "min_approved", "kept", "rules"]))
        parts.header[name] = parts.header[name] * 2 + 1
    else:
        name, dtype = {"c": ("counts", "<i8"), "G": ("G", "<f8"), "q": ("q", "<f8")}[kind[0]]
        values = np.frombuffer(parts.arrays[name], dtype).copy()
        place = rng.integers(len(values))
        values[place] = values[place] * 2 + 1 if name == "counts" else 1.01 * values[place]
        parts.arrays[name] = values.tobytes()


def damage_lines(cases: Sequence[Case], mutations: int, folder: Path) -> Iterator[str]:
    """Yield the table of damage: what was refused, what was accepted and does no harm."""
    rng, tally = np.random.default_rng(0), dict[str, Counter[str]]()
    small = [case for case in cases if 1 < case.records <= SMALL] or list(cases)
    files: list[tuple[Path, list[float] | None]] = []
    disagree = n_compared = 0
    for number in range(mutations):
        case = small[number % len(small)]
        parts = Parts(case.path)
        before = parts.claim["bound"]
        kind = damage(parts, rng)
        path = parts.write(folder / f"damaged-{number % 200}.gz")
        outcome, bounds = judged(case, path, before)
        tally.setdefault(kind, Counter())[outcome] += 1
        if number % EVERY == 0:
            files.append((path, bounds))
        if len(files) == 20 or number + 1 == mutations:  # the second checker sees files alone
            said = second_opinion([path for path, _ in files])
            if said is not None:
                n_compared += len(said)
                disagree += sum(one != other for one, (_, other) in zip(said, files, strict=True))
            files.clear()
    outcomes = ("refused", "same or weaker claim", "more, and proven", "CLAIMS TOO MUCH")
    yield f"| damage | {' | '.join(outcomes)} |"
    yield "|---" * 5 + "|"
    for kind, counts in sorted(tally.items()):
        yield f"| {kind} | {' | '.join(str(counts[each]) for each in outcomes)} |"
    total = Counter[str]()
    for counts in tally.values():
        total.update(counts)
    yield f"| all | {' | '.join(str(total[each]) for each in outcomes)} |"
    yield ""
    yield (
        f"The second checker, which sees files and not the problem, was given {n_compared:,} of "
        f"these files and disagreed on {disagree}."
    )


def judged(case: Case, path: Path, before: float) -> tuple[str, list[float] | None]:
    """Return what a damaged proof is, of its problem, and what is proven of whatever it states."""
    try:
        alone = check_proof(path)
    except ProofRefused:
        return "refused", None
    bounds = [claim.bound for claim in alone.claims]
    try:
        (claim,) = check_proof(path, case.problem).claims
    except ProofRefused:
        return "refused", bounds  # it is of another problem
    if claim.bound <= before and claim.min_stability >= case.problem.min_stability:
        return "same or weaker claim", bounds
    here = case.problem.at(claim.min_stability)
    known = solve(here, options=Options(gap=1e-4))
    if claim.bound > known.loss:
        return "CLAIMS TOO MUCH", bounds
    check_proof(path, case.problem, exact=True)
    return "more, and proven", bounds


# --- the page -----------------------------------------------------------------------------------


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--mutations", type=int, default=10_000)
    parser.add_argument("--tables", default=",".join(NUMBERS))
    parser.add_argument("--page", type=Path, default=PAGE)
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of columns' names and the like
    lines = [
        "# What proofs cost",
        "",
        (
            f"By `python -m research.studies.proofs --rows {options.rows} --mutations "
            f"{options.mutations}`; see [proofs in files](../../proofs.md). Seconds are those of "
            "one processor, the fastest of some runs for solving."
        ),
    ]
    with TemporaryDirectory() as name:
        folder = Path(name)
        cases = []
        for table in options.tables.split(","):
            cases.append(default_fit(table, options.rows, options.data, folder))
            sys.stderr.write(f"{table}: {cases[-1].records} records\n")
        parts: list[tuple[str, Iterator[str]]] = [
            ("The default fits of the paper's tables", fit_lines(cases)),
            ("Frontiers, one file each", frontier_lines(cases, folder)),
            ("Damage", damage_lines(cases, options.mutations, folder)),
        ]
        options.page.parent.mkdir(parents=True, exist_ok=True)
        for title, body in parts:
            lines += ["", f"## {title}", ""]
            for line in body:
                lines.append(line)
                sys.stderr.write(f"{line}\n")
            options.page.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
