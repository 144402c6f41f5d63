"""Nearly the most frequent rules can fit much better than the most frequent ones.

The paper's second figure: rules sorted by count, windows of k of them that slide down, and the loss
of each window. A window is one selection of its stability; the frontier has the best of each, which
is what MOSS is for. The paper has 1000 candidates; how many there are here, the table says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mossrules._typing import IntArray
from mossrules.frontier import solve_frontier
from mossrules.solver import Problem
from research.paper.drawing import PALETTE, Figure, finish, new_figure
from research.paper.framework import Experiment, ExperimentContext, Presentation, Row, TableOf
from research.paper.measuring import problem_of

__all__ = ["EXPERIMENT", "Settings", "windows"]


@dataclass(frozen=True)
class Settings:
    """What is run."""

    dataset: str = "ESL"
    max_rules: int = 20
    windows: int = 10  # beside the first one
    n_trees: int | None = None  # as many as the protocol has
    seconds: float = 600.0  # for the frontier
    seed: int = 0


def tasks(settings: Settings) -> list[str]:
    """Return the one task that there is."""
    return [settings.dataset]


def run(settings: Settings, task: str, context: ExperimentContext) -> list[Row]:
    """Return the windows and the points of the frontier down to the last of them."""
    problem = problem_of(context.load(task), context, settings)
    found = windows(problem, settings.windows + 1)
    frontier = solve_frontier(
        problem,
        "complete",
        min_stability=problem.stability(found[-1]),
        time_budget=settings.seconds,
    )
    shared = {"dataset": task, "candidates": problem.m, "complete": frontier.complete}
    points = [
        *(("window", problem.stability(each), problem.loss(each), None) for each in found),
        *(("frontier", int(each.stability), each.loss, each.gap) for each in frontier.points),
    ]
    return [
        {
            **shared,
            "kind": kind,
            "stability": stability,
            "share": stability / problem.max_stability,
            "loss": loss,
            "gap": gap,
        }
        for kind, stability, loss, gap in points
    ]


def windows(problem: Problem, most: int) -> list[IntArray]:
    """Return windows over the rules by descending count, each less stable than the one before."""
    order = np.argsort(-problem.statistics.counts, kind="stable")
    found: dict[int, IntArray] = {}
    for first in range(problem.m - problem.size + 1):
        window = np.sort(order[first : first + problem.size])
        found.setdefault(problem.stability(window), window)
    return list(found.values())[:most]


# --- showing --------------------------------------------------------------------------------------


def present(settings: Settings, rows: Sequence[Row]) -> Presentation:
    """Return windows beside the best selections of at least their stability."""
    ours = [row for row in rows if row["kind"] == "frontier"]
    beside = []
    for row in (each for each in rows if each["kind"] == "window"):
        best = min(point["loss"] for point in ours if point["stability"] >= row["stability"])
        beside.append({
            "stability": row["stability"],
            "share": row["share"],
            "loss of the window": row["loss"],
            "least loss": best,
            "less by": f"{1 - best / row['loss']:.1%}",
        })  # fmt: skip
    known = "every point of it" if rows[0]["complete"] else "as far as the time allowed"
    sizes = f"{settings.dataset}, {rows[0]['candidates']} candidates, k = {settings.max_rules}."
    notes = [
        (
            f"{sizes} The first window has the largest stability; where counts tie, others may "
            f"have it too, and fit better. The frontier ({known}) has {len(ours)} points down to "
            "the stability of the last window."
        ),
        (
            "The paper has a figure without numbers for this; it says that windows a little less "
            "stable have a much lower loss."
        ),
    ]
    return Presentation(
        [TableOf("Windows of frequent rules, and what can be had", beside, notes)],
        {"sliding-window": lambda: draw(settings, rows)},
    )


def draw(settings: Settings, rows: Sequence[Row]) -> Figure:
    """Draw the windows over the frontier."""
    figure = new_figure(6.4, 4.4)
    ax = figure.add_subplot()
    points = {
        kind: [(row["stability"], row["loss"]) for row in rows if row["kind"] == kind]
        for kind in ("window", "frontier")
    }
    grey: dict[str, Any] = {"color": PALETTE["grey"], "markersize": 3, "linewidth": 1.0}
    grey["drawstyle"] = "steps-post"  # points come from the right
    ax.plot(*zip(*points["frontier"], strict=True), "o-", label="frontier (MOSS)", **grey)
    first, *others = points["window"]
    if others:
        ax.plot(*zip(*others, strict=True), "o", color=PALETTE["blue"], label="windows further on")
    ax.plot(*first, "s", color=PALETTE["vermillion"], label="most frequent rules")
    ax.set_title(f"{settings.dataset}, k = {settings.max_rules}", fontsize=10)
    finish(
        ax,
        x="in-sample stability $H_1$ (trees that have the chosen rules, summed)",
        y="in-sample loss $H_2$ (target of variance 1)",
    )
    return figure


EXPERIMENT = Experiment(
    "sliding-window",
    "What an exact choice gains over the most frequent rules",
    "In-sample stability against loss of windows over the most frequent rules, and the frontier.",
    Settings(),
    Settings(windows=5, n_trees=200, seconds=30.0),
    tasks,
    run,
    present,
)
