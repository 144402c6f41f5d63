"""Run the suite in an environment of its own, and count what it says."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from research.harness.clone import ROOT
from research.harness.processes import clean_environment, make_environment, run_in
from research.quality._record import Cell, Record, made_by
from research.quality._requirements import project_requirements

__all__ = [
    "CLONE",
    "Outcome",
    "arguments",
    "fresh_environment",
    "read_outcome",
    "record_of_tests",
    "release_table",
    "suite_record",
    "versions",
]

BUILD = ROOT / "build"
CLONE = ("--editable", ".", "--editable", "./research")  # to install it
MAIN = (
    *("numpy", "scipy", "scikit-learn", "numba", "highspy", "narwhals", "joblib", "jinja2"),
    *("rich", "typer", "matplotlib", "pyarrow", "pandas", "polars", "dask", "pyscipopt"),
    *("gurobipy", "duckdb", "openpyxl"),
)


@dataclass(frozen=True)
class Outcome:
    """What became of each test, by area."""

    passed: Mapping[str, int]
    failed: Mapping[str, Sequence[str]]  # the names of those that failed, or could not be run
    skipped: Mapping[str, int]
    reasons: Mapping[str, int]  # of skipping
    seconds: Mapping[str, float]  # of tests, not of the wall clock
    code: int  # with which pytest ended: 0 or 1, where some failed

    @property
    def failures(self) -> list[str]:
        """The names of all tests that failed."""
        return [name for names in self.failed.values() for name in names]

    def line(self) -> str:
        """Return the counts in a line."""
        passed, skipped = sum(self.passed.values()), sum(self.skipped.values())
        return f"{passed:,} tests passed, {len(self.failures):,} failed, {skipped:,} skipped"

    def table(self) -> list[dict[str, Cell]]:
        """Return the counts by area."""
        seen = {*self.passed, *self.failed, *self.skipped}
        return [
            {
                "Area": area,
                "passed": self.passed.get(area, 0),
                "failed": len(self.failed.get(area, ())),
                "skipped": self.skipped.get(area, 0),
                "seconds of tests": round(self.seconds.get(area, 0.0), 1),
            }
            for area in sorted(seen)
        ]


def fresh_environment(part: str) -> Path:
    """Return the interpreter of a fresh environment in build/."""
    return make_environment(BUILD / part / "venv")


def versions(python: Path) -> dict[str, str]:
    """Return the main packages of an environment with their releases, and Python's."""
    program = (
        "import json, platform, sys\n"
        "from importlib.metadata import distributions\n"
        "found = {each.name.lower(): each.version for each in distributions()}\n"
        "known = {name: found[name] for name in sys.argv[1:] if name in found}\n"
        "print(json.dumps({'python': platform.python_version(), **known}))"
    )
    found: dict[str, str] = json.loads(run_in(ROOT, python, "-c", program, *MAIN))
    return found


# --- the suite ------------------------------------------------------------------------------------


def run_suite(python: Path, name: str, workers: int, only: Sequence[str] = ()) -> Outcome:
    """Run all tests, or only some files, with the package as that environment has it."""
    folder = BUILD / name
    folder.mkdir(parents=True, exist_ok=True)
    results = folder / "results.xml"
    results.unlink(missing_ok=True)
    command = [python, "-m", "pytest", "--quiet", "-p", "no:cacheprovider", f"--junitxml={results}"]
    if workers > 1:
        command += [f"--numprocesses={workers}", "--dist=worksteal"]
    # Kernels compiled by another release of numba would be in the way.
    variables = clean_environment(NUMBA_CACHE_DIR=str(folder / "numba"))
    if not only:
        _compile_kernels(python, variables)
    done = subprocess.run(  # noqa: S603  our tests
        [str(each) for each in [*command, *only]], cwd=ROOT, env=variables, check=False
    )
    return read_outcome(results, done.returncode)


def _compile_kernels(python: Path, variables: Mapping[str, str]) -> None:
    """Compile once, in two processes, what each process of pytest would compile by itself."""
    halves = [
        subprocess.Popen(  # noqa: S603  a program of ours
            [python, ROOT / "tests" / "support" / "warm.py", half], cwd=ROOT, env=dict(variables)
        )
        for half in ("search", "learning")
    ]
    codes = [half.wait() for half in halves]
    if any(codes):
        raise SystemExit("The kernels could not be compiled; see above.")


def read_outcome(results: Path, code: int) -> Outcome:
    """Count the tests in a JUnit file of pytest, which ended with that code."""
    if code not in (0, 1):  # interrupted, say: then the file has only the tests until there
        raise SystemExit(f"pytest ended with {code}, before its end; see what it said above.")
    passed, skipped, reasons = Counter[str](), Counter[str](), Counter[str]()
    failed: dict[str, list[str]] = {}
    seconds = Counter[str]()
    for case in ET.parse(results).iter("testcase"):  # noqa: S314  written by pytest just now
        area = area_of(case.get("classname", ""))
        seconds[area] += float(case.get("time", 0.0))
        skip = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            failed.setdefault(area, []).append(f"{case.get('classname')}::{case.get('name')}")
        elif skip is not None:
            skipped[area] += 1
            reasons[skip.get("message", "")] += 1
        else:
            passed[area] += 1
    return Outcome(passed, failed, skipped, reasons, seconds, code)


def area_of(test_module: str) -> str:
    """Return the area of a module of tests, which is its folder: the room of what it tests."""
    folders = test_module.split(".")[1:-1]  # within tests/
    return folders[0] if folders else "other"


# --- the record -----------------------------------------------------------------------------------


def arguments(parser: argparse.ArgumentParser) -> None:
    """Say what may be asked for."""
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("only", nargs="*", help="files of tests, all if none is named")


def record_of_tests(
    python: Path,
    part: str,
    workers: int,
    only: Sequence[str],
    *,
    by_release: bool = False,
    **about: Any,
) -> Record:
    """Run the tests in an environment and return the record; the table may be of releases."""
    used = versions(python)
    if by_release:
        about["table"] = release_table(used)
    return suite_record(run_suite(python, part, workers, only), used, part=part, **about)


def release_table(used: Mapping[str, str]) -> list[dict[str, Cell]]:
    """Return what the core and each extra ask for, and what was used."""
    return [
        {
            "Package": each.name,
            "needed by": who,
            "asked": str(each.specifier),
            "used": used[each.name],
        }
        for who, requirements in project_requirements().items()
        for each in requirements
    ]


def suite_record(
    outcome: Outcome,
    used: Mapping[str, str],
    *,
    part: str,
    title: str,
    asked: str,
    table: Sequence[Mapping[str, Cell]] | None = None,
    notes: Sequence[str] = (),
) -> Record:
    """Return the record of a run: counts, reasons of skipping, and what the environment had."""
    packages = ", ".join(f"{name} {version}" for name, version in used.items())
    skips = [f"Skipped, {n}: {reason}" for reason, n in sorted(outcome.reasons.items())]
    failures = [f"Failed: {name}" for name in outcome.failures[:20]]
    same = {name: version for name, version in used.items() if name in made_by()}
    return Record(
        title=title,
        asked=asked,
        seen=outcome.line(),
        passed=outcome.code == 0 and not outcome.failures and sum(outcome.passed.values()) > 0,
        command=f"python -m research.quality {part}",
        table=outcome.table() if table is None else table,
        notes=[*failures, *notes, f"With {packages}.", *skips],
        made_by={**made_by(), **same},
    )
