"""Where things are, and which commit, releases and machine a result belongs to."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from mossrules._files import write_file

__all__ = ["DATA", "ROOT", "commit_of", "environment", "git", "write_text"]

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"  # tables that are kept beside the clone, not in it
PACKAGES = (
    *("mossrules", "numpy", "scipy", "scikit-learn", "numba"),
    *("pandas", "threadpoolctl", "gurobipy"),
)


def git(*words: str, clone: Path = ROOT) -> str | None:
    """Return what git says of a clone; None where there is no git, or it does not want to."""
    try:
        done = subprocess.run(  # noqa: S603  of our own words
            ("git", "-C", str(clone), *words),  # noqa: S607  the user's
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def commit_of(clone: Path, written: Sequence[str] = ()) -> str:
    """Return the commit of a clone, marked where anything but what is `written` differs.

    It is empty outside of a clone, and where there is no git or one that will not read the folder.

    Unlike the library's own mark, this one counts files that git does not know yet: a new test or
    module takes part in what is run.
    """
    if not (clone / ".git").exists():
        return ""
    others = (".", *(f":(exclude){path}" for path in written))
    commit = git("rev-parse", "--short=12", "HEAD", clone=clone)
    changed = git("status", "--porcelain", "--untracked-files=all", "--", *others, clone=clone)
    if commit is None or changed is None:
        return ""
    return commit + ("-dirty" if changed else "")


def environment() -> dict[str, Any]:
    """Return the versions and the machine that figures belong to."""
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpus": os.cpu_count(),
        "load_average": list(os.getloadavg()) if hasattr(os, "getloadavg") else None,
        "packages": {name: _release(name) for name in PACKAGES},
        "commit": git("rev-parse", "HEAD"),
        "uncommitted_changes": bool(git("status", "--porcelain", "--", "src", "research")),
    }


def _release(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:  # run from a source tree that is not installed
        return None


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all, in a folder that is made where there is none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, text)
