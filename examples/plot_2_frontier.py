"""
What stability costs
====================

Each point is the best rule set in which every rule is in at least so many trees, proven to 1 %.
Where the line is steep, a little less stability buys a lot of fit.

The line is dashed because only some floors were asked for: between two of them there may be better
rule sets than it shows.
"""

from sklearn.datasets import load_diabetes

from mossrules import MossRegressor

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
model = MossRegressor(max_rules=8).fit(X, y)
frontier = model.frontier(points=40)
frontier.plot(solutions={"the model": model.solution_})

# %%
# The knee is the point farthest below the line between both ends.

print(model.select(stability=frontier.knee().stability / frontier.max_stability).rules_)
