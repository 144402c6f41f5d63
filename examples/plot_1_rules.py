"""
A model on one page
===================

Six rules for the progress of diabetes: what each adds to a prediction, for how many patients it
holds, and how many trees contain it.
"""

from sklearn.datasets import load_diabetes

from mossrules import MossRegressor
from mossrules.display import RulesDisplay

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
model = MossRegressor(max_rules=6).fit(X, y.rename("progression"))
RulesDisplay.from_estimator(model).plot()

# %%
# The figure is drawn from a frame, which has every number of it.

RulesDisplay.from_estimator(model).frame()

# %%
# A prediction is a sum, so it can be explained to the person it is about.

print(model.rules_.explain(X.iloc[0]))
