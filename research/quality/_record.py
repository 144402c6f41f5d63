"""What one part found: a file in docs/quality, from which the page is written."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from mossrules._provenance import provenance
from research.harness.clone import ROOT, commit_of, write_text

__all__ = ["FOLDER", "WRITTEN", "Cell", "Record", "made_by", "read_records"]

FOLDER = ROOT / "docs" / "quality"
WRITTEN = ("docs/quality", "docs/quality.md", "docs/soak.md")  # by the parts themselves

Cell = str | int | float


@cache
def made_by() -> Mapping[str, str]:
    """Return the library's provenance, with the commit of this clone when it was first asked for.

    That is before a part is run: what is committed or edited meanwhile did not make its record.
    """
    return {**provenance(), "commit": commit_of(ROOT, WRITTEN)}


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
        text = json.dumps(asdict(self), indent=1, ensure_ascii=False)
        write_text(folder / f"{part}.json", text + "\n")


def read_records(folder: Path = FOLDER) -> dict[str, Record]:
    """Return the records that are kept, by part."""
    return {
        path.stem: Record(**json.loads(path.read_text("utf-8")))
        for path in sorted(folder.glob("*.json"))
    }
