"""What one part found: a file in docs/quality, from which the page is written."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from mossrules._files import write_file
from mossrules._provenance import provenance

__all__ = ["FOLDER", "ROOT", "Cell", "Record", "commit_of", "made_by", "read_records"]

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "quality"
WRITTEN = ("docs/quality", "docs/quality.md", "docs/soak.md")  # by the parts themselves

Cell = str | int | float


@cache
def made_by() -> Mapping[str, str]:
    """Return the library's provenance, with the commit of this clone when it was first asked for.

    That is before a part is run: what is committed or edited meanwhile did not make its record.
    """
    return {**provenance(), "commit": commit_of(ROOT)}


def commit_of(clone: Path) -> str:
    """Return the commit of a clone, marked where anything but records differs.

    It is empty outside of a clone, and where there is no git or one that will not read the folder.

    Unlike the library's own mark, this one counts files that git does not know yet: a new test or
    module takes part in what is run.
    """
    if not (clone / ".git").exists():
        return ""
    others = (".", *(f":(exclude){each}" for each in WRITTEN))
    try:
        commit = _git(clone, "rev-parse", "--short=12", "HEAD")
        changed = _git(clone, "status", "--porcelain", "--untracked-files=all", "--", *others)
    except (OSError, subprocess.SubprocessError):
        return ""
    return commit + ("-dirty" if changed else "")


def _git(clone: Path, *words: str) -> str:
    done = subprocess.run(  # noqa: S603  of fixed arguments
        ("git", "-C", str(clone), *words),  # noqa: S607  the user's
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


@dataclass(frozen=True, kw_only=True)
class Record:
    """What was asked, what was seen, and how to see it again."""

    title: str
    asked: str  # what ought to hold, a sentence
    seen: str  # what was counted, in a line
    passed: bool
    command: str  # that does it again
    seconds: float = 0.0
    table: Sequence[Mapping[str, Cell]] = ()  # details: rows with the same columns
    notes: Sequence[str] = ()  # sentences about what was left out, or how it came about
    made_by: Mapping[str, str] = field(default_factory=made_by)
    day: str = field(default_factory=_today)

    def save(self, part: str, folder: Path = FOLDER) -> None:
        """Keep the record of a part, in place of an earlier one."""
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(asdict(self), indent=1, ensure_ascii=False)
        write_file(folder / f"{part}.json", text + "\n")


def read_records(folder: Path = FOLDER) -> dict[str, Record]:
    """Return the records that are kept, by part."""
    return {
        path.stem: Record(**json.loads(path.read_text("utf-8")))
        for path in sorted(folder.glob("*.json"))
    }
