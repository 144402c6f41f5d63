"""
What stability costs
====================

Each point is the best rule set of at least that stability, proven to 1 %. The steepest part is
beside the most stable rules: there, a little less stability buys a lot of fit.

The line is dashed because only some floors were asked for: between two of them there may be better
rule sets than it shows. The model is one, for its own floor lies between two.
"""

from sklearn.datasets import load_diabetes

from mossrules import MossRegressor

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
model = MossRegressor(max_rules=8, n_trees=500).fit(X, y)
frontier = model.frontier(points=40)
frontier.plot(solutions={"the model": model.solution_})

# %%
# The knee is the point farthest below the line between both ends.

print(model.select(stability=frontier.knee().stability / frontier.max_stability).rules_)
