"""The approximate algorithm beside the exact one, on the CPU and the satellite data.

The paper sweeps lambda_2, the price of stability, and draws 1 - R2 on test rows against the Dice
coefficient between folds. Here the exact choices at shares of the largest stability are beside it,
from the same candidates of each fold; and, on all rows, how much more the approximate selections
lose than the exact ones of their stability.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np

from mossrules.data.rows import Rows
from mossrules.defaults import PAPER_WAY
from mossrules.estimators import MossRegressor
from mossrules.frontier import approximate_frontier, solve_frontier
from mossrules.learning.fit import FittedRules, build_problem, rule_set_of
from mossrules.learning.stability_levels import Ties
from mossrules.solver import Options, Problem
from mossrules.solver.approximate.coordinate_descent import penalty_grid
from research.paper.datasets import Dataset
from research.paper.drawing import PALETTE, Figure, finish, new_figure
from research.paper.framework import Experiment, ExperimentContext, Presentation, Row, TableOf
from research.paper.measuring import compare, summary_rows

__all__ = ["EXPERIMENT", "Settings", "SweptRegressor"]

APPROXIMATE, EXACT = "approximate", "exact"


@dataclass(frozen=True)
class Settings:
    """What is run."""

    datasets: tuple[str, ...] = ("cpu_small", "satellite_image")
    max_rules: int = 15
    prices: int = 20  # values of lambda_2
    shares: tuple[float, ...] = (1.0, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3)
    folds: int = 10
    n_trees: int = 500
    gap: float = 0.01
    seconds: float = 60.0  # for each exact choice
    rows: int | None = None  # so many at most, evenly spread
    seed: int = 0


class SweptRegressor(MossRegressor):
    """What coordinate descent chooses at one of several prices of stability.

    Prices are those of `penalty_grid`, from 0 to where counts alone decide; `place` is one of them.
    """

    def __init__(
        self,
        max_rules: int = 15,
        *,
        place: int = 0,
        prices: int = 20,
        ties: Ties = "keep",
        gamma: float | Literal["auto"] = "auto",
        n_trees: int = 500,
        n_bins: int = 10,
        max_features: float = 0.5,
        generator: Any = "paper-forest",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            max_rules,
            ties=ties,
            gamma=gamma,
            n_trees=n_trees,
            n_bins=n_bins,
            max_features=max_features,
            random_state=random_state,
            n_jobs=n_jobs,
            **{**PAPER_WAY, "generator": generator},
        )
        self.place = place
        self.prices = prices

    def fit_rows(self, rows: Rows) -> Self:
        """Find candidates in rows, and choose among them by `_learn`, not by the steps of MOSS."""
        self._set_candidates(self.find_candidates(rows))
        self._learn(rows)
        return self

    def _learn(self, rows: Rows | None) -> None:
        settings = self.settings()
        problem = build_problem(self.candidates_, settings)
        if not isinstance(problem, Problem):
            super()._learn(rows)
            return
        price = penalty_grid(problem, self.prices)[self.place]
        solution = approximate_frontier(problem, penalties=[price])[0]
        rules = rule_set_of(self.candidates_, problem, solution, settings)
        fitted = FittedRules(settings, self.candidates_, problem, solution, rules)
        self.__dict__.update(self._attributes(fitted))


def tasks(settings: Settings) -> Sequence[str]:
    """Return the datasets."""
    return settings.datasets


def run(settings: Settings, task: str, context: ExperimentContext) -> list[Row]:
    """Return one row for each price and each share, out of sample and on all rows."""
    data = context.load(task)
    if settings.rows is not None and settings.rows < len(data.y):
        kept = np.linspace(0, len(data.y) - 1, settings.rows).astype(np.int64)
        X = {name: np.asarray(values)[kept] for name, values in data.X.items()}
        data = replace(data, X=X, y=data.y[kept])
    # Shares of the paper's stability, which is a sum, under any protocol.
    how = {**PAPER_WAY, "gap": settings.gap, "time_limit": settings.seconds}
    exact = {share: context.moss(settings, data, share, **how) for share in settings.shares}
    shared = (
        "max_rules", "ties", "gamma", "n_trees", "n_bins", "max_features", "generator",
        "random_state", "n_jobs",
    )  # fmt: skip
    parameters = {name: getattr(exact[settings.shares[0]], name) for name in shared}
    learners = {
        f"{APPROXIMATE} {place}": SweptRegressor(place=place, prices=settings.prices, **parameters)
        for place in range(settings.prices)
    }
    learners |= {f"{EXACT} {share:g}": model for share, model in exact.items()}
    found = summary_rows(data, compare(context, data, learners, settings.folds))
    inside = _in_sample(settings, data, exact[settings.shares[0]])
    return [{**row, "kind": row["learner"].split()[0], "where": "folds"} for row in found] + inside


def _in_sample(settings: Settings, data: Dataset, model: MossRegressor) -> list[Row]:
    """Return the approximate points of all rows, and the exact ones at their stabilities."""
    problem = model.set_params(stability=1.0).fit(data.X, data.y).problem_
    if problem is None:
        return []
    sweep = approximate_frontier(problem, settings.prices)
    floors = [point.stability for point in sweep.points]
    limits = Options(gap=settings.gap, time_limit=settings.seconds)
    frontier = solve_frontier(problem, floors, options=limits)
    return [
        {
            "dataset": data.name,
            "where": "all rows",
            "kind": APPROXIMATE,
            "stability": int(point.stability),
            "share": point.stability / problem.max_stability,
            "loss": point.loss,
            "best_loss": (best := frontier.at(stability=point.stability)).loss,
            "best_bound": best.bound,
        }
        for point in sweep.points
    ]


# --- showing --------------------------------------------------------------------------------------


def present(settings: Settings, rows: Sequence[Row]) -> Presentation:
    """Return both sides out of sample, and the loss that the approximation costs."""
    outside = [row for row in rows if row["where"] == "folds"]
    columns = ("dataset", "learner", "r2", "r2_se", "dice", "n_rules", "unproven", "seconds")
    inside = []
    for name in dict.fromkeys(row["dataset"] for row in rows):
        own = [row for row in rows if row["dataset"] == name and row["where"] == "all rows"]
        excess = np.array([row["loss"] / row["best_loss"] - 1 for row in own])
        most = max(row["loss"] / row["best_bound"] - 1 for row in own)
        inside.append({
            "dataset": name,
            "points": len(own),
            "more loss, median": f"{np.median(excess):.2%}",
            "most": f"{excess.max():.2%}",
            "proven to be below": f"{most:.2%}",
        })  # fmt: skip
    costs = (
        f"Points are those of a sweep of {settings.prices} prices that no other of them beats, "
        "each beside the exact choice of at least its stability. A negative figure is within the "
        f"gap of {settings.gap:.0%} to which that is exact."
    )
    folds = (
        f"k = {settings.max_rules}, {settings.folds} folds. `approximate` is followed by the place "
        "of the price in the sweep, `exact` by the share of the largest stability. The paper has a "
        "figure without numbers."
    )
    return Presentation(
        [
            TableOf("What the approximation costs, on all rows", inside, [costs]),
            TableOf("Out of sample", [{n: row[n] for n in columns} for row in outside], [folds]),
        ],
        {"approximate": lambda: draw(settings, outside)},
    )


def draw(settings: Settings, rows: Sequence[Row]) -> Figure:
    """Draw 1 - R2 against Dice, as the paper does, a panel for each dataset."""
    width = 5.2 * len(settings.datasets)
    figure = new_figure(width, 4.2)
    styles = {APPROXIMATE: ("^", "vermillion"), EXACT: ("o", "blue")}
    for place, name in enumerate(settings.datasets, 1):
        ax = figure.add_subplot(1, len(settings.datasets), place)
        for kind, (marker, colour) in styles.items():
            own = [row for row in rows if row["dataset"] == name and row["kind"] == kind]
            x, y = [row["dice"] for row in own], [1 - row["r2"] for row in own]
            ax.plot(x, y, marker, color=PALETTE[colour], mfc="none", label=kind)
        ax.set_title(f"{name}, k = {settings.max_rules}", fontsize=10)
        finish(ax, x="mean Dice between folds", y="1 - R2 on test rows", whole=False)
    return figure


EXPERIMENT = Experiment(
    "approximate",
    "What the approximate algorithm costs",
    "The approximate algorithm over prices of stability, beside exact choices.",
    Settings(),
    Settings(prices=10, shares=(1.0, 0.9, 0.7, 0.5), folds=5, n_trees=300, seconds=2.0, rows=3000),
    tasks,
    run,
    present,
)
