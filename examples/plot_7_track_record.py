"""
How often would I find each rule again?
=======================================

The analysis is repeated on twenty random thirds of the patients. A dot says how often a rule was
found as it reads, its line how far twenty refits may be off, and a diamond how often a rule near it
was found: another cut point on the same columns, or nearly the same patients.
"""

from sklearn.datasets import load_diabetes

from mossrules import MossRegressor

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
model = MossRegressor(max_rules=6).fit(X, y.rename("progression"))
record = model.track_record(X, y, refits=20)
record.plot()

# %%
# From now on the rule set shows its record wherever it is printed.

print(model.rules_)

# %%
# What refits say of the whole rule set, and of people.

print(record.summary())
