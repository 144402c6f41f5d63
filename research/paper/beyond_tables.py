"""What is shown of the choice of a default and of its measurement.

A margin is the distance of a mean over datasets from the best mean of the paper's table, over the
same datasets: in R2 that of MOSS medium, in Dice that of SIRUS, where there are all thirty.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mossrules.baselines.registry import METHODS
from research.paper.drawing import PALETTE, Axes, Figure, finish, new_figure
from research.paper.framework import Row, TableOf
from research.paper.measuring import mark_note, marked, mean_of
from research.paper.published import published_results

__all__ = [
    "FIRST",
    "FIRST_SHARE",
    "Choice",
    "Search",
    "choices",
    "draw",
    "published_means",
    "tables",
]

Means = tuple[float, float]  # R2 and Dice
Search = tuple[int, float, int]  # bins, share of the columns that a split looks at, trees

# The first default of MOSS, which the choice inside training folds led to.
FIRST: Search = (8, 1 / 2, 2000)
FIRST_SHARE = 0.8  # of the largest stability


@dataclass(frozen=True)
class Choice:
    """A setting inside training folds: means over datasets and outer folds."""

    bins: int
    features: float
    trees: int
    share: float
    r2: float
    dice: float
    margin: float  # the smaller of the two
    by_fold: tuple[float, ...]  # the same for each outer fold apart
    unproven: int

    @property
    def is_first(self) -> bool:
        """Whether it is the first default of MOSS."""
        return (self.search, self.share) == (FIRST, FIRST_SHARE)

    @property
    def search(self) -> Search:
        """How candidates are searched for."""
        return self.bins, self.features, self.trees


def published_means(datasets: Sequence[str]) -> dict[str, Means]:
    """Return the paper's mean R2 and Dice of each learner over some of its datasets."""
    r2, dice = published_results("r2_mean"), published_results("dsc_mean")
    return {
        learner: (
            sum(r2[name, learner] for name in datasets) / len(datasets),
            sum(dice[name, learner] for name in datasets) / len(datasets),
        )
        for learner in METHODS
    }


def choices(rows: Sequence[Row]) -> list[Choice]:
    """Return all settings, the one with the largest margin first."""
    best = _best(rows)
    found = []
    for setting in dict.fromkeys(map(_setting, rows)):
        own = [row for row in rows if _setting(row) == setting]
        outer = dict.fromkeys(row["outer"] for row in own)
        by_fold = (_margin([row for row in own if row["outer"] == fold], best) for fold in outer)
        found.append(
            Choice(
                *setting,
                r2=mean_of(own, "r2"),
                dice=mean_of(own, "dice"),
                margin=_margin(own, best),
                by_fold=tuple(by_fold),
                unproven=sum(row["unproven"] for row in own),
            )
        )
    return sorted(found, key=lambda each: -each.margin)


def _setting(row: Row) -> tuple[int, float, int, float]:
    return row["bins"], row["features"], row["trees"], row["share"]


def _best(rows: Sequence[Row]) -> Means:
    """Return the paper's best means over the datasets of the rows."""
    means = published_means(list(dict.fromkeys(row["dataset"] for row in rows))).values()
    return max(r2 for r2, _ in means), max(dice for _, dice in means)


def _margin(rows: Sequence[Row], best: Means) -> float:
    return min(mean_of(rows, "r2") - best[0], mean_of(rows, "dice") - best[1])


# --- tables ---------------------------------------------------------------------------------------


def tables(chosen: Sequence[Row], measured: Sequence[Row]) -> list[TableOf]:
    """Return the means of the measurement, the choice before it, and every dataset.

    Of a run that is not finished, what there is of these.
    """
    parts = [(_means, measured), (_settings, chosen), (_each, measured)]
    return [table(rows) for table, rows in parts if rows]


def _means(rows: Sequence[Row]) -> TableOf:
    """Return means over all datasets, and over those that are the paper's own."""
    names = list(dict.fromkeys(row["dataset"] for row in rows))
    same = list(dict.fromkeys(row["dataset"] for row in rows if not row["substitute"]))
    lines: list[Row] = []
    for learner in dict.fromkeys(row["learner"] for row in rows):
        own = [row for row in rows if row["learner"] == learner]
        kept = [row for row in own if not row["substitute"]]
        lines.append({
            "learner": learner,
            "by": "us",
            "mean R2": mean_of(own, "r2"),
            "mean Dice": mean_of(own, "dice"),
            "R2 without substitutes": mean_of(kept, "r2"),
            "Dice without them": mean_of(kept, "dice"),
            "unproven": sum(row["unproven"] for row in own),
            "failed": sum(row["failed"] for row in own),
        })  # fmt: skip
    printed = published_means(same)
    for learner, (r2, dice) in published_means(names).items():
        without = dict(
            zip(("R2 without substitutes", "Dice without them"), printed[learner], strict=True)
        )
        lines.append(
            {"learner": learner, "by": "the paper", "mean R2": r2, "mean Dice": dice, **without}
        )
    bins, columns, trees = FIRST
    note = (
        "MOSS has our default. The first default finds and chooses rules as the paper does, with "
        f"{bins} bins, splits that look at {columns:.2f} of the columns, {trees} trees and a "
        f"stability of {FIRST_SHARE:g}; SIRUS has the same candidates. MOSS, 500 trees, has 10 "
        "bins, half of the columns and a stability of 0.9. "
        f"{len(names)} datasets. `unproven` counts folds whose search ran out of time."
    )
    return TableOf("Measured on test folds", lines, [note])


def _settings(rows: Sequence[Row]) -> TableOf:
    """Return all settings, the best first."""
    found = choices(rows)
    outer = list(dict.fromkeys(row["outer"] for row in rows))
    lines: list[Row] = [
        {
            "bins": each.bins,
            "columns per split": each.features,
            "trees": each.trees,
            "share": each.share,
            "R2": each.r2,
            "Dice": each.dice,
            "smaller margin": f"{each.margin:+.4f}",
            **{
                f"fold {fold}": f"{margin:+.4f}"
                for fold, margin in zip(outer, each.by_fold, strict=True)
            },
            "unproven": each.unproven,
            "": "first default" if each.is_first else "",
        }
        for each in found
    ]
    r2, dice = _best(rows)
    note = (
        "Means over datasets of folds inside the training rows of some folds of the measurement; "
        f"margins are over the paper's best means, R2 {r2:.3f} and Dice {dice:.3f}. Inside, there "
        "are a tenth fewer rows to learn from."
    )
    return TableOf("Chosen inside training folds", lines, [note])


def _each(rows: Sequence[Row]) -> TableOf:
    """Return every dataset beside the paper's most accurate and most stable learner."""
    r2, dice = published_results("r2_mean"), published_results("dsc_mean")
    lines: list[Row] = []
    for name in dict.fromkeys(row["dataset"] for row in rows):
        own = {row["learner"]: row for row in rows if row["dataset"] == name}
        line: Row = {"dataset": marked(next(iter(own.values())))}
        for learner, row in own.items():
            line |= {f"R2 {learner}": row["r2"], f"Dice {learner}": row["dice"]}
        line |= {
            "the paper's R2 MOSS-M": r2[name, "MOSS-M"],
            "its R2 SIRUS": r2[name, "SIRUS"],
            "its Dice MOSS-M": dice[name, "MOSS-M"],
            "its Dice SIRUS": dice[name, "SIRUS"],
        }
        lines.append(line)
    return TableOf("Each dataset", lines, mark_note(rows))


# --- figure ---------------------------------------------------------------------------------------


def draw(chosen: Sequence[Row], measured: Sequence[Row]) -> Figure:
    """Draw mean R2 against mean Dice: the paper's learners, ours, and the settings looked at."""
    figure = new_figure(7.0, 5.0)
    ax = figure.add_subplot()
    settings = choices(chosen)
    colours = [name for name in PALETTE if name not in ("vermillion", "grey")]
    for place, search in enumerate(sorted({each.search for each in settings})):
        line = [each for each in settings if each.search == search]
        line.sort(key=lambda each: each.share)
        bins, features, trees = search
        colour = PALETTE[colours[place % len(colours)]]
        style = ("-", "--", ":")[place % 3]
        x, y = [each.dice for each in line], [each.r2 for each in line]
        ax.plot(
            x,
            y,
            style,
            color=colour,
            lw=1,
            marker=".",
            label=f"{bins} bins, {features:.2f} of columns, {trees} trees",
        )
    names = list(dict.fromkeys(row["dataset"] for row in measured))
    printed = published_means(names)
    _points(ax, {name: (dice, r2) for name, (r2, dice) in printed.items()}, "s", "grey", "paper")
    ours = {}
    for learner in dict.fromkeys(row["learner"] for row in measured):
        own = [row for row in measured if row["learner"] == learner]
        ours[learner] = (mean_of(own, "dice"), mean_of(own, "r2"))
    _points(ax, ours, "*", "vermillion", "test folds")
    ax.margins(x=0.12)  # names are to the right of their points
    r2, dice = _best(measured)
    ax.axhline(r2, color=PALETTE["grey"], lw=0.8, ls=":")
    ax.axvline(dice, color=PALETTE["grey"], lw=0.8, ls=":")
    # Lines are of the choice inside training folds, stars of test folds.
    finish(ax, x="mean Dice between folds", y="mean R2 on test rows", whole=False)
    return figure


def _points(
    ax: Axes, points: dict[str, tuple[float, float]], marker: str, colour: str, label: str
) -> None:
    """Draw points with their names."""
    x, y = zip(*points.values(), strict=True)
    ax.scatter(x, y, marker=marker, color=PALETTE[colour], s=60, zorder=3, label=label)
    for name, place in points.items():
        ax.annotate(name, place, textcoords="offset points", xytext=(5, 4), fontsize=8)
