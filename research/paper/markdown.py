"""Tables and pages in Markdown."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from research.harness.tables import escape, markdown_table
from research.paper.framework import Experiment, Presentation, Row, TableOf

__all__ = ["PROTOCOLS", "QUICK", "makers", "page", "table"]

PROTOCOLS = {
    "paper": (
        "Protocol `paper`: one-hot columns, medians of training rows for missing values, 10 bins, "
        "the authors' gammas, and no rule that ties with the next at the end of the list. Bins are "
        "cut on training rows only; most of the authors' notebooks rank each test fold by itself, "
        "so that a test row's bin depends on other test rows. Choices are exact to 1 %, theirs "
        "to 5 %."
    ),
    "ours": (
        "Protocol `ours`: categories and missing values as they are, and the defaults of this "
        "package."
    ),
}

QUICK = "A quick look, with less data or fewer folds than the full run: not to be quoted."


def page(
    experiment: Experiment[Any],
    settings: Mapping[str, Any],
    rows: Sequence[Row],
    shown: Presentation,
    figures: Sequence[str],
) -> str:
    """Return the page of an experiment: what was found, how, and by what."""
    parts = [f"# {experiment.name}", experiment.title, PROTOCOLS[settings["protocol"]]]
    parts += [QUICK] if settings["quick"] else []
    for each in shown.tables:
        parts += [f"## {each.heading}", *([table(each)] if each.rows else []), *each.notes]
    parts += [f"![{name}]({name})" for name in figures]
    parts += ["## How it was made", _settings(settings), makers(rows)]
    return "\n\n".join(parts) + "\n"


def table(found: TableOf) -> str:
    """Return rows as a table; columns that a row does not have stay empty."""
    names = list(dict.fromkeys(name for row in found.rows for name in row))
    numeric = [name for name in names if all(_is_number(row.get(name)) for row in found.rows)]
    cells = [[_cell(row.get(name)) for name in names] for row in found.rows]
    return "\n".join(markdown_table(names, cells, right=numeric, spaced=True))


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float):
        return f"{value:.3f}" if 0.1 <= abs(value) < 1000 or value == 0 else f"{value:.4g}"
    return escape(str(value))


def _settings(settings: Mapping[str, Any]) -> str:
    return "\n".join(f"* {name}: {_plain(value)}" for name, value in settings.items())


def _plain(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def makers(rows: Sequence[Row]) -> str:
    """Return the releases that made the rows: one line for each, where a run had several."""
    names = ("mossrules", "commit", "python", "numpy", "scikit-learn", "numba")
    makers = dict.fromkeys(
        ", ".join(f"{name} {row[name]}" for name in names if row.get(name)) for row in rows
    )
    seconds = {row["task"]: row["task_seconds"] for row in rows}
    taken = f"{len(seconds)} tasks, {sum(seconds.values()):.0f} s in all."
    return "\n".join([*(f"Made by {maker}." for maker in makers), taken])
