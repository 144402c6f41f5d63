"""Results of a long subject, kept part by part so that an interrupted run can go on."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

from research.benchmarks._harness import ROOT, Row, environment, write_json


class Partial:
    """Finished parts of a run; those of another commit, code or settings are not taken up."""

    def __init__(self, path: Path, settings: Row) -> None:
        self.path = path
        made_with = environment()
        self._stamp: Row = {
            "settings": json.loads(json.dumps(settings)),
            "sources": digest_of_sources(),
            **{key: made_with[key] for key in ("commit", "python", "packages", "cpus")},
        }
        self._parts: dict[str, Any] = {}
        if path.exists():
            stored = json.loads(path.read_text(encoding="utf-8"))
            if stored["stamp"] == self._stamp:
                self._parts = stored["parts"]
            else:
                say(f"{path.name} is of other code or settings; starting afresh")

    def get(self, name: str) -> Any | None:
        """Return a finished part; None when it is not finished."""
        return self._parts.get(name)

    def put(self, name: str, part: Any) -> None:
        """Store a finished part."""
        self._parts[name] = part
        write_json(self.path, {"stamp": self._stamp, "parts": self._parts})

    def delete(self) -> None:
        """Remove the file: the run is complete."""
        self.path.unlink(missing_ok=True)


def digest_of_sources() -> str:
    """Return a digest of the package and the benchmarks as they are on disk."""
    digest = hashlib.sha256()
    for folder in (ROOT / "src", ROOT / "research"):
        for path in sorted(folder.rglob("*.py")):
            digest.update(str(path.relative_to(ROOT)).encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def say(text: str) -> None:
    """Print a line of progress."""
    print(text, file=sys.stderr, flush=True)
