"""Run benchmarks from the root: `python -m research.benchmarks [subject ...] [--quick]`."""

from __future__ import annotations

import argparse
import math
import sys
import time
import traceback
from importlib import import_module
from pathlib import Path

from research.harness.clone import ROOT
from research.harness.measuring import Contention
from research.harness.reports import Report, Skipped, show, write_report

SUBJECTS = (
    "startup",
    "readers",
    "forest",
    "statistics",
    "path",
    "memory",
    "big",
    "agreement",
    "solver",
    "methods",
    "frontier",
    "ablation",
    "rivals",
    "estimator",
    "report",
    "constraints",
    "comparison",
    "classification",
)
# They keep what is finished in the folder of the results, and go on there.
RESUMABLE = ("solver", "frontier", "ablation", "comparison", "classification")


def main(arguments: list[str] | None = None) -> int:
    """Measure the subjects asked for; return the number that failed with an error."""
    parser = argparse.ArgumentParser(prog="python -m research.benchmarks", description=__doc__)
    parser.add_argument("subjects", nargs="*", metavar="subject", help=", ".join(SUBJECTS))
    parser.add_argument("--quick", action="store_true", help="small sizes, about a minute in all")
    parser.add_argument("--out", type=Path, default=ROOT / "research" / "benchmarks" / "results")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.subjects) - set(SUBJECTS))
    if unknown:
        parser.error(f"unknown subject {unknown[0]!r}; choose from {', '.join(SUBJECTS)}")
    subjects = options.subjects or SUBJECTS
    return sum(not measure(name, options.out, quick=options.quick) for name in subjects)


def measure(subject: str, folder: Path, *, quick: bool) -> bool:
    """Run one subject, print and store its report; tell whether it ended without an error."""
    started = time.perf_counter()
    try:
        with Contention() as others:
            extra = {"folder": folder} if subject in RESUMABLE else {}
            report: Report = import_module(f"research.benchmarks.{subject}").run(
                quick=quick, **extra
            )
        report.busy_cores = None if math.isnan(others.cores) else round(others.cores, 3)
    except Skipped as reason:
        report = Report(subject, skipped=str(reason))
    except Exception:  # noqa: BLE001  one broken subject must not lose the others' figures
        traceback.print_exc()
        return False
    path = write_report(report, folder, quick=quick, taken=time.perf_counter() - started)
    print(show(report, quick=quick))
    print(f"written to {path}\n", flush=True)
    return True


if __name__ == "__main__":
    sys.exit(main())
