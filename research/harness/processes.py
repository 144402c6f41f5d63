"""Other processes: fresh ones of this interpreter, and interpreters that have other packages.

What cannot be installed beside us is fitted or solved by a script of `children/`, which is started
by an interpreter of its own and knows nothing of mossrules. It gets a job, and each of its answers
is a line of JSON, written at once, so that a crash or a limit leaves what came before it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from mossrules.exceptions import InvalidParameter
from research.harness.clone import ROOT
from research.harness.reports import Skipped, say

__all__ = [
    "NO_ANSWER",
    "ONE_THREAD",
    "Answers",
    "ask",
    "clean_environment",
    "in_fresh_process",
    "install",
    "interpreter_with",
    "kept_environment",
    "make_environment",
    "run_in",
    "run_python",
]

NO_ANSWER = "No answer"
CHILDREN = Path(__file__).parent / "children"
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)


# --- this interpreter -----------------------------------------------------------------------------


def run_python(
    *arguments: str | Path,
    folder: Path = ROOT,
    before: Sequence[str] = (),
    check: bool = True,
    **variables: str,
) -> subprocess.CompletedProcess[str]:
    """Run this interpreter, at the root; an error there is an error here, unless not checked.

    `before` are words of a program that starts it, and `variables` are added to the environment.
    """
    done = subprocess.run(  # noqa: S603  our own interpreter and our own arguments
        [*before, sys.executable, *map(str, arguments)],
        cwd=folder,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    if check and done.returncode:
        raise RuntimeError(f"A child process failed:\n{done.stderr}")
    return done


def in_fresh_process(function: str, **arguments: Any) -> Any:
    """Return what `function` ("package.module:name") returns when a new process calls it."""
    finished = run_python("-m", "research.harness.call", function, json.dumps(arguments))
    return json.loads(finished.stdout.splitlines()[-1])


# --- other environments ---------------------------------------------------------------------------


def make_environment(folder: Path) -> Path:
    """Return the interpreter of a fresh environment in a folder, of this Python."""
    shutil.rmtree(folder, ignore_errors=True)
    _uv("venv", "--quiet", "--python", sys.executable, folder)
    return _interpreter(folder)


def kept_environment(name: str, requirements: Sequence[str]) -> Path:
    """Return the interpreter of an environment with some packages, kept in the user's cache."""
    cache_folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    python_version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    folder = cache_folder / "mossrules-benchmarks" / f"{name}-{python_version}"
    marker = folder / "complete.txt"
    wanted = "\n".join(requirements)
    if marker.exists() and marker.read_text(encoding="utf-8") == wanted:
        return _interpreter(folder)
    say(f"making an environment with {', '.join(requirements)}")
    try:
        python = make_environment(folder)
        install(python, *requirements)
    except subprocess.CalledProcessError as failure:
        raise Skipped(f"no {name}: {_last_line(failure.stderr or failure.stdout)}") from failure
    marker.write_text(wanted, encoding="utf-8")
    return python


def install(python: Path, *what: str | Path) -> None:
    """Install into an environment, from where the machine is told to get packages."""
    _uv("pip", "install", "--quiet", "--python", python, *what)


def run_in(folder: Path, *command: str | Path) -> str:
    """Run a command that must succeed, without this environment's ways to find modules."""
    done = subprocess.run(  # noqa: S603  commands of this folder
        [str(word) for word in command],
        cwd=folder,
        env=clean_environment(),
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def clean_environment(**more: str) -> dict[str, str]:
    """Return the variables for a child in another environment."""
    left_out = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "NUMBA_CACHE_DIR")
    return {name: value for name, value in os.environ.items() if name not in left_out} | more


def _uv(*words: str | Path) -> None:
    """Run uv, which is fast: some gigabytes are installed for one record of quality."""
    try:
        run_in(ROOT, sys.executable, "-m", "uv", *words)
    except subprocess.CalledProcessError as failure:
        say(failure.stderr)  # which a traceback would not show
        raise


def _interpreter(folder: Path) -> Path:
    windows = folder / "Scripts" / "python.exe"
    return windows if windows.exists() else folder / "bin" / "python"


def interpreter_with(module: str, variable: str) -> str | None:
    """Return the first interpreter that has a module: of those a variable names, then this one."""
    named = [path for path in os.environ.get(variable, "").split(os.pathsep) if path]
    path = os.environ.get("PYTHONPATH", "")
    pythons = (*named, sys.executable)
    return next((each for each in pythons if _has(each, module, variable, path)), None)


@cache
def _has(python: str, module: str, variable: str, _path: str) -> bool:
    """Tell whether an interpreter, with such a PYTHONPATH, has a module."""
    look = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({module!r}) is None)"
    try:
        done = subprocess.run([python, "-c", look], check=False, cwd=CHILDREN)  # noqa: S603
    except OSError as reason:
        raise InvalidParameter(
            f"{variable} names {python!r}, which cannot be run ({reason}); name interpreters, "
            f"separated by {os.pathsep!r}."
        ) from reason
    return done.returncode == 0


# --- jobs and answers -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Answers:
    """What a child answered, and how its process failed if it did."""

    results: Sequence[Mapping[str, Any]]
    failure: str | None = None


def ask(python: str | Path, script: str, job: Mapping[str, Any], limit: float) -> Answers:
    """Hand a job to a script of `children/`; return what it answers within some seconds."""
    with tempfile.TemporaryDirectory() as folder:
        asked, answered = Path(folder) / "job.json", Path(folder) / "answers.jsonl"
        asked.write_text(json.dumps(job, default=lambda array: array.tolist()), encoding="utf-8")
        failure = None
        try:
            finished = subprocess.run(  # noqa: S603  an interpreter of ours, or the user's
                [str(python), str(CHILDREN / script), str(asked), str(answered)],
                env={**os.environ, **ONE_THREAD},
                cwd=folder,
                capture_output=True,
                text=True,
                check=False,
                timeout=limit,
            )
        except subprocess.TimeoutExpired:
            failure = f"{NO_ANSWER} after {limit:g} s."
        else:
            if finished.returncode:
                failure = f"Exit {finished.returncode}: {_last_line(finished.stderr)}"
        text = answered.read_text(encoding="utf-8") if answered.exists() else ""
    whole = [line for line in text.splitlines(keepends=True) if line.endswith("\n")]
    return Answers([json.loads(line) for line in whole], failure)


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no message"
