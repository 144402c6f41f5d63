"""
Methods side by side
====================

Accuracy on patients that were left out, against the share of rules that two refits have in common,
as printed. The other methods cut columns at quantiles, which move with every sample.
"""

from sklearn.datasets import load_diabetes

from mossrules import MossRegressor
from mossrules.baselines import FireRegressor, RuleFitRegressor, SirusRegressor
from mossrules.evaluation import evaluate

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
search = {"max_rules": 6, "n_trees": 200}
methods = {
    "MOSS": MossRegressor(**search),
    "MOSS, high": MossRegressor(**search, stability="high"),
    "SIRUS": SirusRegressor(**search),
    "FIRE": FireRegressor(**search),
    "RuleFit": RuleFitRegressor(**search),
}
evaluation = evaluate(methods, X, y, cv=5)
evaluation.plot()

# %%
# The same as a table.

print(evaluation)

# %%
# If rules are the same where they hold on nearly the same patients, whatever their cut points:

print(evaluate(methods, X, y, cv=5, identity="rows"))
