"""Waiting before anything happens: importing, and the demo with and without compiled kernels."""

from __future__ import annotations

import tempfile

from research.harness.measuring import interleave, seconds
from research.harness.processes import run_python
from research.harness.reports import Bound, Figure, Report

DEMO = "from mossrules.cli import main; main()"


def run(*, quick: bool) -> Report:
    """Time whole processes, the interpreter's own start among it."""
    imports = interleave(
        {
            "nothing": lambda: run_python("-c", "pass"),
            "mossrules": lambda: run_python("-c", "import mossrules"),
            "find_candidates": lambda: run_python("-c", "from mossrules import find_candidates"),
        },
        repeats=2 if quick else 5,
    )
    with tempfile.TemporaryDirectory() as cache:
        first, second = (seconds(lambda: run_demo(cache)) for _ in range(2))
    return Report(
        "startup",
        [
            Figure("import mossrules", imports["mossrules"], "s", Bound("<", 0.5)),
            Figure("from mossrules import find_candidates", imports["find_candidates"], "s"),
            Figure("mossrules demo, nothing compiled yet", first, "s", Bound("<", 30)),
            Figure("mossrules demo, second time", second, "s", Bound("<", 5)),
        ],
        notes=[
            f"Whole processes; the interpreter alone takes {imports['nothing']:.3f} s of each.",
            (
                "The demo's kernels are cached in a temporary folder (NUMBA_CACHE_DIR), empty "
                "at the first run."
            ),
        ],
    )


def run_demo(cache: str) -> None:
    """Run the demo with compiled kernels kept in `cache`."""
    run_python("-c", DEMO, "demo", NUMBA_CACHE_DIR=cache)
