"""
What a constraint costs
=======================

The same trade-off twice: free, and under what an auditor asks for. The distance between the two is
what the constraints cost, in fit at the same stability, or in stability at the same fit.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes

from mossrules import MossRegressor
from mossrules.constraints import AtMostFeatures, Increasing, NeverUse

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
constraints = [NeverUse("sex"), AtMostFeatures(3), Increasing("bmi", "bp")]
free = MossRegressor(max_rules=6, n_trees=1000).fit(X, y)
bound = MossRegressor(max_rules=6, n_trees=1000, constraints=constraints).fit(X, y)
print(bound.rules_)

# %%

figure, ax = plt.subplots(layout="constrained")
for name, model in {"free": free, "with constraints": bound}.items():
    points = model.frontier(points=20).points
    ax.step([p.stability for p in points], [p.loss for p in points], "o-", where="post", label=name)
ax.set(xlabel="stability (trees that contain the rarest rule)", ylabel="loss $H_2$ (penalised)")
ax.legend()
