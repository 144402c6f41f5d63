"""The same models in processes that differ in hash seeds, threads, processor and BLAS.

A script fits models of all kinds (_models.py) and prints all that is in them. It is run
once as it comes, and then with one thing changed at a time.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mossrules import __file__ as package
from research.harness.processes import run_python
from research.quality._blas import VENDORS, jump_library
from research.quality._record import Cell, Record

__all__ = ["Variation", "compare", "run"]

SCRIPT = "research.quality._models"
# Kernels of OpenBLAS that any processor of the last ten years can run, and two that some can.
CORES = ("Prescott", "Nehalem", "Sandybridge", "Haswell", "Zen", "SkylakeX")
FLAGS = {"SkylakeX": "avx512f", "Haswell": "avx2", "Zen": "avx2", "Sandybridge": "avx"}
WIDE = "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR X86_V4"
CLOSE = 1e-9  # relative, of what depends on the order of sums
EXACT = ("weights", "loss", "predictions")
# Models whose sums are not all ours: those of classes are iterated with products of matrices and
# exponentials, and the statistics of an explicit matrix are a product of matrices.
OTHERS_SUMS = ("classes", "matrix")
# Its masters may have several optima, of which another sum finds another, and so another last cut.
ENDS_ELSEWHERE = "cutting-plane"


@dataclass(frozen=True)
class Variation:
    """One thing that is changed."""

    name: str
    environment: Mapping[str, str] = field(default_factory=dict)
    n_jobs: int = 1
    every_bit: bool = True  # bounds and probabilities too


def variations(folder: Path) -> Iterator[Variation]:
    """Yield what this machine can do."""
    for seed in ("1", "12345"):
        yield Variation(f"PYTHONHASHSEED={seed}", {"PYTHONHASHSEED": seed})
    for n_jobs in (2, 4):
        yield Variation(f"n_jobs={n_jobs}", n_jobs=n_jobs)
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
    for threads in ("1", "2"):
        yield Variation(f"{threads} threads of BLAS and numba", dict.fromkeys(names, threads), 2)
    flags = Path("/proc/cpuinfo").read_text().split() if Path("/proc/cpuinfo").exists() else []
    for core in CORES:
        if FLAGS.get(core, "") in ("", *flags):
            yield Variation(f"OPENBLAS_CORETYPE={core}", {"OPENBLAS_CORETYPE": core}, 1, False)
    for name, off in (("AVX-512", WIDE), ("AVX-512 and AVX2", f"{WIDE} AVX2 FMA3 X86_V3")):
        yield Variation(f"NumPy without {name}", {"NPY_DISABLE_CPU_FEATURES": off}, 1, False)
    for vendor in VENDORS:
        library = jump_library(vendor, folder)
        if library is not None:
            yield Variation(f"BLAS: {vendor}", {"LD_PRELOAD": str(library)}, 1, False)
    cache = {"NUMBA_CPU_NAME": "generic", "NUMBA_CACHE_DIR": str(folder / "numba")}
    yield Variation("kernels compiled for any x86-64", cache, 1, False)


def models(variation: Variation) -> dict[str, dict[str, Any]]:
    """Return what the script finds."""
    source = str(Path(package).parents[1])
    variables = {"PYTHONPATH": source, **variation.environment}
    done = run_python("-m", SCRIPT, str(variation.n_jobs), check=False, **variables)
    if done.returncode:
        raise SystemExit(f"{variation.name}: {done.stderr}")
    found: dict[str, dict[str, Any]] = json.loads(done.stdout)
    return found


def compare(
    variation: Variation, usual: Mapping[str, Any], found: Mapping[str, Any]
) -> tuple[dict[str, Cell], list[str]]:
    """Return a row about a variation, and what ought to be the same and is not."""
    defects, bits, worst = [], 0, 0.0
    for name, model in usual.items():
        other = found[name]
        defects += [
            f"{part} of {name}" for part in ("rules", "status") if other[part] != model[part]
        ]
        ours = variation.every_bit or not name.startswith(OTHERS_SUMS)
        differ = [part for part in EXACT if part in model and other[part] != model[part]]
        bits += not differ
        if ours:
            defects += [f"bits of {part} of {name}" for part in differ]
        if variation.every_bit and other["bound"] != model["bound"]:
            defects.append(f"bits of bound of {name}")
        numbers = ("weights", "loss", "bound")
        if name.startswith(ENDS_ELSEWHERE) and not variation.every_bit:
            numbers = numbers[:2]
        for part in numbers:
            worst = max(worst, difference(model[part], other[part]))
    if worst > CLOSE:
        defects.append(f"numbers, by {worst:.2g}")
    row: dict[str, Cell] = {
        "Changed": variation.name,
        "models": len(usual),
        "same bits of weights, losses, predictions": bits,
        "largest difference, bounds too": f"{worst:.1g}" if worst else "none",
        "defects": len(defects),
    }
    return row, defects


def difference(usual: list[float], other: list[float]) -> float:
    """Return the largest difference of numbers, relative to the largest of them."""
    if len(usual) != len(other):
        return float("inf")
    scale = max(map(abs, usual), default=0.0) or 1.0
    return max((abs(a - b) / scale for a, b in zip(usual, other, strict=True)), default=0.0)


def run() -> Record:
    """Compare all variations with the usual process."""
    rows, defects = [], []
    usual = models(Variation("as it comes"))
    with tempfile.TemporaryDirectory() as name:
        for variation in variations(Path(name)):
            row, wrong = compare(variation, usual, models(variation))
            rows.append(row)
            defects += [f"{variation.name}: {what}" for what in wrong]
            print(row, *wrong, sep="\n  ", flush=True)
    return Record(
        title="The same bits",
        asked=(
            "Hash seeds and threads change nothing, to the last bit. Another BLAS, or another "
            "processor, changes no rule and no status, and no bit of the weights, losses and "
            "predictions of models of numbers; bounds and probabilities stay the same to "
            f"{CLOSE:g} of their size, but for the bound of the cutting plane, which is within the "
            "gap asked for."
        ),
        seen=f"{len(rows)} changes, {len(usual)} models each, {len(defects)} defects",
        passed=not defects,
        command="python -m research.quality determinism",
        table=rows,
        notes=[
            *defects,
            (
                "Models of numbers and of classes, with and without ties, frontiers, constraints, "
                "all methods, a file in chunks, and an explicit matrix, whose statistics are a "
                "product of matrices by BLAS."
            ),
            (
                "Other makers' BLAS takes the place of the one in NumPy's wheel: a library of the "
                "same name is loaded first, and jumps to their routines."
            ),
        ],
    )
