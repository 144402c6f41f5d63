"""Beyond the paper: our default, and the first one, beside the best of all that it compares.

The first default found and chose rules as the paper does, with numbers of its own. How candidates
are searched for, and the share of stability, was chosen inside training folds alone.
For some folds of the measurement, their training rows are dealt into folds of their own, and every
setting is fitted to the first few of these: pairs of them share as large a part of their rows as
pairs of the measurement do, so Dice means the same. The setting whose smaller margin over the
paper's best means is the largest is the one to take. Test rows of the measurement are not looked at
until then. What the default of today rests on is in docs/estimator.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from mossrules.data.rows import read_rows
from mossrules.defaults import PAPER_WAY
from mossrules.estimators import MossRegressor
from mossrules.evaluation.folds import Split, split_rows
from mossrules.learning.stability_levels import Stability
from research.paper.beyond_tables import FIRST, FIRST_SHARE, Search, draw, tables
from research.paper.datasets import NUMBERS_OF, Dataset
from research.paper.framework import Experiment, ExperimentContext, Presentation, Row
from research.paper.measuring import compare, summary_rows

__all__ = ["CHOOSE", "EXPERIMENT", "MEASURE", "Settings", "inner_folds"]

PAPERS: Search = (10, 1 / 3, 500)
LESS: Search = (10, 1 / 2, 500)  # with a share of 0.9, for a quarter of the work
CHOOSE, MEASURE = "choose", "measure"  # the two kinds of tasks


@dataclass(frozen=True)
class Settings:
    """What is run."""

    datasets: tuple[str, ...] = tuple(NUMBERS_OF)
    searches: tuple[Search, ...] = (PAPERS, LESS, (8, 1 / 2, 500), FIRST)
    shares: tuple[float, ...] = (0.9, 0.85, 0.8)  # of the largest stability
    folds: int = 10  # of the measurement, and inside each of its folds
    outer: tuple[int, ...] = (0, 5)  # whose training rows are looked at to choose
    inner: int = 4  # how many of the folds inside are used
    max_rules: int = 15
    n_trees: int | None = None  # in place of all numbers of trees, for a quick look
    choose_gap: float = 0.01  # of choices inside training folds
    choose_seconds: float = 1.0  # for each of them
    measure_seconds: float = 3.0
    seed: int = 0


def tasks(settings: Settings) -> list[str]:
    """Return the choice inside training folds of every dataset, then the measurement of each."""
    return [f"{kind} {name}" for kind, name in product((CHOOSE, MEASURE), settings.datasets)]


def run(settings: Settings, task: str, context: ExperimentContext) -> list[Row]:
    """Return a row for each setting and outer fold, or for each learner."""
    kind, name = task.split(maxsplit=1)
    data = context.load(name)
    found = (
        _choose(settings, data, context) if kind == CHOOSE else _measure(settings, data, context)
    )
    return [{"kind": kind, **row} for row in found]


def _choose(settings: Settings, data: Dataset, context: ExperimentContext) -> list[Row]:
    """Return what every setting makes of the folds inside of training rows."""
    grid = list(product(settings.searches, settings.shares))
    how = {"gap": settings.choose_gap, "time_limit": settings.choose_seconds}
    learners = {
        f"{search}, {share:g}": _moss(
            settings, data, context, search=search, stability=share, **how
        )
        for search, share in grid
    }
    rows = []
    for outer in settings.outer:
        found = summary_rows(
            data, compare(context, data, learners, inner_folds(settings, data, outer))
        )
        rows += [
            {
                **row,
                "outer": outer,
                "bins": bins,
                "features": columns,
                "trees": trees,
                "share": share,
            }
            for row, ((bins, columns, trees), share) in zip(found, grid, strict=True)
        ]
    return rows


def inner_folds(settings: Settings, data: Dataset, outer: int) -> list[Split]:
    """Return folds of the training rows of a fold of the measurement, as positions in the table."""
    rows = read_rows(data.X, data.y, whole=True)
    train, _ = split_rows(rows, settings.folds)[outer]
    positions = rows.origin[train]
    dealt = np.arange(len(positions)) % settings.folds
    return [(positions[dealt != fold], positions[dealt == fold]) for fold in range(settings.inner)]


def _measure(settings: Settings, data: Dataset, context: ExperimentContext) -> list[Row]:
    """Return what our defaults make of the folds themselves, beside others."""
    limit = settings.measure_seconds
    sirus = context.learners(settings, data, ("SIRUS",), **_parameters(settings, FIRST))
    learners = {
        "MOSS": _default(settings, data, context, time_limit=limit),
        "MOSS, the first default": _moss(
            settings, data, context, search=FIRST, stability=FIRST_SHARE, time_limit=limit
        ),
        "MOSS, 500 trees": _moss(
            settings, data, context, search=LESS, stability=0.9, time_limit=limit
        ),
        "MOSS-H, the paper's search": _moss(
            settings, data, context, search=PAPERS, stability="high", time_limit=limit
        ),
        **sirus,
    }
    return summary_rows(data, compare(context, data, learners, settings.folds))


def _moss(
    settings: Settings,
    data: Dataset,
    context: ExperimentContext,
    *,
    search: Search,
    stability: Stability,
    **how: Any,
) -> Any:
    """Return the paper's MOSS with a search and a stability; `how` to choose, if not as ever."""
    given = {**PAPER_WAY, **_parameters(settings, search), **how}
    return context.moss(settings, data, stability, **given)


def _default(settings: Settings, data: Dataset, context: ExperimentContext, **how: Any) -> Any:
    """Return MOSS with our default parameters, under any protocol."""
    parameters = MossRegressor().get_params()
    for name in ("max_rules", "random_state", "n_jobs", "stability", "n_trees"):
        del parameters[name]
    trees = settings.n_trees or MossRegressor().n_trees
    given = {**parameters, **how, "n_trees": trees}
    return context.moss(settings, data, None, **given)


def _parameters(settings: Settings, search: Search) -> dict[str, Any]:
    bins, features, trees = search
    return {"n_bins": bins, "max_features": features, "n_trees": settings.n_trees or trees}


def present(_settings: Settings, rows: Sequence[Row]) -> Presentation:
    """Return the measurement, the choice before it, and both in one figure."""
    chosen = [row for row in rows if row["kind"] == CHOOSE]
    measured = [row for row in rows if row["kind"] == MEASURE]
    drawn = {"beyond": lambda: draw(chosen, measured)} if chosen and measured else {}
    return Presentation(tables(chosen, measured), drawn)


EXPERIMENT = Experiment(
    "beyond",
    "Our defaults beside the paper's best",
    "Our default, chosen inside training folds, beside the paper's best in accuracy and stability.",
    Settings(),
    Settings(
        ("vinnie", "auto_price", "visualizing_galaxy", "ESL"),
        searches=(PAPERS, FIRST),
        shares=(0.9, 0.8),
        folds=5,
        outer=(0,),
        inner=3,
        n_trees=300,
        choose_seconds=0.5,
        measure_seconds=2.0,
    ),
    tasks,
    run,
    present,
)
