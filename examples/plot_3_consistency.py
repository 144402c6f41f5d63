"""
Which rules are found again
===========================

Five analyses, each without a fifth of the patients. Rules that are chosen by fit alone ("low")
are hardly ever found twice; those that must be in many trees do.
"""

from sklearn.datasets import load_diabetes
from sklearn.model_selection import cross_validate

from mossrules import MossRegressor
from mossrules.display import ConsistencyDisplay, StructureDisplay

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)


def analyses(stability):
    """Return the models of five analyses."""
    model = MossRegressor(max_rules=6, n_trees=200, stability=stability)
    return cross_validate(model, X, y, cv=5, return_estimator=True)["estimator"]


models = {"stability low": analyses("low"), "stability 0.9": analyses(0.9)}
ConsistencyDisplay.from_splits(models).plot()

# %%
# What the rules of most analyses are made of, and how much their weights differ.

StructureDisplay.from_splits(models["stability 0.9"], share=0.6).plot()
