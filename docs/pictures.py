"""Draw the figures that pages show: `python -m docs.pictures` writes docs/pictures."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
from sklearn.datasets import load_diabetes

from mossrules import PAPER, MossRegressor
from mossrules.display import (
    ConsistencyDisplay,
    FrontierDisplay,
    RulesDisplay,
    TrackRecordDisplay,
)
from mossrules.evaluation import evaluate

__all__ = ["main"]

FOLDER = Path(__file__).with_name("pictures")
DOTS = 110  # per inch


def main() -> None:
    """Write a picture for each figure."""
    mpl.use("agg")
    FOLDER.mkdir(exist_ok=True)
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    y = y.rename("progression")

    methods = {
        "by fit alone": MossRegressor(max_rules=6).set_params(**{**PAPER, "stability": "low"}),
        "the paper's way": MossRegressor(max_rules=6).set_params(**PAPER),
        "by default": MossRegressor(max_rules=6),
    }
    refits = evaluate(methods, X, y, cv=5, vary_seed=True)  # as in docs/why.md

    model = MossRegressor(max_rules=6).fit(X, y)
    record = model.track_record(X, y, refits=20)  # as in docs/trackrecord.md
    displays = {
        "again": ConsistencyDisplay.from_splits({name: refits.rule_sets(name) for name in methods}),
        "record": TrackRecordDisplay.from_record(record),
        "rules": RulesDisplay.from_estimator(model),
        "frontier": FrontierDisplay.from_estimator(model, points=20),
    }
    for name, display in displays.items():
        display.plot().figure_.savefig(FOLDER / f"{name}.png", dpi=DOTS)


if __name__ == "__main__":
    main()
