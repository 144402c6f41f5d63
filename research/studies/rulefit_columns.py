"""Why is the paper's RuleFit so unstable? Means of one bootstrap sample, or of all rows.

The MOSS paper's RuleFit follows the LASSO on columns that have, where a rule holds, the mean target
of the leaf in the first tree with that rule: a mean over one bootstrap sample. This compares it
with means over all training rows: test R2, and Dice between the rules of ten folds, beside the
paper's figures. Run `python -m research.studies.rulefit_columns`; its table is in
docs/baselines.md.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
from sklearn.model_selection import KFold

from mossrules.baselines import RuleFitRegressor
from mossrules.stability import empirical_stability
from research.benchmarks._data import COMPARED, read_openml
from research.paper.published import published_results

FOLDS = 10


def published(name: str) -> tuple[float, float]:
    """Return the paper's mean R2 and Dice of RuleFit."""
    place = name.partition("_")[2], "RuleFit"
    return published_results("r2_mean")[place], published_results("dsc_mean")[place]


def measure(name: str, means: str) -> tuple[float, float]:
    """Return mean test R2 and mean Dice of the paper's variant."""
    X, y = read_openml(name)
    scores, rules = [], []
    for train, test in KFold(FOLDS, shuffle=True, random_state=0).split(X):
        model = RuleFitRegressor(variant="paper", means=means).fit(X.iloc[train], y[train])
        scores.append(model.score(X.iloc[test], y[test]))
        rules.append(model.rules_)
    return float(np.mean(scores)), float(empirical_stability(rules, identity="codes"))


def lines() -> Iterator[str]:
    """Yield the lines of the table, as they are measured."""
    yield '| table | paper | `means="first"` | `means="all"` |'
    yield "|---|---|---|---|"
    for name in COMPARED:
        figures = published(name), measure(name, "first"), measure(name, "all")
        cells = " | ".join(f"{score:.3f} / {dice:.2f}" for score, dice in figures)
        yield f"| {name.partition('_')[2]} | {cells} |"


if __name__ == "__main__":
    for line in lines():
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
