"""What the defaults rest on: each of them changed alone, inside training rows.

Of each of the paper's thirty tables (and, for classes, of six others) nine tenths of at most 2,000
rows are the training rows: no other row is looked at. On these each setting is assessed by five
refits that leave out a fifth of them, each with its own seed, with 15 rules. Run
`python -m research.studies.defaults`, or with `classes`, or with names of settings; the table of
means that it prints is in docs/estimator.md. It takes some seconds for each setting and table.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np

from mossrules import MossClassifier, MossRegressor
from mossrules.evaluation import assess
from mossrules.evaluation.methods import Source
from mossrules.exceptions import SolveLimitWarning
from research.trust.methods import before
from research.trust.tables import CLASSES, NUMBERS, load

ROWS, SHARE, REFITS, RULES = 2000, 0.9, 5, 15
SEED = 123  # of the training rows
SECONDS = 10.0  # for each choice of rules
GAMMA = "gamma_rows"  # a constant over the number of rows
MEASURES = {
    False: ("r2", "dice", "weighted_overlap", "instability", "n_rules", "seconds"),
    True: ("auc", "dice", "weighted_overlap", "instability", "n_rules", "seconds"),
}

SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "the defaults": {},
    "n_bins=6": {"n_bins": 6},
    "n_bins=10": {"n_bins": 10},
    "n_bins=12": {"n_bins": 12},
    "cuts='quantile'": {"cuts": "quantile"},
    "stability=0.05": {"stability": 0.05},
    "stability=0.2": {"stability": 0.2},
    "floor='sum', stability=0.8": {"floor": "sum", "stability": 0.8},
    "gamma=300 / n": {GAMMA: 300},
    "gamma=3000 / n": {GAMMA: 3000},
    "shrinkage='equal'": {"shrinkage": "equal"},
    "directions='free'": {"directions": "free"},
    "max_overlap=0.75": {"max_overlap": 0.75},
    "inner_nodes=False": {"inner_nodes": False},
    "max_features=0.5": {"max_features": 0.5},
}
FIRST = "the first defaults"


def main(names: list[str]) -> None:
    """Print the table of the settings named, or of all."""
    classes = "classes" in names
    asked = [name for name in names if name != "classes"] or [*SETTINGS, FIRST]
    for line in lines(asked, classes=classes):
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()


def lines(names: list[str], *, classes: bool) -> Iterator[str]:
    """Yield the lines of the table, as they are measured."""
    measures = MEASURES[classes]
    yield f"| setting | {' | '.join(measures)} |"
    yield "|---" * (len(measures) + 1) + "|"
    tables = CLASSES if classes else NUMBERS
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        for name in names:
            found = list(pool.map(measure, tables, [name] * len(tables)))
            means = np.nanmean(found, axis=0)
            yield f"| {name} | {' | '.join(f'{value:.3f}' for value in means)} |"


def measure(table_name: str, name: str) -> list[float]:
    """Return the measures of a setting on the training rows of a table."""
    table = load(table_name, ROWS)
    order = np.random.default_rng(SEED).permutation(len(table.y))
    kept = np.sort(order[: int(SHARE * len(order))])
    X, y = Source(table.X, None).take(kept), np.asarray(table.y)[kept]
    model = _model(name, len(y), classes=table.classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SolveLimitWarning)
        found = assess({name: model}, X, y, refits=REFITS, seeds=0, n_jobs=1)[name]
    return [getattr(found, measure) for measure in MEASURES[table.classes]]


def _model(name: str, n_rows: int, *, classes: bool) -> Any:
    if name == FIRST:
        return before(RULES, classes=classes).set_params(time_limit=SECONDS)
    changed = dict(SETTINGS[name])
    if GAMMA in changed:
        changed["gamma"] = changed.pop(GAMMA) / n_rows
    return (MossClassifier if classes else MossRegressor)(RULES, time_limit=SECONDS, **changed)


if __name__ == "__main__":
    main(sys.argv[1:])
