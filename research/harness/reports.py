"""Reports of benchmarks: figures against what was asked of them, tables, and where they go."""

from __future__ import annotations

import json
import operator
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from research.harness.clone import environment, write_text

__all__ = [
    "Bound",
    "Figure",
    "Report",
    "Row",
    "Skipped",
    "conflict_figure",
    "say",
    "show",
    "write_report",
]

QUIET_CORES = 0.1  # that other processes may use before the figures carry a warning
COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "<": operator.lt,
}

Row = dict[str, Any]


class Skipped(Exception):
    """A subject cannot be measured here; the message says why."""


@dataclass(frozen=True)
class Bound:
    """What was asked of a figure."""

    relation: Literal[">=", "<=", "<"]
    value: float

    def __str__(self) -> str:
        return f"{self.relation} {self.value:g}"


@dataclass(frozen=True)
class Figure:
    """One measured number, what was asked of it, and the numbers it was made from."""

    name: str
    measured: float
    unit: str = ""
    asked: Bound | None = None
    parts: Row = field(default_factory=dict)

    @property
    def met(self) -> bool | None:
        """Whether the figure is as asked; None when nothing was."""
        if self.asked is None:
            return None
        return COMPARE[self.asked.relation](self.measured, self.asked.value)


def conflict_figure(what: str, where: Sequence[str]) -> Figure:
    """Return how often one side's bound rules out what the other found, and where; asked is never.

    A bound holds for every selection, so a conflict is an error of one side.
    """
    name = f"{what} where one side's bound rules out what the other found"
    return Figure(name, float(len(where)), asked=Bound("<=", 0), parts={what: [*where]})


@dataclass
class Report:
    """The outcome of one subject: figures, tables of detail, and notes on how it was measured."""

    subject: str
    figures: list[Figure] = field(default_factory=list)
    tables: dict[str, list[Row]] = field(default_factory=dict)
    settings: Row = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    skipped: str | None = None
    busy_cores: float | None = None  # used by other processes meanwhile


def write_report(report: Report, folder: Path, *, quick: bool, taken: float) -> Path:
    """Write the report as JSON."""
    content = {
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(taken, 1),
        "quick": quick,
        "environment": environment(),
        **asdict(report),
        "figures": [{**asdict(figure), "met": figure.met} for figure in report.figures],
    }
    path = folder / f"{report.subject}{'-quick' if quick else ''}.json"
    write_text(path, json.dumps(content, indent=1))
    return path


def show(report: Report, *, quick: bool) -> str:
    """Return the report as text: figures against what was asked, then tables and notes."""
    lines = [f"== {report.subject} =="]
    if report.skipped is not None:
        return f"{lines[0]}\nskipped: {report.skipped}\n"
    rows = [
        {
            "figure": figure.name,
            "asked": "" if figure.asked is None else str(figure.asked),
            "measured": f"{_number(figure.measured)} {figure.unit}".rstrip(),
            "": _verdict(figure, quick=quick),
        }
        for figure in report.figures
    ]
    lines += _table(rows)
    for title, table in report.tables.items():
        lines += ["", f"{title}:", *_table(table)]
    lines += ["", *(f"- {note}" for note in report.notes)]
    if report.busy_cores is not None and report.busy_cores > QUIET_CORES:
        lines.append(
            f"WARNING: other processes kept {report.busy_cores:.2f} cores busy; "
            "measure again on a quiet machine before trusting ratios of times."
        )
    return "\n".join(lines) + "\n"


def _verdict(figure: Figure, *, quick: bool) -> str:
    if figure.met is None:
        return ""
    if quick:
        return "(asked of full size)"
    return "met" if figure.met else "MISSED"


def _table(rows: Sequence[Row]) -> list[str]:
    if not rows:
        return []
    cells = [list(rows[0]), *([_number(row.get(key, "")) for key in rows[0]] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    ]


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def say(text: str) -> None:
    """Print a line of progress."""
    print(text, file=sys.stderr, flush=True)
