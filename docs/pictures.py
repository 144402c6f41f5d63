"""Draw the figures that pages show: `python -m docs.pictures` writes docs/pictures."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
from sklearn.datasets import load_diabetes
from sklearn.model_selection import cross_validate

from mossrules import MossRegressor
from mossrules.display import ConsistencyDisplay, FrontierDisplay, RulesDisplay

__all__ = ["main"]

FOLDER = Path(__file__).with_name("pictures")
DOTS = 110  # per inch


def main() -> None:
    """Write a picture for each figure."""
    mpl.use("agg")
    FOLDER.mkdir(exist_ok=True)
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    y = y.rename("progression")

    def analyses(stability: str | float) -> list[MossRegressor]:
        model = MossRegressor(max_rules=6, n_trees=200, stability=stability)
        found: list[MossRegressor] = cross_validate(model, X, y, return_estimator=True)["estimator"]
        return found

    model = MossRegressor(max_rules=6, n_trees=500).fit(X, y)
    displays = {
        "again": ConsistencyDisplay.from_splits(
            {"by fit alone": analyses("low"), "stable as well": analyses(0.9)}
        ),
        "rules": RulesDisplay.from_estimator(model),
        "frontier": FrontierDisplay.from_estimator(model, points=20),
    }
    for name, display in displays.items():
        display.plot().figure_.savefig(FOLDER / f"{name}.png", dpi=DOTS)


if __name__ == "__main__":
    main()
