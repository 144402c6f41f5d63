"""Environments of their own for solvers that cannot be installed beside ours."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from research.benchmarks._harness import ROOT, Row, Skipped
from research.benchmarks._partial import say

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


@dataclass(frozen=True)
class Outcome:
    """One result per problem that was answered, and how the process failed if it did."""

    results: list[Row]
    failure: str | None = None


def make_environment(name: str, requirements: Sequence[str]) -> Path:
    """Return the interpreter of a virtual environment, made and kept in the user's cache."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "mossrules-benchmarks" / f"{name}-{sys.version_info[0]}.{sys.version_info[1]}"
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    marker = folder / "complete.txt"
    wanted = "\n".join(requirements)
    if marker.exists() and marker.read_text(encoding="utf-8") == wanted:
        return python
    say(f"making an environment with {', '.join(requirements)}")
    run_or_skip([sys.executable, "-m", "venv", "--clear", str(folder)], f"no venv for {name}")
    run_or_skip([str(python), "-m", "pip", "install", "--quiet", *requirements], f"no {name}")
    marker.write_text(wanted, encoding="utf-8")
    return python


def run_or_skip(command: list[str], trouble: str) -> None:
    """Run a command; a failure means that the rival cannot be measured here."""
    finished = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if finished.returncode:
        raise Skipped(f"{trouble}: {last_line(finished.stderr or finished.stdout)}")


def run_child(python: Path, script: str, job: Mapping[str, Any], timeout: float) -> Outcome:
    """Hand arrays to a script of this folder; a crash leaves what was answered before it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "job.npz"
        np.savez(path, **job)
        try:
            finished = subprocess.run(  # noqa: S603  our own script
                [str(python), str(ROOT / "research" / "benchmarks" / script), str(path)],
                env={**os.environ, **ONE_THREAD},
                capture_output=True,
                text=True,
                check=False,
                timeout=timeout,
            )
        except subprocess.TimeoutExpired as stopped:
            output = stopped.stdout or b""
            text = output.decode() if isinstance(output, bytes) else output
            return Outcome(read_results(text), f"no answer after {timeout:g} s")
    failed = finished.returncode != 0
    failure = f"exit status {finished.returncode}: {last_line(finished.stderr)}" if failed else None
    return Outcome(read_results(finished.stdout), failure)


def read_results(output: str) -> list[Row]:
    """Return the results among the lines that a child printed."""
    marked = [line.removeprefix("RESULT ") for line in output.splitlines() if "RESULT " in line]
    return [json.loads(line) for line in marked]


def last_line(text: str) -> str:
    """Return the last line that is not empty."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no message"
