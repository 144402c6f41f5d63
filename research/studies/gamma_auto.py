"""How large should gamma be? Test R2, Dice between folds and seconds of `stability="high"`.

Gamma is a constant over the number of rows; this measures constants from 3 to 300 by 3-fold
cross-validation on eight tables of 215 to 22,784 rows, with equal shrinkage as in the paper. Run
`python -m research.studies.gamma_auto`; its table is in docs/estimator.md. It takes some minutes.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.model_selection import KFold

from mossrules import MossRegressor
from mossrules.defaults import PAPER_WAY
from mossrules.exceptions import SolveLimitWarning
from mossrules.stability import empirical_stability
from research.benchmarks._data import read_mixed

DATASETS = (
    "560_bodyfat",
    "690_visualizing_galaxy",
    "547_no2",
    "223_stock",
    "183_abalone",
    "503_wind",
    "537_houses",
    "574_house_16H",
)
CONSTANTS = (3, 10, 30, 100, 300)
FOLDS = 3
SECONDS = 20.0  # for each choice of rules


def measure(name: str, constant: float) -> tuple[float, float, float, int]:
    """Return mean test R2, mean Dice, mean seconds of choosing, and how many ran out of time."""
    X, y = read_mixed(name)
    scores, seconds, rules, open_ends = [], [], [], 0
    for train, test in KFold(FOLDS, shuffle=True, random_state=0).split(X):
        model = MossRegressor(
            stability="high",
            **PAPER_WAY,
            gamma=constant / len(train),
            n_trees=500,
            n_bins=10,
            max_features=1 / 3,
            time_limit=SECONDS,
            random_state=0,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SolveLimitWarning)  # counted below
            model.fit(X.iloc[train], y[train])
        scores.append(model.score(X.iloc[test], y[test]))
        seconds.append(model.solution_.report.seconds)
        open_ends += model.solution_.status.value != "optimal"
        rules.append(model.rules_)
    agreement = float(empirical_stability(rules, identity="codes"))
    return float(np.mean(scores)), agreement, float(np.mean(seconds)), open_ends


def lines() -> Iterator[str]:
    """Yield the lines of the table, as they are measured."""
    head = " | ".join(f"gamma n = {constant}" for constant in CONSTANTS)
    yield f"| table | {head} |"
    yield "|---" * (len(CONSTANTS) + 1) + "|"
    everything = []
    for name in DATASETS:
        figures = [measure(name, constant) for constant in CONSTANTS]
        everything.append(figures)
        yield f"| {name.partition('_')[2]} | {' | '.join(map(cell, figures))} |"
    means = np.mean(everything, axis=0)
    total = np.sum(everything, axis=0)[:, 3]
    shown = [cell((*row[:3], int(count))) for row, count in zip(means, total, strict=True)]
    yield f"| mean | {' | '.join(shown)} |"


def cell(figures: tuple[float, float, float, int]) -> str:
    """Return R2 / Dice / seconds, with a star for each choice that ran out of time."""
    score, agreement, seconds, open_ends = figures
    stars = f" ({open_ends} open)" if open_ends else ""
    return f"{score:.3f} / {agreement:.2f} / {seconds:.2f} s{stars}"


if __name__ == "__main__":
    for line in lines():
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
