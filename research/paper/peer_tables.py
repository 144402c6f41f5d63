"""What is shown of `peers`: means over datasets, every dataset, and a figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mossrules.evaluation.agreement import SAME_ROWS
from research.paper.drawing import COLOURS, MARKERS, Figure, finish, new_figure
from research.paper.framework import Presentation, Row, TableOf
from research.paper.measuring import mark_note, marked, mean_of
from research.paper.peer_packages import PEERS, VARIABLE
from research.paper.peer_rules import BINS
from research.paper.protocols import DEFAULT

__all__ = ["draw", "means", "present"]

SAME = (
    "Rules with the same features and the same ranges of bins are the same. Ours are made on bins, "
    f"and compared on these. A threshold of another package stands for the nearest of the cuts "
    f"that {BINS} bins of the fold's training rows have, nearest in training rows between them: "
    "for SIRUS, which has such bins, this changes nothing; those with thresholds of their own "
    "gain, as near ones count as one. A linear term is found again if its column is. `Dice on "
    f"rows` asks for no bins: rules are the same if they share {SAME_ROWS:.0%} of the rows on "
    "which either holds, among all rows of the table."
)
ONE_CONDITION = (
    "SIRUS of PyPI takes inner nodes of its trees for rules, and so has rules of one condition, "
    "which come out again more often; so do RuleFit and our default. MOSS-H and our SIRUS take "
    "leaves, of mostly two conditions."
)
SEEN = (
    "The same folds for all. Other packages see numbers: a column for each level of a category, "
    "medians of the training rows for what is missing. Ours see what the protocol says. Seconds "
    "are those of one fit on one thread, the median over folds, start and compiling left out; on a "
    "busy machine those of the processor (CPU) are the ones to compare."
)


def present(settings: Any, rows: Sequence[Row]) -> Presentation:
    """Return means, every dataset, what was not measured, and the figure."""
    measured = [row for row in rows if row["r2"] is not None]
    columns = ("learner", "r2", "r2_se", "dice", "dice_se", "dice_rows", "terms", "linear")
    each = [
        {
            "dataset": marked(row),
            **{name: row[name] for name in columns},
            "seconds": row["seconds"],
            "CPU": row["cpu_seconds"],
            "failed": row["failed"],
        }
        for dataset in settings.datasets
        for row in measured
        if row["dataset"] == dataset
    ]
    tables = [
        TableOf("What one would pick instead", means(measured), notes(settings)),
        TableOf("Each dataset", each, mark_note(rows)),
    ]
    failed = {(row["learner"], row["failure"]): row for row in rows if row["failure"] is not None}
    if failed:
        why = [
            {"learner": row["learner"], "dataset": row["dataset"], "why": row["failure"]}
            for row in failed.values()
        ]
        tables.append(TableOf("Not measured, or not everywhere", why))
    figures = {"peers": lambda: draw(means(measured))} if measured else {}
    return Presentation(tables, figures)


def notes(settings: Any) -> list[str]:
    """Return what to know before reading the figures."""
    limits = "; ".join(f"{name}: {PEERS[name].how}" for name in settings.peers)
    return [
        (
            f"k = {settings.max_rules}, {settings.folds} folds, means over datasets: "
            f"{', '.join(settings.datasets)}. They were chosen for being small "
            "to middle (159 to 4177 rows), so that everyone can run them, and for having numbers, "
            f"categories and gaps. {DEFAULT} is our default."
        ),
        (
            f"Otherwise every package has its own defaults. How each is kept to "
            f"{settings.max_rules}: {limits}. `terms` is how many distinct ones that makes, linear "
            "ones included."
        ),
        SAME,
        ONE_CONDITION,
        SEEN,
        (
            f"Packages are looked for in the interpreters of {VARIABLE}, then in the one that runs "
            "this; nothing is installed."
        ),
    ]


def means(rows: Sequence[Row]) -> list[Row]:
    """Return the means of each learner over the datasets that it did, and their number."""
    found = []
    for learner in dict.fromkeys(row["learner"] for row in rows):
        own = [row for row in rows if row["learner"] == learner]
        ruled = any(row["dice"] is not None for row in own)
        found.append({
            "learner": learner,
            "version": own[0]["version"],
            "datasets": len(own),
            "R2": mean_of(own, "r2"),
            "Dice": mean_of(own, "dice") if ruled else None,
            "Dice on rows": mean_of(own, "dice_rows") if ruled else None,
            "terms": mean_of(own, "terms") if ruled else None,
            "seconds": mean_of(own, "seconds"),
            "CPU": mean_of(own, "cpu_seconds"),
        })  # fmt: skip
    return found


def draw(lines: Sequence[Row]) -> Figure:
    """Draw accuracy against stability, and what a fit takes."""
    figure = new_figure(10.0, 4.2)
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    for place, line in enumerate(lines):
        colour = COLOURS[place % len(COLOURS)]
        if line["Dice"] is None:
            label = f"{line['learner']}: no rules"
            left.axhline(line["R2"], color=colour, linestyle=(0, (4, 2)), label=label)
        else:
            style = {"color": colour, "markersize": 9, "linestyle": "none"}
            mark = MARKERS[place % len(MARKERS)]
            left.plot(line["Dice"], line["R2"], mark, label=line["learner"], **style)
    finish(left, x="mean Dice between folds", y="mean $R^2$ on test rows", whole=False)
    left.legend(loc="best", fontsize="x-small", framealpha=0.9)
    heights = -np.arange(len(lines))
    seconds = [line["CPU"] for line in lines]
    right.barh(
        heights, seconds, color=[COLOURS[i % len(COLOURS)] for i in range(len(lines))], height=0.6
    )
    for y, value in zip(heights, seconds, strict=True):
        right.annotate(f" {value:.2g}", (value, y), va="center", fontsize=8)
    right.set_yticks(heights, [line["learner"] for line in lines], fontsize=8)
    right.set_xscale("log")
    right.margins(x=0.15)
    right.set_xlabel("CPU seconds of a fit, mean")
    right.spines[["top", "right"]].set_visible(False)
    return figure
