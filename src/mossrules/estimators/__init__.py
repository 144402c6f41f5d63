"""scikit-learn's view of mossrules: estimators that are glue, with the mathematics elsewhere.

They keep parameters, ask `learning` for a fit, and show the result under scikit-learn's names. What
decides about a result belongs to `learning`, and defaults to `defaults.py`.
"""

from mossrules._deprecated import old_names
from mossrules.estimators.base import search_parameters
from mossrules.estimators.classifier import MossClassifier
from mossrules.estimators.moss import MossRegressor
from mossrules.learning.fit import candidates_for

__all__ = ["MossClassifier", "MossRegressor", "candidates_for", "search_parameters"]

__getattr__ = old_names(__name__, {"generation": "search_parameters"})
