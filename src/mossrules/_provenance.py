"""What made a result: releases, and the commit where the package is in a clone."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path

from mossrules._version import __version__

__all__ = ["provenance"]

LIBRARIES = ("numpy", "scikit-learn", "numba")


@cache
def provenance() -> Mapping[str, str]:
    """Return releases by name, and `commit`, which is empty outside of a clone."""
    # Those that compute; others only read tables and draw.
    libraries = {name: version(name) for name in LIBRARIES}
    found = {"mossrules": __version__, "python": platform.python_version(), **libraries}
    return {**found, "commit": _commit()}


def _commit() -> str:
    """Return the commit of the source, marked where files have changed since; empty if none."""
    source = Path(__file__).parents[2]
    if not (source / ".git").exists():
        return ""
    try:
        found = subprocess.run(  # noqa: S603  of fixed arguments
            ("git", "-C", str(source), "describe", "--always", "--dirty", "--abbrev=12"),  # noqa: S607  the user's
            capture_output=True,
            text=True,
            check=True,
            timeout=10,
        )
    except (OSError, subprocess.SubprocessError):  # no git, or a folder that it will not read
        return ""
    return found.stdout.strip()
