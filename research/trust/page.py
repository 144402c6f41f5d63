"""The page of the trust table: means over tables, and R2 and Dice of each table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mossrules.evaluation.assessment import COLUMNS
from research.harness.clone import write_text
from research.harness.records import Record
from research.harness.tables import escape, markdown_table
from research.trust.methods import METHODS
from research.trust.tables import TABLES

__all__ = ["page", "write_page"]

Row = Mapping[str, Any]
WITHOUT = {False: ("skill", "auc"), True: ("r2",)}
SCORE = {False: "r2", True: "auc"}


def write_page(record: Path, path: Path) -> None:
    """Write the page of what a run has recorded."""
    run = Record.read(record)
    rows = [row for rows in run.tasks.values() for row in rows]
    # As they are named, and not as they were finished.
    tables, methods = {name: i for i, name in enumerate(TABLES)}, list(METHODS)
    rows.sort(key=lambda row: (tables[row["table"]], methods.index(row["method"])))
    write_text(path, page(rows, run.settings))


def page(rows: Sequence[Row], settings: Row) -> str:
    """Return the page in Markdown."""
    left_out = "without a tenth of the rows" if settings["scheme"] == "folds" else "of bootstraps"
    about = (
        f"At most {settings['rules']} rules; {settings['refits']} refits {left_out}, each with its "
        f"own seed; at most {settings['max_rows']:,} rows of a table. What the columns are is said "
        "in [comparing methods](../../comparing.md#the-trust-table). Made by `python -m "
        "research.trust`."
    )
    title = f"# The trust table: {settings['rules']} rules, {settings['scheme']}"
    lines = [title, "", about]
    for classes, title in ((False, "Numbers"), (True, "Classes")):
        own = [row for row in rows if row["classes"] is classes]
        if own:
            lines += ["", f"## {title}", "", *means(own, classes=classes)]
            lines += ["", f"### {title}, table by table", "", *by_table(own, classes=classes)]
    failures = [row for row in rows if row["failure"]]
    if failures:
        lines += ["", "## Failures", ""]
        by_reason: dict[tuple[str, str], list[str]] = {}
        for row in failures:
            by_reason.setdefault((row["method"], row["failure"]), []).append(row["table"])
        lines += [
            f"* {method}, on {', '.join(tables)}: {reason}"
            for (method, reason), tables in by_reason.items()
        ]
    return "\n".join(lines) + "\n"


def means(rows: Sequence[Row], *, classes: bool) -> list[str]:
    """Return the means over the tables that all methods with figures have."""
    names = list(dict.fromkeys(row["method"] for row in rows))
    score = SCORE[classes]
    done = {
        name: {r["table"] for r in rows if r["method"] == name and known(r, score)}
        for name in names
    }
    there = [name for name in names if done[name]]
    common = set.intersection(*(done[name] for name in there)) if there else set()
    measures = [name for name in COLUMNS if name not in WITHOUT[classes]]
    headings = ["method", *(COLUMNS[name][0] for name in measures)]
    lines = []
    for name in there:
        own = [row for row in rows if row["method"] == name and row["table"] in common]
        cells = [shown([row[m] for row in own if known(row, m)], COLUMNS[m][1]) for m in measures]
        lines.append([escape(name), *cells])
    table = markdown_table(headings, lines, right=headings[1:])
    return [f"Means over the {len(common)} tables that all methods below have.", "", *table]


def by_table(rows: Sequence[Row], *, classes: bool) -> list[str]:
    """Return score and Dice as printed of each method on each table."""
    names = list(dict.fromkeys(row["method"] for row in rows))
    score = SCORE[classes]
    found = {(row["table"], row["method"]): row for row in rows}
    lines = []
    for table in dict.fromkeys(row["table"] for row in rows):
        cells = [_pair(found.get((table, name)), score) for name in names]
        lines.append([table, *cells])
    heading = "R2" if score == "r2" else "AUC"
    return [
        f"{heading} / Dice as printed.",
        "",
        *markdown_table(["table", *map(escape, names)], lines, right=names),
    ]


def known(row: Row, measure: str) -> bool:
    """Tell whether a row has a measure."""
    return row[measure] is not None and not np.isnan(row[measure])


def shown(values: Sequence[float], form: str) -> str:
    """Return a mean, or a dash where there is none."""
    return format(float(np.mean(values)), form) if values else "-"


def _pair(row: Row | None, score: str) -> str:
    if row is None:
        return ""
    pair = [f"{row[name]:.3f}" if known(row, name) else "-" for name in (score, "dice")]
    return " / ".join(pair)
