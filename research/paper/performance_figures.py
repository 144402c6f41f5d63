"""The figures of `performance`: mean ranks, and distributions of percent differences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from research.paper.drawing import COLOURS, MARKERS, PALETTE, Axes, Figure, finish, new_figure
from research.paper.performance_tables import Difference, Rank

__all__ = ["draw_differences", "draw_ranks"]


def draw_ranks(ranks: Sequence[Rank]) -> Figure:
    """Draw the mean rank in accuracy against that in stability; the paper's are hollow."""
    figure = new_figure(7.6, 4.4)
    ax = figure.add_subplot()
    for place, rank in enumerate(ranks):
        colour, marker = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
        ax.errorbar(
            rank.r2,
            rank.dice,
            xerr=rank.r2_se,
            yerr=rank.dice_se,
            fmt=marker,
            color=colour,
            capsize=2.5,
            elinewidth=1.0,
            label=rank.learner,
        )
        if rank.papers is not None:
            ax.plot(*rank.papers, marker, mfc="none", mec=colour, linestyle="none")
    ax.plot([], [], "o", mfc="none", mec=PALETTE["grey"], linestyle="none", label="paper (hollow)")
    finish(
        ax,
        x="mean rank in $R^2$ on test rows (1 is best), $\\pm$ standard error",
        y="mean rank in Dice between folds (1 is best)",
        whole=False,
    )
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), fontsize="small")
    return figure


def draw_differences(differences: Sequence[Difference]) -> Figure:
    """Draw each distribution, ours above the paper's."""
    figure = new_figure(7.6, 7.2)
    for place, (each, ax) in enumerate(
        zip(differences, figure.subplots(len(differences), 1, squeeze=False)[:, 0], strict=True)
    ):
        _histogram(ax, each)
        ax.set_title(each.title, fontsize=10)
        last = place == len(differences) - 1
        finish(ax, x="percent difference on a dataset" if last else "", y="datasets", whole=False)
        ax.locator_params(axis="y", integer=True)
    return figure


def _histogram(ax: Axes, difference: Difference) -> None:
    both = {"ours": difference.ours, "paper's tables": difference.papers}
    values = np.concatenate([np.asarray(each, dtype=np.float64) for each in both.values()])
    if not len(values):
        return
    bins = np.histogram_bin_edges(values, 24).tolist()
    styles: dict[str, dict[str, Any]] = {
        "ours": {"color": PALETTE["blue"], "histtype": "stepfilled", "alpha": 0.55},
        "paper's tables": {"color": PALETTE["vermillion"], "histtype": "step", "linewidth": 1.5},
    }
    for name, each in both.items():
        if not each:
            continue
        label = f"{name}: mean {np.mean(each):.0f} %, {len(each)} datasets"
        ax.hist(each, bins=bins, label=label, **styles[name])
        mean, colour = float(np.mean(each)), styles[name]["color"]
        ax.axvline(mean, color=colour, linestyle=(0, (4, 2)), linewidth=1.2)
