"""
Which rules are found again
===========================

Five refits, each without a fifth of the patients and with a seed of its own. Rules are the same if
they read the same. By the paper's way, cut points are quantiles, which move with every sample, and
no rule is found twice; by default they are round numbers. A higher stability target helps further.
"""

from sklearn.datasets import load_diabetes

from mossrules import PAPER, MossRegressor
from mossrules.display import ConsistencyDisplay, StructureDisplay
from mossrules.evaluation import evaluate

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
methods = {
    "the paper's way": MossRegressor(max_rules=6).set_params(**PAPER),
    "default": MossRegressor(max_rules=6),
    "stability high": MossRegressor(max_rules=6, stability="high"),
}
refits = evaluate(methods, X, y, cv=5, vary_seed=True)
ConsistencyDisplay.from_splits({name: refits.rule_sets(name) for name in methods}).plot()

# %%
# What the rules of most refits are made of, and how much their weights differ.

StructureDisplay.from_splits(refits.rule_sets("stability high"), share=0.6).plot()
