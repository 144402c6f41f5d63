"""Gram matrix of a thousand rules by counting bits, against BLAS on their float columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from mossrules.candidates.codes import EncodedTable, encode_table
from mossrules.candidates.forest import grow_forest
from mossrules.candidates.pool import CandidatePool
from mossrules.candidates.statistics import activations, compute_statistics
from mossrules.data.chunks import row_ranges
from mossrules.data.rows import Rows
from mossrules.data.table import split_target
from mossrules.statistics import Statistics
from research.benchmarks._data import Floats, encode, warm_up
from research.harness.measuring import THREADS, PeakMemory, available_gigabytes, interleave
from research.harness.processes import in_fresh_process
from research.harness.reports import Bound, Figure, Report, Skipped
from research.paper.generated import generated_rows

N_COLUMNS = 20
SEED = 0
FOREST_ROWS = 20_000  # the rules come from a forest on these first rows


def run(*, quick: bool) -> Report:
    """Compare time in this process and memory in one fresh process for each side."""
    PeakMemory.require()
    n_rows, n_rules = (50_000, 300) if quick else (1_000_000, 1_000)
    needed = 1.5 * 8e-9 * n_rows * n_rules
    if available_gigabytes() < needed:
        raise Skipped(f"BLAS needs about {needed:.0f} GB of memory and less is free")
    timed = compare_times(n_rows, n_rules, repeats=3 if quick else 2)
    blas = {side: taken for side, taken in timed.items() if side.startswith("blas")}
    memory = {
        side: in_fresh_process(
            f"research.benchmarks.statistics:{side}", n_rows=n_rows, n_rules=n_rules
        )
        for side in ("memory_ours", "memory_blas")
    }
    size = f"{n_rows:,} x {n_rules:,} rules"
    return Report(
        "statistics",
        [
            Figure(
                f"speed against BLAS, {size}",
                min(blas.values()) / timed["ours"],
                "times",
                Bound(">=", 6),
                {"seconds": {"ours": timed["ours"], **blas}},
            ),
            Figure(
                f"peak memory as a share of BLAS's, {size}",
                memory["memory_ours"] / memory["memory_blas"],
                "",
                Bound("<", 0.1),
                {"megabytes": memory},
            ),
            Figure(
                "largest relative difference of an entry of G",
                timed["error of G"],
                asked=Bound("<=", 1e-9),
            ),
            Figure("the same of q (our target is on a grid)", timed["error of q"]),
        ],
        settings={"columns": N_COLUMNS, "seed": SEED, "threads": THREADS, "depth": 3},
        notes=[
            (
                "Ours: from codes to G and q, bit sets made on the way. BLAS: M.T @ M and "
                f"M.T @ y in float64, M already there, on one or {THREADS} threads: the faster."
            ),
            (
                "Memory: growth of the peak in a process of its own; ours with bit sets, "
                "BLAS's with M. The codes are there before in both."
            ),
        ],
    )


@dataclass(frozen=True)
class Instance:
    """Encoded rows, rules on them and the scaled target."""

    data: EncodedTable
    pool: CandidatePool
    y: Floats


def make_instance(n_rows: int, n_rules: int) -> Instance:
    """Return `n_rules` rules of depth three on generated rows."""
    X, y = generated_rows(n_rows, N_COLUMNS, SEED)
    data = encode(X, y)
    few = min(n_rows, FOREST_ROWS)
    table, target = split_target(X[:few], y[:few])
    head = encode_table(
        Rows.from_table(table, target, spans=row_ranges(few), keeps_order=True), data.binning
    )
    forest = grow_forest(head, n_trees=1_000, max_depth=3, seed=SEED, n_jobs=THREADS)
    pool = CandidatePool.from_paths(forest.paths(), data.binning, forest.n_trees).cap(n_rules)
    if len(pool) < n_rules:
        raise RuntimeError(f"The forest gave only {len(pool)} rules.")
    return Instance(data, pool, (y - y.mean()) / y.std())


def our_statistics(instance: Instance) -> Statistics:
    """Return the statistics by the library."""
    return compute_statistics(instance.data, instance.pool, n_jobs=THREADS)


def rule_columns(instance: Instance, values: Floats) -> Floats:
    """Return M (rows, rules) in C order, filled chunk by chunk so that nothing else is large."""
    data, rules = instance.data, instance.pool.rules
    M = np.empty((data.n_rows, len(rules)))
    for chunk in data.chunks:
        bits = activations(rules, data.binning, chunk.codes)
        holds = np.unpackbits(bits.view(np.uint8), axis=1, count=len(chunk), bitorder="little")
        np.multiply(holds.T, values, out=M[chunk.start : chunk.start + len(chunk)])
    return M


def blas_statistics(M: Floats, y: Floats, threads: int = THREADS) -> tuple[Floats, Floats]:
    """Return G and q by two matrix products."""
    with threadpool_limits(threads, user_api="blas"):
        return M.T @ M, M.T @ y


def compare_times(n_rows: int, n_rules: int, *, repeats: int) -> dict[str, float]:
    """Return best seconds of both sides, and how far their results differ."""
    warm_up()
    instance = make_instance(n_rows, n_rules)
    found = our_statistics(instance)
    M = rule_columns(instance, found.values)
    products: list[tuple[Floats, Floats]] = []

    def blas(threads: int) -> None:
        products[:] = [blas_statistics(M, instance.y, threads)]

    best = interleave(
        {
            "ours": lambda: our_statistics(instance),
            "blas, 1 thread": lambda: blas(1),
            f"blas, {THREADS} threads": lambda: blas(THREADS),
        },
        repeats,
    )
    G, q = products[0]
    return {**best, "error of G": difference(found.G, G), "error of q": difference(found.q, q)}


def difference(ours: Floats, reference: Floats) -> float:
    """Return the largest relative difference of any entry; zero must be zero."""
    sizes = np.where(reference == 0, 1.0, np.abs(reference))
    return float((np.abs(ours - reference) / sizes).max())


def memory_ours(n_rows: int, n_rules: int) -> float:
    """Return the growth of the peak in MB while the library works."""
    warm_up()
    instance = make_instance(n_rows, n_rules)
    with PeakMemory() as peak:
        our_statistics(instance)
    return peak.grown


def memory_blas(n_rows: int, n_rules: int) -> float:
    """Return the growth of the peak in MB while M is made and multiplied."""
    warm_up()
    instance = make_instance(n_rows, n_rules)
    values = np.ones(n_rules)
    with PeakMemory() as peak:
        blas_statistics(rule_columns(instance, values), instance.y)
    return peak.grown
