"""The steps of a fit: from rows to candidates, to a solution, to a rule set; no scikit-learn.

`fit.py` has the steps, and an `Objective` for each loss (`squared_error.py`, `log_loss.py`) what
differs between losses: the problem, the model made of a solution, its score. A new loss is one more
`Objective`. Estimators, evaluation and the command line call this room; it calls none of them.
"""
