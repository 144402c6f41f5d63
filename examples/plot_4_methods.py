"""
Methods side by side
====================

Accuracy on patients that were left out, against the share of rules that two analyses have in
common. Methods choose among the same candidate rules, so that only the choice differs.
"""

from sklearn.datasets import load_diabetes

from mossrules import MossRegressor
from mossrules.baselines import FireRegressor, RuleFitRegressor, SirusRegressor
from mossrules.evaluation import evaluate

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
search = {"max_rules": 6, "n_trees": 200}
methods = {
    "MOSS, high": MossRegressor(**search, stability="high"),
    "MOSS, 0.8": MossRegressor(**search),
    "SIRUS": SirusRegressor(**search),
    "FIRE": FireRegressor(**search),
    "RuleFit": RuleFitRegressor(**search),
}
evaluation = evaluate(methods, X, y, cv=5)
evaluation.plot()

# %%
# The same as a table.

print(evaluation)
