"""What one part found: a file in docs/quality, from which the page is written."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from mossrules._files import write_file
from mossrules._provenance import provenance

__all__ = ["FOLDER", "ROOT", "Cell", "Record", "read_records"]

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "quality"

Cell = str | int | float


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
    made_by: Mapping[str, str] = field(default_factory=provenance)
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
