"""Proofs in files: what is written is proven, and what is damaged claims nothing that is wrong."""

import ast
import gzip
import json
import shutil
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest

from mossrules.exceptions import InvalidParameter
from mossrules.frontier import solve_frontier
from mossrules.solver import Options, ProofRefused, check_proof, solve
from mossrules.solver.proofs import checking
from mossrules.solver.proofs.checking import BRANCH, EMPTY, LEAF, STEP
from support.cases import hard_problem, limited_problem
from support.oracles import brute_force, brute_force_limited
from support.proof_cases import Parts, provable, write


@pytest.fixture(scope="module")
def hard(tmp_path_factory):
    """Return a problem with a tree of some hundred records, its proof and its least loss."""
    path = tmp_path_factory.mktemp("proof") / "hard.gz"
    problem = hard_problem(24, 5, seed=3)
    solution = write(problem, path, gap=1e-3)
    assert len(Parts(path).records) > 20
    return problem, path, solution


@pytest.mark.parametrize("seed", range(24))
def test_a_proof_claims_what_brute_force_confirms(tmp_path, seed):
    """In floats and in rational numbers; with no gap asked for, it claims nearly all there is."""
    problem = provable(seed)
    path = tmp_path / "proof.gz"
    solution = write(problem, path)
    best, _ = brute_force_limited(problem)
    for exact in (False, True):
        (claim,) = check_proof(path, problem, exact=exact).claims
        assert claim.bound == solution.bound <= best + 1e-12 * problem.null_loss
        assert best - 1e-6 * problem.null_loss <= claim.bound
        assert claim.support == tuple(solution.support.tolist())
        assert solution.loss <= claim.loss <= solution.loss + 1e-9 * problem.null_loss
    assert solution.verify(problem).passed


@pytest.mark.parametrize("floor", ["sum", "each"])
@pytest.mark.parametrize("options", [{}, {"threads": 2}, {"node_limit": 40}])
def test_larger_trees_are_proven_too(tmp_path, options, floor):
    """By one thread or two, to the end or as far as a limit lets the search come."""
    problem = hard_problem(30, 6, seed=1).with_floor(floor)
    problem = problem.at(int(0.4 * problem.max_stability))
    solution = write(problem, tmp_path / "proof.gz", gap=1e-3, **options)
    (claim,) = check_proof(tmp_path / "proof.gz", problem).claims
    assert claim.bound == solution.bound > 0


def test_a_proof_is_written_of_a_solution_later(hard, tmp_path):
    """The problem is solved again, to the same bound but for next to nothing."""
    problem, _, _ = hard
    solution = solve(problem, options=Options(gap=1e-3))
    again = solution.proof(tmp_path / "proof.gz", [f"rule {i}" for i in range(problem.m)])
    proof = check_proof(tmp_path / "proof.gz", problem)
    assert proof.claims[0].bound == again.bound >= solution.bound - 1e-8 * problem.null_loss
    assert proof.header["names"][proof.kept.index(3)] == "rule 3"
    assert "proven" in str(proof)


def test_what_cannot_be_proven_is_refused_in_a_sentence(hard, tmp_path):
    """Before any work, and nothing is written."""
    problem, path = hard[0], tmp_path / "proof.gz"
    with pytest.raises(InvalidParameter, match="cutting-plane"):
        solve(problem, "cutting-plane", Options(proof=path))
    with pytest.raises(InvalidParameter, match="limits"):
        solve(limited_problem(2), "branch-and-bound", Options(proof=path))
    with pytest.raises(InvalidParameter, match="path of a file"):
        Options(proof=3)
    assert not path.exists()


@pytest.mark.parametrize("floor", ["sum", "each"])
def test_a_frontier_has_one_file(tmp_path, floor):
    """With a claim for each floor, of rules that the lowest leaves."""
    problem = hard_problem(18, 4, seed=2).with_floor(floor)
    frontier = solve_frontier(problem, "complete")
    proven = frontier.proof(tmp_path / "proof.gz", problem)
    proof = check_proof(tmp_path / "proof.gz", problem)
    assert len(proof.claims) == len(frontier.entries) > 3
    for claim, entry, before in zip(proof.claims, proven.entries, frontier.entries, strict=True):
        assert claim.min_stability == entry.floor == before.floor
        assert claim.bound == entry.solution.bound
        assert claim.bound == pytest.approx(before.solution.bound, abs=1e-8 * problem.null_loss)


# --- damage -------------------------------------------------------------------------------------


def refused(path, match):
    """Assert that a file is refused in one sentence."""
    for exact in (False, True):
        with pytest.raises(ProofRefused, match=match) as caught:
            check_proof(path, exact=exact)
        assert "\n" not in str(caught.value)


def test_a_proof_of_another_problem_is_refused(hard):
    """By what its file states and by the hashes of its arrays."""
    problem, path, _ = hard
    assert check_proof(path, problem.at(0)).claims
    with pytest.raises(ProofRefused, match=r"another problem: .*q"):
        check_proof(path, hard_problem(24, 5, seed=4))
    with pytest.raises(ProofRefused, match="rules"):
        check_proof(path, hard_problem(12, 5, seed=3))


def test_a_bound_that_is_raised_is_refused(hard, tmp_path):
    """By the seal; and where that is made anew, unless the tree happens to prove so much."""
    best, _ = brute_force(hard[0])
    for factor in (1 + 1e-9, 1.001, 2.0):
        parts = Parts(hard[1])
        parts.claim["bound"] *= factor
        refused(parts.write(tmp_path / "p.gz", seal=False), "not as it was written|its bound is")
        parts.write(tmp_path / "p.gz")
        if parts.claim["bound"] > best:
            refused(tmp_path / "p.gz", r"Refused at record \d+: ")


@pytest.mark.parametrize("kind", [LEAF, BRANCH])
def test_a_record_that_is_missing_is_found_missing(hard, tmp_path, kind):
    """The tree ends too early, or too late."""
    parts = Parts(hard[1])
    places = [i for i, record in enumerate(parts.records) if record[0] == kind]
    for place in (places[0], places[len(places) // 2], places[-1]):
        parts = Parts(hard[1])
        del parts.records[place]
        refused(parts.write(tmp_path / "p.gz"), "Refused at")


def test_weights_that_are_scaled_or_no_numbers_are_refused(hard, tmp_path):
    """Scaled by 1.5, the first leaf proves less; NaN proves nothing."""
    for factor, match in ((1.5, "its bound is"), (np.nan, "not finite"), (1e300, "its bound is")):
        parts = Parts(hard[1])
        place = next(i for i, record in enumerate(parts.records) if record[0] == LEAF)
        record = parts.records[place]
        n = struct.unpack("<I", record[17:21])[0]
        weights = np.frombuffer(record[21 + 4 * n :]) * factor
        parts.records[place] = record[: 21 + 4 * n] + weights.tobytes()
        refused(parts.write(tmp_path / "p.gz"), rf"record {place + 1}: .*{match}")


def test_a_file_that_is_cut_off_or_damaged_is_refused(hard, tmp_path):
    """Wherever it is cut; within a record, the record is named."""
    data, path = hard[1].read_bytes(), tmp_path / "p.gz"
    for share in (0.0, 0.01, 0.5, 0.99):
        path.write_bytes(data[: int(share * len(data))])
        refused(path, "cut off")
    whole = gzip.decompress(data)
    path.write_bytes(gzip.compress(whole[:-90]))
    refused(path, r"record \d+: the file is cut off")
    path.write_bytes(gzip.compress(whole + b"\0"))
    refused(path, "something follows")
    path.write_bytes(b"no gzip")
    refused(path, "damaged")


def test_no_file_makes_the_checker_grow(hard, tmp_path):
    """A bomb of zeros and huge sizes are refused where they begin."""
    parts, path = Parts(hard[1]), tmp_path / "p.gz"
    parts.records = [bytes(1 << 26)]
    refused(parts.write(path), "record 1: there is no kind 0")
    parts.records = [struct.pack("<BddI", LEAF, 0.0, 0.0, 2**32 - 1) + bytes(1 << 20)]
    refused(parts.write(path), "record 1: 4294967295 weights")
    parts.records = [struct.pack("<BI", BRANCH, 0)] * 10_000
    refused(parts.write(path), "deeper than there are rules")
    for name, value in (("kept", 10**9), ("rules", 10**12), ("groups", -1), ("max_rules", 0.5)):
        parts = Parts(hard[1])
        parts.header[name] = value
        refused(parts.write(path), f"header: {name}")
    parts = Parts(hard[1])
    parts.header |= {"limits": 4096, "groups": 4096}
    refused(parts.write(path), "array 'A': .* numbers are more")


def test_arrays_that_are_not_those_of_the_header_are_refused(hard, tmp_path):
    """Their hashes tell; and with new hashes it is a proof of other numbers, if it is one."""
    parts = Parts(hard[1])
    G = np.frombuffer(parts.arrays["G"]).copy()
    G[1] *= 1.0 + 1e-15
    parts.arrays["G"] = G.tobytes()
    refused(parts.write(tmp_path / "p.gz", hashes=False), "array 'G': its hash")
    G[0] = -1.0
    parts.arrays["G"] = G.tobytes()
    refused(parts.write(tmp_path / "p.gz"), "not positive semidefinite")


@pytest.mark.parametrize("seed", range(6))
def test_no_damage_makes_a_proof_of_what_is_wrong(tmp_path, seed):
    """Damaged at random and claiming more than the least loss, no tree is accepted."""
    problem, rng = provable(seed), np.random.default_rng(seed)
    path = tmp_path / "proof.gz"
    write(problem, path, gap=0.05)
    best, _ = brute_force_limited(problem)
    for _ in range(40):
        parts = Parts(path)
        parts.claim["bound"] = float(best * (1 + 10.0 ** rng.uniform(-8, 0)) + 1e-9)
        for _ in range(rng.integers(1, 4)):
            damage(parts, rng)
        with pytest.raises(ProofRefused):
            check_proof(parts.write(path.with_name("p.gz")))


def damage(parts, rng):
    """Change, remove, repeat, exchange or add a record, or bytes of one."""
    records, kind = parts.records, rng.integers(6)
    i, j = rng.integers(len(records), size=2)
    if kind == 0 and len(records) > 1:
        del records[i]
    elif kind == 1:
        records.insert(i, records[j])
    elif kind == 2:
        records[i], records[j] = records[j], records[i]
    elif kind == 3:
        records[i] = bytes([EMPTY])
    elif kind == 4 and records[i][0] in (LEAF, STEP):
        record = bytearray(records[i])
        record[1:17] = np.abs(rng.normal(size=2) * 10.0 ** rng.integers(-3, 9)).tobytes()
        records[i] = bytes(record)
    else:
        record = bytearray(records[i])
        record[rng.integers(len(record))] ^= 1 << rng.integers(8)
        records[i] = bytes(record)


# --- independence -------------------------------------------------------------------------------


def test_the_checker_imports_nothing_of_the_solver():
    """It is NumPy, the standard library, and its own modules, of at most 400 lines each."""
    own = {"checking", "limits", "losses", "reading"}
    allowed = {f"mossrules.solver.proofs.{name}" for name in own}
    for name in own:
        text = (Path(checking.__file__).parent / f"{name}.py").read_text(encoding="utf-8")
        assert text.count("\n") <= 400
        for node in ast.walk(ast.parse(text)):
            modules = [node.module] if isinstance(node, ast.ImportFrom) else []
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            for module in modules:
                assert not module.startswith("mossrules") or module in allowed
                assert module.split(".")[0] in {
                    "__future__", "dataclasses", "fractions", "gzip", "hashlib", "json",
                    "mossrules", "numpy", "pathlib", "struct", "typing", "zlib",
                }  # fmt: skip


@pytest.mark.skipif(shutil.which("node") is None, reason="node, which runs it, is not installed")
def test_a_checker_in_another_language_agrees(hard, tmp_path):
    """Written from docs/proofs.md alone, it takes and refuses the same files."""
    rng, files = np.random.default_rng(0), [hard[1]]
    for seed in range(12):
        files.append(tmp_path / f"{seed}.gz")
        write(provable(seed), files[-1], gap=0.01)
    for n in range(40):
        parts = Parts(files[n % 13])
        if n % 4 == 0:
            parts.claim["bound"] *= 1 + 10.0 ** -rng.integers(1, 12)
        else:
            damage(parts, rng)
        files.append(parts.write(tmp_path / f"damaged-{n}.gz"))
    expected = []
    for file in files:
        try:
            expected.append([claim.bound for claim in checking.check_proof(file).claims])
        except ProofRefused:
            expected.append(None)
    said = subprocess.run(
        [shutil.which("node"), Path(__file__).parents[2] / "support/proof_checker.js", *files],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert [json.loads(line).get("bounds") for line in said.stdout.splitlines()] == expected
    assert None in expected[13:]
    assert None not in expected[:13]
