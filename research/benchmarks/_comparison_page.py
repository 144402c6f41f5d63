"""The page of the comparison: tables, and a sentence for each large difference, from the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from research.harness.reports import Row

FAR = 2.0  # standard errors
BASE = "base"  # the setting that nothing is changed in
CHANCE = "other folds"  # the setting that shows what chance does
MEASURES = ("R2", "Dice")
PLACES = {"R2": 3, "Dice": 2}

INTRODUCTION = """\
# Beside the paper's figures

Test R2 and Dice (mean over pairs of folds) of the paper's seven methods on six of its tables,
beside what the paper prints. `python -m research.benchmarks comparison` measures it and writes this
page beside its results. In each cell ours is first, with its standard error or its 95 % interval,
and then the paper's; bold where they are more than {far:g} standard errors apart.

* **Protocol.** Ten folds, 15 rules, 500 trees of depth 2, ten bins, a column for each category,
  medians for missing numbers, the authors' gammas, and no rules that tie at the end of the list:
  the "paper" protocol of `research.paper`. Cuts come from training rows, where the authors'
  notebooks rank each test fold by itself. GLRM makes its rules itself, and RuleFit has means of the
  first tree, as in the notebooks; all others choose from one pool for each fold.
* **Standard error of a difference.** Of R2: ours (standard deviation over folds / √10) and the
  paper's, added in squares. Ours is {ratio:.1f} times what the paper prints (geometric mean). Why
  is not known (dividing by 10 and not by √10 would make 3.2); if the paper's were as large as ours,
  fewer differences would be large. Of Dice: √2 times ours, by resampling folds; what the paper
  prints is the spread of pairs, not the error of a mean.
* **Explanations** come from measuring again with one thing changed (two where two are named),
  towards what the notebooks do. A change explains a difference if it at least halves it and leaves
  no more than {far:g} standard errors; if it leaves more, it explains it in part. It also has to
  bring the method nearer to the paper over all tables, by this measure and by both together (root
  mean square of differences, in standard errors): what fits one table and not the others is not
  what was done. If other folds and another seed do as much, the difference is called chance. Of
  {count} differences, {chance:.0f} or so would be large by chance; and as the best of several
  changes is named, so may a few explanations be.
"""

LEGEND = (
    "R2 / Dice; last, the root mean square of differences, in standard errors. The notebooks do "
    "not keep rules that tie, nor have nominal columns as numbers, GLRM on the pool or RuleFit's "
    "means of all rows: these are here to see what they do, and explain nothing."
)


def page(rows: Sequence[Row], words: Mapping[str, str], methods: Sequence[str]) -> str:
    """Return the page as text."""
    ours = [row for row in rows if row["setting"] == BASE]
    count = len(MEASURES) * len(ours)
    figures = {"far": FAR, "ratio": error_ratio(ours), "count": count, "chance": 0.05 * count}
    lines = [INTRODUCTION.format(**figures)]
    for what in MEASURES:
        lines += [f"## {what}", "", *figure_table(ours, what, methods), ""]
    found = sentences(rows, words)
    lines += ["## Differences", "", tally(found, count), "", *(f"* {each}" for each in found), ""]
    lines += ["## What each change does", ""]
    lines += [LEGEND, ""]
    lines += change_table(rows, words, methods)
    return "\n".join(lines) + "\n"


def error_ratio(rows: Sequence[Row]) -> float:
    """Return our standard error of R2 over the one that the paper prints, on average."""
    return float(np.exp(np.mean([np.log(row["R2 se"] / row["paper R2 se"]) for row in rows])))


def tally(found: Sequence[str], count: int) -> str:
    """Return how many differences are large, and how many of them have an explanation."""
    explained = sum(" Explained: " in each for each in found)
    part = sum(" Explained in part: " in each for each in found)
    chance = sum(" Chance: " in each for each in found)
    return (
        f"{len(found)} of {count} differences are above {FAR:g} standard errors: {explained} "
        f"explained, {part} in part, {chance} of a size that other folds undo, "
        f"{len(found) - explained - part - chance} not explained."
    )


def figure_table(rows: Sequence[Row], what: str, methods: Sequence[str]) -> list[str]:
    """Return ours and the paper's, a line for each table."""
    found = {(row["table"], row["method"]): row for row in rows}
    lines = [f"| table | {' | '.join(methods)} |", "|---" * (len(methods) + 1) + "|"]
    for table in dict.fromkeys(row["table"] for row in rows):
        cells = [cell(found[table, method], what) for method in methods]
        lines.append(f"| {table} | {' | '.join(cells)} |")
    return lines


def cell(row: Row, what: str) -> str:
    """Return one figure beside the paper's."""
    if what == "R2":
        ours = f"{row['R2']:.3f} ± {row['R2 se']:.3f}"
    else:
        ours = f"{row['Dice']:.2f} [{row['Dice low']:.2f}, {row['Dice high']:.2f}]"
    if is_far(row, what):
        ours = f"**{ours}**"
    return f"{ours}; {row[f'paper {what}']:.{PLACES[what]}f}"


def is_far(row: Row, what: str) -> bool:
    """Tell whether ours and the paper's figure differ by more than chance."""
    return bool(abs(row[f"{what} off"]) > FAR)


# --- sentences ------------------------------------------------------------------------------------


def sentences(rows: Sequence[Row], words: Mapping[str, str]) -> list[str]:
    """Return a sentence for each large difference."""
    return [
        sentence(row, rows, what, words)
        for row in rows
        if row["setting"] == BASE
        for what in MEASURES
        if is_far(row, what)
    ]


def sentence(row: Row, rows: Sequence[Row], what: str, words: Mapping[str, str]) -> str:
    """Return what one difference is, and the change that explains most of it."""
    paper, places = row[f"paper {what}"], PLACES[what]
    start = (
        f"{row['table']}, {row['method']}: {what} is {row[what]:.{places}f}, the paper's "
        f"{paper:.{places}f} ({abs(row[f'{what} off']):.1f} standard errors)."
    )
    tried = [
        other
        for other in rows
        if other["theirs"]
        and other["setting"] != BASE
        and (other["table"], other["method"]) == (row["table"], row["method"])
    ]
    if not tried:
        return f"{start} Not explained: nothing was tried."

    def distance(other: Row) -> float:
        """Return how far from the paper's, in standard errors of the difference to explain."""
        return float(abs(other[what] - paper) / row[f"{what} error"])

    def measured(other: Row) -> str:
        overall = everywhere(rows, row["method"], other["setting"], what)
        return f"{words[other['setting']]} it is {other[what]:.{places}f}; {overall}"

    halving = [each for each in tried if distance(each) <= distance(row) / 2]
    chance = [each for each in halving if each["setting"] == CHANCE and distance(each) <= FAR]
    if chance:
        return f"{start} Chance: {measured(chance[0])}."
    helping = [each for each in halving if helps(rows, row["method"], each["setting"], what)]
    if helping:
        best = min(helping, key=distance)
        verdict = "Explained" if distance(best) <= FAR else "Explained in part"
        return f"{start} {verdict}: {measured(best)}."
    nearest = min(tried, key=distance)
    return f"{start} Not explained: nearest of {len(tried)} changes, {measured(nearest)}."


def helps(rows: Sequence[Row], method: str, setting: str, what: str) -> bool:
    """Tell whether a change brings a method nearer to the paper over all tables.

    By the measure in question, and by both measures together.
    """
    before, after = root_mean_square(rows, method, setting, what)
    both = np.array([root_mean_square(rows, method, setting, each) for each in MEASURES])
    together = np.sum(both**2, axis=0)
    return bool(after < before and together[1] < together[0])


def everywhere(rows: Sequence[Row], method: str, setting: str, what: str) -> str:
    """Return in words what a change does to the distance from the paper over all tables."""
    first, *others = (what, *(each for each in MEASURES if each != what))
    parts = []
    for each in (first, *others):
        before, after = root_mean_square(rows, method, setting, each)
        parts.append(f"of {each} from {before:.1f} to {after:.1f}")
    return f"over all tables it takes the distance {' and '.join(parts)}"


def root_mean_square(
    rows: Sequence[Row], method: str, setting: str, what: str
) -> tuple[float, float]:
    """Return the differences over all tables that have the setting: without it, and with it.

    Both in standard errors of the differences without it.
    """
    of_method = [row for row in rows if row["method"] == method]
    base = {row["table"]: row for row in of_method if row["setting"] == BASE}
    changed = [row for row in of_method if row["setting"] == setting]
    pairs = [
        [
            (each[what] - each[f"paper {what}"]) / base[each["table"]][f"{what} error"]
            for each in (base[row["table"]], row)
        ]
        for row in changed
    ]
    before, after = np.sqrt(np.mean(np.square(pairs), axis=0))
    return float(before), float(after)


# --- all that was measured ------------------------------------------------------------------------


def change_table(
    rows: Sequence[Row], words: Mapping[str, str], methods: Sequence[str]
) -> list[str]:
    """Return the figures of all settings, method by method."""
    tables = list(dict.fromkeys(row["table"] for row in rows))
    found = {(row["method"], row["setting"], row["table"]): row for row in rows}
    lines = [f"| method | change | {' | '.join(tables)} | all |", "|---" * (len(tables) + 3) + "|"]
    for method in methods:
        paper = [pair(found[method, BASE, table], "paper ") for table in tables]
        lines.append(f"| {method} | *the paper* | {' | '.join(paper)} | |")
        for setting in (BASE, *words):
            here = [found.get((method, setting, table)) for table in tables]
            if not any(here):
                continue
            cells = ["" if row is None else pair(row) for row in here]
            overall = [root_mean_square(rows, method, setting, what)[1] for what in MEASURES]
            title = words.get(setting, "*none*")
            last = f"{overall[0]:.1f} / {overall[1]:.1f}"
            lines.append(f"| {method} | {title} | {' | '.join(cells)} | {last} |")
    return lines


def pair(row: Row, prefix: str = "") -> str:
    """Return R2 / Dice."""
    return f"{row[f'{prefix}R2']:.3f} / {row[f'{prefix}Dice']:.2f}"
