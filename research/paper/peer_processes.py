"""Other packages, each in an interpreter that has it: data out, and what it found back, as JSON.

Nothing is installed here. A peer is looked for in the interpreters that the environment variable
MOSSRULES_PEERS names (separated as in PATH), and then in this one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from mossrules.exceptions import InvalidParameter

__all__ = ["PEERS", "VARIABLE", "Answers", "Peer", "ask", "interpreter_of"]

VARIABLE = "MOSSRULES_PEERS"
SCRIPT = Path(__file__).parent / "peer_scripts" / "fit_peer.py"
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)


@dataclass(frozen=True)
class Peer:
    """A learner of another package."""

    key: str  # in the script
    module: str
    package: str  # to install
    how: str  # it is kept to so many rules

    @property
    def remedy(self) -> str:
        """How to have it measured."""
        return (
            f"No interpreter has {self.module}; pip install {self.package} into an environment and "
            f"put its python into {VARIABLE}."
        )


PEERS = {
    "SIRUS (PyPI)": Peer("sirus", "sirus", "sirus", "`num_rules`; rules of weight 0 are none"),
    "RuleFit (imodels)": Peer(
        "rulefit", "imodels", "imodels", "`max_rules`, which counts linear terms too"
    ),
    "RuleFit, rules only (imodels)": Peer(
        "rulefit-rules", "imodels", "imodels", "`max_rules`, with `include_linear=False`"
    ),
    "FIGS (imodels)": Peer(
        "figs", "imodels", "imodels", "`max_rules`, which counts splits; its leaves are the rules"
    ),
    "EBM (interpret)": Peer("ebm", "interpret", "interpret-core", "no rules: curves, a ceiling"),
}


@dataclass(frozen=True)
class Answers:
    """One answer for each fold that was answered, and how the process failed if it did."""

    folds: Sequence[Mapping[str, Any]]
    failure: str | None = None


def interpreter_of(peer: Peer) -> str | None:
    """Return the first interpreter that has a peer."""
    named = [each for each in os.environ.get(VARIABLE, "").split(os.pathsep) if each]
    path = os.environ.get("PYTHONPATH", "")
    return next((each for each in (*named, sys.executable) if _has(each, peer.module, path)), None)


@cache
def _has(python: str, module: str, _path: str) -> bool:
    """Tell whether an interpreter, with such a PYTHONPATH, has a module."""
    look = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({module!r}) is None)"
    try:
        found = subprocess.run([python, "-c", look], check=False, cwd=SCRIPT.parent)  # noqa: S603
    except OSError as reason:
        raise InvalidParameter(
            f"{VARIABLE} names {python!r}, which cannot be run ({reason}); name interpreters, "
            f"separated by {os.pathsep!r}."
        ) from reason
    return found.returncode == 0


def ask(python: str, job: Mapping[str, Any], limit: float) -> Answers:
    """Return what a peer answers within some seconds; a crash leaves what came before it."""
    with tempfile.TemporaryDirectory() as folder:
        asked, answered = Path(folder) / "job.json", Path(folder) / "answers.jsonl"
        asked.write_text(json.dumps(job), encoding="utf-8")
        failure = None
        try:
            finished = subprocess.run(  # noqa: S603  an interpreter that the user named
                [python, str(SCRIPT), str(asked), str(answered)],
                env={**os.environ, **ONE_THREAD},
                cwd=folder,
                capture_output=True,
                text=True,
                check=False,
                timeout=limit,
            )
        except subprocess.TimeoutExpired:
            failure = f"No answer after {limit:g} s."
        else:
            if finished.returncode:
                failure = f"Exit {finished.returncode}: {_last_line(finished.stderr)}"
        text = answered.read_text(encoding="utf-8") if answered.exists() else ""
    whole = [line for line in text.splitlines(keepends=True) if line.endswith("\n")]
    return Answers([json.loads(line) for line in whole], failure)


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no message"
