"""Floors near the largest stability leave few selections, and so little work.

The paper draws seconds for one integer program of its cutting plane against eps, at k = 20, and
does not name the data; here they are those of its other figure at k = 20. Beside the integer
programs stands the time of the whole solve, of the authors' algorithm and of branch and bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from research.paper.authors import TOLERANCE
from research.paper.drawing import PALETTE, Figure, finish, new_figure
from research.paper.framework import Experiment, ExperimentContext, Presentation, Row, TableOf
from research.paper.measuring import problem_of
from research.paper.solvers import (
    AUTHORS_GUROBI,
    AUTHORS_HIGHS,
    LIMIT,
    OURS,
    OURS_FINE,
    PROVEN,
    contradictions,
    measure_down,
)

__all__ = ["EXPERIMENT", "Settings"]


@dataclass(frozen=True)
class Settings:
    """What is run."""

    dataset: str = "ESL"
    max_rules: int = 20
    least: float = 0.75  # share of the largest stability at the lowest floor
    floors: int = 26
    ways: tuple[str, ...] = (AUTHORS_GUROBI, AUTHORS_HIGHS, OURS, OURS_FINE)
    gap: float = TOLERANCE
    seconds: float = 40.0  # for each floor
    n_trees: int | None = None  # as many as the protocol has
    seed: int = 0


def tasks(settings: Settings) -> Sequence[str]:
    """Return the ways to solve."""
    return settings.ways


def run(settings: Settings, task: str, context: ExperimentContext) -> list[Row]:
    """Return one row for each floor, from the largest stability down."""
    problem = problem_of(context.load(settings.dataset), context, settings)
    shares = np.linspace(1.0, settings.least, settings.floors)
    floors = np.floor(shares * problem.max_stability).astype(np.int64).tolist()
    rows = measure_down(task, problem, floors, gap=settings.gap, limit=settings.seconds)
    shared = {"dataset": settings.dataset, "candidates": problem.m, "gamma": problem.gamma}
    for row in rows:
        whole, masters = row["master_cpu_seconds"], row["steps"]
        row["cpu_seconds_per_master"] = whole / masters if whole and masters else None
    return [{**shared, **row} for row in rows]


# --- showing --------------------------------------------------------------------------------------


def present(settings: Settings, rows: Sequence[Row]) -> Presentation:
    """Return the seconds of each way, floor by floor."""
    lines = []
    for floor in dict.fromkeys(row["floor"] for row in rows):
        own = {row["way"]: row for row in rows if row["floor"] == floor}
        line: Row = {"eps": floor, "share": f"{next(iter(own.values()))['share']:.2f}"}
        for way, row in own.items():
            line[f"{way}: CPU s"] = _seconds(row)
            if way in (AUTHORS_GUROBI, AUTHORS_HIGHS):
                line[f"{way}: programs"] = row["steps"]
        lines.append(line)
    found = contradictions(rows, lambda row: row["floor"])
    notes = [
        (
            f"{settings.dataset}, {rows[0]['candidates']} candidates, k = {settings.max_rules}, "
            f"gamma = {rows[0]['gamma']:g}, to {settings.gap:.0%} (and ours to 0.1 % as well), one "
            f"thread. `>`: not solved within {settings.seconds:g} wall seconds; after two such "
            f"floors the lower ones are not tried. {len(found)} contradictions between bounds and "
            "losses."
        ),
        (
            "The paper has a figure without numbers, of seconds for one integer program by Gurobi; "
            "it says that they fall drastically as eps grows."
        ),
    ]
    return Presentation(
        [TableOf("Seconds against the floor", lines, notes)],
        {"sandwich": lambda: draw(settings, rows)},
    )


def _seconds(row: Row) -> str:
    if row["cpu_seconds"] is None:
        return str(row["status"])
    return f"{'> ' if row['status'] == LIMIT else ''}{row['cpu_seconds']:.3g}"


STYLES = {
    AUTHORS_GUROBI: ("^", "vermillion"),
    AUTHORS_HIGHS: ("v", "orange"),
    OURS: ("o", "blue"),
    OURS_FINE: ("s", "sky"),
}


def draw(settings: Settings, rows: Sequence[Row]) -> Figure:
    """Draw seconds of one integer program, and of whole solves, against the floor."""
    figure = new_figure(10.4, 4.4)
    panels = (
        ("cpu_seconds_per_master", "CPU seconds of one integer program"),
        ("cpu_seconds", "CPU seconds of the whole solve"),
    )
    for place, (name, label) in enumerate(panels, 1):
        ax = figure.add_subplot(1, 2, place)
        for way, (marker, colour) in STYLES.items():
            own = [row for row in rows if row["way"] == way and row[name] is not None]
            if not own:
                continue
            style: dict[str, Any] = {"color": PALETTE[colour], "markersize": 4}
            x, y = [row["floor"] for row in own], [row[name] for row in own]
            ax.plot(x, y, "-", linewidth=0.8, color=PALETTE[colour])
            for fill, wanted in ((PALETTE[colour], True), ("none", False)):
                some = [row for row in own if (row["status"] == PROVEN) is wanted]
                x, y = [row["floor"] for row in some], [row[name] for row in some]
                ax.plot(x, y, marker, mfc=fill, label=way if wanted else None, **style)
        ax.set_yscale("log")
        ax.set_title(f"{settings.dataset}, k = {settings.max_rules}", fontsize=10)
        finish(ax, x="floor eps (trees, summed); hollow: not solved in time", y=label)
    return figure


EXPERIMENT = Experiment(
    "sandwich",
    "Choices near the largest stability are the easiest",
    "Seconds to solve against the stability floor: the nearer to the largest, the easier.",
    Settings(),
    Settings(least=0.93, floors=8, n_trees=200, seconds=2.0),
    tasks,
    run,
    present,
)
