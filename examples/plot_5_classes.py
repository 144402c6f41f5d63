"""
Rules for a class
=================

Is a tumour malignant? Weights are log-odds, which add up. Below them: which measurements matter
most, and how often what was predicted came true.
"""

from sklearn.datasets import load_breast_cancer

from mossrules import MossClassifier
from mossrules.display import ImportanceDisplay, RulesDisplay

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
y = y.map({0: "malignant", 1: "benign"}).rename("tumour")
model = MossClassifier(max_rules=6, n_trees=200).fit(X, y)
RulesDisplay.from_estimator(model).plot()

# %%

ImportanceDisplay.from_estimator(model, "features").plot()

# %%
# Of ten ranges of predicted probabilities: how many tumours were malignant.

model.rules_.calibration.frame()
