"""Peak memory from table to statistics, against what codes and bit sets alone take."""

from __future__ import annotations

from mossrules import find_candidates
from research.benchmarks._data import warm_up
from research.harness.measuring import THREADS, PeakMemory
from research.harness.processes import in_fresh_process
from research.harness.reports import Bound, Figure, Report
from research.paper.generated import generated_rows

N_COLUMNS = 20
SEED = 0


def run(*, quick: bool) -> Report:
    """Measure one call in a fresh process."""
    PeakMemory.require()
    n_rows = 100_000 if quick else 1_000_000
    measured = in_fresh_process("research.benchmarks.memory:measure", n_rows=n_rows)
    return Report(
        "memory",
        [
            Figure(
                f"peak growth over codes and bit sets, {n_rows:,} x {N_COLUMNS}",
                measured["peak growth MB"] / (measured["codes MB"] + measured["bit sets MB"]),
                "times",
                Bound("<", 3),
            )
        ],
        {"sizes": [measured]},
        {"columns": N_COLUMNS, "seed": SEED, "threads": THREADS},
        [
            (
                "The table is a float64 NumPy array that exists before the call. Kernels are "
                "compiled and libraries loaded by a first call on a tiny table."
            ),
            "Bit sets: all rules on all rows at once, n * m / 8 bytes.",
        ],
    )


def measure(n_rows: int) -> dict[str, float]:
    """Return the sizes in MB; run in a process of its own."""
    X, y = generated_rows(n_rows, N_COLUMNS, SEED)
    warm_up()
    with PeakMemory() as peak:
        found = find_candidates(X, y, n_jobs=THREADS)
    return {
        "rows": n_rows,
        "rules": len(found),
        "codes MB": n_rows * N_COLUMNS / 1e6,
        "bit sets MB": n_rows * len(found) / 8e6,
        "peak growth MB": peak.grown,
    }
